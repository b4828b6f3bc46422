"""The answers to questions, as JSON."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from pttt_ooc.explore.profiles import Profiles
from pttt_ooc.explore.wire import Message
from pttt_ooc.questions.answers import Beliefs, Numbers
from pttt_ooc.questions.beliefs import beliefs
from pttt_ooc.questions.following import following
from pttt_ooc.questions.infoset import numbers
from pttt_ooc.questions.profile import Profile
from pttt_ooc.questions.reading import checked
from pttt_ooc.rules.catalogue import named_game

BUDGET = 8_000_000_000
"""Bytes of all profiles on disk."""

_BOARDS = 6


class Answering:
    """Answers questions on one game.

    Parameters
    ----------
    directory
        Where profiles are kept.
    game
        The game's name.
    indices
        The directory of all games' structures.
    """

    def __init__(self, directory: Path, game: str, indices: Path, budget: int = BUDGET) -> None:
        self.game = named_game(game)
        self.profiles = Profiles(directory, game, indices, budget)
        self._known: dict[str, Callable[[Message], Message]] = {"infoset": self._infoset}

    def close(self) -> None:
        """End all work."""
        self.profiles.close()

    def answer(self, question: Message) -> Message:
        """The answer to a question.

        Raises
        ------
        PtttError
            If there is none; the sentence says why.
        """
        return self._known[question["ask"]](question)

    def _infoset(self, question: Message) -> Message:
        """What happens at an infoset: ``pair``, ``player``, ``infoset``, and ``square``, an attempt or null."""
        player = question["player"]
        infoset = checked(self.game, player, question["infoset"])
        found = self.profiles.find(question["pair"])
        if not isinstance(found, Profile):
            return {"infoset": infoset, "preparing": found}
        told, square = numbers(found, player, infoset), question["square"]
        chosen = square in told.legal
        believed = beliefs(found.index, found.strategies[1 - player], player, infoset, _BOARDS)
        return {
            "infoset": infoset,
            "facts": _facts(found),
            "numbers": _numbers(told),
            "beliefs": _beliefs(believed),
            "ways": [_plain(asdict(one)) for one in following(found, player, infoset, square)] if chosen else [],
        }


def _facts(profile: Profile) -> Message:
    found = profile.evaluation
    return {"value": found.value, "best_responses": [found.best_response_0, found.best_response_1]}


def _numbers(found: Numbers) -> Message:
    return {**_plain(asdict(found)), "joint_reach": found.joint_reach}


def _beliefs(found: Beliefs) -> Message:
    attempts = sorted(found.opponent_attempts.items())
    boards = [[one.mine, one.theirs, one.probability] for one in found.boards]
    return {
        "marks": _plain(found.marks),
        "empty": _plain(found.empty),
        "boards": boards,
        "attempts": attempts,
        "arbitrary": found.arbitrary,
    }


def _plain(value: Any) -> Any:
    """What JSON can say: what is not a number becomes None."""
    if isinstance(value, dict):
        return {str(key): _plain(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(part) for part in value]
    if isinstance(value, np.ndarray | np.generic):
        return _plain(value.tolist())
    return None if isinstance(value, float) and not math.isfinite(value) else value
