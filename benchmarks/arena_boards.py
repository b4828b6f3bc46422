"""The values of k-in-a-row on boards of up to 8 x 8 squares: ``python -m benchmarks.arena_boards -o FILE``.

For each board, a pairing strategy is sought first, then alpha-beta and proof-number search get a number of nodes each.
A line of JSON for each board; boards that are in the file are left alone, unless they are unsolved and more nodes are
allowed now.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from pttt_ooc.arena.games.mnk import Mnk
from pttt_ooc.arena.solvers import pairings, values

LARGEST = 8


def boards() -> list[tuple[int, int, int]]:
    """Rows, columns and length of a line; no fewer rows than columns, and no fewer columns than the length."""
    sides = range(1, LARGEST + 1)
    found = [(m, n, k) for k in (3, 4, 5) for m in sides for n in sides if m >= n >= k]
    return sorted(found, key=lambda one: (one[2], one[0] * one[1]))


def solved(rows: int, columns: int, need: int, nodes: int) -> dict[str, Any]:
    """What the three methods find."""
    game = Mnk([f"{rows}x{columns}", f"need{need}"])
    row: dict[str, Any] = {"board": [rows, columns, need], "allowed": nodes, "methods": {}}
    pairing = pairings.find(game, 10)
    if pairing.certificate is not None:
        fault = pairings.fault(rows, columns, need, pairing.certificate)
        assert fault is None, fault
        row["methods"]["pairing"] = {"value": 0, "seconds": round(pairing.seconds, 3)}
    for method, most in (("alpha-beta", nodes), ("proof-number", nodes // 4)):
        one = values.solve(game, game.start(), method, 20, most)
        row["methods"][method] = {"value": one.value, "nodes": one.nodes, "seconds": round(one.seconds, 3)}
    found = {one["value"] for one in row["methods"].values()} - {None}
    assert len(found) < 2, f"{game.text}: the methods contradict each other"
    return row | {"value": found.pop() if found else None}


def main() -> None:
    """Solve what is missing."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--output", "-o", type=Path, required=True)
    options.add_argument("--nodes", type=int, default=1_000_000, help="of alpha-beta; a quarter for proof numbers")
    given = options.parse_args()
    there = {}
    if given.output.exists():
        there = {tuple(row["board"]): row for row in map(json.loads, given.output.read_text().splitlines())}
    for board in boards():
        known = there.get(board)
        if known is None or (known["value"] is None and known["allowed"] < given.nodes):
            there[board] = solved(*board, given.nodes)
            lines = "".join(json.dumps(there[one]) + "\n" for one in boards() if one in there)
            given.output.write_text(lines, encoding="utf-8")
            print(json.dumps(there[board]), flush=True)


if __name__ == "__main__":
    main()
