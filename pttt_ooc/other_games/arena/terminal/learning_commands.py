"""The command ``pttt arena train``, with the options of the report on reinforcement learning."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from pttt_ooc.disk.outputs import check_output
from pttt_ooc.options import ForceOption, JsonOption, OutputFileOption


def train(
    iterations: Annotated[int, typer.Option("-i", "--iterations", min=1, help="Games of the training.")] = 100_000,
    train: Annotated[Literal["y", "n"], typer.Option("-t", "--train", help="n: play without training.")] = "y",
    start: Annotated[
        Literal["1", "2"], typer.Option("-s", "--start", help="Without training: you go first (1).")
    ] = "2",
    board_size: Annotated[int, typer.Option("-b", "--board-size", help="The side of the finite board.")] = 3,
    need: Annotated[int, typer.Option("-n", "--need", help="Marks in a row that win.")] = 3,
    form: Annotated[
        Literal["finite", "infinite", "smart"],
        typer.Option(help="A finite board; bounds that grow when it is full; only squares near marks."),
    ] = "finite",
    limiter: Annotated[
        int | None, typer.Option(help="Limiter of an infinite board.  [default: 5 if infinite, 2 if smart]")
    ] = None,
    explore_rate: Annotated[float, typer.Option(min=0, max=1, help="The chance of a random move.")] = 0.3,
    step_size: Annotated[float, typer.Option(min=0, max=1, help="How far values move.")] = 0.1,
    draw_reward: Annotated[float, typer.Option(min=0, max=1, help="A win has 1, a loss 0.")] = 0.1,
    ties: Annotated[
        Literal["first", "random"], typer.Option(help="Which of several moves with the same value is chosen.")
    ] = "first",
    targets: Annotated[
        Literal["chain", "reward"],
        typer.Option(help="Each value is the target of the one before it, or the reward is the target of all."),
    ] = "chain",
    policies: Annotated[Path, typer.Option(metavar="DIR", help="Of both policies.")] = Path("data/arena/policies"),
    seed: Annotated[int, typer.Option(min=0, help="Seed of the random moves.")] = 0,
    play: Annotated[bool, typer.Option("--play/--no-play", help="Then play against the better bot.")] = True,
    as_json: JsonOption = False,
) -> None:
    """Train two bots by games against each other, and play against the better one.

    Training continues from existing policies.  The policies are in a directory of the game's name, one file
    for each player.  With --json, no game is played.
    """
    from pttt_ooc.other_games.arena.agents.trained import ValueTable
    from pttt_ooc.other_games.arena.games.catalogue import game as by_name
    from pttt_ooc.other_games.arena.learning.training import Rates, Training, better

    # Both policies of a game share a directory, where training continues.
    chosen = by_name(_text(form, board_size, need, limiter))
    directory = policies / chosen.text.replace(":", "-")
    opponent = 2 - int(start)  # the player whose moves the bot makes
    # After the training the person meets the bot that has done better; without one, `start` decides.
    if train == "y":
        training = Training(chosen, directory, seed)
        rates = Rates(
            explore=explore_rate,
            step=step_size,
            draw=draw_reward,
            shuffle=ties == "random",
            chain=targets == "chain",
        )
        training.run(iterations, rates)
        training.save()
        opponent = better(training.results)
        summary = _summary(chosen.text, training, opponent)
        if as_json:
            print(json.dumps(summary))
            return
        print(_sentences(summary))
    bot = ValueTable(str(directory))
    bot.seat(chosen)
    if play:
        from pttt_ooc.other_games.arena.terminal.play import play_game

        play_game(chosen, bot, 1 - opponent)


def _text(form: str, board_size: int, need: int, limiter: int | None) -> str:
    """The game's name with its options."""
    if form == "finite":
        return f"mnk:{board_size}x{board_size}+need{need}"
    if form == "infinite":
        return f"infinite:growing+need{need}+limiter{5 if limiter is None else limiter}"
    return f"infinite:near+need{need}+limiter{2 if limiter is None else limiter}"


def _summary(text: str, training: Any, opponent: int) -> dict[str, Any]:
    """The result of a training, with draws counted in both ways."""
    _, first, second, draws = (int(number) for number in training.results)
    games = first + second + draws
    return {
        "game": text,
        "games": games,
        "first_wins": first,
        "second_wins": second,
        "draws": draws,
        "first_with_draws": (first + draws) / games,
        "first_without_draws": first / max(first + second, 1),
        "positions": [table.used for table in training.tables],
        "games_learnt_from": training.tables[0].iterations,
        "better": opponent + 1,
    }


def _sentences(summary: dict[str, Any]) -> str:
    """The result for people."""
    with_draws, without = summary["first_with_draws"], summary["first_without_draws"]
    return "\n".join(
        [
            f"{summary['game']}: {summary['games']:,} games; "
            f"the policies have learnt from {summary['games_learnt_from']:,}.",
            f"Player 1 won {summary['first_wins']:,}, player 2 {summary['second_wins']:,}; "
            f"{summary['draws']:,} were draws.",
            f"Draws counted for player 1: {with_draws:.1%} to {1 - with_draws:.1%}.",
            f"Without draws: {without:.1%} to {1 - without:.1%}.",
            f"The better bot is player {summary['better']}.",
        ]
    )


def train_patterns(
    output: OutputFileOption,
    force: ForceOption = False,
    games: Annotated[int, typer.Option(min=1, help="Games of the evaluation against itself.")] = 60_000,
    need: Annotated[int, typer.Option("-n", "--need", help="Marks in a row that win.")] = 5,
    against: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Then play policies that `pttt arena train` has made.")
    ] = None,
    matches: Annotated[int, typer.Option(min=2, help="Games against them.")] = 400,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the random moves.")] = 0,
) -> None:
    """Learn an evaluation of k-in-a-row on the infinite board by TD(lambda) from self-play."""
    check_output(output, [against], force=force)
    from time import process_time

    from pttt_ooc.other_games.arena.agents import patterns
    from pttt_ooc.other_games.arena.agents.trained import PatternAgent, ValueTable
    from pttt_ooc.other_games.arena.games.catalogue import game as by_name

    near, growing = by_name(f"infinite:near+need{need}+limiter2"), by_name(f"infinite:growing+need{need}+limiter5")
    table = ValueTable(str(against))
    if against is not None:
        table.seat(growing)
    begin = process_time()
    weights, results = patterns.train(near, games, seed)
    seconds = process_time() - begin
    patterns.save(output, near, weights)
    print(f"{games:,} games in {seconds:.1f} s of processor time; the first player won {results[1] / games:.1%}.")
    if against is not None:
        bot = PatternAgent()
        bot.take(growing, weights)
        won, lost, drawn = patterns.versus(growing, (bot, table), matches, seed)
        print(f"Against the policies in {against}: {won} games won, {lost} lost, {drawn} drawn.")


def train_ultimate(
    output: OutputFileOption,
    force: ForceOption = False,
    games: Annotated[int, typer.Option(min=1, help="Games of the evaluation against itself.")] = 4_000_000,
    rules: Annotated[str, typer.Option("--game", help="Ultimate, with its options.")] = "ultimate",
    seed: Annotated[int, typer.Option(min=0, help="Seed of the random moves.")] = 0,
) -> None:
    """Learn an evaluation of Ultimate tic-tac-toe by TD(lambda) from self-play, for the agent tuned:path=FILE."""
    check_output(output, force=force)
    from time import process_time

    from pttt_ooc.other_games.arena.games.catalogue import game as by_name
    from pttt_ooc.other_games.arena.learning import ultimate

    chosen = by_name(rules)
    begin = process_time()

    def tell(played: int, results: Any) -> None:
        if sys.stderr.isatty():
            print(f"\r{played:,} of {games:,} games", end="", file=sys.stderr)

    weights, results = ultimate.train(chosen, games, seed, tell)
    if sys.stderr.isatty():
        print(file=sys.stderr)
    ultimate.save(output, chosen, weights)
    print(
        f"{games:,} games in {process_time() - begin:.1f} s of processor time; the first player won "
        f"{results[1] / games:.1%}, the second {results[2] / games:.1%}."
    )
