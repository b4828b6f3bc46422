"""Solutions: `pttt export`, `pttt solve`, `pttt fsck`, `pttt verify-run`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from pttt_ooc.cli.console import say
from pttt_ooc.disk.outputs import check_output_directory, check_outputs
from pttt_ooc.disk.resources import cores
from pttt_ooc.disk.stop_signals import interruptible
from pttt_ooc.errors import StoreError, exit_on_error, on_one_line
from pttt_ooc.options import (
    DATA,
    ConfigOption,
    CourseGameOption,
    DataOption,
    ForceOption,
    Infosets0Option,
    Infosets1Option,
    LevelOption,
    MemoryOption,
    OutputDirectoryOption,
    ThreadsOption,
    ToldGameOption,
    check_game,
    with_keys,
)
from pttt_ooc.types import Precision

KEYS = ("symmetry", "run", "memory_mb", "solve")
"""The keys of the configuration that `pttt solve` takes as options."""


def add_commands(app: typer.Typer) -> None:
    """Add the commands to the command line."""
    app.command(epilog="Example: pttt export data/pttt-abrupt/full --output results --dtype float64")(export)
    app.command(epilog="Example: pttt solve --target-nashconv 1e-4 --max-minutes 120", cls=with_keys(*KEYS))(solve)
    app.command(epilog="Example: pttt fsck data")(fsck)
    app.command(epilog="Example: pttt verify-run data/pttt-abrupt/full 8a3ad66d6ceaf6c2be6dbd2a0a4d7c3e")(verify_run)


def export(
    solution: Annotated[str, typer.Argument(metavar="SOLUTION", help="The directory of a solution.")],
    output: OutputDirectoryOption,
    force: ForceOption = False,
    dtype: Annotated[Precision, typer.Option(help="Of the probabilities.")] = "float32",
    compression_level: LevelOption = 1,
    infosets0: Infosets0Option = None,
    infosets1: Infosets1Option = None,
    bundle: Annotated[bool, typer.Option(help="Whether to write strategies.h5.")] = True,
    memory_mb: MemoryOption = None,
    game: ToldGameOption = None,
    data: DataOption = DATA,
) -> None:
    """Write a solution's files for the course.

    They are pttt_pl0.zip and pttt_pl1.zip, the lists of the infosets that their rows belong to, and strategies.h5.
    """
    check_game(game)
    check_output_directory(output)
    from pttt_ooc.config import MEMORY_MB
    from pttt_ooc.library.api import strategy_reader
    from pttt_ooc.library.api.strategy_names import check_infosets_file, further_of, named_strategy
    from pttt_ooc.pipeline.files.export import FILES, MOST_THREADS, export_needs, write_export
    from pttt_ooc.pipeline.files.export_names import BUNDLE
    from pttt_ooc.pipeline.files.infosets import row_arrays
    from pttt_ooc.pipeline.stages.directories import results_of
    from pttt_ooc.pipeline.stages.preparation import open_index

    # No strategy is read before the solution, the lists of infosets and the outputs have passed their checks.
    named = [named_strategy(solution, player) for player in (0, 1)]
    if named[0].kind != "solution":
        raise StoreError(f"{solution} is not the directory of a solution.")
    for order in (infosets0, infosets1):
        if order is not None:
            check_infosets_file(order)
    check_outputs(output, FILES + [BUNDLE] * bundle, [named[0].path, infosets0, infosets1], force=force)
    name, threads = further_of(named, game).name, min(cores(), MOST_THREADS)
    # Files of the course list all infosets, so the index has no symmetry.  Arrays and blocks of rows share one budget
    # of memory; where it is small, fewer threads prepare blocks.
    index, scratch = open_index(data, name), results_of(data, name, "none")
    reading = strategy_reader.reading_needs(named, index, data)
    needs, budget = export_needs((reading.arrays, row_arrays(index)), reading.fixed), memory_mb or MEMORY_MB
    workspace = needs.within(budget, scratch, threads)
    if message := workspace.fewer_threads("export", budget, threads):
        say(message)
    arrays, nodes = workspace.allocate()
    # For each player the node of each row, and the strategy at all nodes.
    rows = (
        strategy_reader.rows_of(index, 0, infosets0, nodes[0]),
        strategy_reader.rows_of(index, 1, infosets1, nodes[1]),
    )
    strategies = (
        strategy_reader.load_strategy(named[0], index, data, arrays[0]),
        strategy_reader.load_strategy(named[1], index, data, arrays[1]),
    )
    # All files are written side by side, as each block of rows goes into all of them.
    output.mkdir(parents=True, exist_ok=True)
    facts = {"solution": named[0].metadata} if bundle else None
    write_export(output, index, strategies, rows, dtype, compression_level, facts, workspace.threads)
    for file in FILES + [BUNDLE] * bundle:
        print(output / file)


def solve(
    context: typer.Context,
    game: CourseGameOption = None,
    config: ConfigOption = None,
    threads: ThreadsOption = None,
    data: DataOption = DATA,
) -> None:
    """Solve a game, or continue a solve.

    After an interruption, or with larger budgets, the same command continues.  The options from --symmetry on are
    keys of config.yaml; those that neither the command line nor --config gives have their defaults.  Results go to
    DATA/GAME/SYMMETRY[/runs/NAME].
    """
    check_game(game)
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


def fsck(
    directory: Annotated[
        Path, typer.Argument(metavar="DIR", help="A work directory, or one with any number of them below it.")
    ] = DATA,
) -> None:
    """Check the contents of all files on disk; nothing is written.

    Below DIR, all saved states of the solver are compared with their checksums, and all products of the workflow
    and of its wings with their manifests.  A missing manifest is a problem if there is a product of its stage, or a
    manifest of a later one.  Stages that have not run, and files that no manifest describes, are only told.
    """
    from pkgutil import resolve_name

    from pttt_ooc.cli.wings import WINGS
    from pttt_ooc.pipeline.stages.fsck import OWN_SETS, check

    findings = check(directory, [*OWN_SETS, *(resolve_name(wing.stages) for wing in WINGS if wing.stages)])
    for problem in findings.problems:
        print(problem, file=sys.stderr)
    for fact in findings.facts:
        print(fact)
    print(findings.summary)
    if findings.problems:
        raise typer.Exit(1)


def verify_run(
    directory: Annotated[Path, typer.Argument(metavar="DIR", help="The results of a run, with its report.")],
    digest: Annotated[str | None, typer.Argument(metavar="[DIGEST]", help="A published digest to compare.")] = None,
) -> None:
    """Print the digest of a run, or compare it with a published one.

    It covers all products of all stages and their manifests, except times, memory and versions: equal configurations
    have equal digests, as docs/files.md says under "What 'the same bits' means". All files on disk are checked.
    """
    from pttt_ooc.pipeline.stages.fsck import run_digest

    computed = run_digest(directory)
    if digest is not None and digest.strip().lower() != computed:
        raise StoreError(f"{directory} is another run: its digest is {computed}, not {on_one_line(digest)}.")
    print(computed if digest is None else f"{directory} is the run {computed}.")
