"""The process of an answerer, with the same limits for all wings."""

from __future__ import annotations

import resource
import sys

from pttt_ooc.disk.permissions import keep_private
from pttt_ooc.site.service.answerer import answer_until_stopped
from pttt_ooc.site.service.wing import call_by_name

MEMORY = 4 << 30
"""The most bytes of memory for the process: a question that needs more fails alone."""


def main() -> None:
    """Answer on the open socket number SOCKET until the process is stopped; the parent holds the other end of stdin.

    Arguments: SOCKET, and a :data:`~pttt_ooc.site.service.wing.Call`, which yields
    :class:`~pttt_ooc.site.service.answerer.Answers`.
    """
    descriptor, *call = sys.argv[1:]
    keep_private()  # submissions are secret, and so are files made from them
    hard = resource.getrlimit(resource.RLIMIT_DATA)[1]
    limit = MEMORY if hard == resource.RLIM_INFINITY else min(MEMORY, hard)
    resource.setrlimit(resource.RLIMIT_DATA, (limit, hard))
    answer_until_stopped(descriptor, lambda: call_by_name(call))


if __name__ == "__main__":
    main()
