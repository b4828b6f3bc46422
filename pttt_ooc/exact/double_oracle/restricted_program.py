"""The linear program of a restricted game: exact plans, checked before they are used.

Von Stengel 1996: player 0's plan ``x`` gets the most against the best response of player 1::

    max v(root)   so that   E x = e,   F' v <= A' x,   x >= 0

Columns are the sequences of player 0 and the infosets of player 1; rows are the infosets of player 0 and the sequences
of player 1.  The multipliers of player 1's sequences are their plan.

The restricted game grows from round to round, and so does the program.  The simplex method goes on from the last basis,
where each new infoset plays its first action: that is a basis again.  A solver's state is more than its basis, so each
program begins with a solver of its own: a run that is continued finds the same bits.
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
    "simplex_dual_edge_weight_strategy": 1,  # Devex: steepest edges take longer to begin than to end
    "primal_feasibility_tolerance": 1e-10,
    "dual_feasibility_tolerance": 1e-10,
}


@dataclass(frozen=True, eq=False)
class Program:
    """A program, maximised; its rows' lower ends are -inf for player 1's sequences, and its upper ends for infosets.

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
        Of columns, and the ends of rows.
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
        program, problems = build(plans, won), list[str]()
        basis = _grown_basis(program, plans, self.last)
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


def build(plans: Plans, won: WonHistories) -> Program:
    """The program of a restricted game."""
    first, second = plans
    sizes = int(first.counts[1]), int(second.counts[1])
    rows0, columns1 = (np.flatnonzero(plan.choices[: plan.counts[0]] > 0) for plan in plans)
    row_of, column_of = np.zeros(int(first.counts[0]), np.int64), np.zeros(int(second.counts[0]), np.int64)
    row_of[rows0], column_of[columns1] = np.arange(len(rows0)), sizes[0] + np.arange(len(columns1))
    sequences = np.arange(sizes[0]), np.arange(sizes[1])
    both = (won.first >= 0) & (won.second >= 0)
    before0, before1 = first.before[rows0].astype(np.int64), second.before[columns1].astype(np.int64)
    late0, late1 = before0 >= 0, before1 >= 0
    parts = [  # rows, columns, entries
        (row_of[first.infosets[sequences[0]]], sequences[0], np.ones(sizes[0])),
        (row_of[rows0[late0]], before0[late0], -np.ones(int(late0.sum()))),
        (len(rows0) + sequences[1], column_of[second.infosets[sequences[1]]], np.ones(sizes[1])),
        (len(rows0) + before1[late1], column_of[columns1[late1]], -np.ones(int(late1.sum()))),
        (len(rows0) + won.second[both].astype(np.int64), won.first[both].astype(np.int64), -won.payoffs[both]),
    ]
    rows, columns, entries = (np.concatenate([part[k] for part in parts]) for k in (0, 1, 2))
    height, width = len(rows0) + sizes[1], sizes[0] + len(columns1)
    keys, inverse = np.unique(columns * height + rows, return_inverse=True)
    sums = np.bincount(inverse, weights=entries)
    keys, sums = keys[sums != 0], sums[sums != 0]
    starts = np.searchsorted(keys, np.arange(width + 1) * height)
    ends = _constants(won.second, won.first, won.payoffs, sizes[1])
    equal = np.where(late0, 0.0, 1.0)
    return Program(
        sequences=sequences[0],
        infosets=columns1,
        row_infosets=rows0,
        row_sequences=sequences[1],
        starts=starts.astype(np.int32),
        rows=(keys % height).astype(np.int32),
        entries=sums,
        costs=np.concatenate([_constants(won.first, won.second, won.payoffs, sizes[0]), np.where(late1, 0.0, 1.0)]),
        lower=np.concatenate([equal, np.full(sizes[1], -np.inf)]),
        upper=np.concatenate([equal, ends]),
    )


def _constants(own: NDArray[np.int32], other: NDArray[np.int32], payoffs: Floats, size: int) -> Floats:
    """For each own sequence, the payoffs of histories in which the other has the empty sequence."""
    alone = (other < 0) & (own >= 0)
    return np.bincount(own[alone], weights=payoffs[alone], minlength=size).astype(np.float64)


def _grown_basis(program: Program, plans: Plans, last: CheckedProgram | None) -> Basis:
    """The last basis; each infoset that is new plays its likeliest action, or of several the first."""
    columns = np.full(len(program.costs), LOWER, np.int8)
    rows = np.full(len(program.lower), BASIC, np.int8)
    columns[len(program.sequences) :] = BASIC
    old0 = old1 = np.zeros(0, np.int64)
    if last:
        before = last.program
        old0, old1 = before.row_infosets, before.infosets
        columns[: len(before.sequences)] = last.columns[: len(before.sequences)]
        columns[len(program.sequences) + np.searchsorted(program.infosets, old1)] = last.columns[
            len(before.sequences) :
        ]
        rows[np.searchsorted(program.row_infosets, old0)] = last.rows[: len(old0)]
        shift = len(program.row_infosets)
        rows[shift : shift + len(before.row_sequences)] = last.rows[len(old0) :]
    fresh0, fresh1 = np.setdiff1d(program.row_infosets, old0), np.setdiff1d(program.infosets, old1)
    rows[np.searchsorted(program.row_infosets, fresh0)] = LOWER
    columns[_likeliest(plans[0], fresh0)] = BASIC
    rows[len(program.row_infosets) + _likeliest(plans[1], fresh1)] = UPPER
    return columns, rows


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
