"""Commands on a pseudo-terminal, as over ssh."""

import os
import pty
import re
import subprocess
import sys
import termios
from pathlib import Path

from tests.kits.patience import PATIENCE, wait_until

ROOT = Path(__file__).parents[2]
MAIN = "from pttt_ooc.cli.commands import main; main()"
# Between fork and exec, Python would copy this process, which may be large.
CONTROLLED = "import fcntl, termios; fcntl.ioctl(0, termios.TIOCSCTTY, 0); "
OTHER = "import os, sys; os.execvp(sys.argv[1], sys.argv[1:])"
"""In place of MAIN: another program, whose arguments follow."""


class Terminal:
    """A command on a pseudo-terminal, of 80 columns if nothing else is said."""

    def __init__(self, *arguments, main=MAIN, place=ROOT, columns=80, **variables):
        self.own, other = pty.openpty()
        termios.tcsetwinsize(other, (40, columns))
        environment = {**os.environ, "PYTHONPATH": str(ROOT), "TERM": "xterm-256color", **variables}
        self.process = subprocess.Popen(
            [sys.executable, "-c", CONTROLLED + main, *arguments],
            **{"stdin": other, "stdout": other, "stderr": other, "env": environment, "cwd": place},
            start_new_session=True,
        )
        os.close(other)
        self.told = ""

    def until(self, pattern):
        """What comes until the text ends with a pattern."""
        os.set_blocking(self.own, False)
        begin = len(self.told)

        def there():
            try:
                self.told += os.read(self.own, 65536).decode()
            except BlockingIOError:
                pass
            except OSError:  # it has ended
                return True
            return re.search(pattern + r"\s*$", plain(self.told[begin:]))

        wait_until(there, told=lambda: self.told[-2000:])
        return plain(self.told[begin:])

    def type(self, line):
        os.write(self.own, f"{line}\n".encode())
        return self.until(r" >")

    def end(self, byte):
        """Type a control character, and wait for the end."""
        os.write(self.own, byte)
        shown = self.until(r"\Z.^")
        return self.process.wait(PATIENCE), shown

    def close(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        os.close(self.own)


def plain(text):
    return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", text)
