"""Practice in a course: checks and the tournament come first, new versions play, who sees what, pages, JSON and CSV."""

import csv
import hashlib
import io
import os
import re
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from dataclasses import replace
from functools import partial

import psutil
import pytest

from pttt_ooc.course.bots import worker
from pttt_ooc.course.bots.league import LeagueSettings
from pttt_ooc.course.bots.practice import NICE, PracticeWork, Seats
from pttt_ooc.course.data.term_tables import Assignment
from pttt_ooc.course.people.people import add_staff
from pttt_ooc.other_games.extreme import practice, walled_process
from pttt_ooc.other_games.extreme.pages import tournament_reader
from pttt_ooc.other_games.extreme.practice_record import PracticeRecord
from pttt_ooc.other_games.extreme.tournament_record import Record
from pttt_ooc.site.service.pulse import Pulse
from tests.course.league_kit import GOOD, LeagueCourse, now
from tests.course.server_kit import ROOT, bearer
from tests.course.term_kit import HOUR
from tests.kits.patience import PATIENCE, wait_until, wait_until_gone
from tests.other_games.extreme.practice_kit import bot, league, write_match

OTHER = GOOD.replace(b"[0]", b"[-1]")
ENDLESS = b"""#!/usr/bin/env python3
class Team7:
    moves = 0
    def move(self, board, old_move, flag):
        self.moves += 1
        while self.moves > 10:
            pass
        return board.find_valid_move_cells(old_move)[0]
"""


@pytest.fixture(autouse=True)
def fresh(monkeypatch):
    monkeypatch.setattr(tournament_reader, "FRESH_SECONDS", 0.0)


@pytest.fixture
def course(tmp_path, monkeypatch):
    """A course whose bots practise, with the random bot as the only one of ours."""
    monkeypatch.setattr(practice, "HOUSE_BOTS", practice.HOUSE_BOTS[:1])
    made = LeagueCourse(tmp_path / "course", practice=True, practice_time_limit=PATIENCE, waiting_per_team=9)
    yield made
    made.close()


@contextmanager
def at_work(course):
    """The worker's loop in a thread."""
    thread = threading.Thread(target=course.worker.work)
    thread.start()
    try:
        yield thread
    finally:
        course.stopping.set()
        thread.join(PATIENCE)
        assert not thread.is_alive()


def practised(course):
    record = PracticeRecord.read(course.league.practice)
    return record.practice_matches() if record else []


def status(course, name, number):
    answer = course.browser().get(f"/api/extreme/bots/{number}", headers=bearer(course.tokens[name]))
    return answer.json()["status"]


# ---------------------------------------------------------------------------------------------
# Seats


def seats(most, over=lambda: False):
    return Seats(most, over)


def test_practice_has_the_seats_that_checks_leave():
    made = seats(2)
    with made.check():
        with made.practice() as first, made.practice() as second:
            assert first is not None and second is None and made.practising == 1
        with made.check(), made.practice() as third:
            assert third is None
    with made.practice() as one, made.practice() as two, made.practice() as three:
        assert None not in (one, two) and three is None
    assert made.practising == 0


def test_a_check_breaks_off_the_latest_practice_match_and_no_more_than_it_must():
    made = seats(3)
    with made.practice() as one, made.practice() as two:
        with made.check():
            assert not one.is_set() and not two.is_set()
            with made.check():
                assert not one.is_set() and two.is_set()
                with made.practice() as late:
                    assert late is None
                with made.check():
                    assert one.is_set()
        with made.practice() as late:  # `one` and `two` have not left yet
            assert late is not None


def test_all_leave_when_practice_is_over():
    over = []
    made = seats(2, lambda: bool(over))
    with made.practice() as one:
        assert not one.is_set()
        over.append(True)
        assert one.is_set()
        with made.practice() as late:
            assert late is None


# ---------------------------------------------------------------------------------------------
# The worker


@pytest.mark.slow
def test_bots_practise_until_the_tournament_begins(course, monkeypatch):
    """A new version plays, its team's former one does not; then the tournament is played, and nothing else."""
    begun = threading.Event()
    monkeypatch.setattr(LeagueSettings, "has_begun", property(lambda self: begun.is_set()))
    for name in ("Team A", "Team B"):
        course.post(name, GOOD)
    with at_work(course) as thread:
        wait_until(lambda: len(practised(course)) >= 2, alive=thread.is_alive)
        number = course.post("Team A", OTHER).json()["number"]
        wait_until(lambda: status(course, "Team A", number) == "Accepted", alive=thread.is_alive)
        digest = hashlib.sha256(OTHER).hexdigest()

        def plays():
            record = PracticeRecord.read(course.league.practice)
            return any(digest in match.digests and record.is_current(match) for match in record.practice_matches())

        wait_until(plays, alive=thread.is_alive)
        begun.set()
        wait_until(
            lambda: (course.league.tournament / "standings.json").exists() and course.worker._over,
            alive=thread.is_alive,
        )
        there = practised(course)
        assert course.worker._seats.practising == 0 and len(Record(course.league.tournament).state().played) == 2
    assert practised(course) == there
    assert not course.league.practising.exists()
    for match in there:
        assert match.time_limit == PATIENCE and match.message in ("WON", "DRAW")


@pytest.mark.slow
def test_a_check_need_not_wait_for_a_practice_match(course, monkeypatch):
    """The only seat is taken by a match that would go on for hours; the bot that was cut off has not forfeited."""
    monkeypatch.setattr(worker, "cores_with_memory", lambda memory_mb: [0])
    course.restarted(practice_time_limit=86400)
    course.post("Team A", ENDLESS)
    with at_work(course) as thread:
        wait_until(lambda: course.worker._seats.practising, alive=thread.is_alive)
        for content in (GOOD, OTHER):
            number = course.post("Team B", content).json()["number"]
            wait_until(lambda n=number: status(course, "Team B", n) == "Accepted", alive=thread.is_alive)
        wait_until(lambda: course.worker._seats.practising, alive=thread.is_alive)
    record = PracticeRecord.read(course.league.practice)
    assert all(one.forfeits == 0 for one in record.teams.values())
    assert not any(match.forfeited_by for match in record.practice_matches())
    assert all(file.suffix == ".json" for file in (course.league.practice / "matches").iterdir())


def process_of(course):
    command = [sys.executable, "-m", "pttt_ooc.course.bots.worker", str(course.lab.data)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, env=environment)


@pytest.mark.long
def test_a_worker_that_is_killed_during_matches_loses_only_these(course):
    """One match would go on for hours; the other team's matches with our bots are played beside it."""
    course.restarted(practice_time_limit=86400)
    course.hand_in("Team A", ENDLESS)
    course.hand_in("Team B", GOOD)
    process = process_of(course)
    try:
        wait_until(partial(names_of, course), alive=partial(runs, process))
        bots = psutil.Process(process.pid).children(recursive=True)
    finally:
        process.kill()
        process.wait()
    for one in bots:
        wait_until_gone(one.pid)
    known = names_of(course)
    record = PracticeRecord.read(course.league.practice)
    assert names_of(course) == known and all(one.forfeits == 0 for one in record.teams.values())
    assert record.teams["t2"].matches == 0 and not record.teams["t2"].paused
    course.league.practising.unlink()
    process = process_of(course)
    wait_until(course.league.practising.exists, alive=partial(runs, process))
    process.terminate()
    assert process.wait(PATIENCE) == 0 and not course.league.practising.exists()


def runs(process):
    return process.poll() is None


def names_of(course):
    return {match.pairing.name for match in practised(course)}


@pytest.mark.slow
def test_practice_has_a_low_priority(course, monkeypatch):
    """Bots inherit the priority of the thread that plays; checks keep theirs."""
    course.post("Team A", GOOD)
    found, launch = set(), walled_process.launch

    def seen(*arguments):
        process = launch(*arguments)
        found.add(os.getpriority(os.PRIO_PROCESS, process.pid))
        return process

    monkeypatch.setattr(walled_process, "launch", seen)
    with at_work(course) as thread:
        wait_until(lambda: practised(course), alive=thread.is_alive)
    own = os.getpriority(os.PRIO_PROCESS, 0)
    assert found == {own, max(own, NICE)}


def test_why_nothing_is_practised_is_told(course):
    browser = course.browser("Team A")
    assert "The process that plays is not running" in browser.get("/extreme/practice").text
    pulse = Pulse(course.league.practising)
    pulse.wait_for("there are <no> walls.")
    assert "Nothing is played at the moment: there are &lt;no&gt; walls." in browser.get("/extreme/practice").text
    pulse.ready()
    page = browser.get("/extreme/practice").text
    assert "not running" not in page and "at the moment" not in page


def test_a_failure_of_practice_does_not_keep_bots_from_being_checked(course, monkeypatch):
    """It is told on the page of practice, and only there."""
    (course.league.practice).mkdir()
    (course.league.practice / "practice.json").write_text("{")
    monkeypatch.setattr(worker.Worker, "_verdict", lambda self, bot, content: {"status": "Accepted", "message": ""})
    number = course.post("Team A", GOOD).json()["number"]
    with at_work(course) as thread:
        wait_until(lambda: status(course, "Team A", number) == "Accepted", alive=thread.is_alive)
        wait_until(
            lambda: course.league.practising.exists() and "cannot be read" in course.league.practising.read_text(),
            alive=thread.is_alive,
        )
        assert course.league.alive.read_text() == ""


def test_without_the_setting_there_is_no_practice(course, monkeypatch):
    course.restarted(practice=False)
    monkeypatch.setattr(worker.Worker, "_verdict", lambda self, bot, content: {"status": "Accepted", "message": ""})
    number = course.post("Team A", GOOD).json()["number"]
    with at_work(course) as thread:
        wait_until(lambda: status(course, "Team A", number) == "Accepted", alive=thread.is_alive)
    assert not course.league.practice.exists() and not course.league.practising.exists()
    assert "practice" not in course.browser("Team A").get("/extreme/hand-in").text


def test_the_time_of_practice_moves_follows_that_of_the_tournament():
    assert LeagueSettings(time_limit=24).practice_limit == 6
    assert LeagueSettings(time_limit=24, practice_time_limit=9).practice_limit == 9


# ---------------------------------------------------------------------------------------------
# Pages


@pytest.fixture
def shown(course):
    """A course with practice matches on disk, of Team A (t2), Team B (t3) and the random bot."""
    directory = course.league.practice
    pairs = [("t2", "random"), ("random", "t2"), ("t3", "t2"), ("t2", "t3"), ("t3", "random")]
    for number, pair in enumerate(pairs, start=1):
        write_match(directory, number, *pair, forfeits=number == 4)
    write_match(directory, 6, "t2", "t3", digests=("0", "1"))
    bots = [bot("t3", name="Team <B>"), bot("t2", name="Team A"), bot("random", name="random", ours=True)]
    course.record = league(directory, bots)
    return course


def test_before_the_tournament_matches_are_those_of_practice(shown):
    browser = shown.browser()
    answer = browser.get("/extreme/matches")
    assert (answer.status_code, answer.headers["location"]) == (307, "/extreme/practice")
    page = browser.get("/extreme/practice").text
    assert "Nothing of it counts for marks" in page and "its time is not known yet" in page
    assert f"<strong>{PATIENCE:g} s</strong> here, and 60 s in the tournament" in page
    assert "Team &lt;B&gt;" in page and "Team <B>" not in page
    places = [page.index(f"/extreme/matches/{match.pairing.name}") for match in shown.record.practice_matches()]
    assert places == sorted(places, reverse=True) and page.count("old version") == 1
    standings = browser.get("/extreme/standings").text
    assert 'Until then there is <a href="/extreme/practice">practice</a>' in standings


def test_a_team_sees_its_own_bot_first(shown):
    for name, key in (("Team A", "t2"), ("Team B", "t3")):
        page = shown.browser(name).get("/extreme/practice").text
        table = page.split('id="ratings"')[1]
        order = [part.split('"')[0] for part in table.split("/extreme/practice?bot=")[1:4]]
        assert order[0] == key and order[1:] == [one for one in shown.record.teams if one != key]
        assert page.count('class="mine"') == 1 and "Your bot’s latest matches" in page
    page = shown.browser().get("/extreme/practice").text
    order = [part.split('"')[0] for part in page.split("/extreme/practice?bot=")[1:4]]
    assert order == [*shown.record.teams] and "Your bot" not in page and 'class="mine"' not in page


def test_ratings_are_sorted_and_searched_and_tell_what_has_changed_in_a_day(shown):
    order, now = [*shown.record.teams.values()], time.time()
    past = [[[now - 25 * HOUR, 100.0 * place], [now - 60, one.points]] for place, one in enumerate(order)]
    league(shown.league.practice, [replace(one, history=was) for one, was in zip(order, past, strict=True)])

    def bots(query=""):
        page = shown.browser().get(f"/extreme/practice{query}").text
        table = page.partition("Table of ratings")[2].partition("</table>")[0]
        return {key: row for row in table.split("<tr") for key in re.findall(r"\?bot=(\w+)", row)}

    rows = bots()
    assert [*rows] == [one.key for one in order]
    for row, change in zip(rows.values(), (", up 2 in 24 hours", "", ", down 2 in 24 hours"), strict=True):
        assert "Ratings over 2 changes" in row and re.findall('"unseen">(.*?)<', row) == [change] * bool(change)
    assert [*bots("?sort=bot")] == sorted(rows, key=lambda key: shown.record.teams[key].name.casefold())
    assert [*bots("?sort=lost")] == sorted(rows, key=lambda key: -shown.record.teams[key].lost)
    assert [*bots("?sort=-rank")] == [*rows][::-1]
    assert [*bots("?sort=-lost")] == sorted(rows, key=lambda key: shown.record.teams[key].lost)
    assert {*bots("?find=TEAM")} == {"t2", "t3"} and [*bots("?sort=nothing")] == [*rows]
    page = shown.browser().get("/extreme/practice?sort=bot&find=nobody").text
    assert "being played" not in page
    Pulse(shown.league.practising).ready()
    assert "being played" in shown.browser().get("/extreme/practice").text
    assert "No bot has “nobody” in its name" in page and "sort=bot&amp;find=nobody&amp;seen" in page


def test_one_bots_matches(shown):
    page = shown.browser().get("/extreme/practice?bot=random").text
    for match in shown.record.practice_matches():
        assert (match.pairing.name in page) == ("random" in (match.pairing.first, match.pairing.second))
    assert shown.browser().get("/extreme/practice?bot=nobody").status_code == 404
    assert shown.browser().get("/extreme/practice?bot=%3Cx").status_code == 422


@pytest.mark.slow
def test_a_practice_match_is_replayed_and_only_its_owner_sees_what_a_bot_printed(shown):
    match = next(match for match in shown.record.practice_matches() if match.forfeited_by)
    name, loser = match.pairing.name, match.forfeited_by
    teams = {"t2": "Team A", "t3": "Team B"}
    page = shown.browser().get(f"/extreme/matches/{name}").text
    assert "which does not count for marks" in page and "of 0.2 s." in page
    assert f'href="/extreme/practice?bot={match.pairing.first}"' in page and "secret" not in page
    told = shown.browser().get(f"/api/extreme/matches/{name}").json()
    assert told["printed"] == ["", ""] and told["detail"] == "" and len(told["moves"]) == 11
    for side, key in enumerate((match.pairing.first, match.pairing.second)):
        own = shown.browser(teams[key])
        told = own.get(f"/api/extreme/matches/{name}").json()
        assert [bool(text) for text in told["printed"]] == [side == 0, side == 1]
        assert bool(told["detail"]) == (key == loser)
        page = own.get(f"/extreme/matches/{name}?ply=3").text
        assert page.count("What the bot of") == 1 and ("Boom" in page) == (key == loser)
    assert "Move 3 of 11" in page
    assert len(rows(shown.browser().get(f"/extreme/matches/{name}/moves.csv").text)) == 11
    for missing in ("practice-99-t2-t3", "practice-1-t3-random", "practice-x", "practice--1-t2-t3"):
        assert shown.browser().get(f"/extreme/matches/{missing}").status_code == 404


def rows(text):
    return list(csv.DictReader(io.StringIO(text)))


def test_practice_is_available_as_json_and_csv(shown):
    browser = shown.browser()
    told = browser.get("/api/extreme/practice").json()
    assert (told["begins"], told["time_limit"], told["practice_limit"], told["kept"]) == (None, 60, 0.2, 2000)
    assert [one["key"] for one in told["bots"]] == [*shown.record.teams]
    for one in told["bots"]:
        known = shown.record.teams[one["key"]]
        assert all(getattr(known, name) == value for name, value in one.items())
        assert "digest" not in one and "file" not in one
    matches = browser.get("/api/extreme/practice/matches").json()
    assert [one["match"] for one in matches] == [match.pairing.name for match in shown.record.practice_matches()]
    assert [one["current"] for one in matches] == [True] * 5 + [False]
    assert [row["key"] for row in rows(browser.get("/extreme/practice.csv").text)] == [*shown.record.teams]
    assert [row["match"] for row in rows(browser.get("/extreme/practice/matches.csv").text)] == [
        one["match"] for one in matches
    ]


def test_the_page_renews_itself_when_there_is_something_new(shown):
    browser = shown.browser()

    def stamp():
        page = browser.get("/extreme/practice").text
        return page.split('hx-get="/extreme/parts/practice?seen=')[1].split('"')[0]

    first = stamp()
    assert browser.get(f"/extreme/parts/practice?seen={first}").status_code == 204
    write_match(shown.league.practice, 7, "t2", "t3")
    assert browser.get(f"/extreme/parts/practice?seen={first}").status_code == 200 and stamp() != first
    second = stamp()
    league(shown.league.practice, [bot("t2", paused="TIME OUT"), bot("t3"), bot("random", ours=True)])
    assert browser.get(f"/extreme/parts/practice?seen={second}").status_code == 200


def test_a_paused_bot_is_told_why(shown):
    league(shown.league.practice, [bot("t2", paused="TIME OUT"), bot("t3")])
    page = shown.browser("Team A").get("/extreme/practice").text
    assert "paused: time out" in page and "until its team hands in a new version" in page


@pytest.mark.slow
def test_where_nobody_has_practised_yet_the_page_says_so(course):
    browser = course.browser("Team A")
    assert browser.get("/extreme/practice").status_code == 200
    assert browser.get("/api/extreme/practice").status_code == 404
    league(course.league.practice, [bot("random", ours=True)])
    assert "the first one begins as soon as a team has an accepted bot" in browser.get("/extreme/practice").text


@pytest.mark.slow
def test_without_practice_the_page_says_when_the_tournament_begins(course):
    begins = now(60)
    course.restarted(practice=False, begins=begins)
    browser = course.browser()
    assert browser.get("/extreme/matches").headers["location"] == "/extreme/practice"
    page = browser.get("/extreme/practice").text
    assert "The tournament begins at" in page and f"{begins:%Y-%m-%dT%H:%M:%SZ}" in page
    assert "There is no practice." in page and "Ratings" not in page
    assert browser.get("/api/extreme/practice").status_code == 404
    assert browser.get("/extreme/matches/practice-1-t2-t3").status_code == 404
    standings = browser.get("/extreme/standings").text
    assert f"{begins:%Y-%m-%dT%H:%M:%SZ}" in standings and "/extreme/practice" not in standings


def test_when_the_tournament_begins_practice_is_over(shown):
    shown.restarted(begins=now(-1))
    page = shown.browser().get("/extreme/practice").text
    assert "The tournament has begun" in page and "hx-get" not in page.split('id="practice"')[1].split(">")[0]
    assert "Practice is over" in page and "Ratings" in page


# ---------------------------------------------------------------------------------------------
# Frozen


def test_practice_is_frozen_for_others_until_it_is_unveiled(shown):
    frozen_at = time.time() - 60
    with shown.lab.database.writing() as session:
        assignment = session.query(Assignment).filter_by(kind="bots").one()
        assignment.frozen_at, assignment.unveiled_at = frozen_at, time.time() + 3600
        shown.tokens["Ada"] = add_staff(session, "Ada", "ada@example.org", "instructor")
    before = shown.browser().get("/api/extreme/practice").json()
    work = PracticeWork(shown.league, shown.bots, shown.lab.database, seats(1))
    work._keep_frozen()
    kept = [file.name for file in (shown.league.frozen_practice(frozen_at) / "matches").iterdir()]
    assert len(kept) == 6
    late = [write_match(shown.league.practice, 7, "t3", "random"), write_match(shown.league.practice, 8, "t2", "t3")]
    league(shown.league.practice, [bot("t3", digest="2"), bot("t2"), bot("random", ours=True)])
    work._keep_frozen()  # nothing new is kept
    assert shown.browser().get("/api/extreme/practice").json() == before
    for name, sees in [(None, []), ("Team A", late[1:]), ("Team B", late), ("Ada", late)]:
        browser = shown.browser(name)
        page = browser.get("/extreme/practice").text
        for match in late:
            assert (f"/extreme/matches/{match}" in page) == (match in sees), (name, match)
            status = 200 if match in sees else 404
            assert browser.get(f"/extreme/matches/{match}").status_code == status
            assert browser.get(f"/extreme/matches/{match}/moves.csv").status_code == status
            assert browser.get(f"/api/extreme/matches/{match}").status_code == status
        assert ("are frozen" in page) == (name != "Ada")
    with shown.lab.database.writing() as session:
        session.query(Assignment).filter_by(kind="bots").one().unveiled_at = time.time() - 1
    assert late[0] in shown.browser().get("/extreme/practice").text
    work._keep_frozen()
    assert not list(shown.lab.data.glob("practice-frozen-*"))
