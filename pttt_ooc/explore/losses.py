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
    squares = {"worst": costliest(one), "best": better(one)}
    told = {name: None if s is None else (s, one["probabilities"][s]) for name, s in squares.items()}
    return {
        **{name: one[name] for name in ("infoset", "images", "loss", "reach")},
        "player": address.player,
        "board": _picture(game, address.player, one["infoset"], *squares.values()),
        **told,
        "address": str(address.to(at=one["infoset"])),
    }


def costliest(one: Record) -> int | None:
    """The attempt that costs most, its probability considered; None if no attempt that is made costs anything."""
    costs = {s: one["probabilities"][s] * (loss or 0.0) for s, loss in enumerate(one["losses"])}
    worst = max(costs, key=lambda s: costs[s])
    return worst if costs[worst] > ROUNDING else None


def better(one: Record) -> int:
    """The attempt that loses least."""
    losses = {square: loss for square, loss in enumerate(one["losses"]) if loss is not None}
    return min(losses, key=lambda s: losses[s])


def _picture(game: Game, player: int, infoset: str, worst: int | None, best: int | None) -> list[BoardSquare]:
    tints = {square: tone for square, tone in ((worst, THEIRS), (best, OURS)) if square is not None}
    return known_board(game, player, infoset) + [tinted(game, square, tone) for square, tone in tints.items()]
