"""The lazy double oracle: responses against brute force, proven intervals, known values, the command."""

import math
from dataclasses import replace

import numpy as np
import pytest

import pttt_ooc
from docs.make.certificates import MINUTES
from pttt_ooc.exact.double_oracle import oracle as oracle_module
from pttt_ooc.exact.double_oracle.lazy_response import Responder
from pttt_ooc.exact.double_oracle.oracle import DoubleOracle, Solver
from pttt_ooc.exact.double_oracle.pure_rule import rule_squares
from pttt_ooc.exact.double_oracle.rule_tables import rule_tables
from pttt_ooc.games.rules.catalogue import EXACT_VALUES, GAMES, named_game
from tests.exact.double_oracle.oracles import assert_proven_by_brute_force, solved
from tests.kits import naive
from tests.kits.cli_runner import Done, main

pytest.importorskip("highspy")

SMALL = [name for name in GAMES if name.startswith(("mini", "dark-hex-2"))]
EXACT = {
    "pttt-abrupt": 0.550166777713652,  # the enumerated double oracle, and a walk over all histories
    "pttt-classical": 2 / 3,
    "dark-hex-3x3-abrupt": 0.384434399724437,
    "dark-hex-3x3-classical": 1.0,
}


@pytest.mark.long_but("2x2", "2x3k2", "3x2k2", "after-1-4", "dark-hex-2x3-classical")
@pytest.mark.slow_but_one
@pytest.mark.parametrize("name", SMALL)
def test_the_interval_of_each_round_is_that_of_all_histories(name):
    """Best responses by brute force to plans with the rule elsewhere, in early, middle and last rounds."""
    oracle = DoubleOracle(named_game(name))
    for _ in range(100):
        last = oracle.round()
        if last.number in (1, 2, 6, 15) or last.settled:
            for row in assert_proven_by_brute_force(oracle)[0].values():
                assert math.fsum(row) == pytest.approx(1, abs=1e-12)
        if last.settled:
            break
    assert last.settled and 0 <= last.nashconv + 1e-14 < 1e-12
    assert last.best_lower <= last.best_upper + 1e-14


@pytest.mark.parametrize("name", ["mini-2x3k3-abrupt", "mini-2x3k3-classical", "dark-hex-2x3-abrupt"])
def test_bounds_change_no_value_and_spare_visits(name):
    oracle, visits = DoubleOracle(named_game(name)), [0, 0]
    for _ in range(3):
        oracle.round()
        for p in (0, 1):
            with_bounds, without = (
                Responder(oracle.rules, p, 1.0).respond(oracle.plans[1 - p], None, bounded) for bounded in (True, False)
            )
            assert with_bounds.value == pytest.approx(without.value, abs=1e-13)
            visits[0] += with_bounds.visited
            visits[1] += without.visited
    assert visits[0] < visits[1]


@pytest.mark.parametrize("games", [("pttt-3x4k3-classical", "pttt-4x3k3-classical")])
def test_the_transposed_board_has_the_same_value(games):
    """Squares beyond nine have other numbers there, and the rule breaks ties in another order."""
    values = [(last.best_lower, last.best_upper) for last in (solved(name).last for name in games)]
    assert values[0] == pytest.approx((1, 1)) and values[1] == pytest.approx((1, 1))


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(EXACT_VALUES.keys() - {*MINUTES}))
def test_all_values_that_are_proven_are_found(name):
    last, value = solved(name).last, EXACT.get(name, float(EXACT_VALUES[name]))
    assert last.nashconv < 1e-12 and last.number < 100
    assert last.best_lower == pytest.approx(value, abs=1e-12) and last.best_upper == pytest.approx(value, abs=1e-12)


@pytest.mark.parametrize(
    ("gap", "width", "size", "solver"),
    [
        (2e-2, 1e-5, 60_000, Solver.VERTICES),
        (1e-3, 3e-5, 60_000, Solver.MATCHING),
        (1e-4, 1e-4, 60_000, Solver.MATCHING),
        (1e-4, 1e-4, 160_000, Solver.MATCHING),
        (1e-4, 1e-5, 160_000, Solver.NEARBY),
    ],
)
def test_the_width_of_the_interval_decides_when_dear_programs_begin(gap, width, size, solver):
    """The plans of one round may lose far more than the best ones of all rounds."""
    run = DoubleOracle(named_game("mini-2x3k2-abrupt"))
    run._halved, best = (2e-3, 30), (0.5, 0.5 + width)
    last = replace(run.round(), number=31, lower=0.5, upper=0.5 + gap, best_lower=best[0], best_upper=best[1], added=1)
    assert run._next_solver(replace(last, sequences=(30_000, size - 30_000))) is solver


@pytest.mark.slow
def test_programs_for_many_sequences_begin_later(monkeypatch):
    def last_without_program(rounds_to_halve, width=2e-3):
        """The round before the first program, where every restricted game counts as large."""
        monkeypatch.setattr(oracle_module, "DEAR", 0)
        monkeypatch.setattr(oracle_module, "DEAR_ROUNDS", rounds_to_halve)
        run = DoubleOracle(named_game("pttt-2x4k3-abrupt"))
        run._halved = width, 0
        rounds = list(run.rounds())
        assert rounds[-1].lower == pytest.approx(0.444696405855436, rel=0, abs=1e-12)
        return [one for one in rounds if not one.exact][-1]

    usual, patient = last_without_program(0), last_without_program(24)
    assert oracle_module.DEAR_FROM < patient.nashconv < usual.nashconv / 4 and usual.nashconv <= 1e-3
    assert usual.added and not patient.added  # matching goes on as long as it finds something
    assert last_without_program(1).number == patient.number  # each of these rounds has halved the interval
    assert last_without_program(1, 1e-3).number == usual.number  # from 1e-3 to 6e-4 is not a half


def test_the_rule_wins_where_it_can_and_blocks_where_it_must():
    rules = rule_tables(named_game("pttt-abrupt"))

    def choice(marks, fails):
        known = (np.array([sum(1 << square for square in squares)]) for squares in (marks, fails))
        marked, failed = known
        return tuple(int(rule_squares(rules, player, marked, failed)[0]) for player in (0, 1))

    assert choice([], []) == (4, 4)
    assert choice([0, 1], [3, 4]) == (2, 2)  # it wins rather than blocks
    assert choice([8], [0, 1]) == (2, 2)
    assert choice(range(4), range(4, 9)) == (-1, -1)


# ---------------------------------------------------------------------------------------------
# The command


@pytest.fixture
def run(capsys):
    def run(*arguments):
        capsys.readouterr()
        with pytest.raises(SystemExit) as end:
            main(list(map(str, arguments)))
        return Done(end.value.code or 0, *capsys.readouterr())

    return run


@pytest.fixture
def exact(run):
    return lambda *arguments: run("exact", *arguments)


def test_the_command_finds_the_value(exact):
    found = exact("--game", "mini-2x3k2-abrupt", "--json").json
    assert found["game"] == "mini-2x3k2-abrupt" and found["exact"]
    assert found["lower"] == pytest.approx(13 / 17) and found["upper"] == pytest.approx(13 / 17)
    assert found["nashconv"] < 1e-12 and found["rounds"] > 2 and found["peak_mb"] > 0
    assert found["pure"] == [-1, -1]
    assert all(1 <= support <= size for support, size in zip(found["support"], found["sequences"], strict=True))
    shown = exact("--game", "mini-2x3k2-abrupt").out
    assert "0.764705882352941" in shown and "rounds" in shown


def test_the_command_stops_at_a_gap_or_a_time(exact):
    found = exact("--game", "mini-2x3k3-abrupt", "--gap", "0.2", "--json").json
    assert 1e-9 < found["nashconv"] <= 0.2 and not found["exact"]
    assert exact("--game", "mini-2x3k3-abrupt", "--max-minutes", "0", "--json").json["rounds"] == 1
    done = exact("--game", "no-such-game")
    assert done.code == 1 and "no-such-game" in done.err


@pytest.mark.slow
def test_the_command_keeps_its_strategies_and_goes_on_from_a_solution(exact, tmp_path):
    game, data = "mini-2x3k2-abrupt", ("--data", tmp_path / "data")
    done = exact("--game", game, "--output", tmp_path / "cold", *data, "--json")
    assert done.json["rounds"] > 2 and f"The strategies are in {tmp_path / 'cold' / 'equilibrium.zarr'}." in done.err
    warm = exact("--from", tmp_path / "cold", "--output", tmp_path / "warm", *data, "--json").json
    assert warm["game"] == game and warm["exact"] and warm["rounds"] < done.json["rounds"]
    for place in ("cold", "warm"):
        first, second = pttt_ooc.load(tmp_path / place)
        rows = [
            {text: one[text] for text in naive.infosets(named_game(game), p)} for p, one in enumerate((first, second))
        ]
        best = [naive.best_response_value(named_game(game), p, rows[1 - p]) for p in (0, 1)]
        assert best[0] == pytest.approx(13 / 17, abs=1e-14) and best[0] + best[1] == pytest.approx(0, abs=1e-14)
    done = exact("--game", game, "--output", tmp_path / "cold", *data)
    assert done.code == 1 and "equilibrium.zarr exists already; choose another directory." in done.err
    assert "is not the directory of a solution" in exact("--from", "uniform").err
    assert "leave out --game" in exact("--from", tmp_path / "cold", "--game", "pttt-abrupt").err


@pytest.mark.slow
def test_a_board_of_more_than_ten_squares(run, exact, tmp_path):
    name, data = "pttt-3x4k3-classical", ("--data", tmp_path / "data")
    found = exact("--game", name, "--output", tmp_path / "plan", "--json", *data).json
    assert found["exact"] and found["lower"] == found["upper"] == pytest.approx(1)
    for command in (
        ("lab", "infosets", "--player", "0", "--game", name, *data),
        ("lab", "uniform", "--player", "0", "--game", name, "--output", tmp_path / "u.zip", *data),
        ("lab", "learn", "xfp", "--game", name, *data),
    ):
        done = run(*command)
        assert done.code == 1 and f"Game {name}: a board of 12 squares has too many infosets" in done.err, command
    refused = run("evaluate", tmp_path / "plan", tmp_path / "plan", *data)
    assert (
        refused.code == 1 and f"This is a plan of {name} without a list of its infosets, which are too" in refused.err
    )
    shown = run("show", tmp_path / "plan", "|b.", "--player", "1")
    assert "found 11 occupied" in shown.out and "Against this opponent no game gets here" in shown.out
    assert "keeps the turn" in run("info", "--game", name).out and not (tmp_path / "data").exists()
