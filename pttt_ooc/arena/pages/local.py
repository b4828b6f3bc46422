"""`pttt arena serve`: the arena's pages, for whoever sits at this machine."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pttt_ooc.disk.files import make_directory
from pttt_ooc.disk.lives import handle_signals
from pttt_ooc.web.logs import start_logging
from pttt_ooc.web.processes import Child, address_of, listen, look_after, open_browser
from pttt_ooc.web.wire import listening


@contextmanager
def answerer(directory: Path) -> Iterator[tuple[Child, Path]]:
    """The answerer for the matches below a directory, which is made if it is missing, and its address."""
    make_directory(directory)
    with listening() as (made, address):
        arguments = ["-m", "pttt_ooc.arena.pages.answerer", str(directory), str(made.fileno())]
        yield Child("arena answerer", arguments, (made.fileno(),)), address


def serve(directory: Path, host: str, port: int, page: str | None) -> None:
    """Serve the pages until SIGTERM or SIGINT.

    Parameters
    ----------
    directory
        Of matches.
    page
        The address of the page to open in a browser; None: no browser.

    Raises
    ------
    PtttError
        If the server cannot listen.
    """
    stopping = threading.Event()
    with listen(host, port) as open_socket, answerer(directory) as (answering, address):
        handle_signals(stopping)
        start_logging("arena")
        arguments = [str(open_socket.fileno()), str(address)]
        web = Child("web", ["-m", "pttt_ooc.arena.pages.localserver", *arguments], (open_socket.fileno(),))
        url = address_of(open_socket, host)
        print(f"The arena is at {url}; Ctrl-C stops it.", flush=True)
        if page:
            threading.Thread(target=open_browser, args=(f"{url}{page}",), daemon=True).start()
        look_after([web, answering], stopping)
