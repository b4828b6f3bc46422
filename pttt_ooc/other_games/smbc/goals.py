"""Values of a round by the goals of both players, in one equilibrium and in all of them.

The table of one equilibrium has nine entries; the sums of its rows and columns are the values for a player who knows
only their own goal.  In an equilibrium the sum of a row is the payoff of the first player's best response with this
goal against the second player's optimal plan, so linear programs over these plans find its range in all equilibria; the
same holds for columns.  Entries depend on both plans: their ranges are bounded by those of rows and columns, and by the
entries that are always 0 in a single round: both players score or neither does.

The linear programs are in sequence form (von Stengel 1996).  The plan of a player has a variable for each of its
sequences and goals.  For each node at which the opponent moves and each of the opponent's goals, a free variable bounds
the player's payoff against the best response from there on.  A plan is optimal if these bounds reach the value of the
round; the optimal plans form a polytope, and as the game is zero-sum, any two of them are an equilibrium.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pttt_ooc.cfr.solving import linear_program
from pttt_ooc.cfr.solving.linear_program import LinearProgram
from pttt_ooc.extras import check_extra
from pttt_ooc.other_games.smbc.round import PAIRS, Floats, Payoffs, RoundProfile, outcomes
from pttt_ooc.other_games.smbc.tree import RoundTree

Ints = NDArray[np.int64]

SLACK = 1e-9
"""How far an optimal plan may be from the value: solvers work in double precision."""


@dataclass(frozen=True)
class Range:
    """The least and the greatest value of a quantity in all equilibria."""

    least: float
    most: float


@dataclass(frozen=True)
class Equilibria:
    """Ranges in all equilibria of a round; amounts are for the first player.

    Attributes
    ----------
    value
        The value of the round.
    rows
        For each goal of the first player: their expected payoff.
    columns
        For each goal of the second player: the first player's expected payoff.
    entries
        For each pair of goals: the first player's expected payoff.
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
        plans = program(tree, player, payoffs)
        value, _ = solve(plans)
        values.append(sign * value)
        margins.append([scale_range(goal_range(plans, value, goal), 3 * sign) for goal in range(3)])
    rows, columns = margins
    return Equilibria(values[0], rows, columns, entry_ranges(payoffs, rows, columns))


def scale_range(interval: Range, factor: float) -> Range:
    """A range times a factor of any sign."""
    ends = sorted((interval.least * factor, interval.most * factor))
    return Range(*ends)


def entry_ranges(payoffs: Payoffs, rows: list[Range], columns: list[Range]) -> list[list[Range]]:
    """Bounds of the entries of a table whose rows and columns have means in given ranges.

    Two small linear programs bound each entry.  An entry lies between the smallest and the largest payoff that its
    goals allow.
    """
    from scipy.optimize import linprog  # slow to import, and an extra

    table = payoffs.table()
    limits = [(float(cell.min()), float(cell.max())) for cell in table[:, :, :3].reshape(9, 3)]
    sums = [np.kron(np.eye(3)[goal], np.ones(3)) for goal in range(3)]
    sums += [np.kron(np.ones(3), np.eye(3)[goal]) for goal in range(3)]
    margins = [*rows, *columns]
    upper = np.array([*sums, *(-each for each in sums)])
    slack = 9 * SLACK  # the margins have this slack
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


# ---------------------------------------------------------------------------------------------
# Linear programs


@dataclass(frozen=True)
class PlanProgram:
    """The linear program of one player's plans.

    The variables are the plan, and then the bounds.

    Attributes
    ----------
    player
        The player of the plans.
    plan_size
        The number of the plan's variables.
    by_goal
        Shape (3, variables): for each goal of the opponent, the player's greatest payoff against it, times 1/3.
    below
        Sparse: this matrix times the variables is at most 0.
    equal, amounts
        Sparse: this matrix times the variables is equal to the amounts.
    """

    player: int
    plan_size: int
    by_goal: Floats
    below: Any
    equal: Any
    amounts: Floats


def program(tree: RoundTree, player: int, payoffs: Payoffs) -> PlanProgram:
    """The linear program of a player's plans."""
    from scipy import sparse  # slow to import, and an extra

    ply, parent, outcome = tree.plies, tree.shape.parent.astype(np.int64), tree.shape.outcome
    is_end, is_own = outcome >= 0, tree.moved_by(player)
    own, theirs = np.flatnonzero(is_own), np.flatnonzero((ply > 0) & ~is_own)  # moves of both
    deciding = [np.flatnonzero(~is_end & (ply % 2 == who)) for who in (player, 1 - player)]
    sequence, mine, bound, row = (_numbers(nodes, tree.nodes) for nodes in (own, *deciding, theirs))
    plan_size, size = 3 * len(own), 3 * (len(own) + len(deciding[1]))
    worth = payoffs.table() / PAIRS if player == 0 else -np.swapaxes(payoffs.table(), 0, 1) / PAIRS

    flow, below = _Entries(), _Entries()
    amounts = np.zeros(3 * len(deciding[0]))
    later, first = (deciding[0][ply[deciding[0]] >= 2], deciding[0][ply[deciding[0]] < 2])
    ends = theirs[is_end[theirs]]  # the opponent's move ends the round
    replies = own[ply[own] >= 2]
    closing, opening = replies[is_end[replies]], replies[~is_end[replies]]
    for goal in range(3):
        flow.add(3 * mine[parent[own]] + goal, 3 * sequence[own] + goal, 1)
        flow.add(3 * mine[later] + goal, 3 * sequence[parent[later]] + goal, -1)
        amounts[3 * mine[first] + goal] = 1
        below.add(3 * row[theirs] + goal, plan_size + 3 * bound[parent[theirs]] + goal, 1)
        below.add(3 * row[parent[opening]] + goal, plan_size + 3 * bound[opening] + goal, -1)
        for mine_goal in range(3):
            column = 3 * sequence + mine_goal
            below.add(3 * row[ends] + goal, column[parent[ends]], -worth[mine_goal, goal, outcome[ends]])
            below.add(3 * row[parent[closing]] + goal, column[closing], -worth[mine_goal, goal, outcome[closing]])
    by_goal = np.zeros((3, size))
    roots = [0] if player == 1 else list(tree.children(0))
    for goal in range(3):
        by_goal[goal, plan_size + 3 * bound[roots] + goal] = 1
    return PlanProgram(
        player,
        plan_size,
        by_goal,
        below.matrix(sparse, (3 * len(theirs), size)),
        flow.matrix(sparse, (len(amounts), size)),
        amounts,
    )


def solve(plans: PlanProgram) -> tuple[float, Floats]:
    """The value of the round for the program's player, and variables that reach it."""
    return extreme(plans, plans.by_goal.sum(axis=0), None, 1)


def goal_range(plans: PlanProgram, value: float, goal: int) -> Range:
    """The range, in all equilibria, of the player's payoff against an opponent with this goal, times 1/3."""
    least, most = (extreme(plans, plans.by_goal[goal], value, sign)[0] for sign in (-1, 1))
    return Range(least, most)


def extreme(plans: PlanProgram, amounts: Floats, value: float | None, sign: int) -> tuple[float, Floats]:
    """The maximum (with sign -1: the minimum) of amounts times variables, and the variables that reach it.

    Parameters
    ----------
    value
        The value of the round for the program's player, to allow only optimal plans.

    Raises
    ------
    PtttError
        If the program cannot be solved.
    """
    from scipy import sparse

    below, limits = plans.below, np.zeros(plans.below.shape[0])
    if value is not None:
        below = sparse.vstack([below, -plans.by_goal.sum(axis=0)[None, :]]).tocsr()
        limits = np.append(limits, SLACK - value)
    program = LinearProgram(sign * amounts, below, limits, plans.equal, plans.amounts, plans.plan_size)
    found = linear_program.solve(program, "a round", primal_feasibility_tolerance=1e-9, dual_feasibility_tolerance=1e-9)
    return sign * found.value, found.variables


def _numbers(nodes: Ints, count: int) -> Ints:
    """For each node its index in `nodes`, or -1."""
    found = np.full(count, -1)
    found[nodes] = np.arange(len(nodes))
    return found


class _Entries:
    """The entries of a sparse matrix, in parts."""

    def __init__(self) -> None:
        self._parts: list[tuple[Ints, Ints, Floats]] = []

    def add(self, rows: Ints, columns: Ints, values: Floats | float) -> None:
        self._parts.append((rows, columns, np.broadcast_to(np.asarray(values, float), rows.shape)))

    def matrix(self, sparse: Any, shape: tuple[int, int]) -> Any:
        rows, columns, values = (np.concatenate(parts) for parts in zip(*self._parts, strict=True))
        return sparse.csr_matrix((values, (rows, columns)), shape=shape)
