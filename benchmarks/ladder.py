"""The ladder: exact scores of agents at equal processor seconds, from committed records.

``python -m benchmarks.ladder run GAME AGENT --seconds 10`` lets a learner learn, scores it and adds a line to
``docs/records/ladder.jsonl``; ``--iterations 100`` is a budget that makes numbers of games equal.  ``plan`` does so for
all rows of ``benchmarks/ladder.yaml`` that are not there yet; it may be killed and started again.  ``write`` makes
``docs/lab/ladder.md`` of the lines.  ``check`` makes the agents of lines again, with the recorded number of iterations,
and compares them; ``check --sample 8 --seed 1`` draws eight of them.

An agent is ``uniform``; a rule of regret minimisation, such as ``dcfr``; a learner of `pttt lab learn`, such as
``mmd-magnet``; or a function of blocks of infosets, ``examples/heuristics.py:centre_first``.  All are scored alike: by
the exact best responses to their strategies.  Seconds are processor time of this process on one thread, for learning
alone.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import random
import shlex
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from statistics import mean
from typing import Any

import numpy as np
import yaml
from scipy.stats import t as student

import pttt_ooc as pttt
from pttt_ooc.cfr.solving.regret import RULES
from pttt_ooc.errors import ConfigError, exit_on_error
from pttt_ooc.games.rules.game import Game
from pttt_ooc.learners.catalogue import ALGORITHMS, checked_settings, learner_class
from pttt_ooc.learners.learning_game import open_learning_game
from pttt_ooc.learners.loop import Ends, Loop
from pttt_ooc.library.scoring.agents import find_agent
from pttt_ooc.library.scoring.ladder import (
    agent_name,
    budget_text,
    mean_exploitability_of,
    rank_rows,
    read_records,
    record_key,
    settings_text,
)
from pttt_ooc.library.scoring.scores import agent_strategy

ROOT = Path(__file__).parent.parent
RECORDS = ROOT / "docs/records/ladder.jsonl"
PLAN = ROOT / "benchmarks/ladder.yaml"
PAGE = ROOT / "docs/lab/ladder.md"
GAMES = ("pttt-abrupt", "pttt-classical", "dark-hex-3x3-abrupt", "dark-hex-3x3-classical")
Pair = tuple[pttt.Strategy, pttt.Strategy]
Record = dict[str, Any]
SAME = 1e-9  # scores that differ by less are the same


def made(
    game: Game, agent: str, ends: Mapping[str, float], seed: int, settings: Mapping[str, Any], data: Path
) -> tuple:
    """An agent's strategies, the iterations and the processor seconds that it took to learn them.

    Parameters
    ----------
    ends
        ``seconds`` or ``iterations``.
    """
    if agent == "uniform":
        return (pttt.Strategy.uniform(game, 0), pttt.Strategy.uniform(game, 1)), 0, 0.0
    if agent in RULES:
        return _by_rule(game, agent, ends, settings)
    if agent in ALGORITHMS:
        return _by_learner(game, agent, ends, seed, settings, data)
    found = find_agent(str(ROOT / agent) if ".py:" in agent else agent)
    if found is None:
        raise ConfigError(f"There is no agent {agent}: it is uniform, a rule, a learner, or FILE.py:NAME.")
    return (agent_strategy(game, 0, found), agent_strategy(game, 1, found)), 0, 0.0


def _by_rule(game: Game, agent: str, ends: Mapping[str, float], settings: Mapping[str, Any]) -> tuple[Pair, int, float]:
    session, spent = pttt.iterate(game, agent, evaluate_every=10**9, **settings), 0.0
    while session.iteration < ends.get("iterations", np.inf) and spent < ends.get("seconds", np.inf):
        before = time.process_time()
        next(session)
        spent += time.process_time() - before
    return session.average, session.iteration, spent


def _by_learner(
    game: Game, agent: str, ends: Mapping[str, float], seed: int, settings: Mapping[str, Any], data: Path
) -> tuple[Pair, int, float]:
    limits = Ends(ends.get("seconds", 10**9) / 60, int(ends.get("iterations", 10**12)))
    with open_learning_game(data, game.name, "full", "float32", threads=1) as opened:
        learner = learner_class(agent)()
        learner.start(opened, checked_settings(agent, settings), seed)
        loop = Loop(learner, opened, limits)
        loop.advance(limits.max_iterations)
        pair = (pttt.Strategy.of(strategy) for strategy in loop.result())
        return tuple(pair), loop.iteration, loop.seconds


def digest(pair: Pair) -> str:
    """A digest of both strategies' numbers in single precision: BLAKE2b, 8 bytes, in hex."""
    total = hashlib.blake2b(digest_size=8)
    for strategy in pair:
        total.update(np.ascontiguousarray(strategy.probabilities, np.float32))
    return total.hexdigest()


def record(
    name: str, agent: str, ends: Mapping[str, float], seed: int, settings: Mapping[str, Any], data: Path
) -> Record:
    """Make an agent, score it, and describe both."""
    game = pttt.game(name)
    pttt.configure(data=data, threads=1)
    pair, iterations, seconds = made(game, agent, ends, seed, settings, data)
    found = pttt.evaluate(*pair)
    return {
        **{"game": name, "agent": agent, "settings": dict(settings), "seed": seed},
        **{"budget": ends.get("seconds"), "seconds": round(seconds, 2), "iterations": iterations},
        **({"limit": ends["iterations"]} if "iterations" in ends else {}),
        **{"mean_exploitability": found.nashconv / 2, "value": found.value},
        **{"best_response_0": found.best_response_0, "best_response_1": found.best_response_1},
        **{"digest": digest(pair), "version": pttt.__version__},
    }


def command(row: Record) -> str:
    """The command that makes a row, with its budget of seconds or iterations."""
    words = ["python -m benchmarks.ladder run", row["game"], shlex.quote(row["agent"])]
    words += [f"--seconds {row['budget']:g}"] if row["budget"] else []
    words += [f"--iterations {row['limit']}"] if row.get("limit") else []
    words += [f"--seed {row['seed']}"] if row["seed"] else []
    for key, value in row["settings"].items():
        words += ["--set", shlex.quote(f"{key}={json.dumps(value, separators=(',', ':'))}")]
    return " ".join(words)


def again(row: Record, data: Path) -> list[str]:
    """Make and score a row's agent again, with the recorded iterations; return what differs."""
    ends = {"iterations": row["iterations"]}
    new = record(row["game"], row["agent"], ends, row["seed"], row["settings"], data)
    wrong = [] if new["digest"] == row["digest"] else [f"digest {new['digest']}, not {row['digest']}"]
    for key in ("mean_exploitability", "value", "best_response_0", "best_response_1"):
        if abs(new[key] - row[key]) > SAME:
            wrong.append(f"{key} {new[key]!r}, not {row[key]!r}")
    return [f"{command(row)}: {text}" for text in wrong]


def drawn(rows: Sequence[Record], number: int, seed: int) -> list[Record]:
    """Some random rows, in their order; all, if there are no more."""
    chosen = random.Random(seed).sample(range(len(rows)), min(number, len(rows)))
    return [rows[k] for k in sorted(chosen)]


def read(path: Path = RECORDS) -> list[Record]:
    """The committed lines; none if there is no such file."""
    return read_records(path) if path.exists() else []


def planned(path: Path = PLAN) -> Iterator[Record]:
    """The rows of a plan, in its order: game, agent, settings, seed, and the budget in seconds or iterations."""
    plan = yaml.safe_load(path.read_text())
    for part in plan:
        for game in part["games"]:
            for one in part["agents"]:
                one = {"agent": one} if isinstance(one, str) else one
                for seed in one.get("seeds", [0]):
                    row = {"game": game, "agent": one["agent"], "settings": one.get("settings", {}), "seed": seed}
                    row["budget"] = part.get("seconds") if learns(one["agent"]) else None
                    yield row | ({"limit": part["iterations"]} if "iterations" in part else {})


def learns(agent: str) -> bool:
    """Whether an agent has a budget."""
    return agent in RULES or agent in ALGORITHMS


def has_chance(agent: str) -> bool:
    """Whether the seed matters."""
    return agent in ALGORITHMS and not ALGORITHMS[agent][0].startswith("exact.")


def ends_of(row: Record) -> dict[str, float]:
    """The budget of a row, as :func:`made` takes it."""
    if row.get("limit"):
        return {"iterations": row["limit"]}
    return {"seconds": row["budget"]} if row["budget"] else {}


def interval(values: Sequence[float]) -> tuple[float, float]:
    """Student's 95% interval of the mean, cut off at 0."""
    half = float(student.ppf(0.975, len(values) - 1)) * float(np.std(values, ddof=1)) / len(values) ** 0.5
    return max(mean(values) - half, 0.0), mean(values) + half


def page(rows: Sequence[Record]) -> str:
    """The page: a table for each game, the least exploitable first."""
    lines = [PREFACE.replace("{left_out}", left_out(rows))]
    for game in (g for g in GAMES if any(row["game"] == g for row in rows)):
        groups = rank_rows(rows, game)
        lines += [f"## {game}", ""]
        lines += [
            "| agent | mean exploitability | 95% interval | budget | iterations | seeds |",
            "|---|---|---|---|---|---|",
        ]
        lines += [_line(group) for group in groups] + [""]
    return "\n".join(lines).rstrip() + "\n"


def left_out(rows: Sequence[Record]) -> str:
    """A sentence: how many planned rows with learning are missing, and how long they would take."""
    there = {*map(record_key, rows)}
    budgets = [row["budget"] or 0 for row in planned() if learns(row["agent"]) and record_key(row) not in there]
    if not budgets:
        return "All rows of `benchmarks/ladder.yaml` are here."
    return (
        f"Of `benchmarks/ladder.yaml`, {len(budgets)} rows that learn are not here, "
        f"{sum(budgets) / 60:.0f} processor minutes without evaluations."
    )


def _line(group: Sequence[Record]) -> str:
    first = group[0]
    values = [row["mean_exploitability"] for row in group]
    chance = "one seed" if has_chance(first["agent"]) else ""
    if len(values) > 1:
        chance = "{:.3g}–{:.3g}".format(*interval(values))
    budget = budget_text(first)
    count = f"{round(mean(row['iterations'] for row in group)):,}" if budget else ""
    seeds = str(len(group)) if has_chance(first["agent"]) else ""
    name = f"`{agent_name(first)}`{settings_text(first)}"  # the commands below the table have whole paths
    cells = [name, f"{mean_exploitability_of(group):.3g}", chance, budget, count, seeds]
    return "| " + " | ".join(cells) + " |"


PREFACE = """\
# The ladder

Exact scores of agents on the four games that the field compares learners on. Mean exploitability is what an agent loses
to an opponent who knows it, on average over both seats: half of NashConv, which the field's papers plot. [Score an
agent](../score.md) says how to place one of yours.

`python -m benchmarks.ladder write` makes this page from `docs/records/ladder.jsonl`, which also has the settings, the
seed and a digest of each strategy. A budget is processor seconds of one thread for learning, without evaluations, on a
machine with two to ten times as much to do as processors; or a number of iterations (it.). Agents without a budget
learn nothing. Where chance has a part in learning, the number is the mean over the seeds, with Student's 95% interval
of it, cut off at 0; a seed is one training from the beginning. Settings are the defaults of `pttt solve` and `pttt lab
learn`, but for those that are named.

Rows with the same seconds compare learners at the same processor time, rows with a number of iterations at the same
number of games: an iteration of `ppo` has 1,024 games, one of `mccfr-outcome` a single game. An iteration of `ppo` took
0.065 seconds when its own rows were made, and up to 0.10 later: compare the iterations, too. 13 iterations are over
before `ppg` has its first auxiliary phase or `nashpg` a second magnet.

**What the budget left out.** Rows have 20 seconds, with networks on abrupt games 60. An hour can turn the order; tables
of ten minutes for abrupt Phantom Tic-Tac-Toe are in [algorithms](algorithms.md#results).
{left_out}
Ten minutes for each of 50 rows on the four games would take 33 processor hours. The published protocol has 10 million
steps and ten fresh seeds: 20 hours here for nine learners with networks, and that once more for each setting that is
tried.

**Liar's dice**, the fifth game of that comparison, is absent: chance and public bids have nothing of the structure that
this package is about.

A line of the records has the number of iterations, so that anybody can make the same strategy again, whatever their
machine's speed: `python -m benchmarks.ladder check`. With networks that needs the same version of JAX (here 0.10.2) and
the same kind of processor; otherwise a row is [as different as one of another
seed](algorithms.md#methods-with-networks).
"""


def add(row: Record, records: Path) -> None:
    """Add a line to the records, and print it."""
    records.parent.mkdir(parents=True, exist_ok=True)
    with open(records, "a") as file:
        file.write(json.dumps(row) + "\n")
    print(json.dumps(row), flush=True)


def setting(text: str) -> tuple[str, Any]:
    """A key and its value, of ``KEY=VALUE``."""
    name, _, value = text.partition("=")
    try:
        return name, json.loads(value)
    except json.JSONDecodeError as error:
        raise ConfigError(f"--set is {text!r}, but must be KEY=VALUE with a value in JSON.") from error


def main(arguments: Sequence[str] | None = None) -> None:
    """The command line."""
    with exit_on_error(lambda sentence: print(sentence, file=sys.stderr)):
        _main(arguments)


def _main(arguments: Sequence[str] | None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--records", type=Path, default=RECORDS)
    parser.add_argument("--data", type=Path, default=Path("data"))
    commands = parser.add_subparsers(dest="command", required=True)
    run = commands.add_parser("run", help="make, score and record an agent")
    run.add_argument("game")
    run.add_argument("agent")
    budget = run.add_mutually_exclusive_group()
    budget.add_argument("--seconds", type=float, default=10.0, help="processor seconds of learning; default: 10")
    budget.add_argument("--iterations", type=int, help="iterations of learning, in place of seconds")
    run.add_argument("--seed", type=int, default=0)
    run.add_argument("--set", action="append", default=[], metavar="KEY=VALUE")
    plan = commands.add_parser("plan", help="make the rows of the plan that are not there yet")
    plan.add_argument("--plan", type=Path, default=PLAN)
    write = commands.add_parser("write", help="make the page")
    write.add_argument("--page", type=Path, default=PAGE)
    check = commands.add_parser("check", help="make agents again, and compare")
    check.add_argument("--game")
    check.add_argument("--agent")
    check.add_argument("--sample", type=int, metavar="N", help="only N of these rows, by lot")
    check.add_argument("--seed", type=int, default=0, help="of the lot")
    options = parser.parse_args(arguments)
    if options.command == "run":
        settings = dict(setting(text) for text in options.set)
        ends = {"iterations": options.iterations} if options.iterations else {"seconds": options.seconds}
        ends = ends if learns(options.agent) else {}
        add(record(options.game, options.agent, ends, options.seed, settings, options.data), options.records)
    elif options.command == "plan":
        for row in planned(options.plan):
            if record_key(row) not in map(record_key, read(options.records)):
                row = record(row["game"], row["agent"], ends_of(row), row["seed"], row["settings"], options.data)
                add(row, options.records)
    elif options.command == "write":
        options.page.write_text(page(read(options.records)))
    else:
        rows = [
            row
            for row in read(options.records)
            if options.game in (None, row["game"]) and options.agent in (None, row["agent"])
        ]
        if not rows:
            raise ConfigError("No such row is recorded.")
        if options.sample is not None:
            rows = drawn(rows, options.sample, options.seed)
            print(*(f"{row['game']} {row['agent']} {row['seed']}" for row in rows), sep="\n")
        wrong = [text for row in rows for text in again(row, options.data)]
        print("\n".join(wrong) or f"{len(rows)} rows are as recorded.")
        sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
