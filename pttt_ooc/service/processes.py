"""Several processes under one command: starts them, starts again what dies, stops them all.

A socket belongs to the starting process and is handed to the child that listens, so that connections wait while it
starts again.
"""

from __future__ import annotations

import logging
import socket
import subprocess
import sys
import threading
import time
import webbrowser
from collections.abc import Sequence
from dataclasses import dataclass, field
from urllib.error import URLError
from urllib.request import urlopen

from pttt_ooc.disk.stop_signals import handle_signals
from pttt_ooc.errors import GraderError
from pttt_ooc.service.logs import start_logging

log = logging.getLogger("pttt.web.processes")
_GRACE = 20.0  # seconds for a process to stop by itself
_PAUSE = (0.2, 30.0)  # seconds before a restart: the first, and the longest after failures in a row
_STEADY = 60.0  # seconds of life after which a failure counts as the first again


@dataclass
class Child:
    """A process, and how it is started.

    Attributes
    ----------
    name
        In the log.
    arguments
        Of Python: ``-m``, a module, and what the module takes.
    sockets
        Numbers of the open sockets that it inherits.
    """

    name: str
    arguments: Sequence[str]
    sockets: tuple[int, ...] = ()
    _process: subprocess.Popen[bytes] | None = None
    _started: float = 0.0
    _pause: float = field(default=_PAUSE[0])
    _again_at: float = 0.0

    def _start(self) -> None:
        # Its standard input closes when this process dies, however it does: then it stops as well.  In a group of its
        # own it does not get the terminal's Ctrl-C, which would hit it while it starts: this process ends it.
        command = [sys.executable, *self.arguments]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, pass_fds=self.sockets, process_group=0)
        self._started = time.monotonic()
        log.info("started", extra={"child": self.name, "pid": self._process.pid})

    def look_after(self) -> None:
        """Start it, if it is not running and its pause is over."""
        now = time.monotonic()
        if self._process is not None and (code := self._process.poll()) is not None:
            if now - self._started > _STEADY:
                self._pause = _PAUSE[0]
            log.error("died", extra={"child": self.name, "code": code, "restart_in": self._pause})
            self._process, self._again_at = None, now + self._pause
            self._pause = min(2 * self._pause, _PAUSE[1])
        if self._process is None and now >= self._again_at:
            self._start()

    def terminate(self) -> None:
        """Ask it to stop."""
        if self._process is not None and self._process.poll() is None:
            self._process.terminate()

    def wait(self, deadline: float) -> None:
        """Wait until it has stopped; at the deadline it is killed."""
        if self._process is None:
            return
        try:
            self._process.wait(max(0.1, deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            log.error("killed", extra={"child": self.name})
            self._process.kill()
            self._process.wait()


def listen(host: str, port: int) -> socket.socket:
    """A listening socket; GraderError if there cannot be one."""
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        listening = socket.create_server((host, port), family=family, backlog=512)
    except OSError as error:
        raise GraderError(f"Cannot listen on {host}, port {port}: {error.strerror or error}.") from error
    listening.set_inheritable(True)
    return listening


def address_of(listening: socket.socket, host: str) -> str:
    """The address of the pages behind a socket."""
    shown = f"[{host}]" if ":" in host else host
    return f"http://{shown}:{listening.getsockname()[1]}"


def serve_until_stopped(
    name: str,
    what: str,
    listening: socket.socket,
    host: str,
    children: Sequence[Child],
    page: str | None = None,
    home: str = "",
) -> None:
    """Say where pages are, and keep the processes behind them running until SIGTERM or SIGINT.

    Parameters
    ----------
    name
        Of this process, in the log.
    what
        Is there, as the sentence names it.
    page
        The address of the page to open in a browser, such as ``/explore``; None: no browser.
    home
        The address of the page that the sentence names; empty: the application's home.
    """
    stopping = threading.Event()
    handle_signals(stopping)
    start_logging(name)
    url = address_of(listening, host)
    print(f"{what} is at {url}{home}; Ctrl-C stops it.", flush=True)
    if page:
        threading.Thread(target=open_browser, args=(f"{url}{page}",), daemon=True).start()
    look_after(children, stopping)


def look_after(children: Sequence[Child], stopping: threading.Event) -> None:
    """Keep all children running until `stopping` is set, and then stop them."""
    while not stopping.is_set():
        for child in children:
            child.look_after()
        stopping.wait(0.1)
    for child in children:
        child.terminate()
    deadline = time.monotonic() + _GRACE
    for child in children:
        child.wait(deadline)
    log.info("stopped")


def open_browser(url: str) -> None:
    """Open a browser once the pages are there."""
    try:
        with urlopen(url, timeout=60):  # the socket is open already, so that this waits
            pass
    except (URLError, OSError):
        return
    webbrowser.open(url)
