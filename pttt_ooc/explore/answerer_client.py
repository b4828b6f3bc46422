"""Opponents whose strategies the answerer holds; the web process asks it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from pttt_ooc.config import MOST_REPLIED_SQUARES
from pttt_ooc.errors import PlayError
from pttt_ooc.explore.opponents import Expectation, Opponent, PreparingError, Record
from pttt_ooc.explore.sources import Source, first_of
from pttt_ooc.rules.game import Game
from pttt_ooc.service.wire import Client, RefusedError
from pttt_ooc.show.numbers import value_for

_REPLY = "reply-"  # prefix of the keys of best responses


class AskedOpponents:
    """The :class:`~pttt_ooc.explore.opponents.Opponents` for threads of an asynchronous application.

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

    def listed(self) -> Sequence[Opponent]:
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
        return found if best is None else [Expectation("best response", best), *found]

    def numbers(self, opponent: Opponent, infoset: str) -> Record:
        """The `Numbers` of the person."""
        return self._known(opponent, infoset)["numbers"]

    def beliefs(self, opponent: Opponent, infoset: str) -> Record:
        """The `Beliefs` of the person."""
        return self._known(opponent, infoset)["beliefs"]

    def drawn(self, opponent: Opponent, infoset: str, number: float) -> str:
        """An infoset of the opponent, drawn from the beliefs of the person; a PlayError where none can be drawn."""
        try:
            asked = self._ask(opponent, "drawn", player=1 - opponent.player, infoset=infoset, number=number)
        except RefusedError as error:
            raise PlayError(str(error)) from error
        drawn: str = asked["drawn"]
        return drawn

    def _known(self, opponent: Opponent, infoset: str) -> dict[str, Record]:
        return self._ask(opponent, "infoset", player=1 - opponent.player, infoset=infoset, square=None)

    def _pair(self, opponent: Opponent) -> tuple[Source, Source, bool]:
        """The strategies of the person and of the opponent, and whether the opponent replies to the first."""
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
