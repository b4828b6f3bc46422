"""The analyst: a process that evaluates each position of a match with the strong bot, once it has been played.

Its budget is the same on all machines.  For each match it takes a core of its own, as bots do, so that it takes no time
from them.
"""

from __future__ import annotations

import json
import logging
import os
import sys
import threading
from pathlib import Path
from typing import Any

from pttt_ooc.disk.files import atomic_write_text, make_directory
from pttt_ooc.disk.stop_signals import handle_signals, watch_parent
from pttt_ooc.errors import PtttError
from pttt_ooc.other_games.arena.games.base import PLAYER
from pttt_ooc.other_games.arena.research.players.strong import Searcher, chance
from pttt_ooc.other_games.extreme.boards import number
from pttt_ooc.other_games.extreme.cores import free_cores, taken_core
from pttt_ooc.other_games.extreme.league import Pairing
from pttt_ooc.other_games.extreme.match_logs import MatchLogs
from pttt_ooc.other_games.extreme.practice_record import PracticeRecord
from pttt_ooc.other_games.extreme.search import ready
from pttt_ooc.other_games.extreme.tournament_record import FACTS, Record
from pttt_ooc.site.service.logs import start_logging

log = logging.getLogger("pttt.extreme.analyst")
_POLL_SECONDS, _FAILURE_SECONDS = 1.0, 30.0  # seconds between two looks, and after an error
_NICE = 15
NODES = 5000
"""Positions searched for each position of a match."""

TABLE = 1 << 16  # positions remembered


class Analyst:
    """Evaluates matches with the search of the strong bot: `nodes` positions for each position of a match."""

    def __init__(self, nodes: int) -> None:
        self.nodes = nodes
        ready(Searcher(TABLE))

    def chances(self, match: dict[str, Any]) -> list[float]:
        """The first player's chance to win in each position of a match, from its file, the last one included.

        The same match always has the same chances.
        """
        searcher = Searcher(TABLE)
        game = searcher.game
        state, chances = game.start(), []
        for move in match["moves"]:
            chances.append(self._chance(searcher, state))
            state = game.play(state, number(*move["cell"]))
        if match["message"] in ("WON", "DRAW"):
            first, second = match["points"]
            chances.append(float(first > second) if first != second else 0.5)
        else:  # a forfeit: the position itself was not over
            chances.append(self._chance(searcher, state))
        return [round(one, 4) for one in chances]

    def _chance(self, searcher: Searcher, state: Any) -> float:
        searcher.choose(state, 3600.0, nodes=self.nodes)
        found = chance(searcher.value)
        return found if state[PLAYER] == 0 else 1 - found


def write_curve(record: MatchLogs, pairing: Pairing, analyst: Analyst) -> None:
    """Evaluate a match that has been played, and write its curve."""
    told = {"nodes": analyst.nodes, "chances": analyst.chances(record.match(pairing))}
    make_directory(record.directory / "curves")
    atomic_write_text(record.curve(pairing), json.dumps(told) + "\n")


def missing(record: MatchLogs) -> list[Pairing]:
    """The matches that have been played and have no curve."""
    return [played.pairing for played in record.all_played() if not record.curve(played.pairing).exists()]


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
                analyst = analyst or Analyst(NODES)
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
