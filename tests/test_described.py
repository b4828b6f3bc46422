"""Manifests against the configuration: what is set aside, put back, refused; and what the report says was in force."""

import json
import re
import shutil

import pytest

from pttt_ooc.config import Config, SolveConfig, check_config
from pttt_ooc.errors import MemoryBudgetError, StoreError
from pttt_ooc.stages import STAGES, common, described, directories, enumerate, evaluate, export, index, report, solve
from pttt_ooc.stages.described import asked, set_aside

GAME = "mini-2x3k2-abrupt"
CONFIG = check_config(
    {
        "game": GAME,
        "memory_mb": 600,
        "solve": {"target_nashconv": 1e-2, "commit_seconds": 5},
        "export": {"bundle": False},
        "report": {"infosets": ["|"]},
    }
)


def changed(**sections):
    """The configuration, with other values in some of its sections."""
    content = CONFIG.model_dump(mode="json")
    for section, values in sections.items():
        content[section] = {**content[section], **values} if isinstance(values, dict) else values
    return Config.model_validate(content)


def run(stage, directory, config=CONFIG):
    arguments = (config.game, config.symmetry)
    {
        "enumerate": lambda: enumerate.run(config.game, directory),
        "index": lambda: index.run(*arguments, directory),
        "solve": lambda: solve.run(*arguments, config.solve, directory, memory_mb=config.memory_mb),
        "evaluate": lambda: evaluate.run(*arguments, directory),
        "export": lambda: export.run(*arguments, config.export, directory),
        "report": lambda: report.run(config, directory),
    }[stage]()


@pytest.fixture(scope="module")
def made_once(tmp_path_factory):
    directory = tmp_path_factory.mktemp("made")
    for stage in STAGES:
        run(stage, directory)
    return directory


@pytest.fixture
def made(made_once, tmp_path):
    """All products of all stages."""
    return shutil.copytree(made_once, tmp_path / "made")


def there(directory):
    return [stage for stage in STAGES if directories.manifest_of(directory, stage).exists()]


def manifest(directory, stage):
    return json.loads(directories.manifest_of(directory, stage).read_text())


def test_nothing_is_set_aside_that_the_configuration_describes(made):
    assert set_aside(made, CONFIG) == [] and there(made) == list(STAGES)


@pytest.mark.parametrize(
    ("changes", "stage", "reason"),
    [
        ({"solve": {"target_nashconv": 0.001}}, "solve", "was made with target_nashconv 0.01, not 0.001"),
        ({"solve": {"evaluate_every": 2}}, "solve", "was made with evaluate_every 1.2, not 2"),
        ({"solve": {"alpha": 2}}, "solve", "was made with alpha null, not 2"),
        ({"export": {"dtype": "float64"}}, "export", "was made with dtype float32, not float64"),
        ({"report": {"title": "Another"}}, "report", "was made with title Phantom Tic-Tac-Toe, solved, not Another"),
    ],
)
def test_other_settings_set_one_manifest_aside_and_changed_back_put_it_back(made, changes, stage, reason):
    before = {name: directories.manifest_of(made, name).stat().st_mtime_ns for name in STAGES}
    (sentence,) = set_aside(made, changed(**changes))
    file = directories.manifest_of(made, stage)
    assert sentence.startswith(f"{file} {reason}") and sentence.endswith(f"; stage {stage} runs again.")
    assert set(STAGES) - set(there(made)) == {stage}
    assert set_aside(made, changed(**changes)) == [sentence], "it is told until the stage has run"
    assert set_aside(made, CONFIG) == [] and there(made) == list(STAGES)
    assert before == {name: directories.manifest_of(made, name).stat().st_mtime_ns for name in STAGES}


@pytest.mark.filterwarnings("ignore:Pydantic serializer")
def test_every_key_of_the_configuration_is_compared(made, monkeypatch):
    """But memory_mb, which changes no product."""
    sources = {stage: manifest(made, stage)["sources"] for stage in STAGES}
    monkeypatch.setattr(described, "source_digest", sources.__getitem__)
    others = {"float64": "float32", "float32": "float64"}
    for section in ("solve", "export", "report"):
        for key, value in getattr(CONFIG, section):
            other = {key: others.get(str(value), [] if key == "infosets" else not value)}
            config = CONFIG.model_copy(update={section: getattr(CONFIG, section).model_copy(update=other)})
            (sentence,) = set_aside(made, config)
            assert f"{section}.json was made with {key} " in sentence
            assert set_aside(made, CONFIG) == [] and there(made) == list(STAGES)
    assert set_aside(made, changed(memory_mb=500)) == []


def test_a_directory_copied_to_another_symmetry_is_made_anew(made):
    sentences = set_aside(made, changed(symmetry="none"))
    assert there(made) == ["enumerate"]
    assert all("was made with symmetry full, not none" in sentence for sentence in sentences)


def test_products_of_another_version_are_made_anew(made, monkeypatch):
    monkeypatch.setattr(described, "source_digest", lambda stage: manifest(made, "solve")["sources"])
    sentences = set_aside(made, CONFIG)
    assert there(made) == ["solve"] and "was made by another version of this program" in sentences[0]


def test_what_was_made_from_other_products_is_made_anew_or_refused(made):
    """As after `pttt solve` with a smaller target, whatever the times of the files say."""
    run("solve", made, changed(solve={"max_iterations": 20}))
    with pytest.raises(StoreError, match=r"evaluate.json was made from another convergence.jsonl than .*; delete it"):
        run("export", made)
    sentences = set_aside(made, changed(solve={"max_iterations": 20}))
    assert there(made) == ["enumerate", "index", "solve"]
    assert all("was made from another convergence.jsonl; stage" in sentence for sentence in sentences)


def test_a_stage_that_runs_forgets_what_was_set_aside(made):
    other = changed(export={"dtype": "float64"})
    set_aside(made, other)
    run("export", made, other)
    assert not list(made.glob("*.aside"))
    assert manifest(made, "export")["settings"]["dtype"] == "float64"
    assert "report.json was made from another pttt_pl0.zip" in set_aside(made, other)[0]


def test_a_refused_budget_forgets_nothing(made):
    set_aside(made, changed(export={"dtype": "float64"}))
    with pytest.raises(MemoryBudgetError):
        export.run(GAME, "full", changed(export={"dtype": "float64"}).export, made, memory_mb=10)
    assert set_aside(made, CONFIG) == [] and there(made) == list(STAGES)


def test_what_is_set_aside_is_not_put_back_without_its_products(made):
    set_aside(made, changed(export={"dtype": "float64"}))
    (made / "pttt_pl0.zip").write_bytes(b"")
    set_aside(made, CONFIG)
    assert "export" not in there(made)


def test_manifests_say_what_they_were_made_from(made):
    for stage in STAGES[1:]:
        before = common.inputs(made, *STAGES[: STAGES.index(stage)])
        assert manifest(made, stage)["made_from"] == common.digests(before)


def test_every_stage_is_asked_for():
    assert list(asked(CONFIG)) == list(STAGES)


def test_what_other_parameters_take_on_disk_is_told(made, capfd):
    run("solve", made, changed(solve={"algorithm": "cfr+", "max_iterations": 2}))
    told = capfd.readouterr().err
    place = re.escape(str(made / "work"))
    said = f"Saved runs of other parameters or versions, 1 in number, take [0-9.]+ kB in {place}; delete those"
    assert re.search(said, told)


BUDGETS = {"target_nashconv", "max_iterations", "max_minutes", "evaluate_every", "commit_seconds"}
BUDGETS |= {"snapshot_every", "snapshots_mb"}


@pytest.mark.parametrize("key", SolveConfig.model_fields)
def test_the_state_is_named_by_all_keys_but_budgets(key):
    """Horizon counts only where something moves."""
    settings = SolveConfig(algorithm="hs-dcfr" if key == "horizon" else "dcfr")
    others = {"algorithm": "cfr+", "updates": "simultaneous", "precision": "float64", "horizon": 7}
    other = settings.model_copy(update={key: others.get(key, 3.5)})
    index = {"products": {"index.zarr": {"digest": "0"}}}
    names = [solve.work_name(GAME, "full", s, index) for s in (settings, other)]
    assert (names[0] == names[1]) == (key in BUDGETS)
    others = [
        solve.work_name("mini-2x2k2-abrupt", "full", settings, index),
        solve.work_name(GAME, "none", settings, index),
        solve.work_name(GAME, "full", settings, {"products": {"index.zarr": {"digest": "1"}}}),
    ]
    assert len({names[0], *others}) == 4


def test_the_report_prints_what_was_in_force(made):
    """Not what it is told now: the solution came about otherwise."""
    text = (made / "report.html").read_text()
    assert "target_nashconv: 0.01" in text and "memory_mb" not in text and "bundle: false" in text
    assert "600 MB" in (made / "measurements.html").read_text()
    now = changed(memory_mb=400, solve={"target_nashconv": 0.5}, export={"bundle": True}, report={"title": "Now"})
    run("report", made, now)
    text = (made / "report.html").read_text()
    assert "target_nashconv: 0.01" in text and "memory_mb" not in text and "bundle: false" in text
    assert "600 MB" in (made / "measurements.html").read_text()
    assert "title: Now" in text and "0.5" not in text.partition("How to reproduce it")[2].partition("</code>")[0]
