"""`pttt smbc serve`: the pages on a solution, for whoever sits at this machine."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pttt_ooc.service.processes import Child, Web, listen, serve_until_stopped
from pttt_ooc.service.wire import listening
from pttt_ooc.smbc.pages.matches_file import matches_file
from pttt_ooc.smbc.solve import checked_manifest


@contextmanager
def answerer(directory: Path) -> Iterator[tuple[Child, Path]]:
    """The process that answers questions about the solution in `directory`, still to be started, and its address."""
    with listening() as (made, address):
        arguments = ["-m", "pttt_ooc.smbc.pages.answerer", str(directory), str(made.fileno())]
        yield Child("answerer of secret goals", arguments, (made.fileno(),)), address


def serve(directory: Path, host: str, port: int, page: str | None) -> None:
    """Serve the pages until SIGTERM or SIGINT.

    Parameters
    ----------
    directory
        Of a solved match; matches of people are kept there as well.
    page
        The address of the page to open in a browser; None: no browser.

    Raises
    ------
    PtttError
        If there is no solution, or the server cannot listen.
    """
    points = checked_manifest(directory)["settings"]["winning_score"]
    matches_file(directory)
    with listen(host, port) as open_socket, answerer(directory) as (answering, address):
        web = Web(["pttt_ooc.smbc.pages.web_process", str(address), str(directory)])
        children = [web.child([open_socket.fileno()], open_socket), answering]
        serve_until_stopped("smbc", f"The match to {points}", open_socket, host, children, page)
