"""The forced win of Ultimate with open boards: the search, by a brute force."""

import gzip
import random

import numpy as np
import pytest

from pttt_ooc.other_games.arena.games.base import RESULT, UNFINISHED, ArenaError
from pttt_ooc.other_games.arena.games.ultimate import Ultimate
from pttt_ooc.other_games.arena.kernels import ultimate as rules
from pttt_ooc.other_games.arena.research.kernels import ultimate_endings as kernels
from pttt_ooc.other_games.arena.research.solvers import claims
from tests.kits.verify_program import PROOF
from tests.other_games.arena import naive_ultimate as naive
from tests.other_games.arena.arena_kit import lab


@pytest.mark.long
def test_the_search_finds_the_committed_win_and_no_shorter_one():
    claim, _ = claims.find_forced_win()
    found, committed = claims.encode_claims([claim], open_boards=True), (PROOF / "ultimate-open.gz").read_bytes()
    assert gzip.decompress(found) == gzip.decompress(committed)
    assert claims.find_forced_win(41)[0] is None


def forces(position, plies, cells):
    """Whether x can force a win within so many plies: every game, no table, no order."""
    if position.outcome() or plies == 0:
        return position.outcome() == "x"
    mine = position.to_move == "x"
    answers = []
    for move in position.moves():
        after = position.after(move)
        if not mine or move[1] in cells or after.outcome() == "x":
            answers.append(forces(after, plies - 1, cells))
    return any(answers) if mine else all(answers)


@pytest.mark.parametrize("count", [150, pytest.param(600, marks=pytest.mark.slow)])
def test_a_brute_force_gives_the_same_answers(count):
    """Late positions of games by lot, some with few cells for the first player; the table is kept between questions."""
    game, draw = Ultimate(["open"]), random.Random(8)
    states = np.zeros((rules.LENGTH + 2, rules.WORDS), dtype=np.int64)
    moves = np.zeros((rules.LENGTH + 2, rules.WIDTH), dtype=np.int64)
    answers = []
    for number in range(count):
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
    assert min(sum(answers), len(answers) - sum(answers)) > count / 30


def test_the_command_says_that_shorter_games_do_not_win(tmp_path, capsys):
    said = lab(capsys, "forced-win", "--plies", "25", "-o", tmp_path / "win.gz")
    assert "no forced win within 25 plies" in said and "win.gz was not written" in said
    assert not list(tmp_path.iterdir())
    with pytest.raises(ArenaError, match="still unknown after 1000 positions"):
        claims.find_forced_win(41, most_positions=1000)
