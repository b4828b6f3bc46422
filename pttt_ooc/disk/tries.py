"""Counts of failed tries, on disk, so that nothing is tried for ever.

A try counts from its beginning, so that it also counts if it kills the whole process.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from pttt_ooc.disk.files import atomic_write_text, make_directory
from pttt_ooc.errors import PtttError, StoreError

KILLED = "The process that tried it was ended."
_LONGEST = 500  # characters of a reason that are kept


@dataclass(frozen=True)
class Tried:
    """The tries of one thing.

    Attributes
    ----------
    reasons
        Why each one failed.
    decided
        Whether it has been decided without a further try.
    """

    reasons: tuple[str, ...] = ()
    decided: bool = False

    @property
    def failed(self) -> tuple[str, ...]:
        """The reasons, without that of the last try if it may be under way."""
        return self.reasons[:-1] if self.reasons[-1:] == (KILLED,) else self.reasons


class Tries:
    """The tries of things that have names, in a directory.

    Parameters
    ----------
    directory
        Made at the first try.
    most
        Number of failures after which a thing is no longer tried.
    """

    def __init__(self, directory: Path, most: int) -> None:
        self._directory, self.most = directory, most

    def of(self, name: str) -> Tried:
        """The tries of a thing; a StoreError if its file is damaged."""
        file = self._file(name)
        try:
            told = json.loads(file.read_text(encoding="utf-8"))
            return Tried(tuple(str(reason) for reason in told["reasons"]), bool(told["decided"]))
        except FileNotFoundError:
            return Tried()
        except (OSError, ValueError, KeyError, TypeError):
            raise StoreError(f"{file} cannot be read; delete it, and its tries are counted anew.") from None

    def all(self) -> dict[str, Tried]:
        """The tries of all things, by name; a StoreError if a file is damaged."""
        try:
            files = sorted(self._directory.iterdir())
        except FileNotFoundError:
            return {}
        except OSError as error:
            raise StoreError(f"{self._directory} cannot be looked at: {error.strerror}; delete it.") from error
        return {file.stem: self.of(file.stem) for file in files if file.suffix == ".json"}

    def are_over(self, name: str) -> bool:
        """Whether a thing has failed so often that it must be decided."""
        found = self.of(name)
        return len(found.reasons) >= self.most and not found.decided

    @contextmanager
    def trying(self, name: str, stops: tuple[type[Exception], ...]) -> Iterator[None]:
        """Count the block as a try, which has failed if it raises an Exception.

        Parameters
        ----------
        stops
            Errors that mean that somebody has stopped the block.  They do not count; nor does an interrupt.

        Raises
        ------
        StoreError
            If the try cannot be written down; the block is then not run.
        """
        before = self.of(name)
        if before.decided:  # somebody wants it to be tried again
            before = Tried()
        self._write(name, replace(before, reasons=(*before.reasons, KILLED)))
        try:
            yield
        except Exception as error:
            failed = not isinstance(error, stops)
            self._write(name, replace(before, reasons=(*before.reasons, reason_of(error))) if failed else before)
            raise
        except BaseException:
            self._write(name, before)
            raise
        self._write(name, Tried())

    def keep(self, names: Collection[str]) -> None:
        """Forget all other things."""
        for file in self._directory.glob("*.json"):
            if file.stem not in names:
                file.unlink(missing_ok=True)

    def decide(self, name: str) -> None:
        """Write down that a thing has been decided."""
        self._write(name, replace(self.of(name), decided=True))

    def _file(self, name: str) -> Path:
        return self._directory / f"{name}.json"

    def _write(self, name: str, found: Tried) -> None:
        if found == Tried():
            self._file(name).unlink(missing_ok=True)
            return
        make_directory(self._directory)
        atomic_write_text(self._file(name), json.dumps({"reasons": found.reasons, "decided": found.decided}) + "\n")


def reason_of(error: BaseException) -> str:
    """An error as one sentence of limited length."""
    told = str(error) if isinstance(error, PtttError) else f"An unexpected error, {type(error).__name__}: {error}."
    return " ".join(told.encode(errors="replace").decode().split())[:_LONGEST]
