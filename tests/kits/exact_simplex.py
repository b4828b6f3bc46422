"""A linear program solved in fractions by nothing but the textbook: Bland's rule on a dense tableau, two phases."""

from fractions import Fraction


def maximise(objective, rows, limits):
    """The maximum of ``objective @ x`` with ``rows @ x <= limits`` and ``x >= 0``; all integers or fractions."""
    size, count = len(objective), len(rows)
    table = [[Fraction(a) for a in row] + [Fraction(int(i == k)) for i in range(count)] for k, row in enumerate(rows)]
    right = [Fraction(limit) for limit in limits]
    basis = [size + k for k in range(count)]
    if min(right) < 0:  # one artificial variable, as large as the worst row asks
        for row in table:
            row.append(Fraction(-1))
        goal = [Fraction(0)] * (size + count) + [Fraction(-1)]
        worst = min(range(count), key=lambda k: right[k])
        _pivot(table, right, basis, worst, size + count)
        assert _climb(table, right, basis, goal) == 0, "infeasible"
        if size + count in basis:
            k = basis.index(size + count)
            _pivot(table, right, basis, k, next(j for j in range(size + count) if table[k][j]))
        for row in table:
            row.pop()
    return _climb(table, right, basis, [Fraction(c) for c in objective] + [Fraction(0)] * count)


def _climb(table, right, basis, goal):
    while True:
        reduced = [
            goal[j] - sum(goal[basis[k]] * row[j] for k, row in enumerate(table) if row[j] and goal[basis[k]])
            for j in range(len(goal))
        ]
        enters = next((j for j, gain in enumerate(reduced) if gain > 0), None)
        if enters is None:
            return sum(goal[basis[k]] * right[k] for k in range(len(table)))
        ratios = [(right[k] / row[enters], basis[k], k) for k, row in enumerate(table) if row[enters] > 0]
        assert ratios, "unbounded"
        _pivot(table, right, basis, min(ratios)[2], enters)


def _pivot(table, right, basis, k, j):
    divisor = table[k][j]
    table[k], right[k], basis[k] = [a / divisor for a in table[k]], right[k] / divisor, j
    for other, row in enumerate(table):
        factor = row[j]
        if other != k and factor:
            table[other] = [a - factor * b if b else a for a, b in zip(row, table[k], strict=True)]
            right[other] -= factor * right[k]
