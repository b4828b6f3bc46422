"""What a page of Explore shows, as it is in its address."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import urlencode

PATH = "/explore"
DIFFERENCES = f"{PATH}/differences"
AVERAGE, BEST = "average", "best"


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
    show
        ``"average"``: what the strategy does; ``"best"``: the best response of its player, from there on.
    beside
        Key of another strategy of the player; empty: none.
    square
        The square that has been chosen, if any.
    """

    player: int
    at: str
    strategies: tuple[str, str]
    show: str = AVERAGE
    beside: str = ""
    square: int | None = None

    def __str__(self) -> str:
        given = {
            "player": self.player,
            "at": self.at,
            "first": self.strategies[0],
            "second": self.strategies[1],
            **({"show": self.show} if self.show != AVERAGE else {}),
            **({"beside": self.beside} if self.beside else {}),
            **({"square": self.square} if self.square is not None else {}),
        }
        return f"{PATH}?{urlencode(given, safe='|*.')}"

    def to(self, **changes: Any) -> Address:
        """Another page; no square is chosen there unless it is named."""
        return replace(self, **{"square": None, **changes})

    @property
    def differences(self) -> str:
        """The page that tells where the strategy and the one beside it differ in value."""
        given = {"player": self.player, "first": self.strategies[0], "second": self.strategies[1]}
        return f"{DIFFERENCES}?{urlencode({**given, 'beside': self.beside})}"

    @property
    def opponent(self) -> int:
        """The other player."""
        return 1 - self.player

    def kept(self, *left_out: str) -> Mapping[str, str]:
        """Fields of a form that leads to another page of the kind."""
        fields = {
            "player": str(self.player),
            "at": self.at,
            "first": self.strategies[0],
            "second": self.strategies[1],
            "show": self.show,
            "beside": self.beside,
        }
        return {name: value for name, value in fields.items() if name not in left_out and value}
