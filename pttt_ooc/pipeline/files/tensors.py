"""The course's formats: strategies as tensors in a zipped ``.npy`` file.

A tensor has one row for each infoset, in the order of an array `rows` of node numbers (see
:mod:`pttt_ooc.pipeline.files.infosets`), and one column for each square.  The index has symmetry ``"none"``.

Files are written atomically; :mod:`pttt_ooc.pipeline.files.tensor_reader` reads them.
"""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np
from numpy.typing import DTypeLike, NDArray

from pttt_ooc.cfr.sweep.parallel import in_order
from pttt_ooc.disk.files import replacing
from pttt_ooc.errors import StrategyError
from pttt_ooc.games.structure.index import Index
from pttt_ooc.games.structure.strategy import Strategy
from pttt_ooc.games.structure.views import Ints
from pttt_ooc.jit import kernel
from pttt_ooc.pipeline.files import deflate
from pttt_ooc.pipeline.files.file_headers import SUM_TOLERANCE, check_dtype, check_shape
from pttt_ooc.pipeline.files.infosets import (
    InfosetTables,
    Rows,
    RowTables,
    infoset_tables,
    infoset_text,
    row_blocks,
    view_of,
)

# ---------------------------------------------------------------------------------------------
# Strategies as tensors


@kernel
def _gather(tables, nodes, probabilities, out):
    for i in range(len(nodes)):
        view = view_of(tables, nodes[i])
        taken = tables.setup_mask | tables.placed[view] | tables.failed[view]
        orders = tables.node_start[view + 1] - tables.node_start[view]
        at = tables.sequence_start[view] + nodes[i] - tables.node_start[view]
        for square in range(tables.squares):
            if taken >> square & 1:
                out[i, square] = 0
            else:
                out[i, square] = probabilities[at]
                at += orders


def tensor_from_strategy(
    index: Index, player: int, probabilities: NDArray[Any], rows: Ints, dtype: DTypeLike = np.float32
) -> Iterator[NDArray[Any]]:
    """The tensor of a strategy, block by block.

    Parameters
    ----------
    probabilities
        float, shape (sequences,): view by view, action by action, order by order.
    rows
        int64, shape (infosets,): node number of each row.
    dtype
        Type of the tensor: float16, float32 or float64.

    Yields
    ------
    Consecutive blocks of the tensor, shape (at most :data:`~pttt_ooc.pipeline.files.infosets.BLOCK_ROWS`, squares).
    """
    tables = infoset_tables(index, player)
    for _, nodes in row_blocks(rows):
        yield tensor_rows(tables, probabilities, nodes).astype(dtype, copy=False)


def tensor_rows(tables: InfosetTables, probabilities: NDArray[Any], nodes: Ints) -> NDArray[Any]:
    """The rows of a strategy's tensor for the infosets with these nodes: float, shape (nodes, squares)."""
    block = np.empty((len(nodes), tables.squares), probabilities.dtype)
    _gather(tables.only(RowTables), nodes, probabilities, block)
    return block


NOT_FINITE, NEGATIVE, ILLEGAL, TOO_LARGE, BAD_SUM = 1, 2, 3, 4, 5


@kernel
def _scatter(tables, nodes, block, tolerance, normalise, out):
    """Check rows and write them to `out`, normalised or unchanged: (fault or 0, row, square)."""
    for i in range(len(nodes)):
        view = view_of(tables, nodes[i])
        taken = tables.setup_mask | tables.placed[view] | tables.failed[view]
        total = 0.0
        for square in range(tables.squares):
            probability = float(block[i, square])
            if not np.isfinite(probability):
                return NOT_FINITE, i, square
            if probability < 0:
                return NEGATIVE, i, square
            if probability > 0 and taken >> square & 1:
                return ILLEGAL, i, square
            if probability > 1 + tolerance:
                return TOO_LARGE, i, square
            total += probability
        if abs(total - 1) > tolerance:
            return BAD_SUM, i, 0
        if not normalise:
            total = 1.0
        orders = tables.node_start[view + 1] - tables.node_start[view]
        at = tables.sequence_start[view] + nodes[i] - tables.node_start[view]
        for square in range(tables.squares):
            if not taken >> square & 1:
                out[at] = block[i, square] / total
                at += orders
    return 0, 0, 0


def _row_complaint(fault: int, row: NDArray[Any], square: int, tolerance: float) -> str:
    what = f"square {square} has {float(row[square])!r}"
    return {
        NOT_FINITE: f"{what}, which is not a number between 0 and 1",
        NEGATIVE: f"{what}, but probabilities are not negative",
        ILLEGAL: f"{what}, but it has already been attempted, so that it must have 0",
        TOO_LARGE: f"{what}, but probabilities are at most 1",
        BAD_SUM: f"the sum is {float(np.sum(row, dtype=np.float64))!r}, but must be 1 to within {tolerance}",
    }[fault]


class RowWriter:
    """Checks rows of a tensor and writes them to a strategy.

    Parameters
    ----------
    into
        float, shape (sequences,): the strategy's probabilities.
    dtype, source, normalise
        See :func:`strategy_from_tensor`.
    """

    def __init__(
        self,
        index: Index,
        player: int,
        into: NDArray[np.floating[Any]],
        dtype: DTypeLike = np.float64,
        source: str = "The tensor",
        normalise: bool = True,
    ) -> None:
        self._index, self._player, self._into, self._source = index, player, into, source
        self._tables = infoset_tables(index, player).only(RowTables)
        self._rest = SUM_TOLERANCE[np.dtype(dtype).newbyteorder("=").name], normalise

    def __call__(self, start: int, nodes: Ints, block: NDArray[Any]) -> None:
        """Write rows, of which the first has the number `start`.

        Raises
        ------
        StrategyError
            At the first row that is refused.
        """
        fault, i, square = _scatter(self._tables, nodes, block, *self._rest, self._into)
        if fault:
            text = infoset_text(self._index, self._player, int(nodes[i]))
            what = _row_complaint(fault, block[i], square, self._rest[0])
            raise StrategyError(f"{self._source}, row {start + i} (counted from 0), infoset {text!r}: {what}.")


def strategy_from_tensor(
    index: Index,
    player: int,
    tensor: Any,
    rows: Rows,
    dtype: DTypeLike = np.float64,
    source: str = "The tensor",
    into: NDArray[np.floating[Any]] | None = None,
    normalise: bool = True,
) -> NDArray[np.floating[Any]]:
    """The strategy that a tensor describes, checked row by row and normalised.

    The next rows are read while the previous ones are checked.

    Parameters
    ----------
    tensor
        float16, float32 or float64, shape (infosets, squares): an array, or any object with a shape and
        a dtype that returns an array for a slice of rows; at most
        :data:`~pttt_ooc.pipeline.files.infosets.BLOCK_ROWS` rows are read at a time.
    rows
        int64, shape (infosets,): node number of each row.
    dtype
        Type of the result, float32 or float64.  In float64 the sums are 1 to double precision.
    source
        Name of the tensor in errors.
    into
        The array for the result; default: a new one.
    normalise
        If false, the numbers do not change, and the engine scales them later: an array of the tensor's own dtype
        then loses no precision.

    Returns
    -------
    float, shape (sequences,): view by view, action by action, order by order.

    Raises
    ------
    StrategyError
        If the shape or dtype is wrong, or at the first row with a number that is not between 0 and 1, with
        probability on an illegal action, or with a sum that differs from 1 by more than
        :data:`~pttt_ooc.pipeline.files.file_headers.SUM_TOLERANCE`.
    """
    check_shape(tuple(tensor.shape), (len(rows), index.game.squares), source)
    check_dtype(np.dtype(tensor.dtype), source)
    # Half precision is read as single precision, which loses nothing.
    wide = np.float64 if np.dtype(tensor.dtype).itemsize == 8 else np.float32
    probabilities = np.empty(index.players[player].sequences, dtype) if into is None else into
    write = RowWriter(index, player, probabilities, tensor.dtype, source, normalise)

    def read(block: tuple[int, Ints]) -> tuple[int, Ints, NDArray[Any]]:
        start, nodes = block
        return start, nodes, np.ascontiguousarray(tensor[start : start + len(nodes)], wide)

    # Another thread reads the next block while this one checks a block, scales it, and writes it to the sequences.
    with closing(in_order(read, row_blocks(rows), threads=1)) as blocks:
        for start, nodes, block in blocks:
            write(start, nodes, block)
    return probabilities


# ---------------------------------------------------------------------------------------------
# Tensors as files


class ZippedTensor:
    """A tensor in a zip, written part by part; see :func:`zipped_tensor`."""

    def __init__(self, file: IO[bytes], dtype: np.dtype[Any], level: int) -> None:
        self._file, self._dtype, self._level = file, dtype, level
        self.size, self.crc = 0, 0

    def pack(self, block: NDArray[Any]) -> Packed:
        """Compress consecutive rows; callable from any thread."""
        return self.packed_bytes(np.ascontiguousarray(block, self._dtype).reshape(-1).view(np.uint8).data)

    def packed_bytes(self, data: bytes | memoryview) -> Packed:
        """As :meth:`pack`, for bytes."""
        return Packed(deflate.part(data, self._level), len(data), deflate.crc32(data))

    def write(self, packed: Packed) -> None:
        """Write the next rows."""
        self._file.write(packed.data)
        self.crc = deflate.crc32_of_both(self.crc, packed.crc, packed.size)
        self.size += packed.size


class Packed(NamedTuple):
    """A compressed part of a file: its bytes, and the part's length and checksum before compression."""

    data: bytes
    size: int
    crc: int


@contextmanager
def zipped_tensor(
    path: Path, shape: tuple[int, int], dtype: DTypeLike, compression_level: int = 1, member: str = "pttt_pl0.npy"
) -> Iterator[ZippedTensor]:
    """Write a tensor as the only file of a zip.

    Parameters
    ----------
    shape, dtype
        Shape and dtype of the whole tensor.
    compression_level
        0 (none) to 9, as in zlib.
    member
        Name of the file in the zip.

    Yields
    ------
    The object that compresses and writes blocks of rows.

    Raises
    ------
    StoreError
        If the file cannot be written.
    ValueError
        If the number of written rows does not match the shape.
    """
    little = np.dtype(dtype).newbyteorder("<")
    expected = shape[0] * shape[1] * little.itemsize
    large = expected > zipfile.ZIP64_LIMIT * 0.9
    info = zipfile.ZipInfo(member)  # its date is 1980-01-01
    with replacing(path) as temporary, open(temporary, "w+b") as file, zipfile.ZipFile(file, "w") as archive:
        # Python's zipfile would compress on one thread, so it gets compressed bytes, and their sizes at the end.
        with archive.open(info, "w", force_zip64=large) as stream:
            # The zip's one file is a .npy file: a header, then the rows, which the caller writes in order.
            tensor = ZippedTensor(stream, little, compression_level)
            header = io.BytesIO()
            description = {"descr": np.lib.format.dtype_to_descr(little), "fortran_order": False, "shape": shape}
            np.lib.format.write_array_header_1_0(header, description)
            tensor.write(tensor.packed_bytes(header.getvalue()))
            yield tensor
            # All rows have to be there, because the header gives their number.
            found = tensor.size - len(header.getvalue())
            if found != expected:
                raise ValueError(f"blocks of {found} bytes do not make a tensor of shape {shape}")
            stream.write(deflate.END)
        # Sizes and checksum are known only now, so the file's header in the zip is written once more.
        info.compress_type, info.file_size, info.CRC = zipfile.ZIP_DEFLATED, tensor.size, tensor.crc
        file.seek(info.header_offset)
        file.write(info.FileHeader(zip64=large))


def write_strategy_zip(
    path: Path,
    blocks: Iterable[NDArray[Any]],
    shape: tuple[int, int],
    dtype: DTypeLike,
    compression_level: int = 1,
    member: str = "pttt_pl0.npy",
) -> None:
    """Write consecutive blocks of rows as a zip; for parameters and errors, see :func:`zipped_tensor`."""
    with zipped_tensor(path, shape, dtype, compression_level, member) as tensor:
        for block in blocks:
            tensor.write(tensor.pack(block))


def export_strategy(
    strategy: Strategy, rows: Ints, path: Path, dtype: DTypeLike = np.float32, compression_level: int = 1
) -> None:
    """Write a strategy as the course's zip: one member, ``pttt_pl<player>.npy``.

    Parameters
    ----------
    strategy
        A strategy on an index without symmetry.
    rows
        int64, shape (infosets,): node number of each row.

    Raises
    ------
    StoreError
        If the file cannot be written.
    """
    index, player = strategy.index, strategy.player
    blocks = tensor_from_strategy(index, player, strategy.probabilities, rows, dtype)
    shape, member = (len(rows), index.game.squares), f"pttt_pl{player}.npy"
    write_strategy_zip(path, blocks, shape, dtype, compression_level, member)
