"""Pairs of views: the bound on their number before the search."""

from itertools import product

import pytest

from pttt_ooc.games.rules.catalogue import COUNTED, EXACT_VALUES, GAMES, KNOWN_COUNTS, named_game
from pttt_ooc.games.structure.counts import count_infosets
from pttt_ooc.games.structure.views import find_pairs, most_pairs
from tests.kits import helpers


def all_boards(game):
    """The number of boards with both players' failures whose turns alternate, by going through all boards."""
    per_square = []
    for square in range(game.squares):
        owners = [None, 0, 1]
        if opened := [p for p in (0, 1) if square in game.setup[p]]:
            owners = opened
        # Turns of the two players on this square: a failure takes one where the turn is lost with it.
        states = []
        for owner in owners:
            for other_failed in (False, True) if owner is not None else (False,):
                turns = [0, 0]
                if owner is not None:
                    turns[owner] += not opened
                    turns[1 - owner] += other_failed and game.turn_rule == "abrupt"
                states.append(tuple(turns))
        per_square.append(states)
    return sum(abs(sum(t[0] - t[1] for t in board)) <= 1 for board in product(*per_square))


@pytest.mark.parametrize("name", [*helpers.TINY, *helpers.SMALL])
def test_the_bound_on_pairs_counts_all_boards(name):
    game = GAMES[name]
    assert find_pairs(game).placed.shape[1] <= most_pairs(game) == all_boards(game)


@pytest.mark.parametrize("most", [7, pytest.param(10, marks=pytest.mark.long)])
def test_the_sizes_of_listed_games_are_what_is_counted(most):
    listed = {name for name in {*GAMES, *EXACT_VALUES} if named_game(name).squares <= 10}
    assert listed <= {*COUNTED, *KNOWN_COUNTS}
    for name, sizes in COUNTED.items():
        game = named_game(name)
        if game.squares - sum(map(len, game.setup)) <= most:
            assert tuple(count_infosets(game)) == sizes, name
