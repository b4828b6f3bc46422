"""An exact equilibrium, found without listing the game: `pttt exact`."""

from __future__ import annotations

import json
import math
import time
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pttt_ooc.cli.console import say
from pttt_ooc.disk import numbers
from pttt_ooc.disk.outputs import check_output, check_output_directory
from pttt_ooc.errors import PtttError, StoreError
from pttt_ooc.games.rules.catalogue import exact_value
from pttt_ooc.options import (
    DATA,
    BoardOptions,
    DataOption,
    GameOption,
    JsonOption,
    ThreadsOption,
    chosen_game,
    spread,
)
from pttt_ooc.pipeline.show.tables import print_facts

if TYPE_CHECKING:
    from pttt_ooc.exact.double_oracle.oracle import DoubleOracle, Round
    from pttt_ooc.exact.double_oracle.saved_state import SavedState
    from pttt_ooc.games.rules.game import Game
    from pttt_ooc.pipeline.files.solution import Strategies

_EXACT = 1e-11
"""A width of the interval that is rounding only."""
_LINE_SECONDS = 2.0  # seconds between two lines of progress


def add_commands(app: typer.Typer) -> None:
    """Add the command to the command line."""
    app.command(epilog="Example: pttt exact --game dark-hex-3x3-abrupt")(exact)


@spread
def exact(
    *,
    game: GameOption = None,
    board: BoardOptions,
    solution: Annotated[
        str | None, typer.Option("--from", metavar="SOLUTION", help="Begin with what these strategies play.")
    ] = None,
    gap: Annotated[float, typer.Option(min=0, metavar="X", help="Stop at an interval of this width.")] = 1e-12,
    max_minutes: Annotated[float, typer.Option(min=0, help="Stop after so many minutes.")] = 60,
    memory_mb: Annotated[
        int | None,
        typer.Option(min=1, metavar="MB", help="Memory limit; with less, bounds are computed again.  [default: 512]"),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="DIR", help="The directory to write to: the strategies, as a solution."),
    ] = None,
    state: Annotated[
        Path | None, typer.Option("--state", metavar="DIR", help="Save the run there, and go on from what is saved.")
    ] = None,
    mps: Annotated[
        Path | None, typer.Option(metavar="FILE.mps", help="Write the last linear program for other solvers.")
    ] = None,
    efg: Annotated[
        Path | None, typer.Option(metavar="FILE.efg", help="Write the whole game for Gambit; small boards only.")
    ] = None,
    threads: ThreadsOption = None,
    workers: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="Search best responses by so many processes of Dask.")
    ] = None,
    scheduler: Annotated[
        str | None,
        typer.Option(
            metavar="ADDRESS",
            help="Or by the workers of a scheduler of Dask, tcp://HOST:PORT; slurm: the workers are jobs of Slurm.",
        ),
    ] = None,
    as_json: JsonOption = False,
    data: DataOption = DATA,
) -> None:
    """Find a game's value and an equilibrium without listing infosets.

    Which road to the exact equilibrium?  `make solve` takes about a minute: `pttt solve` and a last step, with all
    infosets, the files for the course and a report.  `pttt exact` takes seconds on nine squares and lists no infosets,
    so it also finds values of games too large for a list.  `pttt certify` proves a value as a fraction, which `pttt
    verify` checks.  `pttt lab equilibria` tells which equilibria there are: a game may have many.

    A restricted game is solved, and both players' best responses in the whole game enlarge it, until they gain
    nothing.  In each round the value of the game is proven to be in an interval, up to rounding of double precision.

    The game is any board of up to 16 squares: by its name, such as pttt-3x4k3-abrupt or dark-hex-3x4-classical, or by
    --rows, --columns, --k and --turn-rule.

    Without --from and --state, nothing is read.  With --output, the strategies are written at all infosets, for which
    the game's index is read; on boards of ten squares and more only their plans are.  With --json, the last line is one
    object.
    """
    from pttt_ooc.config import MEMORY_MB
    from pttt_ooc.disk.resources import MB, cores, peak_rss_bytes
    from pttt_ooc.exact.cluster.clients import SLURM, open_runner
    from pttt_ooc.exact.double_oracle.oracle import DoubleOracle
    from pttt_ooc.exact.double_oracle.saved_state import SavedState
    from pttt_ooc.extras import check_extra
    from pttt_ooc.pipeline.stages.compilation import DOUBLE_ORACLE, ensure_compiled

    # Before the search, refuse what can be refused at once: existing outputs, missing extras, jobs without a number.
    rules = _checked_game(chosen_game(game, board), solution, output)
    for file, suffix in ((mps, ".mps"), (efg, ".efg")):
        if file:
            check_output(file, force=None, suffix=suffix)
    check_extra("exact", "The command `pttt exact`")
    if workers or scheduler:
        check_extra("cluster", "A search by several processes")
    if scheduler == SLURM and not workers:
        raise typer.BadParameter("with --scheduler slurm, --workers says how many jobs to start.")
    # The tree for Gambit follows from the rules alone.
    if efg:
        _write_tree(rules, efg)
    say(f"{rules.name}: getting ready ...")
    ensure_compiled(DOUBLE_ORACLE)
    budget = memory_mb or MEMORY_MB
    # The restricted game begins with what a solution plays, or with a saved run; rounds enlarge it until the gap or the
    # time is reached.
    with open_runner(workers, scheduler, rules, budget) as runner:
        oracle = DoubleOracle(rules, math.inf, threads or cores(), budget, runner)
        played = _allow_solution(oracle, solution, data) if solution else None
        begin = time.monotonic()
        with SavedState(state, oracle) if state else nullcontext() as saved:
            _play_rounds(oracle, saved, gap, 60 * max_minutes)
        seconds = time.monotonic() - begin
    # The plans of the last round are the equilibrium; the interval is what all rounds together prove.
    last = oracle.last
    assert last
    if output:
        _write(last, oracle, played, output, data)
    low, high = last.interval
    if mps:
        _write_program(oracle, mps)
    # The facts of the run, and for comparison what pure strategies guarantee.
    if as_json:
        record = {
            "game": rules.name,
            "lower": low,
            "upper": high,
            "nashconv": last.nashconv,
            "exact": last.nashconv <= _EXACT,
            "rounds": last.number,
            "seconds": round(seconds, 3),
            "sequences": last.sequences,
            "support": last.support,
            "histories": last.histories,
            "visited": last.visited,
            "pure": _pure(rules),
            "peak_mb": round(peak_rss_bytes() / MB, 1),
        }
        print(json.dumps(record))
    else:
        _show(last, rules, seconds)


def _play_rounds(oracle: DoubleOracle, saved: SavedState | None, gap: float, most_seconds: float) -> None:
    from pttt_ooc.pipeline.show.rounds import round_line

    begin = spoken = time.monotonic()
    if oracle.last:
        say(f"Going on after round {oracle.last.number}.")
    for each in oracle.rounds(gap):
        seconds = time.monotonic() - begin
        ends = each.is_equilibrium(gap) or seconds >= most_seconds
        if saved:
            saved.save(ends)
        if ends or time.monotonic() - spoken > _LINE_SECONDS:
            spoken = time.monotonic()
            say(round_line(each, seconds))
        if ends:
            break


def _pure(game: Game) -> tuple[int, int] | None:
    """What the best pure strategies guarantee to their players; None on large boards, where it may take long."""
    from pttt_ooc.config import MOST_LISTED_SQUARES
    from pttt_ooc.exact.equilibria.pure_maximin import best_pure

    return None if game.squares > MOST_LISTED_SQUARES else (best_pure(game, 0).value, best_pure(game, 1).value)


def _checked_game(game: str | None, solution: str | None, output: Path | None) -> Game:
    """The game, after a check of the options."""
    from pttt_ooc.library.api.strategy_names import further_of, named_strategy
    from pttt_ooc.pipeline.stages.directories import EQUILIBRIUM, SOLUTION

    named = [named_strategy(solution, 0)] if solution else []
    if named and named[0].kind != "solution":
        raise StoreError(f"{solution} is not the directory of a solution.")
    if output:
        check_output_directory(output)
        for name in (EQUILIBRIUM, SOLUTION):
            if (output / name).exists():
                raise StoreError(f"{output / name} exists already; choose another directory.")
    return further_of(named, game)


def _allow_solution(oracle: DoubleOracle, solution: str, data: Path) -> Strategies:
    """The strategies of a solution, whose actions are allowed from the beginning."""
    from pttt_ooc.disk.memory import in_memory
    from pttt_ooc.exact.double_oracle.warm_start import allow_played
    from pttt_ooc.games.structure.strategy import strategy_arrays
    from pttt_ooc.library.api.strategy_names import named_strategy
    from pttt_ooc.library.api.strategy_reader import common_symmetry
    from pttt_ooc.pipeline.files.solution import read_solution
    from pttt_ooc.pipeline.stages.preparation import open_index

    named = named_strategy(solution, 0)
    index = open_index(data, oracle.game.name, common_symmetry([named]))
    played = read_solution(named.path, index, in_memory(strategy_arrays(index, "float64")))
    oracle.plans = allow_played(oracle.rules, oracle.plans, played)
    return played


def _write(last: Round, oracle: DoubleOracle, played: Strategies | None, output: Path, data: Path) -> None:
    """Write the equilibrium, at all infosets unless the game is too large."""
    from pttt_ooc.config import Config
    from pttt_ooc.disk.files import fresh_store
    from pttt_ooc.games.structure.strategy import uniform_strategy
    from pttt_ooc.pipeline.files.equilibrium import write_equilibrium
    from pttt_ooc.pipeline.stages.directories import EQUILIBRIUM
    from pttt_ooc.pipeline.stages.preparation import open_index

    whole = played
    if whole is None and Config(game=oracle.game.name).is_listed:
        index = open_index(data, oracle.game.name, "full")
        whole = uniform_strategy(index, 0, "float64"), uniform_strategy(index, 1, "float64")
    low, high = last.interval
    told = {"algorithm": "double-oracle", "iteration": last.number, "nashconv": last.nashconv}
    output.mkdir(parents=True, exist_ok=True)
    with fresh_store(output / EQUILIBRIUM) as store:
        told |= {"value_lower": low, "value_upper": high}
        symmetry = whole[0].index.symmetry if whole else "full"
        write_equilibrium(store, oracle.game, oracle.plans, told, symmetry, whole, always=played is None)
    say(f"The strategies are in {output / EQUILIBRIUM}.")


def _write_tree(rules: Game, file: Path) -> None:
    from pttt_ooc.disk.files import atomic_write_text
    from pttt_ooc.pipeline.files.gambit import efg_lines

    atomic_write_text(file, "".join(efg_lines(rules)))
    say(f"The game is in {file}.")


def _write_program(oracle: DoubleOracle, file: Path) -> None:
    from pttt_ooc.exact.double_oracle.program_file import write_program

    if oracle.checked_program is None:
        raise PtttError(f"No linear program was solved before the run ended, so {file} is not written.")
    write_program(oracle.checked_program, oracle.game, oracle.plans, file)
    say(f"The linear program is in {file}.")


def _show(last: Round, game: Game, seconds: float) -> None:
    proven = exact_value(game)
    lines = {
        "game": game.name,
        "value for player 0": "{:.15f} .. {:.15f}".format(*last.interval),
        **({} if proven is None else {"proven before": numbers.fraction(proven, 15)}),
        "NashConv of the last pair": numbers.gap(last.nashconv),
        "rounds": f"{last.number}, in {seconds:.1f} s",
        "sequences": f"{last.sequences[0]:,} and {last.sequences[1]:,}",
        "of them played": f"{last.support[0]:,} and {last.support[1]:,}",
        "infosets visited at last": f"{last.visited[0]:,} and {last.visited[1]:,}",
    }
    if pure := _pure(game):
        lines["pure strategies guarantee"] = f"{pure[0]} to player 0, {pure[1]} to player 1"
    print_facts(lines.items())
