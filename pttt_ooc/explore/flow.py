"""Where the probability flows: how often games come to each infoset of a player, over the player's first attempts.

Infosets that mirror each other are one class.  A class that games come to with less than :data:`LEAST` is not followed;
such classes are counted together.  What is followed is exact: the parents of a class's infosets mirror each other too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from pttt_ooc.questions.answers import Outcome, SquareArray
from pttt_ooc.rules.game import Game
from pttt_ooc.rules.infoset_text import attempts_of, infoset_text
from pttt_ooc.rules.play import first_infoset

LEAST = 0.01
"""Less likely classes are counted together."""

ATTEMPTS = 4
"""How many attempts are followed."""


@dataclass(frozen=True)
class Flow:
    """A class of infosets.

    Attributes
    ----------
    infoset
        The one whose text comes first.
    images
        How many infosets of the class games come to.
    probability
        That a game comes to one of them, so that the player decides there.
    parent
        The position of the class that it follows, among those with one attempt less.
    rest
        The probability that the player decides again after one more attempt, in classes that are not followed.
    """

    infoset: str
    images: int
    probability: float
    parent: int
    rest: float = 0.0


def flow_of(
    game: Game,
    player: int,
    row: Callable[[str], SquareArray],
    following: Callable[[str], Iterable[Outcome]],
    root: float,
) -> list[list[Flow]]:
    """The classes after 0, 1, ... attempts, of each class's followers the likeliest first.

    Parameters
    ----------
    row
        The strategy's probabilities at an infoset.
    following
        The outcomes of all attempts at an infoset.
    root
        The probability that a game comes to the player's first infoset.
    """
    first = first_infoset(game, player)
    levels, members = [[Flow(first, 1, root, 0)]], [{first: root}]
    for _ in range(ATTEMPTS):
        level, inside = [], []
        for parent, texts in enumerate(members):
            classes: dict[str, dict[str, float]] = {}
            for text, probability in texts.items():
                for after, p in _after(row(text), following(text)).items():
                    classes.setdefault(class_of(game, after), {})[after] = probability * p
            likely = sorted((c for c in classes.values() if sum(c.values()) >= LEAST), key=lambda c: -sum(c.values()))
            level += [Flow(min(one), len(one), sum(one.values()), parent) for one in likely]
            inside += likely
            rest = sum(sum(one.values()) for one in classes.values() if one not in likely)
            levels[-1][parent] = replace(levels[-1][parent], rest=rest)
        levels.append(level)
        members = inside
    return levels


def _after(row: SquareArray, outcomes: Iterable[Outcome]) -> dict[str, float]:
    """How likely the player decides next at each infoset, given that they decide at the one before it."""
    known = [one for one in outcomes if one.decides and one.probability > 0 and row[one.square] > 0]
    return {one.infoset: float(row[one.square]) * one.probability * one.returns for one in known if one.returns > 0}


def class_of(game: Game, infoset: str) -> str:
    """The first text among an infoset and its mirror images."""
    attempts = attempts_of(infoset)
    return min(infoset_text((g[square], placed) for square, placed in attempts) for g in game.symmetries)
