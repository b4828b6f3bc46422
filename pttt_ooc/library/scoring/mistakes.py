"""Where an agent loses: the mistakes of both its strategies, from its score."""

from __future__ import annotations

import math

from pttt_ooc.library.api.strategies import Strategy
from pttt_ooc.library.api.structures import data_directory, engine_of
from pttt_ooc.library.questions.losses import loss_arrays
from pttt_ooc.library.questions.mistakes import Mistakes, find_mistakes
from pttt_ooc.library.scoring.scores import Score
from pttt_ooc.pipeline.stages.engines import arrays_for

TOP = 12
"""Infosets that are listed of each kind."""


def agent_mistakes(
    found: Score,
    strategies: tuple[Strategy, Strategy],
    opponents: tuple[Strategy, Strategy],
    memory_mb: float = math.inf,
) -> tuple[Mistakes, Mistakes]:
    """Where an agent loses as player 0 and as player 1; see :mod:`pttt_ooc.library.questions.mistakes`.

    Parameters
    ----------
    found, strategies
        From :func:`.scores.score_strategies`.
    opponents
        An equilibrium: strategies of players 0 and 1.
    memory_mb
        See :func:`.scores.score`.

    Raises
    ------
    ValueError
        If the score has no value of the game.
    MemoryBudgetError
        If the limit is too small.
    """
    if found.game_value is None:
        raise ValueError("the score has no value of the game")
    engine = engine_of(strategies[0].game)
    whole = [one.unfolded for one in opponents]
    held = {"the strategies": sum(one.probabilities.nbytes for one in (*strategies, *whole))}
    arrays = arrays_for(engine, "mistakes", held, loss_arrays(engine.index), memory_mb, data_directory())
    first, second = (
        find_mistakes(strategies[player], whole[1 - player], engine, found.game_value, TOP, arrays) for player in (0, 1)
    )
    return first, second
