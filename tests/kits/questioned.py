"""Shared by the tests of questions: small games of all kinds, and profiles of random strategies."""

import random
from functools import cache

import numpy as np

from pttt_ooc.cfr.sweep.engine import Engine
from pttt_ooc.games.rules.catalogue import named_game
from pttt_ooc.games.rules.game import Game
from pttt_ooc.library.questions.profile import PreparedProfile
from tests.kits import naive
from tests.kits.helpers import as_strategy, random_table

HEX = Game("hex-2x2", 2, 2, ((0b0101, 0b1010, 0b0110), (0b0011, 0b1100, 0b0110)))
HEX_CLASSICAL = Game("hex-2x2-classical", 2, 2, HEX.winning_sets, "classical")
NAMES = (
    *("mini-2x2k2-abrupt", "mini-2x3k2-abrupt", "mini-2x3k2-classical"),
    *("mini-2x3k3-abrupt-after-1-4", "mini-2x3k3-classical-after-1-4", "pttt-abrupt-after-1-0-3-2-4-8"),
    "pttt-classical-after-1-0-3-2-4-8",
)
GAMES = (*map(named_game, NAMES), HEX, HEX_CLASSICAL)
CASES = [(g, symmetry) for g in GAMES for symmetry in ("none", "full") if symmetry == "none" or len(g.symmetries) > 1]
IDS = [f"{game.name}-{symmetry}" for game, symmetry in CASES]


@cache
def engine_of(game, symmetry):
    """An engine for a small game."""
    return Engine.of_game(game, symmetry, np.float64, threads=2)


@cache
def tables_of(game, symmetry):
    """A random strategy of each player, by text: symmetric ones for symmetry "full"."""
    rng, symmetric = random.Random(f"{game.name} {symmetry}"), symmetry == "full"
    zeros = 0.7 if symmetric else 0.3  # a mean of mirror images has fewer of them
    return tuple(random_table(game, player, rng, zeros, symmetric) for player in (0, 1))


@cache
def profile_of(game, symmetry):
    """A profile of these strategies, in memory."""
    engine = engine_of(game, symmetry)
    both = [as_strategy(engine.index, player, table) for player, table in enumerate(tables_of(game, symmetry))]
    return PreparedProfile.prepare(*both, engine)


def infosets(game):
    """Each player with each of its infosets."""
    return [(player, text) for player in (0, 1) for text in naive.infosets(game, player)]
