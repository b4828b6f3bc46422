"""The page docs/score.md: the numbers that it shows of a score are those of the command."""

import re
from pathlib import Path

import pytest

from tests.kits.cli_runner import Runner

TEXT = (Path(__file__).parents[3] / "docs/score.md").read_text(encoding="utf-8")


@pytest.mark.slow
def test_the_score_of_uniform_play_is_as_shown(tmp_path, capsys):
    [shown] = re.findall(r"```\n(dark-hex-3x3-classical, .*?)```", TEXT, re.S)
    found = Runner(capsys, tmp_path, "dark-hex-3x3-classical").ok("lab", "score", "uniform", "--json").json
    sides = [f"{found[name]:.6f}" for name in ("exploitability_0", "exploitability_1")]
    totals = [f"{found['nashconv'] / 2:.6f}", f"{found['nashconv']:.6f}"]
    place = found["ladder"]
    told = re.findall(r"\d[\d.,]*\d|\d", shown.replace("dark-hex-3x3-classical", "").replace("as player", ""))
    numbers = [*totals, sides[0], "0", sides[1], "1", f"{found['infosets']:,}", str(place["place"])]
    assert told == [*numbers, str(place["rows"] + 1)]
