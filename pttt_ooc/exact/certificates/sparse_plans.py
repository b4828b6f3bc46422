"""The plans of a certificate as sparse plans: what answers questions about infosets without a list of them.

A certificate writes all mirror images of an infoset out, and need not treat them alike; a sparse plan has one of them.
So the sparse plan is the mean of a plan's mirror images.  Each of them guarantees the same, so their mean guarantees at
least as much; of an equilibrium strategy, it is another one.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from pttt_ooc.exact.certificates.certificate import Certificate
from pttt_ooc.exact.certificates.integer_plan import IntegerPlan
from pttt_ooc.exact.double_oracle.restricted_histories import Plans
from pttt_ooc.exact.double_oracle.rule_tables import RuleTables, rule_tables
from pttt_ooc.exact.double_oracle.sparse_plan import (
    SPARE,
    SparsePlan,
    allow,
    behave,
    canonical_action,
    first_infoset,
    next_infoset,
    trim_plan,
    with_capacity,
)


def sparse_plans(certificate: Certificate) -> Plans:
    """Both players' plans, each the mean of its mirror images, with their chances in double precision."""
    rules = rule_tables(certificate.game)
    first, second = (_mean_plan(rules, player, plan) for player, plan in enumerate(certificate.plans))
    return first, second


def _mean_plan(rules: RuleTables, player: int, written: IntegerPlan) -> SparsePlan:
    plan = with_capacity(first_infoset(rules, player), written.infosets + written.actions + SPARE)
    # The reach of a sequence counts its whole orbit, so the mean has the sum of the weights of all images.
    reach = np.zeros(written.actions)
    # For each infoset of the certificate: its number in the plan, and the orientation and stabiliser there. An infoset
    # comes after those that lead to it.
    at: list[tuple[Any, Any, Any]] = [(0, 0, rules.everything)] * written.infosets
    for n in range(written.infosets):
        infoset, g, stabiliser = at[n]
        for action in range(written.starts[n], written.starts[n] + written.sizes[n]):
            least, turned, kept = canonical_action(rules, g, stabiliser, written.squares[action])
            reach[allow(rules, plan, infoset, least)] += written.weights[action] / written.denominator
            for placed, after in enumerate((written.failed[action], written.placed[action])):
                if after >= 0:
                    at[after] = next_infoset(rules, plan, infoset, least, placed), turned, kept
    behave(plan, reach, 0.0)
    return trim_plan(plan)
