"""When a process is to stop: somebody sends it a signal, or the process that started it is gone."""

from __future__ import annotations

import os
import signal
import sys
import threading
import traceback
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

_SIGNALS = (signal.SIGTERM, signal.SIGINT)
_AGAIN = 0.02  # seconds until an interrupt that Python dropped comes again
_interrupted = threading.Event()


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
            _interrupt(number, frame)

    _interrupted.clear()
    for number in _SIGNALS:
        signal.signal(number, interrupt)
    signal.signal(signal.SIGALRM, _interrupt)
    sys.unraisablehook = _dropped


@contextmanager
def interruptible() -> Iterator[None]:
    """Raise a KeyboardInterrupt in the main thread on SIGTERM and SIGINT while the block runs, wherever it is."""
    before, hook = {n: signal.signal(n, _interrupt) for n in (*_SIGNALS, signal.SIGALRM)}, sys.unraisablehook
    sys.unraisablehook = _dropped
    _interrupted.clear()
    try:
        with warnings.catch_warnings():
            try:
                yield
            except KeyboardInterrupt as error:
                traceback.clear_frames(error.__traceback__)  # finalises half-made objects as long as the hook is ours
                raise
    finally:
        sys.unraisablehook = hook
        signal.setitimer(signal.ITIMER_REAL, 0)
        for number, handler in before.items():
            signal.signal(number, handler)


def _interrupt(number: int, frame: FrameType | None) -> None:
    _interrupted.set()
    warnings.simplefilter("ignore")  # what was interrupted was not done properly, and some of it warns of that
    raise KeyboardInterrupt


def _dropped(told: Any) -> None:
    """Python drops what is raised in finalisers and in callbacks, such as those of imports; interrupts come again.

    Other errors are told, but not after an interrupt: an object that was half made may be unable to finalise.
    """
    if told.exc_type is KeyboardInterrupt:
        signal.setitimer(signal.ITIMER_REAL, _AGAIN)
    elif not _interrupted.is_set():
        sys.__unraisablehook__(told)


def watch_parent() -> None:
    """Send this process SIGTERM when the process that started it is gone: its end of our standard input closes."""

    def wait() -> None:
        while os.read(0, 4096):
            pass
        os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=wait, daemon=True).start()
