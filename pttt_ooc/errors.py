"""Errors: those whose text is meant for people, and those that the package catches itself.

```
PtttError                   one sentence that says what is wrong, where, and what to do
  UnknownGameError
  GameError                 rules that contradict each other, or too big a game
  ConfigError
  StrategyError
  StrategyFileError
  InfosetFileError
  ImpossibleInfosetError
  StoreError                a store on disk
  CertificateError
  BudgetError
    MemoryBudgetError
    DiskBudgetError
  MissingExtraError
  CourseError
  PlayError                 of a game in progress
CaughtError
```

Rooms derive their own from these.  The command line and the workflow's scripts print the sentence of a PtttError and
exit with a non-zero code; nothing else is caught there.
"""

from __future__ import annotations

import difflib
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from types import MappingProxyType
from typing import Any


class PtttError(Exception):
    """Base of all errors whose text is meant for the user: one sentence that says what is wrong and what to do.

    Attributes
    ----------
    details
        JSON values for programs, which go with the sentence from an answerer to the process that asked.

    Examples
    --------
    >>> import pttt_ooc as pttt
    >>> try:
    ...     pttt.load("nowhere")
    ... except pttt.PtttError as error:
    ...     print(error)
    nowhere is not the directory of a solution: there is no such directory.
    """

    details: Mapping[str, Any] = MappingProxyType({})


class UnknownGameError(PtttError):
    """No game of this name."""


class GameError(PtttError, ValueError):
    """The rules of a game contradict each other, or the game is too big for the request."""


class ConfigError(PtttError):
    """A key or value of the configuration is refused."""


class StrategyError(PtttError):
    """A strategy is malformed: shape, sums, negative or illegal probabilities."""


class StrategyFileError(PtttError):
    """A strategy's file (zip, npy, h5 or directory) cannot be read."""


class InfosetFileError(PtttError):
    """An infoset file has a missing, doubled or malformed line."""


class ImpossibleInfosetError(PtttError):
    """A text is no infoset of the player.

    Parameters
    ----------
    sentence
        The reason.
    nearest
        Text of the nearest possible infoset: the longest prefix that is one.  None if the player has no infoset.
    """

    def __init__(self, sentence: str, nearest: str | None) -> None:
        super().__init__(sentence)
        self.nearest = nearest
        self.details = {"nearest": nearest}


class StoreError(PtttError):
    """A store on disk is missing, damaged, locked, or of another format version."""


class CertificateError(PtttError):
    """A certificate proves nothing: it is malformed, or its claim is not what its plans guarantee."""


class BudgetError(PtttError):
    """A budget is too small; nothing has been touched."""


class MemoryBudgetError(BudgetError):
    """A computation cannot be done within its memory budget."""


class DiskBudgetError(BudgetError):
    """Data do not fit their budget of disk space."""


class MissingExtraError(PtttError):
    """A library is missing that an extra of the package installs."""


class CourseError(PtttError):
    """The course refuses a request: its directory, its teams or its server do not allow it."""


class CaughtError(Exception):
    """Base of errors that their callers catch, such as the end of a dialogue: no person sees them."""


class PlayError(PtttError):
    """A game in progress does not allow the request, or there is no such game.

    Parameters
    ----------
    status
        HTTP status of the answer.
    """

    def __init__(self, sentence: str, status: int = 409) -> None:
        super().__init__(sentence)
        self.status = status


def did_you_mean(name: object, known: Iterable[str]) -> str:
    """``" (did you mean ...?)"`` with the known name closest to the given one; empty if none is close."""
    close = difflib.get_close_matches(str(name), list(known), n=1)
    return f" (did you mean {close[0]}?)" if close else ""


def on_one_line(sentence: str) -> str:
    """Escape line ends and control characters, which names from strangers may contain."""
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in sentence)


NO_MEMORY = "There is not enough memory for this."
INTERRUPTED = "Interrupted; the same command continues from what is on disk."
"""The sentence for an interrupt that brings none."""


def system_error_sentence(error: OSError) -> str:
    """One sentence about an error of the operating system that no other module has explained."""
    return f"{error.filename or 'A file, or standard output,'} cannot be used: {error.strerror or error}."


@contextmanager
def keep_interrupts() -> Iterator[None]:
    """Raise KeyboardInterrupt if an interrupt leaves the block as another error.

    An interrupt can hit the standard library while it cleans up.  `shutil.rmtree`, for example, then closes
    a descriptor a second time, and that error replaces the interrupt.
    """
    try:
        yield
    except Exception as error:
        before: BaseException | None = error
        while before is not None:
            if isinstance(before, KeyboardInterrupt):
                raise KeyboardInterrupt(*before.args) from error
            before = before.__cause__ or before.__context__
        raise


@contextmanager
def exit_on_error(tell: Callable[[str], None]) -> Iterator[None]:
    """End the program with one sentence if an error that the user can fix leaves the block.

    Parameters
    ----------
    tell
        Gets the sentence.  Afterwards the program exits: with 130 after an interrupt, else with 1.
    """
    code = 1
    try:
        with keep_interrupts():
            yield
        return
    except PtttError as error:
        sentence = str(error)
    except KeyboardInterrupt as interrupt:
        sentence, code = str(interrupt) or INTERRUPTED, 130
    except OSError as error:
        sentence = system_error_sentence(error)
    except MemoryError:
        sentence = NO_MEMORY
    tell(on_one_line(sentence))
    sys.exit(code)
