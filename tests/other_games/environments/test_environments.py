"""PettingZoo environments: PettingZoo's own test, and tests of what it leaves out."""

import runpy
import subprocess
import sys
import types
import warnings
from pathlib import Path

import numpy as np
import pytest

import pttt_ooc as pttt
from pttt_ooc.errors import ConfigError, GameError, UnknownGameError
from pttt_ooc.games.rules.catalogue import named_game
from pttt_ooc.library.api.openspiel import load_game
from pttt_ooc.other_games.arena.games.base import ArenaError
from pttt_ooc.other_games.environments.catalogue import environment

GAMES = (
    "ultimate",
    "ultimate:open+most",
    "extreme",
    "mnk:3x3+need3",
    "mnk:11x11+need5",
    "infinite:near+need3+limiter2",
    "infinite:growing+need4+limiter2",
    "phantom:pttt-abrupt",
    "phantom:pttt-classical",
    "phantom:mini-2x3k2-abrupt",
    "secret-goals",
    "secret-goals:to2+fill",
)

OBSERVATIONS = ("marks", "information state")
WHOLE = [(name, "marks") for name in GAMES]
WHOLE += [(name, "information state") for name in (*GAMES, "phantom:dark-hex-2x3-abrupt") if name.startswith("phantom")]

pettingzoo = pytest.importorskip("pettingzoo", reason="PettingZoo is an extra")


@pytest.mark.parametrize(("name", "observations"), WHOLE)
def test_pettingzoo_accepts_the_environment(name, observations):
    from pettingzoo.test import api_test

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", "Observation numpy array is all zeros")  # an empty board
        for text in ("Observation space for each agent", "Observation is not a NumPy array"):
            warnings.filterwarnings("ignore", text)  # it is a dictionary, with the mask
        api_test(environment(name, observations=observations), num_cycles=300)


@pytest.mark.parametrize(("name", "observations"), WHOLE)
def test_a_seed_gives_the_same_games_again(name, observations):
    from pettingzoo.test import seed_test

    seed_test(lambda: environment(name, observations=observations), num_cycles=20)


@pytest.mark.parametrize(("name", "compiles"), [("phantom", False), ("secret-goals", False), ("mnk", True)])
def test_only_the_games_of_the_arena_load_numba(name, compiles):
    program = (
        "import sys; from pttt_ooc.other_games.environments.catalogue import environment; "
        f"env = environment({name!r}); env.reset(1); env.step(4); env.last(); print('numba' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == f"{compiles}\n"


@pytest.mark.parametrize("name", ["mnk", "phantom", "secret-goals"])
@pytest.mark.parametrize("mode", ["nonsense", "human", ""])
def test_a_mode_that_there_is_not_is_refused(name, mode):
    with pytest.raises(ConfigError, match=f"^The render_mode is '{mode}', but must be None or 'ansi'"):
        environment(name, render_mode=mode)


@pytest.mark.parametrize("observations", OBSERVATIONS)
@pytest.mark.parametrize("player", [0, 1])
def test_the_environment_in_the_examples_is_one_of_gymnasium(monkeypatch, player, observations):
    """Its learner is another library, which need not be here."""
    from gymnasium.utils.env_checker import check_env

    for library in ("torch", "sb3_contrib"):
        monkeypatch.setitem(sys.modules, library, types.SimpleNamespace(MaskablePPO=None))
    example = runpy.run_path(str(Path(__file__).parents[3] / "examples/stable_baselines.py"))["AgainstUniform"]
    env = example("mini-2x3k2-abrupt", player, observations)
    check_env(env, skip_render_check=True)

    def seen(seed):
        found, over = [env.reset(seed=seed)[0].tolist()], False
        while not over:
            observation, _, over, _, _ = env.step(np.flatnonzero(env.action_masks())[0])
            found.append(observation.tolist())
        return found

    games = [[seen(seed), *(seen(None) for _ in range(9))] for seed in (1, 1, 2)]
    assert games[0] == games[1] != games[2] and len({str(game) for game in games[0]}) > 1


def play(env, actions):
    """Make the players' actions; return the last rewards."""
    env.reset(seed=1)
    for action in actions:
        env.step(action)
    return env.rewards["player_0"], env.rewards["player_1"]


def test_wins_losses_and_draws_are_rewarded():
    env = environment("mnk")
    assert play(env, [0, 3, 1, 4, 2]) == (1, -1)
    assert env.terminations == {"player_0": True, "player_1": True}
    assert play(env, [0, 3, 1, 4, 8, 5]) == (-1, 1)
    assert play(env, [0, 1, 2, 4, 3, 5, 7, 6, 8]) == (0, 0)
    assert play(env, [0, 3, 1, 4]) == (0, 0) and not any(env.terminations.values())


def test_the_other_player_is_selected_after_the_end():
    env = environment("mnk")
    for actions, last in (([0, 3, 1, 4, 2], 0), ([0, 3, 1, 4, 8, 5], 1), ([0, 0], 1)):
        play(env, actions)
        assert env.agent_selection == f"player_{1 - last}"
        env.step(None)
        assert env.agents == [f"player_{last}"] == [env.agent_selection]


def test_an_illegal_action_loses():
    assert play(environment("mnk"), [0, 0]) == (1, -1)
    assert play(environment("ultimate"), [0, 3, 80]) == (-1, 1)


def test_observations_of_players():
    env = environment("mnk")
    play(env, [4, 0])
    for agent, own, others in (("player_0", 4, 0), ("player_1", 0, 4)):
        seen = env.observe(agent)
        assert np.argwhere(seen["observation"]).tolist() == sorted([[own, 0], [others, 1]])
    assert np.flatnonzero(env.observe("player_0")["action_mask"]).tolist() == [1, 2, 3, 5, 6, 7, 8]
    assert not env.observe("player_1")["action_mask"].any()


def test_phantom_players_see_only_their_own_attempts():
    env = environment("phantom:pttt-abrupt", render_mode="ansi")
    play(env, [4, 4])
    assert np.argwhere(env.observe("player_0")["observation"]).tolist() == [[4, 0]]
    assert np.argwhere(env.observe("player_1")["observation"]).tolist() == [[4, 1]]
    assert env.agent_selection == "player_0"
    assert env.render() == ". . .\n. x .\n. . ."
    play(environment("phantom:pttt-classical"), [4, 4])
    env = environment("phantom:pttt-classical")
    play(env, [4, 4])
    assert env.agent_selection == "player_1"
    assert 4 not in np.flatnonzero(env.observe("player_1")["action_mask"])


def random_games(env, games, seed=1):
    """Let random players play; each agent with the environment as it is before the agent's attempt."""
    rng = np.random.default_rng(seed)
    for _ in range(games):
        env.reset()
        while not any(env.terminations.values()):
            yield env.agent_selection
            env.step(rng.choice(np.flatnonzero(env.observe(env.agent_selection)["action_mask"])))


@pytest.mark.parametrize("name", ["pttt-abrupt", "pttt-classical", "dark-hex-3x3-abrupt", "dark-hex-2x3-classical"])
def test_information_states_are_those_of_openspiel(name):
    """Bit by bit, for both players after each attempt, and after the end."""
    pytest.importorskip("pyspiel", reason="OpenSpiel is not installed")
    env, seen = environment(f"phantom:{name}", observations="information state"), set()
    for _ in random_games(env, 30):
        state = load_game(named_game(name)).new_initial_state()
        for attempt in env.history.attempts:
            state.apply_action(attempt.square)
        for player, agent in enumerate(env.possible_agents):
            found = env.observe(agent)["observation"]
            assert found.dtype == np.int8 and found.tolist() == state.information_state_tensor(player)
            seen.add(found.tobytes())
    assert len(seen) > 40


@pytest.mark.parametrize("name", ["mini-2x3k2-classical", "dark-hex-2x3-abrupt", "pttt-abrupt-after-0-5-1-8-3"])
def test_infosets_are_told_whole(name):
    """Marks take some infosets for one; information states, rows and texts do not."""
    env, game, known = environment(f"phantom:{name}"), named_game(name), ({}, {})
    whole = environment(f"phantom:{name}", observations="information state")
    for agent in random_games(env, 400):
        player, history = env.possible_agents.index(agent), env.history
        whole.reset()
        for attempt in history.attempts:
            whole.step(attempt.square)
        assert whole.infos[agent]["infoset"] == env.infos[agent]["infoset"] == history.infoset(player)
        seen, info = env.observe(agent), env.last()[-1]
        assert (info["action_mask"] == seen["action_mask"]).all() and info == whole.last()[-1] | info
        other = env.infos[f"player_{1 - player}"]
        assert other["row"] is None and not other["action_mask"].any()
        assert other["infoset"] == history.infoset(1 - player)
        facts = info["row"], seen["observation"].tobytes(), whole.observe(agent)["observation"].tobytes()
        assert known[player].setdefault(info["infoset"], facts) == facts
    texts = [list(pttt.Strategy.uniform(game, player)) for player in (0, 1)]
    for player in (0, 1):
        rows, marks, states = map(set, zip(*known[player].values(), strict=True))
        assert len(rows) == len(states) == len(known[player]) > len(marks) > 1
        assert all(texts[player][row] == text for text, (row, *_) in known[player].items())


def test_infos_after_the_end_have_no_row():
    env = environment("phantom:mini-2x2k2-abrupt")
    play(env, [0, 1, 2])
    assert [env.infos[agent]["row"] for agent in env.possible_agents] == [None, None]
    assert [env.infos[agent]["infoset"] for agent in env.possible_agents] == ["|0*2*", "|1*"]
    play(env, [0, 0, 0])
    assert env.terminations["player_0"] and env.infos["player_0"]["row"] is None, "an illegal attempt ends the game"


def test_boards_that_cannot_be_listed_have_no_rows():
    env = environment("phantom:pttt-3x4k3-abrupt", observations="information state")
    play(env, [11, 0])
    assert env.infos["player_0"] == {"infoset": "|b*", "row": None, "action_mask": env.infos["player_0"]["action_mask"]}
    assert env.observe("player_0")["observation"].shape == (12 * 3 + 144,)


def test_observations_that_there_are_not_are_refused():
    with pytest.raises(ConfigError, match="'marks' or 'information state', not 'planes'"):
        environment("phantom", observations="planes")
    with pytest.raises(ConfigError, match="^ultimate has no observations 'information state'"):
        environment("ultimate", observations="information state")


def secret_goals(seed, actions, name="secret-goals"):
    """An environment after some actions of the first rounds."""
    env = environment(name, render_mode="ansi")
    env.reset(seed=seed)
    for action in actions:
        env.step(action)
    return env


def told(env, agent):
    """The contents of an observation: squares by the number of the move, the goal, both players' points."""
    seen = env.observe(agent)["observation"]
    taken = {int(seen[square, who]): (int(square), int(who)) for square, who in np.argwhere(seen[:9])}
    assert seen[9:12, 1].sum() == 0 and seen[9:12, 0].sum() == 1
    return taken, int(seen[9:12, 0].argmax()), tuple(map(int, seen[12]))


def test_players_see_their_own_goals_only():
    kinds = set()
    for seed in range(40):
        env = secret_goals(seed, [4, 0, 8])
        first, second = told(env, "player_0"), told(env, "player_1")
        assert first[0] == {1: (4, 0), 2: (0, 1), 3: (8, 0)} and second[0] == {1: (4, 1), 2: (0, 0), 3: (8, 1)}
        names = [("win", "tie", "lose")[goal] for _, goal, _ in (first, second)]
        assert env.render() == f"0-0, goals {names[0]} and {names[1]}\no . .\n. x .\n. . x"
        kinds.add((first[1], second[1]))
    assert len(kinds) == 9  # all pairs of goals are dealt


def test_met_goals_score_and_the_other_player_begins_the_next_round():
    """The first player has three in a row, the second does not."""
    for seed in range(40):
        before = secret_goals(seed, [0])
        goals = told(before, "player_0")[1], told(before, "player_1")[1]
        env = secret_goals(seed, [0, 3, 1, 4, 2])
        points = int(goals[0] == 0), int(goals[1] == 2)
        assert told(env, "player_0")[::2] == ({}, points) and told(env, "player_1")[::2] == ({}, points[::-1])
        assert env.agent_selection == "player_1" and env.rewards == {"player_0": 0, "player_1": 0}
        env.step(5)
        assert told(env, "player_0")[0] == {1: (5, 1)}


def test_a_match_to_one_point_ends_with_it():
    ends = set()
    for seed in range(40):
        env = secret_goals(seed, [0, 3, 1, 4, 2], "secret-goals:to1")
        ends.add((env.rewards["player_0"], env.rewards["player_1"], any(env.terminations.values())))
    assert ends == {(1, -1, True), (-1, 1, True), (0, 0, False)}  # the last one: neither, or both at once


def test_boards_are_filled_on_request():
    env = secret_goals(1, [0, 3, 1, 4, 2], "secret-goals:fill")
    assert len(told(env, "player_0")[0]) == 5  # the second player may still have a line


def test_chance_follows_from_the_seed():
    def dealt(env):
        return [told(env, agent)[1] for agent in env.possible_agents]

    env = secret_goals(3, [])
    first = dealt(env)
    env.reset()
    others = [dealt(env)]
    for _ in range(9):
        env.reset()
        others.append(dealt(env))
    assert len({tuple(one) for one in others}) > 2  # without a seed, chance goes on
    env.reset(seed=3)
    assert dealt(env) == first
    for before in others:  # and what comes without one follows from the last seed, too
        env.reset()
        assert dealt(env) == before


def test_players_with_bonus_moves_move_again():
    """In Extreme, the player who completes a line may move twice: the environment follows the turns of the rules."""
    env = environment("extreme")
    env.reset()
    rng = np.random.default_rng(3)
    again = 0
    for _ in range(400):
        if any(env.terminations.values()):
            break
        agent = env.agent_selection
        env.step(rng.choice(np.flatnonzero(env.observe(agent)["action_mask"])))
        again += env.agent_selection == agent
        assert env.agent_selection == f"player_{int(env.state[0])}" or any(env.terminations.values())
    assert again > 0


def test_unknown_games_get_sentences():
    with pytest.raises(ArenaError, match="no game 'chess'"):
        environment("chess")
    with pytest.raises(UnknownGameError):
        environment("phantom:chess")
    for options in ("to0", "to300", "fil", "to3fil"):
        with pytest.raises(GameError, match=f"'{options}' are not options"):
            environment(f"secret-goals:{options}")
