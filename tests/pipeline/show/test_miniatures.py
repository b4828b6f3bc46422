"""Small pictures: what their paths mean."""

import math

from pttt_ooc.pipeline.show.miniatures import curve, nested_boards, results_bars, shaded_board, values_table


def test_the_likeliest_square_is_darkest_and_one_without_probability_is_empty():
    drawn = shaded_board(1, 3, [0.5, 0.0, 0.25], "An opening")
    assert [(s.path, s.opacity) for s in drawn.shapes if s.kind == "shade"] == [
        ("M0 0h10v10H0z", 0.75),
        ("M20 0h10v10H20z", 0.375),
    ]
    assert drawn.label == "An opening: square 0 0.500; square 1 0.000; square 2 0.250"
    assert (drawn.width, drawn.height) == (30, 10)


def test_values_have_two_colours_on_one_scale():
    drawn = values_table([[0.5, -1.0]], "Values")
    assert [(s.kind, s.opacity) for s in drawn.shapes] == [("shade", 0.375), ("other", 0.75), ("lines", 1.0)]


def test_bars_are_shares_and_a_match_without_games_is_empty():
    shapes = results_bars([(1, 2, 1), (0, 0, 0)], "Results").shapes
    assert [s.path for s in shapes if s.kind == "shade"] == ["M0 0h15v7H0z", "M0 10h0v7H0z"]
    assert [s.path for s in shapes if s.kind == "other"] == ["M45 0h15v7H45z", "M60 10h0v7H60z"]


def test_marks_of_nested_boards_are_where_their_squares_are():
    marks = ["---------"] * 9
    marks[4] = "--x------"
    drawn = nested_boards([(marks, "----o----")], "A board")
    (cross,) = [s.path for s in drawn.shapes if s.kind == "x"]
    assert cross.startswith("M16.75 10.75")  # the small board begins at 10, and the third square 6 later
    assert [s.path for s in drawn.shapes if s.kind == "other"] == ["M10 10h9v9H10z"]


def test_a_curve_falls_with_its_values():
    drawn = curve([1.0, 0.1, 0.01], "A gap", logarithmic=True)
    (path,) = [s.path for s in drawn.shapes]
    heights = [float(point.split()[1]) for point in path.removeprefix("M").split("L")]
    assert heights == sorted(heights) and math.isclose(heights[1], (heights[0] + heights[2]) / 2)
    assert curve([1.0], "One") is None and curve([0.0, -1.0, 2.0], "Logs", logarithmic=True) is None
    assert curve([3.0, 3.0], "Equal") is not None
