"""Teams: which names there are, which are the same; tokens and sessions, and when they end."""

import time

import pytest
from sqlalchemy import Engine, event

from pttt_ooc.course.data.models import BrowserSession, Team
from pttt_ooc.course.data.names import check_name, name_key
from pttt_ooc.course.people import sessions, teams
from pttt_ooc.errors import CourseError
from tests.course.server_kit import form_token, pttt


def command(lab, *arguments):
    return pttt("course", *arguments, "--data", lab.data)


# ---------------------------------------------------------------------------------------------
# Names


@pytest.mark.parametrize(
    "name, same",
    [
        ("Équipe", "équipe"),
        ("Équipe", "E\u0301quipe"),  # the accent as a character of its own
        ("Équipe", "  ÉQUIPE "),
        ("Straße", "STRASSE"),
        ("Ωmega", "ωMEGA"),
        ("Ἀθῆναι", "ἈΘΗ͂ΝΑΙ"),
        ("Команда", "КОМАНДА"),
        ("Team 1", "Ｔｅａｍ　１"),  # full width, with the space that belongs to it
        ("ﬁve", "Five"),
        ("Team A", "Team\u00a0A"),
        ("℡", "tel"),  # capitals that come about by the first pass
        ("\u03b1\u0345\u0301", "\u03b1\u0301\u0345"),  # marks in another sequence, one of which folds to a letter
    ],
)
def test_names_are_the_same_however_they_are_written(name, same):
    assert name_key(name) == name_key(same) == name_key(name_key(name))


@pytest.mark.parametrize("other", ["Equipe", "Équipes", "Èquipe"])
def test_accents_tell_names_apart(other):
    assert name_key("Équipe") != name_key(other)


@pytest.mark.parametrize(
    "name",
    [
        *("", "   ", "x" * 41, "<b>", "a/b", "a\\b", 'a"b', "a'b", "a&b", "a\x00b", "a\x7fb", "a\x1bb"),
        *("\u200b", "Team\u200bA", "\u202eA maeT", "Team\u2066A", "Team\u00adA", "\ufeffTeam", "Team\u034fA"),
        *("\u3164", "\u2800\u2800", "Team\u115fA", "Team\ufe0f", "Team\U000e0041", "Team\ue000", "Team\u0378"),
        *("\u0301Team", "Team \u0301A", "T\u0301\u0302\u0303\u0304eam", "\udcff", "\ufdfa\ufdfa\ufdfa"),
        *("Te\u0430m", "\u0422eam", "\u0391lpha"),
    ],
)
def test_names_that_cannot_be_read_are_refused(name):
    with pytest.raises(CourseError, match="cannot be a team's name: ") as refused:
        check_name(name)
    assert str(refused.value).isprintable() and str(refused.value).endswith(".")


@pytest.mark.parametrize(
    "name",
    [
        "A",
        "Équipe nº 1",
        "Straße",
        "Команда 1",
        "チーム",
        "팀",
        "فريق",
        "צוות",
        "टीम",
        "Team α",
        "α-beta",
        "🦆",
        "a" * 40,
    ],
)
def test_names_of_all_languages_are_taken(name):
    assert check_name(f" {name} ") == name


def test_a_team_with_accents_is_managed(lab):
    assert command(lab, "add-team", "Équipe").returncode == 0
    again = command(lab, "add-team", "équipe")
    assert again.returncode == 1 and "There already is a team Équipe" in again.stderr
    assert command(lab, "rotate-token", "ÉQUIPE").returncode == 0
    assert lab.client.get("/api/history?team=%C3%A9quipe").status_code == 200
    assert "Équipe " in command(lab, "list-teams").stdout
    assert command(lab, "remove-team", "E\u0301quipe", "--yes").returncode == 0
    for name in ("Équipe", "\udcff", "a\x00b"):
        gone = command(lab, "remove-team", name, "--yes")
        assert gone.returncode == 1 and "There is no team" in gone.stderr and "Traceback" not in gone.stderr
    assert lab.client.get("/api/history?team=a%00b").status_code == 422


@pytest.mark.parametrize("name", ["uniform", "ＵＮＩＦＯＲＭ"])
def test_nobody_takes_the_baselines_name(lab, name):
    assert "already is a team Uniform" in command(lab, "add-team", name).stderr


def test_a_name_of_an_older_version_that_cannot_be_seen_is_listed_and_removed(lab):
    name = "Team\u200bA"
    with lab.database.writing() as session:
        session.add(Team(name=name, key=name_key(name), created_at=0))
    assert "Team\\u200bA " in command(lab, "list-teams").stdout
    assert command(lab, "remove-team", name, "--yes").returncode == 0


def test_a_new_team_shows_at_once(lab):
    before = lab.client.get("/parts/leaderboard").text
    lab.team("Team A")
    assert "Team A" not in before and "Team A" in lab.client.get("/parts/leaderboard").text


@pytest.mark.slow
def test_a_full_disk_is_told_without_a_traceback(lab):
    """SQLite's own error: it is told that the file may not grow."""

    def limit(connection, record):
        connection.execute("PRAGMA max_page_count = 1")  # that is: as many as there are

    added = 0
    event.listen(Engine, "connect", limit)
    try:
        while (done := command(lab, "add-team", f"Team {added}")).returncode == 0:
            added += 1
    finally:
        event.remove(Engine, "connect", limit)
    assert added < 1000 and done.returncode == 1 and not done.stdout
    assert len(done.stderr.splitlines()) == 1 and "no room to write: database or disk is full; free" in done.stderr
    assert len(command(lab, "list-teams").stdout.splitlines()) == 2 + added


# ---------------------------------------------------------------------------------------------
# Sessions


def signed_in(lab, cookie):
    return "Sign out" in lab.client.get("/", headers={"Cookie": f"pttt_session={cookie}"}).text


def signed_in_cookie(lab, token):
    lab.client.cookies.clear()
    lab.sign_in(token)
    return lab.client.cookies["pttt_session"]


def sign_out(lab):
    form = {"form_token": form_token(lab.client.get("/submissions").text)}
    assert lab.client.post("/sign-out", data=form, follow_redirects=False).status_code == 303


@pytest.mark.slow
def test_signing_out_ends_the_session_on_the_server(lab):
    token = lab.team("Team A")
    other, mine = signed_in_cookie(lab, token), signed_in_cookie(lab, token)
    assert signed_in(lab, mine) and signed_in(lab, other)
    sign_out(lab)
    lab.client.cookies.clear()
    assert not signed_in(lab, mine) and signed_in(lab, other)  # another browser of the team stays


def test_signing_in_again_ends_the_former_session(lab):
    token = lab.team("Team A")
    former = signed_in_cookie(lab, token)
    lab.sign_in(token)
    latter = lab.client.cookies["pttt_session"]
    lab.client.cookies.clear()
    assert not signed_in(lab, former) and signed_in(lab, latter)


@pytest.mark.parametrize("removed", [False, True])
def test_sessions_end_with_their_token_and_team(lab, removed):
    other = signed_in_cookie(lab, lab.team("Team B"))
    cookie = signed_in_cookie(lab, lab.team("Team A"))
    lab.client.cookies.clear()
    if removed:
        teams.remove_team(lab.database, lab.data, "Team A")
    else:
        teams.rotate_token(lab.database, "Team A")
    assert not signed_in(lab, cookie) and signed_in(lab, other)
    with lab.database.reading() as session:
        assert session.query(BrowserSession).count() == 1


def test_a_sign_in_that_a_new_token_overtakes_is_none(lab):
    lab.team("Team A")
    with lab.database.reading() as session:
        before = teams.find_team(session, "Team A")
    teams.rotate_token(lab.database, "Team A")
    assert not signed_in(lab, sessions.begin(lab.database, before, 1000))
    teams.remove_team(lab.database, lab.data, "Team A")
    assert not signed_in(lab, sessions.begin(lab.database, before, 1000))


def test_a_team_has_only_so_many_sessions(lab, monkeypatch):
    monkeypatch.setattr(sessions, "MOST", 3)
    lab.team("Team A")
    with lab.database.reading() as session:
        team = teams.find_team(session, "Team A")
    cookies = [sessions.begin(lab.database, team, 1000 + n) for n in range(5)]
    assert [signed_in(lab, cookie) for cookie in cookies] == [False, False, True, True, True]
    later = time.time() + 2000
    monkeypatch.setattr(time, "time", lambda: later)
    assert not signed_in(lab, cookies[4])  # it has expired, though its row is still there
    last = sessions.begin(lab.database, team, 1000)
    with lab.database.reading() as session:
        assert session.query(BrowserSession).count() == 1
    assert signed_in(lab, last) and not signed_in(lab, cookies[4])


@pytest.mark.slow_but_one
@pytest.mark.long_but("2.9999999999.a", "cookie9", "000")
@pytest.mark.parametrize(
    "cookie",
    [
        *(b"2.9999999999.\xe9", b"2.9999999999.\xff\xfe", b"\xe9", b"", b"x", b"1.2", b"2.9999999999." + b"a" * 64),
        *(b'"\\351"', b'"\\000"', b"a" * 5000, b"\xed\xb3\xbf", b"2.\xb2.x"),
    ],
)
def test_hostile_cookies_sign_nobody_in(lab, cookie):
    lab.team("Team A")
    for path in ("/", "/submissions", "/teams/2"):
        answer = lab.client.get(path, headers={"Cookie": b"pttt_session=" + cookie + b"; pttt_visitor=" + cookie})
        assert answer.status_code == 200 and "Sign out" not in answer.text
    form = {"form_token": "x", "player": "0"}
    for path in ("/sign-in", "/sign-out", "/submissions"):
        answer = lab.client.post(path, data=form, headers={"Cookie": b"pttt_session=" + cookie})
        assert answer.status_code in (401, 403)


def test_the_table_of_sessions_signs_nobody_in(lab):
    cookie = signed_in_cookie(lab, lab.team("Team A"))
    lab.client.cookies.clear()
    with lab.database.reading() as session:
        (stored,) = session.query(BrowserSession)
    assert stored.digest != cookie and not signed_in(lab, stored.digest)
    assert not any(cookie.encode() in f.read_bytes() for f in lab.data.rglob("*") if f.is_file())
    done = command(lab, "backup", lab.data / "copy.tar")
    assert done.returncode == 0 and stored.digest.encode() not in (lab.data / "copy.tar").read_bytes()
