"""The arena in the workflow: the sources of its results, and the jobs.

The Snakefile imports this module, so it imports nothing that is slow to import.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

from pttt_ooc.imports import PACKAGE, code_digest, dependencies, module_digest
from pttt_ooc.other_games.arena.names import AGENTS, GAMES
from pttt_ooc.other_games.arena.settings import Experiment, RoundRobin, Trainings

CONDUCT = {
    Experiment: "other_games/arena/experiments/experiment",
    RoundRobin: "other_games/arena/experiments/round_robin",
    Trainings: "other_games/arena/experiments/trainings",
}
"""The module that plays or trains each kind."""

PRODUCTS = {Experiment: "result.json", RoundRobin: "standings.json", Trainings: "trainings.json"}
"""The file of each kind's result."""

GAMES_IN = "games"
"""The folder of the matches; each version of an experiment has a folder of its own in it."""

_TOLD = {
    Experiment: ("claim", "theirs", "note", "test", "margin", "games"),
    RoundRobin: ("note", "games"),
    Trainings: ("claim", "theirs", "note", "seeds"),
}
"""Keys on which the games do not depend; the number of games of a match, or of trainings, may grow."""


def product(name: str, settings: Experiment | RoundRobin | Trainings) -> str:
    """The result's file, relative to the directory of the arena's results."""
    return f"{name}/{PRODUCTS[type(settings)]}"


def sources(settings: Experiment | RoundRobin | Trainings) -> str:
    """A digest of all code that plays an experiment or trains: the game, the agents that it names, matches."""
    modules = {CONDUCT[type(settings)]}
    if not isinstance(settings, Trainings):
        modules |= {"other_games/arena/matches/agent_program"}
    modules |= {f"other_games/arena/games/{settings.game.partition(':')[0]}"} & {
        f"other_games/arena/games/{game}" for game in GAMES
    }
    for text in getattr(settings, "agents", ()):
        module = AGENTS.get(text.strip().partition(":")[0], "").rpartition(".")[0].replace(".", "/")
        modules |= {f"other_games/arena/{module}"} if module else set()
    # Agents import the heuristics by the name of the game.
    heuristics = f"other_games/arena/kernels/{settings.game.partition(':')[0]}_values"
    modules |= {heuristics} if (PACKAGE / f"{heuristics}.py").exists() else set()
    return code_digest(set().union(*(dependencies(module) for module in modules)))


def report_sources() -> str:
    """A digest of the report's sources."""
    return module_digest("other_games/arena/experiments/report")


def conduct(name: str, settings: dict[str, Any], digest: str, directory: Path, processes: int) -> None:
    """Play an experiment or a round robin to its end, or train; what the same code has played is kept.

    Parameters
    ----------
    settings
        The settings of the experiment, round robin or trainings, as JSON values.
    digest
        See :func:`sources`.
    directory
        The directory of its results.
    """
    import sys

    from pttt_ooc.other_games.arena.experiments import experiment as experiments
    from pttt_ooc.other_games.arena.experiments import round_robin, trainings

    kinds: dict[Any, Any] = {Experiment: experiments, RoundRobin: round_robin, Trainings: trainings}
    kind = Trainings if "seeds" in settings else Experiment if "claim" in settings else RoundRobin
    played = {key: value for key, value in settings.items() if key not in _TOLD[kind]}
    known = json.dumps({"code": digest, **played}, sort_keys=True)
    games_in = directory / GAMES_IN / hashlib.blake2b(known.encode(), digest_size=6).hexdigest()

    def tell(sentence: str) -> None:
        print(sentence, file=sys.stderr, flush=True)

    kinds[kind].conduct(name, kind(**settings), directory, processes, tell, games_in)
