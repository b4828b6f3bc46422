"""Equilibria of a restricted game from inside of its optimal face.

The equilibria of a restricted game are a face of its :mod:`.restricted_program`.  A vertex of this face is an extreme
way to be indifferent, and the whole game exploits it where the restricted game does not look.  An interior point method
that does not go on to a vertex ends inside of the face, and there best responses find far less.

The method ends with a tolerance.  Strict complementarity (Goldman and Tucker 1956) says which face it is in: a sequence
has reach, or it loses something, but not both.  So the face is a system of equations, and the plans are exact to
rounding after a projection: the nearest solution is taken, each reach in units of itself (Mehrotra and Ye 1993).  On
large games a tolerance leaves reach that belongs to no solution.  There the projection makes it negative, so it is left
out, and what remains is projected again.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pttt_ooc.cfr.solving.highs_solver import Inside, solve_inside
from pttt_ooc.exact.double_oracle.restricted_histories import Plans, WonHistories
from pttt_ooc.exact.double_oracle.restricted_matching import gap
from pttt_ooc.exact.double_oracle.restricted_program import Program, build, columns_of
from pttt_ooc.exact.double_oracle.sequence_form import sequence_form

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

NOISE = 1e-9
"""Reach up to this is what the method's tolerance leaves of none."""

ROUNDING = 1e-13
"""A loss of this size is only rounding."""

_TOLERANCE = 1e-12  # the least that HiGHS takes; at its default of 1e-8 faces are not told apart
_MOST_PROJECTIONS = 12  # of one plan; each leaves out what the one before made negative
_NEARLY = 1e-18  # reach below 0 by less than this is 0
_DAMPING, _STEPS = 1e-14, 10  # of the projection: its equations depend on each other, so they are damped and refined
_FREE = 1e-3  # values have no sign to keep; this is the unit in which they are measured


class InsidePlans(NamedTuple):
    """An equilibrium of a restricted game: the reach of both players' sequences, and what both lose together."""

    reach: tuple[Floats, Floats]
    loss: float


def inside_plans(plans: Plans, won: WonHistories, presolve: bool = True) -> InsidePlans:
    """Plans inside of the optimal face of a restricted game, projected onto it if they are not exact to rounding.

    Parameters
    ----------
    presolve
        Whether HiGHS makes the program smaller first.  That is several times as fast, but some sequences that could
        have reach get none.

    Raises
    ------
    UnsolvedError
        If HiGHS does not solve the program.
    """
    program, found, face = face_of(plans, won, presolve)
    best = InsidePlans(face.clean_reach, gap(plans, won, face.clean_reach))
    if best.loss <= ROUNDING:
        return best
    return choose_best(plans, won, best, _project(program, found, face))


def choose_best(plans: Plans, won: WonHistories, best: InsidePlans, other: tuple[Floats, Floats]) -> InsidePlans:
    """The best of two pairs and of their mixed pairs: a plan's loss does not depend on the other plan."""
    one = best.reach
    for pair in (other, (other[0], one[1]), (one[0], other[1])):
        if min(map(np.min, pair)) >= 0 and (loss := gap(plans, won, pair)) < best.loss:
            best = InsidePlans(pair, loss)
    return best


class Face(NamedTuple):
    """A point inside of an optimal face, for both players, and what is the same everywhere in the face.

    Attributes
    ----------
    reach
        Of their sequences.
    values
        Of their opponents' infosets that have actions.
    played, tight
        Which sequences have reach, and which of them lose nothing.
    """

    reach: tuple[Floats, Floats]
    values: tuple[Floats, Floats]
    played: tuple[Bools, Bools]
    tight: tuple[Bools, Bools]

    @property
    def clean_reach(self) -> tuple[Floats, Floats]:
        """The reach without noise."""
        return np.where(self.played[0], self.reach[0], 0.0), np.where(self.played[1], self.reach[1], 0.0)


def face_of(plans: Plans, won: WonHistories, presolve: bool = True) -> tuple[Program, Inside, Face]:
    """The program of a restricted game, its solution, and the face; errors as :func:`inside_plans`."""
    program = build(sequence_form(plans, won))
    options = {"ipm_optimality_tolerance": _TOLERANCE, "presolve": "on" if presolve else "off"}
    found = solve_inside(columns_of(program), options)
    sequences, flows = len(program.sequences), len(program.row_infosets)
    reach = found.values[:sequences], found.multipliers[flows:]
    losses = found.costs[:sequences], program.upper[flows:] - found.activities[flows:]
    played = tuple(own > np.maximum(lost, NOISE) for own, lost in zip(reach, losses, strict=True))
    tight = tuple(own | (lost < NOISE) for own, lost in zip(played, losses, strict=True))
    values = found.values[sequences:], found.multipliers[:flows]
    return program, found, Face(reach, values, (played[0], played[1]), (tight[0], tight[1]))


def _project(program: Program, found: Inside, face: Face) -> tuple[Floats, Floats]:
    """The nearest plans that solve the equations of the face; reach that stays negative to the end is returned so.

    Player 0's plan and the values of player 1's infosets solve the rows of flows and of player 1's tight sequences;
    player 1's plan and the values of player 0's infosets solve the columns, likewise.
    """
    from scipy import sparse

    height, width = len(program.upper), len(program.costs)
    sequences, flows = len(program.sequences), len(program.row_infosets)
    matrix = sparse.csc_array((program.entries, program.rows, program.starts), shape=(height, width)).tocsr()
    rows = np.append(np.ones(flows, np.bool_), face.tight[1])
    columns = np.append(face.tight[0], np.ones(width - sequences, np.bool_))
    first = nearest_plan(
        matrix[rows],
        program.upper[rows],
        found.values,
        np.append(face.played[0], np.zeros(width - sequences, np.bool_)),
        np.arange(width) < sequences,
    )
    second = nearest_plan(
        matrix[:, columns].T.tocsr(),
        program.costs[columns],
        found.multipliers,
        np.append(np.zeros(flows, np.bool_), face.played[1]),
        np.arange(height) >= flows,
    )
    return first[:sequences], second[flows:]


def nearest_plan(matrix: Any, amounts: Floats, start: Floats, played: Bools, is_reach: Bools) -> Floats:
    """The solution of ``matrix @ x = amounts`` that is nearest to `start`, where only what is played has reach.

    What comes out negative is played no more, as often as needed; what stays negative to the end is returned so.

    Parameters
    ----------
    matrix : sparse (rows, columns)
        The equations of a face.
    amounts : float64 (rows,)
        What they are equal to.
    start : float64 (columns,)
        Reach, and values of infosets.
    played, is_reach : bool (columns,)
        Which reach is not 0, and which columns are reach.
    """
    units = np.where(is_reach, start, _FREE)
    for _ in range(_MOST_PROJECTIONS):
        columns, point = played | ~is_reach, np.zeros(len(start))
        point[columns] = _nearest(matrix[:, columns], amounts, start[columns], units[columns])
        point[is_reach & (np.abs(point) < _NEARLY)] = 0
        negative = is_reach & (point < 0)
        if not negative.any():
            break
        played = played & ~negative
    return point


def _nearest(matrix: Any, amounts: Floats, start: Floats, units: Floats) -> Floats:
    """The solution of ``matrix @ x = amounts`` that is nearest to `start`, where the distance is measured in `units`.

    With the identity and the damping, the augmented matrix of least squares is quasidefinite.  So its pivots may be
    taken on the diagonal in any order, and one of minimum degree fills little (Vanderbei 1995).
    """
    from scipy import sparse
    from scipy.sparse.linalg import splu

    scaled = (matrix @ sparse.diags_array(units)).tocsr()
    norms = np.sqrt(np.asarray(scaled.multiply(scaled).sum(axis=1)).ravel())
    norms[norms == 0] = 1
    scaled = sparse.diags_array(1 / norms) @ scaled
    rows, columns = scaled.shape
    below = sparse.diags_array(np.full(rows, -_DAMPING))
    augmented = sparse.block_array([[sparse.eye_array(columns), scaled.T], [scaled, below]], format="csc")
    factors = splu(augmented, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options={"SymmetricMode": True})
    point, nothing = start.copy(), np.zeros(columns)
    for _ in range(_STEPS):
        left = (amounts - matrix @ point) / norms
        point += units * factors.solve(np.concatenate([nothing, left]))[:columns]
    return point
