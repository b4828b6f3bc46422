"""The tuned alpha-beta: it sees the ends that a plain search sees, and does more with the same nodes."""

import numpy as np
import pytest

from pttt_ooc.other_games.arena.games.base import PLAYER
from pttt_ooc.other_games.arena.kernels import clock
from pttt_ooc.other_games.arena.research.kernels import ultimate_plain
from pttt_ooc.other_games.arena.research.kernels.alphabeta import WIN
from tests.other_games.arena import naive_ultimate as naive
from tests.other_games.arena.arena_kit import ULTIMATE, late, points, seated, solved, winning_moves


def test_it_solves_ends_as_the_plain_rules_do():
    player, results = seated("tuned:depth=20,slots=4096"), []
    for seed in range(40):
        moves, position = late(seed, 5)
        if naive.open_squares(position) > 7:
            continue
        player.begin(seed)
        state = ULTIMATE.after(moves)
        move, own = player.choose(state), 1 + int(state[PLAYER])
        value = int(player._control[clock.VALUE])
        found = own if value > WIN - 1000 else 3 - own if value < 1000 - WIN else 3
        assert found == solved(position)
        position.make(*divmod(move, 9))
        assert solved(position) == found
        results.append(found)
    assert set(results) == {1, 2, 3} and len(results) > 5


def test_it_wins_as_soon_as_it_can():
    player, seen = seated("tuned:depth=5,slots=4096"), 0
    for seed in range(40):
        moves, position = late(seed, 1)
        if position.outcome() is None:
            player.begin(seed)
            after = ULTIMATE.play(ULTIMATE.after(moves), player.choose(ULTIMATE.after(moves)))
            wins = winning_moves(position)
            assert not wins or after[1] == 1 + (position.to_move == "o")
            seen += bool(wins)
    assert seen > 10


def test_sharp_moves_win_the_small_board():
    moves, seen = np.zeros(9, dtype=np.int64), 0
    for seed in range(30):
        _, game_moves = naive.random_game(seed)
        position, state = naive.Position(), ULTIMATE.start()
        for move in game_moves:
            expected = []
            if position.sent_to is not None and position.can_be_played(position.sent_to):
                wins = [one for one in position.moves() if position.after(one).winners != position.winners]
                expected = [9 * board + cell for board, cell in wins]
            assert moves[: ultimate_plain.sharp(state, moves)].tolist() == expected
            seen += len(expected)
            position.make(*divmod(move, 9))
            state = ULTIMATE.play(state, move)
        assert ultimate_plain.sharp(state, moves) == 0
    assert seen > 100


def test_it_is_stronger_than_plain_alpha_beta_with_the_same_nodes():
    def within(mover):
        assert mover.effort.nodes <= 601

    player, other = seated("tuned:nodes=600,slots=65536"), seated("alphabeta:nodes=600")
    assert points(player, other, 40, after=within) > 24


@pytest.mark.parametrize("reduction", [ultimate_plain.by_steps, ultimate_plain.by_logarithms])
def test_late_moves_are_reduced_and_early_ones_are_not(reduction):
    """A reduced search has a depth of at least 0; later moves, and those at a greater depth, lose no less."""
    table = np.array([[int(reduction(depth, place)) for place in range(81)] for depth in range(82)])
    assert not table[:3].any() and not table[:, :2].any() and (table[3:, 8] >= 1).all()
    assert (np.diff(table) >= 0).all() and (np.diff(table[3:], axis=0) >= 0).all()
    assert (table <= np.maximum(np.arange(82) - 1, 0)[:, None]).all()


def test_logarithms_reduce_as_they_are_described():
    """The tenth move at depth 8: 0.5 + 2.079 * 2.303 / 2 = 2.89."""
    assert ultimate_plain.by_logarithms(8, 9) == 2 and ultimate_plain.by_logarithms(20, 9) == 3


def test_it_forgets_between_games():
    player = seated("tuned:depth=4,slots=4096")
    efforts = []
    for _ in range(2):
        player.begin(0)
        player.choose(ULTIMATE.after([40]))
        efforts.append(player.effort.nodes)
    assert efforts[0] == efforts[1]
    player.choose(ULTIMATE.after([40]))
    assert player.effort.nodes < efforts[0]
