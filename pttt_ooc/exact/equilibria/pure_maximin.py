"""The best pure strategy: what a player can guarantee without chance.

In a game without moves of nature, an opponent who knows a player's pure strategy can bring about any end that fits
it.  So a pure strategy guarantees the worst of these ends, and the best choice at an infoset is the one whose worst end
is best.  One infoset after the other, this takes time that is linear in the size of the game (Koller and Megiddo 1992,
section 3).  Here an infoset is the set of the opponent's positions that fit, and what cannot change the result is left
out, so few infosets are visited.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from pttt_ooc.games.rules.game import Game
from pttt_ooc.games.rules.infoset_text import DIGITS
from pttt_ooc.games.rules.play import first_infoset

LOSS, DRAW, WIN = -1, 0, 1

Position = tuple[int, int]
"""The opponent's marks, and the squares on which they failed, as bit masks."""


@dataclass(frozen=True)
class PureMaximin:
    """A pure strategy that guarantees as much as any other.

    Attributes
    ----------
    value
        What it guarantees, from the player's point of view: 1, 0 or -1.
    choices
        The square at each infoset that it comes to, by the infoset's text; empty if the value is -1, since then all
        pure strategies are equally good.
    visited
        Number of infosets that were visited.
    """

    value: int
    choices: dict[str, int]
    visited: int


def best_pure(game: Game, player: int) -> PureMaximin:
    """The best pure strategy of a player.

    Examples
    --------
    >>> from pttt_ooc.games.rules.catalogue import named_game
    >>> best_pure(named_game("dark-hex-2x2-classical"), 0).value
    1
    """
    search = _Search(game, player)
    for target in (WIN, DRAW):
        choices: dict[str, int] = {}
        if search.holds(target, choices):
            return PureMaximin(target, choices, search.visited)
    return PureMaximin(LOSS, {}, search.visited)


class _Search:
    def __init__(self, game: Game, player: int) -> None:
        self._game, self._player, self.visited = game, player, 0
        self._full = (1 << game.squares) - 1
        self._abrupt = game.turn_rule == "abrupt"
        self._wins = [[game.wins(p, placed) for placed in range(1 << game.squares)] for p in (0, 1)]

    def holds(self, target: int, choices: dict[str, int]) -> bool:
        """Whether a pure strategy guarantees the target; if so, its choices are added."""
        game, player = self._game, self._player
        start = {(game.setup_mask(1 - player), 0)}
        own = game.setup_mask(player)
        if game.first_player != player:
            after = self._after(start, own, target)
            if after is None:
                return False
            start = after
        return self._holds(target, own, 0, first_infoset(game, player), start, choices)

    def _holds(
        self, target: int, own: int, failed: int, text: str, positions: set[Position], choices: dict[str, int]
    ) -> bool:
        """The same from an infoset, where the opponent is in one of the positions."""
        if not positions:
            return True
        self.visited += 1
        for square in range(self._game.squares):
            if not (own | failed) >> square & 1:
                found: dict[str, int] = {text: square}
                if self._attempt_holds(target, own, failed, text, positions, square, found):
                    choices.update(found)
                    return True
        return False

    def _attempt_holds(
        self,
        target: int,
        own: int,
        failed: int,
        text: str,
        positions: set[Position],
        square: int,
        choices: dict[str, int],
    ) -> bool:
        bit = 1 << square
        fails = {position for position in positions if position[0] & bit}
        placed, marks, then = positions - fails, own | bit, set[Position]()
        if placed and not self._wins[self._player][marks]:
            goes_on = {position for position in placed if marks | position[0] != self._full}
            if target > DRAW and len(goes_on) < len(placed):
                return False
            after = self._after(goes_on, marks, target)
            if after is None:
                return False
            then = after
        if self._abrupt:
            after = self._after(fails, own, target)
            if after is None:
                return False
            fails = after
        text += DIGITS[square]
        return self._holds(target, marks, failed, f"{text}*", then, choices) and self._holds(
            target, own, failed | bit, f"{text}.", fails, choices
        )

    def _after(self, positions: set[Position], own: int, target: int) -> set[Position] | None:
        """The positions after the opponent's moves; None if a game can end below the target."""
        found: set[Position] = set()
        for marks, failed in positions:
            for ends, position in self._moves(marks, failed, own):
                if ends is None:
                    found.add(position)
                elif ends < target:
                    return None
        return found

    def _moves(self, marks: int, failed: int, own: int) -> Iterator[tuple[int | None, Position]]:
        """The ends of the opponent's turn: the player's payoff if the game is over, and the position."""
        for square in range(self._game.squares):
            bit = 1 << square
            if (marks | failed) & bit:
                continue
            if own & bit:
                if self._abrupt:
                    yield None, (marks, failed | bit)
                else:
                    yield from self._moves(marks, failed | bit, own)
                continue
            over = self._wins[1 - self._player][marks | bit]
            full = (marks | bit | own) == self._full
            yield LOSS if over else DRAW if full else None, (marks | bit, failed)
