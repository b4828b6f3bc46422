"""The arena in the workflow: the sources of its results, and the jobs.

The Snakefile imports this module, so it imports nothing that is slow to import.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

from pttt_ooc.arena.names import AGENTS, GAMES
from pttt_ooc.arena.settings import Experiment, RoundRobin
from pttt_ooc.imports import PACKAGE, dependencies, module_digest
from pttt_ooc.stages.provenance import code_digest

CONDUCT = {Experiment: "arena/experiments", RoundRobin: "arena/round_robin"}
"""The module that plays each kind."""

PRODUCTS = {Experiment: "result.json", RoundRobin: "standings.json"}
"""The file of each kind's result."""

GAMES_IN = "games"
"""The folder of the matches; each version of an experiment has a folder of its own in it."""

_TOLD = ("claim", "theirs", "note", "test", "games")
"""Keys on which the games do not depend; the number of games may grow."""


def product(name: str, settings: Experiment | RoundRobin) -> str:
    """The result's file, relative to the directory of the arena's results."""
    return f"{name}/{PRODUCTS[type(settings)]}"


def sources(settings: Experiment | RoundRobin) -> str:
    """A digest of all code that plays an experiment: the game, the agents that it names, matches, statistics."""
    modules = {CONDUCT[type(settings)], "arena/matches/agent_program"}
    modules |= {f"arena/games/{settings.game.partition(':')[0]}"} & {f"arena/games/{game}" for game in GAMES}
    for text in settings.agents:
        module = AGENTS.get(text.strip().partition(":")[0], "").partition(".")[0]
        modules |= {f"arena/agents/{module}"} if module else set()
    name = settings.game.partition(":")[0]
    extra = {f"arena/kernels/{name}_values", f"arena/kernels/{name}_learnt"}  # which agents import by these names
    modules |= {module for module in extra if (PACKAGE / f"{module}.py").exists()}
    return code_digest(set().union(*(dependencies(module) for module in modules)))


def report_sources() -> str:
    """A digest of the report's sources."""
    return module_digest("arena/report")


def conduct(name: str, settings: dict[str, Any], digest: str, directory: Path, processes: int) -> None:
    """Play an experiment or a round robin to its end; games that the same code has played are kept.

    Parameters
    ----------
    settings
        Of the experiment or round robin, as JSON values.
    digest
        See :func:`sources`.
    directory
        Of its results.
    """
    import sys

    from pttt_ooc.arena import experiments, round_robin

    played = {key: value for key, value in settings.items() if key not in _TOLD}
    known = json.dumps({"code": digest, **played}, sort_keys=True)
    games_in = directory / GAMES_IN / hashlib.blake2b(known.encode(), digest_size=6).hexdigest()

    def tell(sentence: str) -> None:
        print(sentence, file=sys.stderr, flush=True)

    if "claim" in settings:
        experiments.conduct(name, Experiment(**settings), directory, processes, tell, games_in)
    else:
        round_robin.conduct(name, RoundRobin(**settings), directory, processes, tell, games_in)
