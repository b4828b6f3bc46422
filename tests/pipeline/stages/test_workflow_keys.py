"""For every key of the configuration: which stages a change makes stale, as ``docs/workflow.md`` promises.

Snakemake itself plans each change, after a real run.  The tests marked `full` also carry each change out.
"""

import re
from typing import NamedTuple

import pytest
import yaml

from docs.make import keys
from pttt_ooc.cli.commands import main
from pttt_ooc.cli.sections import SECTIONS
from pttt_ooc.config import Config
from pttt_ooc.pipeline.stages import STAGES, UNLISTED_STAGES
from tests.pipeline.stages import test_workflow
from tests.pipeline.stages.test_workflow import Workflow, copytree

finished_once, workflow = test_workflow.finished_once, test_workflow.workflow  # fixtures

NONE: tuple[str, ...] = ()
SOLVE, FINISH, EXPORT, REPORT = (STAGES[STAGES.index(stage) :] for stage in ("solve", "finish", "export", "report"))


class Change(NamedTuple):
    """Another value of a key, the stages that it makes stale, and what the first lines of the solver's log say."""

    key: str
    value: object
    stages: tuple[str, ...]
    says: str = ""
    after: tuple[tuple[str, object], ...] = ()  # keys that are set, and made, before

    def __str__(self):
        return f"{self.key}={self.value}" + "".join(f", {key}={value}" for key, value in self.after)


ANEW, GOES_ON = "Starting from the first iteration.", "Continuing from iteration 44."
HIGHER_ORDER = (("solve.algorithm", "hs-dcfr"),)

CHANGES = [
    Change("game", "mini-2x3k2-classical", STAGES, ANEW),
    Change("symmetry", "none", STAGES, ANEW),
    Change("run", "other", SOLVE, ANEW),
    Change("memory_mb", 400, NONE),
    Change("listed", True, NONE),  # the default on this board
    Change("listed", False, UNLISTED_STAGES),
    Change("solve.algorithm", "pcfr+", SOLVE, ANEW),
    Change("solve.algorithm", "sapdcfr+", NONE),  # the default
    Change("solve.alpha", 2.0, SOLVE, ANEW),
    Change("solve.alpha", 2.3, NONE),  # the rule's default
    Change("solve.beta", 2.0, NONE),  # the rule does not use it
    Change("solve.beta", 2.0, SOLVE, ANEW, (("solve.algorithm", "dcfr"),)),
    Change("solve.gamma", 3.0, SOLVE, ANEW),
    Change("solve.asymmetry", 1.0, SOLVE, ANEW),
    Change("solve.horizon", 500, NONE),  # the rule does not use it
    Change("solve.horizon", 500, SOLVE, ANEW, HIGHER_ORDER),
    Change("solve.restart_average", 4, SOLVE, ANEW),
    Change("solve.updates", "simultaneous", SOLVE, ANEW),
    Change("solve.precision", "float64", SOLVE, ANEW),
    Change("solve.target_nashconv", 1e-3, SOLVE, GOES_ON),
    Change("solve.max_iterations", 300, SOLVE, GOES_ON),
    Change("solve.max_minutes", 2, SOLVE, GOES_ON),
    Change("solve.commit_seconds", 5, SOLVE, GOES_ON),
    Change("solve.evaluate_every", 1.5, SOLVE, ANEW),
    Change("solve.evaluate_every", 1.5, SOLVE, "Continuing from iteration", (("solve.target_nashconv", 0),)),
    Change("solve.snapshot_every", 2, SOLVE, ANEW),  # none has been kept
    Change("solve.snapshots_mb", 10, NONE),  # without snapshots
    Change("solve.snapshots_mb", 10, SOLVE, GOES_ON, (("solve.snapshot_every", 2),)),
    Change("finish.method", "none", FINISH),
    Change("finish.max_minutes", 5, FINISH),
    Change("finish.against", "none", FINISH),
    Change("export.dtype", "float32", EXPORT),
    Change("export.compression_level", 9, EXPORT),
    Change("export.infosets_0", "rows0.txt", EXPORT),
    Change("export.infosets_1", "rows1.txt", EXPORT),
    Change("export.course", False, EXPORT),
    Change("export.course", True, NONE),  # the default on this board
    Change("export.bundle", False, EXPORT),
    Change("report.title", "Another", REPORT),
    Change("report.infosets", ["|"], REPORT),
    Change("report.compare", ["default"], REPORT),
]
"""Of the core's keys."""

WING_CHANGES = {
    "sweep": {"name": "mine", "games": ["mini-2x2k2-abrupt"], "algorithms": ["cfr+"], "precisions": ["float64"]},
    "frontier": {
        "game": "pttt-3x4k3-classical",
        "gap": 1e-3,
        "max_minutes": 1,
        "memory_mb": 1000,
        "workers": 2,
        "scheduler": "tcp://127.0.0.1:8786",
        "output": "elsewhere",
    },
    "smbc": {
        "winning_score": 2,
        "fill_board": True,
        "maximum_subgame_exploitability": 1e-3,
        "check_exploitability_every": 5,
        "algorithm": "cfr+",
        "alpha": 1,
        "beta": 1,
        "gamma": 1,
        "asymmetry": 1,
        "horizon": 7,
        "alternate_updates": False,
        "small_move_epsilon": 0.1,
        "small_move_epsilon_decay": 0.1,
        "max_iterations": 10,
        "compared": ["cfr"],
        "all_equilibria": True,
        "compared_iterations": 10,
    },
    "learners": {"runs": [{"name": "mine", "algorithm": "psro"}]},
    "arena": {
        "experiments": {"mine": {"claim": "It is better.", "agents": ["random", "random"]}},
        "round_robins": {"ours": {"agents": ["random", "random"]}},
        "trainings": {"ours": {"claim": "It learns.", "game": "mnk:3x3+need3", "games": 10}},
    },
    "extreme": {
        "bots": "elsewhere",
        "run": "other",
        "seed": 1,
        "pools": [4, 2, 1],
        "qualify": [2, 2, 1],
        "marks": [3, 2, 1],
        "time_limit": 1,
        "load_limit": 1,
        "libraries": ["numpy"],
        "memory_mb": 100,
        "python": "3",
        "sandbox": False,
    },
}
"""Another value for each key of the wings, which the core's stages do not read."""


def leaves(model):
    """The keys of a model of the configuration, those of its sections as SECTION.KEY."""
    found = []
    for key, field in model.model_fields.items():
        inner = getattr(field.annotation, "model_fields", None)
        found += [f"{key}.{name}" for name in inner] if inner else [key]
    return found


def test_every_key_is_tried():
    assert {change.key for change in CHANGES} == set(leaves(Config))
    assert {wing: set(keys) for wing, keys in WING_CHANGES.items()} == {
        wing: set(model.model_fields) for wing, model in SECTIONS.items()
    }


def test_the_page_has_the_table_of_keys():
    text = keys.PAGE.read_text(encoding="utf-8")
    assert keys.rendered(text) == text, "python -m docs.make.keys --write"
    told = re.findall(r"^\| `(\w+)`", keys.table(), re.MULTILINE)
    assert told == [key.rpartition(".")[2] for key in leaves(Config)]


@pytest.mark.slow
def test_the_page_shows_what_why_says(watched, monkeypatch, capsys):
    text = keys.PAGE.read_text(encoding="utf-8")
    [shown] = re.findall(r"^\$ pttt why\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    file = watched.directory / "config.yaml"
    before = file.read_text()
    file.write_text(with_values(before, ("solve.algorithm", "pcfr+")))
    monkeypatch.chdir(watched.directory)
    try:
        with pytest.raises(SystemExit):
            main(["why"])
    finally:
        file.write_text(before)
    assert capsys.readouterr().out == shown


def with_rows(workflow):
    """The workflow with files of infosets, to be named by its configuration."""
    for player in (0, 1):
        lines = (workflow.data / f"player{player}-infosets.txt").read_text().splitlines(keepends=True)
        (workflow.directory / f"rows{player}.txt").write_text("".join(reversed(lines)))
    return workflow


def with_values(text, *values):
    """The text of a configuration with other values, by keys such as ``solve.alpha``."""
    content = yaml.safe_load(text)
    for key, value in values:
        section, _, name = key.rpartition(".")
        (content.setdefault(section, {}) if section else content)[name] = value
    return yaml.safe_dump(content)


@pytest.fixture(scope="module")
def watched(finished_once, tmp_path_factory):
    """A copy of the finished workflow, whose results no test of this module changes."""
    return with_rows(Workflow(copytree(finished_once, tmp_path_factory.mktemp("keys") / "w")))


def check_stale(workflow, stages, *values):
    """Change keys, ask Snakemake what it would run, and change them back."""
    file = workflow.directory / "config.yaml"
    text, before = file.read_text(), workflow.contents()
    file.write_text(with_values(text, *values))
    try:
        assert workflow.stale() == list(stages)
    finally:
        file.write_text(text)
    assert workflow.contents() == before


@pytest.mark.long_but("game=", "finish.method", "algorithm=", "dtype", "snapshot_every")
@pytest.mark.slow
@pytest.mark.parametrize("change", [change for change in CHANGES if not change.after], ids=str)
def test_a_changed_key_makes_exactly_its_stages_stale(watched, change):
    check_stale(watched, change.stages, (change.key, change.value))


@pytest.mark.long_but("sweep", "learners")
@pytest.mark.slow
@pytest.mark.parametrize("wing", WING_CHANGES)
def test_a_wings_keys_make_no_stage_of_the_core_stale(watched, wing):
    check_stale(watched, NONE, *((f"{wing}.{key}", value) for key, value in WING_CHANGES[wing].items()))


def manifests(workflow):
    """By directory of results and stage, what tells one writing of a manifest from another."""
    files = [f for f in (workflow.directory / "data").rglob("*.json") if f.stem in STAGES and f.parent.name[0] != "."]
    return {(file.parent, file.stem): (file.stat().st_ino, file.stat().st_mtime_ns) for file in files}


@pytest.mark.full
@pytest.mark.parametrize("change", CHANGES, ids=str)
def test_a_changed_key_runs_exactly_its_stages(workflow, change):
    """And then nothing is stale, and the solver went on where its state still counts."""
    file = with_rows(workflow).directory / "config.yaml"
    if change.after:
        file.write_text(with_values(file.read_text(), *change.after))
        workflow.succeed()
    before = manifests(workflow)
    file.write_text(with_values(file.read_text(), (change.key, change.value)))
    workflow.succeed()
    written = {made for made, stamp in manifests(workflow).items() if before.get(made) != stamp}
    assert {stage for _, stage in written} == set(change.stages)
    if change.says:
        (place,) = (place for place, stage in written if stage == "solve")
        assert change.says in (place / "logs/solve.log").read_text()
    assert workflow.stale() == []
