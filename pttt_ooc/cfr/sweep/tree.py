"""Passes over one player's tree of nodes: reach and strategies downward, values and regrets upward.

Each view *pulls* from its parents or children, so different threads can process different views, and
each entry is written once.  A pass processes a view `CHUNK` orders at a time, action by action: its
numbers stay in the processor's first-level cache, and its inner loops run over contiguous memory.

Kernels that :meth:`pttt_ooc.cfr.sweep.engine.Engine.run` calls begin with the same three arguments: the first
view, the view after the last one, and the player's tree: :class:`Downward` for the kernels in
`GOING_DOWN`, :class:`Upward` for all others.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pttt_ooc.jit import kernel, piece

CHUNK = 256  # orders
NO_CHOICES = np.zeros(0, np.uint8)

Ints = NDArray[np.int64]
Floats = NDArray[np.floating[Any]]


# Kernels take only the arrays that they need: the code that unpacks an array from Python is slow to compile.


class Extents(NamedTuple):
    """The starts of each view's nodes and sequences; see :class:`pttt_ooc.games.structure.index.PlayerIndex`."""

    node_start: Ints
    sequence_start: Ints


class Downward(NamedTuple):
    """One player's tree, for passes downward; see :class:`pttt_ooc.games.structure.index.PlayerIndex`."""

    node_start: Ints
    sequence_start: Ints
    parent_start: Ints
    parent_map: Ints
    block_start: Ints
    relabelling: NDArray[np.uint16]


class Upward(NamedTuple):
    """One player's tree, for passes upward; see :class:`pttt_ooc.games.structure.index.PlayerIndex`."""

    node_start: Ints
    sequence_start: Ints
    child_start: Ints
    child_map: Ints
    relabelling: NDArray[np.uint16]


class Reach(NamedTuple):
    """A realization plan of one player.

    Attributes
    ----------
    sequences : float (sequences,)
        Product of the player's own probabilities on the way to each node, times that of the following action.
    nodes : float (nodes,)
        The same without the following action.
    view_is_reached : bool (views,)
        Whether any node of a view has non-zero reach.
    """

    sequences: Floats
    nodes: Floats
    view_is_reached: NDArray[np.bool_]


class Slice(NamedTuple):
    """The arrays of an upward pass for one slice, or for the whole player.

    Attributes
    ----------
    sequences, nodes
        float (sequences of the slice,), (nodes of the slice,): gradients, which become values.
    child_values
        float (nodes of the slice below,): the values of its nodes; empty for the last slice.
    first_sequence, first_node, first_child
        Number of the sequence or node at which each array begins.
    """

    sequences: Floats
    nodes: Floats
    child_values: Floats
    first_sequence: int
    first_node: int
    first_child: int


class Regrets(NamedTuple):
    """The regrets and predictions that define the strategy of one slice.

    Attributes
    ----------
    regrets
        float (sequences of the slice,).
    predictions
        The same shape, or empty: then nothing is predicted.
    look_ahead
        The factor of the regrets before predictions are added.
    """

    regrets: Floats
    predictions: Floats
    look_ahead: np.floating[Any]


class Discounts(NamedTuple):
    """The update of sums of regrets from one iteration to the next.

    Positive and negative sums are multiplied by `positive` and `negative`; with `floor`, negative new sums become 0.
    """

    positive: np.floating[Any]
    negative: np.floating[Any]
    floor: bool


@piece
def extent(tree, view):
    """Numbers of orders and actions of a view, and its first sequence; no actions if it does not decide."""
    orders = tree.node_start[view + 1] - tree.node_start[view]
    start = tree.sequence_start[view]
    return orders, (tree.sequence_start[view + 1] - start) // max(orders, 1), start


@piece
def _pull_reach(tree, view, reach):
    """Write the reach of a view's nodes, from the reach of their parent sequences; return whether any is non-zero."""
    start = tree.node_start[view]
    if view == 0:  # the root
        reach.nodes[start] = 1
    reached = view == 0
    for i in range(tree.block_start.shape[1] - 1):
        length = tree.block_start[view, i + 1] - tree.block_start[view, i]
        nodes = reach.nodes[start + tree.block_start[view, i] : start + tree.block_start[view, i + 1]]
        parent = tree.parent_start[view, i]
        relabel = tree.parent_map[view, i]
        if parent < 0:
            nodes[:] = 0
            continue
        parents = reach.sequences[parent:]
        some = False
        if relabel < 0:
            for r in range(length):
                nodes[r] = parents[r]
                some |= parents[r] != 0
        else:
            ranks = tree.relabelling[relabel : relabel + length]
            for r in range(length):
                value = parents[ranks[r]]
                nodes[r] = value
                some |= value != 0
        reached |= some
    reach.view_is_reached[view] = reached
    return reached


@piece
def _add_child_values(tree, view, action, first, count, part, out):
    """Add to `out` the values of the nodes after an action, for the orders `first` to `first` + `count`."""
    for outcome in range(2):
        child = tree.child_start[view, action, outcome]
        if child < 0:
            continue
        relabel = tree.child_map[view, action, outcome]
        if relabel < 0:
            values = part.child_values[child - part.first_child + first :]
            for r in range(count):
                out[r] += values[r]
        else:
            values = part.child_values[child - part.first_child :]
            ranks = tree.relabelling[relabel + first : relabel + first + count]
            for r in range(count):
                out[r] += values[ranks[r]]


@kernel
def add_child_values(first_view, last_view, tree, part):
    """Add to the sequences of some views the values of the nodes after them."""
    for view in range(first_view, last_view):
        orders, actions, start = extent(tree, view)
        start -= part.first_sequence
        for action in range(actions):
            values = part.sequences[start + action * orders : start + (action + 1) * orders]
            _add_child_values(tree, view, action, 0, orders, part, values)


@piece
def _normalise(weights, start, orders, actions, count, total, out):
    """Probabilities proportional to weights, in rows of `CHUNK`; uniform where all weights are zero."""
    total[:count] = 0
    for action in range(actions):
        row = weights[start + action * orders : start + action * orders + count]
        target = out[action * CHUNK : action * CHUNK + count]
        for r in range(count):
            target[r] = row[r]
            total[r] += row[r]
    _divide(out, actions, count, total)


@piece
def _divide(weights, actions, count, total):
    """Divide weights by their totals, in place: with separate source and target, the loop would not be vectorised."""
    uniform = total.dtype.type(1 / actions)
    for action in range(actions):
        row = weights[action * CHUNK : action * CHUNK + count]
        for r in range(count):
            row[r] = row[r] / total[r] if total[r] > 0 else uniform


@piece
def _match_regrets(state, start, orders, actions, count, total, out):
    """Regret matching: probabilities proportional to the positive parts of regrets plus predictions."""
    zero = total.dtype.type(0)
    total[:count] = 0
    for action in range(actions):
        offset = start + action * orders
        row = state.regrets[offset : offset + count]
        target = out[action * CHUNK : action * CHUNK + count]
        if len(state.predictions):
            predicted = state.predictions[offset : offset + count]
            for r in range(count):
                target[r] = max(state.look_ahead * row[r] + predicted[r], zero)
        else:
            for r in range(count):
                target[r] = max(state.look_ahead * row[r], zero)
        for r in range(count):
            total[r] += target[r]
    _divide(out, actions, count, total)


@piece
def _multiply_reach(probabilities, orders, actions, count, nodes, start, sequence_reach):
    """Reach of sequences: the node's reach times the action's probability."""
    for action in range(actions):
        row = probabilities[action * CHUNK : action * CHUNK + count]
        target = sequence_reach[start + action * orders : start + action * orders + count]
        for r in range(count):
            target[r] = nodes[r] * row[r]


@kernel
def reach_of_strategy(first_view, last_view, tree, reach, first_sequence, weights):
    """Reach of some views under a strategy, whose `weights` are scaled to sum to 1 at every infoset.

    `weights` begin at the sequence `first_sequence`, `reach` covers the whole player.
    """
    total = np.empty(CHUNK, reach.nodes.dtype)
    probabilities = np.empty((tree.block_start.shape[1] - 1) * CHUNK, reach.nodes.dtype)  # a row for each square
    for view in range(first_view, last_view):
        reached = _pull_reach(tree, view, reach)
        orders, actions, start = extent(tree, view)
        if not reached:
            reach.sequences[start : start + actions * orders] = 0
            continue
        for first in range(0, orders if actions else 0, CHUNK):
            count = min(CHUNK, orders - first)
            nodes = reach.nodes[tree.node_start[view] + first : tree.node_start[view] + first + count]
            _normalise(weights, start - first_sequence + first, orders, actions, count, total, probabilities)
            _multiply_reach(probabilities, orders, actions, count, nodes, start + first, reach.sequences)


@kernel
def reach_of_regrets(first_view, last_view, tree, reach, first_sequence, state, discount, strategy_sums):
    """Reach of some views under the strategy that regrets define, added to the discounted sums.

    `state` (:class:`Regrets`) and `strategy_sums` begin at the sequence `first_sequence`, `reach` covers the
    whole player.  `strategy_sums` may be empty: then nothing is summed.
    """
    total = np.empty(CHUNK, reach.nodes.dtype)
    probabilities = np.empty((tree.block_start.shape[1] - 1) * CHUNK, reach.nodes.dtype)  # a row for each square
    for view in range(first_view, last_view):
        reached = _pull_reach(tree, view, reach)
        orders, actions, start = extent(tree, view)
        newest = reach.sequences[start : start + actions * orders]
        if reached and actions == 1:
            nodes = reach.nodes[tree.node_start[view] : tree.node_start[view + 1]]
            for r in range(orders):
                newest[r] = nodes[r]
        elif reached:
            for first in range(0, orders if actions else 0, CHUNK):
                count = min(CHUNK, orders - first)
                nodes = reach.nodes[tree.node_start[view] + first : tree.node_start[view] + first + count]
                begin = start - first_sequence + first
                _match_regrets(state, begin, orders, actions, count, total, probabilities)
                _multiply_reach(probabilities, orders, actions, count, nodes, start + first, reach.sequences)
        else:
            newest[:] = 0
        if len(strategy_sums):
            sums = strategy_sums[start - first_sequence :]
            for at in range(len(newest)):
                sums[at] = sums[at] * discount + newest[at]


@kernel
def update_regrets(first_view, last_view, tree, part, state, discounts):
    """Values of some views under the strategy that regrets define, and the update of these regrets.

    `part` (:class:`Slice`) contains the gradient; afterwards its nodes contain expected values, and the predictions of
    `state` (:class:`Regrets`), if any, the instantaneous regrets.
    """
    total = np.empty(CHUNK, part.nodes.dtype)
    expected = np.empty(CHUNK, part.nodes.dtype)
    probabilities = np.empty(tree.child_start.shape[1] * CHUNK, part.nodes.dtype)  # a row for each square
    for view in range(first_view, last_view):
        orders, actions, start = extent(tree, view)
        for first in range(0, orders if actions else 0, CHUNK):
            count = min(CHUNK, orders - first)
            begin = start - part.first_sequence + first
            if actions == 1:  # no regrets: sums and predictions stay zero
                only = part.sequences[begin : begin + count]
                _add_child_values(tree, view, 0, first, count, part, only)
                _add_to_nodes(tree, view, first, count, part, only)
                continue
            _match_regrets(state, begin, orders, actions, count, total, probabilities)
            expected[:count] = 0
            for action in range(actions):
                offset = begin + action * orders
                values = part.sequences[offset : offset + count]
                _add_child_values(tree, view, action, first, count, part, values)
                row = probabilities[action * CHUNK : action * CHUNK + count]
                for r in range(count):
                    expected[r] += row[r] * values[r]
            _add_to_nodes(tree, view, first, count, part, expected)
            _add_regrets(state, discounts, begin, orders, actions, count, part.sequences, expected)


@piece
def _add_regrets(state, discounts, begin, orders, actions, count, values_of_actions, expected):
    """Discount sums of regrets, and add each action's value minus the expected value."""
    zero = expected.dtype.type(0)
    for action in range(actions):
        offset = begin + action * orders
        values = values_of_actions[offset : offset + count]
        row = state.regrets[offset : offset + count]
        if discounts.floor:
            for r in range(count):
                row[r] = max(row[r] * discounts.positive + (values[r] - expected[r]), zero)
        else:
            for r in range(count):
                discount = discounts.positive if row[r] > 0 else discounts.negative
                row[r] = row[r] * discount + (values[r] - expected[r])
        if len(state.predictions):
            newest = state.predictions[offset : offset + count]
            for r in range(count):
                newest[r] = values[r] - expected[r]


@piece
def _add_to_nodes(tree, view, first, count, part, values):
    """Add values to the nodes of a view, for the orders `first` to `first` + `count`."""
    node = tree.node_start[view] - part.first_node + first
    mine = part.nodes[node : node + count]
    for r in range(count):
        mine[r] += values[r]


@kernel
def values_of_strategy(first_view, last_view, tree, part, weights):
    """Add to the nodes of some views the expected value of a strategy, whose weights are scaled to sum to 1.

    `part` (:class:`Slice`) contains the gradient; its sequences do not change.
    """
    total = np.empty(CHUNK, part.nodes.dtype)
    values = np.empty(CHUNK, part.nodes.dtype)
    probabilities = np.empty(tree.child_start.shape[1] * CHUNK, part.nodes.dtype)  # a row for each square
    for view in range(first_view, last_view):
        orders, actions, start = extent(tree, view)
        for first in range(0, orders if actions else 0, CHUNK):
            count = min(CHUNK, orders - first)
            begin = start - part.first_sequence + first
            _normalise(weights, begin, orders, actions, count, total, probabilities)
            node = tree.node_start[view] - part.first_node + first
            mine = part.nodes[node : node + count]
            for action in range(actions):
                offset = begin + action * orders
                for r in range(count):
                    values[r] = part.sequences[offset + r]
                _add_child_values(tree, view, action, first, count, part, values)
                row = probabilities[action * CHUNK : action * CHUNK + count]
                for r in range(count):
                    mine[r] += row[r] * values[r]


@kernel
def best_values(first_view, last_view, tree, part, choices):
    """Add to the nodes of some views the value of their best action; `part` as in :func:`values_of_strategy`.

    `choices`, which begin at the slice's first node, become the numbers of the first best actions; they may be
    empty: then nothing is recorded.
    """
    values = np.empty(CHUNK, part.nodes.dtype)
    best = np.empty(CHUNK, part.nodes.dtype)
    for view in range(first_view, last_view):
        orders, actions, start = extent(tree, view)
        for first in range(0, orders if actions else 0, CHUNK):
            count = min(CHUNK, orders - first)
            best[:count] = -np.inf
            for action in range(actions):
                offset = start - part.first_sequence + first + action * orders
                for r in range(count):
                    values[r] = part.sequences[offset + r]
                _add_child_values(tree, view, action, first, count, part, values)
                if len(choices):
                    node = tree.node_start[view] - part.first_node + first
                    chosen = choices[node : node + count]
                    for r in range(count):
                        if values[r] > best[r]:
                            chosen[r] = action
                for r in range(count):
                    best[r] = max(best[r], values[r])
            _add_to_nodes(tree, view, first, count, part, best)


@kernel
def average_strategy(first_view, last_view, tree, first_sequence, strategy_sums, probabilities):
    """Probabilities of a sum of realization plans, uniform where it is zero; arrays begin at `first_sequence`."""
    total = np.empty(CHUNK, strategy_sums.dtype)
    chunk = np.empty(tree.child_start.shape[1] * CHUNK, strategy_sums.dtype)  # a row for each square
    for view in range(first_view, last_view):
        orders, actions, start = extent(tree, view)
        for first in range(0, orders if actions else 0, CHUNK):
            count = min(CHUNK, orders - first)
            begin = start - first_sequence + first
            _normalise(strategy_sums, begin, orders, actions, count, total, chunk)
            for action in range(actions):
                offset = begin + action * orders
                for r in range(count):
                    probabilities[offset + r] = chunk[action * CHUNK + r]


GOING_DOWN = (reach_of_strategy, reach_of_regrets)
"""The kernels that take the tree downward."""
