"""The programs of proof/ for games without secrets, fuzzed whole: no claim that a brute force finds false is accepted.

`make test` takes a slice of each fuzz; ``pytest -m long`` takes all, and its counts are in docs/exact.md.
"""

import contextlib
import random
import re
import runpy
from collections import Counter

import pytest

from tests.kits import verify_program
from tests.kits.verify_program import zipped
from tests.other_games.arena import fuzzed_draws as draws
from tests.other_games.arena import fuzzed_ultimate as ultimate
from tests.other_games.arena import naive_ultimate as naive
from tests.other_games.arena.test_arena_claims import PROGRAM as ULTIMATE
from tests.other_games.arena.test_arena_draw_proofs import PROGRAM as DRAWS

DOCUMENT = DRAWS.parents[1] / "docs" / "exact.md"
KINDS = ("by lot", "with damage", "otherwise")
"""Proofs by lot; the same with damage; the same for another board, or for the other rule of boards."""
REFUSED = re.compile(r"refused: .*[a-z]{3}.*")


def verdict(program, text, path):
    """What the command says of a text, in one line; whatever else it does, such as a traceback, ends the test."""
    said = "\n".join(verify_program.verify(zipped(text, path), program=program))
    assert REFUSED.fullmatch(said) or "refused" not in said, (text, said)
    return said


def assert_documented(program, seed, counts):
    """The document says how many claims were tried, how many of them are true, and how many were accepted."""
    true = sum(count for (_, is_true, _), count in counts.items() if is_true)
    accepted = sum(count for (_, _, is_accepted), count in counts.items() if is_accepted)
    row = f"| `{program.name}` | {seed} | {counts.total():,} | {true:,} | {accepted:,} | 0 |"
    assert row in DOCUMENT.read_text(encoding="utf-8"), row


# ---------------------------------------------------------------------------------------------
# Draws of k-in-a-row


def fuzz_draws(seed, rounds, path):
    """Proofs by lot, for each of them the same with damage and for another board; how many of each kind."""
    draw, program, counts = random.Random(seed), runpy.run_path(str(DRAWS)), Counter()

    def judge(kind, size, lines):
        said = verdict(DRAWS, draws.text_of(size, lines), path)
        rows, columns, need = size
        accepted = said.startswith(f"proven: {need} in a row on {rows} x {columns} squares is a draw; ")
        assert accepted or said.startswith("refused: "), said
        true = draws.is_drawn(*size)
        assert true or not accepted, (size, lines)
        counts[kind, true, accepted] += 1

    for _ in range(rounds):
        size = draws.board_by_lot(draw)
        lines = draws.lines_by_lot(draw, program, *size, trials=30)
        judge("by lot", size, lines)
        for _ in range(14):
            judge("with damage", size, draws.mutated(draw, lines))
        judge("otherwise", draws.board_by_lot(draw), lines)
    return counts


def test_no_false_draw_is_accepted(tmp_path):
    counts = fuzz_draws(1, 25, tmp_path / "draw.gz")
    assert all(counts[kind, True, True] > 5 and counts[kind, False, False] > 10 for kind in KINDS), counts


@pytest.mark.long
@pytest.mark.timeout(0)
def test_no_false_draw_of_many_is_accepted(tmp_path):
    assert_documented(DRAWS, 2, fuzz_draws(2, 2000, tmp_path / "draw.gz"))


# ---------------------------------------------------------------------------------------------
# Claims about Ultimate tic-tac-toe


def fuzz_ultimate(seed, rounds, path):
    """Claims by lot, for each of them the same with damage and for the other rule; how many of each kind."""
    draw, program, counts = random.Random(seed), runpy.run_path(str(ULTIMATE)), Counter()

    def judge(kind, claim, stay_open, truth):
        position = ultimate.position_of(claim, stay_open)
        if position and naive.open_squares(position) > 10:
            return  # a small board is open again, and the truth is far
        said = verdict(ULTIMATE, ultimate.text_of([claim], stay_open), path)
        first, _, last = said.partition("\n")
        accepted = first == ("open boards" if stay_open else "closed boards")
        if accepted:
            assert claim.startswith(last.removeprefix("proven: 1 claim; the last is: ")), (claim, said)
        true = ultimate.is_true(claim, stay_open, truth)
        assert true or not accepted, (claim, stay_open)
        counts[kind, true, accepted] += 1
        return true and not accepted

    for _ in range(rounds):
        stay_open, truth = draw.random() < 0.5, ultimate.Truth()
        begin, position = ultimate.late_position(draw, stay_open, draw.randint(3, 8))
        player = draw.randrange(2)
        end = truth.reached(position, player)
        near = end if end < 1000 else draw.randint(len(begin), 81)
        most = draw.choice([None, near, near, max(0, near - 1), 81])
        careless = draw.choice([0, 0, 0.05, 0.5])
        moves = ultimate.moves_by_lot(draw, program, position, begin, player, most, truth, careless)
        goal = "draws" if most is None else f"wins {most}"
        claim = f"{ultimate.digits(begin)} {player} {goal} {ultimate.digits(moves)}"
        refused = judge("by lot", claim, stay_open, truth)
        assert careless or not refused or len(moves) == ultimate.MOST_MOVES, (claim, "has a best move everywhere")
        for _ in range(10):
            judge("with damage", ultimate.mutated(draw, claim), stay_open, truth)
        judge("otherwise", claim, not stay_open, truth)
    return counts


def test_no_false_claim_about_ultimate_is_accepted(tmp_path):
    counts = fuzz_ultimate(1, 28, tmp_path / "claim.gz")
    assert all(counts[kind, True, True] > 10 for kind in KINDS[:2]), counts
    assert all(counts[kind, False, False] > 10 for kind in KINDS), counts


@pytest.mark.long
@pytest.mark.timeout(0)
def test_no_false_claim_about_ultimate_of_many_is_accepted(tmp_path):
    assert_documented(ULTIMATE, 2, fuzz_ultimate(2, 1000, tmp_path / "claim.gz"))


def test_a_false_claim_about_ultimate_finds_no_moves(tmp_path):
    """Moves by lot, each one made when the program asks for it: so they are always as many as it wants."""
    draw, program, counts = random.Random(4), {"__name__": "a module"}, Counter()
    exec(verify_program.code_of(ULTIMATE), program)
    legal, prove = program["legal"], program["prove"]
    for _ in range(14):
        stay_open, truth, asked = draw.random() < 0.5, ultimate.Truth(), []
        begin, position = ultimate.late_position(draw, stay_open, 5)
        program["legal"] = lambda there, rule, asked=asked: asked.append(there) or legal(there, rule)
        there = program["START"]
        for move in begin:
            there = program["after"](there, move, stay_open)
        for player, most in [(player, most) for player in (0, 1) for most in (None, 81)] * 3:
            moves = []
            asked.append(there)

            def moves_by_lot(moves=moves, asked=asked, stay_open=stay_open):
                while choices := legal(asked[-1], stay_open):
                    moves.append(draw.choice(choices))
                    yield moves[-1]

            with contextlib.suppress(AssertionError):  # there may be a move more, or it loses
                prove(there, player, most, moves_by_lot(), stay_open)
            goal = "draws" if most is None else f"wins {most}"
            for some in (moves, moves[:-1]):  # the last one may be the one that was left
                claim = f"{ultimate.digits(begin)} {player} {goal} {ultimate.digits(some)}"
                said = verdict(ULTIMATE, ultimate.text_of([claim], stay_open), tmp_path / "claim.gz")
                true = ultimate.is_true(claim, stay_open, truth)
                assert true or said.startswith("refused: "), (claim, said)
                counts[true, said.startswith("refused: ")] += 1
    assert counts[True, False] > 10 and counts[False, True] > 40, counts
