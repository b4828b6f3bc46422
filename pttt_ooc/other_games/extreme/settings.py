"""Settings of a tournament: the terms that a course publishes, and the section ``extreme`` of config.yaml."""

from __future__ import annotations

import re
import sys
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import BeforeValidator, Field, ValidationInfo, field_validator

from pttt_ooc.config import Real, Run, Section, Whole, number
from pttt_ooc.other_games.extreme.league import COURSE, Stage, stages

if TYPE_CHECKING:  # the web process and the Snakefile import nothing that runs bots
    from pttt_ooc.other_games.extreme.bot_process import Conditions
    from pttt_ooc.other_games.extreme.tournament import TournamentSettings

Counts = Annotated[tuple[Whole, ...], Field(min_length=1, max_length=len(COURSE))]
Mark = Annotated[float, Field(allow_inf_nan=False, ge=0, le=1e6), BeforeValidator(number)]
Marks = Annotated[tuple[Mark, ...], Field(min_length=1, max_length=len(COURSE))]

Memory = Annotated[int, Field(ge=64, le=10**6), BeforeValidator(number)]
Version = Annotated[Literal["2", "3", "guess"], BeforeValidator(lambda value: str(value) if value in (2, 3) else value)]
_LIBRARY = r"^[A-Za-z_][A-Za-z0-9_]{0,63}$"


def library(value: Any) -> Any:
    """The name of a library that a course can allow; a ValueError says what it must be."""
    if not isinstance(value, str) or not re.fullmatch(_LIBRARY[1:-1], value):
        raise ValueError("the name by which programs import the library, such as networkx")
    if value in sys.stdlib_module_names:
        raise ValueError(
            "a library that is not Python's own: those need no permission, and what is prohibited stays so"
        )
    return value


Library = Annotated[str, BeforeValidator(library), Field(json_schema_extra={"pattern": _LIBRARY})]


class Terms(Section):
    """Keys that a course publishes before the first match."""

    seed: int = Field(default=0, ge=0, le=2**63, description="Seed of the teams' lots; publish it beforehand.")
    pools: Counts = Field(default=(10, 3, 1), description="Pools of each stage; the last stage is one pool.")
    qualify: Counts = Field(
        default=(3, 3, 3), validate_default=True, description="Teams of each pool that go on, by stage."
    )
    marks: Marks = Field(
        default=(30.0, 10.0, 10.0), validate_default=True, description="Marks of the best of a pool, by stage."
    )
    time_limit: Real = Field(default=24.0, ge=0.001, le=86400, description="Seconds for a move.")
    load_limit: Real = Field(default=60.0, ge=0.1, le=86400, description="Seconds for starting a bot.")
    memory_mb: Memory = Field(
        default=2048,
        description="Memory of a bot in MB; no more matches, with two bots each, are played at once than memory holds.",
    )
    python: Version = Field(
        default="guess",
        description="Version of Python that bots are written in: 2, 3, or guess, which tries both by whole games.",
    )
    libraries: tuple[Library, ...] = Field(
        default=(),
        description="Libraries that bots may import besides Python's own, numpy, pandas and sklearn, by the names that "
        "they are imported by. They must be installed where bots run.",
    )
    sandbox: bool = Field(default=True, description="false: bots run without walls; only for files that you trust.")

    @field_validator("pools")
    @classmethod
    def _ends_in_one(cls, value: tuple[int, ...]) -> tuple[int, ...]:
        if value[-1] != 1:
            raise ValueError("numbers of which the last is 1, as the last stage is one pool")
        return value

    @field_validator("qualify", "marks")
    @classmethod
    def _one_for_each_stage(cls, value: tuple[float, ...], info: ValidationInfo) -> tuple[float, ...]:
        if "pools" in info.data and len(value) != len(info.data["pools"]):
            raise ValueError(f"a number for each stage, of which pools has {len(info.data['pools'])}")
        return value

    @property
    def conditions(self) -> Conditions:
        """How bots are run."""
        from pttt_ooc.other_games.extreme.bot_process import Conditions

        told = (self.time_limit, self.load_limit, self.memory_mb, self.sandbox)
        return Conditions(*told, python=self.python, libraries=self.libraries)

    @property
    def tournament(self) -> TournamentSettings:
        """The settings of the tournament."""
        from pttt_ooc.other_games.extreme.tournament import TournamentSettings

        return TournamentSettings(self.stages, self.seed, self.conditions)

    @property
    def stages(self) -> tuple[Stage, ...]:
        """The stages, with the course's names."""
        return stages(self.pools, self.qualify, self.marks)


class ExtremeConfig(Terms):
    """A tournament of Extreme TicTacToe: the target extreme."""

    bots: str = Field(default="data/extreme/bots", min_length=1, description="The directory of the teams' files.")
    run: Run = Field(default="default", description="Keeps its results apart, in data/extreme/runs/RUN.")
