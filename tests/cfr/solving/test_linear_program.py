"""Matrix games, and linear programs without solution."""

import numpy as np
import pytest

from pttt_ooc.cfr.solving import linear_program
from pttt_ooc.errors import PtttError

pytest.importorskip("scipy")


def test_a_mixture_is_the_best_in_the_worst_column():
    found = linear_program.maximin(np.array([[2.0, -1.0], [-1.0, 1.0]]))
    np.testing.assert_allclose(found, [0.4, 0.6], atol=1e-9)


def test_a_program_without_solution_gets_a_sentence():
    one = np.ones((1, 1))
    program = linear_program.LinearProgram(np.ones(1), one, -np.ones(1), one, np.ones(1), 1)  # x <= -1 and x = 1
    with pytest.raises(PtttError, match=r"^The linear program of a test cannot be solved: "):
        linear_program.solve(program, "a test")
