"""The command `pttt`, with input as it should not be: a sentence, no traceback, and no file changed."""

import os
import random
import stat
import subprocess
import sys
from pathlib import Path

import h5py
import numpy as np
import pytest

from pttt_ooc.cli.commands import main
from pttt_ooc.disk.manifests import write_manifest
from pttt_ooc.games.rules.catalogue import named_game
from pttt_ooc.pipeline.files.solution import write_solution
from pttt_ooc.pipeline.stages.preparation import prepare_index
from tests.kits import naive
from tests.kits.cli_runner import GAME, Runner, tensor_of, write_zip
from tests.kits.helpers import as_strategy, random_table, small_engine

ROOT = Path(__file__).parents[2]
RULES = named_game(GAME)
INFOSETS = naive.infosets(RULES, 0)
EVALUATE = ("evaluate", "0.zip", "uniform")


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    place = tmp_path_factory.mktemp("data")
    prepare_index(place, GAME, "none")
    prepare_index(place, GAME, "full")
    return place


@pytest.fixture
def pttt(capsys, data, tmp_path, monkeypatch):
    """Runs commands in a directory with a correct strategy, list of infosets, and place for outputs."""
    monkeypatch.chdir(tmp_path)
    write_zip(Path("0.zip"), good())
    Path("list.txt").write_text("\n".join(INFOSETS) + "\n")
    Path("out").mkdir()
    Path("old.zip").write_bytes(b"keep me")
    return Runner(capsys, data, GAME)


def good(seed=5):
    return tensor_of(GAME, 0, random_table(RULES, 0, random.Random(seed)))


def contents(*places):
    """What tells each file from what would be written in its place: much cheaper to find than what is in it."""
    files = [f for place in places for f in Path(place).rglob("*") if not f.name.endswith(".lock")]
    found = {str(f): f.stat() for f in files}
    return {name: (s.st_ino, s.st_size, s.st_mtime_ns) for name, s in found.items() if stat.S_ISREG(s.st_mode)}


def refused(pttt, *arguments, says=(), code=1, **options):
    """Run a command that must fail; returns what it says."""
    before = contents(".", pttt.data)
    done = pttt(*arguments, **options)
    assert done.code == code
    assert done.out == "" and "Traceback" not in done.err
    sentence = "\n".join(line for line in done.err.splitlines() if not line.startswith("Building the index"))
    assert code != 1 or (sentence.endswith(".") and "\n" not in sentence)
    assert all(part in sentence for part in says), sentence
    assert contents(".", pttt.data) == before
    return sentence


# ---------------------------------------------------------------------------------------------
# Strategies


def spoil(what):
    """A tensor with one fault, and what is to be said of it."""
    tensor, row = good(), INFOSETS.index("|0*4.")
    where = (f"row {row} (counted from 0)", "'|0*4.'")
    if what == "rows":
        return tensor[:-1], ("found (188, 6), expected (189, 6)",)
    if what == "columns":
        return np.hstack([tensor, tensor]), ("found (189, 12), expected (189, 6)",)
    if what == "whole numbers":
        return (tensor > 0).astype(np.int64), ("dtype", "int64", "float32")
    if what == "sum":
        tensor[row] *= 0.9
        return tensor, (*where, "the sum is 0.8999", "must be 1")
    if what == "negative":
        tensor[row, 1:4] += [-3, 1.5, 1.5]
        return tensor, (*where, "square 1 has -", "not negative")
    if what == "nan":
        tensor[row, 2] = np.nan
        return tensor, (*where, "square 2 has nan")
    if what == "infinite":
        tensor[row, 2] = np.inf
        return tensor, (*where, "square 2 has inf")
    tensor[row] = [0, 0, 0, 0, 1, 0]
    return tensor, (*where, "square 4 has 1.0", "already been attempted")


FAULTS = ("rows", "columns", "whole numbers", "sum", "negative", "nan", "infinite", "illegal")


@pytest.mark.long_but("rows-zip")
@pytest.mark.slow
@pytest.mark.parametrize("kind", ["zip", "npy"])
@pytest.mark.parametrize("fault", FAULTS)
def test_a_malformed_strategy(pttt, fault, kind):
    tensor, says = spoil(fault)
    name = f"bad.{kind}"
    write_zip(Path(name), tensor) if kind == "zip" else np.save(name, tensor)
    refused(pttt, "validate", name, "--player", 0, says=(name, *says))
    refused(pttt, "evaluate", name, "uniform", "--json", says=(name, *says))
    refused(pttt, "evaluate", name, "uniform", "--symmetry", "full", says=(name, *says))


def zip_with_two_files():
    write_zip(Path("bad.zip"), good(), members=("a.npy", "b.npy"))
    return "bad.zip", "more than one file"


def empty_zip():
    write_zip(Path("bad.zip"), good(), members=())
    return "bad.zip", "empty"


def zip_with_a_text():
    write_zip(Path("bad.zip"), good(), members=("strategy.txt",))
    return "bad.zip", ".npy"


def no_zip():
    Path("bad.zip").write_text("not a zip")
    return "bad.zip", "Not a valid zip"


def truncated_zip():
    whole = Path("0.zip").read_bytes()
    Path("bad.zip").write_bytes(whole[: len(whole) // 2])
    return "bad.zip", "Not a valid zip"


def truncated_npy():
    np.save("whole.npy", good())
    Path("bad.npy").write_bytes(Path("whole.npy").read_bytes()[:-100])
    return "bad.npy", "truncated"


def pickled_npy():
    np.save("bad.npy", np.array([{"a": 1}], object))
    return "bad.npy", "dtype"


def empty_npy():
    Path("bad.npy").write_bytes(b"")
    return "bad.npy", "header of the .npy file is damaged"


def no_hdf5():
    Path("bad.h5").write_text("not HDF5")
    return "bad.h5", "Not a readable HDF5 file"


def another_suffix():
    np.savetxt("bad.csv", good())
    return "bad.csv", ".zip"


def missing_file():
    return "missing.zip", "There is no such file"


def directory_without_solution():
    Path("empty").mkdir()
    return "empty", "This directory holds no solution"


def solution_of_another_game():
    index = small_engine("mini-2x2k2-abrupt").index
    tables = [naive.uniform(index.game, player) for player in (0, 1)]
    write_solution(Path("other.zarr"), tuple(as_strategy(index, p, tables[p]) for p in (0, 1)), {})
    return "other.zarr", "--game"


def damaged_solution():
    index = small_engine(GAME).index
    tables = [naive.uniform(RULES, player) for player in (0, 1)]
    write_solution(Path("bad.zarr"), tuple(as_strategy(index, p, tables[p]) for p in (0, 1)), {})
    next(Path("bad.zarr/strategy/0/2/c").rglob("0")).unlink()
    return "bad.zarr", "damaged"


FILES = (
    *(zip_with_two_files, empty_zip, zip_with_a_text, no_zip, truncated_zip, truncated_npy, pickled_npy, empty_npy),
    *(no_hdf5, another_suffix, missing_file, directory_without_solution, solution_of_another_game, damaged_solution),
)


@pytest.mark.slow
@pytest.mark.parametrize("make", FILES)
def test_an_unreadable_strategy(pttt, make):
    name, says = make()
    refused(pttt, "validate", name, "--player", 0, says=(name, says))
    refused(pttt, "evaluate", name, "uniform", "--json", says=(name, says))


def test_a_strategy_of_the_other_player(pttt):
    refused(pttt, "evaluate", "uniform", "0.zip", says=("0.zip", "found (189, 6), expected (107, 6)"))


def forbid_work(monkeypatch):
    def work(*arguments):
        raise AssertionError("an index was opened before the headers were looked at")

    monkeypatch.setattr("pttt_ooc.pipeline.stages.preparation.prepare_index", work)


@pytest.mark.slow_but_one
@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("evaluate", "uniform", "0.zip"), ("expected (107, 6) for player 1", "This is a file of player 0, not")),
        (("validate", "0.zip", "--player", 0, "--game", "pttt-abrupt"), ("(14482810, 9)", f"fits {GAME} or mini-3x2")),
        (("validate", "cut.npy", "--player", 0), ("cut.npy", "truncated")),
        (("validate", "wide.npy", "--player", 0), ("wide.npy", "(189, 12)")),
        (("validate", "whole.npy", "--player", 0), ("whole.npy", "int64")),
        (("validate", "other.zarr", "--player", 0), ("other.zarr", "a solution of mini-2x2k2-abrupt", "--game")),
        (
            ("lab", "export", "other.zarr", "--output", "out"),
            ("other.zarr", "a solution of mini-2x2k2-abrupt", "--game"),
        ),
        (("evaluate", "0.zip", "pipe.zip"), ("pipe.zip", "Not a known kind")),
        (("evaluate", "", "uniform"), ("name is empty",)),
        ((*EVALUATE, "--infosets0", "0.zip"), ("0.zip", "not a list of infosets")),
        (
            ("lab", "export", "good.zarr", "--output", "out", "--infosets1", "0.zip"),
            ("0.zip", "not a list of infosets"),
        ),
    ],
)
def test_headers_are_checked_before_any_work(pttt, monkeypatch, arguments, says):
    solution()
    solution_of_another_game()
    np.save("wide.npy", np.hstack([good(), good()]))
    np.save("whole.npy", (good() > 0).astype(np.int64))
    np.save("good.npy", good())
    Path("cut.npy").write_bytes(Path("good.npy").read_bytes()[:-100])
    os.mkfifo("pipe.zip")
    forbid_work(monkeypatch)
    game = arguments[-1] if "--game" in arguments else None
    refused(pttt, *(arguments[:-2] if game else arguments), game=game, says=says)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("evaluate", "0.zip", "uniform"), (f"(189, 6) fits {GAME} or mini-3x2k2-abrupt", "--game")),
        (
            ("evaluate", "uniform", "0.zip"),
            ("(189, 6), as no game has for player 1", f"This is a file of player 0 in {GAME}"),
        ),
        (("evaluate", "0.zip", "1.zip"), ("different games", f"0.zip fits {GAME}", "1.zip fits mini-2x2k2-abrupt")),
        (("evaluate", "good.zarr", "other.zarr"), (f"good.zarr is for {GAME}, but other.zarr is for mini-2x2k2",)),
        (("validate", "odd.npy", "--player", 0), ("(3,), as no game has for player 0",)),
    ],
)
def test_headers_without_the_game(pttt, monkeypatch, capsys, arguments, says):
    solution()
    solution_of_another_game()
    np.save("odd.npy", np.ones(3))
    tiny = named_game("mini-2x2k2-abrupt")
    write_zip(Path("1.zip"), tensor_of(tiny.name, 1, naive.uniform(tiny, 1)))
    forbid_work(monkeypatch)
    with pytest.raises(SystemExit) as end:
        main([*map(str, arguments), "--data", str(pttt.data)])
    out, err = capsys.readouterr()
    assert end.value.code == 1 and out == "" and err.count("\n") == 1
    assert all(part in err for part in says), err


def test_a_file_with_strange_headers(pttt):
    for name, attrs in (("list", [1, 2]), ("escape", "chess\x1b[2J\n"), ("bytes", np.bytes_(b"x"))):
        with h5py.File(f"{name}.h5", "w") as f:
            f.attrs["game"], f.attrs["format_version"] = attrs, [1, 1]
        assert "\x1b" not in refused(pttt, "validate", f"{name}.h5", "--player", 0, says=(name,))


def test_a_strategy_that_is_not_symmetric(pttt):
    refused(pttt, *EVALUATE, "--symmetry", "full", says=("Player 0's strategy is not symmetric", "symmetry none"))


# ---------------------------------------------------------------------------------------------
# Files of infosets


def spoil_infosets(what):
    lines = list(INFOSETS)
    if what == "missing line":
        return [line for line in lines if line != "|0*4."], ("1 infoset is missing", "'|0*4.'")
    if what == "doubled line":
        return [*lines[:9], lines[3], *lines[10:]], ("line 10", "doubled", "line 4")
    if what == "line too many":
        return [*lines, lines[3]], ("line 190", "doubled", "line 4")
    if what == "malformed line":
        return [*lines[:9], "|0*4", *lines[10:]], ("line 10", "malformed", "'|0*4'")
    if what == "empty line":
        return [*lines[:9], "", *lines[9:]], ("line 10", "malformed")
    if what == "square 7":
        return [*lines[:9], "|7*", *lines[10:]], ("line 10", "malformed", "'|7*'")
    if what == "no infoset":
        return [*lines[:9], "|0.1.2.", *lines[10:]], ("line 10", "no infoset of player 0")
    return [], ("empty",)


@pytest.mark.slow_but_one
@pytest.mark.long_but("empty", "malformed", "many")
@pytest.mark.parametrize(
    "fault",
    [
        *("missing line", "doubled line", "line too many", "malformed line", "empty line", "square 7"),
        *("no infoset", "empty file"),
    ],
)
def test_a_malformed_file_of_infosets(pttt, fault):
    lines, says = spoil_infosets(fault)
    Path("bad.txt").write_text("".join(f"{line}\n" for line in lines))
    refused(pttt, "validate", "0.zip", "--player", 0, "--infosets", "bad.txt", says=("bad.txt", *says))
    refused(pttt, *EVALUATE, "--infosets0", "bad.txt", says=("bad.txt", *says))
    export = ("lab", "export", solution(), "--output", "out")
    refused(pttt, *export, "--infosets0", "bad.txt", says=("bad.txt", *says))


def test_a_missing_or_unneeded_file_of_infosets(pttt):
    refused(pttt, *EVALUATE, "--infosets0", "missing.txt", says=("missing.txt", "no such file"))
    refused(pttt, "lab", "export", solution(), "--output", "out", "--infosets1", "missing.txt", says=("missing.txt",))
    refused(pttt, *EVALUATE, "--infosets1", "list.txt", says=("uniform", "list.txt", "leave it out"))


# ---------------------------------------------------------------------------------------------
# Options and outputs


def solution():
    if not Path("good.zarr").exists():
        index = small_engine(GAME).index
        tables = [naive.uniform(RULES, player) for player in (0, 1)]
        write_solution(Path("good.zarr"), tuple(as_strategy(index, p, tables[p]) for p in (0, 1)), {})
    return "good.zarr"


@pytest.mark.parametrize(
    "command",
    [
        ("lab", "infosets", "--player", 0),
        ("lab", "uniform", "--player", 0, "--output", "new.zip"),
        ("validate", "0.zip", "--player", 0),
        ("evaluate", "uniform", "uniform"),
        ("lab", "export", "good.zarr", "--output", "out"),
        ("solve",),
    ],
)
def test_an_unknown_game(pttt, command):
    refused(pttt, *command, game="chess", says=("There is no game called 'chess'", "`pttt info` lists games"))


@pytest.mark.parametrize(
    "command",
    [
        ("lab", "infosets", "--player", 2),
        ("lab", "uniform", "--player", -1, "--output", "n.zip"),
        ("validate", "0.zip"),
    ],
)
def test_an_unknown_or_missing_player(pttt, command):
    refused(pttt, *command, code=2, says=("--player",))


@pytest.mark.slow_but_one
@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("evaluate", "uniform", "uniform", "--symmetry", "half"), ("--symmetry", "half", "none", "full")),
        (("solve", "--algorithm", "dcrf"), ("'dcrf' is not one of cfr, cfr+", "(did you mean dcfr?)")),
        (("evaluate", "uniform", "uniform", "--threads", "0"), ("it is '0', but must be greater than or equal to 1.",)),
        (("evaluate", "uniform", "uniform", "--threads", "x"), ("it is 'x', but must be a whole number.",)),
        (("solve", "--gamma", "x"), ("it is 'x', but must be a number.",)),
        (("evaluate",), ("STRATEGY",)),
        (("lab", "uniform", "--player", 0, "--output", "n.zip", "--dtype", "int8"), ("--dtype", "int8", "float32")),
        (("lab", "uniform", "--player", 0, "--output", "n.zip", "--compression-level", "10"), ("--compression-level",)),
        (("solve", "--algorithm", "magic"), ("--algorithm", "magic", "dcfr")),
        (("solve", "--max-iterations", "few"), ("--max-iterations",)),
        (("solve", "--colour", "red"), ("--colour",)),
    ],
)
def test_an_unknown_value_of_an_option(pttt, arguments, says):
    sentence = refused(pttt, *arguments, code=2, says=says)
    assert "Value error" not in sentence and "Input should" not in sentence, "the words of pydantic"


def test_a_mistyped_game(pttt):
    for command in (("solve",), EVALUATE, ("lab", "uniform", "--player", 0, "--output", "new.zip")):
        sentence = refused(pttt, *command, game="pttt-abrubt", says=("(did you mean pttt-abrupt?)", "`pttt info`"))
        assert len(sentence) < 100


@pytest.mark.parametrize("value", ["high", "2", "nan", "0.5,0.4", "0.1,0.2,0.3", ""])
def test_an_impossible_value_of_the_game(pttt, value):
    refused(pttt, "evaluate", "uniform", "uniform", "--game-value", value, says=("value of the game", repr(value)))


@pytest.mark.parametrize(
    ("option", "value"),
    [("max-iterations", -1), ("max-minutes", -5), ("target-nashconv", -1e-3), ("evaluate-every", 1), ("gamma", "nan")],
)
def test_an_impossible_budget(pttt, option, value):
    refused(pttt, "solve", f"--{option}={value}", says=(f"solve.{option.replace('-', '_')}", "must be"))


def test_an_impossible_configuration(pttt):
    Path("my.yaml").write_text("solve:\n  max_iteration: 5\n")
    refused(pttt, "solve", "--config", "my.yaml", says=("my.yaml", "max_iteration", "max_iterations"))
    refused(pttt, "solve", "--config", "missing.yaml", says=("missing.yaml",))


@pytest.mark.parametrize(
    ("output", "says"),
    [("missing/new.zip", "no directory missing"), ("out", "is a directory"), ("old.txt", "must end with .zip")],
)
def test_an_impossible_output(pttt, output, says):
    refused(pttt, "lab", "uniform", "--player", 0, "--output", output, says=(output, says))


def test_an_output_directory_that_does_not_exist(pttt):
    says = ("there is no directory missing",)
    refused(pttt, "lab", "infosets", "--player", 0, "--output", "missing/list.txt", says=says)
    refused(pttt, "lab", "export", solution(), "--output", "old.zip/new", says=("old.zip is a file",))
    refused(pttt, "lab", "export", "0.zip", "--output", "out", says=("0.zip", "not the directory of a solution"))


def test_results_of_the_workflow_are_not_written_over(pttt):
    write_manifest(Path("out/export.json"), "export", products={"pttt_pl0.zip": {}, "player0-infosets.txt": {}})
    for command in ("export", "uniform", "infosets"):
        arguments = {
            "export": (solution(), "--output", "out"),
            "uniform": ("--player", 0, "--output", "out/pttt_pl0.zip"),
            "infosets": ("--player", 0, "--output", "out/player0-infosets.txt"),
        }[command]
        refused(pttt, "lab", command, *arguments, says=("Cannot write out/", "a result of the workflow"))
    assert pttt("lab", "uniform", "--player", 0, "--output", "out/mine.zip").code == 0


def test_outputs_are_not_touched_by_an_error(pttt):
    Path("out/pttt_pl0.zip").write_bytes(b"keep me")
    Path("half.txt").write_text("\n".join(INFOSETS[:9]))
    refused(
        pttt, "lab", "export", solution(), "--output", "out", "--infosets0", "half.txt", "--force", says=("half.txt",)
    )
    assert os.listdir("out") == ["pttt_pl0.zip"]


@pytest.mark.skipif(os.geteuid() == 0, reason="the superuser may write everywhere")
def test_a_directory_that_cannot_be_written_to(pttt):
    Path("out").chmod(0o500)
    refused(pttt, "lab", "export", solution(), "--output", "out", says=("out",))
    refused(pttt, "lab", "infosets", "--player", 0, data=Path("out/data"), says=("out/data",))


def test_a_file_in_place_of_the_data_directory(pttt):
    refused(pttt, "lab", "infosets", "--player", 0, data=Path("old.zip"), says=("old.zip",))


@pytest.mark.slow
def test_a_damaged_index(pttt, tmp_path):
    """What is seen to have changed is made anew; a bit that a disk has changed, which the file's times hide, is not."""
    place = tmp_path / "elsewhere"
    whole = pttt.ok("lab", "infosets", "--player", 0, data=place).out
    chunk = next(f for f in sorted((place / GAME / "none/index.zarr/none/players").rglob("0")) if f.is_file())
    flip_last(chunk)
    again = pttt.ok("lab", "infosets", "--player", 0, data=place)
    assert again.out == whole and again.err.startswith("Building the index")
    times = chunk.stat()
    flip_last(chunk)
    os.utime(chunk, ns=(times.st_atime_ns, times.st_mtime_ns))
    refused(pttt, "lab", "infosets", "--player", 0, data=place, says=("index.zarr", "damaged", "delete"))


def flip_last(file):
    content = bytearray(file.read_bytes())
    content[-1] ^= 1
    file.write_bytes(content)


def real(arguments, **options):
    """The command in a process of its own."""
    command = [sys.executable, "-m", "pttt_ooc.cli", *map(str, arguments)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), **options.pop("environment", {})}
    return subprocess.run(command, stderr=subprocess.PIPE, env=environment, timeout=300, **options)


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="this system has no device that is full")
def test_a_full_standard_output():
    with open("/dev/full", "wb") as full:
        done = real(["--version"], stdout=full)
    assert done.returncode == 1
    assert done.stderr.decode() == "A file, or standard output, cannot be used: No space left on device.\n"


def test_a_closed_standard_output():
    done = real(["info"], preexec_fn=lambda: os.close(1))
    assert done.returncode == 1
    assert done.stderr.decode() == "There is no standard output to write to: it is closed.\n"


@pytest.mark.slow
def test_a_name_that_is_no_text(pttt, data):
    name = b"b\xffd.zip"
    with open(name, "wb") as f:
        f.write(Path("0.zip").read_bytes())
    arguments = ["validate", os.fsdecode(name), "--player", 0, "--game", GAME, "--data", data]
    done = real(arguments, stdout=subprocess.PIPE, environment={"PYTHONIOENCODING": "utf-8:strict"})
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout.startswith(b"b\\udcffd.zip: valid")


@pytest.mark.slow
def test_the_real_command_prints_the_same(pttt, data):
    command = [sys.executable, "-m", "pttt_ooc.cli", "evaluate", "missing.zip", "uniform", "--game", GAME]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run([*command, "--data", data], capture_output=True, text=True, env=environment)
    sentence = refused(pttt, "evaluate", "missing.zip", "uniform", says=("missing.zip",))
    assert (done.returncode, done.stdout, done.stderr.strip()) == (1, "", sentence)
