"""Linear programs, and the matrix games that they solve.

They need scipy, an extra that is imported when it is used.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pttt_ooc.errors import PtttError

Floats = NDArray[np.float64]


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
