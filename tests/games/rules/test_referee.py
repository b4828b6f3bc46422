"""OpenSpiel's phantom tic-tac-toe as the referee of the rules, over the same histories.

Its ``legal_actions`` are the squares that the player to move does not know to be occupied: neither its own nor found
occupied by a failed attempt.  An attempt has failed if the true board, which is a state's ``str``, is as before.
Every new state is a ``child`` of the one before; ``undo_action`` is not used.
"""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from pttt_ooc.games.rules.catalogue import GAMES
from pttt_ooc.games.rules.game import Game, tic_tac_toe
from tests.kits import naive

pyspiel = pytest.importorskip("pyspiel", reason="OpenSpiel is not installed: the rules go without their referee")

PLAYOUTS = 300
THREE_BY_THREE = [game for game in GAMES.values() if game.name.startswith("pttt") and game.squares == 9]


def opened_state(game: Game) -> Any:
    """OpenSpiel's state after the setup, each square of which is empty when it is attempted."""
    state = pyspiel.load_game(f"phantom_ttt(gameversion={game.turn_rule})").new_initial_state()
    squares: list[int | None] = [None] * (len(game.setup[0]) + len(game.setup[1]))
    squares[0::2], squares[1::2] = game.setup
    for square in squares:
        state.apply_action(square)
    return state


def compare(state: Any, history: naive.History) -> None:
    """Terminal or not, payoffs, who moves, what is legal, and who holds which square."""
    assert state.is_terminal() == history.is_terminal()
    assert tuple(state.returns()) == history.returns()
    assert state.legal_actions() == history.legal()
    if not history.is_terminal():
        assert state.current_player() == history.player
    board = str(state).replace("\n", "")
    for player, mark in enumerate("xo"):
        held = history.placed[player]
        assert [square for square in range(9) if board[square] == mark] == [s for s in range(9) if held >> s & 1]


def compare_failure(before: Any, after: Any, history: naive.History, mover: int) -> None:
    assert (str(before) == str(after)) == history.nodes[mover].endswith(".")


@pytest.mark.parametrize("game", THREE_BY_THREE, ids=lambda game: game.name)
def test_random_playouts(game: Game) -> None:
    """And a node's text and OpenSpiel's information state contain the same knowledge.

    The package's own histories are those of the naive reference, see test_play.
    """
    rng = Random(2024)
    failures = wins = 0
    known: list[dict[str, str]] = [{}, {}]
    for _ in range(PLAYOUTS):
        state, history = opened_state(game), naive.History.start(game)
        compare(state, history)
        while not history.is_terminal():
            for player in (0, 1):
                text, theirs = history.nodes[player], state.information_state_string(player)
                assert known[player].setdefault(text, theirs) == theirs
            square, mover, before = rng.choice(history.legal()), history.player, state
            state, history = state.child(square), history.attempt(square)
            compare(state, history)
            compare_failure(before, state, history, mover)
            failures += history.nodes[mover].endswith(".")
        wins += history.winner is not None
    assert failures > PLAYOUTS // 2
    assert wins > PLAYOUTS // 4
    assert all(len(set(texts.values())) == len(texts) > 10 for texts in known)


@pytest.mark.slow
@pytest.mark.parametrize("rule", ["abrupt", "classical"])
def test_every_history_of_a_late_position(rule: Any) -> None:
    game = tic_tac_toe(f"late-{rule}", 3, 3, 3, rule, ((0, 4, 5, 6), (8, 3, 2)))
    pending = [(opened_state(game), naive.History.start(game))]
    while pending:
        state, history = pending.pop()
        compare(state, history)
        for square in history.legal():
            after, next_history = state.child(square), history.attempt(square)
            compare_failure(state, after, next_history, history.player)
            pending.append((after, next_history))
