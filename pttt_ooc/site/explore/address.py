"""Addresses of pages of Explore."""

from __future__ import annotations

import zlib
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any
from urllib.parse import quote, urlencode

PATH = "/explore"
DIFFERENCES, MAP = f"{PATH}/differences", f"{PATH}/map"
AVERAGE, BEST = "average", "best"
PLAYS = ("first_plays", "second_plays")
"""The parameters for what each player plays."""

APART, MERGED = "apart", "merged"
LAYERS = ("probability", "value", "belief", "regret", "support")
"""What a board can show, one at a time."""


@dataclass(frozen=True)
class Address:
    """The infoset and the strategies of a page.

    Attributes
    ----------
    player
        The player whose infoset it is.
    at
        The infoset's text, as typed.
    strategies
        The key of each player's strategy.
    plays
        For each player: ``"average"``: its strategy; ``"best"``: its best response to the other strategy.
    symmetry
        ``"apart"``: the infoset alone; ``"merged"``: with its mirror images.
    beside
        The key of a second strategy of the player; empty: none.
    iteration
        The iteration of the run that the strategies come from; None: the last one.
    square
        The chosen square, if any.
    game
        The game; empty: the first one of the site.
    layer
        What the board shows: one of :data:`LAYERS`.
    bare
        Whether the board shows shades without numbers.
    other
        The infoset of the other player, whose board is beside; empty: their first one.
    """

    player: int
    at: str
    strategies: tuple[str, str]
    plays: tuple[str, str] = (AVERAGE, AVERAGE)
    symmetry: str = APART
    beside: str = ""
    iteration: int | None = None
    square: int | None = None
    game: str = ""
    layer: str = LAYERS[0]
    bare: bool = False
    other: str = ""

    def __str__(self) -> str:
        return self.place(self.at, self.square)

    def place(self, at: str, square: int | None = None) -> str:
        """The page of another infoset of the same player; a page has many such links, so this is quick."""
        return self._page(at, square, self.layer, self.bare)

    def showing(self, layer: str, bare: bool) -> str:
        """The page with another layer on its board, or without numbers."""
        return self._page(self.at, self.square, layer, bare)

    def _page(self, at: str, square: int | None, layer: str, bare: bool) -> str:
        shown = ("" if layer == LAYERS[0] else f"&layer={layer}") + "&bare=1" * bare
        chosen = "" if square is None else f"&square={square}"
        return f"{PATH}?{self._stem}{shown}&at={quote(at, safe='|*.')}{chosen}"

    @cached_property
    def _stem(self) -> str:
        """The query string without the infoset, the square, and what the board shows."""
        keys = {
            **({"game": self.game} if self.game else {}),
            "player": self.player,
            "first": self.strategies[0],
            "second": self.strategies[1],
            **{name: how for name, how in zip(PLAYS, self.plays, strict=True) if how != AVERAGE},
            **({"symmetry": self.symmetry} if self.symmetry != APART else {}),
            **({"beside": self.beside} if self.beside else {}),
            **({"iteration": self.iteration} if self.iteration is not None else {}),
            **({"other": self.other} if self.other else {}),
        }
        return urlencode(keys, safe="|*.")

    def to(self, **changes: Any) -> Address:
        """Another page; no square is chosen unless `square` is given."""
        return replace(self, **{"square": None, **changes})

    @property
    def differences(self) -> str:
        """The page on where the two strategies differ in value."""
        keys: dict[str, Any] = {"game": self.game} if self.game else {}
        keys |= {"player": self.player, "first": self.strategies[0], "second": self.strategies[1]}
        return f"{DIFFERENCES}?{urlencode({**keys, 'beside': self.beside})}"

    @cached_property
    def map(self) -> str:
        """The map of where the probability flows, whose links keep everything but the infoset."""
        return self.place("|").replace(PATH, MAP, 1)

    @property
    def map_name(self) -> str:
        """A name that only this map has."""
        return f"map-{zlib.crc32(self.map.encode()):08x}"

    def file(self, name: str) -> str:
        """The address of what the page shows as a file: ``board.svg``, ``.png``, ``.tex``, or ``numbers.csv``."""
        return str(self).replace(PATH, f"{PATH}/{name}", 1)

    @property
    def replies(self) -> tuple[bool, bool]:
        """Whether each player plays their best response."""
        return self.plays[0] == BEST, self.plays[1] == BEST

    @property
    def opponent(self) -> int:
        """The other player."""
        return 1 - self.player
