"""One game of a match."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from pttt_ooc.other_games.arena.games.base import FIRST, PLAYER, RESULT, UNFINISHED, Game
from pttt_ooc.other_games.arena.kernels.perft import counting
from pttt_ooc.other_games.arena.matches.agent_processes import AgentProcess, ForfeitError, LocalAgent
from pttt_ooc.other_games.arena.matches.settings import Match

OPENINGS = 2
"""The seed of openings, which is neither agent's."""

DRAW = 2
"""The winner of a drawn game."""


@dataclass
class PlayedGame:
    """A game that has been played.

    Attributes
    ----------
    number
        The game's number in its match.
    starter
        The agent that started, 0 or 1.
    moves
        All moves.
    winner
        The agent that won, 0 or 1, or :data:`DRAW`.
    forfeit
        Why the loser lost, if not on the board; else empty.
    wall, processor
        Seconds for each move, on the clocks of the agent that made it.
    nodes, depths
        The nodes and the depth of each move's search.
    """

    number: int
    starter: int
    moves: list[int] = field(default_factory=list)
    winner: int = DRAW
    forfeit: str = ""
    wall: list[float] = field(default_factory=list)
    processor: list[float] = field(default_factory=list)
    nodes: list[int] = field(default_factory=list)
    depths: list[int] = field(default_factory=list)

    def add(self, move: int, wall: float, processor: float, nodes: int, depth: int) -> None:
        """Add a move and its cost."""
        self.moves.append(move)
        self.wall.append(wall)
        self.processor.append(processor)
        self.nodes.append(nodes)
        self.depths.append(depth)

    def game_json(self) -> dict[str, Any]:
        """The game, which the seeds determine."""
        record = {"number": self.number, "starter": self.starter, "winner": self.winner, "moves": self.moves}
        return record | ({"forfeit": self.forfeit} if self.forfeit else {})

    def effort_json(self) -> dict[str, Any]:
        """Times and costs of searches."""
        return {
            "number": self.number,
            "wall": [round(one, 7) for one in self.wall],
            "processor": [round(one, 7) for one in self.processor],
            "nodes": self.nodes,
            "depths": self.depths,
        }


def play(match: Match, game: Game, seats: Sequence[LocalAgent | AgentProcess], number: int) -> PlayedGame:
    """Play a game of a match.

    Parameters
    ----------
    seats
        The match's two agents.
    number
        The game's number.
    """
    played = PlayedGame(number, match.starter(number))
    for index, seat in enumerate(seats):
        seat.begin(match.seeds(number, index))
    state, step = game.start(), counting(game.rules).step
    rng = np.random.default_rng((*match.seeds(number, 0)[:2], OPENINGS))
    while len(played.moves) < match.opening and state[RESULT] == UNFINISHED:
        move = int(rng.choice(game.legal(state)))
        step(state, move)
        played.add(move, 0.0, 0.0, 0, 0)
    while state[RESULT] == UNFINISHED:
        mover = played.starter ^ int(state[PLAYER])
        try:
            answer = seats[mover].choose(state.copy())
            if not step(state, answer.move):
                why = game.why_not(state, answer.move)
                raise ForfeitError(f"its move {game.show_move(answer.move)} is not legal: {why}.")
        except ForfeitError as error:
            played.winner, played.forfeit = 1 - mover, str(error)
            return played
        played.add(answer.move, answer.wall, answer.processor, answer.nodes, answer.depth)
    if int(state[RESULT]) in (FIRST, FIRST + 1):
        played.winner = played.starter ^ (int(state[RESULT]) - FIRST)
    return played
