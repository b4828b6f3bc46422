"""Passes over one player's tree of nodes: reach downward, values upward.

Both work on whole blocks of orders (see :mod:`pttt_ooc.orders`).  Each view *pulls* from its
parents or children, so views can be worked on by different threads, and each entry is written once.
"""

from __future__ import annotations

import numba


@numba.njit(cache=True, nogil=True)
def pull_reach(
    first_view,
    last_view,
    node_start,
    block_start,
    parent_start,
    parent_map,
    relabelling,
    sequence_reach,
    node_reach,
    view_is_reached,
):
    """Reach of the nodes of some views from the reach of the sequences that lead to them."""
    for view in range(first_view, last_view):
        start = node_start[view]
        reached = False
        for i in range(block_start.shape[1] - 1):
            first = block_start[view, i]
            last = block_start[view, i + 1]
            parent = parent_start[view, i]
            relabel = parent_map[view, i]
            for r in range(last - first):
                if parent < 0:
                    value = node_reach[start] * 0
                elif relabel < 0:
                    value = sequence_reach[parent + r]
                else:
                    value = sequence_reach[parent + relabelling[relabel + r]]
                node_reach[start + first + r] = value
                reached |= value != 0
        view_is_reached[view] = reached


@numba.njit(cache=True, nogil=True)
def add_child_values(
    first_view,
    last_view,
    node_start,
    sequence_start,
    child_start,
    child_map,
    relabelling,
    sequence_offset,
    child_offset,
    child_values,
    sequence_values,
):
    """Add to the sequences of some views the values of the nodes that they lead to.

    `sequence_values` begins at sequence `sequence_offset`, `child_values` at node `child_offset`.
    """
    for view in range(first_view, last_view):
        orders = node_start[view + 1] - node_start[view]
        if orders == 0:
            continue
        actions = (sequence_start[view + 1] - sequence_start[view]) // orders
        for j in range(actions):
            start = sequence_start[view] - sequence_offset + j * orders
            for outcome in range(2):
                child = child_start[view, j, outcome]
                if child < 0:
                    continue
                child -= child_offset
                relabel = child_map[view, j, outcome]
                if relabel < 0:
                    for r in range(orders):
                        sequence_values[start + r] += child_values[child + r]
                else:
                    for r in range(orders):
                        sequence_values[start + r] += child_values[child + relabelling[relabel + r]]


@numba.njit(cache=True, nogil=True)
def best_values(
    first_view, last_view, node_start, sequence_start, node_offset, sequence_offset, sequence_values, node_values
):
    """Add to the nodes of some views the value of their best action."""
    for view in range(first_view, last_view):
        orders = node_start[view + 1] - node_start[view]
        size = sequence_start[view + 1] - sequence_start[view]
        if size == 0:
            continue
        node = node_start[view] - node_offset
        start = sequence_start[view] - sequence_offset
        for r in range(orders):
            best = sequence_values[start + r]
            for at in range(start + r + orders, start + size, orders):
                best = max(best, sequence_values[at])
            node_values[node + r] += best


@numba.njit(cache=True, nogil=True)
def expected_values(
    first_view,
    last_view,
    node_start,
    sequence_start,
    node_offset,
    sequence_offset,
    probabilities,
    sequence_values,
    node_values,
):
    """Add to the nodes of some views the expected value of their actions.

    `probabilities` and `sequence_values` begin at sequence `sequence_offset`.
    """
    for view in range(first_view, last_view):
        orders = node_start[view + 1] - node_start[view]
        if orders == 0:
            continue
        node = node_start[view] - node_offset
        first = sequence_start[view] - sequence_offset
        last = sequence_start[view + 1] - sequence_offset
        for start in range(first, last, orders):
            for r in range(orders):
                node_values[node + r] += probabilities[start + r] * sequence_values[start + r]


@numba.njit(cache=True, nogil=True)
def multiply_reach(
    first_view, last_view, node_start, sequence_start, sequence_offset, node_reach, probabilities, sequence_reach
):
    """Reach of the sequences of some views: reach of the node times the action's probability.

    `probabilities` begins at sequence `sequence_offset`; the reaches are of the whole player.
    """
    for view in range(first_view, last_view):
        node = node_start[view]
        orders = node_start[view + 1] - node
        if orders == 0:
            continue
        for start in range(sequence_start[view], sequence_start[view + 1], orders):
            for r in range(orders):
                sequence_reach[start + r] = node_reach[node + r] * probabilities[start - sequence_offset + r]
