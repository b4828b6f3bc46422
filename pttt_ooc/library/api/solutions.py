"""Solutions: loaded from disk, or computed in memory or in a directory."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from pttt_ooc.cfr.solving import solve_run
from pttt_ooc.cfr.solving.regret import Rule
from pttt_ooc.config import SolveConfig
from pttt_ooc.disk.files import atomic_write_text, fresh_store
from pttt_ooc.disk.numbers import gap
from pttt_ooc.errors import ConfigError, StoreError
from pttt_ooc.games.rules.catalogue import named_game
from pttt_ooc.games.rules.game import Game
from pttt_ooc.library.api.games import as_record, of_record
from pttt_ooc.library.api.solver_session import ConvergenceRow, checked_settings, checked_symmetry, start_run
from pttt_ooc.library.api.strategies import Strategy
from pttt_ooc.library.api.strategy_names import named_strategy
from pttt_ooc.library.api.structures import checked_player, engine_of, index_of, is_named, remember, threads
from pttt_ooc.pipeline.files.solution import read_solution, write_solution
from pttt_ooc.pipeline.show.tables import html_table
from pttt_ooc.pipeline.stages import solve as stage
from pttt_ooc.pipeline.stages.directories import SOLUTION
from pttt_ooc.pipeline.stages.preparation import prepare_index
from pttt_ooc.pipeline.stages.provenance import fingerprint
from pttt_ooc.types import Symmetry

LOG = "convergence.jsonl"


class Solution:
    """An approximate equilibrium: both players' strategies, and how the solver found them.

    ``solution[0]`` and ``solution[1]`` are the players' strategies; see :class:`Strategy`.

    Attributes
    ----------
    game
        The solved game.
    rows
        One for each evaluation during the solve: ``iteration``, ``seconds``, ``cpu_seconds``, ``elapsed_seconds``,
        ``iterations_per_second``, ``value``, ``best_response_0``, ``best_response_1``, ``nashconv``, ``value_lower``,
        ``value_upper``.
    facts
        Facts about the solve: ``algorithm``, ``parameters``, and the last row.
    directory
        Its directory; None if it is only in memory.

    Examples
    --------
    >>> import pttt_ooc as pttt
    >>> solution = pttt.solve(pttt.game("mini-2x3k2-abrupt"), target_nashconv=1e-4)
    >>> solution[0]["|0*1."].round(6).tolist()
    [0.0, 0.0, 0.0, 0.5, 0.5, 0.0]
    >>> solution.nashconv <= 1e-4
    True
    """

    def __init__(
        self,
        game: Game,
        facts: Mapping[str, Any],
        rows: list[ConvergenceRow],
        strategies: Callable[[], tuple[Strategy, Strategy]],
        directory: Path | None = None,
    ) -> None:
        self.game, self.facts, self.rows, self.directory = game, dict(facts), rows, directory
        self._open = strategies

    @cached_property
    def _strategies(self) -> tuple[Strategy, Strategy]:
        return self._open()

    def __getitem__(self, player: int) -> Strategy:
        return self._strategies[checked_player(player)]

    def __iter__(self) -> Iterator[Strategy]:
        return iter(self._strategies)

    def __len__(self) -> int:
        return 2

    @property
    def nashconv(self) -> float:
        """What the two best responses gain together: 0 at an equilibrium."""
        return float(self.facts["nashconv"])

    @property
    def value_lower(self) -> float:
        """The value of the game for player 0 is at least this."""
        return float(self.facts["value_lower"])

    @property
    def value_upper(self) -> float:
        """The value of the game for player 0 is at most this."""
        return float(self.facts["value_upper"])

    def __repr__(self) -> str:
        where = f", in {self.directory}" if self.directory else ""
        return (
            f"Solution of {self.game.name}: NashConv {gap(self.nashconv)} after {self.facts['iteration']} iterations "
            f"of {self.facts['algorithm']}, value in {self.value_lower:.6f} .. {self.value_upper:.6f}{where}"
        )

    def _repr_html_(self) -> str:
        rows = [
            ("NashConv", gap(self.nashconv)),
            ("value of the game", f"{self.value_lower:.6f} .. {self.value_upper:.6f}"),
            ("algorithm", self.facts["algorithm"]),
            ("iterations", self.facts["iteration"]),
            ("directory", self.directory or "in memory"),
        ]
        return html_table(f"Solution of {self.game.name}", rows)


def load(directory: str | Path) -> Solution:
    """The solution in a directory, such as ``data/pttt-abrupt/full``.

    This reads only its description.  The first use of a strategy maps the index from disk and reads both strategies.

    Parameters
    ----------
    directory
        Made by the workflow, by ``pttt solve``, or by :func:`solve`.

    Raises
    ------
    PtttError
        If there is no readable solution.

    Examples
    --------
    >>> import pttt_ooc as pttt
    >>> pttt.load("nowhere")
    Traceback (most recent call last):
        ...
    pttt_ooc.errors.StoreError: nowhere is not the directory of a solution: there is no such directory.
    """
    directory = Path(directory)
    if not directory.is_dir():
        problem = "it is a file, which Strategy.read may read" if directory.exists() else "there is no such directory"
        raise StoreError(f"{directory} is not the directory of a solution: {problem}.")
    # The description: the rules, if they are stored with it, else those of the game that it names.
    named = named_strategy(str(directory), 0)
    facts, symmetry = named.metadata, named.metadata["symmetry"]
    game = of_record(facts["rules"]) if "rules" in facts else named_game(facts["game"])
    missing = [key for key in ("algorithm", "iteration", "nashconv", "value_lower", "value_upper") if key not in facts]
    if missing:
        raise StoreError(f"{named.path}: {missing[0]} is missing; solve the game again.")
    remember(game, symmetry, directory)

    # The strategies are read when one is first asked for.
    def strategies() -> tuple[Strategy, Strategy]:
        first, second = read_solution(named.path, index_of(game, symmetry))
        return Strategy.of(first), Strategy.of(second)

    return Solution(game, facts, _rows(directory / LOG), strategies, directory)


def _rows(log: Path) -> list[ConvergenceRow]:
    try:
        return [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]
    except FileNotFoundError:
        return []
    except (OSError, ValueError) as error:
        raise StoreError(f"{log} cannot be read: {error}.") from error


def solve(
    game: Game,
    algorithm: str | Rule = "sapdcfr+",
    target_nashconv: float = 1e-3,
    directory: str | Path | None = None,
    symmetry: Symmetry | None = None,
    on_progress: Callable[[ConvergenceRow], None] = lambda row: None,
    **settings: Any,
) -> Solution:
    """Solve a game, in memory or with a state on disk.

    Parameters
    ----------
    algorithm
        A name, as in ``config.yaml``: ``"cfr"``, ``"cfr+"``, ``"linear-cfr"``, ``"dcfr"``, ``"pcfr+"``, ``"pdcfr+"``,
        ``"sapcfr+"``, ``"sapdcfr+"``, ``"hs-dcfr"``, ``"hs-pcfr+"``; or a custom :class:`Rule`.
    target_nashconv
        Stop when the gap is at most this; with 0, never.
    directory
        Keep everything in ``directory/GAME/SYMMETRY``; after an interruption the same call continues.  Default: memory.
    symmetry
        ``"full"``: solve only one of all positions that mirror each other.  Default: full if the game has symmetries.
    on_progress
        Called after every iteration with a row as in ``Solution.rows``, if there is no directory; between evaluations
        the row has only the number of the iteration, times and speed.
    settings
        ``max_iterations``, ``max_minutes``, ``alpha``, ``beta``, ``gamma``, ``horizon``, ``restart_average``,
        ``updates``, ``precision``, ``evaluate_every``, ``commit_seconds``, ``snapshot_every``,
        ``snapshots_mb``, as in the section ``solve`` of ``config.yaml``.

    Raises
    ------
    PtttError
        If a setting is refused, or the directory cannot be written to.

    Examples
    --------
    >>> import pttt_ooc as pttt
    >>> pttt.solve(pttt.game("mini-2x3k2-abrupt"), algorithm="dcfr", max_iterations=100, target_nashconv=0)
    Solution of mini-2x3k2-abrupt: NashConv ... after 100 iterations of dcfr, value in ...
    >>> pttt.solve(pttt.game("mini-2x3k2-abrupt"), algorithm="dcfr", max_iteration=100)
    Traceback (most recent call last):
        ...
    pttt_ooc.errors.ConfigError: The settings: there is no key max_iteration (did you mean max_iterations?).
    """
    options = {"target_nashconv": target_nashconv, **settings}
    config, symmetry = checked_settings(algorithm, options), checked_symmetry(game, symmetry)
    # In memory: the solver runs to its end here.
    if directory is None:
        result = start_run(game, algorithm, config, symmetry, on_progress).finish()
        strategies = (Strategy.of(result.strategies[0].whole()), Strategy.of(result.strategies[1].whole()))
        facts = {
            "algorithm": _name(algorithm),
            "symmetry": symmetry,
            **result.rows[-1],
            "stopped_by": result.stopped_by,
        }
        return Solution(game, facts, result.rows, lambda: strategies)
    # On disk: a game with a name is solved as the workflow solves it, with its index on disk too; for any other, only
    # the solver's state is on disk.
    if isinstance(algorithm, Rule):
        raise ConfigError("A state on disk is named by its algorithm, and a custom rule has no name; omit directory.")
    place = Path(directory) / game.name / symmetry
    if is_named(game):
        prepare_index(Path(directory), game.name, symmetry)
        stage.run(game.name, symmetry, config, place, threads())
    else:
        _solve_in(place, game, symmetry, config, on_progress)
    return load(place)


def _name(algorithm: str | Rule) -> str:
    return "a custom rule" if isinstance(algorithm, Rule) else algorithm


def _solve_in(
    place: Path, game: Game, symmetry: Symmetry, config: SolveConfig, on_progress: Callable[[ConvergenceRow], None]
) -> None:
    """Solve a game without a name: its structure is in memory, the solver's state on disk."""
    if config.snapshot_every is not None:
        raise ConfigError("Snapshots are kept only of games with a name; leave out snapshot_every.")
    rules = as_record(game)
    facts = {"rules": rules, "symmetry": symmetry, "algorithm": config.algorithm, "precision": config.precision}
    name = fingerprint({**facts, "parameters": stage.parameters(config)})
    engine = engine_of(game, symmetry).in_precision(np.dtype(config.precision).type)
    result = solve_run.solve(engine, config, place / "work" / name, name, on_progress)
    atomic_write_text(place / LOG, "".join(f"{json.dumps(row, sort_keys=True)}\n" for row in result.rows))
    timeless = {key: value for key, value in result.rows[-1].items() if "second" not in key}
    attrs = {"algorithm": config.algorithm, "parameters": stage.parameters(config), "rules": rules, **timeless}
    with fresh_store(place / SOLUTION) as store:
        write_solution(store, result.strategies, attrs)
