"""Agents that wait for each other: who asks for a match against another agent meets the one that has waited longest.

An agent waits as long as it goes on asking; its match is there the next time that it asks.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from sqlalchemy import String, select
from sqlalchemy.orm import Mapped, mapped_column

from pttt_ooc.errors import PlayError
from pttt_ooc.site.host.match_rows import HostMatch
from pttt_ooc.site.host.tokens import HostTable
from pttt_ooc.site.service.sqlite import PlayDatabase

WAITING_SECONDS = 30.0
"""An agent that has not asked for so long does not wait any more."""


class WaitingError(PlayError):
    """No other agent waits for this one."""

    def __init__(self, player: int) -> None:
        super().__init__(
            f"No other agent waits as player {player} now; ask again at least every {WAITING_SECONDS:g} seconds, until "
            "one has come.",
            503,
        )


class WaitingRow(HostTable):
    """An agent that waits as a player of a game.

    Attributes
    ----------
    since, asked_at
        When it first asked, and when it last did, in seconds since 1970.
    match
        The key of its match, if another agent has come meanwhile.
    """

    __tablename__ = "host_waiting"
    owner: Mapped[str] = mapped_column(String(80), primary_key=True)
    rules: Mapped[str] = mapped_column(String(60), primary_key=True)
    player: Mapped[int] = mapped_column(primary_key=True)
    since: Mapped[float]
    asked_at: Mapped[float]
    match: Mapped[str | None] = mapped_column(String(40))


class WaitingRoom:
    """All agents that wait, in the database of matches."""

    def __init__(self, database: PlayDatabase) -> None:
        self._database = database
        database.add_tables([WaitingRow.__table__])

    def meet(self, owner: str, rows: Sequence[Mapping[str, Any]], now: float, count: Callable[[], None]) -> str:
        """The key of this agent's match against the one that has waited longest, or that has come while it waited.

        Parameters
        ----------
        rows
            The values of this agent's match and of the other one's.
        now
            The time in seconds since 1970.
        count
            Called before a match begins; it may refuse.

        Raises
        ------
        WaitingError
            If there is none; then this agent waits.
        """
        rules, player = rows[0]["rules"], rows[0]["player"]
        waiting = WaitingRow
        present = (waiting.match.is_(None), waiting.asked_at >= now - WAITING_SECONDS)
        fitting = select(waiting).where(
            waiting.rules == rules, waiting.player == 1 - player, waiting.owner != owner, *present
        )
        ids, id = [secrets.token_urlsafe(16) for _ in rows], None
        with self._database.writing() as session:
            own = session.get(waiting, (owner, rules, player))
            if own is not None and own.match is not None:
                session.delete(own)
                return own.match
            other = session.scalars(fitting.order_by(waiting.since).limit(1)).one_or_none()
            if other is not None:
                count()
                moment, owners = time.time(), (owner, other.owner)
                for n, values in enumerate(rows):
                    dates = {"started_at": moment, "changed_at": moment}
                    session.add(HostMatch(id=ids[n], owner=owners[n], other=ids[1 - n], **dates, **values))
                other.match, id = ids[1], ids[0]
                if own is not None:
                    session.delete(own)
            elif own is None:
                session.add(waiting(owner=owner, rules=rules, player=player, since=now, asked_at=now))
            else:
                late = own.asked_at < now - WAITING_SECONDS  # it went away, and has lost its place
                own.since, own.asked_at = now if late else own.since, now
        if id is None:
            raise WaitingError(1 - player)
        return id
