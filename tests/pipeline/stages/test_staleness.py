"""Manifests against configuration, sources and products: what is stale and why; the settings in the report."""

import json
import os
import re
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
import yaml

from pttt_ooc.cfr.solving.regret import RULES, Parameters, unread_keys
from pttt_ooc.cli.commands import main
from pttt_ooc.cli.sections import load_file
from pttt_ooc.config import Config, ExportConfig, SolveConfig
from pttt_ooc.disk.files import remove
from pttt_ooc.errors import MemoryBudgetError, StoreError
from pttt_ooc.pipeline.stages import (
    STAGES,
    directories,
    enumerate,
    evaluate,
    export,
    finish,
    index,
    product_check,
    report,
    solve,
    stage_context,
    staleness,
)
from pttt_ooc.pipeline.stages.normal_form import normal_export
from pttt_ooc.pipeline.stages.normal_solve import normal_solve
from pttt_ooc.pipeline.stages.staleness import reasons, requested_stages, sentence, status_lines
from tests.pipeline.stages import test_workflow
from tests.pipeline.stages.test_workflow import GAME, ROOT

finished_once = test_workflow.finished_once  # a fixture
CONFIG = load_file(ROOT / "examples/test-abrupt.yaml")[0]


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
        "finish": lambda: finish.run(*arguments, config.finish, directory),
        "evaluate": lambda: evaluate.run(*arguments, directory),
        "export": lambda: export.run(*arguments, config.export, directory),
        "report": lambda: report.run(config, directory),
    }[stage]()


@pytest.fixture
def made(finished_once, tmp_path):
    """All products of all stages, as the workflow has made them."""
    return shutil.copytree(finished_once / "data" / GAME / "full", tmp_path / "made")


def found(directory, config=CONFIG, **options):
    """Why stages are stale; nothing is written."""
    before = written(directory)
    reasons_found = reasons(directory, requested_stages(config, directory), **options)
    assert options.get("remember") or written(directory) == before
    assert list(reasons_found) == list(STAGES)
    return {stage: reason for stage, reason in reasons_found.items() if reason}


def written(directory):
    """All files, with their times and sizes."""
    stats = {file: file.stat() for file in directory.rglob("*")}
    return {file: (stat.st_mtime_ns, stat.st_size) for file, stat in stats.items()}


def later(stage):
    """The reasons of the stages after a stale one."""
    return {other: f"{stage} runs first" for other in STAGES[STAGES.index(stage) + 1 :]}


def manifest(directory, stage):
    return json.loads(directories.manifest_of(directory, stage).read_text())


@pytest.mark.slow
def test_a_described_run_is_up_to_date(made):
    assert found(made) == {}
    assert status_lines(reasons(made, requested_stages(CONFIG, made)))[2] == "solve: up to date"


@pytest.mark.slow
@pytest.mark.long_but("changes1", "changes4", "changes6")
@pytest.mark.parametrize(
    ("changes", "stage", "reason"),
    [
        ({"solve": {"target_nashconv": 0.001}}, "solve", "target_nashconv changed from 0.01 to 0.001"),
        ({"solve": {"evaluate_every": 2}}, "solve", "evaluate_every changed from 1.2 to 2"),
        ({"solve": {"alpha": 2}}, "solve", "alpha changed from null to 2"),
        ({"solve": {"algorithm": "pcfr+"}}, "solve", 'algorithm changed from "sapdcfr+" to "pcfr+"'),
        ({"finish": {"method": "none"}}, "finish", 'method changed from "exact" to "none"'),
        ({"finish": {"max_minutes": 7}}, "finish", "max_minutes changed from 60.0 to 7"),
        ({"export": {"dtype": "float32"}}, "export", 'dtype changed from "float64" to "float32"'),
        ({"report": {"title": "Another"}}, "report", 'title changed from "A small test" to "Another"'),
    ],
)
def test_other_settings_make_a_stage_and_later_ones_stale(made, changes, stage, reason):
    assert {name: text.removesuffix(".0") for name, text in found(made, changed(**changes)).items()} == {
        stage: reason,
        **later(stage),
    }
    assert found(made) == {}


UNUSED = {"dcfr": {"horizon", "asymmetry"}, "sapdcfr+": {"horizon", "beta"}, "hs-pcfr+": {"alpha", "beta", "asymmetry"}}
UNUSED |= {"cfr": {"horizon", "alpha", "beta", "asymmetry"}, "sapcfr+": {"horizon", "alpha", "beta"}}


@pytest.mark.parametrize("algorithm", UNUSED)
@pytest.mark.parametrize("key", ["horizon", "alpha", "beta", "gamma", "asymmetry"])
def test_a_key_that_the_update_rule_ignores_changes_nothing(algorithm, key):
    settings = SolveConfig(algorithm=algorithm)
    other = settings.model_copy(update={key: 7})
    is_same = key in UNUSED[algorithm]
    assert (normal_solve(settings) == normal_solve(other)) == is_same
    index = {"products": {"index.zarr": {"digest": "0"}}}
    assert (work_name(settings, index) == work_name(other, index)) == is_same


def work_name(settings, index):
    return solve.work_name(GAME, "full", settings, index)


def test_explicit_defaults_change_nothing(made):
    settings = {"alpha": 2.3, "gamma": 2, "asymmetry": 2, "horizon": 7, "beta": 3, "snapshots_mb": 5}
    assert found(made, changed(solve=settings, export={"course": True})) == {}
    assert set(found(made, changed(export={"course": True, "bundle": False}))) == {"export", "report"}
    none = ExportConfig(course=False, bundle=False)
    assert normal_export(none.model_copy(update={"dtype": "float32", "compression_level": 9}), GAME) == none
    only = ExportConfig(course=False)
    assert normal_export(only.model_copy(update={"compression_level": 9}), GAME) == only
    assert normal_export(only.model_copy(update={"dtype": "float32"}), GAME) != only


@pytest.mark.parametrize("rule", RULES)
def test_rules_read_their_parameters_and_no_others(rule):
    """A parameter changes a coefficient exactly if the rule says that it reads it."""
    one = RULES[rule]
    for name in ("alpha", "beta", "asymmetry"):
        others = replace(one.defaults, **{name: 0.7})
        changes = any(one.coefficients(t, one.defaults) != one.coefficients(t, others) for t in (2, 3, 4))
        assert changes == (name in one.reads)
    assert ("horizon" in unread_keys(rule)) == (one.drift == Parameters())


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:Pydantic serializer")
def test_every_key_of_the_configuration_is_compared(made, monkeypatch):
    """Except memory_mb, which changes no product, and keys that the algorithm ignores."""
    others = {"float64": "float32", "float32": "float64", "sapdcfr+": "cfr+"}
    for section in ("solve", "export", "report"):
        for key, value in getattr(CONFIG, section):
            if key in {"beta", "horizon", "snapshots_mb", "infosets_0", "infosets_1", "compare"}:
                continue
            other = {
                key: False
                if key in ("course", "bundle")
                else others.get(str(value), [] if key == "infosets" else not value)
            }
            config = CONFIG.model_copy(update={section: getattr(CONFIG, section).model_copy(update=other)})
            assert found(made, config)[section].startswith(f"{key} changed from ")
    assert found(made, changed(memory_mb=500)) == {}


@pytest.mark.slow
def test_changed_infoset_files_are_noticed_by_their_content(made, tmp_path):
    rows = tmp_path / "rows.txt"
    rows.write_text((made / "player0-infosets.txt").read_text())
    config = changed(export={"infosets_0": str(rows)})
    run("export", made, config)
    run("report", made, config)
    os.utime(rows, (1, 1))
    assert found(made, config) == {}
    lines = rows.read_text().splitlines(keepends=True)
    rows.write_text("".join([*lines[1:], lines[0]]))
    assert found(made, config) == {"export": "the files of infosets changed", **later("export")}


def test_a_directory_copied_to_another_symmetry_is_made_anew(made):
    reasons_found = found(made, changed(symmetry="none"))
    assert set(reasons_found.values()) == {'symmetry changed from "full" to "none"'}
    assert list(reasons_found) == list(STAGES[1:])


def test_products_of_another_version_are_made_anew(made, monkeypatch):
    digest_of = staleness.source_digest
    monkeypatch.setattr(staleness, "source_digest", lambda stage: "0" if stage == "evaluate" else digest_of(stage))
    assert found(made) == {"evaluate": "this program changed", **later("evaluate")}


@pytest.mark.slow
def test_products_made_from_other_products_are_made_anew_or_refused(made):
    """As after `pttt solve` with a smaller target, whatever the times of the files."""
    other = changed(solve={"max_iterations": 20})
    run("solve", made, other)
    with pytest.raises(StoreError, match=r"convergence.jsonl has changed since .*finish.json was made from it; delete"):
        run("export", made)
    other_log = "convergence.jsonl changed"
    assert found(made, other) == {**dict.fromkeys(STAGES[3:], other_log), "export": "has not run yet"}


def test_a_refused_budget_forgets_nothing(made):
    with pytest.raises(MemoryBudgetError):
        export.run(GAME, "full", changed(export={"dtype": "float32"}).export, made, memory_mb=10)
    assert found(made) == {}


@pytest.mark.slow_but_one
@pytest.mark.long_but("solve", "report")
@pytest.mark.parametrize("stage", STAGES)
def test_a_stage_that_has_not_run_and_one_whose_manifest_is_damaged(made, stage):
    file = directories.manifest_of(made, stage)
    file.write_text(file.read_text().replace('"game"', '"gane"').replace('"stage"', '"stake"'))
    assert found(made) == {stage: "its manifest is damaged, or of another version of this program", **later(stage)}
    file.unlink()
    assert found(made) == {stage: "has not run yet", **later(stage)}
    assert found(made, forced={stage}) == {stage: "has not run yet", **later(stage)}


def test_a_forced_stage_runs_and_later_stages_too(made):
    assert found(made, forced={"evaluate"}) == {"evaluate": "you asked for it again", **later("evaluate")}


def test_sentences_name_the_first_stale_stages():
    assert sentence("d/solve.json", "x changed from 1 to 2") == (
        "d/solve.json: x changed from 1 to 2; stage solve runs again."
    )
    assert [sentence("d/solve.json", reason) for reason in ("", "has not run yet", "index runs first")] == [""] * 3


# ---------------------------------------------------------------------------------------------
# Products


PRODUCTS = [("enumerate", "views.zarr"), ("solve", "convergence.jsonl"), ("export", "pttt_pl1.zip")]
PRODUCTS += [("solve", "solution.zarr/strategy/1/2/c/0"), ("report", "report.html")]


def edited(path, at=-1):
    """Change one bit of a file, or of one file of a store, without changing its size; of a zip, one that counts."""
    at = 200 if path.suffix == ".zip" else at
    file = next(f for f in sorted(path.rglob("*")) if f.is_file() and f.stat().st_size) if path.is_dir() else path
    content = bytearray(file.read_bytes())
    content[at] ^= 1
    file.write_bytes(content)


@pytest.mark.slow_but_one
@pytest.mark.parametrize(("stage", "product"), PRODUCTS)
def test_an_edit_of_the_same_size_is_noticed(made, stage, product):
    edited(made / product)
    name = product.partition("/")[0]
    assert found(made) == {stage: f"{name} was changed or damaged", **later(stage)}


@pytest.mark.slow_but_one
@pytest.mark.parametrize(("stage", "product"), PRODUCTS)
def test_a_missing_or_shorter_product_is_noticed(made, stage, product):
    name, path = product.partition("/")[0], made / product
    if path.is_file():
        path.write_bytes(path.read_bytes()[:-1])
        assert found(made) == {stage: f"{name} was changed or damaged", **later(stage)}
    remove(made / name)
    assert found(made) == {stage: f"{name} is missing", **later(stage)}


@pytest.mark.slow
def test_a_copy_is_read_once(made, monkeypatch):
    for file in made.rglob("*"):
        os.utime(file, (len(file.name), len(file.name)))
    read = []
    check = product_check.is_as_described
    monkeypatch.setattr(
        product_check, "is_as_described", lambda path, product: read.append(path.name) or check(path, product)
    )
    assert found(made) == {} and read, "looking reads each time"
    read.clear()
    assert found(made, remember=True) == {} and {"views.zarr", "index.zarr", "solution.zarr", "report.html"} <= set(
        read
    )
    read.clear()
    assert found(made) == {} and read == [], "a run has written down what it has read"
    edited(made / "pttt_pl0.zip")
    assert set(found(made, remember=True)) == {"export", "report"} and read == ["pttt_pl0.zip"]
    assert set(found(made)) == {"export", "report"}, "what differs is not written down"


def test_a_stage_records_its_products_as_verified(made, monkeypatch):
    monkeypatch.setattr(product_check, "is_as_described", lambda path, product: pytest.fail(f"{path} was read"))
    assert found(made) == {}


def test_a_record_is_valid_for_one_content_only(made):
    """If a manifest describes other content, the old record is no proof, whatever the times."""
    products = manifest(made, "export")["products"]
    products["pttt_pl0.zip"] |= {"digest": "0" * 64, "bytes": "0" * 64}
    assert product_check.problem(made, "export", products) == "pttt_pl0.zip was changed or damaged"


@pytest.mark.slow_but_one
@pytest.mark.parametrize("content", ["", "[]", "{", '{"pttt_pl0.zip": 3}'])
def test_a_damaged_record_only_costs_time(made, content):
    (made / product_check.DIRECTORY / "export.json").write_text(content)
    assert found(made) == {}


def test_manifests_name_their_inputs(made):
    for stage in STAGES[1:]:
        before = stage_context.inputs(made, *STAGES[: STAGES.index(stage)])
        assert manifest(made, stage)["made_from"] == stage_context.digests(before)


def test_the_disk_space_of_other_parameters_is_reported(made, capfd):
    run("solve", made, changed(solve={"algorithm": "cfr+", "max_iterations": 2}))
    told = capfd.readouterr().err
    place = re.escape(str(made / "work"))
    said = rf"Saved runs of other parameters or versions \(1\) take [0-9.]+ kB in {place}; delete the"
    assert re.search(said, told)


BUDGETS = {"target_nashconv", "max_iterations", "max_minutes", "evaluate_every", "commit_seconds"}
BUDGETS |= {"snapshot_every", "snapshots_mb"}


@pytest.mark.parametrize("key", SolveConfig.model_fields)
def test_the_state_is_named_by_all_keys_except_budgets(key):
    """The horizon counts only if parameters move, and the asymmetry only if predictions are divided."""
    settings = SolveConfig(algorithm={"horizon": "hs-dcfr", "asymmetry": "sapcfr+"}.get(key, "dcfr"))
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


@pytest.mark.slow
def test_the_report_prints_the_settings_in_force(made):
    """Not the present configuration: the solution was made with another one."""
    text = (made / "report.html").read_text()
    assert "target_nashconv: 0.01" in text and "memory_mb" not in text and "bundle: null" in text
    now = changed(memory_mb=400, solve={"target_nashconv": 0.5}, export={"bundle": False}, report={"title": "Now"})
    run("report", made, now)
    text = (made / "report.html").read_text()
    assert "target_nashconv: 0.01" in text and "memory_mb" not in text and "bundle: null" in text
    assert "title: Now" in text and "0.5" not in text.partition("How to reproduce it")[2].partition("</code>")[0]


# ---------------------------------------------------------------------------------------------
# `pttt why`


@pytest.fixture
def clone(made, tmp_path, monkeypatch):
    """The current directory, with a configuration and its results."""
    place = tmp_path / "clone"
    shutil.copytree(made, place / "data" / GAME / "full")
    (place / "config.yaml").write_text(yaml.safe_dump(CONFIG.model_dump(mode="json")))
    monkeypatch.chdir(place)
    return place


def why(capsys, *arguments):
    """The lines of the command, which writes nothing."""
    before = written(Path())
    with pytest.raises(SystemExit) as ended:
        main(["why", *map(str, arguments)])
    assert written(Path()) == before
    told_now = capsys.readouterr()
    return told_now.err.splitlines() if ended.value.code else told_now.out.splitlines()


FRESH = [f"{stage}: up to date" for stage in STAGES]


@pytest.mark.slow
def test_why_takes_a_configuration_a_clone_or_results(clone, capsys):
    results = clone / "data" / GAME / "full"
    assert why(capsys) == why(capsys, "config.yaml") == why(capsys, results) == why(capsys, clone) == FRESH
    other = yaml.safe_dump(changed(solve={"algorithm": "pcfr+"}).model_dump(mode="json"))
    (clone / "other.yaml").write_text(other)
    assert why(capsys, "other.yaml") == [
        *FRESH[:2],
        'solve: algorithm changed from "sapdcfr+" to "pcfr+"',
        *[f"{stage}: solve runs first" for stage in STAGES[3:]],
    ]
    (clone / "other.yaml").write_text(f"run: mine\n{other.replace('run: default', '')}")
    assert why(capsys, "other.yaml")[1:3] == ["index: up to date", "solve: has not run yet"]
    (clone / "config.yaml").unlink()
    assert why(capsys, results)[2] == "solve: target_nashconv changed from 0.01 to 0.001", "the default"


@pytest.mark.parametrize("place", ["nowhere.yaml", "data"])
def test_why_refuses_other_places(clone, capsys, place):
    (sentence_told,) = why(capsys, place)
    assert sentence_told.startswith(place)
