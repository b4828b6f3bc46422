"""The check of a bot that is handed in: does it load, and does it play ten moves?"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from pttt_ooc.extreme.bot_process import Conditions
from pttt_ooc.extreme.bot_programs import NAMES, BotProgram, read_program
from pttt_ooc.extreme.match import BotMatch, play_match

ENOUGH = 10
"""Moves that a bot must play."""


@dataclass(frozen=True)
class Finding:
    """The result of a check.

    Attributes
    ----------
    accepted
        Whether the bot plays.
    python, why
        The Python that runs it, and the reason for this one.
    message, detail
        How it failed: the course's message, and more; empty if it plays.
    moves
        Number of moves it played; fewer than ten for each side if a game ended before.
    load_seconds, slowest
        Seconds for making the player, and for its slowest move.
    printed
        The beginning of what it printed.
    changes
        The changes of a conversion from Python 2, as a unified diff.
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


def check(program: BotProgram, conditions: Conditions) -> Finding:
    """Let a bot play ten moves as x and ten as o against the random bot, or to the end of the game.

    Raises
    ------
    ExtremeError
        If bots cannot be run on this machine as the conditions say.
    """
    random = read_program(Path(NAMES[0]), conditions.walls)
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
        changes=program.changes if first.pythons[side] == "converted" else "",
    )


def _has_forfeited(match: BotMatch, side: int) -> bool:
    return match.message not in ("", "WON", "DRAW") and match.winner == ("P2", "P1")[side]


def _play(program: BotProgram, other: BotProgram, side: int, conditions: Conditions) -> BotMatch:
    """A match that ends when the bot on this side has played enough."""
    pair = (program, other) if side == 0 else (other, program)
    return play_match(pair, conditions, lambda match: len(match.used(side)) < ENOUGH)
