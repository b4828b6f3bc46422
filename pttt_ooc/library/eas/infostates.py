"""OpenSpiel's information-state tensors (:mod:`pttt_ooc.games.rules.information_state`) of all infosets of a game."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pttt_ooc.games.rules.information_state import STATES, information_state
from pttt_ooc.games.structure.index import Index
from pttt_ooc.games.structure.views import Ints
from pttt_ooc.library.eas.boards import Board
from pttt_ooc.library.eas.kernels import fill_infostates
from pttt_ooc.pipeline.files.infosets import TextTables, infoset_tables


def infostate(board: Board, player: int, own: list[tuple[int, bool]]) -> NDArray[np.bool_]:
    """The tensor of one infoset: bool, shape (infostate_size,).

    Parameters
    ----------
    own
        The player's attempts at cells, those before the game included.
    """
    return information_state(board.kind, board.all_cells, player, own)


class Infostates:
    """The tensors of a player's infosets, by node, block by block."""

    def __init__(self, board: Board, index: Index, player: int) -> None:
        self._tables = infoset_tables(index, player).only(TextTables)
        self._width = board.infostate_size
        known = np.array(board.known[player], np.int64)
        cells = board.all_cells
        number, empty, (black, white) = STATES[board.kind]
        states = (1, empty, white * cells, black * cells) if board.kind == "pttt" else (number, empty, white, black)
        self._rest = (player, known, board.first_cell, cells, states)

    def of(self, nodes: Ints, into: NDArray[np.bool_] | None = None) -> NDArray[np.bool_]:
        """Tensors: bool, shape (nodes, infostate_size), in `into` or a new array."""
        out = np.empty((len(nodes), self._width), np.bool_) if into is None else into
        fill_infostates(self._tables, nodes, *self._rest, out)
        return out
