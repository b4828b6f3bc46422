"""The workflow, run by Snakemake itself on small boards: what runs again after each change and interruption."""

import fcntl
import functools
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import yaml

from pttt_ooc.config import SolveConfig, check_section
from pttt_ooc.disk.contents import content_digest
from pttt_ooc.disk.files import digest
from pttt_ooc.pipeline.stages import STAGES, solve
from pttt_ooc.pipeline.stages.decisions import STRUCTURE_RUN_LOCK
from pttt_ooc.pipeline.stages.fsck import run_digest
from pttt_ooc.pipeline.stages.stage_context import LOCK, RUN_LOCK, STRUCTURE_LOCK, forget_future
from tests.kits import quick_snakemake
from tests.kits.disks import Disk, NoDiskError
from tests.kits.patience import PATIENCE, wait_until

ROOT = Path(__file__).parents[3]
PARTS = ("config.yaml", "envs", "profiles", "workflow", "pttt_ooc")
GAME = "mini-2x3k2-abrupt"
LOCKS = (LOCK, STRUCTURE_LOCK, RUN_LOCK, STRUCTURE_RUN_LOCK)
ENDLESS = {"target_nashconv": 0, "max_iterations": 10**9, "max_minutes": 10**6, "commit_seconds": 0}
ENDLESS |= {"evaluate_every": 10**9, "algorithm": "cfr+"}  # evaluated once, while the gap is large


def linked_or_copied(source, target):
    """Link compiled code: it takes most of the space, and is replaced but never modified."""
    try:
        if Path(source).suffix in (".nbc", ".nbi", ".pyc"):
            return os.link(source, target)
    except OSError:  # another disk
        pass
    return shutil.copy2(source, target)


copytree = functools.partial(shutil.copytree, copy_function=linked_or_copied)


class Workflow:
    """A copy of the workflow, with its own configuration."""

    def __init__(self, directory):
        self.directory = directory
        self.data = directory / "data" / GAME / "full"

    @classmethod
    def fresh(cls, directory, config="test-abrupt"):
        directory.mkdir(parents=True)
        for part in PARTS:
            copy = copytree if (ROOT / part).is_dir() else shutil.copy2
            copy(ROOT / part, directory / part)
        shutil.copy2(ROOT / f"examples/{config}.yaml", directory / "config.yaml")
        return cls(directory)

    @classmethod
    def of_wing(cls, directory, wing, **section):
        """A copy in which the target of a wing has been made."""
        workflow = cls.fresh(directory / "w")
        workflow.configure(wing, **section)
        workflow.succeed(wing)
        return workflow

    def copy(self, directory):
        return Workflow(copytree(self.directory, directory / "w"))

    def command(self, *arguments):
        return [sys.executable, "-m", "snakemake", "--cores", "2", *arguments]

    @property
    def environment(self):
        return {**os.environ, "PYTHONPATH": str(self.directory)}

    def run(self, *arguments, **environment):
        return quick_snakemake.run(["--cores", "2", *arguments], self.directory, {**self.environment, **environment})

    def succeed(self, *arguments, **environment):
        done = self.run(*arguments, **environment)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout + done.stderr

    def stale(self):
        """The stages that Snakemake would run."""
        lines = self.succeed("--dry-run").splitlines()
        counted = [line.split() for line in lines]
        return [s for s in STAGES if any(line[:1] == [s] and line[1:] == ["1"] for line in counted)]

    def configure(self, section, **values):
        file = self.directory / "config.yaml"
        content = yaml.safe_load(file.read_text())
        content.setdefault(section, {}).update(values)
        file.write_text(yaml.safe_dump(content))

    def edit(self, module, text="\n# A comment.\n"):
        file = self.directory / "pttt_ooc" / module
        file.write_text(file.read_text() + text)

    def manifest(self, stage):
        return json.loads((self.data / f"{stage}.json").read_text())

    def committed(self):
        files = list((self.data / "work").glob("*/CURRENT.json"))
        return json.loads(files[0].read_text())["iteration"] if files else 0

    def log(self, stage):
        return (self.data / "logs" / f"{stage}.log").read_text()

    def contents(self):
        """Everything that the workflow has made, with its digests."""
        files = [f for f in (self.directory / "data").rglob("*") if f.is_file() and f.name not in LOCKS]
        return {str(f.relative_to(self.directory)): digest(f) for f in files}


@pytest.fixture(scope="session")
def finished_once(tmp_path_factory, worker_id):
    """One full run, shared by all processes of the test session."""
    base = tmp_path_factory.getbasetemp()
    place = (base if worker_id == "master" else base.parent) / "finished"
    with open(f"{place}.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (place / "done").exists():
            text = Workflow.fresh(place).succeed()
            (place / "done").write_text(text)
    return place


@pytest.fixture
def workflow(finished_once, tmp_path):
    """A copy of the workflow after a full run."""
    copytree(finished_once, tmp_path / "w")
    return Workflow(tmp_path / "w")


def test_full_run_makes_everything(workflow):
    told = (workflow.directory / "done").read_text()
    assert "Using workflow specific profile" in told
    assert all((workflow.data / f"{stage}.json").exists() for stage in STAGES)
    made = {file.name for file in workflow.data.iterdir()}
    zips = {"pttt_pl0.zip", "pttt_pl1.zip"}
    assert {
        "report.html",
        "measurements.html",
        "strategies.h5",
        "convergence.svg",
        "opening.svg",
        "player0-infosets.txt",
    } | zips <= made
    assert not list(workflow.data.rglob("*.wip")) and not list(workflow.data.rglob("*.tmp"))
    for stage in STAGES:
        manifest = workflow.manifest(stage)
        assert {"seconds", "peak_rss_mb", "peak_anonymous_mb", "threads"} <= manifest["usage"].keys()
        for name, described in manifest["products"].items():
            assert described["digest"] == content_digest(workflow.data / name)
    assert workflow.manifest("solve")["result"]["nashconv"] <= 0.01
    assert workflow.manifest("evaluate")["solution"]["nashconv"] <= 0.01


@pytest.mark.slow
def test_the_programs_of_the_page_on_files_run(workflow):
    """In their order, in one process, without this package; each reads what the run has written."""
    text = (ROOT / "docs/files.md").read_text(encoding="utf-8")
    programs = re.findall(r"^```python\n(.*?)^```", text, re.S | re.M)
    assert len(programs) > 6 and not any("pttt_ooc" in program for program in programs)
    command = [sys.executable, "-c", "\n".join(programs)]
    done = subprocess.run(command, cwd=workflow.directory, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.slow
def test_memory_of_a_users_run_stays_below_the_projection(workflow, tmp_path):
    """In processes of its own, as `snakemake` starts them; the results are the same."""
    digest = run_digest(workflow.data)
    workflow = Workflow.fresh(tmp_path / "own")
    options = {"env": workflow.environment, "cwd": workflow.directory, "capture_output": True, "text": True}
    done = subprocess.run(workflow.command(), **options)
    assert done.returncode == 0 and "Using workflow specific profile" in done.stderr, done.stderr
    assert run_digest(workflow.data) == digest
    for stage in STAGES:
        manifest = workflow.manifest(stage)
        memory, used = manifest["memory"], manifest["usage"]["peak_anonymous_mb"]
        assert memory["budget_mb"] == 512
        assert 50 < used <= memory["projected_mb"] <= 512, stage


@pytest.mark.slow
def test_a_budget_that_is_too_small_is_refused_before_anything_is_touched(workflow):
    workflow.configure("solve", target_nashconv=0.001)
    content = yaml.safe_load((workflow.directory / "config.yaml").read_text())
    (workflow.directory / "config.yaml").write_text(yaml.safe_dump({**content, "memory_mb": 100}))
    before = workflow.contents()
    done = workflow.run()
    assert done.returncode != 0 and "Traceback" not in done.stderr
    needed = {stage: workflow.manifest(stage)["memory"]["smallest_mb"] for stage in STAGES}
    needed.pop("finish")  # without an equilibrium it needs little
    most = max(needed, key=lambda stage: needed[stage])
    told = (
        f"A memory budget of 100 MB is too small: {needed[most]} MB is the smallest that will do, for the stage {most}"
    )
    assert f"{told} (" in done.stderr
    assert workflow.contents() == before


@pytest.mark.slow
def test_dry_run_explains_itself(workflow):
    workflow.configure("solve", algorithm="cfr+")
    told = workflow.succeed("--dry-run")
    assert "Solve by cfr+ on up to 2 threads" in told
    assert f'data/{GAME}/full/solve.json: algorithm changed from "sapdcfr+" to "cfr+"; stage solve runs again.' in told


@pytest.mark.long_but("structure/counts.py-enumerate")
@pytest.mark.slow
@pytest.mark.parametrize(
    ("module", "first"),
    [
        ("games/structure/counts.py", "enumerate"),
        ("cfr/solving/regret.py", "solve"),
        ("pipeline/show/progress.py", "index"),
        ("cfr/solving/solver.py", "solve"),
        ("pipeline/stages/evaluate.py", "evaluate"),
        ("pipeline/files/bundle.py", "export"),
        ("pipeline/show/report_page.py", "report"),
        ("pipeline/show/templates/report.html.j2", "report"),
    ],
)
def test_stale_stages_after_an_edit_of_a_source(workflow, module, first):
    workflow.edit(module)
    assert workflow.stale() == list(STAGES[STAGES.index(first) :])


@pytest.mark.long
def test_only_later_stages_run_after_a_change_of_algorithm(workflow):
    before = workflow.contents()
    workflow.configure("solve", algorithm="cfr+", max_iterations=20)
    workflow.succeed()
    after = workflow.contents()
    kept = [name for name in before if "/views.zarr/" in name or "/index.zarr/" in name or name.endswith("index.json")]
    assert kept and all(after[name] == before[name] for name in kept)
    assert workflow.manifest("solve")["settings"]["algorithm"] == "cfr+"
    assert "Starting from the first iteration." in workflow.log("solve")
    assert len(list((workflow.data / "work").iterdir())) == 2
    assert workflow.stale() == []


@pytest.mark.long
def test_runs_side_by_side(workflow):
    """A named run shares the index, does not change other runs, and is compared with them."""
    before = workflow.contents()
    workflow.configure("solve", algorithm="cfr+")
    workflow.configure("report", compare=["default"])
    config = workflow.directory / "config.yaml"
    config.write_text(f"run: dcfr+\n{config.read_text()}")
    told = workflow.succeed()
    assert "The results are in data/mini-2x3k2-abrupt/full/runs/dcfr+." in told
    assert "rule index" not in told and "rule enumerate" not in told
    after = workflow.contents()
    assert {name: digest for name, digest in after.items() if name in before} == before
    own = workflow.data / "runs/dcfr+"
    made = {Path(name) for name in after.keys() - before.keys()}
    assert all(own.relative_to(workflow.directory) in name.parents for name in made)
    assert {"index.zarr", "views.zarr", "index.json"}.isdisjoint(part for name in made for part in name.parts)
    names = {p.name for p in workflow.data.iterdir()}
    shared = {"views.zarr", "index.zarr", "enumerate.json", "index.json", "runs", STRUCTURE_LOCK, STRUCTURE_RUN_LOCK}
    assert {p.name for p in own.iterdir()} == names - shared
    assert workflow.stale() == []
    page = (own / "report.html").read_text()
    assert "Runs compared" in page and "Gaps of 2 runs over iteration" in page
    assert "Gaps of 2 runs over seconds" in (own / "measurements.html").read_text()
    assert "Runs compared" not in (workflow.data / "report.html").read_text()

    # The other way round: the default run changes; the named run stays, except for its report.
    ours = {name: content for name, content in after.items() if "/runs/" in name}
    named = config.read_text()
    config.write_text(named.replace("run: dcfr+", "run: default").replace("algorithm: cfr+", "algorithm: dcfr"))
    workflow.succeed("--until", "solve")
    assert workflow.manifest("solve")["settings"]["algorithm"] == "dcfr"
    assert {name: content for name, content in workflow.contents().items() if "/runs/" in name} == ours
    config.write_text(named)
    assert workflow.stale() == ["report"]


@pytest.mark.slow
def test_a_missing_run_is_not_compared(workflow):
    workflow.configure("report", compare=["default", "nobody"])
    done = workflow.run()
    assert done.returncode != 0
    assert done.stderr.strip().splitlines()[-1] == (
        f"report.compare names the run nobody, but there is no solution in data/{GAME}/full/runs/nobody; "
        "solve it first, with run: nobody, or leave it out."
    )


@pytest.mark.long
def test_a_solution_of_another_configuration_is_made_anew(workflow):
    """`pttt solve` may have continued the solve; Snakemake compares only with its own last run."""
    manifest, solution = workflow.data / "solve.json", content_digest(workflow.data / "solution.zarr")
    before = workflow.manifest("solve")
    further = {"target_nashconv": 5e-3, "max_iterations": 2000, "max_minutes": 60.0, "commit_seconds": 30.0}
    solve.run(GAME, "full", SolveConfig(**{**before["settings"], **further}), workflow.data)
    reached = workflow.manifest("solve")["result"]["iteration"]
    assert before["result"]["iteration"] == 44 < reached
    told = workflow.succeed("--until", "solve")
    assert "solve.json: target_nashconv changed from 0.005 to 0.01; stage solve runs again." in told
    assert f"The run to iteration {reached} is kept in" in workflow.log("solve")
    assert workflow.manifest("solve")["result"]["iteration"] == 44
    assert content_digest(workflow.data / "solution.zarr") == solution
    workflow.configure("solve", **further)
    workflow.succeed("--until", "solve")
    assert f"Continuing from iteration {reached}." in workflow.log("solve"), "nothing was lost"
    assert manifest.exists()


@pytest.mark.slow
def test_raising_the_target_continues(workflow):
    reached = workflow.manifest("solve")["result"]["iteration"]
    workflow.configure("solve", target_nashconv=0.0, max_iterations=reached + 30, max_minutes=60)
    workflow.succeed("--until", "solve")
    assert f"Continuing from iteration {reached}." in workflow.log("solve")
    assert workflow.manifest("solve")["result"]["iteration"] == reached + 30


@pytest.mark.slow
def test_comment_in_the_solver_runs_the_stage_but_keeps_its_state(workflow):
    solution = workflow.manifest("solve")["products"]["solution.zarr"]
    workflow.edit("cfr/solving/regret.py")
    # No iteration is left, so nothing needs to be compiled again for the edited source.
    workflow.succeed("--until", "solve", NUMBA_DISABLE_JIT="1")
    assert "Continuing from iteration" in workflow.log("solve")
    assert workflow.manifest("solve")["products"]["solution.zarr"] == solution


@pytest.mark.long_but("index.zarr/full/players/0/placed-index")
@pytest.mark.slow
@pytest.mark.parametrize(
    ("product", "stage"),
    [
        ("views.zarr", "enumerate"),
        ("index.zarr/full/players/0/placed", "index"),
        ("solution.zarr", "solve"),
        ("solution.zarr/strategy/1/2/c/0", "solve"),
        ("convergence.jsonl", "solve"),
        ("pttt_pl1.zip", "export"),
        ("strategies.h5", "export"),
        ("opening.svg", "report"),
        ("report.html", "report"),
    ],
)
def test_a_deleted_product_is_made_again(workflow, product, stage):
    path = workflow.data / product
    shutil.rmtree(path) if path.is_dir() else path.unlink()
    assert workflow.stale()[0] == stage


@pytest.mark.slow
def test_a_deleted_store_is_made_again_from_the_last_commit(workflow):
    before = content_digest(workflow.data / "solution.zarr")
    shutil.rmtree(workflow.data / "solution.zarr")
    workflow.succeed("--until", "solve")
    assert content_digest(workflow.data / "solution.zarr") == before
    assert "Continuing from iteration" in workflow.log("solve")
    assert workflow.stale() == [], "the same content again"


@pytest.mark.long
def test_a_changed_product_is_refused(workflow):
    chunk = workflow.data / "solution.zarr/strategy/0/0/c/0"
    content, stat = bytearray(chunk.read_bytes()), chunk.stat()
    content[-1] ^= 1
    chunk.write_bytes(content)
    workflow.configure("export", dtype="float32")
    assert workflow.stale()[0] == "solve"
    os.utime(chunk, ns=(stat.st_atime_ns, stat.st_mtime_ns))  # like a disk error
    assert workflow.stale()[0] == "export"
    done = workflow.run()
    told = done.stdout + done.stderr
    assert done.returncode != 0 and "Traceback" not in told
    assert "solution.zarr was changed or damaged after stage 'solve'" in told and "solve.json to make it again" in told


@pytest.mark.slow
@pytest.mark.parametrize(
    ("section", "values", "sentence"),
    [
        ("solve", {"max_minutes": -3}, "config.yaml: solve.max_minutes is -3, but must be greater than 0."),
        ("solve", {"max_minuts": 3}, "config.yaml: there is no key solve.max_minuts (did you mean max_minutes?)."),
        ("export", {"infosets_0": "no.txt"}, "config.yaml: export.infosets_0 is 'no.txt', but there is no such file."),
        (
            "export",
            {"infosets_1": f"data/{GAME}/full/../full/player1-infosets.txt"},
            f"export.infosets_1 is data/{GAME}/full/../full/player1-infosets.txt, which the export itself writes; copy "
            "the file to another place and name that.",
        ),
    ],
)
def test_a_wrong_configuration_is_refused_in_one_sentence(workflow, section, values, sentence):
    before = workflow.contents()
    workflow.configure(section, **values)
    done = workflow.run()
    assert done.returncode != 0
    assert sentence in done.stderr.splitlines()
    assert "Traceback" not in done.stdout + done.stderr
    assert workflow.contents() == before


@pytest.mark.slow
def test_a_wrong_key_on_the_command_line_is_not_blamed_on_the_file_alone(tmp_path):
    done = Workflow.fresh(tmp_path / "w").run("--dry-run", "--config", "tarket=0.01")
    assert done.returncode != 0 and "Traceback" not in done.stdout + done.stderr
    assert any(
        line.startswith("--config over config.yaml: there is no key tarket") for line in done.stderr.splitlines()
    )


@pytest.mark.slow
def test_a_wrong_infoset_file_is_refused_in_one_sentence(workflow):
    (workflow.directory / "mine.txt").write_text("|\n|0*\n|0*\n")
    workflow.configure("export", infosets_1="mine.txt")
    done = workflow.run()
    told = done.stdout + done.stderr
    assert done.returncode != 0 and "Traceback" not in told
    assert "mine.txt, line 3: '|0*' is a doubled line" in told


@pytest.mark.long
def test_another_game_without_symmetry(tmp_path):
    workflow = Workflow.fresh(tmp_path / "w", "test-classical-plain")
    workflow.succeed()
    assert workflow.stale() == []
    assert len(list((tmp_path / "w/data").glob("*/none/report.html"))) == 1


@pytest.mark.long
@pytest.mark.parametrize(
    ("config", "place"), [("test-abrupt-plain", f"{GAME}/none"), ("test-classical", "mini-2x2k2-classical/full")]
)
def test_plans_for_other_games(tmp_path, config, place):
    workflow = Workflow.fresh(tmp_path / "w", config)
    assert workflow.stale() == list(STAGES)
    assert f"data/{place}/report.html" in workflow.succeed("--summary")


WING = """
from pttt_ooc.config import Section

class Toys(Section):
    count: int = 3

SECTIONS["toys"] = Toys
"""

RULES = """
TOYS = WINGS["toys"]

rule toys:
    output:
        "data/toys.txt",
    params:
        toys=TOYS.count,
    shell:
        "echo {params.toys} > {output}"
"""


@pytest.mark.slow
def test_a_wing_has_a_section_and_a_target_of_its_own(workflow):
    """The core's products do not depend on a wing, and the default target makes none of a wing's."""
    workflow.edit("cli/sections.py", WING)
    (workflow.directory / "workflow/rules").mkdir(exist_ok=True)
    (workflow.directory / "workflow/rules/toys.smk").write_text(RULES)
    workflow.configure("toys", count=7)
    assert workflow.stale() == []
    workflow.succeed("toys")
    made = workflow.directory / "data/toys.txt"
    assert made.read_text() == "7\n" and "Nothing to be done" in workflow.succeed("toys", "--dry-run")
    workflow.configure("toys", count=8)
    assert workflow.stale() == [] and "Params have changed" in workflow.succeed("toys", "--dry-run")


@pytest.mark.slow
def test_snakemake_report(workflow):
    workflow.succeed("--report", "data/snakemake-report.html")
    text = (workflow.directory / "data/snakemake-report.html").read_text()
    assert "what the two best responses gain together" in text


def test_scripts_are_short_and_belong_to_rules():
    rules = "".join(
        file.read_text() for file in [ROOT / "workflow/Snakefile", *(ROOT / "workflow/rules").glob("*.smk")]
    )
    scripts = list((ROOT / "workflow/scripts").glob("*.py"))
    wings = {file.stem for file in (ROOT / "workflow/rules").glob("*.smk")}
    assert {script.stem for script in scripts if script.stem.split("_")[0] not in wings} == set(STAGES)
    for script in scripts:
        text = script.read_text()
        assert len(text.splitlines()) <= 40 and text.startswith('"""')
        assert f"scripts/{script.name}" in rules, script.name


# ---------------------------------------------------------------------------------------------
# Interruptions


def is_free(lock):
    try:
        fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def interrupted(workflow, end):
    """Start or continue an endless solve, let `end` end it after some commits, and return the committed iteration."""
    begun = workflow.committed()
    with open(workflow.directory / "output.txt", "w") as output:
        run = subprocess.Popen(
            workflow.command(),
            cwd=workflow.directory,
            env=workflow.environment,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            told = (workflow.directory / "output.txt").read_text
            wait_until(lambda: workflow.committed() >= begun + 5, alive=lambda: run.poll() is None, told=told)
            end(workflow, run)
            run.wait(PATIENCE)
            # Snakemake may end before the solver, which releases its lock when it cannot write any more.
            with open(workflow.data / LOCK) as lock:
                wait_until(lambda: is_free(lock), told=lambda: "the solver does not end")
        finally:
            if run.poll() is None:
                os.killpg(run.pid, signal.SIGKILL)
    assert run.returncode != 0
    assert not (workflow.data / "solve.json").exists()
    return workflow.committed()


def ctrl_c(workflow, run):
    os.killpg(run.pid, signal.SIGINT)


def terminate_all(workflow, run):
    os.killpg(run.pid, signal.SIGTERM)


def kill_all(workflow, run):
    os.killpg(run.pid, signal.SIGKILL)


def kill_the_solver(workflow, run):
    os.kill(int((workflow.data / LOCK).read_text().split()[0]), signal.SIGKILL)


def two_at_a_time(workflow, run):
    done = workflow.run()
    told = done.stdout + done.stderr
    assert done.returncode != 0 and "Another run is at work in" in told and "Traceback" not in told
    assert run.poll() is None
    terminate_all(workflow, run)


@pytest.mark.long_but("ends0")
@pytest.mark.slow
@pytest.mark.parametrize(
    "ends", [(kill_all, ctrl_c), pytest.param((two_at_a_time, kill_the_solver), marks=pytest.mark.long)]
)
def test_an_interrupted_solve_continues(workflow, ends):
    workflow.configure("solve", **ENDLESS)
    shutil.rmtree(workflow.data / "work")
    reached = 0
    for end in ends:
        before, reached = reached, interrupted(workflow, end)
        assert not before or f"Continuing from iteration {before}." in workflow.log("solve")
    if ctrl_c in ends:
        told = (workflow.directory / "output.txt").read_text()
        assert "Interrupted; the same command continues from what is on disk." in told and "Traceback" not in told
    workflow.configure("solve", max_iterations=reached + 20)
    workflow.succeed("--until", "solve")
    assert f"Continuing from iteration {reached}." in workflow.log("solve")
    assert workflow.manifest("solve")["result"]["iteration"] == reached + 20
    assert workflow.stale() == ["finish", "evaluate", "export", "report"]
    # The same bits as without an interruption.
    solution = content_digest(workflow.data / "solution.zarr")
    shutil.rmtree(workflow.data / "work")
    settings = yaml.safe_load((workflow.directory / "config.yaml").read_text())["solve"]
    solve.run(GAME, "full", check_section(SolveConfig, settings), workflow.data)
    assert workflow.manifest("solve")["result"]["iteration"] == reached + 20
    assert content_digest(workflow.data / "solution.zarr") == solution


@pytest.mark.long
def test_a_clock_that_was_set_back(workflow):
    """Otherwise Snakemake would never make anything from a file with a time in the future."""
    for file in workflow.data.iterdir():
        os.utime(file, (2**31, 2**31))
    workflow.configure("report", title="Another")
    workflow.succeed()
    assert workflow.stale() == []


def test_times_in_the_future_keep_their_order(tmp_path):
    now = time.time()
    times = {"old": now - 1000, "first": now + 1000, "second": now + 2000, "too": now + 2000, "third": now + 3000}
    for name, at in times.items():
        (tmp_path / name).touch()
        os.utime(tmp_path / name, (at, at))
    forget_future(tmp_path)
    found = {name: (tmp_path / name).stat().st_mtime for name in times}
    assert found["old"] == pytest.approx(times["old"])
    assert found["first"] < found["second"] == found["too"] < found["third"] < time.time()
    assert found["first"] > now - 1


@pytest.mark.slow
def test_a_disk_that_is_full_or_read_only(workflow, tmp_path_factory):
    """On a separate disk, so that Snakemake itself writes elsewhere."""
    before = content_digest(workflow.data / "solution.zarr")
    try:
        disk = Disk(tmp_path_factory.mktemp("disk"), 8)
    except NoDiskError:
        pytest.skip("this machine does not let us mount a small disk")
    with disk:
        shutil.move(workflow.directory / "data", disk.path / "data")
        (workflow.directory / "data").symlink_to(disk.path / "data")
        shutil.rmtree(workflow.data / "solution.zarr")
        for hinder, mend, sentence in (
            (disk.fill, disk.empty, "No space left on device; free some space on this disk and run again."),
            (disk.read_only, lambda: disk.read_only(False), "it is read-only, or not yours; choose a directory"),
        ):
            hinder()
            done = workflow.run("--until", "solve")
            told = done.stdout + done.stderr
            assert done.returncode != 0 and sentence in told and "Traceback" not in told
            mend()
        workflow.succeed("--until", "solve")
        assert "Continuing from iteration" in workflow.log("solve")
        assert content_digest(workflow.data / "solution.zarr") == before
