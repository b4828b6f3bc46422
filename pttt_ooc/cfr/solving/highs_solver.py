"""Linear programs with their bases, solved by HiGHS; only this module sets HiGHS up.

In each thread of a process, HiGHS keeps a scheduler with the number of threads that the first program asked for, and
refuses a program that asks for another number.  Other code in the process may use HiGHS too.  So each program runs on
a thread of its own, with its own scheduler: it finds no other settings, and leaves none behind.

It needs ``highspy``, an extra that is imported when it is used.
"""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pttt_ooc.errors import PtttError

Floats = NDArray[np.float64]
Statuses = NDArray[np.int8]
Basis = tuple[Statuses, Statuses]
"""Statuses of columns and rows: 0 at the lower bound, 1 basic, 2 at the upper bound, 3 free at 0, 4 nonbasic."""

LOWER, BASIC, UPPER, NOT_BASIC = 0, 1, 2, 4

_ALWAYS = {"log_to_console": False, "threads": 1}  # more threads would need the parallel simplex method
_TOLD = "ERROR:", "WARNING:"  # how HiGHS begins a line that reports a problem


class UnsolvedError(PtttError):
    """HiGHS does not solve a linear program.

    Attributes
    ----------
    reason
        In the words of HiGHS.
    """

    def __init__(self, reason: str, program: str = "A linear program") -> None:
        more = "That is not because of the game; please report it."
        super().__init__(f"{program} was not solved: {reason}. {more}")
        self.reason = reason


class ColumnProgram(NamedTuple):
    """A program, maximised: its matrix column by column, and the lower and upper bounds of columns and rows.

    Attributes
    ----------
    costs : float64 (c,)
        Of columns.
    columns, rows : two float64 (c,) and (r,)
        Their bounds.
    starts, entry_rows, entries : int32 (c + 1,), int32, float64
        The matrix.
    """

    costs: Floats
    columns: tuple[Floats, Floats]
    rows: tuple[Floats, Floats]
    starts: NDArray[np.int32]
    entry_rows: NDArray[np.int32]
    entries: Floats


@dataclass(frozen=True, eq=False)
class Solution:
    """An optimal solution: values of columns, multipliers of rows, and the basis."""

    values: Floats
    multipliers: Floats
    basis: Basis


def solve(program: ColumnProgram, options: Mapping[str, Any], start: Basis | None = None) -> Solution:
    """Solve a program, from a basis if there is one; for the options see the documentation of HiGHS.

    Raises
    ------
    UnsolvedError
        If HiGHS finds no optimum.
    """
    import highspy

    words: list[str] = []
    solver = solver_of(program, options, words)
    if start:
        kinds = list(highspy.HighsBasisStatus.__members__.values())
        basis = highspy.HighsBasis()
        basis.valid = True
        basis.col_status, basis.row_status = ([kinds[k] for k in part] for part in start)
        solver.setBasis(basis)
    with ThreadPoolExecutor(1, "HiGHS") as own:
        own.submit(solver.run).result()
    if solver.getModelStatus() != highspy.HighsModelStatus.kOptimal:
        raise UnsolvedError(_ending(solver, words))
    solution, found = solver.getSolution(), solver.getBasis()
    columns, rows = (np.array([int(k) for k in part], np.int8) for part in (found.col_status, found.row_status))
    return Solution(np.array(solution.col_value), np.array(solution.row_dual), (columns, rows))


def solver_of(program: ColumnProgram, options: Mapping[str, Any], words: list[str] | None = None) -> Any:
    """A solver that holds a program and prints nothing; what HiGHS says is added to `words`.

    Raises
    ------
    UnsolvedError
        If HiGHS refuses an option or the program.
    """
    import highspy

    model, words = highspy.HighsLp(), [] if words is None else words
    model.num_col_, model.num_row_ = len(program.costs), len(program.rows[0])
    model.sense_ = highspy.ObjSense.kMaximize
    model.col_cost_ = program.costs
    (model.col_lower_, model.col_upper_), (model.row_lower_, model.row_upper_) = program.columns, program.rows
    model.a_matrix_.format_ = highspy.MatrixFormat.kColwise
    model.a_matrix_.start_, model.a_matrix_.index_ = program.starts, program.entry_rows
    model.a_matrix_.value_ = program.entries
    base: Any = highspy.Highs.__base__  # its Python class prints a banner, and is never freed
    solver = base()
    solver.setOptionValue("log_to_console", False)  # before anything is said
    solver.setCallback(lambda kind, message, *rest: words.append(message), None)
    solver.startCallback(highspy.cb.HighsCallbackType.kCallbackLogging)
    accepted = [solver.setOptionValue(name, value) for name, value in {**_ALWAYS, **options}.items()]
    if highspy.HighsStatus.kError in [*accepted, solver.passModel(model)]:
        raise UnsolvedError(_ending(solver, words))
    return solver


def _ending(solver: Any, words: list[str]) -> str:
    """How HiGHS ended, in its own words."""
    told = [line.partition(":")[2].strip() for text in words for line in text.splitlines() if line.startswith(_TOLD)]
    state = solver.modelStatusToString(solver.getModelStatus())
    return " ".join([f'HiGHS ends with "{state}"', *(f'and says: "{line}"' for line in dict.fromkeys(told))])
