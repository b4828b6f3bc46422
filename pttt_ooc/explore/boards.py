"""Boards as the templates draw them: squares with their places, marks, numbers and shades."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from pttt_ooc.rules.game import Game, Squares
from pttt_ooc.rules.infoset_text import attempts_of, infoset_text
from pttt_ooc.show.numbers import decimals, listed, probability
from pttt_ooc.show.pictures import MARKS

SIZE = 100  # units of a square
_DARKEST = 0.75
_LEAST = 0.00005  # smaller losses would be shown as 0.0000


@dataclass(frozen=True)
class BoardSquare:
    """One square of a board.

    Attributes
    ----------
    square, x, y
        Its number, and its upper left corner.
    mark, own
        The known mark, and whether it is the player's own.
    opacity
        The opacity of its shade.
    figure, small
        The large number, and the small one below.
    faint
        Whether the large number is about 0.
    spoken
        All of this in words.
    support, played
        Whether it is in the support of the strategy, and of some equilibrium.
    """

    square: int
    x: int
    y: int
    mark: str = ""
    own: bool = False
    opacity: str = "0"
    figure: str = ""
    small: str = ""
    faint: bool = False
    spoken: str = ""
    support: bool = False
    played: bool = False


def known_marks(game: Game, player: int, infoset: str) -> dict[int, int]:
    """The owner of each square's mark, as far as a player knows; the infoset's text includes its setup squares."""
    marks = {square: player if placed else 1 - player for square, placed in attempts_of(infoset)}
    return marks | {s: player for s in range(game.squares) if game.setup_mask(player) >> s & 1}


def known_board(game: Game, player: int, infoset: str) -> list[BoardSquare]:
    """The squares with marks that a player knows, for a small picture beside the infoset's text."""
    return [
        _marked(game, square, whose, player) for square, whose in sorted(known_marks(game, player, infoset).items())
    ]


def strategy_board(
    game: Game,
    player: int,
    infoset: str,
    shown: Sequence[float | None],
    values: Sequence[float | None],
    classes: Sequence[Sequence[int]] = (),
    played: Sequence[int] = (),
) -> list[BoardSquare]:
    """What a strategy does at an infoset, with the value of each attempt.

    Parameters
    ----------
    shown, values
        For each square; None where it may not be attempted, or has no value.
    classes
        Squares that mirror each other: the first shows the probability of all, the others name the first.
    played
        The squares in the support of some equilibrium.
    """
    marks = known_marks(game, player, infoset)
    alike = {square: one for one in classes for square in one}
    sums = [None if p is None else sum(shown[s] or 0.0 for s in alike.get(n, (n,))) for n, p in enumerate(shown)]
    most = max((p for p in sums if p is not None), default=0.0)
    cells = []
    for square, p in enumerate(sums):
        value, same = values[square], alike.get(square, (square,))
        if square in marks:
            cells.append(_marked(game, square, marks[square], player))
        elif p is not None and square != same[0]:
            spoken = f"square {square}: mirrors square {same[0]}"
            opacity = f"{_DARKEST * p / most:.3f}" if most > 0 else "0"
            cells.append(
                BoardSquare(square, *_corner(game, square), "", False, opacity, f"={same[0]}", "", False, spoken)
            )
        elif p is not None:
            spoken = f"probability {probability(p)}" + ("" if value is None else f", value {decimals(value, 3)}")
            small = "" if value is None else _signed(value)
            squares = f"square {square}" if len(same) == 1 else f"squares {listed(same)} together"
            cells.append(_cell(game, square, p, most, small, f"{squares}: {spoken}"))
    support = {square for square, p in enumerate(sums) if p and square == alike.get(square, (square,))[0]}
    return [_supported(cell, cell.square in support, cell.square in played) for cell in cells]


def _supported(cell: BoardSquare, support: bool, played: bool) -> BoardSquare:
    """A square with its marks, and with words for them."""
    of = ["this strategy"] * support + ["some equilibrium"] * played
    spoken = f"{cell.spoken}, in the support of {listed(of)}" if of else cell.spoken
    return replace(cell, support=support, played=played, spoken=spoken)


def belief_board(game: Game, player: int, infoset: str, marks: Sequence[float | None]) -> list[BoardSquare]:
    """The probability of a mark of the opponent, for each square."""
    known = known_marks(game, player, infoset)
    cells = []
    for square in range(game.squares):
        p = marks[square]
        if square in known:
            cells.append(_marked(game, square, known[square], player))
        elif p is None:
            cells.append(BoardSquare(square, *_corner(game, square), figure="?", spoken=f"square {square}: not known"))
        else:
            cells.append(_cell(game, square, p, 1.0, "", f"square {square}: {probability(p)}"))
    return cells


def loss_board(game: Game, player: int, infoset: str, lost: Sequence[float | None]) -> list[BoardSquare]:
    """The loss after an attempt of each square; None where it may not be attempted."""
    known = known_marks(game, player, infoset)
    most = max((loss for loss in lost if loss is not None), default=0.0)
    cells = []
    for square in range(game.squares):
        if square in known:
            cells.append(_marked(game, square, known[square], player))
        else:
            loss = lost[square] or 0.0
            figure = "0" if loss < _LEAST else decimals(loss, 4)
            opacity = f"{_DARKEST * loss / most:.3f}" if most > _LEAST else "0"
            spoken = f"square {square}: {figure}"
            cells.append(
                BoardSquare(square, *_corner(game, square), "", False, opacity, figure, "", figure == "0", spoken)
            )
    return cells


def true_board(game: Game, player: int, mine: int, theirs: int) -> list[BoardSquare]:
    """A board with all marks."""
    return [
        _marked(game, square, player if mine >> square & 1 else 1 - player, player)
        if (mine | theirs) >> square & 1
        else BoardSquare(square, *_corner(game, square))
        for square in range(game.squares)
    ]


def mirror_images(game: Game, infoset: str) -> list[str]:
    """The other infosets that mirror one."""
    found: dict[str, None] = {}
    for g in game.symmetries:
        found.setdefault(_image(g, infoset))
    found.pop(infoset, None)
    return list(found)


def _image(g: Squares, infoset: str) -> str:
    return infoset_text((g[square], placed) for square, placed in attempts_of(infoset))


def _corner(game: Game, square: int) -> tuple[int, int]:
    return square % game.columns * SIZE, square // game.columns * SIZE


def _marked(game: Game, square: int, whose: int, player: int) -> BoardSquare:
    owner = "own mark" if whose == player else "mark of the opponent"
    return BoardSquare(
        square, *_corner(game, square), MARKS[whose], whose == player, spoken=f"square {square}: {owner}"
    )


def _cell(game: Game, square: int, p: float, most: float, small: str, spoken: str) -> BoardSquare:
    opacity = f"{_DARKEST * p / most:.3f}" if most > 0 else "0"
    figure = _figure(p)
    return BoardSquare(square, *_corner(game, square), "", False, opacity, figure, small, figure == "0", spoken)


def _figure(p: float) -> str:
    """A probability with three decimals; 0 and 1 without decimals."""
    if p < 0.0005:
        return "0"
    return "1" if p > 0.9995 else decimals(p, 3)


def _signed(value: float) -> str:
    text = decimals(value, 3)
    return text if text.startswith("−") or float(text) == 0 else f"+{text}"
