"""The joint sweep: one player's gradient from the opponent's realization plan.

There are three steps for each of the receiver's views and each group of sources: the sources' reach
is summed by key times (`_gather`), the timing operator is applied (`_apply`), and the result is
read by the receiver's own key times (`_scatter`).  Up to `LANES` groups with the same operator
are processed side by side, so that every step of the operator is an addition of long vectors.

Each run of views is processed by one thread in a fixed order, so that the result has the same bits
for any number of threads.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pttt_ooc.cfr.sweep.vectors import LANES, STRETCH, add_one, add_six, add_two, any_cell, lowest, not_zero, turn
from pttt_ooc.games.structure.timing import WORD
from pttt_ooc.jit import bare_kernel, piece

UNKNOWN = 2  # the state of a matrix of cells that has not been searched for non-zero cells


class Scratch(NamedTuple):
    """The working arrays of one thread; a cell consists of `LANES` numbers, side by side.

    Attributes
    ----------
    z, x
        Cells of the source and of the receiver.  While one of the two is not in use, it holds the other's cells lane
        by lane: `x` those of the source before they are interleaved, `z` those of the receiver afterwards.
    turned
        One matrix of cells: the result of an operator's first step.
    state
        For the first cell of each of the source's matrices: whether the matrix has a non-zero cell, or `UNKNOWN`.
    z_rows, turned_rows
        The rows of the source's matrices and of `turned` that have non-zero cells, as bits.
    members
        The group in each lane.
    """

    z: NDArray[Any]
    x: NDArray[Any]
    turned: NDArray[Any]
    state: NDArray[np.uint8]
    z_rows: NDArray[np.uint64]
    turned_rows: NDArray[np.uint64]
    members: NDArray[np.int64]


@piece
def padded_size(cells):
    """Number of cells of a lane, with one more for excluded orders, rounded up to whole vectors."""
    return (cells + LANES) // LANES * LANES


@piece
def _gather(y, start, pattern, patterns, cells):
    """Sum a source's orders by key times; return whether any was non-zero."""
    first, last, narrow = patterns.start[pattern], patterns.start[pattern + 1], len(patterns.cell)
    if last <= narrow:
        return _gather_by(patterns.cell[first:last], y, start, cells)
    return _gather_by(patterns.wide_cell[first - narrow : last - narrow], y, start, cells)


@piece
def _gather_by(cell, y, start, cells):
    part = y[start : start + len(cell)]
    found = False
    whole = len(part) // STRETCH * STRETCH
    for first in range(0, whole, STRETCH):
        chosen = not_zero(part, first)
        if chosen == 0:
            continue
        found = True
        numbers, places = part[first : first + STRETCH], cell[first : first + STRETCH]
        while chosen:
            r = lowest(chosen)
            cells[places[r]] += numbers[r]
            chosen &= chosen - np.uint64(1)
    numbers, places = part[whole:], cell[whole:]
    for r in range(len(numbers)):
        if numbers[r] != 0:
            found = True
            cells[places[r]] += numbers[r]
    return found


@piece
def _scatter(cells, sign, out, start, pattern, patterns):
    """Read cells by key times and add them to the receiver's orders."""
    first, last, narrow = patterns.start[pattern], patterns.start[pattern + 1], len(patterns.cell)
    if last <= narrow:
        _scatter_by(patterns.cell[first:last], cells, sign, out, start)
    else:
        _scatter_by(patterns.wide_cell[first - narrow : last - narrow], cells, sign, out, start)


@piece
def _scatter_by(cell, cells, sign, out, start):
    part = out[start : start + len(cell)]
    for r in range(len(cell)):
        part[r] += sign * cells[cell[r]]


@piece
def _interleave(lanes, size, together):
    """Put the lanes, which follow each other with `size` cells each, side by side."""
    for cell in range(0, size, LANES):
        turn(lanes, cell, size, together, cell * LANES, LANES)


@piece
def _separate(together, size, lanes):
    """The inverse of `_interleave`."""
    for cell in range(0, size, LANES):
        turn(together, cell * LANES, LANES, lanes, cell, size)


@piece
def find_rows(source, rows, width, found):
    """Mark in the bits of `found` which rows of `width` cells have non-zero cells; return whether any row has."""
    any_row = False
    found[: (rows + WORD - 1) // WORD] = 0
    for row in range(rows):
        some = any_cell(source, row * width, width)
        found[row // WORD] |= np.uint64(some) << np.uint64(row % WORD)
        any_row |= some
    return any_row


@piece
def multiply(matrix, source, terms, width, found, target, rows, row_step, step):
    """Add to each of the `rows` rows of `target` the rows of `source` that the matrix selects.

    `source` has `terms` rows of `width` cells; rows that are not `found` are zero and skipped.
    Rows of `target` begin `row_step` cells apart, and their cells are `step` apart.
    """
    words = (terms + WORD - 1) // WORD
    for word in range(words):
        part = source[word * WORD * width * LANES :]
        for row in range(rows):
            chosen = matrix[row * words + word] & found[word]
            if chosen == 0:
                continue
            place = row * row_step
            c = 0
            while c + 6 <= width:
                add_six(part, c, width, chosen, target, place + c * step, step)
                c += 6
            while c + 2 <= width:
                add_two(part, c, width, chosen, target, place + c * step, step)
                c += 2
            if c < width:
                add_one(part, c, width, chosen, target, place + c * step, step)


@piece
def _apply(number, operators, scratch):
    """x += operator `number` times z, in all lanes.

    Factors that share a sum over prefixes form a run, and the sum is computed once for the run: before
    the sum over suffixes (the run has one source matrix), or after it (one receiver matrix).
    """
    factors = operators.factors
    matrix = operators.matrix
    one = np.int64(1)
    z, x, turned = scratch.z, scratch.x, scratch.turned
    state, z_rows, turned_rows = scratch.state, scratch.z_rows, scratch.turned_rows
    end = operators.start[number + 1]
    # The order of the two sums decides what a run shares: its source matrix Z_B, or its receiver matrix X_A.
    prefix_first = operators.prefix_first[number]
    shared = factors.source_cell if prefix_first else factors.receiver_cell
    prefix_matrix = factors.prefix_matrix
    first_matrix = prefix_matrix if prefix_first else factors.suffix_matrix
    second_matrix = factors.suffix_matrix if prefix_first else prefix_matrix
    # No source matrix has been searched for rows with non-zero cells; each will be, when it is first needed.
    state[: operators.cells[number, 0]] = UNKNOWN
    e = operators.start[number]
    while e < end:
        # The run: adjacent factors with the same shared matrix and the same prefix matrix U_AB.
        run = e
        while run < end and shared[run] == shared[e] and prefix_matrix[run] == prefix_matrix[e]:
            run += 1
        # All numbers are int64, so that no function is compiled for several types of them.
        z_prefixes = np.int64(factors.source_prefixes[e])
        x_prefixes = np.int64(factors.receiver_prefixes[e])
        suffixes = np.int64(factors.source_suffixes[e] if prefix_first else factors.receiver_suffixes[e])
        last = e + 1 if prefix_first else run
        width = suffixes if prefix_first else z_prefixes
        rows = x_prefixes if prefix_first else suffixes
        # First step, into `turned`: U_AB of the one source matrix, or the sum of V_AB Z_B over the run's source
        # matrices. The result is stored transposed, so that the second step adds long rows too.
        some = False
        for i in range(e, last):
            cell = factors.source_cell[i]
            source = z[cell * LANES :]
            terms = z_prefixes if prefix_first else np.int64(factors.source_suffixes[i])
            found = z_rows[cell:]
            if state[cell] == UNKNOWN:
                state[cell] = find_rows(source, terms, width, found)
            if not state[cell]:
                continue
            if not some:
                turned[: rows * width * LANES] = 0
                some = True
            first = matrix[first_matrix[i] :]
            multiply(first, source, terms, width, found, turned, rows, one, rows)
        # Second step, into the receiver's matrices: V_AB for each of the run, or U_AB once.
        if some and find_rows(turned, width, rows, turned_rows):
            for i in range(e, run if prefix_first else e + 1):
                second = matrix[second_matrix[i] :]
                target = x[factors.receiver_cell[i] * LANES :]
                size = np.int64(factors.receiver_suffixes[i] if prefix_first else factors.receiver_prefixes[i])
                multiply(second, turned, width, rows, turned_rows, target, size, rows, one)
        e = run


@bare_kernel
def receive(views, chosen, tree, source_tree, source, groups, patterns, operators, scratch, into):
    """Gradient of some of the receiver's `views`, written into the slice `into`.

    Payoffs are the receiver's own: a win adds the source's reach, a win of the source subtracts it.

    Parameters
    ----------
    chosen
        The groups of these views; groups of one operator are adjacent.
    tree, source_tree
        :class:`pttt_ooc.cfr.sweep.tree.Extents` of the receiver and of the source.
    source
        The source's realization plan.
    groups, patterns, operators
        Tables of the receiver's :class:`pttt_ooc.games.structure.timing.Timing`.
    scratch
        Working arrays of the thread.
    """
    # The receiver's part of the slice is set to zero.
    for view in views:
        into.nodes[tree.node_start[view] - into.first_node : tree.node_start[view + 1] - into.first_node] = 0
        first = tree.sequence_start[view] - into.first_sequence
        into.sequences[first : tree.sequence_start[view + 1] - into.first_sequence] = 0
    z, x = scratch.z, scratch.x
    members = scratch.members
    at = 0
    while at < len(chosen):
        # A pass: up to LANES adjacent groups with the same operator. `x` holds their sources, a lane each.
        number = groups.operator[chosen[at]]
        size = padded_size(operators.cells[number, 0])
        x[: size * LANES] = 0
        lanes = 0
        while at < len(chosen) and groups.operator[chosen[at]] == number and lanes < LANES:
            g = chosen[at]
            lane = x[lanes * size : (lanes + 1) * size]
            # The group's sources by key times: where the receiver wins, the reach of the source's infosets; where the
            # source wins, that of its winning actions, whose numbers are the bits of the mask.
            found = False
            for s in range(groups.source_start[g], groups.source_start[g + 1]):
                origin = groups.source_view[s]
                if not source.view_is_reached[origin]:
                    continue
                pattern = groups.source_pattern[s]
                if groups.receiver_actions[g]:
                    found |= _gather(source.nodes, source_tree.node_start[origin], pattern, patterns, lane)
                    continue
                orders = source_tree.node_start[origin + 1] - source_tree.node_start[origin]
                start = source_tree.sequence_start[origin]
                theirs = groups.source_actions[s]
                while theirs:
                    if theirs & 1:
                        found |= _gather(source.sequences, start, pattern, patterns, lane)
                    theirs >>= 1
                    start += orders
            # A group with no reach keeps no lane; its lane is still zero, and the next group takes it.
            if found:
                members[lanes] = g
                lanes += 1
            at += 1
        if lanes == 0:
            continue
        # X = sum of V_AB Z_B U_AB in all lanes at once: side by side on the way in, one after the other on the way out.
        _interleave(x, size, z)
        size = padded_size(operators.cells[number, 1])
        x[: size * LANES] = 0
        _apply(number, operators, scratch)
        _separate(x, size, z)
        # Each lane is read by the receiver's key times. If the source wins, its reach is lost at the receiver's
        # infosets; if the receiver wins, it is gained by each of the winning actions.
        for k in range(lanes):
            g = members[k]
            lane = z[k * size : (k + 1) * size]
            view = groups.receiver_view[g]
            mine = groups.receiver_actions[g]
            pattern = groups.receiver_pattern[g]
            if not mine:
                _scatter(
                    lane, lane.dtype.type(-1), into.nodes, tree.node_start[view] - into.first_node, pattern, patterns
                )
            orders = tree.node_start[view + 1] - tree.node_start[view]
            start = tree.sequence_start[view] - into.first_sequence
            while mine:
                if mine & 1:
                    _scatter(lane, lane.dtype.type(1), into.sequences, start, pattern, patterns)
                mine >>= 1
                start += orders
