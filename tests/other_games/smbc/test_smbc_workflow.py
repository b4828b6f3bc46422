"""The wing's target in the workflow: its products, and its reruns after changes."""

import json
import shutil

import pytest
import yaml

from pttt_ooc.disk.manifests import read_manifest, write_manifest
from pttt_ooc.errors import StoreError
from pttt_ooc.other_games.smbc import report
from pttt_ooc.other_games.smbc.equilibria_stage import run_equilibria
from pttt_ooc.other_games.smbc.pipeline import MODULES, STAGES, requests, settings
from pttt_ooc.other_games.smbc.settings import SmbcConfig, SolveSettings
from pttt_ooc.pipeline.stages import fsck
from tests.pipeline.stages.test_workflow import Workflow

SECTION = {"winning_score": 2, "maximum_subgame_exploitability": 0.02, "compared": ["dcfr"], "compared_iterations": 9}


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    return Workflow.of_wing(tmp_path_factory.mktemp("smbc"), "smbc", **SECTION)


@pytest.fixture
def workflow(finished, tmp_path):
    return finished.copy(tmp_path)


def stale(workflow):
    lines = [line.split() for line in workflow.succeed("smbc", "--dry-run").splitlines()]
    return [stage for stage in MODULES if [f"smbc_{stage}", "1"] in [line[:2] for line in lines]]


@pytest.mark.long
def test_the_target_makes_everything_of_the_wing_and_nothing_else(finished):
    made = {path.name for path in (finished.directory / "data/smbc").iterdir()}
    assert {f"{stage}.json" for stage in MODULES if stage != "equilibria"} <= made
    assert "equilibria.json" not in made
    assert {"report.html", "values.svg", "opening.svg", "convergence.svg", "strategies.zarr"} <= made
    assert [path.name for path in (finished.directory / "data").iterdir()] == ["smbc"]
    assert stale(finished) == []
    told = fsck.check(finished.directory / "data", [*fsck.OWN_SETS, STAGES])
    assert told.problems == told.facts == []
    page = (finished.directory / "data/smbc/report.html").read_text()
    found = json.loads((finished.directory / "data/smbc/findings.json").read_text())
    assert "In the match to 2" in page and f"{found['rounds']['1-1']['value']:.7f}".lstrip("-") in page
    assert page.count("<svg") == 3 and "built-in" not in page
    assert found["study"]["rounding"]["rounds"].keys() == found["rounds"].keys()
    assert len(found["study"]["small_moves"]) > 1 and "of this one and 20 drawn" in page
    assert page.count("with every pair of goals") + page.count("The same if both goals were known") == 2
    assert found["curves"].keys() == {"sapdcfr+", "dcfr"} and found["curves"]["dcfr"][-1]["iteration"] == 9
    for one in found["shown"]:
        mean = sum(map(sum, one["pairs"])) / 9
        assert abs(mean - found["rounds"][one["scores"]]["value"]) < 1e-12
        for goal in range(3):
            assert abs(sum(way["chances"][goal] for way in one["opening"]) - 1) < 1e-12
        for way in one["opening"]:
            assert way["posterior"] is None or abs(sum(way["posterior"]) - 1) < 1e-12


@pytest.mark.long_but("change2", "change4")
@pytest.mark.slow
@pytest.mark.parametrize(
    ("section", "change", "stages"),
    [
        ("smbc", {"maximum_subgame_exploitability": 0.03}, ["solve", "findings", "report"]),
        ("smbc", {"compared_iterations": 8}, ["findings", "report"]),
        ("smbc", {"all_equilibria": True}, ["equilibria", "report"]),
        ("smbc", {"horizon": 1000}, []),
        ("solve", {"target_nashconv": 0.5}, []),
    ],
)
def test_stale_stages_after_a_change_of_configuration(workflow, section, change, stages):
    workflow.configure(section, **change)
    assert stale(workflow) == stages


@pytest.mark.long_but("other_games/smbc/tree.py", "report")
@pytest.mark.slow
@pytest.mark.parametrize(
    ("module", "stages"),
    [
        ("other_games/smbc/tree.py", ["solve", "findings", "report"]),
        ("other_games/smbc/findings.py", ["findings", "report"]),
        ("other_games/smbc/templates/smbc_report.html.j2", ["report"]),
        ("other_games/smbc/terminal/play.py", []),
        ("pipeline/files/bundle.py", []),
    ],
)
def test_stale_stages_after_an_edit_of_a_source(workflow, module, stages):
    workflow.edit(module)
    assert stale(workflow) == stages


@pytest.mark.slow
def test_a_deleted_product_is_missed(workflow):
    shutil.rmtree(workflow.directory / "data/smbc/strategies.zarr")
    assert stale(workflow) == ["solve", "findings", "report"]


@pytest.mark.slow
def test_a_solution_by_the_command_is_used_if_it_has_the_requested_settings(workflow):
    """A result of `pttt smbc solve` with other settings is set aside, with a sentence."""
    file = workflow.directory / "data/smbc/solve.json"
    written = json.loads(file.read_text())
    manifest = read_manifest(file, written["stage"])
    manifest["settings"]["horizon"] = 7
    write_manifest(file, manifest.pop("stage"), **{k: v for k, v in manifest.items() if k != "format_version"})
    told = workflow.succeed("smbc", "--dry-run")
    assert "solve.json: horizon changed from 7 to 1000; stage solve runs again." in told


def test_a_table_of_one_number_is_shown_as_one():
    assert report.same([[0.25, 0.250001], [0.25, 0.25]]) == 0.25
    assert report.same([[0.25, 0.25], [0.25, 0.2502]]) is None


@pytest.mark.slow
def test_the_report_shows_all_equilibria_on_request(finished, tmp_path):
    place = shutil.copytree(finished.directory / "data/smbc", tmp_path / "smbc")
    with pytest.raises(StoreError, match="equilibria"):
        report.run(place, all_equilibria=True)
    width = {"least": -0.25, "most": 0.75}
    one = {"rows": [width] * 3, "columns": [width] * 3, "entries": [[{"least": 0.125, "most": 0.125}] * 3] * 3}
    one["value"] = -1 / 9
    facts = {"products": {}, "usage": {"seconds": 61, "peak_anonymous_mb": 1}}
    write_manifest(place / "equilibria.json", "equilibria", shown=[{"scores": None, "equilibria": one}], **facts)
    report.run(place, all_equilibria=True)
    page = (place / "report.html").read_text()
    assert page.count("<td>0.1250</td>") == 9 and page.count("<td>−0.2500 to 0.7500</td>") == 6
    assert "In a round that is a game of its own" in page and "<td>−0.1111</td>" in page


@pytest.mark.full
def test_all_equilibria_are_found(coarse, tmp_path):
    place = shutil.copytree(coarse, tmp_path / "smbc")
    run_equilibria(place)
    alone, first = read_manifest(place / "equilibria.json", "equilibria")["shown"]
    assert abs(alone["equilibria"]["rows"][1]["most"] + 1 / 3) < 1e-7  # the first player is to tie
    assert first["scores"] == "0-0" and abs(first["equilibria"]["value"] - first["value"]) < 0.02


@pytest.mark.slow
@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        ({"winning_score": 10}, "smbc.winning_score is 10, but must be less than or equal to 9."),
        ({"algorithm": "dcrf"}, "smbc.algorithm is 'dcrf', but must be one of cfr,"),
        ({"winning_scor": 3}, "there is no key smbc.winning_scor (did you mean winning_score?)."),
    ],
)
def test_a_wrong_section_is_refused_in_one_sentence(workflow, values, sentence):
    workflow.configure("smbc", **values)
    done = workflow.run("smbc")
    assert done.returncode != 0 and sentence in done.stderr and "Traceback" not in done.stderr


def test_the_section_has_the_settings_of_a_solve():
    assert SmbcConfig().settings == SolveSettings()
    config = SmbcConfig(winning_score=3, algorithm="cfr", alternate_updates=False)
    assert config.settings == SolveSettings(winning_score=3, algorithm="cfr", alternate_updates=False)
    told = settings(config, "solve")
    assert SolveSettings(**told) == config.settings
    assert yaml.safe_load(yaml.safe_dump(told)) == told


@pytest.mark.parametrize(
    ("key", "value", "is_same"), [("horizon", 7, True), ("gamma", 10.0, True), ("gamma", 2.0, False)]
)
def test_equivalent_settings_are_equal(key, value, is_same):
    """The wing has parameters of its own for the rule; gamma is 2 elsewhere."""
    assert (settings(SmbcConfig(**{key: value}), "solve") == settings(SmbcConfig(), "solve")) == is_same


def test_each_stage_waits_for_the_stages_that_it_reads():
    assert {stage: one.after for stage, one in requests(SmbcConfig(all_equilibria=True)).items()} == {
        "solve": (),
        "findings": ("solve",),
        "equilibria": ("solve",),
        "report": ("solve", "findings", "equilibria"),
    }
    assert requests(SmbcConfig())["report"].after == ("solve", "findings")
