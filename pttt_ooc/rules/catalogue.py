"""The named games, with counts and values of them that are known."""

from __future__ import annotations

from typing import Any

from pttt_ooc.aliases import Interval, TurnRule
from pttt_ooc.errors import UnknownGameError, did_you_mean
from pttt_ooc.rules.game import Game, Squares, tic_tac_toe


def _moves(setup: tuple[Squares, Squares]) -> str:
    """The setup's squares in the order in which they were placed."""
    return "-".join(str(setup[i % 2][i // 2]) for i in range(len(setup[0]) + len(setup[1])))


def _named_games() -> dict[str, Game]:
    games = []
    rules: tuple[TurnRule, ...] = ("abrupt", "classical")
    setup: tuple[Squares, Squares]
    for rule in rules:
        games.append(tic_tac_toe(f"pttt-{rule}", 3, 3, 3, rule))
        for rows, columns, k in ((2, 2, 2), (2, 3, 2), (3, 2, 2), (2, 3, 3)):
            games.append(tic_tac_toe(f"mini-{rows}x{columns}k{k}-{rule}", rows, columns, k, rule))
        # From given first moves: small enough for a brute force, with either player to move, and
        # (on 2x3) with a symmetry left over.
        for setup in (((0, 1, 3), (5, 8)), ((1, 3, 4), (0, 2, 8))):
            games.append(tic_tac_toe(f"pttt-{rule}-after-{_moves(setup)}", 3, 3, 3, rule, setup))
        for setup in (((1,), ()), ((1,), (4,))):
            games.append(tic_tac_toe(f"mini-2x3k3-{rule}-after-{_moves(setup)}", 2, 3, 3, rule, setup))
    return {game.name: game for game in games}


GAMES: dict[str, Game] = _named_games()
"""All named games, by name."""

KNOWN_COUNTS: dict[str, dict[str, Any]] = {
    "pttt-abrupt": {
        "histories": 27_115_470_835,
        "terminal_histories": 13_578_403_440,
        "infosets_0": [1, 9, 144, 1968, 21888, 186960, 1137600, 4384800, 8749440],
        "infosets_1": [1, 18, 288, 3936, 43656, 365640, 2073600, 6340320],
        "pairs": 312_781,
    },
    "pttt-classical": {"total_infosets": [3_683_314, 2_307_355]},
}
"""What other programs have counted, with the keys of :func:`pttt_ooc.structure.counts.counts_of`."""

REFERENCE_VALUES: dict[str, tuple[Interval, str]] = {
    "pttt-abrupt": (
        (0.550155, 0.550188),
        "exact best responses to the average strategies after 2,209 iterations of DCFR (1.5, 0, 2) by this package: "
        "0.5501559993 and 0.5501871974, rounded outward",
    ),
}
"""Intervals that hold the value of a game, and where they come from."""


def named_game(name: str) -> Game:
    """The game called `name`.

    Raises
    ------
    UnknownGameError
        If there is no such game; the message has the name that is closest, or else lists all.
    """
    try:
        return GAMES[name]
    except KeyError:
        guess = did_you_mean(name, GAMES)
        advice = f"{guess}; `pttt info` lists all" if guess else f"; choose one of: {', '.join(GAMES)}"
        raise UnknownGameError(f"There is no game called {name!r}{advice}.") from None


def reference_value(game: Game) -> Interval | None:
    """The interval that the package knows to hold the value of `game`, if any."""
    known = REFERENCE_VALUES.get(game.name)
    return known[0] if known else None
