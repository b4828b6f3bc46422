"""All commands of `pttt course`, as JSON, in help and without the extra; what `pttt submit` says of its own."""

import json
import sys

import pytest
import typer

from pttt_ooc.cli.commands import app, main
from pttt_ooc.course.data.models import Fact
from pttt_ooc.extras import EXTRAS
from pttt_ooc.site.service import processes
from tests.course.server_kit import VALUE, pttt, strategy_zip
from tests.course.term_kit import upload

COURSE = """
assignments:
- name: strategies
  kind: strategies
  due: 2126-02-25 23:55
  choice: pick
  rule: {kind: baseline, figure: player0, points: 100}
  rubric: [{name: viva, points: 10}]
"""


GROUPS = typer.main.get_command(app).commands
KNOWN = GROUPS["course"].commands


def runs(directory, number, other):
    """Arguments of each command, in an order in which they can be run; `number` is of an accepted strategy."""
    team, assignment = "Team A", "strategies"
    roster, file = directory / "roster.csv", directory / "course.yaml"
    roster.write_text("team,name,email\nTeam A,Bo,bo@example.org\nTeam C,Cy,cy@example.org\n")
    file.write_text(COURSE)
    for player in (0, 1):
        (directory / f"house{player}.zip").write_bytes(strategy_zip(player, 7))
    return [
        ["init", "--name", "Ada", "--email", "ada@example.org"],
        ["staff", "Alan", "alan@example.org"],
        ["staff"],
        ["staff", "--remove", "alan@example.org"],
        ["teams", roster],
        ["teams"],
        ["add-team", "Team X"],
        ["rotate-token", "Team X"],
        ["remove-team", "Team X", "--yes"],
        ["list-teams"],
        ["apply", file, "--dry-run"],
        ["apply", file],
        ["assignments"],
        ["file"],
        ["mark", team, assignment, "viva", 7],
        ["adjust", team, assignment, "--points=-3", "--reason", "late"],
        ["extend", team, assignment, "2127-01-01 12:00", "--reason", "ill"],
        ["pick", team, assignment, number],
        ["open", number],
        ["close", number],
        ["release", assignment],
        ["grades"],
        ["history", team, assignment],
        ["announce", "The viva", "--text", "Room 3"],
        ["deliveries"],
        ["invite", "--team", team],
        ["invite", "--revoke", 1],
        ["link", "bo@example.org"],
        ["submissions", "--kind", "strategies"],
        ["rejudge", number, "--dry-run"],
        ["rejudge", number],
        ["rejudgements"],
        ["rule", "strategies", other, "hidden", "--reason", "why"],
        ["disqualify", team, assignment, "--reason", "why"],
        ["similar"],
        ["house", directory / "house0.zip", directory / "house1.zip"],
        ["download", assignment, "-o", directory / "all.zip"],
        ["publish", directory / "public"],
        ["log"],
        ["doctor"],
        ["kit", directory / "kit.zip"],
        ["backup", directory / "copy.tar"],
        ["restore", directory / "copy.tar"],
    ]


@pytest.mark.slow
def test_every_command_prints_json(lab, tmp_path, monkeypatch):
    lab.baseline()
    lab.team("Team A")
    number, other = upload(lab, "Team A", 0, 1), upload(lab, "Team A", 1, 2)
    with lab.database.writing() as session:
        session.merge(Fact(name="value", value=[*VALUE, "as it was"]))
    told = {}
    for name, *arguments in runs(tmp_path, number, other):
        data = tmp_path / "restored" if name == "restore" else lab.data
        done = pttt("course", name, *arguments, "--json", "--data", data)
        assert done.returncode == (name == "doctor"), done  # it has something to say
        told[name, *map(str, arguments)] = json.loads(done.stdout)
    assert {name for name, *_ in told} == set(KNOWN) - {"serve"}
    assert told["mark", "Team A", "strategies", "viva", "7"]["grades"] == [
        {"team": "Team A", "assignment": "strategies", "points": pytest.approx(7, abs=100)}
    ]
    assert told["file",]["assignments"][0]["rubric"] == [{"name": "viva", "points": 10.0}]
    assert [one["name"] for one in told["list-teams",]] == ["Team A", "Team C", "Uniform"]
    assert told["add-team", "Team X"]["token"] != told["rotate-token", "Team X"]["token"]
    assert told["release", "strategies"] == {"assignment": "strategies", "released": True}
    assert told["invite", "--team", "Team A"]["link"].startswith("/account/join#")

    monkeypatch.setattr(processes, "look_after", lambda *_: None)
    monkeypatch.setattr(processes, "handle_signals", lambda stopping: None)
    monkeypatch.setattr(processes, "start_logging", lambda name: None)
    done = pttt("course", "serve", "--json", "--port", 0, "--data", lab.data)
    assert done.returncode == 0 and json.loads(done.stdout)["address"].startswith("http://127.0.0.1:"), done


def test_each_command_is_shown_once_with_an_example():
    for name, command in KNOWN.items():
        assert {"--json", "--data"} <= {option for one in command.params for option in one.opts}, name
        assert command.epilog.startswith(f"Example: pttt course {name}"), name
    told = pttt("course", "--help").stdout
    assert [told.count(f"\n  {name} ") for name in KNOWN] == [1] * len(KNOWN)
    assert "Example: PTTT_TOKEN=... pttt submit " in pttt("submit", "--help").stdout


def test_the_former_name_is_the_same_group(lab):
    lab.team("Team A")
    told = pttt("grader", "list-teams", "--data", lab.data)
    assert told.stdout == pttt("course", "list-teams", "--data", lab.data).stdout and "now `pttt course`" in told.stderr


# ---------------------------------------------------------------------------------------------
# Without the extra


def test_without_the_extra_no_command_does_anything(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("subprocess.Popen", lambda *a, **o: pytest.fail("a process was started"))
    tried = [("course", *arguments) for arguments in runs(tmp_path, 1, 2)]
    before = set(tmp_path.iterdir())
    monkeypatch.setitem(sys.modules, "sqlalchemy", None)
    for command in (*tried, ("course", "serve", "--game", "mini-2x2k2-abrupt", "--port", 0)):
        done = pttt(*command)
        assert (done.returncode, done.stdout) == (1, "") and done.stderr.count("\n") == 1, done
        assert " needs sqlalchemy, which is not installed; install with: " in done.stderr
    assert set(tmp_path.iterdir()) == before


def submit(capsys, file, server):
    file.write_bytes(b"x")
    with pytest.raises(SystemExit) as end:
        main(["submit", str(file), "--player", "0", "--token", "x", "--server", server])
    told = capsys.readouterr()
    assert (end.value.code, told.out) == (1, "") and told.err.count("\n") == 1
    return told.err


def test_submitting_needs_no_extra(capsys, monkeypatch, tmp_path):
    for name in EXTRAS["course"]:
        monkeypatch.setitem(sys.modules, name, None)
    assert "cannot be reached" in submit(capsys, tmp_path / "mine.zip", "http://127.0.0.1:1")


@pytest.mark.parametrize(
    "url", ["", "http://[", "http://x:99999999", "http://x:y", "ftp://x", "http://a b", "http://x\n"]
)
def test_an_address_that_is_none(capsys, tmp_path, url):
    assert "is not the address of a course" in submit(capsys, tmp_path / "mine.zip", url)
