"""A match to 2, solved coarsely once for all tests that use it; the commands."""

import fcntl

import pytest

from pttt_ooc.cli.commands import main
from pttt_ooc.other_games.smbc import solve as solving
from pttt_ooc.other_games.smbc.settings import SolveSettings
from tests.kits.cli_runner import Done

COARSE = {"winning_score": 2, "maximum_subgame_exploitability": 0.02}


def coarse_match(tmp_path_factory, worker_id):
    """The directory of the solution; tests only read it."""
    base = tmp_path_factory.getbasetemp()
    place = (base if worker_id == "master" else base.parent) / "smbc-coarse"
    with open(f"{place}.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (place / solving.MANIFEST).exists():
            solving.solve(SolveSettings(**COARSE), place, 2)
    return place


def run(capsys, *arguments):
    """``pttt smbc ARGUMENTS`` in this process."""
    capsys.readouterr()
    with pytest.raises(SystemExit) as end:
        main(["smbc", *map(str, arguments)])
    return Done(end.value.code or 0, *capsys.readouterr())
