"""The values of k-in-a-row on boards of up to 8 x 8 squares: ``python -m benchmarks.arena_boards -o FILE``.

For each board, a pairing strategy is sought first.  Then alpha-beta and proof-number search get four times as many
nodes again and again, until they end or four times as many would take longer than their limit.  A line of JSON for each
board; boards that are in the file are left alone, unless they are unsolved and more seconds are allowed now.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from pttt_ooc.arena.games.mnk import Mnk
from pttt_ooc.arena.solvers import pairings, values

LARGEST = 8
GROWTH = 4


def boards() -> list[tuple[int, int, int]]:
    """Rows, columns and length of a line; no fewer rows than columns, and no fewer columns than the length."""
    sides = range(1, LARGEST + 1)
    found = [(m, n, k) for k in (3, 4, 5) for m in sides for n in sides if m >= n >= k]
    return sorted(found, key=lambda one: (one[2], one[0] * one[1]))


def limited(game: Mnk, method: str, seconds: float) -> values.Solved:
    """What a search finds in its last attempt, which takes at most so many seconds of the processor, more or less."""
    nodes = 10_000
    while True:
        found = values.solve(game, game.start(), method, 22, nodes)
        if found.value is not None or GROWTH * found.seconds > seconds:
            return found
        nodes *= GROWTH


def solved(rows: int, columns: int, need: int, seconds: float) -> dict[str, Any]:
    """What the three methods find."""
    game = Mnk([f"{rows}x{columns}", f"need{need}"])
    row: dict[str, Any] = {"board": [rows, columns, need], "seconds": seconds, "methods": {}}
    pairing = pairings.find(game, 10)
    if pairing.certificate is not None:
        fault = pairings.fault(rows, columns, need, pairing.certificate)
        assert fault is None, fault
        row["methods"]["pairing"] = {"value": 0, "seconds": round(pairing.seconds, 3)}
    for method in values.METHODS:
        one = limited(game, method, seconds)
        row["methods"][method] = {"value": one.value, "nodes": one.nodes, "seconds": round(one.seconds, 3)}
    found = {one["value"] for one in row["methods"].values()} - {None}
    assert len(found) < 2, f"{game.text}: the methods contradict each other"
    return row | {"value": found.pop() if found else None}


def main() -> None:
    """Solve what is missing."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--output", "-o", type=Path, required=True)
    options.add_argument("--seconds", type=float, default=30, help="of the processor for each search")
    options.add_argument("--boards", nargs="+", help="such as 8x5+need5; all by default")
    given = options.parse_args()
    names = {f"{rows}x{columns}+need{need}": (rows, columns, need) for rows, columns, need in boards()}
    if unknown := set(given.boards or ()) - set(names):
        options.error(f"there is no board {min(unknown)}: write it as 8x5+need5, with no fewer rows than columns")
    there = {}
    if given.output.exists():
        there = {tuple(row["board"]): row for row in map(json.loads, given.output.read_text().splitlines())}
    for board in [names[name] for name in given.boards or names]:
        known = there.get(board)
        if known is None or (known["value"] is None and known["seconds"] < given.seconds):
            there[board] = solved(*board, given.seconds)
            lines = "".join(json.dumps(there[one]) + "\n" for one in boards() if one in there)
            given.output.write_text(lines, encoding="utf-8")
            print(json.dumps(there[board]), flush=True)


if __name__ == "__main__":
    main()
