"""Matches in the database."""

from __future__ import annotations

from sqlalchemy import Index, String
from sqlalchemy.orm import Mapped, mapped_column

from pttt_ooc.games.rules.game import Game
from pttt_ooc.games.rules.infoset_text import DIGITS
from pttt_ooc.games.rules.play import History, replay
from pttt_ooc.site.play.game_store import GameRow

AGENT = "agent"
"""The opponent's key where another agent plays."""

STANDS = 1e18
"""The beginning of a turn that has not come: the clock stands."""


class HostMatch(GameRow):
    """A match of an agent; two agents that play each other have one each, with the same attempts.

    Attributes
    ----------
    rules
        The name of the game.
    opponent, digest
        Key and digest of the :class:`~pttt_ooc.site.explore.opponents.Opponent` when the match began; or :data:`AGENT`
        and nothing.
    other
        The key of the other agent's match; None: the opponent is a strategy.
    player
        The player that the agent is.
    attempts
        The squares of all attempts of both players in order, a digit each, as in texts of infosets.
    ended
        How it has ended; None while it goes on.
    seconds_left, turn_since
        The agent's time at the moment `turn_since`, in seconds since 1970: from then on it runs while the match is
        open.  It is :data:`STANDS` in the other agent's turn.
    refused
        How often the agent has tried a square that it may not attempt.
    estimate
        The agent's expected payoff, estimated by AIVAT; None while it is not known.
    """

    __tablename__ = "host_matches"
    version = ("attempts",)
    rules: Mapped[str] = mapped_column(String(60))
    opponent: Mapped[str] = mapped_column(String(80))
    digest: Mapped[str] = mapped_column(String(128))
    player: Mapped[int]
    attempts: Mapped[str] = mapped_column(String(40))
    ended: Mapped[str | None] = mapped_column(String(20))
    seconds_left: Mapped[float]
    turn_since: Mapped[float]
    refused: Mapped[int]
    estimate: Mapped[float | None]
    other: Mapped[str | None] = mapped_column(String(40))

    __table_args__ = (
        Index("host_matches_of_owner", "owner", "started_at"),
        Index("host_matches_of_game", "rules", "opponent"),
    )

    def history(self, game: Game) -> History:
        """All attempts of both players: it never leaves the server."""
        return replay(game, [DIGITS.index(digit) for digit in self.attempts])

    def time_left(self, moment: float) -> float:
        """The agent's seconds at a moment, in seconds since 1970; negative if its time is over."""
        spent = max(0.0, moment - self.turn_since) if self.result is None else 0.0
        return self.seconds_left - spent


def attempts_text(history: History) -> str:
    """The attempts of a history as a row has them."""
    return "".join(DIGITS[attempt.square] for attempt in history.attempts)
