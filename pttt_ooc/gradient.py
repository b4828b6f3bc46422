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


@numba.njit(cache=True, nogil=True)
def _gather(y, start, pattern, pattern_start, block_first, block_length, block_row, block_map, columns, cells):
    """Add a source's orders up by key times; return whether any was non-zero."""
    found = False
    for b in range(pattern_start[pattern], pattern_start[pattern + 1]):
        first = start + block_first[b]
        length = block_length[b]
        part = y[first : first + length]
        some = False
        for r in range(length):
            some |= part[r] != 0
        if some:
            found = True
            row = cells[block_row[b] :]
            column = columns[block_map[b] : block_map[b] + length]
            for r in range(length):
                row[column[r]] += part[r]
    return found


@numba.njit(cache=True, nogil=True)
def _scatter(cells, sign, out, start, pattern, pattern_start, block_first, block_length, block_row, block_map, columns):
    """Read cells back by key times and add them to the receiver's orders."""
    for b in range(pattern_start[pattern], pattern_start[pattern + 1]):
        first = start + block_first[b]
        length = block_length[b]
        part = out[first : first + length]
        row = cells[block_row[b] :]
        column = columns[block_map[b] : block_map[b] + length]
        for r in range(length):
            part[r] += sign * row[column[r]]


@numba.njit(cache=True, nogil=True, fastmath={"nsz", "arcp", "contract"})
def _multiply_prefixes(z, rows, z_width, u, x_width, x):
    """x += z u, for matrices (rows, z_width) and (z_width, x_width); return whether z was non-zero.

    Four rows of `u` at a time: the sum is kept in registers for as long as the compiler allows.
    """
    found = False
    for row in range(rows):
        weight = z[row * z_width : (row + 1) * z_width]
        out = x[row * x_width : (row + 1) * x_width]
        c = 0
        while c + 4 <= z_width:
            w0, w1, w2, w3 = weight[c], weight[c + 1], weight[c + 2], weight[c + 3]
            if w0 != 0 or w1 != 0 or w2 != 0 or w3 != 0:
                found = True
                u0 = u[c * x_width : (c + 1) * x_width]
                u1 = u[(c + 1) * x_width : (c + 2) * x_width]
                u2 = u[(c + 2) * x_width : (c + 3) * x_width]
                u3 = u[(c + 3) * x_width : (c + 4) * x_width]
                for d in range(x_width):
                    out[d] += (w0 * u0[d] + w1 * u1[d]) + (w2 * u2[d] + w3 * u3[d])
            c += 4
        while c < z_width:
            w = weight[c]
            if w != 0:
                found = True
                u0 = u[c * x_width : (c + 1) * x_width]
                for d in range(x_width):
                    out[d] += w * u0[d]
            c += 1
    return found


@numba.njit(cache=True, nogil=True)
def _add_suffixes(z, width, v, rows, v_start, v_rows, x):
    """Add, to each of the `rows` rows of x, the rows of z that suffix matrix `v` names."""
    for row in range(rows):
        out = x[row * width : (row + 1) * width]
        k = v_start[v + row]
        last = v_start[v + row + 1]
        while k + 2 <= last:
            z0 = z[v_rows[k] * width : (v_rows[k] + 1) * width]
            z1 = z[v_rows[k + 1] * width : (v_rows[k + 1] + 1) * width]
            for c in range(width):
                out[c] += z0[c] + z1[c]
            k += 2
        if k < last:
            z0 = z[v_rows[k] * width : (v_rows[k] + 1) * width]
            for c in range(width):
                out[c] += z0[c]


@numba.njit(cache=True, nogil=True)
def _apply(number, class_start, class_prefix_first, factor, v_start, v_rows, u, z, x, between):
    """x += operator `number` times z; `between` is room for one matrix of cells.

    Factors that share a prefix product stand in a run, and the product is made once for the run:
    before the suffixes are added up (the run has one source matrix), or after it (one receiver's).
    """
    e = class_start[number]
    end = class_start[number + 1]
    prefix_first = class_prefix_first[number]
    shared = 0 if prefix_first else 3
    while e < end:
        run = e
        while run < end and factor[run, shared] == factor[e, shared] and factor[run, 7] == factor[e, 7]:
            run += 1
        z_width = factor[e, 2]
        x_width = factor[e, 5]
        u_matrix = u[factor[e, 7] : factor[e, 7] + z_width * x_width]
        if prefix_first:
            rows = factor[e, 1]
            between[: rows * x_width] = 0
            if _multiply_prefixes(z[factor[e, 0] :], rows, z_width, u_matrix, x_width, between):
                for i in range(e, run):
                    _add_suffixes(between, x_width, factor[i, 6], factor[i, 4], v_start, v_rows, x[factor[i, 3] :])
        else:
            rows = factor[e, 4]
            between[: rows * z_width] = 0
            for i in range(e, run):
                _add_suffixes(z[factor[i, 0] :], z_width, factor[i, 6], rows, v_start, v_rows, between)
            _multiply_prefixes(between, rows, z_width, u_matrix, x_width, x[factor[e, 3] :])
        e = run


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
    class_prefix_first,
    factor,
    v_start,
    v_rows,
    u,
    # scratch, of one thread
    z,
    x,
    between,
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
            _apply(number, class_start, class_prefix_first, factor, v_start, v_rows, u, z, x, between)
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
