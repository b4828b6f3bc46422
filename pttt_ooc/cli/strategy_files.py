"""Files of strategies: `pttt lab uniform`, `best-response`, `infosets`, `export`."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated

import typer

from pttt_ooc.cli.console import say
from pttt_ooc.cli.inspection import InfosetsOption, StrategyArgument, named_strategies, read_strategies
from pttt_ooc.disk.outputs import check_output, check_output_directory, check_outputs
from pttt_ooc.disk.resources import cores
from pttt_ooc.errors import StoreError
from pttt_ooc.games.rules.catalogue import DEFAULT_GAME
from pttt_ooc.options import (
    DATA,
    DataOption,
    ForceOption,
    GameOption,
    Infosets0Option,
    Infosets1Option,
    JsonOption,
    LevelOption,
    MemoryOption,
    OutputDirectoryOption,
    OutputZipOption,
    PlayerOption,
    ThreadsOption,
    WhoseOption,
)
from pttt_ooc.types import Precision, TensorType


def uniform(
    player: PlayerOption,
    output: OutputZipOption,
    force: ForceOption = False,
    dtype: Annotated[TensorType, typer.Option(help="Of the probabilities.")] = "float32",
    compression_level: LevelOption = 1,
    game: GameOption = None,
    data: DataOption = DATA,
) -> None:
    """Write the strategy of equal probabilities.

    At every infoset it attempts all legal squares with the same probability.
    """
    check_output(output, force=force, suffix=".zip")
    from pttt_ooc.games.structure.strategy import uniform_strategy
    from pttt_ooc.pipeline.files import infosets
    from pttt_ooc.pipeline.files.tensors import export_strategy
    from pttt_ooc.pipeline.stages.preparation import open_index

    index = open_index(data, game or DEFAULT_GAME)
    rows = infosets.default_rows(index, player)
    export_strategy(uniform_strategy(index, player), rows, output, dtype, compression_level)


def best_response(
    strategy: StrategyArgument,
    output: OutputZipOption,
    force: ForceOption = False,
    player: WhoseOption = None,
    infosets: InfosetsOption = None,
    dtype: Annotated[TensorType, typer.Option(help="Of the probabilities.")] = "float32",
    compression_level: LevelOption = 1,
    as_json: JsonOption = False,
    threads: ThreadsOption = None,
    game: GameOption = None,
    data: DataOption = DATA,
) -> None:
    """Write what the other player does best against a strategy.

    The rows of the file are in the default order, as `pttt lab infosets` writes it.
    """
    from pttt_ooc.library.api.values import best_response as responded

    named, rules = named_strategies([strategy], player, [infosets], game)
    check_output(output, [named[0].path, infosets], force=force, suffix=".zip")
    reply = responded(read_strategies(named, rules, data, threads)[0])
    reply.save(output, dtype, compression_level=compression_level)
    if as_json:
        record = {"game": rules.name, "strategy": strategy, "player": reply.player, "value": reply.value}
        print(json.dumps({**record, "output": str(output)}))
        return
    print(f"{output}: the best response of player {reply.player} to {strategy}, which gets {reply.value:+.9f}.")


def infosets(
    player: PlayerOption,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", help="The file to write; default: standard output."),
    ] = None,
    force: ForceOption = False,
    game: GameOption = None,
    data: DataOption = DATA,
) -> None:
    """Write a player's infosets, one in each line.

    They are in the default order of rows: by number of attempts, then attempt by attempt by square, failed
    before placed.
    """
    if output:
        check_output(output, force=force)
    from pttt_ooc.pipeline.files import infosets
    from pttt_ooc.pipeline.stages.preparation import open_index

    index = open_index(data, game or DEFAULT_GAME)
    rows = infosets.default_rows(index, player)
    if output:
        infosets.write_infosets(index, player, output, rows)
        return
    for _, nodes in infosets.row_blocks(rows):
        sys.stdout.buffer.write(infosets.as_lines(infosets.infoset_texts(index, player, nodes)))
    sys.stdout.buffer.flush()


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
    game: GameOption = None,
    data: DataOption = DATA,
) -> None:
    """Write a solution's files for the course.

    They are pttt_pl0.zip and pttt_pl1.zip, the lists of the infosets that their rows belong to, and strategies.h5.
    """
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
