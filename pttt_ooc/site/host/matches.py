"""The matches of all agents: how they are begun, played, and lost by time.

An agent's attempt and the opponent's attempts after it are written together, or not at all, so that a match goes on
after a kill of either side.  The opponent's attempts are drawn with the operating system's random numbers.  Where two
agents play each other, both of their matches are written together.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from sqlalchemy import ColumnElement, Select, exists, or_, select, update
from sqlalchemy.orm import aliased

from pttt_ooc.errors import PlayError, PtttError, did_you_mean
from pttt_ooc.games.rules.game import Game
from pttt_ooc.games.rules.play import History, start
from pttt_ooc.site.explore.opponents import JudgingOpponents, Opponent
from pttt_ooc.site.explore.results import play_opponent
from pttt_ooc.site.host.match_rows import AGENT, STANDS, HostMatch, attempts_text
from pttt_ooc.site.host.match_view import Ended, Ending, MatchSeat, MatchView, view_of
from pttt_ooc.site.host.tokens import HostAgent, Tokens
from pttt_ooc.site.host.waiting import WaitingRoom
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
        games: Sequence[JudgingOpponents],
        seconds: float = SECONDS,
        draw: Callable[[], float] | None = None,
        now: Callable[[], float] = time.time,
    ) -> None:
        self.games = {one.game.name: one for one in games}
        self.seconds, self.tokens = seconds, Tokens(file)
        self._here = HostMatch.rules.in_([*self.games])
        self.store = GameStore(file, HostMatch, "match", "matches", 1, self._here, under_way=UNDER_WAY)
        self.waiting = WaitingRoom(self.store.database)
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
        running = HostMatch.turn_since < STANDS
        opened = update(HostMatch).where(HostMatch.result.is_(None), running, self._here, *mine)
        with self.store.database.writing() as session:
            session.execute(opened.values(turn_since=self._now()))

    # -----------------------------------------------------------------------------------------
    # Playing

    def begin(self, agent: HostAgent, game: str, key: str, player: int) -> MatchView:
        """Begin a match of an agent as `player` against the opponent `key`, or against another agent that waits.

        Raises
        ------
        PlayError
            If there is no such game or opponent, or it is still being prepared, or the agent has begun too many.
        WaitingError
            If no other agent waits for this one.
        """
        opponents = self.opponents_of(game)
        if key == AGENT:
            return self._meet(agent, opponents.game, player)
        opponent = _find(opponents, key, 1 - player)
        self.close_expired(agent)
        self.store.check_quota(agent.owner)
        opponents.prepare(opponent)
        self._count_begun(agent)
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

    def _meet(self, agent: HostAgent, game: Game, player: int) -> MatchView:
        """Begin a match against the agent that has waited longest as the other player, or wait."""
        self.close_expired(agent)
        self.store.check_quota(agent.owner)
        now, first = self._now(), start(game).player
        rows = [
            {
                "rules": game.name,
                "opponent": AGENT,
                "digest": "",
                "player": one,
                "attempts": "",
                "helped": False,
                "seconds_left": self.seconds,
                "turn_since": now if one == first else STANDS,
                "refused": 0,
            }
            for one in (player, 1 - player)
        ]
        id = self.waiting.meet(agent.owner, rows, now, lambda: self._count_begun(agent))
        return self.view(agent, id)

    def _count_begun(self, agent: HostAgent) -> None:
        if self._begun.spend(agent.owner) > 0:
            raise PlayError("You have begun too many matches in this hour; begin the next one in a minute.", 429)

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
        if history.player != row.player:
            raise PlayError("It is the other agent's turn; nothing has changed.")
        if square not in history.legal():
            self.store.change(row, refused=row.refused + 1)
            legal = ", ".join(map(str, history.legal()))
            raise PlayError(f"Square {square} cannot be attempted now; choose one of {legal}.", 400)
        if row.other is not None:
            self._attempt_against_agent(row, history.step(square), left)
            return self.view(agent, id)
        opponent = _find(opponents, row.opponent, 1 - row.player, row.digest)
        after = play_opponent(opponents, opponent, history.step(square), self._draw)
        outcome = self._outcome(opponents, opponent, after)
        outcome |= {"seconds_left": left, "turn_since": self._now()}
        self.store.change(row, attempts=attempts_text(after), **outcome)
        return self.view(agent, id)

    def _attempt_against_agent(self, row: HostMatch, after: History, left: float) -> None:
        """Write an attempt to both agents' matches, and let the clock of the one whose turn it is run."""
        mine, theirs = (
            {
                "attempts": attempts_text(after),
                "turn_since": self._now() if after.player == player else STANDS,
                "result": after.returns[player] if after.is_terminal else None,
                "ended": "played" if after.is_terminal else None,
            }
            for player in (row.player, 1 - row.player)
        )
        self.store.change(row, {str(row.other): theirs}, seconds_left=left, **mine)

    def resign(self, agent: HostAgent, id: str, made: int | None = None, at: float | None = None) -> MatchView:
        """Resign, which counts as a loss; for parameters and errors see :meth:`attempt`."""
        row = self._open_row(agent, id, made, at)
        self._give_up(row, "resigned", row.time_left(self._now() if at is None else at))
        return self.view(agent, id)

    def close_expired(self, agent: HostAgent | None = None) -> None:
        """Close open matches in which a player's time is over, who loses: an agent's, or everybody's.

        Their estimates are made when the table is asked for.
        """
        rows, mate = HostMatch, aliased(HostMatch)
        whose = []
        if agent is not None:
            met = select(mate.other).where(mate.owner == agent.owner, mate.other.is_not(None))
            whose = [or_(rows.owner == agent.owner, rows.id.in_(met))]
        opened = update(rows).where(rows.result.is_(None), self._here, *whose).values(changed_at=time.time())
        late = opened.where(rows.seconds_left <= self._now() - rows.turn_since)
        left_alone = opened.where(exists().where(mate.id == rows.other, mate.ended == "out of time"))
        with self.store.database.writing() as session:
            session.execute(late.values(result=-1, ended="out of time", seconds_left=0.0))
            session.execute(left_alone.values(result=1, ended="opponent out of time"))

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

    def opponents_of(self, game: str) -> JudgingOpponents:
        """The opponents of a game; a PlayError if it is not played here."""
        if game not in self.games:
            here = ", ".join(self.games)
            raise PlayError(
                f"The game {game} is not played here{did_you_mean(game, self.games)}; choose one of {here}.", 404
            )
        return self.games[game]

    # -----------------------------------------------------------------------------------------

    def _row(self, agent: HostAgent, id: str, at: float | None = None) -> HostMatch:
        """A match of an agent; if its time, or the other agent's, is over, it is closed first."""
        row = self.store.row(agent.owner, id)
        if row.result is None and row.time_left(self._now() if at is None else at) <= 0:
            with suppress(PlayError):  # somebody else has just closed it
                self._give_up(row, "out of time", 0.0)
            row = self.store.row(agent.owner, id)
        elif row.result is None and row.other is not None and row.turn_since >= STANDS:
            with self.store.database.reading() as session:
                other = session.get(HostMatch, row.other)
            if other is not None and other.time_left(self._now()) <= 0:
                with suppress(PlayError):
                    self._give_up(other, "out of time", 0.0)
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
        others = {} if row.other is None else {row.other: {"result": 1, "ended": f"opponent {how}"}}
        self.store.change(row, others, result=-1, ended=how, seconds_left=left, estimate=self.estimate(row))

    def _outcome(self, opponents: JudgingOpponents, opponent: Opponent, history: History) -> dict[str, Any]:
        """The columns that change when a match ends."""
        if not history.is_terminal:
            return {"result": None, "ended": None, "estimate": None}
        me = 1 - opponent.player
        return {
            "result": history.returns[me],
            "ended": "played",
            "estimate": _estimate(opponents, opponent, history, given_up=False),
        }

    def estimate(self, row: HostMatch) -> float | None:
        """The payoff without luck of a match that is over, or is given up now; None if it cannot be told now."""
        opponents = self.opponents_of(row.rules)
        try:
            opponent = _find(opponents, row.opponent, 1 - row.player, row.digest)
        except PlayError:
            return None
        return _estimate(opponents, opponent, row.history(opponents.game), given_up=row.ended != "played")

    def _view(self, row: HostMatch) -> MatchView:
        """The one way from a row to what its agent may know."""
        game = self.opponents_of(row.rules).game
        ending = None if row.result is None else Ending(row.result, row.ended)  # type: ignore[arg-type]
        seat = MatchSeat(game, row.id, row.opponent, row.player)
        history = row.history(game)
        mine = history.player == row.player
        return view_of(seat, history.infoset(row.player), ending, row.time_left(self._now()), mine)


def _estimate(opponents: JudgingOpponents, opponent: Opponent, history: History, given_up: bool) -> float | None:
    try:
        return opponents.estimate(opponent, [attempt.square for attempt in history.attempts], given_up)
    except PtttError:
        return None


def _find(opponents: JudgingOpponents, key: str, player: int, digest: str | None = None) -> Opponent:
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
