"""A course after its term as static pages, which need no server: standings, matrix, assignments, announcements.

Points, names of students and files are not published.
"""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import jinja2
from sqlalchemy.orm import Session

from pttt_ooc.course.agents.standings import Row
from pttt_ooc.course.agents.standings import standings as agent_standings
from pttt_ooc.course.data import standings
from pttt_ooc.course.data.assignments import all_assignments, further_games, further_of, term_of, veil
from pttt_ooc.course.data.dates import readable_instant
from pttt_ooc.course.data.game_directory import strategies_of
from pttt_ooc.course.data.models import BASELINE
from pttt_ooc.course.data.rules import AGENTS, STRATEGIES
from pttt_ooc.course.data.settings import CourseSettings
from pttt_ooc.course.grades.gradebook import most_of, rule_of
from pttt_ooc.course.grades.overview import announcements, describe_rule
from pttt_ooc.course.pages.schemas import AgentStanding, MatrixOut, StandingOut
from pttt_ooc.course.strategies import figures
from pttt_ooc.disk.files import atomic_write_text
from pttt_ooc.errors import CourseError
from pttt_ooc.site.shell.rendering import HERE as WEB

MARK = "publication.json"
"""The file that marks a directory as a publication, which may be replaced."""

_TEMPLATES = Path(__file__).parent / "templates"


def publish(session: Session, settings: CourseSettings, data: Path, directory: Path) -> list[Path]:
    """Write the pages into a directory; returns the files.

    Raises
    ------
    CourseError
        If the directory holds something else, or the standings are still frozen.
    """
    now, tables = time.time(), all_assignments(session, AGENTS)
    frozen = [veil(session, game=game) for game in (None, *further_games(session))]
    if any(one is not None for one in frozen) or any(one.dates.is_frozen(now) for one in tables):
        raise CourseError("The standings are frozen; publish the course after they are unveiled.")
    if directory.exists() and (
        not directory.is_dir() or (any(directory.iterdir()) and not (directory / MARK).is_file())
    ):
        raise CourseError(f"{directory} holds something that is no publication; name an empty directory.")
    directory.mkdir(parents=True, exist_ok=True)
    rows, found = standings.leaderboard(session), standings.matrix(session)
    agents = {one.name: agent_standings(session, data, one, None, False) for one in tables}
    games = {one: _leaderboard_of(session, data, one) for one in further_games(session)}
    texts = {"index.html": _page(session, settings, rows, found, agents, games)}
    texts |= {
        f"leaderboard-{game}.json": _json([StandingOut.of(row).model_dump(mode="json") for row in games[game]])
        for game in games
    }
    texts |= {
        f"agents-{name}.json": _json([AgentStanding.of(row).model_dump() for row in agents[name]]) for name in agents
    }
    texts["leaderboard.json"] = _json([StandingOut.of(row).model_dump(mode="json") for row in rows])
    texts["matrix.json"] = _json(MatrixOut.of(found).model_dump(mode="json"))
    texts[MARK] = _json({"title": settings.title, "game": settings.game, "published_at": time.time()})
    for name, text in texts.items():
        atomic_write_text(directory / name, text)
    return [directory / name for name in texts]


def _leaderboard_of(session: Session, data: Path, game: str) -> list[standings.Standing]:
    """The leaderboard of a further game; empty before its first strategy."""
    one = next(one for one in all_assignments(session, STRATEGIES) if further_of(one) == game)
    with strategies_of(session, one, data) as source:
        return [] if source is None else standings.leaderboard(source)


def _json(content: Any) -> str:
    return json.dumps(content, ensure_ascii=False, indent=1) + "\n"


def _page(
    session: Session,
    settings: CourseSettings,
    rows: list[standings.Standing],
    found: standings.Matrix,
    agents: dict[str, list[Row]],
    games: dict[str, list[standings.Standing]],
) -> str:
    environment = jinja2.Environment(
        loader=jinja2.PrefixLoader(
            {"web": jinja2.FileSystemLoader(WEB / "templates"), "course": jinja2.FileSystemLoader(_TEMPLATES)}
        ),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["exploitability"] = figures.exploitability
    zone = term_of(session).zone
    assignments = [(one, describe_rule(rule_of(one)), most_of(one)) for one in all_assignments(session)]
    return environment.get_template("course/publication.html").render(
        title=settings.title,
        game=settings.game,
        rows=rows,
        matrix=found,
        agents=agents,
        games=games,
        assignments=assignments,
        announcements=announcements(session),
        local=lambda at: readable_instant(at, zone),
        now=time.time(),
        BASELINE=BASELINE,
    )
