"""The restricted game: what a walk finds, what pruning leaves, and programs whose plans are checked."""

import numpy as np
import pytest

from pttt_ooc.double_oracle import restricted_program
from pttt_ooc.double_oracle.lazy_response import Responder, allow_response
from pttt_ooc.double_oracle.oracle import DoubleOracle
from pttt_ooc.double_oracle.restricted_histories import Histories
from pttt_ooc.double_oracle.restricted_matching import gap
from pttt_ooc.double_oracle.restricted_program import RestrictedProgram, build
from pttt_ooc.double_oracle.sparse_plan import behave, pruned
from pttt_ooc.errors import PtttError
from pttt_ooc.rules.catalogue import named_game

pytest.importorskip("highspy")

NAMES = ["mini-2x3k3-abrupt", "dark-hex-2x3-abrupt"]


def after_rounds(name, rounds=6):
    oracle = DoubleOracle(named_game(name))
    for _ in range(rounds):
        oracle.round()
    return oracle


def listed(won):
    return sorted(zip(won.first.tolist(), won.second.tolist(), won.payoffs.tolist(), strict=True))


def test_programs_print_nothing(capfd):
    """The solver's banner would come before the object of ``--json``; it is printed once in a process."""
    oracle = after_rounds("mini-2x3k2-abrupt", 3)
    plans, won = oracle._histories.won(oracle.plans)
    RestrictedProgram().exact_plans(plans, won)
    assert capfd.readouterr().out == ""


@pytest.mark.parametrize("name", NAMES)
def test_histories_found_in_steps_are_those_of_one_walk(name):
    oracle = DoubleOracle(named_game(name))
    steps, plans = Histories(oracle.rules), oracle.plans
    for _ in range(5):
        plans, won = steps.won(plans)
        plans, whole = Histories(oracle.rules).won(plans)
        assert listed(won) == listed(whole)
        for plan in plans:  # both play all that is allowed
            size = int(plan.counts[1])
            behave(plan, np.ones(size), 0.0)
        responses = [Responder(oracle.rules, p, 1.0).respond(plans[1 - p]) for p in (0, 1)]
        plans = tuple(allow_response(oracle.rules, plans[p], responses[p])[0] for p in (0, 1))
    assert len(won.payoffs) >= 9


@pytest.mark.parametrize("name", NAMES)
def test_pruning_keeps_what_is_likely_and_one_action_of_each_infoset(name):
    oracle = after_rounds(name)
    for player, plan in enumerate(oracle.plans):
        smaller, sequences = pruned(oracle.rules, player, plan, 0.4)
        assert 0 < int(smaller.counts[1]) < int(plan.counts[1])
        assert len(sequences) == int(smaller.counts[1]) == len(set(sequences.tolist()))
        for infoset in range(int(smaller.counts[0])):
            kept = smaller.actions[infoset]
            kept = kept[kept >= 0]
            before = plan.infosets[sequences[kept]]
            assert len(set(before.tolist())) <= 1
            assert len(kept) or not plan.choices[before].any()
            for sequence in kept:
                assert plan.marks[plan.infosets[sequences[sequence]]] == smaller.marks[infoset]
            if len(kept):
                all_ = plan.actions[before[0]]
                all_ = all_[all_ >= 0]
                weights = plan.chances[all_] * plan.orbits[all_]
                wanted = set(all_[weights >= 0.4].tolist()) | {int(all_[weights.argmax()])}
                assert set(sequences[kept].tolist()) == wanted


@pytest.mark.parametrize("name", NAMES)
def test_a_plan_of_the_responder_changes_no_value(name):
    """Planned attempts are searched without a limit, and first: another way to the same value."""
    oracle = DoubleOracle(named_game(name))
    for _ in range(8):
        oracle.round()
        for p in (0, 1):
            alone, planned = (
                Responder(oracle.rules, p, 1.0).respond(oracle.plans[1 - p], own) for own in (None, oracle.plans[p])
            )
            assert planned.value == pytest.approx(alone.value, abs=1e-13)


@pytest.mark.parametrize("name", NAMES)
def test_plans_of_a_program_are_an_equilibrium_of_the_restricted_game(name):
    oracle = after_rounds(name)
    plans, won = oracle._histories.won(oracle.plans)
    reach = RestrictedProgram().exact_plans(plans, won)
    assert gap(plans, won, tuple(reach)) == pytest.approx(0, abs=1e-12)
    worse = reach[0].copy()
    first = plans[0].actions[0]
    first = first[first >= 0]
    worse[first] = np.roll(worse[first], 1) if len(first) > 1 else worse[first]
    infosets = plans[0].infosets[: len(worse)]
    worse[infosets > 0] *= 0.5
    assert gap(plans, won, (worse, reach[1])) != pytest.approx(0, abs=1e-6)


def test_a_program_goes_on_from_the_last_basis():
    """As few steps as a warm start needs; and the solution of a solver that begins anew."""
    oracle = after_rounds("mini-2x3k3-abrupt", 9)
    warm = RestrictedProgram()
    plans, won = oracle._histories.won(oracle.plans)
    first = warm.exact_plans(plans, won)
    again = warm.exact_plans(plans, won)
    for one, other in zip(first, again, strict=True):
        np.testing.assert_allclose(one, other, atol=1e-12)
    columns, rows = restricted_program._grown_basis(warm.last.program, plans, warm.last)
    np.testing.assert_array_equal(columns, warm.last.columns)
    np.testing.assert_array_equal(rows, warm.last.rows)
    assert (columns == 1).sum() + (rows == 1).sum() == len(rows)  # as many as rows: a basis


def test_a_program_is_von_stengels():
    """Flows of both players, from a program whose matrix is read entry by entry."""
    oracle = after_rounds("mini-2x3k2-abrupt", 3)
    plans, won = oracle._histories.won(oracle.plans)
    program = build(plans, won)
    matrix = np.zeros((len(program.lower), len(program.costs)))
    for column in range(len(program.costs)):
        part = slice(program.starts[column], program.starts[column + 1])
        matrix[program.rows[part], column] = program.entries[part]
    heads = len(program.row_infosets)
    assert matrix[:heads, len(program.sequences) :].any() == 0
    for row, infoset in enumerate(program.row_infosets):
        expected = (plans[0].infosets[program.sequences] == infoset).astype(float)
        if plans[0].before[infoset] >= 0:
            expected[plans[0].before[infoset]] -= 1
        np.testing.assert_array_equal(matrix[row, : len(expected)], expected)
        assert program.lower[row] == program.upper[row] == (plans[0].before[infoset] < 0)
    payoffs = np.zeros((len(program.sequences), len(program.row_sequences)))
    np.add.at(payoffs, (won.first, won.second), won.payoffs)
    np.testing.assert_allclose(matrix[heads:, : len(program.sequences)], -payoffs.T)


def test_plans_that_fail_the_checks_are_refused(monkeypatch):
    oracle = after_rounds("mini-2x3k2-abrupt", 3)
    plans, won = oracle._histories.won(oracle.plans)
    true = restricted_program.build

    halved = won._replace(payoffs=won.payoffs * np.where(np.arange(len(won.payoffs)) % 2, 1.0, -1.0))
    monkeypatch.setattr(restricted_program, "build", lambda plans, _: true(plans, halved))
    with pytest.raises(PtttError, match="has no solution that passes its checks: its plans lose"):
        RestrictedProgram().exact_plans(plans, won)
    monkeypatch.setattr(restricted_program, "_miss", lambda *_: 0.5)
    with pytest.raises(PtttError, match="flows of player 0's plan miss by 5.0e-01"):
        RestrictedProgram().exact_plans(plans, won)


def test_two_threads_find_the_same_bits():
    one, two = (DoubleOracle(named_game("mini-2x3k3-abrupt"), threads=n) for n in (1, 2))
    while not (last := one.round()).settled:
        other = two.round()
        assert (last.lower, last.upper, last.sequences) == (other.lower, other.upper, other.sequences)
    two.round()
    for plan, same in zip(one.plans, two.plans, strict=True):
        np.testing.assert_array_equal(plan.chances, same.chances)
