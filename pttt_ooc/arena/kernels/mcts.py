"""Monte Carlo tree search, for any rules: UCT with a solver; :func:`growing` makes the kernels.

L. Kocsis, C. Szepesvari, *Bandit based Monte-Carlo planning* (2006); M. Winands, Y. Bjoernsson, J.-T. Saito,
*Monte-Carlo tree search solver* (2008).  Results are absolute (player 0 wins, player 1 wins, draw), so a player may
have several moves in a row.
"""

from __future__ import annotations

from functools import cache
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np

from pttt_ooc.arena.kernels.clock import nanoseconds
from pttt_ooc.arena.kernels.minimax import CLOCK, DEADLINE, NODE_LIMIT, NODES, REACHED, STOPPED
from pttt_ooc.arena.kernels.rng import below
from pttt_ooc.jit import bare_kernel, kernel

_CHECK_EVERY = 8  # games played out between two looks at the clock


class Tree(NamedTuple):
    """A search tree; node 0 is the root.

    Attributes
    ----------
    move
        int16, shape (room,): the move that leads to the node.
    first, count
        int32 and int16: the first child, and the number of children; without children, a node is not expanded.
    visits, points
        int32 and float64: games that came through the node, and what they brought the player who moved to it.
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


def tree(room: int) -> Tree:
    """A tree with a root only, and room for this many nodes."""
    filled = np.ones(1, dtype=np.int64)
    return Tree(
        np.zeros(room, dtype=np.int16),
        np.zeros(room, dtype=np.int32),
        np.zeros(room, dtype=np.int16),
        np.zeros(room, dtype=np.int32),
        np.zeros(room, dtype=np.float64),
        np.zeros(room, dtype=np.int8),
        filled,
    )


class Growing(NamedTuple):
    """Kernels of one game.

    Attributes
    ----------
    grow
        ``grow(tree, state, rng, exploration, control)`` plays games until a limit in `control` ends it or the root is
        proven.
    best
        ``best(tree, player) -> move``: a proven win, or the most visited move that is not proven to lose.
    keep
        ``keep(tree, state, target, other) -> bool``: copy the part of the tree below the position `target`, if it has
        one, to the tree `other`.
    """

    grow: Any
    best: Any
    keep: Any


@cache
def growing(rules: ModuleType) -> Growing:
    """The kernels for a game's rules."""

    @bare_kernel
    def copied(to, state):
        for word in range(rules.WORDS):
            to[word] = state[word]

    @bare_kernel
    def proof(tree, node, player):
        """The result of a node under perfect play, from those of its children; zero if it is open."""
        draw, open_ones = False, False
        for child in range(tree.first[node], tree.first[node] + tree.count[node]):
            if tree.proven[child] == 1 + player:
                return 1 + player
            draw |= tree.proven[child] == 3
            open_ones |= tree.proven[child] == 0
        if open_ones:
            return 0
        return 3 if draw else 2 - player

    @bare_kernel
    def expand(tree, node, state, moves, scratch):
        """Give a node its children, and prove what ends at once."""
        begin, number = tree.filled[0], rules.legal(state, moves)
        if begin + number > len(tree.move):
            return
        for index in range(number):
            child = begin + index
            copied(scratch, state)
            rules.play(scratch, moves[index])
            tree.move[child] = moves[index]
            tree.count[child] = 0
            tree.visits[child] = 0
            tree.points[child] = 0.0
            tree.proven[child] = scratch[1]
        tree.filled[0] = begin + number
        tree.first[node], tree.count[node] = begin, number
        tree.proven[node] = proof(tree, node, state[0])

    @bare_kernel
    def select(tree, node, player, rng, exploration):
        """The child to look at next: one never visited, or the one with the highest upper bound."""
        begin, number = tree.first[node], tree.count[node]
        offset = below(rng, number)
        best, chosen = -1.0, begin + offset
        width = exploration * np.sqrt(np.log(tree.visits[node] + 1.0))
        for index in range(number):
            child = begin + (index + offset) % number
            if tree.proven[child] == 1 + player:
                return child
            if tree.proven[child] == 2 - player:
                continue
            visits = tree.visits[child]
            if tree.proven[child] == 3:
                bound = 0.5
            elif visits == 0:
                bound = 1e9
            else:
                bound = tree.points[child] / visits + width / np.sqrt(float(visits))
            if bound > best:
                best, chosen = bound, child
        return chosen

    @bare_kernel
    def play_out(state, rng):
        while state[1] == 0:
            rules.play(state, rules.pick(state, below(rng, rules.count(state))))
        return state[1]

    @kernel
    def grow(tree, start, rng, exploration, control):
        state, scratch = np.empty(rules.WORDS, dtype=np.int64), np.empty(rules.WORDS, dtype=np.int64)
        moves = np.empty(rules.WIDTH, dtype=np.int64)
        path = np.empty(rules.LENGTH + 1, dtype=np.int64)
        movers = np.empty(rules.LENGTH + 1, dtype=np.int64)  # who moves at each node of the path
        while tree.proven[0] == 0 and control[NODES] < control[NODE_LIMIT]:
            look = control[DEADLINE] > 0 and control[NODES] % _CHECK_EVERY == 0
            if look and nanoseconds(control[CLOCK]) > control[DEADLINE]:
                control[STOPPED] = 1
                break
            control[NODES] += 1
            copied(state, start)
            path[0], movers[0] = 0, state[0]
            length, node = 1, 0
            while tree.proven[node] == 0:
                if tree.count[node] == 0:
                    if tree.visits[node] == 0 and node > 0:
                        break
                    expand(tree, node, state, moves, scratch)
                    if tree.count[node] == 0 or tree.proven[node] != 0:
                        break
                node = select(tree, node, state[0], rng, exploration)
                rules.play(state, tree.move[node])
                path[length], movers[length] = node, state[0]
                length += 1
            control[REACHED] = max(control[REACHED], length - 1)
            result = tree.proven[node]
            if result == 0:
                result = play_out(state, rng)
            for index in range(length - 1, -1, -1):
                node = path[index]
                tree.visits[node] += 1
                if index > 0:
                    if result == 3:
                        tree.points[node] += 0.5
                    elif result == 1 + movers[index - 1]:
                        tree.points[node] += 1.0
                if tree.proven[node] == 0 and index + 1 < length and tree.proven[path[index + 1]] != 0:
                    tree.proven[node] = proof(tree, node, movers[index])

    @bare_kernel
    def best(tree, player):
        chosen, most = -1, -2.0
        for child in range(tree.first[0], tree.first[0] + tree.count[0]):
            worth = float(tree.visits[child])
            if tree.proven[child] == 1 + player:
                worth = 1e18
            elif tree.proven[child] == 2 - player:
                worth = worth * 1e-18 - 1.0
            elif tree.proven[0] == 3 and tree.proven[child] == 3:
                worth += 1e12
            if worth > most:
                chosen, most = child, worth
        return tree.move[chosen]

    @bare_kernel
    def find(tree, node, state, target, states, level):
        """The node of a position below a node, or -1."""
        if state[2] == target[2]:
            for word in range(rules.WORDS):
                if state[word] != target[word]:
                    return np.int64(-1)
            return node
        after = states[level]
        for child in range(tree.first[node], tree.first[node] + tree.count[node]):
            copied(after, state)
            rules.play(after, tree.move[child])
            found = find(tree, np.int64(child), after, target, states, level + np.int64(1))
            if found >= 0:
                return found
        return np.int64(-1)

    @kernel
    def keep(tree, state, target, other):
        apart = target[2] - state[2]
        if apart < 0 or apart > 3:
            return False
        states = np.empty((apart + 1, rules.WORDS), dtype=np.int64)
        node = find(tree, np.int64(0), state, target, states, np.int64(0))
        if node < 0:
            return False
        sources = np.empty(len(tree.move), dtype=np.int32)
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
        return True

    return Growing(grow, best, keep)
