"""Pairs of views, indices and timing operators on disk: stored once and read by every later stage.

The arrays of a store have the names of a class's attributes, so that the docstring of the class
also describes the store.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from pttt_ooc.disk.store import Array, create_array, map_array, read_array, read_attrs, write_array, write_attrs
from pttt_ooc.errors import StoreError
from pttt_ooc.games.rules.catalogue import named_game
from pttt_ooc.games.structure.building import build_timing
from pttt_ooc.games.structure.index import Index, Orbits, PlayerIndex
from pttt_ooc.games.structure.timing import Timing
from pttt_ooc.games.structure.views import Pairs
from pttt_ooc.types import Symmetry

_Table = TypeVar("_Table", PlayerIndex, Orbits, Timing)
_PAIRS = [field.name for field in fields(Pairs) if field.name != "terminal_histories"]


def write_pairs(root: Path, game: str, pairs: Pairs) -> None:
    """Store all pairs of views of a game in the (new) Zarr group `root`.

    Raises
    ------
    StoreError
        If it cannot be written.
    """
    for name in _PAIRS:
        write_array(root, f"pairs/{name}", getattr(pairs, name), compress=True)
    write_attrs(root, {"game": game, "terminal_histories": pairs.terminal_histories})


def read_pairs(root: Path, game: str) -> Pairs:
    """The pairs that :func:`write_pairs` stored.

    Raises
    ------
    StoreError
        If they are missing, damaged, or belong to another game.
    """
    attrs = _attrs_of(root, game)
    arrays = {name: read_array(root, f"pairs/{name}") for name in _PAIRS}
    return Pairs(**arrays, terminal_histories=attrs["terminal_histories"])


def write_index(root: Path, index: Index) -> None:
    """Add both players' indices to the Zarr group `root`, which may contain one for each symmetry.

    Raises
    ------
    StoreError
        If it cannot be written.
    """
    for player in (0, 1):
        for group, tables in (("players", index.players[player]), ("orbits", index.orbits[player])):
            for name, array in tables.arrays().items():
                write_array(root, f"{index.symmetry}/{group}/{player}/{name}", array, compress=False)
    write_attrs(root, {"game": index.game.name})


def read_index(root: Path, game: str, symmetry: Symmetry) -> Index:
    """The index that :func:`write_index` stored, with mapped arrays.

    Raises
    ------
    StoreError
        If it is missing, damaged, or belongs to another game.
    """
    _attrs_of(root, game)
    players = [_map_table(PlayerIndex, root, f"{symmetry}/players/{p}") for p in (0, 1)]
    orbits = [_map_table(Orbits, root, f"{symmetry}/orbits/{p}") for p in (0, 1)]
    return Index(named_game(game), symmetry, (players[0], players[1]), (orbits[0], orbits[1]))


def write_timing(
    root: Path, index: Index, pairs: Pairs, player: int, on_progress: Callable[[float], None] = lambda share: None
) -> None:
    """Build a player's timing operators in the Zarr group `root`; the largest tables are built in place.

    Raises
    ------
    StoreError
        If they cannot be written.
    """

    def add_array(name: str, length: int, dtype: type[np.unsignedinteger[Any]]) -> Array:
        arrays[name] = create_array(root, f"timing/{player}/{name}", (length,), dtype)
        return arrays[name]

    arrays: dict[str, Array] = {}
    timing = build_timing(index, pairs, player, add_array, on_progress)
    for name, array in timing.arrays().items():
        if name not in arrays:
            write_array(root, f"timing/{player}/{name}", array, compress=False)
    write_attrs(root, {"game": index.game.name})


def read_timings(root: Path, game: str) -> tuple[Timing, Timing]:
    """The operators that :func:`write_timing` stored, with mapped arrays.

    Raises
    ------
    StoreError
        If they are missing, damaged, or belong to another game.
    """
    _attrs_of(root, game)
    return _map_table(Timing, root, "timing/0"), _map_table(Timing, root, "timing/1")


def _map_table(table: type[_Table], root: Path, group: str) -> _Table:
    return table(*[map_array(root, f"{group}/{field.name}") for field in fields(table)])


def _attrs_of(root: Path, game: str) -> dict[str, Any]:
    attrs = read_attrs(root)
    if attrs.get("game") != game:
        raise StoreError(f"{root} is of the game {attrs.get('game')}, not {game}; make it again.")
    return attrs
