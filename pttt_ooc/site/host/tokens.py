"""Agents that play here, and their tokens: shown once, and stored as hashes only."""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
import time
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from sqlalchemy import String, Table, func, select
from sqlalchemy.orm import DeclarativeBase, Mapped, Session, mapped_column

from pttt_ooc.errors import PlayError
from pttt_ooc.site.service.sqlite import PlayDatabase

MOST_AGENTS = 20_000
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9 ._+-]{0,39}")


class HostTable(DeclarativeBase):
    """Tables of the host that are no matches."""

    __abstract__ = True
    __table__: ClassVar[Table]


class AgentRow(HostTable):
    """An agent in the database.

    Attributes
    ----------
    key
        Its name in lower case: names differ in more than that.
    token_hash
        The hash of its token's secret; None: it plays on this machine only, without a token.
    """

    __tablename__ = "host_agents"
    id: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str] = mapped_column(String(40))
    key: Mapped[str] = mapped_column(String(40), unique=True)
    token_hash: Mapped[str | None] = mapped_column(String(64))
    created_at: Mapped[float]


@dataclass(frozen=True)
class HostAgent:
    """An agent, as the rest of the host knows it."""

    id: int
    name: str

    @property
    def owner(self) -> str:
        """The owner of its matches in the database."""
        return f"agent:{self.id}"


class Tokens:
    """All agents of a host; for parameters and errors see :class:`~pttt_ooc.site.service.sqlite.PlayDatabase`."""

    def __init__(self, file: Path) -> None:
        self._database = PlayDatabase(file, "agents", [AgentRow.__table__])

    def close(self) -> None:
        """Close the database."""
        self._database.close()

    def add(self, name: str) -> tuple[HostAgent, str]:
        """A new agent, and its token, which is not stored.

        Raises
        ------
        PlayError
            If the name is taken or cannot be one, or there are too many agents.
        """
        secret = secrets.token_urlsafe(32)
        agent = self._add(name, _hash(secret))
        return agent, f"{agent.id}.{secret}"

    def find_local(self, name: str) -> HostAgent:
        """The agent of this name that plays on this machine without a token; it is added if it is new.

        Raises
        ------
        PlayError
            If the name belongs to an agent with a token, or cannot be one.
        """
        with self._database.reading() as session:
            row = session.scalar(select(AgentRow).where(AgentRow.key == name.lower()))
        if row is None:
            return self._add(name, None)
        if row.token_hash is not None:
            raise PlayError(f"The agent {row.name} has a token; choose another name.")
        return HostAgent(row.id, row.name)

    def of_token(self, token: str) -> HostAgent | None:
        """The agent of a token, which may be any text."""
        number, _, secret = token.partition(".")
        found = re.fullmatch(r"[0-9]{1,9}", number, re.ASCII) is not None
        with self._database.reading() as session:
            row = session.get(AgentRow, int(number)) if found else None
        expected = row.token_hash if row and row.token_hash else _hash(secrets.token_hex(8))
        if not hmac.compare_digest(_hash(secret), expected) or row is None:
            return None
        return HostAgent(row.id, row.name)

    def names(self) -> dict[str, str]:
        """The names of all agents, by the owners of their matches."""
        with self._database.reading() as session:
            return {f"agent:{id}": name for id, name in session.execute(select(AgentRow.id, AgentRow.name))}

    def _add(self, name: str, token_hash: str | None) -> HostAgent:
        if not _NAME.fullmatch(name) or name != name.strip():
            raise PlayError(
                "An agent's name has 1 to 40 of these characters: letters, digits, blank, . _ + -; the first is a "
                "letter or a digit, and the last is no blank.",
                400,
            )
        with self._database.writing() as session:  # one writer at a time: the name stays free until it is added
            if session.scalar(select(AgentRow.id).where(AgentRow.key == name.lower())) is not None:
                raise PlayError(f"There already is an agent {name}; choose another name.")
            if _count(session) >= MOST_AGENTS:
                raise PlayError("There is no room for more agents.", 429)
            row = AgentRow(name=name, key=name.lower(), token_hash=token_hash, created_at=time.time())
            session.add(row)
            session.flush()
            return HostAgent(row.id, row.name)


def _count(session: Session) -> int:
    return session.scalar(select(func.count()).select_from(AgentRow)) or 0


def _hash(secret: str) -> str:
    return hashlib.sha256(secret.encode("utf-8", "replace")).hexdigest()
