"""What people own of what is kept: rows with an owner, how many there may be, and how long they are kept."""

from __future__ import annotations

import time

from sqlalchemy import ColumnElement, String, delete, func, select
from sqlalchemy.orm import Mapped, mapped_column

from pttt_ooc.errors import PlayError
from pttt_ooc.play.database import Kept
from pttt_ooc.play.owners import VISITORS

UNDER_WAY = 20
"""How many games of a kind one person may have under way."""

_FORGOTTEN = 90 * 86400.0  # seconds after which a visitor's row that nobody has touched is deleted


class Owned:
    """The columns of all that belongs to a person.

    Attributes
    ----------
    id
        Cannot be guessed.
    owner
        As of :func:`pttt_ooc.play.owners.owner_of`.
    """

    id: Mapped[str] = mapped_column(String(40), primary_key=True, sort_order=-1)
    owner: Mapped[str] = mapped_column(String(80), sort_order=-1)
    started_at: Mapped[float] = mapped_column(sort_order=1)
    changed_at: Mapped[float] = mapped_column(sort_order=1)


def forget(kept: Kept, rows: type[Owned]) -> None:
    """Delete what visitors have left."""
    old = time.time() - _FORGOTTEN
    with kept.writing() as session:
        session.execute(delete(rows).where(rows.owner.startswith(VISITORS), rows.changed_at < old))


def check_room(
    kept: Kept, rows: type[Owned], owner: str, is_under_way: ColumnElement[bool], most_of_visitors: int, what: str
) -> None:
    """Raise a PlayError if a person has too much under way, or there is no room.

    Parameters
    ----------
    is_under_way
        Which rows are.
    most_of_visitors
        How many rows of people without an account are kept.
    what
        They are, as sentences name them: "games".
    """
    with kept.reading() as session:
        count = select(func.count()).select_from(rows)
        own = session.scalar(count.where(rows.owner == owner, is_under_way)) or 0
        visitor = owner.startswith(VISITORS)
        visitors = (session.scalar(count.where(rows.owner.startswith(VISITORS))) or 0) if visitor else 0
    if own >= UNDER_WAY:
        raise PlayError(f"You have {own} {what} under way, which is the limit; finish or give up one of them.", 429)
    if visitors >= most_of_visitors:
        raise PlayError(f"There is no room for more {what} of people who are not signed in.", 429)
