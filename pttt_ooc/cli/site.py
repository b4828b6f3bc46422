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


def games_of(solutions: Sequence[Solution], game: str | None, data: Path) -> list[list[Solution]]:
    """The solutions of each game, the one with the smallest gap first.

    Parameters
    ----------
    game
        The game that comes first; None: :data:`FIRST`, or else as in the catalogue.

    Raises
    ------
    StrategyFileError
        If a game is named that is not solved.
    """
    names = list(dict.fromkeys(one.game for one in solutions))
    if game is not None and game not in names:
        raise StrategyFileError(f"There is no solution of {game} in {data}; name another game, or run make solve.")
    catalogue = list(GAMES)
    places = {name: catalogue.index(name) if name in GAMES else len(catalogue) for name in names}
    listed = sorted(names, key=lambda name: (name != (game or FIRST), places[name], name))
    return [sorted((one for one in solutions if one.game == name), key=lambda one: one.gap) for name in listed]


def site_pages(data: Path, game: str | None = None) -> list[Pages]:
    """The pages on everything in a directory, the home first; nothing is computed, and no game is begun.

    Raises
    ------
    PtttError
        If the named game is not solved.
    """
    solutions, damaged = found_solutions(data)
    pages: list[Pages] = []
    cards = [
        _phantom(pages, games_of(solutions, game, data), damaged, data),
        _secret_goals(pages, data),
        _arena(pages, data),
        _extreme(pages, data),
    ]
    told = json.dumps([asdict(card) for card in cards])
    home = Pages(
        name="web",
        what=f"All of {data}",
        title="Tic-tac-toe, computed",
        parts=("pttt_ooc.web.home:parts", told),
    )
    return [home, *pages]


# ---------------------------------------------------------------------------------------------
# Cards


def _phantom(pages: list[Pages], games: Sequence[Sequence[Solution]], damaged: Sequence[str], data: Path) -> Card:
    from pttt_ooc.explore.local_sources import local_pages
    from pttt_ooc.explore.wing import several

    notes, found, open_games = list(damaged), [], set()
    for solutions in games:
        game = solutions[0].game
        try:
            found.append(local_pages([str(one.directory) for one in solutions], game, data)[0])
            open_games.add(game)
        except PtttError as error:
            notes.append(str(error))
    if found:
        pages.append(several(found) if len(found) > 1 else found[0])
    listed = [one for solutions in games for one in solutions]
    return Card(
        "Phantom tic-tac-toe",
        "Neither player sees the other’s marks. Play against an exact solution, and see what it does and believes.",
        ("Solution", "Value", "Exact gap"),
        tuple((_name_of(one, data), decimals(one.value), gap(one.gap)) for one in listed),
        (("/play", "Play"), ("/explore", "Explore")) if found else (),
        tuple(notes),
        "" if listed else "make solve",
        tuple(f"/explore?game={one.game}" if one.game in open_games else "" for one in listed) if found else (),
    )


def _name_of(solution: Solution, data: Path) -> str:
    """A solution's name for people."""
    from pttt_ooc.explore.local_sources import label_of

    label = label_of(solution.directory)
    return described(named_game(solution.game)) + (f" ({label})" if label != "Solution" else "")


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
