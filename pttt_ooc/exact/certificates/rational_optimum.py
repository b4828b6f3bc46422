"""The vertex of a restricted game's program in fractions, and a check without tolerance that it is optimal."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from pttt_ooc.errors import PtttError
from pttt_ooc.exact.certificates.integer_program import IntegerProgram, Vertex
from pttt_ooc.exact.certificates.rational_system import common_denominator, solve


class NotOptimalError(PtttError):
    """The vertex is not optimal, or no vertex."""


@dataclass(frozen=True, eq=False)
class RationalOptimum:
    """An equilibrium of a restricted game.

    Attributes
    ----------
    value
        The value of the restricted game for player 0.
    reach
        Both players' reach of their sequences, as integers over a common denominator; without the empty sequence.
    denominators
        The reach of the empty sequence, which is the common denominator.
    """

    value: Fraction
    reach: tuple[list[int], list[int]]
    denominators: tuple[int, int]


def rational_optimum(program: IntegerProgram, vertex: Vertex) -> RationalOptimum:
    """The equilibrium that belongs to a vertex.

    Variables that are not basic are 0, and rows whose slack is not basic are tight.  So the basic variables solve a
    system of equations, and its transpose gives the multipliers.  If both are feasible and their objectives are equal,
    both are optimal, whatever the double-precision method did.

    Raises
    ------
    NotOptimalError, SingularError
        If they are not.
    """
    matrix, tight, basic = program.matrix, np.flatnonzero(~vertex.rows), np.flatnonzero(vertex.columns)
    if len(tight) != len(basic):
        raise NotOptimalError("A basis of a linear program has the wrong size.")
    square = matrix[tight][:, basic]
    rows, columns = matrix.shape
    variables = _scatter(columns, basic, solve(square, _unit(tight, 0)))
    multipliers = _scatter(rows, tight, solve(square.T.tocsr(), _unit(basic, program.sequences)))
    value = _check_optimum(program, variables, multipliers)
    first, second = variables[: program.sequences], multipliers[program.flows :]
    denominators = int(common_denominator(first)), int(common_denominator(second))
    reach = [
        [int((part * whole).p) for part in plan] for plan, whole in zip((first, second), denominators, strict=True)
    ]
    if any(plan[0] != whole for plan, whole in zip(reach, denominators, strict=True)):
        raise NotOptimalError("The reach of an empty sequence is not 1.")
    return RationalOptimum(value, (reach[0][1:], reach[1][1:]), denominators)


def _unit(places: Any, one: int) -> list[Any]:
    """A fraction for each place: 1 at the place `one`, 0 elsewhere."""
    from flint import fmpq

    return [fmpq(int(place == one)) for place in places.tolist()]


def _scatter(size: int, places: Any, fractions: list[Any]) -> list[Any]:
    from flint import fmpq

    found = [fmpq(0)] * size
    for place, fraction in zip(places.tolist(), fractions, strict=True):
        found[place] = fraction
    return found


def _check_optimum(program: IntegerProgram, variables: list[Any], multipliers: list[Any]) -> Fraction:
    """Check that both are feasible, and that their objectives are equal; returns the value of the restricted game."""
    flows, sequences = program.flows, program.sequences
    activities, costs = _product(program.matrix, variables), _product(program.matrix.T.tocsr(), multipliers)
    feasible = (
        all(activity == (row == 0) for row, activity in enumerate(activities[:flows]))
        and all(activity <= 0 for activity in activities[flows:])
        and all(variable >= 0 for variable in variables[:sequences])
    )
    dual = (
        all(cost >= 0 for cost in costs[:sequences])
        and all(cost == (bound == 0) for bound, cost in enumerate(costs[sequences:]))
        and all(multiplier >= 0 for multiplier in multipliers[flows:])
    )
    if not feasible or not dual or variables[sequences] != multipliers[0]:
        raise NotOptimalError("The vertex of a linear program is not optimal in fractions.")
    return Fraction(int(multipliers[0].p), int(multipliers[0].q)) / program.scale


def _product(matrix: Any, vector: list[Any]) -> list[Any]:
    """A sparse matrix of integers times a vector of fractions."""
    from flint import fmpq

    found = []
    for begin, end in zip(matrix.indptr[:-1].tolist(), matrix.indptr[1:].tolist(), strict=True):
        entries = zip(matrix.indices[begin:end].tolist(), matrix.data[begin:end].tolist(), strict=True)
        found.append(sum((number * vector[k] for k, number in entries if vector[k]), fmpq(0)))
    return found
