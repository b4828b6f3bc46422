"""The forced win of Ultimate with open boards: the search, by a brute force."""

import gzip
import random

import numpy as np
import pytest

from pttt_ooc.cli import commands
from pttt_ooc.other_games.arena.games.base import RESULT, UNFINISHED, ArenaError
from pttt_ooc.other_games.arena.games.ultimate import Ultimate
from pttt_ooc.other_games.arena.kernels import forced_win as kernels
from pttt_ooc.other_games.arena.kernels import ultimate as rules
from pttt_ooc.other_games.arena.solvers import claims, forced_win
from tests.kits.verify_program import PROOF
from tests.other_games.arena import naive_ultimate as naive


@pytest.mark.long
def test_the_search_finds_the_committed_win_and_no_shorter_one():
    claim, _ = forced_win.find()
    found, committed = claims.encode_claims([claim], open_boards=True), (PROOF / "ultimate-open.gz").read_bytes()
    assert gzip.decompress(found) == gzip.decompress(committed)
    assert forced_win.find(41)[0] is None


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


def test_the_command_says_that_shorter_games_do_not_win(tmp_path, capsys):
    with pytest.raises(SystemExit) as end:
        commands.main(["arena", "forced-win", "--plies", "25", "-o", str(tmp_path / "win.gz")])
    assert not end.value.code
    said = capsys.readouterr().out
    assert "no forced win within 25 plies" in said and "win.gz was not written" in said
    assert not list(tmp_path.iterdir())
    with pytest.raises(ArenaError, match="still unknown after 1000 positions"):
        forced_win.find(41, most_positions=1000)
