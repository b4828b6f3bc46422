"""Reading of plans, for questions about games whose infosets are not listed, and of an equilibrium's kept support."""

from __future__ import annotations

from pathlib import Path

from pttt_ooc.exact.double_oracle.rule_tables import rule_tables
from pttt_ooc.games.rules.catalogue import named_game
from pttt_ooc.games.rules.game import Game
from pttt_ooc.library.api.strategy_names import NamedStrategy
from pttt_ooc.library.questions.plan_pair import PlanPair
from pttt_ooc.pipeline.files.equilibrium import Support, read_plans, stored_support
from pttt_ooc.pipeline.stages.directories import results_of, structure_of


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


def kept_support(named: NamedStrategy, game: Game, data: Path) -> Support | None:
    """The support that is kept beside a solution's index, or else in the directory of all games; None if there is none.

    Raises
    ------
    StoreError
        If it is damaged.
    """
    places = [results_of(data, game.name, "full")]
    if named.kind == "solution":
        places.insert(0, structure_of(named.path.parent))
    return next((found for place in places if (found := stored_support(place, game))), None)
