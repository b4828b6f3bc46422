"""Equilibria of a restricted game near the averages of regret matching.

All earlier best responses have shaped these averages, so the whole game exploits them by hardly more than the
restricted game does.  A vertex of the optimal face, or its centre, is far away from them, and there best responses find
much more.  So each player's plan is improved on its own, by a linear program for its *change*: no reach changes by more
than a small distance, and the change is measured in that distance.  Scaled so, the tolerance of the interior point
method is a small part of the distance, and not of a payoff (Gleixner, Steffy, Wolter 2016 refine programs in this way).

What both plans play after that says which face they are near, and a projection onto it makes them exact to rounding,
see :mod:`.restricted_interior`.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from pttt_ooc.cfr.solving.highs_solver import ColumnProgram, solve_inside
from pttt_ooc.exact.double_oracle.plan_evaluation import reach_of
from pttt_ooc.exact.double_oracle.restricted_histories import Plans, WonHistories
from pttt_ooc.exact.double_oracle.restricted_interior import (
    NOISE,
    ROUNDING,
    Face,
    InsidePlans,
    choose_best,
    nearest_plan,
)
from pttt_ooc.exact.double_oracle.restricted_matching import action_values, gap
from pttt_ooc.exact.double_oracle.sequence_form import SequenceForm, sequence_form
from pttt_ooc.exact.double_oracle.sparse_plan import SparsePlan

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
Pair = tuple[Floats, Floats]
Answer = tuple[Floats, Floats, float]

_GROWTH = 100.0  # a reach grows by this factor at most: what is hardly played is noise
_LEAST = 1e-12  # of an average that may change
_MISS = 1e-12  # the most that flows of a projected plan may miss


def nearby_plans(plans: Plans, won: WonHistories, averages: Sequence[Floats], distance: float) -> InsidePlans:
    """Plans near the averages of regret matching that lose less within the restricted game, down to rounding.

    Parameters
    ----------
    averages
        The reach of each player's sequences.
    distance
        The most by which a reach changes, in units of the averages' gap.

    Raises
    ------
    UnsolvedError
        If HiGHS does not solve a program.
    """
    first, second = averages
    answers = _answers(plans, won, (first, second))
    best = InsidePlans((first, second), answers[0][2] + answers[1][2])
    if best.loss <= ROUNDING:
        return best
    most = distance * best.loss
    forms = sequence_form(plans, won, 0), sequence_form(plans, won, 1)
    improved = tuple(_improve(forms[p], averages[p], _losses(plans[1 - p], answers[1 - p]), most) for p in (0, 1))
    near = improved[0], improved[1]
    loss = gap(plans, won, near)
    best = InsidePlans(near, loss) if loss < best.loss else best
    return choose_best(plans, won, best, _project(plans, won, forms, near))


def face_at(plans: Plans, won: WonHistories) -> Face:
    """The smallest face with the equilibrium of the restricted game that the plans play."""
    reach = reach_of(plans[0])[:-1], reach_of(plans[1])[:-1]
    answers = _answers(plans, won, reach)
    losses = _losses(plans[0], answers[0]), _losses(plans[1], answers[1])
    played = reach[0] > np.maximum(losses[0], NOISE), reach[1] > np.maximum(losses[1], NOISE)
    values = [answers[p][1][plan.choices[: plan.counts[0]] > 0] for p, plan in enumerate(plans)]
    return Face(
        reach=reach,
        values=(-values[1], values[0]),
        played=played,
        tight=(played[0] | (losses[0] < ROUNDING), played[1] | (losses[1] < ROUNDING)),
    )


def _improve(form: SequenceForm, reach: Floats, losses: Floats, distance: float) -> Floats:
    """The plan that guarantees most within a distance; `losses` are those of the other player's sequences."""
    flows, sequences = form.flows, form.sequences
    height, width = form.matrix.shape
    start = np.append(1.0, reach)
    # The change of the plan and of the values of the other's infosets; the empty sequence does not change.
    columns = np.append(start > _LEAST, np.ones(width - sequences, np.bool_))
    columns[0] = False
    rows = np.arange(height) > 0
    low, high = np.full(width, -np.inf), np.full(width, np.inf)
    low[:sequences] = np.maximum(-1.0, -start / distance)
    high[:sequences] = np.minimum(1.0, _GROWTH * start / distance)
    costs = np.zeros(width)
    costs[sequences] = 1.0  # the root's value
    # Flows do not change.  A sequence of the other may become as good as their best one, but not better.
    lower, upper = np.zeros(height), np.zeros(height)
    lower[flows:] = -np.inf
    upper[flows + 1 :] = losses / distance
    matrix = form.matrix[:, columns].tocsr()[rows].tocsc()
    program = ColumnProgram(
        costs[columns],
        (low[columns], high[columns]),
        (lower[rows], upper[rows]),
        *(matrix.indptr.astype(np.int32), matrix.indices.astype(np.int32), matrix.data),
    )
    change = np.zeros(width)
    change[columns] = solve_inside(program, {"presolve": "on"}).values
    return np.maximum(reach + distance * change[1:sequences], 0.0)


def _project(plans: Plans, won: WonHistories, forms: tuple[SequenceForm, SequenceForm], near: Pair) -> Pair:
    """Both plans projected onto the face of what they play; a plan stays as it is where that leads nowhere."""
    answers = _answers(plans, won, near)
    played = [np.append(True, near[p] > np.maximum(_losses(plans[p], answers[p]), NOISE)) for p in (0, 1)]
    projected = [_project_plan(forms[p], near[p], answers[1 - p], played[p], played[1 - p]) for p in (0, 1)]
    return projected[0], projected[1]


def _project_plan(form: SequenceForm, near: Floats, answer: Answer, played: Bools, tight: Bools) -> Floats:
    flows, sequences = form.flows, form.sequences
    matrix, width = form.matrix.tocsr(), form.matrix.shape[1]
    _, bests, whole = answer
    start = np.concatenate([[1.0], near, [-whole], -bests[form.infosets[1]]])
    kept = np.append(played, np.zeros(width - sequences, np.bool_))
    equations = matrix[np.append(np.ones(flows, np.bool_), tight)]
    amounts = np.zeros(equations.shape[0])
    amounts[0] = 1.0  # the empty sequence
    found = nearest_plan(equations, amounts, start, kept, np.arange(width) < sequences)
    missed = np.abs(equations[:flows] @ found - amounts[:flows]).max()
    return found[1:sequences] if missed <= _MISS and found[:sequences].min() >= 0 else near


def _answers(plans: Plans, won: WonHistories, reach: Pair) -> tuple[Answer, Answer]:
    """What each player's actions get against the other's plan."""
    return action_values(plans, won, 0, reach[1]), action_values(plans, won, 1, reach[0])


def _losses(plan: SparsePlan, answer: Answer) -> Floats:
    """How much less than the best one each sequence gets."""
    values, bests, _ = answer
    return bests[plan.infosets[: len(values)]] - values
