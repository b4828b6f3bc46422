"""The series of games that measures the strong bot: what is played, and how it is counted."""

import itertools
import math
import random
from pathlib import Path

import pytest

from benchmarks import extreme as series
from pttt_ooc.other_games.extreme.bot_programs import read_program
from pttt_ooc.other_games.extreme.match import BotMatch
from pttt_ooc.other_games.extreme.referee import FLAGS, Referee
from pttt_ooc.other_games.extreme.runner import BigBoard


def random_position(seed, moves):
    """Board, move before and flag after so many moves by lot in a game that goes on."""
    draw, referee = random.Random(seed), Referee()
    for _ in range(moves):
        referee.play(draw.choice(referee.valid_cells()))
        if referee.result()[1] != "-":
            return random_position(seed + 1000, moves)
    return referee.board, referee.old_move, FLAGS[referee.player]


def nearly_drawn():
    """A position in which most small boards have one empty cell, and nobody can win them."""
    board = BigBoard()
    for big in (0, 1):
        for row, column in itertools.product((0, 3, 6), (0, 3 * big, 6)):
            for at, marks in enumerate(("xox", "xoo", "ox-")):
                board.big_boards_status[big][row + at][column : column + 3] = marks
    return board, (0, 0, 3), "x"


def test_both_bots_are_those_of_the_package_but_for_their_time():
    strong, example = series.players(0.25, 6.0)
    assert strong.trusted and "seconds = 0.25" in strong.source and "Searcher(clock=PROCESSOR)" in strong.source
    assert "seconds = 6.0" in example.source and "time.time()" not in example.source
    for one in (strong, example):
        compile(one.source, one.name, "exec")


@pytest.mark.parametrize(
    "winner, message, points, side, result",
    [
        ("P1", "WON", (86, 0), 0, "won"),
        ("P1", "WON", (86, 0), 1, "lost"),
        ("NONE", "DRAW", (30, 31), 1, "won"),
        ("NONE", "DRAW", (31, 31), 1, "drawn"),
        ("P2", "TIME OUT", (0, 86), 0, "forfeit lost"),
        ("P2", "INVALID MOVE", (0, 86), 1, "forfeit won"),
    ],
)
def test_a_forfeit_is_told_apart(winner, message, points, side, result):
    assert series.result(BotMatch(("a", "b"), winner, message, points=points), side) == result


def test_only_forfeits_of_the_example_count_as_won():
    kinds = ("won", "won", "lost", "drawn", "forfeit won", "forfeit lost")
    found = series.summary([{"result": kind, "depth": 8, "nodes": 9, "plies": 60} for kind in kinds])
    assert found["won"] == 0.5 and found["results"]["forfeit lost"] == 1 and found["results"]["won"] == 2
    assert found["interval"][0] == pytest.approx(0.188, abs=0.001)  # Wilson's, 3 of 6


@pytest.mark.long
def test_the_twin_makes_the_moves_of_the_example():
    """For as many positions as the example has time for, from the empty board to games that are nearly over."""
    from benchmarks import extreme_twin  # which compiles its search

    class_of = {}
    exec(read_program(Path("alphabeta")).source, class_of)
    stop = class_of["OutOfTime"]

    class Limited(class_of["TeamAlphabeta"]):
        seconds = math.inf

        def search(self, *arguments):
            self.positions -= 1
            if self.positions < 0:
                raise stop
            return super().search(*arguments)

    example, twin, ends = Limited(), extreme_twin.TeamTwin(), set()
    given = [random_position(moves, moves) for moves in range(0, 105, 3)]
    for number, (board, old, flag) in enumerate([nearly_drawn(), *given]):
        for positions in (1, 30, 150)[: 2 + (number % 4 == 0)]:
            example.positions = twin.positions = positions
            assert twin.move(board, old, flag) == example.move(board, old, flag), (number, positions)
            assert twin.left == example.positions
            ends.add(example.positions >= 0)
        cells, small = twin.arrays(board, flag)
        assert extreme_twin.evaluate(cells, small) == example.evaluate()
    assert ends == {False, True}  # searches that were cut off, and others that found how the game ends
