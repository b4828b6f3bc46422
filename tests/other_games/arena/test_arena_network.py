"""The neural network that evaluates Ultimate tic-tac-toe: its whole numbers, its accumulators, and its file."""

import numpy as np
import pytest

from pttt_ooc.other_games.arena.agents.catalogue import agent
from pttt_ooc.other_games.arena.games.base import PLAYER, ArenaError
from pttt_ooc.other_games.arena.games.catalogue import game
from pttt_ooc.other_games.arena.kernels import ultimate as rules
from pttt_ooc.other_games.arena.research.kernels import ultimate_learnt as sums
from pttt_ooc.other_games.arena.research.kernels import ultimate_network as kernels
from pttt_ooc.other_games.arena.research.kernels import ultimate_self_play as self_play
from pttt_ooc.other_games.arena.research.players import evaluations
from tests.other_games.arena.arena_kit import ULTIMATE, random_positions


@pytest.fixture(scope="module")
def network():
    """Random weights, of which about half of the hidden units are between 0 and 1."""
    rng = np.random.default_rng(4)
    scales = kernels.Network(0.1, 0.5, 0.1, 0.1, 0.2, 0.3, 0.4, 0.3, 0.1, 0.3)
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


def test_accumulators_that_follow_the_moves_are_those_that_are_computed_anew(weights):
    state, seen = None, 0
    for position, move in random_positions(4, 1):
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
    for position, _ in random_positions(3, 2):
        state = noted(position, int(position[PLAYER]), weights)
        value = kernels.evaluate(network, position)
        worst = max(worst, abs(kernels.noted_value(state, 6, weights) / kernels.SCALE - value))
        values.append(value - sums.total(position, network.sums[0]))
    assert worst < 0.05 and np.std(values) > 0.2  # the network has its part in it


def test_the_other_player_has_the_other_weights(network):
    """Exchanging both players' weights is the same as exchanging who is eager."""
    other = network._replace(sums=network.sums[::-1], bias=network.bias[::-1])
    other = other._replace(output=network.output[:, ::-1], constant=network.constant[:, ::-1])
    other = other._replace(tactic_values=network.tactic_values[:, ::-1])
    first, second = kernels.whole(network), kernels.whole(other)
    values = []
    for position, _ in random_positions(1, 3):
        mover = int(position[PLAYER])
        values.append(kernels.noted_value(noted(position, 1 - mover, first), 6, first))
        assert values[-1] == kernels.noted_value(noted(position, mover, second), 6, second)
    assert len(set(values)) > 30


def test_a_file_is_read_as_it_was_written(network, tmp_path):
    evaluations.save_network(tmp_path / "network", ULTIMATE, network, 0.2)
    read, draw = evaluations.load_network(tmp_path / "network", ULTIMATE)
    assert draw == 0.2 and evaluations.is_network(tmp_path / "network")
    for part, stored in zip(network, read, strict=True):
        assert np.array_equal(part.astype("<f2"), stored)
    with pytest.raises(ArenaError, match="is for ultimate, not for ultimate:most|learnt for ultimate"):
        evaluations.load_network(tmp_path / "network", game("ultimate:most"))


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda data: data[:-1], "not a whole file"),
        (lambda data: data[:60], "not a whole file"),
        (lambda data: data.replace(b"network 3", b"network 2"), "not a file of such weights"),
        (lambda data: data.replace(b'"ultimate"', b'"ultimat3"'), "is for ultimat3"),
        (lambda data: data.replace(b"0.2}", b"1.2}"), "what a draw is worth"),
        (lambda data: data.replace(b'{"game"', b'["game"'), "not a whole file"),
    ],
)
def test_damaged_files_are_refused(network, tmp_path, change, sentence):
    evaluations.save_network(tmp_path / "network", ULTIMATE, network, 0.2)
    (tmp_path / "network").write_bytes(change((tmp_path / "network").read_bytes()))
    with pytest.raises(ArenaError, match=sentence):
        agent(f"tuned:path={tmp_path / 'network'}").seat(ULTIMATE)


def test_a_network_with_infinite_numbers_is_refused(network, tmp_path):
    bad = network._replace(bias=network.bias + np.inf)
    evaluations.save_network(tmp_path / "network", ULTIMATE, bad, 0.2)
    with pytest.raises(ArenaError, match="not a whole file"):
        evaluations.load_network(tmp_path / "network", ULTIMATE)


def wanted_plainly(player, moves, searched, drawn, result, decay, draw):
    """The lambda-returns for the player who searches, by going forward from each position."""
    outcome = draw if result == 3 else float(result == 1 + player)

    def value(ply):
        return 1 / (1 + np.exp(-searched[ply] / kernels.SCALE))

    def onwards(ply):
        """What follows a ply, or None if a random move comes first."""
        if ply == len(moves):
            return outcome
        if ply % 2 == player:
            return at(ply)
        return None if drawn[ply] else onwards(ply + 1)

    def at(ply):
        if searched[ply] == self_play.NO_VALUE:
            return None
        rest = None if drawn[ply] else onwards(ply + 1)
        return value(ply) if rest is None else (1 - decay) * value(ply) + decay * rest

    return [at(ply) if ply % 2 == player else onwards(ply) for ply in range(len(moves))]


def test_examples_have_the_lambda_returns_of_both_players():
    rng = np.random.default_rng(6)
    decay, draw, checked = 0.7, 0.15, 0
    for _ in range(3):
        state, played = ULTIMATE.start(), []
        while legal := ULTIMATE.legal(state):
            played.append(int(rng.choice(legal)))
            state = ULTIMATE.play(state, played[-1])
        number = len(played)
        moves = np.full((1, rules.LENGTH), self_play.NO_MOVE, np.uint8)
        searched, drawn = np.zeros((1, rules.LENGTH), np.int16), np.zeros((1, rules.LENGTH), np.bool_)
        moves[0, :number] = played
        searched[0, :number] = rng.integers(-400, 400, number)
        searched[0, :3], drawn[0, :3] = self_play.NO_VALUE, True
        drawn[0, 3:number] = rng.random(number - 3) < 0.1
        games_played = moves, searched, drawn, np.array([state[1]], np.int8)
        entries, targets = np.zeros((number, 9), np.int16), np.zeros(number, np.int8)
        found, wanted = np.zeros((number, sums.ACTIVE), np.int32), np.zeros((number, 2), np.float32)
        made = entries, targets, found, np.zeros(number, np.int16), wanted
        assert self_play.examples.py_func(ULTIMATE.start(), games_played, decay, draw, *made) == number
        other_rules = (*games_played[:3], np.array([1 + state[1] % 3], np.int8))
        assert self_play.examples.py_func(ULTIMATE.start(), other_rules, decay, draw, *made) == -1
        for player in range(2):
            plain = wanted_plainly(player, played, searched[0], drawn[0], int(state[1]), decay, draw)
            for ply, value in enumerate(plain):
                eager = ply % 2 == player
                row = wanted[ply, int(eager)]
                assert np.isnan(row) if value is None else row == pytest.approx(value if eager else 1 - value, abs=1e-6)
                checked += value is not None
        state = ULTIMATE.start()
        for ply, move in enumerate(played):
            assert sorted(sums_of(state)) == sorted(found[ply]) and targets[ply] == state[rules.TARGET]
            state = ULTIMATE.play(state, move)
    assert checked > 200


def sums_of(state):
    found = np.zeros(sums.ACTIVE, dtype=np.int64)
    sums.active(state, found)
    return found


@pytest.fixture
def small(monkeypatch):
    """The training's module, for a few games."""
    pytest.importorskip("jax", reason="JAX is not installed")
    from pttt_ooc.other_games.arena.research.players import ultimate_training as training

    monkeypatch.setattr(training, "BATCH", 64)
    return training


@pytest.mark.long
def test_two_trainings_make_the_same_file(small, tmp_path):
    """Games and network; other lots make other games."""
    made = []
    for run, seed in (("one", 5), ("two", 5), ("other", 6)):
        small.play(
            tmp_path / run, ULTIMATE, "tuned:path=shipped,slots=1024", nodes=30, parts=2, size=10, lot=0.1, seed=seed
        )
        made.append((tmp_path / run / "0001.npz").read_bytes())
    assert made[0] == made[1] != made[2]
    for run in ("one", "two"):
        small.train(ULTIMATE, [tmp_path / run], tmp_path / f"{run}.network", epochs=0.3, games_held=4, without=[])
    assert (tmp_path / "one.network").read_bytes() == (tmp_path / "two.network").read_bytes()
    evaluations.load_network(tmp_path / "one.network", ULTIMATE)
    with pytest.raises(ArenaError, match="0001.npz were not played by the rules ultimate:most: name their --game"):
        small.read(game("ultimate:most"), [tmp_path / "one"], 1)


@pytest.mark.long
def test_the_loss_is_that_of_the_network_in_the_search(small, network):
    """By the plain evaluation of each position; an image of the board that is turned back is the board."""
    import jax

    positions = [position for position, _ in random_positions(3, 7)]
    entries, targets = np.zeros((len(positions), 9), np.int16), np.zeros(len(positions), np.int8)
    tactics = np.array([tactic_of(position) for position in positions], np.int16)
    found, wanted = np.zeros((len(positions), sums.ACTIVE), np.int32), np.full((len(positions), 2), np.nan, np.float32)
    wanted[:, 1] = np.random.default_rng(8).random(len(positions))
    for row, position in enumerate(positions):
        entries[row] = [sums.entry_of(position, board, int(position[PLAYER])) for board in range(9)]
        targets[row], found[row] = position[rules.TARGET], sums_of(position)
    places = np.concatenate([np.argsort(rules.IMAGE, axis=1), np.full((8, 1), 9)], axis=1)
    weights = {name: jax.numpy.asarray(part, np.float32) for name, part in network._asdict().items()}
    tables = [jax.numpy.asarray(table) for table in (places, rules.IMAGE, small.images())]
    batch = entries, targets, found, tactics, wanted
    chance, want = 1 / (1 + np.exp(-np.array([kernels.evaluate(network, p) for p in positions]))), wanted[:, 1]
    plain = np.mean(want * np.log(want / chance) + (1 - want) * np.log((1 - want) / (1 - chance)))
    assert float(small.divergence(jax, *tables, weights, batch, 0)) == pytest.approx(plain, rel=1e-4)
    turned = small.images()[3][entries[:, rules.IMAGE[3]]], places[3][targets], found, tactics, wanted
    back = int(np.flatnonzero((np.argsort(rules.IMAGE[3]) == rules.IMAGE).all(1))[0])
    assert float(small.divergence(jax, *tables, weights, turned, back)) == pytest.approx(plain, rel=1e-4)


def tactic_of(position):
    own, other = (kernels.winnable(position, player) for player in (position[PLAYER], 1 - position[PLAYER]))
    return kernels.tactic(position, own, other)


def tactic_plainly(position):
    """By playing each move by the rules, and each answer to it."""
    player = int(position[PLAYER])
    closed = bin(int(position[rules.CLOSED])).count("1")

    def winning(state):
        """The small boards that the player to move can win with one mark, and whether one of them wins the game."""
        everywhere = state.copy()
        everywhere[rules.TARGET] = rules.ANYWHERE
        mover, boards, decides = int(state[PLAYER]), set(), False
        for move in ULTIMATE.legal(everywhere):
            after = ULTIMATE.play(everywhere, move)
            if after[rules.WON + mover] != state[rules.WON + mover]:
                boards.add(move // 9)
                decides |= int(after[1]) == 1 + mover
        return boards, decides

    own, decides = winning(position)
    passed = position.copy()
    passed[PLAYER] = 1 - player
    other, threat = winning(passed)
    if position[rules.TARGET] == rules.ANYWHERE:
        counts = 16 * min(len(own), 3) + 4 * min(len(other), 3) + 2 * decides + threat
        return 3 * kernels.SENT_TACTICS + kernels.FREE_TACTICS * (closed // 3) + counts
    kinds = {(wins, sent): 0 for wins in (False, True) for sent in ("safe", "other", "closed")}
    for move in ULTIMATE.legal(position):
        after, cell = ULTIMATE.play(position, move), move % 9
        shut = bool(position[rules.CLOSED] >> cell & 1)  # before the move
        there = passed.copy()
        there[rules.TARGET] = rules.ANYWHERE if shut else cell
        lost = any(int(ULTIMATE.play(there, answer)[1]) == 2 - player for answer in ULTIMATE.legal(there))
        if not lost:
            sent = "closed" if shut else "other" if cell in other else "safe"
            kinds[bool(after[rules.WON + player] != position[rules.WON + player]), sent] += 1
    found = 3 * min(kinds[False, "safe"], 3) + min(kinds[False, "other"], 2)
    for kind in ((False, "closed"), (True, "safe"), (True, "other"), (True, "closed")):
        found = 2 * found + min(kinds[kind], 1)
    return kernels.SENT_TACTICS * (closed // 3) + 2 * found + threat


def test_tactics_are_the_kinds_of_the_moves():
    seen = set()
    for position, _ in random_positions(1, 9):
        seen.add(int(tactic_of(position)))
        assert tactic_of(position) == tactic_plainly(position)
    assert len(seen) > 20
