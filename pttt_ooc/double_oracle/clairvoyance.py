"""Upper bounds for a best response: what the responder would get if they saw the opponent's infoset from here on.

The *clairvoyant value* of a position depends on the opponent's infoset and on the responder's marks and attempts as
sets, not on their order: so it is kept in a table.  It is at least the value of any response, because the responder
may ignore what they see (the relaxation of Bosansky et al. 2014, section 4.3, taken to its end).

The opponent is at an infoset of their plan, or, if its number is -1, outside of it, where they follow the pure rule
for ever; then the value does not depend on the plan, and is kept from plan to plan.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pttt_ooc.jit import bare_kernel, piece

_TRIED = 4  # entries that are looked at for a key


class Memo(NamedTuple):
    """A table of clairvoyant values.  It never grows: what does not fit overwrites older entries.

    Attributes
    ----------
    keys : uint64 (entries, 2)
        The position, and a number of the plan; the second word of an empty entry is 0.
    values : float64 (entries,)
        The values.
    """

    keys: NDArray[np.uint64]
    values: NDArray[np.float64]


def new_memo(megabytes: float) -> Memo:
    """An empty table of at most so many megabytes."""
    entries = 1 << max(10, int(np.log2(megabytes * 1e6 / 24)))
    return Memo(np.zeros((entries, 2), np.uint64), np.zeros(entries))


@piece
def entry_of(keys: Any, one: Any, two: Any) -> Any:
    """The entry of a key; if there is none, -1 minus the entry that it may take."""
    mixed = (one * np.uint64(0x9E3779B97F4A7C15)) ^ (two * np.uint64(0xC2B2AE3D27D4EB4F))
    mixed = (mixed ^ (mixed >> np.uint64(29))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed ^= mixed >> np.uint64(32)
    first, last = np.int64(mixed & np.uint64(len(keys) - 1)), len(keys) - 1
    for k in range(_TRIED):
        entry = (first + k) & last
        if keys[entry, 0] == one and keys[entry, 1] == two:
            return entry
        if keys[entry, 1] == 0:
            return -1 - entry
    return -1 - ((first + np.int64(mixed >> np.uint64(62))) & last)


@piece
def key_of(rules: Any, number: int, at: Any, own: int, tried: int) -> Any:
    """The key of a position with the opponent to move, in the opponent's orientation.

    Parameters
    ----------
    number
        The number of the opponent's plan.
    at
        The opponent's infoset or -1, orientation, marks, fails, and stabiliser.
    own, tried
        The responder's marks, and the squares on which they failed.
    """
    infoset, g, marks, fails, stabiliser = at
    seen = np.uint64(rules.masks[g, own])
    if not rules.classical:  # there, who sees the board never fails
        seen |= np.uint64(rules.masks[g, tried]) << np.uint64(12)
    if infoset >= 0:
        return seen | (np.uint64(infoset) << np.uint64(24)), np.uint64(1) | (np.uint64(number) << np.uint64(9))
    known = np.uint64(knowledge(rules, g, marks, fails))
    return seen | (known << np.uint64(24)), np.uint64(2) + (np.uint64(stabiliser) << np.uint64(56))


@piece
def entry_at(rules: Any, memo: Any, number: int, at: Any, own: int, tried: int) -> Any:
    """The entry of a position with the opponent to move; negative if there is none."""
    one, two = key_of(rules, number, at, own, tried)
    return entry_of(memo.keys, one, two)


@bare_kernel
def clairvoyant(
    rules: Any, player: int, plan: Any, memo: Any, number: int, at: Any, own: int, tried: int, responds: bool
) -> Any:
    """The clairvoyant value for the opponent of `player`.

    One function, since numba cannot keep two that call each other.

    Parameters
    ----------
    player
        Who plays by the plan and the rule.
    number, at, own, tried
        See :func:`key_of`.
    responds
        Whether the responder is to move; otherwise `player` is, and the value is kept.
    """
    infoset, g, marks, fails, stabiliser = at
    if responds:
        best = -2.0
        for square in range(rules.squares):
            bit = 1 << square
            if not (own | tried | marks) & bit and rules.wins[1 - player, own | bit]:
                return 1.0
        for square in range(rules.squares):
            bit = 1 << square
            if (own | tried) & bit:
                continue
            if marks & bit and rules.classical:
                continue  # it would only tell what they see anyway
            if (own | bit | marks) == rules.full and not marks & bit:
                best = max(best, 0.0)
                continue
            after, failed = (own, tried | bit) if marks & bit else (own | bit, tried)
            entry = entry_at(rules, memo, number, at, after, failed)  # a call costs more than a look
            if entry >= 0:
                best = max(best, memo.values[entry])
            else:
                best = max(best, clairvoyant(rules, player, plan, memo, number, at, after, failed, not responds))
        return best
    entry = entry_at(rules, memo, number, at, own, tried)
    if entry >= 0:
        return memo.values[entry]
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
            if placed and rules.wins[player, marks | bit]:
                total -= share
            elif placed == 0 or (marks | bit | own) != rules.full:
                then = moved(rules, plan, at, h, square, bit, placed)
                turn = placed == 1 or not rules.classical
                total += share * clairvoyant(rules, player, plan, memo, number, then, own, tried, turn)
    one, two = key_of(rules, number, at, own, tried)
    entry = entry_of(memo.keys, one, two)
    entry = entry if entry >= 0 else -1 - entry
    memo.keys[entry, 0], memo.keys[entry, 1], memo.values[entry] = one, two, total
    return total


@piece
def knowledge(rules: Any, g: int, marks: int, fails: int) -> Any:
    """What a player knows, in the orientation `g`, as an index of the pure rule's choices."""
    return rules.ternary[rules.masks[g, marks]] + 2 * rules.ternary[rules.masks[g, fails]]


@piece
def choice(rules: Any, player: int, g: int, marks: int, fails: int) -> Any:
    """The square of the pure rule, in the orientation `g`."""
    return np.int64(rules.choices[player, knowledge(rules, g, marks, fails)])


@piece
def chance(rules: Any, plan: Any, infoset: int, stabiliser: int, ruled: int, square: int) -> float:
    """The probability of each action in the orbit of a square; 0 if another square stands for the orbit."""
    if infoset >= 0:
        sequence = plan.actions[infoset, square]
        return plan.chances[sequence] if sequence >= 0 else 0.0
    return 1.0 / rules.orbit_sizes[stabiliser, square] if square == ruled else 0.0


@piece
def moved(rules: Any, plan: Any, at: Any, h: int, square: int, bit: int, placed: int) -> Any:
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
