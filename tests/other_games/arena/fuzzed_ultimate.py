"""Claims about late positions of Ultimate tic-tac-toe by lot, true and false, each with a proof; and the truth.

The truth is a plain search with the rules of :mod:`tests.other_games.arena.naive_ultimate`, which shares nothing with
``proof/verify_ultimate.py``.  The proofs have a move for each position in which the program's walk asks for one: the
best one or one by lot.
"""

import re

from tests.other_games.arena import naive_ultimate as naive


def late_position(draw, stay_open, largest):
    """The moves of a game by lot up to a position with few open squares, and the position."""
    while True:
        position, moves = naive.Position(stay_open=stay_open), []
        while found := position.moves():
            if naive.open_squares(position) <= largest:
                return moves, position
            moves.append(draw.choice(found))
            position.make(*moves[-1])
            if position.outcome():  # rather another move, so that games become long
                position = replayed(moves[:-1], stay_open)
                moves[-1:] = [draw.choice(found)]
                position.make(*moves[-1])


def replayed(moves, stay_open):
    """The position after some moves; None if there are none, or one of them is not legal."""
    position = naive.Position(stay_open=stay_open) if moves else None
    for move in moves or ():
        if move not in position.moves():
            return None
        position.make(*move)
    return position


def key_of(position):
    return "".join(map("".join, position.boards)), "".join(position.winners), position.sent_to, position.stay_open


class Truth:
    """What players can force: every game to its end, positions remembered."""

    def __init__(self):
        self._known = {}

    def reached(self, position, player):
        """The best end that a player can force: the plies of a win, the fewest; 1000 for a draw, 2000 for a loss."""
        key = *key_of(position), player
        if key not in self._known:
            outcome, mine = position.outcome(), position.to_move == "xo"[player]
            if outcome:
                ends = [{"xo"[player]: position.moves_made, "draw": 1000}.get(outcome, 2000)]
            else:
                ends = [self.reached(position.after(move), player) for move in position.moves()]
            self._known[key] = (min if mine else max)(ends)
        return self._known[key]


CLAIM = re.compile("((?:[0-8][0-8])*|-) ([01]) (?:wins ([0-9]{1,2})|draws) [0-9]*")


def position_of(claim, stay_open):
    """The position that a claim is about; None if it is not a claim."""
    parts = CLAIM.fullmatch(claim)
    return replayed(parts and [divmod(int(move), 10) for move in re.findall("[0-8]{2}", parts[1])], stay_open)


def is_true(claim, stay_open, truth):
    """Whether a text claims something, and that is so: a win within so many plies of the whole game, or no loss."""
    position, parts = position_of(claim, stay_open), CLAIM.fullmatch(claim)
    return position is not None and truth.reached(position, int(parts[2])) <= int(parts[3] or 1000)


MOST_MOVES = 500


def moves_by_lot(draw, program, position, begin, player, most, truth, carelessness):
    """A player's moves for a claim, not too many: in each position the best one, or one by lot, as often as told."""
    there = program["START"]
    for move in begin:
        there = program["after"](there, move, position.stay_open)
    seen, waiting, moves = set(), [(there, position)], []
    while waiting and len(moves) < MOST_MOVES:
        there, position = waiting.pop()
        if there in seen or (most is None and not program["can_win"](there, 1 - player)):
            continue
        seen.add(there)
        found = position.moves()
        if found and position.to_move == "xo"[player]:
            best = min(found, key=lambda move: truth.reached(position.after(move), player))
            moves.append(best if draw.random() >= carelessness else draw.choice(found))
            found = moves[-1:]
        waiting += [
            (program["after"](there, move, position.stay_open), position.after(move)) for move in reversed(found)
        ]
    return moves


def digits(moves):
    return "".join(f"{board}{cell}" for board, cell in moves)


def text_of(claims, stay_open):
    """The text of a file of claims."""
    return "\n".join(["ultimate claims 1", f"{'open' if stay_open else 'closed'} boards", *claims, ""])


def mutated(draw, claim):
    """A claim with another player, goal, digit or move, or one less or more."""
    words, kind = claim.split(" "), draw.randrange(8)
    if kind == 0:
        words[1] = str(1 - int(words[1]))
    elif kind == 1:
        words[2:-1] = ["draws"] if words[2] == "wins" else ["wins", "81"]
    elif kind == 2 and words[2] == "wins":
        words[3] = str(max(0, int(words[3]) + draw.choice([-2, -1, 1, 2])))
    elif kind == 3 and words[-1]:  # a move is away, twice or elsewhere
        moves = [words[-1][n : n + 2] for n in range(0, len(words[-1]), 2)]
        move = moves.pop(draw.randrange(len(moves)))
        for _ in range(draw.randrange(3)):
            moves.insert(draw.randint(0, len(moves)), move)
        words[-1] = "".join(moves)
    elif kind == 4:
        words[0] = words[0][: -2 * draw.randint(1, 2)]
    else:
        text = " ".join(words)
        index = draw.choice([draw.randint(0, len(text)), len(text) - min(len(text), draw.randint(0, 30))])
        return text[:index] + draw.choice(["", draw.choice("0123456789 -\t\ré")]) + text[index + draw.randrange(2) :]
    return " ".join(words)
