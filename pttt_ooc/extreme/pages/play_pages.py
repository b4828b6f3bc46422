"""The pages on which people play against bots."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated, Any

from fastapi import APIRouter, HTTPException, Query, Request, Response
from fastapi import Path as PathParameter
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import HTMLResponse, RedirectResponse

from pttt_ooc.extreme.pages.board_values import boards_of, cell_of
from pttt_ooc.extreme.pages.bot_games_client import AskedBotGames, NoGameError
from pttt_ooc.extreme.play.moves import move_text, read_move
from pttt_ooc.extreme.referee import Cell, Referee
from pttt_ooc.play.answers import form_again
from pttt_ooc.service.wire import Client
from pttt_ooc.web.accounts import Signed
from pttt_ooc.web.forms import own_form
from pttt_ooc.web.parts import Link, Part, Refusal, state_of
from pttt_ooc.web.rendering import out_of_date, render, wants_part
from pttt_ooc.web.shell import Account, UsedShell

LOBBY = "/extreme/play"
router = APIRouter(default_response_class=HTMLResponse, include_in_schema=False, prefix=LOBBY)
SIDES = {"x": "you, as ×", "o": "the bot", "coin": "drawn by a coin"}
_ANSWER_SECONDS = 10.0
GameNumber = Annotated[str, PathParameter(pattern=r"^[0-9a-f]{16}$")]
Owner = Callable[[Account | None], str | None]
"""The person of an account; None: they must sign in."""


@dataclass(frozen=True)
class PlayPages:
    """The state of the handlers.

    Attributes
    ----------
    games
        Asks the process that runs the bots.
    owner
        Who plays.
    """

    games: AskedBotGames
    owner: Owner

    def player(self, account: Account | None) -> str:
        """Who plays; 401 if they must sign in."""
        found = self.owner(account)
        if found is None:
            raise HTTPException(401, "Sign in to play against your team's bot.")
        return found


UsedPlay = Annotated[PlayPages, state_of("extreme_play")]


def part_of(games: AskedBotGames, owner: Owner) -> Part:
    """The part of the application on which people play."""
    return Part(
        name="extreme_play",
        directory=Path(__file__).parent,
        routers=(router,),
        links=(Link(LOBBY, "Play", "Extreme"),),
        state=PlayPages(games, owner),
        names={"SIDES": SIDES, "cell_text": lambda move: move_text(tuple(move[1]))},
        explain=lambda error: Refusal(404, str(error)) if isinstance(error, NoGameError) else None,
    )


def client_at(address: str) -> AskedBotGames:
    """The client of the answerer at an address."""
    return AskedBotGames(Client(Path(address), _ANSWER_SECONDS))


def parts(address: str) -> list[Part]:
    """The part on one's own machine, whose answerer is at `address`."""
    return [part_of(client_at(address), lambda account: "here")]


# ---------------------------------------------------------------------------------------------
# Pages


@router.get("")
def lobby(request: Request, pages: UsedPlay, account: Signed) -> Response:
    """The choice of an opponent."""
    return _lobby(request, pages, account, {}, "")


def _lobby(request: Request, pages: PlayPages, account: Account | None, typed: dict[str, str], wrong: str) -> Response:
    owner = pages.owner(account)
    known = pages.games.choices(owner) if owner is not None else {"choices": [], "latest": None}
    facts = {"signed": owner is not None, "typed": typed, "wrong": wrong}
    return render(request, "extreme_play/play_lobby.html", account, **facts, **known)


@router.post("")
async def begin(request: Request, pages: UsedPlay, shell: UsedShell, account: Signed) -> Response:
    """Begin a game."""
    fields = await own_form(request, shell)
    owner = pages.player(account)
    sides = {"x": 0, "o": 1, "coin": random.SystemRandom().randrange(2)}
    try:
        if fields.get("first") not in sides:
            raise HTTPException(400, "Choose who moves first: you, the bot, or a coin.")
        opening = _opening(fields.get("moves", ""))
        opponent, side = fields.get("opponent", ""), sides[fields["first"]]
        begun = await run_in_threadpool(pages.games.begin, owner, opponent, side, opening)
    except (HTTPException, NoGameError) as error:
        return await form_again(error, partial(_lobby, request, pages, account, fields))
    return RedirectResponse(f"{LOBBY}/{begun}", 303)


def _opening(text: str) -> list[Cell]:
    """The cells of a text such as ``[[0, 4, 4], [1, 3, 3]]``; 400 if it is none."""
    try:
        found = json.loads(text[:4000] or "[]")
        cells = [(big, row, column) for big, row, column in found]
        if not all(type(one) is int for cell in cells for one in cell):
            raise ValueError
        for big, row, column in cells:
            if not (0 <= big < 2 and 0 <= row < 9 and 0 <= column < 9):
                raise ValueError
    except (TypeError, ValueError, RecursionError):
        raise HTTPException(400, "The form holds no moves to go on from; begin another game.") from None
    return cells


@router.get("/{game}")
def game_page(request: Request, pages: UsedPlay, account: Signed, game: GameNumber) -> Response:
    """A game."""
    return _render(request, account, pages.games.state(pages.player(account), game))


@router.get("/{game}/part")
def game_part(
    request: Request,
    pages: UsedPlay,
    account: Signed,
    game: GameNumber,
    seen: Annotated[str, Query(max_length=40)] = "",
) -> Response:
    """The game, if it has changed."""
    shown = _shown(pages.games.state(pages.player(account), game))
    if shown["stamp"] == seen:
        return Response(status_code=204)
    return render(request, "extreme_play/play_game_part.html", account, own=True, **shown)


@router.post("/{game}")
async def move(request: Request, pages: UsedPlay, shell: UsedShell, account: Signed, game: GameNumber) -> Response:
    """Make a move, by a cell of the board or by its text."""
    fields = await own_form(request, shell)
    owner = pages.player(account)
    ply, square = fields.get("ply", ""), fields.get("cell", "")
    cell = cell_of(int(square)) if _is_number(square) else read_move(fields.get("typed", ""))
    if cell is None or not _is_number(ply):
        raise HTTPException(400, "Choose a cell of the board, or type big board, row and column, such as (0, 4, 4).")
    state = await run_in_threadpool(pages.games.move, owner, game, int(ply), cell)
    if any(tuple(made) != cell for _, made, *_ in state["moves"][int(ply) :][:1]):
        sentence = f"Move {int(ply) + 1} of this game has been made already; nothing has changed."
        return out_of_date(request, await run_in_threadpool(_render, request, account, state, sentence))
    if not wants_part(request):
        return RedirectResponse(f"{LOBBY}/{game}", 303)
    return await run_in_threadpool(_render, request, account, state)


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) < 4


def _render(
    request: Request, account: Account | None, state: dict[str, Any], notice: str = "", own: bool = True
) -> Response:
    template = "play_game_part.html" if wants_part(request) else "play_game.html"
    return render(request, f"extreme_play/{template}", account, notice=notice, own=own, **_shown(state))


@router.post("/{game}/resignation")
async def resign(request: Request, pages: UsedPlay, shell: UsedShell, account: Signed, game: GameNumber) -> Response:
    """Resign, which the log says."""
    await own_form(request, shell)
    await run_in_threadpool(pages.games.resign, pages.player(account), game)
    return RedirectResponse(f"{LOBBY}/{game}", 303)


@router.post("/{game}/share")
async def share(request: Request, pages: UsedPlay, shell: UsedShell, account: Signed, game: GameNumber) -> Response:
    """Make a finished game's link for everybody, or take it back."""
    fields = await own_form(request, shell)
    await run_in_threadpool(pages.games.share, pages.player(account), game, "stop" not in fields)
    return RedirectResponse(f"{LOBBY}/{game}", 303)


@router.get("/{game}/shared")
def shared_game(request: Request, pages: UsedPlay, account: Signed, game: GameNumber) -> Response:
    """A game that its person has shared, for everybody."""
    return _render(request, account, pages.games.shared(game), own=False)


@router.post("/{game}/leave")
async def leave(request: Request, pages: UsedPlay, shell: UsedShell, account: Signed, game: GameNumber) -> Response:
    """End a game without a result."""
    await own_form(request, shell)
    await run_in_threadpool(pages.games.leave, pages.player(account), game)
    return RedirectResponse(LOBBY, 303)


@router.get("/{game}/log")
def log(pages: UsedPlay, account: Signed, game: GameNumber) -> Response:
    """The log of a game that is over, as ``pttt extreme match --log`` writes it."""
    state = pages.games.state(pages.player(account), game)
    if state["match"] is None:
        raise HTTPException(404, "There is a log once the game has been played to its end.")
    headers = {"Content-Disposition": 'attachment; filename="match.json"'}
    return Response(
        json.dumps({**state["match"], "begun_after": state["begun_after"]}) + "\n",
        media_type="application/json",
        headers=headers,
    )


def _shown(state: dict[str, Any]) -> dict[str, Any]:
    """What the template shows of a game."""
    position = Referee()
    for _, cell, *_ in state["moves"]:
        position.play(tuple(cell))
    over = state["turn"] == "over"
    latest = tuple(state["moves"][-1][1]) if state["moves"] else None
    own = [ply for ply, (player, *_) in enumerate(state["moves"]) if player == state["side"]]
    cells = [cell for _, cell, *_ in state["moves"]]
    return {
        "game": state,
        "over": over,
        "mine": state["turn"] == "person",
        "position": position,
        "boards": boards_of(position, latest),
        "points": position.points(),
        "before": json.dumps(cells[: own[-1]]) if own else None,
        "stamp": f"{len(state['moves'])}-{state['turn']}",
        "address": f"{LOBBY}/{state['number']}",
    }
