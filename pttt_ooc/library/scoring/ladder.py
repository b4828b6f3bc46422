"""The rows of the ladder, docs/lab/ladder.md, and an agent's place among them.

A row is an agent with a budget; its lines in the records differ in their seed.  The records are those that
``benchmarks/ladder.py`` adds to; the package has a copy of them.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import mean
from typing import Any

Record = dict[str, Any]
RECORDS = Path(__file__).with_name("ladder.jsonl")
_SAME = 1e-9  # exploitabilities that differ less are equal


@dataclass(frozen=True)
class LadderPlace:
    """A place on the ladder.

    Attributes
    ----------
    place
        One more than the number of rows with a smaller mean exploitability.
    rows
        Number of rows of the game, this agent not among them.
    """

    place: int
    rows: int


def read_records(path: Path = RECORDS) -> list[Record]:
    """The lines of the records."""
    return [json.loads(line) for line in path.read_text().splitlines()]


def record_key(row: Record) -> str:
    """What makes two lines the same."""
    named = [row[name] for name in ("game", "agent", "settings", "seed")]
    budget = None if row["budget"] is None else float(row["budget"])  # 60 and 60.0 are the same
    return json.dumps([*named, budget, row.get("limit")], sort_keys=True)


def rank_rows(rows: Sequence[Record], game: str) -> list[list[Record]]:
    """The rows of a game, the least exploitable first: each a list of lines that differ in their seed."""
    groups: dict[str, list[Record]] = {}
    for row in (r for r in rows if r["game"] == game):
        groups.setdefault(record_key({**row, "seed": None}), []).append(row)
    return sorted(groups.values(), key=lambda group: (mean_exploitability_of(group), group[0]["agent"]))


def mean_exploitability_of(group: Sequence[Record]) -> float:
    """A row's mean over its seeds."""
    return mean(float(row["mean_exploitability"]) for row in group)


def settings_text(row: Record) -> str:
    """The settings of a line that differ from the defaults: ``", alpha 0.1"``."""
    return "".join(f", {name} {json.dumps(value)}" for name, value in row["settings"].items())


def agent_name(row: Record) -> str:
    """The name of a line's agent, without the directory of its file."""
    return str(row["agent"].rpartition("/")[2])


def budget_text(row: Record) -> str:
    """The budget of a line: ``"20 s"``, ``"13 it."``, or nothing."""
    return f"{row['budget']:g} s" if row["budget"] else f"{row['limit']:,} it." if row.get("limit") else ""


def place_of(game: str, mean_exploitability: float, rows: Sequence[Record] | None = None) -> LadderPlace | None:
    """The place of an agent; None if the ladder does not have the game.

    Parameters
    ----------
    rows
        Lines of records; default: those of the package.
    """
    groups = rank_rows(read_records() if rows is None else rows, game)
    better = sum(mean_exploitability_of(group) < mean_exploitability - _SAME for group in groups)
    return LadderPlace(better + 1, len(groups)) if groups else None
