"""The last linear program of a double oracle as a file for other solvers: MPS, with names.

Columns: ``x0:INFOSET:SQUARE``, the reach of a sequence of player 0, and ``v1:INFOSET``, the value of an infoset of
player 1.  Rows: ``flow0:INFOSET``, and ``best1:INFOSET:SQUARE``, whose multiplier is the reach of a sequence of player
1.  Infosets are in their canonical orientation, which stands for mirror images; see :mod:`.sparse_plan`.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from pttt_ooc.cfr.solving.highs_solver import solver_of
from pttt_ooc.disk.files import atomic_write_bytes, explain_errors
from pttt_ooc.exact.double_oracle.restricted_histories import Plans
from pttt_ooc.exact.double_oracle.restricted_program import CheckedProgram, columns_of
from pttt_ooc.exact.double_oracle.sparse_plan import SparsePlan, squares_of
from pttt_ooc.games.rules.game import Game
from pttt_ooc.games.rules.infoset_text import DIGITS, infoset_text


def write_program(checked: CheckedProgram, game: Game, plans: Plans, file: Path) -> None:
    """Write a program, which is maximised: the file has a section OBJSENSE.

    Parameters
    ----------
    plans
        Both players' plans, which may have grown since.

    Raises
    ------
    StoreError
        If the file cannot be written.
    """
    program = checked.program
    texts = [infoset_texts(game, player, plan) for player, plan in enumerate(plans)]
    solver = solver_of(columns_of(program), {})
    columns = [f"x0:{name}" for name in _sequences(plans[0], texts[0], program.sequences.tolist())]
    columns += [f"v1:{texts[1][infoset]}" for infoset in program.infosets.tolist()]
    rows = [f"flow0:{texts[0][infoset]}" for infoset in program.row_infosets.tolist()]
    rows += [f"best1:{name}" for name in _sequences(plans[1], texts[1], program.row_sequences.tolist())]
    for number, name in enumerate(columns):
        solver.passColName(number, name)
    for number, name in enumerate(rows):
        solver.passRowName(number, name)
    with TemporaryDirectory() as directory, explain_errors(f"write {file}"):
        written = Path(directory) / "program.mps"  # HiGHS goes by the suffix
        solver.writeModel(str(written))
        atomic_write_bytes(file, written.read_bytes())


def infoset_texts(game: Game, player: int, plan: SparsePlan) -> list[str]:
    """The texts of a plan's infosets."""
    texts, squares = [infoset_text((square, True) for square in game.setup[player])], squares_of(plan)
    for infoset in range(1, int(plan.counts[0])):
        sequence = int(plan.before[infoset])
        before = int(plan.infosets[sequence])  # an infoset comes after those that lead to it
        placed = int(plan.marks[infoset]) != int(plan.marks[before])
        texts.append(f"{texts[before]}{DIGITS[squares[sequence]]}{'*' if placed else '.'}")
    return texts


def _sequences(plan: SparsePlan, texts: Sequence[str], sequences: Sequence[int]) -> list[str]:
    squares = squares_of(plan)
    return [f"{texts[plan.infosets[sequence]]}:{DIGITS[squares[sequence]]}" for sequence in sequences]
