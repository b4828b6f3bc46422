"""A game of a person against a bot, in a thread of its own: the person's moves come from elsewhere."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Sequence
from dataclasses import astuple
from typing import Any

from pttt_ooc.errors import PtttError
from pttt_ooc.other_games.extreme.boards import move_text, stamp, why_not
from pttt_ooc.other_games.extreme.bot_process import BotForfeitError, Conditions
from pttt_ooc.other_games.extreme.bot_programs import BotProgram
from pttt_ooc.other_games.extreme.clock import StoppedError
from pttt_ooc.other_games.extreme.match import BotMatch, Person, play_match
from pttt_ooc.other_games.extreme.referee import Cell, Referee, TimedMove
from pttt_ooc.other_games.extreme.walls import ExtremeError

log = logging.getLogger("pttt.extreme.play")
IDLE_SECONDS = 1800.0
"""Seconds after which a game whose person does not move is ended: its bot holds memory."""
_SHOWN_SECONDS = 2.0  # seconds within which the referee takes up a person's move
_NEXT_SECONDS = 0.02  # seconds after a bot's move within which it is known whether the person is next
_PERSON, _BOT, _OVER = "person", "bot", "over"
RESIGNED = "RESIGNED"
"""How a match ends that the person has resigned."""


class BotGame:
    """A game, which begins at once.

    Parameters
    ----------
    find
        Reads the bot, which may take a while; it raises a PtttError if there is none.
    side
        The person's side: 0 plays x and begins, 1 plays o.
    conditions
        How the bot is run.
    opening
        Moves that are made first: the bot is told them, and asked for none of them.
    hints
        Whether the person had hints for these moves.
    changed
        Called with the game, in any thread, when it has changed and must be kept.
    """

    def __init__(
        self,
        find: Callable[[], BotProgram],
        side: int,
        conditions: Conditions,
        opening: Sequence[Cell] = (),
        hints: bool = False,
        changed: Callable[[BotGame], None] = lambda game: None,
    ) -> None:
        self._find, self._side, self._conditions, self._opening = find, side, conditions, opening
        self._changed, self._tell_changed = threading.Condition(), changed
        self._stopping = threading.Event()
        self._moves: list[TimedMove] = []
        self._turn, self._position = _BOT, Referee()
        self._chosen: Cell | None = None
        self._resigned = False
        self._hints, self._hinted_at = hints, -1
        self._match: BotMatch | None = None
        self._why = ""  # the reason of an end without a result
        self._check_opening()
        self._thread = threading.Thread(target=self._play, daemon=True)
        self._thread.start()

    def _check_opening(self) -> None:
        position = Referee()
        for cell in self._opening:
            self._moves.append(TimedMove(position.player, cell, position.bonus, 0.0))
            if position.result()[1] != "-" or not position.play(cell):
                raise ExtremeError(f"A game cannot go on from there: {move_text(cell)} is against the rules.")

    # -----------------------------------------------------------------------------------------
    # The person's side

    def state(self) -> dict[str, Any]:
        """The game as it is now.

        Returns
        -------
        dict
            ``side``; ``moves``, each with player, cell, bonus, seconds, processor seconds and seconds of waiting;
            ``begun_after``: the number of moves that were made before the game began; ``hints``: whether the person has
            asked for hints; ``hinted``: whether for the next move; ``turn``: ``person``, ``bot`` or ``over``; ``why``:
            why it ended without a result; and, of a game that has been played to its end, the ``match`` as
            :meth:`~pttt_ooc.other_games.extreme.match.BotMatch.as_json` has it.
        """
        with self._changed:
            return {
                "side": self._side,
                "moves": [astuple(move) for move in self._moves],
                "begun_after": len(self._opening),
                "hints": self._hints,
                "hinted": self._turn == _PERSON and self._hinted_at == len(self._moves),
                "turn": self._turn,
                "why": self._why,
                "match": None if self._match is None else self._match.as_json(),
            }

    def move(self, ply: int, cell: Cell) -> None:
        """Make a move for the person; nothing happens if it is not the move number `ply` of the game any more.

        Raises
        ------
        ExtremeError
            If the rules forbid it.
        """
        with self._changed:
            if self._turn != _PERSON or ply != len(self._moves):
                return
            if cell not in self._position.valid_cells():
                raise ExtremeError(f"You cannot move to {move_text(cell)}: {why_not(self._position, cell)}.")
            self._chosen, self._turn = cell, _BOT
            self._changed.notify_all()
            self._changed.wait_for(lambda: len(self._moves) > ply or self._turn == _OVER, _SHOWN_SECONDS)

    def wait_for_change(self, seen: str, seconds: float) -> None:
        """Wait until the game's ``stamp`` is not `seen`, for some seconds at most."""
        with self._changed:
            if self._changed.wait_for(lambda: stamp(len(self._moves), self._turn) != seen, seconds):
                self.wait_for_bot(_NEXT_SECONDS)

    def wait_for_bot(self, seconds: float) -> None:
        """Wait until it is not the bot's turn, for some seconds at most."""
        with self._changed:
            self._changed.wait_for(lambda: self._turn != _BOT, seconds)

    def hint(self, ply: int) -> None:
        """Mark the game as one with hints; nothing happens if the person is not to make its move number `ply`."""
        with self._changed:
            if self._turn == _PERSON and ply == len(self._moves):
                self._hints, self._hinted_at = True, ply
        self._tell()

    @property
    def hints(self) -> bool:
        """Whether the person has asked for hints."""
        return self._hints

    def resign(self) -> None:
        """Resign, in the person's turn: the bot has won; nothing happens in the bot's turn, or after the end."""
        with self._changed:
            if self._turn == _PERSON:
                self._resigned = True
                self._changed.notify_all()
                self._changed.wait_for(lambda: self._turn == _OVER, _SHOWN_SECONDS)

    @property
    def over(self) -> bool:
        """Whether it has ended; then no bot's process is left."""
        return self._turn == _OVER

    def end(self) -> None:
        """End it, in the middle of a move too."""
        with self._changed:
            self._stopping.set()
            self._changed.notify_all()

    def forget(self) -> None:
        """Report no further changes."""
        with self._changed:
            self._tell_changed = lambda game: None

    def _tell(self) -> None:
        with self._changed:
            self._tell_changed(self)

    def join(self) -> None:
        """Wait until it has ended, and the bot's process is gone."""
        self._thread.join()

    # -----------------------------------------------------------------------------------------
    # The thread

    def _play(self) -> None:
        match, why = None, ""
        try:
            bot, person = self._find(), Person(self._choose)
            pair = (person, bot) if self._side == 0 else (bot, person)
            match = play_match(pair, self._conditions, self._watch, self._opening, self._stopping)
        except StoppedError:
            why = self._why or "You ended the game."
        except PtttError as error:
            why = str(error)
        except Exception:
            log.exception("a game failed")
            why = "Something went wrong on the server; tell those who run it what you did."
        with self._changed:
            if match is not None:
                self._moves = list(match.moves)
            self._match, self._why, self._turn = match, why, _OVER
            self._changed.notify_all()
        self._tell()

    def _choose(self, position: Referee) -> Cell:
        with self._changed:
            self._position, self._turn = position, _PERSON
            self._changed.notify_all()
            waited = self._changed.wait_for(
                lambda: self._chosen is not None or self._resigned or self._stopping.is_set(), timeout=IDLE_SECONDS
            )
            if self._resigned:
                raise BotForfeitError(RESIGNED, "")
            if not waited:
                self._why = f"It was ended, as no move came for {IDLE_SECONDS / 60:g} minutes."
            if self._chosen is None or self._stopping.is_set():
                raise StoppedError
            cell, self._chosen = self._chosen, None
            return cell

    def _watch(self, match: BotMatch) -> bool:
        with self._changed:
            self._moves = list(match.moves)
            self._changed.notify_all()
        self._tell()
        return True
