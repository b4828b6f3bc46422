"""A pair of prepared strategies, which answers as a pair of plans does, and the answers of both as JSON values.

Arrays become lists, NaN becomes None.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from pttt_ooc.games.rules.play import first_infoset
from pttt_ooc.games.structure.infoset_parser import check_infoset
from pttt_ooc.library.questions import infoset as questions
from pttt_ooc.library.questions.answers import Beliefs, Numbers, Outcome, SquareArray
from pttt_ooc.library.questions.mirror_merge import MergedInfoset, merge_infoset
from pttt_ooc.library.questions.profile import PreparedProfile
from pttt_ooc.library.questions.sampled_games import row_at

if TYPE_CHECKING:
    from pttt_ooc.library.questions.plan_pair import PlanPair

Record = dict[str, Any]


class ListedPair:
    """Two prepared strategies of a game whose infosets are listed; it answers as a :class:`PlanPair` does."""

    def __init__(self, profile: PreparedProfile) -> None:
        self._profile, self.game, self.strategies = profile, profile.game, profile.strategies

    @property
    def profile(self) -> PreparedProfile:
        """The strategies, prepared for questions."""
        return self._profile

    @property
    def value(self) -> float:
        """What player 0 gets when both follow their strategies."""
        return self.profile.evaluation.value

    @property
    def best_responses(self) -> tuple[float, float]:
        """What each player's best response gets."""
        return self.profile.evaluation.best_response_0, self.profile.evaluation.best_response_1

    def row(self, player: int, infoset: str) -> SquareArray:
        """A player's probabilities at an infoset: float64 (squares,)."""
        return row_at(self.strategies[player], infoset)

    def numbers(self, player: int, infoset: str) -> Numbers:
        """See :func:`pttt_ooc.library.questions.infoset.numbers`."""
        return questions.numbers(self.profile, player, infoset)

    def beliefs(self, player: int, infoset: str, boards: int = 10) -> Beliefs:
        """See :func:`pttt_ooc.library.questions.infoset.beliefs`."""
        return questions.beliefs(self.profile.index, self.strategies[1 - player], player, infoset, boards)

    def draw_infoset(self, player: int, infoset: str, number: float) -> str:
        """See :func:`pttt_ooc.library.questions.infoset.drawn_infoset`."""
        return questions.drawn_infoset(self.profile.index, self.strategies[1 - player], player, infoset, number)

    def following(self, player: int, infoset: str, square: int | None = None) -> Sequence[Outcome]:
        """See :func:`pttt_ooc.library.questions.infoset.following`."""
        return questions.following(self.profile, player, infoset, square)

    def decides(self, player: int) -> float:
        """The probability that a player decides at all."""
        return questions.numbers(self.profile, player, first_infoset(self.game, player)).joint_reach

    def next_infosets(self, player: int, infoset: str, square: int) -> dict[str, float]:
        """See :meth:`~pttt_ooc.library.questions.plan_pair.PlanPair.next_infosets`."""
        outcomes = questions.following(self.profile, player, infoset, square)
        likely = {one.infoset: one.probability * one.returns for one in outcomes if one.decides and one.probability > 0}
        return {after: probability for after, probability in likely.items() if probability > 0}

    def merge_infoset(self, player: int, infoset: str, square: int | None = None, boards: int = 10) -> MergedInfoset:
        """See :func:`pttt_ooc.library.questions.mirror_merge.merge_infoset`; an illegal square counts as none."""
        legal = None if square is None or square not in self.numbers(player, infoset).legal else square
        return merge_infoset(self.profile, player, infoset, legal, boards)


def numbers_record(numbers: Numbers) -> Record:
    """The numbers at an infoset."""
    return {**plain(vars(numbers)), "joint_reach": numbers.joint_reach}


def beliefs_record(beliefs: Beliefs) -> Record:
    """The beliefs at an infoset; a board is the two masks and its probability."""
    return {
        "marks": plain(beliefs.marks),
        "empty": plain(beliefs.empty),
        "boards": [[one.mine, one.theirs, one.probability] for one in beliefs.boards],
        "attempts": sorted(beliefs.opponent_attempts.items()),
        "arbitrary": beliefs.arbitrary,
    }


def pair_record(pair: ListedPair | PlanPair) -> Record:
    """Value and best responses of a pair."""
    return {"value": pair.value, "best_responses": plain(pair.best_responses)}


def infoset_record(
    pair: ListedPair | PlanPair, player: int, infoset: str, square: int | None, merge: bool, boards: int
) -> Record:
    """What is known of an infoset, or of its mirror images together, and of the outcomes of a chosen square.

    The outcomes of all attempts are ``after``, as ``[square, placed, probability, infoset]``: without infoset where the
    player has no further decision.  With `merge`, only the outcomes of the chosen square are there.
    """
    if merge:
        both = pair.merge_infoset(player, infoset, square, boards)
        images, classes, facts, believed = both.images, both.classes, both.numbers, both.beliefs
        ways = after = both.outcomes
    else:
        images, facts, believed = (infoset,), pair.numbers(player, infoset), pair.beliefs(player, infoset, boards)
        classes, after = tuple((legal,) for legal in facts.legal), tuple(pair.following(player, infoset))
        ways = tuple(way for way in after if way.square == square)
    return {
        "images": list(images),
        "classes": [list(one) for one in classes],
        "numbers": numbers_record(facts),
        "beliefs": beliefs_record(believed),
        "ways": [plain(vars(way)) for way in ways],
        "after": [
            [way.square, way.placed, _number(way.probability), way.infoset if way.decides else None] for way in after
        ],
    }


def plain(value: Any) -> Any:
    """A value for JSON."""
    if isinstance(value, dict):
        return {str(key): plain(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [plain(part) for part in value]
    if isinstance(value, np.ndarray) and value.dtype == np.float64 and value.ndim == 1:
        return [_number(number) for number in value.tolist()]
    if isinstance(value, np.ndarray | np.generic):
        return plain(value.tolist())
    return _number(value) if isinstance(value, float) else value


def _number(number: float) -> float | None:
    return number if math.isfinite(number) else None


known = lru_cache(maxsize=4096)(check_infoset)
"""Checks an infoset and remembers it: a walk asks about the same ones again and again."""
