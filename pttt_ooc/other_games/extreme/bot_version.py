"""The version of Python that a bot is written in: settled once for a file, for all commands, a league and its matches.

A setting says it, or the text does.  Otherwise the bot plays whole games as Python 2 and as Python 3.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from pttt_ooc.other_games.extreme.bot_process import Conditions
from pttt_ooc.other_games.extreme.bot_programs import NAMES, BotProgram, read_program
from pttt_ooc.other_games.extreme.match import BotMatch, play_match
from pttt_ooc.other_games.extreme.source_remarks import LOST, MOVES

MOST = 20
"""Maximum lines that a warning names."""
FEW, LONG = 3, 10.0
"""A game that settles the version of Python is left after so many own moves, if they took so many seconds together."""

Tell = Callable[[BotMatch, int], None]
"""Called with a match and a bot's side after each of its moves."""
_SEED, _SHOWN = 2019, 300  # of the random moves; characters of an error


@dataclass(frozen=True)
class Settled:
    """A bot whose version of Python is known.

    Attributes
    ----------
    program
        The bot, taken as a program in one version.
    games
        Its games as x and as o in this version, played to their ends; None if none was needed.
    warnings
        Sentences for the team about what the other version does.
    """

    program: BotProgram
    games: list[BotMatch] | None = None
    warnings: tuple[str, ...] = ()


def settle_version(program: BotProgram, conditions: Conditions, tell: Tell | None = None) -> Settled:
    """The bot with its version of Python.

    If its text leaves two versions, it plays two games in each, as x and as o, against the same random moves; in the
    second only if it fails in the one that the text makes likelier, or if the text says nothing.  It is taken to be
    written in the version in which it plays both to the end, or else in the one in which it makes more moves.  If these
    are equal, or both versions play to the end, the likelier version counts: the one that names in the text point to,
    else Python 3.  A bot that uses its time is left after few moves, see `LONG`.

    Parameters
    ----------
    tell
        Called after each move of the bot.

    Raises
    ------
    ExtremeError
        If bots cannot be run on this machine as the conditions say.
    """
    if len(program.pythons) == 1:
        return Settled(program)
    played: dict[int, list[BotMatch]] = {}
    for version in program.pythons:
        played[version] = trial_games(program.as_python(version), conditions, _tells_enough, tell)
        if program.told and not any(map(has_forfeited, played[version], (0, 1))):
            break
    whole = [version for version, games in played.items() if not any(map(has_forfeited, games, (0, 1)))]
    best = whole[0] if whole else max(played, key=lambda version: _moves(played[version]))
    if len(whole) == 2:
        warnings = _differing(program, best, played)
    else:
        warnings = tuple(
            _describe_failure(version, played[version]) for version in played if version != best and not whole
        )
    chosen = replace(program.as_python(best), why=_reason(program, best, whole, played))
    return Settled(chosen, played[best], warnings)


def _tells_enough(match: BotMatch, side: int) -> bool:
    used = match.used(side)
    return len(used) >= FEW and sum(used) >= LONG


def trial_games(
    program: BotProgram, conditions: Conditions, enough: Callable[[BotMatch, int], bool], tell: Tell | None = None
) -> list[BotMatch]:
    """Two games of a bot, as x and as o, against the same random moves each time.

    Parameters
    ----------
    enough
        Called with the match and the bot's side after each move; returns whether to leave the game.
    tell
        Called after each move of the bot.
    """

    def goes_on(match: BotMatch, side: int) -> bool:
        if tell is not None and match.moves[-1].player == side:
            tell(match, side)
        return not enough(match, side)

    random = read_program(Path(NAMES[0]), conditions.walls)
    drawn = replace(random, source=random.source.replace("random.Random()", f"random.Random({_SEED})"))
    found = []
    for side in (0, 1):
        pair = (program, drawn) if side == 0 else (drawn, program)
        found.append(play_match(pair, conditions, partial(goes_on, side=side)))
    return found


def version_of(python: str) -> int:
    """The version that a bot is written in, from the Python that ran it: ``2.7``, ``converted``, or another."""
    return 3 if python.startswith("3") else 2


def has_forfeited(match: BotMatch, side: int) -> bool:
    """Whether the bot on a side has lost by its own fault."""
    return match.message not in ("", "WON", "DRAW") and match.winner == ("P2", "P1")[side]


def warnings_about(program: BotProgram, python: str) -> tuple[str, ...]:
    """What a conversion from Python 2 does not keep, as sentences with lines; none in a real Python 2.7."""
    if python != "converted":
        return ()
    return tuple(_with_line(line, f"{told}; the conversion does not keep it.") for line, told in _lines(program, LOST))


def breaches_of(program: BotProgram) -> tuple[str, ...]:
    """The formal rules that a file breaks, as sentences with lines."""
    return () if program.trusted else tuple(_with_line(line, f"{told}.") for line, told in program.breaches)


def _lines(program: BotProgram, *kinds: str) -> list[tuple[int, str]]:
    return [(line, told) for line, kind, told in program.differences if kind in kinds]


def _with_line(line: int, told: str) -> str:
    return f"Line {line}: {told}" if line else told[0].upper() + told[1:]


def _moves(games: list[BotMatch]) -> int:
    return sum(len(match.used(side)) for side, match in enumerate(games))


def _reason(program: BotProgram, best: int, whole: list[int], played: dict[int, list[BotMatch]]) -> str:
    left = any(not match.message for games in played.values() for match in games)
    what = "its first moves, which take long," if left else "whole games"
    if len(played) == 1:
        return f"{program.why}, and it plays {what} in it"
    if len(whole) == 2:
        return f"{program.why}, and it plays {what} in both"
    if whole:
        return f"it plays {what} as Python {best}, but not as Python {5 - best}"
    return f"it plays no whole games as Python 2 or 3; {program.why}"


def _describe_failure(version: int, games: list[BotMatch]) -> str:
    """How a bot failed in the version that it is not written in."""
    side, match = next((side, match) for side, match in enumerate(games) if has_forfeited(match, side))
    last = (match.detail.strip().splitlines() or [""])[-1][:_SHOWN]
    return (
        f"As Python {version} it forfeits at move {len(match.used(side)) + 1} as {'xo'[side]}: {match.message}. {last}"
    )


def _differing(program: BotProgram, best: int, played: dict[int, list[BotMatch]]) -> tuple[str, ...]:
    """A warning about other moves in the other version, with the lines that may be the reason."""
    for side in (0, 1):
        both = [games[side] for games in played.values()]
        one, two = ([move.cell for move in match.moves if move.player == side] for match in both)
        if not all(match.message for match in both):  # one was left early: only moves that both made are compared
            one, two = one[: len(two)], two[: len(one)]
        if one != two:
            same = next(
                (i for i, pair in enumerate(zip(one, two, strict=False)) if pair[0] != pair[1]), min(len(one), len(two))
            )
            told = (
                f"It plays other moves as Python {5 - best}, from its move {same + 1} as {'xo'[side]} on, and is taken "
                f"as Python {best}: write #!/usr/bin/python{5 - best} in its first line if that is wrong. Bots that "
                "draw moves at random, or search by the clock, differ as well."
            )
            return told, *(_with_line(line, f"{rest}.") for line, rest in _lines(program, MOVES, LOST)[:MOST])
    return ()
