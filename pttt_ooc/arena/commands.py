"""The commands of the arena: ``pttt arena ...``.

What they need is imported when they run, so that ``pttt --help`` comes at once.
"""

from __future__ import annotations

import json
from typing import Annotated

import typer

GameArgument = Annotated[
    str, typer.Argument(metavar="GAME", help="A game, with its options after a colon, such as ultimate:open.")
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON.")]

arena = typer.Typer(
    help="Games in which both players see everything: agents, matches, experiments.",
    no_args_is_help=True,
    rich_markup_mode=None,
)


def add_commands(app: typer.Typer) -> None:
    """Give the commands to the command line."""
    arena.command(epilog="Example: pttt arena perft ultimate --depth 6 --moves 0,3,27")(perft)
    app.add_typer(arena, name="arena")


def perft(
    game: GameArgument,
    depth: Annotated[int, typer.Option(min=0, max=20, help="Moves of each sequence.")] = 4,
    moves: Annotated[str, typer.Option(metavar="M,M,...", help="Moves that are made first.")] = "",
    as_json: JsonOption = False,
) -> None:
    """Count the sequences of moves of a length: they check the rules, and the speed of the kernels."""
    from time import perf_counter

    from pttt_ooc.arena.games.catalogue import game as by_name
    from pttt_ooc.arena.kernels.counting import counting

    chosen = by_name(game)
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
