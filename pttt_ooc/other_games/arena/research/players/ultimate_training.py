"""Trains the networks of Ultimate tic-tac-toe that are in the package::

    network() { python -m pttt_ooc.other_games.arena.research.players.ultimate_training "$@"; }
    network games -o DIR/1 --agent tuned:path=shipped,slots=16384 --nodes 500
    network train DIR/1 -o DIR/1.network
    network games -o DIR/2 --agent tuned:path=DIR/1.network,slots=16384 --lot 0.2
    network train DIR/1 DIR/2 -o DIR/2.network

The first command plays games of a search against itself, a file for each part; the same command continues.  The second
one trains by stochastic gradient descent (Adam, a falling step size), each batch under one of the eight symmetries of
the board.  It needs JAX, which the extra `deep` has.  With ``--game ultimate:most``, both are for these rules.  On one
machine the same commands make the same files; docs/lab/arena.md has those that made the files in the package.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import sys
from functools import partial
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np

from pttt_ooc.disk.files import replacing
from pttt_ooc.errors import exit_on_error
from pttt_ooc.other_games.arena.agents.catalogue import agent
from pttt_ooc.other_games.arena.games.base import ArenaError, Game
from pttt_ooc.other_games.arena.games.catalogue import game as by_name
from pttt_ooc.other_games.arena.kernels.rng import generator
from pttt_ooc.other_games.arena.kernels.small_boards import HAS_LINE
from pttt_ooc.other_games.arena.kernels.ultimate import IMAGE, IMAGE_OF_SET, LENGTH
from pttt_ooc.other_games.arena.kernels.ultimate_values import TERNARY
from pttt_ooc.other_games.arena.research.kernels import ultimate_network as kernels
from pttt_ooc.other_games.arena.research.kernels.ultimate_learnt import (
    ACTIVE,
    ENTRIES,
    ENTRY_OF_MARKS,
    chances,
)
from pttt_ooc.other_games.arena.research.kernels.ultimate_self_play import NO_MOVE, examples, self_play
from pttt_ooc.other_games.arena.research.players import evaluations
from pttt_ooc.other_games.arena.research.players.tuned import Tuned

OPENING = 8
"""The most random moves at the start of a game."""

DECAY, BATCH, STEP = 0.7, 2048, 3e-3
SEED = 3
"""The seed of the first weights, and of the order of the positions."""

Weights = dict[str, Any]
"""The parts of a network by their names, float32."""


# ---------------------------------------------------------------------------------------------
# Games


def play(directory: Path, game: Game, text: str, nodes: int, parts: int, size: int, lot: float, seed: int) -> None:
    """Play games of an agent against itself, a file for each part with its own random numbers; existing parts stay."""
    directory.mkdir(parents=True, exist_ok=True)
    player = agent(text)
    assert isinstance(player, Tuned)
    player.seat(game)
    kernel = self_play(player.values)
    for part in range(parts):
        path = directory / f"{part:04}.npz"
        if path.exists():
            continue
        begin = process_time()
        moves, searched = np.zeros((size, LENGTH), np.uint8), np.zeros((size, LENGTH), np.int16)
        drawn, results = np.zeros((size, LENGTH), np.bool_), np.zeros(size, np.int8)
        rates, control = np.array([OPENING, lot, player.draw]), np.zeros(8, np.int64)
        arrays = moves, searched, drawn, results
        positions = kernel(player.works, game.start(), nodes, rates, *arrays, control, generator(seed, part))
        with replacing(path) as temporary, open(temporary, "wb") as file:
            np.savez_compressed(file, moves=moves, searched=searched, drawn=drawn, results=results)
        print(f"{path}: {positions:,} positions in {process_time() - begin:.1f} s of the processor", flush=True)


def read(
    game: Game, directories: list[Path], number: int, decay: float = DECAY, draw: float = evaluations.DRAW
) -> tuple[tuple[Any, ...], int]:
    """The examples of all parts; the first ones, whose number is returned, are of the first games of each directory.

    Raises
    ------
    ArenaError
        The games of a file were played by other rules.
    """
    held: list[list[Any]] = [[], [], [], [], []]
    learnt: list[list[Any]] = [[], [], [], [], []]
    for directory in directories:
        for part, path in enumerate(sorted(directory.glob("[0-9]*.npz"))):
            with np.load(path) as file:
                games = tuple(file[name] for name in ("moves", "searched", "drawn", "results"))
            first = number if part == 0 else 0
            for columns, chosen in ((held, slice(first)), (learnt, slice(first, None))):
                rows = of_games(game, tuple(array[chosen] for array in games), decay, draw)
                if rows is None:
                    raise ArenaError(
                        f"The games of {path} were not played by the rules {game.text}: name their --game."
                    )
                for column, some in zip(columns, rows, strict=True):
                    column.append(some)
    joined = tuple(np.concatenate(first + rest) for first, rest in zip(held, learnt, strict=True))
    return joined, sum(map(len, held[0]))


def of_games(game: Game, games: tuple[Any, ...], decay: float, draw: float) -> tuple[Any, ...] | None:
    """The examples of some games: the arrays of :func:`examples`, without positions for which nothing is known.

    None if a game ends otherwise by these rules.
    """
    number = int((games[0] != NO_MOVE).sum())
    boards = np.zeros((number, 9), np.int16), np.zeros(number, np.int8)
    made = (*boards, np.zeros((number, ACTIVE), np.int32), np.zeros(number, np.int16))
    wanted = np.zeros((number, 2), np.float32)
    if examples(game.start(), games, decay, draw, *made, wanted) != number:
        return None
    known = ~np.isnan(wanted).all(1)
    return tuple(rows[known] for rows in (*made, wanted))


# ---------------------------------------------------------------------------------------------
# Training


def first_embedding() -> np.ndarray[Any, Any]:
    """What the embedding begins with: the marks, the cells that win, the chances, and how a small board is closed."""
    out = np.zeros((ENTRIES, kernels.EMBEDDED))
    for own in range(512):
        for other in range(512):
            if own & other:
                continue
            row, free = out[TERNARY[own] + 2 * TERNARY[other]], 511 & ~(own | other)
            for marks, sign, column in ((own, 1, 9), (other, -1, 10)):
                wins = [c for c in range(9) if free >> c & 1 and HAS_LINE[marks | 1 << c]]
                row[[c for c in range(9) if marks >> c & 1]] += sign
                row[[15 + c for c in wins]] += sign
                row[column] = min(len(wins), 2)
            row[11], row[12] = chances(own, other) > 0, chances(other, own) > 0
    out[3**9, 13], out[3**9 + 1, 13], out[3**9 :, 14] = 1, -1, 1
    return out


def images() -> np.ndarray[Any, Any]:
    """The entry of the image of a small board under each symmetry, int64, shape (8, ENTRIES)."""
    out = np.tile(np.arange(ENTRIES), (8, 1))
    for own in range(512):
        for other in range(512):
            if not own & other:
                turned = TERNARY[IMAGE_OF_SET[:, own]] + 2 * TERNARY[IMAGE_OF_SET[:, other]]
                out[:, TERNARY[own] + 2 * TERNARY[other]] = turned
    return out


def first_weights(game: Game, rng: np.random.Generator) -> Weights:
    """What the training begins with: the weights of the sum in the package, and random numbers."""
    embedded = kernels.EMBEDDED
    scales = {"embedding": 0.1, "boards": (9 * embedded) ** -0.5, "targets": 0.5 * embedded**-0.5, "output": 0.05}
    made = {
        name: rng.normal(size=shape) * scales.get(name, 0.0)
        for name, shape in zip(kernels.Network._fields, kernels.SHAPES, strict=True)
    }
    made["embedding"] += first_embedding()
    made["bias"] += 0.25
    made["sums"] = evaluations.load_weights(Path(evaluations.SHIPPED), game)[0]
    return {name: part.astype(np.float32) for name, part in made.items()}


def divergence(jax: Any, places: Any, turns: Any, of_entries: Any, weights: Weights, batch: Any, symmetry: Any) -> Any:
    """The mean Kullback-Leibler divergence of the network from the wanted values, under a symmetry of the board.

    Parameters
    ----------
    places, turns, of_entries
        For each symmetry: where each place goes, where it comes from, and the image of each entry.
    batch
        Arrays as :func:`read` returns them.
    """
    entries, targets, found, tactics, wanted = batch
    entries = of_entries[symmetry][entries[:, turns[symmetry]]]
    targets = places[symmetry][targets]
    number, numpy = len(targets), jax.numpy
    rows, sent = weights["embedding"][entries], jax.nn.one_hot(targets, 10)
    total = rows.reshape(number, -1) @ weights["boards"].reshape(-1, kernels.HIDDEN)
    total += (rows * sent[:, :9, None]).reshape(number, -1) @ weights["targets"].reshape(-1, kernels.HIDDEN)
    total += sent @ weights["places"] + weights["tactics"][tactics]
    units = numpy.clip(total[:, None, :] + weights["bias"], 0, 1) ** 2
    phase = jax.nn.one_hot((entries >= 3**9).sum(1) // kernels.PHASES, kernels.BUCKETS // 10)
    bucket = (phase[:, :, None] * sent[:, None, :]).reshape(number, -1)
    output = (bucket @ weights["output"].reshape(kernels.BUCKETS, -1)).reshape(units.shape)
    out = (units * output).sum(2) + bucket @ weights["constant"] + weights["tactic_values"][tactics]
    out += weights["sums"].T[:, ::-1][found].sum(1)
    known = ~numpy.isnan(wanted)
    wanted = numpy.where(known, wanted, 0.5)
    each = numpy.maximum(out, 0) - out * wanted + numpy.log1p(numpy.exp(-abs(out)))
    each += jax.scipy.special.xlogy(wanted, wanted) + jax.scipy.special.xlogy(1 - wanted, 1 - wanted)
    return (each * known).sum() / known.sum()


def train(
    game: Game,
    directories: list[Path],
    output: Path,
    epochs: float,
    games_held: int,
    without: list[str],
    decay: float = DECAY,
    draw: float = evaluations.DRAW,
) -> None:
    """Train a network and write it; one thread, so that the same commands make the same file.

    Parameters
    ----------
    without
        Parts of the network that stay 0.
    decay, draw
        Lambda, and what a draw is worth to the player who searches.
    """
    os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false"
    os.environ["NPROC"] = "1"  # XLA splits sums among so many threads
    import jax

    jax.config.update("jax_platforms", "cpu")

    arrays, held = read(game, directories, games_held, decay, draw)
    rng = np.random.default_rng(SEED)
    places = np.concatenate([np.argsort(IMAGE, axis=1), np.full((8, 1), 9)], axis=1)
    loss = partial(divergence, jax, jax.numpy.asarray(places), jax.numpy.asarray(IMAGE), jax.numpy.asarray(images()))

    def step(weights: Weights, first: Weights, second: Weights, count: Any, rate: Any, batch: Any, turn: Any) -> Any:
        value, gradient = jax.value_and_grad(loss)(weights, batch, turn)
        for name, part in gradient.items():
            if name in without:
                continue
            first[name] = 0.9 * first[name] + 0.1 * part
            second[name] = 0.999 * second[name] + 0.001 * part**2
            move = first[name] / (1 - 0.9**count) / (jax.numpy.sqrt(second[name] / (1 - 0.999**count)) + 1e-8)
            weights[name] -= (0.5 * rate if name == "sums" else rate) * move
        return weights, first, second, value

    stepped, measured = jax.jit(step, donate_argnums=(0, 1, 2)), jax.jit(loss)

    def held_out(weights: Weights) -> float:
        batches = [tuple(array[at : at + BATCH] for array in arrays) for at in range(0, held - BATCH + 1, BATCH)]
        return float(np.mean([measured(weights, batch, 0) for batch in batches]))

    weights = {name: jax.numpy.asarray(part) for name, part in first_weights(game, rng).items()}
    weights |= {name: jax.numpy.zeros_like(weights[name]) for name in without}
    first, second = ({name: jax.numpy.zeros_like(part) for name, part in weights.items()} for _ in range(2))
    number, order, at = len(arrays[0]) - held, np.zeros(0, np.int64), 0
    steps = int(epochs * number / BATCH)
    print(f"{number + held:,} positions, {held:,} held out; {steps:,} steps", flush=True)
    for done in range(steps):
        rate = STEP * min(1, (done + 1) / 200) * (0.03 + 0.97 * 0.5 * (1 + np.cos(np.pi * done / steps)))
        if at + BATCH > len(order):
            order, at = rng.permutation(number) + held, 0
        batch, turn = tuple(array[order[at : at + BATCH]] for array in arrays), int(rng.integers(8))
        at += BATCH
        weights, first, second, value = stepped(weights, first, second, done + 1.0, rate, batch, turn)
        if done % max(1, steps // 8) == 0 or done == steps - 1:
            print(f"{done}: loss {float(value):.5f}, held out {held_out(weights):.5f}", flush=True)
    trained = {name: np.asarray(part, dtype=np.float64) for name, part in weights.items()}
    used = np.zeros((ENTRIES, 1), np.bool_)
    used[ENTRY_OF_MARKS] = True  # the others are of small boards that are closed
    trained["embedding"] = np.where(used, trained["embedding"], 0.0)
    evaluations.save_network(output, game, kernels.Network(**trained), draw)
    digest = hashlib.blake2b(output.read_bytes(), digest_size=8).hexdigest()
    print(f"{output}: digest {digest}, {process_time():.0f} s of the processor")


def main() -> None:
    """The two commands."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True, dest="command")
    games = commands.add_parser("games", help="Play games of an agent against itself.")
    games.add_argument("--agent", default="tuned:path=shipped", help="A tuned agent.")
    games.add_argument("--nodes", type=int, default=300, help="For a move.")
    games.add_argument("--parts", type=int, default=40, help="Files.")
    games.add_argument("--size", type=int, default=4000, help="Games in a file.")
    games.add_argument("--lot", type=float, default=0.04, help="The chance of a random move after the opening.")
    games.add_argument("--seed", type=int, default=9, help="Of the lots.")
    games.add_argument("-o", "--output", type=Path, required=True, help="Their directory.")
    training = commands.add_parser("train", help="Train a network by games.")
    training.add_argument("directories", type=Path, nargs="+", help="Of the games.")
    training.add_argument("--epochs", type=float, default=2, help="How often each position is seen.")
    held = "The first games of each directory that are not learnt from: the divergence is measured in them."
    training.add_argument("--held", type=int, default=500, help=held)
    decay = "How much of what a position should have comes from later ones, and in the end from the result."
    training.add_argument("--decay", type=float, default=DECAY, help=decay)
    draw = "What a draw is worth to the player who searches, where a win is worth 1."
    training.add_argument("--draw", type=float, default=evaluations.DRAW, help=draw)
    without = "Parts of the network that stay 0, to see what they are worth."
    training.add_argument("--without", nargs="*", default=[], choices=kernels.Network._fields, help=without)
    training.add_argument("-o", "--output", type=Path, required=True, help="The file of the network.")
    for command in (games, training):
        command.add_argument("--game", default="ultimate", choices=evaluations.SHIPPED_DIGESTS, help="The rules.")
    chosen = parser.parse_args()
    game = by_name(chosen.game)
    with exit_on_error(lambda sentence: print(sentence, file=sys.stderr)):
        if chosen.command == "games":
            play(chosen.output, game, chosen.agent, chosen.nodes, chosen.parts, chosen.size, chosen.lot, chosen.seed)
        else:
            wanted = chosen.decay, chosen.draw
            train(game, chosen.directories, chosen.output, chosen.epochs, chosen.held, chosen.without, *wanted)


if __name__ == "__main__":
    main()
