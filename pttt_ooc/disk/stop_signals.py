"""Signals that stop a process: from a user or a service, or because the parent process has ended."""

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
_RETRY_SECONDS = 0.02  # until an interrupt that Python dropped is raised again
_interrupted = threading.Event()


def handle_signals(stopping: threading.Event) -> None:
    """Set `stopping` on SIGTERM and SIGINT; the main thread checks it at good moments to stop."""
    for number in _SIGNALS:
        signal.signal(number, lambda *_: stopping.set())


def interrupt_on_signals(stopping: threading.Event) -> None:
    """Set `stopping` on SIGTERM and SIGINT, and raise a KeyboardInterrupt in the main thread at once.

    The interrupt is raised once: a second signal does not disturb the clean-up after the first.
    """

    def interrupt(number: int, frame: FrameType | None) -> None:
        if not stopping.is_set():
            stopping.set()
            _interrupt(number, frame)

    _interrupted.clear()
    for number in _SIGNALS:
        signal.signal(number, interrupt)
    signal.signal(signal.SIGALRM, _interrupt)
    sys.unraisablehook = _handle_unraisable


@contextmanager
def interruptible() -> Iterator[None]:
    """Raise a KeyboardInterrupt in the main thread on SIGTERM and SIGINT while the block runs."""
    before, hook = {n: signal.signal(n, _interrupt) for n in (*_SIGNALS, signal.SIGALRM)}, sys.unraisablehook
    sys.unraisablehook = _handle_unraisable
    _interrupted.clear()
    try:
        with warnings.catch_warnings():
            try:
                yield
            except KeyboardInterrupt as error:
                traceback.clear_frames(error.__traceback__)  # finalise half-made objects while our hook is installed
                raise
    finally:
        sys.unraisablehook = hook
        signal.setitimer(signal.ITIMER_REAL, 0)
        for number, handler in before.items():
            signal.signal(number, handler)


def _interrupt(number: int, frame: FrameType | None) -> None:
    _interrupted.set()
    warnings.simplefilter("ignore")  # interrupted code may warn that it was not finished properly
    raise KeyboardInterrupt


def _handle_unraisable(unraisable: Any) -> None:
    """Raise an interrupt again that Python dropped because it occurred in a finaliser or a callback.

    Other errors are reported, but not after an interrupt: a half-made object may be unable to finalise.
    """
    if unraisable.exc_type is KeyboardInterrupt:
        signal.setitimer(signal.ITIMER_REAL, _RETRY_SECONDS)
    elif not _interrupted.is_set():
        sys.__unraisablehook__(unraisable)


def watch_parent() -> None:
    """Send this process SIGTERM when its parent process ends, which closes our standard input."""

    def wait() -> None:
        while os.read(0, 4096):
            pass
        os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=wait, daemon=True).start()
