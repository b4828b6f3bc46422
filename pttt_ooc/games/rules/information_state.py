"""OpenSpiel's information-state tensors, of ``phantom_ttt`` and ``dark_hex`` (reveal nothing), as truth values.

First come the states of the cells, as the player knows them; then, for each own attempt, which cell it was.  Phantom
tic-tac-toe has a block of cells for each of three states: empty, player 1's mark, player 0's mark.  Dark Hex has nine
states for each cell, of which three occur.  A failed attempt shows a mark of the opponent.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pttt_ooc.games.rules.game import Game

Kind = Literal["pttt", "dark hex"]


class CellStates(NamedTuple):
    """How a kind of tensor numbers the states of a cell.

    Attributes
    ----------
    number
        Of states.
    empty
        A cell that the player knows nothing of.
    marks
        Player 0's mark, player 1's mark.
    """

    number: int
    empty: int
    marks: tuple[int, int]


STATES: dict[Kind, CellStates] = {"pttt": CellStates(3, 0, (2, 1)), "dark hex": CellStates(9, 4, (5, 3))}


def kind_of(game: Game) -> Kind:
    """Whose tensor a game has: that of tic-tac-toe if both players win with the same sets of squares."""
    return "pttt" if game.winning_sets[0] == game.winning_sets[1] else "dark hex"


def tensor_size(kind: Kind, cells: int) -> int:
    """Number of entries of a tensor."""
    return cells * STATES[kind].number + cells * cells


def information_state(kind: Kind, cells: int, player: int, own: Iterable[tuple[int, bool]]) -> NDArray[np.bool_]:
    """The tensor of one infoset.

    Parameters
    ----------
    cells
        Of the board.
    own
        The player's attempts in order, those before the game included: cells, and whether the mark was placed.

    Returns
    -------
    bool, shape (tensor_size(kind, cells),)

    Examples
    --------
    >>> information_state("pttt", 2, 0, [(1, True)]).astype(int).tolist()
    [1, 0, 0, 0, 0, 1, 0, 1, 0, 0]
    """
    number, empty, marks = STATES[kind]
    states, sequence = np.full(cells, empty), np.zeros((cells, cells), np.bool_)
    for time, (cell, placed) in enumerate(own):
        states[cell] = marks[player if placed else 1 - player]
        sequence[time, cell] = True
    by_cell = states[:, None] == np.arange(number)
    return np.concatenate([(by_cell.T if kind == "pttt" else by_cell).ravel(), sequence.ravel()])
