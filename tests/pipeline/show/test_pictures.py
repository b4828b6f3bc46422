"""The report's pictures: their labels and points."""

from __future__ import annotations

from xml.etree import ElementTree

from matplotlib.figure import Figure
from matplotlib.patches import Circle, Rectangle

from pttt_ooc.games.rules.catalogue import named_game
from pttt_ooc.pipeline.show.pictures import (
    attempts_of,
    board_figure,
    convergence_figure,
    draw_board,
    figure_bytes,
    inline_svg,
    opening_figure,
    value_bounds,
    value_figure,
)

GAME = named_game("pttt-abrupt")
OPENINGS = (
    [0.0832, 0.0, 0.0832, 0.0, 0.6672, 0.0, 0.0832, 0.0, 0.0832],
    [0.151, 0.072, 0.151, 0.072, 0.108, 0.072, 0.151, 0.072, 0.151],
)
ROWS = [{"iteration": 2**k, "seconds": 0.2 * 2**k, "nashconv": 1 / 2**k} for k in range(10)]


def board_texts(svg: bytes) -> list[str]:
    return [e.text or "" for e in ElementTree.fromstring(svg).iter() if e.tag.endswith("text")]


def test_heat_map_has_the_probabilities() -> None:
    texts = board_texts(figure_bytes(opening_figure(GAME, OPENINGS), "svg"))
    assert texts.count("0.083") == 4
    assert texts.count("0.667") == 1
    assert texts.count("0.151") == 4
    assert {"0.151", "0.072", "0.108"} <= set(texts)


def test_board_of_an_infoset_numbers_legal_squares_only() -> None:
    probabilities = [0, 0.02, 0.42, 0.03, 0, 0.01, 0.41, 0.02, 0.09]
    texts = board_texts(figure_bytes(board_figure(GAME, 0, "|0*4.", probabilities), "svg"))
    assert [t for t in texts if "." in t] == ["0.02", "0.42", "0.03", "0.01", "0.41", "0.02", "0.09"]


def test_a_board_without_probabilities_has_empty_squares_and_requested_tints() -> None:
    axes = Figure().add_axes((0, 0, 1, 1))
    draw_board(axes, GAME, 0, "|0*1*4.", highlighted=(0, 4))
    assert [text.get_text() for text in axes.texts] == [str(square) for square in range(9)]
    tints = [patch.get_alpha() for patch in axes.patches if isinstance(patch, Rectangle) and patch.get_fill()]
    assert [square for square, tint in enumerate(tints) if tint] == [0, 4]
    assert len(axes.lines) == 4 and sum(isinstance(patch, Circle) for patch in axes.patches) == 1  # two crosses, a ring


def test_convergence_draws_every_positive_gap() -> None:
    for x in ("iteration", "seconds"):
        [axes] = convergence_figure({"": [*ROWS, {"iteration": 600, "seconds": 130.0, "nashconv": 0.0}]}, 1e-3, x).axes
        line = axes.lines[-1]
        assert list(line.get_xdata()) == [row[x] for row in ROWS]
        assert list(line.get_ydata()) == [row["nashconv"] for row in ROWS]
        assert axes.get_xscale() == axes.get_yscale() == "log"


def test_value_bounds() -> None:
    assert value_bounds({"best_response_0": 0.6, "best_response_1": -0.5}) == (0.5, 0.6)
    assert value_bounds({"best_response_0": 0.6}) is None


def test_label_of_a_picture_is_escaped() -> None:
    nasty = "<script>alert('1')</script> & \"x\""
    svg = inline_svg(value_figure({"best_response_0": 0.6, "best_response_1": -0.5}), "v", nasty)
    assert "<script" not in svg
    root = ElementTree.fromstring(str(svg))
    assert root.get("aria-label") == nasty
    assert not [e for e in root.iter() if e.tag.endswith("script")]


def test_attempts_of() -> None:
    assert attempts_of("|") == []
    assert attempts_of("|0*4.") == [(0, True), (4, False)]
