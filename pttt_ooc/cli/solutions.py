"""The solver: `pttt solve`."""

from __future__ import annotations

import typer

from pttt_ooc.cli.console import say
from pttt_ooc.disk.resources import cores
from pttt_ooc.disk.stop_signals import interruptible
from pttt_ooc.errors import exit_on_error
from pttt_ooc.options import (
    DATA,
    ConfigOption,
    DataOption,
    GameOption,
    ThreadsOption,
    with_keys,
)

KEYS = ("symmetry", "run", "memory_mb", "solve")
"""The keys of the configuration that `pttt solve` takes as options."""


def add_commands(app: typer.Typer) -> None:
    """Add the commands to the command line."""
    app.command(epilog="Example: pttt solve --target-nashconv 1e-4 --max-minutes 120", cls=with_keys(*KEYS))(solve)


def solve(
    context: typer.Context,
    game: GameOption = None,
    config: ConfigOption = None,
    threads: ThreadsOption = None,
    data: DataOption = DATA,
) -> None:
    """Solve a game, or continue a solve.

    After an interruption, or with larger budgets, the same command continues.  The options from --symmetry on are
    keys of config.yaml; those that neither the command line nor --config gives have their defaults.  Results go to
    DATA/GAME/SYMMETRY[/runs/NAME].
    """
    from pttt_ooc.cli import display
    from pttt_ooc.cli.sections import load_with_options
    from pttt_ooc.config import check_listed
    from pttt_ooc.pipeline.stages import solve as stage
    from pttt_ooc.pipeline.stages.budgets import refuse_small_budget
    from pttt_ooc.pipeline.stages.decisions import begin
    from pttt_ooc.pipeline.stages.directories import manifest_of, results_of, structure_of
    from pttt_ooc.pipeline.stages.preparation import prepare_index

    settings = load_with_options(config, game, context.obj)
    check_listed(settings, "the solver")
    directory = results_of(data, settings.game, settings.symmetry, settings.run)
    with interruptible(), exit_on_error(say):  # within the command: typer has its own message for an interrupt
        budget = settings.memory_mb
        refuse_small_budget(settings, ("enumerate", "index", "solve"))
        prepare_index(data, settings.game, settings.symmetry, budget)
        with begin([manifest_of(directory, "solve")], [directory, structure_of(directory)]):
            stage.run(settings.game, settings.symmetry, settings.solve, directory, threads or cores(), memory_mb=budget)
    display.solution(directory)
