"""Several processes under one command: starts them, restarts those that die, and stops them all.

The parent owns the listening socket and hands it to a child, so that connections wait while the child restarts.
"""

from __future__ import annotations

import json
import logging
import socket
import subprocess
import sys
import threading
import time
import webbrowser
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from urllib.error import URLError
from urllib.request import urlopen

from pttt_ooc.disk.stop_signals import handle_signals
from pttt_ooc.errors import PtttError
from pttt_ooc.site.service.logs import start_logging

log = logging.getLogger("pttt.web.processes")
_RENEWAL_SECONDS = 2.0  # seconds between two calls of `renewed`
_STOP_SECONDS = 20.0  # seconds for a process to stop before it is killed
_RESTART_SECONDS = (0.2, 30.0)  # seconds before a restart: at first, and at most, after repeated failures
_STEADY_SECONDS = 60.0  # seconds of running after which a failure counts as the first again


@dataclass(eq=False)
class Child:
    """A child process.

    Attributes
    ----------
    name
        Its name in the log.
    arguments
        Arguments of Python: ``-m``, a module, and the module's arguments.
    sockets
        File descriptors of the sockets that it inherits.
    """

    name: str
    arguments: Sequence[str]
    sockets: tuple[int, ...] = ()
    _process: subprocess.Popen[bytes] | None = None
    _started: float = 0.0
    _pause: float = field(default=_RESTART_SECONDS[0])
    _again_at: float = 0.0

    def _start(self) -> None:
        # Its standard input closes when this process dies: then it stops as well.  In a process group of its own it
        # does not get the terminal's Ctrl-C, which could hit it while it starts: this process stops it.
        command = [sys.executable, *self.arguments]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, pass_fds=self.sockets, process_group=0)
        self._started = time.monotonic()
        log.info("started", extra={"child": self.name, "pid": self._process.pid})

    def look_after(self) -> None:
        """Start it if it is not running and is due."""
        now = time.monotonic()
        if self._process is not None and (code := self._process.poll()) is not None:
            if now - self._started > _STEADY_SECONDS:
                self._pause = _RESTART_SECONDS[0]
            log.error("died", extra={"child": self.name, "code": code, "restart_in": self._pause})
            self._process, self._again_at = None, now + self._pause
            self._pause = min(2 * self._pause, _RESTART_SECONDS[1])
        if self._process is None and now >= self._again_at:
            self._start()

    @property
    def is_running(self) -> bool:
        """Whether its process runs."""
        return self._process is not None and self._process.poll() is None

    def terminate(self) -> None:
        """Send SIGTERM."""
        if self._process is not None and self.is_running:
            self._process.terminate()

    def wait(self, deadline: float) -> None:
        """Wait until it has stopped; kill it at the deadline."""
        if self._process is None:
            return
        try:
            self._process.wait(max(0.1, deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            log.error("killed", extra={"child": self.name})
            self._process.kill()
            self._process.wait()


Renewed = Callable[[], Sequence[Child]]


class ListenError(PtttError):
    """The address of a server cannot be used."""


def listen(host: str, port: int) -> socket.socket:
    """A listening socket; ListenError if the address cannot be used."""
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        listening = socket.create_server((host, port), family=family, backlog=512)
    except OSError as error:
        raise ListenError(f"Cannot listen on {host}, port {port}: {error.strerror or error}.") from error
    listening.set_inheritable(True)
    return listening


def address_of(listening: socket.socket, host: str) -> str:
    """The address of the pages behind a socket."""
    name = f"[{host}]" if ":" in host else host
    return f"http://{name}:{listening.getsockname()[1]}"


def serve_until_stopped(
    name: str,
    what: str,
    listening: socket.socket,
    host: str,
    children: Sequence[Child],
    page: str | None = None,
    home: str = "",
    as_json: bool = False,
    renewed: Renewed | None = None,
) -> None:
    """Print the address of pages, and keep the processes behind them running until SIGTERM or SIGINT.

    Parameters
    ----------
    name
        The name of this process in the log.
    what
        The subject of the printed sentence, such as "The arena".
    page
        The address of the page to open in a browser, such as ``/explore``; None: no browser.
    home
        The page whose address is printed; empty: the application's home.
    as_json
        Whether the address is printed as a line of JSON.
    renewed
        See :func:`look_after`.
    """
    stopping = threading.Event()
    handle_signals(stopping)
    start_logging(name)
    url = address_of(listening, host)
    sentence = f"{what} is at {url}{home}; Ctrl-C stops it."
    print(json.dumps({"what": what, "address": f"{url}{home}"}) if as_json else sentence, flush=True)
    if page:
        threading.Thread(target=open_browser, args=(f"{url}{page}",), daemon=True).start()
    look_after(children, stopping, renewed)


def look_after(children: Sequence[Child], stopping: threading.Event, renewed: Renewed | None = None) -> None:
    """Keep all children running until `stopping` is set; then stop them.

    Parameters
    ----------
    renewed
        Called every few seconds; returns the children that should run: new ones are started, and missing ones are told
        to stop.
    """
    present, leaving, again_at = list(children), list[Child](), time.monotonic() + _RENEWAL_SECONDS
    while not stopping.is_set():
        if renewed is not None and time.monotonic() >= again_at:
            wanted = list(renewed())
            for child in (one for one in present if one not in wanted):
                log.info("stopping", extra={"child": child.name})
                child.terminate()
                leaving.append(child)
            present, again_at = wanted, time.monotonic() + _RENEWAL_SECONDS
        leaving = [child for child in leaving if child.is_running]
        for child in present:
            child.look_after()
        stopping.wait(0.1)
    for child in (*present, *leaving):
        child.terminate()
    deadline = time.monotonic() + _STOP_SECONDS
    for child in (*present, *leaving):
        child.wait(deadline)
    log.info("stopped")


def open_browser(url: str) -> None:
    """Open a browser as soon as the server answers."""
    try:
        with urlopen(url, timeout=60):  # the socket is open already, so this waits for the server
            pass
    except (URLError, OSError):
        return
    webbrowser.open(url)
