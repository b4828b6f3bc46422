"""The environment of JAX: games are those of the rules and of OpenSpiel, and the conventions those of pgx."""

import functools
import pickle
import subprocess
import sys

import numpy as np
import pytest

from pttt_ooc.errors import ConfigError, GameError, MissingExtraError, UnknownGameError
from pttt_ooc.games.rules.catalogue import GAMES, named_game
from pttt_ooc.games.rules.infoset_text import attempts_of
from pttt_ooc.games.rules.play import start
from pttt_ooc.games.structure.row_numbers import row_of, row_tables
from pttt_ooc.library.api.openspiel import load_game
from pttt_ooc.other_games.environments import catalogue
from pttt_ooc.other_games.environments.catalogue import batched_environment

jax = pytest.importorskip("jax", reason="JAX is not installed: batched environments go without tests")

BOARDS, RULES = ("pttt", "dark-hex-3x3", "dark-hex-2x3"), ("abrupt", "classical")
OPENSPIEL = [f"{board}-{rule}" for board in BOARDS for rule in RULES]  # the first four have nine squares
OTHERS = [
    "mini-2x3k2-classical",
    "pttt-2x4k3-abrupt",
    "pttt-abrupt-after-0-5-1-8-3",
    "pttt-classical-after-1-0-3-2-4-8",
    "mini-2x3k3-abrupt-after-1",
    "dark-hex-3x2-classical",
]
LARGE = ["pttt-4x4k4-classical", "dark-hex-3x4-abrupt"]


def random_games(env, games, seed, told):
    """Let random players play; what `told` tells of the states at each step, and the attempted squares.

    Returns
    -------
    The squares, int (steps, games), and a list of arrays (steps + 1, games, ...).
    """

    def choose(state, key):
        return jax.random.categorical(key, jax.numpy.where(state.legal_action_mask, 0.0, -jax.numpy.inf))

    def advance(states, key):
        squares = jax.vmap(choose)(states, jax.random.split(key, games))
        states = jax.vmap(env.step)(states, squares)
        return states, (squares, jax.vmap(told)(states))

    @jax.jit
    def play(key):
        first = jax.vmap(env.init)(jax.random.split(key, games))
        _, (squares, later) = jax.lax.scan(advance, first, jax.random.split(key, 2 * env.num_actions + 1))
        return squares, jax.tree.map(lambda a, b: jax.numpy.concatenate([a[None], b]), jax.vmap(told)(first), later)

    squares, found = play(jax.random.PRNGKey(seed))
    return np.asarray(squares), [np.asarray(one) for one in found]


@pytest.mark.slow_but_one
@pytest.mark.parametrize("name", OPENSPIEL)
def test_games_are_those_of_openspiel(name, games=40, seed=1):
    """Move by move: who moves, legal squares, the information state's tensor of both players, the end and payoffs."""
    pytest.importorskip("pyspiel", reason="OpenSpiel is not installed")
    env, game = batched_environment(name), load_game(named_game(name))

    def told(state):
        both = [env.observe(state, player ^ state._swapped) for player in (0, 1)]
        returns = jax.numpy.where(state._swapped, state.rewards[::-1], state.rewards)
        return state.seat, state.legal_action_mask, jax.numpy.stack(both), state.terminated, returns

    squares, (seats, masks, seen, over, returns) = random_games(env, games, seed, told)
    assert over[-1].all()
    for n in range(games):
        state = game.new_initial_state()
        for step in range(len(seats)):
            assert over[step, n] == state.is_terminal()
            assert (seen[step, n, :, :2] == np.eye(2)).all()
            if state.is_terminal():
                assert returns[step, n].tolist() == state.returns() and masks[step, n].all()
                break
            assert seats[step, n] == state.current_player() and not returns[step, n].any()
            assert np.flatnonzero(masks[step, n]).tolist() == state.legal_actions()
            for player in (0, 1):
                assert (seen[step, n, player, 2:] == state.information_state_tensor(player)).all()
            state.apply_action(squares[step, n])


@pytest.mark.long
@pytest.mark.parametrize("name", OPENSPIEL[:4])
def test_25000_games_are_those_of_openspiel(name):
    test_games_are_those_of_openspiel(name, 25_000, 2)


@pytest.mark.slow
@pytest.mark.parametrize("name", [*OTHERS, *LARGE])
def test_games_are_those_of_the_rules(name, games=60):
    env, game = batched_environment(name, "planes"), named_game(name)
    rows = row_tables(game) if name not in LARGE else None

    def told(state):
        row = env.row(state) if rows else state.seat
        return state.seat, state.legal_action_mask, state.observation, state.terminated, state.rewards, row

    squares, (seats, masks, seen, over, rewards, row) = random_games(env, games, 3, told)
    assert seen.shape[2:] == env.observation_shape == (game.rows, game.columns, 5 + game.squares)
    for n in range(games):
        history, agents = start(game), {seats[0, n]: None}
        for step in range(len(seats)):
            assert over[step, n] == history.is_terminal
            if history.is_terminal:
                assert sorted(rewards[step, n]) == sorted(history.returns)
                break
            player = history.player
            assert seats[step, n] == player and np.flatnonzero(masks[step, n]).tolist() == history.legal()
            planes = seen[step, n].reshape(game.squares, -1)
            assert (planes[:, :2] == np.eye(2)[player]).all()
            attempts = attempts_of(history.infoset(player))
            known = {square: 1 + (player if placed else 1 - player) for square, placed in attempts}
            for square in range(game.squares):
                assert planes[square, 2:5].tolist() == np.eye(3)[known.get(square, 0)].tolist()
            assert [planes[:, 5 + time].argmax() for time in range(len(attempts))] == [square for square, _ in attempts]
            assert planes[:, 5:].sum() == len(attempts)
            if rows:
                own = [(one.square, one.placed) for one in history.attempts if one.player == player]
                assert row[step, n] == row_of(rows[player], own)
            history = history.step(int(squares[step, n]))
    assert agents


@functools.cache
def compiled(name, **options):
    """An environment whose functions are compiled: op by op each would be compiled by itself."""
    env = batched_environment(name, **options)
    for function in ("init", "step", "step_and_reset", "row", "observe", "information_state"):
        setattr(env, function, jax.jit(getattr(env, function)))
    return env


def states_of(env, *squares):
    """The state after some attempts."""
    state = env.init(jax.random.PRNGKey(0))
    for square in squares:
        state = env.step(state, square)
    return state


def test_ends_of_games_follow_pgx():
    env = compiled("mini-2x2k2-abrupt", seats="fixed")
    won = states_of(env, 0, 1, 2)
    assert won.terminated and won.rewards.tolist() == [1, -1] and won.legal_action_mask.all() and won._step_count == 3
    after = env.step(won, 3)
    assert after.terminated and after.rewards.tolist() == [0, 0] and after._step_count == 3
    assert (after._placed == won._placed).all() and (after._attempts == won._attempts).all()
    for again, loser in (((0, 0), 1), ((0, 1, 0), 0), ((0, 4), 1), ((0, -1), 1)):
        lost = states_of(env, *again)
        if again == (0, 0):  # the other player's mark: no fault, but a failed attempt
            assert not lost.terminated
            continue
        assert lost.terminated and lost.rewards[loser] == -1 and lost.rewards[1 - loser] == 1
        assert (lost._placed == states_of(env, *again[:-1])._placed).all()


def test_a_new_game_begins_at_once():
    env = compiled("mini-2x2k2-abrupt")
    state, played = env.init(jax.random.PRNGKey(3)), []
    first = env.init(jax.random.PRNGKey(3))
    for square in [0, 1, 2, 0, 1, 2]:
        before, state = state, env.step_and_reset(state, square)
        played.append(bool(state.terminated))
        if state.terminated:
            assert state.rewards[before.current_player] == 1 and state._swapped != before._swapped
            assert not state._attempts.any() and state._step_count == 0 and state.current_player == state._swapped
            assert (state.observation == first.observation).all() and env.row(state) == 0
            assert state.legal_action_mask.all()
    assert played == [False, False, True] * 2


@pytest.mark.slow
def test_seats():
    keys = jax.random.split(jax.random.PRNGKey(1), 400)
    drawn = jax.vmap(batched_environment("mini-2x2k2-abrupt").init)(keys)
    assert 150 < drawn._swapped.sum() < 250 and (drawn.current_player == drawn._swapped).all()
    assert not jax.vmap(batched_environment("mini-2x2k2-abrupt", seats="fixed").init)(keys)._swapped.any()
    env = compiled("mini-2x3k3-abrupt-after-1", seats="fixed")
    assert env.init(keys[0]).current_player == 1 == env.step_and_reset(env.init(keys[0]), -1).current_player


@pytest.mark.slow_but_one
@pytest.mark.parametrize("name", ["mini-2x3k3-classical-after-1", "pttt-abrupt", "dark-hex-2x3-classical"])
def test_states_are_those_that_pgx_describes(name):
    env = compiled(name)
    state = env.init(jax.random.PRNGKey(0))
    assert (env.id, state.env_id, env.num_players, env.num_actions) == (name, name, 2, named_game(name).squares)
    assert state.observation.shape == env.observation_shape and state.observation.dtype == bool
    assert (state.observation[2:] == env.information_state(state)).all()
    assert {leaf.dtype.name for leaf in jax.tree.leaves(state)} == {"int32", "bool", "float32"}
    assert jax.tree.structure(pickle.loads(pickle.dumps(state))) == jax.tree.structure(state)


@pytest.mark.parametrize("name", sorted(GAMES))
def test_all_games_of_the_catalogue_can_be_made(name):
    """Shapes are found without computing anything."""
    env = batched_environment(name)
    first = jax.eval_shape(env.init, jax.random.PRNGKey(0))
    assert first.observation.shape == env.observation_shape
    assert jax.eval_shape(env.step, first, 0) == first == jax.eval_shape(env.step_and_reset, first, 0)


def test_what_there_is_not_gets_sentences(monkeypatch):
    with pytest.raises(ConfigError, match="'marks' is neither 'information state' nor 'planes'"):
        batched_environment("pttt-abrupt", "marks")
    with pytest.raises(ConfigError, match="'fair' is neither 'drawn' nor 'fixed'"):
        batched_environment("pttt-abrupt", seats="fair")
    with pytest.raises(UnknownGameError):
        batched_environment("chess")
    env = batched_environment("pttt-4x4k4-classical")
    with pytest.raises(GameError, match="too many infosets to be listed"):
        env.row(env.init(jax.random.PRNGKey(0)))
    monkeypatch.setattr(catalogue, "check_extra", lambda *_: (_ for _ in ()).throw(MissingExtraError("JAX!")))
    with pytest.raises(MissingExtraError):
        batched_environment("pttt-abrupt")


@pytest.mark.slow
@pytest.mark.parametrize("wide", ["0", "1"])
def test_a_users_jax_stays_as_it_is(wide):
    """Its devices, and its kind of numbers; games are on the device that the user computes on."""
    program = """
import jax
before = jax.config.values.copy()
from pttt_ooc.other_games.environments.catalogue import batched_environment
from pttt_ooc.library.scoring import scores
env = batched_environment("mini-2x3k2-classical")
assert jax.config.values == before and not jax._src.xla_bridge.backends_are_initialized()
other = jax.devices()[1]
def steps(states, squares):
    return jax.lax.scan(lambda s, a: (jax.vmap(env.step_and_reset)(s, a), jax.vmap(env.row)(s)), states, squares)
with jax.default_device(other):
    states = jax.vmap(env.init)(jax.random.split(jax.random.PRNGKey(0), 5))
    states, rows = jax.jit(steps)(states, jax.numpy.arange(20).reshape(4, 5) % 6)
assert {leaf.device for leaf in jax.tree.leaves((states, rows))} == {other}
assert jax.config.values == before
"""
    env = {"PATH": "/usr/bin:/bin", "XLA_FLAGS": "--xla_force_host_platform_device_count=2", "JAX_ENABLE_X64": wide}
    subprocess.run([sys.executable, "-c", program], check=True, env=env)


@pytest.mark.slow
def test_pgx_own_checks(monkeypatch, tmp_path):
    """They ask for a game of pgx and a drawing, and draw attempts of a single game along an axis that it has not."""
    api = pytest.importorskip("pgx._src.api_test", reason="needs pgx, which is not installed")
    from pttt_ooc.other_games.environments.batched import BatchedState

    env = batched_environment("dark-hex-2x3-classical")
    monkeypatch.setattr(api, "get_args", lambda _: (env.id,))
    monkeypatch.setattr(
        api, "act_randomly", jax.jit(lambda key, mask: jax.random.categorical(key, jax.numpy.log(mask)))
    )
    monkeypatch.setattr(BatchedState, "save_svg", lambda self, file: None, raising=False)
    api.api_test(env, 5)


def test_pgx_wrapper_for_new_games():
    """Its learners use it; it plays the same games."""
    pgx = pytest.importorskip("pgx.experimental", reason="needs pgx, which is not installed")
    env = compiled("dark-hex-2x3-classical", seats="fixed")
    key = jax.random.PRNGKey(0)
    ours = theirs = env.init(key)
    step = jax.jit(pgx.auto_reset(env.step, env.init))
    for square in np.random.default_rng(1).integers(0, 6, 60):
        ours, theirs = env.step_and_reset(ours, square), step(theirs, square, key)
        for name in ("current_player", "observation", "rewards", "terminated", "legal_action_mask", "_attempts"):
            assert (getattr(ours, name) == getattr(theirs, name)).all(), name
