"""Everything that there is in a directory of results, as one site: its pages, and the cards of its home."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from pttt_ooc.arena import wing as arena
from pttt_ooc.errors import GameError, PtttError, StoreError, StrategyFileError
from pttt_ooc.extreme import wing as extreme
from pttt_ooc.rules.catalogue import GAMES, described, named_game
from pttt_ooc.service.wing import Card, Pages
from pttt_ooc.show.numbers import decimals, gap
from pttt_ooc.smbc import wing as smbc

FIRST = "pttt-abrupt"
"""The game that is explored if several are solved and none is named."""

ARENA, EXTREME = "arena", "extreme"
"""The folders of the arena's matches and of tournaments, in the directory of results."""


@dataclass(frozen=True)
class Solution:
    """A run of the workflow with exactly evaluated strategies.

    Attributes
    ----------
    directory
        The run's directory.
    value
        The expected payoff of player 0.
    gap
        NashConv of both strategies, from exact best responses.
    """

    game: str
    directory: Path
    value: float
    gap: float


def found_solutions(data: Path) -> tuple[list[Solution], list[str]]:
    """The evaluated solutions below a directory, by game and run; and a sentence for each that is damaged."""
    from pttt_ooc.disk.manifests import read_manifest

    found, damaged = [], []
    for file in sorted([*data.glob("*/*/evaluate.json"), *data.glob("*/*/runs/*/evaluate.json")]):
        try:
            record = read_manifest(file, "evaluate")
            rules = named_game(str(record["game"]))
            numbers = record["solution"]
            found.append(Solution(rules.name, file.parent, float(numbers["value"]), float(numbers["nashconv"])))
        except (StoreError, GameError, KeyError, TypeError, ValueError):
            damaged.append(f"{file.parent.relative_to(data)} cannot be read; pttt fsck says more.")
    return found, damaged


def chosen(solutions: Sequence[Solution], game: str | None, data: Path) -> list[Solution]:
    """The solutions of the game that is explored, the one with the smallest gap first; none if nothing is solved.

    Raises
    ------
    StrategyFileError
        If a game is named that is not solved.
    """
    names = list(dict.fromkeys(one.game for one in solutions))
    if game is not None and game not in names:
        raise StrategyFileError(f"There is no solution of {game} in {data}; name another game, or run make solve.")
    listed = sorted(names, key=lambda name: (name != FIRST, name not in GAMES, name))
    name = game or next(iter(listed), None)
    return sorted((one for one in solutions if one.game == name), key=lambda one: one.gap)


def site_pages(data: Path, game: str | None = None) -> list[Pages]:
    """The pages on everything in a directory, the home first; nothing is computed, and no game is begun.

    Raises
    ------
    PtttError
        If the named game is not solved.
    """
    solutions, damaged = found_solutions(data)
    shown = chosen(solutions, game, data)
    pages: list[Pages] = []
    cards = [
        _phantom(pages, solutions, shown, damaged, data),
        _secret_goals(pages, data),
        _arena(pages, data),
        _extreme(pages, data),
    ]
    told = json.dumps([asdict(card) for card in cards])
    home = Pages(
        name="web",
        what=f"All of {data}",
        title="Tic-tac-toe, computed",
        subtitle=shown[0].game if shown else "",
        parts=("pttt_ooc.web.home:parts", told),
    )
    return [home, *pages]


# ---------------------------------------------------------------------------------------------
# Cards


def _phantom(
    pages: list[Pages], solutions: Sequence[Solution], shown: Sequence[Solution], damaged: Sequence[str], data: Path
) -> Card:
    from pttt_ooc.explore.local_sources import local_pages

    notes = list(damaged)
    if shown:
        try:
            pages.append(local_pages([str(one.directory) for one in shown], shown[0].game, data)[0])
        except PtttError as error:
            notes.append(str(error))
    rows = [
        (f"{described(named_game(one.game))}: {one.directory.relative_to(data)}", decimals(one.value), gap(one.gap))
        for one in solutions
    ]
    if others := sorted({one.game for one in solutions} - {one.game for one in shown}):
        notes.append(f"These pages are on {shown[0].game}; for {', '.join(others)}, start pttt web --game NAME.")
    return Card(
        "Phantom tic-tac-toe",
        "Neither player sees the other’s marks. Play against an exact solution, and see what it does and believes.",
        ("Solution", "Value", "Exact gap"),
        tuple(rows),
        (("/play", "Play"), ("/explore", "Explore")) if pages else (),
        tuple(notes),
        "" if solutions else "make solve",
    )


def _secret_goals(pages: list[Pages], data: Path) -> Card:
    notes: list[str] = []
    rows: list[tuple[str, ...]] = []
    links: tuple[tuple[str, str], ...] = ()
    directory = data / smbc.SOLVED
    if (directory / "solve.json").exists():
        try:
            pages.append(smbc.pages(directory))
            rows, links = [_match_row(directory)], (("/smbc/play", "Play"), ("/smbc/explore", "Explore"))
        except PtttError as error:
            notes.append(str(error))
    return Card(
        "Secret goals",
        "Each round, both players draw a secret goal: win, tie or lose. Play a match against its solution.",
        ("Match", "Value for who begins", "Largest exact gap of a round"),
        tuple(rows),
        links,
        tuple(notes),
        "" if rows else "pttt smbc solve",
    )


def _match_row(directory: Path) -> tuple[str, str, str]:
    from pttt_ooc.smbc.solve import checked_manifest

    record = checked_manifest(directory)
    rounds = record["rounds"]
    largest = max(float(one["exploitability"]) for one in rounds.values())
    return f"to {record['settings']['winning_score']}", decimals(float(rounds["0-0"]["value"])), gap(largest)


def _arena(pages: list[Pages], data: Path) -> Card:
    directory = data / ARENA
    matches = len(list(directory.glob("**/match.json"))) if directory.is_dir() else 0
    pages.append(arena.pages(directory))
    return Card(
        "Ultimate and rows",
        "Both players see everything: Ultimate, k in a row, the board without end, against any of the agents.",
        ("Matches of agents",) if matches else (),
        ((str(matches),),) if matches else (),
        (("/arena/play", "Play"), ("/arena/matches", "Watch"), ("/arena/standings", "Ranking")),
        (),
        "" if matches else "pttt arena match mcts random --output data/arena/first",
    )


def _extreme(pages: list[Pages], data: Path) -> Card:
    notes: list[str] = []
    links: tuple[tuple[str, str], ...] = ()
    places = sorted(file.parent for file in (data / EXTREME).glob("**/tournament.json"))
    if places:
        latest = max(places, key=lambda place: (place / "tournament.json").stat().st_mtime)
        try:
            pages.append(replace(extreme.pages(latest), workers=()))  # positions are evaluated by `pttt extreme serve`
            links = (("/extreme/standings", "Ranking"), ("/extreme/matches", "Watch"))
            notes.append(f"{latest.relative_to(data)} is shown, the latest of {len(places)}.")
        except PtttError as error:
            notes.append(str(error))
    return Card(
        "Extreme",
        "Bots on two boards of boards: a tournament, match by match.",
        (),
        (),
        links,
        tuple(notes),
        "" if places else "pttt extreme tournament DIRECTORY_OF_BOTS",
    )
