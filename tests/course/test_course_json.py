"""Every command of `pttt course` has --json, and prints one JSON value then."""

import json

import pytest
import typer

from pttt_ooc.cli.commands import app
from pttt_ooc.course.data.models import Fact
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


def commands():
    """All of the group, with their options."""
    group = typer.main.get_command(app).commands["course"]
    return {name: {option for p in one.params for option in p.opts} for name, one in group.commands.items()}


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
        ["apply", file, "--dry-run"],
        ["apply", file],
        ["assignments"],
        ["file"],
        ["mark", team, assignment, "viva", 7],
        ["adjust", team, assignment, "--points=-3", "--reason", "late"],
        ["extend", team, assignment, "2127-01-01 12:00", "--reason", "ill"],
        ["pick", team, assignment, number],
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
        ["backup", directory / "copy.tar"],
        ["restore", directory / "copy.tar"],
    ]


def test_every_command_prints_json(lab, tmp_path, monkeypatch):
    lab.baseline()
    lab.team("Team A")
    number, other = upload(lab, "Team A", 0, 1), upload(lab, "Team A", 1, 2)
    with lab.database.writing() as session:
        session.merge(Fact(name="value", value=[*VALUE, "as it was"]))
    known = commands()
    assert all("--json" in options for options in known.values()), known
    told = {}
    for name, *arguments in runs(tmp_path, number, other):
        data = tmp_path / "restored" if name == "restore" else lab.data
        done = pttt("course", name, *arguments, "--json", "--data", data)
        assert done.returncode == (name == "doctor"), done  # it has something to say
        told[name, *map(str, arguments)] = json.loads(done.stdout)
    assert {name for name, *_ in told} == set(known) - {"serve"}
    assert told["mark", "Team A", "strategies", "viva", "7"]["grades"] == [
        {"team": "Team A", "assignment": "strategies", "points": pytest.approx(7, abs=100)}
    ]
    assert told["file",]["assignments"][0]["rubric"] == [{"name": "viva", "points": 10.0}]
    assert told["release", "strategies"] == {"assignment": "strategies", "released": True}
    assert told["invite", "--team", "Team A"]["link"].startswith("/account/join#")

    monkeypatch.setattr(processes, "look_after", lambda *_: None)
    monkeypatch.setattr(processes, "handle_signals", lambda stopping: None)
    monkeypatch.setattr(processes, "start_logging", lambda name: None)
    done = pttt("course", "serve", "--json", "--port", 0, "--data", lab.data)
    assert done.returncode == 0 and json.loads(done.stdout)["address"].startswith("http://127.0.0.1:"), done
