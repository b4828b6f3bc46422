"""The strong bot's evaluation of each position of a match, with a budget that is the same on all machines."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from pttt_ooc.disk.files import atomic_write_text, make_directory
from pttt_ooc.other_games.arena.games.base import PLAYER
from pttt_ooc.other_games.arena.research.players.strong import Searcher, chance
from pttt_ooc.other_games.extreme.league import Pairing
from pttt_ooc.other_games.extreme.match_logs import MatchLogs
from pttt_ooc.other_games.extreme.search import ready

NODES = 5000
"""Positions searched for each position of a match."""

TABLE = 1 << 16  # positions remembered


@dataclass(frozen=True)
class Curve:
    """The evaluation of a match.

    Attributes
    ----------
    nodes
        Positions searched for each position.
    chances
        The first player's chance to win in each position, the last one included.
    """

    nodes: int
    chances: list[float]


class Analyst:
    """Evaluates matches with the search of the strong bot."""

    def __init__(self, nodes: int = NODES) -> None:
        self._nodes, self._searcher = nodes, ready(Searcher(TABLE))

    def curve(self, match: dict[str, Any]) -> Curve:
        """The curve of a match, from its file; the same match always has the same curve."""
        searcher = Searcher(TABLE)
        game = searcher.game
        state, chances = game.start(), []
        for move in match["moves"]:
            chances.append(self._chance(searcher, state))
            big, row, column = move["cell"]
            state = game.play(state, 81 * big + 9 * row + column)
        if match["message"] in ("WON", "DRAW"):
            first, second = match["points"]
            chances.append(float(first > second) if first != second else 0.5)
        else:  # a forfeit: the position itself was not over
            chances.append(self._chance(searcher, state))
        return Curve(self._nodes, [round(one, 4) for one in chances])

    def _chance(self, searcher: Searcher, state: Any) -> float:
        searcher.choose(state, 3600.0, nodes=self._nodes)
        found = chance(searcher.value)
        return found if state[PLAYER] == 0 else 1 - found


def write_curve(record: MatchLogs, pairing: Pairing, analyst: Analyst) -> None:
    """Evaluate a match that has been played, and write its curve."""
    found = analyst.curve(record.match(pairing))
    make_directory(record.directory / "curves")
    atomic_write_text(record.curve(pairing), json.dumps({"nodes": found.nodes, "chances": found.chances}) + "\n")


def missing(record: MatchLogs) -> list[Pairing]:
    """The matches that have been played and have no curve."""
    return [played.pairing for played in record.all_played() if not record.curve(played.pairing).exists()]
