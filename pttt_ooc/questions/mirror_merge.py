"""An infoset together with its mirror images, as one.

What is told is exact for any pair of strategies: what holds given that a game has come to one of the mirror images,
seen from the infoset that is looked at.  With weights w over the images g of an infoset I, which are their joint reach,

    p(a | I) = sum over g of w(g I) p(g a | g I) / sum over g of w(g I)

and likewise for values, beliefs and what follows.  Symmetric strategies do the same at all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from pttt_ooc.questions.answers import Beliefs, Board, Numbers, Outcome, SquareArray
from pttt_ooc.questions.beliefs import beliefs
from pttt_ooc.questions.continuations import following
from pttt_ooc.questions.infoset import numbers
from pttt_ooc.questions.places import attempts_of, text_of
from pttt_ooc.questions.profile import PreparedProfile
from pttt_ooc.rules.game import Game, Squares

_ALL = 1 << 20  # boards: more than there are


@dataclass(frozen=True, eq=False)
class MergedInfoset:
    """What is known of an infoset and its mirror images.

    Attributes
    ----------
    images
        Texts of all of them, ascending.
    classes
        The legal squares, those together that mirror each other at the infoset.
    numbers
        Reach and regrets are sums over the images; everything else is given that the game comes to one of them.
        Squares of one class have the same numbers: each its own part of the class's probability.
    beliefs
        Given the same.
    outcomes
        Of one attempt, given the same.
    """

    images: tuple[str, ...]
    classes: tuple[tuple[int, ...], ...]
    numbers: Numbers
    beliefs: Beliefs
    outcomes: tuple[Outcome, ...]


def merged(
    profile: PreparedProfile, player: int, infoset: str, square: int | None = None, boards: int = 10
) -> MergedInfoset:
    """An infoset and its mirror images as one.

    Parameters
    ----------
    square
        The attempt whose outcomes are wanted, which stands for its class: they are told of the first square of that.
        None: of none.
    boards
        How many true boards to list, the likeliest first.

    Raises
    ------
    ImpossibleInfosetError
        If it is no infoset of the player.
    """
    game = profile.game
    attempts = attempts_of(profile.index, player, infoset)
    own = text_of(game, player, attempts)
    of_symmetry = {g: image(game, player, own, g) for g in game.symmetries}
    images = tuple(sorted(set(of_symmetry.values())))
    keeps = [g for g, text in of_symmetry.items() if text == own]
    symmetric = profile.index.symmetry == "full"  # all images are alike
    group = keeps if symmetric else list(of_symmetry)
    found = {of_symmetry[g]: numbers(profile, player, of_symmetry[g]) for g in group}
    weights = _weights([found[of_symmetry[g]] for g in group])
    told = _numbers(found[own], [found[of_symmetry[g]] for g in group], group, weights)
    count = len(images) if symmetric else 1
    seen = list(found.values())
    reach, joint = count * sum(n.own_reach for n in seen), count * sum(n.joint_reach for n in seen)
    regrets = _mean([count * len(seen) * found[of_symmetry[g]].regrets for g in group], group, np.ones(len(group)))
    believed = {
        text: beliefs(profile.index, profile.strategies[1 - player], player, text, boards=_ALL) for text in found
    }
    classes = _classes(told.legal, keeps)
    chosen = next((one[0] for one in classes if square in one), square)
    return MergedInfoset(
        images,
        classes,
        replace(
            told,
            own_reach=reach,
            opponent_reach=joint / reach if reach else sum(n.opponent_reach for n in seen) / len(seen),
            regrets=regrets,
            arbitrary=all(n.arbitrary for n in seen),
        ),
        _beliefs(believed[own], [believed[of_symmetry[g]] for g in group], group, weights, boards),
        () if chosen is None else _outcomes(profile, player, own, chosen, group, weights),
    )


def image(game: Game, player: int, infoset: str, g: Squares) -> str:
    """The mirror image of an infoset, as text."""
    setup = 2 * len(game.setup[player]) + 1  # the setup is told in its own order
    rest = infoset[setup:]
    return infoset[:setup] + "".join(f"{g[int(rest[n])]}{rest[n + 1]}" for n in range(0, len(rest), 2))


def _classes(legal: Sequence[int], keeps: Sequence[Squares]) -> tuple[tuple[int, ...], ...]:
    return tuple(sorted({tuple(sorted({g[square] for g in keeps})) for square in legal}))


def _weights(found: Sequence[Numbers]) -> SquareArray:
    """Of the images: how often games come there, or, where they do not, the opponent would let them come."""
    kinds: tuple[Callable[[Numbers], float], ...] = (lambda n: n.joint_reach, lambda n: n.opponent_reach)
    for kind in kinds:
        weights = np.array([kind(n) for n in found])
        if weights.sum() > 0:
            break
    else:
        weights = np.ones(len(found))
    mean: SquareArray = weights / weights.sum()
    return mean


def _weighed(parts: Sequence[SquareArray | float], weights: SquareArray) -> NDArray[np.float64]:
    """The mean of some parts; one that does not count may be no number."""
    counted = [(part, weight) for part, weight in zip(parts, weights, strict=True) if weight > 0]
    return np.asarray(sum(np.asarray(part) * weight for part, weight in counted), np.float64)


def _mean(rows: Sequence[SquareArray], group: Sequence[Squares], weights: SquareArray) -> SquareArray:
    """The mean of rows over squares, each brought back from its image."""
    return _weighed([row[list(g)] for row, g in zip(rows, group, strict=True)], weights / weights.sum())


def _numbers(own: Numbers, found: Sequence[Numbers], group: Sequence[Squares], weights: SquareArray) -> Numbers:
    def mean(name: str) -> SquareArray:
        return _mean([getattr(n, name) for n in found], group, weights)

    return replace(
        own,
        probabilities=mean("probabilities"),
        action_values=mean("action_values"),
        best_action_values=mean("best_action_values"),
        fails=mean("fails"),
        value=float(_weighed([n.value for n in found], weights)),
        best_value=float(_weighed([n.best_value for n in found], weights)),
    )


def _beliefs(
    own: Beliefs, found: Sequence[Beliefs], group: Sequence[Squares], weights: SquareArray, boards: int
) -> Beliefs:
    by_board: dict[tuple[int, int], float] = {}
    attempts: dict[int, float] = {}
    for one, g, weight in zip(found, group, weights, strict=True):
        for board in one.boards if weight > 0 else ():
            key = (_brought_back(board.mine, g), _brought_back(board.theirs, g))
            by_board[key] = by_board.get(key, 0.0) + weight * board.probability
        for count, p in one.opponent_attempts.items() if weight > 0 else ():
            attempts[count] = attempts.get(count, 0.0) + weight * p
    likeliest = sorted(by_board.items(), key=lambda item: (-item[1], item[0]))[:boards]
    return replace(
        own,
        marks=_mean([one.marks for one in found], group, weights),
        empty=_mean([one.empty for one in found], group, weights),
        boards=tuple(Board(mine, theirs, float(p)) for (mine, theirs), p in likeliest),
        opponent_attempts={count: float(attempts[count]) for count in sorted(attempts)},
        arbitrary=all(one.arbitrary for one in found),
    )


def _brought_back(mask: int, g: Squares) -> int:
    return sum(1 << square for square, target in enumerate(g) if mask >> target & 1)


def _outcomes(
    profile: PreparedProfile, player: int, infoset: str, square: int, group: Sequence[Squares], weights: SquareArray
) -> tuple[Outcome, ...]:
    """What an attempt leads to, its mirror images included."""
    asked: dict[tuple[str, int], tuple[Outcome, ...]] = {}
    parts: dict[bool, list[tuple[Outcome, float]]] = {}
    for g, weight in zip(group, weights.tolist(), strict=True):
        at = (image(profile.game, player, infoset, g), g[square])
        if at not in asked:
            asked[at] = following(profile, player, *at)
        for one in asked[at]:
            parts.setdefault(one.placed, []).append((one, weight))
    own = {one.placed: one for one in following(profile, player, infoset, square)}
    return tuple(_outcome(own[placed], parts[placed]) for placed in sorted(own))


def _outcome(own: Outcome, parts: Sequence[tuple[Outcome, float]]) -> Outcome:
    counted = [(one, weight) for one, weight in parts if weight > 0]
    happens = sum(weight * one.probability for one, weight in counted)
    given = happens if happens > 0 else float("nan")

    def share(name: str) -> float:
        parts = [w * one.probability * getattr(one, name) for one, w in counted if one.probability > 0]
        return float(sum(parts) / given)

    return replace(
        own,
        probability=happens,
        returns=share("returns"),
        wins=share("wins"),
        draws=share("draws"),
        loses=share("loses"),
    )
