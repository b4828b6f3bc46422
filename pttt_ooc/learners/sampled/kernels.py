"""The kernels of the state machine: histories, attempt by attempt; random games, and games side by side.

Views are numbered together, those of player 1 after those of player 0. A *position* is one history as nine numbers:
for each player the marks on the board, the number of the view, the rank of its order, and the symmetry that maps the
board to that view; and the mover.  One attempt changes a position in constant time, because the index has, for each
action of a view, the block of the children's ranks.

All entries of a view or of an outcome are in one line of the processor's cache.  A look-up replaces a branch that
cannot be predicted.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from pttt_ooc.jit import bare_kernel, piece

PLACED, VIEW, RANK, SYMMETRY, MOVER = 0, 2, 4, 6, 8  # fields of a position; the first four have one number a player
FIELDS = 9
GOLDEN = np.uint64(0x9E3779B97F4A7C15)
GOES_ON, WON, DRAWN = 0, 1, 2  # how an attempt ends


NODE, SEQUENCE, ORDERS, ACTIONS = 0, 1, 2, 3  # columns of `Rules.views`
CHILD, FIRST_RANK, RENAMED, TURNED = 0, 1, 2, 3  # columns of `Rules.children`


class Rules(NamedTuple):
    """The tables of the state machine.

    V views of both players together, A actions, G symmetries, S squares.

    Attributes
    ----------
    views : uint64 (V, 4)
        The first node and the first sequence of a view, as in :class:`pttt_ooc.games.structure.index.PlayerIndex`, the
        number of its orders, and the number of its actions.
    square : uint8 (V, A)
        The square of an action, on the view's own board.
    children : uint32 (V, A, 2, 4)
        For each action and outcome (0 failed, 1 placed): the next view, the rank of its first order with that attempt
        last, the start of its renamed ranks, and the symmetry that maps the next board to that view.  Zeros if the
        player has no more moves.
    renamed : uint16 or wider (any,)
        Renamed ranks; the last ones are 0, 1, 2, ..., for children with the ranks of their parents.
    inverse, product : uint8 (G, S), (G, G)
        Inverse permutations of squares; ``product[h, g]`` is the symmetry `g` followed by `h`.
    wins : bool (2, 2^S)
        Whether a player's marks win.
    marks : uint64 (2,)
        The setup.
    second : uint64
        The first view of player 1.
    first : int64
        The player who moves first.
    full : uint64
        All squares.
    stays : bool
        Whether a failed attempt keeps the turn.
    """

    views: Any
    square: Any
    children: Any
    renamed: Any
    inverse: Any
    product: Any
    wins: Any
    marks: Any
    second: Any
    first: int
    full: Any
    stays: bool


# ---------------------------------------------------------------------------------------------
# The state machine.  Unsigned indices need no check for negative ones, which count from the end.


@piece
def begin(rules, position):
    """Write the empty history."""
    for p in range(2):
        position[PLACED + p] = rules.marks[p]
        position[VIEW + p] = np.uint64(p) * rules.second
        position[RANK + p] = 0
        position[SYMMETRY + p] = 0
    position[MOVER] = rules.first


@piece
def _outcome(rules, view, rank, symmetry, theirs, action):
    """The result of an attempt, from the player's view and the opponent's marks; all uint64.

    Returns
    -------
    mark, view, rank, symmetry
        The placed mark, as a mask (0: none), and the player's next position.
    """
    square = np.uint64(rules.inverse[symmetry, rules.square[view, action]])
    placed = ~(theirs >> square) & np.uint64(1)
    child = rules.children[view, action, placed]
    ranked = np.uint64(child[FIRST_RANK]) + np.uint64(rules.renamed[np.uint64(child[RENAMED]) + rank])
    return placed << square, np.uint64(child[CHILD]), ranked, np.uint64(rules.product[child[TURNED], symmetry])


@piece
def attempt(rules, position, action):
    """Make the mover's action; return how it ends: GOES_ON, WON or DRAWN."""
    p = position[MOVER]
    marks, view, rank, symmetry = PLACED + p, VIEW + p, RANK + p, SYMMETRY + p
    now = np.uint64(position[view]), np.uint64(position[rank]), np.uint64(position[symmetry])
    mark, after, ranked, turned = _outcome(rules, *now, np.uint64(position[PLACED + 1 - p]), np.uint64(action))
    position[view], position[rank], position[symmetry] = after, ranked, turned
    position[marks] |= np.int64(mark)
    if rules.wins[p, position[marks]]:
        return WON
    if np.uint64(position[PLACED] | position[PLACED + 1]) == rules.full:
        return DRAWN
    if mark or not rules.stays:
        position[MOVER] = 1 - p
    return GOES_ON


@piece
def first_sequence(rules, position):
    """The first action's sequence at the mover's infoset, the distance to the next one, and the number of actions."""
    p = position[MOVER]
    view = rules.views[position[VIEW + p]]
    return np.int64(view[SEQUENCE]) + position[RANK + p], np.int64(view[ORDERS]), np.int64(view[ACTIONS])


@piece
def _random_bits(count):
    """64 random bits from a counter with steps of GOLDEN: splitmix64 (Steele, Lea and Flood 2014)."""
    z = (count ^ (count >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


@piece
def draw(random):
    """A number from 0 to 1, 1 excluded; `random` is uint64 (1,)."""
    random[0] += GOLDEN
    return np.float64(_random_bits(random[0]) >> np.uint64(11)) * (1.0 / 9007199254740992.0)


@piece
def pick(weights, actions, random):
    """Draw an action with these probabilities."""
    left = draw(random)
    for a in range(actions - 1):
        left -= weights[a]
        if left < 0:
            return a
    last = actions - 1
    while weights[last] == 0:  # rounding must not choose an action of probability 0
        last -= 1
    return last


@bare_kernel
def play_at_random(rules, games, random, sums):
    """Play games in which both players move uniformly at random.

    The history is in local variables of the mover and of the opponent, which are swapped: so the processor starts the
    next attempt before it has finished this one.

    Parameters
    ----------
    sums
        int64 (4,): four sums are added: attempts, wins of player 0, wins of player 1, and the numbers of all movers'
        nodes.
    """
    zero, one, half = np.uint64(0), np.uint64(1), np.uint64(32)
    first, count, nodes, attempts = np.uint64(rules.first), random[0], zero, 0
    for _ in range(games):
        p = first
        mine, theirs = rules.marks[p], rules.marks[one - p]
        view, other_view = p * rules.second, (one - p) * rules.second
        rank = other_rank = symmetry = other_symmetry = zero
        while True:
            attempts += 1
            count += GOLDEN
            nodes += rules.views[view, NODE] + rank
            action = (_random_bits(count) >> half) * rules.views[view, ACTIONS] >> half
            mark, view, rank, symmetry = _outcome(rules, view, rank, symmetry, theirs, action)
            mine |= mark
            won = rules.wins[p, mine]
            if won or mine | theirs == rules.full:
                sums[one + p] += won
                break
            if rules.stays and mark == zero:
                continue
            p = one - p
            mine, theirs = theirs, mine
            view, other_view = other_view, view
            rank, other_rank = other_rank, rank
            symmetry, other_symmetry = other_symmetry, symmetry
    random[0] = count
    sums[0] += attempts
    sums[3] += np.int64(nodes)


@bare_kernel
def begin_games(rules, positions):
    """Write the empty history to each row of `positions`, int64, shape (games, FIELDS)."""
    for g in range(len(positions)):
        begin(rules, positions[g])


@bare_kernel
def attempt_in_games(rules, positions, actions, ended, payoffs):
    """Make the movers' `actions`; games that end start again.

    Writes `ended`, bool, shape (games,), and `payoffs`, float32, same shape: player 0's payoffs of games that ended.
    """
    for g in range(len(positions)):
        p = positions[g, MOVER]
        how = attempt(rules, positions[g], actions[g])
        ended[g] = how != GOES_ON
        payoffs[g] = 0
        if how == WON:
            payoffs[g] = 1 if p == 0 else -1
        if ended[g]:
            begin(rules, positions[g])


@bare_kernel
def look_at_games(rules, positions, movers, infosets, counts, squares):
    """Write the movers' observations.

    Writes `movers`; `infosets`, the mover's node numbers; `counts`, the number of actions; all int64, shape (games,);
    and `squares`, int64, shape (games, A): the square of each action on the board.
    """
    for g in range(len(positions)):
        p = positions[g, MOVER]
        view, symmetry = positions[g, VIEW + p], positions[g, SYMMETRY + p]
        movers[g] = p
        infosets[g] = np.int64(rules.views[view, NODE]) + positions[g, RANK + p]
        counts[g] = np.int64(rules.views[view, ACTIONS])
        for a in range(counts[g]):
            squares[g, a] = rules.inverse[symmetry, rules.square[view, a]]
