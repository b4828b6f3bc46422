"""Verify a forced win: python verify_ultimate.py ultimate-open.gz

Ultimate tic-tac-toe with open boards: small boards that are won can still be marked until they are full.  A mark on a
cell sends the other player to the small board with that number; if it is full, to any.  Who first has three marks in a
line of a small board has won it; three small boards in a line win the game.

The file has the first player's moves in the order in which a walk over all games needs them: here the first player
makes one move in each position, and the second player tries all replies.  A move is two digits, small board and cell.
"""

import sys
import zlib
from pathlib import Path

CELLS = range(9)
LINES = [{0, 1, 2}, {3, 4, 5}, {6, 7, 8}, {0, 3, 6}, {1, 4, 7}, {2, 5, 8}, {0, 4, 8}, {2, 4, 6}]


def read(zipped):
    """The moves of a certificate, and the plies that it claims."""
    stream = zlib.decompressobj(31)
    text = stream.decompress(zipped, 100 * len(zipped)).decode("ascii")  # a limit for memory
    assert stream.eof and not stream.unused_data, "this is not one whole gzip file, or one far too dense"
    first, claim, *lines = text.split("\n")
    assert first == "ultimate win 1", "the first line is not 'ultimate win 1'"
    plies = claim.removeprefix("open boards, ").removesuffix(" plies")
    assert plies.isdecimal() and claim == f"open boards, {plies} plies", "the second line is not 'open boards, N plies'"
    digits = "".join(lines)
    assert len(digits) % 2 == 0 and set(digits) <= set("012345678"), "a move is not two digits from 0 to 8"
    return iter([(int(digits[i]), int(digits[i + 1])) for i in range(0, len(digits), 2)]), int(plies)


def has_line(places):
    return any(line <= places for line in LINES)


def after(position, player, board, cell):
    """The position after a legal move, and whether it wins the game."""
    marks, won, _ = position
    mine = marks[player][board] | {cell}
    marks = tuple(marks[p] if p != player else (*marks[p][:board], mine, *marks[p][board + 1 :]) for p in (0, 1))
    if has_line(mine) and board not in won[0] | won[1]:
        won = (won[0] | {board}, won[1]) if player == 0 else (won[0], won[1] | {board})
    target = cell if len(marks[0][cell]) + len(marks[1][cell]) < 9 else None
    return (marks, won, target), has_line(won[player])


def legal(position):
    marks, _, target = position
    boards = CELLS if target is None else [target]
    return [(board, cell) for board in boards for cell in CELLS if cell not in marks[0][board] | marks[1][board]]


def walk(moves):
    """The first player's positions in all games; each game is won, or a check fails.  Also the longest game's plies."""
    nothing = frozenset()
    seen, longest, waiting = set(), 0, [((tuple([nothing] * 9),) * 2, (nothing,) * 2, None)]
    while waiting:
        position = waiting.pop()
        if position in seen:
            continue
        seen.add(position)
        move = next(moves, None)
        assert move is not None, f"the moves end too early, after {len(seen) - 1} positions"
        assert move in legal(position), f"move {len(seen)} is not legal: {move[0]}.{move[1]}"
        position, wins = after(position, 0, *move)
        longest = max(longest, sum(map(len, (*position[0][0], *position[0][1]))))
        if not wins:
            replies = legal(position)
            assert replies, f"after move {len(seen)} the game is a draw"
            for reply in reversed(replies):
                following, loses = after(position, 1, *reply)
                assert not loses, f"the second player wins after move {len(seen)}, by {reply[0]}.{reply[1]}"
                assert legal(following), f"after move {len(seen)} and {reply[0]}.{reply[1]} the game is a draw"
                waiting.append(following)
    assert next(moves, None) is None, f"there are more than {len(seen)} moves"
    return len(seen), longest


if __name__ == "__main__":
    if not __debug__ or len(sys.argv) != 2:
        sys.exit(f"{__doc__}\npython -O would leave checks out.")
    try:
        claimed, plies = read(Path(sys.argv[1]).read_bytes())
        number, longest = walk(claimed)
        assert longest == plies, f"the longest game has {longest} plies, not {plies}"
        print(f"proven: the first player wins within {plies} plies, by moves in {number} positions")
    except (AssertionError, ValueError, OSError, zlib.error) as error:
        sys.exit(f"refused: {error}")
