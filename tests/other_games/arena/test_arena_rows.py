"""The rules of k-in-a-row, on boards with bounds and without: a second implementation move by move."""

import json
from fractions import Fraction

import numpy as np
import pytest

from pttt_ooc.other_games.arena.games.base import DRAW, FIRST, KEY, PLAYER, RESULT, SECOND, ArenaError
from pttt_ooc.other_games.arena.games.catalogue import game
from pttt_ooc.other_games.arena.kernels import infinite
from pttt_ooc.other_games.arena.kernels.perft import counting
from pttt_ooc.other_games.arena.kernels.rng import generator
from tests.other_games.arena import naive_rows as naive
from tests.other_games.arena.arena_kit import lab

OUTCOMES = {FIRST: "x", SECOND: "o", DRAW: "draw"}
BOARDS = {
    "mnk:3x3+need3": lambda: naive.Position(3, naive.board(3, 3)),
    "mnk:4x3+need3": lambda: naive.Position(3, naive.board(4, 3)),
    "mnk:2x7+need2": lambda: naive.Position(2, naive.board(2, 7)),
    "mnk:7x10+need4": lambda: naive.Position(4, naive.board(7, 10)),
    "mnk:11x11+need5": lambda: naive.Position(5, naive.board(11, 11)),
    "infinite:fixed+need3+limiter1": lambda: naive.Position(3, naive.fixed(1)),
    "infinite:growing+need4+limiter1": lambda: naive.Position(4, naive.growing(1)),
    "infinite:growing+need5+limiter5": lambda: naive.Position(5, naive.growing(5)),
    "infinite:near+need3+limiter2": lambda: naive.Position(3, naive.near(2)),
    "infinite:near+need4+limiter1": lambda: naive.Position(4, naive.near(1)),
}


def to_move(chosen, square):
    row, column = square
    if chosen.name == "mnk":
        return row * chosen.columns + column
    return (row + infinite.MIDDLE) * infinite.SIDE + column + infinite.MIDDLE


@pytest.mark.slow_but_one
@pytest.mark.parametrize("text", BOARDS)
def test_every_position_of_random_games_is_that_of_the_plain_rules(text):
    chosen = game(text)
    assert chosen.text == text
    seen = {}
    for seed in range(3 if len(BOARDS[text]().moves()) > 20 else 12):
        other = BOARDS[text]()
        state = chosen.start()
        for square in naive.random_game(seed, BOARDS[text]())[1]:
            expected = [to_move(chosen, each) for each in other.moves()]
            assert chosen.legal(state) == expected
            assert int(chosen.rules.count(state)) == len(expected)
            for index in {0, len(expected) // 3, len(expected) - 1}:
                assert chosen.rules.pick(state, index) == expected[index]
            assert "xo"[state[PLAYER]] == "xo"[len(other.marks) % 2]
            move = to_move(chosen, square)
            result, key = chosen.rules.result_after(state, move), chosen.rules.key_after(state, move)
            state = chosen.play(state, move)
            other.make(square)
            assert (result, key) == (state[RESULT], state[KEY])
            told = frozenset(other.marks.items())
            assert seen.setdefault(int(state[KEY]), told) == told
        assert chosen.legal(state) == [] and chosen.rules.count(state) == 0
        assert OUTCOMES[int(state[RESULT])] == other.outcome
    assert len(set(seen.values())) == len(seen)


@pytest.mark.slow_but_one
@pytest.mark.parametrize("text", BOARDS)
def test_perft_of_the_plain_rules(text):
    chosen = game(text)
    depth = 3 if len(BOARDS[text]().moves()) < 15 and "limiter2" not in text else 2
    perft = counting(chosen.rules).perft
    assert perft(chosen.start(), depth) == naive.leaves(BOARDS[text](), depth)


def test_a_growing_board_grows_when_it_is_full_and_not_before():
    chosen = game("infinite:growing+need11+limiter1")
    state = chosen.start()
    for number in range(1, 10):
        assert state[infinite.BOUND] == 1
        state = chosen.play(state, chosen.legal(state)[0])
        assert number == 9 or len(chosen.legal(state)) == 9 - number
    assert state[infinite.BOUND] == 2 and len(chosen.legal(state)) == 25 - 9


def test_the_edge_of_the_plane_is_the_end():
    """A row of one is never made, so the first mark on the last square decides."""
    chosen = game("infinite:growing+need2+limiter31")
    state = chosen.start()
    state[infinite.OPEN : infinite.OPEN + infinite.SIDE] = 0
    state[infinite.OPEN + 62], state[infinite.CHOICES], state[infinite.TOP] = 1 << 62, 1, 62
    state = chosen.play(state, 62 * infinite.SIDE + 62)
    assert state[RESULT] == DRAW and state[infinite.BOUND] == 31


def test_random_play_of_tic_tac_toe_comes_out_as_published():
    """Of random games, 737/1260 are won by the first player, 121/420 by the second, 8/63 are draws."""
    games = 200_000
    *ends, _ = counting(game("mnk").rules).random_games(game("mnk").start(), games, generator(3))
    assert np.allclose(np.array(ends[1:]) / games, [737 / 1260, 121 / 420, 8 / 63], atol=0.005)


def test_exploring_near_marks_draws_from_the_list_with_repetitions():
    chosen = game("infinite:near+need5+limiter1")
    state = chosen.after([chosen.read_move("0 0"), chosen.read_move("1 0")])
    rng, drawn = generator(1), {}
    for _ in range(4000):
        move = chosen.rules.explore(state, rng)
        drawn[move] = drawn.get(move, 0) + 1
    twice = {chosen.read_move(text) for text in ("0 1", "1 1", "0 -1", "1 -1")}
    assert set(drawn) == set(chosen.legal(state))
    for move, times in drawn.items():  # 4 squares count twice, 6 once
        assert abs(times / 4000 - (2 if move in twice else 1) / 14) < 0.03


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("mnk:12x3", "12 x 3 squares is not possible"),
        ("mnk:0x3", "must be from 1 to 11"),
        ("mnk:3x3+need4", "4 in a row is not possible"),
        ("mnk:3by3", "no option '3by3'"),
        ("infinite:neer", "no option 'neer'.*near"),
        ("infinite:fixed+limiter1+need4", "from 1 to 3"),
        ("infinite:limiter40", "from 1 to 31"),
    ],
)
def test_impossible_boards_are_sentences(text, part):
    with pytest.raises(ArenaError, match=part):
        game(text)


def test_impossible_moves_are_sentences():
    mnk, near, growing = game("mnk"), game("infinite"), game("infinite:growing+limiter3")
    for chosen, moves, part in (
        (mnk, [0, 0], "taken"),
        (mnk, [9], "0 to 8"),
        (mnk, [-1], "0 to 8"),
        (near, [0], "nine squares in the middle"),
        (near, [near.read_move("0 0"), near.read_move("3 0")], "no mark is within 2"),
        (growing, [growing.read_move("4 0")], "from -3 to 3"),
        (growing, [growing.read_move("3 0")] * 2, "taken"),
        (growing, [4000], "0 to 3968"),
        (mnk, [0, 3, 1, 4, 2, 5], "over"),
    ):
        with pytest.raises(ArenaError, match=part):
            chosen.after(moves)
    for chosen, text in ((mnk, "d1"), (mnk, "x"), (near, "32 0"), (near, "a1")):
        with pytest.raises(ArenaError, match="not on|not a move"):
            chosen.read_move(text)


def test_notation_and_boards():
    mnk, near = game("mnk:4x5+need3"), game("infinite")
    assert [mnk.read_move(text) for text in ("b3", "2 3", "11", " B3 ")] == [11] * 4
    assert [near.read_move(text) for text in ("-1:2", "-1 2")] == [33 * 63 + 30] * 2
    for chosen in (mnk, near):
        state = chosen.start()
        assert [chosen.read_move(chosen.show_move(move)) for move in chosen.legal(state)] == chosen.legal(state)
    assert mnk.show(mnk.after([11, 0])).splitlines() == [
        "   a b c d e", " 1 o . . . .", " 2 . . . . .", " 3 . x . . .", " 4 . . . . ."
    ]  # fmt: skip
    shown = near.show(near.after([near.read_move("1 -1")])).splitlines()
    assert shown[0].split() == ["-1", "0", "1", "2", "3"] and shown[3].split() == ["-1", ".", ".", "x", ".", "."]


def test_the_command_takes_board_and_length(capsys):
    told = lab(capsys, "perft", "--game", "mnk", "--board", "3x3", "--need", "3", "--depth", "9", "--json")
    assert json.loads(told)["leaves"] == 81792 + 46080


def test_random_play_of_tic_tac_toe_has_the_shares_that_the_page_states():
    """Exactly, by all games of the plain rules."""
    known = {}

    def shares(position):
        """The chances of a win of x, a win of o, and a draw."""
        if position.outcome:
            return tuple(Fraction(position.outcome == end) for end in ("x", "o", "draw"))
        key = frozenset(position.marks.items())
        if key not in known:
            found = [shares(position.after(square)) for square in position.moves()]
            known[key] = tuple(sum(column) / len(found) for column in zip(*found, strict=True))
        return known[key]

    assert shares(naive.Position(3, naive.board(3, 3))) == (Fraction(737, 1260), Fraction(121, 420), Fraction(8, 63))
