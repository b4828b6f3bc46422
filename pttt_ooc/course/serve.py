"""One command for all processes of a grader."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from pttt_ooc.course.database import Database
from pttt_ooc.course.games import processes as games
from pttt_ooc.course.kinds.agents import processes as agents
from pttt_ooc.course.kinds.bots import processes as bots
from pttt_ooc.course.kinds.strategies import processes as strategies
from pttt_ooc.course.kinds.strategies.orders import check_orders
from pttt_ooc.course.kinds.strategies.value import check_value_is_known
from pttt_ooc.course.settings import CourseSettings, make_settings
from pttt_ooc.course.storage import Storage
from pttt_ooc.course.term.openid_settings import check_openid
from pttt_ooc.disk.locks import hold
from pttt_ooc.disk.rights import private, tighten
from pttt_ooc.errors import GraderError
from pttt_ooc.service.local_server import processes_behind
from pttt_ooc.service.processes import Child, listen, serve_until_stopped
from pttt_ooc.service.wing import Pages

WEBSERVER = "pttt_ooc.course.kinds.web_process"


def serve(data: Path, game: str | None, host: str, port: int, pages: Callable[[Path], Sequence[Pages]]) -> None:
    """Run web server and worker until SIGTERM or SIGINT.

    Parameters
    ----------
    data
        The grader's directory; made if it is missing.
    game
        Its game; None: the game that it has, or else the course's.
    pages
        Gives the pages of wings beside the grader's own; they keep games of people in its directory.

    Raises
    ------
    PtttError
        If it cannot start, for example as another process serves this directory.
    """
    with private():  # the children see to themselves
        settings = make_settings(data, game)
        lock = hold(data / "serve.lock", partial(_busy, data), error=GraderError)
    with lock:
        with private():
            storage = Storage(data)
            database = Database.of(data, settings.database_url, settings.game)
            own_workers = [
                *agents.workers(data, database),
                *games.workers(data, database),
                *bots.further_workers(data, database),
            ]
        database.close()
        tighten([*storage.private_paths(), *database.files()])
        check_value_is_known(settings)
        check_openid(settings, data)
        check_orders(data, settings)
        _serve_alone(data, settings, host, port, pages, own_workers)


def _serve_alone(
    data: Path,
    settings: CourseSettings,
    host: str,
    port: int,
    pages: Callable[[Path], Sequence[Pages]],
    workers: Sequence[tuple[str, ...]],
) -> None:
    with (
        listen(host, port) as listening,
        processes_behind([strategies.pages(data, settings.game), *bots.pages(data)]) as (own, own_parts),
        processes_behind(pages(data)) as (others, other_parts),
    ):
        descriptor = listening.fileno()
        command = ["-m", WEBSERVER, str(data), str(descriptor), own_parts, other_parts]
        web = Child("web", command, (descriptor,))
        worker = Child("worker", ["-m", "pttt_ooc.course.worker", str(data)])
        more = [Child(name, ["-m", *command]) for name, *command in workers]
        children = [web, worker, *more, *own, *others]
        serve_until_stopped("serve", f"The grader for {settings.game}", listening, host, children)


def _busy(data: Path, process: str) -> str:
    return f"The grader in {data} is being served already (process {process}); stop it first, or name another --data."
