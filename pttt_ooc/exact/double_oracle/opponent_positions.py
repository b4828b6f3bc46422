"""The opponent's positions at an infoset, with their reach: what becomes of them when the responder attempts a square.

The positions are on a stack.  An attempt pushes the positions that follow, each after all that the opponent does until
the responder's next turn.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pttt_ooc.exact.double_oracle.clairvoyance import chance, choice, opponent_after
from pttt_ooc.jit import bare_kernel, piece


class Positions(NamedTuple):
    """Positions of the opponent, one after the other; a search uses them as a stack.

    Attributes
    ----------
    infosets : int32
        The infoset in the opponent's plan; -1: outside.
    orientations : int8
        The symmetry that takes the board to the opponent's canonical orientation.
    marks, fails : int32
        The opponent's marks, and the squares on which they failed, on the board.
    stabilisers : int32
        The stabiliser of the opponent's sequence.
    reach : float64
        The opponent's probability to come there.
    """

    infosets: NDArray[np.int32]
    orientations: NDArray[np.int8]
    marks: NDArray[np.int32]
    fails: NDArray[np.int32]
    stabilisers: NDArray[np.int32]
    reach: NDArray[np.float64]


def new_positions(capacity: int) -> Positions:
    """Space for so many positions of the opponent."""
    wide, narrow = (np.zeros((4, capacity), np.int32), np.zeros(capacity, np.int8))
    return Positions(wide[0], narrow, wide[1], wide[2], wide[3], np.zeros(capacity))


@piece
def push(positions: Any, top: int, at: Any, reach: float) -> None:
    """Put a position on the stack, if it fits."""
    if top >= len(positions.reach):
        return  # the search sees that it did not fit
    infoset, g, marks, fails, stabiliser = at
    positions.infosets[top] = infoset
    positions.orientations[top] = g
    positions.marks[top] = marks
    positions.fails[top] = fails
    positions.stabilisers[top] = stabiliser
    positions.reach[top] = reach


@piece
def position_at(positions: Any, k: int) -> Any:
    """A position without its reach: infoset, orientation, marks, failed squares and stabiliser."""
    return (
        np.int64(positions.infosets[k]),
        np.int64(positions.orientations[k]),
        np.int64(positions.marks[k]),
        np.int64(positions.fails[k]),
        np.int64(positions.stabilisers[k]),
    )


@bare_kernel
def opponent_moves(
    rules: Any, player: int, plan: Any, positions: Any, at: Any, reach: float, own: int, top: int
) -> Any:
    """Push what becomes of a position in the turn of the opponent `player`.

    Returns
    -------
    top, value
        The end of the stack, which may be beyond its capacity, and the responder's payoff where the game ends, times
        the reach.
    """
    infoset, g, marks, fails, stabiliser = at
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
            after = opponent_after(rules, plan, at, h, square, bit, placed)
            if placed and rules.wins[player, marks | bit]:
                total -= reach * share
            elif placed and (marks | bit | own) == rules.full:
                pass
            elif not placed and rules.classical:
                top, more = opponent_moves(rules, player, plan, positions, after, reach * share, own, top)
                total += more
            else:
                push(positions, top, after, reach * share)
                top += 1
    return top, total


@bare_kernel
def follow(rules: Any, opponent: Any, positions: Any, path: Any) -> Any:
    """Follow a path from the beginning of the game.

    Returns
    -------
    own, tried, stabiliser, begin, top, payoff
        The responder's marks, failed squares and stabiliser; the first position and the end of the positions, which may
        be beyond the capacity; what the responder got since the last attempt.
    """
    player, plan = opponent[0], opponent[1]
    responder = 1 - player
    own, tried, stabiliser = np.int64(rules.setup[responder]), np.int64(0), np.int64(rules.everything)
    payoff, begin, top = 0.0, np.int64(0), np.int64(0)
    start = (np.int64(0), np.int64(0), rules.setup[player], np.int64(0), np.int64(rules.everything))
    if rules.first == responder:
        push(positions, begin, start, 1.0)
        top += 1
    else:
        top, payoff = opponent_moves(rules, player, plan, positions, start, 1.0, own, begin)
    for k in range(len(path)):
        if top > len(positions.reach):
            break
        square, placed = path[k, 0], path[k, 1]
        end, payoff = attempt(rules, opponent, positions, own, (begin, top), top, square, placed)
        begin, top = top, end
        stabiliser &= rules.fixing[square]
        if placed:
            own |= 1 << square
        else:
            tried |= 1 << square
    return own, tried, stabiliser, begin, top, payoff


@bare_kernel
def attempt(rules: Any, opponent: Any, positions: Any, own: int, span: Any, top: int, square: int, placed: int) -> Any:
    """Push the positions after an attempt with one of its results; returns the end of the stack, and payoffs."""
    player, plan = opponent[0], opponent[1]
    bit, total = 1 << square, 0.0
    wins = placed == 1 and rules.wins[1 - player, own | bit]
    after = own | bit if placed else own
    for k in range(span[0], span[1]):
        at = position_at(positions, k)
        if (at[2] & bit == 0) != (placed == 1):
            continue
        if wins:
            total += positions.reach[k]
        elif placed == 0 and rules.classical:
            push(positions, top, at, positions.reach[k])
            top += 1
        elif (after | at[2]) != rules.full:
            top, more = opponent_moves(rules, player, plan, positions, at, positions.reach[k], after, top)
            total += more
    return top, total
