"""The joint sweep: one player's gradient from the opponent's realization plan, view by view.

For each of the receiver's views and each group of sources: add the sources' reach up by key times
(`_gather`), apply the timing operator (`_apply`), and read the result back by the receiver's own
key times (`_scatter`).  Views are independent of each other and each is worked on by one thread, in
a fixed sequence, so that the result has the same bits whatever the number of threads.

Kernels take plain arrays; the arrays are those of :class:`pttt_ooc.timing.Timing` and
:class:`pttt_ooc.index.PlayerIndex`.
"""

from __future__ import annotations

import numba
import numpy as np


@numba.njit(cache=True, nogil=True, inline="always")
def _add_block(y, start, length, cells, row, columns, column):
    for r in range(length):
        cells[row + columns[column + r]] += y[start + r]


@numba.njit(cache=True, nogil=True)
def _gather(
    y, start, pattern, pattern_start, block_first, block_length, block_row, block_map, columns, cells
):
    """Add a source's orders up by key times; return whether any was non-zero."""
    found = False
    for b in range(pattern_start[pattern], pattern_start[pattern + 1]):
        first = start + block_first[b]
        length = block_length[b]
        some = False
        for r in range(length):
            some |= y[first + r] != 0
        if some:
            found = True
            _add_block(y, first, length, cells, block_row[b], columns, block_map[b])
    return found


@numba.njit(cache=True, nogil=True)
def _scatter(
    cells, sign, out, start, pattern, pattern_start, block_first, block_length, block_row, block_map, columns
):
    """Read cells back by key times and add them to the receiver's orders."""
    for b in range(pattern_start[pattern], pattern_start[pattern + 1]):
        first = start + block_first[b]
        row = block_row[b]
        column = block_map[b]
        for r in range(block_length[b]):
            out[first + r] += sign * cells[row + columns[column + r]]


@numba.njit(cache=True, nogil=True)
def _apply(number, class_start, factor, v_start, v_rows, u, z, x, line):
    """x += operator `number` times z; `line` is room for one row of cells."""
    for e in range(class_start[number], class_start[number + 1]):
        z_base = factor[e, 0]
        z_width = factor[e, 2]
        x_base = factor[e, 3]
        x_width = factor[e, 5]
        v = factor[e, 6]
        u_base = factor[e, 7]
        for row in range(factor[e, 4]):
            first = v_start[v + row]
            last = v_start[v + row + 1]
            if first == last:
                continue
            for c in range(z_width):
                line[c] = 0
            for k in range(first, last):
                z_row = z_base + v_rows[k] * z_width
                for c in range(z_width):
                    line[c] += z[z_row + c]
            x_row = x_base + row * x_width
            for c in range(z_width):
                weight = line[c]
                if weight != 0:
                    u_row = u_base + c * x_width
                    for d in range(x_width):
                        x[x_row + d] += weight * u[u_row + d]


@numba.njit(cache=True, nogil=True)
def receive(
    first_view,
    last_view,
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
    group_start,
    group_class,
    group_pattern,
    group_actions,
    source_start,
    source_view,
    source_pattern,
    source_actions,
    pattern_start,
    block_first,
    block_length,
    block_row,
    block_map,
    columns,
    class_start,
    class_cells,
    factor,
    v_start,
    v_rows,
    u,
    # scratch, of one thread
    z,
    x,
    line,
):
    """Gradient of the receiver's views `first_view` to `last_view`, written into one slice's arrays.

    `node_gradient` and `sequence_gradient` begin at node `node_offset` and sequence
    `sequence_offset`.  Payoffs are the receiver's own: a win adds the source's reach, a win of the
    source takes it off.
    """
    for view in range(first_view, last_view):
        orders = node_start[view + 1] - node_start[view]
        node = node_start[view] - node_offset
        sequence = sequence_start[view] - sequence_offset
        node_gradient[node : node + orders] = 0
        sequence_gradient[sequence : sequence + sequence_start[view + 1] - sequence_start[view]] = 0
        for g in range(group_start[view], group_start[view + 1]):
            number = group_class[g]
            mine = group_actions[g]
            z[: class_cells[number, 0]] = 0
            found = False
            for s in range(source_start[g], source_start[g + 1]):
                origin = source_view[s]
                if not view_is_reached[origin]:
                    continue
                if mine:
                    found |= _gather(
                        node_reach,
                        source_node_start[origin],
                        source_pattern[s],
                        pattern_start,
                        block_first,
                        block_length,
                        block_row,
                        block_map,
                        columns,
                        z,
                    )
                    continue
                size = source_node_start[origin + 1] - source_node_start[origin]
                start = source_sequence_start[origin]
                theirs = source_actions[s]
                while theirs:
                    if theirs & 1:
                        found |= _gather(
                            sequence_reach,
                            start,
                            source_pattern[s],
                            pattern_start,
                            block_first,
                            block_length,
                            block_row,
                            block_map,
                            columns,
                            z,
                        )
                    theirs >>= 1
                    start += size
            if not found:
                continue
            x[: class_cells[number, 1]] = 0
            _apply(number, class_start, factor, v_start, v_rows, u, z, x, line)
            if not mine:
                _scatter(
                    x,
                    -1,
                    node_gradient,
                    node,
                    group_pattern[g],
                    pattern_start,
                    block_first,
                    block_length,
                    block_row,
                    block_map,
                    columns,
                )
            start = sequence
            while mine:
                if mine & 1:
                    _scatter(
                        x,
                        1,
                        sequence_gradient,
                        start,
                        group_pattern[g],
                        pattern_start,
                        block_first,
                        block_length,
                        block_row,
                        block_map,
                        columns,
                    )
                mine >>= 1
                start += orders
