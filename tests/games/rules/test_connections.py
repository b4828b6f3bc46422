"""Dark Hex: winning sets against a search over all sets of squares, rules against OpenSpiel, published sizes."""

from itertools import product
from random import Random

import pytest

from pttt_ooc.games.rules.catalogue import KNOWN_COUNTS, find_game, named_game
from pttt_ooc.games.rules.connections import chains
from pttt_ooc.games.rules.play import start
from pttt_ooc.games.structure.counts import check_counts, counts_of
from pttt_ooc.games.structure.views import find_pairs

BOARDS = [(rows, columns) for rows, columns in product(range(1, 5), repeat=2) if rows * columns <= 10]


def connected(rows, columns, player, mask):
    """Whether the squares connect the player's two sides, by flood fill."""
    held = {divmod(s, columns) for s in range(rows * columns) if mask >> s & 1}
    reached = {square for square in held if square[player] == 0}
    while True:
        near = {(r + dr, c + dc) for r, c in reached for dr, dc in ((0, 1), (1, 0), (1, -1), (0, -1), (-1, 0), (-1, 1))}
        if near & held <= reached:
            return any(square[player] == (rows, columns)[player] - 1 for square in reached)
        reached |= near & held


@pytest.mark.parametrize(("rows", "columns"), BOARDS)
@pytest.mark.parametrize("player", [0, 1])
def test_chains_are_the_minimal_connecting_sets(rows, columns, player):
    winning = {mask for mask in range(1 << rows * columns) if connected(rows, columns, player, mask)}
    without = {mask: [mask & ~(1 << s) for s in range(rows * columns) if mask >> s & 1] for mask in winning}
    assert chains(rows, columns, player) == tuple(sorted(m for m in winning if not winning & set(without[m])))


@pytest.mark.parametrize(("rows", "columns"), BOARDS)
def test_exactly_one_player_connects_on_a_full_board(rows, columns):
    full = (1 << rows * columns) - 1
    for mask in range(full + 1):
        assert connected(rows, columns, 0, mask) != connected(rows, columns, 1, full & ~mask)


def test_the_board_turned_by_half_is_the_only_symmetry():
    assert named_game("dark-hex-3x3-abrupt").symmetries == (tuple(range(9)), tuple(reversed(range(9))))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("rule", "histories", "infosets"), [("abrupt", 29.31e9, 27.33e6), ("classical", 19.12e9, 6.07e6)]
)
def test_sizes_are_the_published_ones(rule, histories, infosets):
    """arXiv 2502.08938, table 1; histories are all sequences of attempts, the empty one and ended games included."""
    game = named_game(f"dark-hex-3x3-{rule}")
    counts = counts_of(game, find_pairs(game))
    assert counts["histories"] == pytest.approx(histories, rel=5e-4)
    assert sum(counts["total_infosets"]) == pytest.approx(infosets, rel=5e-4)
    assert game.name in KNOWN_COUNTS
    check_counts(game.name, counts)


def test_known_counts_of_a_wide_board():
    game = named_game("pttt-2x4k3-abrupt")
    check_counts(game.name, counts_of(game, find_pairs(game)))


@pytest.mark.parametrize("name", ["dark-hex-3x3-abrupt", "dark-hex-3x3-classical", "dark-hex-2x3-abrupt"])
def test_openspiel_plays_by_the_same_rules(name):
    """OpenSpiel's player 0 connects the first row and the last; a failed attempt loses or keeps the turn."""
    spiel = pytest.importorskip("pyspiel", reason="OpenSpiel is not installed")
    game, rng = named_game(name), Random(name)
    version = {"abrupt": "adh", "classical": "cdh"}[game.turn_rule]
    theirs = spiel.load_game(f"dark_hex(num_rows={game.rows},num_cols={game.columns},gameversion={version})")
    for _ in range(300):
        state, history = theirs.new_initial_state(), start(game)
        while not history.is_terminal:
            assert not state.is_terminal() and state.current_player() == history.player
            assert state.legal_actions() == history.legal()
            square = rng.choice(history.legal())
            state, history = state.child(square), history.step(square)
        assert state.is_terminal() and tuple(state.returns()) == history.returns


def test_a_name_describes_the_rules():
    game = find_game("dark-hex-2x4-classical-after-1-6")
    assert (game.rows, game.columns, game.turn_rule, game.setup) == (2, 4, "classical", ((1,), (6,)))
    assert find_game("dark-hex-3x3-abrubt") is None and find_game("pttt-02x4k3-abrupt") is None
