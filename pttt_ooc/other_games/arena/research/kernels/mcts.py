"""Monte Carlo tree search, for any rules: UCT with a solver; :func:`tree_kernels` makes the kernels.

L. Kocsis, C. Szepesvari, *Bandit based Monte-Carlo planning* (2006); M. Winands, Y. Bjoernsson, J.-T. Saito,
*Monte-Carlo tree search solver* (2008).  Leaves are valued by a game of random moves, or by a learnt evaluation.
Results and values are absolute (points of player 0), so a player may have several moves in a row.
"""

from __future__ import annotations

from functools import cache
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np

from pttt_ooc.jit import bare_kernel, kernel, piece
from pttt_ooc.other_games.arena.kernels.clock import CLOCK, DEADLINE, NODE_LIMIT, NODES, REACHED, STOPPED, nanoseconds
from pttt_ooc.other_games.arena.kernels.rng import below
from pttt_ooc.other_games.arena.kernels.state_words import DRAW, FIRST, PLAYER, PLY, RESULT, SECOND, UNFINISHED

_CHECK_EVERY = 8  # games played out between two looks at the clock


class SearchTree(NamedTuple):
    """A search tree; node 0 is the root.

    Attributes
    ----------
    move
        int16, shape (room,): the move that leads to the node.
    first, count
        int32 and int16: the first child, and the number of children; without children, a node is not expanded.
    visits, points
        int32 and float64: games through the node, and the points of the player who moved to it.
    proven
        int8: the result under perfect play, or zero.
    filled
        int64, shape (1,): the number of nodes.
    """

    move: Any
    first: Any
    count: Any
    visits: Any
    points: Any
    proven: Any
    filled: Any


def tree(room: int) -> SearchTree:
    """A tree that has only a root, and room for this many nodes."""
    filled = np.ones(1, dtype=np.int64)
    return SearchTree(
        np.zeros(room, dtype=np.int16),
        np.zeros(room, dtype=np.int32),
        np.zeros(room, dtype=np.int16),
        np.zeros(room, dtype=np.int32),
        np.zeros(room, dtype=np.float64),
        np.zeros(room, dtype=np.int8),
        filled,
    )


class TreeKernels(NamedTuple):
    """Kernels of one game.

    Attributes
    ----------
    grow
        ``grow(tree, state, rng, exploration, solver, draw, weights, control)`` visits leaves until a limit in `control`
        ends it or the root is proven.  Without `solver`, only ends are proven.  A draw is worth `draw` to player 0, and
        one minus `draw` to the other.
    best
        ``best(tree, player, solver) -> move``: a proven win, or the most visited move that is not proven to lose;
        without the solver, the most visited move.
    keep
        ``keep(tree, state, target, other) -> bool``: copy the part of the tree below the position `target`, if it has
        one, to the tree `other`.
    """

    grow: Any
    best: Any
    keep: Any


# ---------------------------------------------------------------------------------------------
# Trees of any game


@piece
def _proof(tree, node, player):
    """The result of a node under perfect play, from those of its children; UNFINISHED if it is open."""
    draw, open_ones = False, False
    for child in range(tree.first[node], tree.first[node] + tree.count[node]):
        if tree.proven[child] == FIRST + player:
            return FIRST + player
        draw |= tree.proven[child] == DRAW
        open_ones |= tree.proven[child] == UNFINISHED
    if open_ones:
        return UNFINISHED
    return DRAW if draw else SECOND - player


@piece
def _points(result, draw):
    """The points of player 0 at the end of a game."""
    return draw if result == DRAW else (1.0 if result == FIRST else 0.0)


@piece
def _select(tree, node, player, rng, exploration, solver, draw):
    """The child to visit next: one that was never visited, or the one with the highest upper bound."""
    begin, number = tree.first[node], tree.count[node]
    offset = below(rng, number)
    best, chosen = -1.0, begin + offset
    width = exploration * np.sqrt(np.log(tree.visits[node] + 1.0))
    for index in range(number):
        child = begin + (index + offset) % number
        visits = tree.visits[child]
        if solver and tree.proven[child] == FIRST + player:
            return child
        if solver and tree.proven[child] == SECOND - player:
            continue
        if solver and tree.proven[child] == DRAW:
            bound = draw if player == 0 else 1.0 - draw
        elif visits == 0:
            bound = 1e9
        else:
            bound = tree.points[child] / visits + width / np.sqrt(float(visits))
        if bound > best:
            best, chosen = bound, child
    return chosen


@piece
def _back_up(tree, path, movers, length, points, solver):
    """Add a value to all nodes of its path, from the last one upward, and prove nodes from proven children."""
    for index in range(length - 1, -1, -1):
        node = path[index]
        tree.visits[node] += 1
        if index > 0:
            tree.points[node] += points if movers[index - 1] == 0 else 1.0 - points
        below_proven = index + 1 < length and tree.proven[path[index + 1]] != UNFINISHED
        if solver and tree.proven[node] == UNFINISHED and below_proven:
            tree.proven[node] = _proof(tree, node, movers[index])


@bare_kernel
def _best(tree, player, solver):
    chosen, most = -1, -2.0
    for child in range(tree.first[0], tree.first[0] + tree.count[0]):
        worth = float(tree.visits[child])
        if not solver:
            pass
        elif tree.proven[child] == FIRST + player:
            worth = 1e18
        elif tree.proven[child] == SECOND - player:
            worth = worth * 1e-18 - 1.0
        elif tree.proven[0] == DRAW and tree.proven[child] == DRAW:
            worth += 1e12
        if worth > most:
            chosen, most = child, worth
    return tree.move[chosen]


@piece
def _copy_below(tree, node, other, sources):
    """Copy a node and all below it to another tree, level by level; `sources` is scratch."""
    sources[0] = node
    done, filled = 0, 1
    while done < filled:
        source = sources[done]
        other.move[done] = tree.move[source]
        other.visits[done] = tree.visits[source]
        other.points[done] = tree.points[source]
        other.proven[done] = tree.proven[source]
        other.first[done], other.count[done] = filled, tree.count[source]
        for child in range(tree.first[source], tree.first[source] + tree.count[source]):
            sources[filled] = child
            filled += 1
        done += 1
    other.filled[0] = filled


# ---------------------------------------------------------------------------------------------
# Kernels for rules


@cache
def _leaves(rules: ModuleType, values: ModuleType | None) -> Any:
    """The kernel ``leaf``: the points of player 0 in a position that is not an end."""
    if values is None:

        @bare_kernel
        def played_out(state, rng, draw, weights):
            """How a game ends after random moves."""
            while state[RESULT] == UNFINISHED:
                rules.play(state, rules.pick(state, below(rng, rules.count(state))))
            return _points(state[RESULT], draw)

        return played_out

    @bare_kernel
    def learnt_chance(state, rng, draw, weights):
        """The learnt evaluation as a chance to win."""
        values.note(state, weights)
        chance = 1.0 / (1.0 + np.exp(-values.noted_value(state, 0, weights) / values.SCALE))
        return chance if state[PLAYER] == 0 else 1.0 - chance

    return learnt_chance


@cache
def _growth(rules: ModuleType, values: ModuleType | None) -> Any:
    """The kernel ``grow``."""
    leaf = _leaves(rules, values)
    words = rules.WORDS + (0 if values is None else values.NOTES)

    @bare_kernel
    def expand(tree, node, state, moves, scratch, solver):
        """Give a node its children, and prove those that end the game."""
        # Children lie side by side at the end of the tree; without room, the node stays a leaf.
        begin, number = tree.filled[0], rules.legal(state, moves)
        if begin + number > len(tree.move):
            return
        for index in range(number):
            child = begin + index
            for word in range(rules.WORDS):
                scratch[word] = state[word]
            rules.play(scratch, moves[index])
            tree.move[child] = moves[index]
            tree.count[child] = 0
            tree.visits[child] = 0
            tree.points[child] = 0.0
            tree.proven[child] = scratch[RESULT]
        tree.filled[0] = begin + number
        tree.first[node], tree.count[node] = begin, number
        # Ends are proven at once; so the node may be proven, too.
        if solver:
            tree.proven[node] = _proof(tree, node, state[PLAYER])

    @bare_kernel
    def descend(tree, state, path, movers, rng, exploration, solver, draw, moves, scratch):
        """Play from the root to a node that is proven or has no children, and return the length of the path."""
        # Selection by upper bounds, until a node is proven or has no children.  A new node is valued first; it gets
        # children when it is visited for the second time.
        path[0], movers[0] = 0, state[PLAYER]
        length, node = 1, 0
        while tree.proven[node] == UNFINISHED:
            if tree.count[node] == 0:
                if tree.visits[node] == 0 and node > 0:
                    break
                expand(tree, node, state, moves, scratch, solver)
                if tree.count[node] == 0 or tree.proven[node] != UNFINISHED:
                    break
            node = _select(tree, node, state[PLAYER], rng, exploration, solver, draw)
            rules.play(state, tree.move[node])
            path[length], movers[length] = node, state[PLAYER]
            length += 1
        return length

    @kernel
    def grow(tree, start, rng, exploration, solver, draw, weights, control):
        state, scratch = np.empty(words, dtype=np.int64), np.empty(rules.WORDS, dtype=np.int64)
        moves = np.empty(rules.WIDTH, dtype=np.int64)
        path = np.empty(rules.LENGTH + 1, dtype=np.int64)
        movers = np.empty(rules.LENGTH + 1, dtype=np.int64)  # who moves at each node of the path
        # Each round is one visit, until the root is proven or a limit is reached.
        while tree.proven[0] == UNFINISHED and control[NODES] < control[NODE_LIMIT]:
            look = control[DEADLINE] > 0 and control[NODES] % _CHECK_EVERY == 0
            if look and nanoseconds(control[CLOCK]) > control[DEADLINE]:
                control[STOPPED] = 1
                break
            control[NODES] += 1
            for word in range(rules.WORDS):
                state[word] = start[word]
            # Selection and expansion.
            length = descend(tree, state, path, movers, rng, exploration, solver, draw, moves, scratch)
            control[REACHED] = max(control[REACHED], length - 1)
            # The leaf: a proven result has its points, another position is played out or evaluated.
            result = np.int64(tree.proven[path[length - 1]])
            points = leaf(state, rng, draw, weights) if result == UNFINISHED else _points(result, draw)
            # The points go up the path, and with the solver proofs go up, too.
            _back_up(tree, path, movers, length, points, solver)

    return grow


@cache
def _reuse(rules: ModuleType) -> Any:
    """The kernel ``keep``."""

    @bare_kernel
    def find(tree, node, state, target, states, level):
        """The node of a position below a node, or -1."""
        if state[PLY] == target[PLY]:
            for word in range(rules.WORDS):
                if state[word] != target[word]:
                    return np.int64(-1)
            return node
        after = states[level]
        for child in range(tree.first[node], tree.first[node] + tree.count[node]):
            for word in range(rules.WORDS):
                after[word] = state[word]
            rules.play(after, tree.move[child])
            found = find(tree, np.int64(child), after, target, states, level + np.int64(1))
            if found >= 0:
                return found
        return np.int64(-1)

    @kernel
    def keep(tree, state, target, other):
        apart = target[PLY] - state[PLY]
        if apart < 0 or apart > 3:
            return False
        states = np.empty((apart + 1, rules.WORDS), dtype=np.int64)
        node = find(tree, np.int64(0), state, target, states, np.int64(0))
        if node < 0:
            return False
        _copy_below(tree, node, other, np.empty(len(tree.move), dtype=np.int32))
        return True

    return keep


@cache
def tree_kernels(rules: ModuleType, values: ModuleType | None = None) -> TreeKernels:
    """The kernels for a game's rules; with values, leaves are evaluated and no games are played out."""
    return TreeKernels(_growth(rules, values), _best, _reuse(rules))
