"""The pages of a term: rights cell by cell, what teams see, and the desk."""

import io
import re
import xml.etree.ElementTree as ElementTree
import zipfile

import pytest

from pttt_ooc.course.data.agents_tables import Agent
from pttt_ooc.course.data.models import Submission, Team
from pttt_ooc.course.data.term_tables import Announcement, Assignment, LogLine, Mark, Pair, Person, Rejudgement, Report
from pttt_ooc.course.grades.decisions import Desk
from pttt_ooc.course.pages import account_pages, agent_pages, certificate_pages, desk_pages, game_pages, openid_pages
from pttt_ooc.course.pages import term_pages as pages
from pttt_ooc.course.people.invitations import link_to_sign_in
from pttt_ooc.course.people.people import add_staff, find_person
from pttt_ooc.course.people.rights import RIGHTS
from tests.course.games_kit import OTHER, SecondGame
from tests.course.server_kit import bearer, pttt, random_tensor, zip_bytes
from tests.course.term_kit import DAY, HOUR, browser, change, form_of, hand_in, set_zone, soon, team_number, upload

RULE = {
    "kind": "thresholds",
    "figure": "player0",
    "steps": [{"at_most": 0.5, "points": 40}, {"at_most": 2, "points": 10}],
}
ROUTERS = [r for module in (pages, agent_pages, game_pages) for r in (module.router, module.programs)]
ROUTERS += [certificate_pages.game_router, certificate_pages.game_programs]
ROUTERS += [desk_pages.router, account_pages.router, openid_pages.router]
WHO = ("nobody", "student", "team", "assistant", "instructor")


@pytest.fixture
def term(lab):
    """A course with two teams and two people with rights."""
    for name in ("Team A", "Team B"):
        lab.team(name)
    change(
        lab,
        title="Phantom",
        due_at=soon(DAY),
        closes_at=soon(3 * DAY),
        rule=RULE,
        rubric=[{"name": "viva", "points": 10}],
        late_percent=10.0,
        late_days=2,
    )
    set_zone(lab, "Europe/Rome", late_days=3)
    with lab.database.writing() as session:
        lab.tokens["assistant"] = add_staff(session, "Alan", "alan@example.org", "assistant")
        lab.tokens["instructor"] = add_staff(session, "Ada", "ada@example.org", "instructor")
        session.add(Person(key="s@x.org", email="s@x.org", name="Sue", role="student", created_at=0.0))
        session.flush()
        lab.link = link_to_sign_in(session, "Ada", find_person(session, "s@x.org"))
        row = {"title": "Report", "kind": "report", "position": 1, "choice": "last"}
        session.add(Assignment(name="report", rubric=[{"name": "text", "points": 30}], **row))
        game = {"settings": {"game": OTHER}, "choice": "best", "rubric": []}
        session.add(Assignment(name="small", title="Small", kind="strategies", position=3, **game))
        session.add(Assignment(name="agents", title="Agents", kind="agents", position=2, choice="best", rubric=[]))
    lab.tokens["team"], lab.logged = lab.tokens["Team A"], 0
    lab.report = hand_in(lab, "team", b"%PDF-1.7").json()["id"]
    return lab


def test_the_table_of_rights_has_every_address_of_the_pages():
    addresses = {(method, r.path) for router in ROUTERS for r in router.routes for method in r.methods}
    assert addresses == set(RIGHTS)


ACCOUNT = {"sign-in": 401, "join": 400, "password": 400, "team": 400, "invite": 200, "revoke": 400}
ACCOUNT |= {"leave": 403, "token": 403}  # for persons, not for a team's token
"""What the empty forms of an account lead to, for who may send them."""

FORMS = {
    "/course/desk/rejudge": {"dry_run": "yes", "which": "all"},
    "/course/desk/rule": {"kind": "report", "submission": "1", "ruling": "withdrawn", "reason": "why"},
    "/course/desk/disqualify": {"team": "Team B", "assignment": "strategies", "reason": "why"},
    "/course/desk/mark": {"team": "Team A", "assignment": "strategies", "criterion": "viva", "points": "3"},
    "/course/desk/adjust": {"team": "Team A", "assignment": "strategies", "points": "-1", "reason": "why"},
    "/course/desk/extend": {"team": "Team A", "assignment": "strategies", "until": "2126-01-01 10:00", "reason": "ill"},
    "/course/desk/release": {"assignment": "strategies", "hide": "no"},
    "/course/desk/announce": {"title": "Hello", "text": "World"},
}


def number_of(session):
    return session.query(Team).filter_by(name="Team A").one().id


@pytest.mark.slow
def test_every_cell_of_the_table_of_rights(term):
    term.both = [upload(term, "Team A", player, 1) for player in (0, 1)]
    with term.database.writing() as session:
        pair = {"first_id": term.both[0], "second_id": term.both[1], "value": None, "made_at": 1.0}
        session.add(Pair(team_id=number_of(session), **pair))
        session.add(Rejudgement(at=1.0, by="x", dry_run=False, numbers=[1], verdicts=[], grades=[]))
    term.agent = hand_in(term, "team", b"def choose(legal, state): pass", "mine.py", to="agents/agents").json()[
        "number"
    ]
    second = SecondGame(term)
    term.strategy = second.post("team", 0, 1).json()["id"]
    second.kit()
    assistant, instructor = {"mark"}, {"mark", "adjust", "extend", "release", "announce"}
    decided = {"assistant": assistant, "instructor": instructor | {"rejudge, dry run", "withdrawn", "disqualify"}}
    for who in WHO:
        before = counted(term, second)
        ask_everywhere(term, who)
        made = [now - then for now, then in zip(counted(term, second), before, strict=True)]
        # Strategies of the further game, marks, strategies, agents: of each at most what this reader may make.
        assert made == [2 * (who == "team"), who in decided, 0, 2 * (who == "team")], who
        with term.database.writing() as session:
            lines = session.query(LogLine).filter(LogLine.what.not_in(("link", "use")), LogLine.id > term.logged).all()
            assert {line.what for line in lines} == decided.get(who, set()), who
            term.logged = max([term.logged, *(line.id for line in lines)])
    second.close()


def counted(lab, second):
    with second.course.database.reading() as game, lab.database.reading() as session:
        return [game.query(Submission).count(), *(session.query(one).count() for one in (Mark, Submission, Agent))]


def ask_everywhere(term, who):
    """Ask for each address of the table, and compare the answer with it."""
    client, number = browser(term, who), team_number(term, "Team A")
    headers = bearer(term.tokens[who]) if who in term.tokens else {}
    token = form_of(client)
    for (method, address), allowed in RIGHTS.items():
        asks = "nobody" if who == "student" and address.startswith("/api/") else who  # programs use a team's token
        path = address.replace("{game}", OTHER)
        sent = headers if path.startswith("/api/") else {}
        good = 303 if method == "POST" and "/api/" not in path else 200
        if address.startswith("/account/") and method == "POST":
            answer = client.post(address, data={"form_token": token})
            good = 403 if (who, address) == ("team", "/account/password") else ACCOUNT[address.rpartition("/")[2]]
        elif "/openid" in address:  # for everybody, but not set in this course; a way back needs a way there
            answer, good = client.get(address), 400 if address.endswith("/callback") else 404
        elif "/games/" in address:
            path = path.replace("{number}", str(term.strategy))
            if "certificate" in address or address.endswith("/play"):
                answer = client.request(method, path, data={"form_token": token}, headers=sent)
                # The team has a strategy of one player only, which is not judged, so that it may be closed.
                good = 303 if address.endswith("/play") else 200 if address.endswith("/part") else 409
            elif method == "POST":
                content = zip_bytes(random_tensor(0, len(who + address), game=OTHER))
                form = {"form_token": (None, token), "player": (None, "0"), "file": ("x.zip", content)}
                answer, good = client.post(path, files=form, headers=sent), 201 if path.startswith("/api") else 303
            else:
                answer = client.get(path, headers=sent)
        else:
            is_agent, both = "/agents/" in address, {"first": term.both[0], "second": term.both[1]}
            of = {"/course/reports/{number}": term.report, "/course/desk/teams/{number}": number}.get(address, 1)
            path = path.replace("{number}", str(term.agent if is_agent else of))
            path = path.replace("{name}", "agents" if is_agent else "report")
            if address.endswith(("/reports/{name}", "/agents/{name}")) and method == "POST":
                content = f"# {who} {address}" if is_agent else f"%PDF-1.7 {who}"
                form = {"form_token": (None, token), "file": ("r.py" if is_agent else "r.pdf", content.encode())}
                answer = client.post(path, files=form, headers=sent)
                answer.status_code = 200 if answer.status_code == 201 else answer.status_code
            elif method == "POST" and address.endswith(("/pairs", "/picks/{name}")):
                fields = (
                    both if address.endswith("/pairs") else {} if path.startswith("/course") else {"submission": None}
                )
                kind = {"json": fields} if path.startswith("/api/") else {"data": {"form_token": token, **fields}}
                answer = client.post(path, headers=sent, **kind)
            elif method == "POST":
                answer = client.post(path, data={"form_token": token, **FORMS[path]})
            else:
                answer = client.get(path, headers=sent)
            good = 409 if address.endswith("/picks/{name}") else good  # the last one counts there
            good = 404 if address == "/course/desk/bots/{number}" else good  # there is no league
        expected = good if asks in allowed else 401 if asks == "nobody" else 403
        assert answer.status_code == expected, (who, method, path, answer.text)


@pytest.mark.slow_but_one
@pytest.mark.parametrize("path", sorted(FORMS))
def test_forms_of_other_sites_change_nothing(term, path):
    client = browser(term, "instructor")
    assert client.post(path, data={"form_token": "x", **FORMS[path]}).status_code == 403
    foreign = {"form_token": form_of(client), **FORMS[path]}
    assert client.post(path, data=foreign, headers={"Sec-Fetch-Site": "cross-site"}).status_code == 403
    with term.database.reading() as session:
        assert not session.query(LogLine).filter(LogLine.what != "link").count()


def test_a_team_sees_what_is_due_and_what_counts(term):
    number = upload(term, "Team A", 0, 1)
    page = browser(term, "team").get("/course").text
    assert "Phantom" in page and re.search('due in <strong data-until="[0-9]+">23 h', page) and "Europe/Rome" in page
    assert (
        f'<a href="/submissions/{number}">player 0: no. {number}</a>' in page
        and "exploitability of player 0: 0.4764" in page
    )
    assert "Your team has <strong>3</strong> left" in page and "not released yet" in page
    public = browser(term, "nobody").get("/course").text
    assert "Phantom" in public and "exploitability of player 0: 0.4764" not in public and "Your points" not in public


def test_points_and_comments_are_seen_after_the_release_and_by_the_team_only(term):
    upload(term, "Team A", 0, 1)
    desk = browser(term, "instructor")
    token = form_of(desk)
    form = {**FORMS["/course/desk/mark"], "comment": "<b>Well</b> done"}
    desk.post("/course/desk/mark", data={"form_token": token, **form})
    desk.post("/course/desk/adjust", data={"form_token": token, **FORMS["/course/desk/adjust"]})
    secret = ("42", "Well", "why")
    page = browser(term, "team").get("/course").text
    api = term.client.get("/api/course/grades", headers=bearer(term.tokens["team"])).json()
    assert not any(f">{word}<" in page for word in secret) and "Well" not in page
    assert "points" not in api["assignments"][0]["grade"] and api["assignments"][0]["grade"]["figures"]
    desk.post("/course/desk/release", data={"form_token": token, **FORMS["/course/desk/release"]})
    page = browser(term, "team").get("/course").text
    assert "<strong>42</strong> of 50" in page and "&lt;b&gt;Well&lt;/b&gt; done" in page and "-1: why" in page
    api = term.client.get("/api/course/grades", headers=bearer(term.tokens["team"])).json()
    assert api["assignments"][0]["grade"]["points"] == 42
    term.tokens["other"] = term.tokens["Team B"]
    assert "Well" not in browser(term, "other").get("/course").text
    assert "Well" not in browser(term, "nobody").get("/course").text


@pytest.mark.slow
def test_an_extension_shows_on_the_teams_page(term):
    change(term, due_at=soon(-HOUR), closes_at=None)
    assert "Closed" in browser(term, "team").get("/course").text
    desk = browser(term, "instructor")
    desk.post("/course/desk/extend", data={"form_token": form_of(desk), **FORMS["/course/desk/extend"]})
    page = browser(term, "team").get("/course").text
    assert "(your extension)" in page and "Closed" not in page
    assert "Closed" in browser(term, "nobody").get("/course").text


@pytest.mark.slow
def test_the_desk_finds_teams_and_tells_what_needs_attention(term):
    upload(term, "Team A", 0, 1)
    desk = browser(term, "assistant")
    page = desk.get("/course/desk").text
    assert "No worker judges submissions" in page and "Team A" in page and "Team B" in page
    assert "Announce" not in page and "Release" not in page
    page = desk.get("/course/desk?search=TEAM+b").text
    assert "Team A" not in page and "Team B" in page
    assert "No team is found" in desk.get("/course/desk?search=%3Cx%3E").text
    page = desk.get(f"/course/desk/teams/{team_number(term, 'Team A')}").text
    assert "verdict on submission" in page and "Adjust" not in page and "Mark" in page
    assert desk.get("/course/desk/teams/1").status_code == desk.get("/course/desk/teams/99").status_code == 404
    file = desk.get("/course/desk/grades?format=csv")
    assert file.text.startswith("team,assignment") and "attachment" in file.headers["content-disposition"]
    assert desk.get("/course/desk/grades?format=exe").status_code == 400


@pytest.mark.slow_but_one
@pytest.mark.parametrize(
    "path, fields, words",
    [
        ("mark", {"points": "many"}, "is no number"),
        ("mark", {"points": "11"}, "viva has 0 to 10 points"),
        ("mark", {"points": "nan"}, "viva has 0 to 10 points"),
        ("adjust", {"reason": ""}, "A reason is missing"),
        ("extend", {"until": "soon"}, "is not a time"),
        ("announce", {"title": " "}, "has a title"),
        ("release", {"assignment": "x"}, "no assignment"),
    ],
)
def test_forms_with_a_mistake_tell_it(term, path, fields, words):
    desk = browser(term, "instructor")
    answer = desk.post(
        f"/course/desk/{path}", data={"form_token": form_of(desk), **FORMS[f"/course/desk/{path}"], **fields}
    )
    assert answer.status_code == 400 and words in answer.text
    with term.database.reading() as session:
        assert not session.query(LogLine).filter(LogLine.what != "link").count()


def test_controls_are_in_no_text_and_break_no_feed(term):
    """Also not those that a course already has, from an older version or in its title."""
    desk, names = browser(term, "instructor"), {"a": "http://www.w3.org/2005/Atom"}
    for odd in ("\0", "\x07", "\x1b[31m", "\x9f", "\ufffe"):
        for place in ("title", "text"):
            form = {"form_token": form_of(desk), "title": "A", "text": "B", place: f"x{odd}y"}
            refused = desk.post("/course/desk/announce", data=form)
            assert refused.status_code == 400 and "which cannot be shown" in refused.text
        assert hand_in(term, "team", b"%PDF-odd", comment=f"x{odd}y").status_code == 400
        with term.database.writing() as session:
            session.add(Announcement(at=1.0, by="Ada", title=f"Older{odd}", text=f"😀 ü\u200d{odd}\n<b>"))
        feed = ElementTree.fromstring(browser(term, "nobody").get("/course/announcements.atom").content)
        assert feed.findtext("a:entry/a:title", None, names) == "Older" + odd[:1].replace(odd[0], "\ufffd") + odd[1:]
        assert feed.findtext("a:entry/a:content", None, names).startswith("😀 ü\u200d\ufffd")


def test_announcements_are_a_feed(term):
    desk = browser(term, "instructor")
    hostile = {"title": "A <b>& title</b>", "text": "First\n]]><x/>\nlast"}
    desk.post("/course/desk/announce", data={"form_token": form_of(desk), **hostile})
    answer = browser(term, "nobody").get("/course/announcements.atom")
    assert answer.headers["content-type"].startswith("application/atom+xml")
    feed, names = ElementTree.fromstring(answer.text), {"a": "http://www.w3.org/2005/Atom"}
    assert feed.findtext("a:entry/a:title", None, names) == hostile["title"]
    assert feed.findtext("a:entry/a:content", None, names) == hostile["text"]
    assert "&lt;b&gt;&amp; title" in browser(term, "nobody").get("/course").text
    with term.database.writing() as session:
        session.query(Announcement).one().withdrawn_at = 1.0
    assert "title</b>" not in browser(term, "nobody").get("/course/announcements.atom").text


def test_a_plain_course_has_a_course_page(lab):
    lab.team("Team A")
    page = lab.client.get("/course").text
    assert "Strategies" in page and "Your points" not in page
    assert lab.client.get("/api/course").json()["assignments"][0]["state"] == "open"
    with lab.database.writing() as session:
        session.delete(session.query(Assignment).one())
    assert "There are no assignments yet" in lab.client.get("/course").text


# ---------------------------------------------------------------------------------------------
# Reports


def zipped(files):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name in files:
            archive.writestr(zipfile.ZipInfo(name), "x")  # always of the same date
    return out.getvalue()


@pytest.mark.slow_but_one
@pytest.mark.parametrize(
    "content, status",
    [
        (b"%PDF-1.4 a report", "Accepted"),
        (zipped(["report.pdf", "train.py"]), "Accepted"),
        (zipped([]), "Rejected"),
        (b"a text", "Rejected"),
        (zipped(["a"])[:-5], "Rejected"),
        (b"x", "Rejected"),
    ],
    ids=["pdf", "zip", "empty", "text", "cut", "letter"],
)
def test_a_report_is_checked_at_once(term, content, status):
    answer = hand_in(term, "Team B", content, seconds="5400", link="https://example.org/run", comment="As agreed.")
    assert (answer.status_code, answer.json()["status"]) == (201, status)
    again = hand_in(term, "Team B", content)
    assert (again.status_code, again.json()["id"]) == (200, answer.json()["id"])
    page = browser(term, "assistant").get(f"/course/desk/teams/{team_number(term, 'Team B')}").text
    assert "running time 5400 s" in page and "https://example.org/run" in page and "As agreed." in page


@pytest.mark.slow_but_one
@pytest.mark.parametrize(
    "fields, words",
    [
        ({"seconds": "long"}, "The field seconds"),
        ({"seconds": "-1"}, "The field seconds"),
        ({"seconds": "nan"}, "The field seconds"),
        ({"link": "javascript:alert(1)"}, "The field link"),
        ({"link": "https://a b"}, "The field link"),
        ({"comment": "x" * 2001}, "The field comment"),
    ],
)
def test_a_report_with_a_wrong_field_is_refused(term, fields, words):
    answer = hand_in(term, "Team B", b"%PDF-1.4", **fields)
    assert answer.status_code == 400 and words in answer.json()["error"]
    assert len(list(term.storage.uploads.iterdir())) == 1 and not list(term.storage.incoming.iterdir())


@pytest.mark.slow
def test_reports_have_dates_limits_and_owners(term, tmp_path):
    answer = browser(term, "team").get(f"/course/reports/{term.report}")
    assert answer.content == b"%PDF-1.7" and "attachment" in answer.headers["content-disposition"]
    term.tokens["other"] = term.tokens["Team B"]
    assert browser(term, "other").get(f"/course/reports/{term.report}").status_code == 404
    assert browser(term, "assistant").get(f"/course/reports/{term.report}").status_code == 200
    change(term, "report", largest_mb=0.001)
    assert hand_in(term, "team", b"%PDF-" + bytes(2000)).status_code == 413
    change(term, "report", due_at=soon(-HOUR))
    assert "had to begin by" in hand_in(term, "team", b"%PDF-2").json()["error"]
    wrong = term.client.post(
        "/api/course/reports/strategies", headers=bearer(term.tokens["team"]), files={"file": b"x"}
    )
    assert wrong.status_code == 404 and "takes no reports, but strategies" in wrong.json()["error"]
    change(term, "report", due_at=None)
    hostile = hand_in(term, "team", b"%PDF-3", name='../../x"<b>.pdf').json()
    disposition = browser(term, "team").get(f"/course/reports/{hostile['id']}").headers["content-disposition"]
    assert "/" not in disposition and "<" not in disposition


@pytest.mark.slow
def test_reports_are_graded_copied_and_removed_with_their_team(term, tmp_path):
    with term.database.writing() as session:
        Desk(session, term.data, "Ada").mark("Team A", "report", "text", 25, "Fine.")
    copied = pttt("course", "backup", tmp_path / "c.tar", "--data", term.data)
    assert copied.returncode == 0, copied
    assert pttt("course", "restore", tmp_path / "c.tar", "--data", tmp_path / "again").returncode == 0
    files = [file.read_bytes() for file in (tmp_path / "again" / "uploads").iterdir()]
    assert files == [b"%PDF-1.7"]
    table = pttt("course", "grades", "--assignment", "report", "--data", tmp_path / "again").stdout.splitlines()
    assert table[1].startswith("Team A,report,25,30,0,25,0,1,0,,1")
    with term.database.writing() as session:
        session.get(Report, term.report).digest = "0" * 64
    assert "report 1 has changed" in pttt("course", "backup", tmp_path / "d.tar", "--data", term.data).stderr
    assert pttt("course", "remove-team", "Team A", "--yes", "--data", term.data).returncode == 0
    assert not list(term.storage.uploads.iterdir())
