"""Where a strategy loses against a fixed opponent: the exact loss at each infoset.

Fix the opponent.  Let *x(I)* be the player's own reach of infoset *I* under the strategy *s*, and *Q(I, a)* the
counterfactual value of attempt *a* if the player follows a best response afterwards.  Then

    loss(I)  =  x(I) (max over a of Q(I, a)  -  sum over a of s(I, a) Q(I, a))  >=  0.

The sum of the losses over all infosets of the player is the value of the best response minus the value of *s*: at each
infoset this difference is the loss there plus, weighted by *s*, the differences at the next infosets.
With another strategy in place of the best response, the sum is the difference between the two strategies
(Kakade and Langford 2002, "Approximately optimal approximate reinforcement learning", lemma 6.1).

The computation goes slice by slice, from the deepest to the first, and keeps the losses of one slice only.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pttt_ooc.cfr.sweep import tree
from pttt_ooc.cfr.sweep.engine import Engine, SliceArrays, reach_arrays, slice_arrays
from pttt_ooc.cfr.sweep.tree import Reach, Slice, Upward
from pttt_ooc.disk.memory import virtual_array
from pttt_ooc.games.rules.play import first_infoset
from pttt_ooc.games.structure.index import Index, PlayerIndex, actions_of, node_text
from pttt_ooc.games.structure.orders import OrderCounts, all_orders, order_counts
from pttt_ooc.games.structure.patterns import FAILED_ON_SETUP
from pttt_ooc.games.structure.strategy import Floats, Strategy
from pttt_ooc.library.questions.infoset_ranking import InfosetRanking


@dataclass(frozen=True)
class Loss:
    """What a strategy loses at one infoset.

    Attributes
    ----------
    infoset
        Its text; of mirror images, the one with the largest loss.
    loss
        The loss at all different mirror images together.
    images
        Number of different mirror images.
    loss_here
        The loss at this infoset alone.
    reach
        The player's own reach.
    probabilities
        For each square, the probability of its attempt; 0 if it is not legal.
    losses
        For each square, the loss here if it were always attempted; None if it is not legal.  Their mean, weighted by
        `probabilities`, is `loss_here`.
    """

    infoset: str
    loss: float
    images: int
    loss_here: float
    reach: float
    probabilities: tuple[float, ...]
    losses: tuple[float | None, ...]

    @property
    def costliest(self) -> int:
        """The square whose attempt costs most, weighted by its probability; the lowest of equal ones."""
        return max(range(len(self.losses)), key=lambda s: self.probabilities[s] * (self.losses[s] or 0.0))

    @property
    def best(self) -> int:
        """The square whose attempt loses least; the lowest of equal ones."""
        losses = {square: loss for square, loss in enumerate(self.losses) if loss is not None}
        return min(losses, key=lambda s: losses[s])


@dataclass(frozen=True)
class Losses:
    """The losses of a strategy against a fixed opponent, over all infosets of its player.

    Attributes
    ----------
    player
        The strategy's player.
    total
        The sum of all losses.
    best_value
        Expected payoff of the best response, or of the other strategy, from the player's point of view.
    by_depth
        The part of `total` at infosets with each number of own attempts.
    by_opening
        The part at and after each infoset with one own attempt, by its text; and at the first infoset.
    infosets
        The infosets with the largest losses, up to symmetry.
    """

    player: int
    total: float
    best_value: float
    by_depth: tuple[float, ...]
    by_opening: dict[str, float]
    infosets: tuple[Loss, ...]


@dataclass(frozen=True)
class LossArrays:
    """Work arrays, in double precision.

    Attributes
    ----------
    slices
        Values of the best response, or of the reference strategy.
    losses
        At the nodes of one slice.
    reach
        Of both players' strategies.
    """

    slices: SliceArrays
    losses: Floats
    reach: tuple[Reach, Reach]


def loss_arrays(index: Index) -> LossArrays:
    """Virtual arrays for the losses of either player."""
    slices = slice_arrays(index.players, np.float64)
    first, second = (reach_arrays([i], np.float64) for i in index.players)
    return LossArrays(slices, virtual_array(max(map(len, slices.nodes)), np.float64), (first, second))


def find_losses(
    engine: Engine, strategy: Strategy, arrays: LossArrays, top: int, reference: Strategy | None = None
) -> Losses:
    """The losses of a strategy against the opponent whose reach is in `arrays`.

    Parameters
    ----------
    engine
        In double precision.
    strategy
        In the layout of the engine's index.
    arrays
        `reach` must hold the realization plans of `strategy` and of the opponent.
    top
        Number of infosets to list.
    reference
        Another strategy of the same player, in place of the best response.
    """
    player, index = strategy.player, engine.index
    i, opponent = index.players[player], arrays.reach[1 - player]
    ranking, openings = InfosetRanking(index, player, top), _Openings(index, player)
    by_depth = np.zeros(i.slices)
    listed: list[Loss] = []
    # From the last attempts upward: each slice gets its gradient, and the values of the slice after it.
    for n in reversed(range(i.slices)):
        s, sequences, nodes = arrays.slices.of(i, n), i.sequences_of(n), i.nodes_of(n)
        losses = arrays.losses[: len(s.nodes)]
        own = arrays.reach[player].nodes[nodes]
        weights = strategy.probabilities[sequences]
        others = None if reference is None else reference.probabilities[sequences]
        engine.gradient_slice(player, n, opponent, s)
        engine.run(player, n, tree.add_child_values, s)
        # The loss at each infoset, own reach included; the value of the best action, or of the reference, is passed up.
        engine.run(player, n, _lose, s, own, weights, others, losses)
        by_depth[n] = openings.add(n, losses)
        found = ranking.of_slice(n, losses)
        # Read the details now: the next slice overwrites this one.
        details = _Details(strategy, reference, arrays, s, n)
        listed += [details.of(*one) for one in found]
        # Keep the largest; from then on, look only at losses larger than the least of them.
        listed = sorted(listed, key=lambda one: (-abs(one.loss), one.infoset))[:top]
        ranking.least = abs(listed[-1].loss) if len(listed) == top and top else 0.0
    total = float(by_depth[::-1].sum())
    return Losses(
        player, total, float(s.nodes[0]), tuple(by_depth.tolist()), openings.by_text(by_depth[0]), tuple(listed)
    )


def _lose(
    first_view: int, last_view: int, t: Upward, part: Slice, own: Floats, weights: Floats, others: Any, losses: Floats
) -> None:
    """Write the losses of some views; add the value of the best actions, or of the reference strategy, to their nodes.

    `part` holds the value of each action; the other arrays begin at the start of the slice.
    """
    for view in range(first_view, last_view):
        nodes = slice(int(t.node_start[view]) - part.first_node, int(t.node_start[view + 1]) - part.first_node)
        start, end = (int(t.sequence_start[v]) - part.first_sequence for v in (view, view + 1))
        if start == end:
            losses[nodes] = 0
            continue
        values = part.sequences[start:end].reshape(-1, nodes.stop - nodes.start)
        expected = _expected_values(weights[start:end].reshape(values.shape), values)
        wanted = (
            values.max(axis=0) if others is None else _expected_values(others[start:end].reshape(values.shape), values)
        )
        part.nodes[nodes] += wanted
        losses[nodes] = own[nodes] * (wanted - expected)


def _expected_values(weights: Floats, values: Floats) -> NDArray[np.float64]:
    """Expected values under the weights of actions; where all weights are zero, actions count equally."""
    weights = weights.astype(np.float64)
    total = weights.sum(axis=0)
    if not total.all():
        weights[:, total == 0] = 1
        total = weights.sum(axis=0)
    found: NDArray[np.float64] = (weights * values).sum(axis=0) / total
    return found


@dataclass(frozen=True)
class _Details:
    """Makes the :class:`Loss` of single infosets of slice `n`, while `part` holds the values of their actions."""

    strategy: Strategy
    reference: Strategy | None
    arrays: LossArrays
    part: Slice
    n: int

    def of(self, loss: float, images: int, node: int) -> Loss:
        index, player = self.strategy.index, self.strategy.player
        i, game = index.players[player], index.game
        view = int(np.searchsorted(i.node_start, node, side="right")) - 1
        rank, orders = node - int(i.node_start[view]), int(i.node_start[view + 1] - i.node_start[view])
        sequences = np.arange(i.sequence_start[view] + rank, i.sequence_start[view + 1], orders)
        values = self.part.sequences[sequences - self.part.first_sequence]
        weights = self.strategy.probabilities[sequences].astype(np.float64)
        probabilities = weights / weights.sum() if weights.sum() else np.full(len(weights), 1 / len(weights))
        if self.reference is None:
            wanted = float(values.max())
        else:
            wanted = float(_expected_values(self.reference.probabilities[sequences][:, None], values[:, None])[0])
        reach = float(self.arrays.reach[player].nodes[node])
        row, lost = [0.0] * game.squares, [None] * game.squares
        squares = actions_of(game, player, int(i.placed[view] | i.failed[view]))
        for square, probability, value in zip(squares, probabilities.tolist(), values.tolist(), strict=True):
            row[square], lost[square] = probability, reach * (wanted - value)
        part_loss = float(self.arrays.losses[node - self.part.first_node])
        return Loss(node_text(index, player, node), loss, images, part_loss, reach, tuple(row), tuple(lost))


# ---------------------------------------------------------------------------------------------
# Sums by the first attempt


class _Openings:
    """Sums of losses by the first attempt and its outcome."""

    def __init__(self, index: Index, player: int) -> None:
        self.index, self.player = index, player
        self.mine: PlayerIndex = index.players[player]
        self.counts = order_counts(index.game, player)
        self.group = np.array(index.group)
        keys = self.mine.placed << index.game.squares | self.mine.failed
        orbits = index.orbits[player]
        self.images = np.bincount(orbits.view, minlength=len(keys))  # number of views that each one represents
        self.sums = np.zeros((index.game.squares, 2))

    def add(self, n: int, losses: Floats) -> float:
        """Add the losses of slice `n`; return their sum over all mirror images."""
        i, total = self.mine, 0.0
        first = i.nodes_of(n).start
        for view in i.views_of(n):
            if not i.decides[view]:
                continue
            part = losses[int(i.node_start[view]) - first : int(i.node_start[view + 1]) - first]
            placed, tried = int(i.placed[view]), int(i.placed[view] | i.failed[view])
            squares = [s for s in range(self.index.game.squares) if tried >> s & 1]
            total += self.images[view] * float(part.sum())
            if not squares:
                continue
            kinds = tuple(placed >> s & 1 or FAILED_ON_SETUP * (self.counts.hidden >> s & 1) for s in squares)
            sums = np.bincount(_first_attempts(self.counts, kinds), weights=part, minlength=len(squares))
            for square, lost in zip(squares, sums.tolist(), strict=True):
                # Mirror images of the view lose the same after mirror images of the square.
                outcome = placed >> square & 1
                np.add.at(self.sums[:, outcome], self.group[:, square], self.images[view] * lost / len(self.group))
        return total

    def by_text(self, at_root: float) -> dict[str, float]:
        """The sums by the infoset after the first attempt, and the loss at the first infoset."""
        game, size = self.index.game, self.index.game.squares
        root = first_infoset(game, self.player)
        squares, found = np.array(actions_of(game, self.player, 0)), {root: float(at_root)}
        there = [self.index.orbits[self.player].find(1 << squares << size * outcome) >= 0 for outcome in (0, 1)]
        for k, square in enumerate(squares.tolist()):
            for outcome, sign in ((1, "*"), (0, ".")):
                if there[outcome][k]:
                    found[f"{root}{square}{sign}"] = float(self.sums[square, outcome])
        return found


@cache
def _first_attempts(counts: OrderCounts, kinds: tuple[int, ...]) -> NDArray[np.int8]:
    """For each order of a view by its rank, which of the view's squares was attempted first.

    Parameters
    ----------
    kinds
        Of the view's squares, ascending: `FAILED`, `PLACED` or `FAILED_ON_SETUP`.
    """
    # Only kinds matter, not squares: number the squares 0, 1, 2, ...
    failed, placed, hidden = (sum(1 << s for s, k in enumerate(kinds) if k == kind) for kind in range(3))
    orders = all_orders(placed, failed | hidden, hidden, counts.orders, counts.ending_failed)
    first: NDArray[np.int8] = orders[:, 0].copy()
    return first
