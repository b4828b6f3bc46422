"""The forced win of Ultimate with open boards: the search by a brute force, and the program that checks them."""

import contextlib
import gzip
import io
import random
import re
import runpy
import sys

import numpy as np
import pytest

from pttt_ooc.arena.games.base import RESULT, UNFINISHED, ArenaError
from pttt_ooc.arena.games.ultimate import Ultimate
from pttt_ooc.arena.kernels import forced_win as kernels
from pttt_ooc.arena.kernels import ultimate as rules
from pttt_ooc.arena.solvers import forced_win
from pttt_ooc.cli import commands
from tests.arena import naive_ultimate as naive
from tests.kits.verify_program import PROOF

PROGRAM = PROOF / "verify_ultimate.py"
COMMITTED = PROOF / "ultimate-open.gz"


def verify(path):
    """What the program prints, in this process; or, if it refuses, its one sentence."""
    printed, arguments = io.StringIO(), sys.argv
    try:
        sys.argv = [str(PROGRAM), str(path)]
        with contextlib.redirect_stdout(printed):
            runpy.run_path(str(PROGRAM), run_name="__main__")
    except SystemExit as end:
        assert isinstance(end.code, str) and not printed.getvalue()
        return end.code
    finally:
        sys.argv = arguments
    return printed.getvalue().strip()


def written(text, path):
    path.write_bytes(gzip.compress(text.encode("utf-8"), mtime=0))
    return path


@pytest.fixture(scope="module")
def text():
    return gzip.decompress(COMMITTED.read_bytes()).decode("ascii")


def test_the_program_is_a_page_of_the_standard_library():
    source = PROGRAM.read_text()
    assert len(source.splitlines()) <= 100
    assert set(re.findall(r"^(?:from|import) (\w+)", source, re.M)) <= set(sys.stdlib_module_names)


@pytest.mark.slow
def test_the_committed_certificate_is_proven():
    assert verify(COMMITTED) == "proven: the first player wins within 43 plies, by moves in 116777 positions"


@pytest.mark.long
def test_the_search_finds_the_committed_certificate(text):
    found = forced_win.find()
    assert found.certificate() == text
    assert isinstance(forced_win.find(41), int)


def test_the_rules_of_the_program_are_the_plain_ones():
    """In games by lot: the same moves, the same winner, boards that are full and boards that are won."""
    program = runpy.run_path(str(PROGRAM))
    draw = random.Random(3)
    winners = set()
    for _ in range(200):
        nothing = frozenset()
        position, plain = (((nothing,) * 9,) * 2, (nothing,) * 2, None), naive.Position(stay_open=True)
        for ply in range(81):
            moves = plain.moves()
            assert program["legal"](position) == moves
            if not moves:
                winners.add("draw")
                break
            move = draw.choice(moves)
            plain.make(*move)
            position, wins = program["after"](position, ply % 2, *move)
            assert wins == (plain.outcome() in ("x", "o"))
            if wins:
                winners.add(plain.outcome())
                break
    assert winners >= {"x", "o"}


def forces(position, plies, cells):
    """Whether x can force a win within so many plies: every game, no table, no order."""
    if position.outcome() or plies == 0:
        return position.outcome() == "x"
    mine = position.to_move == "x"
    answers = []
    for move in position.moves():
        after = position.copy()
        after.make(*move)
        if not mine or move[1] in cells or after.outcome() == "x":
            answers.append(forces(after, plies - 1, cells))
    return any(answers) if mine else all(answers)


def test_a_brute_force_gives_the_same_answers():
    """Late positions of games by lot, some with few cells for the first player; the table is kept between questions."""
    game, draw = Ultimate(["open"]), random.Random(8)
    states = np.zeros((rules.LENGTH + 2, rules.WORDS), dtype=np.int64)
    moves = np.zeros((rules.LENGTH + 2, rules.WIDTH), dtype=np.int64)
    answers = []
    for number in range(600):
        state, plain = game.start(), naive.Position(stay_open=True)
        for _ in range(draw.randint(40, 78)):
            if state[RESULT] == UNFINISHED:
                move = draw.choice(game.legal(state))
                state = game.play(state, move)
                plain.make(move // 9, move % 9)
        if state[RESULT] != UNFINISHED or state[rules.TARGET] == rules.ANYWHERE:
            continue
        cells = set(range(9)) if number % 2 else set(draw.sample(range(9), 4))
        table, budget = (np.zeros((256, 3), np.int64), np.zeros(256, np.int64)), np.array([0, 10**6])
        for plies in (1, 2, 3, 4, 3, 5) if len(plain.moves()) < 5 else (1, 2, 3, 2):
            states[0] = state
            found = kernels.wins_within(states, moves, 0, plies, sum(1 << c for c in cells), *table, budget)
            assert found == forces(plain, plies, cells)
            answers.append(int(found))
    assert min(sum(answers), len(answers) - sum(answers)) > 20


def test_damaged_certificates_are_refused(text, tmp_path):
    first, claim, *lines = text.split("\n")
    other = "\n".join(["44", "40" + "".join(lines)[4:]])
    for damaged, reason in {
        text.replace("win 1", "win 2"): "the first line is not 'ultimate win 1'",
        text.replace("43 plies", "many plies"): "the second line is not 'open boards, N plies'",
        "\n".join([first, claim, *lines[:3]]): "the moves end too early, after 180 positions",
        "\n".join([first, claim, "4x", *lines]): "a move is not two digits from 0 to 8",
        "\n".join([first, claim, "4", *lines]): "a move is not two digits from 0 to 8",
        "\n".join([first, claim, other]): "move 2 is not legal: 4.0",
    }.items():
        assert verify(written(damaged, tmp_path / "win.gz")).startswith("refused: "), reason
        assert reason.split(":")[0] in verify(tmp_path / "win.gz")
    assert verify(tmp_path / "none.gz").startswith("refused: ")
    assert "far too dense" in verify(written("0" * 10**6, tmp_path / "bomb.gz"))
    (tmp_path / "half.gz").write_bytes(COMMITTED.read_bytes()[:-9])
    assert "not one whole gzip file" in verify(tmp_path / "half.gz")


def test_a_first_player_who_does_not_win_is_refused(tmp_path):
    """Moves by lot: somewhere the second player wins."""
    program = runpy.run_path(str(PROGRAM))
    draw = random.Random(0)
    nothing = frozenset()
    chosen, position = [], (((nothing,) * 9,) * 2, (nothing,) * 2, None)
    wins = False
    while not wins:
        move = draw.choice(program["legal"](position))
        chosen.append(move)
        position, wins = program["after"](position, 0, *move)
        if not wins:
            position, wins = program["after"](position, 1, *program["legal"](position)[0])
    digits = "".join(f"{board}{cell}" for board, cell in chosen)
    refused = verify(written(f"ultimate win 1\nopen boards, 81 plies\n{digits}\n", tmp_path / "win.gz"))
    assert re.match(r"refused: (the second player wins after move|the moves end too early)", refused)


def test_the_command_says_that_shorter_games_do_not_win(tmp_path, capsys):
    with pytest.raises(SystemExit) as end:
        commands.main(["arena", "forced-win", "--plies", "25", "-o", str(tmp_path / "win.gz")])
    assert not end.value.code
    said = capsys.readouterr().out
    assert "no forced win within 25 plies" in said and "win.gz was not written" in said
    assert not list(tmp_path.iterdir())
    with pytest.raises(ArenaError, match="still unknown after 1000 positions"):
        forced_win.find(41, most_positions=1000)
