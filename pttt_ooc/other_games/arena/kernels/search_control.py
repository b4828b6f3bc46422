"""The array with the limits and the results of a search."""

from __future__ import annotations

from pttt_ooc.jit import piece
from pttt_ooc.other_games.arena.kernels.clock import nanoseconds

NODES, NODE_LIMIT, STOPPED, CLOCK, DEADLINE, CUT, REACHED, VALUE = range(8)
"""Words of `control`: nodes visited; their limit; whether a limit has ended the search; the clock and the time in
nanoseconds at which to stop (0: never); whether the depth cut a line short; the depth of the last complete search, and
its value."""

_CHECK_EVERY = 128  # nodes between two looks at the clock


@piece
def stops(control):
    """Count a node, and say whether the search is to end."""
    if control[NODES] >= control[NODE_LIMIT]:
        control[STOPPED] = 1
    elif control[DEADLINE] > 0 and control[NODES] % _CHECK_EVERY == 0:
        control[STOPPED] |= nanoseconds(control[CLOCK]) > control[DEADLINE]
    if control[STOPPED] == 0:
        control[NODES] += 1
    return control[STOPPED] != 0
