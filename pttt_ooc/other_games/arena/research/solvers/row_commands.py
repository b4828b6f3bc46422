"""The command that solves k-in-a-row: ``pttt arena solve``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from pttt_ooc.disk.outputs import check_output
from pttt_ooc.options import ForceOption, JsonOption
from pttt_ooc.pipeline.show.tables import terminal_width, text_table

BoardOption = Annotated[str, typer.Option(metavar="ROWSxCOLUMNS", help="The size of the board.")]
NeedOption = Annotated[int, typer.Option(help="Marks in a row that win.")]
VALUES = {1: "the first player wins", 0: "a draw", -1: "the second player wins"}


def solve(
    board: BoardOption = "3x3",
    need: NeedOption = 3,
    moves: Annotated[str, typer.Option(metavar="M,M,...", help="Moves that are made first, such as b2,a1.")] = "",
    method: Annotated[
        Literal["both", "alpha-beta", "proof-number", "maker-breaker", "pairing"],
        typer.Option(
            help="Both searches must agree; maker-breaker and a pairing strategy prove draws of the empty board only."
        ),
    ] = "both",
    most_nodes: Annotated[int, typer.Option(min=1, metavar="N", help="Maximum nodes of each question.")] = 10**9,
    certificate: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Write the proof of a draw: JSON with --method pairing, gzip with maker-breaker."
        ),
    ] = None,
    force: ForceOption = False,
    as_json: JsonOption = False,
) -> None:
    """Solve k-in-a-row exactly: who wins if both play perfectly; for 9 squares or fewer, also count all games.

    With both methods, when one has ended the other gets ten times as much time, but not more.
    """
    from pttt_ooc.other_games.arena.games.base import ArenaError
    from pttt_ooc.other_games.arena.games.mnk import Mnk
    from pttt_ooc.other_games.arena.research.solvers import row_boards, row_values

    game = Mnk([board, f"need{need}"])
    state = game.after(game.read_move(text) for text in moves.split(",") if text.strip())
    # Two methods only prove draws, and print an answer of their own.
    if method == "pairing":
        _print_pairing(game, moves, certificate, force, as_json)
        return
    if method == "maker-breaker":
        _print_maker_breaker(game, moves, most_nodes, certificate, force, as_json)
        return
    if certificate is not None:
        raise ArenaError("--certificate needs --method pairing or maker-breaker: the others write no certificate.")
    # The searches: a method that has not ended has no value, and those that have must agree.
    if method == "both":
        solutions = row_values.solve_by_both(game, state, most_nodes=most_nodes)
    else:
        solutions = [row_values.solve(game, state, method, most_nodes=most_nodes)]
    reached = {solved.value for solved in solutions if solved.value is not None}
    if not reached:
        raise ArenaError(f"The value is still unknown after {most_nodes} nodes; allow more with --most-nodes.")
    if len(reached) > 1:
        raise ArenaError("The two methods contradict each other: one of them has a fault; please report this.")
    value = reached.pop()
    result: dict[str, Any] = {"game": game.text, "moves": moves, "value": value}
    result["methods"] = {
        solved.method: {"value": solved.value, "nodes": solved.nodes, "seconds": round(solved.seconds, 3)}
        for solved in solutions
    }
    # On small boards all games can be counted, too.
    if game.rows * game.columns <= row_boards.MOST_LISTED:
        everything = row_boards.walk(game)
        result |= {"positions": everything.positions, "games": everything.games}
        result["games_up_to_symmetry"] = everything.different_games
    print(json.dumps(result) if as_json else _sentences(result))


def _print_pairing(game: Any, moves: str, certificate: Path | None, force: bool, as_json: bool) -> None:
    """Search for a pairing strategy, check it, write it, and say so."""
    from pttt_ooc.disk.files import atomic_write_text
    from pttt_ooc.other_games.arena.games.base import ArenaError
    from pttt_ooc.other_games.arena.research.solvers import pairings, row_boards

    if moves.strip():
        raise ArenaError("A pairing strategy is for the empty board: leave out --moves.")
    if game.rows * game.columns > row_boards.MOST_SQUARES:
        raise ArenaError(f"A pairing is sought on boards of at most {row_boards.MOST_SQUARES} squares.")
    if certificate is not None:
        check_output(certificate, force=force)
    found = pairings.find(game)
    if found.certificate is None:
        why = "there is none of a reply and pairs" if found.complete else "the search has not ended in a minute"
        raise ArenaError(f"No pairing strategy for {game.text} is known: {why}.  The game may be a draw all the same.")
    if fault := pairings.fault(game.rows, game.columns, game.need, found.certificate):
        raise ArenaError(f"The pairing strategy is wrong, {fault}: please report this.")
    if certificate is not None:
        atomic_write_text(certificate, pairings.to_json(game.text, found.certificate))
    told = {"game": game.text, "value": 0, "method": "pairing", "seconds": round(found.seconds, 3)}
    sentence = f"{game.text}: a draw, by a pairing strategy that has been checked."
    print(json.dumps(told) if as_json else f"{sentence}  {found.seconds:.2f} s of processor time")


def _print_maker_breaker(
    game: Any, moves: str, most_nodes: int, certificate: Path | None, force: bool, as_json: bool
) -> None:
    """Say whether the game is a draw even if rows of the second player do not count, and write the proof."""
    from pttt_ooc.disk.files import atomic_write_bytes
    from pttt_ooc.other_games.arena.games.base import ArenaError
    from pttt_ooc.other_games.arena.research.solvers import draw_proofs, row_values

    if moves.strip():
        raise ArenaError("The Maker-Breaker form is solved from the empty board: leave out --moves.")
    if certificate is not None:
        check_output(certificate, force=force)
    found = row_values.solve_form(game, most_nodes=most_nodes)
    if found.maker_wins is None:
        raise ArenaError(f"The value is still unknown after {most_nodes} nodes; allow more with --most-nodes.")
    if found.maker_wins:
        raise ArenaError(
            f"In the Maker-Breaker form of {game.text}, the first player wins: "
            "this says nothing about the game itself.  Use another method."
        )
    told: dict[str, Any] = {"game": game.text, "value": 0, "method": "maker-breaker"}
    told |= {"nodes": found.nodes, "seconds": round(found.seconds, 3)}
    sentence = f"{game.text}: a draw, even if rows of the second player do not count."
    sentence += f"  {found.nodes:,} nodes, {found.seconds:.2f} s of processor time"
    if certificate is not None:
        proof = draw_proofs.write(game, most_nodes=most_nodes)
        atomic_write_bytes(certificate, proof.zipped)
        told |= {"positions": proof.positions}
        sentence += f"\n{certificate}: {proof.positions:,} positions, {len(proof.zipped):,} bytes."
    print(json.dumps(told) if as_json else sentence)


def _sentences(result: dict[str, Any]) -> str:
    """The result for people."""
    lines = [f"{result['game']}: {VALUES[result['value']]}."]
    for name, facts in result["methods"].items():
        known = "" if facts["value"] is not None else ", which did not suffice"
        lines.append(f"{name}: {facts['nodes']:,} nodes{known}; {facts['seconds']:.2f} s of processor time.")
    if "positions" in result:
        different = result["games_up_to_symmetry"]
        lines.append(f"{result['positions']:,} positions can come up; the games from the empty board:")
        rows = [
            (f"win in {length} moves" if length else "draw", f"{games:,}", f"{different.get(length, 0):,}")
            for length, games in [*sorted(result["games"].items())[1:], (0, result["games"].get(0, 0))]
        ]
        rows.append(("together", f"{sum(result['games'].values()):,}", f"{sum(different.values()):,}"))
        lines.append(text_table(("", "games", "up to symmetry"), rows, terminal_width()))
    return "\n".join(lines)
