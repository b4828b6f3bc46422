"""Opponents whose strategies are in this process, for the terminal."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from functools import cached_property
from pathlib import Path

from pttt_ooc.config import MEMORY_MB
from pttt_ooc.disk.numbers import value_for
from pttt_ooc.errors import ConfigError, PlayError
from pttt_ooc.games.rules.game import Game
from pttt_ooc.library.api.plan_reader import kept_support, read_plan_pair
from pttt_ooc.library.api.strategies import Strategy
from pttt_ooc.library.api.strategy_names import further_of, named_strategy, player_of
from pttt_ooc.library.api.structures import data_directory, engine_of, is_big
from pttt_ooc.library.api.values import best_response
from pttt_ooc.library.questions.plan_pair import PlanPair
from pttt_ooc.library.questions.profile import PreparedProfile, symmetry_of
from pttt_ooc.pipeline.files.equilibrium import Support
from pttt_ooc.site.explore.listed_pair import ListedPair, beliefs_record, numbers_record
from pttt_ooc.site.explore.opponents import Expectation, Opponent, Record


class Pair(ListedPair):
    """Two named strategies, one for each player, which are prepared at the first question.

    Parameters
    ----------
    names
        The strategies of player 0 and of player 1, as for `pttt evaluate`.
    game
        The name of their game, if the files do not contain it.

    Raises
    ------
    PtttError
        If there are no such strategies, or they are for different games.
    """

    def __init__(self, names: tuple[str, str], game: str | None) -> None:
        named = [named_strategy(name, player) for player, name in enumerate(names)]
        self.names, self._named = names, named
        self.game: Game = further_of(named, game)
        first, second = (Strategy.of_named(one, self.game) for one in named)
        self.strategies: tuple[Strategy, Strategy] = (first, second)

    def with_reply(self, *players: int) -> Pair:
        """The pair with the best responses of `players` instead of their strategies."""
        pair = copy(self)
        pair.__dict__.pop("profile", None)
        strategies, names = list(self.strategies), list(self.names)
        for player in players:
            strategies[player] = best_response(self.strategies[1 - player])
            names[player] = f"best response to {self.names[1 - player]}"
        pair.strategies, pair.names = (strategies[0], strategies[1]), (names[0], names[1])
        return pair

    @cached_property
    def support(self) -> Support | None:
        """What some equilibrium plays, if `pttt lab equilibria` has kept it."""
        kept = (kept_support(one, self.game, data_directory()) for one in self._named)
        return next((support for support in kept if support), None)

    @cached_property
    def profile(self) -> PreparedProfile:
        """The pair, prepared for questions; that of a big game is kept on disk."""
        engine = engine_of(self.game, symmetry_of(*self.strategies))
        if not is_big(self.game):
            return PreparedProfile.prepare(*self.strategies, engine)
        directory = Path(data_directory()) / self.game.name / "explore"
        return PreparedProfile.prepare(*self.strategies, engine, directory, MEMORY_MB)


class NamedPlans(PlanPair):
    """The two plans of a game whose infosets are not listed; it answers as a :class:`Pair` does.

    Attributes
    ----------
    names, support
        As for a :class:`Pair`; what some equilibrium plays is not known.
    """

    support: Support | None = None

    def __init__(self, names: tuple[str, str], plans: PlanPair) -> None:
        super().__init__(plans.game, plans.plans, plans.facts)
        self.names = names

    def draw_infoset(self, player: int, infoset: str, number: float) -> str:
        """Always raises a PlayError: infosets are not listed."""
        raise PlayError(f"The infosets of {self.game.name} are not listed, so that none is drawn from beliefs.")

    def with_reply(self, *players: int) -> NamedPlans:
        """The pair with the best responses of `players` instead of their plans; a StrategyError on large boards."""
        first, second = (
            f"best response to {self.names[1 - player]}" if player in players else self.names[player]
            for player in (0, 1)
        )
        return NamedPlans((first, second), super().with_reply(*players))


AnyPair = Pair | NamedPlans


def pair_of(name: str, game: str | None) -> tuple[AnyPair, list[int]]:
    """A pair of a named strategy, and the players of which it has strategies.

    A player without a strategy plays uniformly.

    Raises
    ------
    PtttError
        See :class:`Pair`.
    """
    if Path(name).is_dir() and (plan := named_strategy(name, 0, plans=True)).kind == "plan":
        further_of([plan], game)
        return NamedPlans((name, name), read_plan_pair(plan)), [0, 1]
    try:
        both = player_of([name], game)
    except ConfigError:  # it may be for either player
        return Pair((name, name), game), [0, 1]
    names = (name, "uniform") if both == 0 else ("uniform", name)
    return Pair(names, game), [both]


class LocalOpponents:
    """The :class:`~pttt_ooc.site.explore.opponents.Opponents` for one side of a pair in this process.

    Parameters
    ----------
    player
        The player that the opponent is.  The person is compared with the other strategy of the pair.
    """

    def __init__(self, pair: AnyPair, player: int) -> None:
        self._pair = pair
        self.opponent = Opponent("here", pair.names[player], player, "")

    @property
    def game(self) -> Game:
        """The game that is played."""
        return self._pair.game

    def list_opponents(self) -> Sequence[Opponent]:
        """The one opponent."""
        return [self.opponent]

    def prepare(self, opponent: Opponent) -> None:
        """Nothing has to be prepared before a game."""

    def probabilities(self, opponent: Opponent, infoset: str) -> Sequence[float]:
        """The probabilities of all squares at an infoset of the opponent."""
        row: list[float] = self._pair.row(opponent.player, infoset).tolist()
        return row

    def expectations(self, opponent: Opponent) -> Sequence[Expectation]:
        """The expected payoffs of the best response and of the other strategy of the pair."""
        me = 1 - opponent.player
        best, value = self._pair.best_responses[me], value_for(me, self._pair.value)
        found = [Expectation("the best response", best), Expectation(self._pair.names[me], value)]
        return found if best == best else found[1:]  # NaN: the board is too large

    def numbers(self, opponent: Opponent, infoset: str) -> Record:
        """The `Numbers` of the person."""
        return numbers_record(self._pair.numbers(1 - opponent.player, infoset))

    def beliefs(self, opponent: Opponent, infoset: str) -> Record:
        """The `Beliefs` of the person."""
        return beliefs_record(self._pair.beliefs(1 - opponent.player, infoset))

    def draw_infoset(self, opponent: Opponent, infoset: str, number: float) -> str:
        """An infoset of the opponent, drawn from the beliefs of the person."""
        return self._pair.draw_infoset(1 - opponent.player, infoset, number)
