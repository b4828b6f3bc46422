"""The score of an agent: its strategy at all infosets, asked block by block, against exact best responses."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pttt_ooc.aliases import Interval
from pttt_ooc.library.strategies import Strategy
from pttt_ooc.library.strategy_reader import known_value, with_value
from pttt_ooc.library.structures import data_directory, engine_of, index_of, is_named
from pttt_ooc.products.infosets import BLOCK_ROWS, default_rows
from pttt_ooc.products.tensors import strategy_from_tensor
from pttt_ooc.rules.game import Game
from pttt_ooc.scoring.agents import Member, members_of, observer
from pttt_ooc.scoring.answers import AgentTensor, Manner, Report, greedy_choice
from pttt_ooc.scoring.checkpoints import Outputs
from pttt_ooc.scoring.recurrent import is_recurrent, recurrent_tensor
from pttt_ooc.solving import evaluation
from pttt_ooc.structure.index import Index
from pttt_ooc.sweep import tree


@dataclass(frozen=True)
class Score:
    """Exploitability of an agent, exact up to rounding.

    Attributes
    ----------
    game
        Name of the game.
    version
        ``"stochastic"``: as the agent mixes; ``"greedy"``: always its most probable square.
    exploitability
        Half of NashConv, as the field's papers plot it.
    nashconv
        The sum of both best responses' values.
    value
        Expected payoff of player 0 when the agent plays itself.
    best_response_0, best_response_1
        What a best response of player 0 gets against the agent as player 1, and the reverse.
    exploitability_0, exploitability_1
        How far each player's worst case is below the value of the game; None if that is not known.
    game_value
        The interval that holds the value of the game.
    infosets
        Number of infosets that the agent was asked for, both players together.
    """

    game: str
    version: str
    exploitability: float
    nashconv: float
    value: float
    best_response_0: float
    best_response_1: float
    exploitability_0: float | None
    exploitability_1: float | None
    game_value: Interval | None
    infosets: int

    def as_record(self) -> dict[str, Any]:
        """As JSON."""
        return asdict(self)


def score(
    game: Game,
    agent: Any,
    outputs: Outputs = "probabilities",
    greedy: bool = False,
    block: int = BLOCK_ROWS,
    report: Report = lambda what, share: None,
    game_value: Interval | None = None,
) -> Score:
    """Score an agent that plays both sides.

    Parameters
    ----------
    agent
        See :func:`agent_strategy`; or a mapping from players to agents.
    outputs, greedy, block, report
        See :func:`agent_strategy`.
    game_value
        The interval that holds the value of the game; default: the best known one.

    Raises
    ------
    StrategyError
        If the agent's answers are no strategy; the message names the infoset.
    ConfigError
        If it is no agent.
    """
    both = [agent_strategy(game, player, agent, outputs, greedy, block, report) for player in (0, 1)]
    report("Best responses", 0.0)
    found = evaluation.evaluate(both[0], both[1], engine_of(game))
    report("Best responses", 1.0)
    found = with_value(found, game_value, known_value(game, (), data_directory()) if is_named(game) else None)
    values = (found.value, found.best_response_0, found.best_response_1)
    exploitabilities = (found.exploitability_0, found.exploitability_1, found.game_value)
    version = "greedy" if greedy else "stochastic"
    return Score(
        game.name,
        version,
        found.nashconv / 2,
        found.nashconv,
        *values,
        *exploitabilities,
        sum(len(one) for one in both),
    )


def agent_strategy(
    game: Game,
    player: int,
    agent: Any,
    outputs: Outputs = "probabilities",
    greedy: bool = False,
    block: int = BLOCK_ROWS,
    report: Report = lambda what, share: None,
) -> Strategy:
    """The strategy of an agent, which is asked for all of the player's infosets, block by block.

    Parameters
    ----------
    agent
        A strategy of this package; a policy of OpenSpiel, with ``action_probabilities(state, player)``; a torch
        module that maps infostates to numbers; or a function of ``(infostates, legal)``, or of these and the player.
        Infostates are OpenSpiel's information-state tensors, bool, shape (infosets, size); ``legal`` tells which
        squares may be attempted, bool, shape (infosets, squares).  The answer has that shape, too.  A function whose
        parameter is called ``observations`` gets in their place what the package's PettingZoo environment shows, int8,
        shape (infosets, squares, 2); a torch module that takes 2 numbers for each square, too.  An agent with a memory
        is one of :func:`pttt_ooc.scoring.recurrent.recurrent_tensor`.  A list of pairs of
        a weight and an agent is a mixture: one agent is drawn before the game.  Realization plans are averaged.
    outputs
        What the answers are: ``"probabilities"``, or ``"logits"``, whose softmax over the legal squares is taken.
    greedy
        Attempt the square with the highest number, the lowest of equal ones; in a mixture, each agent does so.
    block
        Most infosets to ask for at once.
    report
        Called after each block.

    Raises
    ------
    StrategyError
        If the agent's answers are no strategy; the message names the infoset.
    ConfigError
        If it is no agent.
    """
    members = members_of(agent, player)
    index, manner = index_of(game), Manner(outputs, greedy, block, report)
    if len(members) == 1:
        return Strategy(index, player, _probabilities(index, player, members[0], manner))
    engine, total = engine_of(game), sum(member.weight for member in members)
    plan = np.zeros(index.players[player].sequences)
    for number, member in enumerate(members, start=1):

        def told(what: str, share: float, number: int = number) -> None:
            report(f"{what} ({number} of {len(members)})", share)

        one = _probabilities(index, player, member, manner._replace(report=told))
        plan += engine.reach(player, one).sequences * (member.weight / total)
    mixed = np.empty_like(plan)
    for n in range(index.players[player].slices):
        engine.run(player, n, tree.average_strategy, 0, plan, mixed)
    return Strategy(index, player, mixed)


def _probabilities(index: Index, player: int, member: Member, manner: Manner) -> NDArray[np.floating[Any]]:
    """The probabilities of one agent: float64, shape (sequences,)."""
    game, agent = index.game, member.agent
    if hasattr(agent, "action_probabilities"):
        agent = Strategy.from_openspiel(game, player, agent)
    rows = default_rows(index, player)
    if isinstance(agent, Strategy):
        source: Any = agent.tensor()
        if manner.greedy:
            source = greedy_choice(source, source > 0)
        return strategy_from_tensor(index, player, source, rows, source="The strategy")
    if is_recurrent(agent):
        return strategy_from_tensor(index, player, recurrent_tensor(index, player, agent, manner), rows)
    asked = AgentTensor(index, player, observer(agent), manner, rows)
    return strategy_from_tensor(index, player, asked, rows, source="The agent")
