"""The choice among equilibria at the end of the stage "finish": key ``finish: against`` of the configuration.

See :mod:`pttt_ooc.exact.equilibria.choice`.  If the choice cannot be made, a sentence says why, and the plans of
the double oracle are the result, with the pure rule where they do not come.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from pttt_ooc.disk.contents import content_digest
from pttt_ooc.disk.files import digest
from pttt_ooc.disk.memory import MemoryNeeds
from pttt_ooc.disk.numbers import gap
from pttt_ooc.errors import PtttError
from pttt_ooc.exact.double_oracle.oracle import DoubleOracle
from pttt_ooc.exact.equilibria.choice import choose_strategy
from pttt_ooc.exact.equilibria.optimal_face import OptimalFace
from pttt_ooc.games.structure.index import Index
from pttt_ooc.games.structure.strategy import Floats, Strategy
from pttt_ooc.pipeline.files.solution import Strategies, read_solution
from pttt_ooc.pipeline.stages.directories import SOLUTION, structure_of
from pttt_ooc.pipeline.stages.engines import open_engine
from pttt_ooc.pipeline.stages.stage_context import Facts, tell
from pttt_ooc.pipeline.stages.strategy_store import strategies_of

Reader = Callable[[str, int, Index, Path], Strategy]
"""Reads a strategy: its name, the player, the index, and the directory of all games."""

_RULE = "the pure rule is played where no plan comes."


@dataclass(frozen=True)
class Choice:
    """What the configuration asks for, and what stands against it.

    Attributes
    ----------
    against
        ``uniform``, ``none``, or the name of a strategy.
    obstacle
        Why no choice can be made, as the rest of a sentence; empty if one can.
    smallest_mb
        The memory that it takes, if that is the obstacle; else 0.
    """

    against: str
    obstacle: str = ""
    smallest_mb: int = 0

    @property
    def is_possible(self) -> bool:
        """Whether a choice is asked for, and can be made."""
        return self.against != "none" and not self.obstacle


def requested_choice(
    against: str, index: Index | None, wanted: MemoryNeeds[tuple[Floats, ...]], memory_mb: float
) -> Choice:
    """The choice that the configuration asks for, if there are an index and enough memory for it.

    Parameters
    ----------
    wanted
        The needs of the stage with a choice.
    """
    if against == "none" or index is None:
        return Choice("none")
    if index.group != index.game.symmetries:
        return Choice(against, f"needs symmetry: full, but this run has symmetry: {index.symmetry}")
    if wanted.smallest_mb > memory_mb:
        return Choice(against, f"takes a memory_mb of {wanted.smallest_mb}", wanted.smallest_mb)
    return Choice(against)


def choose_strategies(
    choice: Choice,
    oracle: DoubleOracle,
    average: Strategies,
    directory: Path,
    read: Reader | None,
    threads: int,
    largest_loss: float,
    log: Path | None = None,
) -> tuple[Strategies, Facts]:
    """Both players' choices in place of the solver's averages, and facts for the manifest: whether they are `made`.

    Parameters
    ----------
    average
        float64: their arrays are used.  Without a choice, they are the result.
    directory
        The directory of the run.
    read
        Reads a strategy other than uniform play.
    largest_loss
        What both choices together may lose against best responses.

    Raises
    ------
    PtttError
        If the opponent's strategy cannot be read, or a linear program cannot be solved.
    """
    facts: Facts = {"against": choice.against, "made": False}
    if choice.smallest_mb:
        facts |= {"stopped_by": "memory_mb", "smallest_mb": choice.smallest_mb}
    # Where no choice is asked for or possible, the averages stay; a sentence tells the obstacle.
    if choice.obstacle:
        tell(f"finish: against: {choice.against} {choice.obstacle}; {_RULE}", log)
    if not choice.is_possible:
        return average, facts
    # All equilibrium strategies of a player are a face, which the double oracle's equilibrium determines; the choice is
    # the strategy on it that wins most against the opponent.
    oracle.end()
    index, arrays = average[0].index, (average[0].probabilities, average[1].probabilities)
    with open_engine(directory, index.game.name, index.symmetry, np.float64, threads) as engine:
        face, payoffs, loss = OptimalFace(oracle, engine), [], 0.0
        for player in (0, 1):
            found = choose_strategy(face, player, _opponent(choice.against, 1 - player, engine.index, directory, read))
            arrays[player][:] = found.strategy.probabilities
            payoffs.append(found.value)
            loss += max(found.loss, 0.0)
            del found
    # A choice that loses more than rounding is given up: the averages are read again, as before.
    facts |= {"made": loss <= largest_loss, "payoffs": payoffs, "loss": loss}
    if not facts["made"]:
        tell(f"finish: against: {choice.against} would lose {gap(loss)}; {_RULE}", log)
        return read_solution(directory / SOLUTION, index, arrays), facts
    return (Strategy(index, 0, arrays[0]), Strategy(index, 1, arrays[1])), facts


def _opponent(against: str, player: int, index: Index, directory: Path, read: Reader | None) -> Strategy | None:
    """The strategy of an opponent; None: uniform play."""
    if against == "uniform":
        return None
    if read is None:
        raise PtttError(f"finish: against is {against}, but nothing here can read it.")
    return read(against, player, index, structure_of(directory).parent.parent)


def opponent_digests(against: str) -> dict[str, str]:
    """The digest of the strategy that is named, so that a change is noticed; empty for uniform and none."""
    path = Path(against)
    if against in ("uniform", "none") or not path.exists():
        return {}
    if not path.is_dir():
        return {"against": digest(path)}  # only its owner writes it again
    store = strategies_of(path)
    return {"against": content_digest(store if store.exists() else path)}
