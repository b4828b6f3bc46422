"""Where an infoset is in the arrays of an index, with or without symmetry.

An infoset is given by the player's own attempts: their squares in order, and which of them were placed.  With symmetry,
its numbers are stored at the representative of its view, under the symmetry that maps the view there.
"""

from __future__ import annotations

from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from pttt_ooc.games.rules.game import Game
from pttt_ooc.games.rules.play import first_infoset
from pttt_ooc.games.structure.index import Index
from pttt_ooc.games.structure.infoset_parser import check_infoset
from pttt_ooc.games.structure.orders import order_counts, rank_order
from pttt_ooc.games.structure.views import Ints
from pttt_ooc.jit import kernel

Floats = NDArray[np.floating[Any]]


class Side(NamedTuple):
    """One player's tables for kernels; see :class:`pttt_ooc.games.structure.index.PlayerIndex`.

    Attributes
    ----------
    squares
        Number of squares of the board.
    setup
        The player's squares of the setup, as a bit mask.
    wins
        int64 (winning sets,): bit masks.
    keys, view_of_key, symmetry_of_key
        As in :class:`pttt_ooc.games.structure.index.Orbits`.
    group
        int64 (symmetries, squares): the image of each square under each symmetry.
    decides, node_start, sequence_start
        As in the index.
    hidden, orders, ending_failed
        As in :class:`pttt_ooc.games.structure.orders.OrderCounts`.
    """

    squares: int
    setup: int
    wins: Ints
    keys: Ints
    view_of_key: Ints
    symmetry_of_key: Ints
    group: Ints
    decides: NDArray[np.bool_]
    node_start: Ints
    sequence_start: Ints
    hidden: int
    orders: Ints
    ending_failed: Ints


class PackedAttempts(NamedTuple):
    """A player's own attempts as kernels take them; they define the infoset.

    Attributes
    ----------
    squares
        int64 (attempts,): in order, without the setup.
    placed
        The placed squares, as a bit mask.
    """

    squares: Ints
    placed: int


_sides: WeakKeyDictionary[Index, tuple[Side, Side]] = WeakKeyDictionary()


def sides_of(index: Index) -> tuple[Side, Side]:
    """Both players' tables for kernels, made once for each index."""
    if index not in _sides:
        _sides[index] = (_side(index, 0), _side(index, 1))
    return _sides[index]


def _side(index: Index, player: int) -> Side:
    game, mine, orbits = index.game, index.players[player], index.orbits[player]
    return Side(
        *(game.squares, game.setup_mask(player), np.array(game.winning_sets[player], np.int64)),
        *(orbits.keys, orbits.view, orbits.symmetry, np.array(index.group, np.int64)),
        *(mine.decides, mine.node_start, mine.sequence_start),
        *order_counts(game, player).tables,
    )


def text_of(game: Game, player: int, attempts: PackedAttempts) -> str:
    """Text of an infoset: a bar, and for each square, setup first, its digit and ``*`` (placed) or ``.`` (failed)."""
    own = [f"{square}{'*' if attempts.placed >> square & 1 else '.'}" for square in attempts.squares.tolist()]
    return first_infoset(game, player) + "".join(own)


def pack_attempts(index: Index, player: int, infoset: str) -> PackedAttempts:
    """The attempts of an infoset, for kernels.

    Parameters
    ----------
    infoset
        Its text, as :func:`pttt_ooc.games.structure.infoset_parser.check_infoset` takes it.

    Raises
    ------
    ImpossibleInfosetError
        If it is no infoset of the player; the sentence says why.
    """
    found = _read(index, player, infoset)
    if found is None:
        found = _read(index, player, check_infoset(index.game, player, infoset))
        assert found is not None, "the index and the rules have the same infosets"
    return found


def _read(index: Index, player: int, infoset: str) -> PackedAttempts | None:
    """The attempts of an infoset's standard text; None for any other text."""
    game, begin = index.game, first_infoset(index.game, player)
    rest = infoset[len(begin) :]
    if not infoset.startswith(begin) or len(rest) % 2 or not set(rest[1::2]) <= {"*", "."}:
        return None
    if not set(rest[::2]) <= set("0123456789"):
        return None
    squares = [int(digit) for digit in rest[::2]]
    taken = {*squares, *game.setup[player]}
    if len(taken) < len(squares) + len(game.setup[player]) or max(taken, default=0) >= game.squares:
        return None
    placed = sum(1 << square for square, mark in zip(squares, rest[1::2], strict=True) if mark == "*")
    attempts = PackedAttempts(np.array(squares, np.int64), placed)
    return attempts if is_infoset(sides_of(index)[player], attempts) else None


def is_infoset(side: Side, attempts: PackedAttempts) -> bool:
    """Whether the player can be to move after these attempts."""
    view, _, rank = locate(side, attempts.squares, len(attempts.squares), attempts.placed)
    return bool(view >= 0 and rank >= 0 and side.decides[view])


@kernel
def locate(side, squares, n, placed):
    """The view of the first `n` own attempts, up to symmetry, the symmetry that maps it there, and the order's rank.

    The view is -1 if there is none; the rank is -1 if the order is impossible.
    """
    tried = 0
    for slot in range(n):
        tried |= 1 << squares[slot]
    key = (placed & tried) << side.squares | (tried & ~placed)
    at = np.searchsorted(side.keys, key)
    if at == len(side.keys) or side.keys[at] != key:
        return -1, -1, -1
    symmetry = side.symmetry_of_key[at]
    image = np.empty(n, np.int64)
    image_placed = np.int64(0)  # a plain 0 would compile the callee for one more type
    for slot in range(n):
        image[slot] = side.group[symmetry, squares[slot]]
        if placed >> squares[slot] & 1:
            image_placed |= 1 << image[slot]
    rank = rank_order(image, n, image_placed, side.hidden, side.orders, side.ending_failed)
    return side.view_of_key[at], symmetry, rank


@kernel
def write_row(side, probabilities, squares, n, placed, row):
    """Write a strategy's probabilities of all squares after the first `n` own attempts to `row`; they sum to 1.

    They are scaled as in :func:`pttt_ooc.cfr.sweep.tree.reach_of_strategy`: if all are zero, all attempts are equally
    likely.  `row` is zero at squares that are not legal.  Returns whether the player decides there.
    """
    view, symmetry, rank = locate(side, squares, n, placed)
    for square in range(side.squares):
        row[square] = 0
    if view < 0 or rank < 0 or not side.decides[view]:
        return False
    taken = side.setup
    for slot in range(n):
        taken |= 1 << squares[slot]
    free = 0  # images of legal squares
    for square in range(side.squares):
        if not taken >> square & 1:
            free |= 1 << side.group[symmetry, square]
    orders = side.node_start[view + 1] - side.node_start[view]
    at = side.sequence_start[view] + rank
    image = np.empty(side.squares)
    total, actions = 0.0, 0
    for square in range(side.squares):
        if free >> square & 1:
            image[square] = probabilities[at + actions * orders]
            total += image[square]
            actions += 1
    for square in range(side.squares):
        if not taken >> square & 1:
            row[square] = image[side.group[symmetry, square]] / total if total > 0 else 1 / actions
    return True


@kernel
def own_reach(side, probabilities, squares, placed):
    """Product of the player's own probabilities on the way through all their attempts."""
    row = np.empty(side.squares)
    product = 1.0
    for n in range(len(squares)):
        write_row(side, probabilities, squares, n, placed, row)
        product *= row[squares[n]]
    return product


@kernel
def add_values(side, values, squares, placed, square, out):
    """Add the values of the nodes after an attempt of `square`, failed and placed, to `out[square]`."""
    n = len(squares)
    after = np.empty(n + 1, np.int64)
    for slot in range(n):
        after[slot] = squares[slot]
    after[n] = square
    for outcome in range(2):
        view, _, rank = locate(side, after, n + 1, placed | outcome << square)
        if view >= 0 and rank >= 0:
            out[square] += values[side.node_start[view] + rank]
