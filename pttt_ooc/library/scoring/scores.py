"""The score of an agent: its strategy at all infosets, asked block by block, against exact best responses."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from pttt_ooc.cfr.solving import evaluation
from pttt_ooc.cfr.solving.evaluation import EvaluationArrays, evaluation_arrays
from pttt_ooc.cfr.sweep import tree
from pttt_ooc.cfr.sweep.engine import Engine, reach_part
from pttt_ooc.cfr.sweep.tree import Floats
from pttt_ooc.disk.memory import in_memory
from pttt_ooc.games.rules.game import Game
from pttt_ooc.games.structure.index import Index, Layout
from pttt_ooc.games.structure.strategy import strategy_arrays
from pttt_ooc.games.structure.views import Ints
from pttt_ooc.library.api.openspiel import policy_by_infoset
from pttt_ooc.library.api.policies import PolicyTensor
from pttt_ooc.library.api.strategies import Strategy
from pttt_ooc.library.api.strategy_reader import known_value, with_value
from pttt_ooc.library.api.structures import data_directory, engine_of, index_of, is_named
from pttt_ooc.library.eas.boards import board_of
from pttt_ooc.library.scoring.agent_answers import AgentTensor, GreedyTensor, Manner, Report, StrategyTensor, ToldTensor
from pttt_ooc.library.scoring.agents import Member, members_of, members_of_both
from pttt_ooc.library.scoring.checkpoints import Outputs
from pttt_ooc.library.scoring.recurrent import is_recurrent, write_recurrent
from pttt_ooc.pipeline.files.infosets import BLOCK_ROWS, default_rows, row_arrays
from pttt_ooc.pipeline.files.tensors import strategy_from_tensor
from pttt_ooc.pipeline.stages.engines import arrays_for
from pttt_ooc.types import Interval

_WAITING = 3  # blocks of answers in memory: one is being made, one waits, one is written


@dataclass(frozen=True)
class Score:
    """How much an agent loses to opponents who know it, exact up to rounding.

    Attributes
    ----------
    game
        Name of the game.
    version
        ``"stochastic"``: as the agent mixes; ``"greedy"``: always its most probable square.
    mean_exploitability
        The mean of its exploitabilities as player 0 and as player 1, which is half of NashConv.  OpenSpiel, and the
        papers that plot this number, call it exploitability.
    nashconv
        The sum of both best responses' values.
    value
        Expected payoff of player 0 when the agent plays itself.
    best_response_0, best_response_1
        What a best response of player 0 gets against the agent as player 1, and the reverse.
    exploitability_0, exploitability_1
        What it loses as each player against an opponent who knows it: the value of the game minus its worst case; None
        if that value is not known.
    game_value
        The interval that holds the value of the game.
    infosets
        Number of infosets that the agent was asked for, both players together.
    """

    game: str
    version: str
    mean_exploitability: float
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


@dataclass(frozen=True)
class ScoreArrays:
    """The arrays of a score, in double precision.

    Attributes
    ----------
    evaluation
        Of the best responses; its reach is also that of a mixture's members.
    plan
        A mixture's sum of realization plans; empty if there is no mixture.
    strategies
        Both players' probabilities.
    rows
        int64: the node of each row, long enough for either player.
    """

    evaluation: EvaluationArrays
    plan: Floats
    strategies: tuple[Floats, Floats]
    rows: Ints


def score_arrays(index: Layout, mixture: bool) -> ScoreArrays:
    """Virtual arrays."""
    both = strategy_arrays(index, np.float64)
    longest = max(both if mixture else (), key=len, default=np.empty(0))
    return ScoreArrays(evaluation_arrays(index), longest, both, max(row_arrays(index), key=len))


def score(
    game: Game,
    agent: Any,
    outputs: Outputs = "probabilities",
    greedy: bool = False,
    block: int = BLOCK_ROWS,
    report: Report = lambda what, share: None,
    game_value: Interval | None = None,
    memory_mb: float = math.inf,
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
    memory_mb
        A limit for the package's own memory, MB: what does not fit is mapped from files in the data directory.  The
        game's engine keeps the number of threads that the limit allows.  The agent's own memory comes on top.

    Raises
    ------
    StrategyError
        If the agent's answers are not a strategy; the message names the infoset.
    ConfigError
        If it is not an agent.
    MemoryBudgetError
        If the limit is too small; the message says what is enough.
    """
    return score_strategies(game, agent, outputs, greedy, block, report, game_value, memory_mb)[0]


def score_strategies(
    game: Game,
    agent: Any,
    outputs: Outputs = "probabilities",
    greedy: bool = False,
    block: int = BLOCK_ROWS,
    report: Report = lambda what, share: None,
    game_value: Interval | None = None,
    memory_mb: float = math.inf,
) -> tuple[Score, tuple[Strategy, Strategy]]:
    """:func:`score`, and the agent's strategies, in double precision and without symmetry."""
    members = members_of_both(agent)
    index, engine, manner = index_of(game), engine_of(game), Manner(outputs, greedy, block, report)
    wanted = score_arrays(index, mixture=any(len(mine) > 1 for mine in members))
    arrays = arrays_for(engine, "score", _needed_bytes(index, members, block), wanted, memory_mb, data_directory())
    first, second = (_strategy(engine, player, members[player], manner, arrays) for player in (0, 1))
    report("Best responses", 0.0)
    found = evaluation.ProfileEvaluator(engine, arrays.evaluation)(first, second)
    report("Best responses", 1.0)
    found = with_value(found, game_value, known_value(game, (), data_directory()) if is_named(game) else None)
    values = (found.value, found.best_response_0, found.best_response_1)
    exploitabilities = (found.exploitability_0, found.exploitability_1, found.game_value)
    version = "greedy" if greedy else "stochastic"
    told = Score(
        game.name,
        version,
        found.nashconv / 2,
        found.nashconv,
        *values,
        *exploitabilities,
        len(first) + len(second),
    )
    return told, (first, second)


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
        A strategy of this package; a policy of OpenSpiel, with ``action_probabilities(state, player)``, which is
        refused if it is for another game; a torch module that maps infostates to numbers; or a function of
        ``(infostates, legal)``, or of these and the player.
        Infostates are OpenSpiel's information-state tensors, bool, shape (infosets, size); ``legal`` tells which
        squares may be attempted, bool, shape (infosets, squares).  The answer has that shape, too.  A function whose
        parameter is called ``observations`` gets in their place what the package's PettingZoo environment shows, int8,
        shape (infosets, squares, 2); a torch module that takes 2 numbers for each square, too.  A function of
        ``(observation, legal_action_mask)`` is a policy of nashbench: a function of JAX for one infoset, whose
        observation is one-hot for the player, then the infostate.  For an agent with a memory, see
        :func:`pttt_ooc.library.scoring.recurrent.write_recurrent`.  A list of pairs of a weight and an agent is a
        mixture: one agent is drawn before the game.  Realization plans are averaged.
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
        If the agent's answers are not a strategy; the message names the infoset.
    ConfigError
        If it is not an agent.
    """
    # A mixture has several members, whose realization plans are averaged; any other agent has one.
    members, engine = members_of(agent, player), engine_of(game)
    arrays = in_memory(score_arrays(engine.index, mixture=len(members) > 1))
    return _strategy(engine, player, members, Manner(outputs, greedy, block, report), arrays)


def _needed_bytes(index: Index, members: Sequence[list[Member]], block: int) -> dict[str, int]:
    """Bytes in memory besides the arrays, by purpose: blocks, and agents that were given as strategies."""
    size, squares = board_of(index.game).infostate_size, index.game.squares
    asked = size * (1 + 4) + squares * (2 + 4 * 8)  # infostates, also as float32; legal squares; steps of the answers
    blocks = min(block, BLOCK_ROWS) * asked + _WAITING * BLOCK_ROWS * squares * 8
    given = sum(_bytes_of(one.agent) for mine in members for one in mine if isinstance(one.agent, Strategy))
    return {"blocks of infosets": blocks, "the given strategies": given}


def _bytes_of(strategy: Strategy) -> int:
    own = strategy.probabilities
    folded = strategy.index.symmetry != "none"
    unfolded = index_of(strategy.game).players[strategy.player].sequences * own.itemsize if folded else 0
    return own.nbytes + unfolded


def _strategy(engine: Engine, player: int, members: list[Member], manner: Manner, arrays: ScoreArrays) -> Strategy:
    """The strategy of an agent or of a mixture, in the player's array."""
    index, found = engine.index, arrays.strategies[player]
    rows = arrays.rows[: int(index.players[player].infosets_by_slice().sum())]
    default_rows(index, player, into=rows)
    if len(members) == 1:
        _write(index, player, members[0], manner, rows, found)
        return Strategy(index, player, found)
    plan, total = arrays.plan[: len(found)], sum(member.weight for member in members)
    plan[:] = 0
    reach = reach_part(arrays.evaluation.reach, index.players[player])
    for number, member in enumerate(members, start=1):

        def tell(what: str, share: float, number: int = number) -> None:
            manner.report(f"{what} ({number} of {len(members)})", share)

        _write(index, player, member, manner._replace(report=tell), rows, found)
        engine.reach(player, found, reach)
        reach.sequences[:] *= member.weight / total
        plan += reach.sequences
    for n in range(index.players[player].slices):
        engine.run(player, n, tree.average_strategy, 0, plan, found)
    return Strategy(index, player, found)


def _write(index: Index, player: int, member: Member, manner: Manner, rows: Ints, into: Floats) -> None:
    """Write the probabilities of one agent: float64, shape (sequences,)."""
    agent = member.agent
    if is_recurrent(agent):
        write_recurrent(index, player, agent, manner, rows, into)
        return
    source: Any
    if isinstance(agent, Strategy):
        source = StrategyTensor(agent.unfolded, rows)
    elif hasattr(agent, "action_probabilities"):
        asked = PolicyTensor(policy_by_infoset(index.game, player, agent), index.game, player, rows)
        source = ToldTensor(asked, player, manner)
    else:
        source, manner = AgentTensor(index, player, member.observe, manner, rows), manner._replace(greedy=False)
    strategy_from_tensor(index, player, source, rows, source="The agent", into=into)
    if manner.greedy:  # after the numbers have been checked
        greedy = GreedyTensor(StrategyTensor(Strategy(index, player, into), rows))
        strategy_from_tensor(index, player, greedy, rows, source="The agent", into=into)
