"""Ratings of moves for pages: each is made once, and remembered."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import asdict
from typing import Any

from pttt_ooc.other_games.arena.games.base import RESULT, UNFINISHED, ArenaError
from pttt_ooc.other_games.arena.games.catalogue import game
from pttt_ooc.other_games.arena.solvers.move_ratings import MoveRater

RATED = 5000
"""Most moves whose ratings are remembered."""


class RatingCache:
    """The ratings of moves in all games."""

    def __init__(self) -> None:
        self._raters: dict[str, MoveRater] = {}
        self._ratings: OrderedDict[tuple[str | int, ...], dict[str, Any]] = OrderedDict()

    def ratings(self, game_text: str, moves: list[int]) -> list[dict[str, Any] | None]:
        """The :meth:`rating` of each of these moves, where it is remembered."""
        return [self._ratings.get((game_text, 0, *moves[:number])) for number in range(1, len(moves) + 1)]

    def rating(self, game_text: str, moves: list[int], hint: bool = False) -> dict[str, Any]:
        """The :class:`~pttt_ooc.other_games.arena.solvers.move_ratings.Rating` of the last of these moves, and ``by``:
        whose it is.

        Parameters
        ----------
        hint
            Rate the best next move instead.

        Raises
        ------
        ArenaError
            There is no such game, a move is impossible, the game is over, or moves of this game are not rated.
        """
        key: tuple[str | int, ...] = (game_text, int(hint), *moves)
        if key not in self._ratings:
            if game_text not in self._raters:
                self._raters.clear()  # one at a time: each has tables
                self._raters[game_text] = MoveRater(game(game_text))
            rules = game(game_text)
            state = rules.after(moves if hint else moves[:-1])
            if hint and state[RESULT] != UNFINISHED:
                raise ArenaError("This game is over; there is no next move.")
            if not hint:
                rules.play(state, moves[-1])  # it has to be legal
            while len(self._ratings) >= RATED:
                self._ratings.popitem(last=False)
            rater = self._raters[game_text]
            found = asdict(rater.rate(state, None if hint else moves[-1]))
            self._ratings[key] = {**found, "values": list(found["values"].items()), "by": rater.by}
        return self._ratings[key]
