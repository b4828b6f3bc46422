"""One command for both processes: starts web server and worker, restarts what dies, stops both.

The socket belongs to this process and is handed to the web server, so that connections wait while it restarts.
"""

from __future__ import annotations

import logging
import socket
import subprocess
import sys
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path

from pttt_ooc.disk.lives import handle_signals
from pttt_ooc.errors import GraderError
from pttt_ooc.grader.database import Database
from pttt_ooc.grader.logs import start_logging
from pttt_ooc.grader.rights import private, tighten
from pttt_ooc.grader.settings import make_settings
from pttt_ooc.grader.storage import Storage
from pttt_ooc.grader.value import check_value_is_known

log = logging.getLogger("pttt.grader.serve")
_GRACE = 20.0  # seconds for a process to stop by itself
_PAUSE = (0.2, 30.0)  # seconds before a restart: the first, and the longest after failures in a row
_STEADY = 60.0  # seconds of life after which a failure counts as the first again


@dataclass
class _Child:
    name: str
    command: list[str]
    sockets: tuple[int, ...] = ()
    process: subprocess.Popen[bytes] | None = None
    started: float = 0.0
    pause: float = field(default=_PAUSE[0])
    again_at: float = 0.0

    def start(self) -> None:
        # Its standard input closes when this process dies, however it does: then it stops as well.
        self.process = subprocess.Popen(self.command, stdin=subprocess.PIPE, pass_fds=self.sockets)
        self.started = time.monotonic()
        log.info("started", extra={"child": self.name, "pid": self.process.pid})

    def look_after(self) -> None:
        now = time.monotonic()
        if self.process is not None and (code := self.process.poll()) is not None:
            if now - self.started > _STEADY:
                self.pause = _PAUSE[0]
            log.error("died", extra={"child": self.name, "code": code, "restart_in": self.pause})
            self.process, self.again_at = None, now + self.pause
            self.pause = min(2 * self.pause, _PAUSE[1])
        if self.process is None and now >= self.again_at:
            self.start()

    def stop(self, deadline: float) -> None:
        if self.process is None:
            return
        try:
            self.process.wait(max(0.1, deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            log.error("killed", extra={"child": self.name})
            self.process.kill()
            self.process.wait()


def listen(host: str, port: int) -> socket.socket:
    """A listening socket; GraderError if there cannot be one."""
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        listening = socket.create_server((host, port), family=family, backlog=512)
    except OSError as error:
        raise GraderError(f"Cannot listen on {host}, port {port}: {error.strerror or error}.") from error
    listening.set_inheritable(True)
    return listening


def serve(data: Path, game: str | None, host: str, port: int) -> None:
    """Run web server and worker until SIGTERM or SIGINT.

    Parameters
    ----------
    data
        The grader's directory; made if it is missing.
    game
        What it is for; None: what it has been for, or else the course's game.

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
    with listen(host, port) as listening:
        handle_signals(stopping)
        start_logging("serve")
        descriptor = listening.fileno()
        python = [sys.executable, "-m"]
        children = [
            _Child("web", [*python, "pttt_ooc.grader.webserver", str(data), str(descriptor)], (descriptor,)),
            _Child("worker", [*python, "pttt_ooc.grader.worker", str(data)]),
        ]
        shown = f"[{host}]" if ":" in host else host
        url = f"http://{shown}:{listening.getsockname()[1]}"
        print(f"The grader for {settings.game} is at {url}; Ctrl-C stops it.", flush=True)
        while not stopping.is_set():
            for child in children:
                child.look_after()
            stopping.wait(0.1)
        _stop(children)


def _stop(children: list[_Child]) -> None:
    for child in children:
        if child.process is not None and child.process.poll() is None:
            child.process.terminate()
    deadline = time.monotonic() + _GRACE
    for child in children:
        child.stop(deadline)
    log.info("stopped")
