"""The neural network that evaluates Ultimate tic-tac-toe: its whole numbers, its accumulators, and its file."""

import numpy as np
import pytest

from pttt_ooc.arena.agents.catalogue import agent
from pttt_ooc.arena.games.base import PLAYER, ArenaError
from pttt_ooc.arena.games.catalogue import game
from pttt_ooc.arena.kernels import ultimate as rules
from pttt_ooc.arena.kernels import ultimate_learnt as sums
from pttt_ooc.arena.kernels import ultimate_network as kernels
from pttt_ooc.arena.learning import ultimate_network
from tests.arena.arena_kit import ULTIMATE


@pytest.fixture(scope="module")
def network():
    """Weights by lot, of which about half of the hidden units are between 0 and 1."""
    rng = np.random.default_rng(4)
    scales = kernels.Network(0.1, 0.5, 0.1, 0.1, 0.2, 0.3, 0.4)
    parts = (rng.normal(size=shape) * scale for shape, scale in zip(kernels.SHAPES, scales, strict=True))
    made = kernels.Network(*parts)
    return made._replace(bias=made.bias + 0.5)


@pytest.fixture(scope="module")
def weights(network):
    return kernels.whole(network)


def noted(position, eager, weights):
    """A position with notes, with this eager player: the notes are made as if they were to move."""
    state = np.concatenate([position, np.zeros(kernels.NOTES, dtype=np.int64)])
    state[PLAYER] = eager
    kernels.note(state, weights)
    state[PLAYER] = position[PLAYER]
    return state


def games(count, seed):
    """Positions and moves of random games, until the end."""
    rng = np.random.default_rng(seed)
    for _ in range(count):
        state = ULTIMATE.start()
        while legal := ULTIMATE.legal(state):
            move = int(rng.choice(legal))
            yield state, move
            state = ULTIMATE.play(state, move)


def test_accumulators_that_follow_the_moves_are_those_that_are_computed_anew(weights):
    state, seen = None, 0
    for position, move in games(4, seed=1):
        if not position.any() or state is None or position[2] == 0:
            state = noted(position, 0, weights)
        assert np.array_equal(state, noted(position, 0, weights))
        seen += int(position[rules.TARGET] == rules.ANYWHERE)
        before = state.copy()
        state[rules.WORDS + kernels.COPIED :] = 0  # a search does not copy them
        rules.play(state, move)
        kernels.follow(before, state, move, weights)
    assert seen > 8


def test_the_whole_numbers_are_the_network_up_to_rounding(network, weights):
    """For the eager player, by a plain sum of the network as it is trained; a value of 1 is SCALE points."""
    worst, values = 0.0, []
    for position, _ in games(4, seed=2):
        state = noted(position, int(position[PLAYER]), weights)
        value = kernels.evaluate(network, position)
        worst = max(worst, abs(kernels.noted(state, 6, weights) / kernels.SCALE - value))
        values.append(value - sums.total(position, network.sums[0]))
    assert worst < 0.05 and np.std(values) > 0.2  # the network has its part in it


def test_the_other_player_has_the_other_weights(network):
    """Exchanging both players' weights is the same as exchanging who is eager."""
    other = network._replace(sums=network.sums[::-1], bias=network.bias[::-1], output=network.output[::-1])
    first, second = kernels.whole(network), kernels.whole(other)
    values = []
    for position, _ in games(2, seed=3):
        mover = int(position[PLAYER])
        values.append(kernels.noted(noted(position, 1 - mover, first), 6, first))
        assert values[-1] == kernels.noted(noted(position, mover, second), 6, second)
    assert len(set(values)) > 40


def test_a_file_is_read_as_it_was_written(network, tmp_path):
    ultimate_network.save(tmp_path / "network", ULTIMATE, network, 0.2)
    read, draw = ultimate_network.load(tmp_path / "network", ULTIMATE)
    assert draw == 0.2 and ultimate_network.is_network(tmp_path / "network")
    for part, stored in zip(network, read, strict=True):
        assert np.array_equal(part.astype("<f2"), stored)
    with pytest.raises(ArenaError, match="is for ultimate, not for ultimate:most|learnt for ultimate"):
        ultimate_network.load(tmp_path / "network", game("ultimate:most"))


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda data: data[:-1], "not a whole file"),
        (lambda data: data[:60], "not a whole file"),
        (lambda data: data.replace(b"network 1", b"network 2"), "not a file of such weights"),
        (lambda data: data.replace(b'"ultimate"', b'"ultimat3"'), "is for ultimat3"),
        (lambda data: data.replace(b"0.2}", b"1.2}"), "what a draw is worth"),
        (lambda data: data.replace(b'{"game"', b'["game"'), "not a whole file"),
    ],
)
def test_damaged_files_are_refused(network, tmp_path, change, sentence):
    ultimate_network.save(tmp_path / "network", ULTIMATE, network, 0.2)
    (tmp_path / "network").write_bytes(change((tmp_path / "network").read_bytes()))
    with pytest.raises(ArenaError, match=sentence):
        agent(f"tuned:path={tmp_path / 'network'}").seat(ULTIMATE)


def test_a_network_with_infinite_numbers_is_refused(network, tmp_path):
    bad = network._replace(bias=network.bias + np.inf)
    ultimate_network.save(tmp_path / "network", ULTIMATE, bad, 0.2)
    with pytest.raises(ArenaError, match="not a whole file"):
        ultimate_network.load(tmp_path / "network", ULTIMATE)
