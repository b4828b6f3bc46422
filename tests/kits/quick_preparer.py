"""Preparers without the second that their imports take: one process imports them, and forks for every piece of work.

This file is also that process's program.  Tests of the commands start preparers as the package does.
"""

import atexit
import gc
import os
import runpy
import signal
import socket
import subprocess
import sys
from contextlib import suppress
from functools import cache
from pathlib import Path

PIPE = subprocess.PIPE
PREPARER = "pttt_ooc.site.explore.preparer"


def Popen(command, **options):  # noqa: N802
    """In place of `subprocess.Popen`."""
    return Preparer(command[3:]) if command[1:3] == ["-m", PREPARER] else subprocess.Popen(command, **options)


class Preparer:
    """A preparer, with what is used of a `Popen` whose input and output are pipes for text."""

    def __init__(self, arguments):
        theirs_in, ours_in = os.pipe()
        ours_out, theirs_out = os.pipe()
        ours_end, theirs_end = os.pipe()
        theirs = [theirs_in, theirs_out, theirs_end]
        socket.send_fds(_server(), ["\0".join([os.getcwd(), *arguments]).encode()], [*theirs, 2])
        for descriptor in theirs:
            os.close(descriptor)
        self.stdin, self.stdout, self._end = open(ours_in, "w"), open(ours_out), open(ours_end)  # noqa: SIM115
        self.pid = int(self._end.readline())

    def wait(self):
        code = int(self._end.readline())
        for stream in (self.stdin, self.stdout, self._end):
            stream.close()
        return code

    def terminate(self):
        with suppress(ProcessLookupError):  # it has ended, as for a `Popen`
            os.kill(self.pid, signal.SIGTERM)


@cache
def _server():
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    root = Path(__file__).parents[2]
    # Threads do not survive a fork.
    environment = {**os.environ, "PYTHONPATH": str(root), "OPENBLAS_NUM_THREADS": "1"}
    command = [sys.executable, __file__, str(theirs.fileno())]
    server = subprocess.Popen(command, env=environment, pass_fds=[theirs.fileno()], start_new_session=True)
    theirs.close()
    atexit.register(lambda: (ours.close(), server.wait()))
    return ours


def _serve(number):
    import pttt_ooc.site.explore.preparer  # noqa: F401

    gc.freeze()
    asked = socket.socket(fileno=number)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody asks how those end that watch
    while True:
        text, descriptors, *_ = socket.recv_fds(asked, 1 << 16, 4)
        if not text:
            return
        if os.fork() == 0:
            asked.close()
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            _watch(text.decode().split("\0"), *descriptors)
            os._exit(0)
        for descriptor in descriptors:
            os.close(descriptor)


def _watch(request, stdin, stdout, end, stderr):
    """Fork the preparer, and tell its number, then how it ends."""
    child = os.fork()
    if child == 0:
        directory, *arguments = request
        for number, descriptor in enumerate((stdin, stdout, stderr)):
            os.dup2(descriptor, number)
        os.closerange(3, 64)
        os.chdir(directory)
        sys.argv = [PREPARER, *arguments]
        del sys.modules[PREPARER]
        end_after(lambda: runpy.run_module(PREPARER, run_name="__main__", alter_sys=True))
    os.close(stdin)
    os.close(stdout)
    os.write(end, f"{child}\n".encode())
    _, status = os.waitpid(child, 0)
    os.write(end, f"{os.waitstatus_to_exitcode(status)}\n".encode())


if __name__ == "__main__":
    from process_end import end_after  # beside this file

    _serve(int(sys.argv[1]))
