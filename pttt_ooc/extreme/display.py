"""A tournament for people: its options, its progress, and its tables."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from pttt_ooc.extreme.league import COURSE, Pairing, PoolTable, Stage, stages
from pttt_ooc.extreme.tournament_record import Record
from pttt_ooc.extreme.walls import ExtremeError
from pttt_ooc.show.tables import print_table, whole


def read_stages(pools: str, qualify: str, marks: str) -> tuple[Stage, ...]:
    """The stages from the command's options.

    Raises
    ------
    ExtremeError
        If they are no lists of numbers of the same length, or the last stage has several pools.
    """
    try:
        counts = [int(text) for text in pools.split(",")]
        going = [int(text) for text in qualify.split(",")]
        given = [float(text) for text in marks.split(",")]
    except ValueError:
        raise ExtremeError("--pools, --qualify and --marks are numbers with commas, such as 10,3,1.") from None
    if not len(counts) == len(going) == len(given) or not 1 <= len(counts) <= len(COURSE):
        raise ExtremeError("--pools, --qualify and --marks have a number for each stage, of which there are 1 to 3.")
    if min(*counts, *going, *going) < 1 or counts[-1] != 1 or not all(0 <= number < 1e6 for number in given):
        raise ExtremeError("Pools and qualifiers are 1 or more, marks 0 or more, and the last stage is one pool.")
    return stages(counts, going, given)


def tell_match(pairing: Pairing, found: dict[str, Any]) -> None:
    """Tell on stderr how a match ended."""
    first, second = found["points"]
    print(
        f"{pairing.stage} {pairing.pool + 1}: {pairing.first} {first} : {second} {pairing.second}, {found['message']} "
        f"after {found['plies']} moves",
        file=sys.stderr,
        flush=True,
    )


def as_json(record: Record, tables: Sequence[PoolTable]) -> dict[str, Any]:
    """The result of a tournament."""
    return {
        "seed": record.seed,
        "teams": len(record.teams),
        "matches": sum(table.matches for table in tables),
        "winners": [row.team for row in tables[-1].rows if row.qualified],
        "standings": [asdict(table) for table in tables],
        "marks": record.marks(tables),
    }


def show(record: Record, tables: Sequence[PoolTable]) -> None:
    """Print all pools, and the marks."""
    for table in tables:
        print(f"\n{table.stage}, pool {table.pool + 1} ({table.played} of {table.matches} matches)")
        rows = [
            (
                f"{row.rank}{'*' if row.qualified else ''}",
                whole(row.team),
                *(row.score, row.won, row.drawn, row.lost, f"{row.marks:.2f}"),
            )
            for row in table.rows
        ]
        print_table(("rank", "team", "score", "won", "drawn", "lost", "marks"), rows)
    print()
    marks = sorted(record.marks(tables).items(), key=lambda item: -item[1]["total"])
    print_table(("team", "marks"), [(whole(team), f"{one['total']:.2f}") for team, one in marks])
    print(f"\nThe lots were drawn with the seed {record.seed}.")
