"""The lines of a board of k-in-a-row and its symmetries, as the kernels take them: a square is a bit."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

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
