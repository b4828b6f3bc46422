"""The course's commands where its extra is not installed: one sentence, and nothing is made."""

import sys

import pytest

from pttt_ooc.cli import commands as cli
from pttt_ooc.extras import EXTRAS

COMMANDS = (
    ("serve", "--game", "mini-2x2k2-abrupt", "--port", "0"),
    ("course", "add-team", "A"),
    ("course", "rotate-token", "A"),
    ("course", "remove-team", "A", "--yes"),
    ("course", "list-teams"),
    ("course", "rejudge", "1"),
    ("course", "open", "1"),
    ("course", "close", "1"),
    ("course", "kit", "kit.zip"),
    ("course", "backup", "copy.tar"),
    ("course", "restore", "copy.tar"),
)


def run(capsys, *arguments):
    with pytest.raises(SystemExit) as end:
        cli.main([*arguments])
    return end.value.code, *capsys.readouterr()


def test_all_commands_are_tried():
    names = {command.name or command.callback.__name__ for command in cli_course_commands()}
    assert {c[1] for c in COMMANDS if c[0] == "course"} == {name.replace("_", "-") for name in names}


def cli_course_commands():
    from pttt_ooc.course.server.commands import course

    return course.registered_commands


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_without_the_extra(capsys, monkeypatch, tmp_path, command):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("subprocess.Popen", lambda *a, **o: pytest.fail("a process was started"))
    monkeypatch.setitem(sys.modules, "sqlalchemy", None)
    code, out, err = run(capsys, *command)
    assert (code, out) == (1, "") and err.count("\n") == 1
    assert " needs sqlalchemy, which is not installed; install with: " in err
    assert list(tmp_path.iterdir()) == []


def test_submitting_needs_no_extra(capsys, monkeypatch, tmp_path):
    for name in EXTRAS["course"]:
        monkeypatch.setitem(sys.modules, name, None)
    file = tmp_path / "mine.zip"
    file.write_bytes(b"x")
    options = ("--player", "0", "--token", "x", "--server")
    code, _, err = run(capsys, "submit", str(file), *options, "http://127.0.0.1:1")
    assert code == 1 and "cannot be reached" in err


@pytest.mark.parametrize(
    "url", ["", "http://[", "http://x:99999999", "http://x:y", "ftp://x", "http://a b", "http://x\n"]
)
def test_an_address_that_is_none(capsys, tmp_path, url):
    file = tmp_path / "mine.zip"
    file.write_bytes(b"x")
    code, out, err = run(capsys, "submit", str(file), "--player", "0", "--token", "x", "--server", url)
    assert (code, out) == (1, "") and err.count("\n") == 1 and "is no address of a course" in err
