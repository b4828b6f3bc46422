"""The page of a sweep, from made-up results of its runs."""

import re

import pytest

from pttt_ooc.errors import ConfigError
from pttt_ooc.pipeline.show.comparison import RunFacts
from pttt_ooc.pipeline.sweeps import report
from pttt_ooc.pipeline.sweeps.report import SweepRun, compare, page_text


def cell(name, bounds, gaps, game="mini-2x2k2-abrupt", stopped_by="target_nashconv"):
    """A run of a sweep with a given convergence, which proves given bounds of the value."""
    algorithm, _, precision = name.partition(", ")
    rows = [
        {"iteration": 10 * n, "seconds": n / 2, "cpu_seconds": n / 3, "elapsed_seconds": n, "nashconv": gap}
        for n, gap in enumerate(gaps, 1)
    ]
    result = {"value_lower": bounds[0], "value_upper": bounds[1], "stopped_by": stopped_by, **rows[-1]}
    return SweepRun(
        {"total_infosets": [1234, 567], "histories": 89_012},
        RunFacts(name, algorithm, {"gamma": 2.0}, precision, rows, stopped_by),
        {
            **{"game": game, "symmetry": "full", "result": result, "memory": {"budget_mb": 400}},
            **{"usage": {"peak_anonymous_mb": 61.6, "threads": 2}},
            "settings": {"target_nashconv": 1e-4, "max_iterations": 1000, "max_minutes": 2.5},
        },
        {
            "solution": {
                "exploitability_0": 0.25 * gaps[-1],
                "exploitability_1": 0.75 * gaps[-1],
                "nashconv": gaps[-1],
            },
            "uniform": {"nashconv": 1.375, "exploitability_0": 1.0, "exploitability_1": 0.375},
        },
    )


@pytest.fixture(autouse=True)
def no_pictures(monkeypatch):
    """Pictures are slow, and test_grid tests them."""
    monkeypatch.setattr(report, "comparison_figure", lambda curves, x: (curves, x))
    monkeypatch.setattr(report, "inline_svg", lambda figure, name, label: f"{name}: {label}")


def text_of(page):
    return " ".join(re.sub(r"<[^>]*>", " ", page.replace("&nbsp;", " ")).split())


ONE = cell("dcfr, float64", (0.25, 0.75), [0.9, 0.5, 0.2])
OTHER = cell("sapdcfr+, float64", (0.375, 0.875), [0.6, 0.1, 0.05], stopped_by="max_iterations")


def test_the_value_is_in_the_bounds_of_all_runs():
    for runs in ([ONE, OTHER], [OTHER, ONE]):
        assert "the value for player 0 is in [0.375000, 0.750000] ." in text_of(page_text(runs))


def test_the_gaps_of_uniform_play_and_of_the_solution_differ():
    assert "Uniform play has a gap of 1.4." in text_of(page_text([ONE, OTHER]))


def test_each_run_has_its_row():
    page = page_text([ONE, OTHER])
    rows = [re.findall(r"<td>(.*?)</td>", row) for row in re.findall(r"<tr>.*?</tr>", page, re.S) if "gamma 2" in row]
    # until the run stopped, and until the smallest gap that both have reached, which is 0.2
    assert [tuple(row) for row in rows] == [
        ("30", "1.5 s", "1.0 s", "0.20", "[0.25000, 0.75000]", "0.050 / 0.15", "30", "1.5 s", "1.0 s", "62 MB"),
        ("30", "1.5 s", "1.0 s", "0.050", "[0.37500, 0.87500]", "0.013 / 0.038", "20", "1.0 s", "0.7 s", "62 MB"),
    ]
    text = text_of(page)
    assert "1,234 infosets of player 0, 567 of player 1, 89,012 histories" in text and "iterations to 0.20 " in text
    assert "2 runs of 1 game. Each run stopped at a gap of 0.00010" in text and "2.5 minutes" in text
    assert page.count("max_iterations") == 1
    assert "mini-2x2k2-abrupt-seconds: Gaps of 2 runs of mini-2x2k2-abrupt over seconds" in text


def test_games_have_their_own_sections_and_columns_their_order():
    names = ("dcfr, float64", "sapdcfr+, float64")
    others = [cell(name, (-0.5, -0.25), [0.3], "mini-2x3k2-abrupt") for name in names]
    text = text_of(page_text([*others, OTHER, ONE]))
    assert "4 runs of 2 games" in text and "is in [−0.500000, −0.250000] ." in text
    assert "is in [0.375000, 0.750000] ." in text
    assert text.index("dcfr, float64") < text.index("sapdcfr+, float64")


def test_a_sweep_of_one_run_has_a_page():
    assert "1 run of 1 game. Each run stopped at a gap of 0.00010, or after 1,000 iterations" in text_of(
        page_text([ONE])
    )


def test_an_empty_sweep_gets_a_sentence(tmp_path):
    with pytest.raises(ConfigError, match="has no runs; name games"):
        compare([], tmp_path)
    assert not list(tmp_path.iterdir())


def test_the_table_has_a_row_for_each_run(tmp_path, monkeypatch):
    monkeypatch.setattr(report, "read_run", {"one": ONE, "other": OTHER}.get)
    compare(["one", "other"], tmp_path)
    head, *rows = (tmp_path / report.TABLE).read_text().splitlines()
    assert head.startswith("game,symmetry,algorithm,precision,iteration") and len(rows) == 2
    assert rows[0].startswith("mini-2x2k2-abrupt,full,dcfr,float64,30,1.5,1.0,3,0.2,0.25,0.75,target_nashconv,")
    assert (tmp_path / report.PAGE).read_text() == page_text([ONE, OTHER])
