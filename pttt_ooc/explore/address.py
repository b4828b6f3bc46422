"""What a page of Explore shows, as it is in its address."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import urlencode

PATH = "/explore"
DIFFERENCES = f"{PATH}/differences"
AVERAGE, BEST = "average", "best"
PLAYS = ("first_plays", "second_plays")
"""The parameters that tell what each player plays."""

APART, MERGED = "apart", "merged"


@dataclass(frozen=True)
class Address:
    """The infoset and the strategies of a page.

    Attributes
    ----------
    player
        Whose infoset it is.
    at
        The infoset's text, as it was typed.
    strategies
        Key of each player's strategy.
    plays
        Of each player: ``"average"``: it follows its strategy; ``"best"``: its best response to the other's strategy.
    symmetry
        ``"apart"``: the infoset alone; ``"merged"``: together with its mirror images.
    beside
        Key of another strategy of the player; empty: none.
    iteration
        Of the run that the strategies come from; None: its last one.
    square
        The square that has been chosen, if any.
    """

    player: int
    at: str
    strategies: tuple[str, str]
    plays: tuple[str, str] = (AVERAGE, AVERAGE)
    symmetry: str = APART
    beside: str = ""
    iteration: int | None = None
    square: int | None = None

    def __str__(self) -> str:
        return f"{PATH}?{self.query}"

    @property
    def query(self) -> str:
        """Its part behind the question mark, without what goes without saying."""
        given = {
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
        return urlencode(given, safe="|*.")

    def to(self, **changes: Any) -> Address:
        """Another page; no square is chosen there unless it is named."""
        return replace(self, **{"square": None, **changes})

    @property
    def differences(self) -> str:
        """The page that tells where the strategy and the one beside it differ in value."""
        given = {"player": self.player, "first": self.strategies[0], "second": self.strategies[1]}
        return f"{DIFFERENCES}?{urlencode({**given, 'beside': self.beside})}"

    @property
    def replies(self) -> tuple[bool, bool]:
        """Whether each player plays its best response."""
        return self.plays[0] == BEST, self.plays[1] == BEST

    @property
    def opponent(self) -> int:
        """The other player."""
        return 1 - self.player
