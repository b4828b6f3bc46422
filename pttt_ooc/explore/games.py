"""Games of people against strategies: begun, gone on with, kept in an SQLite database.

An attempt is answered in one step: the person's attempt and all attempts of the opponent until the person is to move
are written together, or nothing is.  Before that the row must still be as it was read, so that of two attempts at the
same moment only one counts.  The opponent's attempts are drawn with the operating system's random numbers: there is
no seed that could be told, and what was drawn is told to nobody before the game is over.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import Index, String
from sqlalchemy.orm import Mapped, mapped_column

from pttt_ooc.errors import PlayError
from pttt_ooc.explore.opponents import Opponent, Opponents
from pttt_ooc.explore.player_view import Seat, seat_of
from pttt_ooc.explore.results import FinishedGame, Tally, answered
from pttt_ooc.explore.wing import games_file
from pttt_ooc.play.game_store import GameRow, GameStore
from pttt_ooc.rules.game import Game
from pttt_ooc.rules.play import History, replay, start

MOST_VISITORS_GAMES = 200_000
"""How many games of people without an account are kept."""


class StrategyGame(GameRow):
    """A game as it is kept.

    Attributes
    ----------
    rules
        The name of the game.
    opponent, opponent_name, digest
        See :class:`~pttt_ooc.explore.opponents.Opponent`; when the game began.
    player
        Whom the person plays.
    attempts
        The squares of all attempts of both players in order, a digit each.
    result
        The person's payoff; None while the game goes on.
    """

    __tablename__ = "games"
    version = ("attempts",)
    rules: Mapped[str] = mapped_column(String(60))
    opponent: Mapped[str] = mapped_column(String(80))
    opponent_name: Mapped[str] = mapped_column(String(120))
    digest: Mapped[str] = mapped_column(String(128))
    player: Mapped[int]
    attempts: Mapped[str] = mapped_column(String(40), default="")
    resigned: Mapped[bool] = mapped_column(default=False)

    __table_args__ = (Index("games_of_owner", "owner", "started_at"),)


@dataclass(frozen=True)
class ListedGame:
    """A game in a person's list."""

    id: str
    opponent: str
    player: int
    started_at: float
    made: int
    result: int | None
    resigned: bool


class Games:
    """The games of all people.

    Parameters
    ----------
    directory
        Where the file is that keeps them.
    opponents
        Who can be played against.
    draw
        Gives random numbers in [0, 1); default: the operating system's.

    Raises
    ------
    StoreError
        If they cannot be kept there.
    """

    def __init__(self, directory: Path, opponents: Opponents, draw: Callable[[], float] | None = None) -> None:
        self.opponents = opponents
        self._draw = draw or random.SystemRandom().random
        ours = StrategyGame.rules == self.game.name
        self.store = GameStore(games_file(directory), StrategyGame, "game", "games", MOST_VISITORS_GAMES, ours)

    @property
    def game(self) -> Game:
        """The game that is played."""
        return self.opponents.game

    def close(self) -> None:
        """Close the database."""
        self.store.close()

    # -----------------------------------------------------------------------------------------
    # Playing

    def begin(self, owner: str, key: str, player: int) -> Seat:
        """Begin a game of `owner` as `player` against an opponent.

        Raises
        ------
        PlayError
            If there is no such opponent, or it is still being prepared, or the person has too many games under way.
        """
        opponent = self._opponent(key, 1 - player)
        self.store.check_room(owner)
        self.opponents.prepare(opponent)
        history = answered(self.opponents, opponent, start(self.game), self._draw)
        row = self.store.begin(
            owner,
            rules=self.game.name,
            opponent=opponent.key,
            opponent_name=opponent.name,
            digest=opponent.digest,
            player=player,
            attempts=_written(history),
            result=_result(history, player),
            resigned=False,
        )
        return _seat(row, history)

    def attempt(self, owner: str, id: str, made: int, square: int) -> Seat:
        """Attempt a square, and let the opponent answer.

        Parameters
        ----------
        made
            How many attempts the person has made before.

        Raises
        ------
        PlayError
            If it is not the person's game, or the attempt is out of turn or not allowed; nothing is changed.
        """
        row = self.store.row(owner, id)
        history = self._history(row)
        seat = _seat(row, history)
        _check(seat, made, square)
        opponent = self._opponent(row.opponent, 1 - row.player, row.digest)
        after = answered(self.opponents, opponent, history.step(square), self._draw)
        self.store.change(row, attempts=_written(after), result=_result(after, row.player))
        return self.seat(owner, id)

    def resign(self, owner: str, id: str, made: int) -> Seat:
        """Give a game up, which counts as lost; parameters and errors see :meth:`attempt`."""
        row = self.store.row(owner, id)
        _check(_seat(row, self._history(row)), made)
        self.store.change(row, result=-1, resigned=True)
        return self.seat(owner, id)

    def seat(self, owner: str, id: str) -> Seat:
        """What the person may know of an own game; a PlayError if there is no such game."""
        row = self.store.row(owner, id)
        return _seat(row, self._history(row))

    def played(self, owner: str, id: str) -> FinishedGame:
        """All of an own game that is over; a PlayError if there is none, or it goes on."""
        row = self.store.row(owner, id)
        if row.result is None:
            raise PlayError("This game is not over; it is told what happened when it is.")
        opponent = Opponent(row.opponent, row.opponent_name, 1 - row.player, row.digest)
        history = self._history(row)
        return FinishedGame(_seat(row, history), history, opponent)

    def _opponent(self, key: str, player: int, digest: str | None = None) -> Opponent:
        for opponent in self.opponents.listed():
            if (opponent.key, opponent.player) == (key, player) and digest in (None, opponent.digest):
                return opponent
        if digest is not None:
            raise PlayError("This opponent can no longer be played against; resign, and begin another game.")
        raise PlayError("There is no such opponent; choose one of the list.", 404)

    # -----------------------------------------------------------------------------------------
    # What a person has

    def listed(self, owner: str, finished: bool) -> list[ListedGame]:
        """A person's games, the latest first."""
        rows = self.store.listed(owner, finished)
        seats = [_seat(row, self._history(row)) for row in rows]
        return [
            ListedGame(row.id, row.opponent_name, row.player, row.started_at, seat.made, row.result, row.resigned)
            for row, seat in zip(rows, seats, strict=True)
        ]

    def tallies(self, owner: str) -> list[Tally]:
        """A person's results against each opponent that was played against."""
        row = StrategyGame
        counts: dict[Opponent, dict[int, int]] = {}
        for key, name, digest, player, result, count in self.store.counted(
            owner, row.opponent, row.opponent_name, row.digest, row.player, row.result
        ):
            counts.setdefault(Opponent(key, name, 1 - player, digest), {})[result] = count
        found = [Tally(o, c.get(1, 0), c.get(0, 0), c.get(-1, 0)) for o, c in counts.items()]
        return sorted(found, key=lambda t: (-t.games, t.opponent.name, t.opponent.player))

    def _history(self, row: StrategyGame) -> History:
        return replay(self.game, [int(digit) for digit in row.attempts])


def _check(seat: Seat, made: int, square: int | None = None) -> None:
    """Raise a PlayError unless the person may make attempt number `made`, of `square`, now."""
    if seat.over:
        raise PlayError("This game is over; nothing has changed.")
    if made < seat.made:
        raise PlayError(f"Attempt {made + 1} of this game has been made already; nothing has changed.")
    if made > seat.made:
        raise PlayError(f"Attempt {seat.made + 1} of this game comes first; nothing has changed.")
    if square is not None and square not in seat.legal:
        told = ", ".join(map(str, seat.legal))
        raise PlayError(f"Square {square} cannot be attempted now; choose one of {told}.", 400)


def _seat(row: StrategyGame, history: History) -> Seat:
    return seat_of(history, row.player, row.id, row.opponent_name, row.opponent, row.result, row.resigned)


def _written(history: History) -> str:
    return "".join(str(attempt.square) for attempt in history.attempts)


def _result(history: History, player: int) -> int | None:
    return history.returns[player] if history.is_terminal else None
