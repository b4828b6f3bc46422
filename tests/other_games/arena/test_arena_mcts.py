"""Monte Carlo tree search: what it proves is true, what it keeps is what it knew, and it gets stronger with games."""

import numpy as np
import pytest

from pttt_ooc.other_games.arena.kernels import clock
from pttt_ooc.other_games.arena.kernels.rng import generator
from pttt_ooc.other_games.arena.kernels.state_words import PLAYER, RESULT
from pttt_ooc.other_games.arena.research.kernels.mcts import tree, tree_kernels
from pttt_ooc.other_games.arena.research.kernels.ultimate_learnt import WEIGHTS, total
from pttt_ooc.other_games.arena.research.players.evaluations import DRAW, save_weights
from tests.other_games.arena import naive_ultimate as naive
from tests.other_games.arena.arena_kit import ULTIMATE, late, points, seat, seated, solved, winning_moves

NO_WEIGHTS = np.zeros(0, dtype=np.int16)


@pytest.mark.slow
def test_what_is_proven_is_true():
    player, results = seated("mcts:nodes=20000,room=200000"), []
    for seed in range(60):
        moves, position = late(seed, 5)
        if naive.open_squares(position) > 9:
            continue
        player.begin(seed)
        state = ULTIMATE.after(moves)
        move = player.choose(state)
        results.append(player.proven)
        if player.proven:
            assert player.proven == solved(position)
            position.make(*divmod(move, 9))
            assert solved(position) == player.proven  # and the move is one that keeps it
    assert set(results) >= {1, 2, 3} and results.count(0) < len(results) / 5


def test_a_win_in_one_is_taken_and_a_loss_in_one_avoided():
    player, seen = seated("mcts:nodes=200,room=5000"), 0
    for seed in range(40):
        moves, position = late(seed, 1)
        if position.outcome() is None and len(moves) % 2 == 0:
            player.begin(seed)
            move = player.choose(ULTIMATE.after(moves))
            winning = winning_moves(position)
            assert move in winning or not winning
            seen += bool(winning)
    assert seen > 5


def test_the_tree_is_kept_for_the_next_move():
    kernels, first = tree_kernels(ULTIMATE.rules), tree(50_000)
    state, control = ULTIMATE.start(), np.zeros(8, dtype=np.int64)
    control[clock.NODE_LIMIT] = 20_000
    kernels.grow(first, state, generator(1), 0.7, True, 0.5, NO_WEIGHTS, control)
    assert first.visits[0] == 20_000
    child = max(range(1, 82), key=lambda node: first.visits[node])
    grandchild = max(range(first.first[child], first.first[child] + first.count[child]), key=lambda n: first.visits[n])
    after = ULTIMATE.after([int(first.move[child]), int(first.move[grandchild])])
    second = tree(50_000)
    assert kernels.keep(first, state, after, second)
    assert second.visits[0] == first.visits[grandchild] > 50
    assert second.points[0] == first.points[grandchild]
    expanded = [node for node in range(second.filled[0]) if second.count[node]]
    assert 0 < len(expanded) < second.filled[0] < first.filled[0]
    for node in expanded:
        children = range(second.first[node], second.first[node] + second.count[node])
        assert sum(second.visits[one] for one in children) == second.visits[node] - (node != 0) - (node == 0)
    assert not kernels.keep(first, state, ULTIMATE.after([0, 3, 27, 4]), second)  # not in the tree: too far
    assert not kernels.keep(second, after, state, first)


def test_both_players_search_alike():
    """With all marks of the other kind, the same games are played, and the opposite is proven."""
    kernels, rules, proven = tree_kernels(ULTIMATE.rules), ULTIMATE.rules, set()
    for seed in range(6):
        state = ULTIMATE.after(late(seed, 12)[0])
        other = state.copy()
        other[rules.PLAYER] = 1 - state[rules.PLAYER]
        other[[rules.WON, rules.WON + 1]] = state[[rules.WON + 1, rules.WON]]
        other[rules.MARKS : rules.MARKS + 18] = np.roll(state[rules.MARKS : rules.MARKS + 18], 9)
        trees = tree(20_000), tree(20_000)
        for one, begin in zip(trees, (state, other), strict=True):
            control = np.zeros(8, dtype=np.int64)
            control[clock.NODE_LIMIT] = 500
            kernels.grow(one, begin, generator(seed), 0.7, True, 0.5, NO_WEIGHTS, control)
        assert (trees[0].visits == trees[1].visits).all() and (trees[0].points == trees[1].points).all()
        assert (trees[0].proven == np.array([0, 2, 1, 3])[trees[1].proven]).all()
        proven |= set(trees[0].proven.tolist())
    assert proven == {0, 1, 2, 3}


def test_plain_uct_proves_nothing_but_still_sees_ends():
    plain, solver = seated("mcts:nodes=3000,room=50000,solver=no"), seated("mcts:nodes=3000,room=50000")
    moves = late(3, 5)[0]
    for player in (plain, solver):
        player.begin(0)
        player.choose(ULTIMATE.after(moves))
    assert solver.proven and not plain.proven
    assert plain.effort.nodes == 3000 > solver.effort.nodes


@pytest.mark.parametrize(("moves", "nodes"), [([], 60), ([40], 6)])
def test_leaves_have_the_value_of_the_learnt_evaluation(tmp_path, moves, nodes):
    """The first visit of each child counts the chance of its mover, by the weights for the agent's side."""
    weights = np.random.default_rng(0).normal(0, 0.2, (2, WEIGHTS)).astype(np.float32).astype(float)
    save_weights(tmp_path / "w", ULTIMATE, weights)
    player = seat(f"mcts:nodes={nodes},path={tmp_path / 'w'}")
    player.begin(0)
    state = ULTIMATE.after(moves)
    player.choose(state)
    grown, seen = player._tree, set()
    for child in range(1, 1 + grown.count[0]):
        if grown.visits[child] == 1:
            after = ULTIMATE.play(state, int(grown.move[child]))
            chance = 1 / (1 + np.exp(-total(after, weights[1])))  # the opponent is to move, the patient one
            assert grown.points[child] == pytest.approx(1 - chance, abs=2e-3)
            seen.add(round(chance, 2))
    assert len(seen) > 1  # the corners and the sides, at least


def test_a_draw_is_worth_what_the_weights_say(tmp_path):
    """A position from which all games are drawn: the mover's children count the worth of a draw."""
    save_weights(tmp_path / "w", ULTIMATE, np.zeros((2, WEIGHTS)))
    found = 0
    for seed in range(200):
        _, moves = naive.random_game(seed)
        state = ULTIMATE.after(moves[:-1])
        if ULTIMATE.play(state, moves[-1])[RESULT] != 3 or len(ULTIMATE.legal(state)) > 1:
            continue
        for options, worth in (("", 0.5), (f",path={tmp_path / 'w'}", DRAW)):
            player = seated(f"mcts:nodes=10,room=200,solver=no{options}")
            player.begin(0)
            player.choose(state)
            child = slice(1, 1 + player._tree.count[0])
            assert player._tree.points[child].sum() == pytest.approx(worth * player._tree.visits[child].sum())
            assert player._tree.visits[child].sum() >= 9
        found |= 1 << int(state[PLAYER])
    assert found == 3


def test_games_follow_from_the_seed():
    player = seated("mcts:nodes=300,room=20000")

    def moves(seed):
        player.begin(seed)
        state = ULTIMATE.start()
        for _ in range(12):
            state = ULTIMATE.play(state, player.choose(state))
        return state.tolist()

    assert moves(1) == moves(1) != moves(2)


def test_a_full_tree_goes_on_without_growing():
    player = seated("mcts:nodes=3000,room=100")
    player.begin(0)
    player.choose(ULTIMATE.start())
    assert player.effort.nodes == 3000


def test_it_beats_chance():
    assert points(seated("mcts:nodes=100,room=20000"), seated("random"), 10) >= 8.5
