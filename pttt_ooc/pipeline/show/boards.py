"""Boards as text, from a player's view, with a strategy's probabilities on the squares."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from pttt_ooc.config import MOST_LISTED_SQUARES
from pttt_ooc.disk.numbers import join_words, probability
from pttt_ooc.games.rules.game import Game
from pttt_ooc.games.rules.infoset_text import DIGITS, attempts_of

MARKS = "xo"
_WIDTH = 8  # characters of a square: "0.1234" and a blank on either side


def board_text(
    game: Game, player: int, infoset: str, probabilities: Sequence[float], marked: Sequence[int] = ()
) -> str:
    """The board at an infoset: on each square a mark that the player knows, or the probability of an attempt.

    Parameters
    ----------
    infoset
        Its text, such as ``"|0*4."``.
    probabilities
        One for each square.
    marked
        Squares that get a star.

    Returns
    -------
    Lines, without a final newline.
    """
    marks = {square: MARKS[player if placed else 1 - player] for square, placed in attempts_of(infoset)}
    texts = [probability(p) + ("*" if square in marked else "") for square, p in enumerate(probabilities)]
    cells = [marks.get(square, text).center(_WIDTH) for square, text in enumerate(texts)]
    lines = ["|".join(cells[r * game.columns : (r + 1) * game.columns]).rstrip() for r in range(game.rows)]
    return ("\n" + "+".join(["-" * _WIDTH] * game.columns) + "\n").join(lines)


def attempts_sentence(infoset: str, setup: int = 0) -> str:
    """A player's attempts, such as ``"placed 0, found 4 occupied"``; the first `setup` squares were given."""
    parts = []
    for k, (square, placed) in enumerate(attempts_of(infoset)):
        parts.append(f"{square} given" if k < setup else f"placed {square}" if placed else f"found {square} occupied")
    return ", ".join(parts) or "no attempt yet"


def support_sentences(game: Game, own: Iterable[int], known: bool, played: Sequence[int] | None) -> list[str]:
    """The supports at an infoset: of the strategy that is shown, and of all equilibria together.

    Parameters
    ----------
    own
        The squares that the strategy attempts with a positive probability.
    known
        Whether `pttt lab equilibria` has found what some equilibrium plays.
    played
        The squares that some equilibrium attempts; None if no pair of equilibrium strategies brings a game here.
    """
    mine = f"In the support of this strategy: {_squares(own)}."
    if not known:
        return [mine, unknown_support(game)]
    if played is None:
        return [mine, "Between equilibrium strategies no game gets here."]
    return [mine, f"In the support of some equilibrium (*): {_squares(played)}."]


def unknown_support(game: Game) -> str:
    """The sentence where the support of equilibria is missing."""
    if game.squares > MOST_LISTED_SQUARES:
        return f"Which squares equilibria play can be found on boards of up to {MOST_LISTED_SQUARES} squares."
    return f"`pttt lab equilibria --game {game.name}` finds which squares some equilibrium plays."


def _squares(squares: Iterable[int]) -> str:
    names = [DIGITS[square] for square in sorted(squares)]
    return f"square{'s' * (len(names) != 1)} {join_words(names)}" if names else "none"
