"""Experiments: matches that a configuration names, and their results."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable
from itertools import islice
from pathlib import Path
from typing import Any

from pttt_ooc.config import check_section, read_yaml
from pttt_ooc.disk.files import atomic_write_text
from pttt_ooc.errors import did_you_mean
from pttt_ooc.other_games.arena.games.base import ArenaError
from pttt_ooc.other_games.arena.matches import log
from pttt_ooc.other_games.arena.matches.runner import run
from pttt_ooc.other_games.arena.matches.settings import Match
from pttt_ooc.other_games.arena.matches.statistics import Rate, pairs_of, rate_of
from pttt_ooc.other_games.arena.settings import ArenaConfig, Experiment, RoundRobin, Trainings

RESULT = "result.json"

Settings = Experiment | RoundRobin | Trainings


def read(file: Path) -> dict[str, Settings]:
    """The experiments, round robins and trainings of a configuration file, from its section ``arena``.

    Raises
    ------
    ConfigError
        The file or the section is refused.
    ArenaError
        The file has neither experiments nor trainings.
    """
    content = read_yaml(file) or {}
    experiments = check_section(ArenaConfig, content.get("arena", {}), f"{file}, section arena").all
    if not experiments:
        raise ArenaError(f"{file} has no experiments: they are in its section arena, under the key experiments.")
    return experiments


def choose_experiments(experiments: dict[str, Settings], names: list[str]) -> dict[str, Settings]:
    """Experiments by their names; all if none is named.

    Raises
    ------
    ArenaError
        There is no experiment with a given name.
    """
    for name in names:
        if name not in experiments:
            known = ", ".join(experiments)
            raise ArenaError(f"There is no experiment '{name}'{did_you_mean(name, experiments)}: choose from {known}.")
    return {name: experiments[name] for name in names or experiments}


def matches(experiment: Experiment) -> dict[str, Match]:
    """The matches of an experiment, by the names of their directories."""
    texts = [""] if experiment.values is None else [f"{value:g}" for value in experiment.values]
    return {
        text or "match": Match(
            experiment.game,
            (experiment.agents[0].replace("{}", text), experiment.agents[1].replace("{}", text)),
            experiment.games,
            experiment.seed,
            experiment.start,
            experiment.limit,
            opening=experiment.opening,
        )
        for text in texts
    }


def conduct(
    name: str,
    experiment: Experiment,
    directory: Path,
    processes: int,
    tell: Callable[[str], None],
    games_in: Path | None = None,
) -> dict[str, Any]:
    """Play all games of an experiment that have not been played, and write ``result.json``.

    Parameters
    ----------
    directory
        The experiment's directory.
    games_in
        The directory of the matches.  Default: the same.
    """
    found = []
    for part, match in matches(experiment).items():
        place = (games_in or directory) / part
        last = -1

        def progress(games: list[dict[str, Any]], match: Match = match, part: str = part) -> bool:
            nonlocal last
            if (now := 10 * len(games) // match.games) != last:
                last = now
                tell(f"{name} {part}: {len(games)} of {match.games} games, {rate_of(games).rate:.2%}")
            return False

        games = run(match, place, processes, progress)
        effort = {row["number"]: row for row in log.read_lines(place / log.EFFORT)}
        facts = {"value": part, "agents": list(match.agents)} | rate_of(games).to_json()
        facts["pairs"] = pairs_of(games) if match.start == "both" else None
        facts["first_player"] = first_player(games).to_json()
        facts["forfeits"] = sum("forfeit" in game for game in games)
        found.append(facts | efforts(games, effort, match.opening))
    result = {"name": name, **experiment.model_dump(mode="json"), "matches": found}
    atomic_write_text(directory / RESULT, json.dumps(result, indent=1) + "\n")
    return result


def first_player(games: list[dict[str, Any]]) -> Rate:
    """How often the player who moves first wins."""
    won = [2 if game["winner"] == 2 else int(game["winner"] != game["starter"]) for game in games]
    return Rate(won.count(0), won.count(2), won.count(1))


def efforts(games: list[dict[str, Any]], effort: dict[int, dict[str, Any]], opening: int = 0) -> dict[str, Any]:
    """Mean costs of each agent's moves after the opening, over all moves and by the number of the turn."""
    sums: dict[tuple[int, int], list[float]] = defaultdict(lambda: [0.0] * 5)
    for game in games:
        row = effort[game["number"]]
        kinds = zip(row["wall"], row["processor"], row["nodes"], row["depths"], strict=True)
        for turn, took in islice(enumerate(kinds), opening, None):
            mover = game["starter"] ^ (turn % 2)  # in games where the players take turns
            for kind, value in enumerate((1.0, *took)):
                sums[mover, turn][kind] += value
    record: dict[str, Any] = {}
    for agent in (0, 1):
        turns = sorted(turn for mover, turn in sums if mover == agent)
        rows = [sums[agent, turn] for turn in turns]
        counts = sum(row[0] for row in rows) or 1.0
        names = ("milliseconds", "processor_milliseconds", "nodes", "depth")
        scales = (1e3, 1e3, 1.0, 1.0)
        record[f"mean_of_agent_{agent}"] = {
            name: sum(row[kind] for row in rows) * scale / counts
            for kind, (name, scale) in enumerate(zip(names, scales, strict=True), start=1)
        }
        record[f"turns_of_agent_{agent}"] = {
            "turn": turns,
            "moves": [row[0] for row in rows],
            "processor_milliseconds": [row[2] * 1e3 / row[0] for row in rows],
            "nodes": [row[3] / row[0] for row in rows],
        }
    return record
