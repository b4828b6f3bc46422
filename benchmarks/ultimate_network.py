"""Trains the network of Ultimate tic-tac-toe that is in the package::

    python -m benchmarks.ultimate_network games -o DIR --agent tuned:path=shipped --nodes 1500 --parts 28 --size 1000
    python -m benchmarks.ultimate_network games -o DIR/2 --agent tuned:path=DIR/1.network --nodes 300 --parts 40
    python -m benchmarks.ultimate_network train DIR/1 DIR/2 -o DIR/2.network

The first command plays games of a search against itself, a file for each part; the same command continues.  The second
one trains by stochastic gradient descent (Adam, a falling step size), each batch under one of the eight symmetries of
the board.  It needs torch, which the extra `scoring` has.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from time import process_time
from types import ModuleType
from typing import Any

import numpy as np

from pttt_ooc.arena.agents.alphabeta import Tuned
from pttt_ooc.arena.agents.catalogue import agent
from pttt_ooc.arena.games.catalogue import game as by_name
from pttt_ooc.arena.kernels import ultimate_network as kernels
from pttt_ooc.arena.kernels.rng import generator
from pttt_ooc.arena.kernels.ultimate import IMAGE, IMAGE_OF_SET, LENGTH
from pttt_ooc.arena.kernels.ultimate_learnt import ACTIVE, ENTRIES, ENTRY_OF_MARKS, FIRST_TARGET, HAS_LINE, chances
from pttt_ooc.arena.kernels.ultimate_self_play import examples, self_play
from pttt_ooc.arena.kernels.ultimate_values import TERNARY
from pttt_ooc.arena.learning import ultimate, ultimate_network
from pttt_ooc.disk.files import replacing

GAME = by_name("ultimate")
OPENING, LOT = 8, 0.04
"""The most random moves at the start of a game, and the chance of a later one."""

DECAY, BATCH, STEP = 0.7, 8192, 5e-3
VALID = 2
"""The games of the first parts are not learnt from: the loss is measured in them."""


# ---------------------------------------------------------------------------------------------
# Games


def play(directory: Path, text: str, nodes: int, parts: int, size: int) -> None:
    """Play games of an agent against itself, a file for each part; parts that are there stay."""
    directory.mkdir(parents=True, exist_ok=True)
    player = agent(text)
    assert isinstance(player, Tuned)
    player.seat(GAME)
    kernel = self_play(player.values)
    for part in range(parts):
        path = directory / f"{part:04}.npz"
        if path.exists():
            continue
        begin = process_time()
        moves, searched = np.zeros((size, LENGTH), np.uint8), np.zeros((size, LENGTH), np.int16)
        drawn, results = np.zeros((size, LENGTH), np.bool_), np.zeros(size, np.int8)
        rates, control = np.array([OPENING, LOT, player.draw]), np.zeros(8, np.int64)
        arrays = moves, searched, drawn, results
        positions = kernel(player.works, GAME.start(), nodes, rates, *arrays, control, generator(9, part))
        with replacing(path) as temporary, open(temporary, "wb") as file:
            np.savez_compressed(file, moves=moves, searched=searched, drawn=drawn, results=results)
        print(f"{path}: {positions:,} positions in {process_time() - begin:.1f} s of the processor", flush=True)


def read(directories: list[Path]) -> tuple[tuple[Any, ...], int]:
    """The examples of all parts, and how many are those of the first parts."""
    columns: list[Any] = [[], [], [], []]
    for path in [path for directory in directories for path in sorted(directory.glob("[0-9]*.npz"))]:
        with np.load(path) as part:
            games = tuple(part[name] for name in ("moves", "searched", "drawn", "results"))
        number = int((games[0] != 255).sum())
        made = (np.zeros((number, 9), np.int16), np.zeros(number, np.int8), np.zeros((number, ACTIVE), np.int32))
        wanted = np.zeros((number, 2), np.float32)
        assert examples(GAME.start(), games, DECAY, ultimate.DRAW, *made, wanted) == number
        known = ~np.isnan(wanted).all(1)
        for column, rows in zip(columns, (*made, wanted), strict=True):
            column.append(rows[known])
    return tuple(map(np.concatenate, columns)), sum(map(len, columns[0][:VALID]))


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


def module(torch: ModuleType, sums: np.ndarray[Any, Any]) -> Any:
    """The network for torch; it begins with the weights of a sum."""
    embedded, hidden = kernels.EMBEDDED, kernels.HIDDEN

    class Net(torch.nn.Module):  # type: ignore[misc, name-defined]
        """In rows of two, the second one is of the eager player."""

        def __init__(self) -> None:
            super().__init__()

            def normal(scale: float, *shape: int) -> Any:
                return torch.nn.Parameter(torch.randn(*shape) * scale)

            self.embedding = normal(0.1, ENTRIES, embedded)
            self.embedding.data += torch.tensor(first_embedding(), dtype=torch.float32)
            self.boards = normal((9 * embedded) ** -0.5, 9, embedded, hidden)
            self.targets = normal(0.5 * embedded**-0.5, 9, embedded, hidden)
            self.places = torch.nn.Parameter(torch.zeros(10, hidden))
            self.bias = torch.nn.Parameter(torch.full((2, hidden), 0.25))
            self.output, self.constant = normal(0.05, 2, hidden), torch.nn.Parameter(torch.zeros(2))
            self.sums = torch.nn.Parameter(torch.tensor(sums[::-1].T.copy(), dtype=torch.float32))

        def forward(self, entries: Any, targets: Any, found: Any) -> Any:
            rows, number = torch.nn.functional.embedding(entries, self.embedding), torch.arange(len(entries))
            sent = torch.zeros_like(rows)
            place = torch.clamp(targets, max=8)
            sent[number, place] = rows[number, place] * (targets < 9)[:, None].float()
            total = rows.flatten(1) @ self.boards.flatten(0, 1) + sent.flatten(1) @ self.targets.flatten(0, 1)
            units = torch.clamp((total + self.places[targets])[:, None, :] + self.bias, 0, 1) ** 2
            linear = torch.nn.functional.embedding_bag(found, self.sums, mode="sum")
            return (units * self.output).sum(2) + self.constant + linear

    return Net()


def train(directories: list[Path], output: Path, epochs: float) -> None:
    """Train a network and write it."""
    import torch

    torch.set_num_threads(1)
    torch.manual_seed(0)
    arrays, held = read(directories)
    entries, targets, found, wanted = map(torch.from_numpy, arrays)
    sums, _ = ultimate.load(Path(ultimate.SHIPPED), GAME)
    net = module(torch, sums)
    others = [parameter for name, parameter in net.named_parameters() if name != "sums"]
    optimizer = torch.optim.Adam([{"params": others}, {"params": [net.sums]}], lr=STEP)
    image, turn = torch.from_numpy(images()), torch.from_numpy(IMAGE)
    place = torch.cat([torch.argsort(turn, 1), torch.full((8, 1), 9)], 1)  # to which a symmetry takes each place
    lots = torch.Generator().manual_seed(1)

    def loss(rows: Any, symmetry: int) -> Any:
        """The mean Kullback-Leibler divergence of the network from what is wanted."""
        turned = image[symmetry][entries[rows][:, turn[symmetry]].long()]
        out, want = net(turned, place[symmetry][targets[rows].long()], found[rows].long()), wanted[rows]
        known = ~torch.isnan(want)
        out, want = out[known], want[known]
        entropy = -(torch.xlogy(want, want) + torch.xlogy(1 - want, 1 - want))
        return torch.nn.functional.binary_cross_entropy_with_logits(out, want) - entropy.mean()

    def held_out() -> float:
        with torch.no_grad():
            losses = [float(loss(rows, 0)) for rows in torch.arange(held).split(8192)]
        return sum(losses) / len(losses)

    steps = int(epochs * (len(entries) - held) / BATCH)
    print(f"{len(entries):,} positions, {held:,} held out; {steps:,} steps")
    order, at = torch.randperm(len(entries) - held, generator=lots) + held, 0
    for step in range(steps):
        rate = STEP * min(1, (step + 1) / 200) * (0.03 + 0.97 * 0.5 * (1 + np.cos(np.pi * step / steps)))
        optimizer.param_groups[0]["lr"], optimizer.param_groups[1]["lr"] = rate, rate / 2
        if at + BATCH > len(order):
            order, at = torch.randperm(len(entries) - held, generator=lots) + held, 0
        found_loss = loss(order[at : at + BATCH], int(torch.randint(8, (1,), generator=lots)))
        at += BATCH
        optimizer.zero_grad()
        found_loss.backward()
        optimizer.step()
        if step % max(1, steps // 10) == 0 or step == steps - 1:
            print(f"{step}: loss {float(found_loss.detach()):.5f}, held out {held_out():.5f}", flush=True)
    ultimate_network.save(output, GAME, network_of(net), ultimate.DRAW)
    print(f"{output}: {process_time():.0f} s of the processor")


def network_of(net: Any) -> kernels.Network:
    """The network for the package: the constants become part of the weights of the small board that is sent to."""
    parts = {name: parameter.detach().numpy().astype(np.float64) for name, parameter in net.named_parameters()}
    sums = parts.pop("sums").T[::-1].copy()
    sums[:, FIRST_TARGET:] += parts.pop("constant")[::-1, None]  # each position has one of these weights
    used = np.zeros((ENTRIES, 1), np.bool_)
    used[ENTRY_OF_MARKS] = True
    parts["embedding"] = np.where(used, parts["embedding"], 0.0)  # the others are of small boards that are closed
    return kernels.Network(sums=sums, **parts)


def main() -> None:
    """The two commands."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True, dest="command")
    games = commands.add_parser("games", help="Play games of an agent against itself.")
    games.add_argument("--agent", default="tuned:path=shipped", help="A tuned agent.")
    games.add_argument("--nodes", type=int, default=300, help="For a move.")
    games.add_argument("--parts", type=int, default=40, help="Files.")
    games.add_argument("--size", type=int, default=4000, help="Games in a file.")
    games.add_argument("-o", "--output", type=Path, required=True, help="Their directory.")
    training = commands.add_parser("train", help="Train a network by games.")
    training.add_argument("directories", type=Path, nargs="+", help="Of the games.")
    training.add_argument("--epochs", type=float, default=4, help="How often each position is seen.")
    training.add_argument("-o", "--output", type=Path, required=True, help="The file of the network.")
    chosen = parser.parse_args()
    if chosen.command == "games":
        play(chosen.output, chosen.agent, chosen.nodes, chosen.parts, chosen.size)
    else:
        train(chosen.directories, chosen.output, chosen.epochs)


if __name__ == "__main__":
    main()
