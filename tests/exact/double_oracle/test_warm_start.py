"""Between plans and strategies on an index: warm starts, and whole strategies, against plain text."""

from functools import partial
from random import Random

import numpy as np
import pytest

from pttt_ooc.exact.double_oracle.complete_strategy import write_whole
from pttt_ooc.exact.double_oracle.oracle import DoubleOracle
from pttt_ooc.exact.double_oracle.plan_evaluation import evaluate_plans, reach_of
from pttt_ooc.exact.double_oracle.rule_tables import rule_tables
from pttt_ooc.exact.double_oracle.sparse_plan import first_infoset
from pttt_ooc.exact.double_oracle.warm_start import allow_played
from pttt_ooc.games.rules.catalogue import named_game
from pttt_ooc.games.structure.index import build_index
from pttt_ooc.games.structure.strategy import uniform_strategy
from tests.exact.double_oracle.oracles import finished, row_of, solved, table
from tests.kits import naive
from tests.kits.helpers import TINY, as_strategy, full_index, random_table, sequence_texts

pytest.importorskip("scipy")

GAMES = [*TINY, "mini-2x3k3-abrupt-after-1", "dark-hex-2x3-classical", "pttt-abrupt-after-1-0-3-2-4-8"]


def played(game, tables, least):
    """The allowed actions of both players by text: what is played with more than `least` where both come."""
    allowed = [{}, {}]

    def walk(history):
        if history.is_terminal():
            return
        me = history.player
        row = tables[me][history.nodes[me]]
        squares = [s for s in range(game.squares) if row[s] > least] or [int(np.argmax(row))]
        allowed[me][history.nodes[me]] = set(squares)
        for square in squares:
            walk(history.attempt(square))

    walk(naive.History.start(game))
    return allowed


def allowed_of(game, plan, player):
    """The allowed actions of a plan by text, of all mirror images."""
    rules, found = rule_tables(game), {}
    setup = naive.setup_text(game, player)

    def visit(infoset, text):
        squares = set()
        stabiliser = int(plan.stabilisers[infoset])
        for least in np.flatnonzero(plan.actions[infoset] >= 0):
            squares |= {int(rules.images[h, least]) for h in range(len(rules.images)) if stabiliser >> h & 1}
            for placed in (0, 1):
                after = int(plan.children[infoset, 2 * least + placed])
                if after >= 0:
                    visit(after, f"{text}{least}{'.*'[placed]}")
        if squares:
            for g in game.symmetries:
                found[naive.image(game, text, g)] = {g[square] for square in squares}

    visit(0, setup)
    return found


@pytest.mark.slow_but_one
@pytest.mark.parametrize("symmetry", ["full", "none"])
@pytest.mark.parametrize("name", GAMES)
def test_what_both_play_is_allowed(name, symmetry):
    game, rng = named_game(name), Random(name)
    index = full_index(name) if symmetry == "none" else build_index(game, "full")
    tables = [random_table(game, p, rng, 0.5, symmetric=True) for p in (0, 1)]
    strategies = tuple(as_strategy(index, p, tables[p]) for p in (0, 1))
    rules = rule_tables(game)
    for least in (0.0, 0.2):
        plans = allow_played(rules, (first_infoset(rules, 0), first_infoset(rules, 1)), strategies, least)
        wanted = played(game, tables, least)
        for p in (0, 1):
            found = allowed_of(game, plans[p], p)
            # Of several actions that are played most, an infoset without a likely one gets the first.
            sure = {text: squares for text, squares in wanted[p].items() if max(tables[p][text]) > least}
            assert {text: found[text] for text in sure} == sure
            assert set(found) == set(wanted[p]) or least


@pytest.mark.slow_but_one
@pytest.mark.parametrize("name", GAMES)
def test_a_warm_start_leads_to_an_equilibrium(name):
    game = named_game(name)
    index = build_index(game, "full")
    rng = Random(name)
    cold = solved(name, memo_mb=4)
    for tables in ([random_table(game, p, rng, 0.5, symmetric=True) for p in (0, 1)], None):
        strategies = tuple(
            uniform_strategy(index, p, np.float64) if tables is None else as_strategy(index, p, tables[p])
            for p in (0, 1)
        )
        oracle = DoubleOracle(game, memo_mb=4)
        oracle.plans = allow_played(oracle.rules, oracle.plans, strategies)
        last = finished(oracle).last
        assert last.nashconv < 1e-12 and last.best_lower == pytest.approx(cold.last.best_lower, abs=1e-12)


@pytest.mark.slow_but_one
@pytest.mark.parametrize("symmetry", ["full", "none"])
@pytest.mark.parametrize("name", GAMES)
def test_a_whole_strategy_is_plan_and_rule_at_every_infoset(name, symmetry):
    game, oracle = named_game(name), DoubleOracle(named_game(name), memo_mb=4)
    for _ in range(2):
        oracle.round()
    index = full_index(name) if symmetry == "none" else build_index(game, "full")
    for p in (0, 1):
        texts, row = sequence_texts(index, p), partial(row_of, oracle, p, oracle.plans[p])
        into = np.full(len(texts), -1.0)
        whole = write_whole(oracle.rules, oracle.plans[p], index, p, into, always=True, threads=2)
        np.testing.assert_array_equal(whole.probabilities, [row(text)[square] for text, square in texts])
        into = np.full(len(texts), -1.0)
        write_whole(oracle.rules, oracle.plans[p], index, p, into)
        rows = {text: row(text).tolist() for text in naive.infosets(game, p)}
        comes = {text: naive.reach(game, p, text, rows) > 0 for text in rows}
        assert [at >= 0 for at in into] == [comes[text] for text, _ in texts]
        np.testing.assert_array_equal(into[into >= 0], whole.probabilities[into >= 0])


@pytest.mark.parametrize("name", ["mini-2x3k2-abrupt", "mini-2x3k3-classical-after-1", "dark-hex-2x2-abrupt"])
def test_plans_are_evaluated_as_by_brute_force(name):
    game, oracle = named_game(name), solved(name)
    found = evaluate_plans(oracle.rules, oracle.plans, memo_mb=4)
    rows = [table(oracle, p) for p in (0, 1)]
    for p in (0, 1):
        for text, squares in allowed_of(game, oracle.plans[p], p).items():
            if naive.reach(game, p, text, rows[p]):
                assert {s for s in range(game.squares) if rows[p][text][s] > 0} <= squares
    assert found.value == pytest.approx(naive.value(game, *rows), abs=1e-12)
    assert found.best_response_0 == pytest.approx(naive.best_response_value(game, 0, rows[1]), abs=1e-12)
    assert found.best_response_1 == pytest.approx(naive.best_response_value(game, 1, rows[0]), abs=1e-12)
    assert 0 <= found.nashconv < 1e-12
    for plan in oracle.plans:
        first = plan.infosets[: plan.counts[1]] == 0
        assert reach_of(plan)[:-1][first].sum() == pytest.approx(1) and reach_of(plan)[-1] == 1
