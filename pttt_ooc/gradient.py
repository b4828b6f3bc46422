"""The joint sweep: one player's gradient from the opponent's realization plan.

For each of the receiver's views and each group of sources: add the sources' reach up by key times
(`_gather`), apply the timing operator (`_apply`), and read the result back by the receiver's own
key times (`_scatter`).  Up to `LANES` groups with the same operator are worked on side by side, so
that every step of the operator is an addition of long vectors.

A run of views is worked on by one thread, in a fixed sequence, so that the result has the same bits
whatever the number of threads.  Kernels take plain arrays; the arrays are those of
:class:`pttt_ooc.timing.Timing` and :class:`pttt_ooc.index.PlayerIndex`.
"""

from __future__ import annotations

import numba
import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic, overload

LANES = 8  # groups side by side: one AVX register of float32


def _copy_lanes(target, i, source, j):
    """Copy one cell, all lanes of it."""
    target[i : i + LANES] = source[j : j + LANES]


@overload(_copy_lanes)
def _compiled_copy_lanes(target, i, source, j):
    def implementation(target, i, source, j):
        _copy_vector(target, i, source, j)  # type: ignore[call-arg]

    return implementation


@intrinsic
def _copy_vector(typingctx, target, i, source, j):
    """The copy as one vector load and store: the compiler makes a loop of it otherwise."""

    def codegen(context, builder, signature, args):
        def place(k):
            array = context.make_array(signature.args[k])(context, builder, args[k])
            offset = context.cast(builder, args[k + 1], signature.args[k + 1], types.intp)
            vector = ir.VectorType(context.get_data_type(signature.args[k].dtype), LANES)
            return builder.bitcast(builder.gep(array.data, [offset]), vector.as_pointer())

        size = context.get_abi_sizeof(context.get_data_type(signature.args[0].dtype))
        builder.store(builder.load(place(2), align=size), place(0), align=size)
        return context.get_dummy_value()

    return types.void(target, i, source, j), codegen


@numba.njit(cache=True, nogil=True)
def _gather(y, start, pattern, patterns, lane, cells):
    """Add a source's orders up by key times in one lane; return whether any was non-zero."""
    found = False
    for b in range(patterns.start[pattern], patterns.start[pattern + 1]):
        first = start + patterns.first[b]
        length = patterns.length[b]
        part = y[first : first + length]
        some = False
        for r in range(length):
            some |= part[r] != 0
        if some:
            found = True
            row = cells[patterns.cell[b] * LANES + lane :]
            column = patterns.columns[patterns.map[b] : patterns.map[b] + length]
            for r in range(length):
                row[column[r] * LANES] += part[r]
    return found


@numba.njit(cache=True, nogil=True)
def _scatter(cells, lane, sign, out, start, pattern, patterns):
    """Read one lane of cells back by key times and add them to the receiver's orders."""
    for b in range(patterns.start[pattern], patterns.start[pattern + 1]):
        first = start + patterns.first[b]
        length = patterns.length[b]
        part = out[first : first + length]
        row = cells[patterns.cell[b] * LANES + lane :]
        column = patterns.columns[patterns.map[b] : patterns.map[b] + length]
        for r in range(length):
            part[r] += sign * row[column[r] * LANES]


@numba.njit(cache=True, nogil=True)
def _add_rows(z, width, matrix, rows, matrix_start, matrix_index, x):
    """Add, to each of the `rows` rows of x, the rows of z that the matrix names; rows are `width` long."""
    for row in range(rows):
        out = x[row * width : (row + 1) * width]
        k = matrix_start[matrix + row]
        last = matrix_start[matrix + row + 1]
        while k + 2 <= last:
            z0 = z[matrix_index[k] * width : (matrix_index[k] + 1) * width]
            z1 = z[matrix_index[k + 1] * width : (matrix_index[k + 1] + 1) * width]
            for c in range(width):
                out[c] += z0[c] + z1[c]
            k += 2
        if k < last:
            z0 = z[matrix_index[k] * width : (matrix_index[k] + 1) * width]
            for c in range(width):
                out[c] += z0[c]


@numba.njit(cache=True, nogil=True)
def _transpose(z, rows, columns, x):
    """Transpose a matrix of cells."""
    for row in range(rows):
        for column in range(columns):
            _copy_lanes(x, (column * rows + row) * LANES, z, (row * columns + column) * LANES)


@numba.njit(cache=True, nogil=True)
def _apply(number, operators, z, x, first_sum, turned):
    """x += operator `number` times z, in all lanes; `first_sum` and `turned` have room for one matrix of cells.

    Factors that share a sum over prefixes stand in a run, and it is made once for the run: before
    the suffixes are added up (the run has one source matrix), or after it (one receiver's).
    """
    factor = operators.factor
    matrix_start = operators.matrix_start
    matrix_index = operators.matrix_index
    e = operators.start[number]
    end = operators.start[number + 1]
    prefix_first = operators.prefix_first[number]
    shared = 0 if prefix_first else 3
    while e < end:
        run = e
        while run < end and factor[run, shared] == factor[e, shared] and factor[run, 7] == factor[e, 7]:
            run += 1
        z_prefixes = factor[e, 2]
        x_prefixes = factor[e, 5]
        suffixes = factor[e, 1] if prefix_first else factor[e, 4]
        if prefix_first:
            first_sum[: x_prefixes * suffixes * LANES] = 0
            source = z[factor[e, 0] * LANES :]
            _add_rows(source, suffixes * LANES, factor[e, 7], x_prefixes, matrix_start, matrix_index, first_sum)
            _transpose(first_sum, x_prefixes, suffixes, turned)
            for i in range(e, run):
                target = x[factor[i, 3] * LANES :]
                _add_rows(turned, x_prefixes * LANES, factor[i, 6], factor[i, 4], matrix_start, matrix_index, target)
        else:
            first_sum[: suffixes * z_prefixes * LANES] = 0
            for i in range(e, run):
                source = z[factor[i, 0] * LANES :]
                _add_rows(source, z_prefixes * LANES, factor[i, 6], suffixes, matrix_start, matrix_index, first_sum)
            _transpose(first_sum, suffixes, z_prefixes, turned)
            target = x[factor[e, 3] * LANES :]
            _add_rows(turned, suffixes * LANES, factor[e, 7], x_prefixes, matrix_start, matrix_index, target)
        e = run


@numba.njit(cache=True, nogil=True)
def receive(
    views,
    chosen,
    # the receiver
    node_start,
    sequence_start,
    node_offset,
    sequence_offset,
    node_gradient,
    sequence_gradient,
    # the source
    source_node_start,
    source_sequence_start,
    node_reach,
    sequence_reach,
    view_is_reached,
    # timing
    groups,
    patterns,
    operators,
    # scratch, of one thread
    z,
    x,
    first_sum,
    turned,
):
    """Gradient of some of the receiver's `views`, written into one slice's arrays.

    `chosen` are the groups of these views, those of one operator together.  `node_gradient` and
    `sequence_gradient` begin at node `node_offset` and sequence `sequence_offset`.  Payoffs are the
    receiver's own: a win adds the source's reach, a win of the source takes it off.
    """
    for view in views:
        node_gradient[node_start[view] - node_offset : node_start[view + 1] - node_offset] = 0
        first = sequence_start[view] - sequence_offset
        sequence_gradient[first : sequence_start[view + 1] - sequence_offset] = 0
    members = np.empty(LANES, np.int64)
    at = 0
    while at < len(chosen):
        number = groups.operator[chosen[at]]
        z[: operators.cells[number, 0] * LANES] = 0
        lanes = 0
        while at < len(chosen) and groups.operator[chosen[at]] == number and lanes < LANES:
            g = chosen[at]
            found = False
            for s in range(groups.source_start[g], groups.source_start[g + 1]):
                origin = groups.source_view[s]
                if not view_is_reached[origin]:
                    continue
                pattern = groups.source_pattern[s]
                if groups.receiver_actions[g]:
                    found |= _gather(node_reach, source_node_start[origin], pattern, patterns, lanes, z)
                    continue
                orders = source_node_start[origin + 1] - source_node_start[origin]
                start = source_sequence_start[origin]
                theirs = groups.source_actions[s]
                while theirs:
                    if theirs & 1:
                        found |= _gather(sequence_reach, start, pattern, patterns, lanes, z)
                    theirs >>= 1
                    start += orders
            if found:
                members[lanes] = g
                lanes += 1
            at += 1
        if lanes == 0:
            continue
        x[: operators.cells[number, 1] * LANES] = 0
        _apply(number, operators, z, x, first_sum, turned)
        for lane in range(lanes):
            g = members[lane]
            view = groups.receiver_view[g]
            mine = groups.receiver_actions[g]
            pattern = groups.receiver_pattern[g]
            if not mine:
                _scatter(x, lane, -1, node_gradient, node_start[view] - node_offset, pattern, patterns)
            orders = node_start[view + 1] - node_start[view]
            start = sequence_start[view] - sequence_offset
            while mine:
                if mine & 1:
                    _scatter(x, lane, 1, sequence_gradient, start, pattern, patterns)
                mine >>= 1
                start += orders
