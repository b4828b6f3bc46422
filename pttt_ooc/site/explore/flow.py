"""Where the probability flows: how often games come to each infoset of a player, over the player's first attempts.

Infosets that mirror each other are one class.  A class with a probability below :data:`LEAST` is not followed; such
classes are counted together.  What is followed is exact: the parents of a class's infosets mirror each other too.
At most :data:`MOST` infosets are followed, in each column those of the likeliest classes first.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from pttt_ooc.games.rules.game import Game
from pttt_ooc.games.rules.infoset_text import attempts_of, infoset_text
from pttt_ooc.games.rules.play import first_infoset
from pttt_ooc.library.questions.answers import SquareArray

LEAST = 0.01
"""Less likely classes are counted together."""

ATTEMPTS = 4
"""How many attempts are followed."""

MOST = 1000
"""Most infosets that are followed: the map of a plan is computed on request, and has to take less than a second."""


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
        The probability that a game comes to one of them, so that the player decides there.
    parent
        The position of the class that it follows, among those with one attempt less.
    rest
        The probability that the player decides again after one more attempt, in classes that are not followed.
    cut
        Whether what follows is left out because :data:`MOST` infosets have been followed.
    """

    infoset: str
    images: int
    probability: float
    parent: int
    rest: float = 0.0
    cut: bool = False


def flow_of(
    game: Game,
    player: int,
    row: Callable[[str], SquareArray],
    following: Callable[[str, int], Mapping[str, float]],
    root: float,
) -> list[list[Flow]]:
    """The classes after 0, 1, ... attempts; of those that follow a class, the likeliest come first.

    Parameters
    ----------
    row
        The strategy's probabilities at an infoset.
    following
        The infosets at which the player decides next after an attempt at an infoset, with their probabilities.
    root
        The probability that a game comes to the player's first infoset.
    """
    first = first_infoset(game, player)
    # Before any attempt there is one class, the player's first infoset.  `members` are the infosets of the classes of
    # the last level, each with the probability that a game comes to it.
    levels, members, left = [[Flow(first, 1, root, 0)]], [{first: root}], MOST
    for _ in range(ATTEMPTS):
        level, inside = [], []
        # Of this level, the likeliest classes that the rest of MOST infosets can follow; the others are cut here.
        followed, left = _affordable(members, left)
        for parent, texts in enumerate(members):
            if parent not in followed:
                levels[-1][parent] = replace(levels[-1][parent], cut=True)
                continue
            classes: dict[str, dict[str, float]] = {}
            # One more attempt: the probability of each infoset is shared out by the strategy's choice of a square, and
            # then by what the player observes; infosets that mirror each other are collected in a class.
            for text, probability in texts.items():
                chances = row(text)
                for square in range(len(chances)):
                    for after, p in following(text, square).items() if chances[square] > 0 else ():
                        reached = probability * float(chances[square]) * p
                        classes.setdefault(class_of(game, after), {})[after] = reached
            # Classes of at least LEAST make the next level, the likeliest first; of the others only their sum is kept.
            likely = sorted((c for c in classes.values() if sum(c.values()) >= LEAST), key=lambda c: -sum(c.values()))
            level += [Flow(min(one), len(one), sum(one.values()), parent) for one in likely]
            inside += likely
            rest = sum(sum(one.values()) for one in classes.values() if one not in likely)
            levels[-1][parent] = replace(levels[-1][parent], rest=rest)
        levels.append(level)
        members = inside
    return levels


def _affordable(members: Sequence[Mapping[str, float]], left: int) -> tuple[set[int], int]:
    """The classes, by position, that at most `left` infosets can follow, the likeliest first; and what is left then."""
    found = set()
    for position in sorted(range(len(members)), key=lambda one: -sum(members[one].values())):
        if len(members[position]) > left:
            break
        left -= len(members[position])
        found.add(position)
    return found, left


def class_of(game: Game, infoset: str) -> str:
    """The first text among an infoset and its mirror images."""
    attempts = attempts_of(infoset)
    return min(infoset_text((g[square], placed) for square, placed in attempts) for g in game.symmetries)
