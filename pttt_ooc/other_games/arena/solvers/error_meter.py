"""How often an agent's move keeps the exact value of an ending, by phase, and what its errors cost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from pttt_ooc.other_games.arena.agents.base import text_of
from pttt_ooc.other_games.arena.agents.catalogue import agent
from pttt_ooc.other_games.arena.games.ultimate import Ultimate
from pttt_ooc.other_games.arena.matches.agent_processes import answer
from pttt_ooc.other_games.arena.matches.statistics import Rate
from pttt_ooc.other_games.arena.solvers.endings import Ending, position

PHASES = ((5, 8), (9, 12), (13, 16), (17, 20))
"""By open squares, from and to."""

COSTS = {"win to draw": (1, 0), "win to loss": (1, -1), "draw to loss": (0, -1)}
"""Errors: the value before the move, and after it."""


def measure(text: str, endings: Sequence[Ending], seed: int = 0) -> dict[str, Any]:
    """An agent's moves in endings; each begins as a new game with a seed of its own.

    Returns
    -------
    The agent; ``phases``: endings and kept values of each of :data:`PHASES`; ``errors``: of all endings, by
    :data:`COSTS`; the means of processor time and nodes of a move.
    """
    player = agent(text)
    player.seat(Ultimate())
    phases = [[0, 0] for _ in PHASES]
    errors = dict.fromkeys(COSTS, 0)
    kinds = {cost: kind for kind, cost in COSTS.items()}
    costs = np.zeros(2)
    for number, ending in enumerate(endings):
        player.begin(seed, number)
        found = answer(player, position(ending.moves))
        costs += found.processor, found.nodes
        counts = phases[next(n for n, (_, last) in enumerate(PHASES) if ending.open <= last)]
        counts[0] += 1
        reached = ending.values[int(found.move)]
        counts[1] += reached == ending.value
        if reached != ending.value:
            errors[kinds[ending.value, reached]] += 1
    milliseconds, nodes = costs / max(len(endings), 1)
    return {
        "agent": text_of(player),
        "phases": phases,
        "errors": errors,
        "processor_milliseconds": float(f"{1e3 * milliseconds:.3g}"),
        "nodes": float(f"{nodes:.4g}"),
    }


def table(measured: Sequence[Mapping[str, Any]]) -> str:
    """A row for each agent in Markdown: the part of the endings in which its move keeps the value."""
    rows = "| agent | kept | interval | " + " | ".join(f"{a} to {b} open" for a, b in PHASES)
    rows += " | " + " | ".join(COSTS) + " | milliseconds a move |\n" + "|---" * (4 + len(PHASES) + len(COSTS)) + "|\n"
    for one in measured:
        total, kept = (sum(counts[n] for counts in one["phases"]) for n in (0, 1))
        low, high = Rate(kept, 0, total - kept).interval
        cells = [f"{part[1] / part[0]:.1%}" if part[0] else "" for part in one["phases"]]
        cells += [str(one["errors"][kind]) for kind in COSTS]
        rows += (
            f"| `{one['agent']}` | {kept / total:.1%} | {low:.1%} to {high:.1%} | {' | '.join(cells)} | "
            f"{one['processor_milliseconds']:.3g} |\n"
        )
    return rows
