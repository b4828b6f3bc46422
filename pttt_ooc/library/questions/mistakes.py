"""Where a strategy loses: its exploitability as two exact sums over infosets.

Let *s* be a strategy of player *p*, *e* an equilibrium strategy of the opponent, *v* the value of the game for *p*,
*u*(player; *s*, *e*) the player's expected payoff, and *b*(player, against a strategy) the value of the player's best
response.  The exploitability of *s*, *v* + *b*(opponent, against *s*), is the sum of

1. own mistakes: *b*(*p*, against *e*) - *u*(*p*; *s*, *e*), over the infosets of *p*: what *s* loses even against an
   opponent who does not react;
2. openings: *b*(opponent, against *s*) - *u*(opponent; *s*, *e*), over the infosets of the opponent: what an opponent
   who plays *e* gains by reacting to *s*;
3. the remainder: *v* - *b*(*p*, against *e*), which is 0 if *e* is an equilibrium strategy, and negative otherwise.

The two payoffs *u* cancel, because the game is zero-sum.  Each sum is made of losses, infoset by infoset
(:mod:`pttt_ooc.library.questions.losses`).
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from pttt_ooc.cfr.solving.evaluation import check_layout
from pttt_ooc.cfr.sweep.engine import Engine
from pttt_ooc.disk.memory import in_memory
from pttt_ooc.errors import StrategyError
from pttt_ooc.games.structure.strategy import Strategy
from pttt_ooc.library.questions.losses import LossArrays, Losses, find_losses, loss_arrays
from pttt_ooc.types import Interval

OWN_MISTAKE, OPENING = "own mistake", "opening"
"""The kinds of losses."""


@dataclass(frozen=True)
class Mistakes:
    """The exploitability of a strategy and its parts.

    Attributes
    ----------
    game, player
        Name of the game, and the strategy's player.
    exploitability
        What it loses against an opponent who knows it: the value of the game, which is taken as the middle of
        `game_value`, minus its worst case.
    own
        Its losses at its own infosets against the equilibrium strategy.
    openings
        What the opponent gains by reacting: the losses of the equilibrium strategy against it, at the infosets of the
        opponent.
    remainder
        The rest: `own.total` + `openings.total` + `remainder` is `exploitability`.
    game_value
        Interval that holds the value of the game for player 0.
    """

    game: str
    player: int
    exploitability: float
    own: Losses
    openings: Losses
    remainder: float
    game_value: Interval

    def as_record(self) -> dict[str, Any]:
        """As JSON; `infosets` lists own mistakes, the largest first, then openings."""
        parts = {"own_mistakes": self.own, "openings": self.openings}
        kinds = zip((OWN_MISTAKE, OPENING), parts.values(), strict=True)
        return {
            "game": self.game,
            "player": self.player,
            "exploitability": self.exploitability,
            **{name: part.total for name, part in parts.items()},
            "remainder": self.remainder,
            "game_value": list(self.game_value),
            "by_depth": {name: list(part.by_depth) for name, part in parts.items()},
            "by_opening": {name: part.by_opening for name, part in parts.items()},
            "infosets": [
                {"kind": kind, "player": part.player, **asdict(one)} for kind, part in kinds for one in part.infosets
            ],
        }


def find_mistakes(
    strategy: Strategy,
    equilibrium: Strategy,
    engine: Engine,
    game_value: Interval,
    top: int = 50,
    arrays: LossArrays | None = None,
) -> Mistakes:
    """Where a strategy loses, and how much.

    Parameters
    ----------
    strategy
        The strategy to examine, in the layout of the engine's index.
    equilibrium
        A strategy of the other player, as close to an equilibrium as possible, in the same layout.
    engine
        Of any precision; the computation is in double precision.
    game_value
        Interval that holds the value of the game for player 0.
    top
        Number of infosets to list in each of the two sums.
    arrays
        From :func:`pttt_ooc.library.questions.losses.loss_arrays`; default: new arrays in memory.

    Raises
    ------
    StrategyError
        If the strategies are of the same player, or in the layout of another game or symmetry.
    """
    player = strategy.player
    engine, arrays = _prepare(engine, arrays, strategy, equilibrium)
    own = find_losses(engine, strategy, arrays, top)
    openings = find_losses(engine, equilibrium, arrays, top)
    middle = sum(game_value) / 2 * (1 if player == 0 else -1)
    name = engine.index.game.name
    exploitability, remainder = middle + openings.best_value, middle - own.best_value
    return Mistakes(name, player, exploitability, own, openings, remainder, game_value)


def find_differences(
    a: Strategy, b: Strategy, opponent: Strategy, engine: Engine, top: int = 50, arrays: LossArrays | None = None
) -> Losses:
    """Where two strategies of one player differ most in value against the same opponent.

    A loss is what `a` loses at an infoset by deviating from `b` there, if the player follows `b` afterwards; it is
    negative where `a` gains.  The losses sum to the value of `b` minus the value of `a`, and are ranked by size.  For
    parameters and errors see :func:`find_mistakes`.
    """
    check_layout(b, engine.index, a.player)
    engine, arrays = _prepare(engine, arrays, a, opponent)
    return find_losses(engine, a, arrays, top, reference=b)


def _prepare(
    engine: Engine, arrays: LossArrays | None, strategy: Strategy, opponent: Strategy
) -> tuple[Engine, LossArrays]:
    """An engine in double precision, and arrays that hold the reach of both strategies."""
    if strategy.player == opponent.player:
        raise StrategyError(f"The opponent's strategy is player {opponent.player}'s too; name one of the other player.")
    engine = engine.in_precision(np.float64)
    arrays = arrays or in_memory(loss_arrays(engine.index))
    for one in (strategy, opponent):
        check_layout(one, engine.index, one.player)
        engine.reach(one.player, one.probabilities, arrays.reach[one.player])
    return engine, arrays
