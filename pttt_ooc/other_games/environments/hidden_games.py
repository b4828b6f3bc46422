"""Environments of Phantom Tic-Tac-Toe and its relatives, and of tic-tac-toe with secret goals; they need no Numba."""

from __future__ import annotations

from typing import Any, Literal, get_args

import numpy as np

from pttt_ooc.errors import ConfigError
from pttt_ooc.games.rules.game import MOST_ENUMERATED_SQUARES, Game
from pttt_ooc.games.rules.information_state import information_state, kind_of, tensor_size
from pttt_ooc.games.rules.infoset_text import attempts_of
from pttt_ooc.games.rules.play import start
from pttt_ooc.games.structure.row_numbers import row_of, row_tables
from pttt_ooc.other_games.environments.turns import Numbers, TurnEnvironment
from pttt_ooc.other_games.smbc.match_play import new_match
from pttt_ooc.other_games.smbc.rules import GOALS, SQUARES, Rules

Observations = Literal["marks", "information state"]


class PhantomEnvironment(TurnEnvironment):
    """A phantom game: a player sees their own marks and their failed attempts.

    Parameters
    ----------
    game
        The rules.
    render_mode
        None or ``"ansi"``.
    observations
        ``"marks"``, int8, shape (squares, 2): the player's own marks, and their failed attempts.  Their order is
        forgotten, so that a learner plays the same at several infosets, such as ``|0*4.`` and ``|4.0*``.
        ``"information state"``, int8, shape (size,): OpenSpiel's tensor, which has the order, too.  This is perfect
        recall: each infoset of a player has a tensor of its own.  The tensors of the two players may be equal.

    Raises
    ------
    ConfigError
        If there is no such mode, or no such kind of observation.

    Notes
    -----
    ``infos[agent]`` has the text of what the player knows (``infoset``), the legal actions (``action_mask``, as in the
    observation), and ``row``: the number of the infoset in the default order of the course's files, from 0, if the
    player is to move; otherwise, and on boards of more than ten squares, None.
    """

    def __init__(self, game: Game, render_mode: str | None = None, observations: Observations = "marks") -> None:
        if observations not in get_args(Observations):
            raise ConfigError(f"Observations are 'marks' or 'information state', not {observations!r}.")
        self.game, self.observations, self._kind = game, observations, kind_of(game)
        shape = (game.squares, 2) if observations == "marks" else (tensor_size(self._kind, game.squares),)
        self._rows = row_tables(game) if game.squares <= MOST_ENUMERATED_SQUARES else None
        super().__init__(f"phantom:{game.name}", game.squares, shape, 1, render_mode)

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

    def _info(self, player: int) -> dict[str, Any]:
        mask = self._mask(player)
        info: dict[str, Any] = {"infoset": self.history.infoset(player), "action_mask": mask, "row": None}
        if self._rows is not None and mask.any():
            own = [(one.square, one.placed) for one in self.history.attempts if one.player == player]
            info["row"] = row_of(self._rows[player], own)
        return info

    def _observation(self, player: int) -> Numbers:
        if self.observations == "information state":
            own = attempts_of(self.history.infoset(player))
            return information_state(self._kind, self.game.squares, player, own).astype(np.int8)
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
