"""A person's view of an open game.

Pages of an open game are made from a :class:`Seat` only, so that no page can reveal more.
"""

from __future__ import annotations

from dataclasses import dataclass

from pttt_ooc.games.rules.game import Game
from pttt_ooc.games.rules.infoset_text import DIGITS
from pttt_ooc.games.rules.play import History
from pttt_ooc.site.play.review import ViewSquare


@dataclass(frozen=True)
class Seat:
    """One player's view of one game.

    Attributes
    ----------
    id
        The game's key.
    player
        The player who has this view.
    opponent, key
        The opponent's name, and its key in forms.
    infoset
        The player's infoset as text.
    attempts
        Own squares in order, the setup's first, with whether the mark was placed.
    made
        The number of the player's attempts; each attempt carries this number, so that it counts once.
    legal
        Squares that may be attempted; none if the game is over.
    result
        The player's payoff, None while the game goes on.
    resigned
        Whether the player has resigned.
    pencilled
        Squares with the player's pencil marks.
    hinted
        Whether the player has asked for a hint at this infoset.
    help
        What has helped the player in this game, in words; empty: nothing.
    """

    game: Game
    id: str
    player: int
    opponent: str
    key: str
    infoset: str
    attempts: tuple[tuple[int, bool], ...]
    made: int
    legal: tuple[int, ...]
    result: int | None
    resigned: bool
    pencilled: frozenset[int] = frozenset()
    hinted: bool = False
    help: str = ""

    @property
    def over(self) -> bool:
        """Whether the game is over."""
        return self.result is not None

    @property
    def cells(self) -> list[ViewSquare]:
        """All squares, row by row."""
        return cells(self.game, self.attempts)

    @property
    def said(self) -> str:
        """One sentence about the latest attempt."""
        if not self.made:
            return "Choose a square." if self.legal else ""
        square, placed = self.attempts[-1]
        return f"Square {square}: placed." if placed else f"Square {square}: failed, the opponent is there."


def seat_of(
    history: History, player: int, id: str, opponent: str, key: str, result: int | None, resigned: bool
) -> Seat:
    """The seat of `player` after `history`; for parameters see :class:`Seat`."""
    attempts = known_attempts(history, player)
    made = len(attempts) - len(history.game.setup[player])
    over = result is not None
    legal = () if over or history.player != player else tuple(history.legal())
    infoset = history.infoset(player)
    return Seat(history.game, id, player, opponent, key, infoset, attempts, made, legal, result, resigned)


def known_attempts(history: History, player: int) -> tuple[tuple[int, bool], ...]:
    """A player's squares in order, the setup's first, with whether the mark was placed."""
    setup = [(square, True) for square in history.game.setup[player]]
    own = [(a.square, a.placed) for a in history.attempts if a.player == player]
    return (*setup, *own)


def cells(game: Game, attempts: tuple[tuple[int, bool], ...]) -> list[ViewSquare]:
    """The board as a player sees it after their attempts."""
    states = {square: "mine" if placed else "theirs" for square, placed in attempts}
    words = {"free": "not attempted", "mine": "your mark", "theirs": "the opponent’s mark"}
    latest = attempts[-1][0] if attempts else None
    found = []
    for square in range(game.squares):
        state = states.get(square, "free")
        text = f"Square {square}, {words[state]}"
        found.append(ViewSquare(square, state, DIGITS[square], text, square == latest))
    return found
