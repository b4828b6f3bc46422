"""The numbers of a strategy at an infoset.

The action values at an infoset are sums of the values of the nodes after each attempt, plus the games that the attempt
itself wins.  The latter have the opponent's reach of all histories in which the square is empty.
"""

from __future__ import annotations

import numpy as np

from pttt_ooc.games.rules.game import Game
from pttt_ooc.games.structure.infoset_places import (
    Attempts,
    Floats,
    add_values,
    attempts_of,
    own_reach,
    text_of,
    write_row,
)
from pttt_ooc.library.questions.answers import Numbers, SquareArray
from pttt_ooc.library.questions.histories import histories
from pttt_ooc.library.questions.profile import PreparedProfile


def numbers(profile: PreparedProfile, player: int, infoset: str) -> Numbers:
    """Probabilities, reach and values of `player`'s strategy at an infoset.

    Parameters
    ----------
    infoset
        Its text, such as ``"|0*4."``.

    Raises
    ------
    ImpossibleInfosetError
        If it is no infoset of the player.
    """
    attempts = attempts_of(profile.index, player, infoset)
    mine, side = profile.players[player], profile.sides[player]
    # The strategy's probabilities here, and the histories with the opponent's reach.
    row = np.empty(profile.game.squares)
    write_row(side, mine.probabilities, attempts.squares, len(attempts.squares), attempts.placed, row)
    legal = legal_squares(profile.game, player, attempts)
    found = histories(profile.strategies[1 - player], attempts)
    reached = float(found.reach.sum())
    # Q: the values of the nodes after each attempt, and the games that it wins at once, where it does not fail.
    fails = found.reach @ (found.marks[:, None] >> np.arange(profile.game.squares) & 1)
    wins = _winning(profile.game, player, attempts, legal) * (reached - fails)
    values = _after(profile, player, attempts, legal, mine.values) + wins
    best_values = _after(profile, player, attempts, legal, mine.best_values) + wins
    # The value follows the strategy, the best value the best of the actions. All of these are still times the
    # opponent's reach.
    value, best = float(row @ values), float(best_values[list(legal)].max())
    own = float(own_reach(side, mine.probabilities, attempts.squares, attempts.placed))

    is_legal = np.zeros(profile.game.squares, np.bool_)
    is_legal[list(legal)] = True

    def on_legal(of_squares: SquareArray) -> SquareArray:
        return np.where(is_legal, of_squares, np.nan)

    # Expected values are given that the opponent comes here; regrets stay counterfactual.
    divisor = reached or np.nan  # no reach: no expected value
    return Numbers(
        player=player,
        infoset=text_of(profile.game, player, attempts),
        legal=legal,
        probabilities=on_legal(row),
        own_reach=own,
        opponent_reach=reached,
        value=value / divisor,
        action_values=on_legal(values / divisor),
        best_value=best / divisor,
        best_action_values=on_legal(best_values / divisor),
        regrets=on_legal(values - value),
        fails=on_legal(fails / divisor),
        arbitrary=own == 0 or reached == 0,
    )


def legal_squares(game: Game, player: int, attempts: Attempts) -> tuple[int, ...]:
    """Legal squares at an infoset, ascending."""
    taken = {*attempts.squares.tolist(), *game.setup[player]}
    return tuple(square for square in range(game.squares) if square not in taken)


def _winning(game: Game, player: int, attempts: Attempts, legal: tuple[int, ...]) -> SquareArray:
    """1 for squares that win if the mark is placed, 0 for the others."""
    marks, out = attempts.placed | game.setup_mask(player), np.zeros(game.squares)
    for square in legal:
        out[square] = game.wins(player, marks | 1 << square)
    return out


def _after(
    profile: PreparedProfile, player: int, attempts: Attempts, legal: tuple[int, ...], values: Floats
) -> SquareArray:
    """Counterfactual values of the nodes after each attempt, failed plus placed."""
    out = np.zeros(profile.game.squares)
    for square in legal:
        add_values(profile.sides[player], values, attempts.squares, attempts.placed, square, out)
    return out
