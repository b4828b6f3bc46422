"""Finished matches: kept as lines of JSON, counted, and compared with exact expectations."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path

from pttt_ooc.disk.files import explain_errors
from pttt_ooc.errors import StoreError
from pttt_ooc.other_games.smbc.match_play import BOT, ME, Bot, Match

FILE = "matches.jsonl"


@dataclass(frozen=True)
class Tally:
    """The number of matches in which the same player moved first, and of those that the person won.

    Attributes
    ----------
    first
        The first player of the first round: `ME` or `BOT`.
    """

    first: int
    matches: int
    won: int


def keep_match(directory: Path, match: Match) -> None:
    """Add a finished match to the file of a directory.

    Raises
    ------
    StoreError
        If the file cannot be written.
    """
    line = json.dumps({"at": time.time(), "winner": match.winner, **asdict(match)})
    with explain_errors(f"write to {directory / FILE}"), open(directory / FILE, "a", encoding="utf-8") as file:
        file.write(f"{line}\n")
        file.flush()
        os.fsync(file.fileno())


def read_tallies(directory: Path) -> list[Tally]:
    """The tallies of a directory's matches.

    Raises
    ------
    StoreError
        If the file cannot be read, or has a line that is not a match.
    """
    file = directory / FILE
    if not file.exists():
        return []
    with explain_errors(f"read {file}"):
        lines = file.read_text(encoding="utf-8").splitlines()
    try:
        matches = [json.loads(line) for line in lines]
        return tallies((one["rounds"][0]["first"], one["winner"]) for one in matches)
    except (ValueError, KeyError, IndexError, TypeError) as error:
        raise StoreError(f"{file} has a line that is not a match; move the file away to start again.") from error


def tallies(matches: Iterable[tuple[int, int]]) -> list[Tally]:
    """Tallies of matches, given as pairs of first player and winner."""
    found = {ME: [0, 0], BOT: [0, 0]}
    for first, winner in matches:
        found[first][0] += 1
        found[first][1] += winner == ME
    return [Tally(first, matches, won) for first, (matches, won) in found.items() if matches]


def tally_sentences(counted: Iterable[Tally], bot: Bot) -> list[str]:
    """A sentence for each tally, with the exact expectation."""
    found = []
    for tally in counted:
        expected = bot.expectation(tally.first)
        who = "you" if tally.first == ME else "the bot"
        times = "match" if tally.matches == 1 else "matches"
        found.append(
            f"Of {tally.matches} {times} in which {who} moved first you have won {tally.won} "
            f"({tally.won / tally.matches:.1%}); a player like the bot wins {expected.solution:.4%}, "
            f"a perfect player {expected.best:.4%}."
        )
    return found
