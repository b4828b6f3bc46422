"""Boards as text, from a player's view, with a strategy's probabilities on the squares."""

from __future__ import annotations

from collections.abc import Sequence

from pttt_ooc.rules.game import Game
from pttt_ooc.rules.infoset_text import attempts_of
from pttt_ooc.show.numbers import probability

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
