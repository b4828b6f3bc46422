"""Strategies: `pttt validate`, `pttt evaluate`."""

from __future__ import annotations

from functools import partial
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
    WhoseOption,
)
from pttt_ooc.types import Symmetry

if TYPE_CHECKING:
    from pttt_ooc.games.structure.index import Index
    from pttt_ooc.games.structure.strategy import Strategy
    from pttt_ooc.library.api.strategy_names import NamedStrategy
    from pttt_ooc.library.api.strategy_reader import ReadingArrays


def add_commands(app: typer.Typer) -> None:
    """Add the commands to the command line."""
    app.command(epilog="Example: pttt validate pttt_pl0.zip --player 0 --infosets player0-infosets.txt")(validate)
    app.command(epilog="Example: pttt evaluate mine.zip")(evaluate)


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

    It says that the strategy is valid, or where its first mistake is: the row, the infoset and the square.
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
    p0: Annotated[str, typer.Argument(metavar="STRATEGY", help=f"A strategy; of two, player 0's: {KINDS}.")],
    p1: Annotated[str | None, typer.Argument(metavar="[P1]", help="Player 1's strategy, likewise.")] = None,
    player: WhoseOption = None,
    infosets0: Infosets0Option = None,
    infosets1: Infosets1Option = None,
    symmetry: Annotated[
        Symmetry | None,
        typer.Option(
            help="full: use it, and refuse strategies that are not symmetric. "
            "Default: full for solutions kept up to symmetry and for uniform, else none."
        ),
    ] = None,
    game_value: GameValueOption = None,
    as_json: JsonOption = False,
    threads: ThreadsOption = None,
    memory_mb: MemoryOption = None,
    game: GameOption = None,
    data: DataOption = DATA,
) -> None:
    """Tell how good a strategy is, exactly.

    Its exploitability is what it loses against an opponent who knows it: the value of the game minus its worst case.  0
    is perfect.

    Two strategies are also evaluated against each other: their value for player 0, and what the best response to each
    gets.  The sum of both is NashConv, which is 0 at an equilibrium.  A solution, and the word uniform, are two
    strategies, unless --player says which one is meant.
    """
    import numpy as np

    from pttt_ooc.cfr.solving.evaluation import ProfileEvaluator, evaluation_arrays
    from pttt_ooc.cfr.sweep.parallel import in_order
    from pttt_ooc.cli import display
    from pttt_ooc.config import MEMORY_MB
    from pttt_ooc.games.structure.symmetry import is_symmetric
    from pttt_ooc.library.api import strategy_reader
    from pttt_ooc.library.api.strategy_names import further_of
    from pttt_ooc.pipeline.stages.engines import arrays_for, open_engine
    from pttt_ooc.pipeline.stages.preparation import prepare_index

    # The value of the game, against which exploitabilities are measured: as it was given, or as it is known.
    interval = strategy_reader.parse_interval(game_value) if game_value is not None else None
    named = _name_strategies(p0, p1, player, (infosets0, infosets1), game)
    rules = further_of(named, game)
    known = strategy_reader.known_value(rules, named, data)
    symmetries = [symmetry] if symmetry else strategy_reader.possible_symmetries(named)
    for chosen in symmetries:
        directory = prepare_index(data, rules.name, chosen)
        with open_engine(directory, rules.name, chosen, np.float64, threads or cores()) as engine:
            # Arrays for reading and for the best responses share one budget of memory; the engine scales the rows.
            reading = strategy_reader.reading_needs(named, engine.index, data, normalised=False)
            budget, both = memory_mb or MEMORY_MB, (reading.arrays, evaluation_arrays(engine.index))
            arrays, own = arrays_for(engine, "evaluate", reading.fixed, both, budget, directory, moves=True)
            load = partial(_load, named, engine.index, data, arrays, directory)
            # In parallel: inflating and checking rows take most of the time, and release the interpreter's lock.
            strategies = list(in_order(load, range(len(named)), engine.threads))
            if chosen != symmetries[-1] and not all(is_symmetric(one) for one in strategies):
                continue  # a stored strategy that says it is symmetric, and is not
            evaluator = ProfileEvaluator(engine, own)
            if len(named) == 1:
                found = evaluator.worst_case(strategies[0], interval or known)
                strategy_reader.check_worst_case(found)
                told = {"--player": player, "--game": game}
                options = "".join(f" {option} {value}" for option, value in told.items() if value is not None)
                display.worst_case(found, rules, chosen, p0, options, as_json)
                return
            # NashConv is the sum of both best responses' values; what they prove of the value narrows the known
            # interval.
            evaluation = evaluator(strategies[0], strategies[1])
            result = strategy_reader.with_value(evaluation, interval, known)
            display.evaluation(result, rules, chosen, (p0, p1 or p0), as_json)
            return


def _load(
    named: list[NamedStrategy], index: Index, data: Path, arrays: tuple[ReadingArrays, ...], scratch: Path, number: int
) -> Strategy:
    from pttt_ooc.library.api.strategy_reader import load_strategy

    return load_strategy(named[number], index, data, arrays[number], scratch)


def _name_strategies(
    p0: str, p1: str | None, player: int | None, infosets: tuple[Path | None, Path | None], game: str | None
) -> list[NamedStrategy]:
    """The strategies to evaluate: both players', or one.

    Raises
    ------
    ConfigError
        If options contradict one another, or nothing tells whose strategy it is.
    """
    from pttt_ooc.errors import ConfigError
    from pttt_ooc.library.api.strategy_names import is_of_both_players, named_strategy, player_of

    if p1 is not None and player is not None:
        raise ConfigError("--player is for one strategy; of two, the first is player 0's.  Leave it out.")
    if p1 is None and player is None and is_of_both_players(p0):
        p1 = p0
    if p1 is not None:
        return [named_strategy(p0, 0, infosets[0]), named_strategy(p1, 1, infosets[1])]
    whose = player_of([p0], game) if player is None else player
    if infosets[1 - whose] is not None:
        raise ConfigError(f"{p0} is a strategy of player {whose}; give the order of its rows by --infosets{whose}.")
    return [named_strategy(p0, whose, infosets[whose])]
