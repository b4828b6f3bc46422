"""OpenSpiel's information-state tensors, of ``phantom_ttt`` and ``dark_hex`` (reveal nothing), as booleans.

First come the states of the cells, as the player knows them; then, for each own attempt, which cell it was.  Phantom
tic-tac-toe has three blocks of nine: empty cells, player 1's marks, player 0's marks.  Dark Hex has nine states for
each cell, of which three occur: player 1's mark (3), empty (4), player 0's mark (5).  A failed attempt shows a mark of
the opponent.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pttt_ooc.games.structure.index import Index
from pttt_ooc.games.structure.views import Ints
from pttt_ooc.library.eas.boards import CELLS, Board
from pttt_ooc.library.eas.kernels import fill_infostates
from pttt_ooc.pipeline.files.infosets import TextTables, infoset_tables

_HEX_STATES = 9
_WHITE, _EMPTY, _BLACK = 3, 4, 5


def infostate(board: Board, player: int, own: list[tuple[int, bool]]) -> NDArray[np.bool_]:
    """The tensor of one infoset: bool, shape (infostate_size,).

    Parameters
    ----------
    own
        The player's attempts at cells, those before the game included.
    """
    out = np.zeros(board.infostate_size, np.bool_)
    states = out[: -CELLS * CELLS].reshape((3, CELLS) if board.kind == "pttt" else (CELLS, _HEX_STATES))
    by_cell = states.T if board.kind == "pttt" else states[:, [_EMPTY, _WHITE, _BLACK]]
    by_cell = by_cell.copy()
    by_cell[:, 0] = True
    for time, (cell, placed) in enumerate(own):
        owner = player if placed else 1 - player
        by_cell[cell] = (False, owner == 1, owner == 0)
        out[len(out) - CELLS * CELLS + CELLS * time + cell] = True
    if board.kind == "pttt":
        states[:] = by_cell.T
    else:
        states[:, [_EMPTY, _WHITE, _BLACK]] = by_cell
    return out


class Infostates:
    """The tensors of a player's infosets, by node, block by block."""

    def __init__(self, board: Board, index: Index, player: int) -> None:
        self._tables = infoset_tables(index, player).only(TextTables)
        self._width = board.infostate_size
        known = np.array(board.known[player], np.int64)
        cells = board.all_cells
        states = (1, 0, cells, 2 * cells) if board.kind == "pttt" else (_HEX_STATES, _EMPTY, _WHITE, _BLACK)
        self._rest = (player, known, board.first_cell, cells, states)

    def of(self, nodes: Ints, into: NDArray[np.bool_] | None = None) -> NDArray[np.bool_]:
        """Tensors: bool, shape (nodes, infostate_size), in `into` or a new array."""
        out = np.empty((len(nodes), self._width), np.bool_) if into is None else into
        fill_infostates(self._tables, nodes, *self._rest, out)
        return out
