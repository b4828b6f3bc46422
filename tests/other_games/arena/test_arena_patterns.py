"""The evaluation by patterns on lines."""

import numpy as np
import pytest

from pttt_ooc.other_games.arena.agents.basic import Random
from pttt_ooc.other_games.arena.games.base import PLAYER, RESULT, ArenaError
from pttt_ooc.other_games.arena.games.catalogue import game
from pttt_ooc.other_games.arena.research.kernels import line_patterns
from pttt_ooc.other_games.arena.research.players import patterns as learning
from pttt_ooc.other_games.arena.research.players.patterns import PatternAgent
from tests.other_games.arena.arena_kit import command

NEAR = game("infinite:near+need5+limiter2")


def plain_counts(state, player):
    """How often each pattern is on the board, window by window over the whole plane."""
    found = {}
    cells = [[int(NEAR.rules.cell(state, r, c)) for c in range(-6, 69)] for r in range(-6, 69)]
    for row in range(75):
        for column in range(75):
            for down, right in ((0, 1), (1, 0), (1, 1), (1, -1)):
                last = row + 5 * down, column + 5 * right
                if not (last[0] < 75 and 0 <= last[1] < 75):
                    continue
                window = [cells[row + n * down][column + n * right] for n in range(6)]
                window = [3 - mark if mark in (1, 2) and player == 1 else mark for mark in window]
                if {1, 2} & set(window):
                    code = sum(mark * 4**n for n, mark in enumerate(window))
                    key = min(code, sum(mark * 4 ** (5 - n) for n, mark in enumerate(window)))
                    found[key] = found.get(key, 0) + 1
    return found


def test_windows_add_up_to_the_patterns_on_the_board():
    kernels, rng = line_patterns.patterns(NEAR.rules), np.random.default_rng(2)
    state, counts = NEAR.start(), [{}, {}]
    before, after = np.zeros((2, 24), dtype=np.int64)
    for _ in range(14):
        move = int(rng.choice(NEAR.legal(state)))
        for player in (0, 1):
            kernels.windows(state, move, player, before, after)
            for patterns, change in ((before, -1), (after, 1)):
                for pattern in patterns.tolist():
                    counts[player][pattern] = counts[player].get(pattern, 0) + change
        state = NEAR.play(state, move)
        if state[RESULT]:
            break
    for player in (0, 1):
        found = {key: number for key, number in counts[player].items() if number and key != line_patterns.CONSTANT}
        assert found == plain_counts(state, player)


def test_mirror_images_share_a_weight():
    pattern = sum(mark * 4**n for n, mark in enumerate((1, 1, 0, 2, 0, 3)))
    mirror = sum(mark * 4**n for n, mark in enumerate((3, 0, 2, 0, 1, 1)))
    assert line_patterns.SAME[pattern] == line_patterns.SAME[mirror] == min(pattern, mirror)


@pytest.fixture(scope="module")
def bot():
    made = PatternAgent()
    made.take(NEAR, learning.train(NEAR, 6000, seed=1)[0])
    return made


def state_after(*moves):
    return NEAR.after(NEAR.read_move(move) for move in moves)


@pytest.mark.slow
def test_it_has_learnt_to_win_and_to_block(bot):
    four = state_after("0 0", "0 2", "1 0", "2 2", "2 0", "-1 2", "3 0", "3 2")
    assert int(four[PLAYER]) == 0 and bot.choose(four) in {NEAR.read_move("-1 0"), NEAR.read_move("4 0")}
    threat = state_after("0 0", "-1 0", "1 0", "1 2", "2 0", "3 -2", "3 0")
    assert bot.choose(threat) == NEAR.read_move("4 0")


@pytest.mark.slow
def test_it_beats_random_play(bot):
    random = Random()
    random.seat(NEAR)
    won, lost, drawn = learning.versus(NEAR, (bot, random), 20, opening=0)
    assert (won, lost, drawn) == (20, 0, 0)


@pytest.mark.slow
def test_training_follows_from_the_seed():
    runs = [learning.train(NEAR, 10, seed)[0].tolist() for seed in (1, 1, 2)]
    assert runs[0] == runs[1] != runs[2]


def test_files_are_checked(tmp_path):
    path, weights = tmp_path / "weights", np.arange(line_patterns.PATTERNS, dtype=float)
    learning.save(path, NEAR, weights)
    assert np.array_equal(learning.load(path, game("infinite:growing+need5+limiter5")), weights)
    data = path.read_bytes()
    for content, part in (
        (b"x" + data, "not a file of such weights"),
        (data[:-8], "not a file of such weights"),
        (data + b"more", "not a file of such weights"),
        (data.replace(b'"need"', b'"nope"'), "second line"),
        (data.replace(b": 5}", b": 4}"), "is for 4 in a row"),
        (data[:-8] + np.array([np.nan]).tobytes(), "not numbers"),
    ):
        path.write_bytes(content)
        with pytest.raises(ArenaError, match=part):
            learning.load(path, NEAR)
    with pytest.raises(ArenaError, match="not for ultimate"):
        learning.load(path, game("ultimate"))


def test_an_agent_plays_by_the_weights_of_its_file(tmp_path):
    weights = np.random.default_rng(8).normal(size=learning.PATTERNS)
    learning.save(tmp_path / "weights", NEAR, weights)
    agent = PatternAgent(str(tmp_path / "weights"))
    agent.seat(NEAR)
    assert (agent._weights == weights).all()


@pytest.mark.slow
def test_the_command_trains_and_plays_a_table(tmp_path, capsys):
    for arguments in (
        ["train", "-i", "50", "--form", "infinite", "-n", "5", "--policies", str(tmp_path), "--no-play"],
        ["train-patterns", "-o", str(tmp_path / "weights"), "--games", "40", "--matches", "2"]
        + ["--against", str(tmp_path / "infinite-growing+need5+limiter5")],
    ):
        out = command(capsys, *arguments)
    assert "40 games in" in out and "games won" in out
    agent = PatternAgent(str(tmp_path / "weights"))
    agent.seat(NEAR)
    assert agent.choose(NEAR.start()) in NEAR.legal(NEAR.start())
