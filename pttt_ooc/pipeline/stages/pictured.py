"""Pictures of infosets for reports: from strategies on an index, or from plans with the pure rule beside them."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol

from pttt_ooc.errors import InfosetFileError
from pttt_ooc.exact.double_oracle.complete_strategy import CompleteStrategy
from pttt_ooc.exact.double_oracle.rule_tables import rule_tables
from pttt_ooc.games.rules.game import Game
from pttt_ooc.games.rules.play import attempts_at, first_infoset
from pttt_ooc.games.structure.symmetry import probabilities_at
from pttt_ooc.pipeline.files.equilibrium import read_plans
from pttt_ooc.pipeline.files.infosets import parse_infoset
from pttt_ooc.pipeline.files.solution import Strategies
from pttt_ooc.pipeline.files.structure_store import read_index
from pttt_ooc.pipeline.show.report_page import InfosetPicture
from pttt_ooc.pipeline.stages.directories import INDEX, structure_of


class Pictured(Protocol):
    """Strategies whose infosets can be shown."""

    def picture(self, player: int, text: str) -> InfosetPicture | None:
        """The picture of an infoset; None if the player has no such infoset."""


class ListedPictures:
    """Pictures from strategies on an index, of the run in `directory`."""

    def __init__(self, directory: Path, strategies: Strategies) -> None:
        self._strategies = strategies
        self._whole = read_index(structure_of(directory) / INDEX, strategies[0].index.game.name, "none")

    def picture(self, player: int, text: str) -> InfosetPicture | None:
        """See :class:`Pictured`."""
        try:
            node = parse_infoset(self._whole, player, text)
        except InfosetFileError:
            return None
        found = probabilities_at(self._strategies[player], self._whole, node)
        return InfosetPicture(player, text, [float(p) for p in found])


class PlannedPictures:
    """Pictures from the plans in `store`; the pure rule decides where they do not come."""

    def __init__(self, game: Game, store: Path) -> None:
        rules = rule_tables(game)
        self._game, plans = game, read_plans(store, rules)
        self._strategies = [CompleteStrategy(rules, p, plans[p]) for p in (0, 1)]

    def picture(self, player: int, text: str) -> InfosetPicture | None:
        """See :class:`Pictured`."""
        attempts = attempts_at(self._game, player, text)
        if attempts is None:
            return None
        found = self._strategies[player].probabilities(attempts)
        return InfosetPicture(player, text, [float(p) for p in found])


def openings_of(pictured: Pictured, game: Game) -> list[InfosetPicture]:
    """The picture of each player's first infoset."""
    found = [pictured.picture(player, first_infoset(game, player)) for player in (0, 1)]
    return [one for one in found if one is not None]
