"""One game for learners: its index and engine, with gradients, best responses and values."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pttt_ooc.cfr.solving.best_response import write_choices
from pttt_ooc.cfr.solving.evaluation import ProfileEvaluator
from pttt_ooc.cfr.sweep import tree
from pttt_ooc.cfr.sweep.engine import Engine, SliceArrays, slice_arrays
from pttt_ooc.cfr.sweep.tree import Floats, Reach, Slice
from pttt_ooc.disk.memory import in_memory
from pttt_ooc.games.rules.game import Game
from pttt_ooc.games.structure.building import build_timing
from pttt_ooc.games.structure.index import Index, PlayerIndex
from pttt_ooc.games.structure.strategy import Strategy
from pttt_ooc.games.structure.symmetry import Symmetriser
from pttt_ooc.games.structure.views import find_pairs
from pttt_ooc.pipeline.stages.engines import open_engine
from pttt_ooc.pipeline.stages.preparation import prepare_index
from pttt_ooc.types import Symmetry

Bytes = NDArray[np.uint8]


class LearningGame:
    """Exact gradients, best responses and values of one game, on the views of its index.

    Parameters
    ----------
    engine
        Its precision is that of reach, gradients and values.
    """

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.index: Index = engine.index
        self.game: Game = engine.index.game
        self.evaluator = ProfileEvaluator(engine)
        self._symmetrisers = tuple(Symmetriser(self.index, player) for player in (0, 1))
        self._arrays: SliceArrays = in_memory(slice_arrays(self.index.players, engine.dtype))

    @property
    def players(self) -> tuple[PlayerIndex, PlayerIndex]:
        """Both players' indices."""
        return self.index.players

    @property
    def dtype(self) -> np.dtype[Any]:
        """The precision of the engine."""
        return self.engine.dtype

    @property
    def nodes(self) -> int:
        """Nodes of both players, which one gradient touches."""
        return sum(i.nodes for i in self.players)

    def scalar(self, number: float) -> np.floating[Any]:
        """A number in the engine's precision: kernels compute in double precision if they get a Python float."""
        scalar: np.floating[Any] = self.dtype.type(number)
        return scalar

    def zeros(self, player: int) -> Floats:
        """A zero for each of a player's sequences."""
        return np.zeros(self.players[player].sequences, self.dtype)

    def uniform(self, player: int) -> Floats:
        """Probabilities of uniform play, for each of a player's sequences."""
        found, i = self.zeros(player), self.players[player]
        for n in range(i.slices):
            actions = self.game.squares - len(self.game.setup[player]) - n
            if actions:
                found[i.sequences_of(n)] = 1 / actions
        return found

    # -----------------------------------------------------------------------------------------
    # Passes

    def run(self, player: int, kernel: Callable[..., None], arguments: Callable[[slice], tuple[Any, ...]]) -> None:
        """Call ``kernel(first_view, last_view, tree, *arguments(part))`` for each slice, with the slice's sequences."""
        i = self.players[player]
        for n in range(i.slices):
            self.engine.run(player, n, kernel, *arguments(i.sequences_of(n)))

    def upward(
        self,
        player: int,
        opponent: Reach,
        kernel: Callable[..., None],
        arguments: Callable[[slice, slice], tuple[Any, ...]],
        extra: Callable[[int, Slice], None] | None = None,
        with_children: bool = True,
    ) -> float:
        """Pass values up a player's tree, slice by slice; a kernel makes the algorithm's step at each infoset.

        Parameters
        ----------
        opponent
            The opponent's realization plan.
        kernel
            Called as ``kernel(first_view, last_view, tree, part, *arguments)``.  The part's sequences hold the
            counterfactual values of actions; the kernel adds the value of each node to the part's nodes.
        arguments
            Returns the other arguments for the slice's sequences and nodes.
        extra
            Called with the slice's number and part after the gradient: it may add other payoffs.
        with_children
            If false, the kernel itself adds the values of the nodes after each action.

        Returns
        -------
        float
            The value of the root.
        """
        i = self.players[player]
        for n in reversed(range(i.slices)):
            part = self._arrays.of(i, n)
            self.engine.gradient_slice(player, n, opponent, part)
            if extra:
                extra(n, part)
            if with_children:
                self.engine.run(player, n, tree.add_child_values, part)
            self.engine.run(player, n, kernel, part, *arguments(i.sequences_of(n), i.nodes_of(n)))
        return float(part.nodes[0])

    def best_response(self, player: int, opponent: Reach) -> tuple[float, Floats]:
        """Value and behaviour of a best response to a realization plan.

        Returns
        -------
        value, probabilities
            The probabilities are 0 and 1, except in views that are symmetric themselves: there they are means over
            mirror images, as in :meth:`pttt_ooc.cfr.solving.best_response.BestResponse.strategy`.
        """
        i, probabilities = self.players[player], self.zeros(player)
        choices = np.zeros(i.nodes, np.uint8)
        value = self.upward(
            player, opponent, tree.best_values, lambda part, nodes: (choices[nodes],), with_children=False
        )
        write_choices(i.node_start, i.sequence_start, choices, probabilities)
        self._symmetrisers[player](probabilities)
        return value, probabilities

    def gradient(self, player: int, opponent: Reach) -> tuple[float, Floats]:
        """Payoffs of a player's plans: a constant, and for each sequence the payoff per unit of reach.

        For a symmetric plan ``x`` the value is ``constant + dot(weights * x, gradient)``, see :attr:`weights`.
        """
        i, gradient = self.players[player], self.zeros(player)
        ended = gradient[:0]  # payoffs of games that the opponent ends in the slice below
        for n in reversed(range(i.slices)):
            part, mine = self._arrays.of(i, n), gradient[i.sequences_of(n)]
            self.engine.gradient_slice(player, n, opponent, part)
            mine[:] = part.sequences
            self.engine.run(player, n, tree.add_child_values, part._replace(sequences=mine, child_values=ended))
            ended = part.nodes.copy()
        return float(ended[0]), gradient

    @cached_property
    def weights(self) -> tuple[Floats, Floats]:
        """For each of a player's sequences, how many sequences of the whole game it stands for."""
        found = []
        for i, orbits in zip(self.players, self.index.orbits, strict=True):
            sizes = np.bincount(orbits.view, minlength=len(i.placed))
            found.append(np.repeat(sizes, np.diff(i.sequence_start)).astype(self.dtype))
        return found[0], found[1]

    # -----------------------------------------------------------------------------------------
    # Visits of histories

    @cached_property
    def visits(self) -> Engine:
        """An engine whose gradients count visits in place of payoffs; see :meth:`visits_of`.

        The pairs of views are all those of the game, not only those in which a player can win at once.  Where the
        player is to move, its first action takes the place of the winning squares; where the opponent is, all legal
        actions.
        """
        pairs, size = find_pairs(self.game), self.game.squares
        attempted = [pairs.placed[p] | pairs.failed[p] | self.game.setup_mask(p) for p in (0, 1)]
        legal = [~mask & ((1 << size) - 1) for mask in attempted]
        keys = [pairs.placed[p] << size | pairs.failed[p] for p in (0, 1)]
        # The index leaves out views of a player who has no more moves, unless a player can win at once there.
        exist = (self.index.orbits[0].find(keys[0]) >= 0) & (self.index.orbits[1].find(keys[1]) >= 0)
        timings = []
        for player in (0, 1):
            marked = np.where(pairs.mover == player, legal[player] & -legal[player], legal[1 - player])
            chosen = replace(pairs, winning_squares=np.where(exist, marked, 0))
            timings.append(build_timing(self.index, chosen, player))
        return Engine(self.index, (timings[0], timings[1]), self.dtype.type, workers=self.engine.workers)

    @cached_property
    def _visit_arrays(self) -> SliceArrays:
        return in_memory(slice_arrays(self.index.players, self.dtype))

    def visits_of(self, player: int, n: int, opponent: Reach) -> Slice:
        """The opponent's reach at each infoset of a slice, and sums over the opponent's sequences.

        Parameters
        ----------
        opponent
            ``nodes`` are the realization plan.  ``sequences`` may be any numbers.

        Returns
        -------
        Slice
            The sequence of an infoset's first action has the sum of the opponent's reach over the infoset's histories,
            if anybody can still win.
            A node has minus the sum of the opponent's `sequences` over the opponent's moves at that node.
        """
        part = self._visit_arrays.of(self.players[player], n)
        self.visits.gradient_slice(player, n, opponent, part)
        return part

    # -----------------------------------------------------------------------------------------
    # Strategies

    def reach(self, player: int, weights: Floats, into: Reach | None = None) -> Reach:
        """Realization plan of a behaviour, or of a plan given by its sequences only."""
        return self.engine.reach(player, weights, into)

    def symmetrise(self, player: int, numbers: Floats) -> None:
        """Replace numbers of sequences by means over mirror images, in views that are symmetric themselves."""
        self._symmetrisers[player](numbers)

    def strategy(self, player: int, weights: Floats) -> Strategy:
        """Strategy, in single precision, of a behaviour or of a sum of realization plans.

        It is uniform where the weights of all actions are zero.
        """
        probabilities = np.empty(self.players[player].sequences, np.float32)
        self.run(player, tree.average_strategy, lambda part: (part.start, weights[part], probabilities[part]))
        self._symmetrisers[player](probabilities)
        return Strategy(self.index, player, probabilities)

    def pair(self, weights: Sequence[Floats]) -> tuple[Strategy, Strategy]:
        """Both players' :meth:`strategy`."""
        return self.strategy(0, weights[0]), self.strategy(1, weights[1])


@contextmanager
def open_learning_game(
    data: Path, game: str, symmetry: Symmetry, precision: str, threads: int
) -> Iterator[LearningGame]:
    """A game from the products of the stages "enumerate" and "index", which run if they are missing.

    Raises
    ------
    PtttError
        If the game is unknown, or its products can be neither read nor made.
    """
    directory = prepare_index(data, game, symmetry)
    with open_engine(directory, game, symmetry, np.dtype(precision).type, threads) as engine:
        yield LearningGame(engine)
