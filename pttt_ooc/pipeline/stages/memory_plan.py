"""Plans a run of the workflow: memory and disk of each stage, from counts, before anything is made.

Only the game's pairs of views are searched, which takes seconds for the largest games; if the game is not listed, not
even these.  A stage's least memory and its mapped arrays follow from the descriptions that the stage itself uses.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from pttt_ooc.cfr.solving.arrays import state_arrays
from pttt_ooc.cfr.sweep.engine import needs_of_cells
from pttt_ooc.config import Config
from pttt_ooc.disk.memory import MemoryNeeds, leaves, process_needs, thread_needs
from pttt_ooc.disk.numbers import size
from pttt_ooc.disk.resources import MB
from pttt_ooc.errors import MemoryBudgetError
from pttt_ooc.exact.equilibria.choice import needed_bytes
from pttt_ooc.games.rules.catalogue import named_game
from pttt_ooc.games.structure.building import TimingSizes, timing_sizes
from pttt_ooc.games.structure.counts import counts_of
from pttt_ooc.games.structure.index import Layout, layout_of
from pttt_ooc.games.structure.symmetry import KEPT_BYTES
from pttt_ooc.games.structure.views import find_pairs
from pttt_ooc.pipeline.files.export import MOST_THREADS
from pttt_ooc.pipeline.files.infosets import text_width
from pttt_ooc.pipeline.show.tables import html_table
from pttt_ooc.pipeline.stages import enumerate, evaluate, export, finish, index, report, solve

_OWN = {"enumerate": 60, "index": 92, "solve": 98, "finish": 107, "evaluate": 92, "export": 91, "report": 120}
"""MB of a stage's anonymous memory besides its data: Python, libraries, compiled code; measured."""

# Bytes of anonymous memory, measured: for each pair of views, and for each row of an export up to a maximum.
_SEARCH_PER_PAIR, _INDEX_PER_PAIR = 155, {"full": 170, "none": 330}
_PER_ROW, _ROWS_AT_WORK = 5, 34 * MB
_NO_WORK = 62 * MB  # bytes of a stage without work
# Restricted games are not known yet: a multiple of the strategies' bytes, up to a maximum, or that of ten squares.
_RESTRICTED, _MOST_RESTRICTED = 4, 45 * MB
_CHOICE = 1.5  # of the arrays of a choice among equilibria, with its restricted games, measured
_UNLISTED = {"finish": 75 * MB, "evaluate": 30 * MB}
_SEARCHED = 2  # bytes of views.zarr for each pair of views, compressed, measured
_ZIPPED, _BUNDLED = 0.08, 0.07  # compressed size as a part of the tensor's bytes, and of the bundle's
_SOLUTION = 0.03  # the same for the solution's probabilities
_ARRAY = 700  # bytes of an array's description
_PROCESS_ONLY: MemoryNeeds[Any] = MemoryNeeds(process_needs(), (), thread_needs())
_MOST_THREADS = {"enumerate": 1, "index": 1, "export": MOST_THREADS, "report": 1}  # of the others: all
_PLANS = 80_000  # bytes of both plans
_REPORT = 160_000  # bytes of the report and its pictures

HEADINGS = ("stage", "threads", "smallest budget", "memory it uses", "disk it keeps", "disk while it runs")


@dataclass(frozen=True)
class StageNeeds:
    """The needs of one stage.

    Attributes
    ----------
    smallest_mb
        The smallest sufficient memory budget.
    memory_mb
        Approximate anonymous memory that it will use.
    disk_mb
        Approximate disk space of its products and of the state that it resumes from.
    while_running_mb
        Additional disk space while it runs.
    mapped_mb
        The part of `while_running_mb` for arrays that are mapped from files because they exceed the budget.
    threads
        Number of threads that it will use.
    needs
        The parts of the smallest budget by purpose, in bytes.
    """

    smallest_mb: int
    memory_mb: int
    disk_mb: float
    while_running_mb: float
    mapped_mb: float
    threads: int
    needs: Mapping[str, int] = field(repr=False)


@dataclass(frozen=True)
class MemoryPlan:
    """The needs of a run of the workflow.

    Attributes
    ----------
    game, symmetry, budget_mb
        From the configuration.
    counts
        See :func:`pttt_ooc.games.structure.counts.counts_of`; empty if the game is not listed.
    sequences
        Number of stored sequences of both players.
    stages
        The needs of each stage, by name.
    exact_from_mb
        The budget of memory that an exact equilibrium would take, if this one is too small for it; else 0.
    """

    game: str
    symmetry: str
    budget_mb: float
    counts: Mapping[str, Any]
    sequences: int
    stages: Mapping[str, StageNeeds]
    exact_from_mb: int = 0

    @property
    def disk_mb(self) -> float:
        """Disk space of all results."""
        return sum(each.disk_mb for each in self.stages.values())

    @property
    def most_disk_mb(self) -> float:
        """The approximate largest disk space at any time."""
        total, most = 0.0, 0.0
        for each in self.stages.values():
            total += each.disk_mb
            most = max(most, total + each.while_running_mb)
        return most

    def rows(self) -> list[tuple[str, ...]]:
        """The plan as a table: a row of texts for each stage, with the columns :data:`HEADINGS`."""
        return [
            (
                *(name, str(each.threads), f"{each.smallest_mb} MB", f"{each.memory_mb} MB"),
                *(size(round(mb * MB)) for mb in (each.disk_mb, each.disk_mb + each.while_running_mb)),
            )
            for name, each in self.stages.items()
        ]

    def _repr_html_(self) -> str:
        title = f"Plan of {self.game}, symmetry {self.symmetry}, budget {self.budget_mb:g} MB"
        return html_table(title, self.rows(), HEADINGS)


def plan_memory(config: Config, threads: int) -> MemoryPlan:
    """Plan a run on at most `threads` threads; for errors see :func:`pttt_ooc.games.rules.catalogue.named_game`."""
    if not config.is_listed:
        return _plan_unlisted(config, threads)
    game, symmetry = named_game(config.game), config.symmetry
    pairs = find_pairs(game)
    counts = counts_of(game, pairs)
    folded, whole = layout_of(game, symmetry, pairs), layout_of(game, "none", pairs)
    sizes = [timing_sizes(folded, pairs, player) for player in (0, 1)]
    cells = max(each.cells for each in sizes)
    count = len(pairs.mover)
    del pairs
    thread = needs_of_cells(cells, cells)
    exports = any(config.export.files(config.game))
    exact_from = finish.needs(folded).smallest_mb if config.finish.method == "exact" else 0
    finishes, chooses = 0 < exact_from <= config.memory_mb, _chooses(config, folded)
    dtype = np.dtype(np.float64 if finishes else np.float32)
    needs: dict[str, MemoryNeeds[Any]] = {
        "enumerate": enumerate.needs(game),
        "index": index.needs(symmetry, count),
        "solve": solve.needs(folded, config.solve, thread),
        "finish": finish.needs(folded, chooses) if finishes else _PROCESS_ONLY,
        "evaluate": evaluate.needs(folded, thread, dtype),
        "export": export.needs(folded, whole, dtype) if exports else _PROCESS_ONLY,
        "report": report.needs(folded, dtype),
    }
    sequences, rows = sum(p.sequences for p in folded.players), sum(counts["total_infosets"])
    state = sum(array.nbytes for array in leaves(state_arrays(folded, config.solve)).values())
    data = {
        "enumerate": _SEARCH_PER_PAIR * count,
        "index": _INDEX_PER_PAIR[symmetry] * count,
        "solve": min(2 * KEPT_BYTES, sequences),  # tables of mirror images
        "finish": min(_MOST_RESTRICTED, _RESTRICTED * 8 * sequences) + chooses * round(_CHOICE * needed_bytes(folded)),
        "export": min(_ROWS_AT_WORK, _PER_ROW * rows),
    }
    return MemoryPlan(
        *(config.game, symmetry, config.memory_mb, counts, sequences),
        _stages(config, threads, needs, data, _disk(config, folded, whole, count, sizes, dtype), state),
        0 if finishes else exact_from,
    )


def _chooses(config: Config, layout: Layout) -> bool:
    """Whether the stage "finish" makes a choice among equilibria, which it does if that fits."""
    wanted = config.finish.method == "exact" and config.finish.against != "none" and config.symmetry == "full"
    return wanted and finish.needs(layout, choosing=True).smallest_mb <= config.memory_mb


def _plan_unlisted(config: Config, threads: int) -> MemoryPlan:
    """The plan of a game whose infosets are not listed."""
    needs = {"finish": finish.needs(None), "evaluate": finish.needs(None), "report": _PROCESS_ONLY}
    disk = {"finish": (_PLANS, 0.0), "evaluate": (2_000, 0.0), "report": (_REPORT, 0.0)}
    stages = _stages(config, threads, needs, _UNLISTED, disk)
    return MemoryPlan(config.game, config.symmetry, config.memory_mb, {}, 0, stages)


def _stages(
    config: Config,
    threads: int,
    needs: Mapping[str, MemoryNeeds[Any]],
    data: Mapping[str, int],
    disk: Mapping[str, tuple[float, float]],
    state: int = 0,
) -> dict[str, StageNeeds]:
    """The plans of all stages, from their needs, the bytes of their data, and those on disk, kept and additional.

    `state`: bytes of the solver's state, which is in memory if the budget holds it besides the arrays.  Where neither
    the budget nor this machine holds all, pieces of what is mapped are in memory at a time.
    """
    stages = {}
    for name, need in needs.items():
        most = min(threads, _MOST_THREADS.get(name, threads))
        besides = state if name == "solve" else 0
        room = need.room_for_pieces(config.memory_mb, besides) if name in ("solve", "evaluate") else 0
        within = need.within(max(config.memory_mb, need.smallest_mb), most_threads=most, room=room)
        arrays = {path: array.nbytes for path, array in leaves(need.arrays).items()}
        in_memory = sum(arrays[path] for path in within.held) + within.threads * need.thread.get("cells", 0)
        own = _OWN[name] * MB + data.get(name, 0) if need is not _PROCESS_ONLY else _NO_WORK
        mapped = sum(arrays.values()) - sum(arrays[path] for path in within.held)
        in_memory += besides if within.holds(besides, config.memory_mb) else min(within.room, mapped + besides)
        products, working = disk[name]
        used = round((own + in_memory) / MB)
        disk_mb = (products / MB, (working + mapped) / MB, mapped / MB)
        stages[name] = StageNeeds(need.smallest_mb, used, *disk_mb, within.threads, need.least)
    return stages


def _disk(
    config: Config, folded: Layout, whole: Layout, pairs: int, sizes: list[TimingSizes], dtype: np.dtype[Any]
) -> dict[str, tuple[float, float]]:
    """Bytes on disk that each stage keeps, and additional bytes while it runs, without mapped arrays."""
    squares, state = folded.game.squares, state_arrays(folded, config.solve)
    arrays = leaves(state)
    work = sum(array.nbytes for array in arrays.values())
    tables = sum(2 * each.narrow_orders + 4 * each.wide_orders + 40 * each.sources for each in sizes)
    views = sum(len(p.placed) for each in {folded.symmetry: folded, "none": whole}.values() for p in each.players)
    # Children and their maps, parents and their maps, blocks, six tables of views; orbits have three tables.
    index_bytes = tables + views * 8 * (6 * squares + 1 + 6 + 3)
    probabilities = 4 * sum(p.sequences for p in folded.players)
    infosets = [p.infosets_by_slice() for p in whole.players]
    item = np.dtype(config.export.dtype).itemsize
    # A bar and a line end, and two characters for each attempt.
    lists = sum(
        int(np.dot(infosets[p], 2 + 2 * (len(whole.game.setup[p]) + np.arange(len(infosets[p]))))) for p in (0, 1)
    )
    rows = [int(each.sum()) for each in infosets]
    tensor = sum(rows) * squares * item
    texts = sum(rows[p] * text_width(whole, p) for p in (0, 1))
    has_course, has_bundle = config.export.files(config.game)
    return {
        "enumerate": (_SEARCHED * pairs + 20 * _ARRAY, 0),
        "index": (index_bytes + 100 * _ARRAY, 0),
        # A saved state stays; while running there are also the work arrays and, for a moment, a second saved state.
        "solve": (work + _SOLUTION * probabilities + 3 * _ARRAY * len(arrays), 2 * work),
        "finish": (_PLANS + _SOLUTION * probabilities if dtype == np.float64 else 0, 0),
        "evaluate": (2_000, 0),
        "export": (has_course * (lists + _ZIPPED * tensor) + has_bundle * _BUNDLED * (tensor + texts), 0),
        "report": (_REPORT, 0),
    }


def check_budget(plan: MemoryPlan, stages: Sequence[str] | None = None) -> None:
    """Refuse a budget that is too small for a stage.

    Raises
    ------
    MemoryBudgetError
        The sentence names the smallest sufficient budget, and the stage that needs it.
    """
    chosen = {name: each for name, each in plan.stages.items() if stages is None or name in stages}
    name, most = max(chosen.items(), key=lambda item: item[1].smallest_mb)
    if most.smallest_mb <= plan.budget_mb:
        return
    largest = sorted(most.needs.items(), key=lambda item: -item[1])[:3]
    listed = ", ".join(f"{what} {count / MB:.0f} MB" for what, count in largest)
    raise MemoryBudgetError(
        f"A memory budget of {plan.budget_mb:g} MB is too small: {most.smallest_mb} MB is the smallest that will do, "
        f"for the stage {name} ({listed}); raise memory_mb, on the command line --memory-mb."
    )
