"""`pttt extreme serve`: the pages of a tournament's directory, for whoever sits at this machine."""

from __future__ import annotations

import threading
from pathlib import Path

from pttt_ooc.disk.lives import handle_signals
from pttt_ooc.extreme.record import Record
from pttt_ooc.web.logs import start_logging
from pttt_ooc.web.processes import Child, address_of, listen, look_after, open_browser


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
    stopping = threading.Event()
    with listen(host, port) as open_socket:
        handle_signals(stopping)
        start_logging("extreme")
        descriptor, url = open_socket.fileno(), address_of(open_socket, host)
        arguments = ["-m", "pttt_ooc.extreme.pages.localserver", str(descriptor), str(directory)]
        children = [
            Child("web", arguments, (descriptor,)),
            Child("analyst", ["-m", "pttt_ooc.extreme.analyst", str(directory)]),
        ]
        print(f"The tournament is at {url}; Ctrl-C stops it.", flush=True)
        if page:
            threading.Thread(target=open_browser, args=(f"{url}{page}",), daemon=True).start()
        look_after(children, stopping)
