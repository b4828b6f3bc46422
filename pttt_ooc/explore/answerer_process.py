"""The answerer: the process that knows numbers, and answers the web process one question after the other."""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from pttt_ooc.disk.rights import keep_private
from pttt_ooc.explore.answers import Answering
from pttt_ooc.questions.warm_up import warm_up
from pttt_ooc.service.answerer import answer_until_stopped
from pttt_ooc.stages.compilation import ensure_compiled

log = logging.getLogger("pttt.explore.answerer")


def main() -> None:
    """Answer on the open socket number SOCKET, with profiles in DIRECTORY; the parent holds the other end of stdin.

    Arguments: DIRECTORY SOCKET GAME INDICES.
    """
    keep_private()  # strategies of teams, prepared, are as secret as their files
    directory, descriptor, game, indices = sys.argv[1:]

    @contextmanager
    def ready() -> Iterator[Answering]:
        ensure_compiled()
        warm_up()
        with closing(Answering(Path(directory), game, Path(indices))) as answering:
            yield answering

    answer_until_stopped(descriptor, ready, log)


if __name__ == "__main__":
    main()
