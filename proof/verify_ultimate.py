"""Verify what players of Ultimate tic-tac-toe can force: python verify_ultimate.py ultimate-open.gz

The game: a mark on a cell sends the other player to the small board with that number.  Who first has three marks in a
line of a small board has won it; three small boards in a line win the game.  With closed boards, a small board that is
won takes no more marks; with open boards, it does until it is full.  Who is sent to a board that takes none, plays
anywhere.

A line of the file is a claim and its proof: the moves that come first (- for none), a player, 0 or 1, who 'wins N',
within N plies of the whole game, or 'draws' at least, and that player's moves, in the order in which a walk over all
games needs them: the player makes one move in each position, and the other one tries all replies, the lowest first.
Once the other player cannot win any more, a draw needs no more moves.  A move is two digits, board and cell.
"""

import re
import sys
import zlib
from pathlib import Path

CELLS = range(9)
LINES = [{0, 1, 2}, {3, 4, 5}, {6, 7, 8}, {0, 3, 6}, {1, 4, 7}, {2, 5, 8}, {0, 4, 8}, {2, 4, 6}]
NOTHING = frozenset()
START = (((NOTHING,) * 9,) * 2, (NOTHING,) * 2, None)  # each player's marks, boards won, and where the next mark goes
LINE = re.compile(r"(-|(?:[0-8]{2})+) ([01]) (?:wins ([1-9]\d?)|draws) ((?:[0-8]{2})*)")


def has_line(places):
    return any(line <= places for line in LINES)


def takes_marks(position, board, stays_open):
    marks, won, _ = position
    return len(marks[0][board]) + len(marks[1][board]) < 9 and (stays_open or board not in won[0] | won[1])


def legal(position, stays_open):
    marks, won, target = position
    if has_line(won[0]) or has_line(won[1]):
        return []
    boards = [board for board in (CELLS if target is None else [target]) if takes_marks(position, board, stays_open)]
    return [(board, cell) for board in boards for cell in CELLS if cell not in marks[0][board] | marks[1][board]]


def plies(position):
    return sum(map(len, (*position[0][0], *position[0][1])))


def after(position, move, stays_open):
    (board, cell), (marks, won, _), player = move, position, plies(position) % 2
    mine = marks[player][board] | {cell}
    marks = tuple(marks[p] if p != player else (*marks[p][:board], mine, *marks[p][board + 1 :]) for p in (0, 1))
    if has_line(mine) and board not in won[0] | won[1]:
        won = tuple(won[p] | {board} if p == player else won[p] for p in (0, 1))
    target = cell if takes_marks((marks, won, None), cell, stays_open) else None
    return marks, won, target


def can_win(position, player):
    _, won, _ = position
    left = {board for board in CELLS if takes_marks(position, board, False)}
    return has_line(won[player] | left)


def prove(position, player, longest, moves, stays_open):
    """Walk over all games from a position; `longest` is the number of plies within which the player wins, or None."""
    seen, waiting = set(), [position]
    while waiting:
        position = waiting.pop()
        if position in seen or (longest is None and not can_win(position, 1 - player)):
            continue
        seen.add(position)
        choices = legal(position, stays_open)
        if not choices:
            if longest is None:
                assert not has_line(position[1][1 - player]), f"a loss: {show(position)}"
            else:
                assert has_line(position[1][player]), f"no win: {show(position)}"
                assert plies(position) <= longest, f"a win after {plies(position)} plies: {show(position)}"
        elif plies(position) % 2 == player:
            move = next(moves, None)
            assert move is not None, f"the moves end too early: {show(position)}"
            assert move in choices, f"{move[0]}.{move[1]} is not legal: {show(position)}"
            waiting.append(after(position, move, stays_open))
        else:
            waiting.extend(after(position, reply, stays_open) for reply in reversed(choices))
    assert next(moves, None) is None, "there are more moves than positions"


def show(position):
    sign = [["x" if c in x else "o" if c in o else "." for c in CELLS] for x, o in zip(*position[0])]
    return " ".join("".join(board) for board in sign)


def pairs(digits):
    return [(int(digits[i]), int(digits[i + 1])) for i in range(0, len(digits), 2)]


def verify(zipped):
    """The rules for boards, the number of claims, and the last one."""
    stream = zlib.decompressobj(31)
    text = stream.decompress(zipped, 100 * len(zipped)).decode("ascii")  # a limit for memory
    assert stream.eof and not stream.unused_data, "this is not one whole gzip file, or one far too dense"
    lines = text.split("\n")
    assert lines.pop() == "", "the last line has no end"
    assert lines[:1] == ["ultimate claims 1"], "the first line is not 'ultimate claims 1'"
    boards = "".join(lines[1:2])
    assert boards in ("open boards", "closed boards"), "the second line is neither 'open boards' nor 'closed boards'"
    assert len(lines) > 2, "there are no claims"
    for number, line in enumerate(lines[2:], 3):
        try:
            parts = LINE.fullmatch(line)
            assert parts, "this is not a claim with its proof"
            position = START
            for move in pairs(parts[1].strip("-")):
                assert move in legal(position, boards == "open boards"), f"{move[0]}.{move[1]} is not legal"
                position = after(position, move, boards == "open boards")
            longest = None if parts[3] is None else int(parts[3])
            prove(position, int(parts[2]), longest, iter(pairs(parts[4])), boards == "open boards")
        except AssertionError as error:
            raise AssertionError(f"line {number}: {error}") from None
    return boards, len(lines) - 2, line[: len(line) - len(parts[4])].rstrip()


if __name__ == "__main__":
    if not __debug__ or len(sys.argv) != 2:
        sys.exit(f"{__doc__}\npython -O would leave checks out.")
    try:
        boards, number, last = verify(Path(sys.argv[1]).read_bytes())
        print(boards, f"proven: {number} claim{'s' if number > 1 else ''}; the last is: {last}", sep="\n")
    except (AssertionError, ValueError, OSError, zlib.error) as error:
        sys.exit(f"refused: {error}")
