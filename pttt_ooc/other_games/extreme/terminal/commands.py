"""The commands of the Extreme TicTacToe tournament: ``pttt extreme ...``.

What they need is imported when they run, so that ``pttt --help`` comes at once.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pttt_ooc.disk.outputs import check_output
from pttt_ooc.errors import on_one_line
from pttt_ooc.options import ForceOption, JsonOption, group, spread
from pttt_ooc.other_games.extreme.terminal.bot_options import BotOptions, LibraryOption
from pttt_ooc.site.service.wing import Pages

if TYPE_CHECKING:
    from pttt_ooc.other_games.extreme.bot_process import Conditions
    from pttt_ooc.other_games.extreme.bot_programs import BotProgram
    from pttt_ooc.other_games.extreme.match import BotMatch
    from pttt_ooc.other_games.extreme.referee import Cell

BotArgument = typer.Argument(metavar="BOT", help="A file like team39.py, or a bot of ours: random, alphabeta, strong.")

extreme = group("Extreme TicTacToe: matches between bots, a tournament, a league.")


def add_commands(app: typer.Typer) -> None:
    """Add the commands to the command line."""
    extreme.command(epilog="Example: pttt extreme match team39.py strong --time-limit 24 --json")(spread(match))
    extreme.command(epilog="Example: pttt extreme play team39.py --terminal")(spread(play))
    extreme.command(epilog="Example: pttt extreme check team39.py")(spread(check))
    extreme.command(epilog="Example: pttt extreme kit --output extreme_kit.py")(kit)
    extreme.command(epilog="Example: pttt extreme tournament handed-in --time-limit 24 --seed 2019")(spread(tournament))
    app.add_typer(extreme, name="extreme")


def match(
    first: Annotated[Path, BotArgument],
    second: Annotated[Path, BotArgument],
    bots: BotOptions,
    library: LibraryOption = None,
    moves: Annotated[
        str, typer.Option(metavar="M,M,...", help="Moves that are made for the players first: BIG.ROW.COLUMN.")
    ] = "",
    coin: Annotated[
        int | None,
        typer.Option(min=0, metavar="SEED", help="Seed of a coin that says which of the two plays x and begins."),
    ] = None,
    log: Annotated[
        Path | None, typer.Option(metavar="FILE", help="A file to write the whole match to, as JSON.")
    ] = None,
    force: ForceOption = False,
    as_json: JsonOption = False,
) -> None:
    """Play one match: the first bot plays x and begins, unless a coin decides.

    The exit code is 0 however the match ends.  With --json, the last line is an object with winner (P1, P2 or NONE),
    message, points, plies and seconds.
    """
    from pttt_ooc.disk.files import atomic_write_text
    from pttt_ooc.other_games.extreme.bot_programs import read_program
    from pttt_ooc.other_games.extreme.bot_version import settle_version
    from pttt_ooc.other_games.extreme.league import coin_exchanges
    from pttt_ooc.other_games.extreme.match import play_match

    # What can be refused is refused before any bot runs.
    conditions = bots.conditions(library)
    if log is not None:
        check_output(log, [first, second], force=force)
    opening = _opening(moves)
    bots.check_walls()
    # The coin may exchange the bots; then each is settled in its version of Python.
    if coin is not None and coin_exchanges(coin):
        first, second = second, first
    one, two = (settle_version(read_program(file, bots.sandbox, bots.python), conditions) for file in (first, second))
    for bot in (one, two):
        _complain("\n".join(f"{bot.program.name}: {told}" for told in bot.warnings))
    played = play_match((one.program, two.program), conditions, opening=opening)
    if log is not None:
        atomic_write_text(log, json.dumps(played.as_json()) + "\n")
    if as_json:
        print(json.dumps(_short(played)))
    else:
        if coin is not None:
            print(f"The coin with the seed {coin} says that {played.names[0]} begins.")
        _show(played)


def play(
    opponent: Annotated[Path, BotArgument],
    bots: BotOptions,
    side: Annotated[
        str | None,
        typer.Option(metavar="x|o", help="What you play; x begins.  [default: x]"),
    ] = None,
    terminal: Annotated[
        bool, typer.Option("--terminal", help="Play here; without, it is `pttt web --bot BOT`, until 0.3.0.")
    ] = False,
    log: Annotated[
        Path | None, typer.Option(metavar="FILE", help="A file to write the whole game to, as JSON.")
    ] = None,
    force: ForceOption = False,
) -> None:
    """Play against a bot on the terminal; your moves are big board, row and column.

    The bot runs as in a match, with its time limit; you have all the time you want.
    """
    from pttt_ooc.other_games.extreme.walls import ExtremeError

    # What can be refused is refused before the bot runs.
    conditions = bots.conditions()
    if side not in (None, "x", "o"):
        raise ExtremeError(f"--side {side} is no side; say x, which begins, or o.")
    if log is not None:
        check_output(log, [opponent], force=force)
    bot = _settle(opponent, bots, conditions)
    raise typer.Exit(_play_here(bot, "xo".index(side or "x"), conditions, log))


def bot_pages(opponent: Path, bots: BotOptions, data: Path) -> Pages:
    """The pages on which people play against a bot; a process of its own answers for it.

    The file is read again for each game, so that a change of it plays at once, and bots of ours can be played too.

    Raises
    ------
    PtttError
        If the bot cannot be run: it is tried here, so that warnings about its version come before the first game.
    """
    from dataclasses import asdict, replace

    conditions = bots.conditions()
    _settle(opponent, bots, conditions)
    facts = json.dumps(asdict(replace(conditions, python=bots.python)))
    return Pages(
        name="extreme",
        what="The game",
        title="Extreme TicTacToe",
        parts=("pttt_ooc.other_games.extreme.pages.play_pages:parts",),
        answerer=(
            "pttt_ooc.other_games.extreme.play.answerer:answerer",
            str(opponent.resolve() if opponent.exists() else opponent),
            facts,
            str(data.resolve()),
        ),
        page=PLAY_PAGE,
    )


def _settle(opponent: Path, bots: BotOptions, conditions: Conditions) -> BotProgram:
    """The bot, once it is known which version of Python runs it."""
    from pttt_ooc.other_games.extreme.bot_programs import read_program
    from pttt_ooc.other_games.extreme.bot_version import settle_version

    bots.check_walls()
    bot = settle_version(read_program(opponent, bots.sandbox, bots.python), conditions)
    _complain("\n".join(f"{bot.program.name}: {told}" for told in bot.warnings))
    return bot.program


PLAY_PAGE = "/extreme/play"


def _play_here(bot: BotProgram, side: int, conditions: Conditions, log: Path | None) -> int:
    from pttt_ooc.disk.files import atomic_write_text
    from pttt_ooc.other_games.extreme.play.terminal import play_game
    from pttt_ooc.pipeline.show.dialogue import Dialogue

    match, code = play_game(bot, side, conditions, Dialogue())
    if match is not None and log is not None:
        atomic_write_text(log, json.dumps(match.as_json()) + "\n")
    return code


def _opening(text: str) -> list[Cell]:
    """Moves like ``0.4.4,1.3.3``."""
    from pttt_ooc.other_games.extreme.walls import ExtremeError

    found = []
    for one in filter(None, text.split(",")):
        numbers = re.fullmatch(r"\s*(\d)\.(\d)\.(\d)\s*", one)
        if numbers is None:
            raise ExtremeError(f"{one!r} in --moves is no move; write BIG.ROW.COLUMN, such as 0.4.4.")
        found.append((int(numbers[1]), int(numbers[2]), int(numbers[3])))
    return found


def _short(played: BotMatch) -> dict[str, object]:
    """A match in short, for scripts."""
    return {
        "winner": played.winner,
        "message": played.message,
        "points": list(played.points),
        "plies": played.plies,
        "seconds": round(played.seconds, 6),
        "detail": played.detail,
        "bots": list(played.names),
        "pythons": played.pythons,
        "slowest": [round(max(played.used(player), default=0.0), 6) for player in (0, 1)],
    }


def _show(played: BotMatch) -> None:
    """Print the course's lines about a match, and more."""
    for player, name in enumerate(played.names):
        used = played.used(player)
        slowest = f"slowest move {max(used):.3f} s" if used else "no move"
        print(f"P{player + 1}  {name}, Python {played.pythons[player]}: {len(used)} moves, {slowest}")
    print(f"Winner: {played.winner}")
    print(f"Message: {played.message}")
    print(f"Score of P1: {played.points[0]}")
    print(f"Score of P2: {played.points[1]}")
    _complain(played.detail)


def _complain(detail: str) -> None:
    """Print what a bot did wrong; the words may be its own, and are escaped."""
    for line in detail.splitlines():
        print(on_one_line(line), file=sys.stderr)


def check(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A file like team39.py.")],
    bots: BotOptions,
    library: LibraryOption = None,
    strict: Annotated[bool, typer.Option("--strict", help="Refuse a bot that breaks the formal rules.")] = False,
    former: Annotated[
        list[Path] | None,
        typer.Option(
            "--former", metavar="LOG", help="A match's log: the bot moves where it forfeited or was slow; repeatable."
        ),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Check a bot: does it load, and does it play ten moves as x and as o?

    Where its text does not tell its version of Python, it plays whole games as Python 2 and as Python 3.  The exit code
    is 0 if it plays, and 1 if it does not.  If it takes longer than a moment, stderr tells each move, and how long the
    check takes at most.
    """
    from dataclasses import asdict

    from pttt_ooc.other_games.extreme import bot_check
    from pttt_ooc.other_games.extreme.bot_programs import read_program
    from pttt_ooc.other_games.extreme.hard_positions import of_logs
    from pttt_ooc.other_games.extreme.terminal.display import CheckProgress
    from pttt_ooc.other_games.extreme.walls import python2

    # The check, with its progress on stderr if it takes long.
    conditions = bots.conditions(library)
    bots.check_walls()
    program = read_program(file, bots.sandbox, bots.python, conditions.libraries)
    progress = CheckProgress(bot_check.most_seconds(program, conditions), 2 * bot_check.ENOUGH)
    found = bot_check.check(
        program, conditions, strict, of_logs(former or (), program.name, bots.time_limit), progress.tell
    )
    if as_json:
        print(json.dumps(asdict(found)))
    else:
        # The report: how it was run, how fast it is, how it does in hard positions, and what is wrong with it.
        ran = "converted from Python 2" if found.python == "converted" else f"run by Python {found.python}"
        if found.python.startswith("2") and (old := python2()) is not None:
            ran += f" ({old.command[0]})"
        print(f"{program.name}: {ran}, as {found.why}.")
        print(f"It was ready after {found.load_seconds:.2f} s and played {found.moves} moves, the slowest in", end=" ")
        print(f"{found.slowest:.3f} s.")
        for trial in found.trials:
            print(trial)
        failed = "It is refused" if found.message == bot_check.BREAKS else "It forfeits"
        print("It plays." if found.accepted else f"{failed}: {found.message}.")
        _complain(found.detail)
        for title, told in (("Warnings", found.warnings), ("Formal rules that it breaks", found.breaches)):
            if told and told != found.detail:
                _complain(f"{title}:\n{told}")
    if not found.accepted:
        raise typer.Exit(1)


def kit(
    output: Annotated[Path, typer.Option("--output", "-o", metavar="FILE", help="The file to write.")] = Path(
        "extreme_kit.py"
    ),
    force: ForceOption = False,
) -> None:
    """Write the kit for teams: one file with the referee, with which bots play without this package.

    It runs under Python 2.7 and Python 3; `python extreme_kit.py --help` says how.
    """
    from pttt_ooc.disk.files import atomic_write_text
    from pttt_ooc.other_games.extreme.kit import kit_text

    check_output(output, force=force)
    atomic_write_text(output, kit_text())
    print(output)


def tournament(
    directory: Annotated[Path, typer.Argument(metavar="DIR", help="With one file for each team, such as team39.py.")],
    bots: BotOptions,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="DIR", help="The directory to write to.  [default: DIR/tournament]"),
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed of the draw of the pools; publish it.")] = 0,
    pools: Annotated[str, typer.Option(metavar="N,N,N", help="Pools of each stage.")] = "10,3,1",
    qualify: Annotated[
        str | None,
        typer.Option(metavar="N,N,N", help="Teams of each pool that go on.  [default: 3 in each stage]"),
    ] = None,
    marks: Annotated[
        str | None,
        typer.Option(
            metavar="M,M,M", help="Marks of the best of a pool, by stage.  [default: 30,10,10; in the final 10]"
        ),
    ] = None,
    library: LibraryOption = None,
    workers: Annotated[int | None, typer.Option(min=1, metavar="N", help="Matches at a time; default: cores.")] = None,
    as_json: JsonOption = False,
) -> None:
    """Play a whole tournament: group stage, semi-finals and final.

    After an interruption, the same command goes on: no match is played twice.
    """
    from pttt_ooc.other_games.extreme.cores import cores_with_memory, free_cores
    from pttt_ooc.other_games.extreme.terminal import display
    from pttt_ooc.other_games.extreme.tournament import Tournament, TournamentSettings, entries_of
    from pttt_ooc.other_games.extreme.walls import ExtremeError

    # What can be refused is refused before any match.
    conditions = bots.conditions(library)
    stages = display.read_stages(pools, qualify, marks)
    files = sorted(directory.glob("*.py")) if directory.is_dir() else []
    if not files:
        raise ExtremeError(f"{directory} holds no bots: name a directory with files like team39.py.")
    # As many matches at a time as there are cores and memory: two bots that share them would lose by time.
    cores = free_cores()
    if workers is not None and workers > len(cores):
        raise ExtremeError(f"There are {len(cores)} cores; with {workers} workers, two bots would share one.")
    held = cores_with_memory(bots.memory_mb)
    if workers is not None and workers > len(held):
        raise ExtremeError(
            f"The memory that is free holds {len(held)} matches at a time, of two bots with {bots.memory_mb} MB."
        )
    if len(held) < len(cores):
        print(
            f"The memory that is free holds {len(held)} matches at a time; there are {len(cores)} cores.",
            file=sys.stderr,
        )
    bots.check_walls()
    # The tournament continues where its directory says that it was.
    results = output or directory / "tournament"
    played = Tournament(results, entries_of(files, conditions, results), TournamentSettings(stages, seed, conditions))
    try:
        tables = played.play(held[:workers], display.tell_match)
    finally:
        played.close()
    if as_json:
        print(json.dumps(display.as_json(played.record, tables)))
    else:
        display.show(played.record, tables)
