"""A player's sequences in the restricted game: a tree of infosets and allowed actions that only grows.

An infoset stands for its mirror images, and an action for the actions that the infoset's stabiliser makes of it, its
*orbit*: a plan mixes them evenly.  A *sequence* is an action at an infoset; its reach is that of the whole orbit.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pttt_ooc.exact.double_oracle.rule_tables import RuleTables
from pttt_ooc.jit import bare_kernel, piece

SPARE = 64
"""A plan that needs space gets it for at least so many more infosets and sequences."""

_MOST_SPARE = 1 << 18  # a large plan gets space for so many more

PLAYED = 1e-300
"""Less than any probability of an action that a plan plays."""


class SparsePlan(NamedTuple):
    """The infosets and the sequences of one player, in the order in which they were made.

    The arrays have space for more; infoset 0 is the player's first.

    Attributes
    ----------
    counts : int64 (2,)
        Number of infosets, and of sequences.
    children : int32 (infosets, 2 n)
        The infoset after an attempt of a square s that failed (2 s) or was placed (2 s + 1); -1: none.
    actions : int32 (infosets, n)
        The sequence of an attempt at an infoset; -1: not allowed.
    choices : int32 (infosets,)
        Number of allowed actions; where there is none, the infoset counts as outside of the plan.
    before : int32 (infosets,)
        The sequence that leads to an infoset; -1: none.
    stabilisers, marks, fails : int64 (infosets,)
        What an infoset knows, in its canonical orientation.
    infosets, orbits : int32 (sequences,)
        The infoset of a sequence, and the number of actions in its orbit.
    chances : float64 (sequences,)
        The probability of *one* action of the orbit, given the infoset.
    """

    counts: NDArray[np.int64]
    children: NDArray[np.int32]
    actions: NDArray[np.int32]
    choices: NDArray[np.int32]
    before: NDArray[np.int32]
    stabilisers: NDArray[np.int64]
    marks: NDArray[np.int64]
    fails: NDArray[np.int64]
    infosets: NDArray[np.int32]
    orbits: NDArray[np.int32]
    chances: NDArray[np.float64]


def first_infoset(rules: RuleTables, player: int) -> SparsePlan:
    """A plan with the player's first infoset, and no allowed action."""
    n, capacity = rules.squares, 16 * SPARE
    plan = SparsePlan(
        counts=np.array([1, 0]),
        children=np.full((capacity, 2 * n), -1, np.int32),
        actions=np.full((capacity, n), -1, np.int32),
        choices=np.zeros(capacity, np.int32),
        before=np.full(capacity, -1, np.int32),
        stabilisers=np.zeros(capacity, np.int64),
        marks=np.zeros(capacity, np.int64),
        fails=np.zeros(capacity, np.int64),
        infosets=np.zeros(capacity, np.int32),
        orbits=np.zeros(capacity, np.int32),
        chances=np.zeros(capacity),
    )
    plan.stabilisers[0], plan.marks[0] = rules.everything, rules.setup[player]
    return plan


def with_capacity(plan: SparsePlan, more: int) -> SparsePlan:
    """The plan with space for so many more infosets and sequences."""
    needed = int(plan.counts.max()) + more
    if needed <= len(plan.before):
        return plan
    blanks = dict.fromkeys(plan._fields[1:], 0) | dict.fromkeys(("children", "actions", "before"), -1)
    size = needed + min(needed // 2, _MOST_SPARE)
    return plan._replace(**{name: _longer(getattr(plan, name), size, blank) for name, blank in blanks.items()})


def squares_of(plan: SparsePlan) -> NDArray[np.int8]:
    """The square of each sequence, int8 (sequences,)."""
    found = np.zeros(int(plan.counts[1]), np.int8)
    infosets, squares = np.nonzero(plan.actions[: plan.counts[0]] >= 0)
    found[plan.actions[infosets, squares]] = squares
    return found


def trim_plan(plan: SparsePlan) -> SparsePlan:
    """A copy with no more space than there are infosets or sequences."""
    size = int(plan.counts.max())
    parts = {name: part[:size].copy() for name, part in plan._asdict().items() if name != "counts"}
    return plan._replace(counts=plan.counts.copy(), **parts)


def _longer(array: NDArray[Any], size: int, blank: int) -> NDArray[Any]:
    longer = np.full((size, *array.shape[1:]), blank, array.dtype)
    longer[: len(array)] = array
    return longer


@piece
def has_capacity(plan: Any) -> bool:
    """Whether there is space for another infoset and another sequence."""
    return bool(max(plan.counts[0], plan.counts[1]) < len(plan.before))


@piece
def allow(rules: Any, plan: Any, infoset: int, square: int) -> Any:
    """Allow an action, the least of its orbit; returns its sequence."""
    sequence = np.int64(plan.actions[infoset, square])
    if sequence < 0:
        sequence = plan.counts[1]
        plan.counts[1] += 1
        plan.actions[infoset, square] = sequence
        plan.choices[infoset] += 1
        plan.infosets[sequence] = infoset
        plan.orbits[sequence] = rules.orbit_sizes[plan.stabilisers[infoset], square]
        plan.chances[sequence] = 0.0
    return sequence


@piece
def canonical_action(rules: Any, g: int, stabiliser: int, square: int) -> Any:
    """An attempt of a square of the board, after a sequence that the symmetry `g` takes to its canonical orientation.

    Returns
    -------
    least, g, stabiliser
        The square that stands for the orbit of the attempt; orientation and stabiliser of the longer sequence.
    """
    image = rules.images[g, square]
    least = rules.least[stabiliser, image]
    h = np.int64(0)
    while not (stabiliser >> h & 1 and rules.images[h, least] == image):
        h += 1
    return least, rules.turned[h, g], stabiliser & rules.fixing[least]


@piece
def next_infoset(rules: Any, plan: Any, infoset: int, square: int, placed: int) -> Any:
    """The infoset after an allowed action; made if it is new."""
    after = np.int64(plan.children[infoset, 2 * square + placed])
    if after < 0:
        after = plan.counts[0]
        plan.counts[0] += 1
        plan.children[infoset, 2 * square + placed] = after
        plan.before[after] = plan.actions[infoset, square]
        plan.stabilisers[after] = plan.stabilisers[infoset] & rules.fixing[square]
        # Without compilation, a narrow integer would overflow in the shift, from square 8 on.
        plan.marks[after] = plan.marks[infoset] | (np.int64(placed) << np.int64(square))
        plan.fails[after] = plan.fails[infoset] | (np.int64(1 - placed) << np.int64(square))
    return after


def prune_plan(rules: RuleTables, player: int, plan: SparsePlan, least: float) -> tuple[SparsePlan, NDArray[np.int64]]:
    """A plan without the actions that it plays with a probability below `least`; each infoset keeps its likeliest.

    Returns
    -------
    plan, sequences
        The smaller plan, and the number that each of its sequences had.
    """
    smaller = with_capacity(first_infoset(rules, player), int(plan.counts.max()) + SPARE)
    sequences = np.zeros(int(plan.counts[1]), np.int64)
    infosets = np.full(int(plan.counts[0]), -1, np.int64)
    _copy_likely(rules, plan, least, smaller, infosets, sequences)
    return smaller, sequences[: int(smaller.counts[1])]


def played_part(rules: RuleTables, player: int, plan: SparsePlan) -> SparsePlan:
    """A copy with what a plan plays, and nothing else: all that responses to it depend on."""
    return trim_plan(prune_plan(rules, player, plan, PLAYED)[0])


@bare_kernel
def _copy_likely(rules: Any, plan: Any, least: float, smaller: Any, infosets: Any, sequences: Any) -> None:
    infosets[0] = 0
    for infoset in range(plan.counts[0]):  # an infoset comes after those that lead to it
        if infosets[infoset] < 0:
            continue
        best = np.int64(-1)
        for square in range(rules.squares):
            sequence = np.int64(plan.actions[infoset, square])
            if sequence >= 0 and (best < 0 or _weight(plan, sequence) > _weight(plan, best)):
                best = sequence
        for square in range(rules.squares):
            sequence = np.int64(plan.actions[infoset, square])
            if sequence < 0 or (sequence != best and _weight(plan, sequence) < least):
                continue
            copy = allow(rules, smaller, infosets[infoset], square)
            smaller.chances[copy] = plan.chances[sequence]
            sequences[copy] = sequence
            for placed in range(2):
                after = plan.children[infoset, 2 * square + placed]
                if after >= 0:
                    infosets[after] = next_infoset(rules, smaller, infosets[infoset], square, placed)


def play_part(rules: RuleTables, plan: SparsePlan, part: SparsePlan) -> SparsePlan:
    """A plan that allows what it allowed, and what a part allows, and plays what the part plays."""
    plan = with_capacity(plan, int(part.counts.max()) + SPARE)
    plan.chances[:] = 0
    _copy_chances(rules, part, plan, np.zeros(int(part.counts[0]), np.int64))
    return plan


@bare_kernel
def _copy_chances(rules: Any, part: Any, plan: Any, infosets: Any) -> None:
    for infoset in range(part.counts[0]):  # an infoset comes after those that lead to it
        for square in range(rules.squares):
            sequence = np.int64(part.actions[infoset, square])
            if sequence >= 0:
                plan.chances[allow(rules, plan, infosets[infoset], square)] = part.chances[sequence]
                for placed in range(2):
                    after = part.children[infoset, 2 * square + placed]
                    if after >= 0:
                        infosets[after] = next_infoset(rules, plan, infosets[infoset], square, placed)


@piece
def _weight(plan: Any, sequence: int) -> Any:
    """The probability of a sequence, given its infoset."""
    return plan.chances[sequence] * plan.orbits[sequence]


@bare_kernel
def behave(plan: Any, reach: Any, least: float) -> None:
    """Set the chances of all sequences from a realization plan; none where it does not come.

    Parameters
    ----------
    reach : float64 (sequences,)
        The sums at infosets need not be exact: chances are divided by their own sum.
    least
        Reach up to this counts as none, unless it is the most at an infoset to which the plan comes.
    """
    for infoset in range(plan.counts[0]):
        likeliest, total = np.int64(-1), 0.0
        for square in range(plan.actions.shape[1]):
            sequence = np.int64(plan.actions[infoset, square])
            if sequence >= 0:
                if likeliest < 0 or reach[sequence] > reach[likeliest]:
                    likeliest = sequence
                if reach[sequence] > least:
                    total += reach[sequence]
        before = plan.before[infoset]
        comes = before < 0 or plan.chances[before] > 0  # an infoset comes after those that lead to it
        for square in range(plan.actions.shape[1]):
            sequence = np.int64(plan.actions[infoset, square])
            if sequence >= 0:
                share = 0.0
                if comes and total > 0:
                    share = reach[sequence] / total if reach[sequence] > least else 0.0
                elif comes and sequence == likeliest:
                    share = 1.0
                plan.chances[sequence] = share / plan.orbits[sequence]
