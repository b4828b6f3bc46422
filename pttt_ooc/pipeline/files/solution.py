"""Solutions on disk: both players' strategies as a Zarr group, one array for each depth slice.

The solver's average strategies are a solution in single precision, and an equilibrium is one in double precision.

====================== ========================================================================
``strategy/<p>/<n>``   probabilities at player p's infosets after n own attempts: view by view,
                       action by action, order by order, as in the index of the same symmetry
attributes             game, symmetry, format_version, dtype (if it is not float32), and others
====================== ========================================================================
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from pttt_ooc.disk.manifests import FORMAT_VERSION
from pttt_ooc.disk.memory import in_memory
from pttt_ooc.disk.store import read_array, write_array, write_attrs
from pttt_ooc.errors import StoreError
from pttt_ooc.games.structure.index import Index
from pttt_ooc.games.structure.strategy import Floats, SlicedStrategy, Strategy, strategy_arrays
from pttt_ooc.pipeline.files.file_headers import solution_attrs, solution_dtype

Strategies = tuple[Strategy, Strategy]
SlicedStrategies = tuple[SlicedStrategy, SlicedStrategy]


def write_solution(
    root: Path, strategies: SlicedStrategies, attrs: Mapping[str, Any], dtype: DTypeLike = np.float32
) -> None:
    """Store both strategies in the (new) Zarr group `root`.

    Parameters
    ----------
    dtype
        The type of the stored probabilities: float32 or float64.
    attrs
        JSON values for the attributes of the group: algorithm, iteration, ...

    Raises
    ------
    StoreError
        If it cannot be written.
    """
    index = strategies[0].index
    for strategy in strategies:
        mine = index.players[strategy.player]
        for n in range(mine.slices):
            part = np.asarray(strategy.of_views(mine.views_of(n)), dtype)
            write_array(root, f"strategy/{strategy.player}/{n}", part, compress=True)
    own = {"game": index.game.name, "symmetry": index.symmetry, "format_version": FORMAT_VERSION}
    own |= {} if np.dtype(dtype) == np.float32 else {"dtype": np.dtype(dtype).name}
    write_attrs(root, dict(sorted({**attrs, **own}.items())))  # equal solutions are equal bytes


def read_solution(root: Path, index: Index, into: tuple[Floats, Floats] | None = None) -> Strategies:
    """Both strategies of a solution, in the layout of `index`.

    Parameters
    ----------
    into
        Arrays as described by :func:`~pttt_ooc.games.structure.strategy.strategy_arrays`; default: new ones in memory,
        of the stored type.

    Raises
    ------
    StoreError
        If it is missing or damaged, or is not for the game and symmetry of `index`.
    """
    first, second = into or in_memory(strategy_arrays(index, solution_dtype(solution_attrs(root))))
    return read_player(root, index, 0, first), read_player(root, index, 1, second)


def read_player(root: Path, index: Index, player: int, into: Floats) -> Strategy:
    """One player's strategy of a solution, written to `into`: float, shape (sequences,); errors as `read_solution`."""
    attrs = solution_attrs(root)
    if (attrs["game"], attrs["symmetry"]) != (index.game.name, index.symmetry):
        raise StoreError(
            f"{root} is a solution of {attrs['game']} with symmetry {attrs['symmetry']}, "
            f"not of {index.game.name} with symmetry {index.symmetry}."
        )
    mine = index.players[player]
    for n in range(mine.slices):
        read_array(root, f"strategy/{player}/{n}", into[mine.sequences_of(n)])
    return Strategy(index, player, into)
