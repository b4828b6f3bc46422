"""The evaluation of uploaded files, and the values of matches, with an engine that stays open."""

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
from pttt_ooc.course.strategies.validation import read_strategy
from pttt_ooc.games.structure.index import actions_of
from pttt_ooc.games.structure.strategy import Strategy
from pttt_ooc.imports import code_digest, dependencies
from pttt_ooc.library.api.strategy_reader import rows_of
from pttt_ooc.pipeline.stages.engines import open_engine
from pttt_ooc.pipeline.stages.normal_form import row_orders
from pttt_ooc.pipeline.stages.preparation import prepare_index
from pttt_ooc.pipeline.stages.provenance import stage_sources
from pttt_ooc.types import Interval

Orders = tuple[Path | None, Path | None]
"""For each player, the file with the course's own list of infosets; None: the default order."""

OnProgress = Callable[[float], None]
_CACHE_BYTES = 64_000_000
_GRADIENT_SOURCES = (
    stage_sources("evaluate")
    | dependencies("cfr/solving/assessment")
    | dependencies("pipeline/files/tensors")
    | {"course/strategies/assessor", "course/strategies/validation"}
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
        """The strategy in a file; for errors see :func:`pttt_ooc.course.strategies.validation.read_strategy`."""
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
