"""The process that makes the starter kit; see :mod:`pttt_ooc.course.strategies.starter_kit`."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from pttt_ooc.course.data.storage import Storage
from pttt_ooc.course.strategies.starter_kit import write_kit_of
from pttt_ooc.disk.permissions import keep_private
from pttt_ooc.disk.stop_signals import watch_parent
from pttt_ooc.errors import PtttError
from pttt_ooc.site.service.logs import start_logging

_NICE = 19


def main() -> None:
    """Make the starter kit of the course in DATA."""
    data = Path(sys.argv[1])
    keep_private()
    start_logging("kit")
    os.nice(_NICE)
    watch_parent()
    try:
        write_kit_of(data, Storage(data).kit)
    except PtttError as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main()
