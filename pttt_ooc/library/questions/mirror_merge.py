"""An infoset merged with its mirror images.

The merged numbers are exact for any pair of strategies.  They are conditional on the game reaching one of the mirror
images, and refer to the squares of the infoset itself.  With the joint reach w of the images g I of an infoset I,

    p(a | I) = sum over g of w(g I) p(g a | g I) / sum over g of w(g I)

and similarly for values, beliefs and outcomes.  Symmetric strategies do the same at all images.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from pttt_ooc.games.rules.game import Game, Squares
from pttt_ooc.games.rules.infoset_text import attempts_of, infoset_text
from pttt_ooc.games.structure.infoset_places import pack_attempts, text_of
from pttt_ooc.library.questions.answers import Beliefs, Board, Numbers, Outcome, SquareArray
from pttt_ooc.library.questions.infoset import beliefs, following, numbers
from pttt_ooc.library.questions.profile import PreparedProfile

_ALL = 1 << 20  # boards: more than there are


@dataclass(frozen=True, eq=False)
class MergedInfoset:
    """An infoset merged with its mirror images.

    Attributes
    ----------
    images
        Texts of all images, ascending.
    classes
        The legal squares, grouped by the symmetries of the infoset.
    numbers
        Reach and regrets are sums over the images; everything else is conditional on reaching one of them.  Squares of
        one class have equal numbers, so each has its share of the class's probability.
    beliefs
        Under the same condition.
    outcomes
        Of one attempt, under the same condition.
    """

    images: tuple[str, ...]
    classes: tuple[tuple[int, ...], ...]
    numbers: Numbers
    beliefs: Beliefs
    outcomes: tuple[Outcome, ...]


def merge_infoset(
    profile: PreparedProfile, player: int, infoset: str, square: int | None = None, boards: int = 10
) -> MergedInfoset:
    """Merge an infoset with its mirror images.

    Parameters
    ----------
    square
        The attempt whose outcomes to return; it is replaced by the first square of its class.  None: no outcomes.
    boards
        Number of boards to list, the likeliest first.

    Raises
    ------
    ImpossibleInfosetError
        If it is not an infoset of the player.
    """
    game = profile.game
    attempts = pack_attempts(profile.index, player, infoset)
    own = text_of(game, player, attempts)
    # The images g I, and the symmetries that keep I itself.
    of_symmetry = {g: image(game, player, own, g) for g in game.symmetries}
    images = tuple(sorted(set(of_symmetry.values())))
    keeps = [g for g, text in of_symmetry.items() if text == own]
    # In a profile with symmetry all images are alike: the symmetries that keep the infoset suffice, and sums over
    # images are multiples.
    symmetric = profile.index.symmetry == "full"  # all images are alike
    group = keeps if symmetric else list(of_symmetry)
    found = {of_symmetry[g]: numbers(profile, player, of_symmetry[g]) for g in group}
    # The weights w(g I), and the weighted mean of the numbers, each square mapped back from its image.
    weights = _weights([found[of_symmetry[g]] for g in group])
    together = _numbers(found[own], [found[of_symmetry[g]] for g in group], group, weights)
    # Reach and regrets are sums over the different images.
    count = len(images) if symmetric else 1
    facts = list(found.values())
    reach, joint = count * sum(n.own_reach for n in facts), count * sum(n.joint_reach for n in facts)
    regrets = _mean([count * len(facts) * found[of_symmetry[g]].regrets for g in group], group, np.ones(len(group)))
    # Beliefs with all boards: the likeliest of the mean may not be the likeliest of one image.
    believed = {
        text: beliefs(profile.index, profile.strategies[1 - player], player, text, boards=_ALL) for text in found
    }
    classes = _classes(together.legal, keeps)
    # The first square of a class stands for all.
    chosen = next((one[0] for one in classes if square in one), square)
    return MergedInfoset(
        images,
        classes,
        replace(
            together,
            own_reach=reach,
            opponent_reach=joint / reach if reach else sum(n.opponent_reach for n in facts) / len(facts),
            regrets=regrets,
            arbitrary=all(n.arbitrary for n in facts),
        ),
        _beliefs(believed[own], [believed[of_symmetry[g]] for g in group], group, weights, boards),
        () if chosen is None else _outcomes(profile, player, own, chosen, group, weights),
    )


def image(game: Game, player: int, infoset: str, g: Squares) -> str:
    """The mirror image of an infoset, as text."""
    attempts, setup = attempts_of(infoset), len(game.setup[player])  # the setup keeps its order
    return infoset_text([*attempts[:setup], *((g[square], placed) for square, placed in attempts[setup:])])


def _classes(legal: Sequence[int], keeps: Sequence[Squares]) -> tuple[tuple[int, ...], ...]:
    return tuple(sorted({tuple(sorted({g[square] for g in keeps})) for square in legal}))


def _weights(facts: Sequence[Numbers]) -> SquareArray:
    """Weights of the images: joint reach; if that is zero, the opponent's reach; if that is zero, equal weights."""
    kinds: tuple[Callable[[Numbers], float], ...] = (lambda n: n.joint_reach, lambda n: n.opponent_reach)
    for kind in kinds:
        weights = np.array([kind(n) for n in facts])
        if weights.sum() > 0:
            break
    else:
        weights = np.ones(len(facts))
    mean: SquareArray = weights / weights.sum()
    return mean


def _weighted_mean(parts: Sequence[SquareArray | float], weights: SquareArray) -> NDArray[np.float64]:
    """The weighted mean; parts of weight 0 may be NaN."""
    counted = [(part, weight) for part, weight in zip(parts, weights, strict=True) if weight > 0]
    return np.asarray(sum(np.asarray(part) * weight for part, weight in counted), np.float64)


def _mean(rows: Sequence[SquareArray], group: Sequence[Squares], weights: SquareArray) -> SquareArray:
    """The mean of arrays over squares, each mapped back from its image."""
    return _weighted_mean([row[list(g)] for row, g in zip(rows, group, strict=True)], weights / weights.sum())


def _numbers(own: Numbers, found: Sequence[Numbers], group: Sequence[Squares], weights: SquareArray) -> Numbers:
    def mean(name: str) -> SquareArray:
        return _mean([getattr(n, name) for n in found], group, weights)

    return replace(
        own,
        probabilities=mean("probabilities"),
        action_values=mean("action_values"),
        best_action_values=mean("best_action_values"),
        fails=mean("fails"),
        value=float(_weighted_mean([n.value for n in found], weights)),
        best_value=float(_weighted_mean([n.best_value for n in found], weights)),
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
    """The outcomes of an attempt, its mirror images included."""
    known: dict[tuple[str, int], tuple[Outcome, ...]] = {}
    parts: dict[bool, list[tuple[Outcome, float]]] = {}
    for g, weight in zip(group, weights.tolist(), strict=True):
        at = (image(profile.game, player, infoset, g), g[square])
        if at not in known:
            known[at] = following(profile, player, *at)
        for one in known[at]:
            parts.setdefault(one.placed, []).append((one, weight))
    own = {one.placed: one for one in following(profile, player, infoset, square)}
    return tuple(_outcome(own[placed], parts[placed]) for placed in sorted(own))


def _outcome(own: Outcome, parts: Sequence[tuple[Outcome, float]]) -> Outcome:
    counted = [(one, weight) for one, weight in parts if weight > 0]
    happens = sum(weight * one.probability for one, weight in counted)
    divisor = happens if happens > 0 else float("nan")

    def share(name: str) -> float:
        parts = [w * one.probability * getattr(one, name) for one, w in counted if one.probability > 0]
        return float(sum(parts) / divisor)

    return replace(
        own,
        probability=happens,
        returns=share("returns"),
        wins=share("wins"),
        draws=share("draws"),
        loses=share("loses"),
    )
