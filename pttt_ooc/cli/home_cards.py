"""The cards of the home of a site: what a directory of results holds now, read from small files, without numerics."""

from __future__ import annotations

import ast
import json
import struct
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote

from pttt_ooc.disk.manifests import read_manifest
from pttt_ooc.disk.numbers import decimals, duration, fraction, gap, join_words, thousands
from pttt_ooc.errors import PtttError
from pttt_ooc.games.rules.catalogue import GAMES, describe_game, exact_value, named_game
from pttt_ooc.other_games.arena import wing as arena
from pttt_ooc.other_games.arena.pages.choices import agent_name, label_of
from pttt_ooc.other_games.extreme import wing as extreme
from pttt_ooc.other_games.smbc import wing as smbc
from pttt_ooc.pipeline.show.miniatures import Miniature, curve, nested_boards, results_bars, shaded_board, values_table
from pttt_ooc.site.service.wing import Card

FIRST = "pttt-abrupt"
"""The game that is explored if several are solved and none is named."""

_SHORT = 8  # characters of a fraction in a card
_LATEST = 4  # matches of agents whose results are drawn
_HEADER = struct.Struct("<6sBBH")  # of an array's file: magic, version, length of the description
_FLOATS = {"<f8": "d", "<f4": "f", "<f2": "e"}
_REPORTS = {
    "*/*/report.html": "Report",
    "*/*/runs/*/report.html": "Report",
    "*/*/measurements.html": "What the run took",
    "sweeps/*/report.html": "Comparison of runs",
    "learners/comparison.html": "Comparison of learners",
    "smbc/report.html": "Report",
    "arena/report.html": "Report",
    "arena/*/report.html": "Report",
    "extreme/runs/*/report.html": "Report",
}
"""Pages that stages write, below the directory, and what each is."""


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
    found, damaged = [], []
    for file in sorted([*data.glob("*/*/evaluate.json"), *data.glob("*/*/runs/*/evaluate.json")]):
        try:
            record = read_manifest(file, "evaluate")
            rules = named_game(str(record["game"]))
            numbers = record["solution"]
            found.append(Solution(rules.name, file.parent, float(numbers["value"]), float(numbers["nashconv"])))
        except (PtttError, KeyError, TypeError, ValueError):
            damaged.append(f"{file.parent.relative_to(data)} cannot be read; pttt lab fsck says more.")
    return found, damaged


def in_order(solutions: Sequence[Solution], first: str = FIRST) -> list[list[Solution]]:
    """The solutions of each game, the one with the smallest gap first; after `first`, games are as in the catalogue."""
    catalogue = list(GAMES)
    names = list(dict.fromkeys(one.game for one in solutions))
    places = {name: catalogue.index(name) if name in GAMES else len(catalogue) for name in names}
    ordered = sorted(names, key=lambda name: (name != first, places[name], name))
    return [sorted((one for one in solutions if one.game == name), key=lambda one: one.gap) for name in ordered]


def tournaments(data: Path) -> list[Path]:
    """The directories of tournaments, the latest first."""
    files = [*(data / extreme.WING.name).glob("tournament.json")]
    for depth in ("*", "*/*", "*/*/*"):
        files += (data / extreme.WING.name).glob(f"{depth}/tournament.json")
    return [file.parent for file in sorted(files, key=lambda file: (-file.stat().st_mtime, str(file)))]


@dataclass(frozen=True)
class Opened:
    """What a running site has pages for, which is decided at its start.

    Attributes
    ----------
    first
        The game that comes first.
    games
        The games that can be explored and played.
    match
        Whether there are pages on the match with secret goals.
    tournament
        The directory of the tournament that is shown; empty: none.
    notes
        What could not be opened, by card.
    """

    first: str = FIRST
    games: tuple[str, ...] = ()
    match: bool = False
    tournament: str = ""
    notes: Mapping[str, Sequence[str]] = field(default_factory=dict)


def cards(data: Path, opened: Opened) -> list[Card]:
    """All cards; only small files are read, and nothing is written."""
    found = [_phantom(data, opened), _secret_goals(data, opened), _arena(data), _extreme(data, opened)]
    return [*found, *filter(None, (_reports(data), _runs(data)))]


def _notes(opened: Opened, card: str, *more: str) -> tuple[str, ...]:
    return (*more, *opened.notes.get(card, ()))


# ---------------------------------------------------------------------------------------------
# Solutions


def _phantom(data: Path, opened: Opened) -> Card:
    solutions, damaged = found_solutions(data)
    found = [one for group in in_order(solutions, opened.first) for one in group]
    links = (("/play", "Play"), ("/explore", "Explore")) if opened.games else ()
    rows = tuple((_name_of(one), _value_of(one), gap(one.gap)) for one in found)
    targets = tuple(f"/explore?game={one.game}" if one.game in opened.games else "" for one in found)
    return Card(
        "Phantom tic-tac-toe",
        "Neither player sees the other’s marks. Play against an exact solution, and see what it does and believes.",
        ("Solution", "Value", "Exact gap"),
        rows,
        links,
        _notes(opened, "phantom", *damaged),
        "" if rows else "make solve",
        targets if opened.games else (),
        next(filter(None, map(_opening, found)), None),
    )


def _name_of(solution: Solution) -> str:
    """A solution's name for people."""
    directory, name = solution.directory, describe_game(named_game(solution.game))
    if directory.parent.name == "runs":
        return f"{name} (run {directory.name})"
    return name + {"full": "", "none": " (without symmetry)"}.get(directory.name, f" ({directory.name})")


def _value_of(solution: Solution) -> str:
    """The proven value as a fraction, if there is one and it is short; else what the solution gets."""
    proven = exact_value(named_game(solution.game))
    if proven is None or len(str(proven)) > _SHORT:
        return decimals(solution.value if proven is None else float(proven))
    return fraction(proven, 5)


def _opening(solution: Solution) -> Miniature | None:
    """How player 0 begins, from the first row of the exported strategy; None if it is not exported."""
    game = named_game(solution.game)
    row = first_row(solution.directory / "pttt_pl0.zip")
    if row is None or len(row) != game.squares:
        return None
    return shaded_board(game.rows, game.columns, row, f"How the first player begins, {describe_game(game)}")


def first_row(file: Path) -> tuple[float, ...] | None:
    """The first row of a tensor in a zipped ``.npy`` file, without reading more of it; None if it cannot be read."""
    try:
        with zipfile.ZipFile(file) as packed, packed.open(packed.namelist()[0]) as content:
            magic, major, _, length = _HEADER.unpack(content.read(_HEADER.size))
            if magic != b"\x93NUMPY" or major != 1:
                return None
            told = ast.literal_eval(content.read(length).decode("ascii"))
            rows, columns = told["shape"]
            layout = struct.Struct(f"<{columns}{_FLOATS[told['descr']]}")
            return layout.unpack(content.read(layout.size)) if rows and not told["fortran_order"] else None
    except (OSError, zipfile.BadZipFile, IndexError, KeyError, ValueError, TypeError, SyntaxError, struct.error):
        return None


# ---------------------------------------------------------------------------------------------
# Secret goals


def _secret_goals(data: Path, opened: Opened) -> Card:
    rows: tuple[tuple[str, ...], ...] = ()
    picture = None
    if opened.match:
        record = read_manifest(data / smbc.SOLVED / "solve.json", "solve")
        goal, rounds = int(record["settings"]["winning_score"]), record["rounds"]
        largest = max(float(one["exploitability"]) for one in rounds.values())
        rows = ((f"First to\u00a0{goal}", decimals(float(rounds["0-0"]["value"])), gap(largest)),)
        values = [[float(rounds[f"{a}-{b}"]["value"]) for b in range(goal)] for a in range(goal)]
        label = f"The value of the match at each score up to {goal - 1} : {goal - 1}, for the player who begins a round"
        picture = values_table(values, label)
    return Card(
        "Secret goals",
        "Each round, both players draw a secret goal: win, tie or lose. Play a match against its solution.",
        ("Match", "Value", "Largest gap of a round"),
        rows,
        (("/smbc/play", "Play"), ("/smbc/explore", "Explore")) if rows else (),
        _notes(opened, "secret goals"),
        "" if rows else "pttt smbc solve",
        ("/smbc/explore",) if rows else (),
        picture,
    )


# ---------------------------------------------------------------------------------------------
# Matches


def _arena(data: Path) -> Card:
    directory = data / arena.WING.name
    found = list(_matches(directory))
    shown = sorted(found, key=lambda place: -(place / "games.jsonl").stat().st_mtime)[:_LATEST]
    results = {place: one for place in shown if (one := _result(place)) is not None}
    told = "; ".join(f"{name}: won {won}, drew {drawn}, lost {lost}" for name, (won, drawn, lost) in results.values())
    label = f"The latest matches, from the first agent’s side. {told}"
    return Card(
        "Ultimate and rows",
        "Both players see everything: Ultimate, k in a row, the board without end, against any of the agents.",
        ("Latest matches", "Won, drawn, lost") if results else (),
        tuple((name, join_words(counts)) for name, counts in results.values()),
        (("/arena/play", "Play"), ("/arena/matches", "Watch"), ("/arena/standings", "Ranking")),
        (f"{thousands(len(found))} matches of agents are here.",) if found else (),
        "" if found else "pttt arena match mcts random --output data/arena/first",
        tuple(f"/arena/matches/one?name={quote(place.relative_to(directory).as_posix())}" for place in results),
        results_bars([counts for _, counts in results.values()], label) if results else None,
    )


def _matches(directory: Path) -> Iterator[Path]:
    """The directories of matches that have begun."""
    for depth in ("*", "*/*", "*/*/*", "*/*/*/*"):
        yield from (file.parent for file in directory.glob(f"{depth}/games.jsonl"))


def _result(place: Path) -> tuple[str, tuple[int, int, int]] | None:
    """The game and agents of a match, and the games that the first agent won, drew and lost; None if unreadable."""
    try:
        settings = json.loads((place / "match.json").read_text(encoding="utf-8"))
        one, other = (agent_name(str(agent).partition(":")[0]) for agent in settings["agents"])
        name = f"{label_of(str(settings['game']))}: {one} – {other}"
        winners = [json.loads(line)["winner"] for line in (place / "games.jsonl").read_text("utf-8").splitlines()]
    except (OSError, ValueError, KeyError, TypeError):
        return None
    won, lost = winners.count(0), winners.count(1)
    return name, (won, len(winners) - won - lost, lost)


# ---------------------------------------------------------------------------------------------
# Extreme


def _extreme(data: Path, opened: Opened) -> Card:
    places, notes = tournaments(data), []
    rows: tuple[tuple[str, ...], ...] = ()
    picture = None
    if opened.tournament:
        place = data / opened.tournament
        try:
            rows, picture = _tournament(place)
        except PtttError as error:
            notes.append(str(error))
        if len(places) > 1:
            notes.append(f"{opened.tournament} is shown; there are {len(places)} tournaments.")
    return Card(
        "Extreme",
        "Bots on two boards of boards: a tournament, match by match.",
        ("Leading teams", "Marks", "Matches won") if rows else (),
        rows,
        (("/extreme/standings", "Ranking"), ("/extreme/matches", "Watch")) if opened.tournament else (),
        _notes(opened, "extreme", *notes),
        "" if places else "pttt extreme tournament DIRECTORY_OF_BOTS",
        ("/extreme/standings",) * len(rows),
        picture,
    )


def _tournament(place: Path) -> tuple[tuple[tuple[str, ...], ...], Miniature | None]:
    """The leading teams, and the last position of the latest match."""
    from pttt_ooc.other_games.extreme import analysis
    from pttt_ooc.other_games.extreme.boards import boards_of
    from pttt_ooc.other_games.extreme.tournament_record import Record, overall

    record = Record(place)
    state = record.state()
    rows = tuple((one.name, decimals(one.marks, 2), str(one.won)) for one in overall(record, state.tables)[:3])
    if not state.played:
        return rows, None
    last = state.played[-1]
    match = record.match(last.pairing)
    boards = boards_of(analysis.after(match, len(match["moves"])), None)
    blocks = [[block for line in board.rows for block in line] for board in boards]
    drawn = [
        (["".join(cell.mark for row in block.rows for cell in row) for block in one], "".join(b.owner for b in one))
        for one in blocks
    ]
    names = join_words([record.teams[key].name for key in (last.pairing.first, last.pairing.second)])
    return rows, nested_boards(drawn, f"The last position of the latest match, of {names}")


# ---------------------------------------------------------------------------------------------
# Reports, and runs that are not solutions


def reports(data: Path) -> dict[str, str]:
    """The kind of each page that stages have written below a directory, by its path there."""
    found = {file: what for pattern, what in _REPORTS.items() for file in sorted(data.glob(pattern))}
    found |= {file: "Report" for file in sorted(data.glob("frontier/*/report.html"))}
    return {file.relative_to(data).as_posix(): what for file, what in found.items() if not file.is_symlink()}


def _reports(data: Path) -> Card | None:
    found = reports(data)
    if not found:
        return None
    return Card(
        "Reports and comparisons",
        "The pages that the workflow has written.",
        ("Page", "Of"),
        tuple((what, _subject(path)) for path, what in found.items()),
        targets=tuple(f"/results/{path}" for path in found),
    )


def _subject(path: str) -> str:
    """What a page is about, from its path: the game, and the run if there is one."""
    folders = path.split("/")[:-1]
    for name in folders:
        with suppress(PtttError):
            return describe_game(named_game(name)) + (f", run {folders[-1]}" if "runs" in folders else "")
    return "secret goals" if folders == [smbc.SOLVED] else " ".join(folders)


def _runs(data: Path) -> Card | None:
    """The runs without an exact evaluation, and games beyond enumeration."""
    rows, pictures = [], []
    files = [*data.glob("*/*/convergence.jsonl"), *data.glob("*/*/runs/*/convergence.jsonl")]
    for file in sorted(file for file in files if not (file.parent / "evaluate.json").exists()):
        try:
            lines = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
            last, gaps = lines[-1], [float(line["nashconv"]) for line in lines]
            told = f"iteration {thousands(int(last['iteration']))}, {duration(float(last['seconds']), 1)}"
        except (OSError, ValueError, KeyError, TypeError, IndexError):
            continue
        name = file.parent.relative_to(data).as_posix()
        rows.append((name, told, gap(gaps[-1])))
        pictures.append(curve(gaps, f"The gap of {name} over its evaluations, on a logarithmic scale", True))
    for file in sorted(data.glob("frontier/*/solve.json")):
        try:
            result: Mapping[str, Any] = read_manifest(file, "solve")["result"]
            bounds = (float(result["value_lower"]), float(result["value_upper"]))
            game = named_game(file.parent.name)
            row = (describe_game(game), f"value {decimals(sum(bounds) / 2)}", gap(float(result["nashconv"])))
        except (PtttError, KeyError, TypeError, ValueError):
            continue
        rows.append(row)
    if not rows:
        return None
    picture = next(filter(None, pictures), None)
    what = "Runs that are not evaluated yet, and games too large to list."
    return Card("Runs", what, ("Run", "How far", "Gap"), tuple(rows), miniature=picture)
