"""A whole game as a file of Gambit, its extensive form ``.efg``: every history is a node, so boards must be small.

Format: https://gambitproject.readthedocs.io/en/latest/formats.efg.html
"""

from __future__ import annotations

from collections.abc import Iterator

from pttt_ooc.errors import GameError
from pttt_ooc.games.rules.game import Game
from pttt_ooc.games.rules.play import History, start
from pttt_ooc.games.structure.counts import counts_of
from pttt_ooc.games.structure.views import find_pairs

MOST_HISTORIES = 1_000_000
"""The most nodes of a tree that is written."""


def check_tree(game: Game) -> None:
    """Raise a GameError if a game has too many histories for a file."""
    histories = counts_of(game, find_pairs(game))["histories"]
    if histories > MOST_HISTORIES:
        raise GameError(
            f"Game {game.name} has {histories:,} histories; an .efg file lists each, and is written for games of at "
            f"most {MOST_HISTORIES:,}."
        )


def efg_lines(game: Game) -> Iterator[str]:
    """The lines of the file.

    Infosets have their texts as labels, and actions the numbers of their squares.  Payoffs are 1 and -1 after a win.

    Raises
    ------
    GameError
        See :func:`check_tree`.
    """
    check_tree(game)
    yield f'EFG 2 R "{game.name}" {{ "player 0" "player 1" }}\n'
    numbers: tuple[dict[str, int], dict[str, int]] = ({}, {})
    yield from _nodes(start(game), numbers)


def _nodes(history: History, numbers: tuple[dict[str, int], dict[str, int]]) -> Iterator[str]:
    """A history, and all that follow it."""
    me = history.player
    if me is None:
        first, second = history.returns
        outcome, name = {0: (1, "draw"), 1: (2, "player 0 wins"), -1: (3, "player 1 wins")}[first]
        yield f't "" {outcome} "{name}" {{ {first}, {second} }}\n'
        return
    text, legal = history.infoset(me), history.legal()
    number = numbers[me].setdefault(text, len(numbers[me]) + 1)
    actions = " ".join(f'"{square}"' for square in legal)
    yield f'p "" {me + 1} {number} "{text}" {{ {actions} }} 0\n'
    for square in legal:
        yield from _nodes(history.step(square), numbers)
