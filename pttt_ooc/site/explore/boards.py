"""Boards as the templates draw them: squares with their places, marks, numbers, and shades.

The scales of shades are fixed, so that a shade means the same number on every page.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pttt_ooc.disk.numbers import decimals, join_words, probability
from pttt_ooc.games.rules.game import Game, Squares
from pttt_ooc.games.rules.infoset_text import attempts_of, infoset_text
from pttt_ooc.pipeline.show.pictures import MARKS

DARKEST = 0.75
"""The opacity of the darkest shade: text on it is still legible."""

OURS, THEIRS = "ours", "theirs"
"""The colour of what is good for the player or theirs, and the colour of what is bad or the opponent's."""


@dataclass(frozen=True)
class Stop:
    """A number with its shade, for a legend."""

    label: str
    tone: str
    opacity: str


@dataclass(frozen=True)
class Scale:
    """Shades for numbers.

    Attributes
    ----------
    share
        How dark a number >= 0 is shown, from 0 to 1.
    positive, negative
        The colours of numbers above and below 0.
    shown
        Numbers of the legend, with their labels.
    """

    share: Callable[[float], float]
    positive: str
    negative: str
    shown: Sequence[tuple[float, str]]

    def opacity(self, number: float) -> str:
        """The opacity of the shade of a number."""
        return f"{DARKEST * min(1.0, self.share(abs(number))):.3f}"

    def tone(self, number: float) -> str:
        """The colour of the shade of a number."""
        return self.negative if number < 0 else self.positive

    @property
    def stops(self) -> list[Stop]:
        """The legend."""
        return [Stop(label, self.tone(number), self.opacity(number)) for number, label in self.shown]


_DECADES = 5


def _logarithmic(number: float) -> float:
    return max(0.0, 1 + math.log10(number) / _DECADES) if number > 0 else 0.0


_SHARES = tuple((n, f"{n:g}") for n in (0.01, 0.1, 0.25, 0.5, 1.0))
_LOSSES = tuple((n, f"{n:g}") for n in (0.0001, 0.001, 0.01, 0.1, 1.0))

PROBABILITY = Scale(math.sqrt, OURS, OURS, _SHARES)
BELIEF = Scale(math.sqrt, THEIRS, THEIRS, _SHARES)
VALUE = Scale(float, OURS, THEIRS, ((-1.0, "−1"), (-0.5, "−0.5"), (0.0, "0"), (0.5, "0.5"), (1.0, "1")))
REGRET = Scale(
    _logarithmic, OURS, THEIRS, ((-0.1, "−0.1"), (-0.001, "−0.001"), (0.0, "0"), (0.001, "0.001"), (0.1, "0.1"))
)
LOSS = Scale(_logarithmic, THEIRS, OURS, _LOSSES)

SIZE = 100  # units of a square
SUPPORT = "support"
SCALES: Mapping[str, Scale] = {"probability": PROBABILITY, "value": VALUE, "belief": BELIEF, "regret": REGRET}
"""The scale of each layer of a board; the layer :data:`SUPPORT` has none."""

Numbers = Mapping[str, Any]
_LEAST = 0.000005  # smaller numbers would be shown as 0.00000


@dataclass(frozen=True)
class Layer:
    """What a square shows of one strategy.

    Attributes
    ----------
    tone, opacity
        Its shade: see :class:`Scale`.
    figure
        Its number, as short as a square needs.
    faint
        Whether the number is about 0.
    hollow
        Whether the strategies never reach what follows, so that only the edge is shaded.
    played
        Whether the square has the sign that some equilibrium plays it.
    """

    tone: str = ""
    opacity: str = "0"
    figure: str = ""
    faint: bool = False
    hollow: bool = False
    played: bool = False


_UNKNOWN = Layer(figure="?", faint=True, hollow=True)


@dataclass(frozen=True)
class BoardSquare:
    """One square of a board.

    Attributes
    ----------
    square, x, y
        Its number, and its upper left corner.
    mark, own
        The known mark, and whether it is the player's own.
    layers
        What it shows: nothing, one strategy, or two, the first above the second.
    spoken
        All of this in words.
    """

    square: int
    x: int
    y: int
    mark: str = ""
    own: bool = False
    layers: tuple[Layer, ...] = ()
    spoken: str = ""


def known_marks(game: Game, player: int, infoset: str) -> dict[int, int]:
    """The owner of each square's mark, as far as a player knows; the infoset's text includes its setup squares."""
    marks = {square: player if placed else 1 - player for square, placed in attempts_of(infoset)}
    return marks | {s: player for s in range(game.squares) if game.setup_mask(player) >> s & 1}


def known_board(game: Game, player: int, infoset: str) -> list[BoardSquare]:
    """The squares with marks that a player knows, for a small picture beside the infoset's text."""
    return [
        _marked_square(game, square, whose, player)
        for square, whose in sorted(known_marks(game, player, infoset).items())
    ]


def tinted_square(game: Game, square: int, tone: str) -> BoardSquare:
    """A square in the darkest shade."""
    return BoardSquare(square, *_corner(game, square), layers=(Layer(tone, PROBABILITY.opacity(1.0)),))


def strategy_board(
    game: Game, player: int, infoset: str, answers: Sequence[Mapping[str, Any]], layer: str = "probability"
) -> list[BoardSquare]:
    """What one strategy does at an infoset, or two of them on one board.

    Parameters
    ----------
    answers
        The answerer's answer about each strategy: ``numbers``, ``beliefs``, ``classes`` of squares that mirror each
        other, of which the first shows the probability of all, and ``equilibria``.
    layer
        What is shown: one of :data:`SCALES`, or :data:`SUPPORT`.
    """
    marks = known_marks(game, player, infoset)
    alike = {square: one for one in answers[0]["classes"] for square in one}
    cells = []
    for square in range(game.squares):
        if square in marks:
            cells.append(_marked_square(game, square, marks[square], player))
            continue
        same = alike.get(square, (square,))
        layers = tuple(_layer(answer, same, square, layer) for answer in answers)
        told = [_describe_square(answer, same, square, layer) for answer in answers]
        name = f"square {square}" if len(same) == 1 else f"squares {join_words(same)} together"
        mirrors = f"square {square}: mirrors square {same[0]}"
        spoken = f"{name}: {'; beside it '.join(told)}" if square == same[0] else mirrors
        cells.append(BoardSquare(square, *_corner(game, square), layers=layers, spoken=spoken))
    return cells


def _layer(answer: Mapping[str, Any], same: Sequence[int], square: int, layer: str) -> Layer:
    """What a square, which mirrors the squares `same`, shows of one strategy."""
    facts, first = answer["numbers"], square == same[0]
    p = _together(facts, same)
    hollow = bool(facts["arbitrary"]) or (not p and layer != "belief")
    if layer == SUPPORT:
        played = (answer["equilibria"] or {}).get("squares", ())
        tone, opacity = (OURS, PROBABILITY.opacity(0.5)) if p else ("", "0")
        return Layer(tone, opacity, hollow=hollow, played=square in played)
    numbers: dict[str, float | None] = {
        "probability": p,
        "value": facts["action_values"][same[0]],
        "belief": answer["beliefs"]["marks"][square],
        "regret": facts["regrets"][same[0]],
    }
    number = numbers[layer]
    if number is None:
        return _UNKNOWN
    figure = _SHORT[layer](number) if first or layer == "belief" else f"={same[0]}"
    return _shade(number, SCALES[layer], figure, hollow)


def _together(facts: Numbers, same: Sequence[int]) -> float:
    """The probability of squares that mirror each other."""
    return sum(facts["probabilities"][square] or 0.0 for square in same)


def _describe_square(answer: Mapping[str, Any], same: Sequence[int], square: int, layer: str) -> str:
    facts = answer["numbers"]
    p, value = _together(facts, same), facts["action_values"][same[0]]
    told = [f"probability {probability(p)}"] + ([] if value is None else [f"value {decimals(value, 3)}"])
    if layer == "belief" and answer["beliefs"]["marks"][square] is not None:
        told.append(f"mark of the opponent {probability(answer['beliefs']['marks'][square])}")
    if layer == "regret" and facts["regrets"][same[0]] is not None:
        told.append(f"regret {_small(facts['regrets'][same[0]])}")
    played = (answer["equilibria"] or {}).get("squares", ())
    of = ["this strategy"] * (p > 0) + ["some equilibrium"] * (square in played)
    return ", ".join([*told, f"in the support of {join_words(of)}"] if of else told)


def belief_board(game: Game, player: int, infoset: str, marks: Sequence[float | None]) -> list[BoardSquare]:
    """The probability of a mark of the opponent, for each square; None: it is not known."""
    return _shaded_board(game, player, infoset, marks, BELIEF, _figure, probability)


def row_board(game: Game, player: int, infoset: str, row: Sequence[float]) -> list[BoardSquare]:
    """The probability of attempting each square; squares that are never attempted are hollow."""
    return _shaded_board(game, player, infoset, row, PROBABILITY, _figure, probability, hollow=True)


def loss_board(game: Game, player: int, infoset: str, lost: Sequence[float | None]) -> list[BoardSquare]:
    """The loss by attempting each square; None where it may not be attempted."""
    return _shaded_board(game, player, infoset, [loss or 0.0 for loss in lost], LOSS, _loss, _loss)


def _shaded_board(
    game: Game,
    player: int,
    infoset: str,
    numbers: Sequence[float | None],
    scale: Scale,
    short: Callable[[float], str],
    long: Callable[[float], str],
    hollow: bool = False,
) -> list[BoardSquare]:
    """A number for each square without a known mark; `hollow`: a square with 0 is hollow."""
    marks, cells = known_marks(game, player, infoset), []
    for square, number in enumerate(numbers):
        if square in marks:
            cells.append(_marked_square(game, square, marks[square], player))
        else:
            spoken = f"square {square}: {'not known' if number is None else long(number)}"
            layer = _UNKNOWN if number is None else _shade(number, scale, short(number), hollow and not number)
            cells.append(BoardSquare(square, *_corner(game, square), layers=(layer,), spoken=spoken))
    return cells


def _shade(number: float, scale: Scale, figure: str, hollow: bool) -> Layer:
    return Layer(scale.tone(number), scale.opacity(number), figure, figure == "0", hollow)


def true_board(game: Game, player: int, mine: int, theirs: int) -> list[BoardSquare]:
    """A board with all marks."""
    whose = {s: player if mine >> s & 1 else 1 - player for s in range(game.squares) if (mine | theirs) >> s & 1}
    return [_marked_square(game, square, owner, player) for square, owner in whose.items()]


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


def _marked_square(game: Game, square: int, whose: int, player: int) -> BoardSquare:
    owner = "own mark" if whose == player else "mark of the opponent"
    return BoardSquare(
        square, *_corner(game, square), MARKS[whose], whose == player, spoken=f"square {square}: {owner}"
    )


def _figure(p: float) -> str:
    """A probability with three decimals; 0 and 1 without decimals."""
    if p < 0.0005:
        return "0"
    return "1" if p > 0.9995 else decimals(p, 3)


def _signed_text(value: float, digits: int = 3) -> str:
    text = decimals(value, digits)
    return text if text.startswith("−") or float(text) == 0 else f"+{text}"


def _small(regret: float) -> str:
    """A number that may be small, with its sign; 0 if five decimals do not show it."""
    return "0" if abs(regret) < _LEAST else _signed_text(regret, 5)


def _loss(loss: float) -> str:
    return "0" if loss < _LEAST else decimals(loss, 5)


_SHORT: Mapping[str, Callable[[float], str]] = {
    "probability": _figure,
    "value": _signed_text,
    "belief": _figure,
    "regret": _small,
}
