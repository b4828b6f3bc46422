"""Opponents whose strategies the answerer holds: what the web process knows of them, it asks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import anyio.from_thread

from pttt_ooc.explore.opponents import Expectation, Opponent, PreparingError, Record
from pttt_ooc.explore.sources import Source, first_of
from pttt_ooc.explore.wire import Client
from pttt_ooc.rules.game import Game
from pttt_ooc.show.numbers import value_for


class Asked:
    """As :class:`pttt_ooc.explore.opponents.Opponents`, for threads of an asynchronous application.

    Parameters
    ----------
    sources
        Gives the strategies that everybody may play against now.  The first one that is not uniform is also what a
        person's results are compared with.
    """

    def __init__(self, game: Game, client: Client, sources: Callable[[], Sequence[Source]]) -> None:
        self._game, self._client, self._sources = game, client, sources

    @property
    def game(self) -> Game:
        """The game that is played."""
        return self._game

    def listed(self) -> Sequence[Opponent]:
        """All strategies that can be played against now."""
        return [Opponent(s.key, s.label, player, s.digest) for s in self._sources() for player in s.players]

    def prepare(self, opponent: Opponent) -> None:
        """Raise a PreparingError unless questions about an opponent can be answered at once."""
        self._ask(opponent, "facts")

    def probabilities(self, opponent: Opponent, infoset: str) -> Sequence[float]:
        """Of all squares, at an infoset of the opponent."""
        row: list[float] = self._ask(opponent, "row", player=opponent.player, infoset=infoset)["row"]
        return row

    def expectations(self, opponent: Opponent) -> Sequence[Expectation]:
        """What the best response gets, and the strategy with which the person is compared."""
        facts, me = self._ask(opponent, "facts")["facts"], 1 - opponent.player
        return [
            Expectation("best response", facts["best_responses"][me]),
            Expectation(first_of(self._sources(), me).label.lower(), value_for(me, facts["value"])),
        ]

    def numbers(self, opponent: Opponent, infoset: str) -> Record:
        """The `Numbers` of the person."""
        return self._known(opponent, infoset)["numbers"]

    def beliefs(self, opponent: Opponent, infoset: str) -> Record:
        """The `Beliefs` of the person."""
        return self._known(opponent, infoset)["beliefs"]

    def _known(self, opponent: Opponent, infoset: str) -> dict[str, Record]:
        return self._ask(opponent, "infoset", player=1 - opponent.player, infoset=infoset, square=None)

    def _ask(self, opponent: Opponent, what: str, **facts: Any) -> dict[str, Any]:
        sources = self._sources()
        theirs = next(s for s in sources if s.key == opponent.key and opponent.player in s.players)
        mine = first_of(sources, 1 - opponent.player)
        pair = [one.as_record() for one in ((mine, theirs) if opponent.player else (theirs, mine))]
        answer = anyio.from_thread.run(partial(self._client.ask, what, pair=pair, **facts))
        if "preparing" in answer:
            raise PreparingError(opponent, answer["preparing"]["step"], answer["preparing"]["share"])
        return answer
