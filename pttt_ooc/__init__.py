"""Phantom Tic-Tac-Toe and its relatives, solved exactly, out of core.

>>> import pttt_ooc as pttt
>>> game = pttt.game("mini-2x3k2-abrupt")
>>> solution = pttt.solve(game, target_nashconv=1e-4)
>>> round(pttt.evaluate(pttt.Strategy.uniform(game, 0), solution[1]).value, 3)
0.471
>>> pttt.best_response(pttt.Strategy.uniform(game, 1)).value > 0.86
True
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pttt_ooc.errors import PtttError
    from pttt_ooc.library.games import game, placement_game, tic_tac_toe
    from pttt_ooc.library.profiles import Profile, profile
    from pttt_ooc.library.solutions import Solution, load, solve
    from pttt_ooc.library.solver_session import iterate
    from pttt_ooc.library.strategies import Strategy
    from pttt_ooc.library.structures import configure
    from pttt_ooc.library.values import best_response, compare, evaluate
    from pttt_ooc.rules.game import Game
    from pttt_ooc.solving.regret import Coefficients, Rule

__version__ = "0.2.0.dev0"

# Names are looked up when they are used: importing the package, as `pttt --help` does, loads nothing.
_HOMES = {
    "errors": ("PtttError",),
    "rules.game": ("Game",),
    "library.games": ("game", "placement_game", "tic_tac_toe"),
    "library.profiles": ("Profile", "profile"),
    "library.solver_session": ("iterate",),
    "library.solutions": ("Solution", "load", "solve"),
    "library.strategies": ("Strategy",),
    "library.structures": ("configure",),
    "library.values": ("best_response", "compare", "evaluate"),
    "solving.regret": ("Coefficients", "Rule"),
}

__all__ = [
    "Coefficients",
    "Game",
    "Profile",
    "PtttError",
    "Rule",
    "Solution",
    "Strategy",
    "best_response",
    "compare",
    "configure",
    "evaluate",
    "game",
    "iterate",
    "load",
    "placement_game",
    "profile",
    "solve",
    "tic_tac_toe",
]


def __getattr__(name: str) -> Any:
    for home, names in _HOMES.items():
        if name in names:
            return getattr(import_module(f"pttt_ooc.{home}"), name)
    raise AttributeError(f"module 'pttt_ooc' has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
