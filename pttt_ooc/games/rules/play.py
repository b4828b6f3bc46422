"""One play of a game, attempt by attempt: the reference for all code that plays.

>>> from pttt_ooc.games.rules.catalogue import named_game
>>> history = start(named_game("pttt-abrupt")).step(4).step(4)
>>> history.player, history.infoset(0), history.infoset(1)
(0, '|4*', '|4.')
>>> history.legal()
[0, 1, 2, 3, 5, 6, 7, 8]
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from pttt_ooc.errors import GameError
from pttt_ooc.games.rules.game import Game
from pttt_ooc.games.rules.infoset_text import DIGITS, infoset_text, is_infoset_text


@dataclass(frozen=True, slots=True)
class Attempt:
    """One attempt.

    Attributes
    ----------
    player
        The player who made it.
    square
        The attempted square.
    placed
        Whether the mark was placed; otherwise the square was taken.
    """

    player: int
    square: int
    placed: bool


@dataclass(frozen=True, slots=True)
class History:
    """A position of a game with the attempts that led to it.  Immutable: :meth:`step` returns the next one.

    Attributes
    ----------
    game
        The rules.
    player
        The player to move; None when the game is over.
    attempts
        All attempts after the setup.
    placed
        For each player, the squares of their marks as a bit mask, setup included.
    tried
        For each player, the squares of their setup and of all their attempts, as a bit mask.
    winner
        The player who has won; None if nobody has.
    """

    game: Game
    player: int | None
    attempts: tuple[Attempt, ...]
    placed: tuple[int, int]
    tried: tuple[int, int]
    winner: int | None = None

    @property
    def is_terminal(self) -> bool:
        """Whether the game is over: somebody has won, or the board is full."""
        return self.player is None

    @property
    def returns(self) -> tuple[int, int]:
        """Both players' payoffs: 1 and -1 after a win; 0 and 0 after a draw or before the end of the game."""
        return (0, 0) if self.winner is None else (1 - 2 * self.winner, 2 * self.winner - 1)

    def legal(self) -> list[int]:
        """Squares that the player to move may attempt, ascending; none when the game is over."""
        if self.player is None:
            return []
        return [s for s in range(self.game.squares) if not self.tried[self.player] >> s & 1]

    def step(self, square: int) -> History:
        """The history after the player to move has attempted `square`.

        Raises
        ------
        GameError
            If the game is over, or the player may not attempt that square.
        """
        me = self.player
        if me is None:
            raise GameError(f"The game {self.game.name} is over after {len(self.attempts)} attempts.")
        if square not in self.legal():
            raise GameError(
                f"Player {me} cannot attempt square {square} at {self.infoset(me)!r}; "
                f"choose one of {', '.join(map(str, self.legal()))}."
            )
        other, bit = 1 - me, 1 << square
        succeeds = not self.placed[other] & bit
        attempts = (*self.attempts, Attempt(me, square, succeeds))
        tried = _replace_at(self.tried, me, self.tried[me] | bit)
        if not succeeds:
            following = other if self.game.turn_rule == "abrupt" else me
            return History(self.game, following, attempts, self.placed, tried)
        placed = _replace_at(self.placed, me, self.placed[me] | bit)
        won = self.game.wins(me, placed[me])
        full = placed[0] | placed[1] == (1 << self.game.squares) - 1
        return History(self.game, None if won or full else other, attempts, placed, tried, me if won else None)

    def infoset(self, player: int) -> str:
        """The player's knowledge, as :func:`.infoset_text.infoset_text` writes it.

        It is the text of an infoset if the player is to move.
        """
        own = [(square, True) for square in self.game.setup[player]]
        return infoset_text(own + [(a.square, a.placed) for a in self.attempts if a.player == player])


def start(game: Game) -> History:
    """The history before the first attempt."""
    marks = (game.setup_mask(0), game.setup_mask(1))
    return History(game, game.first_player, (), marks, marks)


@cache
def first_infoset(game: Game, player: int) -> str:
    """Text of a player's first infoset: its setup."""
    return start(game).infoset(player)


def attempts_at(game: Game, player: int, text: str) -> tuple[tuple[int, bool], ...] | None:
    """The attempts of an infoset after the setup, each a square and whether it was placed.

    Returns
    -------
    None if the player has no such infoset: no attempts of the opponent lead to it.
    """
    if not is_infoset_text(text):
        return None
    todo, seen = [start(game)], set()
    while todo:
        history = todo.pop()
        own, other = history.infoset(player), (history.placed[1 - player], history.tried[1 - player])
        if history.player is None or not text.startswith(own) or (own, history.player, other) in seen:
            continue
        seen.add((own, history.player, other))
        if history.player != player:
            todo += [history.step(square) for square in history.legal()]
        elif own == text:
            return tuple((a.square, a.placed) for a in history.attempts if a.player == player)
        elif (square := DIGITS.index(text[len(own)])) in history.legal():
            todo.append(history.step(square))
    return None


def replay(game: Game, squares: list[int] | tuple[int, ...]) -> History:
    """The history after attempts of these squares, each by the player to move.

    Raises
    ------
    GameError
        See :meth:`History.step`.
    """
    history = start(game)
    for square in squares:
        history = history.step(square)
    return history


def _replace_at(pair: tuple[int, int], player: int, number: int) -> tuple[int, int]:
    return (number, pair[1]) if player == 0 else (pair[0], number)
