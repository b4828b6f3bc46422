"""A player's beliefs about the board at an infoset, given the opponent's strategy: exact, without sampling.

Each history of the infoset is weighted by the opponent's reach.  The player's own probabilities are the same for all
histories and cancel.  So the posterior distribution over true boards, and over the opponent's attempts, is the
opponent's reach, divided by its sum.
"""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from pttt_ooc.errors import StrategyError
from pttt_ooc.games.rules.game import Game
from pttt_ooc.games.structure.index import Index
from pttt_ooc.games.structure.infoset_places import Attempts, attempts_of, text_of
from pttt_ooc.games.structure.strategy import Strategy
from pttt_ooc.library.questions.answers import Beliefs, Board
from pttt_ooc.library.questions.histories import BITS, Histories, consistent_histories, histories


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
        If it is no infoset of the player.
    StrategyError
        If the strategy is the player's own, or for another game.
    """
    game, (attempts, reached, posterior) = index.game, _posterior(index, opponent, player, infoset)
    # The posterior of each board, summed over the orders in which the opponent may have made the same marks.
    found = posterior.found
    mine = attempts.placed | game.setup_mask(player)
    by_board = np.bincount(found.marks, weights=posterior.weight, minlength=1 << game.squares).astype(np.float64)
    # For each square, whether it is marked on each board: so the sums over boards tell where marks and empty squares
    # are.
    marked = np.arange(len(by_board)) >> np.arange(game.squares)[:, None] & 1
    held = (mine >> np.arange(game.squares) & 1)[:, None]
    # The likeliest boards, equal ones by their numbers.
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


def _posterior(index: Index, opponent: Strategy, player: int, infoset: str) -> tuple[Attempts, float, _Posterior]:
    """The attempts of an infoset, the opponent's reach of it, and the histories; arbitrary ones if that is zero."""
    game = index.game
    if opponent.player == player or opponent.index.game != game:
        raise StrategyError(
            f"Beliefs of player {player} in {game.name} follow from a strategy of player {1 - player}; this one is "
            f"player {opponent.player}'s in {opponent.index.game.name}."
        )
    attempts = attempts_of(index, player, infoset)
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
        return text_of(self.game, self.opponent, Attempts(squares, int(self.found.marks[history])))
