"""Memory budgets: which arrays of a computation are in memory, and which are mapped from files.

A computation describes its arrays once, as a *tree* of virtual arrays: tuples, named tuples and
dataclasses whose leaves have a shape and a dtype, but no memory.  From this description the budget is
checked before anything is allocated, and :meth:`Workspace.allocate` returns the same tree with real
arrays.  Arrays that do not fit are mapped from files: the operating system writes out and drops
the pages of mapped files when memory is short.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, is_dataclass, replace
from pathlib import Path
from typing import Any, Generic, TypeVar, cast

import numpy as np
from numpy.typing import DTypeLike

from pttt_ooc.disk.resources import MB, available_bytes
from pttt_ooc.disk.store import Array, Shape, scratch_array
from pttt_ooc.errors import MemoryBudgetError

_PROCESS = 235 * MB  # in a job of Snakemake, which accounts for 40 MB
_THREAD = 4 * MB  # a stack and the C library's reserve; measured: 3 MB
_PIECES = 128 * MB  # for pieces of mapped arrays, or what the budget has
_LEAST_PIECES = 32 * MB  # with less room than this they are not moved

Tree = TypeVar("Tree")


def virtual_array(shape: int | Shape, dtype: DTypeLike) -> Array:
    """A read-only array without memory, which describes an array to be allocated."""
    return np.broadcast_to(np.zeros((), dtype), shape)


def with_leaves(tree: Tree, leaf: Callable[[str, Array], Array], path: str = "") -> Tree:
    """The same tree with other arrays.

    Parameters
    ----------
    tree
        An array, or a tuple, named tuple or dataclass of trees.
    leaf
        Returns the new array for a path and the old array.  The path consists of field names and
        positions in tuples, as in ``values/nodes/0``.
    path
        Path of the tree itself.
    """

    def part(name: str | int, branch: Any) -> Any:
        return with_leaves(branch, leaf, f"{path}/{name}" if path else str(name))

    if isinstance(tree, np.ndarray):
        return cast(Tree, leaf(path, tree))
    if isinstance(tree, tuple):
        names = getattr(tree, "_fields", range(len(tree)))
        parts = [part(name, branch) for name, branch in zip(names, tree, strict=True)]
        return cast(Tree, type(tree)(*parts) if hasattr(tree, "_fields") else tuple(parts))
    if is_dataclass(tree) and not isinstance(tree, type):
        return replace(tree, **{f.name: part(f.name, getattr(tree, f.name)) for f in fields(tree)})
    raise TypeError(f"a tree is made of tuples, dataclasses and arrays; {path or 'this'} is {type(tree).__name__}")


def leaves(tree: Any) -> dict[str, Array]:
    """The arrays of a tree by path, in the order of the tree."""
    found: dict[str, Array] = {}

    def keep(path: str, array: Array) -> Array:
        found[path] = array
        return array

    with_leaves(tree, keep)
    return found


@dataclass(frozen=True)
class MemoryNeeds(Generic[Tree]):
    """The peak memory needs of a computation.

    Attributes
    ----------
    fixed
        Bytes that must be in memory, by purpose.
    arrays
        Tree of virtual arrays that may be in memory or mapped from files; the ones that gain most
        from memory come first.
    thread
        Additional bytes for each thread, by purpose.
    """

    fixed: Mapping[str, int]
    arrays: Tree
    thread: Mapping[str, int] = field(default_factory=dict)

    @property
    def least(self) -> dict[str, int]:
        """Bytes that must be in memory with one thread, by purpose."""
        return dict(Counter(self.fixed) + Counter(self.thread))

    @property
    def smallest_mb(self) -> int:
        """The smallest sufficient budget with one thread, MB (10^6 bytes), rounded up."""
        return -(-sum(self.least.values()) // MB)

    def room_for_pieces(self, budget_mb: float, besides: int = 0) -> int:
        """Bytes of a budget for pieces of mapped arrays, which :class:`.BlockMover` moves.

        There are none if the budget holds all arrays, or the machine does: then the system's cache has all files.

        Parameters
        ----------
        besides
            Bytes of other arrays that are mapped if the budget does not hold all.
        """
        whole = sum(self.least.values()) + sum(array.nbytes for array in leaves(self.arrays).values()) + besides
        held = available_bytes() + _PROCESS  # the process has its memory already
        return 0 if whole <= max(budget_mb * MB, held) else _PIECES

    def within(
        self, budget_mb: float = math.inf, scratch: Path | None = None, most_threads: int = 1, room: int = 0
    ) -> Workspace[Tree]:
        """Decide the number of threads, and which arrays are in memory and which are mapped.

        The budget goes to as many threads as possible, then to the room for pieces of mapped arrays, if any is wanted,
        and then to the arrays.  What they leave is added to the room.

        Parameters
        ----------
        budget_mb
            Memory limit, MB.
        scratch
            Directory for the files of mapped arrays.
        most_threads
            Largest number of threads.
        room
            Bytes for pieces of mapped arrays; see :meth:`room_for_pieces`.

        Raises
        ------
        MemoryBudgetError
            If the budget is too small for one thread; the sentence says which budget is enough.
        """
        if self.smallest_mb > budget_mb:
            largest = sorted(self.least.items(), key=lambda item: -item[1])[:3]
            listed = ", ".join(f"{name} {size / MB:.0f} MB" for name, size in largest)
            raise MemoryBudgetError(
                f"A memory budget of {budget_mb:g} MB is too small: {self.smallest_mb} MB is the smallest that will do "
                f"({listed}); raise memory_mb, on the command line --memory-mb."
            )
        threads = self._threads_within(budget_mb, most_threads)
        fixed = sum(self.fixed.values()) + threads * sum(self.thread.values())
        left, held = budget_mb * MB - fixed, {}
        reserved = min(room, left) if left >= _LEAST_PIECES else 0
        left -= reserved
        sizes = {path: array.nbytes for path, array in leaves(self.arrays).items()}
        for path, size in sizes.items():
            if size <= left:
                held[path] = size
                left -= size
        room = int(reserved + left) if reserved else 0
        projected = -(-(fixed + sum(held.values()) + room) // MB)
        mapped = sum(sizes.values()) - sum(held.values())
        return Workspace(self.arrays, frozenset(held), projected, mapped, scratch, threads, room)

    def _threads_within(self, budget_mb: float, most: int) -> int:
        each = sum(self.thread.values())
        if not each or math.isinf(budget_mb):
            return most
        return min(most, int((budget_mb * MB - sum(self.fixed.values())) // each))


@dataclass(frozen=True)
class Workspace(Generic[Tree]):
    """The arrays of a computation within its budget, before allocation.

    Attributes
    ----------
    arrays
        Tree of virtual arrays.
    held
        Paths of the arrays that will be in memory.
    projected_mb
        Projected peak memory of the computation, MB.
    mapped
        Bytes of the arrays that will be mapped.
    scratch
        Directory for their files.
    threads
        Number of threads, within the budget and the limit.
    room
        Bytes of the budget for pieces of mapped arrays.
    """

    arrays: Tree
    held: frozenset[str]
    projected_mb: int
    mapped: int
    scratch: Path | None
    threads: int = 1
    room: int = 0

    def holds(self, more: int, budget_mb: float) -> bool:
        """Whether all arrays, and `more` bytes, are within the budget."""
        return not self.mapped and self.projected_mb * MB + more <= budget_mb * MB

    def fewer_threads(self, what: str, budget_mb: float, wanted: int) -> str:
        """A sentence for the user if the budget allows fewer threads than asked for; otherwise empty."""
        if self.threads >= wanted:
            return ""
        return (
            f"{budget_mb:g} MB of memory hold {self.threads} of {wanted} threads, so {what} uses {self.threads}; "
            "raise memory_mb for more."
        )

    def allocate(self) -> Tree:
        """Make the arrays; their content is arbitrary.

        Raises
        ------
        StoreError
            If one must be mapped from a file, and the disk is full or not writable.
        """

        def real(path: str, array: Array) -> Array:
            if path in self.held:
                return np.empty(array.shape, array.dtype)
            assert self.scratch is not None, "a limited budget needs a directory for files"
            return scratch_array(self.scratch, path, len(array), array.dtype)

        return with_leaves(self.arrays, real)


_LINE = 64  # bytes: every array within a buffer begins at a cache line


def buffer_for(*trees: Any) -> Array:
    """A virtual array of bytes that is large enough for any one of these trees, which are never used together."""
    sizes = [sum(-(-array.nbytes // _LINE) * _LINE for array in leaves(tree).values()) for tree in trees]
    return virtual_array(max(sizes, default=0), np.uint8)


def arrays_within(buffer: Array, tree: Tree) -> Tree:
    """The same tree with arrays that lie in a buffer, one after the other; see :func:`buffer_for`."""
    start = 0

    def place_array(path: str, array: Array) -> Array:
        nonlocal start
        begin, start = start, start + -(-array.nbytes // _LINE) * _LINE
        part: Array = buffer[begin : begin + array.nbytes].view(array.dtype)
        return part.reshape(array.shape)

    return with_leaves(tree, place_array)


def process_needs() -> dict[str, int]:
    """Bytes that any computation of the package needs: measured, and checked by tests."""
    return {"Python, libraries and compiled code": _PROCESS}


def thread_needs(**more: int) -> dict[str, int]:
    """Bytes that any thread needs, and additional ones by purpose."""
    return {"a thread": _THREAD, **more}


def in_memory(arrays: Tree) -> Tree:
    """The same tree with real arrays, all of them in memory."""
    return MemoryNeeds({}, arrays).within().allocate()
