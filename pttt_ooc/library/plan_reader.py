"""Plans of games whose infosets are not listed, read for questions."""

from __future__ import annotations

from pttt_ooc.double_oracle.rule_tables import rule_tables
from pttt_ooc.library.strategy_names import NamedStrategy
from pttt_ooc.products.equilibrium import read_plans
from pttt_ooc.questions.plan_pair import PlanPair
from pttt_ooc.rules.catalogue import named_game


def read_plan_pair(named: NamedStrategy) -> PlanPair:
    """Both players' plans.

    Parameters
    ----------
    named
        Of the kind "plan".

    Raises
    ------
    StoreError
        If they are missing or damaged.
    """
    game = named_game(str(named.game))
    return PlanPair(game, read_plans(named.path, rule_tables(game)), named.metadata)
