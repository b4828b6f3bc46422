"""The section of the configuration, and the page that compares runs."""

import pytest
from learning import MINI

from pttt_ooc.cli.sections import check_file
from pttt_ooc.errors import ConfigError, StoreError
from pttt_ooc.learners.comparison import compare, half_gap_at
from pttt_ooc.learners.loop import Ends
from pttt_ooc.learners.runs import Run, learn


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
        ([{"name": "a", "algorithm": "xfp", "speed": 1}], "no key"),
    ],
)
def test_what_the_section_refuses(runs, sentence):
    with pytest.raises(ConfigError, match=sentence):
        checked(*runs)


def test_the_gap_at_a_time():
    rows = [{"seconds": s, "nashconv": 2 / (1 + s)} for s in (0, 30, 58, 61, 100)]
    assert half_gap_at(rows, 60) == 1 / 62
    assert half_gap_at(rows, 100) == 1 / 101
    assert half_gap_at(rows, 600) is None and half_gap_at([], 60) is None


def test_the_page_tells_each_run(tmp_path):
    directories = [
        learn(Run(MINI, "full", name, name), Ends(max_iterations=n), tmp_path)
        for name, n in (("xfp", 20), ("mccfr-external", 50))
    ]
    compare(directories, tmp_path)
    page = (tmp_path / "comparison.html").read_text()
    assert "xfp" in page and "Lanctot et al. 2009" in page and "Uniform play has" in page
    assert (tmp_path / "comparison.svg").read_bytes().startswith(b"<?xml")
    first = (tmp_path / "comparison.svg").read_bytes()
    compare(directories, tmp_path)
    assert (tmp_path / "comparison.svg").read_bytes() == first
    other = learn(Run("mini-2x2k2-abrupt", "full", "xfp", "xfp"), Ends(max_iterations=2), tmp_path)
    with pytest.raises(StoreError, match="of one game"):
        compare([*directories, other], tmp_path)
    with pytest.raises(StoreError, match="no run"):
        compare([], tmp_path)
