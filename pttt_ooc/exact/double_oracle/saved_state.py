"""The saved state of a double oracle: it goes on after a kill, and finds the same bits.

One file holds the plans, the won histories, the regrets, the last program with its basis, and the last round.  Tables
of bounds are not saved: their values depend on the plans only.  A state belongs to a game and to the code of the
rounds, not to a processor or to versions of Python and numpy: another machine may continue a run.
"""

from __future__ import annotations

import time
import zipfile
from functools import cache
from pathlib import Path
from types import TracebackType
from typing import Self

import numpy as np

from pttt_ooc.disk.files import explain_errors, make_directory, replacing
from pttt_ooc.disk.locks import hold
from pttt_ooc.errors import StoreError
from pttt_ooc.exact.double_oracle.oracle import DoubleOracle
from pttt_ooc.exact.double_oracle.state_arrays import from_bytes, write_arrays
from pttt_ooc.imports import code_digest, dependencies, without_plain

_SHARE = 20  # saving takes at most one part in so many of a run's time


@cache
def version() -> str:
    """The version of the code that computes rounds."""
    return code_digest(without_plain(dependencies("exact/double_oracle/oracle")))


class SavedState:
    """The directory of the state of one run; a context manager that locks out other processes.

    Parameters
    ----------
    path
        The directory; made if missing.
    oracle
        The run.  If there is a saved state, it is restored.

    Raises
    ------
    StoreError
        If another process has the directory open, if it cannot be written to, if the saved state is damaged, or if it
        belongs to another game or another version of the program.
    """

    def __init__(self, path: Path, oracle: DoubleOracle) -> None:
        self._path, self._oracle, self._file = path, oracle, path / "state.npz"
        self._names = {"game": oracle.game.rules, "version": version()}
        self._saved = oracle.last.number if oracle.last else 0
        self._due = 0.0
        with explain_errors(f"open the directory {path}"):
            make_directory(path)
            self._lock = hold(
                path / "lock", lambda process: f"Another run is at work on {path} (process {process}); wait for it."
            )
        try:
            if self._file.exists():
                self._restore()
        except BaseException:
            self._lock.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._lock.close()

    def save(self, now: bool = True) -> None:
        """Save the state after a round; a kill at any instant leaves this state or the one before.

        Parameters
        ----------
        now
            If false, save only if that takes a small part of the time since the last save.

        Raises
        ------
        StoreError
            If the disk is full or cannot be written to; the state before is then intact.
        """
        begin, last = time.monotonic(), self._oracle.last
        if last is None or last.number == self._saved or not (now or begin >= self._due):
            return
        names = {name: np.array(text) for name, text in self._names.items()}
        with replacing(self._file) as temporary, open(temporary, "wb") as file:
            write_arrays(file, names | self._oracle.state())
        end = time.monotonic()
        self._saved, self._due = last.number, end + _SHARE * (end - begin)

    def _restore(self) -> None:
        advice = f"delete {self._path} to begin anew, or name another directory"
        try:
            arrays = from_bytes(self._file.read_bytes())
        except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile) as error:
            raise StoreError(f"{self._file} is damaged ({error}); {advice}.") from error
        names = {name: str(arrays.pop(name, "")) for name in self._names}
        if names != self._names:
            is_other = names["game"] not in (self._names["game"], "")  # earlier versions kept no game
            other = "game" if is_other else "version of this program"
            raise StoreError(f"{self._file} is of another {other}; {advice}.")
        self._oracle.restore(arrays)
        self._saved = self._oracle.last.number if self._oracle.last else 0
