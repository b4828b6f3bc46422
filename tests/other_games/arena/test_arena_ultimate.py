"""The rules of Ultimate tic-tac-toe: published counts, and a second implementation move by move."""

import json

import numpy as np
import pytest

from pttt_ooc.other_games.arena.games.base import DRAW, FIRST, KEY, PLAYER, RESULT, SECOND, ArenaError, mover_score
from pttt_ooc.other_games.arena.games.catalogue import game
from pttt_ooc.other_games.arena.kernels.perft import counting
from pttt_ooc.other_games.arena.kernels.rng import generator
from tests.other_games.arena import naive_ultimate as naive
from tests.other_games.arena.arena_kit import ULTIMATE, lab

KERNELS = counting(ULTIMATE.rules)
VARIANTS = {
    "ultimate": {},
    "ultimate:open": {"stay_open": True},
    "ultimate:most": {"most_boards": True},
    "ultimate:open+most": {"stay_open": True, "most_boards": True},
}
LATE = "0,1,9,4,36,7,70,71,79,67,43,63,20,21,31,40,37,13,38,23,49,22,10,14,52,55,11,50,46,30,29,27,32,33,58,78,59,72,57"


def perft(chosen, moves, depths):
    state = chosen.after(moves)
    return [KERNELS.perft(state, depth) for depth in depths]


@pytest.mark.parametrize("last", [7, pytest.param(8, marks=pytest.mark.slow)])
def test_perft_from_the_start(last):
    counts = [1, 81, 720, 6336, 55080, 473256, 4020960, 33782544, 281067408]
    assert perft(ULTIMATE, [], range(last + 1)) == counts[: last + 1]
    counts = [4017888, 33702480, 279251280]
    assert perft(game("ultimate:open"), [], range(6, last + 1)) == counts[: last - 5]


def test_perft_in_the_middle_and_near_the_end():
    middle = [0, 3, 27, 4, 36, 5, 46, 13, 37, 12, 28, 14]
    assert perft(ULTIMATE, middle, range(1, 7)) == [8, 114, 1730, 25198, 355904, 4876350]
    assert perft(ULTIMATE, map(int, LATE.split(",")), range(1, 8)) == [6, 25, 100, 168, 312, 72, 0]


@pytest.mark.slow_but_one
@pytest.mark.long_but("open+most", "open")
@pytest.mark.parametrize("text", VARIANTS)
def test_every_position_of_random_games_is_that_of_the_plain_rules(text):
    chosen = game(text)
    outcomes = set()
    for seed in range(60):
        end, moves = naive.random_game(seed, **VARIANTS[text])
        state, other = chosen.start(), naive.Position(**VARIANTS[text])
        for move in moves:
            expected = [9 * board + cell for board, cell in other.moves()]
            assert chosen.legal(state) == expected
            assert int(chosen.rules.count(state)) == len(expected)
            assert [chosen.rules.pick(state, index) for index in range(len(expected))] == expected
            assert "xo"[state[PLAYER]] == other.to_move
            state = chosen.play(state, move)
            other.make(*divmod(move, 9))
        assert chosen.legal(state) == []
        assert {FIRST: "x", SECOND: "o", DRAW: "draw"}[int(state[RESULT])] == end.outcome()
        outcomes.add(end.outcome())
    assert outcomes == {"x", "o", "draw"}


def test_random_play_comes_out_as_published():
    games = 200_000
    *ends, plies = KERNELS.random_games(ULTIMATE.start(), games, generator(7))
    assert ends[0] == 0
    assert np.allclose(np.array(ends[1:]) / games, [0.4108, 0.3663, 0.2229], atol=0.005)
    assert abs(plies / games - 58.90) < 0.1


def test_keys_are_those_of_positions():
    transposed = [ULTIMATE.after(moves) for moves in ([0, 3, 27, 4, 36], [0, 4, 36, 3, 27])]
    assert np.array_equal(*transposed)
    seen = {}
    for seed in range(100):
        state = ULTIMATE.start()
        for move in naive.random_game(seed)[1]:
            state = ULTIMATE.play(state, move)
            told = (tuple(state[9:]), int(state[4]), int(state[0]))
            assert seen.setdefault(int(state[KEY]), told) == told
    assert len(set(seen.values())) == len(seen)


def test_impossible_moves_are_sentences():
    state = ULTIMATE.after([0, 3])
    for move, part in ((81, "0 to 80"), (-1, "0 to 80"), (1, "sent to small board 3")):
        with pytest.raises(ArenaError, match=part):
            ULTIMATE.play(state, move)
    with pytest.raises(ArenaError, match="the cell is taken"):
        ULTIMATE.after([0, 0])
    with pytest.raises(ArenaError, match="Move 3 of the list is impossible"):
        ULTIMATE.after([0, 3, 80])
    with pytest.raises(ArenaError, match="is won"):
        ULTIMATE.after([0, 1, 9, 4, 36, 7, 70, 71, 79, 67, 43, 63, 2])
    with pytest.raises(ArenaError, match="not a move"):
        ULTIMATE.read_move("a1")
    with pytest.raises(ArenaError, match="no game 'ultimat'.*ultimate"):
        game("ultimat")
    with pytest.raises(ArenaError, match="no option 'opne'"):
        game("ultimate:opne")


def test_a_finished_game_takes_no_move():
    end, moves = naive.random_game(5)
    state = ULTIMATE.after(moves)
    with pytest.raises(ArenaError, match="over"):
        ULTIMATE.play(state, 0)
    assert mover_score(state, 0) + mover_score(state, 1) == 1


def test_notation_and_board():
    assert [ULTIMATE.read_move(text) for text in ("4.7", "43", " 0.8 ")] == [43, 43, 8]
    assert ULTIMATE.show_move(43) == "4.7"
    shown = ULTIMATE.show(ULTIMATE.after([0, 3]))
    assert shown.splitlines()[0] == "x . . | . . . | . . ."
    assert shown.count("+") - 4 == 9
    assert "X" in ULTIMATE.show(ULTIMATE.after(map(int, LATE.split(","))))


def test_the_command_prints_leaves(capsys):
    told = lab(capsys, "perft", "--game", "ultimate", "--depth", "4", "--moves", "0,3,27", "--json")
    assert json.loads(told)["leaves"] == naive.leaves(naive.after((0, 3, 27)), 4)
