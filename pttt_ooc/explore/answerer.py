"""The answerer: the process that knows numbers, and answers the web process one question after the other."""

from __future__ import annotations

import logging
import socket
import sys
import threading
from contextlib import closing, suppress
from pathlib import Path

from pttt_ooc.disk.lives import handle_signals, interrupt_on_signals, watch_parent
from pttt_ooc.errors import PtttError
from pttt_ooc.explore.answering import Answering
from pttt_ooc.grader.rights import keep_private
from pttt_ooc.questions.warm_up import warm_up
from pttt_ooc.stages.compilation import ensure_compiled
from pttt_ooc.web.answering import answer_all
from pttt_ooc.web.logs import lines_logged, start_logging

log = logging.getLogger("pttt.explore.answerer")


def main() -> None:
    """Answer on the open socket number SOCKET, with profiles in DIRECTORY; the parent holds the other end of stdin.

    Arguments: DIRECTORY SOCKET GAME INDICES.
    """
    keep_private()  # strategies of teams, prepared, are as secret as their files
    start_logging("answerer")
    code = 0
    with suppress(KeyboardInterrupt):
        code = _main(threading.Event(), *sys.argv[1:])
    sys.exit(code)


def _main(stopping: threading.Event, directory: str, descriptor: str, game: str, indices: str) -> int:
    interrupt_on_signals(stopping)  # while it gets ready, which may take minutes
    watch_parent()
    with socket.socket(fileno=int(descriptor)) as listening:
        try:
            with lines_logged(log):
                ensure_compiled()
                warm_up()
            answering = Answering(Path(directory), game, Path(indices))
        except PtttError as error:
            log.error(str(error))
            return 1
        with closing(answering):
            handle_signals(stopping)
            log.info("ready")
            answer_all(listening, answering, stopping)
    return 0


if __name__ == "__main__":
    main()
