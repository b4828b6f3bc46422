"""The rules and the symmetries of one game as tables, for kernels.

Sets of squares are bit masks.  A player's sequence is kept in its *canonical orientation*: the image under a symmetry
that is lexicographically least, attempt by attempt.  The *stabiliser* of a sequence is the set of symmetries that fix
each of its squares, as a bit mask.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pttt_ooc.games.rules.game import Game


class RuleTables(NamedTuple):
    """The tables; G symmetries, n squares.

    Attributes
    ----------
    squares, full
        Number of squares, and the mask of all of them.
    classical
        Whether a failed attempt keeps the turn.
    first
        The player who moves first.
    everything
        The mask of all symmetries.
    setup : int64 (2,)
        Both players' marks before the game.
    wins : bool (2, 2^n)
        Whether a player with these marks has won.
    places : int64 (G, n)
        The square that a symmetry takes to a canonical square.
    turned : int64 (G, G)
        ``turned[h, g]``: the symmetry that applies `g` and then undoes `h`.
    images : int64 (G, n)
        The image of a square.
    fixing : int64 (n,)
        The mask of the symmetries that fix a square.
    orbits : int64 (2^G, n)
        For a stabiliser and a square: a mask of symmetries, one for each image of the square.
    orbit_sizes, least : int64 (2^G, n)
        The number of these images, and the least one, which stands for all.
    masks : int32 (G, 2^n)
        The image of a set of squares.
    ternary : int64 (2^n,)
        The sum of 3^s over the squares of a set: ``ternary[marks] + 2 * ternary[fails]`` is a player's *knowledge*.
    winning_sets : tuple of 2 int64 (sets,)
        Both players' minimal winning sets.
    choices : int8 (2, 3^n)
        What :mod:`pttt_ooc.exact.double_oracle.pure_rule` has found so far, by player and knowledge; 0: nothing.
    """

    squares: int
    full: int
    classical: bool
    first: int
    everything: int
    setup: NDArray[np.int64]
    wins: NDArray[np.bool_]
    places: NDArray[np.int64]
    turned: NDArray[np.int64]
    images: NDArray[np.int64]
    fixing: NDArray[np.int64]
    orbits: NDArray[np.int64]
    orbit_sizes: NDArray[np.int64]
    least: NDArray[np.int64]
    masks: NDArray[np.int32]
    ternary: NDArray[np.int64]
    winning_sets: tuple[NDArray[np.int64], NDArray[np.int64]]
    choices: NDArray[np.int8]


def rule_tables(game: Game) -> RuleTables:
    """The tables of a game."""
    n, symmetries = game.squares, game.symmetries
    size, sets = len(symmetries), np.arange(1 << n)
    images = np.array(symmetries, np.int64)
    numbers = {symmetry: number for number, symmetry in enumerate(symmetries)}
    places = np.argsort(images, axis=1)
    turned = [[numbers[tuple(places[h, images[g]].tolist())] for g in range(size)] for h in range(size)]
    orbits, orbit_sizes, least = _orbits(images)
    holds = sets[:, None] >> np.arange(n) & 1  # whether a set has a square
    wins = np.zeros((2, 1 << n), np.bool_)
    for player, winning_sets in enumerate(game.winning_sets):
        for winning in winning_sets:
            wins[player] |= sets & winning == winning
    return RuleTables(
        squares=n,
        full=(1 << n) - 1,
        classical=game.turn_rule == "classical",
        first=game.first_player,
        everything=(1 << size) - 1,
        setup=np.array([game.setup_mask(0), game.setup_mask(1)], np.int64),
        wins=wins,
        places=places,
        turned=np.array(turned, np.int64),
        images=images,
        fixing=((images == np.arange(n)) << np.arange(size)[:, None]).sum(axis=0),
        orbits=orbits,
        orbit_sizes=orbit_sizes,
        least=least,
        masks=np.ascontiguousarray((holds @ (1 << images.T)).T, np.int32),
        ternary=holds @ 3 ** np.arange(n),
        winning_sets=(np.array(game.winning_sets[0], np.int64), np.array(game.winning_sets[1], np.int64)),
        choices=np.zeros((2, 3**n), np.int8),
    )


def _orbits(images: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """See :class:`RuleTables`."""
    size, squares = images.shape
    orbits, orbit_sizes, least = (np.zeros((1 << size, squares), np.int64) for _ in range(3))
    for stabiliser in range(1, 1 << size):
        members = [g for g in range(size) if stabiliser >> g & 1]
        for square in range(squares):
            first = {int(images[g, square]): g for g in reversed(members)}  # the first symmetry for each image
            orbits[stabiliser, square] = sum(1 << g for g in first.values())
            orbit_sizes[stabiliser, square], least[stabiliser, square] = len(first), min(first)
    return orbits, orbit_sizes, least
