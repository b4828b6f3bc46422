"""Shared by the tests: indices of small games, and strategies between text and arrays."""

from functools import cache

import numba
import numpy as np

from pttt_ooc.cfr.sweep.engine import Engine
from pttt_ooc.games.rules.catalogue import named_game
from pttt_ooc.games.structure.index import Index, actions_of, build_index
from pttt_ooc.games.structure.orders import order_counts, unrank
from pttt_ooc.games.structure.strategy import Strategy
from pttt_ooc.pipeline.files import bundle, infosets, tensors
from tests.kits import naive

RULES = ("abrupt", "classical")
TINY = [f"{board}-{rule}" for board in ("mini-2x2k2", "mini-2x3k2", "mini-3x2k2", "dark-hex-2x2") for rule in RULES]
SMALL = [
    *(f"mini-2x3k3-{rule}{after}" for after in ("-after-1", "-after-1-4") for rule in RULES),
    *(f"pttt-{rule}-after-0-5-1-8-3" for rule in RULES),
    *("dark-hex-2x3-classical", "dark-hex-3x2-classical"),  # each player wins with chains of its own
    *(f"pttt-{rule}-after-1-0-3-2-4-8" for rule in RULES),
]
FILE_GAME = "mini-2x3k2-abrupt"
FILE_GAMES = TINY + [name for name in SMALL if "0-5-1-8-3" not in name]


@cache
def compiled(piece):
    """A piece of kernels as a kernel: called directly, it would be plain Python."""
    return numba.njit(lambda *arguments: piece(*arguments))


@cache
def small_engine(name, symmetry="none", dtype=np.float64, threads=2):
    """An engine for a small game."""
    return Engine.of_game(named_game(name), symmetry, dtype, threads)


@cache
def full_index(name):
    """The index of a small game with symmetry "none"."""
    return build_index(named_game(name), "none")


def default_texts(name, player):
    """All infosets of a small game in the default order of files, by plain Python."""
    return naive.infosets(named_game(name), player)


@cache
def node_texts(index: Index, player: int):
    """Text of every node of an index, in the sequence of node numbers."""
    game, mine = index.game, index.players[player]
    counts = order_counts(game, player)
    texts = []
    setup = "".join(f"{s}*" for s in game.setup[player])
    for v in range(len(mine.placed)):
        for rank in range(int(mine.node_start[v + 1] - mine.node_start[v])):
            out = np.zeros(game.squares, np.int8)
            placed, failed = int(mine.placed[v]), int(mine.failed[v])
            n = compiled(unrank)(rank, placed, failed, *counts.tables, out)
            texts.append("|" + setup + "".join(f"{s}{'*' if placed >> s & 1 else '.'}" for s in out[:n].tolist()))
    return texts


@cache
def sequence_texts(index: Index, player: int):
    """(infoset text, square) of every sequence of an index, in the sequence of sequence numbers."""
    mine, texts = index.players[player], node_texts(index, player)
    found = []
    for v in np.flatnonzero(mine.decides):
        nodes = range(int(mine.node_start[v]), int(mine.node_start[v + 1]))
        for square in actions_of(index.game, player, int(mine.placed[v] | mine.failed[v])):
            found.extend((texts[node], square) for node in nodes)
    return found


def as_strategy(index: Index, player: int, table) -> Strategy:
    """A strategy by text, as the package's arrays."""
    values = [table[text][square] for text, square in sequence_texts(index, player)]
    return Strategy(index, player, np.array(values, np.float64))


def symmetric_table(strategy):
    """The rows by text of a strategy on an index with symmetry: mirror images have the representative's numbers."""
    index, player = strategy.index, strategy.player
    game, rows = index.game, {}
    for (text, square), chance in zip(sequence_texts(index, player), strategy.probabilities.tolist(), strict=True):
        for g in game.symmetries:
            rows.setdefault(naive.image(game, text, g), [0.0] * game.squares)[g[square]] = chance
    return rows


def random_table(game, player, rng, zero_probability=0.3, symmetric=False):
    """A random strategy by text; where asked, a symmetric one."""
    table = naive.random_strategy(game, player, rng, zero_probability)
    return naive.symmetrise(game, player, table) if symmetric else table


def write_bundle(path, index, strategies, facts, rows=(None, None), dtype=np.float32):
    """Both players' strategies in a hand-over file, block by block on one thread; rows in the default order if None."""
    chosen = [infosets.default_rows(index, p) if r is None else r for p, r in enumerate(rows)]
    with bundle.open_bundle(path, index, (len(chosen[0]), len(chosen[1])), facts, dtype) as parts:
        for p in (0, 1):
            blocks = tensors.tensor_from_strategy(index, p, strategies[p].probabilities, chosen[p], dtype)
            for (start, nodes), block in zip(infosets.row_blocks(chosen[p]), blocks, strict=True):
                parts[p].write(start, parts[p].pack(infosets.infoset_texts(index, p, nodes), block))


__all__ = ["as_strategy", "node_texts", "random_table", "sequence_texts", "small_engine", "write_bundle"]
