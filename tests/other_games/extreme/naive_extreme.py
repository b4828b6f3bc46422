"""Extreme TicTacToe, written a second time from the rules: dictionaries and coordinates, nothing from the package."""

import random

ROWS = [[(i, j) for j in range(3)] for i in range(3)]
COLUMNS = [[(i, j) for i in range(3)] for j in range(3)]
DIAGONALS = [[(i, i) for i in range(3)], [(i, 2 - i) for i in range(3)]]
LINES = ROWS + COLUMNS + DIAGONALS
CENTRE, CORNERS = (1, 1), {(0, 0), (0, 2), (2, 0), (2, 2)}


class Game:
    """One game; cells are (big board, row, column), small boards (big board, row, column) with rows 0 to 2."""

    def __init__(self):
        self.cells = {}  # cell: "x" or "o"
        self.boards = {}  # small board that is over: "x", "o" or "d"
        self.player = "x"
        self.previous = None  # the last cell
        self.bonus = False  # whether the next move is a bonus move
        self.winner = None  # "x", "o" or "draw"

    def empty_cells(self, board):
        big, i, j = board
        if board in self.boards:
            return []
        inside = [(big, 3 * i + a, 3 * j + b) for a in range(3) for b in range(3)]
        return [cell for cell in inside if cell not in self.cells]

    def legal(self):
        if self.winner:
            return []
        found = []
        if self.previous:
            _, row, column = self.previous
            for big in (0, 1):
                found += self.empty_cells((big, row % 3, column % 3))
        if not found:
            for big in (0, 1):
                for i, j in sum(ROWS, []):
                    found += self.empty_cells((big, i, j))
        return sorted(found)

    def play(self, cell):
        assert cell in self.legal()
        big, row, column = cell
        board = (big, row // 3, column // 3)
        self.cells[cell] = self.player
        self.previous = cell

        def mine(line):
            return all(self.cells.get((big, 3 * board[1] + a, 3 * board[2] + b)) == self.player for a, b in line)

        won = any(mine(line) for line in LINES)
        if won:
            self.boards[board] = self.player
        elif not self.empty_cells(board):
            self.boards[board] = "d"
        if any(all(self.boards.get((big, i, j)) == self.player for i, j in line) for line in LINES):
            self.winner = self.player
        elif len(self.boards) == 18:
            self.winner = "draw"
        self.bonus = won and not self.bonus
        if not self.bonus:
            self.player = "o" if self.player == "x" else "x"

    def points(self, player):
        if self.winner in ("x", "o"):
            return 86 if self.winner == player else 0
        total = 0
        for (_, i, j), owner in self.boards.items():
            if owner == player:
                total += 3 if (i, j) == CENTRE else 4 if (i, j) in CORNERS else 6
        return total


def random_game(seed):
    """The cells of a game of moves by lot, and its winner."""
    draw, game, cells = random.Random(seed), Game(), []
    while not game.winner:
        cells.append(draw.choice(game.legal()))
        game.play(cells[-1])
    return cells, game.winner
