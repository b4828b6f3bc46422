"""The learnt evaluation of Ultimate tic-tac-toe: what it looks at, how it learns, and its file."""

import numpy as np
import pytest

from pttt_ooc.other_games.arena.agents.catalogue import agent
from pttt_ooc.other_games.arena.games.base import PLAYER, RESULT, ArenaError
from pttt_ooc.other_games.arena.games.catalogue import game
from pttt_ooc.other_games.arena.kernels import clock
from pttt_ooc.other_games.arena.kernels import ultimate as rules
from pttt_ooc.other_games.arena.kernels.rng import generator
from pttt_ooc.other_games.arena.matches.runner import run
from pttt_ooc.other_games.arena.matches.settings import Match
from pttt_ooc.other_games.arena.matches.statistics import rate_of
from pttt_ooc.other_games.arena.research.kernels import ultimate_learnt as learnt
from pttt_ooc.other_games.arena.research.players import evaluations
from tests.other_games.arena import naive_ultimate as naive
from tests.other_games.arena.arena_kit import ULTIMATE, lab, late, solved


def positions(count, seed=0):
    """Positions of random games, none of them an end."""
    rng = np.random.default_rng(seed)
    while count:
        state = ULTIMATE.start()
        for _ in range(int(rng.integers(60))):
            after = ULTIMATE.play(state, int(rng.choice(ULTIMATE.legal(state))))
            if after[RESULT]:
                break
            state = after
        yield state
        count -= 1


def active(state):
    found = np.zeros(learnt.ACTIVE, dtype=np.int64)
    learnt.active(state, found)
    return found


def turned(state, symmetry):
    """The image of a position, all small boards and cells moved by the moves themselves."""
    image = state.copy()
    boards = rules.IMAGE[symmetry]
    for player in range(2):
        for place in range(9):
            marks = state[rules.MARKS + 9 * player + boards[place]]
            image[rules.MARKS + 9 * player + place] = sum((marks >> boards[c] & 1) << c for c in range(9))
    for word in (rules.WON, rules.WON + 1, rules.CLOSED):
        image[word] = sum((state[word] >> boards[c] & 1) << c for c in range(9))
    if state[rules.TARGET] != rules.ANYWHERE:
        image[rules.TARGET] = list(boards).index(state[rules.TARGET])
    return image


def test_images_of_a_position_share_their_weights():
    for state in positions(30):
        for symmetry in range(8):
            assert sorted(active(turned(state, symmetry))) == sorted(active(state))


def test_the_colours_of_the_marks_do_not_matter():
    for state in positions(30, seed=1):
        other = state.copy()
        other[PLAYER] = 1 - state[PLAYER]
        for first, second, size in ((rules.MARKS, rules.MARKS + 9, 9), (rules.WON, rules.WON + 1, 1)):
            other[first : first + size] = state[second : second + size]
            other[second : second + size] = state[first : first + size]
        assert list(active(other)) == list(active(state))


def test_other_positions_have_other_weights():
    seen = {tuple(active(state)): state for state in positions(80, seed=2)}
    assert len(seen) > 50  # openings repeat
    assert max(max(key) for key in seen) < learnt.WEIGHTS


def test_the_sum_is_of_the_active_weights():
    weights = np.random.default_rng(3).normal(size=learnt.WEIGHTS)
    for state in positions(30, seed=3):
        assert learnt.total(state, weights) == pytest.approx(weights[active(state)].sum())


def test_notes_that_follow_the_moves_are_the_sum_for_either_player():
    """A search gets the sum of the player's own weights, up to rounding, without adding all of it up."""
    rng = np.random.default_rng(8)
    weights = rng.normal(size=(2, learnt.WEIGHTS))
    whole, seen = learnt.whole(*weights), np.zeros(2, dtype=int)
    for _ in range(6):
        state = np.concatenate([ULTIMATE.start(), np.zeros(learnt.NOTES, dtype=np.int64)])
        learnt.note(state, whole)
        while not state[RESULT]:
            player = state[PLAYER]
            assert abs(learnt.noted_value(state, 5, whole) - learnt.SCALE * learnt.total(state, weights[player])) < 3
            seen[player] += 1
            before, move = state.copy(), int(rng.choice(ULTIMATE.legal(state[: rules.WORDS])))
            rules.play(state, move)
            learnt.follow(before, state, move, whole)
            anew = state.copy()
            learnt.note(anew, whole)
            assert np.array_equal(anew, state)
    assert seen.min() > 100


def test_chances_in_a_small_board():
    assert learnt.chances(0, 0) == 1 and learnt.chances(0b011, 0) == 2
    assert learnt.chances(0b011, 0b100) == 1
    assert learnt.chances(0b010001010, 0b100110101) == 0  # every line has a mark of the opponent
    assert learnt.chances(0b101000001, 0) == 3


def test_a_move_that_wins_the_game_is_found():
    state = ULTIMATE.start()
    state[rules.WON], state[rules.CLOSED], state[rules.TARGET] = 0b011, 0b011, 2
    state[rules.MARKS + 2] = 0b011
    weights, moves = np.random.default_rng(4).normal(size=(2, learnt.WEIGHTS)), np.zeros(81, dtype=np.int64)
    assert learnt.best(state, weights, 0, 0.5, moves, state.copy(), generator(0)) == 2 * 9 + 2


@pytest.mark.long
def test_draws_are_worth_more_to_the_player_who_is_not_eager(trained):
    """Equal chances are better for the one to whom a draw is almost a win."""
    eager, other = (np.mean([learnt.total(state, row) for state in positions(300, seed=9)]) for row in trained[0])
    assert other - eager > 0.1


@pytest.mark.slow
def test_a_drawn_end_has_the_value_of_a_draw(trained, tmp_path):
    evaluations.save_weights(tmp_path / "weights", ULTIMATE, trained[0])
    player, seen = agent(f"tuned:path={tmp_path / 'weights'},depth=20,slots=4096"), set()
    player.seat(ULTIMATE)
    for seed in range(160):
        moves, position = late(seed, 3)
        if naive.open_squares(position) <= 7 and solved(position) == 3:
            player.begin(seed)
            player.choose(ULTIMATE.after(moves))
            assert player._control[clock.VALUE] == round(
                learnt.SCALE * np.log(evaluations.DRAW / (1 - evaluations.DRAW))
            )
            seen.add(position.to_move)
    assert len(seen) == 2


@pytest.fixture(scope="module")
def trained():
    return evaluations.train(ULTIMATE, 20_000, seed=5)


@pytest.mark.slow
def test_training_follows_from_its_seed(trained):
    weights, results = evaluations.train(ULTIMATE, 400, seed=6)
    again, _ = evaluations.train(ULTIMATE, 400, seed=6)
    other, _ = evaluations.train(ULTIMATE, 400, seed=7)
    assert results.sum() == 400 and np.array_equal(weights, again) and not np.array_equal(weights, other)


@pytest.mark.slow
def test_what_is_learnt_beats_the_report_s_best_heuristic(trained, tmp_path):
    evaluations.save_weights(tmp_path / "weights", ULTIMATE, trained[0])
    agents = (f"tuned:depth=2,path={tmp_path / 'weights'}", "tuned:depth=2,heur=3")
    rate = rate_of(run(Match("ultimate", agents, 200, start="both", opening=4)))
    assert rate.rate > 0.6 and rate.p < 1e-3


LOTS = np.random.default_rng(10).normal(size=(2, learnt.WEIGHTS))


def test_a_file_is_read_as_it_was_written(tmp_path):
    evaluations.save_weights(tmp_path / "weights", ULTIMATE, LOTS)
    weights, draw = evaluations.load_weights(tmp_path / "weights", ULTIMATE)
    assert np.array_equal(weights, LOTS.astype(np.float32)) and draw == evaluations.DRAW


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda data: data[:-1], "not a file"),
        (lambda data: b"x" + data, "not a file"),
        (lambda data: data.replace(b'"ultimate"', b'"ultimat":'), "does not say what it holds"),
        (lambda data: data.replace(b'"ultimate"', b'"ultimat3"'), "is for ultimat3"),
        (lambda data: data.replace(b"0.15", b"1.15"), "what a draw is worth"),
        (lambda data: data[:-4] + np.array([np.nan], "<f4").tobytes(), "not numbers"),
    ],
)
def test_damaged_files_are_refused(tmp_path, change, sentence):
    evaluations.save_weights(tmp_path / "weights", ULTIMATE, LOTS)
    data = (tmp_path / "weights").read_bytes()
    (tmp_path / "weights").write_bytes(change(data))
    with pytest.raises(ArenaError, match=sentence):
        agent(f"tuned:path={tmp_path / 'weights'}").seat(ULTIMATE)


def test_other_games_are_refused(tmp_path):
    with pytest.raises(ArenaError, match="for ultimate only"):
        evaluations.train(game("mnk:3x3+need3"), 10)


def test_the_command_writes_what_the_agent_reads(tmp_path, capsys):
    assert "50 games" in lab(capsys, "train-ultimate", "-o", tmp_path / "w", "--games", "50")
    agent(f"tuned:path={tmp_path / 'w'},depth=1").seat(ULTIMATE)
