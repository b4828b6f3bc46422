"""The values of k-in-a-row on boards of up to 8 x 8 squares: ``python -m benchmarks.arena_boards -o FILE``.

Each board is searched for a pairing strategy first.  Then the Maker-Breaker form, alpha-beta and proof-number search
run with four times as many nodes each time, until they end or the next run would exceed their limit.  The file has a
line of JSON for each board.  A further run repeats only searches that have not ended and may now take more seconds.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from pttt_ooc.other_games.arena.games.mnk import Mnk
from pttt_ooc.other_games.arena.research.solvers import pairings, row_values

LARGEST = 8
GROWTH = 4


def boards() -> list[tuple[int, int, int]]:
    """Rows, columns and length of a line; no fewer rows than columns, and no fewer columns than the length."""
    sides = range(1, LARGEST + 1)
    found = [(m, n, k) for k in (3, 4, 5) for m in sides for n in sides if m >= n >= k]
    return sorted(found, key=lambda one: (one[2], one[0] * one[1]))


Outcome = dict[str, Any]
METHODS = ("pairing", "maker-breaker", *row_values.METHODS)


def by_pairing(game: Mnk, seconds: float) -> Outcome:
    """Whether there is a pairing strategy; the time is for each first mark."""
    found = pairings.find(game, seconds)
    if found.certificate is not None:
        fault = pairings.fault(game.rows, game.columns, game.need, found.certificate)
        assert fault is None, fault
    ended = {"ended": found.complete or found.certificate is not None}
    return {"value": 0 if found.certificate else None, **ended, "seconds": round(found.seconds, 3)}


def by_search(game: Mnk, method: str, seconds: float) -> Outcome:
    """What a search finds in its last attempt, which takes at most about `seconds` of the processor."""
    nodes = 10_000
    while True:
        found: Any
        if method == "maker-breaker":
            found = row_values.solve_form(game, most_nodes=nodes)
            ended = found.maker_wins is not None
        else:
            found = row_values.solve(game, game.start(), method, 22, nodes)
            ended = found.value is not None
        if ended or GROWTH * found.seconds > seconds:
            return {"value": found.value, "ended": ended, "nodes": found.nodes, "seconds": round(found.seconds, 3)}
        nodes *= GROWTH


def solved(board: tuple[int, int, int], methods: list[str], seconds: float, known: Outcome) -> Outcome:
    """What methods find about a board, added to what is known about it."""
    rows, columns, need = board
    game = Mnk([f"{rows}x{columns}", f"need{need}"])
    for method in methods:
        before = known.get(method)
        if before is None or (not before["ended"] and before["limit"] < seconds):
            found = by_pairing(game, seconds) if method == "pairing" else by_search(game, method, seconds)
            known = known | {method: {"limit": seconds, **found}}
    there = {one["value"] for one in known.values()} - {None}
    assert len(there) < 2, f"{game.text}: the methods contradict each other"
    return {
        "board": [rows, columns, need],
        "methods": {method: known[method] for method in METHODS if method in known},
        "value": there.pop() if there else None,
    }


def main() -> None:
    """Solve what is missing."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--output", "-o", type=Path, required=True)
    options.add_argument("--seconds", type=float, default=30, help="of the processor for each search")
    options.add_argument("--boards", nargs="+", help="such as 8x5+need5; all by default")
    options.add_argument("--methods", nargs="+", choices=METHODS, default=METHODS, help="all by default")
    given = options.parse_args()
    names = {f"{rows}x{columns}+need{need}": (rows, columns, need) for rows, columns, need in boards()}
    if unknown := set(given.boards or ()) - set(names):
        options.error(f"there is no board {min(unknown)}: write it as 8x5+need5, with no fewer rows than columns")
    there = {}
    if given.output.exists():
        there = {tuple(row["board"]): row for row in map(json.loads, given.output.read_text().splitlines())}
    for board in [names[name] for name in given.boards or names]:
        before = there.get(board)
        after = solved(board, given.methods, given.seconds, before["methods"] if before else {})
        if after != before:
            there[board] = after
            lines = "".join(json.dumps(there[one]) + "\n" for one in boards() if one in there)
            given.output.write_text(lines, encoding="utf-8")
            print(json.dumps(after), flush=True)


if __name__ == "__main__":
    main()
