"""The settings of a match: game, agents, number of games, who starts, time limits."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any

import numpy as np

from pttt_ooc.other_games.arena.agents.base import Agent, text_of
from pttt_ooc.other_games.arena.agents.catalogue import agent
from pttt_ooc.other_games.arena.games.base import ArenaError
from pttt_ooc.other_games.arena.games.catalogue import game

STANDINGS = "standings.json"
"""The file of a round robin's result."""

STARTS = ("random", "both", "first")
"""Who starts: drawn for each game; both agents in turn, so that games 0 and 1, 2 and 3, ... are pairs with the same
seeds and swapped sides; always the first agent."""


@dataclass(frozen=True)
class Match:
    """The settings of a match, as texts and numbers.

    Attributes
    ----------
    game
        See :func:`pttt_ooc.other_games.arena.games.catalogue.game`.
    agents
        Two agents, see :func:`pttt_ooc.other_games.arena.agents.catalogue.agent`.
    games
        The number of games.
    seed
        Game i follows from `seed` and i alone, unless a clock decides about moves.
    start
        One of :data:`STARTS`.
    limit
        Seconds for a move, on the agent's own clock, in the agent's own process; a slower move loses the game.  None:
        a process that does not answer for a minute counts as hung.
    clock
        The agent's clock: ``wall`` or ``processor``.
    opening
        The number of random moves with which each game begins; without them, deterministic agents repeat one game.
        Games of a pair begin alike.
    """

    game: str
    agents: tuple[str, str]
    games: int
    seed: int = 0
    start: str = "random"
    limit: float | None = None
    clock: str = "wall"
    opening: int = 0

    def __post_init__(self) -> None:
        if self.games < 1:
            raise ArenaError(f"A match has at least one game, not {self.games}.")
        if self.start not in STARTS:
            raise ArenaError(f"'{self.start}' does not say who starts: choose one of {', '.join(STARTS)}.")
        if self.opening < 0:
            raise ArenaError("The number of moves at random with which games begin must not be below zero.")
        if self.clock not in ("wall", "processor"):
            raise ArenaError(f"The clock is wall or processor, not '{self.clock}'.")
        if self.limit is not None and not 0 < self.limit < float("inf"):
            raise ArenaError(f"The limit of {self.limit} s for a move cannot be met: give a time above zero.")
        texts = tuple(text_of(self._check_agent(text)) for text in self.agents)
        object.__setattr__(self, "agents", texts)
        object.__setattr__(self, "game", game(self.game).text)

    def _check_agent(self, text: str) -> Agent:
        one = agent(text)
        if self.opening and one.needs_all_moves:
            raise ArenaError(f"The agent {text} must make all its moves itself: leave out the moves at random.")
        wanted = getattr(one, "time", None)
        if self.limit is not None and wanted is not None and wanted >= self.limit:
            raise ArenaError(
                f"The agent {text} thinks for {wanted:g} s, and would lose by the limit of {self.limit:g} s for a "
                "move: give a higher limit."
            )
        return one

    @property
    def isolated(self) -> tuple[bool, bool]:
        """Which agents get a process of their own: users' files, and all agents under a time limit."""
        a, b = (self.limit is not None or text.partition(":")[0] == "file" for text in self.agents)
        return a, b

    def starter(self, number: int) -> int:
        """The agent that starts a game, 0 or 1."""
        if self.start == "random":
            return int(np.random.default_rng((self.seed, number)).integers(2))
        return number % 2 if self.start == "both" else 0

    def seeds(self, number: int, seat: int) -> tuple[int, ...]:
        """The seed of an agent in a game."""
        return self.seed, number // 2 if self.start == "both" else number, seat

    def to_json(self) -> dict[str, Any]:
        """All fields, but `opening` only if there is one."""
        record = dataclasses.asdict(self) | {"agents": list(self.agents)}
        return record if self.opening else {key: value for key, value in record.items() if key != "opening"}
