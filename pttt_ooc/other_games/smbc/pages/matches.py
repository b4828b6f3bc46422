"""People's matches in the browser, in an SQLite database.

A move and the bot's answer are written together, or not at all.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from pydantic import TypeAdapter
from sqlalchemy import Index, String, Text
from sqlalchemy.orm import Mapped, mapped_column

from pttt_ooc.errors import PlayError
from pttt_ooc.other_games.smbc.match_play import ME, Draw, Match, new_match
from pttt_ooc.other_games.smbc.match_results import Tally, tallies
from pttt_ooc.other_games.smbc.pages.answerer_client import AskedBot
from pttt_ooc.other_games.smbc.pages.views import Seat, seat_of
from pttt_ooc.other_games.smbc.wing import matches_file
from pttt_ooc.site.play.game_store import GameRow, GameStore

MOST_VISITORS = 50_000
"""Most matches of people without an account."""


_MATCH = TypeAdapter(Match)


class MatchRow(GameRow):
    """A match in the database.

    Attributes
    ----------
    solution
        The digest of the solution.
    match
        The match as JSON, with the goals of both.
    changes
        The number of changes.
    first
        Who moves first in the first round.
    result
        The winner; None while the match goes on.
    hinted
        The number of changes when the person last asked for a hint; None if they never did.
    """

    __tablename__ = "matches"
    version = ("changes",)
    solution: Mapped[str] = mapped_column(String(128))
    match: Mapped[str] = mapped_column(Text)
    changes: Mapped[int] = mapped_column("version", default=0)
    first: Mapped[int]
    result: Mapped[int | None] = mapped_column("winner")
    hinted: Mapped[int | None]

    __table_args__ = (Index("matches_of_owner", "owner", "started_at"),)


@dataclass(frozen=True)
class ListedMatch:
    """A match in a person's list."""

    id: str
    points: tuple[int, int]
    started_at: float
    winner: int | None
    resigned: bool
    helped: bool


class Matches:
    """The matches of all people.

    Parameters
    ----------
    directory
        The directory of the database, which is created if it is missing; only its owner can read it.
    draw
        Returns random numbers in [0, 1); default: the operating system's.
    """

    def __init__(self, directory: Path, bot: AskedBot, draw: Draw | None = None) -> None:
        self.bot, self._draw = bot, draw or random.SystemRandom().random
        self.store = GameStore(matches_file(directory), MatchRow, "match", "matches", MOST_VISITORS)

    def close(self) -> None:
        """Close the database."""
        self.store.close()

    # -----------------------------------------------------------------------------------------
    # Playing

    def begin(self, owner: str, first: int | None) -> str:
        """Begin a match of `owner`; returns its key.

        Parameters
        ----------
        first
            Who moves first in the first round; None: drawn at random.

        Raises
        ------
        PlayError
            If the person has too many open matches, or there is no room.
        """
        self.store.check_quota(owner)
        facts = self.bot.facts
        begins = int(self._draw() * 2) if first is None else first
        match = new_match(facts.winning_score, begins, self._draw).after_bot_move(self.bot, self._draw)
        row = self.store.begin(
            owner, solution=facts.digest, match=_to_json(match), first=begins, result=match.winner, changes=0
        )
        return row.id

    def move(self, owner: str, id: str, version: int, square: int) -> None:
        """Take a square, and let the bot answer.

        Raises
        ------
        PlayError
            If it is not the person's match, or the move is impossible; nothing changes.
        """
        self._change(owner, id, version, lambda match: match.move(square, self.bot, self._draw))

    def go_on(self, owner: str, id: str, version: int) -> None:
        """Begin the next round; for errors see :meth:`move`."""
        self._change(owner, id, version, lambda match: match.on(self._draw).after_bot_move(self.bot, self._draw))

    def resign(self, owner: str, id: str, version: int) -> None:
        """Resign, which counts as a loss; for errors see :meth:`move`."""
        self._change(owner, id, version, lambda match: replace(match, resigned=True), any_solution=True)

    def hint(self, owner: str, id: str, version: int) -> None:
        """Ask for a hint, after which the match is in no record; for errors see :meth:`move`."""
        row, match = self._open(owner, id, version)
        if match.round.over:
            raise PlayError("This round is over; there is no move to be hinted at.")
        self.store.change(row, hinted=version, helped=True)

    def seat(self, owner: str, id: str, number: int | None = None) -> Seat:
        """The person's view of a match; of a finished one, also after round `number`.

        Raises
        ------
        PlayError
            If it is not the person's match, or has no such round to show.
        """
        return self._seat(self.store.row(owner, id), number)

    def shared_seat(self, id: str, number: int | None = None) -> Seat:
        """Like :meth:`seat`, for everybody, of a match that its owner has shared."""
        return self._seat(self.store.find_shared(id), number)

    def _seat(self, row: MatchRow, number: int | None) -> Seat:
        match = _MATCH.validate_json(row.match)
        if number is not None and (row.result is None or not 1 <= number <= len(match.rounds)):
            raise PlayError(f"There is no round {number} to show: a finished match has {len(match.rounds)}.", 404)
        bot, now = self.bot if self._is_ours(row) else None, match.round
        seat = seat_of(row.id, row.changes, match, bot, number, row.shared)
        hinted = bot is not None and row.hinted == row.changes and row.result is None and not now.over
        hints = self.bot.chances(now.scores, now.squares, now.goals[ME]) if hinted else {}
        return replace(seat, hints=hints, helped=row.helped)

    # -----------------------------------------------------------------------------------------
    # Lists

    def list_matches(self, owner: str, finished: bool) -> list[ListedMatch]:
        """A person's matches, the latest first."""
        read = [(row, _MATCH.validate_json(row.match)) for row in self.store.list_games(owner, finished)]
        return [
            ListedMatch(row.id, match.points, row.started_at, row.result, match.resigned, row.helped)
            for row, match in read
        ]

    def tallies(self, owner: str) -> list[Tally]:
        """A person's finished matches against this solution, counted."""
        digest = self.bot.facts.digest
        found = self.store.count_games(owner, MatchRow.solution, MatchRow.first, MatchRow.result)
        return tallies((first, winner) for solution, first, winner, n in found if solution == digest for _ in range(n))

    # -----------------------------------------------------------------------------------------
    # Rows

    def _is_ours(self, row: MatchRow) -> bool:
        return row.solution == self.bot.facts.digest

    def _change(
        self, owner: str, id: str, version: int, changed: Callable[[Match], Match], any_solution: bool = False
    ) -> None:
        row, before = self._open(owner, id, version, any_solution)
        match = changed(before)
        self.store.change(row, match=_to_json(match), result=match.winner, changes=version + 1)

    def _open(self, owner: str, id: str, version: int, any_solution: bool = False) -> tuple[MatchRow, Match]:
        """A person's match that goes on, at its version."""
        row = self.store.row(owner, id)
        if row.result is not None:
            raise PlayError("This match is over; nothing has changed.")
        if version != row.changes:
            raise PlayError("This has been done already; nothing has changed.")
        if not any_solution and not self._is_ours(row):
            raise PlayError("The solution has changed since this match began; give it up, and begin another one.")
        return row, _MATCH.validate_json(row.match)


def _to_json(match: Match) -> str:
    return json.dumps(asdict(match))
