"""Policies: functions from infosets to probabilities, which are read like a tensor."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pttt_ooc.errors import StrategyError
from pttt_ooc.games.rules.game import Game
from pttt_ooc.games.structure.views import Ints
from pttt_ooc.library.api.structures import index_of
from pttt_ooc.pipeline.files.infosets import infoset_texts

Policy = Callable[[str], Sequence[float] | NDArray[Any] | Mapping[int, float]]
"""Text of an infoset -> one probability for each square, or a mapping from squares to probabilities."""


class PolicyTensor:
    """A policy as a tensor: reading a row calls the policy.

    Parameters
    ----------
    rows
        int64, shape (infosets,): node number of each row.
    on_progress
        Called with the share of the rows that have been read, 0 to 1.
    """

    dtype = np.dtype(np.float64)

    def __init__(
        self,
        policy: Policy,
        game: Game,
        player: int,
        rows: Ints,
        on_progress: Callable[[float], None] = lambda share: None,
    ) -> None:
        self.shape, self._on_progress = (len(rows), game.squares), on_progress
        self._policy, self._game, self._player, self._rows = policy, game, player, rows

    def __getitem__(self, part: slice) -> NDArray[np.float64]:
        texts = infoset_texts(index_of(self._game), self._player, self._rows[part])
        block = np.zeros((len(texts), self._game.squares))
        for row, text in zip(block, texts.tolist(), strict=True):
            self._fill(row, text.decode("ascii"))
        self._on_progress(part.indices(len(self._rows))[1] / len(self._rows))
        return block

    def _fill(self, row: NDArray[np.float64], text: str) -> None:
        answer, squares = self._policy(text), self._game.squares
        try:
            if isinstance(answer, Mapping):
                for square, probability in answer.items():
                    if not 0 <= square < squares or square != int(square):
                        raise StrategyError(
                            f"The policy gave square {square!r} for infoset {text!r}, but the board has squares 0 to "
                            f"{squares - 1}."
                        )
                    row[int(square)] = probability
                return
            if len(answer) == squares:
                row[:] = answer
                return
        except (TypeError, ValueError) as error:
            raise StrategyError(
                f"The policy gave {_short(answer)} for infoset {text!r}; it must give {squares} probabilities, or a "
                "mapping from squares to probabilities."
            ) from error
        raise StrategyError(
            f"The policy gave {len(answer)} numbers for infoset {text!r}; it must give {squares} probabilities, one "
            "for each square, or a mapping from squares to probabilities."
        )


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."
