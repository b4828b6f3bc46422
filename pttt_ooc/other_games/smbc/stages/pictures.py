"""Pictures of a solved match: values by scores, openings by goal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from pttt_ooc.disk.numbers import decimals
from pttt_ooc.other_games.smbc.rules import BOARD, GOALS, SQUARES
from pttt_ooc.pipeline.show.pictures import PALETTE, draw_board, new_figure, style

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def values_figure(values: Mapping[str, float], winning_score: int) -> Figure:
    """A heat map of the values of all scores, for the round's first player.

    Parameters
    ----------
    values
        By scores such as ``"4-3"``: the points of the first and of the second player.
    """
    from matplotlib.patches import Rectangle

    with style():
        figure = new_figure(0.95 * winning_score + 1, 0.7 * winning_score + 0.9)
        axes = figure.add_subplot()
        for scores, value in values.items():
            mine, other = map(int, scores.split("-"))
            colour = PALETTE["shade"] if value > 0 else PALETTE["warm"]
            axes.add_patch(Rectangle((other, mine), 1, 1, facecolor=colour, alpha=0.8 * abs(value), linewidth=0))
            axes.add_patch(Rectangle((other, mine), 1, 1, fill=False, edgecolor=PALETTE["line"], linewidth=1))
            axes.text(other + 0.5, mine + 0.5, decimals(value, 4), ha="center", va="center", fontsize=9.5)
        ticks = [point + 0.5 for point in range(winning_score)]
        axes.set_xticks(ticks, [str(point) for point in range(winning_score)])
        axes.set_yticks(ticks, [str(point) for point in range(winning_score)])
        axes.set(xlim=(0, winning_score), ylim=(winning_score, 0))
        axes.set_xlabel("points of the player who moves second", fontsize=10)
        axes.set_ylabel("points of the player who moves first", fontsize=10)
        axes.tick_params(length=0)
        for side in axes.spines.values():
            side.set_visible(False)
        figure.tight_layout(pad=0.5)
        return figure


def opening_figure(opening: Sequence[Mapping[str, Any]]) -> Figure:
    """The first player's openings, a board for each goal.

    Parameters
    ----------
    opening
        See :func:`pttt_ooc.other_games.smbc.stages.findings.opening`.
    """
    with style():
        figure = new_figure(2.1 * len(GOALS), 2.4)
        for goal, name in enumerate(GOALS):
            chances = [0.0] * SQUARES
            for way in opening:
                for square in way["squares"]:
                    chances[square] = way["chances"][goal] / len(way["squares"])
            axes = figure.add_subplot(1, len(GOALS), goal + 1)
            draw_board(axes, BOARD, 0, "|", chances, digits=3)
            axes.set_title(f"goal: {name}", fontsize=11)
        figure.tight_layout()
        return figure
