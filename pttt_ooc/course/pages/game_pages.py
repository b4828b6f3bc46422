"""The pages and addresses of further games: the standings are for everybody, a submission for its team and staff."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import APIRouter, Depends, HTTPException, Path, Request, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import FileResponse, HTMLResponse, RedirectResponse
from sqlalchemy import select

from pttt_ooc.course.data import standings
from pttt_ooc.course.data.assignments import all_assignments, dates_for, further_of, term_of, veil
from pttt_ooc.course.data.dates import readable_instant
from pttt_ooc.course.data.game_directory import find_address
from pttt_ooc.course.data.models import Submission, Team
from pttt_ooc.course.data.queue import waiting
from pttt_ooc.course.data.rules import STRATEGIES
from pttt_ooc.course.data.standings import Standing
from pttt_ooc.course.grades.decisions import ruling_of
from pttt_ooc.course.pages import rankings
from pttt_ooc.course.pages.certificate_pages import shown_certificate
from pttt_ooc.course.pages.context import (
    Course,
    Number,
    UsedCourse,
    as_handed_in,
    game_course,
    own_or_any,
    scale_of,
    under_way,
)
from pttt_ooc.course.pages.intakes import strategies_of_game
from pttt_ooc.course.pages.rankings import RankedGame, RenderedPart, leaderboard_ranking
from pttt_ooc.course.pages.schemas import MatrixOut, StandingOut, SubmissionOut
from pttt_ooc.course.pages.uploads import form_schema, from_browser, from_program
from pttt_ooc.course.people.accounts import Staff
from pttt_ooc.course.people.rights import Allowed
from pttt_ooc.course.strategies import submissions
from pttt_ooc.site.service.pulse import read_sign
from pttt_ooc.site.shell.forms import own_form
from pttt_ooc.site.shell.ranking import AskedRanking, Order, Ranking
from pttt_ooc.site.shell.rendering import render, render_renewed
from pttt_ooc.site.shell.shell import Account, UsedShell

router = APIRouter(default_response_class=HTMLResponse, include_in_schema=False, prefix="/games")
programs = APIRouter(prefix="/api/games")
Game = Annotated[str, Path(pattern=r"^[a-z][a-z0-9-]{0,59}$")]
_MOST = 200  # submissions of a team that are listed


def _until(course: Course, game: str, account: Account | None) -> float | None:
    """Since when the standings are frozen for somebody."""
    if isinstance(account, Staff):
        return None
    with course.database.reading() as session:
        return veil(session, game=game)


def _board(course: Course, game: str, account: Account | None) -> RankedGame:
    own, until = game_course(course, game), _until(course, game, account)
    return RankedGame(own, _team(account), f"/games/{game}", lambda _: until, until)


@dataclass(frozen=True)
class _Query:
    """What an address says about the leaderboard and the matrix."""

    asked: AskedRanking
    rows: Order = "team"
    columns: Order = "team"

    def leaderboard(self, board: RankedGame) -> Ranking[Standing]:
        """The leaderboard, whose links keep the matrix."""
        fields = {name: None if by == "team" else by for name, by in (("rows", self.rows), ("columns", self.columns))}
        return leaderboard_ranking(board, self.asked, **fields)

    async def matrix(self, request: Request, board: RankedGame) -> RenderedPart:
        """The matrix, whose links keep the leaderboard."""
        asked = leaderboard_ranking(board, self.asked)
        return await rankings.matrix(request, board, self.rows, self.columns, sort=asked.sort, find=asked.find or None)


_AskedQuery = Annotated[_Query, Depends(_Query)]


@router.get("/{game}")
async def game_page(request: Request, course: UsedCourse, account: Allowed, game: Game, query: _AskedQuery) -> Response:
    """Leaderboard, matrix, the form, and the team's own submissions."""
    board = await run_in_threadpool(_board, course, game, account)
    context = await run_in_threadpool(_facts, course, board, game)
    asked = query.leaderboard(board)
    context |= {"ranking": asked, "leaderboard": await rankings.leaderboard(request, board, asked)}
    context["matrix"] = await query.matrix(request, board)
    return render(request, "course/games/game.html", account, team=board.team, **context)


@router.get("/{game}/parts/leaderboard")
@router.get("/{game}/parts/matrix")
async def game_part(request: Request, course: UsedCourse, account: Allowed, game: Game, query: _AskedQuery) -> Response:
    """The table of the leaderboard or of the matrix, if it has changed."""
    board = await run_in_threadpool(_board, course, game, account)
    if request.url.path.endswith("/matrix"):
        return (await query.matrix(request, board)).answer(request)
    return (await rankings.leaderboard(request, board, query.leaderboard(board))).answer(request)


def _facts(course: Course, board: RankedGame, game: str) -> dict[str, Any]:
    own, team = board.course, board.team
    with course.database.reading() as session:
        there = [one for one in all_assignments(session, STRATEGIES) if further_of(one) == game]
        takes = team is not None and any(dates_for(session, one, team).takes(time.time()) for one in there)
        zone = term_of(session).zone
    with own.database.reading() as session:
        context: dict[str, Any] = {"submissions": _of_team(session, team) if team else []}
    if team is not None:
        context |= shown_certificate(own, team, further=True)
    context |= {"game": game, "shown": team, "explored": find_address(course.storage.data, game) is not None}
    context |= {
        "assignments": there,
        "takes": takes,
        "value": own.game_value(),
        "local": lambda at: readable_instant(at, zone),
    }
    return context | {
        "limit": own.settings.max_upload_bytes,
        "handout": own.handout,
        "sign": read_sign(own.storage.alive),
    }


def _team(account: Account | None) -> Team | None:
    return account if isinstance(account, Team) else None


def _of_team(session: Any, team: Team) -> list[Submission]:
    query = select(Submission).where(Submission.team_id == team.id).order_by(Submission.id.desc()).limit(_MOST)
    return list(session.scalars(query))


@router.post("/{game}")
async def take_in(request: Request, course: UsedCourse, shell: UsedShell, account: Allowed, game: Game) -> Response:
    """Take in a strategy from the form."""
    assert isinstance(account, Team)
    own = await run_in_threadpool(game_course, course, game)
    row, _ = await from_browser(request, shell, own, strategies_of_game(course, own), account)
    return RedirectResponse(f"/games/{game}/submissions/{row.id}", 303)


@router.get("/{game}/starter-kit.zip")
def starter_kit(course: UsedCourse, account: Allowed, game: Game) -> Response:
    """The starter kit of the game."""
    handout = game_course(course, game).handout
    if handout is None:
        raise HTTPException(404, "The starter kit is not made yet; it will be there in a minute.")
    return FileResponse(handout.file, media_type="application/zip", filename=f"{game}.zip")


def _own(own: Course, account: Account | None, number: int) -> Submission:
    with own.database.reading() as session:
        found = session.get(Submission, number)
    return own_or_any(found, account, f"submission {number} of yours in {own.settings.game}")


@router.get("/{game}/submissions/{number}")
@router.get("/{game}/submissions/{number}/part")
def one_submission(request: Request, course: UsedCourse, account: Allowed, game: Game, number: Number) -> Response:
    """The verdict on a submission."""
    facts = {"team": _team(account), **_verdict(course, account, game, number)}
    return render_renewed(request, "course/games/submission.html", "course/games/part.html", account, **facts)


def _verdict(course: Course, account: Account | None, game: str, number: int) -> dict[str, Any]:
    own = game_course(course, game)
    found = _own(own, account, number)
    with course.database.reading() as session:
        zone, ruling = term_of(session).zone, ruling_of(session, STRATEGIES, number, game)
    until = _until(course, game, account)
    with own.database.reading() as session:
        standing, compared = (
            standings.place_of(session, found, until),
            standings.compare(session, found, until, inside=True),
        )
    return {
        "standing": standing,
        **scale_of(found, compared),
        "ruling": ruling,
        "mine": _team(account) is not None,
        "explored": find_address(course.storage.data, game) is not None,
        **under_way(found, _place(own, number), own.storage.alive),
        "submission": found,
        "game": game,
        "value": own.game_value(),
        "local": lambda at: readable_instant(at, zone),
    }


def _place(own: Course, number: int) -> int | None:
    with own.database.reading() as session:
        line = waiting(session)
    return line.index(number) + 1 if number in line else None


@router.get("/{game}/submissions/{number}/file")
def submission_file(course: UsedCourse, account: Allowed, game: Game, number: Number) -> Response:
    """The file of a submission, as it was handed in."""
    own = game_course(course, game)
    found = _own(own, account, number)
    file, name = own.storage.upload(found.file), f"{game}-{found.player}-{number}.zip"
    return as_handed_in(file, f"submission {number}", name, "application/zip")


@router.post("/{game}/submissions/{number}/play")
async def open_to_play(
    request: Request, course: UsedCourse, shell: UsedShell, account: Allowed, game: Game, number: Number
) -> Response:
    """Open one of the team's own submissions for everybody to play against, or close it."""
    fields = await own_form(request, shell)
    assert isinstance(account, Team)
    own = await run_in_threadpool(game_course, course, game)
    opened = fields.get("open") == "yes"
    await run_in_threadpool(submissions.open_to_play, own.database, number, opened, account.id)
    return RedirectResponse(f"/games/{game}/submissions/{number}", 303)


# ---------------------------------------------------------------------------------------------
# Programs


@programs.post(
    "/{game}/submissions",
    summary="Further game: submit a strategy",
    status_code=201,
    openapi_extra=form_schema(
        "A zip with an npy file.", player={"type": "integer", "enum": [0, 1], "description": "0 or 1."}
    ),
)
async def take_in_by_program(
    request: Request, response: Response, course: UsedCourse, account: Allowed, game: Game
) -> SubmissionOut:
    """Submit a strategy; 200 if the team has submitted the very same file before."""
    assert isinstance(account, Team)
    own = await run_in_threadpool(game_course, course, game)
    row, _ = await from_program(request, response, own, strategies_of_game(course, own), account)
    return await run_in_threadpool(lambda: _describe_submission(own, _own(own, account, row.id)))


def _describe_submission(own: Course, row: Submission) -> SubmissionOut:
    found = SubmissionOut.of(row, _place(own, row.id), sign=read_sign(own.storage.alive))
    return found.model_copy(update={"url": f"/games/{own.settings.game}/submissions/{row.id}"})


@programs.get("/{game}/submissions/{number}", summary="Further game: one of your submissions")
def one_by_program(course: UsedCourse, account: Allowed, game: Game, number: Number) -> SubmissionOut:
    """A submission, and its verdict."""
    own = game_course(course, game)
    return _describe_submission(own, _own(own, account, number))


@programs.get("/{game}/leaderboard", summary="Further game: leaderboard")
def leaderboard_by_program(course: UsedCourse, account: Allowed, game: Game) -> list[StandingOut]:
    """The leaderboard by the sum."""
    own, until = game_course(course, game), _until(course, game, account)
    with own.database.reading() as session:
        return [StandingOut.of(row) for row in standings.leaderboard(session, until=until)]


@programs.get("/{game}/matrix", summary="Further game: head-to-head")
def matrix_by_program(course: UsedCourse, account: Allowed, game: Game) -> MatrixOut:
    """Values of all teams' best strategies against each other."""
    own, until = game_course(course, game), _until(course, game, account)
    with own.database.reading() as session:
        return MatrixOut.of(standings.matrix(session, until=until))
