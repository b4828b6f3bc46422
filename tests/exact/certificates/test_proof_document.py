"""The page on proofs: its table says what is in the certificates, and the example by hand is right."""

import re
from fractions import Fraction

import pytest

from docs.make.certificates import MINUTES, sizes
from pttt_ooc.games.rules.catalogue import EXACT_VALUES
from tests.kits.damaged_certificates import DAMAGED, NAME, zips
from tests.kits.verify_program import PROOF, text_of

ROOT = PROOF.parent
DOCUMENT = (ROOT / "docs/exact.md").read_text(encoding="utf-8")


def test_the_table_says_what_is_in_the_certificates():
    section = DOCUMENT.partition("\n## Proven values\n")[2].partition("\n## ")[0]
    rows = [line.strip("| ").split(" | ") for line in section.splitlines() if re.match(r"\| `[\w-]+`", line)]
    assert {row[0].strip("`") for row in rows} == set(EXACT_VALUES)
    highest = dict.fromkeys(EXACT_VALUES, "theorem") | dict.fromkeys(MINUTES, "program")
    assert {row[0].strip("`"): row[-1] for row in rows} == highest | {"dark-hex-4x4-classical": "page"}
    for name, value, digits, infosets, support, size, _ in rows:
        path = PROOF / f"{name.strip('`')}.txt.gz"
        assert Fraction(value.replace(" ", "")) == EXACT_VALUES[name.strip("`")], name
        assert int(digits) == len(str(EXACT_VALUES[name.strip("`")].denominator)), name
        assert (infosets, support) == sizes(path), name
        assert int(size.replace(",", "")) == path.stat().st_size, name


def test_the_readme_has_the_values():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    section = readme.partition("## Proven values")[2].partition("## ")[0]
    assert f"[{len(EXACT_VALUES)} games]" in " ".join(section.split())
    names = {"Phantom 3x3": "pttt", "Dark Hex 3x3": "dark-hex-3x3", "Phantom 2x4": "pttt-2x4k3"}
    names["Phantom 2x5"] = "pttt-2x5k3"
    rows = [line.strip("| ").split(" | ") for line in section.splitlines() if line.startswith("| ")][1:]
    assert [row[0] for row in rows] == list(names)
    for name, *values in rows:
        assert values == [str(EXACT_VALUES[f"{names[name]}-{rule}"]) for rule in ("classical", "abrupt")], name


@pytest.mark.parametrize("name", ["exact", "files"])
def test_lines_that_are_shown_are_lines_of_the_certificate(name):
    lines = text_of(NAME).splitlines()
    text = (ROOT / f"docs/{name}.md").read_text(encoding="utf-8")
    found = 0
    for fence in re.findall(r"^```\w*\n(.*?)^```", text, re.S | re.M):
        if "plan 0 33 56 68" not in fence:
            continue
        for line in fence.splitlines():
            for piece in re.split(r"\s{3,}", line):
                if piece and not re.match(r"\d \d|\.\.\.", piece):  # the board, and what is left out
                    found += 1
                    assert piece in lines, piece
    assert found >= 8


def test_the_number_of_damages_is_told():
    assert f"Here {len(DAMAGED) + len(zips())} kinds of damage are tested" in DOCUMENT


# ---------------------------------------------------------------------------------------------
# The example by hand


def plan(player):
    """What a plan of the example plays: for each infoset, the weight of each square."""
    lines = text_of(NAME).splitlines()
    first, second = lines.index("plan 0 33 56 68"), lines.index("plan 1 41 62 34")
    rows = {}
    for line in lines[first + 1 : second] if player == 0 else lines[second + 1 : -1]:
        text, *words = line.split(" ")
        rows[text] = {int(square): int(weight) for square, weight in (word.split("=") for word in words)}
    return rows


PAIRS = {frozenset(map(int, word)) for word in text_of(NAME).splitlines()[3].split(" ")[2:]}


def adjacent(one, other):
    return frozenset((one, other)) in PAIRS


def test_player_0_wins_with_weight_60_by_hand():
    """Player 1 begins at a square and attempts an adjacent one next; the sums of the text, on the way."""
    rows, worst = plan(0), 68
    for begin in range(6):
        failing = {f: rows[f"|{f}*"][begin] for f in range(6) if f != begin and begin in rows[f"|{f}*"]}
        assert sum(failing.values()) == (10 if begin in (1, 4) else 12)
        assert set(failing) == {f for f in range(6) if adjacent(f, begin)}
        for then in range(6):
            if not adjacent(begin, then):
                continue
            assert failing[then] == (2 if begin in (1, 4) else 4)
            # Player 1's second attempt is taken there, and player 0 wins.
            assert all(adjacent(then, last) and last != begin for last in rows[f"|{then}*{begin}."])
            lost = sum(failing.values()) - failing[then]
            assert lost == 8
            worst = min(worst, (68 - lost) - lost)
    assert Fraction(worst, 68) == EXACT_VALUES[NAME]
    assert rows["|0*1."] == {3: 2}


def test_player_0_wins_with_weight_30_of_34_by_hand():
    rows = plan(1)
    for begin in range(6):
        for then in range(6):
            if not adjacent(begin, then):
                continue
            there = rows["|"][then]
            assert there == (5 if then in (1, 4) else 6)
            assert rows[f"|{then}*"][begin] == (1 if then in (1, 4) else 2)
            assert all(adjacent(then, next_one) for next_one in rows[f"|{then}*"])
            lost = there - rows[f"|{then}*"][begin]
            assert lost == 4
            assert Fraction(34 - 2 * lost, 34) == EXACT_VALUES[NAME]
