"""Environments of Phantom Tic-Tac-Toe and its relatives, and of tic-tac-toe with secret goals; they need no Numba."""

from __future__ import annotations

import numpy as np

from pttt_ooc.games.rules.game import Game
from pttt_ooc.games.rules.play import start
from pttt_ooc.other_games.environments.turns import Numbers, TurnEnvironment
from pttt_ooc.other_games.smbc.match_play import new_match
from pttt_ooc.other_games.smbc.rules import GOALS, SQUARES, Rules


class PhantomEnvironment(TurnEnvironment):
    """A phantom game: a player sees their own marks and their failed attempts."""

    def __init__(self, game: Game, render_mode: str | None = None) -> None:
        self.game = game
        super().__init__(f"phantom:{game.name}", game.squares, (game.squares, 2), 1, render_mode)

    def _begin(self) -> None:
        self.history = start(self.game)

    def _to_move(self) -> int:
        assert self.history.player is not None
        return self.history.player

    def _legal(self) -> list[int]:
        return self.history.legal()

    def _act(self, action: int) -> None:
        self.history = self.history.step(action)

    def _returns(self) -> tuple[float, float] | None:
        if not self.history.is_terminal:
            return None
        first, second = self.history.returns
        return float(first), float(second)

    def _observation(self, player: int) -> Numbers:
        marks = np.zeros((self.game.squares, 2), dtype=np.int8)
        for square in range(self.game.squares):
            placed = self.history.placed[player] >> square & 1
            marks[square, 0] = placed
            marks[square, 1] = self.history.tried[player] >> square & 1 & ~placed
        return marks

    def _text(self) -> str:
        rows = []
        for row in range(self.game.rows):
            squares = range(row * self.game.columns, (row + 1) * self.game.columns)
            first, second = self.history.placed
            rows.append(" ".join("x" if first >> s & 1 else "o" if second >> s & 1 else "." for s in squares))
        return "\n".join(rows)


class SecretGoalsEnvironment(TurnEnvironment):
    """A match: `player_0` moves first in the first round, then the players alternate.

    A round ends as soon as its outcome is forced, and the next one begins at once.

    Parameters
    ----------
    winning_score
        The points that win the match.
    fill_board
        Whether a round goes on until the board is full or its outcome is forced, as in the comic.
    render_mode
        None or ``"ansi"``.

    Notes
    -----
    An observation is int8, shape (13, 2).  Column 0 is about the observer, column 1 about the opponent.
    Rows 0 to 8 are the squares: the number of the move in the round, from 1, by which the player took the square, or 0.
    Rows 9 to 11 have a 1 for the observer's own goal (win, tie or lose), and zeros for the opponent's.  Row 12 has the
    points before the round.
    """

    def __init__(self, winning_score: int, fill_board: bool = False, render_mode: str | None = None) -> None:
        self.rules = Rules(fill_board=fill_board)
        self.winning_score = winning_score
        rows = SQUARES + len(GOALS) + 1
        name = f"secret-goals:to{winning_score}" + "+fill" * fill_board
        super().__init__(name, SQUARES, (rows, 2), max(SQUARES, winning_score), render_mode)

    def _begin(self) -> None:
        self.match = new_match(self.winning_score, 0, self.random.random)

    def _to_move(self) -> int:
        return self.match.round.mover

    def _legal(self) -> list[int]:
        return [square for square in range(SQUARES) if square not in self.match.round.squares]

    def _act(self, action: int) -> None:
        self.match = self.match.with_round(self.match.round.step(action, self.rules))
        if self.match.round.over and self.match.winner is None:
            self.match = self.match.on(self.random.random)

    def _returns(self) -> tuple[float, float] | None:
        if self.match.winner is None:
            return None
        return (1.0, -1.0) if self.match.winner == 0 else (-1.0, 1.0)

    def _observation(self, player: int) -> Numbers:
        now = self.match.round
        seen = np.zeros((SQUARES + len(GOALS) + 1, 2), dtype=np.int8)
        for number, square in enumerate(now.squares):
            seen[square, (now.first + number + player) % 2] = number + 1
        seen[SQUARES + now.goals[player], 0] = 1
        seen[-1] = now.points[player], now.points[1 - player]
        return seen

    def _text(self) -> str:
        now = self.match.round
        marks = {square: "xo"[number % 2] for number, square in enumerate(now.squares)}
        rows = [" ".join(marks.get(square, ".") for square in range(row, row + 3)) for row in (0, 3, 6)]
        goals = " and ".join(GOALS[goal] for goal in now.goals)
        return "\n".join([f"{now.points[0]}-{now.points[1]}, goals {goals}", *rows])
