"""The page of the host: the table of agents, and how a program plays."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query, Request, Response
from fastapi.responses import HTMLResponse

from pttt_ooc.games.rules.catalogue import describe_game
from pttt_ooc.library.scoring.agents_table import TableRow
from pttt_ooc.site.host.game_rules import rules_text
from pttt_ooc.site.host.host_api import UsedHost, opponents_told
from pttt_ooc.site.host.meetings import meetings_of
from pttt_ooc.site.host.standings import table_of
from pttt_ooc.site.shell.accounts import Signed
from pttt_ooc.site.shell.ranking import AskedRanking, Column, ranking
from pttt_ooc.site.shell.rendering import render

ADDRESS = "/host"
COLUMNS: dict[str, Column[TableRow]] = {
    "score": Column("Loses", lambda row: row.score),
    "agent": Column("Agent", lambda row: row.agent.lower(), text=True),
    "way": Column("How it is known", lambda row: row.way, text=True),
    "count": Column("Seeds, games", lambda row: -row.count, falls=True),
}

router = APIRouter(default_response_class=HTMLResponse, include_in_schema=False)


@router.get(ADDRESS)
def host_page(
    request: Request,
    hosting: UsedHost,
    account: Signed,
    asked: AskedRanking,
    game: Annotated[str, Query(max_length=60)] = "",
) -> Response:
    """The table of agents of a game, the first one by default."""
    matches = hosting.matches
    names = [*matches.games]
    name = game or names[0]
    rows = table_of(matches, name)
    facts: dict[str, Any] = {
        "games": [(one, describe_game(matches.games[one].game)) for one in names],
        "chosen": name,
        "rules": rules_text(matches.games[name].game),
        "ranking": ranking(rows, COLUMNS, lambda row: row.agent, ADDRESS, asked, game=game or None),
        "seconds": matches.seconds,
        "speaks_mcp": hosting.speaks_mcp,
        "opponents": [one.name for one in opponents_told(matches.games[name])],
        "met": meetings_of(matches, name),
    }
    return render(request, "host/host.html", account, **facts)
