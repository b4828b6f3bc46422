"""Environments: names, spaces, defaults, and states after the end of a game."""

import numpy as np
import pytest

from pttt_ooc.other_games.environments.catalogue import environment

pytest.importorskip("pettingzoo", reason="PettingZoo is an extra")


def played(name, actions, **options):
    env = environment(name, **options)
    env.reset(seed=1)
    for action in actions:
        env.step(action)
    return env


def test_omitted_options_have_defaults():
    assert environment("phantom").game.name == "pttt-abrupt"
    match = environment("secret-goals")
    assert match.winning_score == 5 and not match.rules.fill_board and match.render_mode is None
    assert environment("secret-goals:to12+fill").winning_score == 12
    assert not environment("secret-goals:to12").rules.fill_board
    assert environment("secret-goals:to12+fill").rules.fill_board


@pytest.mark.parametrize(
    ("name", "told", "actions", "shape", "most"),
    [
        ("phantom:mini-2x3k2-abrupt", "phantom:mini-2x3k2-abrupt", 6, (6, 2), 1),
        ("mnk:4x3+need3", None, 12, (12, 2), 1),
        ("secret-goals", "secret-goals:to5", 9, (13, 2), 9),
        ("secret-goals:to20+fill", "secret-goals:to20+fill", 9, (13, 2), 20),
    ],
)
def test_spaces_are_those_of_the_game(name, told, actions, shape, most):
    env = environment(name)
    assert env.metadata["name"] == (told or env.game.text)
    assert env.metadata["render_modes"] == ["ansi"] and env.metadata["is_parallelizable"] is False
    for agent in env.possible_agents:
        space = env.observation_space(agent)
        assert env.action_space(agent).n == actions and space["action_mask"].shape == (actions,)
        assert (space["action_mask"].low.min(), space["action_mask"].high.max()) == (0, 1)
        seen = space["observation"]
        assert (seen.shape, seen.low.min(), seen.low.max(), seen.high.min(), seen.high.max()) == (
            shape,
            0,
            0,
            most,
            most,
        )
        assert seen.dtype == space["action_mask"].dtype == np.int8


def test_a_new_game_forgets_the_last_one():
    env = played("mnk", [0, 3, 1, 4, 2])
    assert env.rewards == {"player_0": 1, "player_1": -1} and env.last()[1] == -1
    env.reset()
    for told in (env.rewards, env._cumulative_rewards):
        assert told == {"player_0": 0, "player_1": 0}
    assert env.terminations == env.truncations == {"player_0": False, "player_1": False}
    assert env.agents == ["player_0", "player_1"] and env.infos == {"player_0": {}, "player_1": {}}
    assert env.agent_selection == "player_0" and not env.observe("player_0")["observation"].any()


def test_nothing_is_legal_after_the_end():
    env = played("mnk", [0, 3, 1, 4, 2])
    assert not any(env.observe(agent)["action_mask"].any() for agent in env.possible_agents)
    assert env.truncations == {"player_0": False, "player_1": False}
    assert [env.last()[n] for n in (1, 2, 3)] == [-1, True, False]
    env.step(None)
    assert [env.last()[n] for n in (1, 2, 3)] == [1, True, False]
    env.step(None)
    assert env.agents == []


def test_rewards_of_a_phantom_game():
    assert played("phantom:mini-2x2k2-abrupt", [0, 1, 2]).rewards == {"player_0": 1, "player_1": -1}
    assert played("phantom:mini-2x3k2-abrupt", [0, 1, 5, 4]).rewards == {"player_0": -1, "player_1": 1}
    assert played("phantom:mini-2x2k2-abrupt", [0, 1]).rewards == {"player_0": 0, "player_1": 0}


def test_boards_as_text():
    assert played("phantom:mini-2x3k2-abrupt", [0, 4], render_mode="ansi").render() == "x . .\n. o ."
    assert played("phantom:mini-2x3k2-abrupt", [0, 4]).render() is None
    lines = played("secret-goals", [8, 0, 3], render_mode="ansi").render().splitlines()
    assert lines[0].startswith("0-0, goals ") and lines[1:] == ["o . .", "x . .", ". . x"]
    env = played("secret-goals", [0, 3, 1, 4, 2, 8], render_mode="ansi")
    assert env.render().splitlines()[1:] == [". . .", ". . .", ". . x"], "x is who begins the round"
