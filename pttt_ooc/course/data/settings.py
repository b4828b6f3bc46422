"""The settings of a course, such as its game and limits, in ``settings.yaml`` of its data directory."""

from __future__ import annotations

import ipaddress
import json
import re
from functools import cached_property
from pathlib import Path
from typing import Annotated
from urllib.parse import SplitResult, urlsplit

import yaml
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator
from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError

from pttt_ooc.config import Name, Real, Whole, check_section
from pttt_ooc.disk.files import atomic_write_text
from pttt_ooc.errors import CourseError
from pttt_ooc.extras import check_extra
from pttt_ooc.games.rules.catalogue import named_game
from pttt_ooc.games.rules.game import Game
from pttt_ooc.types import Interval

SETTINGS = "settings.yaml"
OTHER_VERSION = "use it with the version that wrote it"
"""The end of each sentence that refuses a file or database of another version."""

_FORMER = "grader.sqlite"  # the database of versions before there were courses
_LONGEST_URL = 2000
_HEADROOM = 1 << 20  # an npy header, a zip's directory, and what deflate adds to noise


def _check_interval(value: object) -> object:
    if isinstance(value, list | tuple) and len(value) == 2 and all(isinstance(x, int | float) for x in value):
        low, high = (float(x) for x in value)
        if -1 <= low <= high <= 1:
            return low, high
    if value is None:
        return None
    raise ValueError("a list of two numbers from -1 to 1, the lower one first, or null")


def checked_url(url: str) -> SplitResult:
    """The parts of a webhook's address; CourseError if it cannot be one.

    It has no user name, which some servers take for a part of the host.
    """
    try:
        parts = urlsplit(url)
        good = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        good = False
    plain = url.isascii() and url.isprintable() and not set(url) & set(' \\<>"^`{|}')
    if not good or not plain or len(url) > _LONGEST_URL:
        raise CourseError("A webhook is an address such as https://chat.example.org/hooks/KEY.")
    if parts.username is not None or parts.password is not None:
        raise CourseError("A webhook has no user name and no password in it.")
    return parts


def check_smtp(url: str) -> str:
    """The address of an e-mail server; ValueError if it cannot be one."""
    parts = urlsplit(url)
    good = parts.scheme in ("smtp", "smtps") and parts.hostname and parts.port != 0
    if not good or parts.path.strip("/") or parts.query:
        raise ValueError("smtp://NAME:PASSWORD@HOST:PORT, or smtps://...")
    return url


def _webhooks(value: object) -> object:
    if not isinstance(value, list | tuple) or not all(isinstance(x, str) for x in value):
        raise ValueError("a list of addresses such as [https://chat.example.org/hooks/KEY]")
    try:
        for url in value:
            checked_url(url)
    except CourseError as error:
        raise ValueError(f"a list of addresses: {error}") from None
    return tuple(value)


def _smtp(value: object) -> object:
    if value is None:
        return None
    if not isinstance(value, str):
        raise ValueError("smtp://NAME:PASSWORD@HOST:PORT, or smtps://..., or null")
    return check_smtp(value)


def _mail_from(value: object) -> object:
    if value is None or (isinstance(value, str) and re.fullmatch(r"[^\s@<>]+@[^\s@<>]+", value)):
        return value
    raise ValueError("an e-mail address, or null")


def _networks(value: object) -> object:
    if isinstance(value, list | tuple) and all(isinstance(x, str) for x in value):
        try:
            return tuple(str(ipaddress.ip_network(x)) for x in value)
        except ValueError:
            pass
    raise ValueError("a list of IP addresses or networks, such as [127.0.0.1, 10.0.0.0/8], or []")


def _database(value: object) -> object:
    try:
        make_url(str(value))
    except ArgumentError:
        raise ValueError("an SQLAlchemy URL such as postgresql+psycopg://user@host/name, or null") from None
    return value


def _file(value: object) -> object:
    if value is None or (isinstance(value, str) and value.strip()):
        return value
    raise ValueError("the name of a file, or null")


def _issuer(value: object) -> object:
    if value is None or (
        isinstance(value, str) and re.fullmatch(r"https://[^\s?#]+|http://(127\.0\.0\.1|localhost)(:\d+)?", value)
    ):
        return value
    raise ValueError("an address that begins with https://, or null")


class CourseSettings(BaseModel):
    """The keys of ``settings.yaml``."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    game: Name = Field(default="pttt-abrupt", description="The game's name, as in `pttt info`.")
    title: str = Field(default="Phantom Tic-Tac-Toe Challenge", min_length=1, description="Heading of all pages.")
    game_value: Annotated[Interval | None, BeforeValidator(_check_interval)] = Field(
        default=None, description="[LOW, HIGH] that holds the value of the game; null: what the package knows or finds."
    )
    submissions_per_hour: Whole = Field(default=20, ge=1, description="Submissions allowed per team and hour.")
    submissions_per_day: Whole | None = Field(
        default=None, ge=1, description="Submissions allowed per team within 24 hours; null: as the hours allow."
    )
    waiting_per_team: Whole = Field(default=4, ge=1, description="Submissions per team that may wait for a verdict.")
    team_changes: Whole = Field(
        default=3, description="How often a student may leave a team, where students make the teams themselves."
    )
    max_upload_mb: Real | None = Field(
        default=None, gt=0, description="Maximum size of a file; null: the size of the uncompressed tensor in float64."
    )
    database_url: Annotated[str | None, BeforeValidator(lambda v: None if v is None else _database(v))] = Field(
        default=None, description="Any SQLAlchemy URL; null: an SQLite file in the data directory."
    )
    threads: Whole | None = Field(default=None, ge=1, description="Threads of the evaluation; null: all cores.")
    trusted_proxies: Annotated[tuple[str, ...], BeforeValidator(_networks)] = Field(
        default=(),
        description="Addresses or networks of reverse proxies, such as [127.0.0.1], whose X-Forwarded-For and "
        "X-Forwarded-Proto are believed.",
    )
    connections_per_address: Whole = Field(
        default=256, ge=1, description="Simultaneous connections of an address; trusted proxies have no limit."
    )
    wrong_tokens_per_hour: Whole = Field(
        default=60, ge=1, description="Wrong tokens from one address; then it must wait, but valid tokens still pass."
    )
    solution: str | None = Field(
        default=None,
        description="Directory of a solution of the game, against which Where it loses is measured; null: the course's "
        "own solution of a small game, or else data/GAME/full, if it is there; none: no solution. Students see it on "
        "Explore and Play only with `show_solution: true` in course.yaml.",
    )
    infosets_0: Annotated[str | None, BeforeValidator(_file)] = Field(
        default=None,
        description="File with player 0's infosets, one in each line, in the order of the rows of submissions, in this "
        "directory or with its whole path; null: the default order.",
    )
    infosets_1: Annotated[str | None, BeforeValidator(_file)] = Field(default=None, description="The same of player 1.")
    certificate_infosets: Whole | None = Field(
        default=1_000_000,
        ge=1,
        le=5_000_000,
        description="Most infosets that a strategy may reach for a certificate; null: no certificates.",
    )
    webhooks: Annotated[tuple[str, ...], BeforeValidator(_webhooks)] = Field(
        default=(), description="Public addresses to which announcements are sent as JSON."
    )
    smtp: Annotated[str | None, BeforeValidator(_smtp)] = Field(
        default=None,
        description="Server that sends announcements as e-mails, such as smtp://NAME:PASSWORD@mail.example.org:587 "
        "(encrypted by STARTTLS) or smtps://...; null: none are sent.",
    )
    mail_from: Annotated[str | None, BeforeValidator(_mail_from)] = Field(
        default=None, description="Address from which e-mails are sent; needed with smtp."
    )
    session_days: Real = Field(default=30, gt=0, description="How long a browser stays signed in.")
    openid_issuer: Annotated[str | None, BeforeValidator(_issuer)] = Field(
        default=None,
        description="Address of the university's OpenID Connect, such as https://login.university.example; null: none. "
        "The address that it must lead back to is SERVER/account/openid/callback.",
    )
    openid_client: str = Field(default="", max_length=500, description="Name of this server there (client_id).")
    openid_secret: Annotated[str | None, BeforeValidator(_file)] = Field(
        default=None, description="File with the secret of this name (client_secret), in this directory; null: none."
    )
    openid_label: str = Field(default="the university's account", max_length=100, description="What it is called.")

    @model_validator(mode="after")
    def _has_sender(self) -> CourseSettings:
        if self.smtp is not None and self.mail_from is None:
            raise ValueError("e-mails need a sender; set mail_from, too")
        return self

    @cached_property
    def rules(self) -> Game:
        """The game."""
        return named_game(self.game)

    @cached_property
    def infosets(self) -> tuple[int, int]:
        """Number of rows of each player's tensor."""
        from pttt_ooc.games.rules.catalogue import KNOWN_COUNTS

        known = KNOWN_COUNTS.get(self.game, {})
        if "infosets_0" in known:
            return sum(known["infosets_0"]), sum(known["infosets_1"])
        if "total_infosets" in known:
            return known["total_infosets"][0], known["total_infosets"][1]
        from pttt_ooc.games.structure.counts import counts_of  # numerics, which games with known counts do not need
        from pttt_ooc.games.structure.views import find_pairs

        counted = counts_of(self.rules, find_pairs(self.rules))["total_infosets"]
        return counted[0], counted[1]

    def orders(self, data: Path) -> tuple[Path | None, Path | None]:
        """For each player, the file with the list of infosets of the course in `data`; None: the default order."""
        first, second = (None if name is None else data / name for name in (self.infosets_0, self.infosets_1))
        return first, second

    def shape(self, player: int) -> tuple[int, int]:
        """Shape of a player's tensor."""
        return self.infosets[player], self.rules.squares

    @cached_property
    def max_upload_bytes(self) -> int:
        """Bytes of the largest file that is accepted."""
        if self.max_upload_mb is not None:
            return int(self.max_upload_mb * 1e6)
        return max(self.infosets) * self.rules.squares * 8 + _HEADROOM


def read_settings(data: Path) -> CourseSettings:
    """The settings of the course in `data`.

    Raises
    ------
    CourseError
        If there is no course, or one of another version.
    ConfigError
        If a key or value is refused.
    """
    path = data / SETTINGS
    _check_version(data)
    if not path.is_file():
        raise CourseError(f"There is no course in {data}; `pttt course serve --data {data}` makes one.")
    try:
        content = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise CourseError(f"{path} cannot be read: {' '.join(str(error).split())}.") from error
    return check_section(CourseSettings, {} if content is None else content, str(path))


def make_settings(data: Path, game: str | None = None) -> CourseSettings:
    """The settings of the course in `data`, which is made if there is none.

    Parameters
    ----------
    game
        The course's game; None: the one that it has, or else the default.

    Raises
    ------
    CourseError
        If there already is a course of another game, or of another version.
    """
    _check_version(data)
    if (data / SETTINGS).exists():
        settings = read_settings(data)
        if game is not None and game != settings.game:
            raise CourseError(
                f"The course in {data} is for {settings.game}, not for {game}; give another --data for another game."
            )
        return settings
    settings = CourseSettings() if game is None else CourseSettings(game=named_game(game).name)
    data.mkdir(parents=True, exist_ok=True)
    atomic_write_text(data / SETTINGS, settings_text(settings))
    return settings


def _check_version(data: Path) -> None:
    if (data / _FORMER).exists():
        raise CourseError(
            f"{data} has the course of an older version, as it holds {_FORMER}, and this version does not read it; "
            f"{OTHER_VERSION}."
        )


def settings_text(settings: BaseModel) -> str:
    """The settings as YAML, with a comment on each key."""
    lines = ["# The course's settings; a change takes effect when it starts again.", ""]
    for name, field in type(settings).model_fields.items():
        value = settings.model_dump(mode="json")[name]
        lines += [f"# {field.description}", f"{name}: {json.dumps(value, ensure_ascii=False)}", ""]
    return "\n".join(lines)


def check_openid(settings: CourseSettings, data: Path) -> None:
    """Raise a PtttError if OpenID Connect is wanted but cannot work: an extra, a key or the secret is missing."""
    if settings.openid_issuer is None:
        return
    check_extra("openid", "Signing in by OpenID Connect")
    if not settings.openid_client:
        raise CourseError(f"{data / SETTINGS} has openid_issuer, but no openid_client.")
    secret_of(settings, data)


def secret_of(settings: CourseSettings, data: Path) -> str:
    """The server's secret at the OpenID provider; empty if it has none.  CourseError if the file cannot be read."""
    if settings.openid_secret is None:
        return ""
    try:
        return (data / settings.openid_secret).read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise CourseError(f"The file openid_secret of {data / SETTINGS} cannot be read: {error}.") from error
