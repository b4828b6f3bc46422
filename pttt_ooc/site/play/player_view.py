"""A square of a board, as a person who plays sees it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class ViewSquare:
    """A square as a player sees it.

    Attributes
    ----------
    state
        ``"free"`` (in a phantom game: not attempted), ``"mine"`` or ``"theirs"``.
    text
        Its number, which is its key, or its mark.
    words
        The words for a screen reader.
    latest, winning
        Whether it was the latest move, or belongs to a line that has won.
    """

    square: int
    state: str
    text: str
    words: str
    latest: bool
    winning: bool = False
