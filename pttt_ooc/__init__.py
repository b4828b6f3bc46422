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
    from pttt_ooc.cfr.solving.regret import Coefficients, Rule
    from pttt_ooc.errors import PtttError
    from pttt_ooc.games.rules.game import Game
    from pttt_ooc.library.api.games import game, placement_game, tic_tac_toe
    from pttt_ooc.library.api.infoset_arrays import gradient, marks, mix, reach
    from pttt_ooc.library.api.profiles import Profile, profile
    from pttt_ooc.library.api.solutions import Solution, load, solve
    from pttt_ooc.library.api.solver_session import iterate
    from pttt_ooc.library.api.strategies import Strategy
    from pttt_ooc.library.api.structures import configure
    from pttt_ooc.library.api.values import best_response, compare, evaluate

__version__ = "0.2.0"

# Names are looked up when they are used: importing the package, as `pttt --help` does, loads nothing.
_HOMES = {
    "errors": ("PtttError",),
    "games.rules.game": ("Game",),
    "library.api.games": ("game", "placement_game", "tic_tac_toe"),
    "library.api.infoset_arrays": ("gradient", "marks", "mix", "reach"),
    "library.api.profiles": ("Profile", "profile"),
    "library.api.solver_session": ("iterate",),
    "library.api.solutions": ("Solution", "load", "solve"),
    "library.api.strategies": ("Strategy",),
    "library.api.structures": ("configure",),
    "library.api.values": ("best_response", "compare", "evaluate"),
    "cfr.solving.regret": ("Coefficients", "Rule"),
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
    "gradient",
    "iterate",
    "load",
    "marks",
    "mix",
    "placement_game",
    "profile",
    "reach",
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
