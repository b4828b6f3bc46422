"""The report on a solution: a self-contained HTML page, its pictures as files, and a page of measurements.

Equal runs leave equal reports; times and memory, which differ, are on the page of measurements.

The page is made from plain data (:class:`ReportData`), holds its pictures as inline SVG and needs neither scripts nor a
network.  The same data give the same bytes.  Text and layout are in
``templates/report.html.j2`` and ``templates/measurements.html.j2``; this module prepares numbers and sentences.

Jinja and YAML are imported on use, so that commands start quickly.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any

from pttt_ooc.config import PARAMETERS
from pttt_ooc.disk.files import atomic_write_bytes, atomic_write_text
from pttt_ooc.disk.numbers import NOISE, join_words
from pttt_ooc.games.rules.catalogue import aim
from pttt_ooc.games.rules.game import Game
from pttt_ooc.games.rules.infoset_text import attempts_of
from pttt_ooc.pipeline.show.comparison import RunFacts, common_gap, comparison_rows
from pttt_ooc.pipeline.show.pages import render_page
from pttt_ooc.pipeline.show.pictures import (
    PALETTE,
    ConvergenceRow,
    board_figure,
    comparison_figure,
    convergence_figure,
    figure_bytes,
    inline_svg,
    opening_figure,
    value_bounds,
    value_figure,
)

PAGE = "report.html"
MEASUREMENTS = "measurements.html"  # seconds, memory, versions: they differ between equal runs
_LEAST_GAP = 1e-16  # a logarithmic axis has no zero
FIGURES = ("convergence.svg", "opening.svg")  # files beside the page
_RULE_AND_AVERAGE = (*PARAMETERS, "horizon", "restart_average", "updates")


@dataclass(frozen=True)
class InfosetPicture:
    """An infoset to show: its text in the course's notation (``|0*4.``) and a probability for each square."""

    player: int
    text: str
    probabilities: Sequence[float]


@dataclass(frozen=True)
class StageFacts:
    """The cost of one stage of the workflow: wall-clock time, peak memory, threads (None: unknown)."""

    name: str
    seconds: float | None = None
    peak_mb: float | None = None
    projected_mb: float | None = None
    threads: int | None = None
    note: str = ""


@dataclass(frozen=True)
class ReportData:
    """The data of the report; sections without data are left out.

    Attributes
    ----------
    config
        The configuration, as in its YAML file.
    evaluation, uniform_evaluation
        The evaluations of the solution and of uniform play: ``value``, ``best_response_0``, ``best_response_1``,
        ``nashconv``, ``exploitability_0``, ``exploitability_1``, ``game_value`` (an interval).
    convergence
        Rows of ``convergence.jsonl``: ``iteration``, ``seconds``, ``nashconv``, ``value_lower``, ``value_upper``.
    rounds
        Rows of ``rounds.jsonl``, with the same keys: the double oracle, which begins after the solver.
    finish
        How the double oracle ended: the result of the stage "finish".
    runs
        This run and the runs to compare it with; nothing is compared if there are fewer than two.
    openings
        For each player, the probability of each square at their first infoset.
    stages
        In the order in which they ran.
    counts, digests, machine
        Sizes of the game, content hashes, and versions of libraries with the kind of machine, by label.
    parameters
        The parameters in effect of the algorithm and its average; missing ones are taken from `config`.
    commands
        The commands that reproduce the solution.
    proven
        The value of the game for player 0, if a certificate of the repository proves it.
    """

    game: Game
    config: Mapping[str, Any]
    evaluation: Mapping[str, Any]
    convergence: Sequence[ConvergenceRow]
    openings: tuple[Sequence[float], Sequence[float]]
    rounds: Sequence[ConvergenceRow] = ()
    finish: Mapping[str, Any] = field(default_factory=dict)
    uniform_evaluation: Mapping[str, Any] = field(default_factory=dict)
    infosets: Sequence[InfosetPicture] = ()
    runs: Sequence[RunFacts] = ()
    stages: Sequence[StageFacts] = ()
    counts: Mapping[str, Any] = field(default_factory=dict)
    parameters: Mapping[str, Any] = field(default_factory=dict)
    digests: Mapping[str, str] = field(default_factory=dict)
    machine: Mapping[str, Any] = field(default_factory=dict)
    commands: Sequence[str] = ("make solve",)
    proven: Fraction | None = None
    title: str = "Phantom Tic-Tac-Toe, solved"
    date: str = ""


# ---------------------------------------------------------------------------------------------
# Sentences


def _describe_attempts(attempts: list[tuple[int, bool]]) -> str:
    words: list[str] = []
    for i, (square, placed) in enumerate(attempts):
        same = i > 0 and attempts[i - 1][1] == placed
        words.append(f"{square}" if same else f"{'placed' if placed else 'failed on'} {square}")
    return ", ".join(words).capitalize() or "Before their first attempt"


def infoset_sentence(game: Game, picture: InfosetPicture) -> str:
    """One sentence: what the infoset's player knows, and their most probable attempts."""
    attempts, p = attempts_of(picture.text), picture.probabilities
    taken = {s for s, _ in attempts} | {s for s in range(game.squares) if game.setup_mask(picture.player) >> s & 1}
    legal = sorted((s for s in range(game.squares) if s not in taken), key=lambda s: (-round(p[s], 3), s))
    top = [s for s in legal if p[s] > p[legal[0]] - 0.005]
    seen = f"{_describe_attempts(attempts)}: player {picture.player}"
    if not legal or p[legal[0]] <= 0:
        return f"{seen} has no square to attempt."
    best = f"{p[legal[0]]:.0%}"
    if len(top) == len(legal) > 1:
        return f"{seen} attempts all {len(legal)} squares left alike."
    if len(top) > 1:
        return f"{seen} attempts {join_words(sorted(top))} most often ({best} each)."
    placed = sum({1 << s for s, ok in attempts if ok}) | game.setup_mask(picture.player) | 1 << top[0]
    wins = ", which wins if it is empty" if game.wins(picture.player, placed) else ""
    if len(legal) == 1 or p[top[0]] >= 0.995:
        return f"{seen} always attempts {top[0]}{wins}."
    also = f" and then {legal[1]} ({p[legal[1]]:.0%})" if p[legal[1]] >= 0.005 else ""
    return f"{seen} attempts {top[0]} most often ({best}{wins}){also}."


# ---------------------------------------------------------------------------------------------
# The page, and its pictures as files


def _target(data: ReportData) -> float | None:
    target = (data.config.get("solve") or {}).get("target_nashconv")
    return float(target) if target else None


def _infoset(data: ReportData, number: int) -> dict[str, Any]:
    infoset = data.infosets[number]
    sentence = infoset_sentence(data.game, infoset)
    figure = board_figure(data.game, infoset.player, infoset.text, infoset.probabilities)
    return {**vars(infoset), "sentence": sentence, "svg": inline_svg(figure, f"infoset{number}", sentence)}


def _methods(data: ReportData) -> dict[str, Sequence[ConvergenceRow]]:
    """The rows of each method of this run, by its name; their seconds count from the start of the first method."""
    before = float(data.convergence[-1].get("elapsed_seconds") or 0.0) if data.convergence else 0.0
    rounds = [
        {**row, "seconds": before + row["seconds"], "nashconv": max(row["nashconv"], _LEAST_GAP)} for row in data.rounds
    ]
    solver = [{**row, "seconds": row.get("elapsed_seconds", row.get("seconds"))} for row in data.convergence]
    algorithm = str((data.config.get("solve") or {}).get("algorithm", "")).upper()
    curves = {algorithm: solver if rounds else data.convergence, "double oracle": rounds}
    return {name: rows for name, rows in curves.items() if rows} or {"": ()}


def _curves(data: ReportData, x: str) -> dict[str, Any]:
    """The gap over `x`, ``"iteration"`` or ``"seconds"``, of this run and of the runs to compare it with."""
    own = convergence_figure(_methods(data), _target(data), x)
    found: dict[str, Any] = {"panel": inline_svg(own, x, f"Gap over {x}, both axes logarithmic")}
    runs = data.runs if len(data.runs) > 1 else ()
    if runs:
        figure = comparison_figure({run.name: run.rows for run in runs}, x)
        found["comparison"] = inline_svg(figure, f"compared-{x}", f"Gaps of {len(runs)} runs over {x}")
    return {**found, "runs": comparison_rows(runs), "common_gap": common_gap(runs)}


def _context(data: ReportData) -> dict[str, Any]:
    import yaml

    game, solve = data.game, data.config.get("solve") or {}
    return {
        "data": data,
        "palette": PALETTE,
        "solve": solve,
        "parameters": {n: data.parameters.get(n, solve.get(n)) for n in _RULE_AND_AVERAGE},
        "bounds": value_bounds(data.evaluation),
        "noise": NOISE,
        "exact": data.finish.get("stopped_by") == "equilibrium",
        "aim": aim(game),
        "yaml": yaml.safe_dump(dict(data.config), sort_keys=False, allow_unicode=True),
        "measurements": MEASUREMENTS,
        "boards": [
            inline_svg(board_figure(game, p, "|", data.openings[p], 3), f"opening{p}", f"Opening of player {p}")
            for p in (0, 1)
        ],
        **_curves(data, "iteration"),
        "value_svg": inline_svg(value_figure(data.evaluation), "value", "Bounds on the value of the game"),
        "infosets": [_infoset(data, i) for i in range(len(data.infosets))],
    }


def render_report(data: ReportData) -> str:
    """The report as one HTML page; the same data give the same text."""
    return render_page("report.html.j2", **_context(data))


def render_measurements(data: ReportData) -> str:
    """The run's times, memory and versions as one HTML page."""
    return render_page("measurements.html.j2", data=data, palette=PALETTE, **_curves(data, "seconds"))


def write_report(data: ReportData, directory: Path) -> None:
    """Write the report and the measurements; readers see either the old or the new file, complete.

    Raises
    ------
    StoreError
        If the file cannot be written.
    """
    directory.mkdir(parents=True, exist_ok=True)
    atomic_write_text(directory / PAGE, render_report(data))
    atomic_write_text(directory / MEASUREMENTS, render_measurements(data))


def save_figures(data: ReportData, directory: Path) -> list[Path]:
    """Save the pictures :data:`FIGURES` in `directory`.

    Raises
    ------
    StoreError
        If a file cannot be written.
    """
    directory.mkdir(parents=True, exist_ok=True)
    figures = (
        convergence_figure(_methods(data), _target(data), "iteration"),
        opening_figure(data.game, data.openings),
    )
    paths = [directory / name for name in FIGURES]
    for path, figure in zip(paths, figures, strict=True):
        atomic_write_bytes(path, figure_bytes(figure, "svg"))
    return paths
