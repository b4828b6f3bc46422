"""Round robins: matches of all agents of a list against each other, and ratings from the results."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

from pttt_ooc.disk.files import atomic_write_text
from pttt_ooc.other_games.arena.matches.runner import run
from pttt_ooc.other_games.arena.matches.settings import STANDINGS, Match
from pttt_ooc.other_games.arena.matches.statistics import Rate, rate_of, ratings
from pttt_ooc.other_games.arena.settings import RoundRobin


def conduct(
    name: str,
    robin: RoundRobin,
    directory: Path,
    processes: int,
    tell: Callable[[str], None],
    games_in: Path | None = None,
) -> dict[str, Any]:
    """Play all games of a round robin that have not been played, and write ``standings.json``.

    Parameters
    ----------
    directory
        The round robin's directory; each match has a folder in it, named by the numbers of its agents.
    games_in
        The directory of these folders.  Default: the same.

    Returns
    -------
    The content of the file: the standings, the strongest agent first.  `points` are on the scale of Elo, with mean
    zero, and `error` is half the width of their interval of 95%.
    """
    place, rates = games_in or directory, {}
    for (one, other), match in matches(robin).items():
        rate = rates[one, other] = rate_of(run(match, place / f"{one}-{other}", processes))
        tell(f"{name}: {match.agents[0]} scores {rate.rate:.2%} against {match.agents[1]}")
    record = standings(name, robin, rates, place.relative_to(directory))
    atomic_write_text(directory / STANDINGS, json.dumps(record, indent=1) + "\n")
    return record


def matches(robin: RoundRobin) -> dict[tuple[int, int], Match]:
    """The matches by the numbers of their agents."""
    return {
        (one, other): Match(
            robin.game, (first, second), robin.games, robin.seed, "both", robin.limit, opening=robin.opening
        )
        for (one, first), (other, second) in combinations(enumerate(robin.agents), 2)
    }


def standings(
    name: str, robin: RoundRobin, rates: Mapping[tuple[int, int], Rate], folder: Path = Path()
) -> dict[str, Any]:
    """The standings from the results of all matches; see :func:`conduct`.

    Parameters
    ----------
    folder
        The folder of the matches, as the standings name it.
    """
    scores, played = (np.zeros((len(robin.agents), len(robin.agents))) for _ in range(2))
    for (one, other), rate in rates.items():
        scores[one, other], scores[other, one] = rate.score, rate.games - rate.score
        played[one, other] = played[other, one] = rate.games
    strengths = ratings(scores)
    rows: list[dict[str, Any]] = [
        {
            "agent": text,
            "points": float(strengths.points[own]),
            "error": float(strengths.errors[own]),
            "score": float(scores[own].sum() / played[own].sum()),
            "games": int(played[own].sum()),
            "against": [
                {
                    "agent": other,
                    "match": (folder / f"{min(own, number)}-{max(own, number)}").as_posix(),
                    "score": float(scores[own, number] / played[own, number]),
                }
                for number, other in enumerate(robin.agents)
                if number != own
            ],
        }
        for own, text in enumerate(robin.agents)
    ]
    rows.sort(key=lambda row: -row["points"])
    return {"name": name, **robin.model_dump(mode="json"), "standings": rows}


def table(record: dict[str, Any]) -> str:
    """Standings as a table in Markdown."""
    rows = "".join(
        f"| `{row['agent']}` | {row['points']:+.0f} | {row['points'] - row['error']:+.0f} to "
        f"{row['points'] + row['error']:+.0f} | {row['score']:.1%} | {row['games']:,} |\n"
        for row in record["standings"]
    )
    return f"| agent | rating | interval of 95% | score | games |\n|---|---|---|---|---|\n{rows}"
