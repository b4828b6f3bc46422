"""The kernels: rows to sequences and back, information-state tensors, and regrets.

Kernels for regrets are called for the views of a slice, as in :mod:`pttt_ooc.cfr.sweep.tree`; `t` is the player's tree.
"""

import numpy as np

from pttt_ooc.cfr.sweep.tree import extent
from pttt_ooc.games.structure.orders import unrank
from pttt_ooc.jit import kernel, piece
from pttt_ooc.pipeline.files.infosets import view_of

NOT_FINITE, OUTSIDE, ILLEGAL, BAD_SUM = 1, 2, 3, 4
"""Faults of a row."""

SMALL = 1e-20
"""A sum of regrets below this counts as zero."""


@piece
def _view_and_taken(tables, node):
    """The view of an infoset, and a mask of the squares that may not be attempted there."""
    view = view_of(tables, node)
    return view, tables.setup_mask | tables.placed[view] | tables.failed[view]


@kernel
def read_rows(tables, nodes, block, first_cell, tolerance, out):
    """Check rows of a strategy's array, and write them to `out`: (fault or 0, row, cell)."""
    for i in range(len(nodes)):
        view, taken = _view_and_taken(tables, nodes[i])
        orders = tables.node_start[view + 1] - tables.node_start[view]
        at = tables.sequence_start[view] + nodes[i] - tables.node_start[view]
        total = 0.0
        for cell in range(block.shape[1]):
            probability = block[i, cell]
            if not np.isfinite(probability):
                return NOT_FINITE, i, cell
            if probability < 0 or probability > 1:
                return OUTSIDE, i, cell
            square = cell - first_cell
            if 0 <= square < tables.squares and not taken >> square & 1:
                total += probability
                out[at] = probability
                at += orders
            elif probability != 0:
                return ILLEGAL, i, cell
        if abs(total - 1) > tolerance:
            return BAD_SUM, i, 0
    return 0, 0, 0


@kernel
def write_rows(tables, nodes, values, first_cell, out):
    """Write the values of sequences to rows of an array, 0 where there is no sequence."""
    for i in range(len(nodes)):
        view, taken = _view_and_taken(tables, nodes[i])
        orders = tables.node_start[view + 1] - tables.node_start[view]
        at = tables.sequence_start[view] + nodes[i] - tables.node_start[view]
        out[i, :] = 0
        for square in range(tables.squares):
            if not taken >> square & 1:
                out[i, first_cell + square] = values[at]
                at += orders


@kernel
def write_choices(tables, nodes, choices, first_cell, out):
    """Write 1 in the column of each infoset's chosen action, 0 in the others."""
    for i in range(len(nodes)):
        _, taken = _view_and_taken(tables, nodes[i])
        out[i, :] = 0
        action = 0
        for square in range(tables.squares):
            if not taken >> square & 1:
                if action == choices[nodes[i]]:
                    out[i, first_cell + square] = 1
                action += 1


@kernel
def fill_infostates(tables, nodes, player, known, first_cell, cells, states, out):
    """Write the tensors of infosets; `states`: where a cell's state is found, (step per cell, of empty, P1's, P0's)."""
    squares = np.empty(tables.squares, np.int64)
    sequence = out.shape[1] - cells * cells
    step, empty, white, black = states
    for i in range(len(nodes)):
        view = view_of(tables, nodes[i])
        placed, rank = tables.placed[view], nodes[i] - tables.node_start[view]
        n = unrank(rank, placed, tables.failed[view], tables.hidden, tables.orders, tables.ending_failed, squares)
        row = out[i]
        row[:] = False
        for cell in range(cells):
            row[cell * step + empty] = True
        for k in range(len(known) + n):
            own = k < len(known) or placed >> squares[k - len(known)] & 1
            cell = known[k] if k < len(known) else squares[k - len(known)] + first_cell
            row[cell * step + empty] = False
            row[cell * step + (white if (player == 1) == bool(own) else black)] = True
            row[sequence + cells * k + cell] = True


@piece
def _value(part, view, order, t, action):
    """Value of an action at an infoset: the gradient, and the values of the nodes after it."""
    orders = t.node_start[view + 1] - t.node_start[view]
    value = part.sequences[t.sequence_start[view] + action * orders + order]
    for outcome in range(2):
        child = t.child_start[view, action, outcome]
        if child >= 0:
            value += part.nodes[child + order]
    return value


@piece
def _expected_value(part, view, order, t, strategy):
    """Value of an infoset if the player follows the strategy."""
    orders, actions, start = extent(t, view)
    expected = 0.0
    for action in range(actions):
        expected += strategy[start + action * orders + order] * _value(part, view, order, t, action)
    return expected


@kernel
def add_regrets(first_view, last_view, t, part, strategy, regrets):
    """Add each action's regret to `regrets`, and what the strategy gets to the values of nodes."""
    for view in range(first_view, last_view):
        orders, actions, start = extent(t, view)
        for order in range(orders if actions else 0):
            expected = _expected_value(part, view, order, t, strategy)
            for action in range(actions):
                regrets[start + action * orders + order] += _value(part, view, order, t, action) - expected
            part.nodes[t.node_start[view] + order] += expected


@kernel
def predict(first_view, last_view, t, part, strategy, regrets):
    """Replace the strategy by the one that matches regrets plus predicted ones, and add what it gets to nodes."""
    for view in range(first_view, last_view):
        orders, actions, start = extent(t, view)
        for order in range(orders if actions else 0):
            expected = _expected_value(part, view, order, t, strategy)
            total = 0.0
            for action in range(actions):
                at = start + action * orders + order
                strategy[at] = max(regrets[at] + _value(part, view, order, t, action) - expected, 0.0)
                total += strategy[at]
            for action in range(actions):
                at = start + action * orders + order
                strategy[at] = strategy[at] / total if total >= SMALL else 1 / actions
            part.nodes[t.node_start[view] + order] += _expected_value(part, view, order, t, strategy)


@kernel
def match_regrets(first_view, last_view, t, part, strategy, regrets):
    """Replace the strategy by the one that matches regrets."""
    for view in range(first_view, last_view):
        orders, actions, start = extent(t, view)
        for order in range(orders if actions else 0):
            total = 0.0
            for action in range(actions):
                total += max(regrets[start + action * orders + order], 0.0)
            for action in range(actions):
                at = start + action * orders + order
                strategy[at] = max(regrets[at], 0.0) / total if total >= SMALL else 1 / actions


@kernel
def scale(regrets, positive, negative):
    """Multiply positive regrets by one number, and the others by another."""
    for at in range(len(regrets)):
        regrets[at] *= positive if regrets[at] > 0 else negative
