"""A running algorithm, one iteration at a time, with its state in memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any, get_args

import numpy as np

from pttt_ooc.cfr.solving.arrays import solver_arrays, state_arrays
from pttt_ooc.cfr.solving.regret import RULES, Coefficients, Parameters, Rule
from pttt_ooc.cfr.solving.solve_run import MemoryState, SolveRun
from pttt_ooc.config import SolveConfig, check_section
from pttt_ooc.disk.memory import in_memory, leaves
from pttt_ooc.errors import ConfigError
from pttt_ooc.games.rules.game import Game
from pttt_ooc.library.api.strategies import Strategy
from pttt_ooc.library.api.structures import checked_game, engine_of, widest_symmetry
from pttt_ooc.types import Symmetry

ConvergenceRow = dict[str, Any]

ENDLESS = {"target_nashconv": 0, "max_iterations": 10**9, "max_minutes": 10**9}


class SolverSession:
    """A running algorithm: each step of a loop over it makes one iteration; see :func:`iterate`.

    Attributes
    ----------
    game
        The game that it solves.

    Examples
    --------
    >>> import pttt_ooc as pttt
    >>> session = pttt.iterate(pttt.game("mini-2x3k2-abrupt"), "dcfr")
    >>> next(session)["iteration"], next(session)["iteration"], session.iteration
    (1, 2, 2)
    >>> session.average[0]
    Strategy of player 0 in mini-2x3k2-abrupt: 189 infosets, kept up to symmetry
    """

    def __init__(self, game: Game, name: str, run: SolveRun) -> None:
        self.game = game
        self._name, self._solver, self._steps = name, run.solver, run.steps()

    def __iter__(self) -> Iterator[ConvergenceRow]:
        return self

    def __next__(self) -> ConvergenceRow:
        return next(self._steps)

    @property
    def iteration(self) -> int:
        """How many iterations have been made."""
        return self._solver.iteration

    @property
    def current(self) -> tuple[Strategy, Strategy]:
        """Both players' current strategies, which follow from the regrets."""
        first, second = self._solver.current()
        return Strategy.of(first), Strategy.of(second)

    @property
    def average(self) -> tuple[Strategy, Strategy]:
        """Both players' average strategies so far, which approach an equilibrium."""
        first, second = self._solver.average()
        return Strategy.of(first), Strategy.of(second)

    def __repr__(self) -> str:
        return f"{self._name} at work on {self.game.name}: {self.iteration} iterations made"


def iterate(
    game: Game, algorithm: str | Rule = "sapdcfr+", symmetry: Symmetry | None = None, **settings: Any
) -> SolverSession:
    """Solve a game step by step, in memory.

    Parameters
    ----------
    algorithm, symmetry, settings
        See :func:`solve`; without ``target_nashconv``, ``max_iterations`` and ``max_minutes`` it never ends.

    Returns
    -------
    SolverSession
        Each step of a loop over it makes one iteration and gives a row: ``iteration``, ``seconds``, ``cpu_seconds``,
        ``elapsed_seconds``, ``iterations_per_second``.  After iterations 1, 2, ... and then each time their number has
        grown by ``evaluate_every``, the gap is computed, and the row also has ``value``, ``best_response_0``,
        ``best_response_1``, ``nashconv``, ``value_lower``, ``value_upper``.  Between steps, ``current`` and ``average``
        are the strategies of both players.

    Examples
    --------
    >>> import pttt_ooc as pttt
    >>> run = pttt.iterate(pttt.game("mini-2x3k2-abrupt"), "cfr+")
    >>> for row in run:
    ...     if row["iteration"] == 30:
    ...         break
    >>> run
    cfr+ at work on mini-2x3k2-abrupt: 30 iterations made
    >>> average, current = pttt.evaluate(*run.average), pttt.evaluate(*run.current)
    >>> average.nashconv < current.nashconv
    True
    """
    config = checked_settings(algorithm, {**ENDLESS, **settings})
    run = start_run(game, algorithm, config, checked_symmetry(game, symmetry))
    return SolverSession(game, "A custom rule" if isinstance(algorithm, Rule) else algorithm, run)


def start_run(
    game: Game,
    algorithm: str | Rule,
    config: SolveConfig,
    symmetry: Symmetry,
    on_progress: Callable[[ConvergenceRow], None] = lambda row: None,
) -> SolveRun:
    """A run with its state in memory."""
    if config.snapshot_every is not None:
        raise ConfigError("Snapshots are kept on disk: give a directory and a named game, or leave them out.")
    rule = _checked_rule(algorithm) if isinstance(algorithm, Rule) else RULES[config.algorithm]
    engine = engine_of(game, symmetry).in_precision(np.dtype(config.precision).type)
    state = MemoryState(leaves(state_arrays(engine.index, config, rule)))
    return SolveRun(engine, config, state, in_memory(solver_arrays(engine.index, config)), rule, on_progress)


def checked_settings(algorithm: str | Rule, settings: Mapping[str, Any]) -> SolveConfig:
    """The section ``solve`` of a configuration; a ConfigError if a key or value is refused."""
    named = {} if isinstance(algorithm, Rule) else {"algorithm": algorithm}
    return check_section(SolveConfig, {**settings, **named}, "The settings")


def checked_symmetry(game: Game, symmetry: Symmetry | None) -> Symmetry:
    """The symmetry, by default full if the game has symmetries; a ConfigError if it is invalid."""
    if symmetry is None:
        return widest_symmetry(game)
    checked_game(game)
    if symmetry not in get_args(Symmetry):
        raise ConfigError(f"The symmetry is {symmetry!r}, but must be one of {', '.join(get_args(Symmetry))}.")
    return symmetry


def _checked_rule(rule: Rule) -> Rule:
    """A custom rule whose coefficients are checked in every iteration."""

    def coefficients(t: int, parameters: Parameters) -> Coefficients:
        result = rule.coefficients(t, parameters)
        if not isinstance(result, Coefficients):
            raise ConfigError(
                f"The rule gave {type(result).__name__} for iteration {t}; it must give pttt.Coefficients."
            )
        numbers = (result.discount_positive, result.discount_negative, result.look_ahead)
        if not all(isinstance(x, int | float | np.floating) and np.isfinite(x) for x in numbers):
            raise ConfigError(f"The rule gave {result} for iteration {t}; its numbers must be finite.")
        if result.predict and not rule.predicts:
            raise ConfigError(
                f"The rule predicts in iteration {t}, but was made without predicts=True: no prediction is kept."
            )
        return result

    return replace(rule, coefficients=coefficients)
