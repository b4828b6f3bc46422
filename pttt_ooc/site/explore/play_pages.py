"""The pages on which people play, and review their games."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Annotated, Any

from fastapi import APIRouter, HTTPException, Query, Request, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import HTMLResponse, RedirectResponse

from pttt_ooc.errors import PlayError
from pttt_ooc.games.rules.catalogue import describe_game
from pttt_ooc.games.rules.infoset_text import DIGITS
from pttt_ooc.games.rules.play import start
from pttt_ooc.pipeline.show.pictures import MARKS
from pttt_ooc.site.explore import play_api
from pttt_ooc.site.explore.game_store import Games
from pttt_ooc.site.explore.opponents import PreparingError
from pttt_ooc.site.explore.play_api import Playing, UsedPlaying
from pttt_ooc.site.explore.player_view import cells, known_attempts
from pttt_ooc.site.explore.results import FinishedGame, Standing
from pttt_ooc.site.explore.review import perfect_payoff, review_of, step_of
from pttt_ooc.site.play import owners
from pttt_ooc.site.play.owners import answer, form_again
from pttt_ooc.site.shell.accounts import Signed
from pttt_ooc.site.shell.forms import number, own_form
from pttt_ooc.site.shell.parts import MAIN, Link, Part
from pttt_ooc.site.shell.rendering import out_of_date, render, wants_part
from pttt_ooc.site.shell.shell import Account, UsedShell

router = APIRouter(default_response_class=HTMLResponse, include_in_schema=False)


def part_of(games: Games, *others: Games) -> Part:
    """The part of the application for playing one game, or several: the first is the default."""
    return Part(
        name="play",
        directory=Path(__file__).parent,
        routers=(router, play_api.router),
        links=(Link("/play", "Play", MAIN),),
        state=Playing(games, others=tuple(map(Playing, others))),
        names={"MARKS": MARKS, "DIGITS": DIGITS},
        explain=owners.explain,
    )


Step = Annotated[int | None, Query(ge=0, le=99)]


@router.get("/play")
def lobby(request: Request, playing: UsedPlaying, account: Signed) -> Response:
    """Opponents, games and results."""
    return _lobby(request, playing, account, {}, "")


def _lobby(request: Request, playing: Playing, account: Account | None, typed: dict[str, str], wrong: str) -> Response:
    games, owner = playing.games, owners.owner_of(request, account)
    listed = games.opponents.list_opponents()
    groups: dict[str, list[int]] = {}
    for opponent in listed:
        groups.setdefault(opponent.key, []).append(1 - opponent.player)
    asked = [1 - one.player for one in listed if one.key == typed.get("opponent", listed[0].key if listed else "")]
    player = int(typed["player"]) if typed.get("player") in ("0", "1") else min(asked, default=0)
    return render(
        request,
        "play/lobby.html",
        account,
        opponents=[(key, next(o.name for o in listed if o.key == key), sorted(sides)) for key, sides in groups.items()],
        under_way=games.list_games(owner, finished=False) if owner else [],
        finished=games.list_games(owner, finished=True) if owner else [],
        standings=games.standings(owner) if owner else [],
        player=player,
        cells=cells(games.game, known_attempts(start(games.game), player)),
        typed=typed,
        wrong=wrong,
        **_facts(request, games),
    )


def _facts(request: Request, games: Games) -> dict[str, Any]:
    """What all pages of a game show; `games` are name, name for people and page of each game if there are several."""
    known = [one.games.game for one in request.app.state.play.all]
    pages = [(game.name, describe_game(game), f"/play?game={game.name}") for game in known]
    page = "/play" if games.game.name == known[0].name else f"/play?game={games.game.name}"
    rules = {"game": games.game, "RULES": describe_game(games.game)}
    return {**rules, "lobby": page, "games": pages if len(pages) > 1 else []}


@router.post("/play")
async def begin(request: Request, playing: UsedPlaying, shell: UsedShell, account: Signed) -> Response:
    """Begin a game, with the first attempt if a square was chosen."""
    fields = await own_form(request, shell)
    owner, cookie = owners.owner_or_new(request, account)
    opponent = fields.get("opponent", "")
    try:
        player = number(fields, "player", 1, "Choose whom you play: player 0 or player 1.")
        playing.begun.check(request, "games have been begun")
        seat = await run_in_threadpool(playing.games.begin, owner, opponent, player)
        if "square" in fields:
            with suppress(HTTPException, PlayError):  # a square of the setup: the game has begun nevertheless
                await run_in_threadpool(playing.games.attempt, owner, seat.id, seat.made, _square(fields))
    except PreparingError as error:
        whole = "part" if wants_part(request) else "page"
        facts = {"error": error, "opponent": opponent, "player": player, **_facts(request, playing.games)}
        facts |= {"square": fields.get("square", "")}
        return await run_in_threadpool(_render_facts, request, f"play/preparing_{whole}.html", account, facts)
    except (HTTPException, PlayError) as error:
        return await form_again(error, partial(_lobby, request, playing, account, fields))
    response = _away(request, f"/play/{seat.id}")
    owners.keep(request, response, cookie)
    return response


@router.get("/play/{id}")
def one_game(
    request: Request, playing: UsedPlaying, account: Signed, id: str, step: Step = None, pencil: bool = False
) -> Response:
    """A game: the board, to attempt squares or to pencil marks on them; when it is over, its review."""
    return _page(request, playing.games, account, id, step=step, pencil=pencil)


@router.post("/play/{id}/attempts")
async def attempt(request: Request, playing: UsedPlaying, shell: UsedShell, account: Signed, id: str) -> Response:
    """Attempt a square."""
    fields = await own_form(request, shell)
    made, square = _attempt_number(fields), _square(fields)
    return await _answer_form(request, playing.games, account, id, playing.games.attempt, made, square)


@router.post("/play/{id}/pencil")
async def pencil(request: Request, playing: UsedPlaying, shell: UsedShell, account: Signed, id: str) -> Response:
    """Make a pencil mark, or take it away."""
    fields = await own_form(request, shell)
    made, square = _attempt_number(fields), _square(fields)
    return await _answer_form(request, playing.games, account, id, playing.games.pencil, made, square, pencil=True)


@router.post("/play/{id}/hints")
async def hint(request: Request, playing: UsedPlaying, shell: UsedShell, account: Signed, id: str) -> Response:
    """Ask for a hint."""
    fields = await own_form(request, shell)
    return await _answer_form(request, playing.games, account, id, playing.games.hint, _attempt_number(fields))


@router.post("/play/{id}/resignation")
async def resign(request: Request, playing: UsedPlaying, shell: UsedShell, account: Signed, id: str) -> Response:
    """Resign."""
    fields = await own_form(request, shell)
    return await _answer_form(request, playing.games, account, id, playing.games.resign, _attempt_number(fields))


@router.post("/play/{id}/share")
async def share(request: Request, playing: UsedPlaying, shell: UsedShell, account: Signed, id: str) -> Response:
    """Make a finished game's link for everybody, or take it back."""
    fields = await own_form(request, shell)
    return await _answer_form(request, playing.games, account, id, playing.games.store.share, "stop" not in fields)


@router.post("/play/{id}/continuations")
async def play_on(request: Request, playing: UsedPlaying, shell: UsedShell, account: Signed, id: str) -> Response:
    """Play on from before an attempt of a finished game, against marks that are drawn from the beliefs there."""
    fields = await own_form(request, shell)
    step = number(fields, "step", 99, "The form does not say from which attempt on.")
    playing.begun.check(request, "games have been begun")
    owner = owners.known_owner(request, account, "game")
    try:
        seat = await run_in_threadpool(playing.games.play_on, owner, id, step)
    except PlayError as error:
        if error.status != 409:
            raise
        page = partial(_page, request, playing.games, account, id, str(error), step)
        return out_of_date(request, await run_in_threadpool(page))
    return _away(request, f"/play/{seat.id}")


@router.get("/play/{id}/shared")
def shared_game(request: Request, playing: UsedPlaying, account: Signed, id: str, step: Step = None) -> Response:
    """A game that its player has shared, for everybody."""
    games = playing.games
    return _review(request, games, account, games.find_shared(id), step)


async def _answer_form(
    request: Request,
    games: Games,
    account: Account | None,
    id: str,
    change: Callable[..., Any],
    *values: Any,
    pencil: bool = False,
) -> Response:
    """The answer to a form; `change` gets the owner, the game's key and further values."""
    owner = owners.known_owner(request, account, "game")
    page = partial(_page, request, games, account, id, pencil=pencil)
    address = f"/play/{id}?pencil=1" if pencil else f"/play/{id}"
    return await answer(request, partial(change, owner, id, *values), page, address)


def _away(request: Request, address: str) -> Response:
    """A redirect, also for the page's script."""
    if wants_part(request):
        return Response(status_code=204, headers={"HX-Redirect": address})
    return RedirectResponse(address, 303)


def _render_facts(request: Request, template: str, account: Account | None, facts: dict[str, Any]) -> Response:
    return render(request, template, account, **facts)


def _page(
    request: Request,
    games: Games,
    account: Account | None,
    id: str,
    notice: str = "",
    step: int | None = None,
    pencil: bool = False,
) -> Response:
    owner = owners.known_owner(request, account, "game")
    seat = games.seat(owner, id)
    if seat.over:
        played = games.find_finished(owner, id)
        standing = next(iter(games.standings(owner, played.opponent)), None)
        return _review(request, games, account, played, step, notice, standing)
    whole = "part" if wants_part(request) else "page"
    facts = {"seat": seat, "notice": notice, "pencil": pencil, **_facts(request, games)}
    facts |= {"hints": {choice.square: choice for choice in games.hints(seat)}}
    return render(request, f"play/game_{whole}.html", account, **facts)


def _review(
    request: Request,
    games: Games,
    account: Account | None,
    played: FinishedGame,
    step: int | None,
    notice: str = "",
    standing: Standing | None = None,
) -> Response:
    review, chosen = review_of(games.opponents, played), step_of(games.opponents, played, step)
    whole = "part" if wants_part(request) else "page"
    link = f"/play/{played.seat.id}/shared"
    facts = {"seat": played.seat, "review": review, "step": chosen, "notice": notice, **_facts(request, games)}
    facts |= {"perfect": perfect_payoff(games.game, played.seat.player)}
    own = {"own": request.url.path != link, "link": link if played.shared else "", "standing": standing}
    return render(request, f"play/review_{whole}.html", account, **own, **facts)


def _square(fields: dict[str, str]) -> int:
    return number(fields, "square", 99, "Choose a square of the board.")


def _attempt_number(fields: dict[str, str]) -> int:
    return number(fields, "made", 99, "The form does not say which attempt this is; reload the page.")
