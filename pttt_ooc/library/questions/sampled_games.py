"""Random games between two strategies, and single random attempts."""

from __future__ import annotations

import numpy as np

from pttt_ooc.errors import StrategyError
from pttt_ooc.games.rules.play import History, start
from pttt_ooc.games.structure.infoset_places import PackedAttempts, pack_attempts, sides_of, write_row
from pttt_ooc.games.structure.strategy import Strategy
from pttt_ooc.library.questions.answers import SquareArray
from pttt_ooc.library.questions.histories import read_only


def row_at(strategy: Strategy, infoset: str) -> SquareArray:
    """A strategy's probabilities at an infoset: float64 (squares,), scaled to sum to 1, 0 at illegal squares.

    Raises
    ------
    ImpossibleInfosetError
        If it is not an infoset of the strategy's player.
    """
    return _row(strategy, pack_attempts(strategy.index, strategy.player, infoset))


def choose(strategy: Strategy, infoset: str, rng: np.random.Generator) -> int:
    """A random attempt of a strategy at an infoset.

    Raises
    ------
    ImpossibleInfosetError
        If it is not an infoset of the strategy's player.
    """
    return _draw_attempt(row_at(strategy, infoset), rng)


def sample_game(strategies: tuple[Strategy, Strategy], rng: np.random.Generator) -> History:
    """A random game between two strategies: its final history.

    Parameters
    ----------
    strategies
        Of player 0 and of player 1, with or without symmetry.

    Raises
    ------
    StrategyError
        If they are not strategies of these players in one game.
    """
    game = strategies[0].index.game
    if (strategies[0].player, strategies[1].player) != (0, 1) or strategies[1].index.game != game:
        raise StrategyError("A game needs a strategy of player 0 and one of player 1, both for the same game.")
    history = start(game)
    while history.player is not None:
        me = history.player
        own = [attempt.square for attempt in history.attempts if attempt.player == me]
        placed = history.placed[me] & ~game.setup_mask(me)
        row = _row(strategies[me], PackedAttempts(np.array(own, np.int64), placed))
        history = history.step(_draw_attempt(row, rng))
    return history


def _row(strategy: Strategy, attempts: PackedAttempts) -> SquareArray:
    row = np.empty(strategy.index.game.squares)
    side = sides_of(strategy.index)[strategy.player]
    write_row(side, read_only(strategy.probabilities), attempts.squares, len(attempts.squares), attempts.placed, row)
    return row


def _draw_attempt(row: SquareArray, rng: np.random.Generator) -> int:
    """A random square; rounding never chooses one with probability 0."""
    total = np.cumsum(row)
    return int(np.searchsorted(total, rng.random() * total[-1], side="right"))
