"""A pair of strategies, prepared for questions: the values of all nodes, on disk or in memory.

====================== =======================================================================================
``<p>/probabilities``  player p's strategy, float32 or float64 (sequences,)
``<p>/values``         counterfactual value of each node if both follow their strategies, float64 (nodes,)
``<p>/best_values``    the same if player p follows the best response, float64 (nodes,)
``<p>/choices``        the best response: number of the chosen action at each node, uint8 (nodes,)
``profile.json``       game, symmetry, value, best responses
====================== =======================================================================================

On disk, a profile is a Zarr group whose directory is named by a digest of its inputs.  It is complete or absent, never
changes, and any number of processes map it read-only.
"""

from __future__ import annotations

import hashlib
import math
import time
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from pttt_ooc.cfr.solving.best_response import BestResponse
from pttt_ooc.cfr.solving.evaluation import Evaluation, check_layout
from pttt_ooc.cfr.sweep import tree
from pttt_ooc.cfr.sweep.engine import Engine, engine_needs, reach_arrays, reach_part
from pttt_ooc.cfr.sweep.tree import Reach, Slice
from pttt_ooc.disk.files import explain_errors, fresh_store, make_directory
from pttt_ooc.disk.locks import hold
from pttt_ooc.disk.manifests import FORMAT_VERSION, read_manifest, write_manifest
from pttt_ooc.disk.memory import MemoryNeeds, in_memory, leaves, process_needs, virtual_array, with_leaves
from pttt_ooc.disk.store import create_array, map_array
from pttt_ooc.errors import StoreError
from pttt_ooc.games.rules.catalogue import reference_value
from pttt_ooc.games.rules.game import Game
from pttt_ooc.games.structure.index import Index
from pttt_ooc.games.structure.infoset_places import Floats, Side, sides_of
from pttt_ooc.games.structure.strategy import Strategy
from pttt_ooc.games.structure.symmetry import unfold
from pttt_ooc.types import Symmetry

_MANIFEST, _LOCK = "profile.json", ".lock"


@dataclass(frozen=True, eq=False)
class PlayerArrays:
    """One player's part of a profile; see the table above."""

    probabilities: Floats
    values: NDArray[np.float64]
    best_values: NDArray[np.float64]
    choices: NDArray[np.uint8]


@dataclass(frozen=True, eq=False)
class _Working:
    """Work arrays: the gradient at the sequences of a slice, and the opponent's reach."""

    sequences: NDArray[np.float64]
    reach: Reach


@dataclass(frozen=True, eq=False)
class PreparedProfile:
    """A pair of strategies with the values that answer questions about them.

    Attributes
    ----------
    index
        The index that the arrays follow.
    players
        Each player's arrays, read-only.
    evaluation
        Value and best responses.
    directory
        The profile's directory; None if it is in memory.
    """

    index: Index
    players: tuple[PlayerArrays, PlayerArrays]
    evaluation: Evaluation
    directory: Path | None = None

    @property
    def game(self) -> Game:
        """The strategies' game."""
        return self.index.game

    @property
    def strategies(self) -> tuple[Strategy, Strategy]:
        """Both players' strategies, in the layout of the index."""
        first, second = (Strategy(self.index, p, self.players[p].probabilities) for p in (0, 1))
        return first, second

    @property
    def sides(self) -> tuple[Side, Side]:
        """Both players' tables for kernels."""
        return sides_of(self.index)

    @classmethod
    def prepare(
        cls,
        strategy0: Strategy,
        strategy1: Strategy,
        engine: Engine,
        directory: Path | None = None,
        memory_mb: float = math.inf,
    ) -> Self:
        """Compute a profile, or open it if it exists.

        Parameters
        ----------
        strategy0, strategy1
            Of player 0 and of player 1, in the layout of the engine's index, or with symmetry if the index has none.
            Probabilities are scaled to sum to 1 at every infoset.
        engine
            On an index with the symmetry of :func:`symmetry_of`.  Of any precision: the computation is in double
            precision.
        directory
            For all profiles; each has its own directory.  Default: in memory.
        memory_mb
            Memory budget, MB, without the given strategies; needs `directory`.

        Raises
        ------
        StrategyError
            If a strategy is the other player's, or in the layout of another game or symmetry.
        MemoryBudgetError
            If the budget is too small.
        StoreError
            If the directory cannot be written to.
        """
        strategies, engine = (strategy0, strategy1), engine.in_precision(np.float64)
        for player, strategy in enumerate(strategies):
            check_layout(strategy, strategy.index if _may_be_unfolded(strategy, engine.index) else engine.index, player)
        # In memory: computed now, and read-only from then on.
        if directory is None:
            arrays = in_memory(_virtual(strategies, engine.index))
            found = _compute(strategies, engine, in_memory(_working(engine)), arrays)
            for array in leaves(arrays).values():
                array.flags.writeable = False
            return cls(engine.index, arrays, found)
        # On disk: the directory's name is the digest of both strategies, so that it is computed once.
        path = directory / name_of(strategies, engine.index)
        with explain_errors(f"make the directory {directory}"):
            make_directory(directory)
        # A second process waits for the first, and then finds the profile.
        with hold(directory / _LOCK, "Waiting for process {}, which prepares a profile ...".format, wait=True):
            if not (path / _MANIFEST).exists():
                needs = MemoryNeeds(process_needs(), _working(engine), engine_needs(engine))
                workspace = needs.within(memory_mb, directory, engine.threads)
                engine.workers.limit(workspace.threads)
                # It is written to mapped files; the manifest comes last.
                with fresh_store(path) as root:
                    arrays = with_leaves(
                        _virtual(strategies, engine.index), lambda name, a: create_array(root, name, a.shape, a.dtype)
                    )
                    found = _compute(strategies, engine, workspace.allocate(), arrays)
                    write_manifest(root / _MANIFEST, "profile", **_facts(engine.index, found))
        return cls.open(path, engine.index)

    @classmethod
    def open(cls, path: Path, index: Index) -> Self:
        """A profile on disk, its arrays mapped.

        Parameters
        ----------
        path
            The profile's own directory.
        index
            Of the profile's game and symmetry.

        Raises
        ------
        StoreError
            If it is missing or damaged, or is for another game or symmetry.
        """
        facts = read_manifest(path / _MANIFEST, "profile")
        if (facts["game"], facts["symmetry"]) != (index.game.name, index.symmetry):
            raise StoreError(
                f"{path} is a profile of {facts['game']} with symmetry {facts['symmetry']}, "
                f"not of {index.game.name} with symmetry {index.symmetry}."
            )
        first, second = (
            PlayerArrays(*(map_array(path, f"{player}/{field.name}") for field in fields(PlayerArrays)))
            for player in (0, 1)
        )
        sizes = [[i.sequences, i.nodes, i.nodes, i.nodes] for i in index.players]
        if [[len(array) for array in leaves(arrays).values()] for arrays in (first, second)] != sizes:
            raise StoreError(f"{path} is a profile of another game that is called {index.game.name} too; delete it.")
        best = (facts["best_response_0"], facts["best_response_1"])
        found = Evaluation(facts["value"], *best, sum(best), None, None, None, facts["seconds"])
        return cls(index, (first, second), found.against(reference_value(index.game)), path)


def best_response_of(profile: PreparedProfile, player: int, into: NDArray[np.float32] | None = None) -> Strategy:
    """The best response of `player` to the opponent's strategy; see :class:`pttt_ooc.cfr.solving.best_response`."""
    value = (profile.evaluation.best_response_0, profile.evaluation.best_response_1)[player]
    return BestResponse(profile.index, player, value, profile.players[player].choices).strategy(into)


def symmetry_of(strategy0: Strategy, strategy1: Strategy) -> Symmetry:
    """The symmetry of a profile of two strategies: full if both strategies have it."""
    return "full" if strategy0.index.symmetry == strategy1.index.symmetry == "full" else "none"


def name_of(strategies: tuple[Strategy, Strategy], index: Index) -> str:
    """The name of a profile's directory: a digest of the rules, the layout and both strategies.

    BLAKE2b, 16 bytes, in hex.
    """
    total = hashlib.blake2b(digest_size=16)
    total.update(f"({FORMAT_VERSION!r}, {index.game.rules}, {index.symmetry!r})".encode())
    for strategy in strategies:
        numbers = np.ascontiguousarray(strategy.probabilities)
        total.update(repr((strategy.index.symmetry, numbers.dtype.str, len(numbers))).encode())
        total.update(hashlib.blake2b(numbers.data.cast("B")).digest())
    return total.hexdigest()


def size_on_disk(strategies: tuple[Strategy, Strategy], index: Index) -> int:
    """Bytes of the arrays of a profile of two strategies, in the layout of `index`."""
    return sum(array.nbytes for array in leaves(_virtual(strategies, index)).values())


def _may_be_unfolded(strategy: Strategy, index: Index) -> bool:
    return (strategy.index.game, strategy.index.symmetry, index.symmetry) == (index.game, "full", "none")


def _virtual(strategies: tuple[Strategy, Strategy], index: Index) -> tuple[PlayerArrays, PlayerArrays]:
    """Virtual arrays for both players."""
    first, second = (
        PlayerArrays(
            virtual_array(mine.sequences, strategy.probabilities.dtype),
            *(virtual_array(mine.nodes, kind) for kind in (np.float64, np.float64, np.uint8)),
        )
        for strategy, mine in zip(strategies, index.players, strict=True)
    )
    return first, second


def _working(engine: Engine) -> _Working:
    """Virtual work arrays for either player."""
    longest = max(int(i.sequences_by_slice().max()) for i in engine.index.players)
    return _Working(virtual_array(longest, np.float64), reach_arrays(engine.index.players, np.float64))


def _facts(index: Index, evaluation: Evaluation) -> Mapping[str, Any]:
    names = ("value", "best_response_0", "best_response_1", "seconds")
    return {"game": index.game.name, "symmetry": index.symmetry, **{name: getattr(evaluation, name) for name in names}}


def _compute(
    strategies: tuple[Strategy, Strategy], engine: Engine, working: _Working, arrays: tuple[PlayerArrays, PlayerArrays]
) -> Evaluation:
    """Fill a profile's arrays."""
    begun = time.perf_counter()
    for strategy, mine in zip(strategies, arrays, strict=True):
        if strategy.index.symmetry == engine.index.symmetry:
            mine.probabilities[:] = strategy.probabilities
        else:
            unfold(strategy, engine.index, mine.probabilities)
    value, best_0 = _compute_player(0, engine, working, arrays)
    _, best_1 = _compute_player(1, engine, working, arrays)
    seconds = time.perf_counter() - begun
    found = Evaluation(value, best_0, best_1, best_0 + best_1, None, None, None, seconds)
    return found.against(reference_value(engine.index.game))


def _compute_player(
    player: int, engine: Engine, working: _Working, arrays: tuple[PlayerArrays, PlayerArrays]
) -> tuple[float, float]:
    """Fill one player's arrays; return the values of the strategy and of the best response."""
    i, mine = engine.index.players[player], arrays[player]
    theirs = reach_part(working.reach, engine.index.players[1 - player])
    opponent = engine.reach(1 - player, arrays[1 - player].probabilities, theirs)
    for n in reversed(range(i.slices)):
        nodes, sequences = i.nodes_of(n), i.sequences_of(n)
        below = slice(nodes.stop, nodes.stop) if n + 1 == i.slices else i.nodes_of(n + 1)
        starts = (sequences.start, nodes.start, below.start)
        part = Slice(
            working.sequences[: sequences.stop - sequences.start], mine.values[nodes], mine.values[below], *starts
        )
        engine.gradient_slice(player, n, opponent, part)
        best = part._replace(nodes=mine.best_values[nodes], child_values=mine.best_values[below])
        best.nodes[:] = part.nodes
        engine.run(player, n, tree.values_of_strategy, part, mine.probabilities[sequences])
        engine.run(player, n, tree.best_values, best, mine.choices[nodes])
    return float(mine.values[0]), float(mine.best_values[0])
