"""A game of before the server was started: nobody can move in it, but another one can go on from its moves."""

from __future__ import annotations

from typing import Any

from pttt_ooc.other_games.extreme.referee import Cell

_WITHOUT_MOVES = "The server was started again before the first move."
_WITH_MOVES = "The server was started again; the moves so far are kept."


class PastGame:
    """A game as it was kept, with the methods of a :class:`~pttt_ooc.other_games.extreme.play.bot_game.BotGame`; it is
    over.

    Parameters
    ----------
    state
        What was kept; a game that was not over has ended without a result.
    """

    over = True

    def __init__(self, state: dict[str, Any]) -> None:
        if state["turn"] != "over":
            why = _WITH_MOVES if state["moves"] else _WITHOUT_MOVES
            state = {**state, "turn": "over", "hinted": False, "why": why}
        self._state = state

    @property
    def hints(self) -> bool:
        """Whether the person had asked for hints."""
        return bool(self._state["hints"])

    def state(self) -> dict[str, Any]:
        """See :meth:`~pttt_ooc.other_games.extreme.play.bot_game.BotGame.state`."""
        return dict(self._state)

    def move(self, ply: int, cell: Cell) -> None:
        """Nothing happens; so it does in the other methods."""

    def hint(self, ply: int) -> None:
        """Nothing."""

    def resign(self) -> None:
        """Nothing."""

    def end(self) -> None:
        """Nothing."""

    def forget(self) -> None:
        """Nothing."""

    def join(self) -> None:
        """Nothing."""

    def wait_for_change(self, seen: str, seconds: float) -> None:
        """Nothing."""

    def wait_for_bot(self, seconds: float) -> None:
        """Nothing."""
