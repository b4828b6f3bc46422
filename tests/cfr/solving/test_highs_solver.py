"""HiGHS as it is set up here: other users in the process, its words, bases."""

import threading
from fractions import Fraction

import numpy as np
import pytest

from pttt_ooc.cfr.solving.highs_solver import BASIC, LOWER, UPPER, ColumnProgram, UnsolvedError, solve
from pttt_ooc.exact.certificates.equilibrium import exact_equilibrium
from pttt_ooc.exact.double_oracle.oracle import DoubleOracle
from pttt_ooc.games.rules.catalogue import named_game

highspy = pytest.importorskip("highspy")


def in_a_new_thread(function):
    """What a function returns in a thread in which nobody has used HiGHS, which keeps its settings by thread."""
    found = []
    thread = threading.Thread(target=lambda: found.append(function()))
    thread.start()
    thread.join()
    assert found
    return found[0]


def neighbour(threads=None):
    """Another user of HiGHS in the process, who sets nothing or a number of threads."""
    other = highspy.Highs()
    other.setOptionValue("output_flag", False)
    if threads:
        other.setOptionValue("threads", threads)
    x = other.addVariable()
    other.addConstr(x <= 1)
    other.maximize(x)
    return other.getModelStatus()


def exact_value():
    """The value of a game by all programs of the double oracle, and by those of the exact vertex."""
    oracle = DoubleOracle(named_game("mini-2x3k2-abrupt"))
    rounds = list(oracle.rounds())
    assert rounds[-1].exact
    return exact_equilibrium(oracle.game, oracle.plans).lower


@pytest.mark.parametrize("threads", [None, 2, 3])
def test_other_users_of_highs_and_we_do_not_meet(threads):
    """Before and after: HiGHS refuses a number of threads that differs from that of the first program of a thread."""

    def side_by_side():
        return neighbour(threads), exact_value(), neighbour(threads)

    def after_us():
        return exact_value(), neighbour(threads)

    optimal, value = highspy.HighsModelStatus.kOptimal, Fraction(13, 17)
    assert in_a_new_thread(side_by_side) == (optimal, value, optimal)
    assert in_a_new_thread(after_us) == (value, optimal)


def program(**changed):
    """The most of x + 2 y with x + y at most 1, neither negative."""
    ends, rows = (np.zeros(2), np.full(2, np.inf)), (np.array([-np.inf]), np.ones(1))
    matrix = np.array([0, 1, 2], np.int32), np.zeros(2, np.int32), np.ones(2)
    return ColumnProgram(np.array([1.0, 2.0]), ends, rows, *matrix)._replace(**changed)


def test_a_program_is_maximised_and_its_basis_is_known(capfd):
    for start in (None, (np.array([BASIC, LOWER], np.int8), np.array([UPPER], np.int8))):
        found = solve(program(), {"presolve": "off"}, start)
        assert (found.values.tolist(), found.multipliers.tolist()) == ([0, 1], [2])
        assert [part.tolist() for part in found.basis] == [[LOWER, BASIC], [UPPER]]
    assert capfd.readouterr() == ("", "")


def test_a_basis_is_where_the_simplex_method_begins():
    """No step is left from the optimal basis, one from another."""
    options = {"presolve": "off", "simplex_iteration_limit": 0}
    best, other = ((np.array(columns, np.int8), np.array([UPPER], np.int8)) for columns in ([0, 1], [1, 0]))
    assert solve(program(), options, best).values.tolist() == [0, 1]
    with pytest.raises(UnsolvedError, match='"Iteration limit reached"'):
        solve(program(), options, other)


@pytest.mark.parametrize(
    ("changed", "options", "words"),
    [
        ({"rows": (np.array([-np.inf]), -np.ones(1))}, {}, 'HiGHS ends with "Infeasible".'),
        ({"entries": -np.ones(2)}, {}, 'HiGHS ends with "Unbounded".'),
        ({"entries": np.array([np.inf, 1])}, {}, 'HiGHS ends with "Not Set" and says: ".*at/above tolerance of 1e.15"'),
        ({}, {"presolv": "off"}, 'HiGHS ends with "Not Set" and says: ".*Option "presolv" is unknown"'),
        ({}, {"threads": -3}, 'HiGHS ends with "Not Set" and says: ".*-3 for option "threads" is below lower bound'),
    ],
)
def test_what_is_not_solved_is_told_in_the_words_of_highs(changed, options, words):
    with pytest.raises(UnsolvedError, match=f"^A linear program was not solved: {words}"):
        solve(program(**changed), options)
