"""K-in-a-row, written plainly from the rules: marks are a dictionary from (row, column) to "x" or "o"."""

import random
from functools import cache


class Position:
    """A position on a board with bounds, or on an infinite one.

    `squares` gives the squares on which a mark may be placed, from the marks that are there.
    """

    def __init__(self, need, squares):
        self.need, self.squares = need, squares
        self.marks, self.outcome = {}, None

    def moves(self):
        return [] if self.outcome else sorted(s for s in self.squares(self.marks) if s not in self.marks)

    def make(self, square):
        mark = "xo"[len(self.marks) % 2]
        self.marks[square] = mark
        if any(self.length(square, *step, mark) >= self.need for step in ((0, 1), (1, 0), (1, 1), (1, -1))):
            self.outcome = mark
        elif not self.moves():
            self.outcome = "draw"

    def length(self, square, down, right, mark):
        """The length of the whole row through a square: walk to its begin, then count."""
        row, column = square
        while self.marks.get((row - down, column - right)) == mark:
            row, column = row - down, column - right
        total = 0
        while self.marks.get((row, column)) == mark:
            row, column, total = row + down, column + right, total + 1
        return total

    def copy(self):
        other = Position(self.need, self.squares)
        other.marks, other.outcome = dict(self.marks), self.outcome
        return other

    def after(self, square):
        other = self.copy()
        other.make(square)
        return other


def board(rows, columns):
    every = {(r, c) for r in range(rows) for c in range(columns)}
    return lambda marks: every


def fixed(limiter):
    every = {(r, c) for r in range(-limiter, limiter + 1) for c in range(-limiter, limiter + 1)}
    return lambda marks: every


def growing(limiter):
    def squares(marks):
        bound = limiter
        while True:
            every = {(r, c) for r in range(-bound, bound + 1) for c in range(-bound, bound + 1)}
            if every - set(marks) or bound >= 31:
                return every
            bound = min(bound + limiter, 31)

    return squares


def near(limiter):
    def squares(marks):
        if not marks:
            return {(r, c) for r in (-1, 0, 1) for c in (-1, 0, 1)}
        steps = range(-limiter, limiter + 1)
        every = {(r + i, c + j) for r, c in marks for i in steps for j in steps}
        return {(r, c) for r, c in every if max(abs(r), abs(c)) <= 31}

    return squares


def random_game(seed, position):
    rng = random.Random(seed)
    moves = []
    while position.moves():
        moves.append(rng.choice(position.moves()))
        position.make(moves[-1])
    return position, moves


def leaves(position, depth):
    return sum(leaves(position.after(move), depth - 1) for move in position.moves()) if depth else 1


def value(position, known):
    """1 if x wins with perfect play, -1 if o does, 0 for a draw."""
    key = frozenset(position.marks.items())
    if key not in known:
        if position.outcome:
            known[key] = {"x": 1, "o": -1, "draw": 0}[position.outcome]
        else:
            values = [value(position.after(move), known) for move in position.moves()]
            known[key] = max(values) if len(position.marks) % 2 == 0 else min(values)
    return known[key]


def lines(rows, columns, need):
    """The squares of each row that wins, as sets of numbers."""
    every = {(r, c) for r in range(rows) for c in range(columns)}
    steps = [(r, c, down, right) for r, c in sorted(every) for down, right in ((0, 1), (1, 0), (1, 1), (1, -1))]
    found = [[(r + n * down, c + n * right) for n in range(need)] for r, c, down, right in steps]
    return [frozenset(r * columns + c for r, c in line) for line in found if every.issuperset(line)]


@cache
def maker_wins(sets, makers_turn):
    """Whether Maker can take all squares of a set: all moves of both players, of which others are of no use.

    `sets` are what Maker misses of the lines that Breaker has not marked.
    """
    if frozenset() in sets:
        return True
    squares = frozenset().union(*sets)
    if makers_turn:
        return any(maker_wins(frozenset(one - {square} for one in sets), False) for square in squares)
    return bool(sets) and all(
        maker_wins(frozenset(one for one in sets if square not in one), True) for square in squares
    )
