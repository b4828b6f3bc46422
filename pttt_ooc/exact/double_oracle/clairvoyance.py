"""Upper bounds for a best response: what the responder would get if they saw the opponent's infoset from here on.

The *clairvoyant value* of a position depends on the opponent's infoset and on the responder's marks as a set, not on
their order: so it is kept in a table.  It is at least the value of any response, because the responder may ignore what
they see (the relaxation of Bosansky et al. 2014, section 4.3, taken to its end).  A responder who sees the board
attempts a square of the opponent only in order to wait, so the squares on which they failed do not matter.

The opponent is at an infoset of their plan, or, if its number is -1, outside of it, where they follow the pure rule
to the end.  A value depends on what the opponent does from here on, and on nothing else of the plan.  So the key has a
digest of the plan's part below the infoset: values stay valid for later plans that have the same part, and infosets
with equal parts share them.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pttt_ooc.exact.double_oracle.pure_rule import rule_square
from pttt_ooc.jit import bare_kernel, inner_kernel, piece

NEVER = -1e300
"""The bound of an attempt that is not possible."""

_TRIED = 4  # entries that are looked at for a key
_VALUES, _ROWS, _NOW = range(3)  # counts of entries, and the age of what is used now
AGE, CONTENT = 2, 3  # columns of tables


class Bounds(NamedTuple):
    """Tables of clairvoyant values.  Where there is no space, a new entry replaces the one that was unused for longest.

    An entry is one row, so that looking at it reads memory at one place: two words of its key, which are 0 if it is
    empty; the number of the response that used it last; and from column :data:`CONTENT` on its numbers, as float64.

    Attributes
    ----------
    values : uint64 (values, 4)
        Positions with the opponent to move: the responder's clairvoyant value there.
    rows : uint64 (rows, 3 + n)
        Positions with the responder to move: the clairvoyant values after each attempt, in the opponent's orientation.
    value_numbers, row_numbers : float64
        The same memory, as numbers.
    counts : int64 (3,)
        Numbers of values and rows that were computed, and of responses.
    """

    values: NDArray[np.uint64]
    rows: NDArray[np.uint64]
    value_numbers: NDArray[np.float64]
    row_numbers: NDArray[np.float64]
    counts: NDArray[np.int64]


def new_bounds(squares: int, megabytes: float) -> Bounds:
    """Empty tables of at most so many megabytes, half for values and half for rows; at least 1,024 of each."""
    values, rows = _lengths(squares, megabytes)
    table, other = np.zeros((values, CONTENT + 1), np.uint64), np.zeros((rows, CONTENT + squares), np.uint64)
    return _with_numbers(table, other, np.zeros(3, np.int64))


def resize(bounds: Bounds, megabytes: float) -> Bounds:
    """The same tables, resized in place to at most so many megabytes, with the entries that fit.

    The tables that were given must not be used any more.
    """
    values, rows = _lengths(bounds.rows.shape[1] - CONTENT, megabytes)
    _resize(bounds.values, values)
    _resize(bounds.rows, rows)
    return _with_numbers(bounds.values, bounds.rows, bounds.counts)


def _with_numbers(values: NDArray[np.uint64], rows: NDArray[np.uint64], counts: NDArray[np.int64]) -> Bounds:
    return Bounds(values, rows, values.view(np.float64), rows.view(np.float64), counts)


def _lengths(squares: int, megabytes: float) -> list[int]:
    """Numbers of values and of rows, powers of 2."""
    return [1 << max(10, int(np.log2(megabytes * 5e5 / (8 * (CONTENT + size))))) for size in (1, squares)]


def _resize(table: NDArray[np.uint64], length: int) -> None:
    """Entries move before a table shrinks or after it has grown: a second table might not fit."""
    before = len(table)
    if length == before:
        return
    if length > before:
        table.resize((length, table.shape[1]), refcheck=False)  # views of it are not used any more
    _move(table, length if length < before else 0, before, length)
    if length < before:
        table.resize((length, table.shape[1]), refcheck=False)


@bare_kernel
def _move(table: Any, begin: int, end: int, length: int) -> None:
    """Move the entries of a range to where they are in a table of another length.

    Of those that share a place, the one that was used last stays.
    """
    for k in range(begin, end):
        if table[k, 1] == 0:
            continue
        entry = entry_of(table[:length], np.int64(table[k, AGE]), table[k, 0], table[k, 1])
        if entry >= 0:  # it is there already
            continue
        entry = -1 - entry
        if not table[entry, 1] or table[entry, AGE] < table[k, AGE]:
            for column in range(table.shape[1]):
                table[entry, column] = table[k, column]
        table[k, 0], table[k, 1] = np.uint64(0), np.uint64(0)


# ---------------------------------------------------------------------------------------------
# Keys


@piece
def mix(word: Any) -> Any:
    """A 64-bit permutation without visible structure (the finaliser of SplitMix64)."""
    word = (word ^ (word >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    word = (word ^ (word >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return word ^ (word >> np.uint64(31))


@bare_kernel
def digest_plan(rules: Any, plan: Any, words: Any, digests: Any) -> None:
    """Digests of 128 bits of the plan's parts below all of its infosets.

    Parameters
    ----------
    words : uint64 (sequences,)
        The chances, bit by bit.
    digests : uint64 (infosets, 2)
        The result.
    """
    for infoset in range(plan.counts[0] - 1, -1, -1):
        known = np.uint64(plan.marks[infoset]) | (np.uint64(plan.fails[infoset]) << np.uint64(16))
        known |= np.uint64(plan.stabilisers[infoset]) << np.uint64(32)
        one, two = mix(known + np.uint64(1)), mix(known ^ np.uint64(0x9E3779B97F4A7C15))
        for square in range(rules.squares):
            sequence = plan.actions[infoset, square]
            if sequence < 0 or words[sequence] == 0:
                continue
            one = mix(one ^ words[sequence]) + np.uint64(square)
            two = mix(two + words[sequence]) ^ np.uint64(square)
            for placed in range(2):
                after = plan.children[infoset, 2 * square + placed]
                if after >= 0 and plan.choices[after]:
                    one, two = mix(one ^ digests[after, 0]), mix(two + digests[after, 1])
                else:
                    one, two = mix(one), mix(two)
        digests[infoset, 0], digests[infoset, 1] = one, two


@piece
def key_of(rules: Any, digests: Any, at: Any, own: int) -> Any:
    """The key of a position, in the opponent's orientation.

    Parameters
    ----------
    at
        The opponent's infoset or -1, orientation, marks, fails, and stabiliser.
    own
        The responder's marks.
    """
    infoset, g, marks, fails, stabiliser = at
    seen = np.uint64(rules.masks[g, own])
    if infoset >= 0:
        return digests[infoset, 0], digests[infoset, 1] + seen
    known = np.uint64(knowledge(rules, g, marks, fails))
    return seen | (known << np.uint64(16)) | (np.uint64(stabiliser) << np.uint64(48)), np.uint64(1)


@piece
def entry_of(table: Any, now: int, one: Any, two: Any) -> Any:
    """The entry of a key; if there is none, -1 minus the entry that it may take, an empty or the oldest one."""
    mixed = mix(one ^ (two * np.uint64(0x9E3779B97F4A7C15)))
    first, last = np.int64(mixed & np.uint64(len(table) - 1)), len(table) - 1
    oldest = first
    for k in range(_TRIED):
        entry = (first + k) & last
        if table[entry, 0] == one and table[entry, 1] == two:
            if table[entry, AGE] != np.uint64(now):
                table[entry, AGE] = np.uint64(now)
            return entry
        if table[entry, 1] == 0:
            return -1 - entry
        if k == 0 or table[entry, AGE] < table[oldest, AGE]:
            oldest = entry
    return -1 - oldest


# ---------------------------------------------------------------------------------------------
# Values


@piece
def _find_entry(rules: Any, digests: Any, bounds: Any, at: Any, own: int) -> Any:
    """The entry of a position with the opponent to move; negative if there is none."""
    one, two = key_of(rules, digests, at, own)
    return entry_of(bounds.values, bounds.counts[_NOW], one, two)


@inner_kernel
def clairvoyant(rules: Any, player: int, plan: Any, digests: Any, bounds: Any, at: Any, own: int, turn: int) -> Any:
    """The clairvoyant value for the opponent of `player`.

    This is one function, because numba cannot cache two that call each other.

    Parameters
    ----------
    player
        The player who follows the plan and the rule.
    at, own
        See :func:`key_of`.
    turn
        The player to move; if it is `player`, the value is kept.
    """
    infoset, g, marks, fails, stabiliser = at
    if turn != player:
        # The responder moves and sees the board: a winning square is worth 1.
        best = -2.0
        for square in range(rules.squares):
            bit = 1 << square
            if not (own | marks) & bit and rules.wins[1 - player, own | bit]:
                return 1.0
        # Otherwise the best of all free squares and of waiting (-1), which is an attempt on a mark of the opponent: the
        # turn passes, and nothing else changes.
        waits = marks > 0 and not rules.classical  # there, a failed attempt would only tell what they see anyway
        for square in range(-1 if waits else 0, rules.squares):
            after = own | (1 << square) if square >= 0 else own
            if square >= 0 and (own | marks) >> square & 1:
                continue
            if (after | marks) == rules.full:
                best = max(best, 0.0)
                continue
            entry = _find_entry(rules, digests, bounds, at, after)  # a call costs more than a look
            if entry >= 0:
                best = max(best, bounds.value_numbers[entry, CONTENT])
            else:
                best = max(best, clairvoyant(rules, player, plan, digests, bounds, at, after, player))
        return best
    # The opponent moves: the value may be known.
    entry = _find_entry(rules, digests, bounds, at, own)
    if entry >= 0:
        return bounds.value_numbers[entry, CONTENT]
    # Otherwise the expectation over what the plan does, or outside of it the rule. Each action stands for its orbit:
    # `share` is the chance of every one of the images.
    total = 0.0
    ruled = choice(rules, player, g, marks, fails) if infoset < 0 else np.int64(-1)
    for square in range(rules.squares):
        share = chance(rules, plan, infoset, stabiliser, ruled, square)
        if share <= 0.0:
            continue
        for h in range(len(rules.images)):
            if not rules.orbits[stabiliser, square] >> h & 1:
                continue
            bit = 1 << rules.places[g, rules.images[h, square]]
            placed = 0 if own & bit else 1
            # A win of the opponent costs its chance; a full board adds nothing.
            if placed and rules.wins[player, marks | bit]:
                total -= share
            elif placed == 0 or (marks | bit | own) != rules.full:
                then = opponent_after(rules, plan, at, h, square, bit, placed)
                mover = 1 - player if placed or not rules.classical else player
                total += share * clairvoyant(rules, player, plan, digests, bounds, then, own, mover)
    # Keep the value, in an empty entry or in place of the one that was used longest ago.
    one, two = key_of(rules, digests, at, own)
    entry = entry_of(bounds.values, bounds.counts[_NOW], one, two)
    entry = entry if entry >= 0 else -1 - entry
    bounds.values[entry, 0], bounds.values[entry, 1] = one, two
    bounds.values[entry, AGE], bounds.value_numbers[entry, CONTENT] = np.uint64(bounds.counts[_NOW]), total
    bounds.counts[_VALUES] += 1
    return total


@inner_kernel
def row_of(rules: Any, player: int, plan: Any, digests: Any, bounds: Any, at: Any, own: int) -> Any:
    """The row of a position with the responder to move."""
    one, two = key_of(rules, digests, at, own)
    entry = entry_of(bounds.rows, bounds.counts[_NOW], one, two)
    if entry >= 0:
        return entry
    entry = -1 - entry
    g, marks = at[1], at[2]
    bounds.rows[entry, 0], bounds.rows[entry, 1], bounds.rows[entry, AGE] = one, two, np.uint64(bounds.counts[_NOW])
    bounds.counts[_ROWS] += 1
    waiting = NEVER
    if marks:
        waiting = clairvoyant(rules, player, plan, digests, bounds, at, own, 1 - player if rules.classical else player)
    for square in range(rules.squares):
        bit, value = 1 << square, NEVER
        if marks & bit:
            value = waiting
        elif not own & bit:
            if rules.wins[1 - player, own | bit]:
                value = 1.0
            elif (own | bit | marks) == rules.full:
                value = 0.0
            else:
                value = clairvoyant(rules, player, plan, digests, bounds, at, own | bit, player)
        bounds.row_numbers[entry, CONTENT + rules.images[g, square]] = value
    return entry


# ---------------------------------------------------------------------------------------------
# What the opponent does


@piece
def knowledge(rules: Any, g: int, marks: int, fails: int) -> Any:
    """What a player knows, in the orientation `g`, as a number."""
    return rules.ternary[rules.masks[g, marks]] + 2 * rules.ternary[rules.masks[g, fails]]


@piece
def choice(rules: Any, player: int, g: int, marks: int, fails: int) -> Any:
    """The square of the pure rule, in the orientation `g`."""
    return rule_square(rules, player, np.int64(rules.masks[g, marks]), np.int64(rules.masks[g, fails]))


@piece
def chance(rules: Any, plan: Any, infoset: int, stabiliser: int, ruled: int, square: int) -> float:
    """The probability of each action in the orbit of a square; 0 if another square stands for the orbit."""
    if infoset >= 0:
        sequence = plan.actions[infoset, square]
        return plan.chances[sequence] if sequence >= 0 else 0.0
    return 1.0 / rules.orbit_sizes[stabiliser, square] if square == ruled else 0.0


@piece
def opponent_after(rules: Any, plan: Any, at: Any, h: int, square: int, bit: int, placed: int) -> Any:
    """The opponent after an attempt: at the image under `h` of a canonical square, which is `bit` on the board."""
    infoset, g, marks, fails, stabiliser = at
    after = np.int64(-1)
    if infoset >= 0:
        after = np.int64(plan.children[infoset, 2 * square + placed])
        if after >= 0 and plan.choices[after] == 0:
            after = np.int64(-1)
    if placed:
        marks |= bit
    else:
        fails |= bit
    return after, rules.turned[h, g], marks, fails, stabiliser & rules.fixing[square]
