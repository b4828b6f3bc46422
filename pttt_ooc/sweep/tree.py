"""Passes over one player's tree of nodes: reach and strategies downward, values and regrets upward.

Each view *pulls* from its parents or children, so views can be worked on by different threads, and
each entry is written once.  A pass works on a view `CHUNK` orders at a time, action by action: the
numbers that it needs stay in the processor's first-level cache, and its inner loops run over memory
that is contiguous.

Arguments that return in all kernels, besides those of :class:`pttt_ooc.structure.index.PlayerIndex`:

========================= =================================================================================
`first_view`, `last_view` the views to work on
`node_offset`             the first node of the slice, where `node_values` and other arrays of nodes begin
`sequence_offset`         the first sequence of the slice, where arrays of sequences begin
`child_offset`            the first node of the slice below, where arrays of children's values begin
========================= =================================================================================

Reaches alone are arrays of the whole player.
"""

from __future__ import annotations

import numpy as np

from pttt_ooc.jit import kernel

CHUNK = 256  # orders


@kernel
def _pull_reach(
    view, node_start, block_start, parent_start, parent_map, relabelling, sequence_reach, node_reach, view_is_reached
):
    """Reach of the nodes of a view from that of the sequences that lead to them; whether any is not zero."""
    start = node_start[view]
    if view == 0:  # the root
        node_reach[start] = 1
    reached = view == 0
    for i in range(block_start.shape[1] - 1):
        length = block_start[view, i + 1] - block_start[view, i]
        nodes = node_reach[start + block_start[view, i] : start + block_start[view, i + 1]]
        parent = parent_start[view, i]
        relabel = parent_map[view, i]
        if parent < 0:
            nodes[:] = 0
            continue
        parents = sequence_reach[parent:]
        some = False
        if relabel < 0:
            for r in range(length):
                nodes[r] = parents[r]
                some |= parents[r] != 0
        else:
            ranks = relabelling[relabel : relabel + length]
            for r in range(length):
                value = parents[ranks[r]]
                nodes[r] = value
                some |= value != 0
        reached |= some
    view_is_reached[view] = reached
    return reached


@kernel
def _add_child_values(view, action, first, count, child_start, child_map, relabelling, child_offset, child_values, out):
    """Add to `out` the values of what an action leads to, for the orders `first` to `first` + `count`."""
    for outcome in range(2):
        child = child_start[view, action, outcome]
        if child < 0:
            continue
        relabel = child_map[view, action, outcome]
        if relabel < 0:
            values = child_values[child - child_offset + first :]
            for r in range(count):
                out[r] += values[r]
        else:
            values = child_values[child - child_offset :]
            ranks = relabelling[relabel + first : relabel + first + count]
            for r in range(count):
                out[r] += values[ranks[r]]


@kernel
def add_child_values(
    first_view,
    last_view,
    node_start,
    sequence_start,
    child_start,
    child_map,
    relabelling,
    node_offset,
    sequence_offset,
    child_offset,
    child_values,
    sequence_values,
):
    """Add to the sequences of some views the values of what they lead to."""
    for view in range(first_view, last_view):
        orders = node_start[view + 1] - node_start[view]
        start = sequence_start[view] - sequence_offset
        size = sequence_start[view + 1] - sequence_start[view]
        for action in range(size // max(orders, 1)):
            values = sequence_values[start + action * orders : start + (action + 1) * orders]
            tables = (child_start, child_map, relabelling, child_offset, child_values)
            _add_child_values(view, action, 0, orders, *tables, values)


@kernel
def _normalise(weights, start, orders, actions, count, total, out):
    """Probabilities in proportion to weights, `CHUNK` a row; where all are zero, the same for all actions."""
    total[:count] = 0
    for action in range(actions):
        row = weights[start + action * orders : start + action * orders + count]
        for r in range(count):
            total[r] += row[r]
    _divide(weights, start, orders, actions, count, total, out)


@kernel
def _divide(weights, start, orders, actions, count, total, out):
    uniform = total.dtype.type(1 / actions)
    for action in range(actions):
        row = weights[start + action * orders : start + action * orders + count]
        target = out[action * CHUNK : action * CHUNK + count]
        for r in range(count):
            target[r] = row[r] / total[r] if total[r] > 0 else uniform


@kernel
def _match_regrets(regrets, predictions, look_ahead, start, orders, actions, count, total, out):
    """Regret matching: probabilities in proportion to what is positive; predictions may be empty."""
    zero = total.dtype.type(0)
    total[:count] = 0
    for action in range(actions):
        here = start + action * orders
        row = regrets[here : here + count]
        target = out[action * CHUNK : action * CHUNK + count]
        if len(predictions):
            predicted = predictions[here : here + count]
            for r in range(count):
                target[r] = max(look_ahead * row[r] + predicted[r], zero)
        else:
            for r in range(count):
                target[r] = max(look_ahead * row[r], zero)
        for r in range(count):
            total[r] += target[r]
    _divide(out, 0, CHUNK, actions, count, total, out)


@kernel
def _multiply_reach(probabilities, orders, actions, count, nodes, start, sequence_reach):
    """Reach of sequences: reach of the node times the action's probability."""
    for action in range(actions):
        row = probabilities[action * CHUNK : action * CHUNK + count]
        target = sequence_reach[start + action * orders : start + action * orders + count]
        for r in range(count):
            target[r] = nodes[r] * row[r]


@kernel
def reach_of_strategy(
    first_view,
    last_view,
    node_start,
    sequence_start,
    block_start,
    parent_start,
    parent_map,
    relabelling,
    sequence_offset,
    weights,
    sequence_reach,
    node_reach,
    view_is_reached,
):
    """Reach of some views under a strategy, whose `weights` are scaled to sum to 1 at every infoset."""
    total = np.empty(CHUNK, node_reach.dtype)
    probabilities = np.empty((block_start.shape[1] - 1) * CHUNK, node_reach.dtype)  # a row for each square
    for view in range(first_view, last_view):
        tables = (block_start, parent_start, parent_map, relabelling)
        reached = _pull_reach(view, node_start, *tables, sequence_reach, node_reach, view_is_reached)
        orders = node_start[view + 1] - node_start[view]
        start = sequence_start[view]
        size = sequence_start[view + 1] - start
        if not reached:
            sequence_reach[start : start + size] = 0
            continue
        for first in range(0, orders if size else 0, CHUNK):
            count = min(CHUNK, orders - first)
            nodes = node_reach[node_start[view] + first : node_start[view] + first + count]
            begin = start - sequence_offset + first
            _normalise(weights, begin, orders, size // orders, count, total, probabilities)
            _multiply_reach(probabilities, orders, size // orders, count, nodes, start + first, sequence_reach)


@kernel
def reach_of_regrets(
    first_view,
    last_view,
    node_start,
    sequence_start,
    block_start,
    parent_start,
    parent_map,
    relabelling,
    sequence_offset,
    look_ahead,
    regrets,
    predictions,
    sequence_reach,
    node_reach,
    view_is_reached,
    discount,
    strategy_sums,
):
    """Reach of some views under the strategy that follows from regrets, added to the discounted sums.

    `strategy_sums` may be empty: then nothing is added up.
    """
    total = np.empty(CHUNK, node_reach.dtype)
    probabilities = np.empty((block_start.shape[1] - 1) * CHUNK, node_reach.dtype)  # a row for each square
    for view in range(first_view, last_view):
        tables = (block_start, parent_start, parent_map, relabelling)
        reached = _pull_reach(view, node_start, *tables, sequence_reach, node_reach, view_is_reached)
        orders = node_start[view + 1] - node_start[view]
        start = sequence_start[view]
        size = sequence_start[view + 1] - start
        if reached:
            for first in range(0, orders if size else 0, CHUNK):
                count = min(CHUNK, orders - first)
                begin = start - sequence_offset + first
                nodes = node_reach[node_start[view] + first : node_start[view] + first + count]
                actions = size // orders
                _match_regrets(regrets, predictions, look_ahead, begin, orders, actions, count, total, probabilities)
                _multiply_reach(probabilities, orders, actions, count, nodes, start + first, sequence_reach)
        else:
            sequence_reach[start : start + size] = 0
        if len(strategy_sums):
            sums = strategy_sums[start - sequence_offset : start - sequence_offset + size]
            newest = sequence_reach[start : start + size]
            for at in range(size):
                sums[at] = sums[at] * discount + newest[at]


@kernel
def update_regrets(
    first_view,
    last_view,
    node_start,
    sequence_start,
    child_start,
    child_map,
    relabelling,
    node_offset,
    sequence_offset,
    child_offset,
    child_values,
    node_values,
    sequence_values,
    look_ahead,
    regrets,
    predictions,
    discount_positive,
    discount_negative,
    floor,
):
    """Values of some views under the strategy that follows from regrets, which are then updated.

    `node_values` and `sequence_values` come with the gradient; the former then hold expected values.
    `predictions`, if not empty, then hold the instantaneous regrets.
    """
    total = np.empty(CHUNK, node_values.dtype)
    expected = np.empty(CHUNK, node_values.dtype)
    probabilities = np.empty(child_start.shape[1] * CHUNK, node_values.dtype)  # a row for each square
    zero = node_values.dtype.type(0)
    for view in range(first_view, last_view):
        orders = node_start[view + 1] - node_start[view]
        start = sequence_start[view] - sequence_offset
        size = sequence_start[view + 1] - sequence_start[view]
        if size == 0:
            continue
        actions = size // orders
        for first in range(0, orders, CHUNK):
            count = min(CHUNK, orders - first)
            begin = start + first
            _match_regrets(regrets, predictions, look_ahead, begin, orders, actions, count, total, probabilities)
            expected[:count] = 0
            for action in range(actions):
                here = begin + action * orders
                values = sequence_values[here : here + count]
                tables = (child_start, child_map, relabelling, child_offset, child_values)
                _add_child_values(view, action, first, count, *tables, values)
                row = probabilities[action * CHUNK : action * CHUNK + count]
                for r in range(count):
                    expected[r] += row[r] * values[r]
            node = node_start[view] - node_offset + first
            mine = node_values[node : node + count]
            for r in range(count):
                mine[r] += expected[r]
            for action in range(actions):
                here = begin + action * orders
                values = sequence_values[here : here + count]
                row = regrets[here : here + count]
                if floor:
                    for r in range(count):
                        row[r] = max(row[r] * discount_positive + (values[r] - expected[r]), zero)
                else:
                    for r in range(count):
                        discount = discount_positive if row[r] > 0 else discount_negative
                        row[r] = row[r] * discount + (values[r] - expected[r])
                if len(predictions):
                    newest = predictions[here : here + count]
                    for r in range(count):
                        newest[r] = values[r] - expected[r]


@kernel
def values_of_strategy(
    first_view,
    last_view,
    node_start,
    sequence_start,
    child_start,
    child_map,
    relabelling,
    node_offset,
    sequence_offset,
    child_offset,
    child_values,
    node_values,
    sequence_values,
    weights,
):
    """Add to the nodes of some views the expected value of a strategy, whose weights are scaled to sum to 1.

    `node_values` come with the gradient of the nodes, `sequence_values` with that of the sequences.
    """
    total = np.empty(CHUNK, node_values.dtype)
    values = np.empty(CHUNK, node_values.dtype)
    probabilities = np.empty(child_start.shape[1] * CHUNK, node_values.dtype)  # a row for each square
    for view in range(first_view, last_view):
        orders = node_start[view + 1] - node_start[view]
        start = sequence_start[view] - sequence_offset
        size = sequence_start[view + 1] - sequence_start[view]
        if size == 0:
            continue
        actions = size // orders
        for first in range(0, orders, CHUNK):
            count = min(CHUNK, orders - first)
            _normalise(weights, start + first, orders, actions, count, total, probabilities)
            node = node_start[view] - node_offset + first
            mine = node_values[node : node + count]
            for action in range(actions):
                here = start + first + action * orders
                for r in range(count):
                    values[r] = sequence_values[here + r]
                tables = (child_start, child_map, relabelling, child_offset, child_values)
                _add_child_values(view, action, first, count, *tables, values)
                row = probabilities[action * CHUNK : action * CHUNK + count]
                for r in range(count):
                    mine[r] += row[r] * values[r]


@kernel
def best_values(
    first_view,
    last_view,
    node_start,
    sequence_start,
    child_start,
    child_map,
    relabelling,
    node_offset,
    sequence_offset,
    child_offset,
    child_values,
    node_values,
    sequence_values,
):
    """Add to the nodes of some views the value of their best action; arguments as above."""
    values = np.empty(CHUNK, node_values.dtype)
    best = np.empty(CHUNK, node_values.dtype)
    for view in range(first_view, last_view):
        orders = node_start[view + 1] - node_start[view]
        start = sequence_start[view] - sequence_offset
        size = sequence_start[view + 1] - sequence_start[view]
        if size == 0:
            continue
        for first in range(0, orders, CHUNK):
            count = min(CHUNK, orders - first)
            best[:count] = -np.inf
            for action in range(size // orders):
                here = start + first + action * orders
                for r in range(count):
                    values[r] = sequence_values[here + r]
                tables = (child_start, child_map, relabelling, child_offset, child_values)
                _add_child_values(view, action, first, count, *tables, values)
                for r in range(count):
                    best[r] = max(best[r], values[r])
            node = node_start[view] - node_offset + first
            mine = node_values[node : node + count]
            for r in range(count):
                mine[r] += best[r]


@kernel
def average_strategy(first_view, last_view, node_start, sequence_start, sequence_offset, strategy_sums, probabilities):
    """Behavioural probabilities of a sum of realization plans; uniform where nobody ever went."""
    total = np.empty(CHUNK, strategy_sums.dtype)
    actions = 0  # at most
    for view in range(first_view, last_view):
        size = sequence_start[view + 1] - sequence_start[view]
        actions = max(actions, size // max(node_start[view + 1] - node_start[view], 1))
    chunk = np.empty(actions * CHUNK, strategy_sums.dtype)
    for view in range(first_view, last_view):
        orders = node_start[view + 1] - node_start[view]
        start = sequence_start[view] - sequence_offset
        size = sequence_start[view + 1] - sequence_start[view]
        if size == 0:
            continue
        for first in range(0, orders, CHUNK):
            count = min(CHUNK, orders - first)
            _normalise(strategy_sums, start + first, orders, size // orders, count, total, chunk)
            for action in range(size // orders):
                here = start + first + action * orders
                for r in range(count):
                    probabilities[here + r] = chunk[action * CHUNK + r]
