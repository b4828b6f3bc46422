"""Exact evaluation of two plans, with the pure rule where they do not come: nothing is listed."""

from __future__ import annotations

import time

import numpy as np
from numpy.typing import NDArray

from pttt_ooc.cfr.solving.evaluation import Evaluation
from pttt_ooc.exact.double_oracle.lazy_response import Responder
from pttt_ooc.exact.double_oracle.restricted_histories import HistoryFinder, Plans
from pttt_ooc.exact.double_oracle.rule_tables import RuleTables
from pttt_ooc.exact.double_oracle.sparse_plan import SparsePlan


def evaluate_plans(rules: RuleTables, plans: Plans, memo_mb: float = 96) -> Evaluation:
    """Value and best responses of two plans whose histories end within both plans, such as those of an equilibrium.

    Parameters
    ----------
    memo_mb
        Megabytes for the bounds of both players' best responses.
    """
    begun = time.perf_counter()
    plans, won = HistoryFinder(rules).find_won(plans)
    first, second = (reach_of(plan) for plan in plans)
    value = float(np.sum(won.payoffs * first[won.first] * second[won.second]))  # -1, the empty sequence: the last entry
    best = [Responder(rules, p, memo_mb / 2).respond(plans[1 - p]).value for p in (0, 1)]
    nashconv = max(best[0] + best[1], 0.0)
    return Evaluation(value, best[0], best[1], nashconv, None, None, None, time.perf_counter() - begun)


def reach_of(plan: SparsePlan) -> NDArray[np.float64]:
    """The reach of each sequence, all actions of an orbit together; at the end, 1 for the empty sequence."""
    sequences = int(plan.counts[1])
    reach = np.ones(sequences + 1)
    for sequence in range(sequences):  # a sequence comes after the one before its infoset
        before = plan.before[plan.infosets[sequence]]
        reach[sequence] = reach[before] * plan.chances[sequence] * plan.orbits[sequence]
    return reach
