"""The section ``arena`` of the configuration: experiments, round robins and trainings."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, StringConstraints, model_validator

from pttt_ooc.config import Section

Chance = Annotated[float, Field(ge=0, le=1)]


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
    test: Literal["better", "equal", "not better", "trainings", "time", "none"] = Field(
        default="better",
        description="What the claim says: the first agent is stronger (or weaker, if their rate is below a half); both "
        "are equally strong; the first is not stronger; as `better`, where the values are seeds of trainings of the "
        "first agent and a training is the unit; or the second takes less time.  Another series shows scores, or times "
        "if the test is `time`.",
    )
    margin: float = Field(
        default=0.05, gt=0, lt=0.5, description="How far from 50% a score may be if the claim says `equal`, or above."
    )
    theirs: Theirs = Field(default=Theirs(), description="The published result behind the claim.")
    note: str = Field(default="", description="A note beside the result.")

    @model_validator(mode="after")
    def _series(self) -> Experiment:
        if ("{}" in "".join(self.agents)) != (self.values is not None):
            raise ValueError("an experiment with both values and {} in the text of an agent, or with neither")
        if self.test == "trainings" and len(self.values or []) < 2:
            raise ValueError("at least two values of an experiment whose test is trainings: the seeds")
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


class Trainings(Section):
    """Trainings of one learner with the seeds 0, 1, 2, ...; each is a game of two players who learn."""

    claim: str = Field(description="The claim, in words.")
    game: str = Field(description="K-in-a-row, with its options: mnk or infinite.")
    learner: Literal["table", "patterns"] = Field(
        default="table", description="As `pttt arena train` or as `pttt lab train-patterns`."
    )
    games: int = Field(ge=1, description="Games of each training.")
    seeds: int = Field(default=5, ge=2, description="The number of trainings.")
    explore: Chance | Annotated[list[Chance], Field(min_length=1)] = Field(
        default=0.3, description="The chance of a random move; of several, each holds for an equal part of the games."
    )
    step: float = Field(default=0.1, ge=0, le=1, description="How far values move.")
    win: float = Field(default=1.0, ge=0, le=1, description="The reward of a win.")
    loss: float = Field(default=0.0, ge=0, le=1, description="The reward of a loss.")
    draw: float = Field(default=0.1, ge=0, le=1, description="The reward of a draw.")
    ties: Literal["first", "random"] = Field(default="first", description="Which of equally good moves is chosen.")
    targets: Literal["chain", "reward"] = Field(
        default="chain", description="Each value is the target of the one before it, or the reward is that of all."
    )
    theirs: Theirs = Field(default=Theirs(), description="The published share of player 1, draws included.")
    note: str = Field(default="", description="A note beside the result.")


Name = Annotated[str, StringConstraints(pattern="^[A-Za-z0-9][A-Za-z0-9_+-]*$", max_length=80)]


class ArenaConfig(Section):
    """Experiments, round robins and trainings of the arena."""

    experiments: dict[Name, Experiment] = Field(default={}, description="By their names.")
    round_robins: dict[Name, RoundRobin] = Field(default={}, description="By their names.")
    trainings: dict[Name, Trainings] = Field(default={}, description="By their names.")

    @model_validator(mode="after")
    def _names(self) -> ArenaConfig:
        names = [*self.experiments, *self.round_robins, *self.trainings]
        if twice := {name for name in names if names.count(name) > 1}:
            raise ValueError(f"experiments, round robins and trainings with different names: {min(twice)} is both")
        return self

    @property
    def all(self) -> dict[str, Experiment | RoundRobin | Trainings]:
        """Experiments, round robins and trainings."""
        return {**self.experiments, **self.round_robins, **self.trainings}
