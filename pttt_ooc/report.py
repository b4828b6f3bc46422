"""The report on a solution: one self-contained HTML page, and its pictures as files.

The page is made from plain data only (:class:`ReportData`), holds its pictures as inline SVG and needs
neither scripts nor a network.  The same data give the same bytes.  Text and layout are in
``templates/report.html.j2``; this module prepares numbers, sentences and pictures.

Matplotlib, Jinja and YAML are imported on use, for the command line's sake.
"""

from __future__ import annotations

import io
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pttt_ooc.game import Game

if TYPE_CHECKING:
    from markupsafe import Markup
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Row = Mapping[str, Any]
Attempts = list[tuple[int, bool]]
"""An infoset's squares in order, each with whether the mark was placed."""

MARKS = "×○"

PALETTE = {
    "ink": "#1f2933",
    "muted": "#66727f",
    "line": "#c9d0d7",
    "accent": "#1d5f9e",
    "shade": "#62a1dd",
    "warm": "#b4541a",
    "paper": "#fefefe",
}
"""Colours of the pictures; on the page each is a CSS variable, which the dark scheme sets anew."""

_STYLE = {
    **{"svg.fonttype": "none", "svg.hashsalt": "pttt-ooc", "figure.facecolor": PALETTE["paper"]},
    **{"axes.facecolor": "none", "axes.spines.top": False, "axes.spines.right": False, "grid.linewidth": 0.5},
    **dict.fromkeys(("axes.edgecolor", "xtick.color", "ytick.color", "grid.color"), PALETTE["line"]),
    **dict.fromkeys(("axes.labelcolor", "xtick.labelcolor", "ytick.labelcolor"), PALETTE["muted"]),
    "text.color": PALETTE["ink"],
}


@dataclass(frozen=True)
class InfosetPicture:
    """One infoset to show: its text in the course's notation (``|0*4.``) and a probability for every square."""

    player: int
    text: str
    probabilities: Sequence[float]


@dataclass(frozen=True)
class StageFacts:
    """What one stage of the workflow cost: wall-clock time, peak memory, threads (None: unknown)."""

    name: str
    seconds: float | None = None
    peak_mb: float | None = None
    threads: int | None = None
    note: str = ""


@dataclass(frozen=True)
class ReportData:
    """All that the report is made from; what is empty is left out.

    Attributes
    ----------
    config
        The configuration, as its YAML file says it.
    evaluation, uniform_evaluation
        Of the solution and of uniform play: ``value``, ``best_response_0``, ``best_response_1``, ``nashconv``,
        ``exploitability_0``, ``exploitability_1``, ``game_value`` (an interval).
    convergence
        Rows of ``convergence.jsonl``: ``iteration``, ``seconds``, ``nashconv``, ``value_lower``, ``value_upper``.
    openings
        For each player, the probability of each square at its first infoset.
    stages
        In the order in which they ran.
    counts, versions, digests
        Sizes of the game, versions of libraries, content hashes: label by label.
    parameters
        The algorithm's alpha, beta and gamma in effect; those that are missing are taken from `config`.
    commands
        What to type to reproduce the solution.
    """

    game: Game
    config: Mapping[str, Any]
    evaluation: Mapping[str, Any]
    convergence: Sequence[Row]
    openings: tuple[Sequence[float], Sequence[float]]
    uniform_evaluation: Mapping[str, Any] = field(default_factory=dict)
    infosets: Sequence[InfosetPicture] = ()
    stages: Sequence[StageFacts] = ()
    counts: Mapping[str, Any] = field(default_factory=dict)
    parameters: Mapping[str, Any] = field(default_factory=dict)
    versions: Mapping[str, Any] = field(default_factory=dict)
    digests: Mapping[str, str] = field(default_factory=dict)
    commands: Sequence[str] = ("make env", "make solve")
    title: str = "Phantom Tic-Tac-Toe, solved"
    date: str = ""


# ---------------------------------------------------------------------------------------------
# Numbers and sentences


def decimals(number: float | None, digits: int = 5) -> str:
    """A number with a fixed number of decimals, a true minus sign and no negative zero."""
    if number is None:
        return "—"
    text = f"{number:.{digits}f}"
    return text.lstrip("-") if float(text) == 0 else text.replace("-", "−")


def interval(bounds: Sequence[float], digits: int = 5) -> str:
    """An interval, its ends rounded outward: what is proved stays true in print."""
    low, high = (round(end * 10**digits, 4) for end in bounds)  # 4: no step for an error in the 16th digit
    return f"[{decimals(math.floor(low) / 10**digits, digits)}, {decimals(math.ceil(high) / 10**digits, digits)}]"


def gap(number: float | None) -> str:
    """A small number to three significant digits."""
    if number is None:
        return "—"
    mantissa, _, exponent = f"{number:.3g}".partition("e")
    power = f" × 10{str(int(exponent)).translate(str.maketrans('-0123456789', '⁻⁰¹²³⁴⁵⁶⁷⁸⁹'))}" if exponent else ""
    return mantissa.replace("-", "−") + power


def duration(seconds: float | None) -> str:
    """A time span in the unit that suits it."""
    if seconds is None:
        return "—"
    if seconds < 99.95:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest:02d} s" if minutes < 60 else f"{minutes // 60} h {minutes % 60:02d} min"


def thousands(number: Any) -> str:
    """An integer with thin spaces between its thousands; anything else as it is."""
    return f"{number:,}".replace(",", "\u202f") if isinstance(number, int) else str(number)


def attempts_of(text: str) -> Attempts:
    """The attempts of an infoset's text, in order: (square, whether it was placed)."""
    return [(int(square), outcome == "*") for square, outcome in re.findall(r"(\d+)([*.])", text)]


def _listed(squares: Sequence[int]) -> str:
    words = [str(s) for s in squares]
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


def _seen(attempts: Attempts) -> str:
    words: list[str] = []
    for i, (square, placed) in enumerate(attempts):
        same = i > 0 and attempts[i - 1][1] == placed
        words.append(f"{square}" if same else f"{'placed' if placed else 'failed on'} {square}")
    return ", ".join(words).capitalize() or "Before its first attempt"


def infoset_sentence(game: Game, picture: InfosetPicture) -> str:
    """What an infoset's player knows and what it does most, in one sentence."""
    attempts, p = attempts_of(picture.text), picture.probabilities
    taken = {s for s, _ in attempts} | {s for s in range(game.squares) if game.opening_mask(picture.player) >> s & 1}
    legal = sorted((s for s in range(game.squares) if s not in taken), key=lambda s: (-round(p[s], 3), s))
    top = [s for s in legal if p[s] > p[legal[0]] - 0.005]
    seen = f"{_seen(attempts)}: player {picture.player}"
    if not legal or p[legal[0]] <= 0:
        return f"{seen} has no square to attempt."
    best = f"{p[legal[0]]:.0%}"
    if len(top) == len(legal) > 1:
        return f"{seen} attempts all {len(legal)} squares left alike."
    if len(top) > 1:
        return f"{seen} attempts {_listed(sorted(top))} most often ({best} each)."
    placed = sum({1 << s for s, ok in attempts if ok}) | game.opening_mask(picture.player) | 1 << top[0]
    wins = ", which wins if it is empty" if game.wins(picture.player, placed) else ""
    if len(legal) == 1 or p[top[0]] >= 0.995:
        return f"{seen} always attempts {top[0]}{wins}."
    also = f" and then {legal[1]} ({p[legal[1]]:.0%})" if p[legal[1]] >= 0.005 else ""
    return f"{seen} attempts {top[0]} most often ({best}{wins}){also}."


# ---------------------------------------------------------------------------------------------
# Pictures


@contextmanager
def _style() -> Iterator[None]:
    from matplotlib.style import context

    with context(["default", _STYLE]):  # "default": no user's matplotlibrc in the bytes
        yield


def _figure(width: float, height: float) -> Figure:
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), dpi=150)


def draw_board(axes: Axes, game: Game, player: int, text: str, probabilities: Sequence[float], digits: int = 2) -> None:
    """Draw what `player` knows at the infoset `text` and its probabilities in the legal squares.

    Own marks are dark; a failed attempt shows the opponent's mark, pale.
    """
    from matplotlib.patches import Rectangle

    marks = {s: player for s in range(game.squares) if game.opening_mask(player) >> s & 1}
    marks |= {s: player if placed else 1 - player for s, placed in attempts_of(text)}
    most = max(max(probabilities), 1e-12)
    for square in range(game.squares):
        y, x = divmod(square, game.columns)
        p = 0.0 if square in marks else probabilities[square]
        axes.add_patch(Rectangle((x, y), 1, 1, facecolor=PALETTE["shade"], alpha=max(0.75 * p / most, 0), linewidth=0))
        axes.add_patch(Rectangle((x, y), 1, 1, fill=False, edgecolor=PALETTE["line"], linewidth=1))
        axes.text(x + 0.07, y + 0.07, str(square), fontsize=6.5, va="top", color=PALETTE["muted"])
        if square in marks:
            _draw_mark(axes, x + 0.5, y + 0.5, marks[square], PALETTE["ink" if marks[square] == player else "line"])
        else:
            shown = f"{p:.{digits}f}" if round(p, digits) else "0"
            colour = PALETTE["ink" if round(p, digits) else "muted"]
            axes.text(x + 0.5, y + 0.56, shown, ha="center", va="center", fontsize=10.5, color=colour)
    axes.set(xlim=(-0.02, game.columns + 0.02), ylim=(game.rows + 0.02, -0.02), aspect="equal")
    axes.axis("off")


def _draw_mark(axes: Axes, x: float, y: float, player: int, colour: str) -> None:
    from matplotlib.patches import Circle

    if player == 0:
        for slope in (1, -1):
            axes.plot([x - 0.2, x + 0.2], [y - 0.2 * slope, y + 0.2 * slope], color=colour, linewidth=3)
    else:
        axes.add_patch(Circle((x, y), 0.22, fill=False, edgecolor=colour, linewidth=3))


def board_figure(game: Game, player: int, text: str, probabilities: Sequence[float], digits: int = 2) -> Figure:
    """One infoset as a board of its own."""
    with _style():
        figure = _figure(0.65 * game.columns, 0.65 * game.rows)
        draw_board(figure.add_axes((0, 0, 1, 1)), game, player, text, probabilities, digits)
        return figure


def opening_figure(game: Game, openings: tuple[Sequence[float], Sequence[float]]) -> Figure:
    """Both players' opening probabilities, side by side."""
    with _style():
        figure = _figure(1.7 * game.columns, 0.8 * game.rows + 0.4)
        for player in (0, 1):
            axes = figure.add_subplot(1, 2, player + 1)
            draw_board(axes, game, player, "|", openings[player], digits=3)
            axes.set_title(f"Player {player} {MARKS[player]}", fontsize=11)
        figure.tight_layout()
        return figure


def convergence_figure(
    rows: Sequence[Row], target: float | None = None, panels: Sequence[str] = ("iteration", "seconds")
) -> Figure:
    """The gap (NashConv) over iterations and over time, log-log, a panel for each."""
    with _style():
        figure = _figure(4.2 * len(panels), 3.1)
        for i, x in enumerate(panels):
            _draw_gap(figure.add_subplot(1, len(panels), i + 1), rows, x, target)
        figure.tight_layout(pad=0.5)
        return figure


def _draw_gap(axes: Axes, rows: Sequence[Row], x: str, target: float | None) -> None:
    points = [(row.get(x) or 0, row.get("nashconv") or 0) for row in rows]
    points = [(a, b) for a, b in points if a > 0 and b > 0]
    axes.set_xlabel({"iteration": "iterations", "seconds": "seconds of iterations"}[x], fontsize=10)
    axes.set_title("gap (NashConv)", fontsize=10, loc="left", color=PALETTE["muted"])
    if not points:
        axes.text(0.5, 0.5, "no gap above zero to draw", ha="center", transform=axes.transAxes)
        axes.set(xticks=[], yticks=[])
        return
    xs, ys = zip(*points, strict=True)
    levels = [*ys, target] if target else [*ys]
    axes.set(xscale="log", yscale="log", ylim=(min(levels) / 1.8, max(levels) * 1.8))
    axes.set_xlim(min(xs) / 1.5, max(xs) * 1.5)
    _log_ticks(axes.xaxis, max(xs) / min(xs))
    _log_ticks(axes.yaxis, max(levels) / min(levels))
    axes.tick_params(labelsize=9.5)
    axes.grid(True)
    if target:
        axes.axhline(target, color=PALETTE["warm"], linewidth=1, linestyle=(0, (4, 3)))
        across = axes.get_yaxis_transform()
        axes.text(0.03, target * 1.15, f"target {target:g}", transform=across, fontsize=9, color=PALETTE["warm"])
    axes.plot(xs, ys, color=PALETTE["accent"], linewidth=1.6, marker="o", markersize=3.2)


def _log_ticks(axis: Any, ratio: float) -> None:
    from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

    axis.set_major_locator(LogLocator(subs=(1.0,) if ratio > 30 else (1.0, 2.0, 5.0)))
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:.6g}"))
    axis.set_minor_locator(NullLocator())


def value_figure(evaluation: Mapping[str, Any]) -> Figure:
    """The intervals that hold the value of the game: what this solution proves, and what the table uses."""
    found = [
        ("best responses to this solution", value_bounds(evaluation), "accent"),
        ("used for v* in the table", evaluation.get("game_value"), "warm"),
    ]
    bars = [(label, bounds, colour) for label, bounds, colour in found if bounds]
    with _style():
        height = 0.5 + 0.5 * len(bars)
        figure = _figure(4.2, height)
        axes = figure.add_axes((0.03, 0.4 / height, 0.94, 0.5 * len(bars) / height))
        for y, (label, (low, high), colour) in enumerate(bars):
            axes.plot(
                [low, high],
                [-y, -y],
                color=PALETTE[colour],
                linewidth=4,
                solid_capstyle="butt",
                marker="|",
                markersize=9,
            )
            axes.text(0.5, -y + 0.3, label, transform=axes.get_yaxis_transform(), ha="center", fontsize=9)
        ends = [end for _, bounds, _ in bars for end in bounds] or [-1.0, 1.0]
        pad = max(0.12 * (max(ends) - min(ends)), 1e-6)
        axes.set(xlim=(min(ends) - pad, max(ends) + pad), ylim=(0.4 - len(bars), 0.7), yticks=[])
        axes.spines["left"].set_visible(False)
        axes.ticklabel_format(axis="x", useOffset=False)
        axes.locator_params(axis="x", nbins=4)
        axes.tick_params(labelsize=9)
        return figure


def value_bounds(evaluation: Mapping[str, Any]) -> tuple[float, float] | None:
    """Bounds on the value of the game that the two best responses prove; None if they are not there."""
    low, high = evaluation.get("best_response_1"), evaluation.get("best_response_0")
    return None if low is None or high is None else (-low, high)


def figure_bytes(figure: Figure, kind: str) -> bytes:
    """A figure as ``"svg"`` or ``"png"``, the same bytes every time."""
    stamps: dict[str, Any] = {"Date": None, "Creator": None} if kind == "svg" else {"Software": None}
    buffer = io.BytesIO()
    with _style():
        figure.savefig(buffer, format=kind, metadata=stamps)
    return buffer.getvalue()


def inline_svg(figure: Figure, name: str, label: str) -> Markup:
    """A figure for the page: its colours CSS variables, its font the page's, its ids with `name` in front."""
    from markupsafe import Markup, escape

    text = figure_bytes(figure, "svg").decode()
    text = re.sub(
        r"<metadata>.*?</metadata>|<defs>\s*<style.*?</defs>", "", text[text.index("<svg") :], flags=re.DOTALL
    )
    text = re.sub(r'xlink:href="#| id="|url\(#', lambda m: f"{m[0].replace('xlink:', '')}{name}-", text)
    text = re.sub(r"font-family: [^;]*; ?", "", text)
    for variable, colour in PALETTE.items():
        text = text.replace(colour, f"var(--{variable})")
    view = re.search(r'viewBox="[^"]*"', text)
    head = f'<svg role="img" aria-label="{escape(label)}" {view[0] if view else ""}>'
    return Markup(head + re.sub(r"\s+", " ", text[text.index(">") + 1 :]).strip())


def save_figures(data: ReportData, directory: Path) -> list[Path]:
    """Save ``convergence``, ``opening`` and ``value`` in `directory`, each as ``.svg`` and ``.png``.

    Raises
    ------
    StoreError
        If a file cannot be written.
    """
    from pttt_ooc.store import atomic_write_bytes

    directory.mkdir(parents=True, exist_ok=True)
    figures = {
        "convergence": convergence_figure(data.convergence, _target(data)),
        "opening": opening_figure(data.game, data.openings),
        "value": value_figure(data.evaluation),
    }
    paths = {directory / f"{name}.{kind}": (name, kind) for name in figures for kind in ("svg", "png")}
    for path, (name, kind) in paths.items():
        atomic_write_bytes(path, figure_bytes(figures[name], kind))
    return list(paths)


# ---------------------------------------------------------------------------------------------
# The page


def _target(data: ReportData) -> float | None:
    target = (data.config.get("solve") or {}).get("target_nashconv")
    return float(target) if target else None


def _infoset(data: ReportData, number: int) -> dict[str, Any]:
    shown = data.infosets[number]
    sentence = infoset_sentence(data.game, shown)
    figure = board_figure(data.game, shown.player, shown.text, shown.probabilities)
    return {**vars(shown), "sentence": sentence, "svg": inline_svg(figure, f"infoset{number}", sentence)}


def _context(data: ReportData) -> dict[str, Any]:
    import yaml

    game, target, solve = data.game, _target(data), data.config.get("solve") or {}
    sizes = {w.bit_count() for sets in game.winning_sets for w in sets}
    return {
        "data": data,
        "palette": PALETTE,
        "solve": solve,
        "parameters": {n: data.parameters.get(n, solve.get(n)) for n in ("alpha", "beta", "gamma")},
        "bounds": value_bounds(data.evaluation),
        "in_a_row": sizes.pop() if len(sizes) == 1 and len(set(game.winning_sets)) == 1 else None,
        "yaml": yaml.safe_dump(dict(data.config), sort_keys=False, allow_unicode=True),
        "panels": [
            inline_svg(convergence_figure(data.convergence, target, [x]), x, f"Gap over {x}, both axes logarithmic")
            for x in ("iteration", "seconds")
        ],
        "boards": [
            inline_svg(board_figure(game, p, "|", data.openings[p], 3), f"opening{p}", f"Opening of player {p}")
            for p in (0, 1)
        ],
        "value_svg": inline_svg(value_figure(data.evaluation), "value", "Bounds on the value of the game"),
        "infosets": [_infoset(data, i) for i in range(len(data.infosets))],
    }


def render_report(data: ReportData) -> str:
    """The report as one HTML page; the same data give the same text."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("pttt_ooc"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=StrictUndefined,
    )
    environment.filters |= {
        "decimals": decimals,
        "gap": gap,
        "interval": interval,
        "duration": duration,
        "thousands": thousands,
    }
    return environment.get_template("report.html.j2").render(_context(data))


def write_report(data: ReportData, path: Path) -> None:
    """Write the report; a reader finds the old file or the new one, whole.

    Raises
    ------
    StoreError
        If the file cannot be written.
    """
    from pttt_ooc.store import atomic_write_text

    text = render_report(data)
    path.parent.mkdir(parents=True, exist_ok=True)
    atomic_write_text(path, text)
