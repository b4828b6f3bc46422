"""The host for clients of the Model Context Protocol (MCP): tools with schemas, and the rules as resources.

The official SDK does the protocol.  The tools do what :mod:`.host_api` does, with the same answers.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import Annotated, Any, TypeVar

from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from pydantic import BaseModel, Field

from pttt_ooc import __version__
from pttt_ooc.errors import PtttError
from pttt_ooc.games.rules.catalogue import describe_game
from pttt_ooc.site.explore.opponents import PreparingError
from pttt_ooc.site.explore.play_api import OpponentOut
from pttt_ooc.site.host.game_rules import rules_text
from pttt_ooc.site.host.host_api import OpenOut, opponents_told
from pttt_ooc.site.host.match_view import MatchView
from pttt_ooc.site.host.matches import Matches
from pttt_ooc.site.host.tokens import HostAgent
from pttt_ooc.site.host.waiting import WaitingError
from pttt_ooc.site.service.wire import BusyError

_PATIENCE_SECONDS = 45.0  # seconds that a tool waits for an opponent; many clients give up after a minute
_INSTRUCTIONS = (
    "Play phantom games against opponents that are solved exactly, or against other agents. list_games names games and "
    "opponents; the rules of a game are the resource rules://GAME. begin_match begins a match; then call attempt until "
    "the match is over. You see your own marks, and those of the opponent's that your attempts have found. Your clock "
    "runs while it is your turn."
)

Answer = TypeVar("Answer")
MatchId = Annotated[str, Field(max_length=40, description="The id of the match, as begin_match answers it.")]


class PlayedGame(BaseModel):
    """A game that is played here."""

    name: str
    description: str
    opponents: list[OpponentOut]


class GamesOut(BaseModel):
    """What is played here."""

    games: list[PlayedGame]
    seconds: float = Field(description="Your time for a match; it runs while it is your turn.")


def make_server(
    matches: Matches,
    agent_of: Callable[[Context[Any, Any]], HostAgent],
    lifespan: Callable[[Any], AbstractAsyncContextManager[Any]] | None = None,
) -> MCPServer[Any]:
    """A server of MCP, not yet connected to a transport.

    Parameters
    ----------
    agent_of
        The agent that calls a tool.
    lifespan
        What has to run while the server does.
    """
    server = MCPServer[Any](
        "pttt", title="Phantom games", instructions=_INSTRUCTIONS, version=__version__, lifespan=lifespan
    )

    @server.tool()
    def list_games() -> GamesOut:
        """The games that are played here, with the keys of their opponents."""
        found = [
            PlayedGame(name=name, description=describe_game(one.game), opponents=opponents_told(one))
            for name, one in matches.games.items()
        ]
        return GamesOut(games=found, seconds=matches.seconds)

    @server.tool()
    def begin_match(
        context: Context[Any, Any],
        game: Annotated[str, Field(max_length=60, description="The name of a game.")],
        opponent: Annotated[str, Field(max_length=80, description="The key of one of its opponents.")],
        player: Annotated[int, Field(ge=0, le=1, description="Whom you play: 0 or 1.")],
    ) -> MatchView:
        """Begin a match.  The answer is what you know of it, with the squares that you may attempt."""
        agent = agent_of(context)
        return _answer_or_refuse(lambda: _begin(matches, agent, game, opponent, player))

    @server.tool()
    def attempt(
        context: Context[Any, Any],
        match: MatchId,
        square: Annotated[int, Field(ge=0, le=99, description="One of the squares that the match calls legal.")],
    ) -> MatchView:
        """Attempt a square.  The answer is the match after the opponent's reply."""
        agent = agent_of(context)
        return _answer_or_refuse(lambda: _await_turn(matches, agent, matches.attempt(agent, match, square)))

    @server.tool()
    def resign(context: Context[Any, Any], match: MatchId) -> MatchView:
        """Resign a match, which counts as a loss."""
        agent = agent_of(context)
        return _answer_or_refuse(lambda: matches.resign(agent, match))

    @server.tool()
    def look(context: Context[Any, Any], match: MatchId) -> MatchView:
        """What you know of a match, when it is your turn; call it again if it is not."""
        agent = agent_of(context)
        return _answer_or_refuse(lambda: _await_turn(matches, agent, matches.view(agent, match)))

    @server.tool()
    def open_matches(context: Context[Any, Any]) -> OpenOut:
        """Your open matches, the latest first: go on with them."""
        agent = agent_of(context)
        return _answer_or_refuse(lambda: OpenOut(matches=matches.list_open(agent)))

    for name, opponents in matches.games.items():
        _add_rules(server, name, rules_text(opponents.game))
    return server


def _add_rules(server: MCPServer[Any], name: str, text: str) -> None:
    @server.resource(f"rules://{name}", name=f"Rules of {name}", mime_type="text/plain")
    def rules() -> str:
        """The rules of a game in words."""
        return text


def _begin(matches: Matches, agent: HostAgent, game: str, opponent: str, player: int) -> MatchView:
    """Begin a match; wait while the answerer starts, the opponent is getting ready, or no other agent has come."""
    until = time.monotonic() + _PATIENCE_SECONDS
    while True:
        try:
            return _await_turn(matches, agent, matches.begin(agent, game, opponent, player))
        except (PreparingError, BusyError, WaitingError):
            if time.monotonic() > until:
                raise
            time.sleep(0.5)


def _await_turn(matches: Matches, agent: HostAgent, match: MatchView) -> MatchView:
    """The match when it is the agent's turn, or over; after a while, as it is then."""
    until = time.monotonic() + _PATIENCE_SECONDS
    while not match.your_turn and not match.over and time.monotonic() < until:
        time.sleep(0.5)
        match = matches.view(agent, match.id)
    return match


def _answer_or_refuse(ask: Callable[[], Answer]) -> Answer:
    """An answer, or the sentence that says why there is none."""
    try:
        return ask()
    except PtttError as error:
        raise ToolError(str(error)) from error
