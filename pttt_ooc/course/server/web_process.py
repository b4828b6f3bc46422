"""The web process of a course, with the pages on submissions of all kinds, and the pages of wings."""

from __future__ import annotations

import sys

from pttt_ooc.course.server import webserver
from pttt_ooc.course.server.strategy_parts import app_of
from pttt_ooc.site.shell.server import parts_of


def main() -> None:
    """Serve the course in directory DATA on the open socket number SOCKET; the parent holds the other end of stdin.

    Arguments: DATA SOCKET KINDS WINGS.  For the last two see
    :func:`pttt_ooc.site.shell.server.parts_of`; the calls of KINDS take the `Course` first.
    """
    data, descriptor, kinds, wings = sys.argv[1:]
    webserver.run(data, descriptor, lambda course: app_of(course, *parts_of(kinds, course), *parts_of(wings)))


if __name__ == "__main__":
    main()
