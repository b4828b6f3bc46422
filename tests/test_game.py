"""The rules: games that contradict themselves or are too big are refused when they are made."""

from dataclasses import replace

import pytest

from pttt_ooc.errors import GameError, PtttError, UnknownGameError
from pttt_ooc.rules.catalogue import GAMES, named_game
from pttt_ooc.rules.game import MOST_SQUARES, Game, tic_tac_toe
from pttt_ooc.structure import index
from pttt_ooc.structure.index import build_index


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"rows": 1, "columns": 11}, "a board of 1 x 11 squares; a game has 1 to 10"),
        ({"rows": 0}, "a board of 0 x 3 squares; a game has 1 to 10"),
        ({"rows": -2, "columns": -3}, "a board of -2 x -3 squares; a game has 1 to 10"),
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


def test_a_game_that_nobody_knows():
    with pytest.raises(UnknownGameError, match="There is no game called 'pttt-abrubt'.*pttt-abrupt"):
        named_game("pttt-abrubt")


def test_the_largest_board_has_one_digit_for_each_square():
    assert isinstance(tic_tac_toe("wide", 2, 5, 3, "abrupt"), Game)
    assert [len(str(square)) for square in range(MOST_SQUARES + 1)] == [1] * 10 + [2]


def test_views_with_too_many_orders_are_refused_before_they_are_indexed(monkeypatch):
    name = "pttt-abrupt-after-1-0-3-2-4-8"
    whole = build_index(named_game("mini-2x3k2-abrupt"), "full")
    longest = max(int((i.node_start[1:] - i.node_start[:-1])[i.decides].max()) for i in whole.players)
    monkeypatch.setattr(index, "MOST_RELABELLED", longest)
    build_index(named_game("mini-2x3k2-abrupt"), "full")
    monkeypatch.setattr(index, "MOST_RELABELLED", longest - 1)
    with monkeypatch.context() as patch, pytest.raises(GameError) as caught:
        patch.setattr(index, "relabellings", None)  # refused before any is made
        build_index(named_game("mini-2x3k2-abrupt"), "full")
    assert str(caught.value) == (
        f"Game mini-2x3k2-abrupt has a view with {longest} orders; symmetry full works with at most {longest - 1} of "
        "them: choose symmetry none."
    )
    build_index(named_game("mini-2x3k2-abrupt"), "none")
    assert len(named_game(name).symmetries) == 1
    build_index(named_game(name), "full")  # a group that renames nothing has no limit


def test_the_limit_is_that_of_the_ranks_that_are_kept():
    players = build_index(named_game("mini-2x3k2-abrupt"), "full").players
    assert all(2 ** (8 * i.relabelling.itemsize) == index.MOST_RELABELLED for i in players)
