"""A person as a player of a match."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from pttt_ooc.other_games.extreme.bot_process import Spent
from pttt_ooc.other_games.extreme.referee import Cell, Referee

Choose = Callable[[Referee], Cell]
"""Asks the person for a move in a position; the move must be valid.

A :class:`~pttt_ooc.other_games.extreme.clock.StoppedError` ends the match without a result.
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
        """Ask for a move; see :meth:`~pttt_ooc.other_games.extreme.bot_process.BotProcess.ask`."""
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
