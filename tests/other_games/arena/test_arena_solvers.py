"""Solvers of k-in-a-row: known values, a walk through all positions, and two methods that share little."""

import json
import random
from functools import cache

import numpy as np
import pytest

from pttt_ooc.other_games.arena.games.base import FIRST, PLAYER, RESULT, UNFINISHED, ArenaError
from pttt_ooc.other_games.arena.games.catalogue import game
from pttt_ooc.other_games.arena.research.kernels import solving
from pttt_ooc.other_games.arena.research.solvers import pairings, row_boards, row_values
from pttt_ooc.other_games.arena.research.solvers.row_boards import walk
from tests.other_games.arena import naive_rows as naive
from tests.other_games.arena.arena_kit import command


def both(text, moves=()):
    chosen = game(text)
    found = {row_values.solve(chosen, chosen.after(moves), method, 18).value for method in row_values.METHODS}
    assert len(found) == 1
    return found.pop()


@pytest.mark.slow_but_one
@pytest.mark.parametrize(
    ("text", "value"),
    [("3x3+need3", 0), ("4x3+need3", 1), ("3x4+need3", 1), ("4x4+need3", 1), ("4x4+need4", 0), ("6x5+need4", 1)],
)
def test_known_values(text, value):
    assert both(f"mnk:{text}") == value


@pytest.mark.long
def test_five_by_five_is_a_draw():
    assert both("mnk:5x5+need4") == 0


def test_all_of_tic_tac_toe():
    whole = walk(game("mnk"))
    assert whole.positions == 5478
    assert whole.games == {0: 46080, 5: 1440, 6: 5328, 7: 47952, 8: 72576, 9: 81792}
    assert sum(whole.games.values()) == 255168
    assert whole.different_games == {0: 4868, 5: 172, 6: 579, 7: 5115, 8: 7426, 9: 8670}
    assert sum(whole.different_games.values()) == 26830
    assert whole.values[0, 0] == 0


def test_a_walk_finds_the_values_of_the_plain_rules():
    known = {}
    naive.value(naive.Position(2, naive.board(2, 3)), known)
    found = walk(game("mnk:2x3+need2")).values
    assert len(known) == len(found)
    for marks, value in known.items():
        bits = [sum(1 << 3 * r + c for (r, c), mark in marks if mark == player) for player in "xo"]
        assert found[bits[0], bits[1]] == value


@pytest.mark.parametrize("text", ["3x3+need3", "4x3+need3", "4x4+need4"])
def test_both_methods_find_the_values_in_the_middle_of_games(text):
    chosen = game(f"mnk:{text}")
    known, found = {}, set()
    for seed in range(12):
        start = naive.Position(chosen.need, naive.board(chosen.rows, chosen.columns))
        moves = naive.random_game(seed, start.copy())[1]
        for square in moves[: max(len(moves) - 6 + seed % 4, 0)]:
            start.make(square)
        if start.outcome or chosen.rows * chosen.columns - len(start.marks) > 7:
            continue
        value = both(f"mnk:{text}", [row * chosen.columns + column for row, column in start.marks])
        assert value == naive.value(start, known)
        found.add(value)
    assert found


def test_symmetries_are_those_of_the_board():
    assert row_boards.symmetries(game("mnk:4x3+need3")).shape == (4, 12)
    images = row_boards.symmetries(game("mnk"))
    assert images.shape == (8, 9) and len(set(map(tuple, images))) == 8
    assert images[0].tolist() == list(range(9))
    lines = set(row_boards.winning_lines(game("mnk")).tolist())
    for image in images:
        assert {sum(1 << image[s] for s in range(9) if line >> s & 1) for line in lines} == lines


def test_a_line_is_counted_once():
    assert len(row_boards.winning_lines(game("mnk:1x3+need1"))) == 3
    assert len(row_boards.winning_lines(game("mnk:5x5+need4"))) == 28


def test_what_is_seen_at_a_position():
    """Player x threatens c1, o threatens c2; o's only live line besides goes through the free bottom row."""
    chosen = game("mnk")
    lines = row_boards.winning_lines(chosen)
    attacks, defences, open_lines, live, danger = solving.look(lines, 3, np.uint64(0b11), np.uint64(0b11000))
    assert (int(attacks), int(defences)) == (1 << 2, 1 << 5)
    assert (open_lines, danger) == (3, 2**-1 + 2 * 2**-3)  # the top row, the right column, the bottom row
    assert int(live) == 0b111100100
    assert solving.forced_moves(attacks, defences, live, True) == (live, solving.YES)
    assert solving.forced_moves(attacks, defences, live, False) == (live, solving.NO)
    assert solving.forced_moves(np.uint64(0), defences, live, True) == (defences, solving.UNKNOWN)
    assert solving.forced_moves(np.uint64(3), np.uint64(0), live, False)[1] == solving.YES
    assert solving.forced_moves(np.uint64(0), np.uint64(3), live, True)[1] == solving.NO


def test_a_small_table_gives_the_same_values():
    chosen = game("mnk:4x4+need4")
    for method in row_values.METHODS:
        assert row_values.solve(chosen, chosen.start(), method, 10).value == 0


def test_too_few_nodes_and_too_large_boards_are_told(capsys):
    chosen = game("mnk:5x5+need4")
    for method in row_values.METHODS:
        assert row_values.solve(chosen, chosen.start(), method, 10, most_nodes=100).value is None
    with pytest.raises(ArenaError, match="at most 64 squares"):
        row_values.solve(game("mnk:9x8+need4"), game("mnk:9x8+need4").start(), "alpha-beta")
    with pytest.raises(ArenaError, match="at most 9 squares"):
        walk(game("mnk:4x4+need4"))
    told = command(capsys, "solve", "--board", "5x5", "--need", "4", "--most-nodes", "100", code=1)
    assert "unknown after 100 nodes" in told


def test_the_command_prints_values_and_counts(capsys):
    told = json.loads(command(capsys, "solve", "--board", "2x4", "--need", "3", "--moves", "a1", "--json"))
    assert set(told["methods"]) == set(row_values.METHODS)
    assert told["value"] in (-1, 0, 1) and told["positions"] == walk(game("mnk:2x4+need3")).positions
    out = command(capsys, "solve")
    assert "a draw" in out and "255,168" in out and "26,830" in out


def test_ended_games_have_the_value_of_their_end():
    assert both("mnk", [0, 3, 1, 4, 2]) == 1
    assert both("mnk", [0, 3, 1, 4, 8, 5]) == -1


@pytest.mark.slow
def test_both_methods_end_where_only_one_of_them_does():
    """A draw by the Maker-Breaker form, which proof-number search does not ask."""
    chosen = game("mnk:6x4+need4")
    found = {one.method: one for one in row_values.solve_by_both(chosen, chosen.start(), 18)}
    assert found["alpha-beta"].value == 0 and found["proof-number"].value in (0, None)


def test_both_methods_share_the_nodes_that_are_allowed(monkeypatch):
    """The one that has not ended gets ten times the time of the other, but at least a second."""
    asked = []

    def solve(game, state, method, bits, allowed):
        asked.append((method, allowed))
        ends = method == "alpha-beta" and allowed >= 40_000
        return row_values.Solved(method, 1 if ends else None, allowed, 0.4 if method == "proof-number" else 0.02)

    monkeypatch.setattr(row_values, "solve", solve)
    one, other = row_values.solve_by_both(game("mnk"), game("mnk").start(), 18, 10**9)
    assert (one.value, other.value) == (1, None)
    assert [allowed for method, allowed in asked if method == "alpha-beta"] == [10_000, 40_000]
    assert [allowed for method, allowed in asked if method == "proof-number"] == [10_000, 40_000, 160_000]
    asked.clear()
    row_values.solve_by_both(game("mnk"), game("mnk").start(), 18, 30_000)
    assert {allowed for _, allowed in asked} == {10_000, 30_000}


def test_boards_of_more_than_thirty_two_squares_have_exact_keys():
    """Marks on the last squares count, and mirror images have one key."""
    chosen = game("mnk:8x8+need3")
    assert row_values.solve(chosen, chosen.start(), "alpha-beta", 16).value == 1
    assert (
        row_values.solve(chosen, chosen.after([0, 63, 20, 62, 43]), "alpha-beta", 16).value == -1
    )  # o ends the last row
    lines = row_boards.winning_lines(chosen)
    assert max(int(line) for line in lines) >> 63 == 1 and len(lines) == 2 * 8 * 6 + 2 * 6 * 6
    images = np.zeros((3, 8, 2), dtype=np.uint64)
    for depth, (square, attacker) in enumerate([(63, True), (1, False)]):
        solving.place(images, row_boards.symmetries(chosen), depth, square, attacker)
    mirrored = np.zeros_like(images)
    for depth, (square, attacker) in enumerate([(0, True), (62, False)]):
        solving.place(mirrored, row_boards.symmetries(chosen), depth, square, attacker)
    assert solving._key(images, 2) == solving._key(mirrored, 2) != solving._key(images, 1)


@pytest.mark.parametrize("text", ["4x4+need4", "5x5+need5", "4x6+need5", "6x6+need5", "1x2+need2", "3x8+need5"])
def test_pairings_are_strategies(text):
    """The certificate holds, and a second player who follows it draws random games."""
    chosen = game(f"mnk:{text}")
    found = pairings.find(chosen, 20).certificate
    assert pairings.fault(chosen.rows, chosen.columns, chosen.need, found) is None
    assert pairings.from_json(pairings.to_json(chosen.text, found)) == found
    for seed in range(20):
        draw, state = np.random.default_rng(seed), chosen.start()
        first = int(draw.choice(chosen.legal(state)))
        state, pairing = chosen.play(state, first), found[first]
        partner = {a: b for pair in pairing.pairs for a, b in (pair, pair[::-1])}
        answer = pairing.reply
        while state[RESULT] == UNFINISHED:
            legal = list(chosen.legal(state))
            if state[PLAYER] == 0:
                move = int(draw.choice(legal))
                answer = partner.get(move)
            else:
                move = answer if answer in legal else int(draw.choice(legal))
            state = chosen.play(state, move)
        assert state[RESULT] != FIRST


def test_boards_without_pairings_have_none():
    """Tic-tac-toe is a draw, but not by a reply and pairs; 4 x 4 with three in a row is won."""
    for text in ("3x3+need3", "4x4+need3", "5x5+need4"):
        found = pairings.find(game(f"mnk:{text}"), 20)
        assert found.certificate is None and found.complete


def test_a_wrong_certificate_is_found_out():
    found = pairings.find(game("mnk:4x4+need4")).certificate
    first = found[5]

    def fault(reply=first.reply, pairs=first.pairs):
        return pairings.fault(4, 4, 4, found | {5: pairings.Pairing(reply, pairs)})

    assert fault() is None
    assert fault(pairs=first.pairs[1:]) and "is open after the first mark 5" in fault(pairs=first.pairs[1:])
    assert "used twice" in fault(pairs=(*first.pairs, first.pairs[0])) and "used twice" in fault(reply=5)
    assert "not on the board" in fault(pairs=(*first.pairs, (16, 17)))
    assert "no pairing after the first mark 3" in pairings.fault(4, 4, 4, {n: p for n, p in found.items() if n != 3})
    assert pairings.fault(4, 4, 3, found), "three in a row needs more"


@pytest.mark.parametrize(
    ("rows", "columns", "need"), [(4, 4, 4), (3, 4, 4), (2, 5, 5), (5, 2, 3), (3, 3, 3), (1, 6, 3)]
)
def test_a_certificate_is_right_if_no_line_is_open(rows, columns, need):
    """Random certificates, and those that are found with a reply or a pair less, beside lines in plain coordinates."""
    lines, squares = naive.lines(rows, columns, need), range(rows * columns)

    def is_right(certificate):
        return all(
            one.reply in line or any(line >= set(pair) for pair in one.pairs)
            for one in certificate.values()
            for line in lines
        )

    def check(certificate):
        told = pairings.fault(rows, columns, need, certificate)
        assert (told is None) == is_right(certificate) and (told is None or "is open after" in told), certificate
        return told is None

    found, draw, right = pairings.find(game(f"mnk:{columns}x{rows}+need{need}")).certificate or {}, random.Random(1), []
    for first, one in found.items():
        less = [pairings.Pairing(one.reply, one.pairs[:n] + one.pairs[n + 1 :]) for n in range(len(one.pairs))]
        for other in (pairings.Pairing(None, one.pairs), *less):
            right.append(check(found | {first: other}))
    for _ in range(100):
        certificate = {}
        for first in squares:
            reply, *others = draw.sample([n for n in squares if n != first], len(squares) - 1)
            certificate[first] = pairings.Pairing(reply, tuple(zip(others[::2], others[1::2], strict=False)))
        right.append(check(certificate))
    assert False in right


def test_the_second_player_may_win_after_a_mark():
    """Whoever moves first can steal a strategy only as long as there is no mark, which may be a bad one."""
    lines = [sum(1 << square for square in line) for line in naive.lines(4, 3, 3)]

    @cache
    def value(mine, other):
        """For the player to move, who has the squares `mine`."""
        if any(other & line == line for line in lines):
            return -1
        best = -1 if (mine | other) != 4095 else 0
        for square in range(12):
            if best < 1 and not (mine | other) >> square & 1:
                best = max(best, -value(other, mine | 1 << square))
        return best

    after = [both("mnk:4x3+need3", [square]) for square in range(12)]
    assert after == [-value(0, 1 << square) for square in range(12)]
    assert [square for square in range(12) if after[square] == -1] == [1, 10]


def test_the_command_writes_a_certificate(tmp_path, capsys):
    file = tmp_path / "draw.json"
    arguments = ["solve", "--board", "5x5", "--need", "5", "--method", "pairing"]
    assert "a draw, by a pairing strategy" in command(capsys, *arguments, "--certificate", file)
    assert pairings.fault(5, 5, 5, pairings.from_json(file.read_text())) is None
    for more, part in (
        (["--certificate", str(file)], "exists"),
        (["--moves", "a1"], "leave out --moves"),
        (["--need", "3"], "there is none of a reply and pairs"),
        (["--method", "both", "--certificate", str(tmp_path / "x")], "needs --method pairing or maker-breaker"),
    ):
        assert part in command(capsys, *arguments, *more, code=1)
