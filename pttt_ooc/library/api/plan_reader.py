"""Plans of games whose infosets are not listed, read for questions."""

from __future__ import annotations

from pttt_ooc.exact.double_oracle.rule_tables import rule_tables
from pttt_ooc.games.rules.catalogue import named_game
from pttt_ooc.library.api.strategy_names import NamedStrategy
from pttt_ooc.library.questions.plan_pair import PlanPair
from pttt_ooc.pipeline.files.equilibrium import read_plans


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
