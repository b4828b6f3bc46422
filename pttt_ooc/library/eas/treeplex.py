"""A player's rows and arrays.

Outside, a strategy or gradient is an array of float64 with one row for each infoset and one column for each of nine
cells.  Rows are sorted by number of attempts, then attempt by attempt, by cell, ``.`` before ``*``.  Inside, arrays
have an entry for each sequence, in the order of the package's index: about a third of the memory.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pttt_ooc.cfr.sweep import tree
from pttt_ooc.cfr.sweep.engine import Engine
from pttt_ooc.errors import GameError, InfosetFileError, StrategyError
from pttt_ooc.games.structure.strategy import uniform_strategy
from pttt_ooc.library.api.structures import engine_of, index_of
from pttt_ooc.library.eas import kernels
from pttt_ooc.library.eas.boards import CELLS, Board
from pttt_ooc.library.eas.infostates import Infostates
from pttt_ooc.pipeline.files.infosets import (
    BLOCK_ROWS,
    RowTables,
    default_rows,
    infoset_tables,
    infoset_text,
    parse_infoset,
)

Floats = NDArray[np.floating[Any]]

TOLERANCE = 1e-6
"""Allowed difference of a row's sum from 1, as in exp-a-spiel."""

NO_ACTION = 255
"""The action before a player's first infoset, as in exp-a-spiel."""


class Treeplex:
    """One player of a game.

    Attributes
    ----------
    board
        The game.
    player
        0 or 1.
    rows
        int64, shape (infosets,): node number of each row.
    """

    def __init__(self, board: Board, player: int) -> None:
        self.board, self.player = board, player
        self._index = index_of(board.game)
        self.rows = default_rows(self._index, player)
        self._tables = infoset_tables(self._index, player).only(RowTables)

    def __len__(self) -> int:
        """Number of rows."""
        return len(self.rows)

    @property
    def engine(self) -> Engine:
        """The game's engine."""
        return engine_of(self.board.game)

    @property
    def sequences(self) -> int:
        """Number of sequences, without the empty one."""
        return self._index.players[self.player].sequences

    # -----------------------------------------------------------------------------------------
    # Rows

    def checked_row(self, row: int) -> int:
        """The argument; a GameError if there is no such row."""
        if not isinstance(row, int | np.integer) or not 0 <= row < len(self):
            raise GameError(f"Player {self.player} has no row {row!r}; rows are 0 to {len(self) - 1:,}.")
        return int(row)

    def description(self, row: int) -> str:
        """The infoset of a row, such as ``5*8*4.0.``."""
        text = infoset_text(self._index, self.player, int(self.rows[self.checked_row(row)]))
        return self.board.description(self.player, text)

    def row_of(self, description: str) -> int:
        """The row of an infoset.

        Raises
        ------
        InfosetFileError
            If the player has no such infoset.
        """
        try:
            node = parse_infoset(self._index, self.player, self.board.text(self.player, description))
        except InfosetFileError:
            raise InfosetFileError(
                f"{description!r} is no infoset of player {self.player}; an infoset is described by own attempts, such "
                f"as {self.description(len(self) // 2)!r}."
            ) from None
        return int(self._row_of_node[node])

    def parent(self, row: int) -> tuple[int, int]:
        """The previous infoset's row, and the cell attempted there; first row: 0, and the last known cell or 255."""
        description = self.description(row)
        cell = int(description[-2]) if description else NO_ACTION
        return (self.row_of(description[:-2]) if row else 0), cell

    @cached_property
    def _row_of_node(self) -> NDArray[np.int32]:
        rows = np.full(self._index.players[self.player].nodes, -1, np.int32)
        rows[self.rows] = np.arange(len(self.rows), dtype=np.int32)
        return rows

    def infostates(self) -> Infostates:
        """OpenSpiel's information-state tensors."""
        return Infostates(self.board, self._index, self.player)

    # -----------------------------------------------------------------------------------------
    # Arrays

    def read(self, strategy: ArrayLike) -> Floats:
        """The probabilities of sequences: float64, shape (sequences,).

        Parameters
        ----------
        strategy
            Shape (rows, 9): an array, or what numpy converts to one.

        Raises
        ------
        StrategyError
            If the shape is wrong, or at the first row that is not a distribution over legal cells.
        """
        array = np.asarray(strategy)
        if array.shape != (len(self), CELLS):
            raise StrategyError(
                f"A strategy of player {self.player} has shape ({len(self)}, {CELLS}), not {array.shape}."
            )
        out = np.empty(self.sequences)
        fault, row, cell = self._check(array, out)
        if fault:
            what = f"cell {cell} has {float(array[row, cell])!r}"
            text = {
                kernels.NOT_FINITE: f"{what}, which is no number",
                kernels.OUTSIDE: f"{what}, but probabilities are from 0 to 1",
                kernels.ILLEGAL: f"{what}, but may not be attempted, so that it must have 0",
                kernels.BAD_SUM: f"the sum is {float(array[row].astype(np.float64).sum())!r}, but must be 1 to within "
                f"{TOLERANCE}",
            }[fault]
            raise StrategyError(f"Player {self.player}, row {row}, infoset {self.description(row)!r}: {text}.")
        return out

    def is_valid(self, strategy: ArrayLike) -> bool:
        """Whether :meth:`read` accepts the array; as in exp-a-spiel, only its size matters, not its shape."""
        array = np.asarray(strategy)
        if array.size != len(self) * CELLS:
            return False
        return not self._check(array.reshape(-1, CELLS), np.empty(self.sequences))[0]

    def _check(self, array: NDArray[Any], out: Floats) -> tuple[int, int, int]:
        """Read all rows: (fault or 0, row, cell)."""
        for start in range(0, len(self), BLOCK_ROWS):
            nodes = self.rows[start : start + BLOCK_ROWS]
            block = np.ascontiguousarray(array[start : start + BLOCK_ROWS], np.float64)
            fault, i, cell = kernels.read_rows(self._tables, nodes, block, self.board.first_cell, TOLERANCE, out)
            if fault:
                return fault, start + i, cell
        return 0, 0, 0

    def array(self, values: Floats) -> Floats:
        """Values of sequences by rows and cells: float64, shape (rows, 9), 0 where there is no sequence."""
        out = np.empty((len(self), CELLS))
        kernels.write_rows(self._tables, self.rows, values, self.board.first_cell, out)
        return out

    def array_of_choices(self, choices: NDArray[np.uint8]) -> Floats:
        """Chosen actions of nodes by rows and cells: float64, shape (rows, 9), 1 where chosen."""
        out = np.empty((len(self), CELLS))
        kernels.write_choices(self._tables, self.rows, choices, self.board.first_cell, out)
        return out

    def uniform(self) -> Floats:
        """The probabilities of the uniform strategy: float64, shape (sequences,)."""
        probabilities: Floats = uniform_strategy(self._index, self.player, np.float64).probabilities
        return probabilities

    # -----------------------------------------------------------------------------------------
    # Passes over the tree

    def plan(self, probabilities: Floats) -> tree.Reach:
        """The realization plan of a strategy, which is scaled to sums of 1 in double precision."""
        return self.engine.reach(self.player, probabilities)

    def behaviour(self, plan: Floats) -> Floats:
        """The probabilities that make a realization plan, uniform where it is zero: float64, shape (sequences,)."""
        mine, out = self._index.players[self.player], np.empty(self.sequences)
        for n in range(mine.slices):
            self.engine.run(self.player, n, tree.average_strategy, 0, plan, out)
        return out

    def gradient(self, opponent: tree.Reach) -> Floats:
        """The gradient of the player's payoff with respect to the realization plan: float64, shape (sequences,).

        The entry of a sequence is the payoff of the histories that end after it and before the player's next
        infoset, weighted by the opponent's reach.
        """
        nodes, sequences = self.engine.gradient(self.player, opponent)
        mine = self._index.players[self.player]
        part = tree.Slice(sequences, nodes, nodes, 0, 0, 0)
        for n in range(mine.slices):
            self.engine.run(self.player, n, tree.add_child_values, part)
        return sequences

    def upward(self, gradient: Floats, kernel: Any, *arguments: Any) -> Floats:
        """Call ``kernel(first_view, last_view, tree, part, *arguments)``, slice by slice, from the last to the first.

        Returns
        -------
        float64, shape (nodes,): what the kernel has added to the values of nodes, which begin with 0.
        """
        mine = self._index.players[self.player]
        nodes = np.zeros(mine.nodes)
        part = tree.Slice(gradient, nodes, nodes, 0, 0, 0)
        for n in reversed(range(mine.slices)):
            self.engine.run(self.player, n, kernel, part, *arguments)
        return nodes

    def best_response(self, gradient: Floats) -> tuple[float, NDArray[np.uint8]]:
        """Value of the best response, and its choices by node; of equally good actions, the lowest cell."""
        choices = np.zeros(self._index.players[self.player].nodes, np.uint8)
        return float(self.upward(gradient, tree.best_values, choices)[0]), choices
