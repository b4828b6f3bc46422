"""The example's search, compiled: the same moves from the same number of positions, in a hundredth of the time.

A game in which the example thinks for 24 s about each move takes a quarter of an hour of the processor.  This bot
replaces the clock by a number of positions; with as many as the example searches in its time, it plays the same moves.
The file imports nothing from this folder, because it runs behind walls, which hide the folder.
"""

import numpy as np
from numba import njit

WIN = 1000000
LINES = np.array(
    [[0, 1, 2], [3, 4, 5], [6, 7, 8], [0, 3, 6], [1, 4, 7], [2, 5, 8], [0, 4, 8], [2, 4, 6]], dtype=np.int64
)
WORTH = np.array([4, 6, 4, 6, 3, 6, 4, 6, 4], dtype=np.int64)
OF_LINE = np.array([0, 1, 4, 9], dtype=np.int64)
EMPTY, ME, OPPONENT, DRAWN = 0, 1, 2, 3


@njit
def has_line(nine, flag):
    """Whether a player has three in a row among nine cells or small boards."""
    found = False
    for a, b, c in LINES:
        found |= nine[a] == flag and nine[b] == flag and nine[c] == flag
    return found


@njit
def lines(nine):
    """My open lines in nine cells, minus the opponent's."""
    total = 0
    for line in LINES:
        mine, others, free = 0, 0, 0
        for at in line:
            mine += nine[at] == ME
            others += nine[at] == OPPONENT
            free += nine[at] == EMPTY
        if mine > 0 and mine + free == 3:
            total += OF_LINE[mine]
        elif others > 0 and others + free == 3:
            total -= OF_LINE[others]
    return total


@njit
def evaluate(cells, small):
    """The example's guess of the value for me."""
    total = 0
    for big in range(2):
        total += 50 * lines(small[big])
        for board in range(9):
            if small[big, board] == ME:
                total += 8 * WORTH[board]
            elif small[big, board] == OPPONENT:
                total -= 8 * WORTH[board]
            elif small[big, board] == EMPTY:
                total += lines(cells[big, board])
    return total


@njit
def find_cells(cells, small, target, found):
    """The valid cells in the example's order, by big board, row and column; returns how many there are.

    A cell is ``81 * big + 9 * board + cell``.  The target is the small board where to play, or -1 at the start.
    """
    anywhere = target < 0 or (small[0, target] != EMPTY and small[1, target] != EMPTY)
    count = 0
    for big in range(2):
        for row in range(9):
            for column in range(9):
                board, cell = row // 3 * 3 + column // 3, row % 3 * 3 + column % 3
                if (anywhere or board == target) and small[big, board] == EMPTY and cells[big, board, cell] == EMPTY:
                    found[count] = 81 * big + 9 * board + cell
                    count += 1
    return count


@njit("UniTuple(int64, 2)(int8[:,:,::1], int8[:,::1], int64, int64, boolean, int64, int64, int64, int64[::1])")
def search(cells, small, target, flag, bonus, depth, alpha, beta, left):
    """Value for me and best cell, as the example finds them; the cell is -1 if positions ran out.

    ``left`` holds the number of positions that may still be searched.
    """
    left[0] -= 1
    if left[0] < 0:
        return 0, -1
    found = np.empty(162, np.int64)
    best_value, best = 0, -1
    for at in range(find_cells(cells, small, target, found)):
        big, board, cell = found[at] // 81, found[at] % 81 // 9, found[at] % 9
        cells[big, board, cell] = flag
        won = has_line(cells[big, board], flag)
        if won:
            small[big, board] = flag
        elif not (cells[big, board] == EMPTY).any():
            small[big, board] = DRAWN
        again = won and not bonus
        out = False
        if won and has_line(small[big], flag):
            value = WIN + depth - 1 if flag == ME else -WIN - depth + 1
        elif depth == 1 or not (small == EMPTY).any():
            value = evaluate(cells, small)
        else:
            mover = flag if again else ME + OPPONENT - flag
            value, answer = search(cells, small, cell, mover, again, depth - 1, alpha, beta, left)
            out = answer < 0
        cells[big, board, cell] = EMPTY
        small[big, board] = EMPTY
        if out:
            return 0, -1
        if best < 0 or (value > best_value if flag == ME else value < best_value):
            best_value, best = value, found[at]
        if flag == ME:
            alpha = max(alpha, value)
        else:
            beta = min(beta, value)
        if alpha >= beta:
            break
    return best_value, best


class TeamTwin:
    """The example with a number of positions for each move instead of seconds."""

    positions = 100000
    deepest = 162

    def arrays(self, board, flag):
        """The marks of all cells, shape (2, 9, 9), and of the small boards, shape (2, 9), as the player sees them."""
        numbers = {"-": EMPTY, "d": DRAWN, flag: ME, "o" if flag == "x" else "x": OPPONENT}
        cells, small = np.zeros((2, 9, 9), np.int8), np.zeros((2, 9), np.int8)
        for big in range(2):
            for row in range(9):
                for column in range(9):
                    at = big, row // 3 * 3 + column // 3, row % 3 * 3 + column % 3
                    cells[at] = numbers[board.big_boards_status[big][row][column]]
            small[big] = [numbers[mark] for row in board.small_boards_status[big] for mark in row]
        return cells, small

    def move(self, board, old_move, flag):
        """Return the cell to mark: big board, row, column."""
        cells, small = self.arrays(board, flag)
        start = old_move == (-1, -1, -1)
        bonus = not start and board.big_boards_status[old_move[0]][old_move[1]][old_move[2]] == flag
        target = -1 if start else old_move[1] % 3 * 3 + old_move[2] % 3
        best = board.find_valid_move_cells(old_move)[0]
        left = np.array([self.positions])
        for depth in range(1, self.deepest + 1):
            value, cell = search(cells, small, target, ME, bonus, depth, -2 * WIN, 2 * WIN, left)
            if cell < 0:
                break
            big, cell_board, inside = cell // 81, cell % 81 // 9, cell % 9
            best = int(big), int(cell_board // 3 * 3 + inside // 3), int(cell_board % 3 * 3 + inside % 3)
            if abs(value) >= WIN:
                break
        self.left = int(left[0])
        return best
