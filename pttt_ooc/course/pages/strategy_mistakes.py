"""The page Mistakes: where a team's own submission loses."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import APIRouter, Depends, HTTPException, Request, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import HTMLResponse

from pttt_ooc.course.data.models import ACCEPTED, Submission
from pttt_ooc.course.pages.context import Bearer, Course, Number
from pttt_ooc.course.pages.strategy_sources import SubmittedSources
from pttt_ooc.course.people.accounts import Staff
from pttt_ooc.disk.numbers import decimals
from pttt_ooc.errors import CaughtError
from pttt_ooc.games.rules.game import Game
from pttt_ooc.games.rules.play import first_infoset
from pttt_ooc.site.explore import boards
from pttt_ooc.site.explore.address import Address
from pttt_ooc.site.explore.api import MistakesOut, WaitOut, waiting
from pttt_ooc.site.explore.explorer import Explorer, GameName, UsedExplorer
from pttt_ooc.site.explore.loss_lists import ROUNDING, loss_row
from pttt_ooc.site.explore.sources import SOLUTION, UNIFORM
from pttt_ooc.site.service.wire import Message, RefusedError
from pttt_ooc.site.shell.accounts import Signed
from pttt_ooc.site.shell.rendering import render, wants_part
from pttt_ooc.site.shell.schemas import ErrorOut
from pttt_ooc.site.shell.shell import Account

router = APIRouter(default_response_class=HTMLResponse, include_in_schema=False)
programs = APIRouter(prefix="/api")
_BAR = 704  # width of the picture of the parts
_SEEN = 2  # a shorter piece of the picture is not visible
_PIECES = {"own_mistakes": "own", "openings": "openings", "remainder": "remainder"}
_WORDS = {"own_mistakes": "own mistakes", "openings": "openings", "remainder": "remainder"}
_KINDS = {"own mistake": "own", "opening": "openings"}
_NO_SOLUTION = (
    "This course has no solution of the game to measure mistakes against; ask the instructors to name one in its "
    "settings (solution)."
)
_NO_VALUE = "The course is getting ready; come back in a minute."


@dataclass(frozen=True)
class Bar:
    """A bar of the parts of an exploitability.

    Attributes
    ----------
    width
        The width of the bar.
    words
        The bar in words.
    pieces
        The kind, position and width of each part that is not negative.
    whole
        Where the exploitability ends, if the parts are longer because the remainder is negative; else None.
    """

    width: int
    words: str
    pieces: tuple[tuple[str, float, float], ...]
    whole: float | None


def _own(course: Course, account: Account | None, number: int) -> Submission:
    """A submission of the team that is signed in; errors do not reveal whether another team has this number."""
    if account is None:
        raise HTTPException(401, "Where a submission loses is shown to its own team; sign in.")
    with course.database.reading() as session:
        found = session.get(Submission, number)
    if found is None or found.team_id != account.id:
        raise HTTPException(404, f"There is no submission {number} of yours.")
    if found.status != ACCEPTED:
        raise HTTPException(404, f"Submission {number} is not accepted: nothing is known of its mistakes.")
    return found


def _course_of(explorer: UsedExplorer) -> Course:
    """The `Course` of the game that the page is about."""
    assert isinstance(explorer.sources, SubmittedSources)
    return explorer.sources.course


GameCourse = Annotated[Course, Depends(_course_of)]


async def _own_submission(course: GameCourse, account: Signed, number: Number) -> Submission:
    return await run_in_threadpool(_own, course, account, number)


@router.get("/submissions/{number}/mistakes")
async def mistakes(
    request: Request,
    course: GameCourse,
    explorer: UsedExplorer,
    account: Signed,
    submission: Annotated[Submission, Depends(_own_submission)],
    game: GameName = "",
) -> Response:
    """The parts of a submission's exploitability."""
    context: dict[str, Any] = {"submission": submission, "me": submission.player, "game": explorer.game, "of": game}
    context["back"] = f"/games/{game}/submissions/{submission.id}" if game else f"/submissions/{submission.id}"
    try:
        answer = await _ask(course, explorer, account, submission)
    except _MissingError as missing:
        return _render(request, account, missing=str(missing), **context)
    except RefusedError as error:
        page = await run_in_threadpool(_render, request, account, failed=str(error), **context)
        page.status_code = 503
        return page
    if "preparing" in answer:
        return _render(request, account, waiting=answer["preparing"], **context)
    return await run_in_threadpool(_render_answer, request, account, explorer, answer, f"s{submission.id}", context)


@programs.get(
    "/submissions/{number}/mistakes",
    summary="Where a submission loses",
    response_model=MistakesOut,
    responses={
        202: {"model": WaitOut, "description": "It is being computed; ask again."},
        404: {"model": ErrorOut, "description": "There is no accepted submission of yours with this number."},
        503: {"model": ErrorOut, "description": "The course has nothing to measure mistakes against."},
    },
)
async def mistakes_facts(
    course: GameCourse, explorer: UsedExplorer, team: Bearer, number: Number
) -> MistakesOut | Response:
    """The parts of the exploitability of one of your own accepted submissions."""
    submission = await run_in_threadpool(_own, course, team, number)
    try:
        answer = await _ask(course, explorer, team, submission)
    except _MissingError as missing:
        raise HTTPException(503, str(missing)) from None
    if "preparing" in answer:
        return waiting(answer["preparing"])
    return MistakesOut.of(submission.id, submission.player, answer)


class _MissingError(CaughtError):
    """The course has no solution."""


async def _ask(course: Course, explorer: Explorer, account: Account | None, submission: Submission) -> Message:
    """The answerer's result, or its progress."""
    sources = explorer.sources
    assert isinstance(sources, SubmittedSources)
    value = await run_in_threadpool(course.game_value)
    if value is None:
        raise _MissingError(_NO_VALUE)
    if not await run_in_threadpool(sources.place.is_dir):
        raise _MissingError(_NO_SOLUTION)
    own, solution = await run_in_threadpool(lambda: (sources.source(submission), sources.solution))
    names = {"strategy": own.as_record(), "equilibrium": solution.as_record()}
    return await explorer.client.ask("mistakes", player=submission.player, game_value=list(value.interval), **names)


def _render(request: Request, account: Account | None, **context: Any) -> HTMLResponse:
    template = "parts/mistakes.html" if wants_part(request) else "mistakes.html"
    nothing = {"waiting": None, "missing": None, "failed": None}
    return render(request, f"explore/{template}", account, **{**nothing, **context})


def _render_answer(
    request: Request, account: Account | None, explorer: Explorer, answer: Message, key: str, context: dict[str, Any]
) -> HTMLResponse:
    assert isinstance(explorer.sources, SubmittedSources)
    hidden = explorer.sources.hidden and not isinstance(account, Staff)
    names = ("own_mistakes", "openings")
    players = {"own_mistakes": context["me"], "openings": 1 - context["me"]}
    return _render(
        request,
        account,
        **context,
        told=answer,
        bar=_bar(answer),
        rows=[_row(explorer.game, answer, one, key, context["me"], context["of"], hidden) for one in _worst(answer)],
        opened={name: _opening_board(explorer, players[name], answer["by_opening"][name]) for name in names},
        at_once={
            name: answer["by_opening"][name].get(first_infoset(explorer.game, players[name]), 0.0) for name in names
        },
    )


def _worst(answer: Message) -> list[Mapping[str, Any]]:
    """The infosets of both sums, the worst first, without losses by rounding."""
    lost = [one for one in answer["infosets"] if one["loss"] > ROUNDING]
    return sorted(lost, key=lambda one: -float(one["loss"]))


def _bar(answer: Message) -> Bar:
    names = ("own_mistakes", "openings", "remainder")
    parts = {name: max(0.0, float(answer[name])) for name in names}
    total = sum(parts.values()) or 1.0
    pieces, at = [], 0.0
    for name in names:
        width = _BAR * parts[name] / total
        pieces.append((_PIECES[name], round(at, 1), round(width, 1)))
        at += width
    end = round(_BAR * float(answer["exploitability"]) / total, 1)
    told = ", ".join(f"{_WORDS[name]} {decimals(answer[name], 6)}" for name in names)
    words = f"Exploitability {decimals(answer['exploitability'], 6)}: {told}."
    return Bar(_BAR, words, tuple(pieces), end if answer["remainder"] < 0 and end <= _BAR - _SEEN else None)


def _row(
    game: Game, answer: Message, one: Mapping[str, Any], key: str, player: int, of: str, hidden: bool
) -> dict[str, Any]:
    """One of the worst infosets, with its page, where the submission meets the solution, or Uniform if it is `hidden`.

    At an opening the probabilities are the solution's; if it is hidden, they are zeros.
    """
    other = UNIFORM if hidden else SOLUTION
    strategies = (key, other) if player == 0 else (other, key)
    total = answer["own_mistakes"] + answer["openings"]
    kind, secret = _KINDS[one["kind"]], hidden and _KINDS[one["kind"]] == "openings"
    shown = {**one, "probabilities": [0.0] * len(one["probabilities"])} if secret else one
    row = loss_row(game, shown, Address(one["player"], one["infoset"], strategies, game=of))
    if secret:
        row["best"] = row["best"][0], None
    return {**row, "kind": kind, "share": f"{100 * one['loss'] / total:.1f}"}


def _opening_board(explorer: Explorer, player: int, by_opening: Mapping[str, float]) -> list[boards.BoardSquare]:
    """The board with the loss after each first attempt."""
    first = first_infoset(explorer.game, player)
    lost: list[float | None] = [None] * explorer.game.squares
    for infoset, loss in by_opening.items():
        if infoset != first:
            square = int(infoset[len(first)])
            lost[square] = (lost[square] or 0.0) + loss
    return boards.loss_board(explorer.game, player, first, lost)
