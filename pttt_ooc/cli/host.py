"""The command `pttt lab host`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pttt_ooc.disk.files import make_directory
from pttt_ooc.errors import StrategyFileError
from pttt_ooc.extras import check_extra, check_modules, extra
from pttt_ooc.options import DATA, KINDS, BrowserOption, DataOption, GameOption, HostOption, PortOption

if TYPE_CHECKING:
    from pttt_ooc.site.service.wing import Pages

FOLDER = "host"
"""The folder of matches in the data directory."""


def host(
    strategies: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="STRATEGY",
            help=f"Opponents of one game: {KINDS}, or an agent of `pttt lab score`.  [default: the solutions of all "
            "games in --data]",
        ),
    ] = None,
    seconds: Annotated[
        float, typer.Option(min=1, max=86400, metavar="SECONDS", help="An agent's time for a match.")
    ] = 600,
    mcp: Annotated[
        str | None,
        typer.Option(
            "--mcp",
            metavar="NAME",
            help="Serve the agent NAME by MCP on standard input and output; no pages are served.",
        ),
    ] = None,
    host: HostOption = "127.0.0.1",
    port: PortOption = 0,
    browser: BrowserOption = True,
    game: GameOption = None,
    data: DataOption = DATA,
) -> None:
    """Let programs play against strategies, by HTTP or MCP, and rank them.

    Matches are kept in the data directory; they go on after a restart.
    """
    with extra("course", "`pttt lab host`"):
        from pttt_ooc.site.host.wing import pages
        from pttt_ooc.site.service.local_server import serve
    check_modules(["scipy"], "`pttt lab host`")
    if mcp is not None:
        check_extra("mcp", "`pttt lab host --mcp`")
    made = pages(_games(strategies or [], game, data), data / FOLDER, seconds)
    if mcp is None:
        serve([made], host, port, made.page if browser else None, made.page)
        return
    from pttt_ooc.site.host.mcp_stdio import serve as serve_client

    serve_client(made, mcp)


def _games(strategies: Sequence[str], game: str | None, data: Path) -> list[Pages]:
    """The pages of each game, whose strategies are the opponents."""
    from pttt_ooc.cli.home_cards import found_solutions
    from pttt_ooc.cli.site import games_of
    from pttt_ooc.site.explore.local_sources import local_pages

    if strategies:
        named = [file for name in strategies for file in _files_of(name, game, data)]
        return [local_pages(named, game, data)[0]]
    solved = games_of(found_solutions(data)[0], game, data)
    if not solved:
        raise StrategyFileError(f"There is no solution in {data}; name a strategy, such as uniform, or run make solve.")
    return [local_pages([str(one.directory) for one in each], each[0].game, data)[0] for each in solved]


def _files_of(name: str, game: str | None, data: Path) -> list[str]:
    """A strategy as it is named; an agent is asked at all infosets first, and becomes a file for each player."""
    from pttt_ooc.library.scoring.agents import find_agent, told_game_of

    if ":" not in name and not name.endswith((".onnx", ".cleanrl_model")):
        return [name]
    if (agent := find_agent(name)) is None:
        return [name]
    from pttt_ooc.games.rules.catalogue import DEFAULT_GAME, check_listable, named_game
    from pttt_ooc.library.api.structures import configure
    from pttt_ooc.library.scoring.scores import agent_strategy

    configure(data)
    rules = told_game_of([agent]) or named_game(game or DEFAULT_GAME)
    check_listable(rules.name)
    folder = data / FOLDER / rules.name
    make_directory(folder)
    plain = re.sub(r"[^\w.-]+", "-", name.rpartition("/")[2])
    files = [folder / f"{plain}-{player}.zip" for player in (0, 1)]
    for player, file in enumerate(files):
        agent_strategy(rules, player, agent).save(file)
    return list(map(str, files))
