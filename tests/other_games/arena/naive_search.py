"""The heuristics and searches of the Ultimate report, written plainly on the plain rules."""

from tests.other_games.arena.naive_ultimate import ROWS


def other(mark):
    return "o" if mark == "x" else "x"


def open_pairs(cells, mark, blocks):
    found = 0
    for row in ROWS:
        marks = [cells[place] for place in row]
        if marks.count(mark) == 2 and not any(one in blocks for one in marks):
            found += 1
    return found


def features(position, mark):
    """Boards, centre board, corner boards, centre cells, cells of the centre board, pairs of boards, of cells."""
    won = [winner == mark for winner in position.winners]
    return [
        sum(won),
        int(won[4]),
        won[0] + won[2] + won[6] + won[8],
        sum(board[4] == mark for board in position.boards),
        position.boards[4].count(mark),
        open_pairs(position.winners, mark, other(mark)),
        sum(
            open_pairs(board, mark, other(mark))
            for board, winner in zip(position.boards, position.winners, strict=True)
            if winner == "."
        ),
    ]


WEIGHTS = [5, 10, 3, 3, 3, 4, 2]


def value(position, heuristic, mark):
    outcome = position.outcome()
    if outcome in ("x", "o"):
        return 10_000 if outcome == mark else -10_000
    if heuristic == 1:
        return position.winners.count(mark) - position.winners.count(other(mark))
    total = 0
    for weight, own, theirs in zip(WEIGHTS, features(position, mark), features(position, other(mark)), strict=True):
        total += weight * (own - theirs)
    free = position.sent_to is not None and not position.can_be_played(position.sent_to)
    if heuristic == 4 and free:
        total += 2 if position.to_move == mark else -2
    return total


def search(position, plies, heuristic, mark, average=False):
    """The value to `mark` after this many plies; with `average`, its opponent draws its moves."""
    values = (
        [search(after, plies - 1, heuristic, mark, average) for after in map(position.after, position.moves())]
        if plies
        else []
    )
    if not values:
        return value(position, heuristic, mark)
    if position.to_move == mark:
        return max(values)
    return sum(values) / len(values) if average else min(values)


def best_moves(position, depth, heuristic, average=False):
    mark = position.to_move
    found = {
        9 * move[0] + move[1]: search(position.after(move), 2 * depth - 1, heuristic, mark, average)
        for move in position.moves()
    }
    return {move for move, worth in found.items() if worth >= max(found.values()) - 1e-9}
