"""Games on disk: a line of JSON for each, as they end, and sorted by number at the end of a match."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pttt_ooc.disk.files import atomic_write_text
from pttt_ooc.other_games.arena.games.base import FIRST, RESULT, UNFINISHED, ArenaError, State
from pttt_ooc.other_games.arena.games.catalogue import game
from pttt_ooc.other_games.arena.matches.referee import DRAW

GAMES, EFFORT = "games.jsonl", "effort.jsonl"


def read_lines(file: Path) -> list[dict[str, Any]]:
    """The lines of a log, without a torn last line.

    Raises
    ------
    ArenaError
        Another line is damaged.
    """
    if not file.exists():
        return []
    lines = file.read_text(encoding="utf-8", errors="replace").split("\n")
    found = []
    for number, line in enumerate(lines[:-1], start=1):  # after the last line end there is nothing, or a torn line
        try:
            found.append(json.loads(line))
        except ValueError:
            raise ArenaError(f"Line {number} of {file} is damaged; delete it, and its game is played again.") from None
    return found


def mend(file: Path) -> None:
    """Cut off a torn last line."""
    if file.exists():
        data = file.read_bytes()
        if not data.endswith(b"\n"):
            with open(file, "r+b") as log:
                log.truncate(data.rfind(b"\n") + 1)


def append(file: Path, rows: list[dict[str, Any]]) -> None:
    """Add lines."""
    with open(file, "a", encoding="utf-8") as log:
        log.write("".join(line(row) for row in rows))


def line(row: dict[str, Any]) -> str:
    """A line of a log."""
    return json.dumps(row, separators=(",", ":")) + "\n"


def put_in_order(file: Path) -> None:
    """Sort the lines by game, and keep only the latest of each."""
    rows = {int(row["number"]): row for row in read_lines(file)}
    atomic_write_text(file, "".join(line(rows[number]) for number in sorted(rows)))


def replay(game_text: str, row: dict[str, Any]) -> Iterator[State]:
    """The positions of a game in a log, from the first to the last.

    Raises
    ------
    ArenaError
        The log does not follow these rules: a move is impossible, or the result differs.
    """
    rules = game(game_text)
    state = rules.start()
    yield state
    for move in row["moves"]:
        state = rules.play(state, int(move))
        yield state
    result = int(state[RESULT])
    winner = row["starter"] ^ (result - FIRST) if result in (FIRST, FIRST + 1) else DRAW
    if not row.get("forfeit") and (result == UNFINISHED or winner != row["winner"]):
        raise ArenaError(f"Game {row['number']} of the log does not end as the log says.")
