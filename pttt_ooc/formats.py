"""The course's formats: infosets as lines of text, strategies as tensors in a zipped ``.npy`` file.

A tensor has one row for each infoset and one column for each square.  Which infoset a row belongs
to is told by a file of infosets, line by line; here it is an array `rows` of node numbers.  All
functions want an index with symmetry ``"none"``: a file has every infoset, not one of each orbit.

The text of an infoset is ``|`` and, for each own attempt (the opening's squares first), the square's
digit and ``*`` (placed) or ``.`` (failed).

Files are written aside, synced and renamed.  Files that are read may come from anybody: nothing in
them is unpickled or extracted, and sizes are checked before memory is taken.
"""

from __future__ import annotations

import io
import struct
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, NamedTuple

import numba
import numpy as np
from numpy.typing import DTypeLike, NDArray

from pttt_ooc.errors import InfosetFileError, StrategyError, StrategyFileError
from pttt_ooc.index import Index
from pttt_ooc.orders import order_counts, rank_order, unrank
from pttt_ooc.store import explained, fsync_directory
from pttt_ooc.views import Ints

BLOCK_ROWS = 1 << 18
"""Rows of a tensor that are handled at a time."""

SUM_TOLERANCE = {"float16": 1e-3, "float32": 1e-5, "float64": 1e-5}
"""How far from 1 a row's sum may be, by the dtype of the tensor that was read: rounding each entry to
half precision moves the sum by up to 5e-4; the wider types leave room for careless normalisation."""

_BLOCK_BYTES = 1 << 22
_HEADER_BYTES = 1 << 17  # a version 1 header has at most 64 KiB; what claims more is refused unread

BAR, PLACED, FAILED, ZERO = b"|*.0"
MALFORMED, NO_INFOSET, DOUBLED = -1, -2, -3


class Layout(NamedTuple):
    """What the kernels need to know of one player's infosets; see :class:`~pttt_ooc.index.PlayerIndex`."""

    squares: int
    opening: Ints
    node_start: Ints
    sequence_start: Ints
    placed: Ints
    failed: Ints
    decides: NDArray[np.bool_]
    keys: Ints
    view_of_key: Ints
    hidden: int
    orders: Ints
    ending_failed: Ints


def layout_of(index: Index, player: int) -> Layout:
    """Gather the arrays of `player` for the kernels.

    Raises
    ------
    ValueError
        If the index is folded by symmetry.
    """
    if index.symmetry != "none":
        raise ValueError(f"files hold all infosets, but this index has symmetry {index.symmetry!r}")
    p, orbits, counts = index.players[player], index.orbits[player], order_counts(index.game, player)
    opening = np.array(index.game.opening[player], np.int64)
    views = (p.node_start, p.sequence_start, p.placed, p.failed, p.decides)
    return Layout(index.game.squares, opening, *views, orbits.keys, orbits.view, *counts.tables)


# ---------------------------------------------------------------------------------------------
# The order of rows


@numba.njit(cache=True, nogil=True)
def _view_of(layout, node):
    return np.searchsorted(layout.node_start, node, side="right") - 1


@numba.njit(cache=True, nogil=True)
def _children(layout, child_start, parents, first, last, out):
    count = 0
    for node in parents:
        view = _view_of(layout, node)
        rank = node - layout.node_start[view]
        for action in range(child_start.shape[1]):
            for outcome in range(2):
                block = child_start[view, action, outcome]
                if first <= block < last:
                    out[count] = block + rank
                    count += 1
    return count


def default_rows(index: Index, player: int) -> Ints:
    """Node number of each row in the default order.

    Rows are sorted by number of attempts, then attempt by attempt: by square, failed before placed.

    Returns
    -------
    int64, shape (infosets,)
    """
    layout, p = layout_of(index, player), index.players[player]
    sizes = p.infosets_by_slice()
    ends = np.cumsum(sizes)
    rows = np.empty(int(ends[-1]), np.int64)
    rows[: sizes[0]] = np.arange(sizes[0])
    # The rows of a slice are the children of the rows before, in order, so that nothing needs sorting.
    for n in range(1, p.slices):
        first = p.nodes_of(n).start  # a slice's infosets come first among its nodes
        parents, out = rows[ends[n - 1] - sizes[n - 1] : ends[n - 1]], rows[ends[n - 1] : ends[n]]
        _children(layout, p.child_start, parents, first, first + sizes[n], out)
    return rows


def row_blocks(rows: Ints) -> Iterator[tuple[int, Ints]]:
    """Runs of at most :data:`BLOCK_ROWS` rows, each with the number of its first row."""
    for start in range(0, len(rows), BLOCK_ROWS):
        yield start, rows[start : start + BLOCK_ROWS]


# ---------------------------------------------------------------------------------------------
# Infosets as text


@numba.njit(cache=True, nogil=True)
def _write_texts(layout, nodes, out):
    squares = np.empty(layout.squares, np.int64)
    start = len(layout.opening)
    for i in range(len(nodes)):
        view = _view_of(layout, nodes[i])
        placed, rank = layout.placed[view], nodes[i] - layout.node_start[view]
        n = unrank(rank, placed, layout.failed[view], layout.hidden, layout.orders, layout.ending_failed, squares)
        out[i, 0] = BAR
        for k in range(start):
            out[i, 1 + 2 * k] = ZERO + layout.opening[k]
            out[i, 2 + 2 * k] = PLACED
        for k in range(n):
            at = 1 + 2 * (start + k)
            out[i, at] = ZERO + squares[k]
            out[i, at + 1] = PLACED if placed >> squares[k] & 1 else FAILED


def infoset_texts(index: Index, player: int, nodes: Ints) -> NDArray[np.bytes_]:
    """Texts of infosets.

    Returns
    -------
    bytes, shape (len(nodes),): ``S17`` on nine squares, padded with zero bytes as numpy does.
    """
    layout = layout_of(index, player)
    width = 1 + 2 * (len(layout.opening) + index.players[player].slices - 1)
    out = np.zeros((len(nodes), width), np.uint8)
    _write_texts(layout, nodes, out)
    return out.reshape(-1).view(f"S{width}")


def infoset_text(index: Index, player: int, node: int) -> str:
    """Text of one infoset."""
    return str(infoset_texts(index, player, np.array([node], np.int64))[0], "ascii")


def as_lines(texts: NDArray[np.bytes_]) -> bytes:
    """Texts as the lines of a file."""
    padded = texts.reshape(-1, 1).view(np.uint8)
    lines = np.concatenate([padded, np.full((len(padded), 1), ord("\n"), np.uint8)], axis=1)
    return bytes(lines[lines != 0])


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Name of a file to write, which then takes the place of `path`, or is deleted if an error leaves the block.

    Raises
    ------
    StoreError
        If the file cannot be written.
    """
    temporary = path.with_name(path.name + ".tmp")
    with explained(f"write {path}"):
        try:
            yield temporary
            fsync_directory(temporary)  # the same call serves for files
            temporary.replace(path)
        finally:
            temporary.unlink(missing_ok=True)
        fsync_directory(path.parent)


def write_infosets(index: Index, player: int, path: Path, rows: Ints | None = None) -> None:
    """Write the file of infosets, one line for each row.

    Parameters
    ----------
    rows
        int64, shape (infosets,): node number of each row; the default order if left out.

    Raises
    ------
    StoreError
        If the file cannot be written.
    """
    with replacing(path) as temporary, open(temporary, "wb") as f:
        for _, nodes in row_blocks(default_rows(index, player) if rows is None else rows):
            f.write(as_lines(infoset_texts(index, player, nodes)))


@numba.njit(cache=True, nogil=True)
def _parse_line(layout, line, squares):
    size, start, n = layout.squares, len(layout.opening), (len(line) - 1) // 2
    if len(line) % 2 == 0 or line[0] != BAR:
        return MALFORMED
    for k in range(n):
        outcome = line[2 + 2 * k]
        if not (ZERO <= line[1 + 2 * k] < ZERO + size and outcome in (PLACED, FAILED)):
            return MALFORMED
    if not start <= n <= size:
        return NO_INFOSET
    tried, placed = 0, 0
    for k in range(n):
        square, success = int(line[1 + 2 * k]) - ZERO, line[2 + 2 * k] == PLACED
        if tried >> square & 1 or (k < start and not (success and square == layout.opening[k])):
            return NO_INFOSET
        tried |= 1 << square
        if k >= start:
            squares[k - start] = square
            placed |= int(success) << square
    for k in range(start):
        tried ^= 1 << layout.opening[k]
    key = placed << size | (tried ^ placed)
    at = np.searchsorted(layout.keys, key)
    if at == len(layout.keys) or layout.keys[at] != key or not layout.decides[layout.view_of_key[at]]:
        return NO_INFOSET
    rank = rank_order(squares, n - start, placed, layout.hidden, layout.orders, layout.ending_failed)
    return NO_INFOSET if rank < 0 else layout.node_start[layout.view_of_key[at]] + rank


@numba.njit(cache=True, nogil=True)
def _parse_lines(layout, data, rows, count, seen):
    """Parse whole lines until one is bad: (rows filled, bytes used, 0 or what is bad, its node if doubled)."""
    squares = np.empty(layout.squares, np.int64)
    begin = 0
    for end in range(len(data)):
        if data[end] != ord("\n"):
            continue
        stop = end - 1 if end > begin and data[end - 1] == ord("\r") else end
        node = _parse_line(layout, data[begin:stop], squares)
        if node < 0:
            return count, begin, node, 0
        if seen[node]:
            return count, begin, DOUBLED, node
        seen[node] = True
        rows[count] = node
        count += 1
        begin = end + 1
    return count, begin, 0, 0


class RowReader:
    """Collects rows from lines of text, and sees to it that every infoset occurs exactly once.

    Parameters
    ----------
    index, player
        Whose infosets are expected.
    source
        What errors call the place that the lines are from.
    """

    def __init__(self, index: Index, player: int, source: str) -> None:
        self.index, self.player, self.source = index, player, source
        self._layout = layout_of(index, player)
        infosets = int(index.players[player].infosets_by_slice().sum())
        # No line is accepted twice, so that this is room enough however long the file is.
        self._rows = np.empty(infosets, np.int64)
        self._seen = np.zeros(index.players[player].nodes, np.bool_)
        self._count = 0

    def feed(self, data: bytes) -> bytes:
        """Take in all complete lines of `data`; return the rest.

        Raises
        ------
        InfosetFileError
            At the first line that is malformed, no infoset of the player, or the same as a line before.
        """
        array = np.frombuffer(data, np.uint8)
        self._count, used, fault, node = _parse_lines(self._layout, array, self._rows, self._count, self._seen)
        if fault or len(data) - used > _BLOCK_BYTES:
            raise InfosetFileError(self._complaint(data[used : used + 200], fault or MALFORMED, node))
        return data[used:]

    def _complaint(self, rest: bytes, fault: int, node: int) -> str:
        text = rest.split(b"\n")[0].removesuffix(b"\r").decode(errors="replace")
        shown = repr(text if len(text) <= 40 else text[:40] + "...")
        where = f"{self.source}, line {self._count + 1}: {shown}"
        if fault == DOUBLED:
            before = int(np.flatnonzero(self._rows[: self._count] == node)[0])
            return f"{where} is a doubled line, it was already line {before + 1}."
        if fault == NO_INFOSET:
            return f"{where} is no infoset of player {self.player} in {self.index.game.name}."
        return f"{where} is malformed; a line is '|' followed by pairs of a square and '*' or '.'."

    def finish(self) -> Ints:
        """All rows: int64, shape (infosets,).

        Raises
        ------
        InfosetFileError
            If infosets are missing.
        """
        missing = len(self._rows) - self._count
        if missing:
            expected = default_rows(self.index, self.player)
            first = infoset_text(self.index, self.player, int(expected[np.argmin(self._seen[expected])]))
            many = "infoset is" if missing == 1 else "infosets are"
            raise InfosetFileError(f"{self.source}: {missing:,} {many} missing, the first of them is {first!r}.")
        return self._rows


def parse_infoset(index: Index, player: int, text: str) -> int:
    """Node number of the infoset `text`.

    Raises
    ------
    InfosetFileError
        If the text is malformed or no infoset of the player.
    """
    layout = layout_of(index, player)
    line = np.frombuffer(text.encode(errors="replace"), np.uint8)
    node = int(_parse_line(layout, line, np.empty(layout.squares, np.int64)))
    if node == MALFORMED:
        raise InfosetFileError(
            f"{text!r} is malformed; an infoset is '|' followed by pairs of a square and '*' or '.'."
        )
    if node == NO_INFOSET:
        raise InfosetFileError(f"{text!r} is no infoset of player {player} in {index.game.name}.")
    return node


def read_infosets(index: Index, player: int, path: Path) -> Ints:
    """Rows in the order of a file of infosets, in which every infoset must occur exactly once.

    Lines may end in CRLF, and the last line's end may be missing.

    Returns
    -------
    int64, shape (infosets,)

    Raises
    ------
    InfosetFileError
        If the file is unreadable or empty, or a line is malformed, no infoset of the player, doubled or missing.
    """
    reader, rest = RowReader(index, player, str(path)), b""
    try:
        with open(path, "rb") as f:
            while block := f.read(_BLOCK_BYTES):
                rest = reader.feed(rest + block)
            if f.tell() == 0:
                raise InfosetFileError(f"{path}: The file is empty.")
    except OSError as error:
        raise InfosetFileError(f"{path}: The file cannot be read: {error.strerror or error}.") from error
    if rest:
        reader.feed(rest + b"\n")
    return reader.finish()


# ---------------------------------------------------------------------------------------------
# Strategies as tensors


@numba.njit(cache=True, nogil=True)
def _gather(layout, nodes, probabilities, out):
    opening = 0
    for square in layout.opening:
        opening |= 1 << square
    for i in range(len(nodes)):
        view = _view_of(layout, nodes[i])
        taken = opening | layout.placed[view] | layout.failed[view]
        orders = layout.node_start[view + 1] - layout.node_start[view]
        at = layout.sequence_start[view] + nodes[i] - layout.node_start[view]
        for square in range(layout.squares):
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
        Of the tensor: float16, float32 or float64.

    Yields
    ------
    Consecutive blocks of the tensor, shape (at most :data:`BLOCK_ROWS`, squares).
    """
    layout = layout_of(index, player)
    for _, nodes in row_blocks(rows):
        block = np.empty((len(nodes), layout.squares), probabilities.dtype)
        _gather(layout, nodes, probabilities, block)
        yield block.astype(dtype, copy=False)


NOT_FINITE, NEGATIVE, ILLEGAL, TOO_LARGE, BAD_SUM = 1, 2, 3, 4, 5


@numba.njit(cache=True, nogil=True)
def _scatter(layout, nodes, block, tolerance, out):
    """Check rows and write them to `out`, normalised: (0 or what is wrong, row, square)."""
    opening = 0
    for square in layout.opening:
        opening |= 1 << square
    for i in range(len(nodes)):
        view = _view_of(layout, nodes[i])
        taken = opening | layout.placed[view] | layout.failed[view]
        total = 0.0
        for square in range(layout.squares):
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
        orders = layout.node_start[view + 1] - layout.node_start[view]
        at = layout.sequence_start[view] + nodes[i] - layout.node_start[view]
        for square in range(layout.squares):
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


def _check_dtype(dtype: np.dtype[Any], source: str) -> None:
    if dtype.newbyteorder("=").name not in SUM_TOLERANCE:
        raise StrategyError(f"{source}: Invalid dtype: found {dtype}, expected one of {', '.join(SUM_TOLERANCE)}.")


def _check_shape(shape: tuple[int, ...], expected: tuple[int, ...], source: str) -> None:
    if shape != expected:
        raise StrategyError(f"{source}: Invalid tensor shape: found {shape}, expected {expected}.")


def strategy_from_tensor(
    index: Index,
    player: int,
    tensor: Any,
    rows: Ints,
    dtype: DTypeLike = np.float64,
    source: str = "The tensor",
) -> NDArray[np.floating[Any]]:
    """The strategy that a tensor describes, checked row by row and then normalised.

    Parameters
    ----------
    tensor
        float16, float32 or float64, shape (infosets, squares): an array, or anything that has a shape and
        a dtype and gives an array for a slice of rows; no more than :data:`BLOCK_ROWS` rows are asked for at a time.
    rows
        int64, shape (infosets,): node number of each row.
    dtype
        Of the result, float32 or float64.  In float64 the sums are 1 to double precision.
    source
        What errors call the tensor.

    Returns
    -------
    float, shape (sequences,): view by view, action by action, order by order.

    Raises
    ------
    StrategyError
        If the shape or dtype is wrong, or at the first row that has something other than numbers between 0
        and 1, mass on an illegal action, or a sum further from 1 than :data:`SUM_TOLERANCE`.
    """
    layout = layout_of(index, player)
    _check_shape(tuple(tensor.shape), (len(rows), layout.squares), source)
    _check_dtype(np.dtype(tensor.dtype), source)
    tolerance = SUM_TOLERANCE[np.dtype(tensor.dtype).newbyteorder("=").name]
    wide = np.float64 if np.dtype(tensor.dtype).itemsize == 8 else np.float32
    probabilities = np.empty(index.players[player].sequences, dtype)
    for start, nodes in row_blocks(rows):
        block = np.ascontiguousarray(tensor[start : start + len(nodes)], wide)
        fault, i, square = _scatter(layout, nodes, block, tolerance, probabilities)
        if fault:
            text = infoset_text(index, player, int(nodes[i]))
            what = _row_complaint(fault, block[i], square, tolerance)
            raise StrategyError(f"{source}, row {start + i} (counted from 0), infoset {text!r}: {what}.")
    return probabilities


# ---------------------------------------------------------------------------------------------
# Tensors as files


def write_strategy_zip(
    path: Path,
    blocks: Iterable[NDArray[Any]],
    shape: tuple[int, int],
    dtype: DTypeLike,
    compression_level: int = 1,
    member: str = "pttt_pl0.npy",
) -> None:
    """Write a tensor as the only file of a zip; the same tensor gives the same bytes.

    Parameters
    ----------
    blocks
        Consecutive blocks of rows, as from :func:`tensor_from_strategy`.
    shape, dtype
        Of the whole tensor.
    compression_level
        0 (none) to 9, as of zlib.
    member
        Name of the file in the zip.

    Raises
    ------
    StoreError
        If the file cannot be written.
    ValueError
        If the blocks do not add up to the shape.
    """
    little = np.dtype(dtype).newbyteorder("<")
    size, written = shape[0] * shape[1] * little.itemsize, 0
    large = size > zipfile.ZIP64_LIMIT * 0.9
    with (
        replacing(path) as temporary,
        zipfile.ZipFile(temporary, "w", zipfile.ZIP_DEFLATED, compresslevel=compression_level) as archive,
        archive.open(member, "w", force_zip64=large) as f,  # opened by name: the date is then always 1980-01-01
    ):
        header = {"descr": np.lib.format.dtype_to_descr(little), "fortran_order": False, "shape": shape}
        np.lib.format.write_array_header_1_0(f, header)
        for block in blocks:
            written += f.write(np.ascontiguousarray(block, little).reshape(-1).view(np.uint8).data)
        if written != size:
            raise ValueError(f"blocks of {written} bytes do not make a tensor of shape {shape}")


# What zipfile raises on damaged or hostile files, besides OSError.
_BAD_ZIP = (zipfile.BadZipFile, zlib.error, struct.error, EOFError, ValueError, RuntimeError, OverflowError)


def read_strategy_file(path: Path, expected_shape: tuple[int, int]) -> NDArray[np.floating[Any]]:
    """Read a tensor from a ``.zip`` with a single ``.npy`` file, or from an ``.npy`` file.

    Entries are not looked at (see :func:`strategy_from_tensor`).

    Returns
    -------
    float16, float32 or float64, shape `expected_shape`; C order, native byte order.  Of an ``.npy`` file that has
    both already, a read-only map of the file.

    Raises
    ------
    StrategyFileError
        If the file is unreadable, damaged or of another format.
    StrategyError
        If the tensor's shape or dtype is not what is expected.
    """
    path = Path(path)
    try:
        if path.suffix.lower() == ".zip":
            return _read_zip(path, expected_shape)
        if path.suffix.lower() == ".npy":
            return _read_npy(path, expected_shape)
    except OSError as error:
        raise StrategyFileError(f"{path}: The file cannot be read: {error.strerror or error}.") from error
    raise StrategyFileError(f"{path}: A strategy's file is a .zip or .npy, and its name must end so.")


def _read_zip(path: Path, shape: tuple[int, int]) -> NDArray[np.floating[Any]]:
    try:
        with zipfile.ZipFile(path) as archive:
            member = _only_member(path, archive.infolist())
            with archive.open(member) as stream:
                return _read_stream(path, stream, member.file_size, shape)
    except _BAD_ZIP as error:
        raise StrategyFileError(f"{path}: Not a valid zip file ({str(error).rstrip('.')}).") from error


def _only_member(path: Path, members: list[zipfile.ZipInfo]) -> zipfile.ZipInfo:
    if not members:
        raise StrategyFileError(f"{path}: The zip is empty.")
    if len(members) > 1:
        raise StrategyFileError(f"{path}: The zip contains more than one file.")
    if not members[0].filename.endswith(".npy"):
        raise StrategyFileError(f"{path}: The zipped file does not end with .npy.")
    if members[0].flag_bits & 1:
        raise StrategyFileError(f"{path}: The zipped file is encrypted.")
    # Other methods would let a small file ask for gigabytes of dictionary.
    if members[0].compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise StrategyFileError(f"{path}: The zipped file is compressed by another method than deflate.")
    return members[0]


def _parse_header(path: Path, head: bytes, size: int, expected: tuple[int, int]) -> tuple[np.dtype[Any], bool, int]:
    """Dtype, whether the order is Fortran's, and where the data begin, of an npy file of `size` bytes."""
    f = io.BytesIO(head)
    try:
        version = np.lib.format.read_magic(f)
        read = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}[version]
        shape, fortran, dtype = read(f)
        if not all(0 <= n < 1 << 63 for n in shape):
            raise ValueError("no array has this shape")
    except Exception as error:  # numpy evaluates a literal of the file, which can fail in many ways
        raise StrategyFileError(f"{path}: Exception parsing numpy tensor: the header is damaged.") from error
    _check_shape(shape, expected, str(path))
    _check_dtype(dtype, str(path))
    found, wanted = size - f.tell(), expected[0] * expected[1] * dtype.itemsize
    if found != wanted:
        what = "is truncated" if found < wanted else "goes on after the tensor"
        raise StrategyFileError(
            f"{path}: Exception parsing numpy tensor: the file {what}, found {found} bytes of data, expected {wanted}."
        )
    return dtype, fortran, f.tell()


def _read_stream(path: Path, stream: IO[bytes], size: int, shape: tuple[int, int]) -> NDArray[np.floating[Any]]:
    head = stream.read(_HEADER_BYTES)
    dtype, fortran, start = _parse_header(path, head, size, shape)
    data = np.empty(size - start, np.uint8)
    at = len(head) - start
    data[:at] = np.frombuffer(head[start:], np.uint8)
    while block := stream.read(_BLOCK_BYTES):  # never more than the announced size in all
        data[at : at + len(block)] = np.frombuffer(block, np.uint8)
        at += len(block)
    if at != len(data):
        raise StrategyFileError(
            f"{path}: Not a valid zip file ({len(data) - at} bytes of what it announces are missing)."
        )
    return _native(data.view(dtype).reshape(shape, order="F" if fortran else "C"))


def _read_npy(path: Path, shape: tuple[int, int]) -> NDArray[np.floating[Any]]:
    with open(path, "rb") as f:
        dtype, fortran, start = _parse_header(path, f.read(_HEADER_BYTES), path.stat().st_size, shape)
    return _native(np.memmap(path, dtype, "r", start, shape, order="F" if fortran else "C"))


def _native(tensor: NDArray[Any]) -> NDArray[np.floating[Any]]:
    return np.ascontiguousarray(tensor, tensor.dtype.newbyteorder("="))
