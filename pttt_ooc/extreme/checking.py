"""A look at a bot that is handed in: does it load, and does it play ten moves?"""

from __future__ import annotations

from dataclasses import dataclass
from difflib import unified_diff
from pathlib import Path

from pttt_ooc.extreme.match import Match, play_match
from pttt_ooc.extreme.process import Conditions
from pttt_ooc.extreme.programs import NAMES, Program, convert, read_program
from pttt_ooc.extreme.referee import Move

ENOUGH = 10
"""Moves that a bot has to play."""
LONGEST, SHOWN = 3000, 400  # lines of a program that are compared, and of the comparison that are shown


@dataclass(frozen=True)
class Finding:
    """What a check has found.

    Attributes
    ----------
    accepted
        Whether the bot plays.
    python, why
        The Python that runs it, and what says that it is written in that one.
    message, detail
        How it failed: a message of the course's, and more; empty if it plays.
    moves
        How many it played; fewer than ten if the game ended before.
    load_seconds, slowest
        For making the player, and for its slowest move.
    printed
        The beginning of what it printed.
    changes
        Of a file that was converted from Python 2: the lines that are other ones now, as a unified diff.
    """

    accepted: bool
    python: str
    why: str
    message: str
    detail: str
    moves: int
    load_seconds: float
    slowest: float
    printed: str
    changes: str


def check(program: Program, conditions: Conditions) -> Finding:
    """Let a bot play ten moves as x and ten as o against our random one, or to the end of the game.

    Raises
    ------
    ExtremeError
        If bots cannot be run on this machine as the conditions say.
    """
    random = read_program(Path(NAMES[0]))
    found = [_play(program, random, side, conditions) for side in (0, 1)]
    failed = [match for side, match in enumerate(found) if _has_forfeited(match, side)]
    first = failed[0] if failed else found[0]
    side = found.index(first)
    used = [seconds for own, match in enumerate(found) for seconds in match.used(own)]
    return Finding(
        accepted=not failed,
        python=first.pythons[side],
        why=program.why,
        message=first.message if failed else "",
        detail=first.detail if failed else "",
        moves=len(used),
        load_seconds=round(max(match.load_seconds[own] for own, match in enumerate(found)), 6),
        slowest=round(max(used, default=0.0), 6),
        printed=first.printed[side],
        changes=_changes(program) if first.pythons[side] == "converted" else "",
    )


def _changes(program: Program) -> str:
    """What the conversion from Python 2 has changed, as far as a team wants to read it."""
    before, after = program.source.splitlines(), convert(program.source).splitlines()
    if max(len(before), len(after)) > LONGEST:
        return f"{len(before)} lines were converted, which are too many to compare."
    lines = list(unified_diff(before, after, "as handed in", "as it runs", lineterm="", n=1))
    return "\n".join(lines[:SHOWN] + ["..."] * (len(lines) > SHOWN))


def _has_forfeited(match: Match, side: int) -> bool:
    return match.message not in ("", "WON", "DRAW") and match.winner == ("P2", "P1")[side]


def _play(program: Program, other: Program, side: int, conditions: Conditions) -> Match:
    """A match that ends when the bot on this side has played enough."""
    played = 0

    def watch(move: Move) -> bool:
        nonlocal played
        played += move.player == side
        return played < ENOUGH

    pair = (program, other) if side == 0 else (other, program)
    return play_match(pair, conditions, watch)
