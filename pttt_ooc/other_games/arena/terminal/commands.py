"""The commands of the arena: ``pttt arena ...``.

Imports are inside the commands, so that ``pttt --help`` is fast.
"""

from __future__ import annotations

import json
import sys
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from pttt_ooc.errors import on_one_line
from pttt_ooc.options import (
    BrowserOption,
    HostOption,
    JsonOption,
    OutputDirectoryOption,
    OutputFileOption,
    PortOption,
    group,
)
from pttt_ooc.other_games.arena.research.solvers.commands import (
    attack,
    certify_endings,
    endings,
    errors,
    forced_win,
    solve,
    train_patterns,
    train_ultimate,
)
from pttt_ooc.other_games.arena.terminal.play_commands import AgentArgument, GameOption, play, replay, train
from pttt_ooc.other_games.arena.wing import pages

GameArgument = Annotated[
    str, typer.Argument(metavar="GAME", help="A game, with its options after a colon, such as ultimate:open.")
]
ProcessesOption = Annotated[int | None, typer.Option(min=1, metavar="N", help="Games at a time.  [default: all cores]")]

arena = group("Games in which both players see everything: agents, matches, experiments.")


def add_commands(app: typer.Typer) -> None:
    """Add the commands to the command line."""
    arena.command(epilog="Example: pttt arena match alphabeta:heur=3 random --games 200")(match)
    arena.command(epilog="Example: pttt arena experiment examples/arena/ultimate.yaml heur1-random")(experiment)
    arena.command(epilog="Example: pttt arena claims data/arena")(claims)
    arena.command(epilog="Example: pttt arena record examples/arena/rows.yaml -o docs/records/arena/rows.jsonl")(record)
    arena.command(epilog="Example: pttt arena play alphabeta:time=1")(play)
    arena.command(epilog="Example: pttt arena replay data/arena/match 0")(replay)
    arena.command(epilog="Example: pttt arena perft ultimate --depth 6 --moves 0,3,27")(perft)
    arena.command(epilog="Example: pttt arena solve --board 5x5 --need 4")(solve)
    arena.command(epilog="Example: pttt arena endings -o data/arena/endings.jsonl")(endings)
    arena.command("certify-endings", epilog="Example: pttt arena certify-endings endings.jsonl -o endings.gz")(
        certify_endings
    )
    arena.command(epilog="Example: pttt arena errors data/arena/endings.jsonl tuned:time=0.01 random")(errors)
    arena.command(epilog="Example: pttt arena attack -o data/arena/attack.jsonl")(attack)
    arena.command("forced-win", epilog="Example: pttt arena forced-win -o ultimate-open.gz")(forced_win)
    arena.command(epilog="Example: pttt arena train -i 500000 -b 3 -n 3")(train)
    arena.command("train-patterns", epilog="Example: pttt arena train-patterns -o weights")(train_patterns)
    arena.command("train-ultimate", epilog="Example: pttt arena train-ultimate -o ultimate.weights")(train_ultimate)
    arena.command(epilog="Example: pttt arena serve data/arena")(serve)
    app.add_typer(arena, name="arena")


def perft(
    game: GameArgument,
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


def match(
    one: AgentArgument,
    other: AgentArgument,
    game: GameOption = "ultimate",
    games: Annotated[int, typer.Option(help="Number of games.")] = 100,
    seed: Annotated[int, typer.Option(min=0, help="The games follow from it, unless a clock decides.")] = 0,
    start: Annotated[str, typer.Option(help="Who starts: random, both (in turn), or first.")] = "random",
    opening: Annotated[int, typer.Option(min=0, help="Moves at random with which each game begins.")] = 0,
    limit: Annotated[float | None, typer.Option(help="Seconds for a move; a slower move loses the game.")] = None,
    clock: Annotated[str, typer.Option(help="The clock of the limit: wall or processor.")] = "wall",
    stop_early: Annotated[
        tuple[float, float] | None,
        typer.Option(
            metavar="LOW HIGH",
            help="End when it is clear that the first agent's score is LOW or HIGH, such as 0.5 0.55; both start.",
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="DIR", help="The directory to write the games to; default: none."),
    ] = None,
    processes: ProcessesOption = None,
    as_json: JsonOption = False,
) -> None:
    """Let two agents play many games, and test who is stronger.

    With --output, the same command continues after an interruption.
    """
    from pttt_ooc.disk.resources import cores
    from pttt_ooc.other_games.arena.experiments.significance import Units, told_detectable
    from pttt_ooc.other_games.arena.games.base import ArenaError
    from pttt_ooc.other_games.arena.matches.runner import run
    from pttt_ooc.other_games.arena.matches.settings import Match
    from pttt_ooc.other_games.arena.matches.statistics import Sequential, pairs_of, rate_of

    # A sequential test looks at pairs of games with swapped sides, so that the agents start in turn.
    if stop_early is not None and not 0 < stop_early[0] < stop_early[1] < 1:
        raise ArenaError("--stop-early needs two scores between 0 and 1, the lower one first.")
    wanted = Match(game, (one, other), games, seed, "both" if stop_early else start, limit, clock, opening)
    test = Sequential(*stop_early) if stop_early else None

    # After each game: show the score, and end once the test has its verdict.
    def tell(done: list[dict[str, Any]]) -> bool:
        if sys.stderr.isatty():
            print(f"\r{len(done)} of {games} games: {rate_of(done).rate:.2%}", end="", file=sys.stderr)
        return test is not None and test.verdict(pairs_of(done)) is not None

    done = run(wanted, output, processes or min(cores(), games), tell)
    if sys.stderr.isatty():
        print(file=sys.stderr)
    # The record: the score, the exact test over independent units, and who has forfeited why.
    rate = rate_of(done)
    record = wanted.to_json() | {"games": len(done)} | rate.to_json()
    units = Units.of(record | {"pairs": pairs_of(done) if wanted.start == "both" else None})
    record |= {"interval": list(units.interval), "log10_p": units.log10_p, "units": units.number}
    faults = [[one["forfeit"] for one in done if "forfeit" in one and one["winner"] == 1 - own] for own in (0, 1)]
    record["forfeits"], record["first_forfeits"] = [len(own) for own in faults], [(own or [""])[0] for own in faults]
    if test is not None:
        record["pairs"], record["verdict"] = pairs_of(done), test.verdict(pairs_of(done))
    if as_json:
        print(json.dumps(record))
        return
    # The same in sentences.
    low, high = units.interval
    print(f"{wanted.agents[0]} scores {rate.rate:.2%} against {wanted.agents[1]} in {rate.games} games of {game}.")
    print(f"It won {rate.wins}, drew {rate.draws}, lost {rate.losses}; 95% interval {low:.2%} to {high:.2%}.")
    print(
        f"Exact test that both are equally strong, over {units.number} {('games', 'pairs of games')[units.games - 1]}: "
        f"{p_text(units.log10_p)}; {told_detectable(units.detectable)}."
    )
    for text, lost, why in zip(wanted.agents, record["forfeits"], record["first_forfeits"], strict=True):
        if lost:
            print(f"{text} forfeited {lost} games; the first: {on_one_line(why)}")
    if test is not None:
        print(f"Sequential test between {test.low:g} and {test.high:g}: {record['verdict'] or 'undecided'}.")


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

    What is there is not played again.
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


def p_text(log10_p: float) -> str:
    """A p-value for people."""
    return f"p = {10**log10_p:.3g}" if log10_p > -10 else f"p = 10^{log10_p:.1f}"


def serve(
    directory: Annotated[Path, typer.Argument(metavar="DIR", help="Directory of matches.")] = Path("data/arena"),
    host: HostOption = "127.0.0.1",
    port: PortOption = 0,
    browser: BrowserOption = True,
) -> None:
    """Serve pages: games against agents, games of two agents, and the matches in DIR and its folders, move by move."""
    from pttt_ooc.extras import extra

    with extra("course", "`pttt arena serve`"):
        from pttt_ooc.site.service.local_server import serve as served
    served([pages(directory)], host, port, "/arena/play" if browser else None)
