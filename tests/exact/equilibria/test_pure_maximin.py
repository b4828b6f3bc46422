"""The best pure strategies: against a recursion over histories, and against all of the smallest games."""

from collections import defaultdict
from itertools import product

import pytest

from pttt_ooc.exact.equilibria.pure_maximin import best_pure
from pttt_ooc.games.rules.catalogue import GAMES, named_game
from tests.kits import naive

SMALL = [name for name in GAMES if name.startswith(("mini-2x2", "mini-3x2", "dark-hex-2x2"))]
SMALL += [
    f"{name}-{rule}-after-{moves}"
    for rule in ("abrupt", "classical")
    for name, moves in (("mini-2x3k3", "1"), ("mini-2x3k3", "1-4"), ("pttt", "0-5-1-8-3"))
]


def naive_value(game, player):
    """The worst end of the best choices, on sets of histories."""

    def settle(histories):
        worst, groups, pending = [], defaultdict(list), list(histories)
        while pending:
            history = pending.pop()
            if history.is_terminal():
                worst.append(history.returns()[player])
            elif history.player == player:
                groups[history.nodes[player]].append(history)
            else:
                pending.extend(history.attempt(square) for square in history.legal())
        return min([*worst, *map(choose, groups.values())])

    def choose(histories):
        return max(settle(history.attempt(square) for history in histories) for square in histories[0].legal())

    return settle([naive.History.start(game)])


@pytest.mark.slow_but_one
@pytest.mark.long_but("2x2", "3x2k2", "after-1-4", "classical-after-0")
@pytest.mark.parametrize("name", SMALL)
def test_what_it_guarantees_is_the_worst_end_of_the_best_choices(name):
    game = named_game(name)
    for player in (0, 1):
        found = best_pure(game, player)
        assert found.value == naive_value(game, player)
        rows = naive.uniform(game, player)
        for text, square in found.choices.items():
            rows[text] = [float(other == square) for other in range(game.squares)]
        if found.choices:
            assert naive.best_response_value(game, 1 - player, rows) == pytest.approx(-found.value)


@pytest.mark.parametrize(
    ("name", "player"),
    [
        *(("mini-2x2k2-abrupt", 1), ("mini-2x2k2-abrupt-after-0", 0), ("mini-2x2k2-abrupt-after-0", 1)),
        *(("dark-hex-2x2-abrupt-after-0", 0), ("dark-hex-2x2-classical-after-0", 0)),
        *(("dark-hex-2x2-abrupt-after-0-1", 0), ("dark-hex-2x2-abrupt-after-0-1", 1)),
    ],
)
def test_no_pure_strategy_guarantees_more(name, player):
    """All pure strategies, one after the other."""
    game = named_game(name)
    infosets = naive.infosets(game, player)
    options = [naive.legal_squares(game, text) for text in infosets]
    values = set()
    for squares in product(*options):
        rows = {
            text: [float(other == square) for other in range(game.squares)]
            for text, square in zip(infosets, squares, strict=True)
        }
        values.add(round(-naive.best_response_value(game, 1 - player, rows)))
    assert best_pure(game, player).value == max(values)


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("pttt-abrupt", (-1, -1)),
        ("pttt-classical", (0, -1)),
        ("dark-hex-3x3-abrupt", (-1, -1)),
        ("dark-hex-3x3-classical", (1, -1)),
    ],
)
def test_pure_strategies_of_the_large_games(name, values):
    found = [best_pure(named_game(name), player) for player in (0, 1)]
    assert tuple(one.value for one in found) == values
    assert all(one.visited < 1000 for one in found)
