"""The sequence form of a restricted game: what its linear programs are made of, and their bases as the game grows.

Von Stengel 1996: the plan ``x`` of a player gets the most against the best response of the other, with a value ``v``
for each infoset of the other::

    max v(root)   so that   E x = e,   F' v <= A' x,   x >= 0

All programs have this matrix.  :mod:`.restricted_program` solves it for both plans, and works the two empty sequences
in; :mod:`pttt_ooc.exact.equilibria.face_program` adds an objective; and
:mod:`pttt_ooc.exact.certificates.integer_program` has it in integers.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pttt_ooc.cfr.solving.highs_solver import BASIC, LOWER, Basis
from pttt_ooc.exact.double_oracle.restricted_histories import Plans, WonHistories
from pttt_ooc.exact.double_oracle.sparse_plan import SparsePlan

Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class SequenceForm:
    """The sequence form for the plan of one player.

    Attributes
    ----------
    matrix : sparse (rows, columns)
        Rows: the player's flows, which are 1 for the empty sequence and then 0 for each infoset; then the other's
        sequences, which are bounded by 0.  Columns: the player's sequences; then the values of the root and of the
        other's infosets.  The empty sequences come first.
    infosets : tuple of two int64
        The infosets with actions, of the flows and of the values, without the first of each.
    """

    matrix: Any
    infosets: tuple[Ints, Ints]

    @property
    def flows(self) -> int:
        """The number of flows, and so the row of the other's empty sequence."""
        return len(self.infosets[0]) + 1

    @property
    def sequences(self) -> int:
        """The number of the player's sequences, and so the column of the root's value."""
        return int(self.matrix.shape[1]) - len(self.infosets[1]) - 1


def sequence_form(plans: Plans, won: WonHistories, player: int = 0, scale: int = 0) -> SequenceForm:
    """The sequence form of a restricted game with its won histories.

    Parameters
    ----------
    scale
        If given, payoffs are multiplied by it, and the matrix is of integers.
    """
    from scipy import sparse

    payoffs = won.payoffs if player == 0 else -won.payoffs
    gains = np.rint(payoffs * scale).astype(np.int64) if scale else payoffs
    ends = won.first.astype(np.int64) + 1, won.second.astype(np.int64) + 1
    (flows, infosets), (values, others) = _flows(plans[player]), _flows(plans[1 - player])
    shape = flows.shape[1], values.shape[1]
    matrix = sparse.coo_array((gains, ends if player == 0 else ends[::-1]), shape=shape).tocsr()  # equal ends: added up
    whole = sparse.block_array([[flows, None], [-matrix.T, values.T]], format="csc", dtype=gains.dtype)
    return SequenceForm(whole, (infosets, others))


def _flows(plan: SparsePlan) -> tuple[Any, Ints]:
    """The empty sequence; then for each infoset its actions minus the sequence before: sparse (rows, sequences + 1).

    Also returned are the infosets of the rows after the first.
    """
    from scipy import sparse

    infosets, sequences = plan.counts
    leads = plan.infosets[:sequences]
    used = np.flatnonzero(plan.choices[:infosets])
    row = np.zeros(infosets, np.int64)
    row[used] = np.arange(len(used)) + 1
    rows = np.concatenate([[0], row[leads], row[used]])
    columns = np.concatenate([[0], np.arange(sequences) + 1, plan.before[used].astype(np.int64) + 1])
    signs = np.concatenate([np.ones(1 + sequences, np.int64), -np.ones(len(used), np.int64)])
    return sparse.coo_array((signs, (rows, columns)), shape=(len(used) + 1, sequences + 1)).tocsr(), used


@dataclass(frozen=True, eq=False)
class FormBasis:
    """The basis of a program, so that one of a game that has grown can begin from it.

    Attributes
    ----------
    infosets
        See :class:`SequenceForm`.
    columns, rows : int8
        The status of all columns and rows, see :data:`pttt_ooc.cfr.solving.highs_solver.Basis`.
    """

    infosets: tuple[Ints, Ints]
    columns: NDArray[np.int8]
    rows: NDArray[np.int8]

    def extend_to(self, form: SequenceForm, blanks: tuple[int, int, int, int]) -> Basis:
        """The basis of a larger game, where `blanks` are what new sequences, values, flows, and bounds are."""
        height, width = form.matrix.shape
        columns, rows = np.full(width, blanks[0], np.int8), np.full(height, blanks[2], np.int8)
        columns[form.sequences :], rows[form.flows :] = blanks[1], blanks[3]
        flows, values = (
            np.append(0, np.searchsorted(now, then) + 1) for now, then in zip(form.infosets, self.infosets, strict=True)
        )
        sequences = len(self.columns) - len(values)
        columns[:sequences] = self.columns[:sequences]
        columns[form.sequences + values] = self.columns[sequences:]
        rows[flows] = self.rows[: len(flows)]
        rows[form.flows : form.flows + len(self.rows) - len(flows)] = self.rows[len(flows) :]
        return columns, rows

    def new_infosets(self, form: SequenceForm) -> Iterator[Ints]:
        """The infosets of flows and of values that a larger game has besides those of this one."""
        return map(np.setdiff1d, form.infosets, self.infosets)


NO_BASIS = FormBasis((np.zeros(0, np.int64),) * 2, np.full(2, BASIC, np.int8), np.full(2, LOWER, np.int8))
"""The basis of a game without infosets."""
