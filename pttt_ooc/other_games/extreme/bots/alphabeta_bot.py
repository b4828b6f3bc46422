"""Minimax with alpha-beta pruning, deepened as long as there is time: the least that the course asks for.

It uses the evaluator's board only, and runs under Python 2.7 and Python 3.
"""

import time

LINES = [
    [(0, 0), (0, 1), (0, 2)],
    [(1, 0), (1, 1), (1, 2)],
    [(2, 0), (2, 1), (2, 2)],
    [(0, 0), (1, 0), (2, 0)],
    [(0, 1), (1, 1), (2, 1)],
    [(0, 2), (1, 2), (2, 2)],
    [(0, 0), (1, 1), (2, 2)],
    [(0, 2), (1, 1), (2, 0)],
]
WORTH = [[4, 6, 4], [6, 3, 6], [4, 6, 4]]  # points for a small board, if nobody wins the game
WIN = 1000000


class OutOfTime(Exception):
    """Raised deep in the search when the time for the move is over."""


class TeamAlphabeta:
    """A bot that searches as deep as its time allows.

    Attributes
    ----------
    seconds
        For each move; the course gives 24 s, so there is some to spare.
    deepest
        Plies; no search goes deeper.
    """

    seconds = 20.0
    deepest = 162

    def move(self, board, old_move, flag):
        """Return the best move of the deepest search that came to its end in time."""
        self.board, self.me, self.opponent = board, flag, "o" if flag == "x" else "x"
        self.end = time.time() + self.seconds
        # Winning a small board gives a bonus move.  If the last mark is mine, this is one, and it gives no other.
        bonus = old_move != (-1, -1, -1) and board.big_boards_status[old_move[0]][old_move[1]][old_move[2]] == flag
        best = board.find_valid_move_cells(old_move)[0]
        for depth in range(1, self.deepest + 1):
            try:
                value, best = self.search(old_move, flag, bonus, depth, -2 * WIN, 2 * WIN)
            except OutOfTime:
                break
            if abs(value) >= WIN:  # the game is decided
                break
        return best

    def search(self, old_move, flag, bonus, depth, alpha, beta):
        """Return the position's value for me, and the best move: minimax, leaving out what cannot matter.

        I am sure of `alpha` already, and my opponent of `beta`.
        """
        if time.time() > self.end:
            raise OutOfTime
        maximising = flag == self.me
        other = self.opponent if maximising else self.me
        best = None
        for cell in self.board.find_valid_move_cells(old_move):
            won = self.mark(old_move, cell, flag)
            try:
                again = won and not bonus  # the same player moves once more
                value = self.value_after(cell, flag if again else other, again, depth - 1, alpha, beta)
            finally:
                self.unmark(cell)
            if best is None or (value > best[0] if maximising else value < best[0]):
                best = (value, cell)
            if maximising:
                alpha = max(alpha, value)
            else:
                beta = min(beta, value)
            if alpha >= beta:
                break
        return best

    def value_after(self, cell, flag, bonus, depth, alpha, beta):
        """Return the value for me of the position after the move `cell`, with `flag` to move."""
        winner, message = self.board.find_terminal_state()
        if message == "WON":  # the sooner the better
            return WIN + depth if winner == self.me else -WIN - depth
        if message == "DRAW" or depth == 0:
            return self.evaluate()
        return self.search(cell, flag, bonus, depth, alpha, beta)[0]

    def mark(self, old_move, cell, flag):
        """Make a move on the board, and return whether it wins a small board."""
        return self.board.update(old_move, cell, flag)[1]

    def unmark(self, cell):
        """Take a move back; the small board was not closed before, or the move would not have been valid."""
        k, row, column = cell
        self.board.big_boards_status[k][row][column] = "-"
        self.board.small_boards_status[k][row // 3][column // 3] = "-"

    def evaluate(self):
        """Guess the value for me: lines of small boards, small boards, and lines in those that are open."""
        total = 0
        for k in range(2):
            small = self.board.small_boards_status[k]
            total += 50 * self.lines(small, 0, 0)
            for i in range(3):
                for j in range(3):
                    if small[i][j] == self.me:
                        total += 8 * WORTH[i][j]
                    elif small[i][j] == self.opponent:
                        total -= 8 * WORTH[i][j]
                    elif small[i][j] == "-":
                        total += self.lines(self.board.big_boards_status[k], 3 * i, 3 * j)
        return total

    def lines(self, cells, row, column):
        """Count my open lines in nine cells, minus the opponent's: 1 for one mark, 4 for two."""
        total = 0
        for line in LINES:
            marks = [cells[row + i][column + j] for i, j in line]
            mine, others = marks.count(self.me), marks.count(self.opponent)
            if mine and mine + marks.count("-") == 3:
                total += (1, 4, 9)[mine - 1]
            elif others and others + marks.count("-") == 3:
                total -= (1, 4, 9)[others - 1]
        return total
