"""Environments of Phantom Tic-Tac-Toe and its relatives."""

from __future__ import annotations

import numpy as np

from pttt_ooc.games.rules.game import Game
from pttt_ooc.games.rules.play import start
from pttt_ooc.other_games.environments.turns import Numbers, TurnEnvironment


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
