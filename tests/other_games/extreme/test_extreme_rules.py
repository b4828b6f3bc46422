"""The rules of Extreme TicTacToe: one test for each rule, and a second implementation over whole games."""

import json

import numpy as np
import pytest

from pttt_ooc.cli import commands
from pttt_ooc.other_games.arena.games.base import ArenaError
from pttt_ooc.other_games.arena.games.catalogue import game as by_name
from pttt_ooc.other_games.arena.kernels import extreme
from pttt_ooc.other_games.arena.kernels.perft import counting
from tests.other_games.extreme.naive_extreme import Game, random_game
from tests.other_games.extreme.random_extreme import random_games

EXTREME = by_name("extreme")
KERNELS = counting(extreme)

PERFT = (162, 2898, 51552, 911520, 16020288, 279859968)
LEFT, RIGHT = 0, 1  # the two big boards


def number(big, row, column):
    return 81 * big + 9 * row + column


def cell(move):
    return int(move) // 81, int(move) % 81 // 9, int(move) % 9


def legal(position):
    return [cell(m) for m in EXTREME.legal(position)]


def after(*cells):
    return EXTREME.after(number(*one) for one in cells)


def small(position, big, i, j):
    """Who has closed a small board: 'x', 'o', 'd', or '-'."""
    bit = 3 * i + j
    for mark, field in (("x", extreme.WON), ("o", extreme.WON + 2), ("d", extreme.DRAWN)):
        if position[field + big] >> bit & 1:
            return mark
    return "-"


def arranged(*boards, place=extreme.ANYWHERE, turn="x", bonus=False):
    """A position with small boards filled: (text of nine, big, i, j); `place` is where the last move sends to."""
    position = EXTREME.start()
    for text, big, i, j in boards:
        for n, owner in enumerate(text):
            if owner != "-":
                position[extreme.MARKS + 18 * "xo".index(owner) + 9 * big + 3 * i + j] |= 1 << n
        for p in (0, 1):
            if extreme.HAS_LINE[position[extreme.MARKS + 18 * p + 9 * big + 3 * i + j]]:
                position[extreme.WON + 2 * p + big] |= 1 << 3 * i + j
                break
        else:
            if "-" not in text:
                position[extreme.DRAWN + big] |= 1 << 3 * i + j
    if place < 9 and all(extreme.closed_boards(position, big) >> place & 1 for big in (0, 1)):
        place = extreme.ANYWHERE
    position[extreme.PLACE], position[extreme.PLAYER], position[extreme.BONUS] = place, "xo".index(turn), bonus
    return position


WON_X, WON_O, DRAWN = "xxx------", "ooo------", "xoxxoooxx"


@pytest.mark.parametrize("text", [WON_X, WON_O, DRAWN])
def test_a_won_or_drawn_small_board_closes(text):
    position = arranged((text, LEFT, 1, 1), place=4)
    assert legal(position) == [(RIGHT, r, c) for r in (3, 4, 5) for c in (3, 4, 5)]
    with pytest.raises(ArenaError, match="taken" if text == DRAWN else "won"):
        EXTREME.play(position, number(LEFT, 5, 5))


def test_open_move_when_both_targets_are_closed():
    position = arranged((WON_X, LEFT, 1, 1), (DRAWN, RIGHT, 1, 1), place=4)
    wanted = [(k, r, c) for k in range(2) for r in range(9) for c in range(9) if not (3 <= r <= 5 and 3 <= c <= 5)]
    assert legal(position) == wanted


@pytest.mark.parametrize(
    "line", ["xxx------", "---xxx---", "------xxx", "x--x--x--", "-x--x--x-", "--x--x--x", "x---x---x", "--x-x-x--"]
)
def test_three_in_a_line_win_a_small_board(line):
    last = line.rindex("x")
    before = line[:last] + "-" * (9 - last)
    position = arranged((before, LEFT, 0, 2), place=2)
    extreme.play(position, number(LEFT, last // 3, 6 + last % 3))
    assert small(position, LEFT, 0, 2) == "x"


def test_a_line_with_the_last_cell_wins_and_draws_nothing():
    position = arranged(("xoxoxoox-", LEFT, 0, 0), place=0)
    extreme.play(position, number(LEFT, 2, 2))
    assert small(position, LEFT, 0, 0) == "x" and not position[extreme.DRAWN + LEFT]


def test_bonus_move_after_winning_a_small_board_constrained_by_the_own_previous_move():
    position = arranged(("xx-------", LEFT, 0, 0), place=0)
    extreme.play(position, number(LEFT, 0, 2))
    assert (position[extreme.PLAYER], position[extreme.BONUS]) == (0, 1)
    assert legal(position) == [(k, r, c) for k in range(2) for r in (0, 1, 2) for c in (6, 7, 8)]
    extreme.play(position, number(RIGHT, 1, 7))  # wins nothing
    assert (position[extreme.PLAYER], position[extreme.BONUS]) == (1, 0)
    position = arranged(("xx-------", LEFT, 0, 0), ("xx-------", RIGHT, 0, 2), place=0)
    extreme.play(position, number(LEFT, 0, 2))
    extreme.play(position, number(RIGHT, 0, 8))  # a second win in a row gives no bonus move
    assert (position[extreme.PLAYER], position[extreme.BONUS]) == (1, 0)


@pytest.mark.parametrize("big", [LEFT, RIGHT])
@pytest.mark.parametrize(
    "line", [[0, 1, 2], [3, 4, 5], [6, 7, 8], [0, 3, 6], [1, 4, 7], [2, 5, 8], [0, 4, 8], [2, 4, 6]]
)
def test_a_line_of_small_boards_on_either_big_board_wins(line, big):
    *two, last = line
    boards = [(WON_O, big, place // 3, place % 3) for place in two]
    position = arranged(*boards, ("oo-------", big, last // 3, last % 3), place=last, turn="o")
    extreme.play(position, number(big, last // 3 * 3, last % 3 * 3 + 2))
    assert position[extreme.RESULT] == 2
    assert legal(position) == []
    assert (extreme.points(position, 0), extreme.points(position, 1)) == (0, 86)


def test_a_line_across_both_big_boards_wins_nothing():
    position = arranged((WON_X, LEFT, 0, 0), (WON_X, LEFT, 0, 1), ("xx-------", RIGHT, 0, 2), place=2)
    extreme.play(position, number(RIGHT, 0, 8))
    assert position[extreme.RESULT] == 0


def drawn_game(last):
    """All small boards over but the last one, which x is about to close; on both big boards nobody has a line."""
    owners = "xoxxooox"  # of the first eight places; the ninth is drawn, or x's with `last` on the right
    boards = [((WON_X if o == "x" else WON_O), big, n // 3, n % 3) for big in (0, 1) for n, o in enumerate(owners)]
    return arranged(*boards, (DRAWN, LEFT, 2, 2), (last, RIGHT, 2, 2), place=8)


def test_points_are_4_for_a_corner_3_for_the_centre_6_for_an_edge_and_none_for_a_drawn_board():
    position = drawn_game("xoxxooox-")
    extreme.play(position, number(RIGHT, 8, 8))
    assert position[extreme.RESULT] == 3
    # x has two corners and two edges of each big board, o the centre, two edges and a corner.
    assert extreme.points(position, 0) == 2 * (4 + 4 + 6 + 6)
    assert extreme.points(position, 1) == 2 * (6 + 3 + 6 + 4)


def test_the_game_ends_with_the_last_small_board_even_if_its_winner_had_a_bonus_move():
    position = drawn_game("xoxoxoox-")
    extreme.play(position, number(RIGHT, 8, 8))
    assert (position[extreme.RESULT], legal(position)) == (3, [])
    assert extreme.points(position, 0) == 2 * (4 + 4 + 6 + 6) + 4


@pytest.mark.parametrize(
    "moves, part",
    [((162,), "0 to 161"), ((-1,), "0 to 161"), ((0, 0), "the cell is taken"), ((4, 80), "in row 0 and column 1")],
)
def test_a_move_that_is_not_legal_is_refused_with_the_reason(moves, part):
    with pytest.raises(ArenaError, match=part):
        EXTREME.after(moves)


def test_notation_and_board():
    assert [EXTREME.read_move(text) for text in ("1.8.0", "153", " 0.0.8 ")] == [153, 153, 8]
    assert EXTREME.show_move(153) == "1.8.0"
    shown = EXTREME.show(arranged((WON_X, LEFT, 0, 0), ("-o-------", RIGHT, 0, 0), place=0)).splitlines()
    assert shown[0] == "X X X | . . . | . . .     + o + | . . . | . . ."
    with pytest.raises(ArenaError, match="leave 'open' out"):
        by_name("extreme:open")


@pytest.mark.slow
def test_the_command_counts_what_follows_moves(capsys):
    with pytest.raises(SystemExit, match="0"):
        commands.main(["lab", "perft", "--game", "extreme", "--depth", "3", "--moves", "0,1.0.1", "--json"])
    assert json.loads(capsys.readouterr().out)["leaves"] == naive_leaves([(0, 0, 0), (1, 0, 1)], 3)


@pytest.mark.parametrize("depth", range(1, 6))
def test_perft(depth):
    assert KERNELS.perft(EXTREME.start(), depth) == PERFT[depth - 1]


@pytest.mark.full
def test_perft_6():
    assert KERNELS.perft(EXTREME.start(), 6) == PERFT[5]


def naive_leaves(game_moves, depth):
    game = Game()
    for one in game_moves:
        game.play(one)
    if depth == 1:
        return len(game.legal())
    return sum(naive_leaves([*game_moves, one], depth - 1) for one in game.legal())


@pytest.mark.slow
def test_perft_late_in_games_is_that_of_the_plain_implementation():
    moves, plies, *_ = random_games(10, 3)
    for one, n in zip(moves, plies, strict=True):
        beginning = [int(m) for m in one[: n - 3]]
        assert KERNELS.perft(EXTREME.after(beginning), 3) == naive_leaves([cell(m) for m in beginning], 3)


def compare_with_the_plain_implementation(moves):
    """The same game by the kernels and by the plain implementation; returns the latter, and its bonus moves."""
    game, position, bonus = Game(), EXTREME.start(), 0
    for move in moves:
        wanted = game.legal()
        assert legal(position) == wanted
        assert extreme.count(position) == len(wanted)
        assert cell(extreme.pick(position, len(wanted) // 2)) == wanted[len(wanted) // 2]
        assert "xo"[position[extreme.PLAYER]] == game.player and bool(position[extreme.BONUS]) == game.bonus
        bonus += game.bonus
        extreme.play(position, move)
        game.play(cell(move))
    assert game.winner == (None, "x", "o", "draw")[position[extreme.RESULT]] and game.legal() == legal(position) == []
    assert [game.points(player) for player in "xo"] == [extreme.points(position, player) for player in (0, 1)]
    return game, bonus


def test_games_are_those_of_the_plain_implementation():
    for seed in range(6):
        compare_with_the_plain_implementation([number(*one) for one in random_game(seed)[0]])


def check_random_games(games, seed):
    moves, plies, bonuses, results, scores = random_games(games, seed)
    seen = set()
    for i in range(games):
        game, bonus = compare_with_the_plain_implementation(moves[i, : plies[i]])
        assert game.winner == (None, "x", "o", "draw")[results[i]] and bonus == bonuses[i]
        assert [game.points("x"), game.points("o")] == scores[i].tolist() and (moves[i, plies[i] :] == -1).all()
        seen.add(game.winner)
    assert seen == {"x", "o", "draw"}


@pytest.mark.slow
def test_random_games_are_those_of_the_plain_implementation():
    check_random_games(200, 1)


@pytest.mark.slow
def test_keys_are_those_of_positions():
    seen = {}
    moves, plies, *_ = random_games(100, 6)
    for one, n in zip(moves, plies, strict=True):
        position = EXTREME.start()
        for move in one[:n]:
            extreme.play(position, move)
            told = (tuple(position[extreme.PLACE :]), int(position[extreme.PLAYER]))
            assert seen.setdefault(int(position[extreme.KEY]), told) == told
    assert len(set(seen.values())) == len(seen)


def test_transpositions_have_one_key():
    start, one, back, other, again = (0, 0, 0), (0, 1, 0), (0, 3, 0), (0, 1, 1), (0, 3, 3)
    assert np.array_equal(after(start, one, back, other, again), after(start, other, again, one, back))


@pytest.mark.full
def test_a_hundred_thousand_games_are_those_of_the_plain_implementation():
    check_random_games(100_000, 4)


def figures(games, batches):
    rows = []
    for seed in range(batches):
        _, plies, bonuses, results, scores = random_games(games // batches, seed + 1)
        counts = [np.mean(results == r) for r in (1, 2, 3)]
        rows.append([*counts, plies.mean(), bonuses.mean(), *scores.mean(axis=0)])
    return np.mean(rows, axis=0)


WANTED = (0.4994, 0.4651, 0.0356, 108.6, 8.91, 44.30, 41.33)


@pytest.mark.slow
def test_random_play_has_the_known_figures_roughly():
    assert figures(20_000, 2) == pytest.approx(WANTED, abs=0.02, rel=0.02)


@pytest.mark.full
def test_random_play_has_the_known_figures():
    found = figures(1_000_000, 20)
    assert found[:3] == pytest.approx(WANTED[:3], abs=0.003)
    assert found[3:] == pytest.approx(WANTED[3:], rel=0.004)
