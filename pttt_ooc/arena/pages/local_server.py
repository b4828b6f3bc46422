"""`pttt arena serve`: the arena's pages, for whoever sits at this machine."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pttt_ooc.disk.files import make_directory
from pttt_ooc.service.processes import Child, Web, listen, serve_until_stopped
from pttt_ooc.service.wire import listening


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
    with listen(host, port) as open_socket, answerer(directory) as (answering, address):
        web = Web(["pttt_ooc.arena.pages.web_process", str(address)])
        children = [web.child([open_socket.fileno()], open_socket), answering]
        serve_until_stopped("arena", "The arena", open_socket, host, children, page)
