"""The server of wings' pages on the local machine: one web process, and the processes that it asks."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager

from pttt_ooc.site.service.processes import Child, listen, serve_until_stopped
from pttt_ooc.site.service.wing import Pages
from pttt_ooc.site.service.wire import listening

_WEB = "pttt_ooc.site.shell.server"
_ANSWERER = "pttt_ooc.site.service.answerer_process"


@contextmanager
def processes_behind(pages: Sequence[Pages]) -> Iterator[tuple[list[Child], str]]:
    """The processes behind pages, not yet started, and the calls that make their parts, as JSON."""
    children, parts = [], []
    with ExitStack() as stack:
        for one in pages:
            function, *arguments = one.parts
            addresses = []
            for number, call in enumerate(filter(None, (one.answerer, *one.answerers))):
                made, address = stack.enter_context(listening())
                addresses.append(str(address))
                command = ["-m", _ANSWERER, str(made.fileno()), *call]
                name = f"{one.name} answerer" + (f" {number + 1}" if number else "")
                children.append(Child(name, command, (made.fileno(),)))
            children += [Child(name, ["-m", *command]) for name, *command in one.workers]
            parts.append([function, *addresses, *arguments])
        yield children, json.dumps(parts)


def serve(pages: Sequence[Pages], host: str, port: int, page: str | None, home: str = "") -> None:
    """Serve pages until SIGTERM or SIGINT.

    Parameters
    ----------
    pages
        The first gives the application its title.
    page
        The address of the page to open in a browser, such as ``/explore``; None: no browser.
    home
        The address that is printed; empty: the application's home.

    Raises
    ------
    PtttError
        If the server cannot listen.
    """
    own = pages[0]
    with listen(host, port) as open_socket, processes_behind(pages) as (children, parts):
        descriptor = open_socket.fileno()
        command = ["-m", _WEB, str(descriptor), host, own.title, own.subtitle, parts]
        web = Child("web", command, (descriptor,))
        serve_until_stopped(own.name, own.what, open_socket, host, [web, *children], page, home)
