"""A store of games that people play, in an SQLite database.

A change is written only if the game has not changed since it was read: of two simultaneous moves one counts.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any, ClassVar, Generic, TypeVar

from sqlalchemy import ColumnElement, String, Table, delete, false, func, select, update
from sqlalchemy.orm import DeclarativeBase, InstrumentedAttribute, Mapped, mapped_column

from pttt_ooc.errors import PlayError
from pttt_ooc.site.play.owners import VISITORS
from pttt_ooc.site.service.sqlite import PlayDatabase

UNDER_WAY = 20
"""Most open games per person and kind of game."""

_EXPIRY_SECONDS = 90 * 86400.0  # seconds after its last change when a visitor's game is deleted


class GameRow(DeclarativeBase):
    """The columns of every kind of game.

    Attributes
    ----------
    id
        A random text that cannot be guessed.
    owner
        See :func:`pttt_ooc.site.play.owners.owner_of`.
    result
        None while the game goes on.
    shared
        Whether everybody who knows its key may see the finished game.
    helped
        Whether the person has asked for a hint: such a game is in no record.
    version
        Names of columns; every move changes at least one of them.
    """

    __abstract__ = True
    version: ClassVar[Sequence[str]]
    __table__: ClassVar[Table]

    id: Mapped[str] = mapped_column(String(40), primary_key=True, sort_order=-1)
    owner: Mapped[str] = mapped_column(String(80), sort_order=-1)
    result: Mapped[int | None]
    shared: Mapped[bool] = mapped_column(default=False, server_default=false())
    helped: Mapped[bool] = mapped_column(default=False, server_default=false())
    started_at: Mapped[float] = mapped_column(sort_order=1)
    changed_at: Mapped[float] = mapped_column(sort_order=1)


Row = TypeVar("Row", bound=GameRow)


class GameStore(Generic[Row]):
    """All games of one kind.

    Parameters
    ----------
    file
        See :func:`~pttt_ooc.site.play.database_file.kept_file`.
    rows
        The class of the games.
    noun, nouns
        Singular and plural, for messages: "match", "matches".
    most_of_visitors
        Most games of people without an account.
    only
        Conditions; other games in the file are ignored.
    under_way
        Most open games per person.

    Raises
    ------
    StoreError
        If the database cannot be used; all methods raise it too.
    """

    def __init__(
        self,
        file: Path,
        rows: type[Row],
        noun: str,
        nouns: str,
        most_of_visitors: int,
        *only: ColumnElement[bool],
        under_way: int = UNDER_WAY,
    ) -> None:
        self._under_way = under_way
        self._rows, self._noun, self._nouns, self._most, self._only = rows, noun, nouns, most_of_visitors, only
        self.database = PlayDatabase(file, nouns, [rows.__table__])
        old = time.time() - _EXPIRY_SECONDS
        with self.database.writing() as session:
            session.execute(delete(rows).where(rows.owner.startswith(VISITORS), rows.changed_at < old))

    def close(self) -> None:
        """Close the database."""
        self.database.close()

    def check_quota(self, owner: str) -> None:
        """Raise a PlayError if a person has too many open games, or there is no space for visitors' games."""
        count, rows = select(func.count()).select_from(self._rows), self._rows
        with self.database.reading() as session:
            own = session.scalar(count.where(rows.owner == owner, rows.result.is_(None))) or 0
            visitor = owner.startswith(VISITORS)
            visitors = (session.scalar(count.where(rows.owner.startswith(VISITORS))) or 0) if visitor else 0
        if own >= self._under_way:
            raise PlayError(
                f"You have {own} {self._nouns} under way, which is the limit; finish or give up one of them.", 429
            )
        if visitors >= self._most:
            raise PlayError(f"There is no room for more {self._nouns} of people who are not signed in.", 429)

    def begin(self, owner: str, id: str | None = None, **values: Any) -> Row:
        """Store a new game; `id` is a text that cannot be guessed, if the game has one already."""
        now = time.time()
        row = self._rows(id=id or secrets.token_urlsafe(16), owner=owner, started_at=now, changed_at=now, **values)
        with self.database.writing() as session:
            session.add(row)
        return row

    def begin_only(self, owner: str, id: str, most: int, **values: Any) -> None:
        """Replace the games of its owner by a new one, and delete all people's games but the latest `most`."""
        rows, now = self._rows, time.time()
        latest = select(rows.id).order_by(rows.started_at.desc(), rows.id).limit(most)
        with self.database.writing() as session:
            session.execute(delete(rows).where(rows.owner == owner))
            session.add(rows(id=id, owner=owner, started_at=now, changed_at=now, **values))
            session.flush()
            session.execute(delete(rows).where(rows.id.not_in(latest)))

    def row(self, owner: str, id: str) -> Row:
        """A person's game; a PlayError if there is none."""
        with self.database.reading() as session:
            chosen = select(self._rows).where(self._rows.id == id, self._rows.owner == owner, *self._only)
            row = session.scalars(chosen).one_or_none()
        if row is None:
            raise PlayError(f"There is no such {self._noun} of yours.", 404)
        return row

    def find_shared(self, id: str) -> Row:
        """A game that its owner has shared; a PlayError if there is none."""
        with self.database.reading() as session:
            chosen = select(self._rows).where(self._rows.id == id, self._rows.shared, *self._only)
            row = session.scalars(chosen).one_or_none()
        if row is None:
            raise PlayError(f"There is no such {self._noun}, or its link is not valid any more.", 404)
        return row

    def share(self, owner: str, id: str, shared: bool) -> None:
        """Share a finished game with everybody who knows its key, or stop sharing it.

        Raises
        ------
        PlayError
            If it is not the person's game, or is not over.
        """
        if self.row(owner, id).result is None:
            raise PlayError(f"This {self._noun} is not over; it can be shared when it is.")
        with self.database.writing() as session:
            session.execute(update(self._rows).where(self._rows.id == id).values(shared=shared))

    def delete(self, owner: str, id: str) -> None:
        """Delete a person's game, if there is one."""
        with self.database.writing() as session:
            session.execute(delete(self._rows).where(self._rows.id == id, self._rows.owner == owner))

    def keep_latest(self, most: int) -> None:
        """Delete all games but the latest ones."""
        latest = select(self._rows.id).order_by(self._rows.started_at.desc(), self._rows.id).limit(most)
        with self.database.writing() as session:
            session.execute(delete(self._rows).where(self._rows.id.not_in(latest)))

    def has(self, id: str) -> bool:
        """Whether anybody has such a game."""
        with self.database.reading() as session:
            return session.scalar(select(self._rows.id).where(self._rows.id == id, *self._only)) is not None

    def change(self, row: Row, others: Mapping[str, Mapping[str, Any]] = MappingProxyType({}), **values: Any) -> None:
        """Change an open game; a PlayError if it is over or has changed since it was read.

        Parameters
        ----------
        others
            Changes of further games, by their keys: they are made together with this one, or not at all.
        """
        rows = self._rows
        same = [getattr(rows, name) == getattr(row, name) for name in rows.version]
        changed = update(rows).where(rows.id == row.id, rows.result.is_(None), *same)
        with self.database.writing() as session:
            done = session.execute(changed.values(changed_at=time.time(), **values))
            if done.rowcount != 1:  # type: ignore[attr-defined]
                raise PlayError("This has been done already; nothing has changed.")
            for id, changes in others.items():
                session.execute(update(rows).where(rows.id == id).values(changed_at=time.time(), **changes))

    def list_games(self, owner: str, finished: bool, most: int = 20) -> Sequence[Row]:
        """A person's games, the latest first."""
        rows = self._rows
        over = rows.result.is_not(None) if finished else rows.result.is_(None)
        chosen = select(rows).where(rows.owner == owner, over, *self._only)
        with self.database.reading() as session:
            return session.scalars(chosen.order_by(rows.started_at.desc(), rows.id).limit(most)).all()

    def count_games(self, owner: str, *columns: InstrumentedAttribute[Any]) -> Sequence[Any]:
        """A person's finished games without hints, by the values of some columns: rows of values and a count."""
        rows = self._rows
        finished = (rows.owner == owner, rows.result.is_not(None), ~rows.helped)
        chosen = select(*columns, func.count()).where(*finished, *self._only)
        with self.database.reading() as session:
            return session.execute(chosen.group_by(*columns)).all()
