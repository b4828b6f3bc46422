"""Linear programs, and the zero-sum games that they solve: matrix games, and games in sequence form.

They need scipy, an extra that is imported when it is used.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pttt_ooc.errors import PtttError

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class LinearProgram:
    """Maximise ``objective @ x``, so that ``below @ x <= limits`` and ``equal @ x = amounts``.

    Attributes
    ----------
    nonnegative
        The number of variables, from the first, that are at least 0; the others are free.
    """

    objective: Floats
    below: Any
    limits: Floats
    equal: Any
    amounts: Floats
    nonnegative: int


@dataclass(frozen=True, eq=False)
class Optimum:
    """The solution of a linear program.

    Attributes
    ----------
    value
        The maximum.
    variables
        A point that reaches it.
    multipliers
        Of the inequalities; none is negative.
    """

    value: float
    variables: Floats
    multipliers: Floats


def solve(program: LinearProgram, name: str, method: str = "highs-ipm", **options: float) -> Optimum:
    """Solve a linear program; messages contain its `name`; for `method` and `options` see scipy's ``linprog``.

    Raises
    ------
    PtttError
        If it cannot be solved.
    """
    from scipy.optimize import linprog

    bounds = [(0, None)] * program.nonnegative + [(None, None)] * (len(program.objective) - program.nonnegative)
    rows = (program.below, program.limits, program.equal, program.amounts)
    found = linprog(-program.objective, *rows, bounds, method=method, options=options)
    if found.status != 0:
        raise PtttError(f"The linear program of {name} cannot be solved: {found.message}")
    return Optimum(-float(found.fun), found.x, np.maximum(-found.ineqlin.marginals, 0))


def maximin(payoffs: Floats) -> Floats:
    """The mixture of a matrix's rows that gets the most in the worst column, up to rounding.

    Parameters
    ----------
    payoffs
        Shape (rows, columns): what the player who chooses the row gets.
    """
    m, n = payoffs.shape
    # Variables: the mixture, and the value, which is maximised.
    program = LinearProgram(
        objective=np.append(np.zeros(m), 1.0),
        below=np.hstack([-payoffs.T, np.ones((n, 1))]),
        limits=np.zeros(n),
        equal=np.append(np.ones(m), 0.0)[None],
        amounts=np.ones(1),
        nonnegative=m,
    )
    return solve(program, "a matrix game", "highs").variables[:m]


@dataclass(frozen=True, eq=False)
class SequenceForm:
    """The realization plans of one player.

    Attributes
    ----------
    classes : int64 (columns,)
        The class of each variable, in rising order; the first is 0, the empty sequence.
    sums : sparse (rows, columns)
        The first row is the reach of the empty sequence, which is 1.  Then one row for each infoset: the reach of its
        actions minus the reach of the sequence before, which is 0.
    """

    classes: Ints
    sums: Any

    def columns(self, classes: Ints) -> Ints:
        """The numbers of the variables of some classes."""
        return np.searchsorted(self.classes, classes)

    @property
    def amounts(self) -> Floats:
        """The sums that every plan has: 1, and then zeros."""
        return np.append(1.0, np.zeros(self.sums.shape[0] - 1))


def equilibrium(first: SequenceForm, second: SequenceForm, payoffs: Any) -> tuple[float, tuple[Floats, Floats]]:
    """An equilibrium of a zero-sum game in sequence form (von Stengel 1996).

    The plan ``x`` of player 0 gets the most against the best response of player 1::

        max v(root)   so that   E x = e,   F' v <= A' x,   x >= 0

    ``E x = e`` are the sums of player 0, ``F`` those of player 1, and ``A`` the payoffs.  The multipliers of
    ``F' v <= A' x`` are the plan of player 1.

    Parameters
    ----------
    payoffs
        Sparse (columns of `first`, columns of `second`): for each pair of sequences, what player 0 gets.

    Returns
    -------
    value, plans
        The value for player 0, and the variables of both players.

    Raises
    ------
    PtttError
        If the linear program cannot be solved.
    """
    from scipy import sparse

    own, bounds = first.sums.shape[1], second.sums.shape[0]
    program = LinearProgram(
        objective=np.concatenate([np.zeros(own), second.amounts]),
        below=sparse.hstack([-payoffs.T, second.sums.T], format="csr"),
        limits=np.zeros(second.sums.shape[1]),
        equal=sparse.hstack([first.sums, sparse.csr_matrix((first.sums.shape[0], bounds))], format="csr"),
        amounts=first.amounts,
        nonnegative=own,
    )
    found = solve(program, "a restricted game")
    return found.value, (np.maximum(found.variables[:own], 0), found.multipliers)
