"""The making of certificates: one at a time, in a process of its own with the lowest priority and with limits.

The strategies are strangers' files.  How long best responses take depends on them, so neither the web server nor the
judge waits for a certificate.
"""

from __future__ import annotations

import logging
import os
import subprocess
import sys
import time

from pttt_ooc.course.data import standings
from pttt_ooc.course.data.database import Database
from pttt_ooc.course.data.models import Submission
from pttt_ooc.course.data.settings import CourseSettings
from pttt_ooc.course.data.storage import Storage
from pttt_ooc.course.strategies.certificates import Certificates, Pair, name_of

log = logging.getLogger("pttt.course.certifier")
PROGRAM = "pttt_ooc.course.strategies.certificate_process"
SECONDS = 600
"""Processor seconds for a certificate, and seconds after which it is given up in any case, times :data:`PATIENCE`."""

PATIENCE = 6
MEMORY = 2_000_000_000
"""Bytes of memory for a certificate."""

_FAILED = (
    f"The certificate could not be made within {SECONDS // 60} minutes of processor time and {MEMORY // 10**9} GB of "
    "memory. Strategies that reach fewer infosets, or are closer to an equilibrium, take less."
)


class Certifier:
    """Has the certificates made that teams have asked for."""

    def __init__(self, database: Database, storage: Storage, settings: CourseSettings) -> None:
        self._database, self._storage, self._settings = database, storage, settings
        self._certificates = Certificates(storage.certificates)
        self._process: subprocess.Popen[bytes] | None = None
        self._pair: Pair = (0, 0)
        self._begun = 0.0
        self._certificates.forget(self._pairs())

    def look_after(self) -> bool:
        """End a process that is done or has run too long, or start the next one; returns whether one is running."""
        if self._process is None:
            self._start_next()
        elif (code := self._process.poll()) is not None:
            self._finish(code)
        elif time.monotonic() - self._begun > SECONDS * PATIENCE:
            self._process.kill()
        return self._process is not None

    def close(self) -> None:
        """Stop; a certificate under way is made again by the next worker."""
        if self._process is not None:
            self._process.kill()
            self._end()

    def _pairs(self) -> dict[Pair, tuple[Submission, Submission]]:
        with self._database.reading() as session:
            first, second = standings.bests(session)
        both = [(first[team], second[team]) for team in first.keys() & second.keys()]
        return {(one.id, other.id): (one, other) for one, other in both}

    def _start_next(self) -> None:
        if self._settings.certificate_infosets is None or not self._certificates.has_requests():
            return  # the database is not asked in every step of the worker
        pairs = self._pairs()
        pair = self._certificates.next_pair(pairs)
        if pair is None:
            return
        files = [submission.file for submission in pairs[pair]]
        command = [sys.executable, "-m", PROGRAM, str(self._storage.data), *map(str, pair), *files, str(MEMORY)]
        # Its standard input closes when this process dies: then it stops as well.
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, process_group=0, env={**os.environ, "NUMBA_NUM_THREADS": "1"}
        )
        self._pair, self._begun = pair, time.monotonic()
        log.info("certifying", extra={"pair": name_of(pair)})

    def _finish(self, code: int) -> None:
        seconds = time.monotonic() - self._begun
        self._end()
        if code:
            self._certificates.refuse(self._pair, _FAILED)
        found = self._certificates.find(self._pair)
        log.info("certified", extra={"pair": name_of(self._pair), "code": code, "state": found.state, "took": seconds})
        self._certificates.forget(self._pairs())

    def _end(self) -> None:
        assert self._process is not None and self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()
        self._process = None
