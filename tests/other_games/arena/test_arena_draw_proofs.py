"""proof/verify_draws.py: it proves draws of k-in-a-row that the search has found, and refuses wrong proofs."""

import gzip
import random
import re
import runpy
import sys
from collections import Counter

import numpy as np
import pytest

from pttt_ooc.other_games.arena.games.base import ArenaError
from pttt_ooc.other_games.arena.games.catalogue import game
from pttt_ooc.other_games.arena.research.kernels.open_lines import breaker_holds
from pttt_ooc.other_games.arena.research.solvers import draw_proofs, row_values
from tests.kits import verify_program
from tests.kits.verify_program import PROOF, zipped
from tests.other_games.arena.arena_kit import command
from tests.other_games.arena.fuzzed_draws import line_by_lot
from tests.other_games.arena.naive_rows import maker_wins

PROGRAM = PROOF / "verify_draws.py"
COMMITTED = {"mnk-5x4k4": (4, 5, 4, 9), "mnk-7x6k5": (5, 7, 6, 18), "mnk-8x6k5": (5, 8, 6, 1173)}
"""Length of a line, rows, columns and positions."""


def verify(path):
    """What the program prints, or its sentence if it refuses."""
    return "\n".join(verify_program.verify(path, program=PROGRAM))


def squares_of(word):
    return frozenset(square for square in range(64) if int(word) >> square & 1)


def test_the_program_is_a_page_of_the_standard_library():
    source = PROGRAM.read_text()
    assert len(source.splitlines()) <= 170
    assert set(re.findall(r"^(?:from|import) (\w+)", source, re.M)) <= set(sys.stdlib_module_names)


@pytest.mark.parametrize("name", ["mnk-5x4k4", "mnk-7x6k5", pytest.param("mnk-8x6k5", marks=pytest.mark.slow)])
def test_the_committed_draws_are_proven(name):
    need, rows, columns, positions = COMMITTED[name]
    wanted = f"proven: {need} in a row on {rows} x {columns} squares is a draw; {positions} positions"
    assert verify(PROOF / f"{name}.gz") == wanted


def test_the_command_writes_a_proof(tmp_path, capsys):
    file = tmp_path / "draw.gz"
    arguments = ["solve", "--board", "5x4", "--need", "4", "--method", "maker-breaker", "--certificate", file]
    assert re.search(r"draw\.gz: \d+ positions, \d+ bytes", command(capsys, *arguments))
    assert verify(file).startswith("proven: 4 in a row on 5 x 4 squares is a draw; ")
    assert "exists" in command(capsys, *arguments, code=1)
    with pytest.raises(ArenaError, match="there is no such proof"):
        draw_proofs.write(game("mnk:4x4+need3"), 12)


def test_wrong_proofs_are_refused(tmp_path):
    """Another board or length, lines that are missing, and pairs and replies on other squares."""
    whole = PROOF / "mnk-5x4k4.gz"
    text = gzip.decompress(whole.read_bytes()).decode("ascii")
    first, size, *lines = text.splitlines(keepends=True)
    for damaged, reason in {
        text.replace("1", "2", 1): "the first line is not 'mnk draws 1'",
        first: "the second line is not rows, columns and length",
        first + "08 8 4\n" + "".join(lines): "the second line is not rows, columns and length",
        first + "0 8 4\n" + "".join(lines): "the second line is not rows, columns and length",
        first + "5 4 x\n" + "".join(lines): "the second line is not rows, columns and length",
        first + "9 8 5\n" + "".join(lines): "the board has more than 64 squares",
        first + "5 4 3\n" + "".join(lines): "line ",
        first + "6 4 4\n" + "".join(lines): "line ",
        first + size + "".join(lines[:-1]): "the lines end too early",
        text + "A>B\n": "there are more lines than positions",
        text + "A": "the last line has no end",
        first + size[:-1]: "the last line has no end",
        "": "the first line is not 'mnk draws 1'",
        first + "8 8 4\nAIBJCKDL:\n": "line 3: the first player has a line",  # false: each set loses all its squares
        first + "5 5 3\nAFBGCH:\n": "line 3: the first player has a line",
        first + "3 3 1\nAB:\n": "line 3: the first player has a line",
        first + "3 3 3\nA CD:\n": "line 3: after the pairs there is something that is not a reply",
        first
        + size
        + "AB: CD:\n"
        + "".join(lines[1:]): "line 3: after the pairs there is something that is not a reply",
        first + "3 3 4\nA>B\n": "line 3: there are replies though none is needed",
        first + size + lines[0].replace("\n", " Z>A\n") + "".join(lines[1:]): "line 3: there is a reply to a mark that",
        first + size + ":\n" + "".join(lines[1:]): "line 3: the pairs are not whole",
        first + size + "ABC:\n" + "".join(lines[1:]): "line 3: the pairs are not whole",
        first + size + "ABBC:\n" + "".join(lines[1:]): "line 3: a square is twice in ABBC:",
        first + size + "ABCAD\n" + "".join(lines[1:]): "line 3: a square is twice in ABCAD",
        first + size + "ABC ABC\n" + "".join(lines[1:]): "line 3: a mark has two replies, or a reply is there twice",
        first + size + lines[0].replace("\n", " A>A\n") + "".join(lines[1:]): "line 3: a square is twice in A>A",
        first + size + "A+?\n" + "".join(lines[1:]): "line 3: after the pairs there is something that is not a reply",
        first + size + "AA:\n" + "".join(lines[1:]): "line 3: a square is twice in AA:",
        first + size + lines[0].replace("A>", "A>L A>", 1) + "".join(lines[1:]): "line 3: a mark has two replies",
    }.items():
        assert verify(zipped(damaged, tmp_path / "draw.gz")).startswith(f"refused: {reason}"), reason
    draw, refused = random.Random(2), 0
    for _ in range(25):
        index = draw.randrange(len(first) + len(size), len(text))
        while not text[index].isalnum():
            index = draw.randrange(len(first) + len(size), len(text))
        found = verify(zipped(text[:index] + draw.choice("ABCXYZabcxyz") + text[index + 1 :], tmp_path / "draw.gz"))
        refused += found.startswith("refused: line ")
        assert found.startswith("refused: ") or found == verify(whole)  # another square may do as well
    assert refused > 12


def test_a_line_proves_a_position_only_if_the_second_player_holds_it():
    """Positions by lot with lines by lot: whoever holds all positions that are to be proven yet holds this one."""
    program, draw, counts = runpy.run_path(str(PROGRAM)), random.Random(6), Counter()
    for _ in range(300):
        sets = {sum(1 << one for one in draw.sample(range(7), draw.randint(1, 4))) for _ in range(draw.randint(2, 6))}
        sets = program["least"](sets)
        wins = maker_wins(frozenset(squares_of(one) for one in sets), True)
        for _ in range(12):
            line = line_by_lot(draw, program, sets)
            try:
                found = program["check"](sets, line)
            except AssertionError:
                counts[wins, "refused"] += 1
                continue
            later = [maker_wins(frozenset(squares_of(one) for one in after), True) for after in found]
            assert any(later) or not wins, (sets, line)
            counts[wins, any(later), ":" in line, ">" in line] += 1
    for kind in ((False, False, False, False), (False, False, True, False), (True, True, False, True)):
        assert counts[kind] > 25, counts  # by the sum or replies with pairs; by pairs; with replies that lose
    assert counts[True, "refused"] > 600


def test_what_the_search_holds_by_pairs_is_held_though_maker_has_all_other_squares():
    """Positions by lot on 5 x 5 squares, against the brute force: the answer, and the squares on which it depends."""
    chosen = game("mnk:5x5+need4")
    form = row_values.MakerBreaker(chosen, 4).form
    lines = form.lines
    draw, held, by_pairs = random.Random(8), {False: 0, True: 0}, 0
    for _ in range(400):
        order = draw.sample(range(25), 25)
        free = sum(1 << square for square in order[:7])
        maker = sum(1 << square for square in order[7:] if draw.random() < 0.6)
        open_lines = [int(line) & ~(maker | free) == 0 for line in lines]
        if not any(open_lines) or any(
            one and int(line) & free == 0 for one, line in zip(open_lines, lines, strict=True)
        ):
            continue
        form.state[:] = open_lines
        with np.errstate(over="ignore"):
            for makers_turn in (False, True):
                holds, zone = breaker_holds(form, np.uint64(free), makers_turn)
                if holds:
                    rest = [int(line) & free & int(zone) for line in lines[np.array(open_lines)]]
                    assert not maker_wins(frozenset(squares_of(one) for one in rest), makers_turn)
                    held[makers_turn] += 1
                    by_pairs += sum(2.0 ** -(int(line) & free).bit_count() for line in lines[form.state == 1]) >= 1.0
    assert held[False] > 10 and held[True] > 10 and by_pairs > 0
