"""One match between two bots, of which the referee believes nothing but their answers."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from pttt_ooc.extras import check_extra
from pttt_ooc.extreme.process import BotProcess, Conditions, ForfeitError, plain
from pttt_ooc.extreme.programs import Program
from pttt_ooc.extreme.referee import FLAGS, PLAYERS, WHOLE, Cell, Move, Referee
from pttt_ooc.extreme.runner import BigBoard
from pttt_ooc.extreme.walls import ExtremeError


@dataclass
class Match:
    """A match that has been played.

    Attributes
    ----------
    names
        The bots' files; the first one has played x.
    winner
        ``P1``, ``P2`` or ``NONE``.
    message
        How it ended, as the course's evaluator says it: ``WON``, ``DRAW``, or why the loser has forfeited.
    detail
        More about a forfeit, for the team.
    points
        Of both.
    moves
        In their order.
    seconds
        From the first question to the last answer.
    load_seconds
        What making the players took.
    pythons
        How each program was run: ``2.7``, ``3.11``, ``converted``.
    printed
        The beginning of what each program printed.
    """

    names: tuple[str, str]
    winner: str = "NONE"
    message: str = ""
    detail: str = ""
    points: tuple[int, int] = (0, 0)
    moves: list[Move] = field(default_factory=list)
    seconds: float = 0.0
    load_seconds: list[float] = field(default_factory=lambda: [0.0, 0.0])
    pythons: list[str] = field(default_factory=lambda: ["", ""])
    printed: list[str] = field(default_factory=lambda: ["", ""])

    @property
    def plies(self) -> int:
        """The number of moves."""
        return len(self.moves)

    def used(self, player: int) -> list[float]:
        """The seconds of each move of a player."""
        return [move.seconds for move in self.moves if move.player == player]

    def as_json(self) -> dict[str, Any]:
        """All of it, as JSON has it."""
        return {**asdict(self), "plies": self.plies}


def play_match(
    programs: tuple[Program, Program],
    conditions: Conditions,
    watch: Callable[[Move], bool] | None = None,
    opening: Sequence[Cell] = (),
    tried: int | None = None,
) -> Match:
    """Play one match.

    A program that may be Python 2 or 3, and raises an error as Python 3, is taken for Python 2, and the match begins
    anew; so does a match in which a Python 2 that is installed lacks a module that the program imports.

    Parameters
    ----------
    programs
        The bots; the first one plays x and begins.
    watch
        Is told each move, and says whether to go on; a match that is left has no message.
    opening
        Moves that are made for the players, before they are asked.
    tried
        After so many moves of its own, nothing begins anew for a program: it might raise an error to try again.
        None: whenever it raises its first error.

    Raises
    ------
    ExtremeError
        If bots cannot be run on this machine as the conditions say, or the opening is against the rules.
    """
    for program in programs:
        program.prepare()
    skipped = [0, 0]
    while True:
        match, loser = _play_once(programs, skipped, conditions, watch, opening)
        if loser is None or match.message != "THREW AN EXCEPTION":
            return match
        if tried is not None and len(match.used(loser)) >= tried:
            return match
        one = programs[loser]
        missing = re.search(r"(ImportError|ModuleNotFoundError)", match.detail) and not match.moves
        if len(one.pythons) > 1:
            again = one.as_python(one.pythons[1])
            programs = (again, programs[1]) if loser == 0 else (programs[0], again)
        elif missing and skipped[loser] + 1 < len(one.interpreters()):
            skipped[loser] += 1
        else:
            return match


def _play_once(
    programs: tuple[Program, Program],
    skipped: list[int],
    conditions: Conditions,
    watch: Callable[[Move], bool] | None,
    opening: Sequence[Cell],
) -> tuple[Match, int | None]:
    """A match with these interpreters, and who has forfeited it."""
    match = Match((programs[0].name, programs[1].name))
    bots: list[BotProcess] = []
    try:
        for player, program in enumerate(programs):
            interpreter = program.interpreters()[skipped[player]]
            converted = program.converted(interpreter.version)
            match.pythons[player] = "converted" if converted else ".".join(map(str, interpreter.version))
            bots.append(BotProcess(program, interpreter, conditions))
        for player, bot in enumerate(bots):
            try:
                match.load_seconds[player] = bot.load()
            except ForfeitError as error:
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
    match: Match,
    bots: list[BotProcess],
    watch: Callable[[Move], bool] | None,
    opening: Sequence[Cell],
) -> int | None:
    """Play to the end; returns who has forfeited."""
    referee = Referee()
    known = [0, 0]  # moves that each bot has been told
    told: list[tuple[Cell, Cell, str]] = []  # the move before, the move, the flag
    for cell in opening:
        told.append((referee.old_move, cell, FLAGS[referee.player]))
        match.moves.append(Move(referee.player, cell, referee.bonus, 0.0))
        if not referee.play(cell):
            raise ExtremeError(f"The opening is against the rules: {cell} cannot be its move {len(told)}.")
    while referee.result()[1] == "-":
        player, flag, before = referee.player, FLAGS[referee.player], referee.old_move
        request = {"moves": told[known[player] :], "old_move": before, "flag": flag}
        known[player] = len(told)
        try:
            answer, seconds, again = bots[player].ask(request)
            cell = _checked(answer, referee.board, seconds)
        except ForfeitError as error:
            _forfeit(match, player, error)
            return player
        move = Move(player, cell, referee.bonus, seconds, again)
        if not referee.play(cell):
            _forfeit(match, player, ForfeitError("INVALID MOVE", f"It answered {cell} after {before}.", seconds))
            return player
        told.append((before, cell, flag))
        match.moves.append(move)
        if watch and not watch(move):
            return None
    winner, match.message = referee.result()
    if match.message == "WON":
        player = FLAGS.index(winner)
        match.winner, match.points = PLAYERS[player], (WHOLE * (player == 0), WHOLE * (player == 1))
    else:
        match.points = referee.points()
    return None


def _checked(answer: dict[str, Any], board: BigBoard, seconds: float) -> Cell:
    """The cell that a bot has answered; a ForfeitError if it is none, or the bot has changed its board."""
    if answer.get("big") != [*board.big_boards_status] or answer.get("small") != [*board.small_boards_status]:
        raise ForfeitError("MODIFIED THE BOARD", "After its move, the board was not as before.", seconds)
    move = answer.get("move")
    if not isinstance(move, list) or len(move) != 3 or any(type(number) is not int for number in move):
        shown = plain(answer.get("shown"), 200)
        raise ForfeitError("INVALID MOVE", f"It answered {shown}, which is no tuple of three integers.", seconds)
    return move[0], move[1], move[2]


def _forfeit(match: Match, loser: int, error: ForfeitError) -> Match:
    winner = 1 - loser
    match.winner, match.message, match.detail = PLAYERS[winner], error.message, error.detail
    match.points = (WHOLE * (winner == 0), WHOLE * (winner == 1))
    return match


def check_walls() -> None:
    """Refuse to go on where bots cannot be shut in.

    Raises
    ------
    MissingExtraError
        If the Python binding of libseccomp is missing.
    ExtremeError
        That says why, and what the switch is called that allows bots without walls.
    """
    from pttt_ooc.extreme.programs import program

    check_extra("extreme", "The wall around bots")
    try:
        bot = program("nobody.py", b"class Nobody:\n    def move(self, *_): pass\n")
        process = BotProcess(bot, bot.interpreters()[-1], Conditions())
        try:
            process.load()
        except ForfeitError as error:
            raise ExtremeError(f"Python does not run behind walls: {error.detail.strip().splitlines()[-1]}") from None
        finally:
            process.end()
    except ExtremeError as error:
        raise ExtremeError(
            f"{error} Strangers' bots are not run without walls, unless you trust them and say --no-sandbox."
        ) from error
