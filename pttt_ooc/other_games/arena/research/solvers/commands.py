"""Commands of research, ``pttt lab ...``: solved endings, proofs, measured errors, and trained evaluations."""

from __future__ import annotations

import hashlib
import json
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from pttt_ooc.disk.outputs import check_output
from pttt_ooc.options import ForceOption, JsonOption, OutputFileOption
from pttt_ooc.other_games.arena.options import GameOption


def endings(
    output: OutputFileOption,
    positions: Annotated[int, typer.Option(min=1, metavar="N", help="Number of endings.")] = 3000,
    seed: Annotated[int, typer.Option(min=0, help="The games follow from it.")] = 0,
    force: ForceOption = False,
) -> None:
    """Write endings of Ultimate tic-tac-toe from games by lot, with the exact value of each move.

    They have 5 to 20 open squares, and some moves keep the value while others do not.
    """
    from pttt_ooc.other_games.arena.research.solvers import endings as found

    check_output(output, force=force)
    chosen, games, equal = found.collect(positions, seed)
    found.write(output, chosen, seed=seed, games=games, equal=equal)
    print(f"{output}: {len(chosen)} endings of {games} games; in {equal} others all moves are equally good.")


def certify_endings(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Endings that `pttt lab endings` has written.")],
    output: OutputFileOption,
    force: ForceOption = False,
) -> None:
    """Write a proof of the value of each move of endings, which proof/verify_ultimate.py checks."""
    from pttt_ooc.disk.files import atomic_write_bytes
    from pttt_ooc.other_games.arena.research.solvers import claims
    from pttt_ooc.other_games.arena.research.solvers import endings as collection

    check_output(output, [file], force=force)
    solver, there = collection.EndingSolver(), collection.read(file)
    proofs = [claim for ending in there for claim in claims.of_ending(ending, solver)]
    atomic_write_bytes(output, claims.encode_claims(proofs, open_boards=False))
    print(f"{output}: {len(proofs):,} claims about {len(there):,} endings.")


def errors(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Endings that `pttt lab endings` has written.")],
    agents: Annotated[list[str], typer.Argument(metavar="AGENT...", help="Agents with their options.")],
    seed: Annotated[int, typer.Option(min=0, help="Of the agents.")] = 0,
    as_json: JsonOption = False,
) -> None:
    """Measure how often agents keep the exact value of endings of Ultimate tic-tac-toe, by phase."""
    from pttt_ooc.other_games.arena.research.solvers import endings as collection

    there = collection.read(file)
    found = [collection.measure(text, there, seed) for text in agents]
    if as_json:
        digest = hashlib.blake2b(file.read_bytes(), digest_size=8).hexdigest()
        print(json.dumps({"endings": len(there), "digest": digest, "seed": seed, "agents": found}))
    else:
        print(collection.errors_table(found), end="")


def forced_win(
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", help="The file to write the certificate to.  [default: none]"),
    ] = None,
    plies: Annotated[int, typer.Option(min=1, max=81, metavar="N", help="Of the longest game.")] = 43,
    most_nodes: Annotated[int, typer.Option(min=1, metavar="N", help="Maximum nodes in all.")] = 10**9,
    force: ForceOption = False,
    as_json: JsonOption = False,
) -> None:
    """Search for the first player's forced win of ultimate:open, after an opening through the centres.

    The certificate lists a move for each position; proof/verify_ultimate.py checks it with nothing but Python.
    """
    from pttt_ooc.disk.files import atomic_write_bytes
    from pttt_ooc.other_games.arena.research.solvers import claims

    if output is not None:
        check_output(output, force=force)
    claim, visited = claims.find_forced_win(plies, most_positions=most_nodes)
    told: dict[str, Any] = {"plies": plies, "wins": claim is not None, "nodes": visited}
    if claim is None:
        sentence = f"This opening has no forced win within {plies} plies: all moves were tried, {visited:,} nodes."
        sentence += f"\n{output} was not written." if output is not None else ""
    else:
        told |= {"positions": len(claim.moves)}
        sentence = f"The first player wins within {plies} plies: a move in each of {len(claim.moves):,} positions, "
        sentence += f"{visited:,} nodes."
        if output is not None:
            atomic_write_bytes(output, claims.encode_claims([claim], open_boards=True))
    print(json.dumps(told) if as_json else sentence)


def attack(
    output: OutputFileOption,
    games: Annotated[int, typer.Option(min=1, metavar="N", help="Number of games.")] = 20,
    most_nodes: Annotated[int, typer.Option(min=1, metavar="N", help="Maximum nodes of each question.")] = 6_000_000,
    seed: Annotated[int, typer.Option(min=0, help="The openings follow from it.")] = 0,
    hours: Annotated[
        float | None,
        typer.Option(
            min=0, metavar="H", help="Begin no game after so many hours of the processor.  [default: no limit]"
        ),
    ] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on after the games that FILE has.")] = False,
    force: ForceOption = False,
) -> None:
    """Find out how far back from their ends games of a strong agent of Ultimate are solved, by proof-number search.

    The search takes 128 to 256 bytes of memory for each node that a question may expand.  The file is written after
    each game, so that the command can be stopped at any time and continued with --resume.
    """
    from time import process_time

    from pttt_ooc.other_games.arena.research.solvers import attack as attacks

    facts = {"agent": attacks.AGENT, "seed": seed, "most_nodes": most_nodes}
    resumed = resume and output.exists()
    if not resumed:
        check_output(output, force=force)
    found = attacks.read_to_continue(output, **facts) if resumed else []
    solver, begin = attacks.ProofSolver(most_nodes), process_time()
    for moves in attacks.games(games, seed, len(found)):
        if hours is not None and process_time() - begin >= 3600 * hours:
            print(f"{hours:g} hours of the processor are over: {output} has {len(found)} games; --resume goes on.")
            break
        found.append(attacks.attack(moves, solver))
        ply, squares, value, nodes = found[-1].earliest
        print(f"game {len(found)}: known from ply {ply} on, {squares} open squares, {nodes:,} nodes", flush=True)
        attacks.write(output, found, **facts)


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

    from pttt_ooc.other_games.arena.agents.value_tables import ValueTable
    from pttt_ooc.other_games.arena.games.catalogue import game as by_name
    from pttt_ooc.other_games.arena.research.players import patterns

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
        bot = patterns.PatternAgent()
        bot.take(growing, weights)
        won, lost, drawn = patterns.versus(growing, (bot, table), matches, seed)
        print(f"Against the policies in {against}: {won} games won, {lost} lost, {drawn} drawn.")


def train_ultimate(
    output: OutputFileOption,
    force: ForceOption = False,
    games: Annotated[int, typer.Option(min=1, help="Games of the evaluation against itself.")] = 4_000_000,
    game: GameOption = "ultimate",
    seed: Annotated[int, typer.Option(min=0, help="Seed of the random moves.")] = 0,
) -> None:
    """Learn an evaluation of Ultimate tic-tac-toe by TD(lambda) from self-play, for the agent tuned:path=FILE."""
    check_output(output, force=force)
    from time import process_time

    from pttt_ooc.other_games.arena.games.catalogue import game as by_name
    from pttt_ooc.other_games.arena.research.players import evaluations

    chosen = by_name(game)
    begin = process_time()

    def tell(played: int, results: Any) -> None:
        if sys.stderr.isatty():
            print(f"\r{played:,} of {games:,} games", end="", file=sys.stderr)

    weights, results = evaluations.train(chosen, games, seed, tell)
    if sys.stderr.isatty():
        print(file=sys.stderr)
    evaluations.save_weights(output, chosen, weights)
    print(
        f"{games:,} games in {process_time() - begin:.1f} s of processor time; the first player won "
        f"{results[1] / games:.1%}, the second {results[2] / games:.1%}."
    )
