"""Validation of uploaded files, which may hold anything; :mod:`pttt_ooc.pipeline.files.tensor_reader` reads them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from pttt_ooc.errors import StrategyError
from pttt_ooc.games.structure.index import Index
from pttt_ooc.games.structure.strategy import Strategy
from pttt_ooc.games.structure.views import Ints
from pttt_ooc.pipeline.files.file_headers import ShapeError
from pttt_ooc.pipeline.files.tensor_reader import open_zipped_tensor
from pttt_ooc.pipeline.files.tensors import strategy_from_tensor
from pttt_ooc.pipeline.files.zipped_array import FlawedFileError, other_player, passed_over


class Refusal(Exception):
    """A file is not a strategy.

    Parameters
    ----------
    note
        The verdict, in the course's words if it has any.
    detail
        A hint for repairing the file.
    """

    def __init__(self, note: str, detail: str = "") -> None:
        super().__init__(note)
        self.note, self.detail = _printable(note), _printable(detail)


def _printable(text: str) -> str:
    """Text without control characters, which databases and pages do not accept."""
    return "".join(c if c.isprintable() else "?" for c in text)


def note_on(path: Path) -> str:
    """What a team should know of its file, though it is a strategy; empty if there is nothing."""
    return _printable(passed_over(path))[:1000]


def read_strategy(
    path: Path,
    index: Index,
    player: int,
    rows: Ints,
    scratch: Path,
    on_progress: Callable[[float], None] = lambda share: None,
) -> Strategy:
    """The strategy in an uploaded file.

    Parameters
    ----------
    index
        The index without symmetry.
    rows
        int64, shape (infosets,): node number of each row.
    scratch
        A directory for an unnamed file: a tensor in Fortran order is copied to it, as its rows are scattered.
    on_progress
        Called with the share of the file that has been read; its exceptions stop the reading.

    Returns
    -------
    Strategy in double precision, its rows scaled to sum to 1.

    Raises
    ------
    Refusal
        If the file is not a strategy, for the first mistake.
    OSError, StoreError
        If the file is missing or `scratch` is full, which is not the file's fault.
    """
    try:
        # Each row goes to its node of the index, by `rows`; reading ends at the first mistake.
        with open_zipped_tensor(path, (len(rows), index.game.squares), scratch, on_progress) as tensor:
            return Strategy(index, player, strategy_from_tensor(index, player, tensor, rows, source=str(path)))
    except FlawedFileError as error:
        # A flaw of the file itself, for which the reader has the verdict's words.
        raise Refusal(error.note, error.detail) from error
    except StrategyError as error:
        # Its content is no strategy of this player; with the shape of the other player's tensor, the detail says so.
        note = str(error).removeprefix(str(path)).lstrip(":, ").rstrip(".")
        theirs = (int(index.players[1 - player].infosets_by_slice().sum()), index.game.squares)
        is_theirs = isinstance(error, ShapeError) and error.shape == theirs
        raise Refusal(note, other_player(player) if is_theirs else "") from None
