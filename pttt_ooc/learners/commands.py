"""The command ``pttt lab learn``."""

from __future__ import annotations

import sys
from typing import Annotated, Any

import typer

from pttt_ooc.disk.numbers import gap
from pttt_ooc.disk.resources import cores
from pttt_ooc.disk.stop_signals import interruptible
from pttt_ooc.errors import ConfigError
from pttt_ooc.games.rules.catalogue import DEFAULT_GAME
from pttt_ooc.options import DATA, DataOption, GameOption, ThreadsOption
from pttt_ooc.types import Precision, Symmetry


def learn(
    algorithm: Annotated[
        str, typer.Argument(metavar="ALGORITHM", help="The name of the algorithm; an unknown name lists all.")
    ],
    game: GameOption = None,
    max_minutes: Annotated[
        float, typer.Option(min=0, help="Stop after this much processor time of all threads together, in minutes.")
    ] = 10.0,
    max_iterations: Annotated[int, typer.Option(min=1, help="Stop after this many iterations.")] = 10**12,
    target_nashconv: Annotated[float, typer.Option(min=0, help="Stop at this gap; 0: no such limit.")] = 0.0,
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE", help="A setting of the algorithm; may be repeated."),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of all random numbers.")] = 0,
    name: Annotated[
        str | None, typer.Option("--run", metavar="NAME", help="The name of the run.  [default: the algorithm's]")
    ] = None,
    symmetry: Annotated[Symmetry, typer.Option(help="full: seven times less work.")] = "full",
    precision: Annotated[Precision, typer.Option(help="Precision of gradients, plans and policies.")] = "float32",
    evaluate_every: Annotated[float, typer.Option(help="Factor of iterations between two exact evaluations.")] = 1.25,
    commit_seconds: Annotated[float, typer.Option(min=0, help="Seconds between two saves.")] = 60.0,
    threads: ThreadsOption = None,
    data: DataOption = DATA,
) -> None:
    """Learn a game, or continue learning it, and measure the result by exact best responses.

    After an interruption, or with larger budgets, the same command continues.  `pttt lab export` writes the result in
    the course's format, and all other commands read it like a solution.  Results go to
    DATA/GAME/SYMMETRY/learners/NAME.
    """
    if evaluate_every <= 1:
        raise ConfigError(f"--evaluate-every is {evaluate_every:g}, but must be greater than 1.")
    from pttt_ooc.config import check_section
    from pttt_ooc.learners.catalogue import RunConfig, checked_settings
    from pttt_ooc.learners.loop import Ends
    from pttt_ooc.learners.runs import LearnerRun
    from pttt_ooc.learners.runs import learn as run_learner

    # Names and settings are checked before anything is prepared.
    chosen = dict(_setting(text) for text in settings or [])
    checked_settings(algorithm, chosen, "--set")
    run_settings = {"name": name or algorithm, "algorithm": algorithm, "settings": chosen, "seed": seed}
    checked = check_section(RunConfig, run_settings, "--run")
    run = LearnerRun(game or DEFAULT_GAME, symmetry, checked.name, checked.algorithm, chosen, checked.seed, precision)
    # Budgets are not part of the run, so that the same run continues with larger ones.
    ends = Ends(max_minutes, max_iterations, target_nashconv, evaluate_every, commit_seconds)
    with interruptible():
        directory = run_learner(run, ends, data, threads or cores(), _tell)
    print(directory)


def _setting(text: str) -> tuple[str, Any]:
    key, sign, value = text.partition("=")
    if not sign:
        raise ConfigError(f"--set is {text!r}, but must be KEY=VALUE.")
    import yaml

    try:
        return key, yaml.safe_load(value)
    except yaml.YAMLError:
        raise ConfigError(f"--set {key} has the value {value!r}, which is not a number, word or list.") from None


def _tell(row: dict[str, Any]) -> None:
    """One line for an evaluation, on stderr."""
    last = f", last iterate {gap(row['last_nashconv'])}" if "last_nashconv" in row else ""
    if "value_lower" in row:
        last += f", value proven in {row['value_lower']:.6f} .. {row['value_upper']:.6f}"
    print(
        f"iteration {row['iteration']}, {row['seconds']:.1f} s, gap {gap(row['nashconv'])}{last}, "
        f"value {row['value']:+.5f}, {row['states']:.3g} states",
        file=sys.stderr,
        flush=True,
    )
