"""Uploaded files, which may hold anything: whether they are strategies; their evaluation, and the values of matches.

:mod:`pttt_ooc.pipeline.files.tensor_reader` reads them, and an engine that stays open evaluates them.
"""

from __future__ import annotations

import hashlib
import json
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

import numpy as np

from pttt_ooc.cfr.solving.assessment import Assessment, Gradient, assess
from pttt_ooc.cfr.sweep.engine import Engine
from pttt_ooc.course.data.models import Submission
from pttt_ooc.course.data.settings import CourseSettings
from pttt_ooc.course.data.storage import Storage
from pttt_ooc.errors import StrategyError
from pttt_ooc.games.structure.index import Index, actions_of
from pttt_ooc.games.structure.strategy import Strategy
from pttt_ooc.games.structure.views import Ints
from pttt_ooc.imports import code_digest, dependencies
from pttt_ooc.library.api.strategy_reader import rows_of
from pttt_ooc.pipeline.files.file_headers import ShapeError
from pttt_ooc.pipeline.files.tensor_reader import open_zipped_tensor
from pttt_ooc.pipeline.files.tensors import strategy_from_tensor
from pttt_ooc.pipeline.files.zipped_array import FlawedFileError, other_player, passed_over
from pttt_ooc.pipeline.stages.engines import open_engine
from pttt_ooc.pipeline.stages.normal_form import row_orders
from pttt_ooc.pipeline.stages.preparation import prepare_index
from pttt_ooc.pipeline.stages.provenance import stage_sources
from pttt_ooc.types import Interval


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
    """What a team should know about a file that is a strategy; empty if there is nothing."""
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
        If the file is not a strategy; it tells the first mistake.
    OSError, StoreError
        If the file is missing or `scratch` is full, which is not the file's fault.
    """
    try:
        # Each row goes to its node of the index, by `rows`; reading ends at the first mistake.
        with open_zipped_tensor(path, (len(rows), index.game.squares), scratch, on_progress) as tensor:
            return Strategy(index, player, strategy_from_tensor(index, player, tensor, rows, source=str(path)))
    except FlawedFileError as error:
        # A flaw of the file itself: the reader has the words of the verdict.
        raise Refusal(error.note, error.detail) from error
    except StrategyError as error:
        # Its content is not a strategy of this player; with the shape of the other player's tensor, the detail says so.
        note = str(error).removeprefix(str(path)).lstrip(":, ").rstrip(".")
        theirs = (int(index.players[1 - player].infosets_by_slice().sum()), index.game.squares)
        is_theirs = isinstance(error, ShapeError) and error.shape == theirs
        raise Refusal(note, other_player(player) if is_theirs else "") from None


Orders = tuple[Path | None, Path | None]
"""For each player, the file with the course's own list of infosets; None: the default order."""

OnProgress = Callable[[float], None]
_CACHE_BYTES = 64_000_000
_GRADIENT_SOURCES = (
    stage_sources("evaluate")
    | dependencies("cfr/solving/assessment")
    | dependencies("pipeline/files/tensors")
    | {"course/strategies/assessor"}
)


@cache
def _code() -> str:
    """The digest of the code that computes gradients."""
    return code_digest(_GRADIENT_SOURCES)


class Assessor:
    """Reads, assesses and compares strategies of one game.

    Parameters
    ----------
    engine
        An engine without symmetry, in double precision.
    game_value
        The interval of the value of the game.
    orders
        For each player, the file with the course's own list of infosets; None: the default order.

    Raises
    ------
    InfosetFileError
        If a list is refused.
    """

    def __init__(self, engine: Engine, storage: Storage, game_value: Interval, orders: Orders = (None, None)) -> None:
        self.engine, self.storage, self.game_value = engine, storage, game_value
        self.rows = tuple(rows_of(engine.index, player, orders[player]) for player in (0, 1))
        self._orders = row_orders(*orders)
        self._cache: OrderedDict[str, Gradient] = OrderedDict()
        self._cached = 0  # bytes

    def read(self, path: Path, player: int, on_progress: OnProgress) -> Strategy:
        """The strategy in a file; for errors see :func:`read_strategy`."""
        index, scratch = self.engine.index, self.storage.incoming
        return read_strategy(path, index, player, self.rows[player], scratch, on_progress)

    def assess(self, strategy: Strategy, on_progress: OnProgress) -> Assessment:
        """The assessment of a strategy."""
        return assess(strategy, self.engine, on_progress)

    def opening(self, strategy: Strategy) -> list[float]:
        """Probability of every square at the player's first attempt, shape (squares,)."""
        game, i = self.engine.index.game, self.engine.index.players[strategy.player]
        probabilities = [0.0] * game.squares
        actions = actions_of(game, strategy.player, 0)
        for square, p in zip(actions, strategy.probabilities[i.sequences_of(0)], strict=False):
            probabilities[square] = float(p)
        return probabilities

    def key(self, submission: Submission) -> str:
        """The key of a submission's gradient, from the game, the file's content, its order of rows, and the code.

        Two teams that submit the same file share a gradient.
        """
        order = self._orders[submission.player]
        own = [order] if order else []
        parts = [self.engine.index.game.name, submission.player, submission.digest, _code(), *own]
        return hashlib.blake2b(json.dumps(parts).encode(), digest_size=16).hexdigest()

    def keep(self, submission: Submission, gradient: Gradient) -> None:
        """Keep the gradient of a submission for later matches."""
        key = self.key(submission)
        self.storage.write_gradient(key, gradient)
        self._remember(key, gradient)

    def value(self, assessment: Assessment, opponent: Submission) -> float:
        """Value for player 0 of an assessed strategy against an earlier submission of the other player.

        If the earlier one's gradient is lost, it is computed again from its file.
        """
        key = self.key(opponent)
        gradient = self._cache.get(key) or self.storage.read_gradient(key)
        if gradient is None:
            path = self.storage.upload(opponent.file)
            strategy = self.read(path, opponent.player, lambda share: None)
            gradient = self.assess(strategy, lambda share: None).gradient
            self.storage.write_gradient(key, gradient)
        self._remember(key, gradient)
        value = gradient.value(assessment.plan)
        return value if assessment.player == 0 else -value

    def forget(self, keep: Iterable[Submission]) -> None:
        """Delete the gradients of all other submissions."""
        self.storage.forget_gradients(self.key(submission) for submission in keep)

    def _remember(self, key: str, gradient: Gradient) -> None:
        """Keep the latest gradients in memory while that is cheap: all of a small game, none of the full game."""
        if key not in self._cache:
            single = Gradient(gradient.constant, gradient.sequences.astype(np.float32, copy=False))
            self._cache[key] = single
            self._cached += single.sequences.nbytes
        self._cache.move_to_end(key)
        while self._cached > _CACHE_BYTES:
            self._cached -= self._cache.popitem(last=False)[1].sequences.nbytes


@contextmanager
def open_assessor(settings: CourseSettings, storage: Storage, game_value: Interval, threads: int) -> Iterator[Assessor]:
    """An assessor for the block; the game's index is created if it is missing.

    Raises
    ------
    PtttError
        If the index cannot be created or read, or a list of infosets is refused.
    """
    directory = prepare_index(storage.index, settings.game, "none")
    with open_engine(directory, settings.game, "none", np.float64, threads) as engine:
        yield Assessor(engine, storage, game_value, settings.orders(storage.data))
