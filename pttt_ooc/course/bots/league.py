"""The league of a course: its settings in ``extreme.yaml`` of the course's directory, and where its files are."""

from __future__ import annotations

import re
import time
from datetime import datetime
from pathlib import Path
from typing import Annotated

import yaml
from pydantic import BeforeValidator, Field, field_validator

from pttt_ooc.config import Real, Whole, check_section, number
from pttt_ooc.course.data.settings import settings_text
from pttt_ooc.disk.files import atomic_write_text
from pttt_ooc.other_games.extreme.settings import Terms
from pttt_ooc.other_games.extreme.walls import ExtremeError

FOLDER = "leagues"
"""The folder in a course's directory that holds the directories of its further leagues."""

FILE = "extreme.yaml"
"""The file in a course's directory that gives it a league."""

TOURNAMENT = "extreme"
"""The directory of the tournament in a course's directory, once it has begun."""


Size = Annotated[int, Field(ge=1, le=1024), BeforeValidator(number)]


Games = Annotated[int, Field(ge=0, le=100), BeforeValidator(number)]


class LeagueSettings(Terms):
    """The keys of ``extreme.yaml``."""

    open: bool = Field(default=True, description="false: nobody can hand in bots, and nothing is checked or played.")
    begins: datetime | None = Field(
        default=None,
        description="When the tournament begins, such as 2027-02-25T23:55:00+00:00: from then on no bot is taken, and "
        "each team's latest accepted one plays. null: not yet.",
    )
    strict: bool = Field(
        default=False,
        description="true: a bot that breaks the formal rules (names, parameters, nothing outside of the class) is "
        "refused. false: its team is told.",
    )
    largest_kb: Size = Field(default=256, description="Maximum size of a bot's file, in kB.")
    bots_per_hour: Whole = Field(default=20, description="Bots that a team may hand in within an hour.")
    bots_per_day: Whole | None = Field(
        default=None, ge=1, description="Bots that a team may hand in within 24 hours; null: as the hours allow."
    )
    waiting_per_team: Whole = Field(default=2, description="Bots of a team that may wait for a verdict.")
    practice: bool = Field(
        default=True,
        description="false: before the tournament, bots do not play each other and our own bots on idle cores.",
    )
    practice_time_limit: Real | None = Field(
        default=None, ge=0.001, le=86400, description="Seconds for a move in practice; null: a quarter of time_limit."
    )
    practice_matches: Whole = Field(
        default=2000,
        ge=1,
        description="Practice matches that are kept on disk, with about 20 kB each and 0.6 MB at most; the oldest "
        "others are deleted.",
    )

    games: Games = Field(
        default=4,
        description="Games of teams against their own latest bot, in the browser, at the same time; each may take "
        "memory_mb. 0: none.",
    )

    @field_validator("begins")
    @classmethod
    def _has_zone(cls, value: datetime | None) -> datetime | None:
        if value is not None and value.tzinfo is None:
            raise ValueError("a time with its zone, such as 2027-02-25T23:55:00+00:00")
        return value

    @property
    def largest_bytes(self) -> int:
        """Maximum bytes of a bot's file."""
        return 1000 * self.largest_kb

    @property
    def practice_limit(self) -> float:
        """Seconds for a move in practice."""
        return self.time_limit / 4 if self.practice_time_limit is None else self.practice_time_limit

    @property
    def has_begun(self) -> bool:
        """Whether the tournament has begun; from then on no bots are taken."""
        return self.begins is not None and time.time() >= self.begins.timestamp()


def league_directory(data: Path, name: str | None) -> Path:
    """The directory of a further league of the course in `data`, or, without a name, of the course's own."""
    return data if name is None else data / FOLDER / name


def further_directory(data: Path, name: str | None) -> Path:
    """Like :func:`league_directory`, and makes it if it is missing; ExtremeError if the name is not allowed."""
    if name is not None and not re.fullmatch(r"[a-z][a-z0-9-]{0,39}", name):
        raise ExtremeError(f"{name!r} cannot be a league's name: it has 1 to 40 small letters, digits and hyphens.")
    directory = league_directory(data, name)
    directory.mkdir(parents=True, exist_ok=True)
    return directory


def course_of(directory: Path) -> Path:
    """The directory of the course to which this league's directory belongs."""
    above = directory.resolve().parent
    return above.parent if above.name == FOLDER else directory


class League:
    """The files of a course's own league, or of a further league, which offers no games for people.

    Parameters
    ----------
    data
        The course's directory.

    Raises
    ------
    PtttError
        If there is none, or a key or value of its settings is refused.
    """

    def __init__(self, data: Path) -> None:
        self.data = data
        self.settings = read_settings(data)
        if course_of(data) != data:
            self.settings = self.settings.model_copy(update={"games": 0})

    @property
    def name(self) -> str | None:
        """The name of a further league; None: the course's own."""
        return None if course_of(self.data) == self.data else self.data.resolve().name

    @property
    def database(self) -> Path:
        """The database of bots."""
        return self.data / "extreme.sqlite"

    @property
    def tournament(self) -> Path:
        """The tournament's directory, once it has begun."""
        return self.data / TOURNAMENT

    @property
    def practice(self) -> Path:
        """The directory of the practice league."""
        return self.data / "practice"

    def frozen_practice(self, since: float) -> Path:
        """The practice league as it was when its public results were frozen."""
        return self.data / f"practice-frozen-{since:.0f}"

    @property
    def practising(self) -> Path:
        """The file that the worker touches every few seconds while there is practice."""
        return self.data / "worker.practice"

    @property
    def alive(self) -> Path:
        """The file that the worker touches every few seconds."""
        return self.data / "worker.extreme"


def is_there(data: Path) -> bool:
    """Whether a course holds a league that is open."""
    return (data / FILE).is_file() and read_settings(data).open


def read_settings(data: Path) -> LeagueSettings:
    """The settings of the league in a course's directory; raises what :class:`League` raises."""
    path = data / FILE
    try:
        content = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise ExtremeError(f"{path} cannot be read: {' '.join(str(error).split())}.") from error
    return check_section(LeagueSettings, {} if content is None else content, str(path))


def open_league(data: Path, settings: LeagueSettings) -> Path:
    """Write the settings of a new league into a course's directory; returns the file.

    Raises
    ------
    ExtremeError
        If there is one already.
    """
    path = data / FILE
    if path.exists():
        raise ExtremeError(f"{path} is there already; edit it, and start the course again.")
    atomic_write_text(path, settings_text(settings))
    return path
