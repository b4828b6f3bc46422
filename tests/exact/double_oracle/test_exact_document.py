"""The page docs/exact.md: what it shows of `pttt exact` is what the command prints."""

import re
from fractions import Fraction
from pathlib import Path

import pytest

from pttt_ooc.games.rules.catalogue import EXACT_VALUES, KNOWN_COUNTS, named_game
from pttt_ooc.games.structure.counts import counts_of
from pttt_ooc.games.structure.views import find_pairs
from tests.kits.cli_runner import Runner

pytest.importorskip("highspy")

TEXT = (Path(__file__).parents[3] / "docs/exact.md").read_text(encoding="utf-8")


def rows_below(heading):
    """The rows of the first table of games below a heading: their cells, without code marks."""
    table = re.search(r"\n\| game .*?\n\n", TEXT.partition(f"\n## {heading}\n")[2], re.S)[0]
    rows = [line.strip("| ").split(" | ") for line in table.strip().splitlines()[2:]]
    return {row[0].strip("`"): row[1:] for row in rows}


SECONDS, UNLISTED = rows_below("A value in seconds"), rows_below("Games that nobody lists")


def is_rounded(text, value):
    """Whether a decimal is a number rounded to its digits."""
    digits = len(text.partition(".")[2])
    return abs(Fraction(text) - value) <= Fraction(51, 100) / 10**digits


def plus(numbers):
    return " + ".join(f"{number:,}" for number in numbers)


def test_values_are_those_that_are_proven():
    assert len(SECONDS) == 7
    for name, row in {**SECONDS, **UNLISTED}.items():
        if ".." not in row[1]:
            assert is_rounded(row[1], EXACT_VALUES[name]), name


@pytest.mark.slow
@pytest.mark.parametrize("fence", re.findall(r"```\n(game .*?|player 0: dimension .*?)```", TEXT, re.S))
def test_what_is_shown_is_printed(fence, tmp_path, capsys):
    command = "exact" if fence.startswith("game") else "equilibria"
    run = Runner(capsys, tmp_path, "mini-2x3k2-abrupt")
    out = run.ok(command).out.splitlines() if command == "exact" else run.ok("lab", command).out.splitlines()
    for line in fence.splitlines():
        assert line == "..." or any(told.startswith(line) for told in out), line


@pytest.mark.slow
@pytest.mark.parametrize("name", SECONDS)
def test_the_table_is_of_a_run(name, tmp_path, capsys):
    game, row = named_game(name), SECONDS[name]
    found = Runner(capsys, tmp_path, name).ok("exact", "--json").json
    known = KNOWN_COUNTS.get(name, {}).get("total_infosets")
    assert row[0] == f"{sum(known or counts_of(game, find_pairs(game))['total_infosets']):,}"
    assert row[2:4] == [plus(found["support"]), plus(found["visited"])]
    assert found["lower"] - 1e-12 <= float(row[1]) <= found["upper"] + 1e-12
