"""What a worker does: it searches subtrees, and keeps its tables of bounds from one round to the next.

Each thread of a worker has tables of its own, because a search writes to them.
"""

from __future__ import annotations

import sys
import threading
from dataclasses import dataclass
from functools import cache

import numba
import numpy as np

import pttt_ooc
from pttt_ooc.errors import PtttError
from pttt_ooc.exact.double_oracle.lazy_response import Responder, Response, Subtree
from pttt_ooc.exact.double_oracle.memory_budget import RunMemory
from pttt_ooc.exact.double_oracle.response_search import load_kernels
from pttt_ooc.exact.double_oracle.restricted_histories import Plans
from pttt_ooc.exact.double_oracle.rule_tables import RuleTables, rule_tables
from pttt_ooc.games.rules.game import Game
from pttt_ooc.imports import module_digest

_MODULES = ("exact/cluster/subtree_worker", "exact/double_oracle/response_search")


@dataclass(frozen=True)
class RoundPlans:
    """What all workers are given once a round: all that the subtrees of one round depend on.

    Attributes
    ----------
    run, number
        A unique name of the run, and the number of the round.
    game
        The rules.
    plans
        What both players' plans play.
    memory_mb
        Megabytes for a worker's process.
    version
        The version of the program that made this, see :func:`program_version`.
    """

    run: str
    number: int
    game: Game
    plans: Plans
    memory_mb: float
    version: str


class _Desk(threading.local):
    """What a thread keeps: the last run and round, the rules, and both players' responders."""

    run = ""
    number = -1
    rules: RuleTables
    responders: tuple[Responder, Responder] | None = None


_desk = _Desk()


def search_subtrees(given: RoundPlans, subtrees: list[Subtree]) -> list[Response]:
    """Search some subtrees; returns what is found in each.

    Raises
    ------
    PtttError
        If the run is of another version of the program.
    """
    check_version(given.version)
    responders = _facing(given)
    return [responders[subtree.player].search(subtree) for subtree in subtrees]


def get_ready(game: Game, version: str) -> None:
    """Compile before there are tasks: a task that compiles would hold the interpreter's lock for long."""
    check_version(version)
    load_kernels(rule_tables(game))


@cache
def program_version() -> str:
    """The versions of the package, of the code of the search, and of what compiles it; the processor may differ."""
    digest = "".join(module_digest(module)[:6] for module in _MODULES)
    python = ".".join(map(str, sys.version_info[:2]))
    return f"{pttt_ooc.__version__} ({digest}), Python {python}, numba {numba.__version__}, numpy {np.__version__}"


def check_version(version: str) -> None:
    """Raise a PtttError if a run is of another version of the program."""
    if version != program_version():
        raise PtttError(
            f"A worker has another program than this process: version {program_version()} there, {version} here; "
            "install the same on all machines."
        )


def _facing(given: RoundPlans) -> tuple[Responder, Responder]:
    """Responders that face the plans of a round."""
    if _desk.run == given.run and _desk.number == given.number and _desk.responders:
        return _desk.responders
    if _desk.run != given.run or not _desk.responders:
        _desk.rules = rule_tables(given.game)
        _desk.responders = Responder(_desk.rules, 0, 1.0), Responder(_desk.rules, 1, 1.0)
    memory = RunMemory(given.game.name, _desk.rules, given.memory_mb)
    megabytes = memory.for_worker(given.plans) / 2
    for player, responder in enumerate(_desk.responders):
        responder.limit(megabytes)
        responder.face(given.plans[1 - player], given.plans[player])
    _desk.run, _desk.number = given.run, given.number
    return _desk.responders
