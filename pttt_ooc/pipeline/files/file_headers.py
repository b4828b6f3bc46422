"""Headers of strategy files: attributes of solutions, shapes and dtypes of tensors.

No arrays are read and no slow modules are imported, so that a bad file is refused at once.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from pttt_ooc.disk.manifests import FORMAT_VERSION
from pttt_ooc.disk.store import read_attrs
from pttt_ooc.errors import StoreError, StrategyError

SUM_TOLERANCE = {"float16": 1e-3, "float32": 1e-5, "float64": 1e-5}
"""Allowed difference of a row's sum from 1, by the tensor's dtype: rounding each entry to half precision
changes the sum by up to 5e-4; the tolerance of wider types allows careless normalisation."""


class ShapeError(StrategyError):
    """A tensor has another shape than a strategy of the player.

    Parameters
    ----------
    shape
        The shape that was found.
    """

    def __init__(self, shape: tuple[int, ...], sentence: str) -> None:
        super().__init__(sentence)
        self.shape = shape


def check_dtype(dtype: np.dtype[Any], source: str) -> None:
    """Raise a StrategyError unless a tensor of this dtype can be read."""
    if dtype.newbyteorder("=").name not in SUM_TOLERANCE:
        found = str(dtype)[:60]
        raise StrategyError(f"{source}: Invalid dtype: found {found}, expected one of {', '.join(SUM_TOLERANCE)}.")


def check_shape(shape: tuple[int, ...], expected: tuple[int, ...], source: str) -> None:
    """Raise a ShapeError unless a tensor has the expected shape."""
    if shape != expected:
        raise ShapeError(shape, f"{source}: Invalid tensor shape: found {shape}, expected {expected}.")


def solution_dtype(attrs: Mapping[str, Any]) -> np.dtype[Any]:
    """The type of a solution's probabilities, from its attributes."""
    return np.dtype("float64" if attrs.get("dtype") == "float64" else "float32")


def solution_attrs(root: Path) -> dict[str, Any]:
    """The attributes of a solution: its game, its symmetry, and those from the solver.

    Raises
    ------
    StoreError
        If there is no solution at `root`, or one of another format version.
    """
    attrs = read_attrs(root)
    if not {"game", "symmetry", "format_version"} <= attrs.keys():
        raise StoreError(f"{root} is a Zarr group, but no solution.")
    if attrs["format_version"] != FORMAT_VERSION:
        raise StoreError(
            f"{root} is of format version {attrs['format_version']}, this program reads version {FORMAT_VERSION}; "
            f"make it again."
        )
    return attrs
