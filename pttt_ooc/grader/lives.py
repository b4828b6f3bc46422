"""When a process is to stop: it is told so, or the one that started it is gone."""

from __future__ import annotations

import os
import signal
import threading


def handle_signals(stopping: threading.Event) -> None:
    """Set `stopping` on SIGTERM and SIGINT."""
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stopping.set())


def watch_parent(stopping: threading.Event) -> None:
    """Set `stopping` when the process that started this one is gone: its end of our standard input closes."""

    def wait() -> None:
        while os.read(0, 4096):
            pass
        stopping.set()

    threading.Thread(target=wait, daemon=True).start()
