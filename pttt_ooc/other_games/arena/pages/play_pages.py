"""Games against an agent, and their reviews.  An address holds all moves: nothing is stored, and Back is undo."""

from __future__ import annotations

import json
import random
from dataclasses import dataclass, replace
from functools import partial
from typing import Annotated, Any

from fastapi import APIRouter, Depends, HTTPException, Query, Request, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import HTMLResponse, RedirectResponse

from pttt_ooc.other_games.arena.pages.choices import (
    AGENTS,
    GAMES,
    SECONDS,
    agents_of,
    label_of,
    sizes_of,
    takes_time,
)
from pttt_ooc.other_games.arena.pages.page_state import (
    ArenaState,
    NoAnswerError,
    UsedState,
    chosen_game,
    join_moves,
    numbers,
)
from pttt_ooc.site.play.owners import form_again
from pttt_ooc.site.play.review import all_ratings, put_figures, review_game, source_of
from pttt_ooc.site.service.wire import Message
from pttt_ooc.site.shell.accounts import Signed
from pttt_ooc.site.shell.forms import number, own_form
from pttt_ooc.site.shell.rendering import query, render, render_game, wants_part
from pttt_ooc.site.shell.shell import Account, UsedShell

LONGEST = 4000
"""Maximum characters for the moves in an address."""

SIDES = {"me": "you", "agent": "the agent", "chance": "drawn by chance"}
_LABELS = {offer.key: offer.label for offer in AGENTS}

router = APIRouter(default_response_class=HTMLResponse, include_in_schema=False, prefix="/arena/play")


@dataclass(frozen=True)
class AgentGame:
    """A game against an agent, from its address.

    Attributes
    ----------
    game
        The game's name, with options.
    agent
        The key of an agent.
    seconds
        The agent's time to think.
    me
        The number of the person's player.
    back
        Whether a move was taken back.
    hint
        The number of moves when the person last asked for a hint; None if never.
    resigned
        Whether the person has resigned.
    """

    game: str
    agent: str
    seconds: str
    me: int
    moves: list[int]
    back: bool = False
    hint: int | None = None
    resigned: bool = False

    @property
    def label(self) -> str:
        """The agent's name for people; a link may be older than the choices."""
        return _LABELS.get(self.agent, f"{self.agent} (not offered any more)")

    @property
    def offered(self) -> bool:
        """Whether the agent can be played against."""
        return self.agent in _LABELS and self.seconds in SECONDS

    @property
    def heading(self) -> str:
        """The game's name for people."""
        return label_of(self.game)

    @property
    def name(self) -> str:
        """Which game it is, for the title of its page."""
        return f"{self.heading}, against {self.label}"

    @property
    def names(self) -> list[tuple[str, str]]:
        """Name and kind of each player, for people."""
        agent = (self.label, f"{self.seconds} s a move" if self.offered and takes_time(self.agent) else "")
        return [("You", ""), agent] if self.me == 0 else [agent, ("You", "")]

    @property
    def agents(self) -> list[str | None]:
        """The agent of each player; None for the person."""
        return [None, self.agent] if self.me == 0 else [self.agent, None]

    @property
    def settings(self) -> dict[str, Any]:
        """The parameters of its address, but for the moves; also the fields of its forms."""
        marks = {name: 1 for name in ("back", "resigned") if getattr(self, name)}
        marks |= {} if self.hint is None else {"hint": self.hint}
        return {"game": self.game, "agent": self.agent, "seconds": self.seconds, "me": self.me, **marks}

    def address(self, moves: list[int], page: str = "game") -> str:
        """The address of the game after other moves, or of another page about it."""
        return f"/arena/play/{page}" + query(**self.settings, moves=join_moves(moves) or None)

    @property
    def turned(self) -> AgentGame:
        """A new game with the sides changed."""
        return AgentGame(self.game, self.agent, self.seconds, 1 - self.me, [])

    @property
    def given_up(self) -> AgentGame:
        """The same game, resigned."""
        return replace(self, resigned=True)

    @property
    def hinted(self) -> AgentGame:
        """The same game with a hint for the next move."""
        return replace(self, hint=len(self.moves))

    @property
    def help(self) -> str:
        """What help the person has had, in words; empty: none."""
        return ", ".join(["moves taken back"] * self.back + ["hints"] * (self.hint is not None))

    def from_move(self, ply: int) -> str:
        """The address of the game after `ply` of its moves, to go on from there."""
        return replace(self, back=True, resigned=False).address(self.moves[:ply])

    def taken_back(self, made: list[Message]) -> str | None:
        """The address of the game before the person's last move; None if there was none."""
        own = [ply for ply, move in enumerate(made) if move["player"] == self.me]
        return self.from_move(own[-1]) if own else None


@router.get("")
def lobby(request: Request, state: UsedState, account: Signed, game: str = GAMES[0].key) -> Response:
    """The games, and the agents that play one of them: to play against, and to watch."""
    if all(game != offer.key for offer in GAMES):
        raise HTTPException(404, "There is no such game here; choose one of the list.")
    return _lobby(request, state, account, game)


def _lobby(
    request: Request,
    state: ArenaState,
    account: Account | None,
    game: str,
    typed: dict[str, str] | None = None,
    wrong: str = "",
) -> Response:
    ready = state.service.ready(game)
    agents = [offer for offer in agents_of(game) if offer.key in ready]
    facts = {"game": game, "agents": agents, "sizes": sizes_of(game), "typed": typed or {}, "wrong": wrong}
    return render(request, "arena/lobby.html", account, **facts)


async def lobby_again(
    request: Request, state: ArenaState, account: Account | None, typed: dict[str, str], error: Exception
) -> Response:
    """The forms with what was typed, and the refusal beside the one that was sent; `error` if there is no such game."""
    if all(typed.get("game") != offer.key for offer in GAMES):
        raise error
    return await form_again(error, partial(_lobby, request, state, account, typed["game"], typed))


@router.post("")
async def begin(request: Request, state: UsedState, shell: UsedShell, account: Signed) -> Response:
    """Begin a game."""
    fields = await own_form(request, shell)
    state.spend(request)
    try:
        table = _new_game(fields)
        if table.agent not in await run_in_threadpool(state.service.ready, fields["game"]):
            raise HTTPException(400, f"{table.label} has not been trained here; choose another opponent.")
        moves = await run_in_threadpool(state.service.play_on, table.game, [], table.agents, table.seconds)
        await run_in_threadpool(state.service.position, table.game, moves)
    except (HTTPException, NoAnswerError) as error:
        return await lobby_again(request, state, account, fields, error)
    return RedirectResponse(table.address(moves), 303)


def _new_game(fields: dict[str, str]) -> AgentGame:
    """The game that a form begins; 400 if it is malformed."""
    sides = {"me": 0, "agent": 1, "chance": random.SystemRandom().randrange(2)}
    if fields.get("first") not in sides:
        raise HTTPException(400, "Choose who moves first: you, the agent, or chance.")
    game, agent = chosen_game(fields), fields.get("agent", "")
    if agent in _LABELS and agent not in [offer.key for offer in agents_of(fields["game"])]:
        raise HTTPException(400, f"{_LABELS[agent]} does not play this game; choose another opponent.")
    return _table(game, agent, fields.get("seconds", ""), sides[fields["first"]], "")


def _game_in_address(
    game: Annotated[str, Query(max_length=60)],
    agent: Annotated[str, Query(pattern="^[a-z0-9-]{1,20}$")],
    seconds: Annotated[str, Query(pattern="^[0-9.]{1,5}$")],
    me: Annotated[int, Query(ge=0, le=1)],
    moves: Annotated[str, Query(max_length=LONGEST)] = "",
    back: bool = False,
    hint: Annotated[int | None, Query(ge=0)] = None,
    resigned: bool = False,
) -> AgentGame:
    return AgentGame(game, agent, seconds, me, numbers(moves), back, hint, resigned)


AskedGame = Annotated[AgentGame, Depends(_game_in_address)]


@router.get("/game")
def game(request: Request, state: UsedState, account: Signed, table: AskedGame) -> Response:
    """A position of a game."""
    return _page(request, state, account, table)


@router.get("/game.json")
def file(state: UsedState, table: AskedGame) -> Response:
    """A game as a file."""
    seen, table = seen_at(state, table)
    winner = 1 - table.me if table.resigned else seen["winner"]
    marks = {"over": seen["over"] or table.resigned, "resigned": table.resigned, "taken_back": table.back}
    marks["hints"] = table.hint is not None
    facts = {**table.settings, "moves": table.moves, "texts": [move["text"] for move in seen["made"]]}
    facts |= {"winner": winner, **marks}
    headers = {"Content-Disposition": 'attachment; filename="game.json"'}
    return Response(json.dumps(facts) + "\n", media_type="application/json", headers=headers)


@router.post("/game")
async def move(request: Request, state: UsedState, shell: UsedShell, account: Signed) -> Response:
    """Make a move, and let the agent answer."""
    fields = await own_form(request, shell)
    state.spend(request)
    me = fields.get("me", "")
    if me not in ("0", "1"):
        raise HTTPException(400, "The form does not say who you are; begin another game.")
    game, agent, seconds = (fields.get(name, "") for name in ("game", "agent", "seconds"))
    table = _table(game, agent, seconds, int(me), fields.get("moves", "")[:LONGEST])
    hint = (
        number(fields, "hint", LONGEST, "The form does not say when the hint was asked.") if "hint" in fields else None
    )
    table = replace(table, back="back" in fields, hint=hint)
    chosen = numbers(fields.get("move", ""))
    if len(chosen) != 1 and "go_on" not in fields:  # the form of a position in which the agent is to move
        raise HTTPException(400, "Choose a square of the board.")
    before = table.moves + chosen
    moves = await run_in_threadpool(state.service.play_on, table.game, before, table.agents, table.seconds)
    address = table.address(moves)
    if not wants_part(request):
        return RedirectResponse(address, 303)
    response = await run_in_threadpool(_page, request, state, account, replace(table, moves=moves))
    response.headers["HX-Push-Url"] = address
    return response


def _page(request: Request, state: ArenaState, account: Account | None, table: AgentGame) -> Response:
    seen, table = seen_at(state, table)
    addresses = [table.from_move(ply) for ply in range(1, len(table.moves))]  # going on from there takes moves back
    addresses += [table.address(table.moves)] if table.moves else []
    hint = ""
    if table.hint == len(table.moves) and not seen["over"]:
        state.spend(request)
        try:
            put_figures(seen["boards"], rating := state.cache.rating(table.game, table.moves, hint=True))
            hint = source_of(rating)
        except NoAnswerError as error:
            hint = str(error)
    facts = {"table": table, "seen": seen, "back": table.taken_back(seen["made"]), "addresses": addresses}
    facts |= {"hint": hint, "moves": join_moves(table.moves)}
    return render_game(request, "arena/game_part.html", account, table.name, table.heading, **facts)


def seen_at(state: ArenaState, table: AgentGame) -> tuple[Message, AgentGame]:
    """The position of a game; a resignation counts only while the game is not over."""
    seen = state.service.position(table.game, table.moves)
    return seen, replace(table, resigned=table.resigned and not seen["over"])


def _table(game: str, agent: str, seconds: str, me: int, moves: str) -> AgentGame:
    """A game from a form; 400 if it is malformed, or the agent is not offered."""
    if agent not in _LABELS or seconds not in SECONDS:
        raise HTTPException(400, "There is no such opponent here; choose one of the list.")
    return AgentGame(game[:60], agent, seconds, me, numbers(moves))


@router.get("/review")
def review(
    request: Request,
    state: UsedState,
    account: Signed,
    table: AskedGame,
    ply: Annotated[int | None, Query(ge=0)] = None,
) -> Response:
    """A finished game after `ply` moves; default: at its end."""
    whole, table = seen_at(state, table)
    last = len(table.moves)
    if not (whole["over"] or table.resigned):
        raise HTTPException(409, "This game is not over; its moves are rated when it is.")
    if ply is not None and ply > last:
        raise HTTPException(404, f"The game has {last} moves; move {ply} is not one of them.")
    ply = last if ply is None else ply

    def rate(number: int) -> Message:
        state.spend(request)  # each one that is not remembered counts as a move, and is a question of its own
        return state.cache.rating(table.game, table.moves[:number])

    try:
        ratings, why = all_ratings(state.cache.ratings(table.game, table.moves), rate), ""
    except NoAnswerError as error:
        ratings, why = [], str(error)
    seen = whole if ply == last else state.service.position(table.game, table.moves[:ply])
    if ratings and ply < last:
        put_figures(seen["boards"], ratings[ply], table.moves[ply])
    end = {None: 0.5, 0: 1.0, 1: 0.0}[whole["winner"]] if whole["over"] else None
    shown = review_game(whole["made"], ratings, table.me, ply, end)
    fields = {**table.settings, "moves": join_moves(table.moves)}
    facts = {"table": table, "seen": seen, "whole": whole, "review": shown, "fields": fields, "why": why}
    return render_game(request, "arena/review_part.html", account, f"Review: {table.name}", table.heading, **facts)
