"""Infosets as people type them: the infoset's text, or the reason why there is no such infoset, and the nearest one.

The nearest infoset is the longest prefix of the typed attempts that is an infoset of the player.
"""

from __future__ import annotations

from pttt_ooc.disk.numbers import join_words
from pttt_ooc.errors import ImpossibleInfosetError
from pttt_ooc.games.rules.game import Game, mask_of
from pttt_ooc.games.rules.infoset_text import DIGITS, infoset_text
from pttt_ooc.games.rules.play import History, start
from pttt_ooc.types import Attempts

_SEPARATORS = " \t\r\n,;"
_SHOWN = 40  # characters of the typed text


def check_infoset(game: Game, player: int, text: str) -> str:
    """The standard text of a typed infoset.

    Blanks and commas between attempts are allowed, and the bar at the beginning may be missing.

    Parameters
    ----------
    player
        The infoset's player.
    text
        For example ``"|0*4."`` or ``"0* 4."``.

    Raises
    ------
    ImpossibleInfosetError
        If it is not an infoset of the player; the sentence says why, and ``nearest`` is the nearest infoset.

    Examples
    --------
    >>> from pttt_ooc.games.rules.catalogue import named_game
    >>> check_infoset(named_game("pttt-abrupt"), 0, "0* 4.")
    '|0*4.'
    >>> check_infoset(named_game("pttt-abrupt"), 0, "|0*0*")
    Traceback (most recent call last):
        ...
    pttt_ooc.errors.ImpossibleInfosetError: '|0*0*' is not an infoset of player 0: square 0 is attempted twice.
    """
    # What can be read of the text must begin with the player's setup.
    typed, problem = _parse(text, game.squares)
    setup = tuple((square, True) for square in game.setup[player])
    beginning, attempts = typed[: len(setup)], typed[len(setup) :]
    if beginning != setup:
        if not problem or beginning != setup[: len(beginning)]:
            problem = f"in {game.name} all of them begin with {_text(game, player, ())}, the player's setup"
        attempts = ()
    elif leads_somewhere(game, player, attempts):
        # The attempts make an infoset: the one that is meant, if the whole text could be read.
        if not problem:
            return _text(game, player, attempts)
    else:
        # The longest beginning that makes an infoset is the nearest one; the attempt after it is what is wrong.
        possible = next((n for n in reversed(range(len(attempts))) if leads_somewhere(game, player, attempts[:n])), -1)
        if possible < 0:
            raise ImpossibleInfosetError(f"Player {player} never moves in {game.name}.", None)
        problem = _why_not(game, player, attempts[: possible + 1])
        attempts = attempts[:possible]
    quoted = repr(text) if len(text) <= _SHOWN else f"{text[:_SHOWN]!r}..."
    raise ImpossibleInfosetError(
        f"{quoted} is not an infoset of player {player}: {problem}.", _text(game, player, attempts)
    )


def _text(game: Game, player: int, attempts: Attempts) -> str:
    return infoset_text((*((square, True) for square in game.setup[player]), *attempts))


def _parse(text: str, squares: int) -> tuple[Attempts, str]:
    """The attempts that can be read, setup included, and what is wrong with the rest of the text.

    Reading stops after one attempt more than there are squares, which is already wrong.
    """
    line = "".join(c for c in text if c not in _SEPARATORS).removeprefix("|")
    attempts: list[tuple[int, bool]] = []
    for at in range(0, min(len(line), 2 * squares + 2), 2):
        square, outcome = line[at], line[at + 1 : at + 2]
        if square not in DIGITS[: max(squares, 10)]:
            return tuple(attempts), f"{square!r} stands where the digit of a square is expected"
        if outcome not in ("*", "."):
            return tuple(attempts), (
                f"square {DIGITS.index(square)} must be followed by '*' if it was placed or '.' if the attempt failed, "
                f"not by {repr(outcome) if outcome else 'nothing'}"
            )
        attempts.append((DIGITS.index(square), outcome == "*"))
    return tuple(attempts), ""


# ---------------------------------------------------------------------------------------------
# Is there a history?


def leads_somewhere(game: Game, player: int, attempts: Attempts, decides: bool = True) -> bool:
    """Whether a history exists in which the player makes these attempts with these outcomes.

    Parameters
    ----------
    decides
        Whether the player must be to move afterwards; otherwise the game may be over.
    """
    if len({square for square, _ in attempts}) < len(attempts):
        return False
    search = _HistorySearch(game, player, attempts, decides)
    return search.from_here(start(game), 0)


class _HistorySearch:
    """Depth-first search for a history in which a player makes given attempts; each position is visited once."""

    def __init__(self, game: Game, player: int, attempts: Attempts, decides: bool) -> None:
        self.player, self.attempts, self.decides = player, attempts, decides
        self.visited: set[tuple[int, tuple[int, int], int]] = set()

    def from_here(self, history: History, done: int) -> bool:
        """Whether a continuation exists after the first `done` attempts."""
        me, other = self.player, 1 - self.player
        while history.player == me and done < len(self.attempts):
            square, placed = self.attempts[done]
            if square >= history.game.squares or history.tried[me] >> square & 1:
                return False
            if placed == bool(history.placed[other] >> square & 1):
                return False
            history, done = history.step(square), done + 1
        if history.player == me:
            return True
        if history.player is None:
            return not self.decides and done == len(self.attempts)
        if done == len(self.attempts) and not self.decides:
            return True
        position = (done, history.placed, history.tried[other])
        if position in self.visited:
            return False
        self.visited.add(position)
        return any(self.from_here(history.step(square), done) for square in self._replies(history, done))

    def _replies(self, history: History, done: int) -> list[int]:
        """The opponent's attempts that fit the player's: those that the player needs soonest first, then failures."""
        ahead = self.attempts[done:]
        wanted = [s for s, placed in ahead if not placed and not history.placed[1 - self.player] >> s & 1]
        spoilt = {s for s, placed in ahead if placed}
        legal = [s for s in history.legal() if s not in spoilt]
        fails = history.placed[self.player]
        return sorted(legal, key=lambda s: (wanted.index(s) if s in wanted else len(wanted), not fails >> s & 1))


# ---------------------------------------------------------------------------------------------
# Reasons


def _why_not(game: Game, player: int, attempts: Attempts) -> str:
    """Why these attempts make no infoset, although all but the last do."""
    before, (square, placed) = attempts[:-1], attempts[-1]
    other = 1 - player
    known = game.setup_mask(other)
    marks = [s for s, mine in attempts if mine] + list(game.setup[player])
    found = [s for s, mine in attempts if not mine and not known >> s & 1]
    if square >= game.squares:
        return f"there is no square {square}; {game.name} has the squares 0 to {game.squares - 1}"
    if square in [s for s, _ in before] or square in game.setup[player]:
        return f"square {square} is attempted twice"
    if placed and known >> square & 1:
        return f"square {square} is in the setup of player {other}, so that an attempt of it fails"
    if not placed and not known >> square & 1 and not _had_turns(game, player, attempts):
        marks_found = f"the mark{'s' if len(found) > 1 else ''} found on {join_words(sorted(found))}"
        return f"player {other} has not had the turns to place {marks_found}"
    if placed and game.wins(player, mask_of(tuple(marks))):
        return f"with square {square} player {player} has won, and the game is over"
    if game.wins(other, mask_of(tuple(found)) | known):
        return f"the marks found on {join_words(sorted(found))} mean that player {other} had won before"
    if leads_somewhere(game, player, attempts, decides=False):
        return f"after the attempt of square {square} the game is over before player {player} can move again"
    outcome = "empty" if placed else f"taken by player {other}"
    return f"however player {other} has moved without winning, square {square} is not {outcome} at that moment"


def _had_turns(game: Game, player: int, attempts: Attempts) -> bool:
    """Whether the opponent had enough turns to place all marks that failed attempts found."""
    known = game.setup_mask(1 - player)
    kinds = [0 if placed else 2 if known >> square & 1 else 1 for square, placed in attempts]
    return game.failure_allowed(player, kinds.count(0), kinds.count(1), kinds.count(2))
