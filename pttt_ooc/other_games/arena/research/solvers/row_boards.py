"""Boards of k-in-a-row as the solvers take them, with a bit for each square; and all games of a small board."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from pttt_ooc.other_games.arena.games.base import ArenaError
from pttt_ooc.other_games.arena.games.mnk import Mnk

MOST_SQUARES = 64  # each player's marks are one word


def winning_lines(game: Mnk) -> NDArray[np.uint64]:
    """The squares of each row that wins, as bits; in each direction, a line comes next to the one that follows it."""
    found: dict[int, None] = {}
    for down, right in ((0, 1), (1, 0), (1, 1), (1, -1)):
        for begin in range(game.rows * game.columns):
            row, column = divmod(begin, game.columns)
            if row - down >= 0 and 0 <= column - right < game.columns:
                continue  # not the first square of its direction on the board
            while row < game.rows and 0 <= column < game.columns:
                last_row, last_column = row + (game.need - 1) * down, column + (game.need - 1) * right
                if last_row < game.rows and 0 <= last_column < game.columns:
                    places = [(row + n * down) * game.columns + column + n * right for n in range(game.need)]
                    found.setdefault(sum(1 << place for place in places))
                row, column = row + down, column + right
    return np.array(list(found), dtype=np.uint64)


def symmetries(game: Mnk) -> NDArray[np.int64]:
    """Where each symmetry of the board takes each square, shape (symmetries, squares): the identity comes first."""
    grid = np.arange(game.rows * game.columns).reshape(game.rows, game.columns)
    images = [grid, grid[::-1], grid[:, ::-1], grid[::-1, ::-1]]
    if game.rows == game.columns:
        images += [image.T for image in images]
    return np.array([image.ravel() for image in images])


def following(game: Mnk, lines: NDArray[np.uint64]) -> NDArray[np.int64]:
    """The number of the line that begins one square further in the same direction, or -1; shape (lines,)."""
    numbers = {int(line): number for number, line in enumerate(lines)}
    found = np.full(len(lines), -1)
    if game.need == 1:
        return found

    def line(row: int, column: int, down: int, right: int) -> int | None:
        places = [(row + step * down, column + step * right) for step in range(game.need)]
        if not all(0 <= row < game.rows and 0 <= column < game.columns for row, column in places):
            return None
        return numbers[sum(1 << row * game.columns + column for row, column in places)]

    for row in range(game.rows):
        for column in range(game.columns):
            for down, right in ((0, 1), (1, 0), (1, 1), (1, -1)):
                one, other = line(row, column, down, right), line(row + down, column + right, down, right)
                if one is not None and other is not None:
                    found[one] = other
    return found


def byte_images(images: NDArray[np.int64]) -> NDArray[np.uint64]:
    """Where each symmetry takes the squares of each byte, shape (symmetries, bytes, 256)."""
    squares = images.shape[1]
    found = np.zeros((len(images), -(-squares // 8), 256), dtype=np.uint64)
    for symmetry, image in enumerate(images):
        for square in range(squares):
            with_square = np.arange(256) >> square % 8 & 1 == 1
            found[symmetry, square // 8, with_square] |= np.uint64(1 << int(image[square]))
    return found


MOST_LISTED = 9
"""Maximum squares of a board whose games are listed."""

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
        The value of each position: 1 if player 0 wins, -1 if player 1 wins, 0 for a draw.
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
    if game.rows * game.columns > MOST_LISTED:
        raise ArenaError(
            f"A board of {game.rows} x {game.columns} squares is too large to list all positions: "
            f"it may have at most {MOST_LISTED} squares."
        )
    lines, images = [int(line) for line in winning_lines(game)], symmetries(game).tolist()
    squares = range(game.rows * game.columns)
    values: dict[Marks, int] = {}

    def after(marks: Marks, player: int) -> list[tuple[Marks, bool]]:
        """The positions after each move of a player, and whether the move wins."""
        found = []
        for square in squares:
            if not (marks[0] | marks[1]) >> square & 1:
                own = marks[player] | 1 << square
                wins = any(line & own == line for line in lines if line >> square & 1)
                found.append(((own, marks[1]) if player == 0 else (marks[0], own), wins))
        return found

    def least(marks: Marks) -> Marks:
        """The representative of a position and its mirror images."""
        moved = [[sum(1 << image[n] for n in squares if one >> n & 1) for one in marks] for image in images]
        return min((first, second) for first, second in moved)

    def value(marks: Marks, player: int) -> int:
        """The value of a position in which nobody has won; it and all later positions are added to `values`."""
        if marks not in values:
            sign = 1 - 2 * player
            reached = []
            for later, wins in after(marks, player):
                if wins:
                    values[later] = sign
                reached.append(values[later] if wins else value(later, 1 - player))
            values[marks] = sign * max((sign * one for one in reached), default=0)
        return values[marks]

    @cache
    def count(marks: Marks, player: int, merged: bool) -> dict[int, int]:
        """The games from a position by the number of the mark that wins; 0 for draws.

        With `merged`, only one of the moves to symmetric positions is counted.
        """
        reached = after(marks, player)
        if merged:
            reached = list({least(later): wins for later, wins in reached}.items())
        total = {} if reached else {0: 1}
        ply = (marks[0] | marks[1]).bit_count() + 1
        for later, wins in reached:
            for length, games in ({ply: 1} if wins else count(later, 1 - player, merged)).items():
                total[length] = total.get(length, 0) + games
        return dict(sorted(total.items()))

    value((0, 0), 0)
    return Enumeration(len(values), count((0, 0), 0, False), count((0, 0), 0, True), values)
