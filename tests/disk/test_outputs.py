"""Output files of commands: inputs are never overwritten, other files only with --force."""

import json
import os
import random
from pathlib import Path

import pytest
import typer

import pttt_ooc as pttt
from pttt_ooc.cli.commands import app, main
from pttt_ooc.disk.manifests import write_manifest
from pttt_ooc.disk.outputs import check_output, check_outputs
from pttt_ooc.errors import StoreError
from pttt_ooc.games.rules.catalogue import named_game
from pttt_ooc.pipeline.stages.preparation import prepare_index
from tests.kits.cli_runner import GAME, Runner, commands, tensor_of, write_zip
from tests.kits.helpers import random_table

GIVES = "add --force to replace it."
READS = "which would be lost; name another file."


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("mine").write_text("read")
    Path("old").write_text("keep me")


def refused(path, *inputs, force=False, suffix=""):
    with pytest.raises(StoreError, match=f"^Cannot write .*{Path(path).name}: ") as error:
        check_output(Path(path), inputs, force=force, suffix=suffix)
    return str(error.value)


def test_a_file_is_replaced_only_on_request():
    assert refused("old", "mine").endswith(GIVES)
    check_output(Path("old"), ["mine"], force=True)
    check_output(Path("new"), ["mine", None, "uniform"])
    Path("dangling").symlink_to("nowhere")
    assert refused("dangling").endswith(GIVES)


@pytest.mark.parametrize("force", [False, True])
def test_an_input_is_never_replaced(tmp_path, force):
    Path("link").symlink_to("mine")
    os.link("mine", "hard")
    Path("folder").mkdir()
    Path("folder/part").write_text("read too")
    Path("way").symlink_to("folder")
    for path in ("mine", tmp_path / "mine", "folder/../mine", "link", "hard"):
        assert refused(path, None, "old", "mine", force=force).endswith(f"reads mine, {READS}")
    for path in ("folder/part", "way/part"):
        assert refused(path, Path("folder"), force=force).endswith(READS)
    check_output(Path("folder/new"), ["folder"], force=force)
    os.link("mine", "new.tmp")  # through which new content goes
    assert refused("new", "mine", force=force).endswith(READS)


@pytest.mark.parametrize("force", [False, True])
def test_unwritable_files_are_refused(force):
    Path("folder").mkdir()
    os.mkfifo("pipe")
    write_manifest(Path("folder/export.json"), "export", products={"a.zip": {}, "lost.zip": {}})
    Path("folder/other.json").write_text("[1")
    for path, says in {
        "missing/new": "there is no directory missing; make it first.",
        "folder": "it is a directory; name a file.",
        "pipe": "it is not an ordinary file; name another.",
        "folder/lost.zip": "it is a result of the workflow; name another place.",
        "folder/export.json": "it is a result of the workflow; name another place.",
    }.items():
        assert refused(path, force=force).endswith(says)
    assert refused("new.txt", force=force, suffix=".zip").endswith("the name must end with .zip.")
    check_output(Path("NEW.ZIP"), suffix=".zip")


def test_all_files_of_a_directory_are_checked_before_any_is_written():
    check_outputs(Path("new/one"), ["a", "b"], ["mine"])
    Path("out").mkdir()
    check_outputs(Path("out"), ["a", "b"], ["mine"])
    os.link("mine", "out/b")
    for force in (False, True):
        with pytest.raises(StoreError, match="reads mine"):
            check_outputs(Path("out"), ["a", "b"], iter(["mine"]), force=force)
    with pytest.raises(StoreError, match="old is a file"):
        check_outputs(Path("old/new"), ["a"])


# ---------------------------------------------------------------------------------------------
# The commands

WRITES = {
    "lab infosets": ("--player", 0, "--output", "{}"),
    "lab uniform": ("--player", 0, "--output", "{}"),
    "lab best-response": ("mine.zip", "--output", "{}"),
    "lab export": ("run", "--output", "out"),
    "lab score": ("mine.zip", "--page", "{}"),
    "certify": ("--output", "{}"),
    "course backup": ("{}",),
    "course kit": ("{}",),
    "course download": ("strategies", "--output", "{}"),
    "course grades": ("--output", "{}"),
    "lab certify-endings": ("mine", "--output", "{}"),
    "lab endings": ("--output", "{}"),
    "lab attack": ("--games", 1, "--most-nodes", 100, "--output", "{}"),
    "lab forced-win": ("--output", "{}"),
    "arena solve": ("--board", "3x3", "--need", 3, "--method", "pairing", "--certificate", "{}"),
    "lab train-patterns": ("--output", "{}"),
    "lab train-ultimate": ("--output", "{}"),
    "extreme match": ("bot.py", "random", "--log", "{}"),
    "extreme play": ("bot.py", "--terminal", "--log", "{}"),
    "extreme kit": ("--output", "{}"),
}
"""All commands that write to a given file, with arguments; {} is the file."""
WINGS = ("course", "arena", "extreme", "lab train", "lab endings", "lab certify", "lab attack", "lab forced")
"""What commands begin with that have no option ``--game`` of ours."""


def test_every_command_that_writes_a_file_has_force():
    known = dict(commands(typer.main.get_command(app)))
    assert {name for name, one in known.items() if any("--force" in p.opts for p in one.params)} == set(WRITES)
    files = {
        name
        for name, one in known.items()
        for p in one.params
        if {"--output", "--log"} & set(p.opts) and (p.metavar or "").startswith("FILE")
    }
    others = {"lab export", "lab score", "course backup", "course kit", "arena solve"}
    assert files == set(WRITES) - others | {"lab record", "course serve"}  # which keep what is in the file


@pytest.fixture(scope="module")
def solved(tmp_path_factory):
    place = tmp_path_factory.mktemp("solved")
    prepare_index(place, GAME, "none")
    pttt.solve(pttt.game(GAME), max_iterations=1, directory=place)
    return place


@pytest.fixture
def run(capsys, solved):
    Path("run").symlink_to(next(solved.rglob("solution.zarr")).parent)
    write_zip(Path("mine.zip"), tensor_of(GAME, 0, random_table(named_game(GAME), 0, random.Random(1))))
    Path("bot.py").write_text("class Player: pass\n")
    runner = Runner(capsys, solved, GAME)

    def run(name, *arguments):
        if not name.startswith(WINGS):
            return runner(*name.split(), *arguments)
        capsys.readouterr()
        with pytest.raises(SystemExit) as end:
            main([*name.split(), *map(str, arguments)])
        return end.value.code, *capsys.readouterr()

    return run


FILES = {"lab export": "out/pttt_pl1.zip", "certify": "old.gz", "lab score": "old.html", "lab infosets": "old.txt"}


@pytest.mark.parametrize("name", WRITES)
def test_no_command_overwrites_an_existing_file(run, name):
    if name.startswith("course"):
        pytest.importorskip("sqlalchemy")
        assert run("extreme open")[0] == 0  # makes a course
    file = Path(FILES.get(name, "old.zip"))
    file.parent.mkdir(exist_ok=True)
    file.write_text("keep me")
    code, out, err = run(name, *(str(one).format(file) for one in WRITES[name]))
    assert (code, out) == (1, "")
    assert err.endswith(f"Cannot write {file}: it exists already; name another file, or {GIVES}\n")
    assert file.read_text() == "keep me"


@pytest.mark.parametrize(
    ("name", "file", "arguments"),
    [
        ("exact", "old.mps", ("--mps", "old.mps")),
        ("exact", "old.efg", ("--efg", "old.efg")),
        ("course teams", "old.csv", ("mine", "--tokens", "old.csv")),
    ],
)
def test_a_command_without_force_does_not_speak_of_it(run, name, file, arguments):
    if name.startswith("course"):
        pytest.importorskip("sqlalchemy")
        assert run("extreme open")[0] == 0
    Path(file).write_text("keep me")
    code, out, err = run(name, *arguments)
    assert (code, out) == (1, "") and err.endswith(f"Cannot write {file}: it exists already; name another file.\n")
    assert Path(file).read_text() == "keep me"


@pytest.mark.parametrize(
    ("name", "read", "arguments"),
    [
        ("lab best-response", "mine.zip", ("mine.zip", "--output", "./mine.zip")),
        ("lab best-response", "order.zip", ("mine.zip", "--infosets", "order.zip", "--output", "order.zip")),
        (
            "lab export",
            "out/player1-infosets.txt",
            ("run", "--infosets1", "out/player1-infosets.txt", "--output", "out"),
        ),
        ("extreme match", "bot.py", ("random", "bot.py", "--log", "bot.py")),
        ("lab train-patterns", "policies/one", ("--against", "policies", "--output", "policies/one")),
        ("course backup", "course/settings.yaml", ("course/settings.yaml",)),
    ],
)
def test_no_command_overwrites_its_inputs(run, name, read, arguments):
    if name == "course backup":
        pytest.importorskip("sqlalchemy")
        assert run("extreme open")[0] == 0
    file = Path(read)
    file.parent.mkdir(exist_ok=True)
    if not file.exists():
        assert run("lab infosets", "--player", int("1" in read), "--output", file)[0] == 0
    before = file.read_bytes()
    for force in ((), ("--force",)):
        code, _, err = run(name, *arguments, *force)
        assert code == 1 and READS in err, err
    assert file.read_bytes() == before


def test_directories_of_results_contain_nothing_else(tmp_path):
    from pttt_ooc.other_games.arena.games.base import ArenaError
    from pttt_ooc.other_games.arena.matches import runner
    from pttt_ooc.other_games.arena.matches.settings import Match
    from pttt_ooc.other_games.extreme import tournament
    from pttt_ooc.other_games.extreme.bot_process import Conditions
    from pttt_ooc.other_games.extreme.league import Stage
    from pttt_ooc.other_games.extreme.walls import ExtremeError
    from pttt_ooc.other_games.smbc.settings import SolveSettings
    from pttt_ooc.other_games.smbc.solve import solve

    write_manifest(tmp_path / "solve.json", "solve", result={"nashconv": 0.1})
    (tmp_path / "games.jsonl").write_text("mine\n")
    (tmp_path / "marks.csv").write_text("mine\n")
    before = {file.name: file.read_bytes() for file in tmp_path.iterdir()}
    with pytest.raises(StoreError, match="holds a solution of something else"):
        solve(SolveSettings(), tmp_path, 1)
    with pytest.raises(ArenaError, match=r"holds games.jsonl of something else"):
        runner.run(Match("mnk:3x3+need3", ("random", "random"), 1), tmp_path, 1)
    entries = [tournament.Entry(f"t{n}", f"T{n}", f"t{n}.py", b"", 3) for n in range(2)]
    with pytest.raises(ExtremeError, match=r"holds marks.csv of something else"):
        tournament.settle(tmp_path, entries, tournament.TournamentSettings((Stage("final", 1, 1, 1),), 0, Conditions()))
    (tmp_path / "lock").unlink()
    assert {file.name: file.read_bytes() for file in tmp_path.iterdir()} == before


@pytest.mark.slow
def test_force_replaces_a_file(run):
    Path("reply.zip").write_text("old")
    done = run("lab best-response", "mine.zip", "--output", "reply.zip", "--force", "--json")
    assert json.loads(done[1])["player"] == 1
    assert run("validate", "reply.zip", "--player", 1)[0] == 0
    assert run("lab export", "run", "--output", "files")[0] == 0
    assert "player0-infosets.txt: it exists already" in run("lab export", "run", "--output", "files")[2]
    assert run("lab export", "run", "--output", "files", "--force")[0] == 0
