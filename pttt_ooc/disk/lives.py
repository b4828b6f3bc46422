"""When a process is to stop: somebody sends it a signal, or the process that started it is gone."""

from __future__ import annotations

import os
import signal
import threading
from types import FrameType

_SIGNALS = (signal.SIGTERM, signal.SIGINT)


def handle_signals(stopping: threading.Event) -> None:
    """Set `stopping` on SIGTERM and SIGINT; the main thread looks at it when it can stop."""
    for number in _SIGNALS:
        signal.signal(number, lambda *_: stopping.set())


def interrupt_on_signals(stopping: threading.Event) -> None:
    """Set `stopping` on SIGTERM and SIGINT, and raise a KeyboardInterrupt in the main thread, wherever it is.

    The interrupt comes once: a second signal does not disturb the cleaning up after the first.
    """

    def interrupt(number: int, frame: FrameType | None) -> None:
        if not stopping.is_set():
            stopping.set()
            raise KeyboardInterrupt

    for number in _SIGNALS:
        signal.signal(number, interrupt)


def watch_parent() -> None:
    """Send this process SIGTERM when the process that started it is gone: its end of our standard input closes."""

    def wait() -> None:
        while os.read(0, 4096):
            pass
        os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=wait, daemon=True).start()
