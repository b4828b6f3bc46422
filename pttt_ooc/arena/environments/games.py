"""Environments of the arena's games, and of Phantom Tic-Tac-Toe and its relatives."""

from __future__ import annotations

import numpy as np

from pttt_ooc.arena.environments.turns import Marks, TurnEnvironment
from pttt_ooc.arena.games.base import PLAYER, RESULT, UNFINISHED, Game, mover_score
from pttt_ooc.arena.games.mnk import Mnk
from pttt_ooc.rules.game import Game as PhantomGame
from pttt_ooc.rules.play import start


class OpenEnvironment(TurnEnvironment):
    """A game of the arena, in which both players see everything."""

    def __init__(self, game: Game, render_mode: str | None = None) -> None:
        self.game = game
        actions = game.rows * game.columns if isinstance(game, Mnk) else game.rules.MOVES
        super().__init__(game.text, actions, render_mode)

    def _begin(self) -> None:
        self.state = self.game.start()
        self.made: tuple[list[int], list[int]] = ([], [])

    def _to_move(self) -> int:
        return int(self.state[PLAYER])

    def _legal(self) -> list[int]:
        return self.game.legal(self.state)

    def _act(self, action: int) -> None:
        self.made[self._to_move()].append(action)
        self.state = self.game.play(self.state, action)

    def _returns(self) -> tuple[float, float] | None:
        if self.state[RESULT] == UNFINISHED:
            return None
        score = 2 * mover_score(self.state, 0) - 1
        return score, -score

    def _seen(self, player: int) -> Marks:
        marks = np.zeros((self.action_spaces["player_0"].n, 2), dtype=np.int8)
        marks[self.made[player], 0] = 1
        marks[self.made[1 - player], 1] = 1
        return marks

    def _text(self) -> str:
        return self.game.show(self.state)


class PhantomEnvironment(TurnEnvironment):
    """A phantom game: a player sees its own marks, and which of its attempts failed."""

    def __init__(self, game: PhantomGame, render_mode: str | None = None) -> None:
        self.game = game
        super().__init__(f"phantom:{game.name}", game.squares, render_mode)

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

    def _seen(self, player: int) -> Marks:
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
