"""The base class of agents, which choose moves, and the options that bound a search."""

from __future__ import annotations

import dataclasses
import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any, ClassVar

import numpy as np

from pttt_ooc.errors import did_you_mean
from pttt_ooc.other_games.arena.games.base import ArenaError, Game, State
from pttt_ooc.other_games.arena.kernels.rng import generator


@dataclass
class Effort:
    """The cost of an agent's last move.

    Attributes
    ----------
    nodes
        Positions visited, or games played out.
    depth
        The depth of the deepest complete search, in the agent's own measure; zero without one.
    processor
        Seconds of processor time that another process has used for the move.
    """

    nodes: int = 0
    depth: int = 0
    processor: float = 0.0


class Agent(ABC):
    """A player of one game; its options are the fields of a frozen dataclass, and can be written as a text.

    A subclass is a dataclass whose fields are its options; :func:`pttt_ooc.other_games.arena.agents.catalogue.agent`
    makes agents from texts such as ``alphabeta:heur=3,depth=2``.
    """

    name: ClassVar[str]

    game: Game
    rng: Any

    def seat(self, game: Game) -> None:
        """Get ready for a game's rules: compile, read files, make tables.

        Raises
        ------
        ArenaError
            The agent cannot play this game.
        """
        self.game = game
        self.rng = generator(0)

    def begin(self, *seed: int) -> None:
        """Start a new game, and forget the last one.  The same seeds give the same moves, unless a clock decides."""
        self.rng = generator(*seed)

    @abstractmethod
    def choose(self, state: State) -> int:
        """A move in a position that is not an end."""

    @property
    def effort(self) -> Effort:
        """The cost of the last move."""
        return Effort()

    def line(self, state: State) -> list[int]:
        """The moves that the agent expects, its last move first; empty if it does not say."""
        return []

    @property
    def limited_by_time(self) -> bool:
        """Whether a clock decides which moves the agent makes."""
        return False

    @property
    def needs_all_moves(self) -> bool:
        """Whether the agent must make all its moves itself, from the first one on."""
        return False


@dataclass
class Budget:
    """The options that bound a search; exactly one of the first three is given.

    Attributes
    ----------
    depth
        Complete search to this depth.
    time
        Seconds for a move.
    nodes
        Positions visited, or games played out, for a move.
    clock
        ``wall``: elapsed time.  ``processor``: processor time of the agent, so a busy
        machine does not weaken it.
    """

    depth: int | None = None
    time: float | None = None
    nodes: int | None = None
    clock: str = "wall"

    def check(self, name: str, default: Mapping[str, Any]) -> None:
        """Refuse contradictions; without options, take the default."""
        limits = {key for key in ("depth", "time", "nodes") if getattr(self, key) is not None}
        if not limits:
            for key, value in default.items():
                setattr(self, key, value)
        elif len(limits) > 1:
            raise ArenaError(f"The agent {name} gets only one of depth, time and nodes, not {' and '.join(limits)}.")
        for key in limits:
            if not getattr(self, key) > 0:
                raise ArenaError(f"The option {key} of the agent {name} must be above zero.")
        if self.clock not in ("wall", "processor"):
            raise ArenaError(f"The option clock of the agent {name} is wall or processor, not '{self.clock}'.")


def read_options(kind: type[Any], name: str, options: Mapping[str, str]) -> dict[str, Any]:
    """The values of a dataclass's fields from texts.

    Raises
    ------
    ArenaError
        An unknown option, or a value of another type.
    """
    known = {one.name: one for one in dataclasses.fields(kind) if one.init}
    values = {}
    for key, text in options.items():
        if key not in known:
            has = f"its options are {', '.join(known)}" if known else "it has none"
            raise ArenaError(f"The agent {name} has no option '{key}'{did_you_mean(key, known)}: {has}.")
        values[key] = _value(str(known[key].type).split(" | ")[0], text, f"The option {key} of the agent {name}")
    return values


def _value(kind: str, text: str, what: str) -> Any:
    if kind == "bool":
        if text not in ("yes", "no"):
            raise ArenaError(f"{what} is yes or no, not '{text}'.")
        return text == "yes"
    try:
        value = {"int": int, "float": float, "str": str}[kind](text)
    except ValueError:
        raise ArenaError(f"{what} is a {'whole ' if kind == 'int' else ''}number, not '{text}'.") from None
    if isinstance(value, float) and not np.isfinite(value):
        raise ArenaError(f"{what} must be finite.")
    return value


def text_of(agent: Any) -> str:
    """An agent's name with the options that differ from their defaults."""
    parts = []
    for one in dataclasses.fields(agent):
        value = getattr(agent, one.name)
        if one.init and value != one.default and value is not None:
            text = {True: "yes", False: "no"}.get(value, value) if isinstance(value, bool) else value
            parts.append(f"{one.name}={text:g}" if isinstance(text, float) else f"{one.name}={text}")
    return f"{agent.name}:{','.join(parts)}" if parts else str(agent.name)


def logistic(value: float) -> float:
    """The chance whose log-odds are a value."""
    return 1 / (1 + math.exp(-max(-700.0, min(700.0, value))))


def values_of(game: Game, heuristic: int) -> Any:
    """The module with the heuristics for a game; an ArenaError if there are none, or none with this number."""
    try:
        values = import_module(f"pttt_ooc.other_games.arena.kernels.{game.name}_values")
    except ModuleNotFoundError:
        raise ArenaError(f"There is no heuristic for {game.name}, which this agent needs.") from None
    if heuristic not in values.HEURISTICS:
        known = ", ".join(map(str, values.HEURISTICS))
        raise ArenaError(f"{game.name} has no heuristic {heuristic}: heur is one of {known}.")
    return values
