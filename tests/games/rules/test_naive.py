"""The naive reference, checked against results by hand and against itself."""

from __future__ import annotations

from collections import Counter
from itertools import product
from random import Random
from typing import Any

import pytest

from pttt_ooc.games.rules.catalogue import GAMES
from pttt_ooc.games.rules.game import Game, tic_tac_toe
from pttt_ooc.types import TurnRule
from tests.kits import naive

RULES: tuple[TurnRule, TurnRule] = ("abrupt", "classical")
MINI = [f"mini-{size}-{rule}" for size in ("2x2k2", "2x3k2", "3x2k2") for rule in RULES]


def close(expected: Any) -> Any:
    """Equal but for the rounding of a sum."""
    return pytest.approx(expected, rel=1e-12, abs=1e-12)


def two_squares(rule: TurnRule) -> Game:
    """Two squares; a player who holds both wins."""
    return Game(f"pair-{rule}", 1, 2, ((0b11,), (0b11,)), rule)


def corridor(rule: TurnRule) -> Game:
    """Three squares in a row of which player 0 needs two neighbours, player 1 the two ends."""
    return Game(f"corridor-{rule}", 1, 3, ((0b011, 0b110), (0b101,)), rule)


def with_setup(rule: TurnRule, setup: tuple[tuple[int, ...], tuple[int, ...]]) -> Game:
    """A board of 2x3 with rows of three, from a setup."""
    return tic_tac_toe(f"opened-{rule}-{setup}", 2, 3, 3, rule, setup)


def small_games() -> list[Game]:
    made = [make(rule) for make in (two_squares, corridor) for rule in RULES]
    late = [with_setup(rule, setup) for rule in RULES for setup in (((1,), (4,)), ((1, 3), (4,)))]
    return made + late + [GAMES[name] for name in MINI]


def strategies(game: Game, seed: int, zero_probability: float = 0.3) -> list[dict[str, list[float]]]:
    rng = Random(seed)
    return [naive.random_strategy(game, player, rng, zero_probability) for player in (0, 1)]


def name_of(game: Game) -> str:
    return game.name


every_small_game = pytest.mark.parametrize("game", small_games(), ids=name_of)


def test_two_squares_abrupt_tree() -> None:
    game = two_squares("abrupt")
    # Two attempts each; half of them fail and leave player 0 the other square, half of them fill the board.
    assert naive.count_histories(game) == (9, 4, 5)
    assert naive.infosets(game, 0) == ["|", "|0*", "|1*"]
    assert naive.infosets(game, 1) == ["|"]
    assert naive.nodes(game, 0) == {"|", "|0*", "|1*"}
    assert naive.nodes(game, 1) == {"|", "|0.", "|1."}


def test_two_squares_classical_tree() -> None:
    game = two_squares("classical")
    assert naive.count_histories(game) == (9, 4, 5)
    assert naive.infosets(game, 0) == ["|"]
    assert naive.infosets(game, 1) == ["|", "|0.", "|1."]
    assert naive.value(game, naive.uniform(game, 0), naive.uniform(game, 1)) == 0.0


def test_two_squares_by_hand() -> None:
    game = two_squares("abrupt")
    p, q = 0.3, 0.9
    strategy0 = {"|": [p, 1 - p], "|0*": [0.0, 1.0], "|1*": [1.0, 0.0]}
    strategy1 = {"|": [q, 1 - q]}
    # Player 0 wins exactly if player 1 tries the square that is already taken.
    win = p * q + (1 - p) * (1 - q)
    assert naive.value(game, strategy0, strategy1) == close(win)
    assert naive.best_response_value(game, 0, strategy1) == close(max(q, 1 - q))
    assert naive.best_response_value(game, 1, strategy0) == close(-min(p, 1 - p))
    assert naive.gradient(game, 0, strategy1) == (
        {"|": [0.0, 0.0], "|0*": [0.0, q], "|1*": [1 - q, 0.0]},
        {"|": 0.0, "|0*": 0.0, "|1*": 0.0},
    )
    assert naive.gradient(game, 1, strategy0) == ({"|": [0.0, 0.0]}, {"|": 0.0, "|0.": -p, "|1.": p - 1})


def test_one_square_each() -> None:
    game = Game("first", 1, 2, ((0b01, 0b10), (0b01, 0b10)))
    assert naive.count_histories(game) == (3, 2, 1)
    assert naive.infosets(game, 1) == []
    assert naive.gradient(game, 1, naive.uniform(game, 0)) == ({}, {"|": -1.0})
    assert naive.best_response_value(game, 1, naive.uniform(game, 0)) == -1.0


def test_two_by_two_by_hand() -> None:
    game = GAMES["mini-2x2k2-abrupt"]
    # Any two squares win.  Attempts by turn: 4, then 4 each (1 fails, 3 placed); after a failure player 0 wins with
    # any of 3; otherwise 1 of 3 fails, then 1 of 3 of player 1 fails, then player 0 wins with either of 2.
    decisions = (1, 4, 4 + 12, 12, 12)
    terminals = (4 * 3, 12 * 2, 12 * 2, 12 * 2)
    assert naive.count_histories(game) == (sum(decisions) + sum(terminals), sum(terminals), sum(decisions))
    # All squares look alike to both players, so that uniform play is an equilibrium.
    value = 1 / 4 + 3 / 4 * (2 / 3 + 1 / 3 * (1 / 3 - 2 / 3))
    strategy0, strategy1 = naive.uniform(game, 0), naive.uniform(game, 1)
    assert naive.value(game, strategy0, strategy1) == close(value)
    assert naive.best_response_value(game, 0, strategy1) == close(value)
    assert naive.best_response_value(game, 1, strategy0) == close(-value)


def test_two_by_two_classical_is_won_by_the_first_player() -> None:
    game = GAMES["mini-2x2k2-classical"]
    for seed in range(5):
        strategy0, strategy1 = strategies(game, seed)
        assert naive.value(game, strategy0, strategy1) == close(1.0)
        assert naive.best_response_value(game, 1, strategy0) == close(-1.0)


def test_first_infosets_of_the_full_game() -> None:
    game = GAMES["pttt-abrupt"]
    seen: list[set[str]] = [{"|"}, set()]
    layer = [naive.History.start(game)]
    for _ in range(5):
        layer = [history.attempt(square) for history in layer for square in history.legal()]
        for history in layer:
            if not history.is_terminal():
                seen[history.player].add(history.nodes[history.player])
    counts = [Counter(len(naive.attempts(text)) for text in texts) for texts in seen]
    assert [counts[0][n] for n in range(3)] == [1, 9, 144]
    assert [counts[1][n] for n in range(3)] == [1, 18, 288]


@pytest.mark.full
def test_full_game_with_equal_views_merged() -> None:
    """The continuation of a history depends only on the two players' views, and so do counts and uniform play."""
    game = GAMES["pttt-abrupt"]
    known: dict[tuple[Any, ...], tuple[int, int, float]] = {}

    def walk(history: naive.History) -> tuple[int, int, float]:
        if history.is_terminal():
            return 1, 1, history.returns()[0]
        view = (history.player, history.placed, history.attempted)
        if view not in known:
            parts = [walk(history.attempt(square)) for square in history.legal()]
            total, terminal, payoff = (sum(column) for column in zip(*parts, strict=True))
            known[view] = int(total) + 1, int(terminal), payoff / len(parts)
        return known[view]

    total, terminal, payoff = walk(naive.History.start(game))
    assert (total, terminal) == (27_115_470_835, 13_578_403_440)
    assert len(known) == 312_781
    assert payoff == close(1205083 / 3810240)


def test_infosets_are_in_the_default_order() -> None:
    game = GAMES["mini-2x2k2-abrupt"]
    assert naive.infosets(game, 1) == ["|", "|0*", "|1*", "|2*", "|3*"]
    by_hand = ["|", "|0*", "|1*", "|2*", "|3*", "|0*1.", "|0*2.", "|0*3.", "|1*0.", "|1*2."]
    assert naive.infosets(game, 0)[: len(by_hand)] == by_hand
    # After |1. player 0 holds the middle and cannot but win.
    assert naive.infosets(corridor("abrupt"), 1)[:6] == ["|", "|0.", "|0*", "|1*", "|2.", "|2*"]


@every_small_game
def test_infosets_are_nodes_that_failures_allow(game: Game) -> None:
    for player in (0, 1):
        texts = naive.infosets(game, player)
        assert len(set(texts)) == len(texts)
        assert set(texts) <= naive.nodes(game, player)
        for text in naive.nodes(game, player):
            own = naive.attempts(text)[len(game.setup[player]) :]
            for n, (_, was_placed) in enumerate(own, start=1):
                placed = sum(mark for _, mark in own[:n])
                known = sum(square in game.setup[1 - player] for square, mark in own[:n] if not mark)
                square = own[n - 1][0]
                surprised = not was_placed and square not in game.setup[1 - player]
                assert not surprised or game.failure_allowed(player, placed, n - placed - known, known)


def test_a_setup_is_part_of_every_text() -> None:
    game = with_setup("abrupt", ((1, 3), (4,)))
    start = naive.History.start(game)
    assert start.player == game.first_player == 1
    assert start.nodes == ("|1*3*", "|4*")
    assert start.legal() == [0, 1, 2, 3, 5]
    failed = start.attempt(3)
    assert (failed.player, failed.nodes, failed.placed) == (0, ("|1*3*", "|4*3."), start.placed)
    assert failed.legal() == [0, 2, 4, 5]
    assert naive.infosets(game, 1)[0] == "|4*"
    assert "|1*3*" in naive.infosets(game, 0)


def test_a_failed_attempt_keeps_the_turn_in_the_classical_game() -> None:
    history = naive.History.start(corridor("classical")).attempt(0).attempt(0)
    assert history.player == 1
    assert history.nodes == ("|0*", "|0.")
    assert history.legal() == [1, 2]
    assert history.attempt(2).player == 0


def test_win_and_draw() -> None:
    start = naive.History.start(corridor("abrupt"))
    won = start.attempt(0).attempt(0).attempt(1)
    assert won.is_terminal()
    assert (won.winner, won.returns(), won.legal()) == (0, (1.0, -1.0), [])
    drawn = start.attempt(0).attempt(1).attempt(2)
    assert drawn.is_terminal()
    assert (drawn.winner, drawn.returns()) == (None, (0.0, 0.0))
    lost = start.attempt(1).attempt(0).attempt(0).attempt(2)
    assert lost.returns() == (-1.0, 1.0)


@every_small_game
def test_strategies_are_distributions_over_legal_squares(game: Game) -> None:
    for player, strategy in enumerate(strategies(game, seed=1, zero_probability=0.5)):
        assert list(strategy) == list(naive.uniform(game, player)) == naive.infosets(game, player)
        for text, row in strategy.items():
            legal = naive.legal_squares(game, text)
            assert sum(row) == close(1.0)
            assert all(p >= 0.0 for p in row)
            assert all(row[square] == 0.0 for square in range(game.squares) if square not in legal)


def test_share_of_zeros() -> None:
    game = GAMES["mini-2x3k2-abrupt"]
    strategy = naive.random_strategy(game, 0, Random(0), 0.4)
    choices = [strategy[text][s] for text in strategy for s in naive.legal_squares(game, text)]
    assert 0.2 < sum(p == 0.0 for p in choices) / len(choices) < 0.5
    dense = naive.random_strategy(game, 0, Random(0), 0.0)
    assert all(dense[text][s] > 0.0 for text in dense for s in naive.legal_squares(game, text))


def inner_product(game: Game, player: int, strategy: naive.Strategy, opponent_strategy: naive.Strategy) -> float:
    """The value for `player` from the gradient and the player's own reach."""
    sequence_gradient, node_gradient = naive.gradient(game, player, opponent_strategy)
    total = sum(entry * naive.reach(game, player, text, strategy) for text, entry in node_gradient.items())
    for text, row in sequence_gradient.items():
        own = naive.reach(game, player, text, strategy)
        total += sum(own * strategy[text][square] * row[square] for square in range(game.squares))
    return total


@every_small_game
@pytest.mark.parametrize("seed", [None, 0, 1])
def test_value_is_gradient_times_reach_for_both_players(game: Game, seed: int | None) -> None:
    pair = [naive.uniform(game, player) for player in (0, 1)] if seed is None else strategies(game, seed)
    value = naive.value(game, pair[0], pair[1])
    assert inner_product(game, 0, pair[0], pair[1]) == close(value)
    assert inner_product(game, 1, pair[1], pair[0]) == close(-value)


def best_by_gradient(game: Game, player: int, opponent_strategy: naive.Strategy) -> float:
    """The best response's value from the leaves of the player's own tree upward."""
    sequence_gradient, node_gradient = naive.gradient(game, player, opponent_strategy)

    def best(text: str) -> float:
        if text not in sequence_gradient:
            return node_gradient.get(text, 0.0)
        rows = naive.legal_squares(game, text)
        after = [sequence_gradient[text][s] + best(f"{text}{s}*") + best(f"{text}{s}.") for s in rows]
        return node_gradient[text] + max(after)

    return best(naive.setup_text(game, player))


@every_small_game
@pytest.mark.parametrize("seed", [0, 1])
def test_best_response(game: Game, seed: int) -> None:
    pair = strategies(game, seed)
    value = naive.value(game, pair[0], pair[1])
    best = [naive.best_response_value(game, player, pair[1 - player]) for player in (0, 1)]
    assert best[0] >= value - 1e-12
    assert best[1] >= -value - 1e-12
    for player in (0, 1):
        assert best_by_gradient(game, player, pair[1 - player]) == close(best[player])


def pure_strategies(game: Game, player: int) -> list[dict[str, list[float]]]:
    texts = naive.infosets(game, player)
    unit = [[float(s == square) for s in range(game.squares)] for square in range(game.squares)]
    rows = [[unit[square] for square in naive.legal_squares(game, text)] for text in texts]
    return [dict(zip(texts, choice, strict=True)) for choice in product(*rows)]


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_best_response_is_the_best_of_all_pure_strategies(rule: TurnRule, seed: int) -> None:
    game = corridor(rule)
    pair = strategies(game, seed, zero_probability=0.1)
    best0 = max(naive.value(game, pure, pair[1]) for pure in pure_strategies(game, 0))
    best1 = max(-naive.value(game, pair[0], pure) for pure in pure_strategies(game, 1))
    assert naive.best_response_value(game, 0, pair[1]) == close(best0)
    assert naive.best_response_value(game, 1, pair[0]) == close(best1)


def test_a_transposed_board_is_the_same_game() -> None:
    wide, tall = GAMES["mini-2x3k2-abrupt"], GAMES["mini-3x2k2-abrupt"]
    assert naive.count_histories(wide) == naive.count_histories(tall)
    turned = [0, 2, 4, 1, 3, 5]
    strategy0, strategy1 = strategies(wide, seed=3)

    def transposed(strategy: naive.Strategy) -> dict[str, list[float]]:
        return {
            naive.image(wide, text, turned): [row[turned.index(s)] for s in range(6)] for text, row in strategy.items()
        }

    value = naive.value(wide, strategy0, strategy1)
    assert naive.value(tall, transposed(strategy0), transposed(strategy1)) == close(value)


@every_small_game
def test_symmetrised_strategies_are_exactly_symmetric(game: Game) -> None:
    for player, strategy in enumerate(strategies(game, seed=4)):
        symmetric = naive.symmetrise(game, player, strategy)
        assert list(symmetric) == list(strategy)
        for text, row in symmetric.items():
            assert sum(row) == close(1.0)
            for g in game.symmetries:
                other = symmetric[naive.image(game, text, g)]
                assert [other[g[square]] for square in range(game.squares)] == row


@every_small_game
def test_the_gradient_of_a_symmetric_strategy_is_symmetric(game: Game) -> None:
    strategy0 = naive.symmetrise(game, 0, strategies(game, seed=5)[0])
    sequence_gradient, node_gradient = naive.gradient(game, 1, strategy0)
    for g in game.symmetries:
        for text, entry in node_gradient.items():
            assert node_gradient[naive.image(game, text, g)] == close(entry)
        for text, row in sequence_gradient.items():
            other = sequence_gradient[naive.image(game, text, g)]
            assert [other[g[square]] for square in range(game.squares)] == close(row)


def test_an_image_needs_a_permutation_of_the_whole_board() -> None:
    game = GAMES["mini-2x2k2-abrupt"]
    assert naive.image(game, "|0*3.", (1, 0, 3, 2)) == "|1*2."
    with pytest.raises(ValueError, match="4 squares"):
        naive.image(game, "|0*", (1, 0))
