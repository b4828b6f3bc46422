"""One command for all processes of a course."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Sequence
from contextlib import ExitStack, closing
from functools import partial
from pathlib import Path
from typing import Any

from sqlalchemy.exc import SQLAlchemyError

from pttt_ooc.course.agents import processes as agents
from pttt_ooc.course.bots import processes as bots
from pttt_ooc.course.data.assignments import further_games
from pttt_ooc.course.data.database import Database
from pttt_ooc.course.data.game_directory import directory_of, make_games, tell_address
from pttt_ooc.course.data.settings import CourseSettings, check_openid, make_settings
from pttt_ooc.course.data.storage import Storage
from pttt_ooc.course.strategies import processes as strategies
from pttt_ooc.course.strategies.game_facts import check_orders, check_value_is_known
from pttt_ooc.disk.locks import hold
from pttt_ooc.disk.permissions import private, tighten
from pttt_ooc.errors import CourseError, PtttError
from pttt_ooc.site.explore.wing import answerer, games_file
from pttt_ooc.site.service.local_server import processes_behind
from pttt_ooc.site.service.processes import Child, listen, serve_until_stopped
from pttt_ooc.site.service.wing import Pages

WEBSERVER = "pttt_ooc.course.server.web_process"
WORKER = "pttt_ooc.course.server.strategy_worker"
log = logging.getLogger("pttt.course.processes")


def serve(
    data: Path,
    game: str | None,
    host: str,
    port: int,
    pages: Callable[[Path], Sequence[Pages]],
    as_json: bool = False,
) -> None:
    """Run web server and workers until SIGTERM or SIGINT.

    Parameters
    ----------
    data
        The course's directory; made if it is missing.
    game
        Its game; None: the game that it has, or else the default.
    pages
        Gives the pages of wings beside the course's own; they keep games of people in its directory.
    as_json
        Whether the address is printed as a line of JSON.

    Raises
    ------
    PtttError
        If it cannot start, for example because another process serves this directory.
    """
    with private():  # the children do the same themselves
        # First the database: a directory of another version is refused, and nothing is made in it.
        settings = make_settings(data, game)
        database = Database.of(data, settings.database_url, settings.game)
    with closing(database):
        # One server for a directory: it holds the lock until all children have ended.
        with private():
            lock = hold(data / "serve.lock", partial(_busy, data), error=CourseError)
        with lock:
            with private():
                storage = Storage(data)
            # Before anything listens: files left readable are made private, settings that cannot work are refused.
            tighten([*storage.private_paths(), *database.files()])
            check_value_is_known(settings)
            check_openid(settings, data)
            check_orders(data, settings)
            # The sockets are opened here and stay open: a child that is started anew goes on with the same one.
            with listen(host, port) as listening, ExitStack() as stack:
                others, other_parts = stack.enter_context(processes_behind(pages(data)))
                processes = _Processes(data, settings, database, listening.fileno(), stack, others, other_parts)
                what = f"The course for {settings.game}"
                # Children follow the course while it runs: a new game, kind or league of assignments gets its own.
                children = processes.make_children()
                renewed = processes.renew_children
                serve_until_stopped("serve", what, listening, host, children, as_json=as_json, renewed=renewed)


class _Processes:
    """The processes of a course, which follow its assignments: a new game, kind or league gets its own.

    Parameters
    ----------
    descriptor
        The number of the open socket.
    stack
        Keeps the sockets of answerers open.
    others, other_parts
        The processes behind the pages of wings, and the calls that make their parts.
    """

    def __init__(
        self,
        data: Path,
        settings: CourseSettings,
        database: Database,
        descriptor: int,
        stack: ExitStack,
        others: Sequence[Child],
        other_parts: str,
    ) -> None:
        self._data, self._settings, self._database, self._stack = data, settings, database, stack
        self._descriptor, self._others, self._other_parts = descriptor, others, other_parts
        self._known: dict[tuple[str, ...], Child] = {}
        self._behind: dict[str, tuple[list[Child], str]] = {}
        self._there: object = None
        self._children: list[Child] = []
        self._trouble = ""

    def renew_children(self) -> list[Child]:
        """Like :meth:`make_children`; if that fails, those that there were before, and the log says so once."""
        try:
            if self._look() == self._there:
                return self._children
            self.make_children()
            self._trouble = ""
            log.info("the course has changed", extra={"children": [child.name for child in self._children]})
        except (PtttError, SQLAlchemyError, OSError) as error:
            if str(error) != self._trouble:
                log.error("the course has changed, but cannot be served so", extra={"why": str(error)})
            self._trouble = str(error)
        return self._children

    def make_children(self) -> list[Child]:
        """The processes that the course needs now.

        Raises
        ------
        PtttError
            If a directory or settings of a game or league are refused.
        """
        there = self._look()
        with private():
            workers = [
                *agents.workers(self._data, self._database),
                *game_workers(self._data, self._database),
                *bots.further_workers(self._data, self._database),
            ]
            own = [strategies.pages(self._data, self._settings.game), *bots.pages(self._data)]
            explorers = self._explorers()
        behind = [self._processes_behind(one) for one in own]
        parts = json.dumps([part for _, calls in behind for part in json.loads(calls)])
        web = (WEBSERVER, str(self._data), str(self._descriptor), parts, self._other_parts)
        self._children = [
            self._child("web", web, (self._descriptor,)),
            self._child("worker", (WORKER, str(self._data))),
            *(self._child(name, tuple(command)) for name, *command in workers),
            *(child for children, _ in behind for child in children),
            *explorers,
            *self._others,
        ]
        self._known = {command: child for command, child in self._known.items() if child in self._children}
        self._there = there
        return self._children

    def _explorers(self) -> list[Child]:
        """The answerers of further games, which the web process finds by their addresses."""
        found = []
        for game in further_game_names(self._database):
            children, calls = self._processes_behind(game_pages(self._data, game))
            tell_address(self._data, game, json.loads(calls)[0][1])
            found += children
        return found

    def _look(self) -> Any:
        """The facts that decide which processes the course needs."""
        return (
            agents.has_agents(self._database),
            further_game_names(self._database),
            bots.open_leagues(self._data, self._database),
        )

    def _processes_behind(self, pages: Pages) -> tuple[list[Child], str]:
        key = repr(pages)
        if key not in self._behind:
            self._behind[key] = self._stack.enter_context(processes_behind([pages]))
        return self._behind[key]

    def _child(self, name: str, command: tuple[str, ...], sockets: tuple[int, ...] = ()) -> Child:
        return self._known.setdefault(command, Child(name, ["-m", *command], sockets))


def _busy(data: Path, process: str) -> str:
    return f"The course in {data} is being served already (process {process}); stop it first, or name another --data."


# ---------------------------------------------------------------------------------------------
# Further games


def game_workers(data: Path, database: Database) -> list[tuple[str, ...]]:
    """Name, module and arguments of a worker for each further game, whose directory is made.

    Raises
    ------
    PtttError
        If a directory cannot be made, or the value of a game is not known.
    """
    games = make_games(database, data)
    for settings in games:
        check_value_is_known(settings)
    return [(f"worker of {one.game}", WORKER, str(directory_of(data, one.game))) for one in games]


def game_pages(data: Path, game: str) -> Pages:
    """The answerer of Explore and Play of a further game, whose directory must be there.

    Raises
    ------
    StoreError
        If the database of games that people play cannot be used.
    """
    directory = directory_of(data, game)
    games_file(directory)
    call = answerer(directory / "profiles", game, directory / "index")
    return Pages(name=f"{game} explore", what=game, parts=("",), answerer=call)


def further_game_names(database: Database) -> list[str]:
    """The further games that assignments name."""
    with database.reading() as session:
        return further_games(session)
