"""Commands that play on the terminal: ``pttt arena play``, ``replay``, and ``train``, with the report's options."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from pttt_ooc.options import JsonOption
from pttt_ooc.other_games.arena.options import AgentArgument, GameOption

if TYPE_CHECKING:
    from pttt_ooc.other_games.arena.agents.base import Agent
    from pttt_ooc.other_games.arena.games.base import Game
    from pttt_ooc.pipeline.show.dialogue import Dialogue


_HELP = "Type a move as the agent's moves are shown. q ends the game."


def play_game(game: Game, opponent: Agent, person: int) -> int:
    """Let a person play a game; they may leave it.

    Parameters
    ----------
    opponent
        An agent that is seated at the game.
    person
        The number of the person's player, 0 or 1.

    Returns
    -------
    The exit code of the program.
    """
    from pttt_ooc.pipeline.show.dialogue import Dialogue

    dialogue, ended = Dialogue(), []
    code = dialogue.until_ended(lambda: ended.append(_play(game, opponent, person, dialogue)))
    dialogue.say(ended[0] if ended else "The game is left.")
    return code


def _play(game: Game, opponent: Agent, person: int, dialogue: Dialogue) -> str:
    """Play to the end; who has won."""
    from pttt_ooc.other_games.arena.games.base import DRAW, FIRST, PLAYER, RESULT, UNFINISHED, ArenaError

    state = game.start()
    while state[RESULT] == UNFINISHED:
        if int(state[PLAYER]) != person:
            move = opponent.choose(state)
            dialogue.say(f"The agent plays {game.show_move(move)}.")
            state = game.play(state, move)
            continue
        print(game.show(state))
        typed = dialogue.ask_command("Your move:", _HELP)
        try:
            state = game.play(state, game.read_move(typed))
        except ArenaError as error:
            dialogue.say(str(error))
    print(game.show(state))
    result = int(state[RESULT])
    return "It is a draw." if result == DRAW else "You have won." if result == FIRST + person else "The agent has won."


def play(
    agent: AgentArgument = "alphabeta:time=1",
    game: GameOption = "ultimate",
    second: Annotated[bool, typer.Option("--second", help="The agent starts.")] = False,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the agent.")] = 0,
) -> None:
    """Play against an agent on the terminal."""
    from pttt_ooc.other_games.arena.agents.catalogue import agent as agent_by_name
    from pttt_ooc.other_games.arena.games.catalogue import game as game_by_name

    rules, opponent = game_by_name(game), agent_by_name(agent)
    opponent.seat(rules)
    opponent.begin(seed)
    raise typer.Exit(play_game(rules, opponent, int(second)))


def replay(
    directory: Annotated[Path, typer.Argument(metavar="DIR", help="Directory of a match.")],
    number: Annotated[int, typer.Argument(min=0, help="Number of the game.")] = 0,
) -> None:
    """Show a game of a match, move by move; moves against the rules are refused."""
    from pttt_ooc.other_games.arena.games.base import PLAYER, ArenaError
    from pttt_ooc.other_games.arena.games.catalogue import game as by_name
    from pttt_ooc.other_games.arena.matches import log

    settings = directory / "match.json"
    if not settings.exists():
        raise ArenaError(f"{directory} is not the directory of a match: it has no match.json.")
    facts = json.loads(settings.read_text(encoding="utf-8"))
    rows = [row for row in log.read_lines(directory / log.GAMES) if row["number"] == number]
    if not rows:
        raise ArenaError(f"{directory} has no game {number}.")
    row, rules = rows[0], by_name(facts["game"])
    for state, move in zip(log.replay(facts["game"], row), [*row["moves"], None], strict=False):
        print(rules.show(state))
        if move is not None:
            print(f"\n{facts['agents'][row['starter'] ^ int(state[PLAYER])]}: {rules.show_move(move)}\n")
    if "forfeit" in row:
        print(f"{facts['agents'][1 - row['winner']]} forfeits: {row['forfeit']}")
    print("A draw." if row["winner"] == 2 else f"{facts['agents'][row['winner']]} wins.")


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
    from pttt_ooc.other_games.arena.agents.value_tables import Rates, Training, ValueTable, better
    from pttt_ooc.other_games.arena.games.catalogue import game as by_name

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
        raise typer.Exit(play_game(chosen, bot, 1 - opponent))


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
