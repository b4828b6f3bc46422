"""The stage "finish": exact equilibria by brute force, limits, games that are not listed, kills."""

import json
import shutil
import subprocess
import sys

import numpy as np
import pytest

import pttt_ooc
from pttt_ooc.config import Config, FinishConfig, SolveConfig
from pttt_ooc.disk.contents import content_digest
from pttt_ooc.disk.manifests import read_manifest
from pttt_ooc.errors import MemoryBudgetError, StrategyFileError
from pttt_ooc.exact.double_oracle.complete_strategy import CompleteStrategy
from pttt_ooc.exact.double_oracle.memory_budget import RunMemory
from pttt_ooc.exact.double_oracle.rule_tables import rule_tables
from pttt_ooc.games.rules.catalogue import named_game
from pttt_ooc.library.api.strategy_reader import read_opponent
from pttt_ooc.pipeline.files.equilibrium import read_plans
from pttt_ooc.pipeline.files.solution import read_solution
from pttt_ooc.pipeline.stages import evaluate, finish, report, solve
from pttt_ooc.pipeline.stages.directories import EQUILIBRIUM, SOLUTION, manifest_of
from pttt_ooc.pipeline.stages.engines import index_of
from pttt_ooc.pipeline.stages.fsck import run_digest
from pttt_ooc.pipeline.stages.preparation import prepare_index
from pttt_ooc.pipeline.stages.saved_rounds import ROUNDS
from pttt_ooc.pipeline.stages.staleness import reasons, requested_stages, stages_of
from pttt_ooc.pipeline.stages.strategy_store import strategies_of
from tests.kits import naive
from tests.kits.helpers import sequence_texts, symmetric_table
from tests.kits.patience import PATIENCE
from tests.pipeline.stages import test_workflow

pytest.importorskip("scipy")

GAME = "mini-2x3k3-abrupt-after-1"
finished_once, FINISHED = test_workflow.finished_once, test_workflow.GAME  # a run of the whole workflow
SETTINGS, EXACT = SolveConfig(target_nashconv=0, max_iterations=20), FinishConfig()


def made(place, name=GAME, symmetry="full", settings=EXACT, **options):
    """A solved and finished game."""
    directory = prepare_index(place, name, symmetry)
    if not manifest_of(directory, "solve").exists():
        solve.run(name, symmetry, SETTINGS, directory)
    finish.run(name, symmetry, settings, directory, **options)
    return directory


def manifest(directory, stage="finish"):
    return read_manifest(manifest_of(directory, stage), stage)


def tables(directory, name, symmetry):
    """The stored strategies by text; on an index with symmetry, of the representatives only."""
    index = index_of(directory, name, symmetry)
    rows = []
    for strategy in read_solution(directory / EQUILIBRIUM, index):
        row = {}
        for (text, square), chance in zip(
            sequence_texts(index, strategy.player), strategy.probabilities.tolist(), strict=True
        ):
            row.setdefault(text, [0.0] * index.game.squares)[square] = chance
        rows.append(row)
    return rows


@pytest.fixture(scope="module")
def done(tmp_path_factory):
    return made(tmp_path_factory.mktemp("finish"))


@pytest.mark.long_but("mini-2x3k2-classical", "dark-hex")
@pytest.mark.slow_but_one
@pytest.mark.parametrize(
    "name", [GAME, "mini-2x3k2-classical", "dark-hex-2x3-classical", "pttt-abrupt-after-1-0-3-2-4-8"]
)
def test_what_is_stored_is_an_equilibrium_by_brute_force(tmp_path, name):
    directory, game = made(tmp_path, name, "none"), named_game(name)
    rows = tables(directory, name, "none")
    best = [naive.best_response_value(game, p, rows[1 - p]) for p in (0, 1)]
    assert abs(sum(best)) < 1e-12
    result = manifest(directory)["result"]
    assert result["method"] == "exact" and result["stopped_by"] == "equilibrium" and result["nashconv"] < 1e-12
    assert result["value_lower"] - 1e-12 <= best[0] <= result["value_upper"] + 1e-12
    evaluate.run(name, "none", directory)
    found = manifest(directory, "evaluate")["solution"]
    assert 0 <= found["nashconv"] < 1e-12 and found["value"] == pytest.approx(naive.value(game, *rows), abs=1e-12)
    assert 0 <= found["exploitability_0"] < 1e-12 and 0 <= found["exploitability_1"] < 1e-12
    assert manifest(directory, "evaluate")["uniform"]["nashconv"] > 1e-3


@pytest.mark.long
def test_where_own_actions_never_lead_the_average_stays(tmp_path):
    done = made(tmp_path, settings=FinishConfig(against="none"))
    assert manifest(done)["result"]["choice"] == {"against": "none", "made": False}
    index = index_of(done, GAME, "full")
    average, found = (read_solution(done / store, index) for store in (SOLUTION, EQUILIBRIUM))
    game, rows = named_game(GAME), tables(done, GAME, "full")
    plans = read_plans(done / EQUILIBRIUM, rule_tables(game))
    for p in (0, 1):
        complete, skipped = CompleteStrategy(rule_tables(game), p, plans[p]), len(game.setup[p])

        def row(text, complete=complete, skipped=skipped):
            return complete.probabilities(tuple(naive.attempts(text)[skipped:])).tolist()

        whole = {text: row(text) for text in naive.infosets(game, p)}
        kept = [naive.reach(game, p, text, whole) == 0 for text, _ in sequence_texts(index, p)]
        assert 0 < sum(kept) < len(kept)
        np.testing.assert_array_equal(found[p].probabilities[kept], average[p].probabilities[kept].astype(np.float64))
        assert all(rows[p][text] == whole[text] for text in rows[p] if naive.reach(game, p, text, whole))


@pytest.mark.slow
def test_the_rounds_are_kept(done):
    rows = [json.loads(line) for line in (done / ROUNDS).read_text().splitlines()]
    result = manifest(done)["result"]
    assert [row["iteration"] for row in rows] == list(range(1, len(rows) + 1)) and len(rows) > 1
    assert rows[-1] == {key: result[key] for key in rows[-1]}
    for row in rows:
        assert row["nashconv"] >= 0 and row["value_lower"] <= row["value_upper"]
        assert all(1 <= n <= m for n, m in zip(row["support"], row["sequences"], strict=True))
    assert all(one["seconds"] <= other["seconds"] for one, other in zip(rows, rows[1:], strict=False))


@pytest.mark.slow
def test_the_solution_of_a_run_is_its_equilibrium(done, tmp_path):
    loaded = pttt_ooc.load(done)
    assert loaded.facts["algorithm"] == "double-oracle" and loaded.nashconv < 1e-12 and len(loaded.rows) > 2
    assert strategies_of(done) == done / EQUILIBRIUM
    copied = shutil.copytree(done, tmp_path / "full")
    solve.run(GAME, "full", SolveConfig(target_nashconv=0, max_iterations=21), copied)
    assert strategies_of(copied) == copied / SOLUTION  # the equilibrium was made from another solution
    assert pttt_ooc.load(copied).facts["iteration"] == 21
    shutil.rmtree(copied / SOLUTION)
    assert strategies_of(copied) == copied / EQUILIBRIUM
    shutil.rmtree(copied / EQUILIBRIUM)
    assert strategies_of(copied) == copied / SOLUTION


# ---------------------------------------------------------------------------------------------
# Limits


def without(directory):
    """The solver's strategies are the result, and nothing else is there."""
    assert not (directory / EQUILIBRIUM).exists() and manifest(directory)["products"].keys() == {ROUNDS}
    assert strategies_of(directory) == directory / SOLUTION
    evaluate.run(GAME, "full", directory)
    average = manifest(directory, "solve")["result"]["nashconv"]
    assert (
        manifest(directory, "evaluate")["solution"]["nashconv"] == pytest.approx(average, abs=1e-7) and average > 1e-5
    )
    return manifest(directory)["result"]


@pytest.mark.slow
def test_limits_leave_the_solvers_strategies(done, tmp_path, capsys):
    directory = shutil.copytree(done, tmp_path / "full")
    evaluate.run(GAME, "full", directory)
    assert manifest(directory, "evaluate")["solution"]["nashconv"] < 1e-12
    capsys.readouterr()

    finish.run(GAME, "full", FinishConfig(method="none"), directory)
    assert without(directory)["stopped_by"] == "finish: none" and capsys.readouterr().err == ""

    finish.run(GAME, "full", FinishConfig(max_minutes=1e-9), directory)
    told = capsys.readouterr().err
    assert "The double oracle ended at a gap of" in told and "the solver's strategies are the result." in told
    assert without(directory)["stopped_by"] == "max_minutes"
    assert len((directory / ROUNDS).read_text().splitlines()) == 1
    capsys.readouterr()

    finish.run(GAME, "full", EXACT, directory, memory_mb=300)
    needed = without(directory)["smallest_mb"]
    told = capsys.readouterr().err
    assert (
        told.startswith(f"An exact equilibrium needs a memory_mb of {needed}: the solver's strategies") and needed > 300
    )

    def stale(memory_mb):
        config = Config(game=GAME, solve=SETTINGS, memory_mb=memory_mb)
        return reasons(directory, requested_stages(config, directory))["finish"]

    assert stale(needed - 1) == "" and stale(needed) == f"it had too little memory, and now has {needed} MB"


@pytest.mark.slow
def test_rounds_that_outgrow_the_memory_go_on_with_more(done, tmp_path, capsys, monkeypatch):
    """The needs of a round are known when it comes; what was played before is saved."""
    directory, whole = (shutil.copytree(done, tmp_path / name) for name in ("full", "whole"))
    finish.run(GAME, "full", EXACT, whole, memory_mb=401)  # which is too little for the choice among equilibria
    limit = RunMemory.for_bounds

    def outgrown(self, plans, histories, exact, best=None):
        if exact:
            raise MemoryBudgetError("The next round takes 401 MB of memory, but the budget is 400 MB.")
        return limit(self, plans, histories, exact, best)

    monkeypatch.setattr(RunMemory, "for_bounds", outgrown)
    finish.run(GAME, "full", EXACT, directory, memory_mb=400)
    assert "but the budget is 400 MB: the solver's strategies are the result." in capsys.readouterr().err
    assert without(directory) == {"method": "none", "stopped_by": "memory_mb", "smallest_mb": 401}
    unlisted = tmp_path / "unlisted" / "full"
    finish.run(GAME, "full", FinishConfig(max_minutes=1e-9), unlisted, listed=False)
    kept = content_digest(unlisted / EQUILIBRIUM)
    with pytest.raises(MemoryBudgetError, match="takes 401 MB"):
        finish.run(GAME, "full", EXACT, unlisted, listed=False, memory_mb=400)
    assert (
        content_digest(unlisted / EQUILIBRIUM) == kept and manifest(unlisted)["result"]["stopped_by"] == "max_minutes"
    )
    monkeypatch.undo()
    finish.run(GAME, "full", EXACT, directory, memory_mb=401)
    assert "Going on after round" in capsys.readouterr().err
    assert content_digest(directory / EQUILIBRIUM) == content_digest(whole / EQUILIBRIUM)


def test_a_run_without_an_equilibrium_has_no_stage_for_it(tmp_path):
    none = Config(game=GAME, finish={"method": "none"})
    assert "finish" not in stages_of(none, tmp_path) and "finish" in stages_of(Config(game=GAME), tmp_path)
    manifest_of(tmp_path, "finish").write_text("{}")
    assert "finish" in stages_of(none, tmp_path)  # it removes what is there
    assert stages_of(Config(game="pttt-2x5k3-abrupt"), tmp_path) == ("finish", "evaluate", "report")


# ---------------------------------------------------------------------------------------------
# Games that are not listed


@pytest.mark.slow
def test_a_game_that_is_not_listed_needs_no_index(tmp_path, capsys):
    directory, game = tmp_path / GAME / "full", named_game(GAME)
    finish.run(GAME, "full", EXACT, directory, listed=False)
    evaluate.run(GAME, "full", directory, listed=False)
    config = Config(game=GAME, listed=False, report={"infosets": ("|1*", "|0.", "|1*0*4.", "|9*")})
    report.run(config, directory)
    assert not (directory / "index.zarr").exists() and not (directory / "views.zarr").exists()
    found = manifest(directory, "evaluate")["solution"]
    rules = rule_tables(game)
    rows = []
    for p, plan in enumerate(read_plans(directory / EQUILIBRIUM, rules)):
        complete, skipped = CompleteStrategy(rules, p, plan), len(game.setup[p])
        texts = naive.infosets(game, p)
        rows.append({t: complete.probabilities(tuple(naive.attempts(t)[skipped:])).tolist() for t in texts})
    assert found["value"] == pytest.approx(naive.value(game, *rows), abs=1e-12) and 0 <= found["nashconv"] < 1e-12
    assert found["best_response_0"] == pytest.approx(naive.best_response_value(game, 0, rows[1]), abs=1e-12)
    page = (directory / "report.html").read_text()
    assert "an equilibrium, exact to rounding" in page and "<code>|1*0*4.</code>" in page and "<code>|9*" not in page
    assert reasons(directory, requested_stages(config, directory)) == dict.fromkeys(
        ("finish", "evaluate", "report"), ""
    )
    assert len(run_digest(directory)) == 32

    finish.run(GAME, "full", FinishConfig(max_minutes=1e-9), directory, listed=False)  # it is as exact as can be
    result = manifest(directory)["result"]
    assert result["stopped_by"] == "max_minutes" and result["nashconv"] > 1e-3
    evaluate.run(GAME, "full", directory, listed=False)
    assert manifest(directory, "evaluate")["solution"]["nashconv"] == pytest.approx(result["nashconv"])
    report.run(config, directory)
    assert "exact to rounding" not in (directory / "report.html").read_text()
    with pytest.raises(MemoryBudgetError, match="raise memory_mb"):
        finish.run(GAME, "full", EXACT, directory, listed=False, memory_mb=300)


# ---------------------------------------------------------------------------------------------
# Kills

KILLED = """
import json, os, signal, sys, traceback
from pathlib import Path
from shutil import copytree
from pttt_ooc.config import FinishConfig
from pttt_ooc.exact.double_oracle import saved_state
from pttt_ooc.exact.double_oracle.oracle import DoubleOracle
from pttt_ooc.games.rules.catalogue import named_game
from pttt_ooc.pipeline.stages import finish
start, game, instants = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
saved_state._SHARE = 0  # each round is saved
DoubleOracle(named_game(game)).round()  # loads compiled code, which forked processes have then
def forked(directory, kill=0, threads=1):
    child = os.fork()
    if child:
        return os.waitpid(child, 0)[1]
    steps = []
    def hook(event, arguments):
        path = str(arguments[0]) if event in ("open", "os.rename", "os.remove") else ""
        if path.startswith(str(directory)) and "partial" not in path:  # the number of those varies: Zarr's threads
            steps.append(path)
            if len(steps) == kill:
                os.kill(os.getpid(), signal.SIGKILL)
    sys.addaudithook(hook)
    try:
        finish.run(game, "full", FinishConfig(), directory, threads=threads)
        directory.with_suffix(".steps").write_text(json.dumps(steps))
        os._exit(0)
    except BaseException:
        traceback.print_exc()
        os._exit(1)
whole = copytree(start, start.parent / "whole")
assert forked(whole) == 0
steps, killed = json.loads(whole.with_suffix(".steps").read_text()), []
saving = [n for n, path in enumerate(steps, 1) if "/work/finish-" in path]
others = [n for n in range(1, len(steps)) if n not in saving]  # not the last, which is after the manifest
chosen = [part[(i + 1) * (len(part) - 1) // (instants // 2)] for part in (saving, others) for i in range(instants // 2)]
for i, kill in enumerate(sorted(chosen)):
    place = copytree(start, start.parent / f"killed{i}")
    assert forked(place, kill) == signal.SIGKILL
    rows = [(file.parent / "rounds.jsonl").read_text().count("}") for file in place.glob("work/finish-*/state.npz")]
    killed.append([sum(rows), (place / "equilibrium.zarr").exists(), (place / "finish.json").exists()])
    assert forked(place, threads=1 + i % 2) == 0
print(json.dumps(killed))
"""


@pytest.mark.long
@pytest.mark.parametrize("instants", [4, pytest.param(10, marks=pytest.mark.long)])
def test_a_stage_that_is_killed_leaves_the_same_bits(done, tmp_path, instants):
    start = shutil.copytree(done, tmp_path / "start", ignore=shutil.ignore_patterns(EQUILIBRIUM, "finish.json"))
    (start / ROUNDS).unlink()
    command = [sys.executable, "-c", KILLED, str(start), GAME, str(instants)]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=5 * PATIENCE)
    assert ended.returncode == 0, ended.stderr
    killed = json.loads(ended.stdout)
    assert len(killed) == instants, killed
    rounds = len((done / ROUNDS).read_text().splitlines())
    saved = [rows for rows, *_ in killed]
    assert len(set(saved)) > instants // 3 and max(saved) == rounds, killed
    assert {tuple(there) for _, *there in killed} == {(False, False), (True, False)}, killed
    assert ended.stderr.count("Going on after round") >= instants // 2
    for place in [done, *(tmp_path / f"killed{i}" for i in range(instants))]:
        assert content_digest(place / EQUILIBRIUM) == content_digest(done / EQUILIBRIUM)
        assert manifest(place)["products"][ROUNDS]["content"] == (manifest(done)["products"][ROUNDS]["content"])
        assert strategies_of(place) == place / EQUILIBRIUM and not list((place / "work").glob("finish-*"))


def test_exports_of_an_equilibrium_are_exact_when_they_are_read_back(finished_once):
    directory, game = finished_once / "data" / FINISHED / "full", pttt_ooc.game(FINISHED)
    for name in ("pttt_pl0.zip", "strategies.h5"):
        first = pttt_ooc.Strategy.read(directory / name, 0, game)
        second = pttt_ooc.Strategy.read(directory / name.replace("pl0", "pl1"), 1, game)
        assert pttt_ooc.evaluate(first, second).nashconv < 1e-12


# ---------------------------------------------------------------------------------------------
# The choice among equilibria


def payoff(directory, player):
    """The payoff of a stored strategy against uniform play, by brute force; it is of a game with symmetry."""
    game, index = named_game(WIDE), index_of(directory, WIDE, "full")
    rows = symmetric_table(read_solution(directory / EQUILIBRIUM, index)[player])
    errs = naive.uniform(game, 1 - player)
    worst = -naive.best_response_value(game, 1 - player, rows)
    return naive.value(game, *((rows, errs) if player == 0 else (errs, rows))) * (-1) ** player, worst


WIDE = "dark-hex-2x3-abrupt"
"""A game with many equilibria."""


@pytest.mark.long
def test_the_choice_wins_more_against_uniform_play_and_loses_nothing(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(finish, "needed_bytes", lambda layout: 10**8)  # the game is small
    plain = made(tmp_path / "plain", WIDE, settings=FinishConfig(against="none"))
    directory = made(tmp_path / "chosen", WIDE)
    chosen = manifest(directory)["result"]["choice"]
    assert chosen["made"] and chosen["against"] == "uniform" and chosen["loss"] < 1e-12
    gains = []
    for player in (0, 1):
        (value, worst), (before, _) = payoff(directory, player), payoff(plain, player)
        assert value == pytest.approx(chosen["payoffs"][player], abs=1e-12)
        assert worst == pytest.approx(9 / 11 * (-1) ** player, abs=1e-12)
        gains.append(value - before)
    assert min(gains) > -1e-12 and max(gains) > 1e-3
    evaluate.run(WIDE, "full", directory)
    assert 0 <= manifest(directory, "evaluate")["solution"]["nashconv"] < 1e-12

    capsys.readouterr()
    with_choice = manifest(directory)["memory"]["smallest_mb"]
    finish.run(WIDE, "full", EXACT, directory, memory_mb=with_choice - 1)
    assert f"finish: against: uniform takes a memory_mb of {with_choice}; the pure rule" in capsys.readouterr().err
    assert manifest(directory)["result"]["choice"]["made"] is False
    assert payoff(directory, 0) == payoff(plain, 0)

    def stale(memory_mb):
        return reasons(directory, requested_stages(Config(game=WIDE, solve=SETTINGS, memory_mb=memory_mb), directory))[
            "finish"
        ]

    assert (
        stale(with_choice - 1) == "" and stale(with_choice) == f"it had too little memory, and now has {with_choice} MB"
    )


@pytest.mark.slow
def test_without_symmetry_a_sentence_says_that_there_is_no_choice(tmp_path, capsys):
    directory = made(tmp_path, "mini-2x2k2-abrupt", "none")
    assert "against: uniform needs symmetry: full, but this run has symmetry: none" in capsys.readouterr().err
    assert manifest(directory)["result"]["choice"] == {"against": "uniform", "made": False}


@pytest.mark.slow
def test_the_choice_against_a_named_strategy(tmp_path, done):
    directory = shutil.copytree(done, tmp_path / GAME / "full")
    named = shutil.copytree(done / SOLUTION, tmp_path / "named")
    settings = FinishConfig(against=str(named))
    finish.run(GAME, "full", settings, directory, reader=read_opponent)
    found = manifest(directory)["result"]["choice"]
    assert found["made"] and found["against"] == str(named)
    other = manifest(done)["result"]["choice"]
    assert other["payoffs"] != found["payoffs"]

    def stale():
        config = Config(game=GAME, solve=SETTINGS, finish=settings.model_dump())
        return reasons(directory, requested_stages(config, directory))["finish"]

    assert stale() == ""
    shutil.rmtree(named)
    shutil.copytree(done / EQUILIBRIUM, named)
    assert stale() == "against changed"
    with pytest.raises(StrategyFileError, match="is a solution of"):
        wrong = made(tmp_path / "wrong", "mini-2x2k2-abrupt")
        finish.run(GAME, "full", FinishConfig(against=str(wrong)), directory, reader=read_opponent)
