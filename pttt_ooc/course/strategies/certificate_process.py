"""The process that makes a certificate of two submissions; see :mod:`pttt_ooc.course.strategies.certificates`."""

from __future__ import annotations

import os
import resource
import sys
from pathlib import Path

from pttt_ooc.course.data.settings import CourseSettings, read_settings
from pttt_ooc.course.data.storage import Storage
from pttt_ooc.course.strategies.assessor import Refusal, read_strategy
from pttt_ooc.course.strategies.certificates import SECONDS, Certificates, Pair
from pttt_ooc.disk.permissions import keep_private
from pttt_ooc.disk.stop_signals import watch_parent
from pttt_ooc.errors import GameError, StrategyError
from pttt_ooc.exact.certificates.behaviours import rounded_plan
from pttt_ooc.exact.certificates.certificate import Certificate, guarantees, write
from pttt_ooc.exact.certificates.integer_plan import IntegerPlan, check_board
from pttt_ooc.games.structure.index import Index
from pttt_ooc.library.api.strategy_reader import rows_of
from pttt_ooc.pipeline.stages.preparation import open_index

_NICE = 19
_FILE_BYTES = 1_000_000_000


def main() -> None:
    """Make the certificate.  Arguments: DATA FIRST SECOND FILE_0 FILE_1 MEMORY."""
    data, first, second, *files, memory = sys.argv[1:]
    keep_private()
    os.nice(_NICE)
    watch_parent()
    for kind, limit in (
        (resource.RLIMIT_DATA, int(memory)),
        (resource.RLIMIT_CPU, SECONDS),
        (resource.RLIMIT_FSIZE, _FILE_BYTES),
        (resource.RLIMIT_CORE, 0),
    ):
        resource.setrlimit(kind, (limit, limit))
    make(Path(data), (int(first), int(second)), (files[0], files[1]))


def make(data: Path, pair: Pair, files: tuple[str, str]) -> None:
    """Make the certificate of a pair, or record why there is none."""
    settings, storage = read_settings(data), Storage(data)
    certificates = Certificates(storage.certificates)
    try:
        check_board(settings.rules)
        index = open_index(storage.index, settings.game)
        first, second = (_plan(settings, storage, index, player, files[player]) for player in (0, 1))
    except (GameError, StrategyError, Refusal) as error:
        certificates.refuse(pair, str(error))
        return
    found = guarantees(settings.rules, (first, second))
    write(Certificate(settings.rules, found.lower, found.upper, (first, second)), certificates.file(pair))
    infosets = [first.infosets, second.infosets]
    certificates.enter(pair, {"lower": str(found.lower), "upper": str(found.upper), "infosets": infosets})


def _plan(settings: CourseSettings, storage: Storage, index: Index, player: int, file: str) -> IntegerPlan:
    rows = rows_of(index, player, settings.orders(storage.data)[player])
    strategy = read_strategy(storage.upload(file), index, player, rows, storage.incoming)
    return rounded_plan(strategy, settings.certificate_infosets or 0)


if __name__ == "__main__":
    main()
