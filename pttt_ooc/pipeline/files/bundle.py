"""The hand-over file: both players' strategies in one self-describing HDF5 file.

For each player the file has the texts of the infosets and a tensor of probabilities, row by row, so
that it can be used without this package and with any order of rows.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import h5py
import numpy as np
from numpy.typing import DTypeLike, NDArray

from pttt_ooc.disk.files import replacing
from pttt_ooc.errors import StoreError, StrategyFileError
from pttt_ooc.games.structure.index import Index
from pttt_ooc.games.structure.views import Ints
from pttt_ooc.pipeline.files import deflate
from pttt_ooc.pipeline.files.infosets import (
    BLOCK_ROWS,
    RowReader,
    as_lines,
    text_width,
)
from pttt_ooc.pipeline.files.tensors import strategy_from_tensor

FORMAT_VERSION = 1

README = """\
A pair of strategies for {game}: {rows} x {columns} squares, turn rule "{turn_rule}".

Squares are numbered 0 to {last} row by row from the top left. In turn, each player attempts a square that they
have not attempted before. If the square is empty, the player's mark is placed; if it is occupied, the attempt
fails, which only that player learns. {turns}
Player 0 moves first; values are player 0's.

player0/infosets  all infosets of player 0, one fixed-length ASCII string each, padded with zero bytes:
                  "|", then for each own attempt so far its square and "*" (placed) or "." (failed);
                  squares placed before the game starts, if any, come first
player0/strategy  one row for each infoset, in the same order, one column for each square: the probability
                  with which player 0 attempts that square; squares already attempted have probability 0
player1/...       the same for player 1

Attributes of the file: "game", "format_version", and what is known about the strategies, such as their values,
how they were computed, and the configuration: all of it as JSON in "facts", and entry by entry in attributes with
dotted names.
"""

_TURNS = {
    "abrupt": "Either way the turn passes to the opponent.",
    "classical": "After a failed attempt the same player attempts another square.",
}


@contextmanager
def open_bundle(
    path: Path, index: Index, infosets: tuple[int, int], facts: Mapping[str, Any], dtype: DTypeLike = np.float32
) -> Iterator[tuple[PlayerPart, PlayerPart]]:
    """Write a hand-over file, in blocks of :data:`~pttt_ooc.pipeline.files.infosets.BLOCK_ROWS` rows.

    Parameters
    ----------
    index
        An index with symmetry ``"none"``.
    infosets
        Numbers of both players' infosets.
    facts
        Values, configuration, provenance: any JSON values.
    dtype
        Type of the tensors.

    Yields
    ------
    Each player's part.

    Raises
    ------
    StoreError
        If the file cannot be written.
    """
    with replacing(path) as temporary, _hdf5_errors(path), h5py.File(temporary, "w", libver=("v108", "latest")) as f:
        _describe(f, index, facts)
        parts = [PlayerPart(f.create_group(f"player{p}"), index, p, infosets[p], np.dtype(dtype)) for p in (0, 1)]
        yield parts[0], parts[1]


@contextmanager
def _hdf5_errors(path: Path) -> Iterator[None]:
    try:
        yield
    except RuntimeError as error:  # of h5py, if the disk is full when a file is flushed or closed
        raise StoreError(f"Cannot write {path}: {error}.") from error


def _describe(f: h5py.File, index: Index, facts: Mapping[str, Any]) -> None:
    game = index.game
    f.attrs["README"] = README.format(
        **{"game": game.name, "rows": game.rows, "columns": game.columns, "turn_rule": game.turn_rule},
        last=game.squares - 1,
        turns=_TURNS[game.turn_rule],
    )
    f.attrs["game"] = game.name
    f.attrs["format_version"] = FORMAT_VERSION
    f.attrs["facts"] = json.dumps(facts, indent=1)
    for name, value in _flatten(facts):
        f.attrs[name] = value


def _flatten(facts: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Entries of nested mappings under dotted names, as far as HDF5 can store their values directly."""
    for key, value in facts.items():
        name = f"{prefix}{key}"
        if isinstance(value, Mapping):
            yield from _flatten(value, name + ".")
        elif isinstance(value, bool | int | float | str) and name not in ("README", "game", "format_version", "facts"):
            yield name, value
        elif isinstance(value, list | tuple) and value and all(isinstance(v, int | float) for v in value):
            yield name, np.array(value)
        # Other values (None, other lists) are only in the JSON.


class PlayerPart:
    """One player's part of a hand-over file, block by block; see :func:`open_bundle`."""

    def __init__(self, group: h5py.Group, index: Index, player: int, infosets: int, dtype: np.dtype[Any]) -> None:
        squares, self._chunk, self._dtype = index.game.squares, min(infosets, BLOCK_ROWS), dtype
        options = {"compression": "gzip", "compression_opts": 1, "shuffle": True}  # each chunk has zlib's checksum
        texts = f"S{text_width(index, player)}"
        self._infosets = group.create_dataset("infosets", (infosets,), texts, chunks=(self._chunk,), **options)
        chunks = (self._chunk, squares)
        self._tensor = group.create_dataset("strategy", (infosets, squares), dtype, chunks=chunks, **options)
        self._infosets.attrs["description"] = f"texts of player {player}'s infosets, row by row"
        what = f"probability (0 to 1) of each square at each of player {player}'s infosets"
        self._tensor.attrs["description"] = what

    def pack(self, texts: NDArray[np.bytes_], block: NDArray[Any]) -> tuple[bytes, bytes]:
        """Compress texts and tensor of a block of rows; callable from any thread."""
        return self._chunk_of(texts), self._chunk_of(np.ascontiguousarray(block, self._dtype))

    def _chunk_of(self, rows: NDArray[Any]) -> bytes:
        """A chunk after HDF5's filters "shuffle" and "gzip"; missing rows of the last chunk are zeros."""
        if len(rows) > self._chunk:
            raise ValueError(f"a block of {len(rows)} rows does not fit a chunk of {self._chunk}")
        data = rows.reshape(len(rows), -1).view(np.uint8)
        if len(data) < self._chunk:
            data = np.concatenate([data, np.zeros((self._chunk - len(data), data.shape[1]), np.uint8)])
        return deflate.whole(np.ascontiguousarray(data.reshape(-1, rows.itemsize).T).data)

    def write(self, start: int, packed: tuple[bytes, bytes]) -> None:
        """Write a block that begins at row `start`."""
        # Write whole chunks and bypass HDF5's filters, which would run on one thread.
        self._infosets.id.write_direct_chunk((start,), packed[0])
        self._tensor.id.write_direct_chunk((start, 0), packed[1])


def read_bundle_strategy(
    path: Path,
    index: Index,
    player: int,
    rows: Ints | None = None,
    into: NDArray[np.floating[Any]] | None = None,
) -> NDArray[np.floating[Any]]:
    """Read one player's strategy from a hand-over file with any order of rows.

    Parameters
    ----------
    rows
        int64, shape (infosets,): the array for the node numbers of the rows; default: a new one.
    into
        The array for the result; default: a new one.

    Returns
    -------
    float64, shape (sequences,): view by view, action by action, order by order.

    Raises
    ------
    StrategyFileError
        If the file is unreadable, damaged or no hand-over file, or of another game or format version.
    InfosetFileError
        If its infosets are not exactly the player's.
    StrategyError
        If the tensor has another shape or dtype, or a row that is not a probability distribution.
    """
    with _open_hdf5(path) as f:
        game, _ = _checked_attrs(path, f)
        if game != index.game.name:
            raise StrategyFileError(f"{path}: The strategies are for {game}, not for {index.game.name}.")
        infosets, tensor = _datasets(path, f, player)
        reader = RowReader(index, player, f"{path}, player{player}/infosets", rows)
        for start in range(0, len(infosets), BLOCK_ROWS):
            reader.feed(as_lines(infosets[start : start + BLOCK_ROWS]))
        source = f"{path}, player{player}/strategy"
        return strategy_from_tensor(index, player, tensor, reader.finish(), source=source, into=into)


@dataclass(frozen=True)
class BundleHeader:
    """The header of a hand-over file.

    Attributes
    ----------
    game
        Name of the game.
    facts
        The `facts` of :func:`open_bundle`.
    shape
        Shape of the given player's tensor.
    """

    game: str
    facts: dict[str, Any]
    shape: tuple[int, ...]


def read_bundle_header(path: Path, player: int) -> BundleHeader:
    """The header of a hand-over file, without its arrays; errors as :func:`read_bundle_strategy`."""
    with _open_hdf5(path) as f:
        game, facts = _checked_attrs(path, f)
        return BundleHeader(game, facts, tuple(_datasets(path, f, player)[1].shape))


@contextmanager
def _open_hdf5(path: Path) -> Iterator[h5py.File]:
    try:
        with h5py.File(path, "r") as f:
            yield f
    except (OSError, RuntimeError, ValueError, TypeError, KeyError) as error:  # of h5py, for damaged or hostile files
        if isinstance(error, BlockingIOError):  # of HDF5's lock
            raise StrategyFileError(
                f"{path}: Another program has this HDF5 file open for writing; close it there."
            ) from error
        reason = getattr(error, "strerror", None) or str(error)
        raise StrategyFileError(f"{path}: Not a readable HDF5 file ({reason}).") from error


def _checked_attrs(path: Path, f: h5py.File) -> tuple[str, dict[str, Any]]:
    """Game and facts, after a check of the format."""
    version, game, facts = (f.attrs.get(name) for name in ("format_version", "game", "facts"))
    if version is None or not isinstance(game, str):
        raise StrategyFileError(f"{path}: This HDF5 file is not a hand-over file, it lacks 'format_version' or 'game'.")
    if np.ndim(version) or version != FORMAT_VERSION:
        raise StrategyFileError(f"{path}: The format version is {version}, but only {FORMAT_VERSION} can be read.")
    content = json.loads(facts) if isinstance(facts, str) else {}
    return game, content if isinstance(content, dict) else {}


def _datasets(path: Path, f: h5py.File, player: int) -> tuple[h5py.Dataset, h5py.Dataset]:
    """The two datasets of `player`."""
    found = [f.get(f"player{player}/{name}") for name in ("infosets", "strategy")]
    for name, dataset in zip(("infosets", "strategy"), found, strict=True):
        if not isinstance(dataset, h5py.Dataset):
            raise StrategyFileError(f"{path}: The dataset player{player}/{name} is missing.")
    if found[0].ndim != 1 or found[0].dtype.kind != "S":
        raise StrategyFileError(f"{path}: player{player}/infosets is not a list of fixed-length ASCII strings.")
    return found[0], found[1]
