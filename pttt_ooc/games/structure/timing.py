"""Timing operators: which orders of two players are consistent with each other.

Two views that fit together constrain each other's orders only through the *key squares*, on which one player failed
because the other had placed a mark there before.  The *timing operator* maps a vector over the source's key times to a
vector over the receiver's key times: each entry is the sum of all entries with consistent times.

An operator is stored in two factors.  The game is cut at some time; each key square lies, for each player, before the
cut (in the *prefix*) or after it (in the *suffix*).  Given the sets of key squares in the source's prefix (``B``) and
in the receiver's (``A``), the condition splits into one on prefix times and one on suffix times, so that the operator
is a Kronecker product of two small 0/1 matrices, or zero.  A *cell* is one tuple of key times; the cells of one prefix
set form a matrix, with suffixes as rows and prefixes as columns, and the operator is ``X_A = sum_B V_AB Z_B U_AB``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from pttt_ooc.games.structure.index import ArrayTables
from pttt_ooc.games.structure.views import Ints
from pttt_ooc.jit import kernel, piece

WORD = 64  # bits of a matrix's row in one number

Column = TypeVar("Column")


class Groups(NamedTuple):
    """The groups of a :class:`Timing`, for kernels."""

    operator: NDArray[np.int32]
    receiver_view: NDArray[np.int32]
    receiver_pattern: NDArray[np.int32]
    receiver_actions: NDArray[np.int32]
    source_start: Ints
    source_view: NDArray[np.int32]
    source_pattern: NDArray[np.int32]
    source_actions: NDArray[np.int32]


class PatternCells(NamedTuple):
    """The cells of each pattern's orders in a :class:`Timing`, for kernels."""

    start: Ints
    cell: NDArray[np.uint16]
    wide_cell: NDArray[np.uint32]


class Factors(NamedTuple, Generic[Column]):
    """Pairs (B, A) of a source's and a receiver's matrix of cells, with the matrices that map one to the other.

    Attributes
    ----------
    source_cell, source_suffixes, source_prefixes
        First cell, number of rows and number of columns of ``Z_B``.
    receiver_cell, receiver_suffixes, receiver_prefixes
        The same of ``X_A``.
    suffix_matrix, prefix_matrix
        Start of ``V_AB`` and ``U_AB`` in the matrices.
    """

    source_cell: Column
    source_suffixes: Column
    source_prefixes: Column
    receiver_cell: Column
    receiver_suffixes: Column
    receiver_prefixes: Column
    suffix_matrix: Column
    prefix_matrix: Column


class Operators(NamedTuple):
    """The operators of a :class:`Timing`, for kernels."""

    start: Ints
    cells: Ints
    prefix_first: NDArray[np.bool_]
    factors: Factors[NDArray[np.int32]]
    matrix: NDArray[np.uint64]


@dataclass(frozen=True, eq=False)
class Timing(ArrayTables):
    """The tables of the joint sweep for the gradient of one player, the receiver.

    A *group* is a sum over sources that share the operator and the receiver's key squares.

    Attributes
    ----------
    group_start : int64 (receiver's views + 1,)
        Groups of each of the receiver's views.
    group_view, group_operator, group_pattern : int32 (groups,)
        Receiver's view, operator and receiver's pattern.
    group_actions : int32 (groups,)
        The receiver's winning actions, as a bit mask of action numbers; 0 if the source wins.
    source_start : int64 (groups + 1,)
        Sources of each group.
    source_view, source_pattern : int32 (sources,)
        The source's view and its pattern.
    source_actions : int32 (sources,)
        The source's winning actions as a bit mask of action numbers; 0 if the receiver wins.
    pattern_start : int64 (patterns + 1,)
        Orders of each pattern.
    order_cell : uint16 (any,)
        The cell of each order of the patterns whose cells fit 16 bits.  Excluded orders have an extra cell,
        after all others.
    wide_order_cell : uint32 (any,)
        The same for the orders of all other patterns, which come last.
    operator_start : int64 (operators + 1,)
        Factors of each operator.
    operator_cells : int64 (operators, 2)
        Number of cells of the source and of the receiver.
    operator_prefix_first : bool (operators,)
        Whether prefixes are summed before suffixes.  The major index of the source's matrices is the
        one that is summed first, the major index of the receiver's matrices the other one.
    factor : int32 (8, factors)
        The fields of :class:`Factors`, one row each.  Pairs (B, A) that can share the sum over prefixes
        are adjacent.
    matrix : uint64 (any,)
        The 0/1 matrices V and U, by the receiver's index: in each row, the source's indices to sum
        are the bits of one number, or of several if there are more than 64.
    """

    group_start: Ints
    group_view: NDArray[np.int32]
    group_operator: NDArray[np.int32]
    group_pattern: NDArray[np.int32]
    group_actions: NDArray[np.int32]
    source_start: Ints
    source_view: NDArray[np.int32]
    source_pattern: NDArray[np.int32]
    source_actions: NDArray[np.int32]
    pattern_start: Ints
    order_cell: NDArray[np.uint16]
    wide_order_cell: NDArray[np.uint32]
    operator_start: Ints
    operator_cells: Ints
    operator_prefix_first: NDArray[np.bool_]
    factor: NDArray[np.int32]
    matrix: NDArray[np.uint64]

    def tables(self) -> tuple[Groups, PatternCells, Operators]:
        """The tables for the kernels of the joint sweep."""
        return (
            Groups(
                *(self.group_operator, self.group_view, self.group_pattern, self.group_actions),
                *(self.source_start, self.source_view, self.source_pattern, self.source_actions),
            ),
            PatternCells(self.pattern_start, self.order_cell, self.wide_order_cell),
            Operators(
                *(self.operator_start, self.operator_cells, self.operator_prefix_first),
                *(Factors(*self.factor), self.matrix),
            ),
        )


class Clocks(NamedTuple):
    """Key times of the cells of one side of an operator, on a clock that both players share; -1 for no time.

    Attributes
    ----------
    sets
        The prefix sets; see :class:`~pttt_ooc.games.structure.cells.Cells`.
    columns, rows
        int64, shape (columns or rows of all sets, keys).
    first_column, first_row
        Start of each set's columns and rows, and the end of the last set's.
    """

    sets: Ints
    columns: Ints
    first_column: Ints
    rows: Ints
    first_row: Ints


@piece
def _fits(source, receiver, first_kind, second_kind):
    """Whether two prefix sets are compatible: a key in the failing player's set is also in the placing player's."""
    return (receiver & first_kind) & ~source == 0 and (source & second_kind) & ~receiver == 0


@piece
def _words(first, last):
    """Number of words in a row of a matrix with the source's indices `first` to `last`."""
    return (last - first + WORD - 1) // WORD


@piece
def _consistent(source, first, last, receiver, begin, end, received, matrix, at):
    """Write to `matrix`, from position `at` on, which key times agree; return the end and the number of ones.

    The source's times ``source[first:last]`` are the bits of a row, the receiver's ``receiver[begin:end]`` the rows.
    """
    ones = 0
    for r in range(begin, end):
        matrix[at : at + _words(first, last)] = 0
        for s in range(first, last):
            agree = True
            for k in range(source.shape[1]):
                before, after = source[s, k], receiver[r, k]
                if k >= received:
                    before, after = after, before
                agree &= before < after or before < 0 or after < 0
            if agree:
                matrix[at + (s - first) // WORD] |= np.uint64(1) << np.uint64((s - first) % WORD)
                ones += 1
        at += _words(first, last)
    return at, ones


@kernel
def consistent(source, receiver, received):
    """Which key times of source and receiver agree on the keys that both have.

    Parameters
    ----------
    source, receiver
        :class:`Clocks`.
    received
        Number of keys that the source placed and the receiver failed on; these keys come first.

    Returns
    -------
    matrix
        uint64: 0/1 matrices by the receiver's index, as in :attr:`Timing.matrix`, one after the other.
    found
        int64, shape (pairs, 6): for each pair of sets whose matrices both have ones, the source's set, the
        receiver's set, the start of the matrix of their columns, the start and the end of the matrix of their rows,
        and the number of ones of the first matrix.
    """
    first_kind = (1 << received) - 1  # placed by the source, failed by the receiver
    second_kind = ((1 << source.columns.shape[1]) - 1) & ~first_kind
    # The space: two matrices for each pair of sets that fit, with a row for each of the receiver's times.
    columns, rows = source.first_column, source.first_row
    size = 0
    for b in range(len(source.sets)):
        for a in range(len(receiver.sets)):
            if _fits(source.sets[b], receiver.sets[a], first_kind, second_kind):
                size += (receiver.first_column[a + 1] - receiver.first_column[a]) * _words(columns[b], columns[b + 1])
                size += (receiver.first_row[a + 1] - receiver.first_row[a]) * _words(rows[b], rows[b + 1])
    matrix, found = np.empty(size, np.uint64), np.empty((len(source.sets) * len(receiver.sets), 6), np.int64)
    # Columns are prefixes, so that their matrix is U_AB; rows are suffixes, whose matrix is V_AB.
    at, count = 0, 0
    for b in range(len(source.sets)):
        for a in range(len(receiver.sets)):
            if not _fits(source.sets[b], receiver.sets[a], first_kind, second_kind):
                continue
            begin, end = receiver.first_column[a], receiver.first_column[a + 1]
            middle, ones = _consistent(
                source.columns, columns[b], columns[b + 1], receiver.columns, begin, end, received, matrix, at
            )
            begin, end = receiver.first_row[a], receiver.first_row[a + 1]
            after, more = _consistent(
                source.rows, rows[b], rows[b + 1], receiver.rows, begin, end, received, matrix, middle
            )
            # If one of the two is zero, so is their product: the next pair takes its place.
            if ones and more:
                pair = found[count]
                pair[0], pair[1], pair[2], pair[3], pair[4], pair[5] = b, a, at, middle, after, ones
                count += 1
                at = after
    return matrix, found[:count]
