"""Opponents, and the questions about them.

The web process holds no strategies: its opponents are :class:`AskedOpponents`, which ask the answerer.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from pttt_ooc.config import MOST_REPLIED_SQUARES
from pttt_ooc.disk.numbers import value_for
from pttt_ooc.errors import PlayError
from pttt_ooc.games.rules.game import Game
from pttt_ooc.site.explore.sources import Source, first_of
from pttt_ooc.site.service.wire import Client, RefusedError

BEST = "best response"
"""Who gets the largest expected payoff against an opponent, in an :class:`Expectation`."""

_REPLY = "reply-"  # prefix of the keys of best responses

Record = Mapping[str, Any]
"""An answer of :mod:`pttt_ooc.library.questions.answers` as JSON values; NaN is None."""


@dataclass(frozen=True)
class Opponent:
    """A strategy as an opponent.

    Attributes
    ----------
    key
        Its name in forms and in the table of games.
    name
        Its name on pages.
    player
        The player that it is.
    digest
        Changes with the strategy: a game continues only against the same strategy.
    """

    key: str
    name: str
    player: int
    digest: str


@dataclass(frozen=True)
class Expectation:
    """An exact expected payoff, for comparison with a mean.

    Attributes
    ----------
    who
        Who gets it against this opponent, as part of a sentence: "the solution".
    value
        The payoff of the person.
    """

    who: str
    value: float


class PreparingError(PlayError):
    """An opponent is being prepared; ask again later.

    Parameters
    ----------
    step, share
        The current step, and the share of the work that is done.
    ahead
        The number of preparations before this one.
    """

    def __init__(self, opponent: Opponent, step: str, share: float, ahead: int = 0) -> None:
        super().__init__(f"{opponent.name} is not ready yet ({step}); try again in a few seconds.", 503)
        self.step, self.share, self.ahead = step, share, ahead


class Opponents(Protocol):
    """All opponents of one game; methods may block, and are called in threads.

    Raises
    ------
    PtttError
        By every method, if there is no answer now.
    """

    @property
    def game(self) -> Game:
        """The game that is played."""

    def list_opponents(self) -> Sequence[Opponent]:
        """All opponents now, the most interesting first; a key can occur once for each player."""

    def prepare(self, opponent: Opponent) -> None:
        """Raise a PreparingError if an opponent is not prepared yet."""

    def probabilities(self, opponent: Opponent, infoset: str) -> Sequence[float]:
        """The probabilities of all squares at an infoset of the opponent."""

    def expectations(self, opponent: Opponent) -> Sequence[Expectation]:
        """Expected payoffs against an opponent."""

    def numbers(self, opponent: Opponent, infoset: str) -> Record:
        """The `Numbers` of the person at one of their infosets, against this opponent."""

    def beliefs(self, opponent: Opponent, infoset: str) -> Record:
        """The `Beliefs` of the person at one of their infosets, against this opponent."""

    def draw_infoset(self, opponent: Opponent, infoset: str, number: float) -> str:
        """An infoset of the opponent, drawn from these beliefs by a random number in [0, 1)."""


class JudgingOpponents(Opponents, Protocol):
    """Opponents that can tell how well a match against them was played."""

    def first_value(self, opponent: Opponent) -> float:
        """What losses against an opponent are measured from: the value before the first attempt."""

    def estimate(self, opponent: Opponent, squares: Sequence[int], given_up: bool) -> float:
        """The payoff without luck; see :func:`pttt_ooc.site.explore.match_estimates.estimate_of`."""


class AskedOpponents:
    """The :class:`JudgingOpponents` for threads of an asynchronous application.

    Parameters
    ----------
    sources
        Returns the strategies that everybody may play against now.  A person's results are compared with the first
        strategy that is not uniform.
    """

    def __init__(self, game: Game, client: Client, sources: Callable[[], Sequence[Source]]) -> None:
        self._game, self._client, self._sources = game, client, sources

    @property
    def game(self) -> Game:
        """The game that is played."""
        return self._game

    def list_opponents(self) -> Sequence[Opponent]:
        """All strategies that people can play against now, and the best responses to them."""
        sources = self._sources()
        followed = [Opponent(s.key, s.label, player, s.digest) for s in sources for player in s.players]
        replies = [
            Opponent(f"{_REPLY}{s.key}", f"Best response to {s.label}", 1 - player, f"{_REPLY}{s.digest}")
            for s in sources
            for player in s.players
            if self._game.squares <= MOST_REPLIED_SQUARES
        ]
        return [*followed, *replies]

    def prepare(self, opponent: Opponent) -> None:
        """Raise a PreparingError if an opponent is not prepared yet."""
        self._ask(opponent, "facts")

    def probabilities(self, opponent: Opponent, infoset: str) -> Sequence[float]:
        """The probabilities of all squares at an infoset of the opponent."""
        row: list[float] = self._ask(opponent, "row", player=opponent.player, infoset=infoset)["row"]
        return row

    def expectations(self, opponent: Opponent) -> Sequence[Expectation]:
        """The expected payoffs of the best response, and of the strategy that the person is compared with."""
        facts, me = self._ask(opponent, "facts")["facts"], 1 - opponent.player
        best, who = facts["best_responses"][me], self._pair(opponent)[0].label.lower()
        found = [Expectation(who, value_for(me, facts["value"]))]
        return found if best is None else [Expectation(BEST, best), *found]

    def numbers(self, opponent: Opponent, infoset: str) -> Record:
        """The `Numbers` of the person."""
        return self._ask_infoset(opponent, infoset)["numbers"]

    def beliefs(self, opponent: Opponent, infoset: str) -> Record:
        """The `Beliefs` of the person."""
        return self._ask_infoset(opponent, infoset)["beliefs"]

    def first_value(self, opponent: Opponent) -> float:
        """What losses against an opponent are measured from: the value before the first attempt."""
        value: float = self._ask(opponent, "first_value", player=1 - opponent.player)["value"]
        return value

    def estimate(self, opponent: Opponent, squares: Sequence[int], given_up: bool) -> float:
        """The payoff without luck."""
        facts = {"player": 1 - opponent.player, "squares": list(squares), "given_up": given_up}
        found: float = self._ask(opponent, "estimate", **facts)["estimate"]
        return found

    def draw_infoset(self, opponent: Opponent, infoset: str, number: float) -> str:
        """An infoset of the opponent, drawn from the beliefs of the person; a PlayError where none can be drawn."""
        try:
            asked = self._ask(opponent, "drawn", player=1 - opponent.player, infoset=infoset, number=number)
        except RefusedError as error:
            raise PlayError(str(error)) from error
        drawn: str = asked["drawn"]
        return drawn

    def _ask_infoset(self, opponent: Opponent, infoset: str) -> dict[str, Record]:
        return self._ask(opponent, "infoset", player=1 - opponent.player, infoset=infoset, square=None)

    def _pair(self, opponent: Opponent) -> tuple[Source, Source, bool]:
        """The strategies of the person and of the opponent, and whether the opponent best-responds to the first."""
        me, sources = 1 - opponent.player, self._sources()
        if opponent.key.startswith(_REPLY):
            mine = next(s for s in sources if f"{_REPLY}{s.key}" == opponent.key and me in s.players)
            return mine, first_of(sources, opponent.player), True
        theirs = next(s for s in sources if s.key == opponent.key and opponent.player in s.players)
        return first_of(sources, me), theirs, False

    def _ask(self, opponent: Opponent, what: str, **facts: Any) -> dict[str, Any]:
        mine, theirs, replies = self._pair(opponent)
        pair = [mine.as_record(), theirs.as_record(replies)]
        if opponent.player == 0:
            pair.reverse()
        answer = self._client.ask_from_thread(what, pair=pair, **facts)
        if "preparing" in answer:
            raise PreparingError(opponent, **answer["preparing"])
        return answer
