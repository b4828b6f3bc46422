"""Values of strategies, best responses to them, and comparisons."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pttt_ooc.cfr.solving import best_response as responding
from pttt_ooc.cfr.solving import evaluation
from pttt_ooc.cfr.solving.evaluation import Evaluation
from pttt_ooc.cfr.sweep.engine import Engine
from pttt_ooc.errors import ConfigError, StrategyError
from pttt_ooc.games.structure import strategy as core
from pttt_ooc.games.structure.index import node_text
from pttt_ooc.library.api.strategies import Strategy
from pttt_ooc.library.api.strategy_reader import known_value, with_value
from pttt_ooc.library.api.structures import data_directory, engine_of, is_named
from pttt_ooc.library.questions.losses import Losses
from pttt_ooc.library.questions.mistakes import find_differences
from pttt_ooc.types import Interval

Floats = NDArray[np.floating[Any]]


def in_one_layout(*strategies: core.Strategy) -> tuple[list[Strategy], Engine]:
    """Strategies in one layout, and an engine for it; the layout is folded only if all strategies are.

    Raises
    ------
    StrategyError
        If one of them is not a strategy, or they are for different games.
    """
    wrapped = [one if isinstance(one, Strategy) else Strategy.of(checked_strategy(one)) for one in strategies]
    check_one_game(wrapped)
    if all(one.index.symmetry == "full" for one in wrapped):
        return wrapped, engine_of(wrapped[0].game, "full")
    return [one.unfolded for one in wrapped], engine_of(wrapped[0].game, "none")


def checked_strategy(value: Any) -> core.Strategy:
    """The argument; a StrategyError if it is not a strategy."""
    if not isinstance(value, core.Strategy):
        raise StrategyError(
            f"Expected a strategy, found a {type(value).__name__}; see pttt.Strategy for how to make one."
        )
    return value


def check_one_game(strategies: Sequence[core.Strategy]) -> None:
    """Raise a StrategyError unless all strategies are for the same game."""
    first = strategies[0].index.game
    for one in strategies[1:]:
        if one.index.game != first:
            raise StrategyError(f"One strategy is for {first.name}, but another one is for {one.index.game.name}.")


def evaluate(
    strategy0: core.Strategy, strategy1: core.Strategy, game_value: float | Interval | None = None
) -> Evaluation:
    """Evaluate two strategies exactly, against each other and against their best responses.

    Parameters
    ----------
    strategy0, strategy1
        Of player 0 and of player 1.
    game_value
        The value of the game, or an interval that holds it; default: the best known one.  It determines the
        exploitabilities.

    Returns
    -------
    Evaluation
        ``value`` for player 0, ``best_response_0`` and ``best_response_1``, each from the responding player's point of
        view, their sum ``nashconv``, ``exploitability_0`` and ``exploitability_1``.

    Raises
    ------
    StrategyError
        If the strategies are not those of players 0 and 1 in one game.

    Examples
    --------
    >>> import pttt_ooc as pttt
    >>> game = pttt.game("mini-2x3k2-abrupt")
    >>> found = pttt.evaluate(pttt.Strategy.uniform(game, 0), pttt.Strategy.uniform(game, 1))
    >>> round(found.value, 6), round(found.nashconv, 6)
    (0.550123, 0.666667)
    """
    both, engine = in_one_layout(strategy0, strategy1)
    evaluated = evaluation.evaluate(both[0], both[1], engine)
    interval = (game_value, game_value) if isinstance(game_value, int | float) else game_value
    if interval is not None and not -1 <= interval[0] <= interval[1] <= 1:
        raise ConfigError(f"The value of a game is from -1 to 1, not {game_value}.")
    game = both[0].game
    return with_value(evaluated, interval, known_value(game, (), data_directory()) if is_named(game) else None)


@dataclass(frozen=True, eq=False, repr=False)
class Response(Strategy):
    """A best response: a strategy with its value.

    Attributes
    ----------
    value
        Expected payoff against the strategy that it responds to, from the responding player's point of view.

    Examples
    --------
    >>> import pttt_ooc as pttt
    >>> uniform = pttt.Strategy.uniform(pttt.game("mini-2x3k2-abrupt"), 1)
    >>> reply = pttt.best_response(uniform)
    >>> abs(pttt.evaluate(reply, uniform).value - reply.value) < 1e-9
    True
    """

    value: float = float("nan")

    def __repr__(self) -> str:
        return f"Best response, which gets {self.value:.6f}: {super().__repr__()}"


def best_response(strategy: core.Strategy) -> Response:
    """The other player's best response to a strategy.

    Parameters
    ----------
    strategy
        Of either player.

    Returns
    -------
    Response
        A strategy of the other player, with its ``value``.  At each infoset it attempts one square, the lowest of
        equally good ones.  The response to a strategy that is kept up to symmetry is also kept up to symmetry: at an
        infoset that is its own mirror image, it attempts all mirror images of the best square with equal probability.

    Examples
    --------
    >>> import pttt_ooc as pttt
    >>> game = pttt.game("mini-2x3k2-abrupt")
    >>> reply = pttt.best_response(pttt.Strategy.uniform(game, 0))
    >>> reply
    Best response, which gets -0.200000: Strategy of player 1 in mini-2x3k2-abrupt: 107 infosets, kept up to symmetry
    """
    (one,), engine = in_one_layout(strategy)
    reply = responding.best_response(one, engine)
    return Response(engine.index, reply.player, reply.strategy().probabilities, reply.value)


# ---------------------------------------------------------------------------------------------
# Comparisons


@dataclass(frozen=True)
class Difference:
    """How two strategies differ at one infoset.

    Attributes
    ----------
    infoset
        Its text.
    reach
        For each strategy, the product of its own probabilities on the way to the infoset.
    distance
        Total variation: half the sum of the absolute differences of probabilities, 0 to 1.
    weight
        Mean reach times distance.
    probabilities
        For each strategy, the probability of each square.
    """

    infoset: str
    reach: tuple[float, float]
    distance: float
    weight: float
    probabilities: tuple[tuple[float, ...], tuple[float, ...]]


@dataclass(frozen=True)
class Comparison:
    """How two strategies of one player differ.

    Attributes
    ----------
    game, player
        Name of the game, and the strategies' player.
    infosets
        Number of compared infosets; if both strategies are kept up to symmetry, mirror images count once.
    different
        Number of infosets at which a probability differs by more than 1e-6.
    mean_distance
        Mean of the distances, weighted by mean reach.
    worst_cases
        Value of each strategy against its best response, from its player's point of view.
    values
        Value of each strategy against the given opponent, from its player's point of view; None without an opponent.
    largest
        The infosets at which they differ most, by weight.
    losses
        What the first strategy loses against the opponent by deviating from the second; see
        :func:`pttt_ooc.library.questions.mistakes.find_differences`.  None without an opponent.

    Examples
    --------
    >>> import pttt_ooc as pttt
    >>> uniform = pttt.Strategy.uniform(pttt.game("mini-2x3k2-abrupt"), 0)
    >>> found = pttt.compare(uniform, uniform)
    >>> found.different, found.mean_distance, found.largest
    (0, 0.0, ())
    """

    game: str
    player: int
    infosets: int
    different: int
    mean_distance: float
    worst_cases: tuple[float, float]
    values: tuple[float, float] | None
    largest: tuple[Difference, ...]
    losses: Losses | None

    def as_record(self) -> dict[str, Any]:
        """As JSON."""
        return asdict(self)


def compare(a: core.Strategy, b: core.Strategy, against: core.Strategy | None = None, top: int = 10) -> Comparison:
    """Compare two strategies of one player: their probabilities and their values.

    Parameters
    ----------
    a, b
        Strategies of the same player in one game.
    against
        A strategy of the other player.  With it, values against it are compared too, and the infosets that cause their
        difference; default: only worst cases are compared.
    top
        Number of infosets to list, by probabilities and by value.

    Raises
    ------
    StrategyError
        If the strategies are not of one player in one game.

    Examples
    --------
    >>> import pttt_ooc as pttt
    >>> game = pttt.game("mini-2x3k2-abrupt")
    >>> first = pttt.Strategy.from_function(game, 0, lambda text: {min(set(range(6)) - set(map(int, text[1::2]))): 1})
    >>> found = pttt.compare(pttt.Strategy.uniform(game, 0), first, top=1)
    >>> [(one.infoset, round(one.weight, 4)) for one in found.largest]
    [('|', 0.8333)]
    """
    # All strategies in one layout, and checked before anything is computed.
    wrapped, engine = in_one_layout(a, b, *([] if against is None else [against]))
    one, other = wrapped[0], wrapped[1]
    if one.player != other.player:
        raise StrategyError(
            "The first strategy is player {}'s, but the second one is player {}'s.".format(*_players(wrapped))
        )
    if against is not None and wrapped[2].player == one.player:
        raise StrategyError(f"The opponent's strategy is player {one.player}'s too; name one of the other player.")
    if not isinstance(top, int) or top < 0:
        raise ConfigError(f"The number of infosets to list is {top!r}, but must be a whole number, at least 0.")
    # The distance of the two at each infoset, weighted by the mean of their own reach: infosets that neither reaches
    # do not count.
    reach = [engine.reach(one.player, each.probabilities).nodes for each in (one, other)]
    distance, infosets = _distances(one, other)
    mean = (reach[0] + reach[1]) / 2
    weight = mean * distance
    largest = [node for node in _largest(weight, top) if weight[node] > 0]
    total = float(mean[infosets].sum())
    # Then their worst cases and, against an opponent, their values and the infosets that cause the difference.
    return Comparison(
        one.game.name,
        one.player,
        int(infosets.sum()),
        int((distance > 1e-6).sum()),
        float(weight.sum()) / total,
        (_worst_case(one, engine), _worst_case(other, engine)),
        None if against is None else (_value(one, wrapped[2], engine), _value(other, wrapped[2], engine)),
        tuple(_difference((one, other), reach, distance, weight, node) for node in largest),
        None if against is None else find_differences(one, other, wrapped[2], engine, top),
    )


def _players(strategies: list[Strategy]) -> list[int]:
    return [one.player for one in strategies[:2]]


def _worst_case(strategy: Strategy, engine: Engine) -> float:
    return -responding.best_response(strategy, engine).value


def _value(strategy: Strategy, against: Strategy, engine: Engine) -> float:
    both = (strategy, against) if strategy.player == 0 else (against, strategy)
    value = evaluation.evaluate(*both, engine).value
    return value if strategy.player == 0 else -value


def _distances(a: Strategy, b: Strategy) -> tuple[Floats, NDArray[np.bool_]]:
    """Total variation of two strategies at each node, 0 where it is not an infoset; and which nodes are infosets."""
    i = a.index.players[a.player]
    distance, infosets = np.zeros(i.nodes), np.zeros(i.nodes, np.bool_)
    for v in np.flatnonzero(i.decides):
        nodes = slice(int(i.node_start[v]), int(i.node_start[v + 1]))
        part = slice(int(i.sequence_start[v]), int(i.sequence_start[v + 1]))
        gap = np.abs(a.probabilities[part].astype(np.float64) - b.probabilities[part])
        distance[nodes] = gap.reshape(-1, nodes.stop - nodes.start).sum(axis=0) / 2
        infosets[nodes] = True
    return distance, infosets


def _largest(weight: Floats, top: int) -> list[int]:
    """The `top` nodes by weight; equal ones by number."""
    top = min(top, len(weight))
    if top == 0:
        return []
    least = np.partition(weight, -top)[-top]
    nodes = np.flatnonzero(weight >= least)
    return [int(n) for n in nodes[np.lexsort((nodes, -weight[nodes]))][:top]]


def _difference(
    both: tuple[Strategy, Strategy], reach: list[Floats], distance: Floats, weight: Floats, node: int
) -> Difference:
    text = node_text(both[0].index, both[0].player, node)
    rows = [tuple(float(p) for p in strategy[text]) for strategy in both]
    reaches = (float(reach[0][node]), float(reach[1][node]))
    return Difference(text, reaches, float(distance[node]), float(weight[node]), (rows[0], rows[1]))
