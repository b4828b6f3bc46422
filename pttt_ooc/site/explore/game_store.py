"""Games of people against strategies, in an SQLite database.

The person's attempt and the opponent's attempts after it are written together, or not at all.  The opponent's attempts
are drawn with the operating system's random numbers: there is no seed that could leak, and they stay hidden until the
game is over.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from sqlalchemy import Index, String
from sqlalchemy.orm import Mapped, mapped_column

from pttt_ooc.errors import PlayError, StoreError
from pttt_ooc.games.rules.game import Game
from pttt_ooc.games.rules.infoset_text import DIGITS, attempts_of
from pttt_ooc.games.rules.play import History, replay, start
from pttt_ooc.site.explore.opponents import Opponent, Opponents
from pttt_ooc.site.explore.player_view import Seat, seat_of
from pttt_ooc.site.explore.results import FinishedGame, Standing, Tally, play_opponent, standing
from pttt_ooc.site.explore.review import Choice, choices
from pttt_ooc.site.explore.wing import games_file
from pttt_ooc.site.play.game_store import GameRow, GameStore

MOST_VISITORS_GAMES = 200_000
"""Most games of people without an account."""


class StrategyGame(GameRow):
    """A game in the database.

    Attributes
    ----------
    rules
        The name of the game.
    opponent, opponent_name, digest
        The :class:`~pttt_ooc.site.explore.opponents.Opponent` when the game began.
    player
        The player that the person is.
    attempts
        The squares of all attempts of both players in order, a digit each, as in texts of infosets.
    result
        The person's payoff; None while the game goes on.
    pencilled
        The squares with the person's pencil marks, a digit each, ascending.
    hinted
        The number of the person's attempts when they last asked for a hint; None if they never did.
    begun_after
        The number of attempts with which the game began, if it is played on from another one.
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
    pencilled: Mapped[str] = mapped_column(String(40), default="", server_default="")
    hinted: Mapped[int | None]
    begun_after: Mapped[int] = mapped_column(default=0, server_default="0")

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
    helped: bool


class Games:
    """The games of all people.

    Parameters
    ----------
    directory
        The directory of the database.
    opponents
        The opponents.
    draw
        Returns random numbers in [0, 1); default: the operating system's.

    Raises
    ------
    StoreError
        If the database cannot be used.
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
            If there is no such opponent, or it is still being prepared, or the person has too many open games.
        """
        opponent = self._opponent(key, 1 - player)
        self.store.check_quota(owner)
        self.opponents.prepare(opponent)
        return self._begin(owner, opponent, play_opponent(self.opponents, opponent, start(self.game), self._draw))

    def play_on(self, owner: str, id: str, step: int) -> Seat:
        """Begin a game from an earlier one, before attempt `step` (from 0), which was the person's.

        The opponent's attempts up to there are not taken over: they are drawn from what the person could believe.
        The new game is in no record.

        Raises
        ------
        PlayError
            If it is not the person's game, or is not over; if the attempt is the opponent's, the first of the game, or
            does not exist; if the opponent is no longer there.
        """
        played, me = self.find_finished(owner, id), self.store.row(owner, id).player
        attempts = played.history.attempts
        if not 0 < step < len(attempts) or attempts[step].player != me:
            raise PlayError("Choose one of your attempts after the first to play on from.", 400)
        opponent = self._opponent(played.opponent.key, 1 - me, played.opponent.digest)
        self.store.check_quota(owner)
        self.opponents.prepare(opponent)
        before = replay(self.game, [attempt.square for attempt in attempts[:step]])
        theirs = self.opponents.draw_infoset(opponent, before.infoset(me), self._draw())
        return self._begin(owner, opponent, _history_with_infoset(before, me, theirs), helped=True, begun_after=step)

    def _begin(self, owner: str, opponent: Opponent, history: History, **values: Any) -> Seat:
        player = 1 - opponent.player
        row = self.store.begin(
            owner,
            rules=self.game.name,
            opponent=opponent.key,
            opponent_name=opponent.name,
            digest=opponent.digest,
            player=player,
            attempts=_attempts_text(history),
            result=_result(history, player),
            resigned=False,
            **{"pencilled": "", "helped": False, "begun_after": 0, **values},
        )
        return _seat(row, history)

    def attempt(self, owner: str, id: str, made: int, square: int) -> Seat:
        """Attempt a square, and let the opponent answer.

        Parameters
        ----------
        made
            The number of the person's earlier attempts.

        Raises
        ------
        PlayError
            If it is not the person's game, or the attempt is out of turn or not allowed; nothing changes.
        """
        row = self.store.row(owner, id)
        history = self._history(row)
        seat = _seat(row, history)
        _check(seat, made, square)
        opponent = self._opponent(row.opponent, 1 - row.player, row.digest)
        after = play_opponent(self.opponents, opponent, history.step(square), self._draw)
        self.store.change(row, attempts=_attempts_text(after), result=_result(after, row.player))
        return self.seat(owner, id)

    def resign(self, owner: str, id: str, made: int) -> Seat:
        """Resign, which counts as a loss; for parameters and errors see :meth:`attempt`."""
        row = self.store.row(owner, id)
        _check(_seat(row, self._history(row)), made)
        self.store.change(row, result=-1, resigned=True)
        return self.seat(owner, id)

    def pencil(self, owner: str, id: str, made: int, square: int) -> Seat:
        """Make a pencil mark on a square, or take it away; for parameters and errors see :meth:`attempt`."""
        row = self.store.row(owner, id)
        _check(_seat(row, self._history(row)), made, square)
        marks = set(row.pencilled) ^ {DIGITS[square]}
        self.store.change(row, pencilled="".join(sorted(marks, key=DIGITS.index)))
        return self.seat(owner, id)

    def hint(self, owner: str, id: str, made: int) -> Seat:
        """Ask for a hint, after which the game is in no record; for parameters and errors see :meth:`attempt`."""
        row = self.store.row(owner, id)
        _check(_seat(row, self._history(row)), made)
        self.opponents.prepare(self._opponent(row.opponent, 1 - row.player, row.digest))
        self.store.change(row, hinted=made, helped=True)
        return self.seat(owner, id)

    def hints(self, seat: Seat) -> Sequence[Choice]:
        """The hint that the person has asked for at their infoset: the squares with their values; empty if none.

        It depends on the infoset and the opponent only; it is empty while the opponent cannot be asked.
        """
        if not seat.hinted:
            return ()
        try:
            opponent = self._opponent(seat.key, 1 - seat.player)
            return choices(self.opponents.numbers(opponent, seat.infoset), seat.legal)
        except PlayError:
            return ()

    def seat(self, owner: str, id: str) -> Seat:
        """The person's view of a game; a PlayError if it is not the person's."""
        row = self.store.row(owner, id)
        return _seat(row, self._history(row))

    def find_finished(self, owner: str, id: str) -> FinishedGame:
        """A finished game; a PlayError if it is not the person's, or is not over."""
        row = self.store.row(owner, id)
        if row.result is None:
            raise PlayError("This game is not over; what happened is shown when it is.")
        return self._finished_game(row)

    def find_shared(self, id: str) -> FinishedGame:
        """A finished game that its owner has shared, for everybody; a PlayError if there is none."""
        return self._finished_game(self.store.find_shared(id))

    def _finished_game(self, row: StrategyGame) -> FinishedGame:
        opponent = Opponent(row.opponent, row.opponent_name, 1 - row.player, row.digest)
        history = self._history(row)
        return FinishedGame(_seat(row, history), history, opponent, row.shared)

    def _opponent(self, key: str, player: int, digest: str | None = None) -> Opponent:
        for opponent in self.opponents.list_opponents():
            if (opponent.key, opponent.player) == (key, player) and digest in (None, opponent.digest):
                return opponent
        if digest is not None:
            raise PlayError("This opponent can no longer be played against; resign, and begin another game.")
        raise PlayError("There is no such opponent; choose one of the list.", 404)

    # -----------------------------------------------------------------------------------------
    # Lists

    def list_games(self, owner: str, finished: bool) -> list[ListedGame]:
        """A person's games, the latest first."""
        rows = self.store.list_games(owner, finished)
        seats = [_seat(row, self._history(row)) for row in rows]
        return [
            ListedGame(
                row.id, row.opponent_name, row.player, row.started_at, seat.made, row.result, row.resigned, row.helped
            )
            for row, seat in zip(rows, seats, strict=True)
        ]

    def standings(self, owner: str, against: Opponent | None = None) -> list[Standing]:
        """A person's results against each opponent, or only `against` one, with the exact expectations."""
        row = StrategyGame
        counts: dict[Opponent, dict[int, int]] = {}
        for key, name, digest, player, result, count in self.store.count_games(
            owner, row.opponent, row.opponent_name, row.digest, row.player, row.result
        ):
            counts.setdefault(Opponent(key, name, 1 - player, digest), {})[result] = count
        tallies = [Tally(o, c.get(1, 0), c.get(0, 0), c.get(-1, 0)) for o, c in counts.items()]
        tallies.sort(key=lambda t: (-t.games, t.opponent.name, t.opponent.player))
        return [standing(self.opponents, tally) for tally in tallies if against in (None, tally.opponent)]

    def _history(self, row: StrategyGame) -> History:
        return replay(self.game, [DIGITS.index(digit) for digit in row.attempts])


def _check(seat: Seat, made: int, square: int | None = None) -> None:
    """Raise a PlayError unless the person may attempt `square` now, after `made` attempts."""
    if seat.over:
        raise PlayError("This game is over; nothing has changed.")
    if made < seat.made:
        raise PlayError(f"Attempt {made + 1} of this game has been made already; nothing has changed.")
    if made > seat.made:
        raise PlayError(f"Attempt {seat.made + 1} of this game comes first; nothing has changed.")
    if square is not None and square not in seat.legal:
        choices = ", ".join(map(str, seat.legal))
        raise PlayError(f"Square {square} cannot be attempted now; choose one of {choices}.", 400)


def _seat(row: StrategyGame, history: History) -> Seat:
    seat = seat_of(history, row.player, row.id, row.opponent_name, row.opponent, row.result, row.resigned)
    pencilled = frozenset(map(DIGITS.index, row.pencilled)) & {*seat.legal}
    helps = ["hints"] * (row.hinted is not None) + [f"played on from attempt {row.begun_after + 1}"] * bool(
        row.begun_after
    )
    hinted = row.hinted == seat.made and bool(seat.legal)
    return replace(seat, pencilled=pencilled, hinted=hinted, help=", ".join(helps))


def _history_with_infoset(before: History, me: int, theirs: str) -> History:
    """A history in which `me` has made the same attempts as before, and the other player those of an infoset."""
    own = [attempt.square for attempt in before.attempts if attempt.player == me]
    others = [square for square, _ in attempts_of(theirs)][len(before.game.setup[1 - me]) :]
    history, left = start(before.game), (iter(own), iter(others)) if me == 0 else (iter(others), iter(own))
    while history.player is not None and (square := next(left[history.player], None)) is not None:
        history = history.step(square)
    if (history.player, history.infoset(me), history.infoset(1 - me)) != (me, before.infoset(me), theirs):
        raise StoreError(f"The infoset {theirs!r} of the opponent does not fit to {before.infoset(me)!r}.")
    return history


def _attempts_text(history: History) -> str:
    return "".join(DIGITS[attempt.square] for attempt in history.attempts)


def _result(history: History, player: int) -> int | None:
    return history.returns[player] if history.is_terminal else None
