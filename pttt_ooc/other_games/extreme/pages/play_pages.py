"""The pages on which people play against bots."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, cast

from fastapi import APIRouter, HTTPException, Query, Request, Response
from fastapi import Path as PathParameter
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import HTMLResponse, RedirectResponse
from pydantic import Field, TypeAdapter, ValidationError

from pttt_ooc.errors import PtttError
from pttt_ooc.other_games.extreme.boards import boards_of, cell_of, move_text, number, read_move, stamp
from pttt_ooc.other_games.extreme.referee import PLAYERS, Cell, Referee
from pttt_ooc.site.play.owners import form_again
from pttt_ooc.site.play.review import all_ratings, put_figures, review_game, source_of
from pttt_ooc.site.service.wire import Client, Message, StandIn
from pttt_ooc.site.shell.accounts import Signed
from pttt_ooc.site.shell.forms import number as form_number
from pttt_ooc.site.shell.forms import own_form
from pttt_ooc.site.shell.parts import Link, Part, Refusal, state_of
from pttt_ooc.site.shell.rendering import out_of_date, render, render_game, wants_part
from pttt_ooc.site.shell.shell import Account, UsedShell
from pttt_ooc.site.shell.throttle import Throttle

if TYPE_CHECKING:
    from pttt_ooc.other_games.arena.research.solvers.move_ratings import RatingCache
    from pttt_ooc.other_games.extreme.play.games import BotGames

LOBBY = "/extreme/play"
HEADING = "Extreme tic-tac-toe"
router = APIRouter(default_response_class=HTMLResponse, include_in_schema=False, prefix=LOBBY)
RATED_PER_HOUR = 20_000
"""Maximum moves per address and hour that are rated; a whole campus may share one address."""

GAME = "extreme"
"""The name of the game in the arena, whose agents rate moves."""

SIDES = {"x": "you, as ×", "o": "the bot", "coin": "drawn by a coin"}
_ANSWER_SECONDS = 60.0  # a kernel may have to be compiled
WAIT = 2.0
"""Seconds for which a page's question for the bot's move is held."""
AT_ONCE = 0.1
"""Seconds for which the answer to a person's move is held, so that it may have the bot's move."""
State = dict[str, Any]
"""A game; see :meth:`pttt_ooc.other_games.extreme.play.games.BotGames.state`."""
Ply = Annotated[int | None, Query(ge=0, le=10**6)]
Seen = Annotated[str, Query(max_length=20)]
GameNumber = Annotated[str, PathParameter(pattern=r"^[0-9a-f]{16}$")]
_Line = Annotated[int, Field(strict=True, ge=0, le=8)]
_CELLS: TypeAdapter[list[Cell]] = TypeAdapter(list[tuple[Annotated[_Line, Field(le=1)], _Line, _Line]])
Act = Literal["hint", "leave", "resignation"]
Owner = Callable[[Account | None], str | None]
"""The person of an account; None: they must sign in."""


class NoGameError(PtttError):
    """There is no such game, or the rules forbid a move."""


@dataclass(frozen=True)
class PlayPages:
    """The state of the handlers.

    Attributes
    ----------
    games, cache
        They run in the process that runs the bots; a NoGameError says why there is no answer.
    owner
        Who plays.
    rated
        Counts the moves that are rated.
    """

    games: BotGames
    cache: RatingCache
    owner: Owner
    rated: Throttle = field(default_factory=lambda: Throttle(RATED_PER_HOUR))

    def player(self, account: Account | None) -> str:
        """Who plays; 401 if they must sign in."""
        found = self.owner(account)
        if found is None:
            raise HTTPException(401, "Sign in to play against your team's bot.")
        return found


UsedPlay = Annotated[PlayPages, state_of("extreme_play")]


def part_of(address: str, owner: Owner) -> Part:
    """The part of the application on which people play; the answerer is at `address`."""
    asked = StandIn(Client(Path(address), _ANSWER_SECONDS), NoGameError)
    return Part(
        name="extreme_play",
        directory=Path(__file__).parent,
        routers=(router,),
        links=(Link(LOBBY, "Play", "Extreme"),),
        state=PlayPages(cast("BotGames", asked), cast("RatingCache", asked), owner),
        names={"SIDES": SIDES},
        explain=lambda error: Refusal(404, str(error)) if isinstance(error, NoGameError) else None,
    )


def parts(address: str) -> list[Part]:
    """The part on one's own machine, whose answerer is at `address`."""
    return [part_of(address, lambda account: "here")]


# ---------------------------------------------------------------------------------------------
# Pages


@router.get("")
def lobby(request: Request, pages: UsedPlay, account: Signed) -> Response:
    """The choice of an opponent."""
    return _lobby(request, pages, account, {}, "")


def _lobby(request: Request, pages: PlayPages, account: Account | None, typed: dict[str, str], wrong: str) -> Response:
    owner = pages.owner(account)
    signed = owner is not None
    choices, number = (pages.games.choices(owner), pages.games.latest(owner)) if owner is not None else ([], None)
    latest = pages.games.state(owner, number) if owner is not None and number else None
    result = _outcome(latest, "You have")[1] if latest and latest["turn"] == "over" else "It goes on."
    facts = {"signed": signed, "typed": typed, "wrong": wrong, "choices": choices, "latest": latest, "result": result}
    return render(request, "extreme_play/play_lobby.html", account, **facts)


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
    """The cells of a text such as ``[[0, 4, 4], [1, 3, 3]]``; 400 if it is no such list."""
    try:
        return _CELLS.validate_json(text[:4000] or "[]")
    except ValidationError:
        raise HTTPException(400, "The form holds no moves to go on from; begin another game.") from None


@router.get("/{game}")
async def game_page(
    request: Request, pages: UsedPlay, account: Signed, game: GameNumber, ply: Ply = None, seen: Seen = ""
) -> Response:
    """A game, as it is now or after `ply` moves; what was seen is shown again after WAIT seconds at the earliest."""
    owner = pages.player(account)
    state = await (
        _await_state(pages, "change", owner, game, seen, WAIT) if seen else _await_state(pages, "state", owner, game)
    )
    return await run_in_threadpool(_render, request, pages, account, state, ply=ply)


async def _await_state(pages: PlayPages, method: str, *arguments: Any) -> State:
    """A game, by a method of :class:`~pttt_ooc.other_games.extreme.play.games.BotGames` that may wait for it."""
    found: State = await cast("StandIn", pages.games).ask(method, *arguments)
    return found


@router.get("/{game}/review")
def review(request: Request, pages: UsedPlay, account: Signed, game: GameNumber, ply: Ply = None) -> Response:
    """A finished game after `ply` moves, with what each move lost; default: at its end."""
    return _review(request, pages, account, pages.games.state(pages.player(account), game), ply)


@router.get("/{game}/shared/review")
def shared_review(request: Request, pages: UsedPlay, account: Signed, game: GameNumber, ply: Ply = None) -> Response:
    """The same of a game that its person has shared, for everybody."""
    return _review(request, pages, account, pages.games.shared_state(game), ply, own=False)


@router.post("/{game}")
async def move(request: Request, pages: UsedPlay, shell: UsedShell, account: Signed, game: GameNumber) -> Response:
    """Make a move, by a cell of the board or by its text."""
    fields = await own_form(request, shell)
    owner = pages.player(account)
    ply, square = fields.get("ply", ""), fields.get("cell", "")
    cell = cell_of(int(square)) if _is_number(square) else read_move(fields.get("typed", ""))
    if cell is None or not _is_number(ply):
        raise HTTPException(400, "Choose a cell of the board, or type big board, row and column, such as (0, 4, 4).")
    # The script shows the mark already, and many bots answer at once.
    state = await _await_state(pages, "move", owner, game, int(ply), cell, AT_ONCE if wants_part(request) else 0.0)
    if any(tuple(made) != cell for _, made, *_ in state["moves"][int(ply) :][:1]):
        sentence = f"Move {int(ply) + 1} of this game has been made already; nothing has changed."
        return out_of_date(request, await run_in_threadpool(_render, request, pages, account, state, sentence))
    if not wants_part(request):
        return RedirectResponse(f"{LOBBY}/{game}", 303)
    return await run_in_threadpool(_render, request, pages, account, state)


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) < 4


@router.post("/{game}/share")
async def share(request: Request, pages: UsedPlay, shell: UsedShell, account: Signed, game: GameNumber) -> Response:
    """Make a finished game's link for everybody, or take it back."""
    fields = await own_form(request, shell)
    owner = pages.player(account)
    await run_in_threadpool(pages.games.share, owner, game, "stop" not in fields)
    latest = await run_in_threadpool(pages.games.latest, owner)
    return RedirectResponse(f"{LOBBY}/{game}" if game == latest else LOBBY, 303)


@router.get("/{game}/shared")
def shared_game(request: Request, pages: UsedPlay, account: Signed, game: GameNumber, ply: Ply = None) -> Response:
    """A game that its person has shared, for everybody, at its end or after `ply` moves."""
    state = pages.games.shared_state(game)
    mine = state["owner"] == pages.owner(account)
    return _render(request, pages, account, state, own=False, ply=ply, may_stop=mine)


@router.post("/{game}/{act}")
async def act(
    request: Request, pages: UsedPlay, shell: UsedShell, account: Signed, game: GameNumber, act: Act
) -> Response:
    """Resign, which the log records; show the value of a best move, which marks the game; or end it unfinished."""
    fields = await own_form(request, shell)
    owner = pages.player(account)
    if act == "hint":
        ply = form_number(fields, "ply", 10**6, "The form does not say when the hint was asked.")
        await run_in_threadpool(pages.games.hint, owner, game, ply)
    else:
        await run_in_threadpool(pages.games.resign if act == "resignation" else pages.games.leave, owner, game)
    return RedirectResponse(LOBBY if act == "leave" else f"{LOBBY}/{game}", 303)


@router.get("/{game}/log")
def log(pages: UsedPlay, account: Signed, game: GameNumber) -> Response:
    """The log of a game that is over, as ``pttt extreme match --log`` writes it."""
    state = pages.games.state(pages.player(account), game)
    if state["match"] is None:
        raise HTTPException(404, "There is a log once the game has been played to its end.")
    headers = {"Content-Disposition": 'attachment; filename="match.json"'}
    return Response(
        json.dumps({**state["match"], "begun_after": state["begun_after"], "hints": state["hints"]}) + "\n",
        media_type="application/json",
        headers=headers,
    )


# ---------------------------------------------------------------------------------------------
# What the templates show


def _game_view(state: State, own: bool, ply: int | None) -> dict[str, Any]:
    """A game as it is now, or after some of its moves; 404 if it has fewer."""
    last = len(state["moves"])
    if ply is not None and ply > last:
        raise HTTPException(404, f"The game has {last} moves; move {ply} is not one of them.")
    ply = last if ply is None else ply
    cells: list[Cell] = [tuple(cell) for _, cell, *_ in state["moves"]]
    position = Referee()
    for cell in cells[:ply]:
        position.play(cell)
    mine = [at for at, (player, *_) in enumerate(state["moves"]) if player == state["side"]]
    address = f"{LOBBY}/{state['number']}" + ("" if own else "/shared")
    under_way = state["turn"] != "over" and ply == last
    return {
        "game": state,
        "own": own,
        "ply": ply,
        "now": ply == last,
        "over": state["turn"] == "over",
        "mine": state["turn"] == "person" and ply == last,
        "outcome": _outcome(state, "You have" if own else "The player has"),
        "position": position,
        "boards": boards_of(position, cells[ply - 1] if ply else None),
        "points": position.points(),
        "cells": cells,
        "moves": [
            {"player": player, "text": move_text(tuple(cell)), "bonus": bonus, "seconds": seconds}
            for player, cell, bonus, seconds, *_ in state["moves"]
        ],
        "before": cells[: mine[-1]] if mine else None,
        "stamp": stamp(last, state["turn"]),
        "address": address,
        # While the game goes on they are plain links: scripts would read a hundred of them after each move.
        "positions": [f"{address}?ply={at}" for at in range(1, last + 1)] if under_way else (),
    }


def _outcome(state: State, who: str) -> tuple[str, str]:
    """How a game has ended for its person (a word, or nothing after a draw and without a result), and a sentence."""
    match, side = state["match"], state["side"]
    if match is None:
        return "", f"There is no result. {state['why']}"
    points, others = match["points"][side], match["points"][1 - side]
    kind = "won" if points > others or match["winner"] == PLAYERS[side] else "" if points == others else "lost"
    result = {"won": f"{who} won", "": "A draw", "lost": "The bot has won"}[kind]
    how = {"WON": "", "DRAW": "Nobody has a line: the points decide. ", "RESIGNED": f"{who} resigned. "}
    forfeit = f"The bot forfeits: {match['message']}. "
    score = f"{points}\N{NO-BREAK SPACE}:\N{NO-BREAK SPACE}{others}"
    return kind, f"{how.get(match['message'], forfeit)}{result}, {score}."


def _render(
    request: Request,
    pages: PlayPages,
    account: Account | None,
    state: State,
    notice: str = "",
    own: bool = True,
    ply: int | None = None,
    may_stop: bool = False,
) -> Response:
    shown, hint = _game_view(state, own, ply), ""
    if shown["mine"] and state["hinted"]:
        pages.rated.check(request, "moves have been rated")
        rating = pages.cache.rating(GAME, [number(*cell) for cell in shown["cells"]], hint=True)
        shown["boards"] = [asdict(board) for board in shown["boards"]]
        put_figures(shown["boards"], rating)
        hint = source_of(rating)
    told = {"notice": notice, "hint": hint, "may_stop": may_stop}
    name = f"Against {state['label']}"
    return render_game(request, "extreme_play/play_game_part.html", account, name, HEADING, **told, **shown)


def _review(
    request: Request, pages: PlayPages, account: Account | None, state: State, ply: int | None, own: bool = True
) -> Response:
    shown = _game_view(state, own, ply)
    if not shown["over"]:
        raise HTTPException(409, "This game is not over; its moves are rated when it is.")
    moves = [number(*cell) for cell in shown["cells"]]

    def rate(count: int) -> Message:
        pages.rated.check(request, "moves have been rated")
        return pages.cache.rating(GAME, moves[:count])

    ratings = all_ratings(pages.cache.ratings(GAME, moves), rate)
    if not shown["now"]:
        shown["boards"] = [asdict(board) for board in shown["boards"]]
        put_figures(shown["boards"], ratings[shown["ply"]], moves[shown["ply"]])
    match = state["match"]
    end = None
    if match is not None and match["message"] in ("WON", "DRAW"):
        first, second = match["points"]
        end = 0.5 if first == second else float(first > second)
    found = review_game(shown["moves"], ratings, state["side"], shown["ply"], end)
    name = f"Review: against {state['label']}"
    return render_game(request, "extreme_play/play_review_part.html", account, name, HEADING, review=found, **shown)
