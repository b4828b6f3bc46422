"""The analyst: a process that evaluates each match with the strong bot once it has been played.

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
from pttt_ooc.other_games.extreme.cores import free_cores, taken_core
from pttt_ooc.other_games.extreme.curves import Analyst, missing, write_curve
from pttt_ooc.other_games.extreme.league import Pairing
from pttt_ooc.other_games.extreme.practice_record import PracticeRecord
from pttt_ooc.other_games.extreme.tournament_record import FACTS, Record
from pttt_ooc.site.service.logs import start_logging

log = logging.getLogger("pttt.extreme.analyst")
_POLL_SECONDS, _FAILURE_SECONDS = 1.0, 30.0  # seconds between two looks, and after an error
_NICE = 15


def evaluate_matches(directory: Path, stopping: threading.Event, practice: Path | None = None) -> None:
    """Evaluate the matches of the tournament in a directory, which may begin later, until `stopping` is set.

    Parameters
    ----------
    practice
        The directory of a practice league, whose matches are evaluated too.
    """
    record, analyst, failed = None, None, set[Pairing]()
    practised: PracticeRecord | None = None
    allowed = os.sched_getaffinity(0)
    while not stopping.is_set():
        try:
            if record is None and (directory / FACTS).is_file():
                record = Record(directory)
            practised = PracticeRecord.read(practice, practised) if practice else None
            logs = [one for one in (record, practised) if one is not None]
            found = [(one, pairing) for one in logs for pairing in missing(one) if pairing not in failed]
            for one, pairing in found:
                analyst = analyst or Analyst()
                failed.add(pairing)
                with taken_core(free_cores(), stopping) as core:
                    if core is None:
                        return
                    if not one.log(pairing).exists():  # it is not kept any more
                        continue
                    os.sched_setaffinity(threading.get_native_id(), [core])
                    write_curve(one, pairing, analyst)
                failed.discard(pairing)
                log.info("evaluated", extra={"match": pairing.name})
            stopping.wait(_POLL_SECONDS)
        except PtttError as error:  # such as a directory that cannot be written to
            log.error(str(error))
            stopping.wait(_FAILURE_SECONDS)
        finally:
            os.sched_setaffinity(threading.get_native_id(), allowed)


def main() -> None:
    """Evaluate the matches of the tournament in DIRECTORY; the parent holds the other end of stdin.

    Arguments: DIRECTORY [PRACTICE], the directory of a practice league.
    """
    start_logging("analyst")
    os.nice(_NICE)
    stopping = threading.Event()
    handle_signals(stopping)
    watch_parent()
    os.umask(0o077)
    evaluate_matches(Path(sys.argv[1]), stopping, *map(Path, sys.argv[2:3]))


if __name__ == "__main__":
    main()
