"""The bridge to OpenSpiel in both directions: its policies evaluated here, our strategies played there."""

import random

import numpy as np
import pytest

import pttt_ooc as pttt
from pttt_ooc.games.rules.catalogue import GAMES, named_game
from pttt_ooc.library.api import openspiel
from tests.kits import naive
from tests.kits.helpers import random_table

LATE = [f"pttt-{rule}-after-1-0-3-2-4-8" for rule in ("abrupt", "classical")]
EARLY = [f"pttt-{rule}" for rule in ("abrupt", "classical")]
HEX = [f"dark-hex-2x3-{rule}" for rule in ("abrupt", "classical")]


def refused(kind, call, *arguments):
    with pytest.raises(pttt.PtttError) as caught:
        call(*arguments)
    assert type(caught.value).__name__ == kind
    return str(caught.value)


@pytest.fixture
def spiel():
    return pytest.importorskip("pyspiel", reason="OpenSpiel is not installed")


def test_without_openspiel_a_sentence_says_what_to_do(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "open_spiel", None)
    mine = pttt.Strategy.uniform(named_game(LATE[0]), 0)
    openspiel._policy_class.cache_clear()
    for call in (mine.to_openspiel, lambda: pttt.Strategy.from_openspiel(mine.game, 0, None)):
        assert refused("MissingExtraError", call).startswith("The bridge to OpenSpiel needs open-spiel, which is not")


def start(spiel, game):
    """OpenSpiel's state after the setup."""
    state = openspiel.load_game(game).new_initial_state()
    for k in range(len(game.setup[0]) + len(game.setup[1])):
        state.apply_action(game.setup[k % 2][k // 2])
    return state


@pytest.mark.parametrize("name", EARLY + [*LATE, "dark-hex-2x2-abrupt"])
def test_states_have_the_infosets_of_our_rules(spiel, name):
    game, rng = named_game(name), random.Random(name)
    for _ in range(40):
        state, history = start(spiel, game), naive.History.start(game)
        while not history.is_terminal():
            for player in (0, 1):
                assert openspiel.infoset_of(state, player) == history.nodes[player]
            square = rng.choice(history.legal())
            state, history = state.child(square), history.attempt(square)


@pytest.mark.parametrize("name", [*LATE, "dark-hex-2x2-abrupt"])
@pytest.mark.parametrize("player", [0, 1])
def test_every_infoset_has_a_state(spiel, name, player):
    game = named_game(name)
    for text in naive.infosets(game, player):
        state = openspiel.state_at(game, player, text)
        assert state.current_player() == player and openspiel.infoset_of(state, player) == text
        assert state.legal_actions() == naive.legal_squares(game, text)


@pytest.mark.slow_but_one
@pytest.mark.parametrize("name", EARLY)
def test_deep_infosets_of_the_whole_game_have_states(spiel, name):
    game, rng = named_game(name), random.Random(name)
    for _ in range(300):
        history = naive.History.start(game)
        while not history.is_terminal():
            text = history.nodes[history.player]
            state = openspiel.state_at(game, history.player, text)
            assert openspiel.infoset_of(state, history.player) == text and not state.is_terminal()
            history = history.attempt(rng.choice(history.legal()))


def test_an_infoset_that_no_history_leads_to(spiel):
    game = named_game("pttt-abrupt")
    assert "No history leads to '|0.'" in refused("StrategyError", openspiel.state_at, game, 0, "|0.")
    for text in ("0*", "|0", "|a*", "|0*x"):
        assert "is not an infoset of player 0" in refused("StrategyError", openspiel.state_at, game, 0, text)
    late = named_game(LATE[0])  # the text does not begin with its setup
    assert "'|8*' is not an infoset of player 1" in refused("StrategyError", openspiel.state_at, late, 1, "|8*")
    # A failure keeps the turn, so player 1 has placed only one mark by then.
    classical = named_game("pttt-classical")
    assert "No history leads" in refused("StrategyError", openspiel.state_at, classical, 0, "|0*1.2.")


def mirrored(strategy):
    """A policy of OpenSpiel that looks up probabilities by OpenSpiel's text of the information state."""
    from open_spiel.python.policy import Policy

    class ByText(Policy):
        def __init__(self, game, rows):
            super().__init__(openspiel.load_game(game), [0, 1])
            self.rows = rows

        def action_probabilities(self, state, player_id=None):
            return self.rows[state.information_state_string(player_id)]

    rows = {}
    for text, row in strategy.items():
        state = openspiel.state_at(strategy.game, strategy.player, text)
        rows[state.information_state_string(strategy.player)] = {s: row[s] for s in state.legal_actions()}
    return ByText(strategy.game, rows)


@pytest.mark.parametrize("name", LATE)
def test_a_policy_of_openspiel_is_evaluated_exactly(spiel, name):
    game, rng = named_game(name), random.Random(name)
    tables = [random_table(game, player, rng) for player in (0, 1)]
    mine = [pttt.Strategy.from_function(game, p, tables[p].__getitem__) for p in (0, 1)]
    theirs = [pttt.Strategy.from_openspiel(game, p, mirrored(mine[p])) for p in (0, 1)]
    found = pttt.evaluate(*theirs)
    assert found.value == pytest.approx(naive.value(game, *tables), abs=1e-12)
    best = [naive.best_response_value(game, p, tables[1 - p]) for p in (0, 1)]
    assert (found.best_response_0, found.best_response_1) == pytest.approx(best, abs=1e-12)


@pytest.mark.parametrize("name", LATE)
def test_our_strategies_have_the_same_value_there(spiel, name):
    """OpenSpiel walks over all histories of the late position, with our strategies as its policy."""
    game = named_game(name)
    solution = pttt.solve(game, max_iterations=10, target_nashconv=0)
    policy = solution[0].to_openspiel(solution[1])

    def value(state):
        if state.is_terminal():
            return state.returns()[0]
        rows = policy.action_probabilities(state)
        assert set(rows) == set(state.legal_actions()) and sum(rows.values()) == pytest.approx(1)
        return sum(p * value(state.child(square)) for square, p in rows.items() if p > 0)

    assert value(start(spiel, game)) == pytest.approx(pttt.evaluate(*solution).value, abs=1e-9)


def test_our_strategy_plays_there(spiel):
    """Against a policy of OpenSpiel: the mean of many random games is the exact value, within five deviations."""
    from open_spiel.python.policy import UniformRandomPolicy

    game, rng = named_game(LATE[0]), np.random.default_rng(3)
    mine = pttt.Strategy.from_function(game, 0, random_table(game, 0, random.Random(3)).__getitem__)
    ours, theirs = mine.to_openspiel(), UniformRandomPolicy(openspiel.load_game(game))
    exact = pttt.evaluate(mine, pttt.Strategy.from_openspiel(game, 1, theirs)).value
    assert exact == pytest.approx(pttt.evaluate(mine, pttt.Strategy.uniform(game, 1)).value, abs=1e-12)
    assert abs(exact) < 0.99
    outcomes = []
    for _ in range(500):
        state = start(spiel, game)
        while not state.is_terminal():
            rows = (ours, theirs)[state.current_player()].action_probabilities(state)
            state.apply_action(int(rng.choice(list(rows), p=np.array(list(rows.values())) / sum(rows.values()))))
        outcomes.append(state.returns()[0])
    assert abs(np.mean(outcomes) - exact) < 5 * np.std(outcomes) / np.sqrt(len(outcomes))


def test_invalid_arguments_are_refused(spiel):
    small, late, classical = (named_game(name) for name in ("mini-2x3k2-abrupt", *LATE))
    mine = pttt.Strategy.uniform(late, 0)
    assert "nine squares and three in a row" in refused("GameError", pttt.Strategy.uniform(small, 0).to_openspiel)
    assert "found a str" in refused("StrategyError", pttt.Strategy.from_openspiel, late, 0, "uniform")
    assert "the other player's, in the same game" in refused("StrategyError", mine.to_openspiel, mine)
    other = pttt.Strategy.uniform(classical, 1)
    assert "the other player's, in the same game" in refused("StrategyError", mine.to_openspiel, other)
    state = start(spiel, late)
    policy = mine.to_openspiel()
    if state.current_player() == 0:
        state.apply_action(state.legal_actions()[0])
    assert "no strategy of player 1" in refused("StrategyError", policy.action_probabilities, state)
    assert [game.name for game in GAMES.values() if (game.rows, game.columns) == (3, 3)]


@pytest.mark.parametrize("name", [*LATE, "dark-hex-2x2-abrupt", "dark-hex-2x3-abrupt", "dark-hex-2x2-classical"])
@pytest.mark.parametrize("player", [0, 1])
def test_texts_of_information_states_are_those_of_openspiel(spiel, name, player):
    game = named_game(name)
    texts = list(naive.infosets(game, player))
    for text in texts[:: 1 + len(texts) // 200]:
        there = openspiel.state_at(game, player, text).information_state_string(player)
        found = openspiel.information_states(game, player, text)
        assert there in found and (len(found) == 1 or name == "dark-hex-2x2-classical" and text != "|")


def test_games_of_openspiel_are_found_by_their_rules(spiel):
    for name in ("pttt-abrupt", "pttt-classical", "dark-hex-2x3-abrupt", "dark-hex-4x3-classical"):
        assert openspiel.game_of(openspiel.load_game(named_game(name))) == named_game(name)
    assert openspiel.game_of(openspiel.load_game(named_game(LATE[0]))).name == "pttt-abrupt"
    assert openspiel.game_of(spiel.load_game("dark_hex(board_size=2,num_rows=4)")).name == "dark-hex-4x2-classical"
    for other in ("tic_tac_toe", "phantom_ttt(obstype=reveal-numturns)"):
        assert "has no counterpart here" in refused("GameError", openspiel.game_of, spiel.load_game(other))
    assert openspiel.told_game(object()) is openspiel.told_game(None) is None


def tables_of(spiel, theirs):
    """A table in Python and one in C++ with the same random numbers."""
    from open_spiel.python.policy import TabularPolicy

    python, rng = TabularPolicy(theirs), np.random.default_rng(5)
    numbers = rng.random(python.action_probability_array.shape) * python.legal_actions_mask
    python.action_probability_array[:] = numbers / numbers.sum(axis=1, keepdims=True)
    rows = {key: list(enumerate(python.policy_for_key(key))) for key in python.state_lookup}
    return python, spiel.TabularPolicy(rows)


def test_tables_are_asked_as_tables(spiel, monkeypatch):
    game = named_game("dark-hex-2x2-abrupt")
    theirs = openspiel.load_game(game)
    both = tables_of(spiel, theirs)
    expected = spiel.nash_conv(theirs, both[1])
    for policy in both:
        by_state = [
            pttt.Strategy.from_function(
                game, p, lambda t, p=p, one=both[0]: one.action_probabilities(openspiel.state_at(game, p, t), p)
            )
            for p in (0, 1)
        ]
        with monkeypatch.context() as patch:
            patch.setattr(openspiel, "_history", None)
            found = [pttt.Strategy.from_openspiel(game, p, policy) for p in (0, 1)]
        assert all(np.array_equal(a.probabilities, b.probabilities) for a, b in zip(found, by_state, strict=True))
        assert pttt.evaluate(*found).nashconv == pytest.approx(expected, abs=1e-9)


def test_a_table_that_knows_what_players_do_not_is_refused(spiel):
    """In classical Dark Hex OpenSpiel's text tells the number of all attempts, also the opponent's that failed."""
    game = named_game("dark-hex-2x2-classical")
    python, other = tables_of(spiel, openspiel.load_game(game))
    for policy in (python, other):
        told = refused("StrategyError", pttt.Strategy.from_openspiel, game, 0, policy)
        assert "has several rows for infoset '|0*' of player 0 in dark-hex-2x2-classical" in told
    legal = python.legal_actions_mask
    python.action_probability_array[:] = legal / legal.sum(axis=1, keepdims=True)
    found = [pttt.Strategy.from_openspiel(game, p, python) for p in (0, 1)]
    uniform = [pttt.Strategy.uniform(game, p) for p in (0, 1)]
    assert pttt.evaluate(*found).nashconv == pytest.approx(pttt.evaluate(*uniform).nashconv, abs=1e-12)


def test_a_policy_for_another_game_is_refused(spiel):
    from open_spiel.python.policy import UniformRandomPolicy

    game = named_game("dark-hex-2x2-abrupt")
    for other in ("dark-hex-2x2-classical", "dark-hex-2x3-abrupt", "pttt-abrupt"):
        policy = UniformRandomPolicy(openspiel.load_game(named_game(other)))
        told = refused("StrategyError", pttt.Strategy.from_openspiel, game, 0, policy)
        assert told.startswith(f"The policy is for {other}, not for dark-hex-2x2-abrupt; OpenSpiel calls it ")
    other = UniformRandomPolicy(spiel.load_game("tic_tac_toe"))
    assert "tic_tac_toe() has no counterpart" in refused("GameError", pttt.Strategy.from_openspiel, game, 0, other)
    wide = openspiel.load_game(named_game("dark-hex-2x3-abrupt"))
    silent = spiel.TabularPolicy({wide.new_initial_state().information_state_string(0): [(0, 1.0)]})
    for policy in (silent, spiel.CFRSolver(wide).average_policy()):  # they do not tell their game
        told = refused("StrategyError", pttt.Strategy.from_openspiel, game, 0, policy)
        assert "The policy has nothing for infoset '|' of player 0 in dark-hex-2x2-abrupt: it is inc" in told
