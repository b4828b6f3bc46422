"""All files of an export, written side by side: each block of rows is computed once for all files.

All threads prepare blocks, which are written in order, so that the files are the same for any number of threads, and
only a few blocks are in memory.  Their digests are made on the way: to inflate the files again would take longer.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from pttt_ooc.cfr.sweep.parallel import in_order
from pttt_ooc.disk.contents import ArrayDigest
from pttt_ooc.disk.files import replacing
from pttt_ooc.disk.memory import MemoryNeeds, Tree, process_needs, thread_needs
from pttt_ooc.games.structure.index import Index
from pttt_ooc.games.structure.strategy import Strategy
from pttt_ooc.games.structure.views import Ints
from pttt_ooc.pipeline.files.bundle import PlayerPart, open_bundle
from pttt_ooc.pipeline.files.export_names import BUNDLE, COURSE_FILES
from pttt_ooc.pipeline.files.infosets import as_lines, infoset_tables, row_blocks, text_width, texts_of
from pttt_ooc.pipeline.files.tensors import Packed, ZippedTensor, tensor_rows, zipped_tensor

Block = tuple[NDArray[np.bytes_], NDArray[Any]]
"""Texts and tensor of some rows."""
Chunks = tuple[bytes, bytes] | None

FILES = list(COURSE_FILES)
BLOCK_BYTES = 16_000_000
"""Upper bound of the memory for one block and all derived arrays, in double precision."""

MOST_THREADS = 4
"""More threads would hold more blocks and wait for the writing thread."""


def export_needs(arrays: Tree, reading: Mapping[str, int] | None = None) -> MemoryNeeds[Tree]:
    """The peak memory needs of :func:`write_export` and its process.

    Parameters
    ----------
    arrays
        The arrays that it gets.
    reading
        Additional bytes, by purpose.
    """
    fixed = {**process_needs(), "blocks of rows": 2 * BLOCK_BYTES, **(reading or {})}
    return MemoryNeeds(fixed, arrays, thread_needs(**{"a block of rows": BLOCK_BYTES}))


def write_export(
    directory: Path,
    index: Index,
    strategies: tuple[Strategy, Strategy],
    rows: tuple[Ints, Ints],
    dtype: DTypeLike,
    compression_level: int,
    facts: Mapping[str, Any] | None,
    threads: int = 1,
    course: bool = True,
) -> dict[str, dict[str, str]]:
    """Write zips, lists of infosets, and the hand-over file; the files appear when all are complete.

    Parameters
    ----------
    directory
        Directory for ``pttt_pl<player>.zip``, ``player<player>-infosets.txt`` and ``strategies.h5``.
    index
        An index without symmetry.
    strategies
        Strategies on that index.
    rows
        For each player int64, shape (infosets,): node number of each row.
    dtype, compression_level
        Type of the tensors, and level of the zips, 0 to 9.
    facts
        Facts about the strategies, for the hand-over file; None: write no such file.
    course
        Whether to write zips and lists.

    Returns
    -------
    For zips and hand-over file, by their names: digests of their arrays, as
    :func:`~pttt_ooc.disk.contents.content_digest` takes them.

    Raises
    ------
    StoreError
        If a file cannot be written.
    """
    tables, widths = [infoset_tables(index, p) for p in (0, 1)], [text_width(index, p) for p in (0, 1)]
    # All files are open together; they appear when the last block has been written.
    with ExitStack() as stack:
        lists = [stack.enter_context(_file(directory / f"player{p}-infosets.txt")) for p in (0, 1) if course]
        zips = [
            stack.enter_context(_zip(directory, p, (len(rows[p]), index.game.squares), dtype, compression_level))
            for p in (0, 1)
            if course
        ]
        bundle: tuple[PlayerPart, PlayerPart] | None = None
        if facts is not None:
            sizes = (len(rows[0]), len(rows[1]))
            bundle = stack.enter_context(open_bundle(directory / BUNDLE, index, sizes, facts, dtype))

        def prepare_block(block: tuple[int, int, Ints]) -> tuple[int, int, Block, tuple[bytes, Packed] | None, Chunks]:
            # On any thread: a block's texts and rows of the tensor, and both compressed for each file that gets them.
            player, start, nodes = block
            texts = texts_of(tables[player], widths[player], nodes)
            tensor = tensor_rows(tables[player], strategies[player].probabilities, nodes).astype(dtype, copy=False)
            chunks = bundle[player].pack(texts, tensor) if bundle else None
            for_course = (as_lines(texts), zips[player].pack(tensor)) if course else None
            return player, start, (texts, tensor), for_course, chunks

        # On this thread, in the order of the rows: each block goes into the digests and to the ends of the files.
        digests = [(ArrayDigest(), ArrayDigest()) for _ in (0, 1)]
        blocks = ((p, start, nodes) for p in (0, 1) for start, nodes in row_blocks(rows[p]))
        for player, start, block, for_course, chunks in in_order(prepare_block, blocks, threads):
            for digest, rows_of_block in zip(digests[player], block, strict=True):
                digest.add(rows_of_block)
            if for_course:
                lists[player].write(for_course[0])
                zips[player].write(for_course[1])
            if bundle and chunks:
                bundle[player].write(start, chunks)
    return _by_file([(texts.result(), tensor.result()) for texts, tensor in digests])


def _by_file(digests: list[tuple[str, str]]) -> dict[str, dict[str, str]]:
    """The digests of both players' texts and tensors, by file and by the names that they have there."""
    found: dict[str, dict[str, str]] = {BUNDLE: {}}
    for player, (texts, tensor) in enumerate(digests):
        found[f"{_name(player)}.zip"] = {f"{_name(player)}.npy": tensor}
        found[BUNDLE] |= {f"player{player}/infosets": texts, f"player{player}/strategy": tensor}
    return found


def _name(player: int) -> str:
    return f"pttt_pl{player}"


@contextmanager
def _file(path: Path) -> Iterator[IO[bytes]]:
    with replacing(path) as temporary, open(temporary, "wb") as f:
        yield f


@contextmanager
def _zip(
    directory: Path, player: int, shape: tuple[int, int], dtype: DTypeLike, compression_level: int
) -> Iterator[ZippedTensor]:
    name = _name(player)
    with zipped_tensor(directory / f"{name}.zip", shape, dtype, compression_level, f"{name}.npy") as tensor:
        yield tensor
