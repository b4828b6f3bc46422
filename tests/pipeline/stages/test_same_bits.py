"""Runs of the same configuration leave the same contents, except in logs and measurements."""

import json
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import h5py
import pytest
import zarr
from zarr.codecs import GzipCodec

from pttt_ooc.cli import commands as cli
from pttt_ooc.cli.sections import load_file
from pttt_ooc.config import Config, ExportConfig, FinishConfig, SolveConfig
from pttt_ooc.disk.contents import content_digest
from pttt_ooc.disk.files import digest
from pttt_ooc.disk.manifests import read_manifest, write_manifest
from pttt_ooc.disk.store import array_names, read_array
from pttt_ooc.errors import StoreError
from pttt_ooc.pipeline.stages import STAGES, evaluate, export, finish, fsck, product_check, report, solve
from pttt_ooc.pipeline.stages.directories import manifest_of
from pttt_ooc.pipeline.stages.fsck import content_of, run_digest
from pttt_ooc.pipeline.stages.preparation import prepare_index
from pttt_ooc.pipeline.stages.stage_context import inputs
from pttt_ooc.pipeline.stages.staleness import reasons, requested_stages
from tests.kits.patience import PATIENCE
from tests.kits.pythons import python_of
from tests.pipeline.stages import test_workflow
from tests.pipeline.stages.test_workflow import GAME, ROOT

finished_once = test_workflow.finished_once  # a fixture
SETTINGS = SolveConfig(target_nashconv=0, max_iterations=6, snapshot_every=2)


def made(place, threads, memory_mb):
    directory = prepare_index(place, GAME, "full")
    solve.run(GAME, "full", SETTINGS, directory, threads)
    finish.run(GAME, "full", FinishConfig(), directory, threads=threads)
    evaluate.run(GAME, "full", directory, threads)
    export.run(GAME, "full", ExportConfig(), directory, threads)
    report.run(Config(game=GAME, solve=SETTINGS), directory, memory_mb)
    return directory


@pytest.fixture(scope="module")
def both(tmp_path_factory):
    return [made(tmp_path_factory.mktemp("same"), threads, 400 + threads) for threads in (1, 2)]


@pytest.mark.slow
def test_equal_runs_leave_equal_products(both):
    names = {
        path.name for path in both[0].iterdir() if path.suffix in (".zip", ".txt", ".h5", ".zarr", ".svg", ".html")
    }
    names.remove("measurements.html")
    assert {
        "report.html",
        "convergence.svg",
        "strategies.h5",
        "pttt_pl0.zip",
        "solution.zarr",
        "equilibrium.zarr",
        "player1-infosets.txt",
    } <= names
    for name in (*names, "snapshots"):
        assert content_digest(both[0] / name) == content_digest(both[1] / name), name


@pytest.mark.slow
def test_the_bundle_still_describes_its_run(both):
    with h5py.File(both[0] / "strategies.h5") as file:
        facts = json.loads(file.attrs["facts"])
        assert file.attrs["solve.result.iteration"] == facts["solve"]["result"]["iteration"] == 6
        assert not [name for name in file.attrs if "second" in name and ".settings." not in name]
    assert facts["solve"]["settings"]["snapshot_every"] == 2 and "nashconv" in facts["evaluation"]
    manifest = json.loads((both[0] / "solve.json").read_text())
    assert facts["digests"]["solution.zarr"] == manifest["products"]["solution.zarr"]["digest"]


@pytest.mark.slow
def test_equal_runs_have_the_same_digest(both, capsys):
    for stage in STAGES:
        first, second = (read_manifest(manifest_of(directory, stage), stage) for directory in both)
        assert content_of(first) == content_of(second), stage
        assert first["usage"] != second["usage"]
    one = run_digest(both[0])
    assert one == run_digest(both[1])
    told = {
        (both[0],): (0, f"{one}\n", ""),
        (both[1], one.upper()): (0, f"{both[1]} is the run {one}.\n", ""),
        (both[0], "0" * 32): (1, "", f"{both[0]} is another run: its digest is {one}, not {'0' * 32}.\n"),
    }
    for arguments, wanted in told.items():
        with pytest.raises(SystemExit) as end:
            cli.main(["lab", "verify-run", *map(str, arguments)])
        assert (end.value.code or 0, *capsys.readouterr()) == wanted


@pytest.fixture
def run(finished_once, tmp_path):
    """A copy of what the workflow has made."""
    return shutil.copytree(finished_once / "data" / GAME / "full", tmp_path / GAME / "full")


@pytest.mark.slow_but_one
@pytest.mark.parametrize("stage", STAGES)
def test_the_digest_depends_on_every_stage_but_the_report(run, stage):
    file, before = manifest_of(run, stage), run_digest(run)
    facts = {k: value for k, value in read_manifest(file, stage).items() if k not in ("format_version", "stage")}
    write_manifest(file, stage, **{**facts, "versions": {"python": "4"}, "usage": {"seconds": 1}})
    assert run_digest(run) == before
    write_manifest(file, stage, **facts, more=1)
    assert (run_digest(run) == before) == (stage == "report")


def test_the_report_is_checked_though_it_does_not_count(run):
    (run / "report.html").write_text("Another.")
    with pytest.raises(StoreError, match=r"report\.html"):
        run_digest(run)


def repack(path):
    """Write a file or a store with the same contents again, compressed otherwise."""
    if path.suffix == ".zip":
        with zipfile.ZipFile(path) as archive:
            [member] = archive.infolist()
            content = archive.read(member)
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
            archive.writestr(member.filename, content)
    elif path.suffix == ".h5":
        other = path.with_suffix(".other")
        with h5py.File(path) as before, h5py.File(other, "w") as after:
            after.attrs.update(before.attrs)
            for name in (f"player{p}/{part}" for p in (0, 1) for part in ("infosets", "strategy")):
                after.create_dataset(name, data=before[name][:], compression="gzip", compression_opts=9)
                after[name].attrs.update(before[name].attrs)
        other.replace(path)
    else:
        for name in array_names(path):
            numbers = read_array(path, name)
            old = zarr.open_array(path, path=name, mode="r")
            zarr.create_array(
                path,
                name=name,
                data=numbers,
                compressors=GzipCodec(level=1),
                dimension_names=old.metadata.dimension_names,
                overwrite=True,
            )


PACKED = ["pttt_pl0.zip", "strategies.h5", "solution.zarr", "equilibrium.zarr", "views.zarr"]


@pytest.mark.slow_but_one
@pytest.mark.parametrize("product", ["all", *PACKED])
def test_other_compressed_bytes_are_the_same_run(run, product):
    """Another processor, library or version may compress the same contents otherwise."""
    whole = run_digest(run)
    for name in PACKED if product == "all" else [product]:
        before = digest(run / name)
        repack(run / name)
        assert digest(run / name) != before, name
    assert run_digest(run) == whole
    assert (found := fsck.check(run)).problems == found.facts == []
    config = load_file(ROOT / "examples/test-abrupt.yaml")[0]
    assert not any(reasons(run, requested_stages(config, run)).values())


def test_files_are_compared_with_the_manifests_first(run):
    file = run / "convergence.jsonl"
    file.write_text(file.read_text().replace('"iteration": 2', '"iteration": 3'))
    with pytest.raises(StoreError, match=r"convergence\.jsonl was changed or damaged after stage 'solve'"):
        run_digest(run)


def test_the_content_of_convergence_is_all_but_its_times(run, tmp_path):
    rows = [json.loads(row) for row in (run / "convergence.jsonl").read_text().splitlines()]
    told = json.loads((run / "solve.json").read_text())["products"]["convergence.jsonl"]

    def content(*changed):
        file = tmp_path / "convergence.jsonl"
        file.write_text("".join(f"{json.dumps(row)}\n" for row in changed))
        return product_check._digest_without_times(file)

    assert content(*({**row, "seconds": 9, "cpu_seconds": 9, "elapsed_seconds": 9} for row in rows)) == told["content"]
    assert content(*({**row, "nashconv": 9} for row in rows)) != told["content"]
    assert content(*rows[:-1]) != told["content"]


RUN = """
import sys
from pathlib import Path
from pttt_ooc.config import Config, ExportConfig, FinishConfig, SolveConfig
from pttt_ooc.pipeline.stages import enumerate, evaluate, export, index, report, solve
from pttt_ooc.pipeline.stages.fsck import run_digest

game, directory = "mini-2x2k2-abrupt", Path(sys.argv[1]) / "mini-2x2k2-abrupt/full"
settings = SolveConfig(target_nashconv=0, max_iterations=5)
enumerate.run(game, directory)
index.run(game, "full", directory)
solve.run(game, "full", settings, directory)
evaluate.run(game, "full", directory)
export.run(game, "full", ExportConfig(), directory)
report.run(Config(game=game, solve=settings), directory)
print(sys.version_info[:2], run_digest(directory), sep="=")
"""
PYTHONS = ("3.11", "3.12", "3.13", "3.14")


def run_with(version, tmp_path):
    """The digest of a run of this Python, with the libraries of the lock; empty where there is no such Python.

    Kernels are left to Python, as compiling them takes minutes for each.
    """
    uv, root = Path(sys.executable).with_name("uv"), Path(__file__).parents[3]
    other, environment = python_of(version), tmp_path / version
    if not uv.exists() or other is None:
        return ""
    subprocess.run([uv, "venv", "--quiet", "--python", other, environment], check=True, timeout=PATIENCE)
    python = environment / "bin/python"
    lock = ["--require-hashes", "-r", root / "envs/requirements.txt"]
    subprocess.run([uv, "pip", "install", "--quiet", "--python", python, *lock], check=True, timeout=PATIENCE)
    variables = {**os.environ, "PYTHONPATH": str(root), "NUMBA_DISABLE_JIT": "1"}
    command = [python, "-c", RUN, tmp_path / f"data-{version}"]
    done = subprocess.run(command, env=variables, cwd=tmp_path, capture_output=True, text=True, timeout=PATIENCE)
    assert done.returncode == 0, done.stderr
    told, _, digest = done.stdout.strip().partition("=")
    assert told == str(tuple(map(int, version.split("."))))
    return digest


@pytest.mark.full
def test_all_pythons_make_the_same_run(tmp_path):
    digests = {version: found for version in PYTHONS if (found := run_with(version, tmp_path))}
    if len(digests) < 2:
        pytest.skip("there is no other version of Python")
    assert len({*digests.values()}) == 1, digests


def test_a_flipped_bit_in_a_digest_is_blamed_on_the_manifest(run):
    file = run / "solve.json"
    good = file.read_text()
    digest_told = json.loads(good)["products"]["solution.zarr"]["digest"]
    other = "1" if digest_told[7] == "0" else "0"
    file.write_text(good.replace(digest_told, digest_told[:7] + other + digest_told[8:]))
    with pytest.raises(StoreError, match=r"solve\.json is damaged: its content does not match"):
        inputs(run, "enumerate", "index", "solve")
    assert [problem for problem in fsck.check(run).problems if "solution.zarr" in problem] == []
    file.write_text(good)
    assert fsck.check(run).problems == []
