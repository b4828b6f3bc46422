"""Values of a round by the goals of both players, in one equilibrium and in all of them.

The table of one equilibrium has nine entries; the sums of its rows and columns are the values for a player who knows
only their own goal.  In an equilibrium the sum of a row is the payoff of the first player's best response with this
goal against the second player's optimal plan, so linear programs over these plans find its range in all equilibria; the
same holds for columns.  Entries depend on both plans: their ranges are bounded by those of rows and columns, and by the
entries that are always 0 in a single round: both players score or neither does.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pttt_ooc.extras import check_extra
from pttt_ooc.other_games.smbc import programs
from pttt_ooc.other_games.smbc.programs import Range
from pttt_ooc.other_games.smbc.round import Floats, Payoffs, RoundProfile, outcomes
from pttt_ooc.other_games.smbc.tree import RoundTree


@dataclass(frozen=True)
class Equilibria:
    """Ranges in all equilibria of a round; amounts are for the first player.

    Attributes
    ----------
    value
        Of the round.
    rows
        For each goal of the first player: the expected payoff.
    columns
        For each goal of the second player: the first player's expected payoff.
    entries
        For each goal of the first and each of the second player.
    """

    value: float
    rows: list[Range]
    columns: list[Range]
    entries: list[list[Range]]


def by_goals(tree: RoundTree, profile: RoundProfile, payoffs: Payoffs) -> Floats:
    """The first player's expected payoffs: shape (3, 3), by the first and by the second player's goal."""
    table: Floats = (outcomes(tree, profile) * payoffs.table()).sum(axis=2)
    return table


def equilibria(tree: RoundTree, payoffs: Payoffs) -> Equilibria:
    """Ranges in all equilibria of a round, by fourteen linear programs of some seconds each.

    Raises
    ------
    MissingExtraError
        If scipy is missing.
    PtttError
        If a program cannot be solved.
    """
    check_extra("smbc", "The search through all equilibria")
    values, margins = [], []
    for player in (1, 0):  # the plans of the second player give values for the goals of the first
        sign = 1 if player == 0 else -1
        plans = programs.program(tree, player, payoffs)
        value, _ = programs.solve(plans)
        values.append(sign * value)
        margins.append([scale_range(programs.goal_range(plans, value, goal), 3 * sign) for goal in range(3)])
    rows, columns = margins
    return Equilibria(values[0], rows, columns, entry_ranges(payoffs, rows, columns))


def scale_range(interval: Range, factor: float) -> Range:
    """A range times a factor of any sign."""
    ends = sorted((interval.least * factor, interval.most * factor))
    return Range(*ends)


def entry_ranges(payoffs: Payoffs, rows: list[Range], columns: list[Range]) -> list[list[Range]]:
    """Bounds of the entries of a table whose rows and columns have means in given ranges.

    Two small linear programs bound each entry.  It lies between the smallest and the largest payoff that its goals
    allow.
    """
    from scipy.optimize import linprog  # slow to import, and an extra

    table = payoffs.table()
    limits = [(float(cell.min()), float(cell.max())) for cell in table[:, :, :3].reshape(9, 3)]
    sums = [np.kron(np.eye(3)[goal], np.ones(3)) for goal in range(3)]
    sums += [np.kron(np.ones(3), np.eye(3)[goal]) for goal in range(3)]
    margins = [*rows, *columns]
    upper = np.array([*sums, *(-each for each in sums)])
    slack = 9 * programs.SLACK  # the margins have this slack
    amounts = [3 * margin.most + slack for margin in margins] + [-3 * margin.least + slack for margin in margins]
    found = []
    for entry in range(9):
        ends = []
        for sign in (1, -1):
            costs = np.zeros(9)
            costs[entry] = sign
            ends.append(sign * float(linprog(costs, upper, amounts, bounds=limits).fun))
        found.append(Range(*ends))
    return [found[3 * goal : 3 * goal + 3] for goal in range(3)]
