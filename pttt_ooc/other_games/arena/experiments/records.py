"""Compact records of experiments, round robins and trainings: a line for each match or training.

A line has the settings, the results, and their provenance: the command, the version and a digest of the games.  The
tables of the documentation are made from these files and from the configurations alone.
"""

from __future__ import annotations

import hashlib
import json
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

from pttt_ooc.disk.files import atomic_write_text
from pttt_ooc.imports import PACKAGE
from pttt_ooc.other_games.arena.experiments import experiment as experiments
from pttt_ooc.other_games.arena.experiments import round_robin, trainings
from pttt_ooc.other_games.arena.games.base import ArenaError
from pttt_ooc.other_games.arena.matches import log
from pttt_ooc.other_games.arena.matches.settings import Match
from pttt_ooc.other_games.arena.matches.statistics import Rate, pairs_of, rate_of
from pttt_ooc.other_games.arena.settings import Experiment, RoundRobin, Trainings

FEW = 4
"""Games of a match that have a digest of their own, so that a short check can play them again."""


def of_results(file: Path, settings: Mapping[str, experiments.Settings], directory: Path) -> list[dict[str, Any]]:
    """The lines for the results in a directory.

    Parameters
    ----------
    file
        The configuration, as its command names it.
    directory
        The directory of the results, as ``pttt lab experiment`` writes them.

    Raises
    ------
    ArenaError
        A match or a training is missing or incomplete.
    """
    found = []
    for name, one in settings.items():
        source = {"command": f"pttt lab experiment {file.as_posix()} {name}", "version": _version()}
        if isinstance(one, Trainings):
            rows = _read(directory / name / trainings.RESULT)["trainings"]
            found += [{"name": name, "training": trainings.decisive(one), **row, **source} for row in rows]
            continue
        for part, match in matches(one).items():
            found.append({"name": name, "part": part, **_match(match, directory / name / part, one), **source})
    return found


def matches(one: Experiment | RoundRobin) -> dict[str, Match]:
    """The matches of an experiment or a round robin, by the names of their folders."""
    if isinstance(one, Experiment):
        return experiments.matches(one)
    return {f"{first}-{second}": match for (first, second), match in round_robin.matches(one).items()}


def _version() -> str:
    """The package's version, and the commit if this is a checkout."""
    command = ["git", "-C", str(PACKAGE), "describe", "--always", "--dirty", "--exclude=*"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except OSError:
        return version("pttt-ooc")
    commit = done.stdout.strip() if done.returncode == 0 else ""
    return f"{version('pttt-ooc')}+{commit}" if commit else version("pttt-ooc")


def _read(file: Path) -> dict[str, Any]:
    if not file.exists():
        raise ArenaError(f"{file} is missing: pttt lab experiment makes it.")
    found: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    return found


def _match(match: Match, place: Path, one: Experiment | RoundRobin) -> dict[str, Any]:
    games = sorted(log.read_lines(place / log.GAMES), key=lambda game: int(game["number"]))[: match.games]
    if len(games) < match.games:
        raise ArenaError(f"{place} has {len(games)} of {match.games} games: pttt lab experiment plays the others.")
    told: dict[str, Any] = {"match": match.to_json(), **counts(rate_of(games))}
    told["pairs"] = pairs_of(games) if match.start == "both" else None
    first = experiments.first_player(games)
    told["first_player"] = [first.wins, first.draws, first.losses]
    if isinstance(one, Experiment):
        effort = {row["number"]: row for row in log.read_lines(place / log.EFFORT)}
        costs = experiments.efforts(games, effort, match.opening)
        for agent in (0, 1):
            told[f"mean_of_agent_{agent}"] = _round_values(costs[f"mean_of_agent_{agent}"])
        if one.test == "none" and one.values is None:
            told["turns_of_agent_0"] = _round_values(costs["turns_of_agent_0"])
    told["forfeits"] = sum("forfeit" in game for game in games)
    return told | {"games_digest": digest(games), "first_games_digest": digest(games[:FEW])}


def counts(rate: Rate) -> dict[str, int]:
    """Wins, draws and losses of the first agent."""
    return {"wins": rate.wins, "draws": rate.draws, "losses": rate.losses}


def _round_values(values: Any) -> Any:
    if isinstance(values, Mapping):
        return {key: _round_values(value) for key, value in values.items()}
    if isinstance(values, list):
        return [_round_values(value) for value in values]
    return float(f"{values:.4g}")


def digest(games: Iterable[Mapping[str, Any]]) -> str:
    """A digest of who starts, the moves and the winners of games."""
    text = json.dumps([[game["number"], game["starter"], game["moves"], game["winner"]] for game in games])
    return hashlib.blake2b(text.encode(), digest_size=8).hexdigest()


def write(file: Path, lines: Sequence[Mapping[str, Any]]) -> None:
    """Write lines; lines with other names stay in the file."""
    names = {line["name"] for line in lines}
    kept = [line for line in read(file) if line["name"] not in names] if file.exists() else []
    file.parent.mkdir(parents=True, exist_ok=True)
    atomic_write_text(file, "".join(json.dumps(line, separators=(",", ":")) + "\n" for line in [*kept, *lines]))


def read(file: Path) -> list[dict[str, Any]]:
    """All lines of a file.

    Raises
    ------
    ArenaError
        The file is missing, or a line is damaged.
    """
    if not file.exists():
        raise ArenaError(f"There are no records in {file}: pttt lab record writes them.")
    found = []
    for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), start=1):
        try:
            found.append(json.loads(line))
        except ValueError:
            raise ArenaError(f"Line {number} of {file} is damaged: write it again with pttt lab record.") from None
    return found


def results(settings: Mapping[str, experiments.Settings], lines: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Results as ``pttt lab experiment`` gives them, from a configuration and its records, by their names.

    Raises
    ------
    ArenaError
        A record is missing, or was made with other settings than those of the configuration.
    """
    found: dict[str, Any] = {}
    for name, one in settings.items():
        there = [line for line in lines if line["name"] == name]
        told: dict[str, Any] = {"name": name, **one.model_dump(mode="json")}
        if isinstance(one, Trainings):
            wanted: list[Any] = [trainings.decisive(one)] * one.seeds
            _same(name, wanted, [line["training"] for line in there])
            found[name] = told | {"trainings": there}
            continue
        played = matches(one)
        by_part = {line["part"]: line for line in there}
        _same(name, [match.to_json() for match in played.values()], [by_part.get(p, {}).get("match") for p in played])
        if isinstance(one, RoundRobin):
            rates = {
                numbers: Rate(line["wins"], line["draws"], line["losses"])
                for numbers, line in zip(round_robin.matches(one), (by_part[part] for part in played), strict=True)
            }
            found[name] = round_robin.standings(name, one, rates)
            continue
        parts = [{"value": part, "agents": list(match.agents)} | dict(by_part[part]) for part, match in played.items()]
        found[name] = told | {"matches": parts}
    return found


def _same(name: str, wanted: Sequence[Any], there: Sequence[Any]) -> None:
    if list(wanted) != list(there):
        raise ArenaError(
            f"The records of {name} are not those of the configuration: run pttt lab experiment and "
            "pttt lab record again."
        )
