"""Signing in by OpenID Connect, against a small provider: who is let in, and every claim that must hold."""

import base64
import json
import re
import time
from urllib.parse import parse_qs, urlsplit

import pytest
from fastapi.testclient import TestClient
from joserfc.jwk import OctKey, RSAKey

from pttt_ooc.course.data.settings import check_openid
from pttt_ooc.course.data.term_tables import LogLine
from pttt_ooc.course.people import openid
from pttt_ooc.course.people.people import add_staff, apply_roster, find_person, read_roster
from pttt_ooc.course.server.app import create_app
from pttt_ooc.errors import ConfigError, MissingExtraError, PtttError
from tests.course.openid_provider import CLIENT, SECRET, UniversityProvider
from tests.course.server_kit import Lab, make_settings


@pytest.fixture
def provider():
    made = UniversityProvider()
    yield made
    made.stop()


@pytest.fixture
def people(tmp_path, provider):
    data = tmp_path / "course"
    data.mkdir()
    (data / "secret.txt").write_text(SECRET + "\n")
    keys = {"openid_issuer": provider.issuer, "openid_client": CLIENT, "openid_secret": "secret.txt"}
    lab = Lab(data, **keys, openid_label="the Academy")
    with lab.database.writing() as session:
        apply_roster(session, read_roster("team,name,email\nTeam A,Ann,Ann@example.org\n", "roster"))
        add_staff(session, "Ada", "ada@example.org", "instructor")
    yield lab
    lab.close()


def browser(lab):
    return TestClient(lab.client.app, base_url="http://course", raise_server_exceptions=False, follow_redirects=False)


def there_and_back(client, provider, change=lambda query: query):
    """Go to the provider and come back; the last answer.  `change` is what an attacker does to the way back."""
    answer = client.get("/account/openid")
    assert answer.status_code == 303, answer.text
    query = {name: values[0] for name, values in parse_qs(urlsplit(answer.headers["location"]).query).items()}
    back = urlsplit(provider.authorize(query))
    return client.get(back.path, params=change({name: v[0] for name, v in parse_qs(back.query).items()}))


def test_a_student_signs_in_and_acts_for_the_team(people, provider):
    client = browser(people)
    page = client.get("/sign-in").text
    assert '<a href="/account/openid">Sign in with the Academy</a>' in page
    answer = there_and_back(client, provider)
    assert answer.status_code == 200 and 'content="0; url=/account"' in answer.text
    assert "Ann" in client.get("/account").text and "Team A" in client.get("/submissions").text
    with people.database.reading() as session:
        assert find_person(session, "ann@example.org").subject == f"{provider.issuer} 4711"
        assert session.query(LogLine).filter_by(what="openid").count() == 1
    assert "pttt_openid" not in client.cookies  # used up


@pytest.mark.slow
def test_who_is_known_there_stays_known_with_another_address(people, provider):
    there_and_back(browser(people), provider)
    provider.claims |= {"email": "new@example.org"}
    client = browser(people)
    there_and_back(client, provider)
    assert "Ann" in client.get("/account").text
    provider.claims = {"sub": "999", "email": "ann@example.org", "email_verified": True}  # somebody else with hers
    answer = there_and_back(browser(people), provider)
    assert answer.status_code == 403 and "Only people in the roster and staff can sign in" in answer.text


@pytest.mark.slow
def test_people_with_rights_come_to_the_desk(people, provider):
    provider.claims |= {"sub": "1", "email": "ADA@example.org"}
    client = browser(people)
    assert 'url=/course/desk"' in there_and_back(client, provider).text
    assert client.get("/course/desk").status_code == 200


@pytest.mark.slow
@pytest.mark.parametrize(
    ("claims", "words"),
    [
        ({"email": "stranger@example.org"}, "stranger@example.org is neither; ask the instructors"),
        ({"email_verified": False}, "not sent a verified e-mail address"),
        ({"email_verified": "true"}, "not sent a verified e-mail address"),
        ({"email": None}, "not sent a verified e-mail address"),
        ({"nonce": "another"}, "is not valid"),
        ({"nonce": None}, "is not valid"),
        ({"aud": "another"}, "is not valid"),
        ({"aud": "another", "azp": CLIENT}, "is not valid"),
        ({"aud": [CLIENT, "another"]}, "is not valid"),
        ({"azp": "another"}, "is not valid"),
        ({"iss": "https://evil.example"}, "is not valid"),
        ({"exp": int(time.time()) - 3600}, "is not valid"),
        ({"exp": None}, "is not valid"),
        ({"sub": None}, "is not valid"),
    ],
)
def test_what_does_not_hold_lets_nobody_in(people, provider, claims, words):
    provider.claims |= claims
    client = browser(people)
    answer = there_and_back(client, provider)
    assert answer.status_code == 403 and words in answer.text, answer.text
    assert client.get("/account").status_code == 401


@pytest.mark.slow
def test_two_audiences_are_fine_if_this_server_is_the_one(people, provider):
    provider.claims |= {"aud": [CLIENT, "another"], "azp": CLIENT}
    assert there_and_back(browser(people), provider).status_code == 200


@pytest.mark.slow
def test_a_signature_of_another_key_lets_nobody_in_and_new_keys_are_read(people, provider):
    assert there_and_back(browser(people), provider).status_code == 200
    provider.key = RSAKey.generate_key(2048, {"kid": "one"}, auto_kid=False)
    answer = there_and_back(browser(people), provider)
    assert answer.status_code == 403 and "is not valid" in answer.text
    provider.published = [provider.key]
    assert there_and_back(browser(people), provider).status_code == 200


@pytest.mark.slow
def test_keys_are_read_again_only_for_a_signature_of_an_unknown_one(people, provider):
    assert there_and_back(browser(people), provider).status_code == 200
    provider.claims |= {"aud": "another"}
    assert there_and_back(browser(people), provider).status_code == 403
    assert provider.asked.count("/keys") == 1
    provider.claims |= {"aud": CLIENT}
    provider.name, provider.key = "two", RSAKey.generate_key(2048, {"kid": "two"}, auto_kid=False)
    provider.published = [*provider.published, provider.key]
    assert there_and_back(browser(people), provider).status_code == 200
    assert provider.asked.count("/keys") == 2


@pytest.mark.slow
def test_keys_that_cannot_be_read_are_told(people, provider):
    whole, provider.keys_status = provider.keys, 503
    answer = there_and_back(browser(people), provider)
    assert answer.status_code == 403 and "does not answer as it should: 503 Server Error" in answer.text
    provider.keys_status, provider.keys = 200, lambda: ["nothing"]
    answer = there_and_back(browser(people), provider)
    assert answer.status_code == 403 and "does not answer as it should. Try again later." in answer.text
    provider.keys = whole
    assert there_and_back(browser(people), provider).status_code == 200


@pytest.mark.slow
def test_a_token_without_signature_or_with_a_shared_secret_is_refused(people, provider, monkeypatch):
    provider.key, provider.algorithm = OctKey.import_key(SECRET), "HS256"
    answer = there_and_back(browser(people), provider)
    assert answer.status_code == 403 and "is not valid" in answer.text

    def unsigned(form, authorization):
        query = provider.codes.pop(form["code"])
        now = int(time.time())
        claims = {"iss": provider.issuer, "aud": CLIENT, "iat": now, "exp": now + 300, "nonce": query["nonce"]}
        parts = [{"alg": "none"}, {**claims, **provider.claims}]
        texts = [base64.urlsafe_b64encode(json.dumps(part).encode()).rstrip(b"=").decode() for part in parts]
        return 200, {"access_token": "x", "token_type": "Bearer", "id_token": ".".join([*texts, ""])}

    monkeypatch.setattr(provider, "token", unsigned)
    answer = there_and_back(browser(people), provider)
    assert answer.status_code == 403 and "is not valid" in answer.text


@pytest.mark.slow
def test_the_way_back_is_of_the_browser_that_left(people, provider):
    client, other = browser(people), browser(people)
    assert there_and_back(client, provider, lambda query: {**query, "state": "x"}).status_code == 400
    codes = []
    there_and_back(client, provider, lambda query: codes.append(query) or {})
    assert other.get("/account/openid/callback", params=codes[0]).status_code == 400  # without the cookie
    sealed = client.cookies.get("pttt_openid")
    other.cookies.set("pttt_openid", re.sub("^%5B%22", "%5B%22x", sealed))
    assert other.get("/account/openid/callback", params=codes[0]).status_code == 400
    answer = client.get("/account/openid/callback", params={"state": codes[0]["state"], "error": "access_denied"})
    assert answer.status_code == 400 and "not signed you in" in answer.text
    assert client.get("/account/openid/callback", params={**codes[0], "code": "stolen"}).status_code == 403


@pytest.mark.slow
def test_a_code_of_another_browser_is_refused_by_its_proof(people, provider):
    """PKCE: who has stolen a code, and puts it into a way back of his own, lacks the other browser's verifier."""
    stolen = []
    there_and_back(browser(people), provider, lambda query: stolen.append(query["code"]) or {})
    answer = there_and_back(browser(people), provider, lambda query: {**query, "code": stolen[0]})
    assert answer.status_code == 403 and "refused the sign-in" in answer.text


@pytest.mark.slow
def test_a_flow_ends_after_a_while(people, provider, monkeypatch):
    client = browser(people)

    def later(query):
        now = time.time() + openid.SECONDS + 1
        monkeypatch.setattr(time, "time", lambda: now)
        return query

    assert there_and_back(client, provider, later).status_code == 400


@pytest.mark.slow
def test_a_provider_that_leads_elsewhere_or_answers_at_length_is_told(people, provider):
    whole, provider.status = provider.described(), 302
    answer = browser(people).get("/account/openid")
    assert answer.status_code == 502 and len(provider.asked) == 1
    provider.status, provider.described = 200, lambda: {**whole, "more": "x" * 1_000_000}
    answer = browser(people).get("/account/openid")
    assert answer.status_code == 502 and "does not answer" in answer.text
    provider.described = lambda: whole
    assert there_and_back(browser(people), provider).status_code == 200


@pytest.mark.parametrize(
    "headers",
    [
        {"Content-Encoding": "gzip"},
        {"Content-Length": "9999"},
        {"Content-Length": None, "Transfer-Encoding": "chunked"},
    ],
    ids=["encoding", "cut", "chunks"],
)
def test_a_provider_whose_answers_are_broken_is_told(people, provider, headers):
    provider.headers = headers
    answer = browser(people).get("/account/openid")
    assert answer.status_code == 502 and "does not answer" in answer.text


@pytest.mark.slow
def test_a_provider_that_is_away_or_another_is_told(people, provider):
    provider.described = lambda: {"issuer": "https://evil.example"}
    answer = browser(people).get("/account/openid")
    assert answer.status_code == 502 and "is not the OpenID Connect" in answer.text
    provider.stop()
    answer = browser(people).get("/account/openid")
    assert answer.status_code == 502 and "does not answer" in answer.text


def test_without_the_setting_there_is_no_such_page(lab):
    assert lab.client.get("/account/openid").status_code == 404
    assert "openid" not in lab.client.get("/sign-in").text


@pytest.mark.slow
def test_settings_that_cannot_work_are_told_before_the_start(tmp_path, monkeypatch):
    with pytest.raises((ConfigError, ValueError)):
        make_settings(tmp_path / "a", openid_issuer="http://login.example")
    settings = make_settings(tmp_path / "b", openid_issuer="https://login.example")
    with pytest.raises(PtttError, match="no openid_client"):
        check_openid(settings, tmp_path)
    settings = settings.model_copy(update={"openid_client": "x", "openid_secret": "nowhere"})
    with pytest.raises(PtttError, match="openid_secret of .* cannot be read"):
        check_openid(settings, tmp_path)
    monkeypatch.setitem(__import__("sys").modules, "authlib", None)
    with pytest.raises(MissingExtraError, match="authlib"):
        check_openid(settings, tmp_path)


@pytest.mark.slow
def test_an_application_is_made_without_the_extra(lab, monkeypatch):
    for name in ("authlib", "joserfc"):
        monkeypatch.setitem(__import__("sys").modules, name, None)
    with TestClient(create_app(lab.course)) as client:
        assert client.get("/sign-in").status_code == 200
