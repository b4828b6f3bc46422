"""Pieces of the joint sweep written as LLVM instructions, because the compiler does not find these instructions.

Each consists of a plain Python function, which defines the result and is used where nothing is compiled, and its
compiled form, whose inlining is forced: a call would put its arrays on the stack.
"""

from __future__ import annotations

import numpy as np
from llvmlite import ir

from pttt_ooc.jit import compiled_form, compiler

types, intrinsic = compiler().types, compiler().extending.intrinsic

LANES = 8  # numbers in a cell, processed side by side: one AVX register of float32
STRETCH = 32  # numbers compared with zero at once


def _adder(count):
    """A function that sums `count` cells of some rows, compiled to sums in registers."""

    def add(source, first, width, chosen, target, place, step):
        """Add cells of the rows in the bit mask `chosen`, from cell `first` on, to cells of `target`.

        In `target` the cells are `step` cells apart, beginning with the cell `place`.
        """
        # The definition: for each bit of `chosen`, the row's cells are added to cells of the target.
        for row in range(int(chosen).bit_length()):
            for j in range(count if int(chosen) >> row & 1 else 0):
                cell, out = row * width + first + j, place + j * step
                target[out * LANES : (out + 1) * LANES] += source[cell * LANES : (cell + 1) * LANES]

    @intrinsic
    def add_vectors(typingctx, source, first, width, chosen, target, place, step):
        """Written by hand, as the compiler keeps no sums in registers over a loop of unknown length."""

        def codegen(context, builder, signature, args):
            # A vector has LANES numbers; arrays become addresses, and whole numbers get the machine's width.
            intp = context.get_value_type(types.intp)
            vector = ir.VectorType(context.get_data_type(source.dtype), LANES)
            align = context.get_abi_sizeof(vector.element)
            rows, out = (context.make_array(signature.args[k])(context, builder, args[k]).data for k in (0, 4))
            start, length, begin, apart = (
                context.cast(builder, args[k], signature.args[k], types.intp) for k in (1, 2, 5, 6)
            )

            def cell(base, number):
                return builder.bitcast(builder.gep(base, [builder.mul(number, intp(LANES))]), vector.as_pointer())

            # The target's cells are loaded once, before the loop: each sum has a register of its own.
            places = [cell(out, builder.add(begin, builder.mul(apart, intp(j)))) for j in range(count)]
            values = [args[3], *[builder.load(at, align=align) for at in places]]
            # One turn for each chosen row. What changes from turn to turn are phis: the bits of the rows that are left,
            # and the sums.
            before, loop = builder.block, builder.append_basic_block("row")
            builder.branch(loop)
            builder.position_at_end(loop)
            rest, *sums = phis = [builder.phi(value.type) for value in values]
            # The lowest bit is the next row: its cells are added, and the bit is taken away.
            row = builder.cttz(rest, ir.IntType(1)(1))
            base = cell(rows, builder.add(builder.mul(row, length), start))
            parts = [builder.load(builder.gep(base, [intp(j)]), align=align) for j in range(count)]
            rest = builder.and_(rest, builder.sub(rest, rest.type(1)))
            sums = [builder.fadd(total, part) for total, part in zip(sums, parts, strict=True)]
            # A phi is the value from before the loop at first, and that of the last turn afterwards.
            for phi, value, following in zip(phis, values, (rest, *sums), strict=True):
                phi.add_incoming(value, before)
                phi.add_incoming(following, loop)
            # When no bit is left, the sums are stored. The loop runs at least once: `chosen` must not be 0.
            after = builder.append_basic_block("sum")
            builder.cbranch(builder.icmp_unsigned("==", rest, rest.type(0)), after, loop)
            builder.position_at_end(after)
            for at, total in zip(places, sums, strict=True):
                builder.store(total, at, align=align)
            return context.get_dummy_value()

        return types.void(source, first, width, types.uint64, target, place, step), codegen

    @compiled_form(add, forceinline=True)
    def implement_add(source, first, width, chosen, target, place, step):
        def implementation(source, first, width, chosen, target, place, step):
            add_vectors(source, first, width, chosen, target, place, step)

        return implementation

    return add


add_six, add_two, add_one = _adder(6), _adder(2), _adder(1)


def turn(source, first, source_step, target, place, target_step):
    """Transpose a square of numbers: LANES vectors, `source_step` apart, to LANES vectors, `target_step` apart."""
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


@compiled_form(turn, forceinline=True)
def _compiled_turn(source, first, source_step, target, place, target_step):
    def implementation(source, first, source_step, target, place, target_step):
        _turn_vectors(source, first, source_step, target, place, target_step)

    return implementation


def not_zero(numbers, first):
    """The positions of non-zero numbers among the `STRETCH` numbers from `first` on, as bits."""
    return np.uint64(sum(int(numbers[first + i] != 0) << i for i in range(STRETCH)))


@intrinsic
def _compare(typingctx, numbers, first):
    """Written by hand, as the compiler does not turn a comparison of vectors into bits."""

    def codegen(context, builder, signature, args):
        number = context.get_data_type(numbers.dtype)
        vector = ir.VectorType(number, STRETCH)
        base = context.make_array(numbers)(context, builder, args[0]).data
        start = context.cast(builder, args[1], signature.args[1], types.intp)
        place = builder.bitcast(builder.gep(base, [start]), vector.as_pointer())
        part = builder.load(place, align=context.get_abi_sizeof(number))
        found = builder.fcmp_unordered("!=", part, ir.Constant(vector, None))
        return builder.zext(builder.bitcast(found, ir.IntType(STRETCH)), ir.IntType(64))

    return types.uint64(numbers, first), codegen


@compiled_form(not_zero, forceinline=True)
def _compiled_not_zero(numbers, first):
    def implementation(numbers, first):
        return _compare(numbers, first)

    return implementation


def lowest(bits):
    """Position of the lowest set bit."""
    return (int(bits) & -int(bits)).bit_length() - 1


@intrinsic
def _count_zeros(typingctx, bits):
    def codegen(context, builder, signature, args):
        return builder.cttz(args[0], ir.IntType(1)(1))

    return types.uint64(types.uint64), codegen


@compiled_form(lowest, forceinline=True)
def _compiled_lowest(bits):
    def implementation(bits):
        return _count_zeros(bits)

    return implementation


def any_cell(source, first, width):
    """Whether any of the `width` (at least one) cells from `first` on is non-zero."""
    return bool((source[first * LANES : (first + width) * LANES] != 0).any())


@intrinsic
def _join_cells(typingctx, source, first, width):
    """Written by hand: all bits are joined and then compared once, so that no branch depends on them."""

    def codegen(context, builder, signature, args):
        number = context.get_data_type(source.dtype)
        bits = 8 * context.get_abi_sizeof(number)
        vector, whole = ir.VectorType(ir.IntType(bits), LANES), ir.IntType(bits * LANES)
        intp = context.get_value_type(types.intp)
        start, length = (context.cast(builder, args[k], signature.args[k], types.intp) for k in (1, 2))
        base = builder.gep(
            context.make_array(source)(context, builder, args[0]).data, [builder.mul(start, intp(LANES))]
        )
        before, loop, after = builder.block, *(builder.append_basic_block(name) for name in ("cell", "joined"))
        builder.branch(loop)
        builder.position_at_end(loop)
        cell, joined = builder.phi(intp), builder.phi(vector)
        place = builder.bitcast(builder.gep(base, [builder.mul(cell, intp(LANES))]), vector.as_pointer())
        both = builder.or_(joined, builder.load(place, align=bits // 8))
        following = builder.add(cell, intp(1))
        for phi, first_value, next_value in ((cell, intp(0), following), (joined, vector(None), both)):
            phi.add_incoming(first_value, before)
            phi.add_incoming(next_value, loop)
        builder.cbranch(builder.icmp_signed("<", following, length), loop, after)
        builder.position_at_end(after)
        signless = builder.shl(both, vector([1] * LANES))  # zero has a sign
        return builder.icmp_unsigned("!=", builder.bitcast(signless, whole), whole(0))

    return types.boolean(source, first, width), codegen


@compiled_form(any_cell, forceinline=True)
def _compiled_any_cell(source, first, width):
    def implementation(source, first, width):
        return _join_cells(source, first, width)

    return implementation
