"""Certificates of what the two best strategies of a team guarantee: which are asked for, made, or refused.

They are files in the data directory, named by the numbers of both submissions; the worker can make them again.  The web
process asks, and the worker has them made: one at a time, in a process of its own with the lowest priority and with
limits (:mod:`pttt_ooc.course.strategies.certificate_process`).  The strategies are strangers' files, and how long best
responses take depends on them, so neither the web server nor the judge waits for a certificate.
"""

from __future__ import annotations

import json
import logging
import os
import subprocess
import sys
import time
from collections.abc import Collection
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from pttt_ooc.course.data import standings
from pttt_ooc.course.data.database import Database
from pttt_ooc.course.data.limits import SubmissionError
from pttt_ooc.course.data.models import Submission
from pttt_ooc.course.data.settings import CourseSettings
from pttt_ooc.course.data.standings import Standing
from pttt_ooc.course.data.storage import Storage
from pttt_ooc.disk.files import atomic_write_text

Pair = tuple[int, int]
"""The numbers of a submission as player 0 and of one as player 1."""

NONE, WAITING, MADE, REFUSED = "none", "waiting", "made", "refused"
_INCOMPLETE = "A certificate is for two strategies: your team needs an accepted one for each player."
_OFF = "This course makes no certificates."


@dataclass(frozen=True)
class PairCertificate:
    """The certificate of a pair.

    Attributes
    ----------
    state
        ``none``: nobody has asked for it.  ``waiting``, ``made``, or ``refused`` for the reason `note`.
    lower, upper
        What the strategies of players 0 and 1 are proven to guarantee: the value for player 0 is between them.
    infosets
        How many infosets the plan of each player reaches.
    size
        Bytes of the file.
    """

    pair: Pair
    state: str = NONE
    note: str = ""
    lower: Fraction | None = None
    upper: Fraction | None = None
    infosets: tuple[int, int] | None = None
    size: int = 0

    @property
    def stamp(self) -> str:
        """A text that changes with whatever a page shows."""
        return f"{name_of(self.pair)}-{self.state}"

    @property
    def nashconv(self) -> Fraction | None:
        """What both strategies can lose together."""
        return None if self.lower is None or self.upper is None else self.upper - self.lower

    def exploitability(self, player: int, value: Fraction) -> Fraction | None:
        """What a player's strategy can lose, if the value of the game is known."""
        end = (self.lower, self.upper)[player]
        return None if end is None else abs(value - end)


def name_of(pair: Pair) -> str:
    """The name of a pair's files."""
    return f"{pair[0]}-{pair[1]}"


def pair_of(standing: Standing, most: int | None) -> Pair:
    """The team's best pair.

    Parameters
    ----------
    most
        The setting ``certificate_infosets``.

    Raises
    ------
    SubmissionError
        If the team has no best strategy for a player, or the course makes no certificates.
    """
    if most is None:
        raise SubmissionError(_OFF, 404)
    first, second = standing.best
    if first is None or second is None:
        raise SubmissionError(_INCOMPLETE, 409)
    return first.id, second.id


class Certificates:
    """The certificates in a directory."""

    def __init__(self, place: Path) -> None:
        self._place = place

    def file(self, pair: Pair) -> Path:
        """The certificate of a pair."""
        return self._place / f"{name_of(pair)}.txt.gz"

    def find(self, pair: Pair) -> PairCertificate:
        """What is known of a pair."""
        try:
            facts = json.loads(self._record(pair).read_text(encoding="utf-8"))
            if facts["state"] == REFUSED:
                return PairCertificate(pair, REFUSED, facts["note"])
            first, second = facts["infosets"]
            ends = Fraction(facts["lower"]), Fraction(facts["upper"])
            return PairCertificate(pair, MADE, "", *ends, (first, second), self.file(pair).stat().st_size)
        except (OSError, ValueError, KeyError, TypeError):  # there is none, or somebody has deleted a part of it
            return PairCertificate(pair, WAITING if self._request(pair).exists() else NONE)

    def ask(self, pair: Pair) -> PairCertificate:
        """Ask for the certificate of a pair, unless somebody has already."""
        found = self.find(pair)
        if found.state == NONE:
            self._request(pair).touch()
            return self.find(pair)
        return found

    def has_requests(self) -> bool:
        """Whether somebody waits for a certificate."""
        return any(self._place.glob("*.asked"))

    def next_pair(self, among: Collection[Pair]) -> Pair | None:
        """The pair that has waited longest, among these pairs."""
        asked = [(request.stat().st_mtime_ns, pair) for pair in among if (request := self._request(pair)).exists()]
        return min(asked)[1] if asked else None

    def enter(self, pair: Pair, facts: dict[str, Any]) -> None:
        """Record that the file of a pair is there."""
        self._enter(pair, {"state": MADE, **facts})

    def refuse(self, pair: Pair, note: str) -> None:
        """Record that a pair gets no certificate, and why."""
        self._enter(pair, {"state": REFUSED, "note": note})

    def forget(self, keep: Collection[Pair]) -> None:
        """Delete everything that does not belong to these pairs."""
        names = {name_of(pair) for pair in keep}
        for path in self._place.iterdir():
            stem, _, kind = path.name.partition(".")
            if stem not in names or kind not in ("json", "txt.gz", "asked"):
                path.unlink(missing_ok=True)

    def _enter(self, pair: Pair, facts: dict[str, Any]) -> None:
        atomic_write_text(self._record(pair), json.dumps(facts))
        with suppress(FileNotFoundError):
            os.unlink(self._request(pair))

    def _record(self, pair: Pair) -> Path:
        return self._place / f"{name_of(pair)}.json"

    def _request(self, pair: Pair) -> Path:
        return self._place / f"{name_of(pair)}.asked"


log = logging.getLogger("pttt.course.certifier")
PROGRAM = "pttt_ooc.course.strategies.certificate_process"
SECONDS = 600
"""Processor seconds for a certificate; after :data:`PATIENCE` times as many seconds it is given up in any case."""

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
            return  # the worker does not ask the database in every step
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
