"""The interface of exp-a-spiel's Python package ``eas``, on the package's own engines.

Programs that were written for ``eas`` run unmodified: ``python -m pttt_ooc.library.eas PROGRAM``, or :func:`install`
before they import it.  ``docs/lab/eas.md`` says what is the same and what is not.

>>> from pttt_ooc.library import eas
>>> traverser = eas.CornerDhTraverser()
>>> found = traverser.ev_and_exploitability(*traverser.construct_uniform_strategies())
>>> found
EvExpl(ev0=0.37142857, expl=[1.16190476, 0.62857143])

Modules: ``boards``: the five games, and the names of their cells. ``states``: a play of a game, and its
picture as text. ``infostates``: OpenSpiel's information-state tensors. ``treeplex``: a player's rows and arrays.
``kernels``: loops over them. ``traversers``: values and best responses. ``averaging``: averages of strategies.
``cfr``: algorithms that minimise counterfactual regret.
"""

import sys

from pttt_ooc.library.eas.averaging import Averager, AveragingStrategy
from pttt_ooc.library.eas.cfr import (
    AbruptDhCfrSolver,
    AbruptPtttCfrSolver,
    CfrConf,
    CfrSolver,
    CornerDhCfrSolver,
    DhCfrSolver,
    PtttCfrSolver,
)
from pttt_ooc.library.eas.states import AbruptDhState, AbruptPtttState, CornerDhState, DhState, PtttState
from pttt_ooc.library.eas.traversers import (
    AbruptDhTraverser,
    AbruptPtttTraverser,
    CornerDhTraverser,
    DhTraverser,
    EvExpl,
    PtttTraverser,
)

__all__ = [
    "AbruptDhCfrSolver",
    "AbruptDhState",
    "AbruptDhTraverser",
    "AbruptPtttCfrSolver",
    "AbruptPtttState",
    "AbruptPtttTraverser",
    "Averager",
    "AveragingStrategy",
    "CfrConf",
    "CfrSolver",
    "CornerDhCfrSolver",
    "CornerDhState",
    "CornerDhTraverser",
    "DhCfrSolver",
    "DhState",
    "DhTraverser",
    "EvExpl",
    "PtttCfrSolver",
    "PtttState",
    "PtttTraverser",
]


def install() -> None:
    """From now on, ``import eas`` in this process imports this module."""
    sys.modules["eas"] = sys.modules["eas.pyeas"] = sys.modules[__name__]
