"""Threats that `docs/lab/threats.md` lists: what no other test shows, and that all the tests that it names exist."""

import csv
import io
import logging
import re
import shutil
import socket
import tarfile
import time
from contextlib import suppress
from itertools import product
from pathlib import Path
from xml.etree import ElementTree

import pytest

from pttt_ooc.course.data.database import Database
from pttt_ooc.course.data.rules import Formula
from pttt_ooc.course.data.term_tables import Assignment
from pttt_ooc.course.grades.decisions import Desk
from pttt_ooc.course.pages.publication import publish
from pttt_ooc.course.people.people import apply_roster, read_roster
from pttt_ooc.errors import CourseError
from tests.course.server_kit import GAME, ROOT, Lab, bearer, copied, form_token, pttt, rewritten, strategy_zip

HOSTILE = "<script>alert(4711)</script> & \"x\" 'y' ]]>"
THREATS = (ROOT / "docs" / "lab" / "threats.md").read_text(encoding="utf-8")


def test_the_tests_of_the_page_exist():
    for module, test in re.findall(r"`(test_[a-z0-9_]+)::(test_[a-z0-9_]+)`", THREATS):
        (file,) = (ROOT / "tests").rglob(f"{module}.py")
        assert re.search(rf"^(async )?def {test}\(", file.read_text(encoding="utf-8"), re.MULTILINE), (module, test)


def test_every_threat_has_a_measure_and_a_test():
    rows = [line.split("|")[1:-1] for line in THREATS.partition("## Threats")[2].splitlines() if line.startswith("|")]
    rows = [row for row in rows if row[0].strip() not in ("threat", "---")]
    assert len(rows) > 25 and all(len(row) == 3 and row[1].strip() and "::" in row[2] for row in rows)


# ---------------------------------------------------------------------------------------------
# What can be learned


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """A course with a team of two students, an assignment for reports, and an announcement."""
    lab = Lab(tmp_path_factory.mktemp("built") / "course")
    lab.baseline()
    roster = "team,name,email\nTeam A,Grace Hopper,grace@example.org\nTeam A,Emmy Noether,emmy@example.org\n"
    with lab.database.writing() as session:
        lab.tokens |= dict(apply_roster(session, read_roster(roster, "roster")).tokens)
        plain = {"kind": "report", "choice": "last", "rubric": [{"name": "text", "points": 10}], "rule": None}
        session.add(Assignment(name="report", title=HOSTILE, position=1, **plain))
        session.flush()
        Desk(session, lab.data, "Ada").announce(HOSTILE, HOSTILE)
    lab.verdict(lab.tokens["Team A"], 0, strategy_zip(0, 1))
    lab.close()
    return lab


@pytest.fixture
def populated(built, tmp_path):
    """A copy of the course for each test."""
    lab = copied(built, tmp_path / "course")
    yield lab
    lab.close()


PUBLIC = (
    "/",
    "/matrix",
    "/submissions",
    "/submissions/3",
    "/teams/2",
    "/course",
    "/course/announcements.atom",
    "/about",
)
PUBLIC += (
    "/api/course",
    "/api/leaderboard",
    "/api/matrix",
    "/api/submissions",
    "/api/history",
    "/metrics",
    "/api/docs",
)


def test_public_addresses_name_no_student(populated, tmp_path):
    texts = [populated.client.get(path) for path in PUBLIC]
    assert [answer.status_code for answer in texts] == [200] * len(PUBLIC)
    with populated.database.reading() as session:
        files = publish(session, populated.settings, populated.data, tmp_path / "public")
    found = [answer.text for answer in texts] + [file.read_text() for file in files]
    for text in found:
        assert not re.search("grace|hopper|emmy|noether|example.org", text, re.IGNORECASE)


def test_hostile_texts_are_text_everywhere(populated, tmp_path):
    with populated.database.reading() as session:
        (page, *_) = publish(session, populated.settings, populated.data, tmp_path / "public")
    for text in (page.read_text(), populated.client.get("/course").text):
        assert "4711" in text and "<script>alert" not in text
    feed = ElementTree.fromstring(populated.client.get("/course/announcements.atom").text)
    assert HOSTILE in [one.text for one in feed.iter("{http://www.w3.org/2005/Atom}title")]


def test_unknown_and_wrong_tokens_are_answered_alike(populated):
    good = populated.tokens["Team A"]
    wrong = ["99." + good.partition(".")[2], good[:-1] + "!", "p99.x", "1.x", "x"]
    answers = [populated.client.get("/api/course/grades", headers=bearer(token)) for token in wrong]
    assert len({(answer.status_code, answer.text) for answer in answers}) == 1 and answers[0].status_code == 401
    pages = []
    for token in wrong:
        form = {"form_token": form_token(populated.client.get("/sign-in").text), "token": token}
        answer = populated.client.post("/sign-in", data=form)
        pages.append((answer.status_code, re.sub(r'value="[^"]*"', "", answer.text)))
    assert len(set(pages)) == 1


def test_no_secret_is_in_the_log(populated, caplog):
    caplog.set_level(logging.DEBUG)
    token = populated.tokens["Team A"]
    populated.sign_in(token)
    populated.client.get("/api/course/grades", headers=bearer(token))
    populated.client.get("/api/course/grades", headers=bearer(token + "x"))
    populated.verdict(token, 1, strategy_zip(1, 1))
    assert caplog.records and token.partition(".")[2] not in caplog.text
    cookie = next(iter(populated.client.cookies.jar)).value
    assert cookie not in caplog.text


def test_errors_do_not_tell_the_password_of_the_database():
    pytest.importorskip("psycopg")
    with pytest.raises(CourseError) as error:
        Database("postgresql+psycopg://course:geheim@127.0.0.1:1/x?connect_timeout=1", GAME)
    assert "geheim" not in str(error.value) and "127.0.0.1" in str(error.value)


# ---------------------------------------------------------------------------------------------
# Files and texts


def test_a_report_is_never_a_page(populated):
    token = populated.tokens["Team A"]
    populated.sign_in(token)
    for name in ("x.html", "x.svg", "x.pdf"):
        content = f"%PDF-1.7 <html><script>alert({name!r})</script>".encode()
        files = {"file": (name, content, "text/html")}
        answer = populated.client.post("/api/course/reports/report", headers=bearer(token), files=files)
        assert answer.json()["status"] == "Accepted"
        found = populated.client.get(f"/course/reports/{answer.json()['id']}")
        assert found.content == content and found.headers["x-content-type-options"] == "nosniff"
        assert found.headers["content-disposition"].startswith("attachment")
        assert found.headers["content-type"].partition(";")[0] in ("application/pdf", "application/octet-stream")


def test_links_are_not_fetched(populated, monkeypatch):
    def refuse(*arguments):
        raise AssertionError("a connection was opened")

    with socket.create_server(("127.0.0.1", 0)) as inside:
        monkeypatch.setattr(socket.socket, "connect", refuse)
        link = f"http://127.0.0.1:{inside.getsockname()[1]}/metrics"
        files = {"link": (None, link), "file": ("report.pdf", b"%PDF-1.7")}
        token = populated.tokens["Team A"]
        answer = populated.client.post("/api/course/reports/report", headers=bearer(token), files=files)
        assert answer.json()["status"] == "Accepted"
        populated.sign_in(token)
        assert "4711" in populated.client.get("/course").text
        inside.setblocking(False)
        with pytest.raises(BlockingIOError):
            inside.accept()


def test_files_of_tokens_are_csv_whatever_the_names(lab, tmp_path):
    names = ["Team, of two", "=1+1", "Plain"]
    roster = io.StringIO()
    writer = csv.writer(roster)
    writer.writerow(["team", "name", "email"])
    writer.writerows([name, f"Student {n}", f"s{n}@example.org"] for n, name in enumerate(names))
    (tmp_path / "roster.csv").write_text(roster.getvalue())
    done = pttt("course", "teams", tmp_path / "roster.csv", "--tokens", tmp_path / "tokens.csv", "--data", lab.data)
    assert done.returncode == 0, done.stderr
    rows = list(csv.DictReader((tmp_path / "tokens.csv").read_text().splitlines()))
    assert [row["team"] for row in rows] == ["Team, of two", "'=1+1", "Plain"]
    for row in rows:
        assert lab.client.get("/api/course/grades", headers=bearer(row["token"])).status_code == 200


@pytest.mark.parametrize(
    "formula", ["9**9**9**9", "2**1e9", "10**308*10", "(" * 500 + "1" + ")" * 500, "1+" * 5000 + "1"]
)
def test_formulas_take_neither_time_nor_memory(formula):
    begun = time.process_time()
    with suppress(CourseError):
        assert abs(Formula(formula, ()).value({})) < 1e6
    assert time.process_time() - begun < 2


@pytest.mark.parametrize(
    "text",
    [
        "assignments: !!python/object/apply:os.system ['touch x']",
        "timezone: !!python/name:os.system",
        "a: &a [x, x, x, x, x, x, x, x]\nb: &b [*a, *a, *a, *a, *a, *a, *a, *a]\nassignments: [*b, *b, *b]",
    ],
)
def test_course_yaml_is_plain(lab, tmp_path, text):
    (tmp_path / "course.yaml").write_text(text)
    done = pttt("course", "apply", tmp_path / "course.yaml", "--data", lab.data)
    assert done.returncode == 1 and len(done.stderr.splitlines()) == 1 and not list(tmp_path.glob("x")), done


def test_a_copy_writes_nowhere_else(lab, tmp_path):
    """Also not one with the right digests: what is not expected is left alone."""
    good, bad, place = (tmp_path / name for name in ("good.tar", "bad.tar", "deep"))
    assert pttt("course", "backup", good, "--data", lab.data).returncode == 0
    for name, link in product(("../evil.yaml", "extreme/../../evil", "/tmp/evil-4711"), (False, True)):
        evil = tarfile.TarInfo(name)
        evil.type, evil.linkname = (tarfile.SYMTYPE, "/etc/passwd") if link else (tarfile.REGTYPE, "")
        rewritten(good, bad, more=[evil])
        before = set(tmp_path.rglob("*"))
        done = pttt("course", "restore", bad, "--data", place / "again")
        assert done.returncode == link, done
        new = set(tmp_path.rglob("*")) - before
        assert all(file == place or file.is_relative_to(place / "again") for file in new)
        assert not any("evil" in file.name or file.is_symlink() for file in new)
        assert not (tmp_path.parent / "evil").exists() and not list(tmp_path.glob("evil*"))
        assert not Path("/tmp/evil-4711").exists()
        shutil.rmtree(place, ignore_errors=True)
