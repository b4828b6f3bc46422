"""The tournament as jobs of the workflow: the draw, the pools of each stage, one match at a time, the report.

The Snakefile imports this module, so it imports nothing that takes long.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from pttt_ooc.disk.files import atomic_write_text, make_directory
from pttt_ooc.other_games.extreme.cores import free_cores
from pttt_ooc.other_games.extreme.settings import ExtremeConfig
from pttt_ooc.other_games.extreme.walls import ExtremeError

PAGE = "report.html"
TEMPLATE = "extreme_report.html.j2"


def directory_of(config: ExtremeConfig) -> Path:
    """The directory of the results."""
    return Path("data/extreme/runs", config.run)


def bots_of(config: ExtremeConfig) -> list[str]:
    """The teams' files."""
    return sorted(map(str, Path(config.bots).glob("*.py")))


def draw(config: ExtremeConfig, directory: Path) -> None:
    """Make the tournament, or check that the existing one is the same; write ``draw.json``.

    Raises
    ------
    PtttError
        If there are no bots or too few, or bots cannot be run on this machine, or another tournament is there.
    """
    from pttt_ooc.other_games.extreme.match import check_walls
    from pttt_ooc.other_games.extreme.tournament import entries_of, settle
    from pttt_ooc.other_games.extreme.tournament_record import Record

    files = bots_of(config)
    if not files:
        raise ExtremeError(f"{config.bots} holds no bots: name a directory with files like team39.py as extreme.bots.")
    if config.sandbox:
        check_walls()
    make_directory(directory)
    try:
        settle(directory, entries_of(map(Path, files), config.conditions, directory), config.tournament)
    except ExtremeError as error:
        raise ExtremeError(str(error).replace("directory with --output", "extreme.run")) from error
    lots = Record(directory).lots
    atomic_write_text(directory / "draw.json", json.dumps(sorted(lots, key=lots.__getitem__)) + "\n")


def write_pools(directory: Path, stage: str, file: Path) -> None:
    """Write the names of the matches of a stage, whose predecessors have been played."""
    from pttt_ooc.other_games.extreme.tournament_record import Record

    state = Record(directory).state()
    names = [one.pairing.name for one in state.played if one.pairing.stage == stage]
    names += [pairing.name for pairing in state.waiting if pairing.stage == stage]
    if not names:
        raise ExtremeError(f"The stages before the {stage} in {directory} have not been played.")
    atomic_write_text(file, json.dumps(sorted(names)) + "\n")


def matches_of(directory: Path, file: str) -> list[str]:
    """The files of the matches of a stage, from the file of `write_pools`."""
    return [str(directory / "matches" / f"{name}.json") for name in json.loads(Path(file).read_text())]


def matches_dealt(directory: Path, pools: Any, stages: Iterable[str]) -> list[str]:
    """The files of the matches of stages, once it is known who plays in them.

    Parameters
    ----------
    directory
        Directory of the tournament.
    pools
        Snakemake's checkpoint that deals the pools.  Before that, it makes Snakemake evaluate this again later.
    stages
        Names of the stages.
    """
    return [file for stage in stages for file in matches_of(directory, pools.get(stage=stage).output[0])]


def stale_reason(directory: Path) -> str:
    """Why the report must be written again; empty if it need not.  Snakemake checks only the last products."""
    dealt = [match for file in directory.glob("stages/*.json") for match in matches_of(directory, str(file))]
    gone = not all(Path(match).exists() for match in dealt)
    return "tells of matches that are gone" if gone and (directory / PAGE).exists() else ""


def play(directory: Path, name: str) -> None:
    """Play one match, on a core of its own.

    Raises
    ------
    PtttError
        If bots cannot be run on this machine.
    """
    from pttt_ooc.other_games.extreme.tournament import Player
    from pttt_ooc.other_games.extreme.tournament_record import Record

    record = Record(directory)
    pairing = next((pairing for pairing in record.state().waiting if pairing.name == name), None)
    if pairing is None:
        raise ExtremeError(f"The match {name} cannot be played now in {directory}.")
    Player(record).play(pairing, free_cores())


def report(directory: Path) -> None:
    """Write standings, marks and the report of a tournament that is over."""
    from pttt_ooc.other_games.extreme.tournament import write_standings
    from pttt_ooc.other_games.extreme.tournament_record import Record, marks_rows
    from pttt_ooc.pipeline.show.pages import render_page

    record = Record(directory)
    tables = write_standings(record)
    context = {
        "record": record,
        "stages": [(stage, [table for table in tables if table.stage == stage.name]) for stage in record.stages],
        "marks": marks_rows(record, tables),
        "played": [(one, asdict(one.pairing)) for one in record.state().played],
        "winners": [record.teams[row.team].name for row in tables[-1].rows if row.qualified],
    }
    atomic_write_text(directory / PAGE, render_page(TEMPLATE, "other_games.extreme", **context))
