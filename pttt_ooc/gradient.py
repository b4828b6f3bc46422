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
from numba.core import cgutils
from numba.extending import intrinsic, overload

LANES = 8  # groups side by side: one AVX register of float32
TILE = 6  # cells that are added up in registers
STRETCH = 32  # orders that are looked through for one that is not zero


def _adder(count):
    """A function that adds rows of `count` cells, to be compiled to sums in registers."""

    def add(target, place, step, source, first, width, index, k, last):
        """Add cells `first`, `first` + 1, ... of the rows index[k:last] of `source` to `target`, every `step` cells."""
        for j in range(count):
            for row in index[k:last]:
                cell = (int(row) * width + first + j) * LANES
                at = (place + j * step) * LANES
                target[at : at + LANES] += source[cell : cell + LANES]

    @intrinsic
    def add_vectors(typingctx, target, place, step, source, first, width, index, k, last):
        """The compiler keeps no sums in registers over a loop of unknown length, so this is written out."""

        def codegen(context, builder, signature, args):
            types_ = signature.args

            def data(i):
                return context.make_array(types_[i])(context, builder, args[i]).data

            def integer(i):
                return context.cast(builder, args[i], types_[i], types.intp)

            vector = ir.VectorType(context.get_data_type(target.dtype), LANES)
            align = context.get_abi_sizeof(context.get_data_type(target.dtype))
            lanes = ir.Constant(context.get_value_type(types.intp), LANES)

            def cell(base, number):
                return builder.bitcast(builder.gep(base, [builder.mul(number, lanes)]), vector.as_pointer())

            out, rows, indices = data(0), data(3), data(6)
            places = [integer(1)]
            for _ in range(count - 1):
                places.append(builder.add(places[-1], integer(2)))
            places = [cell(out, p) for p in places]
            sums = [cgutils.alloca_once_value(builder, builder.load(p, align=align)) for p in places]
            one = ir.Constant(context.get_value_type(types.intp), 1)
            with cgutils.for_range_slice(builder, integer(7), integer(8), one) as (at, _):
                row = builder.zext(builder.load(builder.gep(indices, [at])), at.type)
                base = cell(rows, builder.add(builder.mul(row, integer(5)), integer(4)))
                for c, total in enumerate(sums):
                    part = builder.load(builder.gep(base, [ir.Constant(ir.IntType(32), c)]), align=align)
                    builder.store(builder.fadd(builder.load(total), part), total)
            for p, total in zip(places, sums, strict=True):
                builder.store(builder.load(total), p, align=align)
            return context.get_dummy_value()

        return types.void(target, place, step, source, first, width, index, k, last), codegen

    @overload(add, jit_options={"forceinline": True})
    def compiled(target, place, step, source, first, width, index, k, last):
        def implementation(target, place, step, source, first, width, index, k, last):
            add_vectors(target, place, step, source, first, width, index, k, last)

        return implementation

    return add


_add_tile, _add_cell = _adder(TILE), _adder(1)


def _turn(source, first, source_step, target, place, target_step):
    """Transpose a square of numbers: LANES vectors, `source_step` apart, to as many that are `target_step` apart."""
    for i in range(LANES):
        for j in range(LANES):
            target[place + j * target_step + i] = source[first + i * source_step + j]


@intrinsic
def _turn_vectors(typingctx, source, first, source_step, target, place, target_step):
    """Three perfect shuffles of eight vectors transpose them, all in registers."""

    def codegen(context, builder, signature, args):
        number = context.get_data_type(source.dtype)
        vector = ir.VectorType(number, LANES)
        align = context.get_abi_sizeof(number)

        def place_of(k, i):
            base = context.make_array(signature.args[k])(context, builder, args[k]).data
            start, step = (context.cast(builder, args[a], signature.args[a], types.intp) for a in (k + 1, k + 2))
            at = builder.add(start, builder.mul(step, ir.Constant(step.type, i)))
            return builder.bitcast(builder.gep(base, [at]), vector.as_pointer())

        half = LANES // 2
        halves = [[h * half + i // 2 + i % 2 * LANES for i in range(LANES)] for h in (0, 1)]
        masks = [ir.Constant(ir.VectorType(ir.IntType(32), LANES), mask) for mask in halves]
        vectors = [builder.load(place_of(0, i), align=align) for i in range(LANES)]
        for _ in range(LANES.bit_length() - 1):
            pairs = zip(vectors[:half], vectors[half:], strict=True)
            vectors = [builder.shuffle_vector(a, b, mask) for a, b in pairs for mask in masks]
        for i, found in enumerate(vectors):
            builder.store(found, place_of(3, i), align=align)
        return context.get_dummy_value()

    return types.void(source, first, source_step, target, place, target_step), codegen


@overload(_turn, jit_options={"forceinline": True})
def _compiled_turn(source, first, source_step, target, place, target_step):
    def implementation(source, first, source_step, target, place, target_step):
        _turn_vectors(source, first, source_step, target, place, target_step)

    return implementation


@numba.njit(cache=True, nogil=True)
def room_of(cells):
    """Cells of a lane, with one more for orders that do not take part, rounded up to whole vectors."""
    return (cells + LANES) // LANES * LANES


@numba.njit(cache=True, nogil=True)
def _gather(y, start, pattern, patterns, cells):
    """Add a source's orders up by key times; return whether any was non-zero."""
    cell = patterns.cell[patterns.start[pattern] : patterns.start[pattern + 1]]
    part = y[start : start + len(cell)]
    found = False
    for first in range(0, len(cell), STRETCH):
        last = min(first + STRETCH, len(cell))
        some = False
        for r in range(first, last):
            some |= part[r] != 0
        if some:
            found = True
            for r in range(first, last):
                cells[cell[r]] += part[r]
    return found


@numba.njit(cache=True, nogil=True)
def _scatter(cells, sign, out, start, pattern, patterns):
    """Read cells back by key times and add them to the receiver's orders."""
    cell = patterns.cell[patterns.start[pattern] : patterns.start[pattern + 1]]
    part = out[start : start + len(cell)]
    for r in range(len(cell)):
        part[r] += sign * cells[cell[r]]


@numba.njit(cache=True, nogil=True)
def _interleave(lanes, room, together):
    """Put the lanes, one after the other with `room` for as many cells, side by side."""
    for cell in range(0, room, LANES):
        _turn(lanes, cell, room, together, cell * LANES, LANES)


@numba.njit(cache=True, nogil=True)
def _separate(together, room, lanes):
    """The inverse of `_interleave`."""
    for cell in range(0, room, LANES):
        _turn(together, cell * LANES, LANES, lanes, cell, room)


@numba.njit(cache=True, nogil=True)
def _add_rows(source, width, matrix, rows, matrix_start, matrix_index, target, row_step, step):
    """Add, to each of the `rows` rows of `target`, the rows of `source` that the matrix names.

    Rows are `width` cells long; those of `target` begin `row_step` cells apart, and their cells are `step` apart.
    """
    for row in range(rows):
        k = matrix_start[matrix + row]
        last = matrix_start[matrix + row + 1]
        if k == last:
            continue
        c = 0
        while c + TILE <= width:
            _add_tile(target, row * row_step + c * step, step, source, c, width, matrix_index, k, last)
            c += TILE
        while c < width:
            _add_cell(target, row * row_step + c * step, step, source, c, width, matrix_index, k, last)
            c += 1


@numba.njit(cache=True, nogil=True)
def _apply(number, operators, z, x, turned):
    """x += operator `number` times z, in all lanes; `turned` has room for one matrix of cells.

    Factors that share a sum over prefixes stand in a run, and it is made once for the run: before
    the suffixes are added up (the run has one source matrix), or after it (one receiver's).
    """
    factor = operators.factor
    starts = operators.matrix_start
    index = operators.matrix_index
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
            turned[: x_prefixes * suffixes * LANES] = 0
            source = z[factor[e, 0] * LANES :]
            _add_rows(source, suffixes, factor[e, 7], x_prefixes, starts, index, turned, 1, x_prefixes)
            for i in range(e, run):
                target = x[factor[i, 3] * LANES :]
                _add_rows(turned, x_prefixes, factor[i, 6], factor[i, 4], starts, index, target, x_prefixes, 1)
        else:
            turned[: suffixes * z_prefixes * LANES] = 0
            for i in range(e, run):
                source = z[factor[i, 0] * LANES :]
                _add_rows(source, z_prefixes, factor[i, 6], suffixes, starts, index, turned, 1, suffixes)
            target = x[factor[e, 3] * LANES :]
            _add_rows(turned, suffixes, factor[e, 7], x_prefixes, starts, index, target, suffixes, 1)
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
    one_by_one,
    z,
    x,
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
        room = room_of(operators.cells[number, 0])
        one_by_one[: room * LANES] = 0
        lanes = 0
        while at < len(chosen) and groups.operator[chosen[at]] == number and lanes < LANES:
            g = chosen[at]
            lane = one_by_one[lanes * room : (lanes + 1) * room]
            found = False
            for s in range(groups.source_start[g], groups.source_start[g + 1]):
                origin = groups.source_view[s]
                if not view_is_reached[origin]:
                    continue
                pattern = groups.source_pattern[s]
                if groups.receiver_actions[g]:
                    found |= _gather(node_reach, source_node_start[origin], pattern, patterns, lane)
                    continue
                orders = source_node_start[origin + 1] - source_node_start[origin]
                start = source_sequence_start[origin]
                theirs = groups.source_actions[s]
                while theirs:
                    if theirs & 1:
                        found |= _gather(sequence_reach, start, pattern, patterns, lane)
                    theirs >>= 1
                    start += orders
            if found:
                members[lanes] = g
                lanes += 1
            at += 1
        if lanes == 0:
            continue
        _interleave(one_by_one, room, z)
        room = room_of(operators.cells[number, 1])
        x[: room * LANES] = 0
        _apply(number, operators, z, x, turned)
        _separate(x, room, one_by_one)
        for k in range(lanes):
            g = members[k]
            lane = one_by_one[k * room : (k + 1) * room]
            view = groups.receiver_view[g]
            mine = groups.receiver_actions[g]
            pattern = groups.receiver_pattern[g]
            if not mine:
                _scatter(lane, -1, node_gradient, node_start[view] - node_offset, pattern, patterns)
            orders = node_start[view + 1] - node_start[view]
            start = sequence_start[view] - sequence_offset
            while mine:
                if mine & 1:
                    _scatter(lane, 1, sequence_gradient, start, pattern, patterns)
                mine >>= 1
                start += orders
