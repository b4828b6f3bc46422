"""The process that prepares one profile.

It says how far it is in lines of JSON on standard output.
"""

from __future__ import annotations

import json
import logging
import os
import sys
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

import numpy as np

from pttt_ooc.aliases import Symmetry
from pttt_ooc.disk.lives import watch_parent
from pttt_ooc.disk.resources import cores, small_threads
from pttt_ooc.errors import PtttError
from pttt_ooc.explore.profiles import mark_whole
from pttt_ooc.grader.rights import keep_private
from pttt_ooc.library.given import Given, given_strategy
from pttt_ooc.library.inputs import load_strategy
from pttt_ooc.questions.profile import Profile
from pttt_ooc.rules.catalogue import named_game
from pttt_ooc.stages.engines import open_engine
from pttt_ooc.stages.prepare import prepared
from pttt_ooc.web.logs import lines_logged, start_logging

log = logging.getLogger("pttt.explore.preparer")
_NICE = 10  # pages come first
_MEMORY_MB = 512


def prepare(place: Path, game: str, indices: Path, names: list[str]) -> None:
    """Prepare the profile of two strategies at `place`.

    Raises
    ------
    PtttError
        If a strategy cannot be read, or the profile cannot be written.
    """
    given = [given_strategy(name, player) for player, name in enumerate(names)]
    symmetry = common_symmetry(game, given)
    tell("the index of the game", 0.02)
    directory = prepared(indices, game, symmetry)
    with open_engine(directory, game, symmetry, np.float64, cores()) as engine:
        tell("reading the strategies", 0.1)
        first, second = (load_strategy(one, engine.index, indices) for one in given)
        tell("values of all infosets", 0.3)
        profile = Profile.prepare(first, second, engine, place, _MEMORY_MB)
        assert profile.directory is not None
        mark_whole(place, profile.directory, directory, symmetry)


def common_symmetry(game: str, given: list[Given]) -> Symmetry:
    """The widest symmetry that all strategies are known to have."""
    symmetric = all(one.kind == "uniform" or one.said.get("symmetry") == "full" for one in given)
    return "full" if symmetric and len(named_game(game).symmetries) > 1 else "none"


def tell(step: str, share: float) -> None:
    """Say how far the work is."""
    _say({"step": step, "share": share})


def _say(message: dict[str, Any]) -> None:
    assert sys.__stdout__ is not None
    print(json.dumps(message), file=sys.__stdout__, flush=True)


def main() -> None:
    """Prepare the profile at PLACE as ASKED says, in JSON; the parent holds the other end of stdin."""
    watch_parent()
    os.nice(_NICE)
    small_threads()
    keep_private()
    start_logging("preparer")
    with lines_logged(log), redirect_stdout(sys.stderr):  # what is meant for a terminal
        _main()


def _main() -> None:
    place, asked = Path(sys.argv[1]), json.loads(sys.argv[2])
    try:
        prepare(place, asked["game"], Path(asked["indices"]), asked["names"])
    except PtttError as error:
        _say({"failed": str(error)})
        sys.exit(1)
    _say({"done": True})


if __name__ == "__main__":
    main()
