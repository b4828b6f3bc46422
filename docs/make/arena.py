"""The tables of the arena's pages, rendered from committed records: ``python -m docs.make.arena --write``.

A table stands in a page between two comments, ``<!-- table: NAME -->`` and ``<!-- end of table -->``.  It follows from
``docs/records/arena/*.jsonl`` and ``examples/arena/*.yaml`` alone, and names what has no record.  Without ``--write``,
the command names pages that differ.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import math
import re
import sys
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from scipy import stats

from benchmarks import arena_boards
from pttt_ooc.other_games.arena.experiments import claims_table, records, round_robin
from pttt_ooc.other_games.arena.experiments import experiment as experiments
from pttt_ooc.other_games.arena.experiments.significance import SIZE, Units
from pttt_ooc.other_games.arena.experiments.trainings import stretches
from pttt_ooc.other_games.arena.matches.statistics import Rate, Sequential, ratings
from pttt_ooc.other_games.arena.research.solvers import attack, endings

ROOT = Path(__file__).parents[2]
RECORDS = ROOT / "docs" / "records" / "arena"
PAGES = ("docs/lab/arena.md", "docs/lab/rows.md", "docs/lab/ultimate.md")
CONFIGURATIONS = ("ultimate", "ultimate-timed", "round-robin", "ladder", "ladder-most", "rows")
SCORES = (0.5, 0.55)
"""The sequential test decides between these scores."""

_TABLE = re.compile(r"<!-- table: (\S+) -->\n\n(.*?)\n*<!-- end of table -->", re.DOTALL)


def results(name: str) -> dict[str, Any]:
    """The results of a configuration that have records; None for the others."""
    settings = experiments.read(ROOT / "examples" / "arena" / f"{name}.yaml")
    lines = records.read(RECORDS / f"{name}.jsonl")
    names = {line["name"] for line in lines}
    there = records.results({key: one for key, one in settings.items() if key in names}, lines)
    return {key: there.get(key) for key in settings}


def recorded(found: dict[str, Any], wanted: Sequence[str], table: Callable[[list[Any]], str]) -> str:
    """A table of the results that have records, and the names of the others."""
    there = [found[name] for name in wanted if found[name] is not None]
    missing = ", ".join(f"`{name}`" for name in wanted if found[name] is None)
    text = table(there) if there else ""
    return text + ("\n" * bool(there) + f"Without a record so far: {missing}.\n" if missing else "")


def claims(found: dict[str, Any]) -> str:
    """All claims of both configurations of the report, in one family."""
    return recorded(found, [name for name in found if name not in OTHERS], claims_table.claims)


SERIES = ("nodes-depth-2", "nodes-depth-3", "nodes-nodes", "depth-times", "turns-depth-2", "turns-depth-3")
TIMES = ("time-depth-2", "time-depth-3", "time-time")
STRONGEST = ("strongest",)
LEARNT = ("learnt-plies", "learnt-depth-2", "tuned-depth-2", "tuned-nodes")
LEARNT_TRAININGS = ("learnt-trainings-1", "learnt-trainings-4")
MOST_BOARDS = ("most-alphabeta", "most-tuned")
NETWORK_MOST = ("network-most-nodes", "network-most-tuned", "network-most-mcts", "network-most-dimasta")
LEARNERS = ("rows-5x5", "rows-3x3", "rows-infinite", "rows-smart")
DETAILS = tuple(f"{name}-{detail}" for name in LEARNERS for detail in ("random-ties", "reward"))
CHANGES = ("limiter2", "limiter3", "limiter4", "step", "explore", "need4", "explore-reward", "need4-reward")
WITHOUT_END = tuple(f"rows-infinite-{change}" for change in (*CHANGES, "need4-limiter2"))
"""Trainings on the infinite board that the report did not describe."""
PATTERNS = ("rows-patterns-4", "rows-patterns-5")
HALVES = ("rows-3x3-half", "rows-3x3-falling")
"""Trainings for which a draw is worth half a win."""
TREES = ("mcts-uct", "mcts-solver", "mcts-reuse", "mcts-learnt")
LADDER = ("ladder-network", "ladder-tuned", "ladder-mcts-learnt", "ladder-mcts", "ladder-utttai")
NETWORK = ("network-tuned-nodes", "network-tuned", "network-tuned-earlier", "network-tuned-more", "network-nodes")
TRAINED_FIVE_TIMES = (*LEARNT_TRAININGS, "patterns-tables")
OURS = {*STRONGEST, *LEARNT, *TRAINED_FIVE_TIMES, *MOST_BOARDS, *NETWORK_MOST, *TREES, *LADDER, *NETWORK}
OTHERS = {*SERIES, *TIMES, *OURS, *LEARNERS, *DETAILS, *WITHOUT_END, *PATTERNS, *HALVES, "ultimate", "equal-time"}
"""Everything but claims of the report on Ultimate."""


def series(name: str) -> Callable[[dict[str, Any]], str]:
    """The table of a series."""
    return lambda found: recorded(found, [name], lambda there: claims_table.series(there[0]))


def match_table(
    names: Sequence[str], head: Sequence[str], cells: Callable[[dict[str, Any], Units], Sequence[str]]
) -> Callable[[dict[str, Any]], str]:
    """A row for each match of these results: the `cells` of the match, and of its games or pairs of games as units."""

    def table(there: list[Any]) -> str:
        matches = (match for one in there for match in one["matches"])
        rows = [head, *(cells(match, Units.of(match)) for match in matches)]
        first, *others = (f"| {' | '.join(row)} |\n" for row in rows)
        return first + "|---" * len(head) + "|\n" + "".join(others)

    return lambda found: recorded(found, names, table)


def interval_text(units: Units, digits: int) -> str:
    """The ends of the interval of a score."""
    low, high = units.interval
    return f"{low:.{digits}%} to {high:.{digits}%}"


def sides_of(match: dict[str, Any]) -> tuple[str, str, str]:
    """Both agents of a match, and how it ended."""
    first, second = match["agents"]
    return f"`{first}`", f"`{second}`", f"{match['wins']}, {match['draws']}, {match['losses']}"


def many_series(*names: str) -> Callable[[dict[str, Any]], str]:
    """Several series of times for a move in one table."""

    def cells(match: dict[str, Any], units: Units) -> Sequence[str]:
        games, against = f"{units.number * units.games:,}", f"`{match['agents'][1]}`"
        return f"{match['value']} s", against, f"{units.rate:.2%}", interval_text(units, 2), games

    return match_table(names, ("time for a move", "against", "score", "interval", "games"), cells)


def scores(*names: str) -> Callable[[dict[str, Any]], str]:
    """Matches of our own agents."""

    def cells(match: dict[str, Any], units: Units) -> Sequence[str]:
        costs = [match.get(f"mean_of_agent_{agent}") for agent in (0, 1)]
        nodes = " and ".join(f"{cost['nodes']:,.0f}" for cost in costs if cost)
        return *sides_of(match), f"{units.rate:.1%}", interval_text(units, 1), nodes

    return match_table(names, ("agent", "against", "won, drawn, lost", "score", "interval", "nodes a move"), cells)


def paired(*names: str) -> Callable[[dict[str, Any]], str]:
    """Matches in pairs of games, with the pentanomial sequential test between two scores."""
    test = Sequential(*SCORES)
    head = ("agent", "against", "won, drawn, lost", "score", "interval", "pairs by points: 0, ½, 1, 1½, 2")

    def cells(match: dict[str, Any], units: Units) -> Sequence[str]:
        pairs = match["pairs"]
        verdict = {"high": "stronger", "low": "not stronger by so much", None: "undecided"}[test.verdict(pairs)]
        costs = [match[f"mean_of_agent_{agent}"]["processor_milliseconds"] for agent in (0, 1)]
        return (
            *sides_of(match),
            f"{units.rate:.1%}",
            interval_text(units, 1),
            ", ".join(map(str, pairs)),
            f"{test.log_ratio(pairs):+.1f}: {verdict}",
            f"{costs[0]:.3g} and {costs[1]:.3g}",
        )

    return match_table(names, (*head, "log-likelihood ratio", "milliseconds a move"), cells)


TRAINED, SHIPPED = "path=data/arena/ultimate.weights", "path=shipped"
"""The same weights: by their digests, the training's file and the package's file are equal."""


def rated(*names: str) -> Callable[[dict[str, Any]], str]:
    """Ratings of all agents of matches, by Bradley and Terry's model."""

    def table(there: list[Any]) -> str:
        matches = [
            {**match, "agents": [text.replace(TRAINED, SHIPPED) for text in match["agents"]]}
            for one in there
            for match in one["matches"]
        ]
        agents = sorted({text for match in matches for text in match["agents"]})
        scores = np.zeros((len(agents), len(agents)))
        for match in matches:
            first, second = (agents.index(text) for text in match["agents"])
            scores[first, second] += match["wins"] + match["draws"] / 2
            scores[second, first] += match["losses"] + match["draws"] / 2
        strengths = ratings(scores)
        rows = "| agent | rating | interval of 95% | games |\n|---|---|---|---|\n"
        for n in np.argsort(-strengths.points):
            points, error = strengths.points[n], strengths.errors[n]
            games, ends = scores[n].sum() + scores[:, n].sum(), f"{points - error:+.0f} to {points + error:+.0f}"
            rows += f"| `{agents[n]}` | {points:+.0f} | {ends} | {games:.0f} |\n"
        return rows

    return lambda found: recorded(found, names, table)


def errors(found: dict[str, Any]) -> str:
    """The errors that `pttt lab errors` has measured on the endings."""
    told = json.loads((RECORDS / "errors.json").read_text(encoding="utf-8"))
    digest = hashlib.blake2b((RECORDS / "endings.jsonl").read_bytes(), digest_size=8).hexdigest()
    assert told["digest"] == digest, "errors.json was measured of other endings"
    return endings.errors_table(told["agents"])


def curve(name: str) -> Callable[[dict[str, Any]], str]:
    """Player 1's share between one number of games and the next, counted in three ways; means over the trainings."""

    def table(there: list[Any]) -> str:
        rows = "| games so far | draws for player 1 | wins of all games | wins of decided games |\n|---|---|---|---|\n"
        parts = [stretches(training["curve"]) for training in there[0]["trainings"]]
        for stretch in zip(*parts, strict=True):
            counts = np.array([row[1:] for row in stretch], dtype=float)
            first, second, drawn = counts.T
            shares = ((first + drawn) / counts.sum(1), first / counts.sum(1), first / (first + second))
            rows += f"| {stretch[0][0]:,} | {' | '.join(f'{100 * share.mean():.1f}' for share in shares)} |\n"
        return rows

    return lambda found: recorded(found, [name], table)


def robin(name: str) -> Callable[[dict[str, Any]], str]:
    """Standings."""
    return lambda found: recorded(found, [name], lambda there: round_robin.table(there[0]))


def turns(*names: str, marks: Sequence[int] = (1, 6, 11, 21, 31, 40, 50)) -> Callable[[dict[str, Any]], str]:
    """The nodes and the time of a move by the number of the turn."""

    def table(there: list[Any]) -> str:
        rows = "| move | " + " | ".join(f"`{one['agents'][0]}`: nodes, milliseconds" for one in there) + " |\n"
        rows += "|---" * (len(there) + 1) + "|\n"
        for mark in marks:
            cells = []
            for one in there:
                told = one["matches"][0]["turns_of_agent_0"]
                place = told["turn"].index(mark - 1)
                cells.append(f"{told['nodes'][place]:,.0f}, {told['processor_milliseconds'][place]:.3g}")
            rows += f"| {mark} | {' | '.join(cells)} |\n"
        return rows

    return lambda found: recorded(found, names, table)


def trainings(*names: str) -> Callable[[dict[str, Any]], str]:
    """Trainings of learners."""
    return lambda found: recorded(found, names, claims_table.trainings)


def sizes(found: dict[str, Any], games: int = 100) -> str:
    """How often each test rejects at 5% that two agents are equally strong, if they are: a sum over all results."""
    tests: dict[str, Callable[[Rate], bool]] = {
        "exact, given the draws": lambda rate: Units.of(records.counts(rate)).log10_p < math.log10(SIZE),
        "chi-square of two samples (the report's)": lambda rate: rate.chi_square[1] < SIZE,
        "binomial over half points": lambda rate: rate.p < SIZE,
    }
    rows = "| test | no draws | 30% draws | 60% draws |\n|---|---|---|---|\n"
    for name, test in tests.items():
        rejects = cache(test)  # the parts differ in their chances only
        cells = [f"{_size(rejects, games, part):.1%}" for part in (0.0, 0.3, 0.6)]
        rows += f"| {name} | {' | '.join(cells)} |\n"
    return rows


BOARDS = RECORDS / "boards.jsonl"
NAMES = {0: "draw", 1: "first player", None: "not solved here"}


def boards(need: int) -> Callable[[dict[str, Any]], str]:
    """The boards with `need` in a row, as `benchmarks.arena_boards` has solved them."""

    def cell(one: dict[str, Any] | None, method: str) -> str:
        if one is None or (method == "pairing" and one["value"] is None):
            return ""
        nodes = f"{one['nodes']:,}, " if "nodes" in one else ""
        text = f"{nodes}{one['seconds']:.{3 if method == 'pairing' else 2}f}"
        if not one["ended"]:
            return f"({text})"
        return text if one["value"] is not None else f"{text}: Maker wins"

    def table(found: dict[str, Any]) -> str:
        rows = "| rows x columns | value | pairing: seconds | Maker-Breaker: nodes, seconds "
        rows += "| alpha-beta: nodes, seconds | proof numbers: nodes, seconds |\n"
        rows += "|---" * 6 + "|\n"
        for row in records.read(BOARDS):
            if row["board"][2] == need:
                cells = [cell(row["methods"].get(method), method) for method in arena_boards.METHODS]
                size = f"{row['board'][0]} x {row['board'][1]}"
                rows += f"| {size} | {NAMES[row['value']]} | {' | '.join(cells)} |\n"
        return rows

    return table


def _size(rejects: Callable[[Rate], bool], games: int, part: float) -> float:
    """The probability of a rejection, if each game is drawn with the probability `part`."""
    total = 0.0
    for draws in range(games + 1):
        chance = stats.binom.pmf(draws, games, part)
        if chance > 1e-9:
            decided = games - draws
            chances = stats.binom.pmf(np.arange(decided + 1), decided, 0.5)
            more = [max(wins, decided - wins) for wins in range(decided + 1)]  # each test is two-sided
            total += chance * sum(
                one for wins, one in zip(more, chances, strict=True) if rejects(Rate(wins, draws, decided - wins))
            )
    return float(total)


MARKS = (1000, 2000, 5000, 10_000, 20_000, 30_000, 50_000, 100_000, 200_000, 300_000, 500_000)
"""Numbers of games in the table of curves."""

TABLES: dict[str, Callable[[dict[str, Any]], str]] = {
    "sizes": sizes,
    "boards-3": boards(3),
    "boards-4": boards(4),
    "boards-5": boards(5),
    "claims": claims,
    "nodes-depth-2": series("nodes-depth-2"),
    "nodes-depth-3": series("nodes-depth-3"),
    "nodes-nodes": series("nodes-nodes"),
    "depth-times": series("depth-times"),
    "turns": turns("turns-depth-2", "turns-depth-3"),
    "times": many_series(*TIMES),
    "strength": scores(*STRONGEST),
    "learnt": scores(*LEARNT),
    "learnt-trainings": lambda found: recorded(found, LEARNT_TRAININGS, claims_table.opponents),
    "patterns-tables": lambda found: recorded(found, ["patterns-tables"], claims_table.opponents),
    "most-boards": scores(*MOST_BOARDS),
    "network-most": paired(*NETWORK_MOST),
    "round-robin": robin("ultimate"),
    "equal-time": robin("equal-time"),
    "trees": paired(*TREES),
    "network": paired(*NETWORK),
    "ladder": paired(*LADDER),
    "ladder-ratings": rated(*LADDER, *STRONGEST),
    "errors": errors,
    "attack": lambda found: attack.table(attack.read(RECORDS / "attack.jsonl")[1]),
    "curve-3x3": curve("rows-3x3"),
    "trainings": trainings(*LEARNERS),
    "details": trainings(*DETAILS),
    "without-end": trainings(*WITHOUT_END),
    "curves": lambda found: recorded(found, LEARNERS, lambda there: claims_table.curves(there, MARKS)),
    "lost": lambda found: recorded(found, ("rows-3x3", *HALVES), claims_table.losses_table),
    "greedy": lambda found: recorded(found, (*LEARNERS, *PATTERNS), claims_table.greedy),
}


def rendered(text: str, found: dict[str, Any]) -> str:
    """A page with all its tables as the records have them."""
    return _TABLE.sub(
        lambda match: f"<!-- table: {match[1]} -->\n\n{TABLES[match[1]](found)}\n<!-- end of table -->", text
    )


def names(text: str) -> list[str]:
    """The tables of a page."""
    return [match[1] for match in _TABLE.finditer(text)]


def everything() -> dict[str, Any]:
    """The results of all configurations."""
    return {name: one for configuration in CONFIGURATIONS for name, one in results(configuration).items()}


def main() -> int:
    """Write the tables, or say which differ."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--write", action="store_true", help="write the tables into the pages")
    write, found, stale = options.parse_args().write, everything(), []
    for page in PAGES:
        file = ROOT / page
        text = file.read_text(encoding="utf-8")
        new = rendered(text, found)
        if new != text:
            stale.append(page)
            if write:
                file.write_text(new, encoding="utf-8")
    print(f"{'Written' if write else 'Stale'}: {', '.join(stale) or 'none'}.")
    return int(bool(stale) and not write)


if __name__ == "__main__":
    sys.exit(main())
