"""Games by name, with their known counts and values.

A name describes the rules: ``pttt-2x4k3-abrupt`` is phantom tic-tac-toe on two rows and four columns, three in a row
win; ``dark-hex-3x3-classical`` is Dark Hex; ``-after-1-4`` means that squares 1 and 4 hold marks before the game
starts.  Every name of this form with consistent rules is a game; :data:`GAMES` lists the ones that people see.
"""

from __future__ import annotations

import re
from fractions import Fraction
from functools import lru_cache
from math import ceil, floor
from typing import Any

from pttt_ooc.errors import GameError, UnknownGameError, did_you_mean
from pttt_ooc.games.rules.connections import chains, dark_hex
from pttt_ooc.games.rules.game import Game, Squares, check_enumerable, lines, tic_tac_toe
from pttt_ooc.types import Interval, TurnRule

_MINI = ((2, 2, 2), (2, 3, 2), (3, 2, 2), (2, 3, 3))  # rows, columns, k of the smallest boards, which tests use most
_NAME = re.compile(
    r"(?:(?P<standard>pttt)|(?:pttt|mini)-(?P<board>[1-9]\d?x[1-9]\d?)k(?P<k>[1-9]\d?)|dark-hex-(?P<hex>[1-9]\d?x[1-9]\d?))"
    r"-(?P<rule>abrupt|classical)(?:-after-(?P<moves>1?\d(?:-1?\d)*))?"
)


def tic_tac_toe_name(
    rows: int, columns: int, k: int, turn_rule: TurnRule, setup: tuple[Squares, Squares] = ((), ())
) -> str:
    """The name of phantom tic-tac-toe with these rules."""
    board = (rows, columns, k)
    family = "pttt" if board == (3, 3, 3) else f"{'mini' if board in _MINI else 'pttt'}-{rows}x{columns}k{k}"
    return f"{family}-{turn_rule}{_after(setup)}"


def _after(setup: tuple[Squares, Squares]) -> str:
    """The setup's part of a name: its squares in the order of placement."""
    moves = [str(setup[i % 2][i // 2]) for i in range(len(setup[0]) + len(setup[1])) if i // 2 < len(setup[i % 2])]
    return f"-after-{'-'.join(moves)}" if moves else ""


@lru_cache(maxsize=1000)
def find_game(name: str) -> Game | None:
    """The game called `name`, or None if there is none.

    Raises
    ------
    GameError
        If the name is of the right form, but there is no such game: for example, the board is too large.
    """
    parts = _NAME.fullmatch(name)
    if parts is None:
        return None
    moves = tuple(map(int, parts["moves"].split("-"))) if parts["moves"] else ()
    setup = (moves[0::2], moves[1::2])
    rule: TurnRule = "abrupt" if parts["rule"] == "abrupt" else "classical"
    if parts["hex"]:
        rows, columns = map(int, parts["hex"].split("x"))
        return dark_hex(name, rows, columns, rule, setup)
    rows, columns = map(int, (parts["board"] or "3x3").split("x"))
    k = int(parts["k"] or 3)
    proper = tic_tac_toe_name(rows, columns, k, rule, setup)
    if name != proper:
        raise GameError(f"There is one name for each game: {name} is called {proper}.")
    return tic_tac_toe(name, rows, columns, k, rule, setup)


def describe_game(game: Game) -> str:
    """Describe a game for people.

    Examples
    --------
    >>> describe_game(named_game("pttt-2x4k3-abrupt-after-1"))
    'Phantom tic-tac-toe, 2 x 4 squares, 3 in a row, abrupt, after 1'
    """
    parts = _NAME.fullmatch(game.name)
    if parts is None:
        return game.name
    size = f"{game.rows} x {game.columns}"
    after = f", after {parts['moves'].replace('-', ', ')}" if parts["moves"] else ""
    if parts["hex"]:
        return f"Dark Hex, {size}, {parts['rule']}{after}"
    board = f", {size} squares, {parts['k']} in a row" if parts["board"] else ""
    return f"Phantom tic-tac-toe{board}, {parts['rule']}{after}"


def _game_names() -> list[str]:
    """The large games, then small ones for each turn rule."""
    rules: tuple[TurnRule, ...] = ("abrupt", "classical")
    names = ["pttt-abrupt", "pttt-classical", "dark-hex-3x3-abrupt", "dark-hex-3x3-classical"]
    names += ["pttt-2x4k3-abrupt", "pttt-2x4k3-classical", "pttt-2x5k3-abrupt"]
    for rule in rules:
        names += [tic_tac_toe_name(*board, rule) for board in _MINI]
        # With a setup: small enough for brute force, with either player to move, and
        # (on 2x3) with one symmetry left.
        names += [f"pttt-{rule}-after-0-5-1-8-3", f"pttt-{rule}-after-1-0-3-2-4-8"]
        names += [f"mini-2x3k3-{rule}-after-1", f"mini-2x3k3-{rule}-after-1-4"]
        names += [f"dark-hex-{size}-{rule}" for size in ("2x2", "2x3", "3x2")]
    return names


GAMES: dict[str, Game] = {name: game for name in _game_names() if (game := find_game(name))}
"""The games that `pttt info` lists, by name."""

DEFAULT_GAME = "pttt-abrupt"
"""The game if none is named."""

KNOWN_COUNTS: dict[str, dict[str, Any]] = {
    "pttt-abrupt": {
        "histories": 27_115_470_835,
        "terminal_histories": 13_578_403_440,
        "infosets_0": [1, 9, 144, 1968, 21888, 186960, 1137600, 4384800, 8749440],
        "infosets_1": [1, 18, 288, 3936, 43656, 365640, 2073600, 6340320],
        "pairs": 312_781,
    },
    "pttt-classical": {"total_infosets": [3_683_314, 2_307_355]},
    "pttt-2x4k3-abrupt": {"histories": 919_748_961, "total_infosets": [1_970_449, 1_056_073], "pairs": 101_361},
    "pttt-2x5k3-abrupt": {
        "histories": 4_296_390_992_739,
        "total_infosets": [498_567_995, 276_801_189],
        "pairs": 2_007_998,
    },
    "dark-hex-3x3-abrupt": {
        "histories": 29_311_526_419,
        "total_infosets": [16_497_034, 10_828_243],
        "pairs": 333_651,
    },
    "dark-hex-3x3-classical": {
        "histories": 19_119_486_979,
        "total_infosets": [3_720_850, 2_352_067],
        "pairs": 283_859,
    },
}
"""Counts by other programs, with the keys of :func:`pttt_ooc.games.structure.counts.counts_of`."""

COUNTED: dict[str, tuple[int, int]] = {
    "pttt-2x4k3-classical": (128_185, 750_881),
    "pttt-2x5k3-classical": (26_138_807, 150_727_527),
    "mini-2x2k2-abrupt": (17, 5),
    "mini-2x3k2-abrupt": (189, 107),
    "mini-3x2k2-abrupt": (189, 107),
    "mini-2x3k3-abrupt": (11_767, 6_037),
    "pttt-abrupt-after-0-5-1-8-3": (462, 1_111),
    "pttt-abrupt-after-1-0-3-2-4-8": (294, 207),
    "mini-2x3k3-abrupt-after-1": (1_961, 2_320),
    "mini-2x3k3-abrupt-after-1-4": (560, 346),
    "dark-hex-2x2-abrupt": (59, 35),
    "dark-hex-2x3-abrupt": (4_033, 2_725),
    "dark-hex-3x2-abrupt": (5_811, 3_363),
    "mini-2x2k2-classical": (17, 5),
    "mini-2x3k2-classical": (109, 117),
    "mini-3x2k2-classical": (109, 117),
    "mini-2x3k3-classical": (1_027, 5_743),
    "pttt-classical-after-0-5-1-8-3": (241, 587),
    "pttt-classical-after-1-0-3-2-4-8": (171, 65),
    "mini-2x3k3-classical-after-1": (171, 2_073),
    "mini-2x3k3-classical-after-1-4": (62, 322),
    "dark-hex-2x2-classical": (17, 53),
    "dark-hex-2x3-classical": (697, 1_811),
    "dark-hex-3x2-classical": (787, 3_393),
}
"""Numbers of infosets of other listed games, as this package counts them: a list of games need not count."""

EXACT_VALUES: dict[str, Fraction] = {
    name: Fraction(value)
    for name, value in {
        "pttt-abrupt": "1034185983276122051726211867711023/1879768145168489058015376824114480",
        "pttt-classical": "2/3",
        "dark-hex-3x3-abrupt": "57641363828/149938100933",
        "dark-hex-3x3-classical": "1",
        "pttt-2x4k3-abrupt": "4684343/10533800",
        "pttt-2x4k3-classical": "1/2",
        "pttt-2x5k3-abrupt": "1281406261914725037505182289/2106326835157391789074101016",
        "pttt-2x5k3-classical": "3/4",
        "pttt-3x4k3-abrupt": (
            "2562291445062342462547224190384105698159573557840261341434645234648"
            "702879942250873612105372665355759163344859502700827543337743681699/"
            "4033607054150849303525562515111369071958975045389301089014048802084"
            "074032733189530987032196244038734089734596382426576005522277333024"
        ),
        "pttt-3x4k3-classical": "1",
        "pttt-3x4k4-classical": "0",
        "dark-hex-3x4-abrupt": (
            "1041285408889289306956283027130772904661981828921785467598426309322"
            "3421804793844141550845512084940966196370241895661340076209338930759"
            "5138881422736233661018048370114885729372615234983661508971980022359"
            "627110377313387121497134435/153526824031658827999366062717722254915"
            "9274146487829927702925633670990200101943666783061593125579143044473"
            "4933178254246739919333489124497661725001095389522668950376408043489"
            "4643055572542102100172183559778981446464715690459946156"
        ),
        "dark-hex-3x4-classical": "1",
        "dark-hex-4x3-classical": "-19463/33742",
        "dark-hex-4x4-classical": "1976707385278221/3368412316773950",
        "mini-2x2k2-abrupt": "2/3",
        "mini-2x3k2-abrupt": "13/17",
        "mini-3x2k2-abrupt": "13/17",
        "mini-2x3k3-abrupt": "17/72",
        "dark-hex-2x2-abrupt": "1/2",
        "dark-hex-2x3-abrupt": "9/11",
        "dark-hex-3x2-abrupt": "-1/8",
        "mini-2x2k2-classical": "1",
        "mini-2x3k2-classical": "1",
        "mini-3x2k2-classical": "1",
        "mini-2x3k3-classical": "0",
        "dark-hex-2x2-classical": "1",
        "dark-hex-2x3-classical": "1",
        "dark-hex-3x2-classical": "-1",
    }.items()
}
"""Values for player 0, each proven by the certificate ``proof/NAME.txt.gz`` of the repository."""

PUBLISHED_VALUES = {
    "pttt-abrupt": "0.5502",
    "pttt-classical": "0.6667",
    "dark-hex-3x3-abrupt": "0.3844",
    "dark-hex-3x3-classical": "1",
}
"""Rudolph, Lichtlé, Mohammadpour and others 2025, arXiv 2502.08938."""
_DECIMALS = 10**14  # double precision has hardly more


def game_with(squares: int, turn_rule: TurnRule, winning_sets: tuple[Squares, Squares]) -> Game | None:
    """The game that has a name and these rules, on an empty board, if there is one."""
    sizes = [(rows, squares // rows) for rows in range(1, squares + 1) if squares % rows == 0]
    rows_of_k = [tic_tac_toe_name(*size, k, turn_rule) for size in sizes for k in range(1, max(size) + 1)]
    for name in (*rows_of_k, *(f"dark-hex-{rows}x{columns}-{turn_rule}" for rows, columns in sizes)):
        game = find_game(name)
        if game and [*map(set, game.winning_sets)] == [*map(set, winning_sets)]:
            return game
    return None


def named_game(name: str) -> Game:
    """The game called `name`.

    Raises
    ------
    UnknownGameError
        If there is no such game; the message has the closest name.
    GameError
        See :func:`find_game`.
    """
    found = find_game(name)
    if found is None:
        raise UnknownGameError(f"There is no game called {name!r}{did_you_mean(name, GAMES)}; `pttt info` lists games.")
    return found


def check_listable(name: str) -> None:
    """Raise a GameError if the infosets of the game called `name` are too many to be listed."""
    check_enumerable(named_game(name), f"; `pttt exact --game {name}` finds an equilibrium without a list")


def aim(game: Game) -> str:
    """The aim of a game's players, in words."""
    board, sets = (game.rows, game.columns), game.winning_sets
    if sets == (chains(*board, 0), chains(*board, 1)):
        return "a chain: 0 top to bottom, 1 left to right"
    for k in range(1, max(board) + 1):
        if sets == (lines(*board, k),) * 2:
            return f"{k} in a row"
    return "one of its winning sets"


def exact_value(game: Game) -> Fraction | None:
    """The proven value of `game` for player 0; None if there is no certificate."""
    return EXACT_VALUES.get(game.name)


def reference_value(game: Game) -> Interval | None:
    """The proven value of `game`, rounded outward; None if there is no certificate."""
    value = exact_value(game)
    return None if value is None else (floor(value * _DECIMALS) / _DECIMALS, ceil(value * _DECIMALS) / _DECIMALS)
