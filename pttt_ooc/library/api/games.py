"""Games: named games, and custom games."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from typing import Any

from pttt_ooc.errors import GameError
from pttt_ooc.games.rules import game as rules
from pttt_ooc.games.rules.catalogue import find_game, named_game, tic_tac_toe_name
from pttt_ooc.games.rules.game import Game, Squares, mask_of
from pttt_ooc.types import TurnRule

Setup = tuple[Sequence[int], Sequence[int]]


def game(name: str) -> Game:
    """The game of this name; ``pttt info`` lists many games and the form of their names.

    Parameters
    ----------
    name
        For example ``"pttt-abrupt"`` (phantom tic-tac-toe on nine squares), ``"pttt-2x4k3-abrupt"`` (two rows and four
        columns), ``"dark-hex-3x3-classical"``.

    Raises
    ------
    UnknownGameError
        If there is no such game.
    GameError
        If the rules in the name are impossible.

    Examples
    --------
    >>> import pttt_ooc as pttt
    >>> board = pttt.game("mini-2x3k2-abrupt")
    >>> board.rows, board.columns, board.turn_rule
    (2, 3, 'abrupt')
    >>> pttt.game("mini-2x3k2-abrubt")
    Traceback (most recent call last):
        ...
    pttt_ooc.errors.UnknownGameError: There is no game called 'mini-2x3k2-abrubt' (did you mean mini-2x3k2-abrupt?); \
`pttt info` lists games.
    """
    return named_game(name)


def tic_tac_toe(
    rows: int = 3,
    columns: int = 3,
    k: int = 3,
    turn_rule: TurnRule = "abrupt",
    setup: Setup = ((), ()),
    name: str | None = None,
) -> Game:
    """Phantom tic-tac-toe on any small board: both players win with `k` in a row.

    Parameters
    ----------
    rows, columns
        Size of the board, at most ten squares.
    k
        Number of adjacent squares that win, horizontally, vertically or diagonally.
    turn_rule
        ``"abrupt"``: a failed attempt passes the turn.  ``"classical"``: it keeps the turn.
    setup
        For each player, the squares placed before the game starts, in order.
    name
        Default: a name that states the rules, as in ``pttt info``.

    Raises
    ------
    GameError
        If the rules are impossible.

    Examples
    --------
    >>> import pttt_ooc as pttt
    >>> pttt.tic_tac_toe(rows=3, columns=3, k=3).name
    'pttt-abrupt'
    >>> small = pttt.tic_tac_toe(rows=2, columns=3, k=3, turn_rule="classical", setup=((0,), ()))
    >>> small.name
    'mini-2x3k3-classical-after-0'
    """
    if not isinstance(k, int) or k < 1:
        raise GameError(f"A player wins with {k!r} in a row, but k must be a whole number, at least 1.")
    _check_board(rows, columns)
    # A game in the catalogue gets its name there; any other gets one that states its rules.
    placed = (tuple(setup[0]), tuple(setup[1]))
    called = name or tic_tac_toe_name(rows, columns, k, turn_rule, placed)
    return _check_game(rules.tic_tac_toe(called, rows, columns, k, turn_rule, placed))


def placement_game(
    rows: int,
    columns: int,
    winning_sets: tuple[Iterable[Collection[int]], Iterable[Collection[int]]],
    turn_rule: TurnRule = "abrupt",
    setup: Setup = ((), ()),
    name: str = "placement-game",
) -> Game:
    """A phantom game in which each player has their own winning sets of squares, as in Hex.

    Parameters
    ----------
    rows, columns
        Size of the board, at most ten squares, which are numbered row by row from 0.
    winning_sets
        For each player, the sets of squares that win.  In a connection game they are the chains that connect the
        player's two sides.
    turn_rule, setup
        See :func:`tic_tac_toe`.
    name
        Letters, digits, dots and dashes; it names the game's directory on disk.

    Raises
    ------
    GameError
        If the rules are impossible.

    Examples
    --------
    Hex on four squares: player 0 connects top and bottom, player 1 connects left and right.

    >>> import pttt_ooc as pttt
    >>> hex_2x2 = pttt.placement_game(2, 2, ([{0, 2}, {1, 3}, {1, 2}], [{0, 1}, {2, 3}, {1, 2}]), name="hex-2x2")
    >>> solution = pttt.solve(hex_2x2, target_nashconv=1e-3)
    >>> abs(solution.value_upper - 0.5) < 1e-3
    True
    """
    _check_board(rows, columns)
    squares = rows * columns
    # Winning sets become bit masks; one that contains another is left out, because the other wins first.
    masks: list[Squares] = []
    for player, sets in enumerate(winning_sets):
        listed = [tuple(one) for one in sets]
        for one in listed:
            if not one or not all(isinstance(s, int) and 0 <= s < squares for s in one):
                raise GameError(
                    f"Player {player} wins with {one!r}, but a winning set has one or more squares from 0 to "
                    f"{squares - 1}."
                )
        masks.append(_minimal({mask_of(one) for one in listed}))
    if len(masks) != 2:
        raise GameError(f"There are winning sets for {len(masks)} players, but a game has 2.")
    placed = (tuple(setup[0]), tuple(setup[1]))
    return _check_game(Game(name, rows, columns, (masks[0], masks[1]), turn_rule, placed))


def _minimal(masks: set[int]) -> Squares:
    """The masks that contain no other mask."""
    return tuple(sorted(m for m in masks if not any(other & m == other for other in masks - {m})))


def _check_board(rows: Any, columns: Any) -> None:
    if not (isinstance(rows, int) and isinstance(columns, int)):
        raise GameError(f"A board has whole numbers of rows and columns, not {rows!r} and {columns!r}.")


def _check_game(rules: Game) -> Game:
    """The game; refuse a name that is not fit for a directory, or that belongs to other rules."""
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]*", rules.name):
        raise GameError(f"A game cannot be called {rules.name!r}; use letters, digits, dots and dashes.")
    known = find_game(rules.name)
    if known not in (None, rules):
        raise GameError(f"The name {rules.name} belongs to a game with other rules; choose another name.")
    return known or rules


def as_record(rules: Game) -> dict[str, Any]:
    """The rules of a game as JSON, to be stored with a solution of a custom game."""
    return {
        **{"name": rules.name, "rows": rules.rows, "columns": rules.columns, "turn_rule": rules.turn_rule},
        "winning_sets": [list(sets) for sets in rules.winning_sets],
        "setup": [list(squares) for squares in rules.setup],
    }


def of_record(record: Any) -> Game:
    """The game of :func:`as_record`.

    Raises
    ------
    GameError
        If the record is damaged.
    """
    try:
        first, second = (tuple(map(int, sets)) for sets in record["winning_sets"])
        placed = tuple(tuple(map(int, squares)) for squares in record["setup"])
        numbers = (int(record["rows"]), int(record["columns"]))
        return Game(str(record["name"]), *numbers, (first, second), record["turn_rule"], (placed[0], placed[1]))
    except (KeyError, TypeError, ValueError, IndexError) as error:
        if isinstance(error, GameError):
            raise
        raise GameError("The rules stored with the solution are damaged.") from error
