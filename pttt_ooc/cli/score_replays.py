"""Strangers' records: `pttt lab score --replays`."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from pttt_ooc.games.rules.game import Game

if TYPE_CHECKING:
    from pttt_ooc.library.scoring.opponents import Opponents
    from pttt_ooc.library.scoring.replay_judge import JudgedReplay, ReplayedMove
    from pttt_ooc.library.scoring.replays import Replay


def score_replays(files: list[str], equilibrium: str | None, as_json: bool) -> None:
    """Print what can be told about each file; a file that is refused ends the command after the others."""
    from pttt_ooc.cli.console import say
    from pttt_ooc.errors import PtttError, ReplayError, on_one_line
    from pttt_ooc.library.scoring.replays import read_replay

    refused: list[str] = []
    for file in files:
        try:
            judged = _judge(read_replay(Path(file)), equilibrium)
        except PtttError as error:
            refused.append(str(error))
            continue
        print(json.dumps(judged.as_record()) if as_json else replay_text(judged))
    if refused:
        for sentence in refused[:-1]:
            say(on_one_line(sentence))
        raise ReplayError(refused[-1])


def _judge(replay: Replay, equilibrium: str | None) -> JudgedReplay:
    from pttt_ooc.errors import ReplayError
    from pttt_ooc.library.scoring.replay_judge import judge_replay, phantom_game_of

    game = phantom_game_of(replay)
    if game is not None:
        return judge_replay(replay, game, _opponents(game, equilibrium))
    from pttt_ooc.other_games.arena.research.solvers.openspiel_replays import GAME, judge_ultimate

    if replay.game == GAME:
        return judge_ultimate(replay)
    raise ReplayError(
        f"{replay.source}: This is a replay of {replay.game}; replays of phantom_ttt, dark_hex and {GAME} are told."
    )


@cache
def _opponents(game: Game, equilibrium: str | None) -> Opponents | None:
    """The equilibrium that attempts are measured against; None if the game is not solved in the data directory."""
    from pttt_ooc.cli.console import say
    from pttt_ooc.cli.score_games import read_opponents
    from pttt_ooc.config import solving_command
    from pttt_ooc.errors import StoreError
    from pttt_ooc.library.api.strategy_reader import best_solution
    from pttt_ooc.library.api.structures import data_directory

    try:
        name = equilibrium or str(best_solution(game, data_directory(), plans=True))
    except StoreError:
        command = solving_command(game.name, data_directory())
        say(f"{game.name} is not solved here, so that no losses and beliefs are told; `{command}` solves it.")
        return None
    return read_opponents(game, name)


def replay_text(judged: JudgedReplay) -> str:
    """What is printed about one replay."""
    from pttt_ooc.errors import on_one_line

    lines = [f"{on_one_line(judged.source)}: {judged.game}; the game {judged.result}."]
    lines += [_line(number, move) for number, move in enumerate(judged.moves, start=1)]
    for player in (0, 1):
        losses = [move.loss for move in judged.moves if move.player == player and move.loss is not None]
        made = sum(move.player == player for move in judged.moves)
        if losses:
            lines.append(f"Player {player} lost {sum(losses):.6f} at {len(losses)} of {made} moves.")
    return "\n".join([*lines, *judged.remarks])


def _line(number: int, move: ReplayedMove) -> str:
    loss = "loss unknown" if move.loss is None else f"loses {move.loss:.6f}"
    belief = "" if move.fails is None else f", fails with probability {move.fails:.4f}"
    at = f" at {move.infoset}" if move.infoset else ""
    told = f"; {loss}{belief}" if move.legal else ""
    return f"{number:3}. player {move.player}{at}: {move.move} {move.outcome}{told}"
