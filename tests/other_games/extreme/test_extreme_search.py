"""The strong bot's search: against plain minimax near the end, and against bots of chance."""

import dataclasses
import functools
import random
import subprocess
from pathlib import Path

import numpy as np
import pytest

from pttt_ooc.other_games.arena.games.catalogue import game as by_name
from pttt_ooc.other_games.arena.kernels import extreme as rules
from pttt_ooc.other_games.arena.research.kernels import extreme_search as kernels
from pttt_ooc.other_games.arena.research.players.strong import Searcher
from pttt_ooc.other_games.extreme.bot_process import Conditions
from pttt_ooc.other_games.extreme.bot_programs import read_program
from pttt_ooc.other_games.extreme.match import play_match
from pttt_ooc.other_games.extreme.referee import FLAGS, Referee
from pttt_ooc.other_games.extreme.walls import python2
from tests.other_games.extreme.bot_kit import need_walls
from tests.other_games.extreme.naive_extreme import LINES, random_game
from tests.other_games.extreme.random_extreme import random_games

EXTREME = by_name("extreme")


def numbers(cells):
    return [81 * big + 9 * row + column for big, row, column in cells]


@pytest.fixture(scope="module")
def searcher():
    return Searcher(1 << 16)


def test_a_position_is_read_from_the_boards_of_the_course():
    for seed in range(4):
        state, referee = EXTREME.start(), Referee()
        for cell in random_game(seed)[0]:
            board = referee.board
            read = EXTREME.position(
                board.big_boards_status, board.small_boards_status, referee.old_move, FLAGS[referee.player]
            )
            assert np.array_equal(read, state)
            rules.play(state, numbers([cell])[0])
            assert referee.play(cell)


def test_the_chances_to_win_a_small_board_are_those_of_a_draw_from_a_hat(searcher):
    @functools.cache
    def chance(cells):
        """Of x, of o."""
        for line in LINES:
            marks = {cells[3 * i + j] for i, j in line}
            if marks in ({"x"}, {"o"}):
                return (1.0, 0.0) if marks == {"x"} else (0.0, 1.0)
        empty = [i for i in range(9) if cells[i] == "-"]
        if not empty:
            return 0.0, 0.0
        after = [chance(cells[:i] + mark + cells[i + 1 :]) for i in empty for mark in "xo"]
        return tuple(np.mean(after, axis=0))

    generator = random.Random(3)
    for cells in ["---------", "xx-------", "xoxxooox-", "oox-x----"] + [
        "".join(generator.choices("xo-", (1, 1, 2), k=9)) for _ in range(50)
    ]:
        masks = [sum(1 << i for i in range(9) if cells[i] == mark) for mark in "xo"]
        if not all(rules.HAS_LINE[mask] for mask in masks):
            found = searcher._room[5][512 * masks[0] + masks[1]]
            assert found == pytest.approx(chance(cells), abs=1e-6), cells


def test_images_of_a_position_have_the_same_guess(searcher):
    """Big boards turned by a quarter, mirrored or exchanged; with the players exchanged, it is the opposite.

    That holds for the boards; to be on move is worth as much in each image.
    """
    places = np.arange(9).reshape(3, 3)

    def guess(marks):
        state = EXTREME.start()
        state[rules.MARKS :] = marks.ravel()
        return kernels._evaluate(state, searcher._room[5], np.zeros((2, 9), np.float32)) - kernels.TEMPO_VALUE

    for seed in range(8):
        moves = numbers(random_game(seed)[0])
        marks = EXTREME.after(moves[: len(moves) // 2])[rules.MARKS :].reshape(2, 2, 9)  # by player, big board, place
        images = marks[:, :, np.rot90(places).ravel()], marks[:, :, places.T.ravel()], marks[:, ::-1]
        assert [guess(image) for image in images] == pytest.approx([guess(marks)] * 3, abs=1)  # sums are rounded
        assert guess(marks[::-1]) == pytest.approx(-guess(marks), abs=1)


def worth(state):
    """Plain minimax to the end of the game: the value to the player to move."""
    return worth_of(state.tobytes())


@functools.cache
def worth_of(words):
    state = np.frombuffer(words, np.int64)
    moves = EXTREME.legal(state)
    if not moves:
        if state[rules.RESULT] == 3:
            value = 25 * (rules.points(state, 0) - rules.points(state, 1))
        else:
            value = (kernels.WIN - state[rules.PLY]) * (1 if state[rules.RESULT] == 1 else -1)
        return value if state[rules.PLAYER] == 0 else -value
    best = None
    for move in moves:
        after = state.copy()
        rules.play(after, move)
        value = worth(after) * (1 if after[rules.PLAYER] == state[rules.PLAYER] else -1)
        best = value if best is None or value > best else best
    return best


DRAWN = [11, 247, 250, 375, 969, 1045, 1155, 1536]
"""Seeds of games that nobody wins, with seven empty cells seven moves before their ends."""


def test_near_the_end_the_search_finds_the_value_of_minimax(searcher):
    values = set()
    for seed in DRAWN:
        state = EXTREME.after(numbers(random_game(seed)[0])[:-7])
        searcher.choose(state, 600.0, 60)
        assert searcher.value == worth(state)
        values.add(searcher.value)
    assert len(values) > 3 and min(values) < 0 < max(values)


@pytest.mark.slow
def test_the_chosen_move_has_the_value(searcher):
    moves, plies, _, results, _ = random_games(400, 23)
    for one, n, result in list(zip(moves, plies, results, strict=True)):
        if result == 3:
            state = EXTREME.after(map(int, one[: n - 6]))
            if sum(rules.SIZE[rules.free(state, board)] for board in range(18)) > 8:
                continue
            move = searcher.choose(state, 600.0, 60)
            after = EXTREME.play(state, move)
            sign = 1 if after[rules.PLAYER] == state[rules.PLAYER] else -1
            assert sign * worth(after) == worth(state)


def test_a_limit_of_positions_ends_the_search(searcher):
    move = searcher.choose(EXTREME.start(), 600.0, nodes=3000)
    assert 0 <= move < 162 and searcher.nodes <= 3001 and searcher.depth >= 1


def test_the_same_limit_gives_the_same_move():
    state = EXTREME.after(numbers(random_game(24)[0])[:20])
    assert len({Searcher(1 << 12).choose(state, 600.0, nodes=2000) for _ in range(3)}) == 1


def test_it_beats_chance(searcher):
    generator = random.Random(7)
    for side in (0, 1, 0, 1):
        state = EXTREME.start()
        while moves := EXTREME.legal(state):
            mine = state[rules.PLAYER] == side
            state = EXTREME.play(state, searcher.choose(state, 600.0, nodes=1500) if mine else generator.choice(moves))
        assert state[rules.RESULT] == 1 + side


@pytest.mark.slow
def test_the_strong_bot_plays_behind_walls():
    need_walls()
    strong = read_program(Path("strong"))
    timed = "choose(state, self.seconds, self.deepest)"
    assert timed in strong.source
    short = dataclasses.replace(strong, source=strong.source.replace(timed, "choose(state, 600.0, nodes=1500)"))
    match = play_match((read_program(Path("random")), short), Conditions(time_limit=30))
    assert (match.winner, match.message) == ("P2", "WON"), match.detail
    assert match.printed[1].startswith("depth ")


def test_the_strong_bot_thinks_for_nearly_a_second(monkeypatch):
    from pttt_ooc.other_games.extreme.bots.strong_bot import TeamStrong

    bot, thought = TeamStrong(), []
    monkeypatch.setattr(bot.searcher, "choose", lambda state, seconds, deepest: thought.append(seconds) or 0)
    referee = Referee()
    assert bot.move(referee.board, referee.old_move, FLAGS[0]) == (0, 0, 0)
    assert 0.8 <= thought[0] < 1


@pytest.mark.slow
def test_the_example_beats_chance(monkeypatch):
    from pttt_ooc.other_games.extreme.bots.alphabeta_bot import TeamAlphabeta
    from pttt_ooc.other_games.extreme.bots.random_bot import TeamRandom

    bots = [TeamAlphabeta(), TeamRandom()]
    bots[0].seconds, bots[0].deepest = 600.0, 2
    bots[1].generator.seed(4)
    referee = Referee()
    while referee.result()[1] == "-":
        move = bots[referee.player].move(referee.board, referee.old_move, FLAGS[referee.player])
        assert referee.play(move)
    assert referee.result() == ("x", "WON")


def test_the_example_is_written_for_python_2_and_3():
    old = python2()
    if old is None:
        pytest.skip("no Python 2.7 is installed")
    file = read_program(Path("alphabeta"))
    code = f"compile({file.source!r}, 'bot', 'exec')"
    subprocess.run([*old.command, "-c", code], check=True)
