"""The section of the configuration, and the page that compares runs."""

import pytest

from pttt_ooc.cli.sections import check_file
from pttt_ooc.errors import ConfigError, StoreError
from pttt_ooc.learners.loop import Ends
from pttt_ooc.learners.report import compare, exponent, figure_of, findings_of, half_gap, half_gap_at, times_of
from pttt_ooc.learners.runs import STAGES, LearnerRun, learn
from pttt_ooc.pipeline.stages import fsck
from tests.learners.learning_kit import MINI


def checked(*runs):
    return check_file({"learners": {"runs": list(runs)}})[1]["learners"].runs


def test_the_section_of_the_configuration():
    assert check_file({})[1]["learners"].runs == ()
    [run] = checked({"name": "mine", "algorithm": "xfp", "settings": {"power": 1}, "max_minutes": 3})
    assert (run.seed, run.settings, run.max_minutes) == (0, {"power": 1}, 3)


@pytest.mark.parametrize(
    ("runs", "sentence"),
    [
        ([{"name": "a", "algorithm": "xpf"}], "did you mean xfp"),
        ([{"name": "a/b", "algorithm": "xfp"}], "at most 64 letters"),
        ([{"name": "a", "algorithm": "xfp"}, {"name": "a", "algorithm": "psro"}], "a is there more than once"),
        ([{"name": "a", "algorithm": "xfp", "speed": 1}], r"no key learners.runs\[0\].speed \(did you mean seed\?"),
        # Not solve.alpha of another section.
        ([{"name": "a", "algorithm": "xfp", "alpha": 1}], r"\(did you mean learners.runs\[0\].settings.alpha\?\)"),
    ],
)
def test_refused_sections(runs, sentence):
    with pytest.raises(ConfigError, match=sentence):
        checked(*runs)


def test_the_gap_at_a_time():
    rows = [{"seconds": s, "nashconv": 2 / (1 + s)} for s in (0, 30, 58, 61, 100)]
    assert half_gap_at(rows, 60) == 1 / 62
    assert half_gap_at(rows, 100) == 1 / 101
    assert half_gap_at(rows, 600) is None and half_gap_at([], 60) is None


@pytest.mark.slow
def test_the_page_shows_each_run(tmp_path):
    directories = [
        learn(LearnerRun(MINI, "full", name, name), Ends(max_iterations=n), tmp_path)
        for name, n in (("xfp", 20), ("mccfr-external", 50))
    ]
    assert all((found := fsck.check(place, [STAGES])).problems == found.facts == [] for place in directories)
    compare(directories, tmp_path)
    page = (tmp_path / "comparison.html").read_text()
    assert "xfp" in page and "Lanctot et al. 2009" in page and "Uniform play has" in page
    assert (
        "The lowest mean exploitability at the end is" in page and "after 0 seconds" not in page and "0 min" not in page
    )
    assert (tmp_path / "comparison.svg").read_bytes().startswith(b"<?xml")
    first = (tmp_path / "comparison.svg").read_bytes()
    compare(directories, tmp_path)
    assert (tmp_path / "comparison.svg").read_bytes() == first
    other = learn(LearnerRun("mini-2x2k2-abrupt", "full", "xfp", "xfp"), Ends(max_iterations=2), tmp_path)
    with pytest.raises(StoreError, match="of one game"):
        compare([*directories, other], tmp_path)
    with pytest.raises(StoreError, match="no run"):
        compare([], tmp_path)


def rows_of(*gaps, seconds=(10, 20, 40, 80), states=100, last=None):
    """Rows in which both players' strategies lose half of the gap to the value 0.5 each."""
    found = []
    for k, (gap, at) in enumerate(zip(gaps, seconds, strict=True)):
        row = {"seconds": at, "iteration": k + 1, "states": states * (k + 1), "nashconv": 2 * gap}
        found.append(row | {"best_response_0": 0.5 + gap, "best_response_1": -0.5 + gap})
        if last:
            found[-1]["last_nashconv"] = 2 * last
    return found


def test_findings_follow_from_the_rows():
    runs = {
        "falls": ({}, rows_of(0.4, 0.2, 0.1, 0.05)),
        "rests": ({}, rows_of(0.3, 0.03, 0.03, 0.03, seconds=(0.5, 2, 3, 4), states=7, last=0.2)),
        "loses": ({}, rows_of(0.7, 0.7, 0.7, 0.71, seconds=(5, 6, 7, 50))),
    }
    found = findings_of(runs, 0.6)
    assert found[0] == "The lowest mean exploitability at the end is 0.030, by rests after 4 seconds."
    assert found[1] == "No better than uniform play (0.600) at the end: loses."
    assert found[2] == "At 4 seconds, when all were still running: rests 0.030."
    assert found[3].startswith("By 28 touched states, the fewest that a run ended with: rests 0.030. ")
    assert found[4].endswith("to the power of: falls -1.0.")
    assert found[5] == "The gap hardly falls any more: rests."
    assert found[6] == "The average against the last iterate: rests 0.030 against 0.20."
    assert found[7].startswith("The value of the game is between 0.47000, which player 0's strategy of rests gets")
    assert len(found) == 8 and "and 0.53000, the most that anybody gets against player 1's of rests" in found[7]
    alone = findings_of({"falls": runs["falls"]}, 0.6)
    assert alone[1] == "All runs end below uniform play (0.600)." and len(alone) == 4


def test_runs_that_end_at_once():
    """On a small game, times below a second show no power of time."""
    short = {name: ({}, rows_of(0.3, 0.1, 1e-8, 1e-12, seconds=(0.01, 0.02, 0.03, 0.0432))) for name in ("a", "b")}
    found = findings_of(short, 0.6)
    assert found[0].endswith("after 0.043 seconds.") and found[2].startswith("At 0.043 seconds, when all")
    assert not [sentence for sentence in found if "to the power of" in sentence or "no longer falls" in sentence]
    assert times_of(short) == []
    longer = {"a": ({}, rows_of(0.3, 0.1, 1e-8, 1e-12)), "b": ({}, rows_of(0.3, 0.2, 0.1, 0.05, seconds=(1, 5, 9, 12)))}
    assert "The gap fell at once to its last value: a." in findings_of(longer, 0.6)
    assert times_of(longer) == [1, 10, 60]
    assert times_of({"c": ({}, rows_of(0.3, 0.2, 0.1, 0.05, seconds=(1, 60, 600, 3600)))}) == [60, 600, 3600]


def test_twenty_five_runs_differ_in_colour_or_line():
    figure = figure_of({str(n): ({}, rows_of(0.3, 0.2, 0.1, 0.05)) for n in range(25)}, 0.6)
    for axes in figure.axes:
        *lines, uniform = axes.get_lines()
        looks = {(line.get_color(), line.get_linestyle(), line.get_linewidth()) for line in lines}
        assert len(looks) == len(lines) == 25
        assert set(uniform.get_ydata()) == {0.6}


def test_the_exponent_is_that_of_a_power_law():
    seconds = (1, 3, 10, 30, 100)
    rows = rows_of(9, *(t**-0.7 for t in seconds[1:]), seconds=seconds)
    assert exponent(rows_of(*(t**-0.7 for t in (26, 50, 100)), seconds=(26, 50, 100))) == pytest.approx(-0.7)
    assert exponent(rows) is None  # two evaluations are late ones
    assert half_gap(rows, "seconds", 29) == pytest.approx(10**-0.7) and half_gap(rows, "seconds", 0.5) is None
