"""All games and all positions of k-in-a-row on a board that is small enough to walk through."""

from __future__ import annotations

from dataclasses import dataclass

from pttt_ooc.other_games.arena.games.base import ArenaError
from pttt_ooc.other_games.arena.games.mnk import Mnk
from pttt_ooc.other_games.arena.solvers.lines import symmetries, winning_lines

MOST_SQUARES = 9

Marks = tuple[int, int]
"""The squares of player 0 and of player 1, as bits."""


@dataclass(frozen=True)
class Enumeration:
    """All positions and games.

    Attributes
    ----------
    positions
        The number of reachable positions, ends and the empty board included.
    games
        Numbers of games that are won with the mark number ``n``, by ``n``; the key 0 is for draws.
    different_games
        The same, if only one of the moves to symmetric positions is counted.
    values
        Of each position: 1 if player 0 wins, -1 if player 1 wins, 0 for a draw.
    """

    positions: int
    games: dict[int, int]
    different_games: dict[int, int]
    values: dict[Marks, int]


def walk(game: Mnk) -> Enumeration:
    """Walk through all positions of a game.

    Raises
    ------
    ArenaError
        The board has more than 9 squares.
    """
    if game.rows * game.columns > MOST_SQUARES:
        raise ArenaError(
            f"A board of {game.rows} x {game.columns} squares is too large to list all positions: "
            f"it may have at most {MOST_SQUARES} squares."
        )
    walker = _Walker(game)
    values: dict[Marks, int] = {}
    walker.value((0, 0), 0, values)
    return Enumeration(len(values), walker.count((0, 0), 0, False, {}), walker.count((0, 0), 0, True, {}), values)


class _Walker:
    def __init__(self, game: Mnk) -> None:
        self.squares = game.rows * game.columns
        self.lines = [int(line) for line in winning_lines(game)]
        self.images = symmetries(game).tolist()

    def after(self, marks: Marks, player: int) -> list[tuple[Marks, bool]]:
        """The positions after each move of a player, and whether the move wins."""
        found = []
        for square in range(self.squares):
            if not (marks[0] | marks[1]) >> square & 1:
                own = marks[player] | 1 << square
                wins = any(line & own == line for line in self.lines if line >> square & 1)
                found.append(((own, marks[1]) if player == 0 else (marks[0], own), wins))
        return found

    def least(self, marks: Marks) -> Marks:
        """The representative of a position and its mirror images."""
        return min(
            (
                sum(1 << image[square] for square in range(self.squares) if marks[0] >> square & 1),
                sum(1 << image[square] for square in range(self.squares) if marks[1] >> square & 1),
            )
            for image in self.images
        )

    def value(self, marks: Marks, player: int, values: dict[Marks, int]) -> int:
        """The value of a position in which nobody has won; it and all later positions are added to `values`."""
        if marks not in values:
            sign = 1 - 2 * player
            reached = []
            for after, wins in self.after(marks, player):
                if wins:
                    values[after] = sign
                reached.append(values[after] if wins else self.value(after, 1 - player, values))
            values[marks] = sign * max((sign * value for value in reached), default=0)
        return values[marks]

    def count(self, marks: Marks, player: int, merged: bool, known: dict[Marks, dict[int, int]]) -> dict[int, int]:
        """The games from a position by the number of the mark that wins; 0 for draws.

        Parameters
        ----------
        merged
            Whether only one of the moves to symmetric positions is counted.
        known
            Counts of positions that have been counted.
        """
        if marks in known:
            return known[marks]
        total: dict[int, int] = {}
        ply = (marks[0] | marks[1]).bit_count() + 1
        reached = self.after(marks, player)
        if not reached:
            total[0] = 1
        for after, wins in dict((self.least(after), wins) for after, wins in reached).items() if merged else reached:
            counts = {ply: 1} if wins else self.count(after, 1 - player, merged, known)
            for length, games in counts.items():
                total[length] = total.get(length, 0) + games
        known[marks] = dict(sorted(total.items()))
        return known[marks]
