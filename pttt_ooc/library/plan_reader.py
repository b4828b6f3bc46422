"""Plans of games whose infosets are not listed, read for questions."""

from __future__ import annotations

from pttt_ooc.double_oracle.rule_tables import rule_tables
from pttt_ooc.errors import StrategyFileError
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


def only_plan(named: list[NamedStrategy]) -> NamedStrategy | None:
    """The plan among some strategies; None if there is none.

    Raises
    ------
    StrategyFileError
        If there are others beside it.
    """
    plan = next((one for one in named if one.kind == "plan"), None)
    other = next((one for one in named if plan and (one.kind, one.path) != (plan.kind, plan.path)), None)
    if plan and other:
        raise StrategyFileError(
            f"{plan.name} is a plan of {plan.game} without a list of its infosets, and cannot be looked at together "
            f"with {other.name}; name it alone."
        )
    return plan
