"""A queue of jobs of seconds or minutes, which run one after the other, each in a process of its own.

A process that is killed or runs out of memory harms nothing else, and frees its memory at its end.
"""

from __future__ import annotations

import json
import logging
import subprocess
import sys
import threading
import time
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from pttt_ooc.errors import PtttError

log = logging.getLogger("pttt.explore.jobs")
_MOST_WAITING = 16  # jobs
_RETRY_SECONDS = 60.0  # seconds after a failure before the job may be tried again
_UNKNOWN = "The preparation ended without saying why; tell those who run this server."


class TooManyError(PtttError):
    """Too many jobs are waiting."""

    def __init__(self) -> None:
        super().__init__("Many strategies are waiting just now; come back in a few minutes.")


class FailedError(PtttError):
    """A job has failed; the message says why."""


@dataclass
class Job:
    """A job.

    Attributes
    ----------
    arguments
        Arguments of Python.  The process prints lines of JSON with ``step`` and ``share``, and finally ``done`` or
        ``failed``.
    step, share
        The current step, and the share of the work that is done.
    failed
        Why it failed; empty if it did not.
    """

    arguments: Sequence[str]
    step: str = "waiting for its turn"
    share: float = 0.0
    failed: str = ""
    ended: float = field(default=0.0)

    def as_record(self, ahead: int) -> dict[str, Any]:
        """Its progress, with the number of jobs before it."""
        return {"step": self.step, "share": round(self.share, 3), "ahead": ahead}


class Jobs:
    """Runs one job after the other, in a thread."""

    def __init__(self) -> None:
        self._jobs: OrderedDict[str, Job] = OrderedDict()
        self._condition = threading.Condition()
        self._process: subprocess.Popen[str] | None = None
        self._closed = False
        self._thread = threading.Thread(target=self._work, daemon=True)
        self._thread.start()

    def want(self, key: str, arguments: Sequence[str]) -> dict[str, Any]:
        """The progress of a job, which is put in the queue if it is not there.

        Raises
        ------
        FailedError
            If it has failed recently.
        TooManyError
            If too many jobs are waiting.
        """
        with self._condition:
            job = self._jobs.get(key)
            if job is not None and job.failed:
                if time.monotonic() - job.ended < _RETRY_SECONDS:
                    raise FailedError(job.failed)
                del self._jobs[key]
                job = None
            waiting = [k for k, other in self._jobs.items() if not other.failed]
            if job is None:
                if len(waiting) > _MOST_WAITING:
                    raise TooManyError
                job = self._jobs[key] = Job(arguments)
                self._condition.notify()
                return job.as_record(len(waiting))
            return job.as_record(waiting.index(key))

    def close(self) -> None:
        """Stop; unfinished jobs are lost."""
        with self._condition:
            self._closed = True
            if self._process is not None:
                self._process.terminate()
            self._condition.notify()
        self._thread.join()

    def _work(self) -> None:
        while True:
            with self._condition:
                waiting = [(key, job) for key, job in self._jobs.items() if not job.failed]
                if self._closed:
                    return
                if not waiting:
                    self._condition.wait()
                    continue
                key, job = waiting[0]
                self._process = subprocess.Popen(
                    [sys.executable, *job.arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
                )
            failed = self._follow(self._process, job)
            with self._condition:
                self._process = None
                job.failed, job.ended = failed, time.monotonic()
                if not failed:
                    del self._jobs[key]
                elif not self._closed:
                    log.error("a preparation failed", extra={"reason": failed})

    def _follow(self, process: subprocess.Popen[str], job: Job) -> str:
        """Read the output of a process to its end; returns why it failed, or an empty text."""
        failed = _UNKNOWN
        assert process.stdout is not None
        for line in process.stdout:
            message = json.loads(line)
            if "step" in message:
                job.step, job.share = message["step"], message["share"]
            failed = "" if message.get("done") else message.get("failed", failed)
        process.wait()
        return failed
