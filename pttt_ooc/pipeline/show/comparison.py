"""Several runs of one game side by side: how fast each gap closed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # the Snakefile imports this module; numpy would slow it down
    from pttt_ooc.pipeline.show.pictures import ConvergenceRow


@dataclass(frozen=True)
class RunFacts:
    """The facts of one run that the report compares.

    Attributes
    ----------
    name
        The run's name.
    algorithm, parameters, precision
        The settings in effect.
    rows
        Rows of ``convergence.jsonl``: ``iteration``, ``seconds``, ``nashconv``, ...
    stopped_by
        The criterion that stopped the run.
    """

    name: str
    algorithm: str
    parameters: Mapping[str, Any]
    precision: str
    rows: Sequence[ConvergenceRow]
    stopped_by: str

    @property
    def last(self) -> ConvergenceRow:
        """The last evaluation."""
        return self.rows[-1] if self.rows else {}


def common_gap(runs: Sequence[RunFacts]) -> float | None:
    """The smallest gap that every run has reached; None if a run has no evaluation."""
    gaps = [[float(row["nashconv"]) for row in run.rows] for run in runs]
    return max(map(min, gaps)) if gaps and all(gaps) else None


def first_evaluation(run: RunFacts, gap: float | None) -> ConvergenceRow:
    """The first evaluation of a run whose gap is at most `gap`; empty if there is none."""
    return next((row for row in run.rows if gap is not None and row["nashconv"] <= gap), {})


def comparison_rows(runs: Sequence[RunFacts]) -> list[dict[str, Any]]:
    """A row of the report's table for each run: settings, last evaluation, and first evaluation at the common gap."""
    gap = common_gap(runs)
    return [
        {**vars(run), "last": run.last, "reached": first_evaluation(run, gap), "settings": _settings(run)}
        for run in runs
    ]


def _settings(run: RunFacts) -> str:
    numbers = [f"{name} {value:g}" for name, value in run.parameters.items() if isinstance(value, int | float)]
    words = [str(value) for value in run.parameters.values() if isinstance(value, str) and value != "alternating"]
    return ", ".join([*numbers, *words, *[run.precision] * (run.precision != "float32")])
