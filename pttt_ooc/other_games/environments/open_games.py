"""Environments of the arena's games, in which both players see everything."""

from __future__ import annotations

import numpy as np

from pttt_ooc.other_games.arena.games.base import PLAYER, RESULT, UNFINISHED, Game, mover_score
from pttt_ooc.other_games.arena.games.mnk import Mnk
from pttt_ooc.other_games.environments.turns import Numbers, TurnEnvironment


class OpenEnvironment(TurnEnvironment):
    """A game of the arena, in which both players see everything."""

    def __init__(self, game: Game, render_mode: str | None = None) -> None:
        self.game = game
        actions = game.rows * game.columns if isinstance(game, Mnk) else game.rules.MOVES
        super().__init__(game.text, actions, (actions, 2), 1, render_mode)

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

    def _observation(self, player: int) -> Numbers:
        marks = np.zeros((self.action_spaces["player_0"].n, 2), dtype=np.int8)
        marks[self.made[player], 0] = 1
        marks[self.made[1 - player], 1] = 1
        return marks

    def _text(self) -> str:
        return self.game.show(self.state)
