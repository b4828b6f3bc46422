"""The matches of all agents: how they are begun, played, and lost by time.

An agent's attempt and the opponent's attempts after it are written together, or not at all, so that a match goes on
after a kill of either side.  The opponent's attempts are drawn with the operating system's random numbers.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from sqlalchemy import ColumnElement, Select, select, update

from pttt_ooc.errors import PlayError, did_you_mean
from pttt_ooc.games.rules.play import History, start
from pttt_ooc.site.explore.opponents import Opponent, Opponents
from pttt_ooc.site.explore.results import play_opponent
from pttt_ooc.site.host.match_estimates import estimate_match
from pttt_ooc.site.host.match_rows import HostMatch, attempts_text
from pttt_ooc.site.host.match_view import Ended, Ending, MatchSeat, MatchView, view_of
from pttt_ooc.site.host.tokens import HostAgent, Tokens
from pttt_ooc.site.play.game_store import GameStore
from pttt_ooc.site.shell.throttle import Throttle

UNDER_WAY = 64
"""Most open matches of an agent."""
BEGUN_PER_HOUR = 3600
"""Most matches that an agent may begin in an hour."""
SECONDS = 600.0
"""An agent's time for a match, if the host sets no other."""


class Matches:
    """All matches of a host.

    Parameters
    ----------
    file
        The database; see :func:`~pttt_ooc.site.play.database_file.kept_file`.
    games
        The opponents of each game.
    seconds
        An agent's time for a match.
    draw
        Returns random numbers in [0, 1); default: the operating system's.
    now
        Returns the time in seconds since 1970.

    Raises
    ------
    StoreError
        If the database cannot be used; all methods raise it too.
    """

    def __init__(
        self,
        file: Path,
        games: Sequence[Opponents],
        seconds: float = SECONDS,
        draw: Callable[[], float] | None = None,
        now: Callable[[], float] = time.time,
    ) -> None:
        self.games = {one.game.name: one for one in games}
        self.seconds, self.tokens = seconds, Tokens(file)
        self._here = HostMatch.rules.in_([*self.games])
        self.store = GameStore(file, HostMatch, "match", "matches", 1, self._here, under_way=UNDER_WAY)
        self._draw, self._now = draw or random.SystemRandom().random, now
        self._begun = Throttle(BEGUN_PER_HOUR)

    def close(self) -> None:
        """Close the database."""
        self.store.close()
        self.tokens.close()

    def restart_clocks(self, agent: HostAgent | None = None) -> None:
        """Let the clocks of open matches run from now on: nobody could play while there was no server.

        Parameters
        ----------
        agent
            Whose clocks; None: all agents'.
        """
        mine = [] if agent is None else [HostMatch.owner == agent.owner]
        opened = update(HostMatch).where(HostMatch.result.is_(None), self._here, *mine)
        with self.store.database.writing() as session:
            session.execute(opened.values(turn_since=self._now()))

    # -----------------------------------------------------------------------------------------
    # Playing

    def begin(self, agent: HostAgent, game: str, key: str, player: int) -> MatchView:
        """Begin a match of an agent as `player` against the opponent `key`.

        Raises
        ------
        PlayError
            If there is no such game or opponent, or it is still being prepared, or the agent has begun too many.
        """
        opponents = self.opponents_of(game)
        opponent = _find(opponents, key, 1 - player)
        self.close_expired(agent)
        self.store.check_quota(agent.owner)
        opponents.prepare(opponent)
        if self._begun.spend(agent.owner) > 0:
            raise PlayError("You have begun too many matches in this hour; begin the next one in a minute.", 429)
        history = play_opponent(opponents, opponent, start(opponents.game), self._draw)
        row = self.store.begin(
            agent.owner,
            rules=game,
            opponent=opponent.key,
            digest=opponent.digest,
            player=player,
            attempts=attempts_text(history),
            helped=False,
            seconds_left=self.seconds,
            turn_since=self._now(),
            refused=0,
            **self._outcome(opponents, opponent, history),
        )
        return self._view(row)

    def view(self, agent: HostAgent, id: str) -> MatchView:
        """What an agent may know of its match; a PlayError if it is not the agent's."""
        return self._view(self._row(agent, id))

    def list_open(self, agent: HostAgent) -> list[MatchView]:
        """An agent's open matches, the latest first."""
        self.close_expired(agent)
        return [self._view(row) for row in self.store.list_games(agent.owner, finished=False, most=UNDER_WAY)]

    def attempt(
        self, agent: HostAgent, id: str, square: int, made: int | None = None, at: float | None = None
    ) -> MatchView:
        """Attempt a square, and let the opponent answer.

        Parameters
        ----------
        made
            The number of the agent's earlier attempts, so that each counts once; None: whatever it is.
        at
            When the attempt arrived, in seconds since 1970; None: now.

        Raises
        ------
        PlayError
            If it is not the agent's match, the attempt is out of turn or not allowed, or the agent's time is over.
        """
        row = self._open_row(agent, id, made, at)
        opponents = self.opponents_of(row.rules)
        history, left = row.history(opponents.game), row.time_left(self._now() if at is None else at)
        if square not in history.legal():
            self.store.change(row, refused=row.refused + 1)
            legal = ", ".join(map(str, history.legal()))
            raise PlayError(f"Square {square} cannot be attempted now; choose one of {legal}.", 400)
        opponent = _find(opponents, row.opponent, 1 - row.player, row.digest)
        after = play_opponent(opponents, opponent, history.step(square), self._draw)
        outcome = self._outcome(opponents, opponent, after)
        clock = {"seconds_left": left, "turn_since": self._now()}
        self.store.change(row, attempts=attempts_text(after), **clock, **outcome)
        return self.view(agent, id)

    def resign(self, agent: HostAgent, id: str, made: int | None = None, at: float | None = None) -> MatchView:
        """Resign, which counts as a loss; for parameters and errors see :meth:`attempt`."""
        row = self._open_row(agent, id, made, at)
        self._give_up(row, "resigned", row.time_left(self._now() if at is None else at))
        return self.view(agent, id)

    def close_expired(self, agent: HostAgent | None = None) -> None:
        """Close open matches whose time is over, which are lost: an agent's, or everybody's.

        Their estimates are made when the table is asked for.
        """
        rows, now = HostMatch, self._now()
        mine = [] if agent is None else [rows.owner == agent.owner]
        over = update(rows).where(rows.result.is_(None), self._here, *mine, rows.seconds_left <= now - rows.turn_since)
        with self.store.database.writing() as session:
            session.execute(over.values(result=-1, ended="out of time", seconds_left=0.0, changed_at=time.time()))

    # -----------------------------------------------------------------------------------------
    # For the table

    def find_finished(self, opponent: Opponent, *conditions: ColumnElement[bool], most: int) -> Sequence[HostMatch]:
        """Some matches against an opponent."""
        chosen = select(HostMatch).where(*self._against(opponent), *conditions).limit(most)
        with self.store.database.reading() as session:
            return session.scalars(chosen).all()

    def sum_finished(self, opponent: Opponent, chosen: Select[Any]) -> list[dict[str, Any]]:
        """Sums over the finished matches against an opponent, for each owner."""
        finished = chosen.where(*self._against(opponent), HostMatch.result.is_not(None)).group_by(HostMatch.owner)
        with self.store.database.reading() as session:
            return [dict(row) for row in session.execute(finished).mappings()]

    def keep_estimate(self, row: HostMatch) -> bool:
        """Estimate a finished match; returns whether the opponent could be asked."""
        estimate = self.estimate(row)
        if estimate is None:
            return False
        kept = update(HostMatch).where(HostMatch.id == row.id).values(estimate=estimate)
        with self.store.database.writing() as session:
            session.execute(kept)
        return True

    def _against(self, opponent: Opponent) -> list[ColumnElement[bool]]:
        """The conditions of matches against an opponent as it is now."""
        rows = HostMatch
        same = (rows.opponent == opponent.key, rows.digest == opponent.digest, rows.player == 1 - opponent.player)
        return [self._here, *same]

    # -----------------------------------------------------------------------------------------

    def opponents_of(self, game: str) -> Opponents:
        """The opponents of a game; a PlayError if it is not played here."""
        if game not in self.games:
            here = ", ".join(self.games)
            raise PlayError(
                f"The game {game} is not played here{did_you_mean(game, self.games)}; choose one of {here}.", 404
            )
        return self.games[game]

    # -----------------------------------------------------------------------------------------

    def _row(self, agent: HostAgent, id: str, at: float | None = None) -> HostMatch:
        """A match of an agent; if its time is over, it is closed first."""
        row = self.store.row(agent.owner, id)
        if row.result is None and row.time_left(self._now() if at is None else at) <= 0:
            with suppress(PlayError):  # somebody else has just closed it
                self._give_up(row, "out of time", 0.0)
            row = self.store.row(agent.owner, id)
        return row

    def _open_row(self, agent: HostAgent, id: str, made: int | None, at: float | None) -> HostMatch:
        row = self._row(agent, id, at)
        if row.result is not None:
            how = "Your time was over, and the match is lost" if row.ended == "out of time" else "This match is over"
            raise PlayError(f"{how}; nothing has changed.")
        now = self._view(row).made
        if made is not None and made != now:
            done = f"Attempt {made + 1} of this match has been made already"
            raise PlayError(
                f"{done if made < now else f'Attempt {now + 1} of this match comes first'}; nothing has changed."
            )
        return row

    def _give_up(self, row: HostMatch, how: Ended, left: float) -> None:
        self.store.change(row, result=-1, ended=how, seconds_left=left, estimate=self.estimate(row))

    def _outcome(self, opponents: Opponents, opponent: Opponent, history: History) -> dict[str, Any]:
        """The columns that change when a match ends."""
        if not history.is_terminal:
            return {"result": None, "ended": None, "estimate": None}
        me = 1 - opponent.player
        return {
            "result": history.returns[me],
            "ended": "played",
            "estimate": estimate_match(opponents, opponent, history, given_up=False),
        }

    def estimate(self, row: HostMatch) -> float | None:
        """What :func:`.match_estimates.estimate_match` says of a match that is over, or is given up now."""
        opponents = self.opponents_of(row.rules)
        try:
            opponent = _find(opponents, row.opponent, 1 - row.player, row.digest)
        except PlayError:
            return None
        return estimate_match(opponents, opponent, row.history(opponents.game), given_up=row.ended != "played")

    def _view(self, row: HostMatch) -> MatchView:
        """The one way from a row to what its agent may know."""
        game = self.opponents_of(row.rules).game
        ending = None if row.result is None else Ending(row.result, row.ended)  # type: ignore[arg-type]
        seat = MatchSeat(game, row.id, row.opponent, row.player)
        return view_of(seat, row.history(game).infoset(row.player), ending, row.time_left(self._now()))


def _find(opponents: Opponents, key: str, player: int, digest: str | None = None) -> Opponent:
    listed = opponents.list_opponents()
    for opponent in listed:
        if (opponent.key, opponent.player) == (key, player) and digest in (None, opponent.digest):
            return opponent
    if digest is not None:
        raise PlayError("This opponent is no longer here; resign, and begin another match.")
    fitting = sorted({one.key for one in listed if one.player == player})
    raise PlayError(
        f"No opponent {key} plays player {player} of {opponents.game.name}; choose one of {', '.join(fitting)}.", 404
    )
