"""The section ``arena`` of the configuration: experiments and round robins."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, StringConstraints, model_validator

from pttt_ooc.config import Section


class Theirs(Section):
    """A published result."""

    rate: float | None = Field(default=None, ge=0, le=1, description="The score of the first agent.")
    games: int | None = Field(default=None, ge=1, description="How many games they played.")
    ratio: float | None = Field(default=None, gt=0, description="The first agent's time over the second's.")


class Experiment(Section):
    """A match, or a series of matches that differ in one number."""

    claim: str = Field(description="The claim, in words.")
    game: str = Field(default="ultimate", description="With its options, as `pttt arena match` takes it.")
    agents: tuple[str, str] = Field(description="With their options; {} stands for a value of the series.")
    values: list[float] | None = Field(default=None, description="The values of a series, which replace {}.")
    games: int = Field(default=1000, ge=1, description="Games of each match.")
    seed: int = Field(default=0, ge=0, description="The games follow from it, unless a clock decides.")
    start: Literal["random", "both", "first"] = Field(default="random", description="Who starts.")
    limit: float | None = Field(default=None, gt=0, description="Seconds for a move; a slower move loses the game.")
    opening: int = Field(default=0, ge=0, description="Moves at random with which each game begins.")
    test: Literal["better", "equal", "not better", "time", "none"] = Field(
        default="better",
        description="What the claim says: the first agent is stronger (or weaker, if their rate is below a half); both "
        "are equally strong; the first is not stronger; or the second takes less time.  A series shows scores, or "
        "times if the test is `time`.",
    )
    theirs: Theirs = Field(default=Theirs(), description="The published result behind the claim.")
    note: str = Field(default="", description="A note beside the result.")

    @model_validator(mode="after")
    def _series(self) -> Experiment:
        if ("{}" in "".join(self.agents)) != (self.values is not None):
            raise ValueError("an experiment with both values and {} in the text of an agent, or with neither")
        return self


class RoundRobin(Section):
    """Matches of all agents of a list against each other; of each pair of games, each agent starts one."""

    game: str = Field(default="ultimate", description="With its options, as `pttt arena match` takes it.")
    agents: list[str] = Field(min_length=2, description="With their options.")
    games: int = Field(default=100, ge=2, description="Games of each pair of agents.")
    seed: int = Field(default=0, ge=0, description="The games follow from it, unless a clock decides.")
    opening: int = Field(default=2, ge=0, description="Moves at random with which each game begins.")
    limit: float | None = Field(default=None, gt=0, description="Seconds for a move; a slower move loses the game.")
    note: str = Field(default="", description="A note beside the result.")


Name = Annotated[str, StringConstraints(pattern="^[A-Za-z0-9][A-Za-z0-9_+-]*$", max_length=80)]


class ArenaConfig(Section):
    """Experiments and round robins of the arena."""

    experiments: dict[Name, Experiment] = Field(default={}, description="By their names.")
    round_robins: dict[Name, RoundRobin] = Field(default={}, description="By their names.")

    @model_validator(mode="after")
    def _names(self) -> ArenaConfig:
        if both := self.experiments.keys() & self.round_robins.keys():
            raise ValueError(f"experiments and round robins with different names: {min(both)} is both")
        return self

    @property
    def all(self) -> dict[str, Experiment | RoundRobin]:
        """Experiments and round robins."""
        return {**self.experiments, **self.round_robins}
