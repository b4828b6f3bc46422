"""The loop of learners: same bits after a kill, ends, growing arrays, results for all commands."""

import inspect
import json
import os
import signal
import subprocess
import sys
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np
import pytest

from pttt_ooc.errors import ConfigError, StoreError
from pttt_ooc.learners.catalogue import ALGORITHMS, checked_settings, learner_class
from pttt_ooc.learners.commands import learn
from pttt_ooc.learners.loop import Checkpoints, Ends, Loop
from pttt_ooc.learners.runs import LearnerRun, read_run
from pttt_ooc.pipeline.files.solution import read_solution
from tests.kits.cli_runner import main
from tests.kits.patience import wait_until
from tests.learners.learning_kit import MINI, small_learning_game, started

TABULAR = sorted(name for name, (module, _) in ALGORITHMS.items() if not module.startswith("deep."))


def same(first, second):
    assert first.keys() == second.keys()
    for name in first:
        np.testing.assert_array_equal(first[name], second[name], err_msg=name)


def test_the_ends_of_a_run_are_those_of_the_command():
    options = inspect.signature(learn).parameters
    assert {name: options[name].default for name in asdict(Ends())} == asdict(Ends())


BOUNDS = {"minimum": -1, "exclusiveMinimum": 0, "maximum": 1, "exclusiveMaximum": 0}


@pytest.mark.parametrize("algorithm", sorted(ALGORITHMS))
def test_every_number_is_refused_outside_of_its_bounds(algorithm):
    """Each number among the settings has a lower and an upper bound, and the next value beyond is refused."""
    model = learner_class(algorithm).settings_model
    numbers = {
        key: field
        for key, field in model.model_json_schema()["properties"].items()
        if field.get("type") in ("number", "integer")
    }
    for key, field in numbers.items():
        bounds = {bound: field[bound] + step for bound, step in BOUNDS.items() if bound in field}
        assert len(bounds) == 2 and field.get("minimum", field.get("exclusiveMinimum")) >= 0, key
        for value in bounds.values():
            with pytest.raises(ConfigError, match=key):
                checked_settings(algorithm, {key: value})


@pytest.mark.slow_but_one
@pytest.mark.parametrize("algorithm", TABULAR)
def test_steps_and_restoring_change_no_bit(algorithm):
    if algorithm == "psro":
        pytest.importorskip("scipy")
    learning_game = small_learning_game(MINI)
    whole, parts = started(algorithm, learning_game, 3), started(algorithm, learning_game, 3)
    whole.step(12)
    parts.step(5)
    kept = {name: array.copy() for name, array in parts.state().items()}
    other = started(algorithm, learning_game, 3)
    other.restore(kept)
    other.counts = replace(parts.counts)
    parts.step(2)  # restored arrays are copies
    other.step(3)
    other.step(4)
    same(whole.state(), other.state())
    for a, b in zip(whole.strategy(), other.strategy(), strict=True):
        np.testing.assert_array_equal(a.probabilities, b.probabilities)


def loop(ends, work=None, log=None, algorithm="mmd-annealed", rows=None):
    learning_game = small_learning_game(MINI)
    checkpoints = Checkpoints(work, "print") if work else None
    made = Loop(
        started(algorithm, learning_game),
        learning_game,
        ends,
        checkpoints,
        log,
        (rows if rows is not None else []).append,
    )
    return made, checkpoints


def test_a_resumed_run_equals_an_uninterrupted_one(tmp_path):
    ends = Ends(max_iterations=40, commit_seconds=0)
    whole, _ = loop(ends)
    assert whole.run() == "max_iterations"
    first, checkpoints = loop(Ends(max_iterations=17, commit_seconds=0), tmp_path / "work")
    with checkpoints:
        first.run()
    second, checkpoints = loop(ends, tmp_path / "work", tmp_path / "log")
    with checkpoints:
        assert second.iteration == 17
        second.run()
    same(whole.learner.state(), second.learner.state())
    timeless = [{k: v for k, v in row.items() if "seconds" not in k} for row in whole.rows]
    looks = {row["iteration"] for row in timeless}
    gone_on = [json.loads(line) for line in (tmp_path / "log").read_text().splitlines()]
    assert [{k: row[k] for k in timeless[0]} for row in gone_on if row["iteration"] in looks] == timeless


def test_the_ends(tmp_path):
    run, _ = loop(Ends(max_iterations=10**6, target_nashconv=0.2))
    assert run.run() == "target_nashconv" and run.rows[-1]["nashconv"] <= 0.2 < run.rows[-2]["nashconv"]
    run, _ = loop(Ends(max_minutes=0))
    assert run.run() == "max_minutes" and run.iteration == 0 and run.rows[-1]["iteration"] == 0


def test_growing_states_are_saved_and_smaller_ones_deleted(tmp_path):
    with Checkpoints(tmp_path, "print") as checkpoints:
        assert checkpoints.latest() is None
        for size in (0, 3, 3, 5):
            checkpoints.save(size, {"numbers": np.arange(size)}, {"size": size})
            assert len([place for place in tmp_path.iterdir() if place.is_dir()]) == 1
    with Checkpoints(tmp_path, "print") as checkpoints:
        arrays, values = checkpoints.latest()
        assert values == {"size": 5} and arrays["numbers"].tolist() == [0, 1, 2, 3, 4]
        with pytest.raises(StoreError, match="at work"):
            Checkpoints(tmp_path, "print")
    with pytest.raises(StoreError, match="another configuration"), Checkpoints(tmp_path, "other") as checkpoints:
        checkpoints.latest()


def test_a_killed_growth_leaves_the_state_before(tmp_path, monkeypatch):
    with Checkpoints(tmp_path, "print") as checkpoints:
        checkpoints.save(1, {"numbers": np.arange(2)}, {"size": 2})

        def killed(*arguments):
            raise KeyboardInterrupt

        with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
            patch.setattr("pttt_ooc.disk.commits.ResumableState.commit", killed)
            checkpoints.save(2, {"numbers": np.arange(4)}, {"size": 4})
    with Checkpoints(tmp_path, "print") as checkpoints:
        assert checkpoints.latest()[1] == {"size": 2}


def command(data, *more):
    return [sys.executable, "-m", "pttt_ooc.cli", "lab", "learn", *map(str, more), "--game", MINI, "--data", str(data)]


@pytest.mark.long
def test_a_killed_run_resumes_to_the_same_bits(tmp_path):
    """SIGKILL at any time, and the same command again."""
    asked = ["mmd-magnet", "--max-iterations", 300, "--max-minutes", 100, "--commit-seconds", 0.1]
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parent.parent.parent)}
    directory = tmp_path / "killed" / MINI / "full" / "learners" / "mmd-magnet"
    with subprocess.Popen(command(tmp_path / "killed", *asked), env=environment, stderr=subprocess.PIPE) as process:
        wait_until(lambda: list(directory.glob("work/*/*/commits/*/zarr.json")))
        process.send_signal(signal.SIGKILL)
        process.communicate()
    assert not (directory / "solution.zarr").exists()
    for data in ("killed", "whole"):
        subprocess.run(command(tmp_path / data, *asked), env=environment, check=True, capture_output=True)
    index = small_learning_game(MINI).index
    found = [
        read_solution(tmp_path / data / MINI / "full/learners/mmd-magnet/solution.zarr", index)
        for data in ("killed", "whole")
    ]
    for p in (0, 1):
        np.testing.assert_array_equal(found[0][p].probabilities, found[1][p].probabilities)


@pytest.mark.slow
def test_a_result_is_a_solution_for_all_commands(tmp_path, capsys):
    def pttt(*arguments):
        with pytest.raises(SystemExit) as end:
            main([*map(str, arguments), "--data", str(tmp_path)])
        assert not end.value.code
        return capsys.readouterr().out

    out = pttt("lab", "learn", "mmd-dilated", "--game", MINI, "--max-iterations", 50, "--run", "mine", "--set", "eta=2")
    directory = tmp_path / MINI / "full" / "learners" / "mine"
    assert out.strip() == str(directory)
    manifest, rows = read_run(directory)
    assert manifest["settings"]["eta"] == 2 and manifest["result"] == rows[-1] and rows[-1]["iteration"] == 50
    told = json.loads(pttt("evaluate", directory, directory, "--json"))
    assert told["nashconv"] == pytest.approx(rows[-1]["nashconv"], abs=1e-9)
    pttt("lab", "export", directory, "--output", tmp_path / "files")
    assert (tmp_path / "files" / "pttt_pl0.zip").exists()
    with pytest.raises(SystemExit) as end:
        main(["lab", "learn", "xfp", "--game", MINI, "--run", "a.b", "--data", str(tmp_path)])
    assert end.value.code and capsys.readouterr().err.startswith("--run: name is 'a.b', but must be")


def test_refused_settings(tmp_path):
    with pytest.raises(ConfigError, match=r"no learner 'xpf' \(did you mean xfp"):
        checked_settings("xpf", {})
    with pytest.raises(ConfigError, match="no key speed"):
        checked_settings("xfp", {"speed": 1})
    with pytest.raises(ConfigError, match=r"power is -1, but must be greater"):
        checked_settings("xfp", {"power": -1})


def test_a_fingerprint_depends_on_what_the_bits_depend_on():
    base = LearnerRun(MINI, "full", "name", "xfp")
    assert base.fingerprint() == LearnerRun(MINI, "full", "other", "xfp", {"power": 0}).fingerprint()
    others = [
        LearnerRun(MINI, "none", "name", "xfp"),
        LearnerRun(MINI, "full", "name", "xfp", seed=1),
        LearnerRun(MINI, "full", "name", "xfp", {"power": 1}),
        LearnerRun(MINI, "full", "name", "xfp", precision="float64"),
        LearnerRun(MINI, "full", "name", "mmd-dilated"),
    ]
    assert len({run.fingerprint() for run in (base, *others)}) == 6
