"""Infosets as lines of text, and the order of rows.

A file of infosets has, line by line, the infoset of each row of a tensor; in memory this is an array
`rows` of node numbers.  All functions need an index with symmetry ``"none"``: a file has every
infoset, not one of each orbit.

The text of an infoset is ``|`` and, for each own attempt (the setup's squares first), the square's
digit and ``*`` (placed) or ``.`` (failed).

Input files are untrusted: every line is checked.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from pttt_ooc.disk.files import replacing
from pttt_ooc.disk.memory import virtual_array
from pttt_ooc.errors import InfosetFileError
from pttt_ooc.games.structure.cells import position
from pttt_ooc.games.structure.index import Index, Layout
from pttt_ooc.games.structure.orders import order_counts, rank_order, unrank
from pttt_ooc.games.structure.views import Ints
from pttt_ooc.jit import kernel, piece

BLOCK_ROWS = 1 << 16
"""Rows that are processed at a time."""

_BLOCK_BYTES = 1 << 22
_NEAR_BITS = 10  # 2 to this power is about the number of nodes of a view

BAR, PLACED, FAILED, ZERO = b"|*.0"
RETURN, NEWLINE = b"\r\n"
MALFORMED, NO_INFOSET, DOUBLED = -1, -2, -3


class InfosetTables(NamedTuple):
    """The kernels' tables of one player's infosets; see :class:`~pttt_ooc.games.structure.index.PlayerIndex`."""

    squares: int
    setup: Ints
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
    view_near: NDArray[np.int32]  # the view of each node whose number is a multiple of 2 ** _NEAR_BITS
    setup_mask: int

    def only(self, fields: type[_Fields]) -> _Fields:
        """Only the tables of one kernel, because the code that unpacks an array from Python is slow to compile."""
        return fields(*(getattr(self, name) for name in fields._fields))


class NearViews(NamedTuple):
    """The tables for finding the view of a node; see :class:`InfosetTables`, here and below."""

    node_start: Ints
    view_near: NDArray[np.int32]


class RowTables(NamedTuple):
    """The tables for finding a row's probabilities."""

    squares: int
    setup_mask: int
    node_start: Ints
    sequence_start: Ints
    placed: Ints
    failed: Ints
    view_near: NDArray[np.int32]


class TextTables(NamedTuple):
    """The tables for writing an infoset as text."""

    squares: int
    setup: Ints
    node_start: Ints
    placed: Ints
    failed: Ints
    hidden: int
    orders: Ints
    ending_failed: Ints
    view_near: NDArray[np.int32]


class ParsingTables(NamedTuple):
    """The tables for finding the node of an infoset's text."""

    squares: int
    setup: Ints
    node_start: Ints
    decides: NDArray[np.bool_]
    keys: Ints
    view_of_key: Ints
    hidden: int
    orders: Ints
    ending_failed: Ints


_Fields = TypeVar("_Fields", NearViews, RowTables, TextTables, ParsingTables)


def infoset_tables(index: Index, player: int) -> InfosetTables:
    """Gather the arrays of `player` for the kernels.

    Raises
    ------
    ValueError
        If the index is folded by symmetry.
    """
    if index.symmetry != "none":
        raise ValueError(f"files hold all infosets, but this index has symmetry {index.symmetry!r}")
    p, orbits, counts = index.players[player], index.orbits[player], order_counts(index.game, player)
    setup = np.array(index.game.setup[player], np.int64)
    views = (p.node_start, p.sequence_start, p.placed, p.failed, p.decides)
    near = np.searchsorted(p.node_start, np.arange(0, p.nodes, 1 << _NEAR_BITS), side="right") - 1
    more = (near.astype(np.int32), index.game.setup_mask(player))
    return InfosetTables(index.game.squares, setup, *views, orbits.keys, orbits.view, *counts.tables, *more)


# ---------------------------------------------------------------------------------------------
# The order of rows


@piece
def view_of(tables, node):
    """The view of a node."""
    view = tables.view_near[node >> _NEAR_BITS]
    while tables.node_start[view + 1] <= node:
        view += 1
    return view


@kernel
def _children(tables, child_start, parents, first, last, at, branch, out):
    """Write to `out` the children of the nodes `parents` between node `first` and `last`, until `out` is full.

    The first one is from branch `branch` of the parent number `at`.  Returns the parent and branch to continue with,
    and the number of children.
    """
    branches, count = 2 * child_start.shape[1], 0
    while at < len(parents) and count < len(out):
        node = np.int64(parents[at])
        view = view_of(tables, node)
        rank = node - tables.node_start[view]
        while branch < branches and count < len(out):
            block = child_start[view, branch >> 1, branch & 1]
            if first <= block < last:
                out[count] = block + rank
                count += 1
            branch += 1
        if branch == branches:
            at, branch = at + 1, 0
    return at, branch, count


def row_arrays(index: Layout) -> tuple[Ints, Ints]:
    """Virtual arrays for both players' rows."""
    first, second = (virtual_array(int(i.infosets_by_slice().sum()), np.int64) for i in index.players)
    return first, second


class DefaultRows:
    """The default order of rows, with only one block and the parents of its rows in memory.

    Rows are sorted by number of attempts, then attempt by attempt: by square, failed before placed.
    """

    def __init__(self, index: Index, player: int) -> None:
        self._tables, self._player = infoset_tables(index, player), index.players[player]
        self._sizes = [int(size) for size in self._player.infosets_by_slice() if size]

    def __len__(self) -> int:
        return sum(self._sizes)

    @property
    def nbytes(self) -> int:
        """Peak bytes in memory: of a slice and the previous one; the last slice is not kept."""
        sizes = self._sizes[:-1]
        return 4 * max(map(sum, zip([0, *sizes], [*sizes, 0], strict=True)))

    def blocks(self) -> Iterator[tuple[int, Ints]]:
        """As :func:`row_blocks`."""
        p, start, filled, block = self._player, 0, 0, np.empty(BLOCK_ROWS, np.int64)
        near_views = self._tables.only(NearViews)
        before = np.empty(0, np.int32)  # wide enough: a player has less than 2^31 nodes
        # The rows of a slice are the children of the previous slice's rows in the same order: no sorting is needed.
        for n, size in enumerate(self._sizes):
            first, done, at, branch = p.nodes_of(n).start, 0, 0, 0  # a slice's infosets come first among its nodes
            rows = np.empty(size if n + 1 < len(self._sizes) else 0, np.int32)
            while done < size:
                out = block[filled:]
                if n == 0:
                    out[0], count = first, 1
                else:
                    places = (first, first + size, at, branch, out)
                    at, branch, count = _children(near_views, p.child_start, before, *places)
                if len(rows):
                    rows[done : done + count] = out[:count]
                done, filled = done + count, filled + count
                if filled == len(block):
                    yield start, block
                    start, filled, block = start + filled, 0, np.empty(BLOCK_ROWS, np.int64)
            before = rows
        if filled:
            yield start, block[:filled]


Rows = Ints | DefaultRows
"""Node number of each row: int64, shape (infosets,), or an object that computes them block by block."""


def default_rows(index: Index, player: int, into: Ints | None = None) -> Ints:
    """Node number of each row in the default order, in `into` or a new array.

    Returns
    -------
    int64, shape (infosets,)
    """
    order = DefaultRows(index, player)
    rows = np.empty(len(order), np.int64) if into is None else into
    for start, nodes in order.blocks():
        rows[start : start + len(nodes)] = nodes
    return rows


def row_blocks(rows: Rows) -> Iterator[tuple[int, Ints]]:
    """Runs of at most :data:`BLOCK_ROWS` rows, each with the number of its first row."""
    if isinstance(rows, DefaultRows):
        yield from rows.blocks()
        return
    for start in range(0, len(rows), BLOCK_ROWS):
        yield start, rows[start : start + BLOCK_ROWS]


# ---------------------------------------------------------------------------------------------
# Infosets as text


@kernel
def _write_texts(tables, nodes, out):
    squares = np.empty(tables.squares, np.int64)
    start = len(tables.setup)
    for i in range(len(nodes)):
        view = view_of(tables, nodes[i])
        placed, rank = tables.placed[view], nodes[i] - tables.node_start[view]
        n = unrank(rank, placed, tables.failed[view], tables.hidden, tables.orders, tables.ending_failed, squares)
        out[i, 0] = BAR
        for k in range(start):
            out[i, 1 + 2 * k] = ZERO + tables.setup[k]
            out[i, 2 + 2 * k] = PLACED
        for k in range(n):
            at = 1 + 2 * (start + k)
            out[i, at] = ZERO + squares[k]
            out[i, at + 1] = PLACED if placed >> squares[k] & 1 else FAILED


def infoset_texts(index: Index, player: int, nodes: Ints) -> NDArray[np.bytes_]:
    """Texts of infosets.

    Returns
    -------
    bytes, shape (len(nodes),): ``S17`` on nine squares, padded with zero bytes by numpy.
    """
    return texts_of(infoset_tables(index, player), text_width(index, player), nodes)


def text_width(index: Layout, player: int) -> int:
    """Length of the longest text of an infoset."""
    return 1 + 2 * (len(index.game.setup[player]) + index.players[player].slices - 1)


def texts_of(tables: InfosetTables, width: int, nodes: Ints) -> NDArray[np.bytes_]:
    """As :func:`infoset_texts`."""
    out = np.zeros((len(nodes), width), np.uint8)
    _write_texts(tables.only(TextTables), nodes, out)
    return out.reshape(-1).view(f"S{width}")


def infoset_text(index: Index, player: int, node: int) -> str:
    """Text of one infoset."""
    return str(infoset_texts(index, player, np.array([node], np.int64))[0], "ascii")


@kernel
def _fill_lines(texts, out):
    end = 0
    for i in range(len(texts)):
        for k in range(texts.shape[1]):
            if texts[i, k]:
                out[end] = texts[i, k]
                end += 1
        out[end] = NEWLINE
        end += 1
    return end


def as_lines(texts: NDArray[np.bytes_]) -> bytes:
    """Texts as the lines of a file."""
    padded = texts.reshape(-1, 1).view(np.uint8)
    lines = np.empty(len(padded) * (padded.shape[1] + 1), np.uint8)
    return lines[: _fill_lines(padded, lines)].tobytes()


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


@piece
def _parse_line(tables, line, squares):
    size, start, n = tables.squares, len(tables.setup), (len(line) - 1) // 2
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
        if tried >> square & 1 or (k < start and not (success and square == tables.setup[k])):
            return NO_INFOSET
        tried |= 1 << square
        if k >= start:
            squares[k - start] = square
            placed |= int(success) << square
    for k in range(start):
        tried ^= 1 << tables.setup[k]
    key = placed << size | (tried ^ placed)
    at = position(tables.keys, 0, len(tables.keys), key)
    if at == len(tables.keys) or tables.keys[at] != key or not tables.decides[tables.view_of_key[at]]:
        return NO_INFOSET
    rank = rank_order(squares, n - start, placed, tables.hidden, tables.orders, tables.ending_failed)
    return NO_INFOSET if rank < 0 else tables.node_start[tables.view_of_key[at]] + rank


@kernel
def _parse_lines(tables, data, rows, count, seen):
    """Parse complete lines up to the first bad one: (rows filled, bytes used, fault or 0, node of a doubled line)."""
    squares = np.empty(tables.squares, np.int64)
    begin = 0
    for end in range(len(data)):
        if data[end] != NEWLINE:
            continue
        stop = end - 1 if end > begin and data[end - 1] == RETURN else end
        node = _parse_line(tables, data[begin:stop], squares)
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
    """Collects rows from lines of text, and checks that every infoset occurs exactly once.

    Parameters
    ----------
    index, player
        The player whose infosets are expected.
    source
        Name of the lines' source in errors.
    into
        int64, shape (infosets,): the array for the rows; default: a new one.
    """

    def __init__(self, index: Index, player: int, source: str, into: Ints | None = None) -> None:
        self.index, self.player, self.source = index, player, source
        self._tables = infoset_tables(index, player).only(ParsingTables)
        infosets = int(index.players[player].infosets_by_slice().sum())
        # No infoset is accepted twice, so this is long enough for any file.
        self._rows = np.empty(infosets, np.int64) if into is None else into
        self._seen = np.zeros(index.players[player].nodes, np.bool_)
        self._count = 0

    def feed(self, data: bytes) -> bytes:
        """Parse all complete lines of `data`; return the rest.

        Raises
        ------
        InfosetFileError
            At the first line that is malformed, no infoset of the player, or a repetition.
        """
        array = np.frombuffer(data, np.uint8)
        self._count, used, fault, node = _parse_lines(self._tables, array, self._rows, self._count, self._seen)
        if fault or len(data) - used > _BLOCK_BYTES:
            raise InfosetFileError(self._complaint(data[used : used + 200], fault or MALFORMED, node))
        return data[used:]

    def _complaint(self, rest: bytes, fault: int, node: int) -> str:
        text = rest.split(b"\n")[0].removesuffix(b"\r").decode(errors="replace")
        quoted = repr(text if len(text) <= 40 else text[:40] + "...")
        where = f"{self.source}, line {self._count + 1}: {quoted}"
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
    tables = infoset_tables(index, player).only(ParsingTables)
    line = np.frombuffer(text.encode(errors="replace"), np.uint8)
    node = int(_parse_line(tables, line, np.empty(tables.squares, np.int64)))
    if node == MALFORMED:
        raise InfosetFileError(
            f"{text!r} is malformed; an infoset is '|' followed by pairs of a square and '*' or '.'."
        )
    if node == NO_INFOSET:
        raise InfosetFileError(f"{text!r} is no infoset of player {player} in {index.game.name}.")
    return node


def read_infosets(index: Index, player: int, path: Path, into: Ints | None = None) -> Ints:
    """Rows in the order of a file of infosets, in which every infoset must occur exactly once.

    Lines may end with CRLF, and the last line may lack its end.

    Returns
    -------
    int64, shape (infosets,)

    Raises
    ------
    InfosetFileError
        If the file is unreadable or empty, or a line is malformed, no infoset of the player, doubled or missing.
    """
    reader, rest = RowReader(index, player, str(path), into), b""
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
