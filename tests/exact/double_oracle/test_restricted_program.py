"""The checks of a restricted game's plans, whatever HiGHS says; and what is told where none of its methods helps."""

import re

import numpy as np
import pytest

from pttt_ooc.cfr.solving import highs_solver
from pttt_ooc.cfr.solving.highs_solver import UnsolvedError
from pttt_ooc.errors import PtttError
from pttt_ooc.exact.double_oracle import restricted_program
from pttt_ooc.exact.double_oracle.oracle import DoubleOracle
from pttt_ooc.exact.double_oracle.restricted_histories import HistoryFinder
from pttt_ooc.exact.double_oracle.restricted_matching import gap
from pttt_ooc.exact.double_oracle.restricted_program import TOLERANCE, RestrictedProgram
from pttt_ooc.games.rules.catalogue import named_game

pytest.importorskip("highspy")


@pytest.fixture(scope="module")
def restricted():
    """The last restricted game of a double oracle."""
    oracle = DoubleOracle(named_game("mini-2x3k3-abrupt"))
    assert list(oracle.rounds())[-1].exact
    return HistoryFinder(oracle.rules).find_won(oracle.plans)


@pytest.fixture
def spoil(monkeypatch, restricted):
    """Change both plans of the solutions by some methods, the first ones; returns how many have been asked."""
    solved, sizes = highs_solver.solve, [int(plan.counts[1]) for plan in restricted[0]]

    def begin(change, methods):
        asked = []

        def spoiled(program, options, start=None):
            found = solved(program, options, start)
            asked.append(options["solver"])
            if len(asked) <= methods:
                change(found.values[: sizes[0]], found.multipliers[-sizes[1] :])
            return found

        monkeypatch.setattr(restricted_program.highs_solver, "solve", spoiled)
        return asked

    return begin


def more(player, by):
    """A plan in which a flow misses."""

    def change(*plans):
        own = plans[player]
        own[np.flatnonzero(own > 0.1)[-1]] += by

    return change


def mixed(player, restricted, share):
    """A plan that conserves its flows, by a share that of equal chances; a negative share makes negative reach."""

    def change(*plans):
        plan, own = restricted[0][player], plans[player]
        even = np.zeros(len(own))
        leads = plan.infosets[: len(own)]
        sizes = np.bincount(leads)
        for sequence in range(len(own)):
            before = plan.before[leads[sequence]]
            even[sequence] = (even[before] if before >= 0 else 1.0) / sizes[leads[sequence]]
        own[:] = (1 - share) * own + share * even

    return change


@pytest.mark.parametrize("player", [0, 1])
@pytest.mark.parametrize("kind", ["miss", "miss a little", "nan", "negative", "lose", "lose a little"])
def test_plans_that_do_not_pass_are_refused_and_the_next_method_is_asked(restricted, spoil, kind, player):
    flows = rf"the flows of player {player}'s plan miss by "
    change, words = {
        "miss": (more(player, 1e-3), flows + r"1\.0e-03"),
        "miss a little": (more(player, 5 * TOLERANCE), flows + r"5\.0e-09"),
        "nan": (more(player, np.nan), flows + "nan"),
        "negative": (mixed(player, restricted, -1e-3), flows + r"\d\.\de-0[345]"),
        "lose": (mixed(player, restricted, 0.5), r"its plans lose \d\.\de-0[12] within the restricted game"),
        "lose a little": (mixed(player, restricted, 1e-6), r"its plans lose \d\.\de-0[78] within the restricted game"),
    }[kind]
    asked = spoil(change, methods=2)
    reach = RestrictedProgram().exact_plans(*restricted)
    assert asked == ["simplex", "simplex", "ipm"] and gap(*restricted, tuple(reach)) <= TOLERANCE
    asked, program = spoil(change, methods=3), RestrictedProgram()
    with pytest.raises(PtttError, match=rf"sequences was not solved: {words}\. That is not because of the game"):
        program.exact_plans(*restricted)
    assert len(asked) == 3 and program.last is None


@pytest.mark.parametrize("player", [0, 1])
def test_plans_that_miss_by_rounding_are_taken(restricted, spoil, player):
    for change in (more(player, 1e-12), mixed(player, restricted, 1e-12)):
        asked = spoil(change, methods=3)
        RestrictedProgram().exact_plans(*restricted)
        assert len(asked) == 1


def test_each_reason_is_told_once_in_the_words_of_highs(restricted, monkeypatch):
    reasons = iter(['HiGHS ends with "A" and says: "b"', 'HiGHS ends with "A" and says: "b"', 'HiGHS ends with "C"'])

    def unsolved(*of):
        raise UnsolvedError(next(reasons))

    monkeypatch.setattr(restricted_program.highs_solver, "solve", unsolved)
    sentence = 'was not solved: HiGHS ends with "A" and says: "b"; then HiGHS ends with "C". That is not because of the'
    with pytest.raises(PtttError, match=re.escape(sentence)):
        RestrictedProgram().exact_plans(*restricted)
