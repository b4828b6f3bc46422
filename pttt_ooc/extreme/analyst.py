"""The analyst of a tournament: a process that evaluates each match with the strong bot once it has been played.

For each match it takes a core of its own, as bots do, so that it takes no time from them.
"""

from __future__ import annotations

import logging
import os
import sys
import threading
from pathlib import Path

from pttt_ooc.disk.stop_signals import handle_signals, watch_parent
from pttt_ooc.errors import PtttError
from pttt_ooc.extreme.cores import free_cores, taken_core
from pttt_ooc.extreme.curves import Analyst, missing, write_curve
from pttt_ooc.extreme.league import Pairing
from pttt_ooc.extreme.tournament_record import FACTS, Record
from pttt_ooc.service.logs import start_logging

log = logging.getLogger("pttt.extreme.analyst")
_POLL_SECONDS, _FAILURE_SECONDS = 1.0, 30.0  # seconds between two looks, and after an error
_NICE = 15


def evaluate_matches(directory: Path, stopping: threading.Event) -> None:
    """Evaluate the matches of the tournament in a directory, which may begin later, until `stopping` is set."""
    record, analyst, failed = None, None, set[Pairing]()
    allowed = os.sched_getaffinity(0)
    while not stopping.is_set():
        try:
            if record is None and (directory / FACTS).is_file():
                record = Record(directory)
            found = [pairing for pairing in missing(record) if pairing not in failed] if record else []
            for pairing in found:
                analyst = analyst or Analyst()
                failed.add(pairing)
                with taken_core(free_cores(), stopping) as core:
                    if record is None or core is None:
                        return
                    os.sched_setaffinity(threading.get_native_id(), [core])
                    write_curve(record, pairing, analyst)
                failed.discard(pairing)
                log.info("evaluated", extra={"match": pairing.name})
            stopping.wait(_POLL_SECONDS)
        except PtttError as error:  # such as a directory that cannot be written to
            log.error(str(error))
            stopping.wait(_FAILURE_SECONDS)
        finally:
            os.sched_setaffinity(threading.get_native_id(), allowed)


def main() -> None:
    """Evaluate the matches of the tournament in DIRECTORY; the parent holds the other end of stdin."""
    start_logging("analyst")
    os.nice(_NICE)
    stopping = threading.Event()
    handle_signals(stopping)
    watch_parent()
    os.umask(0o077)
    evaluate_matches(Path(sys.argv[1]), stopping)


if __name__ == "__main__":
    main()
