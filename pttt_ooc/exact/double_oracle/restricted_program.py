"""The linear program of a restricted game: exact plans, checked before they are used.

It is the :mod:`.sequence_form` for player 0, without the empty sequences, whose reach is known, and without the value
of the root.  So columns are the sequences of player 0 and the infosets of player 1; rows are the infosets of player 0
and the sequences of player 1.  The multipliers of player 1's sequences are their plan.

The restricted game grows from round to round, and so does the program.  The simplex method goes on from the last basis,
where each new infoset plays its likeliest action: that is a basis again.  A solver's state is more than its basis, so
each program begins with a solver of its own: a run that is continued finds the same bits.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pttt_ooc.cfr.solving import highs_solver
from pttt_ooc.cfr.solving.highs_solver import BASIC, LOWER, UPPER, Basis, ColumnProgram, Statuses, UnsolvedError
from pttt_ooc.exact.double_oracle.restricted_histories import Plans, WonHistories
from pttt_ooc.exact.double_oracle.restricted_matching import gap
from pttt_ooc.exact.double_oracle.sequence_form import NO_BASIS, FormBasis, SequenceForm, sequence_form
from pttt_ooc.exact.double_oracle.sparse_plan import SparsePlan

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

TOLERANCE = 1e-9
"""The most that flows of a plan may miss, and that the pair may lose within the restricted game."""

_MOST_STEPS = 20_000  # of the simplex method without perturbation, which may stall
_OPTIONS: dict[str, Any] = {
    "parallel": "off",  # the parallel simplex method ignores a basis
    "presolve": "off",  # drops a basis
    "solver": "simplex",
    "simplex_dual_edge_weight_strategy": 1,  # Devex: steepest edges take longer to set up than to use
    "primal_feasibility_tolerance": 1e-10,
    "dual_feasibility_tolerance": 1e-10,
}


@dataclass(frozen=True, eq=False)
class Program:
    """A program, maximised; the lower ends of rows are -inf for player 1's sequences, and equal the upper for infosets.

    Attributes
    ----------
    sequences : int64 (c0,)
        Player 0's sequences, the first columns.
    infosets : int64 (c1,)
        Player 1's infosets, the other columns, which are free.
    row_infosets : int64 (r0,)
        Player 0's infosets, the first rows, which are equations.
    row_sequences : int64 (r1,)
        Player 1's sequences, the other rows.
    starts, rows, entries : int32 (c + 1,), int32, float64
        The matrix, column by column.
    costs, lower, upper : float64
        The costs of columns, and the ends of rows.
    """

    sequences: Ints
    infosets: Ints
    row_infosets: Ints
    row_sequences: Ints
    starts: NDArray[np.int32]
    rows: NDArray[np.int32]
    entries: Floats
    costs: Floats
    lower: Floats
    upper: Floats


@dataclass(frozen=True, eq=False)
class CheckedProgram:
    """A program with the basis of its solution, whose plans have passed the checks.

    Attributes
    ----------
    program
        The program.
    columns, rows : int8
        The basis, see :data:`pttt_ooc.cfr.solving.highs_solver.Basis`.
    reach
        The reach of both players' sequences.
    """

    program: Program
    columns: Statuses
    rows: Statuses
    reach: tuple[Floats, Floats]

    @property
    def basis(self) -> FormBasis:
        """The basis, in which the empty sequences and the value of the root are basic."""
        program, sequences = self.program, len(self.program.sequences)
        columns = np.insert(self.columns, [0, sequences], BASIC)
        rows = np.insert(self.rows, [0, len(program.row_infosets)], LOWER)
        return FormBasis((program.row_infosets, program.infosets), columns, rows)


class RestrictedProgram:
    """The programs of one restricted game that grows.

    Attributes
    ----------
    last
        The last program whose plans passed the checks.
    """

    def __init__(self) -> None:
        self.last: CheckedProgram | None = None

    def exact_plans(self, plans: Plans, won: WonHistories) -> list[Floats]:
        """The reach of each player's sequences in an equilibrium of the restricted game.

        Raises
        ------
        UnsolvedError
            If no method finds plans that pass the checks.
        """
        form, problems = sequence_form(plans, won), list[str]()
        program, basis = build(form), _grown_basis(form, plans, self.last.basis if self.last else NO_BASIS)
        for options, start in (
            ({"dual_simplex_cost_perturbation_multiplier": 0.0, "simplex_iteration_limit": _MOST_STEPS}, basis),
            ({"simplex_iteration_limit": _MOST_STEPS}, basis),
            ({"solver": "ipm"}, None),
        ):
            checked, problem = _try_method(program, plans, won, options, start)
            if checked:
                self.last = checked
                return list(checked.reach)
            problems.append(problem)
        raise UnsolvedError(
            "; then ".join(dict.fromkeys(problems)),
            f"The linear program for {len(program.sequences):,} and {len(program.row_sequences):,} sequences",
        )


# ---------------------------------------------------------------------------------------------
# Programs


def build(form: SequenceForm) -> Program:
    """The program of a restricted game."""
    empty, root = form.flows, form.sequences
    height, width = form.matrix.shape
    rows, columns = np.delete(np.arange(height), [0, empty]), np.delete(np.arange(width), [0, root])
    matrix = form.matrix[:, columns]
    costs = 0.0 - matrix[[empty]].toarray()[0]  # the root's value is what the other's empty sequence leaves
    amounts = 0.0 - form.matrix[:, [0]].toarray()[rows, 0]  # of the player's empty sequence, which is 1
    matrix = matrix[rows]
    matrix.eliminate_zeros()
    is_flow = np.arange(height - 2) < empty - 1
    return Program(
        sequences=np.arange(root - 1),
        infosets=form.infosets[1],
        row_infosets=form.infosets[0],
        row_sequences=np.arange(height - 1 - empty),
        starts=matrix.indptr.astype(np.int32),
        rows=matrix.indices.astype(np.int32),
        entries=matrix.data,
        costs=costs,
        lower=np.where(is_flow, amounts, -np.inf),
        upper=amounts,
    )


def _grown_basis(form: SequenceForm, plans: Plans, last: FormBasis) -> Basis:
    """The last basis; each infoset that is new plays its likeliest action, or of several the first."""
    columns, rows = last.extend_to(form, (LOWER, BASIC, LOWER, BASIC))
    flows, values = last.new_infosets(form)
    columns[1 + _likeliest(plans[0], flows)] = BASIC
    rows[form.flows + 1 + _likeliest(plans[1], values)] = UPPER
    return np.delete(columns, [0, form.sequences]), np.delete(rows, [0, form.flows])


def _likeliest(plan: SparsePlan, infosets: Ints) -> Ints:
    """The likeliest sequence of each of these infosets, or of several the first."""
    size = int(plan.counts[1])
    leads, weights = plan.infosets[:size], plan.chances[:size] * plan.orbits[:size]
    order = np.lexsort((np.arange(size), -weights, leads))
    ranked = leads[order]
    return order[np.searchsorted(ranked, infosets)]


# ---------------------------------------------------------------------------------------------
# Solutions


def _try_method(
    program: Program,
    plans: Plans,
    won: WonHistories,
    options: dict[str, Any],
    basis: Basis | None,
) -> tuple[CheckedProgram | None, str]:
    """The checked solution by one method; or None and what is wrong."""
    try:
        found = highs_solver.solve(columns_of(program), {**_OPTIONS, **options}, basis)
    except UnsolvedError as error:
        return None, error.reason
    first, second = found.values[: len(program.sequences)], found.multipliers[len(program.row_infosets) :]
    for player, (plan, own) in enumerate(zip(plans, (first, second), strict=True)):
        miss = _miss(plan, own)
        if not miss <= TOLERANCE:  # NaN, too
            return None, f"the flows of player {player}'s plan miss by {miss:.1e}"
    reach = np.maximum(first, 0), np.maximum(second, 0)
    loss = gap(plans, won, reach)
    if not loss <= TOLERANCE:
        return None, f"its plans lose {loss:.1e} within the restricted game"
    return CheckedProgram(program, *found.basis, reach), ""


def columns_of(program: Program) -> ColumnProgram:
    """The program as HiGHS takes it."""
    free = np.arange(len(program.costs)) >= len(program.sequences)
    return ColumnProgram(
        program.costs,
        (np.where(free, -np.inf, 0.0), np.full(len(free), np.inf)),
        (program.lower, program.upper),
        *(program.starts, program.rows, program.entries),
    )


def _miss(plan: SparsePlan, reach: Floats) -> float:
    """How far a plan is from conserving its flows, or from being at least 0."""
    infosets, size = int(plan.counts[0]), int(plan.counts[1])
    sums = np.bincount(plan.infosets[:size], weights=reach, minlength=infosets)
    before = plan.before[:infosets]
    above = np.where(before >= 0, reach[before], 1.0)
    used = plan.choices[:infosets] > 0
    return float(max(np.abs(sums - above)[used].max(initial=0.0), (-reach).max(initial=0.0)))
