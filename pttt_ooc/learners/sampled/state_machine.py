"""The tables of the state machine, made from the index; and many games side by side."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pttt_ooc.games.structure.index import Index, actions_of
from pttt_ooc.games.structure.views import number_below
from pttt_ooc.learners.sampled import kernels
from pttt_ooc.learners.sampled.kernels import Rules

Ints = NDArray[np.int64]


def rules_of(index: Index) -> Rules:
    """The state machine of a game; its views are those of the index."""
    game, group = index.game, index.group
    size, second = game.squares, len(index.players[0].placed)
    tables = [i.relabelling for i in index.players]
    begins = np.cumsum([0, *map(len, tables)])
    views, square, children = ([] for _ in range(3))
    for p, i in enumerate(index.players):
        orders = np.diff(i.node_start)
        attempted = (i.placed | i.failed).tolist()
        legal = [actions_of(game, p, mask) if i.decides[v] else [] for v, mask in enumerate(attempted)]
        views.append(np.stack([i.node_start[:-1], i.sequence_start[:-1], orders, list(map(len, legal))], axis=1))
        square.append(np.array([squares + [0] * (size - len(squares)) for squares in legal], np.uint8))
        view, symmetry = _children(index, p)
        ranks = i.child_start - i.node_start[view]
        renamed = i.child_map + np.where(i.child_map >= 0, begins[p], begins[2] + 1)
        child = np.stack([view + p * second, ranks, renamed, symmetry], axis=-1)
        children.append(np.where(i.child_start[..., None] >= 0, child, 0))
    most = max(int(part[:, 2].max()) for part in views)
    permutations = np.array(group, np.int64).reshape(len(group), size)
    wins = np.array([[game.wins(p, mask) for mask in range(1 << size)] for p in (0, 1)])
    return Rules(
        views=np.concatenate(views).astype(np.uint64),
        square=np.concatenate(square),
        children=np.concatenate(children).astype(np.uint32),
        renamed=np.concatenate([*tables, np.arange(most, dtype=np.min_scalar_type(most - 1))]),
        inverse=np.argsort(permutations, axis=1).astype(np.uint8),
        product=_products(permutations).astype(np.uint8),
        wins=wins,
        marks=np.array([game.setup_mask(p) for p in (0, 1)], np.uint64),
        second=np.uint64(second),
        first=game.first_player,
        full=np.uint64((1 << size) - 1),
        stays=game.turn_rule == "classical",
    )


def _children(index: Index, player: int) -> tuple[Ints, Ints]:
    """For each view, action and outcome: the next representative, and the symmetry that maps the board to it."""
    i, orbits, size = index.players[player], index.orbits[player], index.game.squares
    taken = i.placed | i.failed | index.game.setup_mask(player)
    view, symmetry = (np.zeros((len(i.placed), size, 2), np.int64) for _ in range(2))
    for square in range(size):
        free = np.flatnonzero(i.decides & (taken >> square & 1 == 0))
        action, bit = number_below(~taken[free], square), 1 << square
        for outcome in (0, 1):
            placed, failed = i.placed[free] | bit * outcome, i.failed[free] | bit * (1 - outcome)
            at = orbits.find(placed << size | failed)
            view[free, action, outcome] = orbits.view[at]
            symmetry[free, action, outcome] = orbits.symmetry[at]
    return view, symmetry


def _products(permutations: Ints) -> Ints:
    """The number of "first g, then h" for each h and g."""
    numbers = {tuple(g): k for k, g in enumerate(permutations.tolist())}
    return np.array([[numbers[tuple(h[g].tolist())] for g in permutations] for h in permutations], np.int64)


@dataclass(frozen=True, eq=False)
class Observation:
    """What the movers of some games observe; one row for each game.

    Attributes
    ----------
    movers
        int64 (games,).
    infosets
        int64 (games,): the number of the mover's node in the index.
    counts
        int64 (games,): the number of actions.
    squares
        int64 (games, squares of the board): the square of each action on the board; only the first `counts` are valid.
    """

    movers: Ints
    infosets: Ints
    counts: Ints
    squares: Ints


class Games:
    """Games side by side; a game that ends starts again at once.

    Parameters
    ----------
    index
        With symmetry or without; it numbers the infosets.
    number
        The number of games.
    """

    def __init__(self, index: Index, number: int) -> None:
        self.rules = rules_of(index)
        self._positions = np.empty((number, kernels.FIELDS), np.int64)
        self._squares = index.game.squares
        kernels.begin_games(self.rules, self._positions)

    def observe(self) -> Observation:
        """The movers' observations, in new arrays."""
        games = len(self._positions)
        movers, infosets, counts = (np.empty(games, np.int64) for _ in range(3))
        result = Observation(movers, infosets, counts, np.empty((games, self._squares), np.int64))
        kernels.look_at_games(
            self.rules, self._positions, result.movers, result.infosets, result.counts, result.squares
        )
        return result

    def step(self, actions: Ints) -> tuple[NDArray[np.bool_], NDArray[np.float32]]:
        """Make a move in each game.

        Parameters
        ----------
        actions
            int64 (games,): the number of each mover's action, below its count.

        Returns
        -------
        ended, payoffs
            bool and float32 (games,): which games ended, and the payoffs of player 0 there.

        Raises
        ------
        ValueError
            If an action does not exist.
        """
        counts = self.observe().counts
        if actions.shape != counts.shape or (actions < 0).any() or (actions >= counts).any():
            raise ValueError("an action is not below the number of its mover's actions")
        ended, payoffs = np.empty(len(actions), np.bool_), np.empty(len(actions), np.float32)
        kernels.attempt_in_games(self.rules, self._positions, actions.astype(np.int64), ended, payoffs)
        return ended, payoffs


def random_state(seed: int) -> NDArray[Any]:
    """The initial state of the kernels' random numbers."""
    return np.random.SeedSequence(seed).generate_state(1, np.uint64)
