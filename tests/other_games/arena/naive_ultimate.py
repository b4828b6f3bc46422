"""Ultimate tic-tac-toe, written plainly from the rules: lists of marks, and every move tried."""

import random

ROWS = [(0, 1, 2), (3, 4, 5), (6, 7, 8), (0, 3, 6), (1, 4, 7), (2, 5, 8), (0, 4, 8), (2, 4, 6)]


class Position:
    def __init__(self, stay_open=False, most_boards=False):
        self.stay_open, self.most_boards = stay_open, most_boards
        self.boards = [["."] * 9 for _ in range(9)]
        self.winners = ["."] * 9
        self.sent_to = None
        self.to_move = "x"
        self.moves_made = 0

    def copy(self):
        twin = Position(self.stay_open, self.most_boards)
        twin.boards = [list(board) for board in self.boards]
        twin.winners = list(self.winners)
        twin.sent_to, twin.to_move, twin.moves_made = self.sent_to, self.to_move, self.moves_made
        return twin

    def after(self, move):
        """The position after a move, which is a small board and a cell."""
        twin = self.copy()
        twin.make(*move)
        return twin

    def can_be_played(self, board):
        if "." not in self.boards[board]:
            return False
        return self.stay_open or self.winners[board] == "."

    def outcome(self):
        """'x', 'o', 'draw' or None."""
        for a, b, c in ROWS:
            if self.winners[a] != "." and self.winners[a] == self.winners[b] == self.winners[c]:
                return self.winners[a]
        if any(self.can_be_played(board) for board in range(9)):
            return None
        if self.most_boards and self.winners.count("x") != self.winners.count("o"):
            return max("xo", key=self.winners.count)
        return "draw"

    def moves(self):
        if self.outcome():
            return []
        if self.sent_to is not None and self.can_be_played(self.sent_to):
            where = [self.sent_to]
        else:
            where = [board for board in range(9) if self.can_be_played(board)]
        return [(board, cell) for board in where for cell in range(9) if self.boards[board][cell] == "."]

    def make(self, board, cell):
        self.boards[board][cell] = self.to_move
        if self.winners[board] == ".":
            for row in ROWS:
                if all(self.boards[board][place] == self.to_move for place in row):
                    self.winners[board] = self.to_move
        self.sent_to = cell
        self.to_move = "o" if self.to_move == "x" else "x"
        self.moves_made += 1


def after(moves, **options):
    """The position after moves, which are numbers."""
    position = Position(**options)
    for move in moves:
        position.make(*divmod(move, 9))
    return position


def open_squares(position):
    return sum(position.boards[board].count(".") for board in range(9) if position.can_be_played(board))


def leaves(position, depth):
    return sum(leaves(position.after(move), depth - 1) for move in position.moves()) if depth else 1


def random_game(seed, **options):
    """A finished game and its moves as numbers."""
    draw, position, moves = random.Random(seed), Position(**options), []
    while found := position.moves():
        board, cell = draw.choice(found)
        position.make(board, cell)
        moves.append(9 * board + cell)
    return position, moves
