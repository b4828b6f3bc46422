"""The rank of a matrix by Gaussian elimination in fractions."""

from fractions import Fraction


def fraction_rank(rows):
    """The rank of a list of rows of numbers that fractions can hold."""
    left, found = [[Fraction(entry) for entry in row] for row in rows], 0
    for column in range(len(left[0]) if left else 0):
        pivot = next((row for row in left if row[column]), None)
        if pivot is None:
            continue
        found += 1
        left = [row for row in left if row is not pivot]
        for row in left:
            factor = row[column] / pivot[column]
            for place, entry in enumerate(pivot):
                row[place] -= factor * entry
    return found
