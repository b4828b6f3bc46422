"""Blocks: adjacent views of a slice that are worked on together, and the parts of arrays that they need.

If arrays do not fit into memory, they are moved block by block; see :mod:`pttt_ooc.disk.block_mover`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from pttt_ooc.games.structure.index import PlayerIndex
from pttt_ooc.games.structure.timing import Timing
from pttt_ooc.games.structure.views import Ints

_APART = 1 << 17  # parts of an array that lie closer are one part


@dataclass(frozen=True, eq=False)
class Block:
    """Some views of a slice.

    Attributes
    ----------
    index
        The player's index.
    runs
        Runs of these views, each for one thread: first view, and the view after the last one.
    """

    index: PlayerIndex
    runs: list[tuple[int, int]]

    @property
    def views(self) -> range:
        """The views."""
        return range(self.runs[0][0], self.runs[-1][1])

    @cached_property
    def nodes(self) -> slice:
        """Their nodes."""
        return slice(*(int(self.index.node_start[v]) for v in (self.views.start, self.views.stop)))

    @cached_property
    def sequences(self) -> slice:
        """Their sequences."""
        return self.index.sequences_at(self.views)

    def nodes_from(self, first: int) -> slice:
        """Their places in an array of nodes that begins with node `first`."""
        return slice(self.nodes.start - first, self.nodes.stop - first)

    def sequences_from(self, first: int) -> slice:
        """Their places in an array of sequences that begins with sequence `first`."""
        return slice(self.sequences.start - first, self.sequences.stop - first)

    @cached_property
    def chooses(self) -> bool:
        """Whether there is a choice of actions at any of these views: if not, there are no regrets."""
        views = slice(self.views.start, self.views.stop + 1)
        return bool((np.diff(self.index.sequence_start[views]) > np.diff(self.index.node_start[views])).any())

    @cached_property
    def parents(self) -> list[slice]:
        """The sequences that lead to their nodes."""
        views = slice(self.views.start, self.views.stop)
        return _parts(self.index.parent_start[views], np.diff(self.index.block_start[views], axis=1))

    @cached_property
    def children(self) -> list[slice]:
        """The nodes after their sequences."""
        views = slice(self.views.start, self.views.stop)
        orders, starts = np.diff(self.index.node_start)[views], self.index.child_start[views]
        return _parts(starts, np.broadcast_to(orders[:, None, None], starts.shape))


def blocks_of(index: PlayerIndex, runs: list[tuple[int, int]], together: int) -> list[Block]:
    """The blocks of a slice: `together` of its runs each."""
    return [Block(index, runs[k : k + together]) for k in range(0, len(runs), together)]


def sources_of(timing: Timing, source: PlayerIndex, groups: Ints) -> tuple[list[slice], list[slice]]:
    """The source's sequences and nodes from which these groups of the receiver's gradient are computed."""
    wins = timing.group_actions[groups] != 0  # the receiver does, at the source's nodes

    def views_of(some: Ints) -> Ints:
        starts, ends = timing.source_start[some], timing.source_start[some + 1]
        found = [timing.source_view[a:b] for a, b in zip(starts, ends, strict=True)]
        return np.unique(np.concatenate([timing.source_view[:0], *found]))

    nodes, sequences = views_of(groups[wins]), views_of(groups[~wins])
    return places_of(sequences, source.sequence_start), places_of(nodes, source.node_start)


def places_of(views: Ints, starts: Ints) -> list[slice]:
    """The parts of an array in which the entries of these views are; ``starts[v]`` is the first one of view `v`."""
    return _parts(starts[views], np.diff(starts)[views])


def _parts(starts: Ints, lengths: Ints) -> list[slice]:
    """Few parts of an array, ascending, that contain all these; a start below 0 stands for none."""
    wanted = (starts >= 0) & (lengths > 0)
    begins = np.sort(starts[wanted])
    if not len(begins):
        return []
    ends = np.maximum.accumulate((starts + lengths)[wanted][np.argsort(starts[wanted], kind="stable")])
    gaps = np.flatnonzero(begins[1:] - ends[:-1] > _APART)
    first = np.concatenate([[0], gaps + 1])
    last = np.concatenate([gaps, [len(begins) - 1]])
    return [slice(int(begins[a]), int(ends[b])) for a, b in zip(first, last, strict=True)]
