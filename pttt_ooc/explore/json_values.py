"""Answers as JSON values: arrays become lists, NaN becomes None."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

from pttt_ooc.questions.answers import Beliefs, Numbers, Outcome

Record = dict[str, Any]


def numbers_record(numbers: Numbers) -> Record:
    """The numbers at an infoset."""
    return {**plain(asdict(numbers)), "joint_reach": numbers.joint_reach}


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
) -> Record:
    """What is known of an infoset, or of its mirror images together, and of the outcomes of an attempt."""
    return {
        "images": list(images),
        "classes": [list(one) for one in classes],
        "numbers": numbers_record(numbers),
        "beliefs": beliefs_record(beliefs),
        "ways": [plain(asdict(way)) for way in ways],
    }


def plain(value: Any) -> Any:
    """A value for JSON."""
    if isinstance(value, dict):
        return {str(key): plain(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [plain(part) for part in value]
    if isinstance(value, np.ndarray | np.generic):
        return plain(value.tolist())
    return None if isinstance(value, float) and not math.isfinite(value) else value
