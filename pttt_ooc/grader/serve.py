"""One command for all processes of a grader."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

from pttt_ooc.disk.lives import handle_signals
from pttt_ooc.grader.database import Database
from pttt_ooc.grader.rights import private, tighten
from pttt_ooc.grader.settings import Settings, make_settings
from pttt_ooc.grader.storage import Storage
from pttt_ooc.grader.value import check_value_is_known
from pttt_ooc.web.logs import start_logging
from pttt_ooc.web.processes import Child, address_of, listen, look_after

WEBSERVER = "pttt_ooc.grader.webserver"

Beside = Callable[[Path, Settings], AbstractContextManager[tuple[Sequence[Child], Sequence[str]]]]
"""Opens what more a grader has: processes, and further arguments for the module of the web process."""


def _nothing(data: Path, settings: Settings) -> AbstractContextManager[tuple[Sequence[Child], Sequence[str]]]:
    return nullcontext(((), ()))


def serve(
    data: Path, game: str | None, host: str, port: int, webserver: str = WEBSERVER, beside: Beside = _nothing
) -> None:
    """Run web server and worker until SIGTERM or SIGINT.

    Parameters
    ----------
    data
        The grader's directory; made if it is missing.
    game
        What it is for; None: what it has been for, or else the course's game.
    webserver
        The module of the web process; it gets the directory and the number of its socket.
    beside
        What more there is.

    Raises
    ------
    PtttError
        If it cannot start.
    """
    with private():  # the children see to themselves
        settings = make_settings(data, game)
        storage = Storage(data)
        database = Database.of(data, settings.database_url, settings.game)
    database.close()
    tighten([*storage.private_paths(), *database.files()])
    check_value_is_known(settings)
    stopping = threading.Event()
    with listen(host, port) as listening, beside(data, settings) as (others, further):
        handle_signals(stopping)
        start_logging("serve")
        descriptor = listening.fileno()
        children = [
            Child("web", ["-m", webserver, str(data), str(descriptor), *further], (descriptor,)),
            Child("worker", ["-m", "pttt_ooc.grader.worker", str(data)]),
            *others,
        ]
        print(f"The grader for {settings.game} is at {address_of(listening, host)}; Ctrl-C stops it.", flush=True)
        look_after(children, stopping)
