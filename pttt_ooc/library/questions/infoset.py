"""What happens at an infoset: the numbers of a strategy, what attempts lead to, and beliefs about the board.

The action values at an infoset are sums of the values of the nodes after each attempt, plus the games that the attempt
itself wins.  The latter have the opponent's reach of all histories in which the square is empty.
"""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from pttt_ooc.errors import GameError, StrategyError
from pttt_ooc.games.rules.game import Game
from pttt_ooc.games.structure.index import Index
from pttt_ooc.games.structure.infoset_places import (
    Floats,
    PackedAttempts,
    add_values,
    is_infoset,
    own_reach,
    pack_attempts,
    text_of,
    write_row,
)
from pttt_ooc.games.structure.strategy import Strategy
from pttt_ooc.library.questions.answers import Beliefs, Board, Numbers, Outcome, SquareArray
from pttt_ooc.library.questions.histories import (
    BITS,
    Histories,
    consistent_histories,
    follow,
    histories,
    own_part,
    read_only,
)
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
        If it is not an infoset of the player.
    """
    attempts = pack_attempts(profile.index, player, infoset)
    mine, side = profile.players[player], profile.sides[player]
    # The strategy's probabilities here, and the histories with the opponent's reach.
    row = np.empty(profile.game.squares)
    write_row(side, mine.probabilities, attempts.squares, len(attempts.squares), attempts.placed, row)
    legal = legal_squares(profile.game, player, attempts)
    found = histories(profile.strategies[1 - player], attempts)
    reached = float(found.reach.sum())
    # Q: the values of the nodes after each attempt, and the games that it wins at once if it does not fail.
    fails = found.reach @ (found.marks[:, None] >> np.arange(profile.game.squares) & 1)
    wins = _winning(profile.game, player, attempts, legal) * (reached - fails)
    values = _after(profile, player, attempts, legal, mine.values) + wins
    best_values = _after(profile, player, attempts, legal, mine.best_values) + wins
    # The value is the strategy's mean of Q, the best value its maximum. All of these are still multiplied by the
    # opponent's reach.
    value, best = float(row @ values), float(best_values[list(legal)].max())
    own = float(own_reach(side, mine.probabilities, attempts.squares, attempts.placed))

    is_legal = np.zeros(profile.game.squares, np.bool_)
    is_legal[list(legal)] = True

    def on_legal(of_squares: SquareArray) -> SquareArray:
        return np.where(is_legal, of_squares, np.nan)

    # Expected values are conditional on reaching the infoset; regrets stay counterfactual.
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


def legal_squares(game: Game, player: int, attempts: PackedAttempts) -> tuple[int, ...]:
    """Legal squares at an infoset, ascending."""
    taken = {*attempts.squares.tolist(), *game.setup[player]}
    return tuple(square for square in range(game.squares) if square not in taken)


def _winning(game: Game, player: int, attempts: PackedAttempts, legal: tuple[int, ...]) -> SquareArray:
    """1 for squares that win if the mark is placed, 0 for the others."""
    marks, out = attempts.placed | game.setup_mask(player), np.zeros(game.squares)
    for square in legal:
        out[square] = game.wins(player, marks | 1 << square)
    return out


def _after(
    profile: PreparedProfile, player: int, attempts: PackedAttempts, legal: tuple[int, ...], values: Floats
) -> SquareArray:
    """Counterfactual values of the nodes after each attempt, failed plus placed."""
    out = np.zeros(profile.game.squares)
    for square in legal:
        add_values(profile.sides[player], values, attempts.squares, attempts.placed, square, out)
    return out


# ---------------------------------------------------------------------------------------------
# What an attempt leads to


def following(profile: PreparedProfile, player: int, infoset: str, square: int | None = None) -> tuple[Outcome, ...]:
    """The outcomes of attempts at an infoset: for each square *failed*, then *placed*, if the rules allow it.

    Parameters
    ----------
    infoset
        Its text, such as ``"|0*4."``.
    square
        The attempt; default: every legal attempt.

    Raises
    ------
    ImpossibleInfosetError
        If it is not an infoset of the player.
    GameError
        If the square cannot be attempted there.
    """
    # The attempts to follow: one square, or all legal ones.
    attempts = pack_attempts(profile.index, player, infoset)
    legal = legal_squares(profile.game, player, attempts)
    if square is not None and square not in legal:
        listed = ", ".join(map(str, legal))
        raise GameError(f"Player {player} cannot attempt square {square} at {infoset!r}; choose one of {listed}.")
    chosen = legal if square is None else (square,)
    opponent = profile.strategies[1 - player]
    # Columns of a single history would have another array type, and the kernel would be compiled again.
    found = Histories._make(map(np.ascontiguousarray, histories(opponent, attempts)))
    own = own_part(profile.game, player, attempts)
    sides = (profile.sides[player], profile.sides[1 - player])
    # The reach of each result, summed over the infoset's histories.
    reach = follow(found, own, *sides, read_only(opponent.probabilities), sum(1 << s for s in chosen))
    reached = float(found.reach.sum())
    outcomes, possible = [], None
    for each in chosen:
        for placed in (False, True):
            after = PackedAttempts(np.append(attempts.squares, each), attempts.placed | placed << each)
            # An outcome with no infoset after it and no reach is listed only if some history allows it.
            decides = is_infoset(sides[0], after)
            happens = float(reach[each, int(placed)].sum())
            if not decides and not happens:
                possible = possible or _possible(profile.index, player, attempts)
                if not possible[placed] >> each & 1:
                    continue
            # Shares of the results among the games with this outcome.
            shares = reach[each, int(placed)] / happens if happens else np.full(4, np.nan)
            text = text_of(profile.game, player, after)
            probability = happens / reached if reached else float("nan")
            outcomes.append(Outcome(each, placed, probability, text, decides, *shares.tolist()))
    return tuple(outcomes)


def _possible(index: Index, player: int, attempts: PackedAttempts) -> tuple[int, int]:
    """Squares on which the player can fail, and squares on which they can place a mark, as bit masks."""
    marks = consistent_histories(index, player, attempts, some=True).marks
    return int(np.bitwise_or.reduce(marks)), int(np.bitwise_or.reduce(~marks))


def earlier(index: Index, player: int, infoset: str) -> tuple[str, ...]:
    """The player's own infosets on the way to one, from the first to the infoset itself, as texts.

    Raises
    ------
    ImpossibleInfosetError
        If it is not an infoset of the player.
    """
    attempts = pack_attempts(index, player, infoset)
    parts = [PackedAttempts(attempts.squares[:n], attempts.placed) for n in range(len(attempts.squares) + 1)]
    return tuple(text_of(index.game, player, part) for part in parts)


# ---------------------------------------------------------------------------------------------
# Beliefs


def beliefs(index: Index, opponent: Strategy, player: int, infoset: str, boards: int = 10, orders: int = 0) -> Beliefs:
    """What `player` believes about the board at an infoset.

    Parameters
    ----------
    index
        The game's, with or without symmetry.
    opponent
        The other player's strategy, with or without symmetry, on any index of the game.
    infoset
        Its text, as :func:`pttt_ooc.games.structure.infoset_parser.check_infoset` takes it.
    boards
        Number of boards to list, the likeliest first.
    orders
        Number of the opponent's infosets to list for each of these boards, the likeliest first.

    Raises
    ------
    ImpossibleInfosetError
        If it is not an infoset of the player.
    StrategyError
        If the strategy is the player's own, or for another game.
    """
    game, (attempts, reached, posterior) = index.game, _posterior(index, opponent, player, infoset)
    # The posterior of each board, summed over the orders in which the opponent may have made the same marks.
    found = posterior.found
    mine = attempts.placed | game.setup_mask(player)
    by_board = np.bincount(found.marks, weights=posterior.weight, minlength=1 << game.squares).astype(np.float64)
    # For each square, whether it is marked on each board; sums over boards give the probabilities of marks and of empty
    # squares.
    marked = np.arange(len(by_board)) >> np.arange(game.squares)[:, None] & 1
    held = (mine >> np.arange(game.squares) & 1)[:, None]
    # The likeliest boards; equal ones by their numbers.
    there = np.flatnonzero(by_board)
    likeliest = there[np.lexsort((there, -by_board[there]))][:boards].tolist()
    # How many attempts the opponent has made.
    counts = np.bincount(found.attempts, weights=posterior.weight)
    return Beliefs(
        player,
        text_of(game, player, attempts),
        reached,
        marked @ by_board,
        (1 - marked - held) @ by_board,
        tuple(Board(mine, m, float(by_board[m]), posterior.orders(m, orders)) for m in likeliest),
        MappingProxyType({int(n): float(counts[n]) for n in np.flatnonzero(counts)}),
        reached == 0,
    )


def drawn_infoset(index: Index, opponent: Strategy, player: int, infoset: str, number: float) -> str:
    """An infoset of the opponent, drawn from the beliefs of `player`.

    Parameters
    ----------
    number
        A random number in [0, 1); for the others, and for errors, see :func:`beliefs`.
    """
    _, _, posterior = _posterior(index, opponent, player, infoset)
    return posterior.draw_infoset(number)


def _posterior(index: Index, opponent: Strategy, player: int, infoset: str) -> tuple[PackedAttempts, float, _Posterior]:
    """The attempts of an infoset, the opponent's reach of it, and its histories: all consistent ones if that is 0."""
    game = index.game
    if opponent.player == player or opponent.index.game != game:
        raise StrategyError(
            f"Beliefs of player {player} in {game.name} follow from a strategy of player {1 - player}; this one is "
            f"player {opponent.player}'s in {opponent.index.game.name}."
        )
    attempts = pack_attempts(index, player, infoset)
    found = histories(opponent, attempts)
    reached = float(found.reach.sum())
    if reached == 0:
        found = consistent_histories(index, player, attempts)
    return attempts, reached, _Posterior(game, 1 - player, found, found.reach / found.reach.sum())


@dataclass(frozen=True, eq=False)
class _Posterior:
    """The histories of an infoset with their probabilities.

    Attributes
    ----------
    opponent
        The player whose attempts the histories hold.
    weight
        float64 (histories,): sums to 1.
    """

    game: Game
    opponent: int
    found: Histories
    weight: NDArray[np.float64]

    def orders(self, marks: int, wanted: int) -> tuple[tuple[str, float], ...]:
        """The opponent's likeliest infosets that lead to these marks, at most `wanted`."""
        if not wanted:
            return ()
        which = np.flatnonzero(self.found.marks == marks)
        chosen = which[np.lexsort((self.found.order[which], -self.weight[which]))][:wanted].tolist()
        return tuple((self._text(h), float(self.weight[h])) for h in chosen)

    def draw_infoset(self, number: float) -> str:
        """The opponent's infoset that a random number in [0, 1) chooses."""
        sums = np.cumsum(self.weight)
        last = int(np.flatnonzero(self.weight)[-1])  # because of rounding
        return self._text(min(int(np.searchsorted(sums, number * sums[-1], side="right")), last))

    def _text(self, history: int) -> str:
        slots = BITS * np.arange(self.found.attempts[history])
        squares = self.found.order[history] >> slots & (1 << BITS) - 1
        return text_of(self.game, self.opponent, PackedAttempts(squares, int(self.found.marks[history])))
