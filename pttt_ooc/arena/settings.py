"""The section ``arena`` of the configuration: experiments."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, model_validator

from pttt_ooc.config import Section


class Theirs(Section):
    """What somebody else has measured."""

    rate: float | None = Field(default=None, ge=0, le=1, description="The score of the first agent.")
    games: int | None = Field(default=None, ge=1, description="How many games they played.")
    ratio: float | None = Field(default=None, gt=0, description="The first agent's time over the second's.")


class Experiment(Section):
    """A match, or a series of matches that differ in one number."""

    claim: str = Field(description="What is tested, in words.")
    game: str = Field(default="ultimate", description="With its options, as `pttt arena match` takes it.")
    agents: tuple[str, str] = Field(description="With their options; {} stands for a value of the series.")
    values: list[float] | None = Field(default=None, description="Of a series: what {} stands for, one after another.")
    games: int = Field(default=1000, ge=1, description="Of each match.")
    seed: int = Field(default=0, ge=0, description="The games follow from it, unless a clock decides.")
    start: Literal["random", "both", "first"] = Field(default="random", description="Who starts.")
    limit: float | None = Field(default=None, gt=0, description="Seconds for a move; who needs more loses the game.")
    test: Literal["better", "equal", "time", "none"] = Field(
        default="better",
        description="What the claim says: the first agent is stronger (or weaker, if their rate is below a half); both "
        "are equally strong; or the second takes less time.",
    )
    theirs: Theirs = Field(default=Theirs(), description="What the claim rests on.")
    note: str = Field(default="", description="What is said beside the result.")

    @model_validator(mode="after")
    def _series(self) -> Experiment:
        if ("{}" in "".join(self.agents)) != (self.values is not None):
            raise ValueError("a series needs both values and {} in the text of an agent")
        return self


class ArenaConfig(Section):
    """Experiments of the arena."""

    experiments: dict[str, Experiment] = Field(default={}, description="By their names.")
