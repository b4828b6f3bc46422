"""Values, gradients and best responses of strategies, for one game."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pttt_ooc.library.eas import boards
from pttt_ooc.library.eas.averaging import Averager, AveragingStrategy
from pttt_ooc.library.eas.boards import Board, checked_player
from pttt_ooc.library.eas.cfr import (
    AbruptDhCfrSolver,
    AbruptPtttCfrSolver,
    CfrConf,
    CornerDhCfrSolver,
    DhCfrSolver,
    PtttCfrSolver,
    Solver,
)
from pttt_ooc.library.eas.treeplex import Floats, Treeplex


@dataclass(frozen=True, eq=False, repr=False)
class EvExpl:
    """Two strategies against each other and against best responses.

    Attributes
    ----------
    ev0
        Expected payoff of player 0.
    expl
        For each player, what a best response of the opponent gets, minus what the opponent's own strategy gets: how
        much the opponent can gain.  The word is exp-a-spiel's; elsewhere exploitability is measured from the value of
        the game.  Either way, both are 0 at an equilibrium, and their sum is NashConv.
    """

    ev0: float
    expl: tuple[float, float]
    _treeplexes: tuple[Treeplex, Treeplex]
    _gradients: tuple[Floats, Floats]
    _choices: tuple[NDArray[np.uint8], NDArray[np.uint8]]

    @cached_property
    def gradient(self) -> tuple[Floats, Floats]:
        """For each player, the gradient of their payoff: float64, shape (rows, 9).

        It is with respect to the player's realization plan.  The arrays are made when they are first asked for.
        """
        first, second = (t.array(g) for t, g in zip(self._treeplexes, self._gradients, strict=True))
        return first, second

    @cached_property
    def best_response(self) -> tuple[Floats, Floats]:
        """For each player, a pure best response to the other one: float64, shape (rows, 9), as 0 and 1.

        Of equally good cells it attempts the lowest.  The arrays are made when they are first asked for.
        """
        first, second = (t.array_of_choices(c) for t, c in zip(self._treeplexes, self._choices, strict=True))
        return first, second

    def __repr__(self) -> str:
        return f"EvExpl(ev0={self.ev0:.8f}, expl=[{self.expl[0]:.8f}, {self.expl[1]:.8f}])"


class Traverser:
    """A game with its infosets numbered, so that strategies are arrays of shape (rows, 9).

    The structure of a big game is kept in the directory that ``pttt_ooc.configure(data=...)`` sets, and made there if
    it is missing.

    Attributes
    ----------
    OPENSPIEL_INFOSTATE_SIZE
        Number of entries of OpenSpiel's information-state tensor.
    """

    _board: ClassVar[Board]
    _solver: ClassVar[type[Solver]]
    OPENSPIEL_INFOSTATE_SIZE: ClassVar[int]

    def __init_subclass__(cls, board: Board, solver: type[Solver]) -> None:
        cls._board, cls._solver, cls.OPENSPIEL_INFOSTATE_SIZE = board, solver, board.infostate_size

    def __init__(self) -> None:
        self.treeplexes = (Treeplex(self._board, 0), Treeplex(self._board, 1))
        _ = self.treeplexes[0].engine  # made now, so that the first evaluation takes as long as the next one

    @property
    def NUM_INFOS_PL0(self) -> int:  # noqa: N802
        """Number of player 0's infosets."""
        return len(self.treeplexes[0])

    @property
    def NUM_INFOS_PL1(self) -> int:  # noqa: N802
        """Number of player 1's infosets."""
        return len(self.treeplexes[1])

    def construct_uniform_strategies(self) -> tuple[Floats, Floats]:
        """Both players' uniform strategies: float64, shape (rows, 9)."""
        first, second = (t.array(t.uniform()) for t in self.treeplexes)
        return first, second

    def ev_and_exploitability(self, strat0: ArrayLike, strat1: ArrayLike) -> EvExpl:
        """Evaluate two strategies exactly.

        Parameters
        ----------
        strat0, strat1
            Shape (rows, 9), of player 0 and of player 1.  Probabilities are scaled to sum to 1.

        Raises
        ------
        StrategyError
            If an array is not a strategy: its shape is wrong, a cell that may not be attempted has a probability,
            or a sum differs from 1 by more than 1e-6.
        """
        plans = [t.plan(t.read(s)) for t, s in zip(self.treeplexes, (strat0, strat1), strict=True)]
        first, second = (t.gradient(plans[1 - t.player]) for t in self.treeplexes)
        values = [float(plan.sequences @ g) for plan, g in zip(plans, (first, second), strict=True)]
        ev0 = (values[0] - values[1]) / 2
        del plans
        (best0, choices0), (best1, choices1) = (
            t.best_response(g) for t, g in zip(self.treeplexes, (first, second), strict=True)
        )
        return EvExpl(ev0, (best1 + ev0, best0 - ev0), self.treeplexes, (first, second), (choices0, choices1))

    def infoset_desc(self, player: int, row: int) -> str:
        """The infoset of a row: own attempts, each a cell and ``*`` (placed) or ``.`` (failed).

        Raises
        ------
        GameError
            If there is no such player or row.
        """
        return self.treeplexes[checked_player(player)].description(row)

    def row_for_infoset(self, player: int, infoset_desc: str) -> int:
        """The row of an infoset, by its description.

        Raises
        ------
        InfosetFileError
            If the player has no such infoset.
        """
        return self.treeplexes[checked_player(player)].row_of(infoset_desc)

    def parent_index_and_action(self, player: int, row: int) -> tuple[int, int]:
        """The row of the previous infoset, and the cell that was attempted there.

        The first row has no previous infoset: it gives row 0, and the player's cell on the board, or 255 without one.
        """
        return self.treeplexes[checked_player(player)].parent(row)

    def compute_openspiel_infostates(self, player: int) -> NDArray[np.bool_]:
        """OpenSpiel's information-state tensors of all rows: bool, shape (rows, OPENSPIEL_INFOSTATE_SIZE)."""
        treeplex = self.treeplexes[checked_player(player)]
        return treeplex.infostates().of(treeplex.rows)

    def compute_openspiel_infostate(self, player: int, row: int) -> NDArray[np.bool_]:
        """OpenSpiel's information-state tensor of one row: bool, shape (OPENSPIEL_INFOSTATE_SIZE,)."""
        treeplex = self.treeplexes[checked_player(player)]
        at = treeplex.checked_row(row)
        tensor: NDArray[np.bool_] = treeplex.infostates().of(treeplex.rows[at : at + 1])[0]
        return tensor

    def is_valid_strategy(self, player: int, strategy: ArrayLike) -> bool:
        """Whether an array is a strategy of a player."""
        return self.treeplexes[checked_player(player)].is_valid(strategy)

    def new_averager(self, player: int, avg_strategy: AveragingStrategy) -> Averager:
        """An average of a player's strategies, still empty."""
        return Averager(self.treeplexes[checked_player(player)], AveragingStrategy(avg_strategy))

    def cfr_solver(self, cfr_conf: CfrConf) -> Solver:
        """A solver for this game; for errors see :class:`~pttt_ooc.library.eas.cfr.Solver`."""
        return self._solver(self, cfr_conf)


class PtttTraverser(Traverser, board=boards.pttt("classical"), solver=PtttCfrSolver):
    """Phantom tic-tac-toe: after a failed attempt the player moves again."""


class AbruptPtttTraverser(Traverser, board=boards.pttt("abrupt"), solver=AbruptPtttCfrSolver):
    """Phantom tic-tac-toe: a failed attempt passes the turn."""


class DhTraverser(Traverser, board=boards.dark_hex("classical"), solver=DhCfrSolver):
    """Dark Hex on nine cells: after a failed attempt the player moves again."""


class AbruptDhTraverser(Traverser, board=boards.dark_hex("abrupt"), solver=AbruptDhCfrSolver):
    """Dark Hex on nine cells: a failed attempt passes the turn."""


class CornerDhTraverser(Traverser, board=boards.corner_dark_hex(), solver=CornerDhCfrSolver):
    """Dark Hex on nine cells, after player 0 has placed cell 0 and player 1 cell 8, as both know."""
