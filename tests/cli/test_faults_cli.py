"""`pttt solve` when the disk fails it, and `pttt lab fsck`: a sentence, and nothing that was saved is lost."""

import errno
import io
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time
import traceback
import zlib
from pathlib import Path

import pytest

from pttt_ooc.cfr.solving import solve_run as solve
from pttt_ooc.cli import commands as cli
from pttt_ooc.config import SolveConfig
from pttt_ooc.disk.commits import ResumableState, SnapshotRecord
from pttt_ooc.disk.contents import content_digest
from pttt_ooc.disk.files import digest
from pttt_ooc.disk.manifests import FORMAT_VERSION, write_manifest
from pttt_ooc.pipeline.stages import solve as stage
from pttt_ooc.pipeline.stages import stage_context
from pttt_ooc.pipeline.stages.preparation import prepare_index
from tests.kits.cli_runner import GAME, Done
from tests.kits.disks import Disk, NoDiskError
from tests.kits.patience import PATIENCE, wait_until

ROOT = Path(__file__).parents[2]
NOTES = ("Continuing from", "Starting from", "Compil", "iteration ", "Stopped by", "Building the index")
BUDGETS = ("--target-nashconv", 0, "--commit-seconds", 0, "--threads", 2)
FULL = "No space left on device; free some space on this disk and run again."
HALF, WHOLE = 3, 6  # iterations


class Pttt:
    """Runs `pttt` in processes of their own, in a directory with ``data`` in it.

    They are forked from the tests, where all is imported and compiled; or else, `real`, started as a person does.
    """

    def __init__(self, directory, algorithm="pdcfr+"):
        self.directory, self.algorithm = directory, algorithm

    def __call__(self, *arguments, real=False, before=lambda: None):
        texts = [str(argument) for argument in arguments]
        if real:
            command = [sys.executable, "-m", "pttt_ooc.cli", *texts]
            environment = {**os.environ, "PYTHONPATH": str(ROOT)}
            done = subprocess.run(command, cwd=self.directory, env=environment, capture_output=True, text=True)
            return Done(done.returncode, done.stdout, done.stderr)
        with open(os.memfd_create("out"), "w+") as out, open(os.memfd_create("err"), "w+") as err:
            child = os.fork()
            if child == 0:
                os._exit(self._main(texts, out, err, before))
            _, status = os.waitpid(child, 0)
            return Done(os.waitstatus_to_exitcode(status), *[(f.seek(0), f.read())[1] for f in (out, err)])

    def _main(self, arguments, out, err, before):
        os.dup2(out.fileno(), 1)
        os.dup2(err.fileno(), 2)
        sys.stdout, sys.stderr = io.TextIOWrapper(io.FileIO(1, "w")), io.TextIOWrapper(io.FileIO(2, "w"))
        os.chdir(self.directory)
        code = 0
        try:
            before()
            cli.main(arguments)
        except SystemExit as end:
            code = end.code or 0
        except BaseException:
            traceback.print_exc()
            code = 70
        sys.stdout.flush()
        sys.stderr.flush()
        return code

    def solve(self, iterations=WHOLE, **options):
        budgets = ("--max-iterations", iterations, "--algorithm", self.algorithm, *BUDGETS)
        return self("solve", "--game", GAME, *budgets, **options)

    def fsck(self, directory="data", **options):
        return self("lab", "fsck", directory, **options)

    @property
    def data(self):
        return self.directory / "data" / GAME / "full"

    @property
    def work(self):
        (found,) = (self.data / "work").iterdir()
        return found

    @property
    def snapshot(self):
        return self.work / "commits" / f"{SnapshotRecord.read(self.work).generation:08d}"

    def bits(self):
        """Of the final regrets, sums and strategies."""
        return SnapshotRecord.read(self.work).checksums, content_digest(self.data / "solution.zarr")


@pytest.fixture(scope="module")
def index(tmp_path_factory):
    """A data directory with the index."""
    place = tmp_path_factory.mktemp("index")
    prepare_index(place / "data", GAME, "full")
    return place / "data"


@pytest.fixture(scope="module")
def expected(index, tmp_path_factory):
    """The bits of an uninterrupted run, in this process: what it compiles, the others need not."""
    pttt = Pttt(tmp_path_factory.mktemp("whole"))
    shutil.copytree(index, pttt.directory / "data")
    settings = SolveConfig(algorithm=pttt.algorithm, target_nashconv=0, max_iterations=WHOLE, commit_seconds=0)
    stage.run(GAME, "full", settings, pttt.data)
    return pttt.bits()


@pytest.fixture(scope="module")
def half(index, expected, tmp_path_factory):
    """A data directory with a solve that has saved half of its iterations."""
    pttt = Pttt(tmp_path_factory.mktemp("half"))
    shutil.copytree(index, pttt.directory / "data")
    assert pttt.solve(HALF).code == 0
    return pttt.directory / "data"


@pytest.fixture
def pttt(half, in_memory):
    shutil.copytree(half, in_memory / "data")
    return Pttt(in_memory)


@pytest.fixture
def disk(half, tmp_path):
    """A disk with half of a solve on it, and some room."""
    try:
        disk = Disk(tmp_path, 8)
    except NoDiskError:
        pytest.skip("this machine does not let us mount a small disk")
    with disk:
        shutil.copytree(half, disk.path / "data")
        yield disk


def refused(done, *says):
    """The one sentence that a command failed with."""
    assert done.code == 1, done
    assert "Traceback" not in done.err and done.out == ""
    *notes, sentence = done.err.splitlines()
    assert all(note.startswith(NOTES) for note in notes), done.err
    assert sentence.endswith(".") and all(re.search(word, sentence) for word in says), sentence
    return sentence


def other_problems(done):
    """What fsck says besides that the stage "solve" was interrupted, when the products of an earlier run are there."""
    problems = done.err.splitlines()
    interrupted = [line for line in problems if "solve.json, the manifest of stage 'solve', is missing" in line]
    assert len(interrupted) <= 1 and done.code == bool(problems), done
    assert f"{len(problems)} problem" in done.out if problems else "all is well" in done.out, done
    return [line for line in problems if line not in interrupted]


def goes_on(pttt, expected, least=HALF):
    """The last good commit is there, and an ordinary run goes on from it and ends with the right bits."""
    assert other_problems(pttt.fsck()) == []
    saved = SnapshotRecord.read(pttt.work).iteration
    assert saved >= least
    done = pttt.solve()
    assert done.code == 0 and f"Continuing from iteration {saved}." in done.err, done
    assert pttt.bits() == expected
    return saved


# ---------------------------------------------------------------------------------------------
# Disks that are full, or cannot be written to


@pytest.mark.long
@pytest.mark.parametrize("left", [24, 250])
def test_a_disk_too_full_for_a_commit(disk, expected, left):
    """With so many kB left besides the arrays: for next to nothing, or for a part of a snapshot."""
    pttt = Pttt(disk.path)
    snapshot = next((pttt.work / "commits").iterdir())
    shutil.copytree(snapshot, pttt.work / "working")  # as a kill leaves them; new arrays will take their room
    disk.fill(left << 10)
    refused(pttt.solve(real=left == 250), f"Cannot commit iteration {HALF + 1} in data", f"{FULL}$")
    disk.empty()
    assert goes_on(pttt, expected) == HALF


@pytest.mark.long_but("200")
@pytest.mark.slow
@pytest.mark.parametrize("left", [0, 200])
def test_a_disk_too_full_to_begin(disk, expected, left):
    """Mapped arrays are reserved first, so that no block is wanting later; a state in memory needs room to be saved."""
    pttt = Pttt(disk.path)
    disk.fill(left << 10)
    refused(pttt.solve(), "Cannot (create the array .*|commit iteration 4) in data", f"{FULL}$")
    disk.empty()
    assert goes_on(pttt, expected) == HALF


@pytest.mark.long_but("atomic_write_text-pttt_ooc.cfr.solving.solve_run-Cannot write data/.*/convergence.jsonl-5")
@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "module", "says", "reached"),
    [
        ("atomic_write_text", solve, "Cannot write data/.*/convergence.jsonl", WHOLE - 1),
        ("write_solution", stage, "Cannot (write the|create the) array strategy/.* in data", WHOLE),
        ("write_manifest", stage_context, "Cannot write data/.*/solve.json", WHOLE),
    ],
)
def test_a_disk_that_is_filled_meanwhile(disk, expected, name, module, says, reached):
    pttt, original = Pttt(disk.path), getattr(module, name)

    def filling(*arguments, **options):
        disk.fill()
        return original(*arguments, **options)

    refused(pttt.solve(before=lambda: setattr(module, name, filling)), says, f"{FULL}$")
    disk.empty()
    assert goes_on(pttt, expected) == reached


@pytest.mark.long
def test_a_disk_too_full_for_the_index(disk, expected):
    pttt = Pttt(disk.path)
    shutil.rmtree(disk.path / "data")
    for left in (0, 40, 120):
        disk.fill(left << 10)
        refused(pttt.solve(), f"{FULL}$")
        disk.empty()
    assert pttt.solve().code == 0
    assert pttt.bits() == expected


@pytest.mark.long
def test_a_read_only_directory(disk, expected):
    pttt = Pttt(disk.path)
    disk.read_only()
    for place, says in (
        ("data", f"^Cannot write to data/{GAME}/full: it is read-only, or not yours; choose a directory that"),
        ("other", f"^Cannot lock the directory other/{GAME}/full: Read-only file system; choose a directory that"),
    ):
        arguments = ("solve", "--game", GAME, "--data", place, *BUDGETS)
        refused(pttt(*arguments, real=place == "data"), says)
    assert other_problems(pttt.fsck()) == []  # which writes nothing
    disk.read_only(False)
    assert goes_on(pttt, expected) == HALF


@pytest.mark.slow
def test_a_disk_that_becomes_read_only(disk, expected):
    pttt, commit = Pttt(disk.path), ResumableState.commit

    def committing(state, iteration, *rest):
        if iteration == HALF + 2:
            # Nobody can remount a disk with files that are open for writing; an error of the disk does it this way.
            os.fsync = failing
        commit(state, iteration, *rest)

    def failing(descriptor):
        raise OSError(errno.EROFS, os.strerror(errno.EROFS))

    done = pttt.solve(before=lambda: setattr(ResumableState, "commit", committing))
    refused(done, f"Cannot commit iteration {HALF + 2} in data", "Read-only file system; choose a directory")
    assert goes_on(pttt, expected) == HALF + 1


# ---------------------------------------------------------------------------------------------
# Damage


def flip(file):
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 16
    file.write_bytes(content)


def truncate(file):
    os.truncate(file, file.stat().st_size // 2)


@pytest.mark.slow
@pytest.mark.long_but("regrets-flip")
@pytest.mark.parametrize(
    ("kind", "harm"), [("regrets", flip), ("strategy_sums", flip), ("predictions", flip), ("regrets", truncate)]
)
def test_a_damaged_chunk(pttt, expected, kind, harm):
    name = f"{kind}/1/3"
    file = pttt.snapshot / name / "c" / "0"
    good = file.read_bytes()
    harm(file)
    advice = f"delete the work directory data/{GAME}/full/work/{pttt.work.name} to start anew"
    sentence = refused(pttt.solve(real=harm is truncate), f"The array {name} is damaged", advice)
    assert other_problems(pttt.fsck()) == [sentence]
    file.write_bytes(good)
    assert goes_on(pttt, expected) == HALF


@pytest.mark.slow
def test_the_advice_about_a_damaged_chunk(pttt, expected):
    truncate(pttt.snapshot / "regrets/1/3/c/0")
    advised = refused(pttt.solve()).split("delete the work directory ")[1].split()[0]
    assert pttt.fsck(pttt.work).code == 1
    shutil.rmtree(pttt.directory / advised)
    done = pttt.solve()
    assert done.code == 0 and "Starting from the first iteration." in done.err
    assert pttt.bits() == expected


def older(file):
    """A record as an older version wrote it, with the right checksum."""
    content = json.loads(file.read_text())
    del content["checksum"]
    content["format_version"] -= 1
    crc = zlib.crc32(json.dumps(content, sort_keys=True).encode())
    file.write_text(json.dumps({**content, "checksum": f"{crc:08x}"}, sort_keys=True))


@pytest.mark.slow
@pytest.mark.long_but("flip")
@pytest.mark.parametrize(
    ("harm", "says"),
    [
        (flip, "CURRENT.json"),
        (truncate, "CURRENT.json.*is not a JSON object"),
        (older, f"is of format version {FORMAT_VERSION - 1}, this"),
    ],
)
def test_a_damaged_or_old_record(pttt, expected, harm, says):
    file = pttt.work / "CURRENT.json"
    good = file.read_bytes()
    harm(file)
    sentence = refused(pttt.solve(), says, f"delete the work directory data/.*/{pttt.work.name} to")
    assert other_problems(pttt.fsck()) == [sentence]
    file.write_bytes(good)
    assert goes_on(pttt, expected) == HALF


# ---------------------------------------------------------------------------------------------
# Others at work


@pytest.mark.long
def test_two_solvers(pttt, expected):
    endless = ("--max-iterations", 10**9, "--max-minutes", 10**6, "--evaluate-every", 10**9, *BUDGETS)
    arguments = map(str, ("solve", "--game", GAME, "--algorithm", pttt.algorithm, *endless))
    command = [sys.executable, "-m", "pttt_ooc.cli", *arguments]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    before = SnapshotRecord.read(pttt.work)
    with subprocess.Popen(command, cwd=pttt.directory, env=environment, stderr=-1, text=True) as first:
        try:
            going_on = lambda: SnapshotRecord.read(pttt.work).generation > before.generation  # noqa: E731
            wait_until(going_on, alive=lambda: first.poll() is None, told=lambda: "the first run commits nothing")
            holder = rf"\(process {first.pid}, since \d\d:\d\d\); wait for it or stop it\.$"
            says = rf"^Another run is at work in data/{GAME}/full {holder}"
            refused(pttt.solve(), says)
            checked = pttt.fsck()
            assert checked.code == 1 and re.search(says, checked.err.strip()) and checked.err.count("\n") == 1
            checked = pttt.fsck(pttt.work)
            assert checked.code == 1 and re.search(rf"^Another solver is at work on .* {holder}", checked.err.strip())
            assert first.poll() is None
            first.send_signal(signal.SIGINT)
            _, err = first.communicate(timeout=PATIENCE)
        finally:
            first.kill()  # it would never end by itself
    assert first.returncode == 130 and "Traceback" not in err
    # It has made more iterations than are asked for here: then a run starts anew.
    assert other_problems(pttt.fsck()) == [] and pttt.solve().code == 0
    assert pttt.bits() == expected


@pytest.mark.long
def test_a_clock_that_jumps(pttt, expected):
    chance, ends = random.Random(1), (0.0, 2.0**32)

    def jumping():
        time.time = lambda: chance.uniform(*ends)
        time.time_ns = lambda: int(chance.uniform(*ends) * 1e9)

    for iterations, stamp in ((HALF + 1, 0.0), (HALF + 2, 2.0**32), (WHOLE, 1.0)):
        for file in [pttt.directory, *pttt.directory.rglob("*")]:
            os.utime(file, (stamp, stamp + chance.random()))
        before = SnapshotRecord.read(pttt.work).iteration
        done = pttt.solve(iterations, before=jumping)
        assert done.code == 0 and f"Continuing from iteration {before}." in done.err
        assert json.loads((pttt.data / "solve.json").read_text())["usage"]["seconds"] < 10 * PATIENCE
    assert pttt.bits() == expected


# ---------------------------------------------------------------------------------------------
# pttt lab fsck


def contents(place):
    return {str(file): (file.stat().st_mtime_ns, digest(file)) for file in place.rglob("*") if file.is_file()}


@pytest.mark.slow
def test_fsck_finds_all_and_writes_nothing(pttt):
    done = pttt.fsck(real=True)
    unrun = f"{Path('data') / GAME / 'full'}: not run yet: evaluate, export, report.\n"
    assert (done.code, done.err) == (0, "")
    assert done.out == f"{unrun}Checked 1 saved state and 4 products: all is well.\n"
    (pttt.work / "commits" / "00000099").mkdir()  # what a killed commit leaves
    (pttt.data / "solution.zarr.wip").mkdir()
    snapshot = pttt.snapshot
    (pttt.data / "work" / "killed at once" / "commits").mkdir(parents=True)
    assert pttt.fsck().out == f"{unrun}Checked 2 saved states and 4 products: all is well.\n"
    flip(next(f for f in sorted((pttt.data / "index.zarr" / "full" / "players").rglob("0")) if f.is_file()))
    shutil.rmtree(pttt.data / "views.zarr")
    write_manifest(pttt.data / "solve.json", "solve")
    flip(snapshot / "regrets" / "0" / "0" / "c" / "0")
    (snapshot / "strategy_sums" / "1" / "2" / "zarr.json").unlink()
    before = contents(pttt.directory)
    done = pttt.fsck()
    says = [
        "views.zarr: No such file or directory",
        "index.zarr was changed or damaged after stage 'index' had made it; delete .*index.json",
        "solve.json is damaged: it does not describe its products; delete it",
        "The array regrets/0/0 is damaged",
        "There is no array strategy_sums/1/2 in",
    ]
    assert done.code == 1 and done.out == f"{unrun}Checked 2 saved states and 2 products: 5 problems.\n"
    assert len(done.err.splitlines()) == len(says)
    assert all(re.search(word, line) for word, line in zip(says, done.err.splitlines(), strict=True)), done.err
    assert contents(pttt.directory) == before


def test_fsck_of_nothing(pttt):
    (pttt.directory / "empty").mkdir()
    refused(pttt.fsck("empty"), "There is no state of the solver and no product of the workflow in empty")
    refused(pttt.fsck("missing"), "There is no directory missing to check")
    refused(pttt.fsck(pttt.data / "solve.json"), "There is no directory .*solve.json")
