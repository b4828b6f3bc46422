"""Answers as JSON values: arrays become lists, NaN becomes None."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from pttt_ooc.explore.flow import Flow
from pttt_ooc.questions.answers import Beliefs, Numbers, Outcome
from pttt_ooc.questions.infoset_parser import checked
from pttt_ooc.rules.game import Game
from pttt_ooc.rules.infoset_text import attempts_of, infoset_text
from pttt_ooc.service.wire import Message

Record = dict[str, Any]


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


def infoset_record(
    images: Sequence[str],
    classes: Sequence[Sequence[int]],
    numbers: Numbers,
    beliefs: Beliefs,
    ways: Sequence[Outcome],
    after: Sequence[Outcome] = (),
) -> Record:
    """What is known of an infoset, or of its mirror images together, and of the outcomes of the chosen attempt.

    The outcomes of all attempts, `after`, come as ``[square, placed, probability, infoset]``; without infoset where the
    player has no further decision.
    """
    return {
        "images": list(images),
        "classes": [list(one) for one in classes],
        "numbers": numbers_record(numbers),
        "beliefs": beliefs_record(beliefs),
        "ways": [plain(vars(way)) for way in ways],
        "after": [
            [way.square, way.placed, _number(way.probability), way.infoset if way.decides else None]
            for way in after or ways
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


def flow_record(levels: Sequence[Sequence[Flow]]) -> list[list[Record]]:
    """The map of where the probability flows."""
    return [[plain(vars(one)) for one in level] for level in levels]


def around(game: Game, question: Message, infoset: str, row: Callable[[int, str], list[float]]) -> Message:
    """How likely the player's attempts on the way to an infoset are, and what the other player does at ``other``."""
    player, setup = question["player"], len(game.setup[question["player"]])
    attempts = attempts_of(infoset)
    path = [row(player, infoset_text(attempts[:n]))[attempts[n][0]] for n in range(setup, len(attempts))]
    other = question.get("other")
    return {"path": path, "other_row": row(1 - player, known(game, 1 - player, other)) if other else None}


known = lru_cache(maxsize=4096)(checked)
"""As checked; on a walk the same infosets are asked about again and again."""
