"""Addresses of pages of Explore."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import urlencode

PATH = "/explore"
DIFFERENCES = f"{PATH}/differences"
AVERAGE, BEST = "average", "best"
PLAYS = ("first_plays", "second_plays")
"""The parameters for what each player plays."""

APART, MERGED = "apart", "merged"


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

    def __str__(self) -> str:
        return f"{PATH}?{self.query}"

    @property
    def query(self) -> str:
        """The query string, without defaults."""
        keys = {
            **({"game": self.game} if self.game else {}),
            "player": self.player,
            "at": self.at,
            "first": self.strategies[0],
            "second": self.strategies[1],
            **{name: how for name, how in zip(PLAYS, self.plays, strict=True) if how != AVERAGE},
            **({"symmetry": self.symmetry} if self.symmetry != APART else {}),
            **({"beside": self.beside} if self.beside else {}),
            **({"iteration": self.iteration} if self.iteration is not None else {}),
            **({"square": self.square} if self.square is not None else {}),
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

    def file(self, name: str) -> str:
        """The address of what the page shows as a file: ``board.svg``, ``board.tex``, ``numbers.csv``."""
        return f"{PATH}/{name}?{self.query}"

    @property
    def replies(self) -> tuple[bool, bool]:
        """Whether each player plays their best response."""
        return self.plays[0] == BEST, self.plays[1] == BEST

    @property
    def opponent(self) -> int:
        """The other player."""
        return 1 - self.player
