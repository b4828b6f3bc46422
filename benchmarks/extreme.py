"""How strong the strong bot of Extreme TicTacToe is: games against our example, behind walls, from random openings.

Times are of the processor, so a busy machine changes no result; on an idle one they equal elapsed times.  The log has a
line for each game: it says what both were given, how the game went, and how deep the strong bot searched.  After an
interruption, the same command continues.

    python -m benchmarks.extreme --strong 1 --example 24 --games 40 --log games.jsonl

The example is slow: such a game takes a quarter of an hour.  With ``--positions`` its compiled twin plays, which makes
the same moves from the same number of positions.  ``--check`` measures, on positions of a log's games, how many the
example searches in its time, and whether the twin then makes the same move.

    python -m benchmarks.extreme --strong 1 --positions 100000 --games 40 --log games.jsonl
    python -m benchmarks.extreme --example 24 --check 20 --log games.jsonl
"""

from __future__ import annotations

import argparse
import json
import random
import re
import statistics
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from scipy.stats import binomtest

from pttt_ooc.other_games.extreme.bot_process import Conditions
from pttt_ooc.other_games.extreme.bot_programs import BotProgram, read_program
from pttt_ooc.other_games.extreme.match import BotMatch, play_match
from pttt_ooc.other_games.extreme.referee import FLAGS, Cell, Referee
from pttt_ooc.other_games.extreme.runner import BigBoard

PATIENCE = 20
"""The referee's limit, as a multiple of the example's time: high, so that no bot loses by the clock."""


def changed(program: BotProgram, *changes: tuple[str, str]) -> BotProgram:
    """One of our bots with parts of its text replaced, each of which must occur once."""
    source = program.source
    for old, new in changes:
        if source.count(old) != 1:
            raise ValueError(f"{program.name} does not hold {old!r} once")
        source = source.replace(old, new)
    return replace(program, source=source)


def players(strong: float, example: float, positions: int | None = None) -> tuple[BotProgram, BotProgram]:
    """Both bots, given these seconds of the processor for each move; the example as its twin if positions are given."""
    clock = "from pttt_ooc.other_games.arena.kernels.clock import PROCESSOR"
    return (
        changed(
            read_program(Path("strong")),
            ("seconds = 0.9", f"seconds = {strong!r}"),
            ("self.searcher = ready(Searcher())", f"{clock}\n        self.searcher = ready(Searcher(clock=PROCESSOR))"),
        ),
        example_of(example) if positions is None else twin_of(positions),
    )


def example_of(seconds: float) -> BotProgram:
    """The example with these seconds of the processor for each move."""
    return changed(
        read_program(Path("alphabeta")),
        ("seconds = 20.0", f"seconds = {seconds!r}"),
        ("self.end = time.time()", "self.end = time.process_time()"),
        ("if time.time() >", "if time.process_time() >"),
    )


def twin_of(positions: int) -> BotProgram:
    """The example's twin with this many positions for each move."""
    return changed(
        read_program(Path(__file__).with_name("extreme_twin.py")), ("positions = 100000", f"positions = {positions}")
    )


def opening(number: int, plies: int) -> list[Cell]:
    """Moves by lot, the same for both games of a pair."""
    generator, referee, cells = random.Random(number), Referee(), list[Cell]()
    while len(cells) < plies:
        cells.append(generator.choice(referee.valid_cells()))
        referee.play(cells[-1])
    return cells


def play(number: int, options: argparse.Namespace) -> dict[str, Any]:
    """Play a game of the series: the strong bot begins the even ones."""
    strong, example = players(options.strong, options.example, options.positions)
    side = number % 2
    limit = PATIENCE * max(options.strong, options.example)
    pair = (example, strong) if side else (strong, example)
    match = play_match(pair, Conditions(limit), opening=opening(number // 2, options.plies))
    return {
        "game": number,
        **settings_of(options),
        "strong_plays": "xo"[side],
        "result": result(match, side),
        **searched(match.printed[side]),
        **match.as_json(),
    }


def settings_of(options: argparse.Namespace) -> dict[str, Any]:
    """What all games of a series have in common."""
    example = {"example": options.example} if options.positions is None else {"positions": options.positions}
    return {"strong": options.strong, **example, "plies_by_lot": options.plies}


def result(match: BotMatch, side: int) -> str:
    """The result for the strong bot; a game without a line is decided by points."""
    if match.message not in ("WON", "DRAW"):
        return "forfeit won" if match.winner == ("P1", "P2")[side] else "forfeit lost"
    own, other = match.points[side], match.points[1 - side]
    return "drawn" if own == other else ("won" if own > other else "lost")


def searched(printed: str) -> dict[str, Any]:
    """Median depth and positions of the moves that were not decided."""
    found = [tuple(map(int, one)) for one in re.findall(r"depth (\d+) nodes (\d+) value (-?\d+)", printed)]
    open_ones = [one for one in found if abs(one[2]) < 900_000]
    return {
        "depth": statistics.median(one[0] for one in open_ones) if open_ones else None,
        "nodes": statistics.median(one[1] for one in open_ones) if open_ones else None,
    }


def summary(games: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Results by kind, and the rate of games won, with Wilson's 95% interval."""
    kinds = sorted({game["result"] for game in games})
    won = sum(game["result"] in ("won", "forfeit won") for game in games)
    interval = binomtest(won, len(games)).proportion_ci(method="wilson")
    return {
        "games": len(games),
        "results": {kind: sum(game["result"] == kind for game in games) for kind in kinds},
        "won": won / len(games),
        "interval": [round(interval.low, 3), round(interval.high, 3)],
        "depth": statistics.median(game["depth"] for game in games if game["depth"]),
        "positions a move": statistics.median(game["nodes"] for game in games if game["nodes"]),
        "plies": statistics.median(game["plies"] for game in games),
    }


def position_of(game: dict[str, Any], generator: random.Random) -> tuple[BigBoard, Cell, str]:
    """A position in which the example had to move, by lot: the board, the move before it, and the example's flag."""
    side = 1 - "xo".index(game["strong_plays"])
    own = [at for at, move in enumerate(game["moves"]) if move["player"] == side and at >= game["plies_by_lot"]]
    referee = Referee()
    for move in game["moves"][: generator.choice(own)]:
        referee.play(tuple(move["cell"]))
    return referee.board, referee.old_move, FLAGS[side]


def compare(game: dict[str, Any], seconds: float) -> dict[str, Any]:
    """Let the example think about a position of a game, and its twin with as many positions as that took."""
    board, old, flag = position_of(game, random.Random(game["game"]))
    names: dict[str, Any] = {}
    exec(compile(example_of(seconds).source, "alphabeta_bot.py", "exec"), names)

    class Counting(names["TeamAlphabeta"]):  # type: ignore[misc]
        begun, out_of_time = 0, False

        def search(self, *arguments: Any) -> Any:
            self.begun += 1
            try:
                return super().search(*arguments)
            except names["OutOfTime"]:
                self.out_of_time = True
                raise

    from benchmarks import extreme_twin  # importing compiles its search

    example, twin = Counting(), extreme_twin.TeamTwin()
    cell = example.move(board, old, flag)
    twin.positions = example.begun - example.out_of_time  # the last one was not searched
    same = twin.move(board, old, flag) == cell
    return {"game": game["game"], "out_of_time": example.out_of_time, "positions": twin.positions, "same": same}


def main() -> None:
    """Play what is missing of the series, and print its summary."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.extreme", description=__doc__.split("\n")[0])
    parser.add_argument("--strong", type=float, default=1.0, metavar="SECONDS", help="of the strong bot, for a move")
    parser.add_argument("--example", type=float, default=24.0, metavar="SECONDS", help="of the example, for a move")
    parser.add_argument("--positions", type=int, metavar="N", help="of the example's twin, which then takes its place")
    parser.add_argument("--games", type=int, default=40, metavar="N", help="two from each opening")
    parser.add_argument("--plies", type=int, default=4, metavar="N", help="moves of an opening")
    parser.add_argument("--check", type=int, metavar="N", help="compare example and twin in positions of N games")
    parser.add_argument("--log", type=Path, required=True, metavar="FILE", help="a line of JSON for each game")
    options = parser.parse_args()
    lines = options.log.read_text().splitlines() if options.log.exists() else []
    games = [json.loads(line) for line in lines]
    if options.check is not None:
        for game in games[: options.check]:
            print(json.dumps(compare(game, options.example)), flush=True)
        return
    if any({name: game.get(name) for name in settings_of(options)} != settings_of(options) for game in games):
        sys.exit(f"{options.log} holds games of another series; name another file.")
    for number in range(len(games), options.games):
        games.append(play(number, options))
        with open(options.log, "a") as file:
            file.write(json.dumps(games[-1]) + "\n")
        names = ("game", "strong_plays", "result", "message", "plies", "seconds", "depth", "nodes")
        print(json.dumps({name: games[-1][name] for name in names}), file=sys.stderr, flush=True)
    print(json.dumps(summary(games)))


if __name__ == "__main__":
    main()
