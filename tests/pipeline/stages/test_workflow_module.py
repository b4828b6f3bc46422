"""Other workflows use ours as a module, by its path or as `snakedeploy deploy-workflow` writes it."""

import json
import os
import shutil
import sys
from pathlib import Path

import pytest

import pttt_ooc
from tests.pipeline.stages import test_workflow
from tests.pipeline.stages.test_workflow import GAME, ROOT, Workflow

finished_once, workflow = test_workflow.finished_once, test_workflow.workflow  # fixtures
PATH = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])

DEPLOYED = """
configfile: "config/config.yaml"


module pttt_ooc:
    snakefile:
        "{source}/workflow/Snakefile"
    config:
        config


use rule * from pttt_ooc
"""


@pytest.mark.slow
def test_a_deployed_workflow_plans_all_stages(tmp_path):
    """`snakedeploy` copies the folder `config`, and writes a Snakefile that uses ours with the same names."""
    shutil.copytree(ROOT / "config", tmp_path / "config")
    assert (tmp_path / "config/config.yaml").read_bytes() == (ROOT / "config.yaml").read_bytes()
    (tmp_path / "workflow").mkdir()
    (tmp_path / "workflow/Snakefile").write_text(DEPLOYED.format(source=ROOT))
    told = Workflow(tmp_path).succeed("--dry-run", "--config", f"game={GAME}")
    planned = {line.split()[0] for line in told.splitlines() if line.endswith(" 1")}
    assert {*test_workflow.STAGES, "all"} <= planned
    assert "localrules" not in told


@pytest.mark.slow
def test_the_snakefile_at_the_top_plans_all_stages(tmp_path):
    shutil.copy(ROOT / "config.yaml", tmp_path)
    told = Workflow(tmp_path).succeed("--snakefile", str(ROOT / "Snakefile"), "--dry-run", "--config", f"game={GAME}")
    planned = {line.split()[0] for line in told.splitlines() if line.endswith(" 1")}
    assert {*test_workflow.STAGES, "all"} <= planned


@pytest.mark.slow
def test_another_workflow_scores_a_strategy(workflow):
    shutil.copytree(ROOT / "examples", workflow.directory / "examples")
    uniform = pttt_ooc.Strategy.uniform(pttt_ooc.game(GAME), 0)
    uniform.save(workflow.directory / "mine.zip")
    arguments = ("--snakefile", "examples/score.smk", "--config", "strategy=mine.zip")
    workflow.succeed(*arguments, PATH=PATH)
    scored = json.loads((workflow.directory / "score.json").read_text())
    assert scored["exploitability_0"] == pytest.approx(0.5647058823529412, abs=1e-6)
    assert "Nothing to be done" in workflow.succeed(*arguments, PATH=PATH)
