"""The five games, and the names of their cells and infosets.

An infoset is described by the player's own attempts: the cell, then ``*`` (placed) or ``.`` (failed).

In the corner game, player 0 has placed cell 0 and player 1 cell 8.  Both know it and do not attempt these cells, so
the game is played on the seven other cells, which are squares 0 to 6 of its rules here.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Literal

from pttt_ooc.errors import GameError
from pttt_ooc.games.rules.game import Game
from pttt_ooc.library.api.games import game, placement_game

CELLS = 9

Kind = Literal["pttt", "dark hex"]


@dataclass(frozen=True)
class Board:
    """A game, with the names of its cells.

    Attributes
    ----------
    kind
        Which of OpenSpiel's games defines the information-state tensor.
    game
        The rules, on squares.
    first_cell
        The cell that is square 0.
    known
        For each player, the cells that the player has placed before the game.
    all_cells
        Number of cells.
    """

    kind: Kind
    game: Game
    first_cell: int = 0
    known: tuple[tuple[int, ...], tuple[int, ...]] = ((), ())
    all_cells: int = CELLS

    @property
    def infostate_size(self) -> int:
        """Number of entries of an information-state tensor: states of cells, then the sequence of own attempts."""
        return self.all_cells * (3 if self.kind == "pttt" else 9) + self.all_cells**2

    @property
    def cells(self) -> slice:
        """The columns of a strategy's array that are squares of the rules."""
        return slice(self.first_cell, self.first_cell + self.game.squares)

    def description(self, player: int, text: str) -> str:
        """The description of an infoset, from its text in this package."""
        known = "".join(f"{cell}*" for cell in self.known[player])
        return known + "".join(str(int(c) + self.first_cell) if c.isdigit() else c for c in text[1:])

    def text(self, player: int, description: str) -> str:
        """The text of an infoset, from its description; malformed if the description is."""
        known = "".join(f"{cell}*" for cell in self.known[player])
        if not description.startswith(known):
            return ""
        shifted = [str(int(c) - self.first_cell) if c.isascii() and c.isdigit() else c for c in description]
        return "|" + "".join(shifted[len(known) :])


@cache
def pttt(turn_rule: str) -> Board:
    """Phantom tic-tac-toe on nine squares."""
    return Board("pttt", game(f"pttt-{turn_rule}"))


@cache
def dark_hex(turn_rule: str) -> Board:
    """Dark Hex on nine cells: player 0 connects cells 0, 1, 2 with 6, 7, 8, player 1 cells 0, 3, 6 with 2, 5, 8."""
    return Board("dark hex", game(f"dark-hex-3x3-{turn_rule}"))


@cache
def corner_dark_hex() -> Board:
    """Classical Dark Hex in which player 0 begins with the corner 0, and player 1 with the corner 8."""
    own, other = ({0}, {8}), ({8}, {0})
    whole = game("dark-hex-3x3-classical")
    sets = []
    for player in (0, 1):
        cells = [{c for c in range(CELLS) if mask >> c & 1} for mask in whole.winning_sets[player]]
        sets.append([{c - 1 for c in one - own[player]} for one in cells if not one & other[player]])
    rules = placement_game(1, CELLS - 2, (sets[0], sets[1]), "classical", name="corner-dark-hex-3x3")
    return Board("dark hex", rules, 1, ((0,), (8,)))


def board_of(game: Game) -> Board:
    """The board of any game: its tensor is that of tic-tac-toe if both players win with the same sets of squares."""
    kind: Kind = "pttt" if game.winning_sets[0] == game.winning_sets[1] else "dark hex"
    return Board(kind, game, 0, game.setup, game.squares)


def checked_player(player: int) -> int:
    """The argument; a GameError if it is not a player's number."""
    if player not in (0, 1):
        raise GameError(f"There is no player {player!r}; players are 0 and 1.")
    return int(player)
