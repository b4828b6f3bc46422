"""The report's pictures: boards, the gap over iterations and time, bounds on the value.

The same data give the same bytes.  Matplotlib is imported on use, so that commands start quickly.
"""

from __future__ import annotations

import io
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from pttt_ooc.games.rules.game import Game
from pttt_ooc.games.rules.infoset_text import attempts_of

if TYPE_CHECKING:
    from markupsafe import Markup
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

ConvergenceRow = Mapping[str, Any]
"""One evaluation during a solve: ``iteration``, ``seconds``, ``nashconv``, ..."""

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
"""Colours of the pictures; on the page each is a CSS variable, which the dark scheme overrides."""

LABEL = 11
"""Size of the labels of charts: at about 400 pixels it is that of the text around them."""

_LINE_COLOURS = ("accent", "warm", "muted", "shade", "ink")  # of compared curves
_LINE_STYLES = ("-", "--", ":")  # of the first five, the next five, ...

_STYLE = {
    **{"svg.fonttype": "none", "svg.hashsalt": "pttt-ooc", "figure.facecolor": PALETTE["paper"]},
    **{"axes.facecolor": "none", "axes.spines.top": False, "axes.spines.right": False, "grid.linewidth": 0.5},
    **dict.fromkeys(("axes.edgecolor", "xtick.color", "ytick.color", "grid.color"), PALETTE["line"]),
    **dict.fromkeys(("axes.labelcolor", "xtick.labelcolor", "ytick.labelcolor"), PALETTE["muted"]),
    "text.color": PALETTE["ink"],
}


@contextmanager
def style() -> Iterator[None]:
    """The style of all pictures, for the block."""
    from matplotlib.style import context

    with context(["default", _STYLE]):  # "default": ignore the user's matplotlibrc
        yield


def new_figure(width: float, height: float) -> Figure:
    """An empty picture; its size is in inches."""
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), dpi=150)


def draw_board(
    axes: Axes,
    game: Game,
    player: int,
    text: str,
    probabilities: Sequence[float] | None = None,
    digits: int = 2,
    highlighted: Collection[int] = (),
) -> None:
    """Draw what `player` knows at an infoset: own marks dark, the opponent's marks that they have found pale.

    Parameters
    ----------
    text
        The infoset's text.
    probabilities
        One for each square, shown on legal squares.  None: these stay empty.
    digits
        Decimals of a probability.
    highlighted
        Squares with a tinted background.
    """
    from matplotlib.patches import Rectangle

    # What the player knows: their setup and successes, and the opponent's marks on which they failed.
    marks = {s: player for s in range(game.squares) if game.setup_mask(player) >> s & 1}
    marks |= {s: player if placed else 1 - player for s, placed in attempts_of(text)}
    most = max(max(probabilities or (0.0,)), 1e-12)
    for square in range(game.squares):
        y, x = divmod(square, game.columns)
        p = 0.0 if square in marks or probabilities is None else probabilities[square]
        # The shade of a square follows its probability; the largest is the darkest, and highlighted squares are all
        # alike.
        tint = 0.2 if square in highlighted else max(0.75 * p / most, 0)
        axes.add_patch(Rectangle((x, y), 1, 1, facecolor=PALETTE["shade"], alpha=tint, linewidth=0))
        axes.add_patch(Rectangle((x, y), 1, 1, fill=False, edgecolor=PALETTE["line"], linewidth=1))
        axes.text(x + 0.07, y + 0.07, str(square), fontsize=9, va="top", color=PALETTE["muted"])
        # A mark stands on its square; a square that may be attempted has its probability, if there are any.
        if square in marks:
            _draw_mark(axes, x + 0.5, y + 0.5, marks[square], PALETTE["ink" if marks[square] == player else "line"])
        elif probabilities is not None:
            label = f"{p:.{digits}f}" if round(p, digits) else "0"
            colour = PALETTE["ink" if round(p, digits) else "muted"]
            axes.text(x + 0.5, y + 0.56, label, ha="center", va="center", fontsize=10.5, color=colour)
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
    """One infoset as a board."""
    with style():
        figure = new_figure(0.65 * game.columns, 0.65 * game.rows)
        draw_board(figure.add_axes((0, 0, 1, 1)), game, player, text, probabilities, digits)
        return figure


def opening_board(game: Game, player: int, probabilities: Sequence[float]) -> Markup:
    """A player's first infoset as a board for a page."""
    return inline_svg(
        board_figure(game, player, "|", probabilities, 3), f"opening{player}", f"Opening of player {player}"
    )


def opening_figure(game: Game, openings: tuple[Sequence[float], Sequence[float]]) -> Figure:
    """Both players' opening probabilities, side by side."""
    with style():
        figure = new_figure(1.7 * game.columns, 0.8 * game.rows + 0.4)
        for player in (0, 1):
            axes = figure.add_subplot(1, 2, player + 1)
            draw_board(axes, game, player, "|", openings[player], digits=3)
            axes.set_title(f"Player {player} {MARKS[player]}", fontsize=11)
        figure.tight_layout()
        return figure


def convergence_figure(curves: Mapping[str, Sequence[ConvergenceRow]], target: float | None, x: str) -> Figure:
    """The gap (NashConv) of one run, by method, over ``"iteration"`` or ``"seconds"``, log-log."""
    with style():
        figure = new_figure(4.2, 3.1)
        axes = figure.add_subplot(1, 1, 1)
        _draw_gap(axes, curves, x, target)
        if len(curves) > 1 and axes.lines:
            axes.set_xlabel({"iteration": "iterations, or rounds", "seconds": "seconds"}[x], fontsize=LABEL)
            axes.legend(loc="lower left", fontsize=LABEL, frameon=False)
        figure.tight_layout(pad=0.5)
        return figure


def comparison_figure(curves: Mapping[str, Sequence[ConvergenceRow]], x: str) -> Figure:
    """The gap of several runs, by their names, over ``"iteration"`` or ``"seconds"``, log-log."""
    with style():
        figure = new_figure(4.2, 3.1 + 0.2 * len(curves))
        axes = figure.add_subplot(1, 1, 1)
        _draw_gap(axes, curves, x, None)
        if axes.lines:
            axes.legend(loc="upper left", bbox_to_anchor=(0, -0.24), fontsize=LABEL, frameon=False, borderaxespad=0)
        figure.tight_layout(pad=0.5)
        return figure


def _points(rows: Sequence[ConvergenceRow], x: str) -> list[tuple[float, float]]:
    points = [(row.get(x) or 0, row.get("nashconv") or 0) for row in rows]
    return [(a, b) for a, b in points if a > 0 and b > 0]


def _draw_gap(axes: Axes, curves: Mapping[str, Sequence[ConvergenceRow]], x: str, target: float | None) -> None:
    """Draw the gap over `x`: one line for each named curve, and a dashed line for the target."""
    lines = {name: _points(rows, x) for name, rows in curves.items()}
    points = [point for line in lines.values() for point in line]
    axes.set_xlabel({"iteration": "iterations", "seconds": "seconds of iterations"}[x], fontsize=LABEL)
    axes.set_title("gap (NashConv)", fontsize=LABEL, loc="left", color=PALETTE["muted"])
    if not points:
        axes.text(0.5, 0.5, "no gap above zero to draw", ha="center", transform=axes.transAxes)
        axes.set(xticks=[], yticks=[])
        return
    xs, ys = zip(*points, strict=True)
    levels = [*ys, target] if target else [*ys]
    axes.set(xscale="log", yscale="log", ylim=(min(levels) / 1.8, max(levels) * 1.8))
    axes.set_xlim(min(xs) / 1.5, max(xs) * 1.5)
    log_ticks(axes.xaxis, max(xs) / min(xs))
    log_ticks(axes.yaxis, max(levels) / min(levels))
    axes.tick_params(labelsize=LABEL)
    axes.grid(True)
    if target:
        axes.axhline(target, color=PALETTE["muted"], linewidth=1, linestyle=(0, (4, 3)))
        axes.annotate(
            f"target {target:g}",
            (0.03, target),
            xycoords=axes.get_yaxis_transform(),
            xytext=(0, -3),
            textcoords="offset points",
            va="top",
            fontsize=LABEL,
            color=PALETTE["muted"],
        )
    for i, (name, line) in enumerate(lines.items()):
        colour, style = PALETTE[_LINE_COLOURS[i % len(_LINE_COLOURS)]], _LINE_STYLES[i // len(_LINE_COLOURS) % 3]
        xs, ys = zip(*line, strict=True) if line else ((), ())
        axes.plot(xs, ys, color=colour, linewidth=1.6, linestyle=style, marker="o", markersize=3.2, label=name)


def log_ticks(axis: Any, ratio: float) -> None:
    """Ticks of a logarithmic axis, at plain numbers; `ratio` is that of its ends."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

    axis.set_major_locator(LogLocator(subs=(1.0,) if ratio > 30 else (1.0, 2.0, 5.0)))
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.6g}".replace("e-0", "e-")))
    axis.set_minor_locator(NullLocator())


def value_figure(evaluation: Mapping[str, Any]) -> Figure:
    """Intervals that hold the value of the game: the one this solution proves, and the one the table uses."""
    found = [
        ("best responses to this solution", value_bounds(evaluation), "accent"),
        ("used for v* in the table", evaluation.get("game_value"), "warm"),
    ]
    bars = [(label, bounds, colour) for label, bounds, colour in found if bounds]
    with style():
        height = 0.5 + 0.5 * len(bars)
        figure = new_figure(4.2, height)
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
            axes.text(0.5, -y + 0.3, label, transform=axes.get_yaxis_transform(), ha="center", fontsize=LABEL)
        ends = [end for _, bounds, _ in bars for end in bounds] or [-1.0, 1.0]
        pad = max(0.12 * (max(ends) - min(ends)), 1e-6)
        axes.set(xlim=(min(ends) - pad, max(ends) + pad), ylim=(0.4 - len(bars), 0.7), yticks=[])
        axes.spines["left"].set_visible(False)
        axes.ticklabel_format(axis="x", useOffset=False)
        axes.locator_params(axis="x", nbins=4)
        axes.tick_params(labelsize=LABEL)
        return figure


def value_bounds(evaluation: Mapping[str, Any]) -> tuple[float, float] | None:
    """Bounds on the value of the game that the two best responses prove; None if one is missing."""
    low, high = evaluation.get("best_response_1"), evaluation.get("best_response_0")
    return None if low is None or high is None else (min(-low, high), max(-low, high))  # rounding may exchange them


def figure_bytes(figure: Figure, kind: str) -> bytes:
    """A figure as ``"svg"`` or ``"png"``, the same bytes every time."""
    stamps: dict[str, Any] = {"Date": None, "Creator": None} if kind == "svg" else {"Software": None}
    buffer = io.BytesIO()
    with style():
        figure.savefig(buffer, format=kind, metadata=stamps)
    return buffer.getvalue()


def inline_svg(figure: Figure, name: str, label: str) -> Markup:
    """A figure for the page, with CSS variables as colours, the page's font, and ids prefixed by `name`."""
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
