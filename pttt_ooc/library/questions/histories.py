"""All histories of an infoset, each with the opponent's reach, and their continuations.

An infoset tells which of the player's attempts succeeded, so the opponent's attempts determine the history.  A walk
from the start of the game, with the player's attempts given, finds them.  It skips an attempt of the opponent that
contradicts the infoset: a mark where the player will place one, or too few turns left for the marks on which the player
will fail.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pttt_ooc.games.rules.game import Game
from pttt_ooc.games.structure.index import Index
from pttt_ooc.games.structure.infoset_places import Floats, PackedAttempts, sides_of, write_row
from pttt_ooc.games.structure.orders import popcount
from pttt_ooc.games.structure.strategy import Strategy
from pttt_ooc.games.structure.views import Ints
from pttt_ooc.jit import kernel

RETURNS, WINS, DRAWS, LOSES = range(4)
"""Results of an attempt: the player is to move again, or the game is over."""

BITS = 4
"""Bits of a square in the code of an order."""


class Histories(NamedTuple):
    """The histories of an infoset.

    Attributes
    ----------
    reach
        float64 (histories,): the opponent's reach.
    marks
        int64 (histories,): the squares that the opponent has placed, setup included, as bit masks.
    failed
        int64 (histories,): the squares on which the opponent has failed.
    attempts
        int64 (histories,): number of the opponent's attempts.
    order
        int64 (histories,): the squares of these attempts in order, without the setup, four bits each, the first lowest.
    """

    reach: NDArray[np.float64]
    marks: Ints
    failed: Ints
    attempts: Ints
    order: Ints


class OwnPart(NamedTuple):
    """The player's part of a walk.

    Attributes
    ----------
    squares, placed
        As in :class:`pttt_ooc.games.structure.infoset_places.PackedAttempts`.
    setup
        The player's squares of the setup, as a bit mask.
    begins
        Whether the player makes the first attempt of the game.
    abrupt
        Whether a failed attempt passes the turn.
    """

    squares: Ints
    placed: int
    setup: int
    begins: bool
    abrupt: bool


def own_part(game: Game, player: int, attempts: PackedAttempts) -> OwnPart:
    """The player's part of a walk to an infoset."""
    begins, abrupt = game.first_player == player, game.turn_rule == "abrupt"
    return OwnPart(attempts.squares, attempts.placed, game.setup_mask(player), begins, abrupt)


def read_only(probabilities: Floats) -> Floats:
    """The same numbers as a read-only array, so that kernels are compiled only for the type of mapped arrays."""
    part = probabilities[:]
    part.flags.writeable = False
    return part


def histories(opponent: Strategy, attempts: PackedAttempts) -> Histories:
    """The histories of an infoset that the opponent's strategy reaches.

    Parameters
    ----------
    opponent
        With or without symmetry.  Probabilities are scaled to sum to 1 at every infoset.
    attempts
        The other player's attempts, which are the infoset.
    """
    index, player = opponent.index, 1 - opponent.player
    side, own = sides_of(index)[opponent.player], own_part(index.game, player, attempts)
    return _histories(*walk(own, side, read_only(opponent.probabilities), False, False))


def consistent_histories(index: Index, player: int, attempts: PackedAttempts, some: bool = False) -> Histories:
    """All histories that are consistent with an infoset, each with reach 1.

    Parameters
    ----------
    some
        Whether it is enough to find, for each legal square, a history in which it is empty and one in which it has a
        mark, if there are such histories.
    """
    side, own = sides_of(index)[1 - player], own_part(index.game, player, attempts)
    return _histories(*walk(own, side, read_only(np.empty(0, np.float32)), True, some))


def _histories(reach: NDArray[np.float64], ends: Ints) -> Histories:
    return Histories(reach, *ends.reshape(-1, 4).T)


@kernel
def has_won(side, marks):
    """Whether a player's marks, setup included, contain a winning set."""
    won = False
    for winning in side.wins:
        won |= marks & winning == winning
    return won


@kernel
def _needed_squares(own, k, mine, marks):
    """Squares that the opponent may attempt now if the player is to fail as required; -1 if it is too late.

    The player has made `k` attempts.  The opponent places at most one mark in a turn.  Without a constraint, the result
    is all squares.
    """
    turns, missing, count = 1, 0, 0
    for j in range(k, len(own.squares)):
        bit = 1 << own.squares[j]
        if not own.placed & bit and not marks & bit:
            missing |= bit
            count += 1
        if count > turns:
            return -1
        if count == turns:
            return missing if own.abrupt else missing | mine
        turns += 1 if own.abrupt or own.placed & bit else 0
    return (1 << 62) - 1


@kernel
def _go_on(own, k, marks):
    """Make the player's attempts from attempt `k` to the end of their turn.

    Returns the number of attempts made, and whether the player is to move after the last one.  The number is -1 if an
    attempt has another outcome than in the infoset.
    """
    while k < len(own.squares):
        bit = 1 << own.squares[k]
        fails = marks & bit != 0
        if fails == (own.placed & bit != 0):
            return -1, False
        k += 1
        if own.abrupt or not fails:
            return k, False
    return k, True


@kernel
def walk(own, side, probabilities, alike, some):
    """The histories of an infoset, by a depth-first walk over the opponent's attempts.

    Parameters
    ----------
    own, side
        Of the player (:class:`OwnPart`) and of the opponent.
    probabilities
        The opponent's.
    alike
        Whether every attempt has weight 1, whatever its probability.
    some
        As in :func:`consistent_histories`.

    Returns
    -------
    The opponent's reach of each history, and for each four numbers: the other fields of :class:`Histories`.
    """
    size = side.squares
    full = (1 << size) - 1
    # The player's part is given by the infoset; squares that they have not attempted are free.
    mine = np.empty(len(own.squares) + 1, np.int64)  # the player's marks after each number of attempts
    tried = mine[0] = own.setup
    for k in range(len(own.squares)):
        bit = 1 << own.squares[k]
        mine[k + 1] = mine[k] | (own.placed & bit)
        tried |= bit
    free = full & ~tried
    seen_empty, seen_marked = 0, 0

    count, capacity = 0, 256
    reach, ends = np.empty(capacity), np.empty(4 * capacity, np.int64)

    # A level for each attempt of the opponent: the state before the attempt, and the squares left to try.
    weight, rows = np.empty(size + 1), np.empty((size + 1, size))
    made, marks = np.empty(size + 1, np.int64), np.empty(size + 1, np.int64)
    failed, rest = np.empty(size + 1, np.int64), np.empty(size + 1, np.int64)
    order = np.empty(size + 1, np.int64)
    depth = np.int64(0)  # a plain 0 would compile callees for one more type
    weight[0], marks[0], failed[0] = 1.0, side.setup, 0
    made[0], arrived = 0, False
    if own.begins:
        made[0], arrived = _go_on(own, depth, side.setup)
    rest[0] = -1  # not computed yet
    while depth >= 0:
        # The player's attempts had other outcomes than in the infoset: go back.
        if made[depth] < 0:
            depth -= 1
            continue
        # All of the player's attempts are made, and it is their turn: this is a history of the infoset.
        if arrived:
            arrived = False
            if count == capacity:
                # Twice as much space.
                before, ended = reach, ends
                reach, ends = np.empty(2 * capacity), np.empty(8 * capacity, np.int64)
                for h in range(capacity):
                    reach[h] = before[h]
                for at in range(4 * capacity):
                    ends[at] = ended[at]
                capacity *= 2
            code = 0
            for slot in range(depth):
                code |= order[slot] << BITS * slot
            reach[count] = weight[depth]
            ends[4 * count], ends[4 * count + 1] = marks[depth], failed[depth]
            ends[4 * count + 2], ends[4 * count + 3] = depth, code
            count += 1
            seen_marked |= marks[depth]
            seen_empty |= full & ~marks[depth]
            if some and free & ~(seen_marked & seen_empty) == 0:
                break
            depth -= 1
            continue
        # The opponent moves. At the first visit, the squares that do not contradict the infoset, and the opponent's
        # probabilities.
        placed_so_far = mine[made[depth]]
        if rest[depth] < 0:
            needed = _needed_squares(own, made[depth], placed_so_far, marks[depth])
            rest[depth] = 0
            if needed >= 0 and placed_so_far | marks[depth] != full:
                # A mark where the player will place one contradicts the infoset.
                rest[depth] = full & ~(marks[depth] | failed[depth]) & ~(mine[-1] & ~placed_so_far) & needed
            if alike:
                for square in range(size):
                    rows[depth, square] = 1
            elif rest[depth]:
                placed = marks[depth] & ~side.setup
                write_row(side, probabilities, order, depth, placed, rows[depth])
        if rest[depth] == 0:
            depth -= 1
            continue
        # The next of these squares; the game must go on after it.
        bit = rest[depth] & -rest[depth]
        rest[depth] ^= bit
        square = popcount(bit - 1)
        if rows[depth, square] == 0:
            continue
        fails = placed_so_far & bit != 0
        after = marks[depth] if fails else marks[depth] | bit
        if not fails and (has_won(side, after) or placed_so_far | after == full):
            continue
        # One level down, after the opponent's attempt and, if it ended their turn, the player's next ones.
        order[depth] = square
        weight[depth + 1] = weight[depth] * rows[depth, square]
        marks[depth + 1] = after
        failed[depth + 1] = failed[depth] | bit if fails else failed[depth]
        rest[depth + 1] = -1
        made[depth + 1] = made[depth]
        if own.abrupt or not fails:
            made[depth + 1], arrived = _go_on(own, made[depth], after)
        depth += 1
    return reach[:count], ends[: 4 * count]


@kernel
def _let_opponent_move(own_marks, marks, order, n, abrupt, side, probabilities, levels, out):
    """Add the results of the opponent's turn to `out`.

    `order` begins with the opponent's first `n` attempts; the rest is overwritten.  `levels` are, for each attempt of
    this turn, weights, failed squares, rows and squares left to try; the caller fills the first level of the first
    three.
    """
    weight, failed, rows, rest = levels
    full = (1 << side.squares) - 1
    depth = 0
    rest[0] = full & ~(marks | failed[0])
    while depth >= 0:
        if rest[depth] == 0:
            depth -= 1
            continue
        bit = rest[depth] & -rest[depth]
        rest[depth] ^= bit
        square = popcount(bit - 1)
        reach = weight[depth] * rows[depth, square]
        if reach == 0:
            continue
        after = marks | bit
        if own_marks & bit and abrupt:
            out[RETURNS] += reach
        elif own_marks & bit:
            order[n + depth] = square
            depth += 1
            weight[depth], failed[depth] = reach, failed[depth - 1] | bit
            rest[depth] = full & ~(marks | failed[depth])
            write_row(side, probabilities, order, n + depth, marks & ~side.setup, rows[depth])
        elif has_won(side, after):
            out[LOSES] += reach
        elif own_marks | after == full:
            out[DRAWS] += reach
        else:
            out[RETURNS] += reach


@kernel
def follow(found, own, mine, side, probabilities, chosen):
    """The results of an attempt, up to the player's next turn or the end of the game.

    Parameters
    ----------
    found
        The :class:`Histories` of an infoset.
    own
        The player's part of the walk.
    mine, side
        Of the player and of the opponent.
    probabilities
        The opponent's.
    chosen
        The squares to attempt, each separately, as a bit mask.

    Returns
    -------
    float64 (squares, 2, 4): for each square, failed and placed, the reach of each result: RETURNS, WINS, DRAWS, LOSES.
    """
    size = side.squares
    full = (1 << size) - 1
    out = np.zeros((size, 2, 4))
    own_marks = own.setup | own.placed
    order = np.empty(size + 1, np.int64)
    weight, rows = np.empty(size + 1), np.empty((size + 1, size))
    failed, rest = np.empty(size + 1, np.int64), np.empty(size + 1, np.int64)
    levels = (weight, failed, rows, rest)
    for h in range(len(found.reach)):
        marks, n = found.marks[h], found.attempts[h]
        # The state of the history: the opponent's order of attempts, their failures, and their probabilities now.
        for slot in range(n):
            order[slot] = found.order[h] >> BITS * slot & (1 << BITS) - 1
        weight[0], failed[0] = found.reach[h], found.failed[h]
        write_row(side, probabilities, order, n, marks & ~side.setup, rows[0])
        for square in range(size):
            bit = 1 << square
            if not chosen & bit:
                continue
            # The attempt fails: the opponent moves, or, where a failure keeps the turn, the player does at once.
            if marks & bit:
                if own.abrupt:
                    _let_opponent_move(
                        own_marks, marks, order, n, own.abrupt, side, probabilities, levels, out[square, 0]
                    )
                else:
                    out[square, 0, RETURNS] += found.reach[h]
            # A mark wins, or fills the board, or else the opponent moves.
            elif has_won(mine, own_marks | bit):
                out[square, 1, WINS] += found.reach[h]
            elif own_marks | bit | marks == full:
                out[square, 1, DRAWS] += found.reach[h]
            else:
                _let_opponent_move(
                    own_marks | bit, marks, order, n, own.abrupt, side, probabilities, levels, out[square, 1]
                )
    return out
