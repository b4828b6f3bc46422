"""The command ``pttt``.

Libraries that take long to import are imported by the commands that need them, so that help comes at once.
"""

from __future__ import annotations

import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from pttt_ooc import __version__
from pttt_ooc.cli.console import Commands, check_output, check_output_directory, run
from pttt_ooc.disk.resources import cores
from pttt_ooc.errors import StoreError
from pttt_ooc.grader.commands import add_commands
from pttt_ooc.rules.game import named_game

if TYPE_CHECKING:
    from pttt_ooc.config import Config

# The same names as in the configuration, whose module takes long to import.
Algorithm = Literal[
    "cfr", "cfr+", "linear-cfr", "dcfr", "pcfr+", "pdcfr+", "sapcfr+", "sapdcfr+", "hs-dcfr", "hs-pcfr+"
]
Updates = Literal["alternating", "simultaneous"]
Precision = Literal["float32", "float64"]
Symmetry = Literal["none", "full"]
TensorType = Literal["float16", "float32", "float64"]

GameOption = Annotated[str, typer.Option("--game", metavar="NAME", help="The game; `pttt info` lists them.")]
ToldGameOption = Annotated[
    str | None,
    typer.Option("--game", metavar="NAME", help="The game; default: what the files tell, or else pttt-abrupt."),
]
PlayerOption = Annotated[int, typer.Option("--player", min=0, max=1, help="Whose infosets: 0 or 1.")]
DataOption = Annotated[Path, typer.Option("--data", metavar="DIR", help="Where indices are kept; made if missing.")]
ThreadsOption = Annotated[int | None, typer.Option(min=1, metavar="N", help="Number of threads; default: all cores.")]
LevelOption = Annotated[int, typer.Option(min=0, max=9, help="Of the zip files: 0 none, 1 fast, 9 small.")]
Infosets0Option = Annotated[
    Path | None, typer.Option("--infosets0", metavar="FILE", help="Player 0's infosets, in the order of the rows.")
]
Infosets1Option = Annotated[
    Path | None, typer.Option("--infosets1", metavar="FILE", help="Player 1's infosets, in the order of the rows.")
]
KINDS = "a .zip, .npy or .h5, the directory of a solution, or the word uniform"
DATA = Path("data")

app = typer.Typer(
    cls=Commands,
    help="Phantom Tic-Tac-Toe and its relatives, solved exactly.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


def main(arguments: list[str] | None = None) -> None:
    """Run the command line; an error that a person can do something about ends it with one sentence.

    Parameters
    ----------
    arguments
        Of the command; default: those of the process.
    """
    run(app, "pttt", arguments)


def _print_version(wanted: bool) -> None:
    if wanted:
        print(f"pttt {__version__}")
        raise typer.Exit


@app.callback(epilog="Example: pttt evaluate pttt_pl0.zip uniform")
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    """Phantom Tic-Tac-Toe and its relatives, solved exactly."""


def _check_game(name: str | None) -> None:
    if name is not None:
        named_game(name)


# ---------------------------------------------------------------------------------------------
# Games and their infosets


@app.command(epilog="Example: pttt info --game pttt-classical")
def info(
    game: Annotated[str | None, typer.Option(metavar="NAME", help="Tell all about this game.")] = None,
) -> None:
    """List the games, or tell the rules and size of one."""
    from pttt_ooc.cli import display

    if game is None:
        display.games()
    else:
        display.one_game(named_game(game))


@app.command(epilog="Example: pttt infosets --player 0 --output player0-infosets.txt")
def infosets(
    player: PlayerOption,
    output: Annotated[Path | None, typer.Option(metavar="FILE", help="The file; default: standard output.")] = None,
    game: GameOption = "pttt-abrupt",
    data: DataOption = DATA,
) -> None:
    """Write a player's infosets, one in each line.

    They come in the default order of rows: by number of attempts, then attempt by attempt by square, failed before
    placed.
    """
    named_game(game)
    if output:
        check_output(output)
    from pttt_ooc.products import infosets
    from pttt_ooc.stages.prepare import open_index

    index = open_index(data, game)
    rows = infosets.default_rows(index, player)
    if output:
        infosets.write_infosets(index, player, output, rows)
        return
    for _, nodes in infosets.row_blocks(rows):
        sys.stdout.buffer.write(infosets.as_lines(infosets.infoset_texts(index, player, nodes)))
    sys.stdout.buffer.flush()


# ---------------------------------------------------------------------------------------------
# Strategies


@app.command(epilog="Example: pttt uniform --player 0 --output pttt_pl0.zip")
def uniform(
    player: PlayerOption,
    output: Annotated[Path, typer.Option(metavar="FILE.zip", help="The file to write.")],
    dtype: Annotated[TensorType, typer.Option(help="Of the probabilities.")] = "float32",
    compression_level: LevelOption = 1,
    game: GameOption = "pttt-abrupt",
    data: DataOption = DATA,
) -> None:
    """Write the strategy of equal probabilities.

    At every infoset it attempts all legal squares with the same probability.
    """
    named_game(game)
    check_output(output, ".zip")
    from pttt_ooc.products import infosets
    from pttt_ooc.products.tensors import export_strategy
    from pttt_ooc.stages.prepare import open_index
    from pttt_ooc.structure.strategy import uniform_strategy

    index = open_index(data, game)
    rows = infosets.default_rows(index, player)
    export_strategy(uniform_strategy(index, player), rows, output, dtype, compression_level)


@app.command(epilog="Example: pttt validate pttt_pl0.zip --player 0 --infosets player0-infosets.txt")
def validate(
    file: Annotated[str, typer.Argument(metavar="FILE", help=f"A strategy: {KINDS}.")],
    player: PlayerOption,
    infosets: Annotated[
        Path | None, typer.Option(metavar="FILE", help="The player's infosets, in the order of the rows.")
    ] = None,
    game: ToldGameOption = None,
    data: DataOption = DATA,
) -> None:
    """Check a strategy, row by row.

    What is said is that it is valid, or the first thing that is wrong, with row, infoset and square.
    """
    _check_game(game)
    from pttt_ooc.cli import inputs
    from pttt_ooc.cli.given import game_of, given_strategy
    from pttt_ooc.stages.prepare import open_index

    given = given_strategy(file, player, infosets)
    name = game_of([given], game).name
    index = open_index(data, name)
    inputs.load_strategy(given, index, data)
    count = int(index.players[player].infosets_by_slice().sum())
    print(f"{file}: valid, a strategy of player {player} in {name} for all {count:,} infosets.")


@app.command(epilog="Example: pttt evaluate pttt_pl0.zip pttt_pl1.zip --json")
def evaluate(
    p0: Annotated[str, typer.Argument(metavar="P0", help=f"Player 0's strategy: {KINDS}.")],
    p1: Annotated[str, typer.Argument(metavar="P1", help="Player 1's strategy, likewise.")],
    infosets0: Infosets0Option = None,
    infosets1: Infosets1Option = None,
    symmetry: Annotated[
        Symmetry, typer.Option(help="full: use it, and refuse strategies that are not symmetric.")
    ] = "none",
    game_value: Annotated[
        str | None,
        typer.Option(metavar="X", help="The value of the game: a number or LOW,HIGH; default: the best known."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
    threads: ThreadsOption = None,
    game: ToldGameOption = None,
    data: DataOption = DATA,
) -> None:
    """Evaluate two strategies exactly.

    Found are the value for player 0, what the best responses of both players get, NashConv (their sum), and how far
    each player's worst case is below the value of the game: its exploitability.
    """
    _check_game(game)
    import numpy as np

    from pttt_ooc.cli import display, inputs
    from pttt_ooc.cli.given import game_of, given_strategy
    from pttt_ooc.products.tables import read_index
    from pttt_ooc.solving.evaluation import evaluate as evaluated
    from pttt_ooc.stages.engines import open_engine
    from pttt_ooc.stages.prepare import prepared
    from pttt_ooc.sweep.parallel import in_sequence

    asked = inputs.parse_interval(game_value) if game_value is not None else None
    given = (given_strategy(p0, 0, infosets0), given_strategy(p1, 1, infosets1))
    rules = game_of(given, game)
    known = inputs.known_value(rules, given, data)
    directory = prepared(data, rules.name, symmetry)
    index = read_index(directory / "index.zarr", rules.name, symmetry)
    with open_engine(index, directory, np.float64, threads or cores()) as engine:
        # Side by side: most of the time goes to inflating and to rows, which hold no lock of the interpreter.
        strategies = list(in_sequence(lambda one: inputs.load_strategy(one, engine.index, data), given, engine.threads))
        result = inputs.with_value(evaluated(strategies[0], strategies[1], engine), asked, known)
    display.evaluation(result, rules.name, symmetry, (p0, p1), as_json)


# ---------------------------------------------------------------------------------------------
# Solutions


@app.command(epilog="Example: pttt export data/pttt-abrupt/full --output results --dtype float64")
def export(
    solution: Annotated[str, typer.Argument(metavar="SOLUTION", help="The directory of a solution.")],
    output: Annotated[Path, typer.Option(metavar="DIR", help="The directory for the files; made if missing.")],
    dtype: Annotated[Precision, typer.Option(help="Of the probabilities.")] = "float32",
    compression_level: LevelOption = 1,
    infosets0: Infosets0Option = None,
    infosets1: Infosets1Option = None,
    bundle: Annotated[bool, typer.Option(help="Whether to write strategies.h5.")] = True,
    game: ToldGameOption = None,
    data: DataOption = DATA,
) -> None:
    """Write a solution's files for the course.

    These are pttt_pl0.zip and pttt_pl1.zip, the lists of the infosets that their rows belong to, and strategies.h5.
    """
    _check_game(game)
    check_output_directory(output)
    from pttt_ooc.cli import inputs
    from pttt_ooc.cli.given import check_infosets_file, game_of, given_strategy
    from pttt_ooc.products.export import BUNDLE, FILES, MOST_THREADS, write_export
    from pttt_ooc.stages.prepare import open_index

    given = [given_strategy(solution, player) for player in (0, 1)]
    if given[0].kind != "solution":
        raise StoreError(f"{solution} is not the directory of a solution.")
    for order in (infosets0, infosets1):
        if order is not None:
            check_infosets_file(order)
    index = open_index(data, game_of(given, game).name)
    rows = (inputs.rows_of(index, 0, infosets0), inputs.rows_of(index, 1, infosets1))
    strategies = (inputs.load_strategy(given[0], index, data), inputs.load_strategy(given[1], index, data))
    output.mkdir(parents=True, exist_ok=True)
    facts = {"solution": given[0].said} if bundle else None
    write_export(output, index, strategies, rows, dtype, compression_level, facts, min(cores(), MOST_THREADS))
    for name in FILES + [BUNDLE] * bundle:
        print(output / name)


@app.command(epilog="Example: pttt solve --target-nashconv 1e-4 --max-minutes 120")
def solve(
    game: Annotated[
        str | None, typer.Option(metavar="NAME", help="The game; `pttt info` lists them.  [default: pttt-abrupt]")
    ] = None,
    config: Annotated[
        Path | None, typer.Option(metavar="FILE", help="A config.yaml; the options here come before what it says.")
    ] = None,
    symmetry: Annotated[Symmetry | None, typer.Option(help="full: 7 times less work.  [default: full]")] = None,
    algorithm: Annotated[Algorithm | None, typer.Option(help="The update rule of the regrets.")] = None,
    alpha: Annotated[float | None, typer.Option(help="Discount of positive regrets.")] = None,
    beta: Annotated[
        float | None, typer.Option(help="Discount of negative regrets; in sap..., distrust of predictions.")
    ] = None,
    gamma: Annotated[float | None, typer.Option(help="Iteration t counts t^gamma in the average.")] = None,
    horizon: Annotated[int | None, typer.Option(help="Iterations during which hs-... move the three.")] = None,
    restart_average: Annotated[
        float | None, typer.Option(help="Begin the average anew each time the iterations have grown by this factor.")
    ] = None,
    updates: Annotated[Updates | None, typer.Option(help="Of the players: in turn, or both at once.")] = None,
    precision: Annotated[Precision | None, typer.Option(help="Of the regrets and sums of strategies.")] = None,
    target_nashconv: Annotated[float | None, typer.Option(help="Stop at this gap; 0: never for that.")] = None,
    max_iterations: Annotated[int | None, typer.Option(help="Stop after so many iterations.")] = None,
    max_minutes: Annotated[float | None, typer.Option(help="Stop after so many minutes.")] = None,
    evaluate_every: Annotated[float | None, typer.Option(help="Factor between two evaluations of the gap.")] = None,
    commit_seconds: Annotated[float | None, typer.Option(help="Save the state this often.")] = None,
    memory_mb: Annotated[int | None, typer.Option(help="Most memory to use, MB.")] = None,
    threads: ThreadsOption = None,
    data: Annotated[
        Path, typer.Option("--output", "--data", metavar="DIR", help="All is made in DIR/GAME/SYMMETRY.")
    ] = DATA,
) -> None:
    """Solve a game, or go on solving it.

    After an interruption, or with larger budgets, the same command continues.  What is not said here has the
    defaults that config.yaml documents.
    """
    asked: dict[str, Any] = {
        "algorithm": algorithm,
        "alpha": alpha,
        "beta": beta,
        "gamma": gamma,
        "precision": precision,
    }
    asked |= {"horizon": horizon, "restart_average": restart_average, "updates": updates}
    asked |= {"target_nashconv": target_nashconv, "max_iterations": max_iterations, "max_minutes": max_minutes}
    asked |= {"evaluate_every": evaluate_every, "commit_seconds": commit_seconds}
    settings = _settings(config, {"game": game, "symmetry": symmetry, "memory_mb": memory_mb}, asked)
    from pttt_ooc.cli import display
    from pttt_ooc.stages import solve as stage
    from pttt_ooc.stages.prepare import prepared

    directory = data / settings.game / settings.symmetry
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        prepared(data, settings.game, settings.symmetry)
        budget = settings.memory_mb
        stage.run(settings.game, settings.symmetry, settings.solve, directory, threads or cores(), memory_mb=budget)
    except KeyboardInterrupt:
        print("Interrupted; the same command continues from what is on disk.", file=sys.stderr)
        raise typer.Exit(130) from None
    finally:
        signal.signal(signal.SIGTERM, before)
    display.solution(directory)


@app.command(epilog="Example: pttt fsck data")
def fsck(
    directory: Annotated[
        Path, typer.Argument(metavar="DIR", help="A work directory, or one with any number of them below it.")
    ] = DATA,
) -> None:
    """Check what is on disk, byte by byte; nothing is written.

    Below DIR, all saved states of the solver are compared with their checksums, and all products of the workflow
    with their manifests.
    """
    from pttt_ooc.stages.fsck import check

    found = check(directory)
    for problem in found.problems:
        print(problem, file=sys.stderr)
    print(found.summary)
    if found.problems:
        raise typer.Exit(1)


def _settings(config: Path | None, top: dict[str, Any], solve: dict[str, Any]) -> Config:
    """The configuration of a file, if any, with the options of the command line in its place."""
    _check_game(top["game"])
    from pttt_ooc.config import check_config, load_config

    content: dict[str, Any] = load_config(config).model_dump(mode="json") if config else {}
    content.update({key: value for key, value in top.items() if value is not None})
    given = {key: value for key, value in solve.items() if value is not None}
    content["solve"] = {**content.get("solve", {}), **given}
    return check_config(content, "The options")


add_commands(app)
