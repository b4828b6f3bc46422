"""People who sign in: links that can be used once, passwords, teams of students' own making; and what nobody may do."""

import asyncio
import re
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import httpx2
import pytest
from fastapi.testclient import TestClient
from sqlalchemy import select

from pttt_ooc.course.data.assignments import Term, set_term
from pttt_ooc.course.data.term_tables import Invitation, LogLine, Membership, Person
from pttt_ooc.course.people import invitations, openid, passwords
from pttt_ooc.course.people.people import add_staff, apply_roster, end_sessions, find_person, read_roster, team_of
from pttt_ooc.errors import CourseError
from tests.course.server_kit import bearer, form_token, pttt
from tests.kits.browsing import in_browser, pages_of, served

GOOD, OTHER = "correct horse battery", "another long password"


@pytest.fixture
def people(lab):
    """A course with two teams of one student each, teams of at most two, and somebody with rights."""
    with lab.database.writing() as session:
        set_term(session, Term("UTC", 0, team_size=2))
        text = "team,name,email\nTeam A,Ann,ann@example.org\nTeam B,Bob,bob@example.org\n"
        lab.tokens |= dict(apply_roster(session, read_roster(text, "roster")).tokens)
        lab.tokens["staff"] = add_staff(session, "Ada", "ada@example.org", "instructor")
    return lab


def browser(lab, token=None):
    client = TestClient(lab.client.app, base_url="http://course", raise_server_exceptions=False, follow_redirects=False)
    if token:
        form = {"form_token": form_token(client.get("/sign-in").text), "token": token}
        assert client.post("/sign-in", data=form).status_code == 303
    return client


def send(client, path, **fields):
    page = client.get("/account").text
    token = form_token(page if "form_token" in page else client.get("/account/sign-in").text)
    return client.post(path, data={"form_token": token, **fields})


def by_link(lab, email):
    """A browser in which a person has signed in by a link."""
    with lab.database.writing() as session:
        code = invitations.link_to_sign_in(session, "Ada", find_person(session, email))
    client = browser(lab)
    assert send(client, "/account/join", code=code).status_code == 303
    return client


def invited(lab, team):
    """The code of a link into a team, made by one of its members."""
    page = send(browser(lab, lab.tokens[team]), "/account/invite").text
    return re.search(r"http://course/account/join#([\w-]{43})<", page)[1]


def log_of(lab):
    with lab.database.reading() as session:
        return [(line.what, line.by) for line in session.scalars(select(LogLine).order_by(LogLine.id))]


# ---------------------------------------------------------------------------------------------
# Links


def test_a_link_into_a_team_makes_a_member_and_can_be_used_once(people):
    code = invited(people, "Team A")
    new = browser(people)
    answer = send(new, "/account/join", code=code, name="Cleo", email="Cleo@example.org")
    assert answer.status_code == 303 and answer.headers["location"] == "/account"
    page = new.get("/account").text
    assert "Cleo" in page and "Ann, Cleo" in page and "(2 of at most 2)" in page
    assert '<form class="card upload"' in new.get("/submissions").text  # she acts for the team
    again = send(browser(people), "/account/join", code=code, name="Dan", email="dan@example.org")
    assert again.status_code == 400 and "cannot be used" in again.text
    with people.database.reading() as session:
        assert session.query(Person).filter_by(key="dan@example.org").count() == 0
    assert log_of(people)[-3:] == [("link", "team Team A"), ("join", "Cleo@example.org"), ("use", "Cleo@example.org")]


def test_the_database_has_no_code_and_the_address_sends_none(people):
    code = invited(people, "Team A")
    with people.database.reading() as session:
        row = session.query(Invitation).one()
        assert code not in "".join(str(value) for value in vars(row).values()) and len(row.digest) == 64
    answer = browser(people).get("/account/join")
    assert answer.headers["referrer-policy"] == "same-origin" and answer.headers["cache-control"] == "no-store"
    assert browser(people).get(f"/account/join/{code}").status_code == 404  # no address has it before the #


@pytest.mark.slow
@pytest.mark.parametrize("how", ["old", "revoked", "damaged", "empty"])
def test_a_link_that_is_old_or_revoked_or_none_is_refused(people, how, monkeypatch):
    code = invited(people, "Team A")
    if how == "old":
        later = time.time() + 73 * 3600
        monkeypatch.setattr(invitations.time, "time", lambda: later)
    elif how == "revoked":
        own = browser(people, people.tokens["Team A"])
        assert "Revoke link 1" in own.get("/account").text
        assert send(own, "/account/revoke", number="1").status_code == 303
        assert "Revoke link 1" not in own.get("/account").text
        assert send(own, "/account/revoke", number="1").status_code == 400
    else:
        code = code[:-1] if how == "damaged" else ""
    answer = send(browser(people), "/account/join", code=code, name="Cleo", email="cleo@example.org")
    assert answer.status_code == 400
    with people.database.reading() as session:
        assert session.query(Person).filter_by(key="cleo@example.org").count() == 0


@pytest.mark.slow
def test_another_team_cannot_revoke_and_wrong_codes_are_counted(people):
    invited(people, "Team A")
    other = browser(people, people.tokens["Team B"])
    assert send(other, "/account/revoke", number="1").status_code == 400
    assert "Open link" not in other.get("/account").text
    people.client.app.state.shell.wrong_tokens._most = 3
    codes = [send(browser(people), "/account/join", code="x").status_code for _ in range(80)]
    assert codes[0] == 400 and codes[-1] == 429


@pytest.mark.slow
def test_a_full_team_takes_nobody_and_the_link_stays(people):
    first, second = invited(people, "Team A"), invited(people, "Team A")
    assert send(browser(people), "/account/join", code=first, name="C", email="c@example.org").status_code == 303
    answer = send(browser(people), "/account/join", code=second, name="D", email="d@example.org")
    assert answer.status_code == 400 and "at most 2" in answer.text
    with people.database.reading() as session:
        assert session.query(Person).filter_by(key="d@example.org").count() == 0  # nothing of it stays
        assert session.get(Invitation, 2).used_at is None


@pytest.mark.slow
def test_somebody_known_signs_in_first_and_is_in_one_team(people):
    code = invited(people, "Team A")
    answer = send(browser(people), "/account/join", code=code, name="Bob", email="bob@example.org")
    assert answer.status_code == 400 and "sign in first" in answer.text
    bob = by_link(people, "bob@example.org")
    answer = send(bob, "/account/join", code=code)
    assert answer.status_code == 400 and "would have to leave it first" in answer.text
    assert send(bob, "/account/leave").status_code == 303
    assert send(bob, "/account/join", code=code).status_code == 303
    with people.database.reading() as session:
        person = find_person(session, "bob@example.org")
        assert team_of(session, person).name == "Team A"
        trace = session.query(Membership).filter_by(person_id=person.id).order_by(Membership.id).all()
        assert [one.left_at is None for one in trace] == [False, True]
    assert [what for what, by in log_of(people) if by == "bob@example.org"][-3:] == ["leave", "join", "use"]
    staff = browser(people, people.tokens["staff"])
    answer = send(staff, "/account/join", code=invited(people, "Team A"))
    assert answer.status_code == 400 and "Instructors and assistants cannot join a team" in answer.text


@pytest.mark.slow
def test_of_two_who_use_a_link_at_the_same_moment_one_joins(people):
    code = invited(people, "Team A")
    clients = [browser(people) for _ in range(4)]
    codes, start = [], threading.Barrier(4)

    def use(n):
        start.wait()
        codes.append(send(clients[n], "/account/join", code=code, name=f"P{n}", email=f"p{n}@example.org").status_code)

    threads = [threading.Thread(target=use, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(codes) == [303, 400, 400, 400]


# ---------------------------------------------------------------------------------------------
# Teams of students' own making


@pytest.mark.slow
def test_a_student_makes_a_team_and_leaves_it(people):
    with people.database.writing() as session:
        code = invitations.invite(session, "Ada")
    new = browser(people)
    assert send(new, "/account/join", code=code, name="Cleo", email="cleo@example.org").status_code == 303
    page = new.get("/account").text
    assert "You are in no team" in page and "Make the team" in page
    assert new.get("/course").status_code == 200 and new.get("/").status_code == 200
    assert send(new, "/account/team", name="Team A").status_code == 400
    page = send(new, "/account/team", name="The Cs").text
    token = re.search(r'class="secret">(\d+\.[\w-]{43})<', page)[1]
    assert "The Cs is made." in page and token not in new.get("/account").text
    answer = people.client.get("/api/course/grades", headers=bearer(token))
    assert answer.status_code == 200
    assert send(new, "/account/team", name="Another").status_code == 403  # she is in one
    assert send(new, "/account/leave").status_code == 303
    assert send(new, "/account/leave").status_code == 403
    assert [what for what, by in log_of(people) if by == "cleo@example.org"] == ["use", "team", "join", "leave"]


@pytest.mark.slow
def test_teams_are_the_instructors_unless_the_course_says_otherwise(people):
    with people.database.writing() as session:
        set_term(session, Term("UTC", 0))
    ann = by_link(people, "ann@example.org")
    assert "Leave the team" not in ann.get("/account").text
    answer = send(ann, "/account/leave")
    assert answer.status_code == 400 and "the instructors make the teams" in answer.text


# ---------------------------------------------------------------------------------------------
# Signing in


def sign_in(lab, email, password):
    client = browser(lab)
    token = form_token(client.get("/account/sign-in").text)
    return client, client.post("/account/sign-in", data={"form_token": token, "email": email, "password": password})


def test_a_password_signs_in_and_a_new_one_signs_others_out(people):
    ann, elsewhere = by_link(people, "ann@example.org"), by_link(people, "ann@example.org")
    assert "no password yet" in ann.get("/account").text
    assert send(ann, "/account/password", password="short").status_code == 400
    assert send(ann, "/account/password", password="ann@example.org").status_code == 400
    assert send(ann, "/account/password", password=GOOD).status_code == 303
    assert "your password" in ann.get("/account").text and elsewhere.get("/account").status_code == 401
    client, answer = sign_in(people, " ANN@example.org ", GOOD)
    assert answer.status_code == 303 and "Ann" in client.get("/account").text
    assert send(client, "/account/password", password=OTHER, former="wrong").status_code == 400
    assert send(client, "/account/password", password=OTHER, former=GOOD).status_code == 303
    assert ann.get("/account").status_code == 401
    assert [sign_in(people, "ann@example.org", one)[1].status_code for one in (GOOD, OTHER)] == [401, 303]
    with people.database.reading() as session:
        kept = find_person(session, "ann@example.org").password_hash
    assert kept.startswith("$argon2id$") and OTHER not in kept


@pytest.mark.slow
def test_who_is_unknown_and_who_has_no_password_get_the_same_answer(people, monkeypatch):
    verified = []
    fits = passwords._fits
    monkeypatch.setattr(passwords, "_fits", lambda known, given: verified.append(known) or fits(known, given))
    answers = [sign_in(people, email, GOOD)[1] for email in ("bob@example.org", "nobody@example.org", "")]
    assert [one.status_code for one in answers] == [401] * 3 and len(verified) == 3  # each costs the same
    texts = {re.sub(r'value="[^"]*"', "", one.text) for one in answers}
    assert len(texts) == 1
    assert sign_in(people, "bob@example.org", "nobody has this password")[1].status_code == 401


@pytest.mark.slow
def test_a_link_to_sign_in_is_used_once_and_a_new_one_replaces_it(people):
    with people.database.writing() as session:
        person = find_person(session, "ada@example.org")
        old, new = (invitations.link_to_sign_in(session, "Ada", person) for _ in range(2))
    assert send(browser(people), "/account/join", code=old).status_code == 400
    client = browser(people)
    answer = send(client, "/account/join", code=new)
    assert answer.headers["location"] == "/course/desk" and client.get("/course/desk").status_code == 200
    assert send(browser(people), "/account/join", code=new).status_code == 400


@pytest.mark.slow
def test_who_was_removed_is_signed_out_and_cannot_use_a_link(people):
    with people.database.writing() as session:
        person = find_person(session, "bob@example.org")
        code = invitations.link_to_sign_in(session, "Ada", person)
    bob = by_link(people, "bob@example.org")
    with people.database.writing() as session:
        session.get(Person, person.id).removed_at = time.time()
        code = invitations.link_to_sign_in(session, "Ada", person)
    assert bob.get("/account").status_code == 401
    assert send(browser(people), "/account/join", code=code).status_code == 400
    with people.database.writing() as session:
        end_sessions(session, person)


@pytest.mark.slow
def test_a_team_token_is_no_person(people):
    own = browser(people, people.tokens["Team A"])
    assert "by the team’s token" in own.get("/account").text
    for path in ("/account/password", "/account/leave"):
        assert send(own, path, password=GOOD).status_code == 403


@pytest.mark.slow
def test_forms_of_other_sites_change_nothing(people):
    ann = by_link(people, "ann@example.org")
    before, token = log_of(people), form_token(ann.get("/account").text)
    fields = {"password": GOOD, "name": "X", "number": "1"}
    for path in ("password", "team", "leave", "token", "invite", "revoke", "join", "sign-in"):
        for form, headers in (("x", {}), (token, {"Sec-Fetch-Site": "cross-site"})):
            answer = ann.post(f"/account/{path}", data={"form_token": form, **fields}, headers=headers)
            assert answer.status_code == 403 and log_of(people) == before, path


# ---------------------------------------------------------------------------------------------
# Commands


@pytest.mark.slow
def test_the_commands_make_and_revoke_links(people):
    done = pttt("course", "invite", "--team", "Team A", "--server", "https://x.example/", "--data", people.data)
    code = re.fullmatch(r"https://x\.example/account/join#([\w-]{43})\n", done.stdout)[1]
    assert pttt("course", "invite", "--revoke", "1", "--data", people.data).returncode == 0
    assert send(browser(people), "/account/join", code=code, name="C", email="c@example.org").status_code == 400
    assert pttt("course", "invite", "--team", "Team Z", "--data", people.data).returncode == 1
    assert "Nobody here" in pttt("course", "link", "z@example.org", "--data", people.data).stderr
    ann = by_link(people, "ann@example.org")
    send(ann, "/account/password", password=GOOD)
    done = pttt("course", "link", "ann@example.org", "--forget-password", "--data", people.data)
    assert sign_in(people, "ann@example.org", GOOD)[1].status_code == 401 and ann.get("/account").status_code == 401
    client = browser(people)
    assert send(client, "/account/join", code=done.stdout.strip().partition("#")[2]).status_code == 303
    assert "no password yet" in client.get("/account").text


@pytest.mark.slow
def test_a_team_has_so_many_open_links(people):
    with people.database.writing() as session:
        from pttt_ooc.course.people.teams import find_team

        team = find_team(session, "Team A")
        for _ in range(invitations.MOST):
            invitations.invite(session, "Ada", team)
        with pytest.raises(CourseError, match="revoke one"):
            invitations.invite(session, "Ada", team)


@pytest.mark.slow
@in_browser
def test_the_page_takes_the_code_from_the_address_and_forgets_it(people, browser):
    code = invited(people, "Team A")
    requested = []
    with served(people.client.app) as url, pages_of(browser, url) as opened:
        page = opened("/about")
        page.on("request", lambda request: requested.append((request.url, request.headers.get("referer", ""))))
        page.goto(f"/account/join#{code}")
        assert page.input_value("input[name=code]") == code and page.url == f"{url}/account/join"
        page.fill("input[name=name]", "Cleo")
        page.fill("input[name=email]", "cleo@example.org")
        page.press("input[name=email]", "Enter")
        page.wait_for_url(f"{url}/account")
        assert "Cleo" in page.inner_text("main") and not page.errors
    # The browser names a page by its whole address here; what it sends has neither the code nor a Referer with it.
    assert requested and not any(code in one.partition("#")[0] or code in other for one, other in requested)


# ---------------------------------------------------------------------------------------------
# Guesses


def with_password(people, email):
    """A browser in which a person has set a password, and another one, in which nobody has signed in."""
    own = by_link(people, email)
    assert send(own, "/account/password", password=GOOD).status_code == 303
    return own, browser(people)


def from_address(client, address):
    client._transport.client = (address, 50_000)
    return client


def signing_in(client, password, email="ann@example.org", address="10.1.2.3"):
    return send(from_address(client, address), "/account/sign-in", email=email, password=password).status_code


@pytest.fixture
def few(people, monkeypatch):
    """Three guesses an hour, and hashes that take no time; the list of all passwords that were looked at."""
    seen, fits = [], passwords._fits
    monkeypatch.setattr(passwords, "_fits", lambda known, given: seen.append(given) or fits(known, given))
    monkeypatch.setattr(people.client.app.state.shell.wrong_tokens, "_per_hour", 3)
    return seen


def test_passwords_are_not_looked_at_after_too_many_guesses_from_an_address(people, few):
    _, other = with_password(people, "ann@example.org")
    few.clear()
    tries = [signing_in(other, f"wrong {n}", f"somebody{n}@example.org") for n in range(4)]
    assert tries == [401, 401, 401, 429]
    assert signing_in(other, GOOD) == 429, "be it the right one"
    assert few == ["wrong 0", "wrong 1", "wrong 2"]
    assert signing_in(other, GOOD, address="10.9.9.9") == 303


def test_passwords_are_not_looked_at_after_too_many_guesses_at_an_account(people, few):
    own, other = with_password(people, "ann@example.org")
    names = ["ann@example.org", " ANN@example.org", "ann@EXAMPLE.org ", "ann@example.org"]
    tries = [signing_in(other, "wrong", name, f"10.1.2.{n}") for n, name in enumerate(names)]
    assert tries == [401, 401, 401, 429]
    assert signing_in(other, GOOD, address="10.1.3.1") == 429
    assert signing_in(own, GOOD, address="10.1.3.2") == 303, (
        "where she has signed in before, others cannot keep her out"
    )
    assert [signing_in(own, "wrong", address="10.1.3.3") for _ in range(4)] == [401, 401, 401, 429]
    assert signing_in(own, GOOD, "bob@example.org") == 401, "that browser is known for her account only"


def test_right_passwords_are_no_guesses(people, few):
    _, other = with_password(people, "ann@example.org")
    for _ in range(5):
        assert signing_in(other, GOOD) == 303
        other.cookies.clear()


def test_the_former_password_is_not_looked_at_after_too_many_guesses(people, few):
    own, _ = with_password(people, "ann@example.org")
    stolen = browser(people)
    stolen.cookies.set("pttt_session", own.cookies["pttt_session"], domain="course.local")
    tries = [send(stolen, "/account/password", password=OTHER, former="wrong").status_code for _ in range(4)]
    assert tries == [400, 400, 400, 429]
    assert send(stolen, "/account/password", password=OTHER, former=GOOD).status_code == 429
    assert few == ["wrong"] * 3


def test_guesses_at_the_same_time_are_counted_before_they_are_looked_at(people, few):
    page = browser(people)
    form = {"form_token": form_token(page.get("/account/sign-in").text), "email": "ann@example.org", "password": "x"}

    async def statuses():
        transport = httpx2.ASGITransport(people.client.app)
        async with httpx2.AsyncClient(transport=transport, base_url="http://course", cookies=page.cookies) as client:
            return [
                one.status_code
                for one in await asyncio.gather(*(client.post("/account/sign-in", data=form) for _ in "12345678"))
            ]

    with ThreadPoolExecutor(1) as thread:  # playwright has a loop in this one
        told = thread.submit(lambda: asyncio.run(statuses())).result()
    assert sorted(told) == [401] * 3 + [429] * 5 and few == ["x"] * 3


# ---------------------------------------------------------------------------------------------
# One address in several writings


WIDE = "\uff41\uff4e\uff4e\uff20example.org".replace("\uff20", "@")


def test_an_address_in_full_width_letters_is_the_same_address(people):
    answer = send(browser(people), "/account/join", code=invited(people, "Team A"), name="Ann", email=WIDE)
    assert answer.status_code == 400 and "ann@example.org is known here already" in answer.text
    by_link(people, "ann@example.org")
    with people.database.writing() as session:
        assert find_person(session, WIDE).email == "ann@example.org"
        with pytest.raises(CourseError, match="a student of a team"):
            add_staff(session, "Ann", WIDE, "assistant")
        with pytest.raises(CourseError, match="is in line 2, too"):
            read_roster(f"team,name,email\nA,Ann,ann@example.org\nB,Ann,{WIDE}\n", "roster")
        assert not apply_roster(session, read_roster(f"team,name,email\nTeam A,Ann,{WIDE}\n", "roster")).joins
        identity = openid.Identity(subject="1", email=WIDE)
        assert openid.person_of(session, identity).email == "ann@example.org"
        assert session.query(Person).filter_by(role="student").count() == 2
        passwords.set_password(session, find_person(session, "ann@example.org"), GOOD, "")
        assert passwords.authenticate_person(session, WIDE, GOOD).email == "ann@example.org"


def test_who_is_signed_in_without_a_team_is_not_told_to_sign_in(people):
    alone, staff, nobody = by_link(people, "bob@example.org"), browser(people, people.tokens["staff"]), browser(people)
    assert send(alone, "/account/leave").status_code == 303
    for method, path in (
        ("GET", "/parts/teams/2/certificate"),
        ("GET", "/teams/2/certificate.txt.gz"),
        ("POST", "/teams/2/certificate"),
        ("POST", "/submissions"),
        ("POST", "/submissions/1/play"),
    ):
        answers = [one.get(path) if method == "GET" else send(one, path) for one in (alone, staff, nobody)]
        assert [one.status_code for one in answers] == [403, 403, 401], path
        assert all("and you are in none" in one.text for one in answers[:2])
        assert "sign in" in answers[2].text
