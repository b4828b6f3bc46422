"""A tournament for people: its options, its progress, and its tables."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from pttt_ooc.other_games.extreme.league import COURSE, Pairing, PoolTable, Stage, stages
from pttt_ooc.other_games.extreme.match import BotMatch
from pttt_ooc.other_games.extreme.tournament_record import Record
from pttt_ooc.other_games.extreme.walls import ExtremeError
from pttt_ooc.pipeline.show.tables import print_table, whole

_MOMENT = 2.0  # seconds after which a check is worth words


def read_stages(pools: str, qualify: str | None, marks: str | None) -> tuple[Stage, ...]:
    """The stages from the command's options; without `qualify` or `marks`, those of the course's stages.

    Raises
    ------
    ExtremeError
        If they are not lists of numbers of the same length, or the last stage has several pools.
    """
    try:
        counts = [int(text) for text in pools.split(",")]
        usual = [*COURSE[: len(counts) - 1], COURSE[-1]]
        going = [stage.qualify for stage in usual] if qualify is None else [int(text) for text in qualify.split(",")]
        given = [stage.marks for stage in usual] if marks is None else [float(text) for text in marks.split(",")]
    except ValueError:
        raise ExtremeError("--pools, --qualify and --marks are numbers with commas, such as 10,3,1.") from None
    if not len(counts) == len(going) == len(given) or not 1 <= len(counts) <= len(COURSE):
        raise ExtremeError("--pools, --qualify and --marks have a number for each stage, of which there are 1 to 3.")
    if min(*counts, *going, *going) < 1 or counts[-1] != 1 or not all(0 <= number < 1e6 for number in given):
        raise ExtremeError("Pools and qualifiers are 1 or more, marks 0 or more, and the last stage is one pool.")
    return stages(counts, going, given)


class CheckProgress:
    """Tells on stderr how the check of a bot goes on, once it takes longer than a moment.

    Parameters
    ----------
    most
        Seconds that it takes at most.
    moves
        How many moves are expected at least, for an estimate.
    """

    def __init__(self, most: float, moves: int) -> None:
        self._most, self._moves, self._begin, self._told = most, moves, time.monotonic(), False
        self._seconds = list[float]()

    def tell(self, match: BotMatch, side: int) -> None:
        """Tell of a bot's move."""
        used = match.used(side)
        self._seconds.append(used[-1])
        if time.monotonic() - self._begin < _MOMENT:
            return
        if not self._told:
            self._told = True
            print(f"The check takes {_minutes(self._most)} at most, if the bot uses all its time.", file=sys.stderr)
        left = max(0, self._moves - len(self._seconds)) * sum(self._seconds) / len(self._seconds)
        more = f"; about {_minutes(left)} more" if left >= 1 else ""
        python = match.pythons[side]
        ran = "converted from Python 2" if python == "converted" else f"Python {python}"
        print(f"{ran}, as {'xo'[side]}, move {len(used)}: {used[-1]:.3f} s{more}.", file=sys.stderr, flush=True)


def _minutes(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 90 else f"{seconds / 60:.1f} min"


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
