"""The baseline: both players' gradients by a walk over histories, as tabular solvers make them.

Each player's nodes are numbered in depth-first order: a node's own slot, one slot for each of its
actions, then its subtrees.  The distance from a parent's slot to a child's depends only on the parent's view,
so the walk finds every slot with one addition and a small table: no hashing, no pointers, and the
nodes that are visited one after another lie near each other in memory.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

from pttt_ooc.games.rules.game import Game
from pttt_ooc.games.structure.index import actions_of
from pttt_ooc.games.structure.orders import OrderCounts, order_counts
from pttt_ooc.games.structure.views import Pairs, attempts

Floats = NDArray[np.floating[Any]]
State = tuple[int, int, int, int]
"""A history, as the walk sees it: view and slot of the player to move, then of the other player."""


@dataclass(frozen=True, eq=False)
class Trie:
    """Both players' nodes in depth-first order, in one range of slots: player 0's come first.

    Attributes
    ----------
    game
        The game.
    keys
        dict from (player, placed, failed) to the number of the view.
    views
        int32 (views, 4).  Sets of squares: held by the player, already attempted (held or failed),
        winning at once if they are empty.  Then the number of slots for actions.
    children
        int32 (views, actions, 2, 2): for an action, in ascending order of squares, and an outcome (0
        failed, 1 placed), the child's view and the distance from the parent's slot to the child's.
    start
        The history at which the game starts.
    slots
        Number of slots of both players.
    """

    game: Game
    keys: dict[tuple[int, int, int], int]
    views: NDArray[np.int32]
    children: NDArray[np.int32]
    start: State
    slots: int

    @property
    def rules(self) -> tuple[bool, int]:
        """What else the kernels need to know: whether failures keep the turn, and the set of all squares."""
        return self.game.turn_rule == "classical", (1 << self.game.squares) - 1

    def after(self, state: State, square: int) -> State | None:
        """The history after the player to move has attempted `square`; None if that ends the game."""
        mover, mine, other, theirs = state
        classical, full = self.rules
        bit = 1 << square
        held, occupied = int(self.views[mover, 0]), int(self.views[other, 0])
        placed = not occupied & bit
        if placed and (self.views[mover, 2] & bit or held | occupied | bit == full):
            return None
        action = (full & ~int(self.views[mover, 1]) & (bit - 1)).bit_count()
        child, distance = (int(x) for x in self.children[mover, action, int(placed)])
        moved = (child, mine + distance)
        return (*moved, other, theirs) if classical and not placed else (other, theirs, *moved)

    def squares_to_attempt(self, state: State) -> Iterator[int]:
        """The squares that the player to move may attempt."""
        tried = int(self.views[state[0], 1])
        return (s for s in range(self.game.squares) if not tried >> s & 1)

    def starts(self, length: int) -> list[State]:
        """All histories of `length` attempts at which the game is not over."""
        found = [self.start]
        for _ in range(length):
            following = (self.after(state, s) for state in found for s in self.squares_to_attempt(state))
            found = [state for state in following if state is not None]
        return found


def build_trie(game: Game, pairs: Pairs) -> Trie:
    """Number the nodes of both players; `pairs` are all pairs of views of the game."""
    keys: dict[tuple[int, int, int], int] = {}
    for player in (0, 1):
        views = np.unique(np.stack([pairs.placed[player], pairs.failed[player]]), axis=1)
        for placed, failed in views[:, np.argsort(attempts(views[0], views[1]), kind="stable")].T.tolist():
            keys[player, placed, failed] = len(keys)
    decides = {
        (player, *view)
        for player in (0, 1)
        for view in zip(*(m[player][pairs.mover == player].tolist() for m in (pairs.placed, pairs.failed)), strict=True)
    }
    table = np.zeros((len(keys), 4), np.int32)
    children = np.full((len(keys), game.squares, 2, 2), -1, np.int32)
    sizes = np.ones(len(keys), np.int64)
    counts = (order_counts(game, 0), order_counts(game, 1))
    for key, v in reversed(keys.items()):  # the longest views of a player first: sizes of children are known
        player, placed, failed = key
        held = placed | game.setup_mask(player)
        actions = actions_of(game, player, placed | failed) if key in decides else []
        table[v] = held, held | failed, _winning(game, player, held), len(actions)
        sizes[v] += len(actions)
        for j, square in enumerate(actions):
            for outcome in (0, 1):
                child = _child(counts[player], key, square, outcome)
                if child in keys:
                    children[v, j, outcome] = keys[child], sizes[v]
                    sizes[v] += sizes[keys[child]]
    roots = [keys[player, 0, 0] for player in (0, 1)]
    slots = [0, int(sizes[roots[0]])]
    first = game.first_player
    start = (roots[first], slots[first], roots[1 - first], slots[1 - first])
    return Trie(game, keys, table, children, start, int(sizes[roots].sum()))


def _winning(game: Game, player: int, held: int) -> int:
    squares = (s for s in range(game.squares) if not held >> s & 1)
    return sum(1 << s for s in squares if game.wins(player, held | 1 << s))


def _child(counts: OrderCounts, key: tuple[int, int, int], square: int, outcome: int) -> tuple[int, int, int] | None:
    player, placed, failed = key
    bit = 1 << square
    placed, failed = (placed | bit, failed) if outcome else (placed, failed | bit)
    return (player, placed, failed) if counts.ending_with(placed, failed, square) else None


@numba.njit(cache=True, nogil=True)
def _fill_uniform(view, slot, views, children, reach):
    """Reach of the nodes and sequences from one player's node downward, when all actions are equally likely."""
    stack = np.empty((children.shape[1] * children.shape[1] + 1, 2), np.int64)
    stack[0, 0] = view
    stack[0, 1] = slot
    reach[slot] = 1
    top = 0
    while top >= 0:
        view = stack[top, 0]
        slot = stack[top, 1]
        top -= 1
        actions = views[view, 3]
        for j in range(actions):
            reach[slot + 1 + j] = reach[slot] / actions
            for outcome in range(2):
                if children[view, j, outcome, 0] >= 0:
                    top += 1
                    stack[top, 0] = children[view, j, outcome, 0]
                    stack[top, 1] = slot + children[view, j, outcome, 1]
                    reach[stack[top, 1]] = reach[slot] / actions


@numba.njit(cache=True, nogil=True)
def walk(view, slot, other_view, other_slot, views, children, classical, full, reach, gradient):
    """Add the contributions of a history and all its continuations to both players' gradients.

    Parameters
    ----------
    view, slot, other_view, other_slot
        The history to begin with: see :data:`State`.
    views, children, classical, full
        Of the :class:`Trie`.
    reach
        float (slots,): both players' reach of nodes and sequences.
    gradient
        Same shape: receives each player's payoff times the other's reach, at the node or sequence
        where the player's own play ends.

    Returns
    -------
    Number of visited histories, finished games included.
    """
    histories = 0
    stack = np.empty((2 * children.shape[1] * children.shape[1] + 1, 4), np.int64)
    stack[0, 0] = view
    stack[0, 1] = slot
    stack[0, 2] = other_view
    stack[0, 3] = other_slot
    top = 0
    while top >= 0:
        view = stack[top, 0]
        slot = stack[top, 1]
        other_view = stack[top, 2]
        other_slot = stack[top, 3]
        top -= 1
        occupied = np.int64(views[other_view, 0])
        winning = np.int64(views[view, 2])
        empty = full & ~(occupied | views[view, 0])
        is_last = empty & (empty - 1) == 0
        opponent = reach[other_slot]
        lost = opponent * 0
        todo = full & ~np.int64(views[view, 1])
        histories += 1
        j = 0
        while todo:
            bit = todo & -todo
            todo ^= bit
            if occupied & bit:
                top += 1
                if classical:
                    stack[top, 0] = children[view, j, 0, 0]
                    stack[top, 1] = slot + children[view, j, 0, 1]
                    stack[top, 2] = other_view
                    stack[top, 3] = other_slot
                else:
                    stack[top, 0] = other_view
                    stack[top, 1] = other_slot
                    stack[top, 2] = children[view, j, 0, 0]
                    stack[top, 3] = slot + children[view, j, 0, 1]
            elif winning & bit:
                histories += 1
                gradient[slot + 1 + j] += opponent
                lost += reach[slot + 1 + j]
            elif is_last:
                histories += 1
            else:
                top += 1
                stack[top, 0] = other_view
                stack[top, 1] = other_slot
                stack[top, 2] = children[view, j, 1, 0]
                stack[top, 3] = slot + children[view, j, 1, 1]
            j += 1
        if lost != 0:
            gradient[other_slot] -= lost
    return histories


def uniform_reach(trie: Trie, dtype: type[np.floating[Any]]) -> Floats:
    """Both players' reach when all actions are equally likely, slot by slot."""
    reach = np.zeros(trie.slots, dtype)
    for view, slot in (trie.start[:2], trie.start[2:]):
        _fill_uniform(view, slot, trie.views, trie.children, reach)
    return reach


def walk_all(trie: Trie, starts: Sequence[State], reach: Floats, gradients: Sequence[Floats]) -> int:
    """Walk from each of `starts`, with one thread for each array of `gradients`.

    Each thread adds to its own array.

    Returns
    -------
    Number of visited histories.
    """
    queue: SimpleQueue[State] = SimpleQueue()
    for state in starts:
        queue.put(state)

    def work(gradient: Floats) -> int:
        histories = 0
        while True:
            try:
                state = queue.get_nowait()
            except Empty:
                return histories
            histories += walk(*state, trie.views, trie.children, *trie.rules, reach, gradient)

    with ThreadPoolExecutor(len(gradients)) as pool:
        return sum(pool.map(work, gradients))
