"""Commands of research on the arena's games: ``pttt lab perft``, ``experiment``, ``claims`` and ``record``."""

from __future__ import annotations

import json
import sys
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from pttt_ooc.options import JsonOption, OutputDirectoryOption, OutputFileOption
from pttt_ooc.other_games.arena.options import GameOption, ProcessesOption


def perft(
    game: GameOption = "ultimate",
    depth: Annotated[int, typer.Option(min=0, max=20, help="Moves of each sequence.")] = 4,
    moves: Annotated[str, typer.Option(metavar="M,M,...", help="Moves that are made first.")] = "",
    as_json: JsonOption = False,
    board: Annotated[str, typer.Option(metavar="ROWSxCOLUMNS", help="Board of the game mnk.")] = "",
    need: Annotated[int | None, typer.Option(help="Marks in a row that win, in the games mnk and infinite.")] = None,
) -> None:
    """Count the sequences of moves of a length: they check the rules, and the speed of the kernels."""
    from time import perf_counter

    from pttt_ooc.other_games.arena.games.catalogue import game as by_name
    from pttt_ooc.other_games.arena.kernels.perft import counting

    more = [board] * bool(board) + [f"need{need}"] * (need is not None)
    chosen = by_name("+".join([game if ":" in game or not more else f"{game}:", *more]))
    state = chosen.after(chosen.read_move(text) for text in moves.split(",") if text.strip())
    kernels = counting(chosen.rules)
    kernels.perft(state, 0)  # compiles
    begin = perf_counter()
    leaves = int(kernels.perft(state, depth))
    seconds = perf_counter() - begin
    if as_json:
        print(json.dumps({"game": chosen.text, "depth": depth, "leaves": leaves, "seconds": round(seconds, 6)}))
        return
    print(chosen.show(state))
    print(f"{leaves} sequences of {depth} moves, counted in {seconds:.3g} s.")


def experiment(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A configuration with a section arena.")],
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="NAME...", help="Experiments, round robins or trainings.  [default: all]"),
    ] = None,
    output: OutputDirectoryOption = Path("data/arena"),
    games: Annotated[int | None, typer.Option(min=1, help="Maximum games of each match or training.")] = None,
    processes: ProcessesOption = None,
    as_json: JsonOption = False,
) -> None:
    """Check claims: play the matches and round robins that a configuration lists, train, and say which claims hold.

    Games that are there are not played again.
    """
    from pttt_ooc.disk.resources import cores
    from pttt_ooc.other_games.arena.experiments import claims_table, round_robin, trainings
    from pttt_ooc.other_games.arena.experiments import experiment as experiments
    from pttt_ooc.other_games.arena.settings import RoundRobin, Trainings

    # Each experiment is a round robin, a training, or a list of matches with a claim that is judged.
    found: list[dict[str, Any]] = []
    tell = partial(print, file=sys.stderr) if sys.stderr.isatty() else lambda sentence: None
    for name, one in experiments.choose_experiments(experiments.read(file), names or []).items():
        limited: Any = one.model_copy(update={"games": min(one.games, games)}) if games else one
        place, at_once = output / name, processes or cores()
        if isinstance(limited, RoundRobin):
            found.append(round_robin.conduct(name, limited, place, at_once, tell))
            text = f"{name}:\n{round_robin.table(found[-1])}"
        elif isinstance(limited, Trainings):
            found.append(trainings.conduct(name, limited, place, at_once, tell))
            text = f"{name}:\n{claims_table.trainings(found[-1:])}"
        else:
            found.append(experiments.conduct(name, limited, place, at_once, tell))
            [verdict] = claims_table.judge(found[-1:])
            found[-1]["verdict"] = verdict
            rates = ", ".join(f"{m['rate']:.2%}" for m in found[-1]["matches"])
            text = f"{name}: {rates} of {limited.games} games. {verdict.capitalize()}.\n"
        if not as_json:
            print(text, end="", flush=True)
    if as_json:
        print(json.dumps({"experiments": found}))


def claims(
    directory: Annotated[Path, typer.Argument(metavar="DIR", help="Directory with results of experiments.")] = Path(
        "data/arena"
    ),
) -> None:
    """Print the results of experiments as tables in Markdown."""
    from pttt_ooc.other_games.arena.experiments.claims_table import everything, read_results

    print(everything(read_results(directory)), end="")


def record(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A configuration with a section arena.")],
    output: OutputFileOption,
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="NAME...", help="Experiments, round robins or trainings.  [default: all]"),
    ] = None,
    directory: Annotated[
        Path, typer.Option("--results", metavar="DIR", help="Directory with results of experiments.")
    ] = Path("data/arena"),
) -> None:
    """Write results as compact records, a line of JSON for each match or training.

    Records of other names in FILE stay.
    """
    from pttt_ooc.other_games.arena.experiments import experiment as experiments
    from pttt_ooc.other_games.arena.experiments import records

    settings = experiments.choose_experiments(experiments.read(file), names or [])
    lines = records.of_results(file, settings, directory)
    records.write(output, lines)
    print(f"{output}: {len(lines)} records of {len(settings)} experiments, round robins or trainings.")
