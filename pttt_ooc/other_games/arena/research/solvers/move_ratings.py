"""What the moves of a game lost: exactly where the position can be solved at once, else as a strong agent estimates it.

Values are points: a win is 1, a draw one half.  A loss is the value after the best move minus the value after the move
that was made.  Both positions are searched in the same way, so that a bias of an evaluation by the side to move
cancels, except after a bonus move of Extreme; there tests find less than 0.01.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

from pttt_ooc.other_games.arena.games.base import DRAW, FIRST, PLAYER, RESULT, UNFINISHED, ArenaError, Game, State
from pttt_ooc.other_games.arena.games.catalogue import game
from pttt_ooc.other_games.arena.games.extreme import Extreme
from pttt_ooc.other_games.arena.games.infinite import Infinite
from pttt_ooc.other_games.arena.games.mnk import Mnk
from pttt_ooc.other_games.arena.research.players.mcts import TreeSearch
from pttt_ooc.other_games.arena.research.players.strong import Strong
from pttt_ooc.other_games.arena.research.players.tuned import Tuned
from pttt_ooc.other_games.arena.research.solvers.endings import EndingSolver, open_squares
from pttt_ooc.other_games.arena.research.solvers.row_boards import MOST_SQUARES
from pttt_ooc.other_games.arena.research.solvers.row_values import solve

OPEN = 22
"""Maximum open squares of an ending of Ultimate that is solved."""

FREE = 16
"""Maximum free squares of a board of k-in-a-row that is solved."""

DEPTH, NODES, PLAYOUTS = 8, 5000, 1000
"""Limits of the searches that estimate a position: plies in Ultimate, positions in Extreme, games played out
elsewhere."""

_MOST_POSITIONS = 500_000  # of one ending
_MOST_NODES = 200_000  # of one position of k-in-a-row


@dataclass(frozen=True)
class Rating:
    """A move, and what it lost.

    Attributes
    ----------
    values
        The value of moves for the player who makes them: of all legal moves if they are exact, else of the move that
        was made and of the best one that was found.
    loss
        The best of these values minus that of the move.
    before
        The value of the position before the move for player 0.  An estimate is the mean of two, with either player to
        move: after the best move, and before it.
    exact
        Whether the values are exact.
    """

    values: dict[int, float]
    loss: float
    before: float
    exact: bool


class MoveRater:
    """Rates moves of one game.

    Attributes
    ----------
    by
        The name of the agent that estimates positions that are not solved, for people.

    Raises
    ------
    ArenaError
        No agent here rates moves of this game.
    """

    by: str

    def __init__(self, game: Game) -> None:
        self._game, self._endings = game, EndingSolver(18, _MOST_POSITIONS)
        self._agent: Tuned | Strong | TreeSearch
        if game.text == "ultimate":
            self._agent, self.by = Tuned(depth=DEPTH, slots=1 << 14, path="shipped"), f"tuned alpha-beta, {DEPTH} plies"
        elif isinstance(game, Extreme):
            self._agent, self.by = Strong(nodes=NODES, slots=1 << 16), f"the strong bot, {NODES:,} positions"
        else:
            if isinstance(game, Infinite):
                raise ArenaError("Moves on a board without end are not rated: no agent here estimates them well.")
            self._agent = TreeSearch(nodes=PLAYOUTS, room=400_000, reuse=False)
            self.by = f"Monte Carlo tree search, {PLAYOUTS:,} games"
        self._agent.seat(game)

    def rate(self, state: State, move: int | None) -> Rating:
        """The rating of a legal move, or, with None, of the best move; the same position always has the same one."""
        values = self._exact(state)
        if values is not None:
            best = max(values.values())
            return Rating(values, best - (best if move is None else values[move]), _first(state, best), True)
        self._agent.begin(0)
        chosen = int(self._agent.choose(state))
        moves = dict.fromkeys((chosen, chosen if move is None else move))
        values = {one: self._after(state, one, self._estimate) for one in moves}
        best = max(values.values())
        before = (self._estimate(state) + _first(state, best)) / 2
        return Rating(values, best - (best if move is None else values[move]), before, False)

    # -----------------------------------------------------------------------------------------

    def _exact(self, state: State) -> dict[int, float] | None:
        """The exact value of each legal move for the player who makes it; None if the position is too large."""
        try:
            if self._game.text == "ultimate" and open_squares(state) <= OPEN:
                return {move: (value + 1) / 2 for move, value in self._endings.values(state).items()}
            if isinstance(self._game, Mnk) and self._game.rows * self._game.columns <= MOST_SQUARES:
                legal = self._game.legal(state)
                return {move: self._after(state, move, self._solve) for move in legal} if len(legal) <= FREE else None
        except ArenaError:  # it needs more than is allowed
            pass
        return None

    def _solve(self, state: State) -> float:
        assert isinstance(self._game, Mnk)
        found = solve(self._game, state, "alpha-beta", 16, _MOST_NODES).value
        if found is None:
            raise ArenaError("The position is too large to be solved at once.")
        return (found + 1) / 2

    def _estimate(self, state: State) -> float:
        self._agent.begin(0)
        return self._agent.points(state)

    def _after(self, state: State, move: int, value: Callable[[State], float]) -> float:
        """The value of a move for the player who makes it, by a value of positions for player 0."""
        after = self._game.play(state, move)
        points = _at_end(after) if after[RESULT] != UNFINISHED else value(after)
        return _first(state, points)


def _first(state: State, points: float) -> float:
    """Points of the player to move as those of player 0, or the other way round."""
    return points if state[PLAYER] == 0 else 1 - points


def _at_end(state: State) -> float:
    return {FIRST: 1.0, DRAW: 0.5}.get(int(state[RESULT]), 0.0)


RATED = 5000
"""Maximum number of moves whose ratings are remembered."""


class RatingCache:
    """The ratings of moves in all games."""

    def __init__(self) -> None:
        self._raters: dict[str, MoveRater] = {}
        self._ratings: OrderedDict[tuple[str | int, ...], dict[str, Any]] = OrderedDict()

    def ratings(self, game_text: str, moves: list[int]) -> list[dict[str, Any] | None]:
        """The :meth:`rating` of each of these moves, where it is remembered."""
        return [self._ratings.get((game_text, 0, *moves[:number])) for number in range(1, len(moves) + 1)]

    def rating(self, game_text: str, moves: list[int], hint: bool = False) -> dict[str, Any]:
        """The :class:`Rating` of the last of these moves, and ``by``:
        whose it is.

        Parameters
        ----------
        hint
            Rate the best next move instead.

        Raises
        ------
        ArenaError
            There is no such game, a move is impossible, the game is over, or moves of this game are not rated.
        """
        key: tuple[str | int, ...] = (game_text, int(hint), *moves)
        if key not in self._ratings:
            if game_text not in self._raters:
                self._raters.clear()  # one at a time: each has tables
                self._raters[game_text] = MoveRater(game(game_text))
            rules = game(game_text)
            state = rules.after(moves if hint else moves[:-1])
            if hint and state[RESULT] != UNFINISHED:
                raise ArenaError("This game is over; there is no next move.")
            if not hint:
                rules.play(state, moves[-1])  # it has to be legal
            while len(self._ratings) >= RATED:
                self._ratings.popitem(last=False)
            rater = self._raters[game_text]
            found = asdict(rater.rate(state, None if hint else moves[-1]))
            self._ratings[key] = {**found, "values": list(found["values"].items()), "by": rater.by}
        return self._ratings[key]
