"""One match between two bots, or a bot and a person; the referee believes nothing but their answers."""

from __future__ import annotations

import logging
import re
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, astuple, dataclass, field
from typing import Any

from pttt_ooc.extras import check_extra
from pttt_ooc.other_games.extreme.bot_process import (
    SHOWN_MOVE,
    BotForfeitError,
    BotProcess,
    Conditions,
    MissingModuleError,
    Spent,
    check_modules,
    shown_move,
)
from pttt_ooc.other_games.extreme.bot_programs import BotProgram
from pttt_ooc.other_games.extreme.referee import FLAGS, PLAYERS, WHOLE, Cell, Referee, TimedMove
from pttt_ooc.other_games.extreme.runner import BigBoard
from pttt_ooc.other_games.extreme.walled_process import MachineError, plain
from pttt_ooc.other_games.extreme.walls import ExtremeError, python2, python3

log = logging.getLogger("pttt.extreme.match")
TRIES = 4
"""Maximum starts of a match between bots that the machine breaks off."""

Choose = Callable[[Referee], Cell]
"""Asks the person for a move in a position; the move must be valid.

A :class:`~.clock.StoppedError` ends the match without a result.
"""


class Person:
    """A person, who has all the time they want.

    Parameters
    ----------
    choose
        Asks the person.

    Attributes
    ----------
    name
        What a match's log says.
    """

    name = "a person"

    def __init__(self, choose: Choose) -> None:
        self._choose, self._position = choose, Referee()

    def load(self) -> float:
        """Begin a match; that takes no time: 0 seconds."""
        self._position = Referee()
        return 0.0

    def ask(self, request: dict[str, Any]) -> tuple[dict[str, Any], Spent]:
        """Ask for a move; see :meth:`~.bot_process.BotProcess.ask`."""
        for _, cell, _ in request["moves"]:
            self._position.play(cell)
        begin = time.monotonic()
        cell = self._choose(self._position)
        board = self._position.board
        answer = {
            "move": list(cell),
            "big": list(board.big_boards_status),
            "small": list(board.small_boards_status),
        }
        return answer, Spent(round(time.monotonic() - begin, 6), 0.0, 0.0)

    def end(self) -> str:
        """A person prints nothing."""
        return ""


Entrant = BotProgram | Person


@dataclass
class BotMatch:
    """A match that has been played.

    Attributes
    ----------
    names
        The bots' files, or what a person is called; the first one played x.
    winner
        ``P1``, ``P2`` or ``NONE``.
    message
        How it ended, as the course's evaluator says it: ``WON``, ``DRAW``, or why the loser has forfeited; or that it
        was drawn by rule, see :mod:`.broken_off`.
    detail
        More about a forfeit, for the team; or about the rule.
    points
        Points of both.
    moves
        All moves, in order.
    seconds
        From the first question to the last answer.
    load_seconds
        What making the players took.
    pythons
        How each program was run: ``2.7``, ``3.11``, ``converted``; empty for a person.
    printed
        The beginning of what each program printed.
    broken_off
        What the machine did when it broke the match off, each time before it was played to its end.
    """

    names: tuple[str, str]
    winner: str = "NONE"
    message: str = ""
    detail: str = ""
    points: tuple[int, int] = (0, 0)
    moves: list[TimedMove] = field(default_factory=list)
    seconds: float = 0.0
    load_seconds: list[float] = field(default_factory=lambda: [0.0, 0.0])
    pythons: list[str] = field(default_factory=lambda: ["", ""])
    printed: list[str] = field(default_factory=lambda: ["", ""])
    broken_off: list[str] = field(default_factory=list)

    @property
    def plies(self) -> int:
        """The number of moves."""
        return len(self.moves)

    def used(self, player: int) -> list[float]:
        """The seconds of each move of a player."""
        return [move.seconds for move in self.moves if move.player == player]

    def as_json(self) -> dict[str, Any]:
        """The match as a JSON object."""
        return {**asdict(self), "plies": self.plies}


def play_match(
    programs: tuple[Entrant, Entrant],
    conditions: Conditions,
    watch: Callable[[BotMatch], bool] | None = None,
    opening: Sequence[Cell] = (),
    stopping: threading.Event | None = None,
) -> BotMatch:
    """Play one match.  If the machine breaks it off, bots play it again, a few times, and the log says so.

    A program that may be Python 2 or 3 is taken for the likelier one; :mod:`.bot_version` settles it before.  If the
    Python 2.7 here lacks a module that a program imports before its first move, the match begins anew with the program
    converted.

    Parameters
    ----------
    programs
        The bots, or a bot and a person; the first one plays x and begins.
    watch
        Called with the match after each move; returns whether to go on.  A match that is left has no message.
    opening
        Moves that are made for the players, before they are asked.
    stopping
        Once it is set, the match is broken off at once, in the middle of a move.

    Raises
    ------
    StoppedError
        If `stopping` was set.
    ExtremeError
        If bots cannot be run on this machine as the conditions say, or the opening is against the rules.
    MissingModuleError
        If a bot loses for a module that the course allows, and that is missing here.
    MachineError
        If the machine breaks the match off each time; with a person, at once.
    """
    # What programs need is made before the first try, outside of their time.
    bots = [one for one in programs if isinstance(one, BotProgram)]
    for program in bots:
        program.prepare()
    broken_off: list[str] = []
    # The machine breaks a match off by chance, so bots play it again; a person is not asked to.  A missing module would
    # be missing each time.
    while True:
        try:
            match = _play(programs, conditions, watch, opening, stopping)
            _check_modules(match, conditions.libraries)
        except MissingModuleError:
            raise
        except MachineError as error:
            broken_off.append(str(error))
            if len(broken_off) == TRIES or len(bots) < len(programs):
                raise
            log.warning("%s The match is played again.", error, extra={"bots": [one.name for one in programs]})
        else:
            match.broken_off = broken_off
            return match


def _check_modules(match: BotMatch, libraries: Sequence[str]) -> None:
    """Raise a MissingModuleError if a bot has lost for a module that it may import, and that is missing here."""
    if match.message == "THREW AN EXCEPTION":
        loser = 1 - PLAYERS.index(match.winner)
        interpreter = python2() if match.pythons[loser].startswith("2") else python3()
        check_modules(match.names[loser], match.detail, interpreter or python3(), libraries)


def _play(
    programs: tuple[Entrant, Entrant],
    conditions: Conditions,
    watch: Callable[[BotMatch], bool] | None,
    opening: Sequence[Cell],
    stopping: threading.Event | None,
) -> BotMatch:
    """A match with the Pythons that have the modules which the programs import."""
    skipped, told = [0, 0], ["", ""]
    while True:
        match, loser = _play_once(programs, skipped, conditions, watch, opening, stopping)
        if loser is None or match.message != "THREW AN EXCEPTION":
            return match
        moved = len(match.used(loser)) > sum(ply % 2 == loser for ply in range(len(opening)))
        missing = re.search(r"(ImportError|ModuleNotFoundError)", match.detail) and not moved
        program = programs[loser]
        if missing and isinstance(program, BotProgram) and skipped[loser] + 1 < len(program.interpreters()):
            skipped[loser] += 1
            told[loser] = match.detail
        else:
            if told[loser]:
                match.detail = f"In Python 2.7:\n{told[loser]}\nConverted to Python 3:\n{match.detail}"
            return match


def _play_once(
    programs: tuple[Entrant, Entrant],
    skipped: list[int],
    conditions: Conditions,
    watch: Callable[[BotMatch], bool] | None,
    opening: Sequence[Cell],
    stopping: threading.Event | None,
) -> tuple[BotMatch, int | None]:
    """A match with these interpreters, and who has forfeited it."""
    match = BotMatch((programs[0].name, programs[1].name))
    bots: list[BotProcess | Person] = []
    try:
        for player, program in enumerate(programs):
            if isinstance(program, Person):
                bots.append(program)
                continue
            interpreter = program.interpreters()[skipped[player]]
            converted = program.needs_conversion(interpreter.version)
            match.pythons[player] = "converted" if converted else ".".join(map(str, interpreter.version))
            bots.append(BotProcess(program, interpreter, conditions, stopping))
        for player, bot in enumerate(bots):
            try:
                match.load_seconds[player] = bot.load()
            except BotForfeitError as error:
                return _forfeit(match, player, error), player
        begin = time.monotonic()
        try:
            return match, _play_moves(match, bots, watch, opening)
        finally:
            match.seconds = time.monotonic() - begin
    finally:
        for player, bot in enumerate(bots):
            match.printed[player] = bot.end()


def _play_moves(
    match: BotMatch,
    bots: Sequence[BotProcess | Person],
    watch: Callable[[BotMatch], bool] | None,
    opening: Sequence[Cell],
) -> int | None:
    """Play to the end; returns who has forfeited, if anybody."""
    # Moves of the opening cost no time, and are told to the bots with the first question.
    referee = Referee()
    known = [0, 0]  # moves that each bot has been told
    told: list[tuple[Cell, Cell, str]] = []  # the move before, the move, the flag
    for cell in opening:
        told.append((referee.old_move, cell, FLAGS[referee.player]))
        match.moves.append(TimedMove(referee.player, cell, referee.bonus, 0.0))
        if not referee.play(cell):
            raise ExtremeError(f"The opening is against the rules: {cell} cannot be move {len(told)}.")
    # Each question tells the moves since the last one, so that a bot's own board follows the referee's.
    while referee.result()[1] == "-":
        player, flag, before = referee.player, FLAGS[referee.player], referee.old_move
        request = {"moves": told[known[player] :], "old_move": before, "flag": flag}
        known[player] = len(told)
        # A bad answer, a late one, and a move against the rules lose the match at once.
        try:
            answer, spent = bots[player].ask(request)
            cell = _check_answer(answer, referee.board)
        except BotForfeitError as error:
            _forfeit(match, player, error)
            return player
        move = TimedMove(player, cell, referee.bonus, *astuple(spent))
        if not referee.play(cell):
            _forfeit(
                match, player, BotForfeitError("INVALID MOVE", f"It answered {plain(cell, SHOWN_MOVE)} after {before}.")
            )
            return player
        told.append((before, cell, flag))
        match.moves.append(move)
        if watch and not watch(match):
            return None
    # The winner has all points; without one, the small boards that were won give them.
    winner, match.message = referee.result()
    if match.message == "WON":
        player = FLAGS.index(winner)
        match.winner, match.points = PLAYERS[player], (WHOLE * (player == 0), WHOLE * (player == 1))
    else:
        match.points = referee.points()
    return None


def _check_answer(answer: dict[str, Any], board: BigBoard) -> Cell:
    """The cell that a bot has answered; a BotForfeitError if it is no cell, or the bot has changed its board."""
    if answer.get("big") != [*board.big_boards_status] or answer.get("small") != [*board.small_boards_status]:
        raise BotForfeitError("MODIFIED THE BOARD", "After its move, the board was not as before.")
    move = answer.get("move")
    if not isinstance(move, list) or len(move) != 3 or any(type(number) is not int for number in move):
        raise BotForfeitError("INVALID MOVE", f"It answered {shown_move(answer)}, which is no tuple of three integers.")
    return move[0], move[1], move[2]


def _forfeit(match: BotMatch, loser: int, error: BotForfeitError) -> BotMatch:
    winner = 1 - loser
    match.winner, match.message, match.detail = PLAYERS[winner], error.message, error.detail
    match.points = (WHOLE * (winner == 0), WHOLE * (winner == 1))
    return match


def check_walls() -> None:
    """Raise an error if bots cannot be shut in on this machine.

    Raises
    ------
    MissingExtraError
        If the Python binding of libseccomp is missing.
    ExtremeError
        If not; it says why, and which option allows bots without walls.
    """
    check_extra("extreme", "The wall around bots")
    bot = BotProgram("nobody.py", "class Nobody:\n    def move(self, *_): pass\n", (3,), "")
    try:
        process = BotProcess(bot, bot.interpreters()[-1], Conditions())
        try:
            process.load()
        except BotForfeitError as error:
            raise ExtremeError(f"Python does not run behind walls: {error.detail.strip().splitlines()[-1]}") from None
        finally:
            process.end()
    except ExtremeError as error:
        raise ExtremeError(
            f"{error} Strangers' bots are not run without walls, unless you trust them and say --no-sandbox."
        ) from error
