"""File permissions: only the user that runs the course can read its files.

A process that writes them makes all its files private, including temporary files and those of SQLite and other
libraries.  Files that an older version or a copy left readable are made private at the start.
"""

from __future__ import annotations

import logging
import os
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

log = logging.getLogger("pttt.disk.rights")
_OTHERS = stat.S_IRWXG | stat.S_IRWXO


def keep_private() -> None:
    """From now on, new files of this process and its children have mode 0600, and directories 0700."""
    os.umask(_OTHERS)


@contextmanager
def private() -> Iterator[None]:
    """Apply :func:`keep_private` within the block."""
    before = os.umask(_OTHERS)
    try:
        yield
    finally:
        os.umask(before)


def tighten(paths: Iterable[Path]) -> int:
    """Remove other users' permissions from files and directories; return how many were changed.

    Files of other owners stay as they are, and the log names them.
    """
    changed = 0
    for path in paths:
        try:
            mode = path.lstat().st_mode
            if mode & _OTHERS and not stat.S_ISLNK(mode):
                path.chmod(stat.S_IMODE(mode) & ~_OTHERS)
                changed += 1
        except FileNotFoundError:  # a running worker has just deleted it
            continue
        except OSError as error:
            log.warning("other users may read this", extra={"path": str(path), "reason": error.strerror})
    return changed
