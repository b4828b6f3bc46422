"""Answers as JSON values: arrays become lists, NaN becomes None."""

from __future__ import annotations

import math
from dataclasses import asdict
from typing import Any

import numpy as np

from pttt_ooc.questions.answers import Beliefs, Numbers

Record = dict[str, Any]


def numbers_record(found: Numbers) -> Record:
    """The numbers at an infoset."""
    return {**plain(asdict(found)), "joint_reach": found.joint_reach}


def beliefs_record(found: Beliefs) -> Record:
    """The beliefs at an infoset; a board is the two masks and its probability."""
    return {
        "marks": plain(found.marks),
        "empty": plain(found.empty),
        "boards": [[one.mine, one.theirs, one.probability] for one in found.boards],
        "attempts": sorted(found.opponent_attempts.items()),
        "arbitrary": found.arbitrary,
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
