"""The rules: contradictory or oversized games are refused when they are created."""

from dataclasses import replace

import numpy as np
import pytest

from pttt_ooc.errors import GameError, PtttError, UnknownGameError
from pttt_ooc.games.rules.catalogue import GAMES, named_game, tic_tac_toe_name
from pttt_ooc.games.rules.game import MOST_SQUARES, Game, tic_tac_toe
from pttt_ooc.games.rules.infoset_text import DIGITS, attempts_of, is_infoset_text
from pttt_ooc.games.rules.play import attempts_at, replay, start
from pttt_ooc.games.structure import index, symmetry
from pttt_ooc.games.structure.index import build_index
from pttt_ooc.games.structure.orders import order_counts
from pttt_ooc.games.structure.relabelling import rank_dtype, relabellings
from pttt_ooc.games.structure.strategy import uniform_strategy
from pttt_ooc.games.structure.views import find_pairs


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"rows": 1, "columns": 17}, "a board of 1 x 17 squares; a game has 1 to 16"),
        ({"rows": 0}, "a board of 0 x 3 squares; a game has 1 to 16"),
        ({"rows": -2, "columns": -3}, "a board of -2 x -3 squares; a game has 1 to 16"),
        ({"turn_rule": "abrubt"}, "no turn rule is called 'abrubt'; choose from abrupt, classical"),
        ({"setup": ((6,), ())}, "the setup has a square that is not on the board"),
        ({"setup": ((-1,), ())}, "the setup has a square that is not on the board"),
        ({"winning_sets": ((1 << 6,), (3,))}, "a winning set has a square that is not on the board"),
        ({"winning_sets": ((3,), (-1,))}, "a winning set has a square that is not on the board"),
        ({"setup": ((0,), (0,))}, "the setup is not made of alternating placements"),
        ({"setup": ((), (0,))}, "the setup is not made of alternating placements"),
        ({"setup": ((0, 1), (4,))}, "the setup already contains a winning set"),
        ({"winning_sets": ((0,), (3,))}, "the setup already contains a winning set"),
    ],
)
def test_refusals(changes, problem):
    with pytest.raises(GameError) as caught:
        replace(GAMES["mini-2x3k2-abrupt"], **{"name": "mine", **changes})
    assert str(caught.value) == f"Game mine: {problem}." and isinstance(caught.value, PtttError)


def test_an_unknown_game_is_refused():
    with pytest.raises(UnknownGameError, match="There is no game called 'pttt-abrubt'.*pttt-abrupt"):
        named_game("pttt-abrubt")


def test_the_largest_board_has_one_digit_for_each_square():
    assert isinstance(tic_tac_toe("wide", 2, 8, 3, "abrupt"), Game)
    assert len(set(DIGITS)) == len(DIGITS) == MOST_SQUARES


def test_the_text_of_an_infoset_is_unambiguous_on_the_largest_board():
    game = named_game("dark-hex-4x4-abrupt")
    history = replay(game, [1, 10, 10, 1, 11, 0, 15])
    assert history.infoset(0) == "|1*a.b*f*" and history.infoset(1) == "|a*1.0*"
    assert attempts_of("|1*a.b*f*") == [(1, True), (10, False), (11, True), (15, True)]
    assert attempts_at(game, 1, "|a*1.0*") == ((10, True), (1, False), (0, True))
    assert attempts_at(game, 1, "|10*") is None and not is_infoset_text("|10*") and not is_infoset_text("|g*")


def test_infosets_of_a_large_board_are_not_listed():
    with pytest.raises(GameError, match=r"^Game pttt-3x4k3-abrupt: a board of 12 squares has too many infosets"):
        find_pairs(named_game("pttt-3x4k3-abrupt"))


def test_a_setup_on_squares_beyond_nine():
    game = named_game("pttt-3x4k3-abrupt-after-11-0")
    assert game.setup == ((11,), (0,)) and start(game).infoset(0) == "|b*"
    assert tic_tac_toe_name(3, 4, 3, "abrupt", game.setup) == game.name


def test_mirror_images_of_too_many_orders_are_refused(monkeypatch):
    name, game = "pttt-abrupt-after-1-0-3-2-4-8", named_game("mini-2x3k2-abrupt")
    players = build_index(game, "full").players
    longest = 6  # not of all views: some have no image that is needed
    assert longest < max(int(np.diff(i.node_start)[i.decides].max()) for i in players)
    monkeypatch.setattr(index, "MOST_RELABELLED", longest)
    build_index(game, "full")
    monkeypatch.setattr(index, "MOST_RELABELLED", longest - 1)
    with pytest.raises(GameError) as caught:
        build_index(game, "full")
    assert str(caught.value) == (
        f"Game mini-2x3k2-abrupt needs the mirror images of {longest} orders of a view; symmetry full works with at "
        f"most {longest - 1} of them: choose symmetry none."
    )
    build_index(game, "none")
    assert len(named_game(name).symmetries) == 1
    build_index(named_game(name), "full")  # a group that renames nothing has no limit


def test_ranks_beyond_16_bits_are_stored_in_32(monkeypatch):
    """If a view is its own mirror image, its ranks are as large as its number of orders."""
    assert [rank_dtype(most) for most in (1, 1 << 16, (1 << 16) + 1)] == [np.uint16, np.uint16, np.uint32]
    folded, whole = (build_index(named_game("mini-2x3k2-abrupt"), kind) for kind in ("full", "none"))
    found = []
    for kept, narrow in ((0, True), (10**6, True), (10**6, False)):
        monkeypatch.setattr(symmetry, "KEPT_BYTES", kept)
        monkeypatch.setattr(symmetry, "rank_dtype", lambda most, narrow=narrow: np.uint16 if narrow else np.uint32)
        made = []
        for player in (0, 1):
            strategy = uniform_strategy(folded, player)
            strategy.probabilities[:] = np.random.default_rng(player).random(len(strategy.probabilities))
            means = symmetry.Symmetriser(folded, player)
            for _ in range(2):  # tables that are kept, too
                means(strategy.probabilities)
            made += [strategy.probabilities.tobytes(), symmetry.unfold(strategy, whole).probabilities.tobytes()]
        found.append(made)
    assert found[0] == found[1] == found[2]
    with pytest.raises(GameError, match="A view has [0-9]+ orders, but a table of mirror images can number 256"):
        game = named_game("pttt-2x4k3-abrupt")
        views = np.array([0b1111_0000]), np.array([0b0000_0011])
        relabellings(order_counts(game, 0), game.symmetries, *views, np.array([1]), np.uint8)


def test_the_limit_is_that_of_the_stored_ranks():
    players = build_index(named_game("mini-2x3k2-abrupt"), "full").players
    assert all(2 ** (8 * i.relabelling.itemsize) == index.MOST_RELABELLED for i in players)


def test_a_game_is_one_line_and_its_rules_are_whole():
    assert repr(named_game("pttt-abrupt")) == "Game pttt-abrupt: 3 x 3 squares, abrupt, 8 winning sets"
    after = named_game("mini-2x3k3-classical-after-1-4")
    assert repr(after).endswith("classical, 2 winning sets, begins with marks of player 0 on 1 and of player 1 on 4")
    assert "sets for player 0, " in repr(named_game("dark-hex-2x3-abrupt"))
    # Digests on disk are made of this text: it stays as it is.
    assert named_game("mini-2x2k2-abrupt").rules == (
        "Game(name='mini-2x2k2-abrupt', rows=2, columns=2, winning_sets=((3, 5, 6, 9, 10, 12), (3, 5, 6, 9, 10, 12)), "
        "turn_rule='abrupt', setup=((), ()))"
    )
