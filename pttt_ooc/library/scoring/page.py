"""The page of a score: both sides, the place on the ladder, and where the agent loses."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pttt_ooc
from pttt_ooc.disk.files import atomic_write_text
from pttt_ooc.games.rules.catalogue import exact_value
from pttt_ooc.games.rules.game import Game
from pttt_ooc.games.rules.play import first_infoset
from pttt_ooc.library.api.strategies import Strategy
from pttt_ooc.library.api.structures import data_directory, engine_of
from pttt_ooc.library.questions.losses import Loss, Losses, loss_arrays
from pttt_ooc.library.questions.mistakes import Mistakes, find_mistakes
from pttt_ooc.library.scoring.ladder import (
    LadderPlace,
    agent_name,
    budget_text,
    mean_exploitability_of,
    place_of,
    rank_rows,
    read_records,
    settings_text,
)
from pttt_ooc.library.scoring.scores import Score
from pttt_ooc.pipeline.show.boards import attempts_sentence
from pttt_ooc.pipeline.show.pages import render_page
from pttt_ooc.pipeline.stages.engines import arrays_for

_LEAST = 5e-7  # openings that lose less are left out: the tables have six decimals


def write_page(
    path: Path,
    names: tuple[str, str],
    found: Score,
    strategies: tuple[Strategy, Strategy],
    opponents: tuple[str, tuple[Strategy, Strategy]] | None,
    memory_mb: float = math.inf,
) -> None:
    """Write the page.

    Parameters
    ----------
    names
        The agents' names, player 0's and player 1's; the page leaves their folders out unless only these differ.
    found, strategies
        From :func:`.scores.score_strategies`.
    opponents
        An equilibrium and its name, which mistakes are measured against; None: the page says how to get one.
    memory_mb
        See :func:`.mistakes.agent_mistakes`.
    """
    game = strategies[0].game
    both = agent_mistakes(found, strategies, opponents[1], memory_mb) if opponents and found.game_value else ()
    place = place_of(found.game, found.mean_exploitability)
    page = render_page(
        "score.html.j2",
        "library.scoring",
        names=_titles(names),
        score=found,
        proven=exact_value(game),
        place=place,
        rungs=rungs_of(found, place),
        sides=[side_of(game, one) for one in both],
        equilibrium=opponents[0] if opponents else None,
        version=pttt_ooc.__version__,
    )
    atomic_write_text(path, page)


def _titles(names: tuple[str, str]) -> list[str]:
    """The names of one or two agents, without their folders unless only these differ."""
    agents = list(dict.fromkeys(names))
    short = [Path(name).name for name in agents]
    return short if len(set(short)) == len(agents) else agents


def rungs_of(found: Score, place: LadderPlace | None) -> list[dict[str, Any]]:
    """The rows of the game's ladder, the least exploitable first, with the agent among them; none without a ladder."""
    groups = rank_rows(read_records(), found.game)
    rows = [
        {
            "agent": agent_name(group[0]),
            "settings": settings_text(group[0]),
            "budget": budget_text(group[0]),
            "mean_exploitability": mean_exploitability_of(group),
            "own": False,
        }
        for group in groups
    ]
    if place is not None:
        own = {"agent": "this agent", "settings": "", "budget": "", "own": True}
        own["mean_exploitability"] = found.mean_exploitability
        rows.insert(place.place - 1, own)
    return rows


def side_of(game: Game, mistakes: Mistakes) -> dict[str, Any]:
    """What the page says about one player's strategy."""
    setup = len(game.setup[mistakes.player])
    root = first_infoset(game, mistakes.player)
    by_opening = [
        (text, attempts_sentence(text, setup) + ", this attempt alone" * (text == root), loss)
        for text, loss in mistakes.own.by_opening.items()
        if loss > _LEAST
    ]
    return {
        "player": mistakes.player,
        "exploitability": mistakes.exploitability,
        "own": mistakes.own.total,
        "openings": mistakes.openings.total,
        "remainder": mistakes.remainder,
        "by_opening": sorted(by_opening, key=lambda one: -one[2]),
        "lists": [
            ("The worst own mistakes", _rows(game, mistakes.own)),
            (
                f"The worst openings: what player {1 - mistakes.player} gains by another attempt",
                _rows(game, mistakes.openings),
            ),
        ],
    }


def _rows(game: Game, part: Losses) -> list[dict[str, Any]]:
    setup = len(game.setup[part.player])
    return [_row(one, setup) for one in part.infosets if one.loss > _LEAST]


def _row(one: Loss, setup: int) -> dict[str, Any]:
    return {
        "infoset": one.infoset,
        "said": attempts_sentence(one.infoset, setup),
        "loss": one.loss,
        "worst": (one.costliest, one.probabilities[one.costliest]),
        "best": (one.best, one.probabilities[one.best]),
    }


# ---------------------------------------------------------------------------------------------
# Where it loses


TOP = 12
"""Infosets that are listed of each kind."""


def agent_mistakes(
    found: Score,
    strategies: tuple[Strategy, Strategy],
    opponents: tuple[Strategy, Strategy],
    memory_mb: float = math.inf,
) -> tuple[Mistakes, Mistakes]:
    """Where an agent loses as player 0 and as player 1; see :mod:`pttt_ooc.library.questions.mistakes`.

    Parameters
    ----------
    found, strategies
        From :func:`.scores.score_strategies`.
    opponents
        An equilibrium: strategies of players 0 and 1.
    memory_mb
        See :func:`.scores.score`.

    Raises
    ------
    ValueError
        If the score has no value of the game.
    MemoryBudgetError
        If the limit is too small.
    """
    if found.game_value is None:
        raise ValueError("the score has no value of the game")
    engine = engine_of(strategies[0].game)
    whole = [one.unfolded for one in opponents]
    held = {"the strategies": sum(one.probabilities.nbytes for one in (*strategies, *whole))}
    arrays = arrays_for(engine, "mistakes", held, loss_arrays(engine.index), memory_mb, data_directory())
    first, second = (
        find_mistakes(strategies[player], whole[1 - player], engine, found.game_value, TOP, arrays) for player in (0, 1)
    )
    return first, second
