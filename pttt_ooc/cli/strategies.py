"""Strategies: `pttt validate`, `pttt evaluate`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pttt_ooc.disk.resources import cores
from pttt_ooc.options import (
    DATA,
    KINDS,
    DataOption,
    GameOption,
    GameValueOption,
    Infosets0Option,
    Infosets1Option,
    JsonOption,
    MemoryOption,
    PlayerOption,
    ThreadsOption,
)
from pttt_ooc.types import Symmetry

if TYPE_CHECKING:
    from pttt_ooc.games.structure.strategy import Strategy


def add_commands(app: typer.Typer) -> None:
    """Add the commands to the command line."""
    app.command(epilog="Example: pttt validate pttt_pl0.zip --player 0 --infosets player0-infosets.txt")(validate)
    app.command(epilog="Example: pttt evaluate pttt_pl0.zip pttt_pl1.zip --json")(evaluate)


def validate(
    file: Annotated[str, typer.Argument(metavar="FILE", help=f"A strategy: {KINDS}.")],
    player: PlayerOption,
    infosets: Annotated[
        Path | None, typer.Option(metavar="FILE", help="The player's infosets, in the order of the rows.")
    ] = None,
    memory_mb: MemoryOption = None,
    game: GameOption = None,
    data: DataOption = DATA,
) -> None:
    """Check a strategy, row by row.

    The answer is that it is valid, or the first mistake with its row, infoset and square.
    """
    from pttt_ooc.config import MEMORY_MB
    from pttt_ooc.disk.memory import MemoryNeeds, process_needs, thread_needs
    from pttt_ooc.library.api import strategy_reader
    from pttt_ooc.library.api.strategy_names import further_of, named_strategy
    from pttt_ooc.pipeline.files.zipped_array import passed_over
    from pttt_ooc.pipeline.stages.directories import results_of
    from pttt_ooc.pipeline.stages.preparation import open_index

    named = named_strategy(file, player, infosets)
    name = further_of([named], game).name
    index = open_index(data, name)
    reading, scratch = strategy_reader.reading_needs([named], index, data), results_of(data, name, "none")
    needs = MemoryNeeds({**process_needs(), **reading.fixed}, reading.arrays, thread_needs())
    [arrays] = needs.within(memory_mb or MEMORY_MB, scratch).allocate()
    strategy_reader.load_strategy(named, index, data, arrays, scratch)
    count = int(index.players[player].infosets_by_slice().sum())
    if named.path.suffix.lower() == ".zip" and (told := passed_over(named.path)):
        print(told)
    print(f"{file}: valid, a strategy of player {player} in {name} for all {count:,} infosets.")


def evaluate(
    p0: Annotated[str, typer.Argument(metavar="P0", help=f"Player 0's strategy: {KINDS}.")],
    p1: Annotated[str, typer.Argument(metavar="P1", help="Player 1's strategy, likewise.")],
    infosets0: Infosets0Option = None,
    infosets1: Infosets1Option = None,
    symmetry: Annotated[
        Symmetry, typer.Option(help="full: use it, and refuse strategies that are not symmetric.")
    ] = "none",
    game_value: GameValueOption = None,
    as_json: JsonOption = False,
    threads: ThreadsOption = None,
    memory_mb: MemoryOption = None,
    game: GameOption = None,
    data: DataOption = DATA,
) -> None:
    """Evaluate two strategies exactly.

    The results are the value for player 0, the values of both players' best responses, their sum (NashConv), and each
    player's exploitability: how far their worst case is below the value of the game.
    """
    import numpy as np

    from pttt_ooc.cfr.solving.evaluation import ProfileEvaluator, evaluation_arrays
    from pttt_ooc.cfr.sweep.parallel import in_order
    from pttt_ooc.cli import display
    from pttt_ooc.config import MEMORY_MB
    from pttt_ooc.library.api import strategy_reader
    from pttt_ooc.library.api.strategy_names import further_of, named_strategy
    from pttt_ooc.pipeline.stages.engines import arrays_for, open_engine
    from pttt_ooc.pipeline.stages.preparation import prepare_index

    # The value of the game, against which exploitabilities are measured: as it was given, or as it is known.
    interval = strategy_reader.parse_interval(game_value) if game_value is not None else None
    named = (named_strategy(p0, 0, infosets0), named_strategy(p1, 1, infosets1))
    rules = further_of(named, game)
    known = strategy_reader.known_value(rules, named, data)
    directory = prepare_index(data, rules.name, symmetry)
    with open_engine(directory, rules.name, symmetry, np.float64, threads or cores()) as engine:
        # Arrays for reading and for the best responses share one budget of memory; the engine scales the rows.
        reading = strategy_reader.reading_needs(named, engine.index, data, normalised=False)
        budget, both = memory_mb or MEMORY_MB, (reading.arrays, evaluation_arrays(engine.index))
        arrays, own = arrays_for(engine, "evaluate", reading.fixed, both, budget, directory)

        def load(player: int) -> Strategy:
            return strategy_reader.load_strategy(named[player], engine.index, data, arrays[player], directory)

        # In parallel: inflating and checking rows take most of the time, and release the interpreter's lock.
        strategies = list(in_order(load, (0, 1), engine.threads))
        # NashConv is the sum of both best responses' values; what they prove of the value narrows the known interval.
        evaluation = ProfileEvaluator(engine, own)(strategies[0], strategies[1])
        result = strategy_reader.with_value(evaluation, interval, known)
    display.evaluation(result, rules.name, symmetry, (p0, p1), as_json)
