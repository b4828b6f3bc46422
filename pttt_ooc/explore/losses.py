"""Rows of the lists of infosets at which something is lost: Mistakes, and differences between two strategies."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pttt_ooc.explore.address import Address
from pttt_ooc.explore.boards import BoardSquare, known_board, tinted
from pttt_ooc.explore.scales import OURS, THEIRS
from pttt_ooc.rules.game import Game

Record = Mapping[str, Any]
ROUNDING = 1e-12
"""Smaller losses are rounding."""


def loss_row(game: Game, one: Record, address: Address) -> dict[str, Any]:
    """One infoset of a list: its squares, what is lost there, and its page.

    Parameters
    ----------
    one
        A :class:`~pttt_ooc.questions.losses.Loss` as a record.
    address
        A page of the infoset's player with the strategies.
    """
    worst, best = costliest(one), better(one)
    return {
        **{name: one[name] for name in ("infoset", "images", "loss", "reach")},
        "player": address.player,
        "board": _picture(game, address.player, one["infoset"], worst, best),
        "worst": (worst, one["probabilities"][worst]),
        "best": (best, one["probabilities"][best]),
        "address": str(address.to(at=one["infoset"])),
    }


def costliest(one: Record) -> int:
    """The attempt that costs most, its probability considered."""
    return max(range(len(one["losses"])), key=lambda s: one["probabilities"][s] * (one["losses"][s] or 0.0))


def better(one: Record) -> int:
    """The attempt that loses least."""
    losses = {square: loss for square, loss in enumerate(one["losses"]) if loss is not None}
    return min(losses, key=lambda s: losses[s])


def _picture(game: Game, player: int, infoset: str, worst: int, best: int) -> list[BoardSquare]:
    tints = {worst: THEIRS, best: OURS} if worst != best else {}
    return known_board(game, player, infoset) + [tinted(game, square, tone) for square, tone in tints.items()]
