"""Matches that the machine breaks off: they are tried again, a few times, and then drawn by rule.

No bot is blamed for what the machine did, and no bot holds up the others.  Before a match is drawn by rule, our own
bots must be able to play on this machine.  If they cannot, nothing is decided, and somebody must repair the machine.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

from pttt_ooc.disk.tries import Tries, reason_of
from pttt_ooc.errors import PtttError, StoreError
from pttt_ooc.other_games.extreme.bot_process import Conditions, MissingModuleError
from pttt_ooc.other_games.extreme.bot_programs import NAMES, read_program
from pttt_ooc.other_games.extreme.clock import StoppedError
from pttt_ooc.other_games.extreme.match import BotMatch, play_match
from pttt_ooc.other_games.extreme.referee import WHOLE
from pttt_ooc.other_games.extreme.walled_process import MachineError
from pttt_ooc.other_games.extreme.walls import ExtremeError

log = logging.getLogger("pttt.extreme.broken_off")
NOT_PLAYED = "NOT PLAYED"
"""The message of a match that is drawn by rule."""
_MOVES = 4  # of our own bots, which show that the machine can run bots
_Result = TypeVar("_Result")


class UnableError(ExtremeError):
    """The machine can run no bots at all now, or has lost their files: somebody must repair it."""


def check_machine(conditions: Conditions, stopping: threading.Event | None = None) -> None:
    """Let two of our own bots make a few moves: if they can, what failed before has to do with other bots.

    Raises
    ------
    StoppedError
        If `stopping` was set.
    UnableError
        If they cannot.
    """
    try:
        ours = read_program(Path(NAMES[0]), conditions.walls)
        play_match((ours, ours), conditions, lambda match: match.plies < _MOVES, stopping=stopping)
    except ExtremeError as error:
        raise UnableError(f"This machine can run no bots now, not even our own: {error}") from error


def can_play(conditions: Conditions, stopping: threading.Event | None = None) -> bool:
    """Whether two of our own bots can make a few moves now: see :func:`check_machine`."""
    try:
        check_machine(conditions, stopping)
    except (StoppedError, UnableError, OSError):
        return False
    return True


def try_match(
    tries: Tries,
    name: str,
    play: Callable[[], _Result],
    conditions: Conditions,
    stopping: threading.Event | None = None,
) -> _Result | None:
    """Play a match, which counts as a try of it; None: it has failed for the last time, and is drawn by rule.

    Parameters
    ----------
    name
        The match's name among the tries.
    play
        Plays it; raises a StoppedError if it is broken off because `stopping` was set.
    conditions
        How bots are run.

    Raises
    ------
    StoppedError
        If `stopping` was set; then the try does not count.
    UnableError
        If the machine can run no bots at all now, or has lost their files; this try does not count either.
    MachineError
        If it has failed, and is to be tried again.
    StoreError
        If nothing can be written.
    """
    # A try counts unless it was stopped, or the machine can run no bots at all: that tells nothing about this match.
    if not tries.are_over(name):
        try:
            with tries.trying(name, (StoppedError, UnableError)):
                return play_if_able(play, conditions, stopping)
        except (StoppedError, UnableError, StoreError):
            raise
        except Exception as error:
            # It has failed: as long as tries are left, the caller comes back to it.
            failed = len(tries.of(name).reasons)
            told = f"The match {name} was broken off, in try {failed} of {tries.most}: {reason_of(error)}"
            log.warning(told, exc_info=not isinstance(error, PtttError))
            if not tries.are_over(name):
                kind = MissingModuleError if isinstance(error, MissingModuleError) else MachineError
                raise kind(f"{told} After the last one it is drawn by rule.") from error
    # The last try has failed.  Only on a machine that runs our own bots is the match drawn by rule.
    check_machine(conditions, stopping)
    tries.decide(name)
    log.error("drawn by rule", extra={"match": name, "why": tries.of(name).reasons})
    return None


def play_if_able(play: Callable[[], _Result], conditions: Conditions, stopping: threading.Event | None) -> _Result:
    """Play a match; an UnableError in place of its error if the machine can run no bots at all now."""
    try:
        return play()
    except StoppedError:
        raise
    except Exception:  # this counts only on a machine that can run bots
        check_machine(conditions, stopping)
        raise


def drawn_by_rule(names: tuple[str, str], reasons: Sequence[str]) -> BotMatch:
    """The match of two bots that the machine has broken off each time, for these reasons: half of the points each."""
    told = f"The machine broke it off {len(reasons)} times, so by the rule it is drawn; neither bot is to blame."
    detail = "\n".join([told, *dict.fromkeys(reasons)])
    return BotMatch(names, message=NOT_PLAYED, detail=detail, points=(WHOLE // 2, WHOLE // 2), broken_off=[*reasons])
