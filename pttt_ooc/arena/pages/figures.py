"""The values of moves as figures on the squares of a position."""

from __future__ import annotations

from pttt_ooc.service.wire import Message

EXACT, ESTIMATED = 1e-9, 0.02
"""Smaller differences of values count as none."""


def matters(loss: float, exact: bool) -> bool:
    """Whether a loss counts as one."""
    return loss >= (EXACT if exact else ESTIMATED)


def points(value: float, exact: bool) -> str:
    """Points for people: an estimate has two decimals."""
    return {0.0: "0", 0.5: "½", 1.0: "1"}[value] if exact else f"{value:.2f}"


def put_figures(seen: Message, rating: Message, chosen: int | None) -> None:
    """Write the values of moves onto the squares of a position."""
    values = dict(map(tuple, rating["values"]))
    best = max(values.values())
    for board in seen["boards"]:
        cells = [cell for line in board["rows"] for block in line for row in block["rows"] for cell in row]
        for cell in cells:
            if cell["move"] in values and cell["mark"] == "-":
                value = values[cell["move"]]
                cell["figure"], cell["chosen"] = points(value, rating["exact"]), cell["move"] == chosen
                cell["best"] = not matters(best - value, rating["exact"])
                cell["words"] += f", value {cell['figure']}" + (", the best" if cell["best"] else "")
                board["words"] += f"; {cell['words']}"
