"""The process that prepares a profile, or finds the mistakes of a strategy or the differences of two.

It prints its progress as lines of JSON on standard output.
"""

from __future__ import annotations

import json
import logging
import os
import resource
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, redirect_stdout
from dataclasses import asdict
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from pttt_ooc.cfr.sweep.engine import Engine
from pttt_ooc.config import MEMORY_MB
from pttt_ooc.disk.files import atomic_write_text
from pttt_ooc.disk.memory import virtual_array
from pttt_ooc.disk.permissions import keep_private
from pttt_ooc.disk.resources import cores, small_threads
from pttt_ooc.disk.stop_signals import watch_parent
from pttt_ooc.errors import PtttError
from pttt_ooc.games.structure.strategy import Strategy
from pttt_ooc.library.api.strategy_names import NamedStrategy, named_strategy
from pttt_ooc.library.api.strategy_reader import common_symmetry, load_strategy, reading_needs
from pttt_ooc.library.questions.losses import loss_arrays
from pttt_ooc.library.questions.mistakes import find_differences, find_mistakes
from pttt_ooc.library.questions.profile import PreparedProfile, best_response_of, size_on_disk
from pttt_ooc.pipeline.stages.engines import arrays_for, open_engine
from pttt_ooc.pipeline.stages.preparation import prepare_index
from pttt_ooc.site.explore.profile_cache import is_whole, make_space, mark_whole
from pttt_ooc.site.service.logs import lines_logged, start_logging

Tree = TypeVar("Tree")
Names = list[tuple[str, str | None]]
"""Strategies by their names, each with the file that gives the order of its rows, if any."""

log = logging.getLogger("pttt.explore.preparer")
_NICE = 10  # pages come first
_TOP = 50  # infosets


def prepare(
    place: Path,
    game: str,
    indices: Path,
    names: Names,
    budget: int,
    base: str | None = None,
    best: Sequence[int] = (),
) -> None:
    """Prepare the profile of two strategies at `place`, and delete older profiles beyond the budget of bytes on disk.

    Parameters
    ----------
    best
        The players whose strategies are replaced by best responses.
    base
        The place of the profile of the strategies themselves, from which best responses come.

    Raises
    ------
    PtttError
        If a strategy cannot be read, or the profile cannot be written or is larger than the budget.
    """
    named = _named_strategies(names, (0, 1))
    with _engine(game, indices, named) as (engine, directory):
        # Best responses are arrays, too, within the same budget of memory as the strategies.
        replies = tuple(
            virtual_array(i.sequences if player in best else 0, np.float32)
            for player, i in enumerate(engine.index.players)
        )
        [first, second], arrays = _read(named, engine, indices, replies)

        def profile_at(where: Path) -> PreparedProfile:
            # Space is made before anything is written; the mark comes last, as it says that the profile is whole.
            needed = 0 if is_whole(where) else size_on_disk((first, second), engine.index)
            make_space(where.parent, budget, needed, where.name)
            profile = PreparedProfile.prepare(first, second, engine, where, MEMORY_MB)
            assert profile.directory is not None
            mark_whole(where, profile.directory, directory, engine.index.symmetry)
            return profile

        # Best responses come from the profile of the strategies themselves, which is prepared first; then they take
        # their places in the pair.
        if base is not None:
            tell("the best response", 0.3)
            followed = profile_at(Path(base))
            first, second = (
                best_response_of(followed, player, arrays[player]) if player in best else strategy
                for player, strategy in enumerate((first, second))
            )
        tell("values of all infosets", 0.6 if best else 0.3)
        profile_at(place)
    make_space(place.parent, budget, 0, place.name)  # others may have been prepared meanwhile


def search(place: Path, game: str, indices: Path, names: Names, player: int, game_value: list[float]) -> None:
    """Find where a strategy of `player` loses against a solution, and write it to the file `place`.

    Raises
    ------
    PtttError
        If a strategy cannot be read, or the file cannot be written.
    """
    named = _named_strategies(names, (player, 1 - player))
    with _engine(game, indices, named) as (engine, _):
        [strategy, equilibrium], arrays = _read(named, engine, indices, loss_arrays(engine.index))
        tell("losses at all infosets", 0.3)
        value = (game_value[0], game_value[1])
        mistakes = find_mistakes(strategy, equilibrium, engine, value, _TOP, arrays)
    atomic_write_text(place, json.dumps(mistakes.as_record()))


def compare(place: Path, game: str, indices: Path, names: Names, player: int) -> None:
    """Find where two strategies of `player` differ in value against an opponent; errors as for :func:`search`."""
    named = _named_strategies(names, (player, player, 1 - player))
    with _engine(game, indices, named) as (engine, _):
        [a, b, opponent], arrays = _read(named, engine, indices, loss_arrays(engine.index))
        tell("differences at all infosets", 0.3)
        differences = find_differences(a, b, opponent, engine, _TOP, arrays)
    atomic_write_text(place, json.dumps(asdict(differences)))


def _named_strategies(names: Names, players: Sequence[int]) -> list[NamedStrategy]:
    return [
        named_strategy(name, player, None if infosets is None else Path(infosets))
        for (name, infosets), player in zip(names, players, strict=True)
    ]


@contextmanager
def _engine(game: str, indices: Path, named: list[NamedStrategy]) -> Iterator[tuple[Engine, Path]]:
    """An engine for strategies, and the directory of its index, which is built if it is missing."""
    tell("the index of the game", 0.02)
    symmetry = common_symmetry(named)
    directory = prepare_index(indices, game, symmetry)
    with open_engine(directory, game, symmetry, np.float64, cores()) as engine:
        yield engine, directory


def _read(named: list[NamedStrategy], engine: Engine, indices: Path, more: Tree) -> tuple[list[Strategy], Tree]:
    """Read strategies, and allocate `more` arrays for the work on them, within the budget of memory."""
    tell("reading the strategies", 0.1)
    reading = reading_needs(named, engine.index, indices)
    arrays, more = arrays_for(engine, "the work", reading.fixed, (reading.arrays, more), MEMORY_MB, indices)
    return [load_strategy(one, engine.index, indices, own) for one, own in zip(named, arrays, strict=True)], more


_WORK: dict[str, Callable[..., None]] = {"profile": prepare, "mistakes": search, "differences": compare}


def tell(step: str, share: float) -> None:
    """Print the progress."""
    _say({"step": step, "share": share})


def _say(message: dict[str, Any]) -> None:
    assert sys.__stdout__ is not None
    print(json.dumps(message), file=sys.__stdout__, flush=True)


def main() -> None:
    """Do the work that ASKED describes in JSON, and write PLACE; the parent holds the other end of stdin."""
    watch_parent()
    os.nice(_NICE)
    small_threads()
    keep_private()
    hard = resource.getrlimit(resource.RLIMIT_DATA)[1]
    resource.setrlimit(resource.RLIMIT_DATA, (hard, hard))  # not the answerer's: the work has a budget of its own
    start_logging("preparer")
    with lines_logged(log), redirect_stdout(sys.stderr):  # what is meant for a terminal
        _main()


def _main() -> None:
    place, order = Path(sys.argv[1]), json.loads(sys.argv[2])
    try:
        _WORK[order.pop("what")](place, order.pop("game"), Path(order.pop("indices")), **order)
    except PtttError as error:
        _say({"failed": str(error)})
        sys.exit(1)
    _say({"done": True})


if __name__ == "__main__":
    main()
