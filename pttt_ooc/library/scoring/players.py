"""Agents that can only be played: seats at the table, which are asked for one attempt at a time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np

from pttt_ooc.config import MOST_LISTED_SQUARES
from pttt_ooc.errors import ConfigError, StrategyError
from pttt_ooc.games.rules.game import Game
from pttt_ooc.games.rules.infoset_text import attempts_of
from pttt_ooc.games.rules.play import History
from pttt_ooc.games.structure.index import Index
from pttt_ooc.games.structure.views import Ints
from pttt_ooc.library.api.openspiel import load_game, policy_by_infoset
from pttt_ooc.library.api.policies import PolicyTensor
from pttt_ooc.library.api.strategies import Strategy
from pttt_ooc.library.api.structures import index_of
from pttt_ooc.library.questions.answers import SquareArray
from pttt_ooc.library.questions.sampled_games import choose, draw_attempt
from pttt_ooc.library.scoring.agent_answers import AgentTensor, Manner
from pttt_ooc.library.scoring.agents import Member, members_of, parameters_of, wants_player
from pttt_ooc.library.scoring.checkpoints import Answers, Checkpoint
from pttt_ooc.library.scoring.recurrent import is_recurrent
from pttt_ooc.pipeline.files.file_headers import SUM_TOLERANCE
from pttt_ooc.pipeline.files.infosets import parse_infoset


class Answer(NamedTuple):
    """What an agent says when it is asked.

    Attributes
    ----------
    square
        The square to attempt, which may be an illegal one or none at all.
    belief
        For each square, the probability that the opponent's mark is there; None if it is not stated.
    """

    square: Any
    belief: Sequence[float] | None = None


class PlayedAgent(Protocol):
    """One player at the table."""

    def begin(self) -> None:
        """Begin a game."""

    def attempt(self, history: History) -> Answer:
        """The square to attempt, and perhaps a belief."""

    def see(self, player: int, square: int) -> None:
        """Take note of an attempt, of this player or the opponent; only bots use it, to follow the game's state."""


def played_agent(game: Game, player: int, agent: Any, manner: Manner, rng: np.random.Generator) -> PlayedAgent:
    """A player's seat.

    Parameters
    ----------
    agent
        A function of ``(infoset, legal)``, or of ``(infoset, legal, player)``, that returns a square, or a pair of a
        square and a belief: `infoset` is its text, `legal` the list of squares; a belief has for each square the
        probability that the opponent's mark is there.  Or a function of ``(observation)``: what the package's
        PettingZoo environment shows, a dictionary with ``observation`` and ``action_mask``.  Or a bot of OpenSpiel,
        with ``restart()`` and ``step(state)``.  Or any agent of :func:`pttt_ooc.library.scoring.scores.agent_strategy`,
        whose attempts are then drawn.
    rng
        For the attempts of agents that give probabilities.

    Raises
    ------
    ConfigError
        If it is not an agent.
    """
    members = members_of(agent, player)
    seats = [_seat(game, player, member, manner, rng) for member in members]
    return seats[0] if len(seats) == 1 else _Mixture(seats, [member.weight for member in members], rng)


def _seat(game: Game, player: int, member: Member, manner: Manner, rng: np.random.Generator) -> PlayedAgent:
    agent = member.agent
    if hasattr(agent, "step") and hasattr(agent, "restart"):
        return _Bot(game, player, agent)
    if hasattr(agent, "action_probabilities"):
        policy = policy_by_infoset(game, player, agent)
        return _Asked(
            index_of(game), player, lambda nodes: PolicyTensor(policy, game, player, nodes)[:], manner.greedy, rng
        )
    if isinstance(agent, Strategy):
        return _Known(agent, manner, rng)
    if isinstance(agent, RowAgent):
        return _Drawn(agent, player, manner, rng)
    if callable(agent) and not isinstance(agent, Checkpoint):
        if "infoset" in parameters_of(agent):
            return _Chooser(player, agent)
        if "observation" in parameters_of(agent):
            return _Observer(agent)
    if is_recurrent(agent):
        raise ConfigError("An agent with a memory is asked at all infosets; leave out --games.")
    if game.squares > MOST_LISTED_SQUARES:
        raise ConfigError(
            f"The infosets of {game.name} are not listed, so an agent that is asked for blocks of them cannot play it; "
            "give a function of (infoset, legal) or of (observation)."
        )
    asked = AgentTensor(index_of(game), player, member.observe, manner, np.empty(0, np.int64))
    return _Asked(index_of(game), player, asked.at, manner.greedy, rng)


class _Silent:
    """A seat that ignores :meth:`see`."""

    def begin(self) -> None:
        pass

    def see(self, player: int, square: int) -> None:
        pass


class _Chooser(_Silent):
    """A function from an infoset's text to a square."""

    def __init__(self, player: int, choose: Any) -> None:
        self._choose = choose
        self._rest = (player,) if wants_player(choose) else ()

    def attempt(self, history: History) -> Answer:
        assert history.player is not None
        return _answer(self._choose(history.infoset(history.player), history.legal(), *self._rest))


class _Observer(_Silent):
    """A function from an observation of the package's PettingZoo environment to a square."""

    def __init__(self, choose: Any) -> None:
        self._choose = choose

    def attempt(self, history: History) -> Answer:
        assert history.player is not None
        squares = np.arange(history.game.squares)
        placed, tried = (marks[history.player] >> squares & 1 for marks in (history.placed, history.tried))
        seen = np.stack([placed, tried & ~placed], axis=1).astype(np.int8)
        return _answer(self._choose({"observation": seen, "action_mask": (1 - tried).astype(np.int8)}))


def _answer(said: Any) -> Answer:
    return Answer(*said) if isinstance(said, tuple) and len(said) == 2 else Answer(said)


class _Known(_Silent):
    """A strategy."""

    def __init__(self, strategy: Strategy, manner: Manner, rng: np.random.Generator) -> None:
        self._strategy, self._greedy, self._rng = strategy, manner.greedy, rng

    def attempt(self, history: History) -> Answer:
        text = history.infoset(self._strategy.player)
        return Answer(int(np.argmax(self._strategy[text])) if self._greedy else choose(self._strategy, text, self._rng))


@dataclass(frozen=True)
class RowAgent:
    """A strategy without a list of infosets: it tells probabilities at one infoset.

    Attributes
    ----------
    row
        Takes the player and the infoset's text; returns float64 (squares,), 0 at illegal squares.
    """

    row: Callable[[int, str], SquareArray]


def uniform_agent(game: Game) -> RowAgent:
    """Uniform play, on boards of any size."""

    def row(player: int, infoset: str) -> SquareArray:
        tried = [square for square, _ in attempts_of(infoset)]
        free: SquareArray = np.logical_not(np.isin(np.arange(game.squares), tried)).astype(np.float64)
        chances: SquareArray = free / free.sum()
        return chances

    return RowAgent(row)


class _Drawn(_Silent):
    """A :class:`RowAgent`."""

    def __init__(self, agent: RowAgent, player: int, manner: Manner, rng: np.random.Generator) -> None:
        self._agent, self._player, self._greedy, self._rng = agent, player, manner.greedy, rng

    def attempt(self, history: History) -> Answer:
        row = self._agent.row(self._player, history.infoset(self._player))
        return Answer(int(np.argmax(row)) if self._greedy else draw_attempt(row, self._rng))


class _Asked(_Silent):
    """An agent that gives probabilities, asked for one infoset.

    Parameters
    ----------
    rows
        Takes node numbers of infosets, int64; returns an array with a row of numbers for each.
    """

    def __init__(
        self, index: Index, player: int, rows: Callable[[Ints], Answers], greedy: bool, rng: np.random.Generator
    ) -> None:
        self._index, self._player, self._rows, self._greedy, self._rng = index, player, rows, greedy, rng

    def attempt(self, history: History) -> Answer:
        text = history.infoset(self._player)
        node = parse_infoset(self._index, self._player, text)
        row = self._rows(np.array([node], np.int64))[0]
        if not (row >= 0).all() or not abs(row.sum() - 1) <= SUM_TOLERANCE["float64"]:
            raise StrategyError(
                f"The agent, infoset {text!r}: it gives {', '.join(map(repr, row.tolist()))}, but probabilities are no "
                "negative numbers, and their sum is 1."
            )
        return Answer(int(np.argmax(row)) if self._greedy else int(self._rng.choice(len(row), p=row / row.sum())))


class _Bot:
    """A bot of OpenSpiel, which sees OpenSpiel's state."""

    def __init__(self, game: Game, player: int, bot: Any) -> None:
        self._player, self._bot, self._game, self._openspiel = player, bot, game, load_game(game)
        self._state: Any = None

    def begin(self) -> None:
        self._state = self._openspiel.new_initial_state()
        first, second = self._game.setup
        for k in range(len(first) + len(second)):
            self._state.apply_action(self._game.setup[k % 2][k // 2])
        self._bot.restart()

    def attempt(self, history: History) -> Answer:
        return Answer(self._bot.step(self._state))

    def see(self, player: int, square: int) -> None:
        if player != self._player and hasattr(self._bot, "inform_action"):
            self._bot.inform_action(self._state, player, square)
        self._state.apply_action(square)


class _Mixture:
    """Several seats, of which one is drawn before each game."""

    def __init__(self, seats: list[PlayedAgent], weights: list[float], rng: np.random.Generator) -> None:
        self._seats, self._weights, self._rng = seats, np.array(weights) / sum(weights), rng
        self._drawn = seats[0]

    def begin(self) -> None:
        self._drawn = self._seats[int(self._rng.choice(len(self._seats), p=self._weights))]
        self._drawn.begin()

    def attempt(self, history: History) -> Answer:
        return self._drawn.attempt(history)

    def see(self, player: int, square: int) -> None:
        self._drawn.see(player, square)
