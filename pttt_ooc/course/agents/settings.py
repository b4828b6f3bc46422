"""The settings that only assignments of agents have: the key ``settings`` in ``course.yaml``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, field_validator

from pttt_ooc.config import number
from pttt_ooc.errors import CourseError
from pttt_ooc.other_games.arena.names import AGENTS, GAMES

if TYPE_CHECKING:  # the web process imports nothing that runs agents
    from pttt_ooc.other_games.extreme.bot_process import Conditions

ALIVE = "worker.agents"
"""The file in the data directory that the worker touches every few seconds."""

OUTSIDE = ("file", "engine")
"""Agents that run somebody else's program, which would have no walls."""

Even = Annotated[int, Field(ge=2, le=1000, multiple_of=2), BeforeValidator(number)]
Seconds = Annotated[float, Field(ge=0.001, le=3600), BeforeValidator(number)]


class AgentSettings(BaseModel):
    """The settings of an assignment of agents."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    game: str = Field(default="ultimate", max_length=100, description="A game of the arena, such as mnk:5x5+need4.")
    opponents: tuple[str, ...] = Field(
        default=("random", "alphabeta:heur=3,depth=1"),
        min_length=1,
        max_length=10,
        description="Agents of the arena that each agent plays against when it is judged.",
    )
    games: Even = Field(default=20, description="Games against each of them; an even number, as both begin in turn.")
    opening: Annotated[int, Field(ge=0, le=40), BeforeValidator(number)] = Field(
        default=2, description="Moves at random with which each game begins."
    )
    seconds: Seconds = Field(default=1.0, description="Seconds for a move.")
    load_seconds: Seconds = Field(default=30.0, description="Seconds for running the file.")
    memory_mb: Annotated[int, Field(ge=64, le=10**6), BeforeValidator(number)] = 1024
    seed: Annotated[int, Field(ge=0, le=2**63), BeforeValidator(number)] = Field(
        default=0, description="Of the openings, the opponents and the agents' random numbers."
    )
    league: Annotated[int, Field(ge=0, le=100, multiple_of=2), BeforeValidator(number)] = Field(
        default=4, description="Games of each two teams against each other; 0: none."
    )
    largest_kb: Annotated[int, Field(ge=1, le=1024), BeforeValidator(number)] = Field(
        default=256, description="Maximum size of a file, in kB."
    )
    sandbox: bool = Field(default=True, description="false: agents run without walls; only for files that you trust.")

    @field_validator("game")
    @classmethod
    def _named_game(cls, value: str) -> str:
        if value.partition(":")[0] not in GAMES:
            raise ValueError(f"a game of the arena: {', '.join(GAMES)}, with options after a colon")
        return value

    @field_validator("opponents")
    @classmethod
    def _ours(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        known = [name for name in AGENTS if name not in OUTSIDE]
        if any(text.partition(":")[0] not in known for text in value) or len(set(value)) < len(value):
            raise ValueError(f"different agents of the arena: {', '.join(known)}, with options after a colon")
        return value

    @property
    def conditions(self) -> Conditions:
        """How agents are run."""
        from pttt_ooc.other_games.extreme.bot_process import Conditions

        return Conditions(self.seconds, self.load_seconds, self.memory_mb, self.sandbox, python="3")


def settings_of(value: Any) -> AgentSettings:
    """The settings in an assignment's row."""
    return AgentSettings.model_validate(value or {})


def check_playable(settings: AgentSettings) -> None:
    """Raise a CourseError if the game or an opponent does not exist, or an opponent's moves depend on a clock."""
    from pttt_ooc.other_games.arena.agents.catalogue import agent
    from pttt_ooc.other_games.arena.games.base import ArenaError
    from pttt_ooc.other_games.arena.games.catalogue import game

    try:
        game(settings.game)
        opponents = {text: agent(text) for text in settings.opponents}
    except ArenaError as error:
        raise CourseError(str(error)) from None
    for text, one in opponents.items():
        if one.limited_by_time:
            raise CourseError(
                f"The opponent {text} plays by a clock, so no verdict could be made again: give it depth."
            )
