"""`pttt extreme serve`: the pages of a tournament's directory, for whoever sits at this machine."""

from __future__ import annotations

from pathlib import Path

from pttt_ooc.extreme.tournament_record import Record
from pttt_ooc.service.processes import Child, Web, listen, serve_until_stopped


def serve(directory: Path, host: str, port: int, page: str | None) -> None:
    """Serve the pages until SIGTERM or SIGINT; nothing that they are asked for changes anything.

    Parameters
    ----------
    directory
        Of a tournament, which may be played meanwhile.  The analyst keeps what it sees in its folder ``curves``.
    page
        The address of the page to open in a browser; None: no browser.

    Raises
    ------
    PtttError
        If there is no tournament, or the server cannot listen.
    """
    Record(directory)
    with listen(host, port) as open_socket:
        web = Web(["pttt_ooc.extreme.pages.web_process", str(directory)])
        analyst = Child("analyst", ["-m", "pttt_ooc.extreme.analyst", str(directory)])
        children = [web.child([open_socket.fileno()], open_socket), analyst]
        serve_until_stopped("extreme", "The tournament", open_socket, host, children, page)
