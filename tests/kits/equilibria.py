"""Equilibria of small games, found by the double oracle."""

from pttt_ooc.exact.double_oracle.oracle import DoubleOracle
from pttt_ooc.exact.equilibria.optimal_face import OptimalFace
from pttt_ooc.games.rules.catalogue import named_game
from tests.kits.helpers import small_engine


def settled(name, memo_mb=1):
    """The double oracle of a game after its last round, in which best responses had nothing new."""
    oracle = DoubleOracle(named_game(name), memo_mb)
    while not oracle.round().settled:
        pass
    return oracle


def face_of(name):
    """The optimal face of a game."""
    return OptimalFace(settled(name), small_engine(name, "full"))
