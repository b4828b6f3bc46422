"""What the moves of a game lost: against a brute force, and what estimates must not get wrong."""

import numpy as np
import pytest

from pttt_ooc.other_games.arena.agents.catalogue import agent
from pttt_ooc.other_games.arena.games.base import PLAYER, RESULT, UNFINISHED, ArenaError
from pttt_ooc.other_games.arena.games.catalogue import game
from pttt_ooc.other_games.arena.research.solvers import move_ratings
from pttt_ooc.other_games.arena.research.solvers.endings import read
from pttt_ooc.other_games.arena.research.solvers.move_ratings import MoveRater
from tests.other_games.arena.naive_rows import Position, board
from tests.other_games.arena.test_arena_endings import COMMITTED


def best_points(position, mine):
    """The points of the player with the mark `mine` if both play perfectly."""
    if position.outcome:
        return {"draw": 0.5, mine: 1.0}.get(position.outcome, 0.0)
    found = [best_points(position.after(square), mine) for square in position.moves()]
    return max(found) if "xo"[len(position.marks) % 2] == mine else min(found)


@pytest.mark.parametrize("seed", range(2))
def test_values_and_losses_on_a_small_board_are_those_of_a_brute_force(seed):
    rng, rules, rater = np.random.default_rng(seed), game("mnk:3x3+need3"), MoveRater(game("mnk:3x3+need3"))
    state, naive = rules.start(), Position(3, board(3, 3))
    for ply in range(9):
        if naive.outcome:
            break
        move = int(rng.choice(rules.legal(state)))
        if ply >= 2:  # earlier positions take the brute force long
            mine, found = "xo"[ply % 2], rater.rate(state, move)
            values = {3 * r + c: best_points(naive.after((r, c)), mine) for r, c in naive.moves()}
            assert found.exact and found.values == values
            assert found.loss == max(values.values()) - values[move]
            assert found.before == best_points(naive, "x")
        state = rules.play(state, move)
        naive.make(divmod(move, 3))


def test_values_of_endings_are_the_recorded_ones():
    rules, rater, lost = game("ultimate"), MoveRater(game("ultimate")), 0
    for ending in read(COMMITTED)[:30]:
        state = rules.after(ending.moves)
        for move, value in ending.values.items():
            found = rater.rate(state, move)
            assert found.exact and found.values == {one: (v + 1) / 2 for one, v in ending.values.items()}
            assert found.loss == (ending.value - value) / 2
            lost += found.loss > 0
        assert found.before == ((ending.value if state[PLAYER] == 0 else -ending.value) + 1) / 2
    assert lost > 30


def test_estimates_are_exact_where_the_search_reaches_the_end():
    """Wins, draws and losses of either player: a draw is one half in the mean of both players' views."""
    rules, rater = game("ultimate"), MoveRater(game("ultimate"))
    endings = [one for one in read(COMMITTED) if one.open <= 7][:60]
    for ending in endings:
        state = rules.after(ending.moves)
        value = (ending.value + 1) / 2
        assert rater._estimate(state) == pytest.approx(value if state[PLAYER] == 0 else 1 - value, abs=1e-6)
    assert {(one.value, len(one.moves) % 2) for one in endings} >= {(1, 0), (1, 1), (0, 0), (0, 1)}


@pytest.mark.parametrize(("text", "least"), [("tuned:nodes=5000", 3), ("mcts:nodes=2000,room=10000", 2)])
def test_an_agent_tells_a_line_that_can_be_played(text, least):
    rules, player = game("ultimate"), agent(text)
    player.seat(rules)
    state = rules.after([40, 36])
    move, line = player.choose(state), player.line(state)
    assert line[0] == move and len(line) >= least and rules.after([40, 36, *line]) is not None
    assert agent("random").line(state) == []


def test_tree_search_expects_the_move_that_stops_a_win():
    rules, player = game("mnk:3x3+need3"), agent("mcts:nodes=2000,room=10000,solver=no")
    player.seat(rules)
    state = rules.after([0, 1, 3, 6])  # with the centre, × threatens two rows; ○ can stop one of them
    assert player.choose(state) == 4 and player.line(state)[1] in (5, 8)


def played(text, player, seed, opening=6):
    """The positions of a game of a strong agent against itself, with its moves, after some at random."""
    rules, rng, player = game(text), np.random.default_rng(seed), agent(player)
    player.seat(rules)
    state = rules.start()
    while state[RESULT] == UNFINISHED:
        move = int(rng.choice(rules.legal(state)) if state[2] < opening else player.choose(state))
        yield state, move
        state = rules.play(state, move)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "player", "limit"),
    [
        ("ultimate", "tuned:path=shipped,nodes=1000", 0.05),  # 0.023 in 1,247 positions
        ("extreme", "strong:slots=65536,nodes=1000", 0.02),  # -0.003 (standard error 0.001) in 1,462 positions
    ],
)
def test_estimates_prefer_neither_side_to_move(text, player, limit):
    """The value before a move and after the best one differ by the bias of the search; ratings do not contain it.

    In Extreme the same player is to move after a bonus move: there the difference, -0.007 (0.004) in 208 positions, is
    the error of the search, and no bias.
    """
    rater, gaps = MoveRater(game(text)), {False: [], True: []}
    for seed in range(2):
        for state, move in played(text, player, seed):
            found = rater.rate(state, move)
            if found.exact:
                break
            root = rater._estimate(state)
            best, chosen = max((value, one) for one, value in found.values.items())
            bonus = rater._game.play(state, chosen)[PLAYER] == state[PLAYER]
            gaps[bool(bonus)].append(best - (root if state[PLAYER] == 0 else 1 - root))
            assert found.loss >= 0 and 0 <= found.before <= 1
            assert found.before == pytest.approx((root + (best if state[PLAYER] == 0 else 1 - best)) / 2)
            if len(gaps[False]) % 16 == 1:
                assert found == rater.rate(state, move) and rater.rate(state, None).loss == 0
    assert len(gaps[False]) > 60 and abs(np.mean(gaps[False])) < limit
    assert (text == "extreme") == bool(gaps[True]) and (not gaps[True] or abs(np.mean(gaps[True])) < 0.1)


def test_estimates_see_what_ends_the_game():
    rules = game("mnk:6x6+need3")
    rater, two = MoveRater(rules), rules.after([14, 0, 15, 35])
    for wins in (13, 16):
        assert rater.rate(two, wins).loss == 0 and rater.rate(two, wins).values[wins] == 1
    threatened = rules.after([14, 0, 35, 1])  # at square 2
    blunder = rater.rate(threatened, 30)
    assert not blunder.exact and blunder.values[30] == 0 and set(blunder.values) == {2, 30}
    assert blunder.loss == blunder.values[2] > 0.2 and rater.rate(threatened, 2).loss == 0


def test_a_board_without_end_is_not_rated():
    with pytest.raises(ArenaError, match="without end are not rated"):
        MoveRater(game("infinite:near+need5"))


def test_what_takes_too_long_to_solve_is_estimated(monkeypatch):
    rules = game("mnk:4x4+need4")
    state = rules.after([0, 1, 2])
    monkeypatch.setattr(move_ratings, "_MOST_NODES", 1)
    assert not MoveRater(rules).rate(state, 5).exact
    monkeypatch.undo()
    assert MoveRater(rules).rate(state, 5).exact
