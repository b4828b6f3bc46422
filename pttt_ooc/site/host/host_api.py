"""The JSON of the host, below ``/api/host``: for programs in any language.

A match is told about by :func:`~pttt_ooc.site.host.match_view.view_of` only.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query, Request, Response, Security
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import JSONResponse, PlainTextResponse
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer
from pydantic import BaseModel, Field

from pttt_ooc.games.rules.catalogue import describe_game
from pttt_ooc.library.scoring.agents_table import TableRow
from pttt_ooc.site.explore.opponents import Opponents
from pttt_ooc.site.explore.play_api import OpponentOut
from pttt_ooc.site.host.game_rules import rules_text
from pttt_ooc.site.host.match_rows import AGENT
from pttt_ooc.site.host.match_view import MatchView
from pttt_ooc.site.host.matches import Matches
from pttt_ooc.site.host.meetings import meetings_of
from pttt_ooc.site.host.standings import table_of
from pttt_ooc.site.host.tokens import HostAgent
from pttt_ooc.site.host.waiting import WaitingError
from pttt_ooc.site.play.bodies import SENT, AttemptIn, BeginIn, ResignIn
from pttt_ooc.site.shell.accounts import count_wrong_secret, missing_token
from pttt_ooc.site.shell.arrival import ARRIVAL
from pttt_ooc.site.shell.forms import read_body
from pttt_ooc.site.shell.parts import state_of
from pttt_ooc.site.shell.schemas import ErrorOut, takes
from pttt_ooc.site.shell.shell import shell_of
from pttt_ooc.site.shell.throttle import Throttle

NEW_PER_HOUR = 60
"""Most agents added from one address."""


@dataclass
class Hosting:
    """The state of the host's handlers.

    Attributes
    ----------
    added
        Counts the agents that each address adds.
    speaks_mcp
        Whether clients of MCP can play, too.
    """

    matches: Matches
    added: Throttle = field(default_factory=lambda: Throttle(NEW_PER_HOUR))
    speaks_mcp: bool = False


UsedHost = Annotated[Hosting, state_of("host")]


class AgentIn(BaseModel):
    """An agent to add."""

    model_config = SENT
    name: str = Field(max_length=40, description="Its name in the table of agents.")


class AgentOut(BaseModel):
    """A new agent."""

    name: str
    token: str = Field(description="Its secret token; it is shown now, and never again.")


class MatchIn(BeginIn):
    """A match to begin."""

    game: str = Field(max_length=60)


class GameOut(BaseModel):
    """A game that is played here."""

    name: str
    description: str
    rules: str = Field(description="The rules in words.")
    opponents: list[OpponentOut]


class HostOut(BaseModel):
    """What is played here."""

    games: list[GameOut]
    seconds: float = Field(description="Your time for a match; it runs while it is your turn.")


class WaitingOut(BaseModel):
    """No other agent is there yet."""

    waiting: str = Field(description="One sentence.")


class OpenOut(BaseModel):
    """Your open matches."""

    matches: list[MatchView] = Field(description="The latest first.")


class RowOut(BaseModel):
    """An agent in the table."""

    agent: str
    settings: str
    budget: str
    way: str = Field(
        description="exact: `score` is the mean exploitability. AIVAT or average: it is the mean loss per game against "
        "the solution, which is at most that."
    )
    score: float
    low: float | None = Field(description="95% interval; null: there is none.")
    high: float | None
    count: int = Field(description="Seeds, or games.")
    refused: float | None = Field(description="Illegal attempts per game.")

    @classmethod
    def of(cls, row: TableRow) -> RowOut:
        """A row of the table."""
        return cls.model_validate(asdict(row))


class MeetingsOut(BaseModel):
    """An agent's matches against other agents."""

    agent: str
    met: int = Field(description="How many different agents it has met.")
    wins: int
    draws: int
    losses: int
    mean: float = Field(description="Mean payoff, averaged over both seats; luck is not taken out of it.")
    low: float = Field(description="95% interval.")
    high: float


class TableOut(BaseModel):
    """The agents of a game."""

    game: str
    rows: list[RowOut] = Field(description="The least loss first.")
    against_agents: list[MeetingsOut] = Field(description="The largest mean first.")


# ---------------------------------------------------------------------------------------------
# Who plays

_TOKEN = HTTPBearer(scheme_name="agent", description="The token of an agent.", auto_error=False)


def agent_of(request: Request, hosting: Hosting, token: str) -> HostAgent:
    """The agent of a token; 401 without a known one, 429 if an address has sent too many wrong ones."""
    agent = hosting.matches.tokens.of_token(token)
    if agent is None:
        if not token:
            raise missing_token()
        count_wrong_secret(request, shell_of(request))
        raise missing_token("The token is not known here")
    return agent


def _agent(
    request: Request, hosting: UsedHost, credentials: Annotated[HTTPAuthorizationCredentials | None, Security(_TOKEN)]
) -> HostAgent:
    return agent_of(request, hosting, credentials.credentials.strip() if credentials else "")


Playing = Annotated[HostAgent, Depends(_agent)]


def _arrival_of(request: Request) -> float:
    """When the last bytes of a request arrived, in seconds since 1970: then its sender's clock stops."""
    arrival = request.scope[ARRIVAL]
    return float(arrival.begun_at + arrival.waited)


def _refusals(**told: str) -> dict[int | str, dict[str, Any]]:
    """The refusals of an address: their status with an underscore before it, and what they say."""
    return {int(key[1:]): {"model": ErrorOut, "description": text} for key, text in told.items()}


_WHO = {"_401": "There is no token, or it is not known.", "_429": "Your address has sent too many wrong tokens."}
_BODY = {
    "_400": "The body cannot be read.",
    "_415": "The body is no JSON.",
    "_422": "The body has not the expected keys.",
}
_READ = _refusals(**_WHO, _404="There is no such match of yours.")
_CHANGE = _refusals(
    **{**_WHO, **_BODY, "_400": "The square cannot be attempted, or the body cannot be read."},
    _404="There is no such match of yours.",
    _409="It is out of turn, has been done already, or your time is over; nothing has changed.",
    _503="The opponent cannot be asked now; try again.",
)

# ---------------------------------------------------------------------------------------------
# Addresses

router = APIRouter(prefix="/api/host")


@router.get("", summary="What is played here")
def lobby(hosting: UsedHost) -> HostOut:
    """The games with their rules and opponents; no token is needed."""
    found = [_game(opponents) for opponents in hosting.matches.games.values()]
    return HostOut(games=found, seconds=hosting.matches.seconds)


def _game(opponents: Opponents) -> GameOut:
    game, told = opponents.game, opponents_told(opponents)
    return GameOut(name=game.name, description=describe_game(game), rules=rules_text(game), opponents=told)


def opponents_told(opponents: Opponents) -> list[OpponentOut]:
    """Whom an agent can play against: strategies, and other agents."""
    agent = OpponentOut(key=AGENT, name="Another agent that waits", you_play=[0, 1])
    return [*OpponentOut.all_of([*opponents.list_opponents()]), agent]


@router.get("/table", summary="The table of agents", responses=_refusals(_404="The game is not played here."))
def table(hosting: UsedHost, game: Annotated[str, Query(max_length=60)] = "") -> TableOut:
    """The agents of a game, the first one by default; no token is needed."""
    name = game or next(iter(hosting.matches.games))
    rows, met = table_of(hosting.matches, name), meetings_of(hosting.matches, name)
    return TableOut(
        game=name,
        rows=[RowOut.of(row) for row in rows],
        against_agents=[MeetingsOut.model_validate(asdict(one)) for one in met],
    )


@router.post(
    "/agents",
    summary="Add an agent",
    status_code=201,
    openapi_extra=takes(AgentIn),
    responses=_refusals(
        **{**_BODY, "_400": "It cannot be a name."}, _409="The name is taken.", _429="Your address has added too many."
    ),
)
async def add_agent(request: Request, hosting: UsedHost) -> AgentOut:
    """Add an agent; the answer has its token, which nobody can look up later."""
    sent = await read_body(request, AgentIn)
    hosting.added.check(request, "agents have been added")
    agent, token = await run_in_threadpool(hosting.matches.tokens.add, sent.name)
    return AgentOut(name=agent.name, token=token)


@router.get("/matches", summary="Your open matches", responses=_refusals(**_WHO))
def open_matches(hosting: UsedHost, agent: Playing) -> OpenOut:
    """Your open matches: go on with them after a break of the connection, or of your program."""
    return OpenOut(matches=hosting.matches.list_open(agent))


@router.post(
    "/matches",
    summary="Begin a match",
    status_code=201,
    response_model=MatchView,
    openapi_extra=takes(MatchIn),
    responses={
        202: {"model": WaitingOut, "description": "No other agent waits; ask again every second, until one has come."},
        **_refusals(
            **{**_BODY, "_401": _WHO["_401"], "_429": "You have too many open matches, or have begun too many."},
            _404="There is no such game or opponent.",
            _503="The opponent is getting ready; try again in a second.",
        ),
    },
)
async def begin(request: Request, hosting: UsedHost, agent: Playing) -> Response:
    """Begin a match.  While its opponent is getting ready for the first time, the answer is 503: ask again.

    Against another agent, which asks for the same as the other player, it begins when both have asked.
    """
    sent = await read_body(request, MatchIn)
    try:
        begun = await run_in_threadpool(hosting.matches.begin, agent, sent.game, sent.opponent, sent.player)
    except WaitingError as error:
        return JSONResponse(WaitingOut(waiting=str(error)).model_dump(), 202, {"Retry-After": "1"})
    return JSONResponse(begun.model_dump(), 201)


@router.get("/matches/{id}", summary="A match", responses=_READ)
def one_match(hosting: UsedHost, agent: Playing, id: str) -> MatchView:
    """What you may know of a match of yours."""
    return hosting.matches.view(agent, id)


@router.get("/matches/{id}/text", summary="A match in words", responses=_READ, response_class=PlainTextResponse)
def match_text(hosting: UsedHost, agent: Playing, id: str) -> Response:
    """The same in words, as plain text."""
    return PlainTextResponse(hosting.matches.view(agent, id).text)


@router.post("/matches/{id}/attempts", summary="Attempt a square", openapi_extra=takes(AttemptIn), responses=_CHANGE)
async def attempt(request: Request, hosting: UsedHost, agent: Playing, id: str) -> MatchView:
    """Attempt a square; the answer is the match after the opponent's reply."""
    sent, arrived = await read_body(request, AttemptIn), _arrival_of(request)
    return await run_in_threadpool(hosting.matches.attempt, agent, id, sent.square, sent.made, arrived)


@router.post("/matches/{id}/resignation", summary="Resign", openapi_extra=takes(ResignIn), responses=_CHANGE)
async def resign(request: Request, hosting: UsedHost, agent: Playing, id: str) -> MatchView:
    """Resign, which counts as a loss."""
    sent, arrived = await read_body(request, ResignIn), _arrival_of(request)
    return await run_in_threadpool(hosting.matches.resign, agent, id, sent.made, arrived)
