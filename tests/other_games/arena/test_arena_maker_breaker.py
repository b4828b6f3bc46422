"""The Maker-Breaker form of k-in-a-row: a brute force over positions, and values that are known."""

import json

import numpy as np
import pytest

from benchmarks import arena_boards
from docs.make import arena as arena_pages
from pttt_ooc.other_games.arena.experiments import records
from pttt_ooc.other_games.arena.games.base import ArenaError
from pttt_ooc.other_games.arena.games.catalogue import game
from pttt_ooc.other_games.arena.games.mnk import Mnk
from pttt_ooc.other_games.arena.research.solvers import row_boards, row_values
from tests.other_games.arena import naive_rows as naive
from tests.other_games.arena.arena_kit import command


@pytest.mark.parametrize(("rows", "columns", "need"), [(4, 4, 3), (5, 4, 4), (6, 3, 3), (4, 4, 4), (3, 5, 2)])
def test_positions_have_the_answers_of_a_brute_force(rows, columns, need):
    """Positions by lot with up to nine free squares, with either player to move; both answers come up."""
    search, lines = (
        row_values.MakerBreaker(Mnk([f"{rows}x{columns}", f"need{need}"]), 12),
        naive.lines(rows, columns, need),
    )
    draw, seen = np.random.default_rng(0), set()
    for _ in range(150):
        squares = [int(square) for square in draw.permutation(rows * columns)]
        free = frozenset(squares[: draw.integers(1, 10)])
        maker = frozenset(square for square in squares[len(free) :] if draw.random() < 0.55)
        if any(line <= maker for line in lines):
            continue
        missing = frozenset(line - maker for line in lines if line <= maker | free)
        for makers_turn in (False, True):
            bits = [sum(1 << square for square in one) for one in (maker, free)]
            found = search.ask(*bits, makers_turn, 10**6).maker_wins
            assert found == naive.maker_wins(missing, makers_turn), (sorted(maker), sorted(free), makers_turn)
            seen.add(found)
    assert seen == {False, True}


@pytest.mark.parametrize(
    ("text", "wins"),
    [
        ("3x3+need3", True),  # tic-tac-toe is drawn only because of the second player's rows
        ("4x4+need4", False),
        ("5x5+need4", True),  # so is this one
        ("7x4+need4", False),
        ("6x5+need4", True),
        ("7x6+need5", False),
        ("1x1+need1", True),
        ("8x8+need2", True),
    ],
)
def test_known_answers(text, wins):
    assert row_values.solve_form(game(f"mnk:{text}"), 18).maker_wins is wins


@pytest.mark.full
def test_seven_by_seven_is_a_draw():
    """As W.-Y. Hsu and others have found (On solving the 7,7,5-game and the 8,8,5-game, 2020)."""
    assert row_values.solve_form(game("mnk:7x7+need5")).value == 0


@pytest.mark.full
def test_eight_by_seven_is_a_draw():
    """As it must be if 8 x 8 is one for Breaker: fewer lines are no harder to prevent."""
    assert row_values.solve_form(game("mnk:8x7+need5")).value == 0


def test_values_do_not_contradict_the_records_of_smaller_boards():
    """If Breaker holds a board, it holds all boards within; and where Maker has no row, the game is no win."""
    rows = records.read(arena_pages.BOARDS)
    held = {tuple(row["board"]) for row in rows if row["methods"].get("maker-breaker", {}).get("value") == 0}
    broken = {
        tuple(row["board"])
        for row in rows
        if (one := row["methods"].get("maker-breaker")) and one["ended"] and one["value"] is None
    }
    assert held and broken and {tuple(row["board"]) for row in rows} == set(arena_boards.boards())
    for m, n, k in held:
        assert not any(a <= m and b <= n and c >= k for a, b, c in broken)
    assert all(row["value"] == 0 for row in rows if tuple(row["board"]) in held)


def test_lines_are_followed_in_their_own_direction():
    chosen = game("mnk:3x4+need3")
    lines = row_boards.winning_lines(chosen)
    following = row_boards.following(chosen, lines)
    pairs = {(int(lines[one]), int(lines[other])) for one, other in enumerate(following) if other >= 0}
    assert pairs == {(0b0111, 0b1110), (0b0111 << 4, 0b1110 << 4), (0b0111 << 8, 0b1110 << 8)}
    tall = game("mnk:4x4+need3")
    lines = row_boards.winning_lines(tall)
    diagonal = [sum(1 << 5 * n for n in range(start, start + 3)) for start in (0, 1)]
    numbers = {int(line): number for number, line in enumerate(lines)}
    assert row_boards.following(tall, lines)[numbers[diagonal[0]]] == numbers[diagonal[1]]


def test_the_command_tells_draws_and_nothing_else(capsys):
    arguments = ["solve", "--method", "maker-breaker"]
    drawn = [*arguments, "--board", "6x6", "--need", "5"]
    assert "6x6+need5: a draw, even if rows of the second player do not count" in command(capsys, *drawn)
    assert json.loads(command(capsys, *drawn, "--json"))["value"] == 0
    for more, part in (
        (["--board", "3x3", "--need", "3"], "says nothing about the game itself"),
        (["--board", "6x6", "--need", "5", "--moves", "a1"], "leave out --moves"),
        (["--board", "7x6", "--need", "5", "--most-nodes", "100"], "still unknown after 100 nodes"),
    ):
        assert part in command(capsys, *arguments, *more, code=1)
    with pytest.raises(ArenaError, match="at most 64 squares"):
        row_values.solve_form(game("mnk:9x8+need5"))
