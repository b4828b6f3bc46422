"""What equilibrium strategies win against opponents who err: the table of docs/lab/equilibria.md.

For each game, player and opponent there is a row with the payoffs of several strategies, and those of the worst and of
the best equilibrium strategy for this opponent.  The opponents are uniform play, the pure rule of the double oracle,
all learners' results below DIR/GAME/full/learners, and random deterministic strategies, one for each seed.  Without a
solution, the column (a) is empty.

Each row is a line of JSON in DIR/benchmarks/opponents-GAME.jsonl.  Rows that are already there are skipped, so the same
command continues after an interruption.  `--table` prints the file as a table in Markdown.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from statistics import mean, stdev
from typing import Any

import numpy as np
from scipy.stats import t as student

from benchmarks.measures import prepared
from pttt_ooc.disk.memory import in_memory
from pttt_ooc.exact.double_oracle.oracle import DoubleOracle
from pttt_ooc.exact.equilibria.optimal_face import OptimalFace
from pttt_ooc.exact.equilibria.responses import Choices, Floats
from pttt_ooc.games.rules.catalogue import named_game
from pttt_ooc.games.structure.strategy import strategy_arrays, uniform_strategy
from pttt_ooc.pipeline.files.solution import read_player
from pttt_ooc.pipeline.stages.directories import SOLUTION

GAP = 1e-6
"""The width to which the worst and the best payoff are each bounded."""

COLUMNS = {
    "average": "(a) average",
    "rule": "(b) exact, rule",
    "uniform": "(c) best against uniform",
    "worst": "worst",
    "best": "best",
}
Row = dict[str, Any]
Opponents = Iterator[tuple[str, Callable[[], Floats]]]


class Table:
    """The rows of one game.

    Parameters
    ----------
    face
        Of the game.
    directory
        ``DIR/GAME/full``, with the learners' results.
    solution
        The Zarr group of the solver's average strategies; it may be missing.
    """

    def __init__(self, face: OptimalFace, directory: Path, solution: Path) -> None:
        self.face, self.directory, self.solution = face, directory, solution
        self.responses, self.index = face.responses, face.responses.index

    def stored(self, root: Path, player: int) -> Floats:
        """A stored strategy, in double precision."""
        into = in_memory(strategy_arrays(self.index, np.float64))[player]
        return read_player(root, self.index, player, into).probabilities

    def uniform(self, player: int) -> Floats:
        """Uniform play."""
        return uniform_strategy(self.index, player, np.float64).probabilities

    def random(self, player: int, seed: int) -> Floats:
        """A random choice at each infoset; mirror images are averaged."""
        i, rng = self.index.players[player], np.random.default_rng([seed, player])
        choices: Choices = np.zeros(i.nodes, np.uint8)
        for view in range(len(i.node_start) - 1):
            orders = int(i.node_start[view + 1] - i.node_start[view])
            actions = int(i.sequence_start[view + 1] - i.sequence_start[view]) // max(orders, 1)
            if actions:
                choices[i.node_start[view] : i.node_start[view + 1]] = rng.integers(actions, size=orders)
        return self.face.pure_strategy(player, choices)

    def opponents(self, player: int, seeds: int) -> Opponents:
        """Names, and functions that make the strategies."""
        yield "uniform", lambda: self.uniform(player)
        yield "rule", lambda: self.face.pure_strategy(player, self.face.rule[player])
        for path in sorted((self.directory / "learners").glob(f"*/{SOLUTION}")):
            yield path.parent.name, lambda path=path: self.stored(path, player)  # type: ignore[misc]
        for seed in range(seeds):
            yield f"random {seed}", lambda seed=seed: self.random(player, seed)  # type: ignore[misc]

    def payoffs(self, player: int, opponent: Floats) -> tuple[float, Floats]:
        """The constant and the gradient against a strategy."""
        return self.responses.gradient(player, self.responses.reach(1 - player, opponent))

    def own(self, player: int) -> dict[str, Floats]:
        """The strategies of all columns but the last two."""
        solved = {"average": self.stored(self.solution, player)} if self.solution.exists() else {}
        payoffs = self.payoffs(player, self.uniform(1 - player))[1]
        best = self.face.extreme(player, payoffs).strategy.probabilities
        return {**solved, "rule": self.face.exact_strategy(player).probabilities, "uniform": best}

    def loss(self, player: int, strategy: Floats) -> float:
        """How far a strategy is from guaranteeing the value of the game."""
        constant, gradient = self.payoffs(1 - player, strategy)
        value = self.face.value if player == 0 else -self.face.value
        return float(self.responses.best(1 - player, gradient)[0] + constant + value)

    def rows(self, player: int, seeds: int, known: set[tuple[int, str]]) -> Iterator[Row]:
        """The rows that are not known."""
        missing = [one for one in self.opponents(1 - player, seeds) if (player, one[0]) not in known]
        if not missing and (player, "") in known:
            return
        own = self.own(player)
        if (player, "") not in known:
            yield {"opponent": "", **{name: self.loss(player, strategy) for name, strategy in own.items()}}
        for name, make in missing:
            begun = time.process_time()
            constant, payoffs = self.payoffs(player, make())
            row = {key: self.responses.value(player, payoffs, one) + constant for key, one in own.items()}
            for key, sign in (("worst", -1), ("best", 1)):
                row[key] = sign * self.face.extreme(player, sign * payoffs, gap=GAP).value + constant
            yield {"opponent": name, **row, "cpu_seconds": time.process_time() - begun}


def table(rows: Sequence[Row]) -> str:
    """The rows as a table in Markdown; random strategies are one row, with an interval over seeds."""
    lines = [f"| player | opponent | {' | '.join(COLUMNS.values())} |", "|---" * (2 + len(COLUMNS)) + "|"]
    for player in (0, 1):
        mine = [row for row in rows if row["player"] == player]
        for row in mine:
            if row["opponent"] and not row["opponent"].startswith("random "):
                lines.append(
                    _line(player, f"`{row['opponent']}`", [f"{row[key]:.4f}" if key in row else "" for key in COLUMNS])
                )
        seeds = [row for row in mine if row["opponent"].startswith("random ")]
        if len(seeds) > 1:
            lines.append(
                _line(
                    player, f"{len(seeds)} random", [_interval([row[k] for row in seeds if k in row]) for k in COLUMNS]
                )
            )
        lines += [
            _line(
                player,
                "loses at most",
                [f"{row[key]:.1e}" if key in row else "0" if key in ("worst", "best") else "" for key in COLUMNS],
            )
            for row in mine
            if not row["opponent"]
        ]
    return "\n".join(lines)


def _line(player: int, name: str, cells: Sequence[str]) -> str:
    return f"| {player} | {name} | {' | '.join(cells)} |"


def _interval(values: Sequence[float]) -> str:
    if not values:
        return ""
    half = float(student.ppf(0.975, len(values) - 1)) * stdev(values) / math.sqrt(len(values))
    return f"{mean(values):.3f} ± {half:.3f}"


def read(file: Path) -> list[Row]:
    """All rows of a file; none if there is no such file."""
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()] if file.exists() else []


def main(arguments: Sequence[str] | None = None) -> int:
    """The command; returns its exit code."""
    form = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(prog="python -m benchmarks.opponents", description=__doc__, formatter_class=form)
    parser.add_argument("--game", default="pttt-abrupt", metavar="NAME", help="the game (default: %(default)s)")
    parser.add_argument("--solution", type=Path, metavar="ZARR", help="default: DIR/GAME/full/solution.zarr")
    parser.add_argument("--seeds", type=int, default=8, metavar="N", help="random strategies (default: %(default)s)")
    parser.add_argument("--threads", type=int, default=1, metavar="N", help="(default: %(default)s)")
    parser.add_argument("--data", type=Path, default=Path("data"), metavar="DIR", help="(default: %(default)s)")
    parser.add_argument("--table", action="store_true", help="only print what the file holds")
    options = parser.parse_args(arguments)
    file = options.data / "benchmarks" / f"opponents-{options.game}.jsonl"
    file.parent.mkdir(parents=True, exist_ok=True)
    if not options.table:
        _run(options, file)
    print(table(read(file)))
    return 0


def _run(options: argparse.Namespace, file: Path) -> None:
    def note(sentence: str) -> None:
        print(sentence, file=sys.stderr, flush=True)

    oracle = DoubleOracle(named_game(options.game))
    for _ in oracle.rounds():
        pass
    directory = options.data / options.game / "full"
    with prepared(options.data, options.game, "full", np.float32, note, options.threads) as engine:
        made = Table(OptimalFace(oracle, engine), directory, options.solution or directory / SOLUTION)
        for player in (0, 1):
            known = {(row["player"], row["opponent"]) for row in read(file)}
            for row in made.rows(player, options.seeds, known):
                with file.open("a", encoding="utf-8") as lines:
                    lines.write(json.dumps({"player": player, **row}) + "\n")
                note(f"{options.game}, player {player}: {row['opponent'] or 'losses'}")


if __name__ == "__main__":
    sys.exit(main())
