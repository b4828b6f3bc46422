"""What some equilibrium plays, where `pttt equilibria` has kept it: beside a strategy's index, or in the data."""

from __future__ import annotations

from pathlib import Path

from pttt_ooc.games.rules.game import Game
from pttt_ooc.library.api.strategy_names import NamedStrategy
from pttt_ooc.pipeline.files.equilibrium import Support, stored_support
from pttt_ooc.pipeline.stages.directories import results_of, structure_of


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
