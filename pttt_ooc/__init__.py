"""Phantom Tic-Tac-Toe and its relatives, solved exactly, out of core.

>>> from pttt_ooc import Engine, named_game, uniform_strategy
>>> from pttt_ooc.solving.evaluation import evaluate
>>> engine = Engine.of_game(named_game("mini-2x3k2-abrupt"))
>>> uniform = [uniform_strategy(engine.index, player) for player in (0, 1)]
>>> round(evaluate(*uniform, engine).best_response_0, 6)
0.866667
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pttt_ooc.config import SolveConfig
    from pttt_ooc.errors import PtttError
    from pttt_ooc.rules.catalogue import GAMES, named_game
    from pttt_ooc.rules.game import Game
    from pttt_ooc.solving.evaluation import Evaluation
    from pttt_ooc.solving.solver import Solution
    from pttt_ooc.structure.index import Index
    from pttt_ooc.structure.strategy import Strategy, uniform_strategy
    from pttt_ooc.structure.symmetry import fold, unfold
    from pttt_ooc.sweep.engine import Engine

__version__ = "0.1.0"

# Names are looked up when they are used: importing the package, as `pttt --help` does, loads nothing.
# The functions `solve` and `evaluate` are not among them, because modules have these names.
_HOMES = {
    "config": ("SolveConfig",),
    "sweep.engine": ("Engine",),
    "errors": ("PtttError",),
    "solving.evaluation": ("Evaluation",),
    "rules.catalogue": ("GAMES", "named_game"),
    "rules.game": ("Game",),
    "structure.index": ("Index",),
    "solving.solver": ("Solution",),
    "structure.strategy": ("Strategy", "uniform_strategy"),
    "structure.symmetry": ("fold", "unfold"),
}

__all__ = [
    "GAMES",
    "Engine",
    "Evaluation",
    "Game",
    "Index",
    "PtttError",
    "Solution",
    "SolveConfig",
    "Strategy",
    "fold",
    "named_game",
    "unfold",
    "uniform_strategy",
]


def __getattr__(name: str) -> Any:
    for home, names in _HOMES.items():
        if name in names:
            return getattr(import_module(f"pttt_ooc.{home}"), name)
    raise AttributeError(f"module 'pttt_ooc' has no attribute {name!r}")
