"""A course's league beside its course: handing in, verdicts, whose bot it is, the tournament, and a whole course."""

import io
import json
import os
import re
import sqlite3
import subprocess
import sys
import tarfile
import threading
import zipfile
from contextlib import closing, nullcontext

import pytest

from pttt_ooc.course.bots import league, processes, worker
from pttt_ooc.course.bots.league import LeagueSettings
from pttt_ooc.course.bots.opponents import TeamOpponents
from pttt_ooc.course.bots.submissions import MISSING, UNCHECKED, Bot, Bots
from pttt_ooc.course.data import limits
from pttt_ooc.course.data.settings import read_settings
from pttt_ooc.course.server.app import create_app
from pttt_ooc.course.server.bot_parts import parts_of, play_parts
from pttt_ooc.errors import PtttError
from pttt_ooc.other_games.extreme import bot_process, bot_programs
from pttt_ooc.other_games.extreme.tournament_record import Record
from pttt_ooc.other_games.extreme.walled_process import MachineError
from pttt_ooc.other_games.extreme.walls import ExtremeError
from tests.course.league_kit import BAD, GOOD, OLD, LeagueCourse, now
from tests.course.server_kit import GAME, ROOT, bearer, form_token, pttt
from tests.kits.patience import PATIENCE, wait_until
from tests.other_games.extreme.bot_games_kit import answering


@pytest.fixture
def course(tmp_path):
    made = LeagueCourse(tmp_path / "course")
    yield made
    made.close()


# ---------------------------------------------------------------------------------------------
# Games of people


def begun(browser):
    """The own bot in a browser's list, and the answer to the form that begins a game against it."""
    page = browser.get("/extreme/play").text
    form = {"form_token": form_token(page), "opponent": "own", "first": "x"}
    return re.findall(r'<option value="own">([^<]+)', page), browser.post("/extreme/play", data=form), form


@pytest.mark.slow
def test_a_team_plays_against_its_own_latest_bot_and_nobody_else_does(course):
    course.hand_in("Team A", GOOD)
    assert course.hand_in("Team A", BAD)["status"] == "Rejected"  # it does not take the place of the accepted one
    opened = course.lab.course
    with answering(TeamOpponents(course.league, course.bots)) as (address, _):
        course.app = create_app(opened, *parts_of(opened), *play_parts(opened, address))
        with course.browser("Team A") as own, course.browser("Team B") as other, course.browser() as nobody:
            told, answer, form = begun(own)
            assert told == ["your team&#39;s bot 1, team7.py"] and answer.status_code == 303
            place = answer.headers["location"]
            wait_until(lambda: "Your move" in own.get(place).text)
            assert own.post(place, data={**form, "ply": "0", "typed": "(0, 4, 4)"}).status_code == 303
            late = own.post(place, data={**form, "ply": "0", "typed": "(0, 0, 0)"})
            assert late.status_code == 409 and "Move 1 of this game has been made already" in late.text
            assert "This is the game as it is now." in late.text and 'id="table"' in late.text
            wait_until(lambda: "Last move: ○" in own.get(place).text)
            for browser, code in ((other, 404), (nobody, 401)):
                assert [browser.get(place + more).status_code for more in ("", "/log")] == [code] * 2
            told, answer, _ = begun(other)
            assert told == [] and answer.status_code == 400
            assert "Sign in" in nobody.get("/extreme/play").text


def test_no_games_of_people_if_the_settings_say_so(course):
    names = [one.name for one in processes.pages(course.lab.data)]
    course.restarted(games=0)
    assert names == ["league", "bot games"] and [one.name for one in processes.pages(course.lab.data)] == ["league"]


# ---------------------------------------------------------------------------------------------
# Verdicts


@pytest.mark.slow
def test_a_bot_that_plays_is_accepted(course):
    told = course.hand_in("Team A", GOOD)
    assert (told["status"], told["message"], told["python"][:2]) == ("Accepted", "", "3.")
    assert told["moves"] == 20 and told["slowest"] > 0 and "secret 4711" in told["printed"]
    page = course.browser("Team A").get(f"/extreme/bots/{told['number']}").text
    assert "It plays." in page and f"It played {told['moves']} moves" in page and "secret 4711" in page


@pytest.mark.slow
def test_a_bot_of_python_2_is_told_what_was_converted(course, monkeypatch):
    monkeypatch.setattr("pttt_ooc.other_games.extreme.bot_programs.python2", lambda: None)
    told = course.hand_in("Team A", OLD)
    assert (told["status"], told["python"]) == ("Accepted", "converted")
    assert "-        print 'old'" in told["changes"] and "+        print('old')" in told["changes"]
    page = course.browser("Team A").get(f"/extreme/bots/{told['number']}").text
    assert "2, converted to 3" in page and "print(&#39;old&#39;)" in page


def test_the_traceback_of_a_bot_that_fails_is_text(course):
    told = course.hand_in("Team A", BAD)
    assert (told["status"], told["message"]) == ("Rejected", "THREW AN EXCEPTION")
    assert "ValueError" in told["detail"] and told["detail"].splitlines()[1] == '  File "team7.py", line 4, in move'
    page = course.browser("Team A").get(f"/extreme/bots/{told['number']}").text
    assert "It does not play: THREW AN EXCEPTION" in page
    assert "<script>alert(" not in page and "&lt;script&gt;alert(" in page


@pytest.mark.slow
def test_a_setting_says_the_version_of_all_bots(course):
    course.restarted(python=3)
    told = course.hand_in("Team A", OLD)
    assert (told["status"], told["message"]) == ("Rejected", "NO PROGRAM IN PYTHON") and "as Python 3" in told["detail"]
    course.restarted(python="2")
    assert "One file of Python 2, such" in course.browser("Team B").get("/extreme/hand-in").text
    told = course.hand_in("Team B", GOOD)
    assert told["status"] == "Accepted" and told["moves"] == 20 and told["why"] == "all bots are taken as Python 2"


@pytest.mark.slow
def test_the_formal_rules_warn_or_refuse(course):
    text = b"DEPTH = 3\n" + GOOD
    told = course.hand_in("Team A", text)
    assert told["status"] == "Accepted" and told["breaches"].startswith("Line 1: a statement is outside")
    page = course.browser("Team A").get(f"/extreme/bots/{told['number']}").text
    assert "Formal rules that it breaks" in page and "Line 1: a statement is outside" in page
    assert "the formal rules is refused" not in course.browser("Team A").get("/extreme/hand-in").text
    course.restarted(strict=True)
    assert "the formal rules is refused" in course.browser("Team A").get("/extreme/hand-in").text
    told = course.hand_in("Team A", text + b"#")
    assert (told["status"], told["message"]) == ("Rejected", "BREAKS THE FORMAL RULES")
    assert told["detail"] == told["breaches"] and told["detail"].startswith("Line 1:")
    assert course.hand_in("Team B", GOOD)["status"] == "Accepted"


@pytest.mark.long
def test_a_course_allows_libraries(course):
    text = b"import scipy, random\n" + GOOD
    told = course.hand_in("Team A", text)
    assert (told["status"], told["breaches"].partition(";")[0]) == ("Accepted", "Line 1: scipy is not allowed")
    assert "Python’s own, numpy, pandas, sklearn." in course.browser("Team A").get("/extreme/hand-in").text
    course.restarted(strict=True, libraries=("networkx", "scipy"))
    page = course.browser("Team A").get("/extreme/hand-in").text
    assert "sklearn, networkx, scipy." in page
    assert " --library networkx --library scipy --strict</code> makes the same check" in page
    told = course.hand_in("Team A", text + b"#")
    assert (told["status"], told["breaches"]) == ("Accepted", "")
    told = course.hand_in("Team B", text.replace(b"scipy", b"zarr"))
    assert told["message"] == "BREAKS THE FORMAL RULES"
    assert told["detail"].endswith(
        "zarr is not allowed; allowed are Python's own libraries, numpy, pandas, sklearn, networkx and scipy."
    )


@pytest.mark.slow
def test_the_version_of_the_verdict_is_that_of_the_tournament(course, monkeypatch):
    """It is not guessed anew."""
    course.hand_in("Team A", GOOD)
    course.hand_in("Team B", OLD)
    monkeypatch.setattr("pttt_ooc.other_games.extreme.bot_version.trial_games", None)
    assert [entry.python for entry in course.worker._entries()] == [3, 2]


@pytest.mark.slow
def test_a_database_of_an_older_release_gets_the_new_columns(course):
    told = course.hand_in("Team A", GOOD)
    course.bots.close()
    with closing(sqlite3.connect(course.league.database)) as database:
        for name in ("warnings", "breaches"):
            database.execute(f"ALTER TABLE bots DROP COLUMN {name}")
    course.bots = Bots(course.league)
    found = course.bots.find(told["number"], rows(course)[told["number"]].team_id)
    assert (found.warnings, found.breaches, found.status) == ("", "", "Accepted")


@pytest.mark.slow_but_one
@pytest.mark.parametrize(
    ("content", "sentence"),
    [(b"def (:\n", "is no program in Python"), (b"\0", "holds the character 0"), (b"x = 1\n", "has no classes")],
)
def test_what_is_no_bot_is_told_so(course, content, sentence):
    told = course.hand_in("Team A", content)
    assert told["status"] == "Rejected" and sentence in told["detail"]


def test_the_file_is_stored_as_it_was(course):
    content = b"# \xe4\xf6\r\nclass Team7:\r\n\tdef move(s, b, o, f):\r\n\t\treturn 1\r\n"
    number = course.post("Team A", content).json()["number"]
    answer = course.browser("Team A").get(f"/extreme/bots/{number}/file")
    assert answer.content == content and answer.headers["content-type"].startswith("text/plain")
    assert answer.headers["content-disposition"] == 'attachment; filename="team7.py"'
    assert not list(course.lab.storage.incoming.iterdir()) and not list(course.lab.storage.uploads.iterdir())


def told_of(course, number, team="Team A"):
    return course.browser().get(f"/api/extreme/bots/{number}", headers=bearer(course.tokens[team])).json()


def rows(course):
    """The rows of the bots, by number."""
    with course.bots.database.reading() as session:
        return {bot.id: bot for bot in session.query(Bot)}


def failing(monkeypatch, error):
    """Let each check raise an error."""

    def die(self, bot, content):
        raise error

    monkeypatch.setattr(worker.Worker, "_verdict", die)


def test_a_check_that_takes_the_worker_down_ends(course, monkeypatch):
    number = course.post("Team A", GOOD).json()["number"]
    failing(monkeypatch, KeyboardInterrupt)
    for _ in range(3):
        with pytest.raises(KeyboardInterrupt):
            course.worker.check_next()
    assert not course.worker.check_next()
    told = told_of(course, number)
    assert told["status"] == "Rejected" and "could not check" in told["message"].lower()


def test_a_check_during_which_the_worker_is_killed_is_begun_again_three_times(course):
    number = course.post("Team A", GOOD).json()["number"]
    for _ in range(3):
        assert course.bots.claim()[0].id == number and course.bots.claim({number}) is None
    assert course.bots.claim() is None and told_of(course, number)["message"] == "THE SERVER COULD NOT CHECK IT"


def test_an_error_that_nobody_expects_is_a_verdict_and_a_line_in_the_log(course, monkeypatch, caplog):
    number = course.post("Team A", GOOD).json()["number"]
    failing(monkeypatch, RecursionError("4711"))
    assert course.worker.check_next() and not course.worker.check_next()
    told = told_of(course, number)
    assert (told["status"], told["message"]) == ("Rejected", "THE SERVER COULD NOT CHECK IT")
    assert f"the number {number}" in told["detail"] and "4711" not in told["detail"]
    assert "a check failed" in caplog.text and "RecursionError: 4711" in caplog.text


def test_a_machine_that_breaks_off_the_checks_of_a_bot_does_not_do_so_for_ever(course, monkeypatch):
    """It is no forfeit, and others are checked meanwhile."""
    number, other = (course.post(team, GOOD).json()["number"] for team in ("Team A", "Team B"))
    failing(monkeypatch, MachineError("killed"))
    for _ in range(6):
        with pytest.raises(MachineError):
            course.worker.check_next()
    assert not course.worker.check_next()
    assert told_of(course, number)["message"] == told_of(course, other, "Team B")["message"] == UNCHECKED


def test_what_is_nested_too_deeply_is_no_program(course, monkeypatch):
    monkeypatch.setattr(bot_programs, "READING_SECONDS", 0.5)
    told = course.hand_in("Team A", b"x=" + b"-" * 200_000)
    assert (told["status"], told["message"]) == ("Rejected", "NO PROGRAM IN PYTHON"), told["detail"]


def test_the_teams_take_turns(course):
    """A team has one check at a time, and who was served last waits longest."""
    course.restarted(waiting_per_team=9)
    first, second, third = (course.post("Team A", GOOD + b"#" * n).json()["number"] for n in range(3))
    other, another = (course.post("Team B", GOOD + b"#" * n).json()["number"] for n in range(2))
    bots = rows(course)
    assert sorted(bots, key=lambda number: course.bots.place(bots[number])) == [first, other, second, another, third]
    assert course.bots.claim()[0].id == first and course.bots.claim({first})[0].id == other
    assert course.bots.claim({first, other}) is None
    course.bots.queue.update(first, status="Accepted")
    assert course.bots.claim({other})[0].id == second and course.bots.claim({other, second}) is None
    course.bots.queue.update(second, status="Accepted")
    course.bots.queue.update(other, status="Accepted")
    assert course.bots.place(bots[third]) == 0  # the other team had its verdict after this one's
    assert course.bots.claim()[0].id == third and course.bots.claim({third})[0].id == another


@pytest.mark.slow
def test_a_worker_checks_all_that_comes_and_stops_when_it_is_told(course, monkeypatch):
    """Its checks under way are broken off, and count for nothing."""
    begun, checks = threading.Event(), threading.Event()

    def verdict(self, bot, content):
        if b"slow" in content:
            begun.set()
            checks.wait(PATIENCE)
        return {"status": "Accepted", "message": ""}

    monkeypatch.setattr(worker.Worker, "_verdict", verdict)
    slow, quick = (course.post(*one).json()["number"] for one in (("Team A", GOOD + b"# slow"), ("Team B", GOOD)))
    monkeypatch.setattr(worker, "cores_with_memory", lambda memory_mb: [0, 1])
    monkeypatch.setattr(worker, "taken_core", lambda *_: nullcontext(0))
    work = threading.Thread(target=course.worker.work)
    work.start()
    wait_until(lambda: told_of(course, quick, "Team B")["status"] == "Accepted", alive=work.is_alive)
    assert begun.wait(PATIENCE)
    course.stopping.set()
    work.join(PATIENCE)
    assert not work.is_alive() and told_of(course, slow)["status"] == "Queued"
    assert rows(course)[slow].attempts == 0
    checks.set()


@pytest.mark.slow
@pytest.mark.parametrize("change", [(b"class", b"# coding: undefined\nclass"), (b"<script>", b"\\ud800 \\0 <script>")])
def test_odd_texts_get_a_verdict_as_others_do(course, change):
    told = course.hand_in("Team A", BAD.replace(*change))
    assert (told["status"], told["message"]) == ("Rejected", "THREW AN EXCEPTION") and "4711" in told["detail"]
    assert course.browser("Team A").get(f"/extreme/bots/{told['number']}").status_code == 200


def test_a_machine_that_cannot_run_bots_rejects_none(course, monkeypatch):
    def refuse(*_):
        raise ExtremeError("No process can be made.")

    number = course.post("Team A", GOOD).json()["number"]
    monkeypatch.setattr(worker.bot_check, "check", refuse)
    monkeypatch.setattr(worker, "can_play", lambda conditions, stopping: False)
    for _ in range(5):
        with pytest.raises(ExtremeError):
            course.worker.check_next()
    monkeypatch.undo()
    assert course.worker.check_next()
    told = course.browser().get(f"/api/extreme/bots/{number}", headers=bearer(course.tokens["Team A"])).json()
    assert told["status"] == "Accepted"


@pytest.mark.slow
def test_why_nothing_is_checked_is_told(course):
    number = course.post("Team A", GOOD).json()["number"]
    browser = course.browser("Team A")
    assert "is not running; tell the instructors" in browser.get(f"/extreme/bots/{number}").text
    course.pulse.wait_for("there are no walls.")
    assert "No bots can be checked at the moment: there are no walls." in browser.get(f"/extreme/bots/{number}").text
    course.restarted(begins=now(-1))
    page = course.browser("Team A").get("/extreme/hand-in").text
    assert "Nothing is played at the moment: there are no walls." in page
    course.league.alive.unlink()
    assert "process that plays it is not running" in course.browser("Team A").get("/extreme/hand-in").text


# ---------------------------------------------------------------------------------------------
# Whose bot it is, and limits


@pytest.mark.slow
def test_nobody_sees_a_bot_of_another_team(course):
    number = course.hand_in("Team A", GOOD)["number"]
    addresses = [f"/extreme/bots/{number}", f"/extreme/bots/{number}/file", f"/extreme/parts/bots/{number}"]
    missing = course.browser("Team B").get("/extreme/bots/999").text.replace("999", str(number))
    for name in (None, "Team B"):
        for address in addresses:
            answer = course.browser(name).get(address)
            assert answer.status_code == 404 and "secret 4711" not in answer.text
    assert course.browser("Team B").get(addresses[0]).text == missing or "There is no bot" in missing
    assert f"/extreme/bots/{number}" not in course.browser("Team B").get("/extreme/hand-in").text
    answer = course.browser().get(f"/api/extreme/bots/{number}", headers=bearer(course.tokens["Team B"]))
    assert answer.status_code == 404
    assert course.browser().get("/api/extreme/bots", headers=bearer(course.tokens["Team B"])).json() == []
    assert course.browser().get("/api/extreme/bots").status_code == 401


def test_handing_in_needs_the_teams_own_form(course):
    files = {"file": ("team7.py", GOOD)}
    assert course.browser().post("/extreme/bots", files=files).status_code == 401
    team = course.browser("Team A")
    assert team.post("/extreme/bots", files=files).status_code == 403
    form = {"form_token": form_token(team.get("/extreme/hand-in").text)}
    foreign = {"origin": "http://elsewhere"}
    assert team.post("/extreme/bots", data=form, files=files, headers=foreign).status_code == 403
    answer = team.post("/extreme/bots", data=form, files=files)
    assert answer.status_code == 303 and answer.headers["location"].startswith("/extreme/bots/")
    assert "It waits" in team.get(answer.headers["location"]).text


@pytest.mark.slow_but_one
@pytest.mark.parametrize("name", ["team7.txt", "..py", "team 7.py", "t\u00e9am.py", "", "a" * 70 + ".py", "7.py"])
def test_a_file_of_another_name_is_refused(course, name):
    assert course.post("Team A", GOOD, name).status_code == 400


def test_a_path_in_the_name_names_nothing(course):
    assert course.post("Team A", GOOD, "../../etc/team9.py").json()["file"] == "team9.py"


def test_a_file_that_is_too_large_is_refused(course):
    largest = course.league.settings.largest_bytes
    page = course.browser("Team A").get("/extreme/hand-in").text
    assert f"at most {course.league.settings.largest_kb} kB" in page
    assert course.post("Team A", b"#" * (largest + 1)).status_code == 413
    assert course.post("Team A", b"#" * largest).status_code == 201


def test_a_team_may_not_hand_in_too_much(course):
    course.post("Team A", GOOD)
    assert course.post("Team A", GOOD).status_code == 200  # the very same file
    course.post("Team A", OLD)
    answer = course.post("Team A", BAD)
    assert answer.status_code == 429 and "wait for a verdict" in answer.json()["error"]
    assert course.post("Team B", GOOD).status_code == 201
    course.restarted(bots_per_hour=2, waiting_per_team=9)
    answer = course.post("Team A", BAD)
    assert answer.status_code == 429 and "within an hour" in answer.json()["error"]
    assert 3000 < int(answer.headers["retry-after"]) <= 3601


def test_where_one_bot_may_wait_one_may_be_handed_in(course):
    course.restarted(waiting_per_team=1)
    assert [course.post("Team A", content).status_code for content in (GOOD, OLD)] == [201, 429]


def test_a_full_disk_is_told(course, monkeypatch):
    monkeypatch.setattr(limits, "RESERVE", 1 << 62)
    assert course.post("Team A", GOOD).status_code == 507


# ---------------------------------------------------------------------------------------------
# The tournament


@pytest.mark.slow
def test_a_module_that_is_missing_is_the_servers_fault(course, monkeypatch):
    monkeypatch.setattr(bot_process, "find_spec", lambda name: None)
    lacking = GOOD.replace(b"return", b"raise ImportError(\"No module named 'pandas'\")\n        return")
    assert lacking != GOOD
    first = course.hand_in("Team A", lacking)
    assert (first["status"], first["message"]) == ("Rejected", MISSING)
    assert "install with" in first["detail"] and "not the bot's fault" in first["detail"]
    monkeypatch.undo()
    again = course.hand_in("Team A", lacking)
    assert again["message"] == "THREW AN EXCEPTION"


@pytest.mark.slow
def test_a_bot_is_tried_where_the_teams_former_bot_failed(course):
    """Another team's bot is not; with the bot, its positions are forgotten."""
    first = course.hand_in("Team A", BAD)
    assert first["status"] == "Rejected" and first["trials"] == []
    repaired = course.hand_in("Team A", GOOD)
    assert repaired["status"] == "Accepted" and len(repaired["trials"]) == 2
    assert all("forfeited, THREW AN EXCEPTION: it plays" in trial for trial in repaired["trials"])
    assert course.hand_in("Team B", GOOD)["trials"] == []
    page = course.browser("Team A").get(f"/extreme/bots/{repaired['number']}").text
    assert "Positions that were hard before" in page and page.count("it plays, in") == 2


@pytest.mark.slow
def test_the_latest_accepted_bots_play_when_the_tournament_begins(course):
    other = GOOD.replace(b"[0]", b"[-1]")
    course.hand_in("Team A", GOOD)
    course.hand_in("Team A", other)
    course.hand_in("Team A", BAD)
    course.hand_in("Team B", GOOD, "team12.py")
    public = course.browser()
    assert "has not begun" in public.get("/extreme/standings").text
    course.restarted(begins=now(-1))
    answer = course.post("Team A", OLD)
    assert answer.status_code == 409 and "has begun" in answer.json()["error"]
    page = course.browser("Team A").get("/extreme/hand-in").text
    assert "too late to hand in a bot" in page and "<code>team7.py</code> plays for you" in page
    course.worker.play()
    record = Record(course.league.tournament)
    keys = sorted(record.teams)
    assert [record.teams[key].name for key in keys] == ["Team A", "Team B"]
    assert record.bot(keys[0]).read_bytes() == other and record.teams[keys[1]].file == "team12.py"
    public, one = course.browser(), course.browser("Team A")
    page = public.get("/extreme/standings").text
    assert "All 2 matches have been played" in page and "Team A" in page
    assert "The best of each pool is named; 10 marks" in page and page.count('<span class="badge">named</span>') == 1
    name = public.get("/api/extreme/matches").json()[0]["match"]
    mine = keys.index(name.split("-")[2])
    told = public.get(f"/api/extreme/matches/{name}").json()
    assert told["printed"] == ["", ""] and "secret 4711" not in public.get(f"/extreme/matches/{name}").text
    told = one.get(f"/api/extreme/matches/{name}").json()
    assert "4711" in told["printed"][mine] and not told["printed"][1 - mine]
    assert one.get(f"/extreme/matches/{name}").text.count("What the bot of") == 1
    by_token = public.get(f"/api/extreme/matches/{name}", headers=bearer(course.tokens["Team B"])).json()
    assert "4711" in by_token["printed"][1 - mine] and not by_token["printed"][mine]
    with zipfile.ZipFile(io.BytesIO(one.get("/extreme/matches.zip").content)) as archive:
        assert json.loads(archive.read(f"{name}.json"))["printed"] == told["printed"]


@pytest.mark.slow
def test_a_tournament_goes_on_with_the_bots_with_which_it_began(course):
    for name in ("Team A", "Team B"):
        course.hand_in(name, GOOD)
    course.restarted(begins=now(-1))
    course.stopping.set()
    course.worker.play()
    record = Record(course.league.tournament)
    assert len(record.state().played) == 0
    course.stopping.clear()
    course.bots.queue.update(1, status="Rejected")
    course.lab.team("Team C")
    course.worker.play()
    assert len(record.state().played) == 2


@pytest.mark.slow
def test_a_tournament_without_enough_teams_says_so(course):
    course.hand_in("Team A", GOOD)
    course.restarted(begins=now(-1))
    with pytest.raises(ExtremeError, match="1 teams cannot play"):
        course.worker.play()


@pytest.mark.slow
def test_a_damaged_tournament_is_not_begun_again(course):
    for name in ("Team A", "Team B"):
        course.hand_in(name, GOOD)
    course.restarted(begins=now(-1))
    course.worker.play()
    (course.league.tournament / "tournament.json").write_text("{")
    with pytest.raises(ExtremeError):
        course.worker.play()
    assert (course.league.tournament / "tournament.json").read_text() == "{"


# ---------------------------------------------------------------------------------------------
# Settings and commands


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("begins: 2027-02-25 23:55:00", "a time with its zone"),
        ("pools: [2]", "the last stage is one pool"),
        ("pools: [2, 1]", "a number for each stage"),
        ("python: 4", "must be one of 2, 3, guess"),
        ("memory_mb: 10", "greater than or equal to 64"),
        ("time_limit: 0", "greater than or equal to"),
        ("timelimit: 3", "did you mean time_limit?"),
        ("largest_kb: 2000", "less than or equal to 1024"),
        ("libraries: [scipy, scikit-learn]", "the name by which programs import the library, such as networkx"),
    ],
)
def test_wrong_settings_are_a_sentence(course, text, sentence):
    (course.lab.data / "extreme.yaml").write_text(text)
    with pytest.raises(PtttError, match=re.escape(sentence)):
        league.is_there(course.lab.data)


def test_wrong_settings_keep_the_course_from_starting(course):
    (course.lab.data / "extreme.yaml").write_text("pools: [2]")
    done = pttt("course", "serve", "--data", course.lab.data, "--port", "0")
    assert done.returncode == 1 and "the last stage is one pool" in done.stderr and "Traceback" not in done.stderr


def test_a_league_is_opened_once_and_read_as_written(course):
    done = pttt("extreme", "open", "--data", course.lab.data)
    assert done.returncode == 1 and "is there already" in done.stderr
    (course.lab.data / "extreme.yaml").unlink()
    scipy = ("--library", "scipy")
    assert pttt("extreme", "open", "--data", course.lab.data, "--seed", "9", "--python", "2", *scipy).returncode == 0
    assert league.read_settings(course.lab.data) == LeagueSettings(seed=9, python="2", libraries=["scipy"])


def test_opening_a_league_makes_the_course_that_is_missing(tmp_path):
    data = tmp_path / "course"
    assert pttt("extreme", "open", "--data", data, "--game", GAME).returncode == 0
    assert league.is_there(data) and read_settings(data).game == GAME
    assert data.stat().st_mode & 0o077 == 0
    assert pttt("course", "add-team", "Team A", "--data", data).returncode == 0
    (data / "extreme.yaml").unlink()
    done = pttt("extreme", "open", "--data", data, "--game", "pttt-abrupt")
    assert done.returncode == 1 and f"is for {GAME}" in done.stderr and not (data / "extreme.yaml").exists()


def test_a_league_that_is_closed_is_none(course):
    course.restarted(open=False)
    assert not league.is_there(course.lab.data)


def test_a_copy_of_the_course_has_the_bots(course, tmp_path):
    course.hand_in("Team A", GOOD)
    file = tmp_path / "copy.tar"
    assert pttt("course", "backup", file, "--data", course.lab.data).returncode == 0
    with tarfile.open(file) as archive:
        content = archive.extractfile("others/extreme.sqlite").read()
    (tmp_path / "copied.sqlite").write_bytes(content)
    with sqlite3.connect(tmp_path / "copied.sqlite") as database:
        assert database.execute("SELECT content FROM bots").fetchall() == [(GOOD,)]


def test_only_the_owner_can_read_what_was_handed_in(course):
    course.post("Team A", GOOD)
    files = [file for file in course.lab.data.glob("extreme.sqlite*")]
    assert files and all(file.stat().st_mode & 0o077 == 0 for file in files)


@pytest.mark.slow
def test_the_web_process_imports_no_numerics_and_nothing_that_runs_bots(tmp_path):
    script = """
import sys
from pathlib import Path
from fastapi.testclient import TestClient
from pttt_ooc.course.server.bot_parts import parts_of
from pttt_ooc.course.bots.league import LeagueSettings, open_league
from pttt_ooc.course.people import teams
from pttt_ooc.course.server.app import create_app
from pttt_ooc.course.pages.context import Course
from pttt_ooc.course.data.settings import make_settings
data = Path(sys.argv[1])
make_settings(data)
open_league(data, LeagueSettings())
course = Course.open(data)
client = TestClient(create_app(course, *parts_of(course)))
token = {"Authorization": "Bearer " + teams.add_team(course.database, "Team A")}
answer = client.post("/api/extreme/bots", headers=token, files={"file": ("team8.py", b"class Team8: pass")})
assert answer.status_code == 201, answer.text
assert client.get("/extreme/practice").status_code == 200
bots = "pttt_ooc.other_games.extreme"
heavy = ("numpy", "numba", "zarr", "scipy", f"{bots}.match", f"{bots}.bot_process")
print([name for name in heavy if name in sys.modules])
"""
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", script, str(tmp_path / "course")]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=PATIENCE)
    assert done.stdout.strip() == "[]", done.stdout + done.stderr
