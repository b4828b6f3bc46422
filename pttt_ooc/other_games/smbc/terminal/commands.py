"""The commands of tic-tac-toe with secret goals: ``pttt smbc ...``.

They import what they need when they run, so that ``pttt --help`` is fast.
"""

from __future__ import annotations

import json
import sys
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from pttt_ooc.disk.numbers import gap
from pttt_ooc.errors import ConfigError
from pttt_ooc.extras import check_extra
from pttt_ooc.options import (
    JsonOption,
    OutputDirectoryOption,
    ThreadsOption,
    group,
)
from pttt_ooc.pipeline.show.tables import print_facts, print_table
from pttt_ooc.types import Algorithm

DATA = Path("data/smbc")
SolutionArgument = Annotated[Path, typer.Argument(metavar="DIR", help="The directory of a solved match.")]

smbc = group("Tic-tac-toe with secret goals: solve and play the match.")


def add_commands(app: typer.Typer) -> None:
    """Add the commands to the command line."""
    smbc.command(epilog="Example: pttt smbc solve --winning-score 5 --output data/smbc")(solve)
    smbc.command("best-response", epilog="Example: pttt smbc best-response data/smbc --json")(best_response)
    smbc.command(epilog="Example: pttt smbc simulate data/smbc --matches 1000000")(simulate)
    smbc.command(epilog="Example: pttt smbc goals data/smbc --scores 0-0 --all-equilibria")(goals)
    smbc.command(epilog="Example: pttt smbc study data/smbc --json")(study)
    smbc.command(epilog="Example: pttt smbc explore data/smbc --scores 4-4")(explore)
    smbc.command(epilog="Example: pttt smbc play data/smbc")(play)
    app.add_typer(smbc, name="smbc")


def solve(
    output: OutputDirectoryOption = DATA,
    winning_score: Annotated[int, typer.Option(help="The points that win the match.")] = 5,
    maximum_subgame_exploitability: Annotated[
        float,
        typer.Option(
            help="A round is solved when its NashConv is at most this: what both best responses gain together."
        ),
    ] = 5e-7,
    check_exploitability_every: Annotated[int, typer.Option(help="Iterations between two checks.")] = 10,
    algorithm: Annotated[Algorithm | None, typer.Option(help="The update rule.  [default: sapdcfr+]")] = None,
    discount: Annotated[
        bool | None,
        typer.Option(help="Discounted CFR, or plain CFR, in place of an --algorithm."),
    ] = None,
    discount_alpha: Annotated[float | None, typer.Option(help="Discount of positive regrets.")] = None,
    discount_beta: Annotated[float | None, typer.Option(help="Discount of negative regrets.")] = None,
    discount_gamma: Annotated[
        float | None, typer.Option(help="Iteration t has the weight t^gamma in the average.")
    ] = None,
    alternate_updates: Annotated[
        bool,
        typer.Option(
            "--alternate-updates/--simultaneous-updates", help="Update the players' regrets in turn, or both at once."
        ),
    ] = True,
    small_move_epsilon: Annotated[
        float, typer.Option(help="A bonus for moves further up and left; the top left square gets all of it.")
    ] = 0,
    small_move_epsilon_decay: Annotated[
        float, typer.Option(help="The fraction of the bonus that each iteration removes.")
    ] = 0,
    fill_board: Annotated[bool, typer.Option("--fill-board", help="Rounds continue until the board is full.")] = False,
    max_iterations: Annotated[int, typer.Option(help="The most iterations of each round.")] = 100_000,
    threads: ThreadsOption = None,
) -> None:
    """Solve the match, or continue after an interruption."""
    if discount is not None and algorithm is not None:
        raise ConfigError("--algorithm and --discount or --no-discount exclude each other; leave one of them out.")
    from pttt_ooc.config import check_section
    from pttt_ooc.disk.resources import cores
    from pttt_ooc.other_games.smbc import solve as solving
    from pttt_ooc.other_games.smbc.settings import SolveSettings

    # Without an --algorithm, --discount stands for DCFR and --no-discount for plain CFR.
    given = {
        "winning_score": winning_score,
        "fill_board": fill_board,
        "maximum_subgame_exploitability": maximum_subgame_exploitability,
        "check_exploitability_every": check_exploitability_every,
        "algorithm": algorithm or {None: "sapdcfr+", True: "dcfr", False: "cfr"}[discount],
        "alpha": discount_alpha,
        "beta": discount_beta,
        "gamma": discount_gamma,
        "alternate_updates": alternate_updates,
        "small_move_epsilon": small_move_epsilon,
        "small_move_epsilon_decay": small_move_epsilon_decay,
        "max_iterations": max_iterations,
    }
    settings = check_section(SolveSettings, given, "the options")
    solving.solve(settings, output, threads or cores(), partial(_tell_solved, maximum_subgame_exploitability))
    # The value from 0-0 is that of the whole match; a round may have stopped before it was solved.
    result = solving.load(output)
    value = result.manifest["rounds"]["0-0"]["value"]
    print(f"The match to {winning_score}: value {value:.7f} for the player who moves first.")
    print(f"The second player wins {(1 - value) / 2:.4%} of matches.")
    if max(facts["exploitability"] for facts in result.manifest["rounds"].values()) > maximum_subgame_exploitability:
        print(f"Not all rounds reached {maximum_subgame_exploitability:g} within {max_iterations} iterations.")


def _tell_solved(target: float, scores: tuple[int, int], row: dict[str, Any]) -> None:
    """Tell on stderr that a pair of rounds is solved."""
    if max(row["exploitabilities"]) <= target:
        values = ", ".join(f"{value:+.7f}" for value in row["values"])
        print(f"Scores {scores[0]}-{scores[1]}: solved in {row['iteration']} iterations, {values}.", file=sys.stderr)


def best_response(
    directory: SolutionArgument,
    as_json: JsonOption = False,
) -> None:
    """Compute exact best responses to a solved match: in each round, and in the whole match."""
    from pttt_ooc.other_games.smbc.findings import best_responses
    from pttt_ooc.other_games.smbc.solve import load

    found = best_responses(load(directory))
    if as_json:
        print(json.dumps(found))
        return
    print(f"value of the match for the player who moves first  {found['value']:.9f}")
    print(f"the second player wins                             {found['second_player_wins']:.6%}")
    print(f"a perfect first player gets                        {found['best_response_first']:.9f}")
    print(f"a perfect second player gets                       {found['best_response_second']:.9f}")
    print(f"NashConv, the sum of what both gain                {gap(found['exploitability'])}")
    print(f"most is lost to an opponent with the goal          {found['worst_goal']}")
    print(f"most is lost at the scores                         {found['worst_scores']}")
    print("\nscores      value    NashConv")
    for scores, facts in sorted(found["rounds"].items()):
        print(f"{scores}  {facts['value']:+.7f}    {gap(facts['exploitability'])}")


def simulate(
    directory: SolutionArgument,
    matches: Annotated[int, typer.Option(min=1, metavar="N", help="To play.")] = 1_000_000,
    seed: Annotated[int, typer.Option(min=0, max=2**32 - 1, help="Seed of the random numbers.")] = 0,
    as_json: JsonOption = False,
) -> None:
    """Play matches of the solution against itself, and compare the results with the exact values."""
    from pttt_ooc.other_games.smbc import simulation
    from pttt_ooc.other_games.smbc.solve import load

    found = simulation.simulation_as_json(simulation.simulate(load(directory), matches, seed), seed)
    if as_json:
        print(json.dumps(found))
        return
    print(f"{matches} matches, {found['rounds_in_a_match']:.3f} rounds in a match")
    print()
    rows = [
        (scores, one["matches"], f"{one['won']:.4%}", f"{one['expected']:.4%}", f"{one['standard_errors']:+.2f}")
        for scores, one in sorted(found["scores"].items())
    ]
    print_table(("scores", "matches", "won by who moves first", "expected", "standard errors"), rows)


def goals(
    directory: SolutionArgument,
    scores: Annotated[
        str | None, typer.Option(metavar="A-B", help="Scores of the round; default: a round as a game of its own.")
    ] = None,
    all_equilibria: Annotated[
        bool, typer.Option("--all-equilibria", help="Also find ranges in all equilibria: minutes of linear programs.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Show the first player's value of a round, by the goals of both players."""
    from pttt_ooc.other_games.smbc.findings import goals_of_round, score_numbers
    from pttt_ooc.other_games.smbc.solve import load

    if all_equilibria:
        check_extra("smbc", "--all-equilibria")
    solution = load(directory)
    found = goals_of_round(solution, score_numbers(scores, solution.settings.winning_score), all_equilibria)
    if as_json:
        print(json.dumps(found))
        return
    print(f"value of the round {found['value']:+.9f}; rows: the first player's goal, columns: the second player's")
    entries = [[*row, mean] for row, mean in zip(found["entries"], found["rows"], strict=True)]
    lines = zip([*found["goals"], "mean"], [*entries, [*found["columns"], found["value"]]], strict=True)
    print_table(
        ("goal", *found["goals"], "mean"), [(goal, *(f"{entry:+.9f}" for entry in line)) for goal, line in lines]
    )
    if all_equilibria:
        print("\nIn all equilibria:")
        for line in found["sentences"]:
            print(f"- {line}")


def study(
    directory: SolutionArgument,
    iterations: Annotated[int, typer.Option(min=1, metavar="N", help="Iterations of each run on one round.")] = 1000,
    draws: Annotated[int, typer.Option(min=0, metavar="N", help="Pure strategies drawn for each round.")] = 20,
    seed: Annotated[int, typer.Option(min=0, help="Of these.")] = 0,
    as_json: JsonOption = False,
) -> None:
    """Show the losses of pure strategies, and the effect of bonuses for small moves."""
    from pttt_ooc.other_games.smbc.solve import load
    from pttt_ooc.other_games.smbc.study import studies

    found = studies(load(directory), iterations, draws, seed)
    if as_json:
        print(json.dumps(found))
        return
    rounded = found["rounding"]
    print_facts(
        [
            ("NashConv of the match", gap(rounded["solution"])),
            ("with the most likely move everywhere", gap(rounded["most_likely"])),
            (f"with the best of {draws + 1} roundings of each round", gap(rounded["best"])),
            ("rounds that lose less than 1e-6 so", ", ".join(rounded["pure_rounds"]) or "none"),
        ]
    )
    print()
    moves = [
        (f"{row['epsilon']:g}", f"{row['decay']:g}", gap(row["exploitability"]), row["reached"], row["mixed"])
        for row in found["small_moves"]
    ]
    print_table(("bonus", "decay", "NashConv", "infosets reached", "with more than one move"), moves)


def explore(
    directory: SolutionArgument = DATA,
    scores: Annotated[
        str, typer.Option(metavar="A-B", help="Points of the first and of the second player of the round.")
    ] = "0-0",
) -> None:
    """Look up the solution's strategies and values at any position of any round.

    At the prompt: m 3 makes a move, u undoes it, g w l sets goals, s 4 4 scores, i 40 the iteration, q quits.
    """
    from pttt_ooc.other_games.smbc.inspection import Lookouts
    from pttt_ooc.other_games.smbc.terminal.explore import explore as explored
    from pttt_ooc.other_games.smbc.terminal.explore import scores_of
    from pttt_ooc.pipeline.show.dialogue import Dialogue

    first, dash, second = scores.partition("-")
    if not dash:
        raise ConfigError(f"--scores is {scores!r}; it must be two numbers, such as 4-4.")
    lookouts = Lookouts(directory)
    at = scores_of(first, second, lookouts.solution.settings.winning_score)
    raise typer.Exit(explored(lookouts, at, Dialogue()))


def play(directory: SolutionArgument = DATA) -> None:
    """Play matches against the solution.

    After each round the bot's goal and its beliefs about your goal are shown. Finished matches are kept in
    DIR/matches.jsonl, and counted beside the exact expectation.
    """
    from pttt_ooc.other_games.smbc.bot import SolutionBot
    from pttt_ooc.other_games.smbc.solve import load
    from pttt_ooc.other_games.smbc.terminal.play import play as played
    from pttt_ooc.pipeline.show.dialogue import Dialogue

    raise typer.Exit(played(SolutionBot(load(directory)), directory, Dialogue()))
