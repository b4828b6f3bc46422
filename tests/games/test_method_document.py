"""The page docs/method.md: its example is what the command prints, and its counts are those of the game."""

import re
from pathlib import Path

import pytest

from pttt_ooc.cli.commands import main
from tests.kits.cli_runner import Runner

TEXT = (Path(__file__).parents[2] / "docs/method.md").read_text(encoding="utf-8")


@pytest.mark.slow
def test_the_game_on_a_sheet_of_paper_is_evaluated_as_shown(tmp_path, capsys):
    [(words, shown)] = re.findall(r"```\n\$ pttt (.*?) --game mini-2x2k2-abrupt\n(.*?)```", TEXT, re.S)
    out = Runner(capsys, tmp_path, "mini-2x2k2-abrupt").ok(*words.split()).out.splitlines()
    lines = [re.sub(r"\s+", " ", line) for line in shown.splitlines()]
    assert len(lines) > 3 and {*lines} - {"..."} <= {re.sub(r"\s+", " ", line) for line in out}


@pytest.mark.slow
def test_the_views_are_counted(capsys):
    with pytest.raises(SystemExit):
        main(["info", "--game", "pttt-abrupt"])
    out = capsys.readouterr().out
    first, second = re.search(r"^views +([\d,]+) \(player 0 to move\) and ([\d,]+) \(player 1", out, re.M).groups()
    text = " ".join(TEXT.split())
    assert f"{first} at which player 0 moves and {second} at which player 1 moves" in text
    assert "a game of 27 billion histories" in text and re.search(r"^histories +27,1", out, re.M)
