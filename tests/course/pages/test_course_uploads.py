"""Taking in submissions: over the API and by the form; limits, duplicates, and what is refused."""

import json
import time

import pytest

from pttt_ooc.course.data.models import Submission
from pttt_ooc.course.pages import intakes, uploads
from pttt_ooc.site.shell.arrival import Arrival
from tests.course.malformed import several
from tests.course.server_kit import Lab, bearer, form_token, npy_bytes, random_tensor, strategy_zip, zip_bytes

GOOD = strategy_zip(0, 1)


def nothing_was_kept(lab):
    assert not list(lab.storage.incoming.iterdir()) and not list(lab.storage.uploads.iterdir())
    with lab.database.reading() as session:
        assert session.query(Submission).count() == 0
    return True


def form(fields, boundary=b"xyz", end=b"--xyz--\r\n"):
    """A multipart body; fields are (name, content, is it a file)."""
    body = b""
    for name, content, is_file in fields:
        disposition = b'form-data; name="%b"' % name + (b'; filename="f"' if is_file else b"")
        body += b"--%b\r\nContent-Disposition: %b\r\n\r\n%b\r\n" % (boundary, disposition, content)
    return body + end


def send(lab, token, body, kind="multipart/form-data; boundary=xyz"):
    return lab.client.post("/api/submissions", content=body, headers={**bearer(token), "Content-Type": kind})


def test_a_submission_is_received_judged_and_told(lab):
    token = lab.team("Team A")
    answer = lab.post(token, 0, GOOD)
    assert answer.status_code == 201 and answer.headers["location"] == "/api/submissions/1"
    told = answer.json()["submission"]
    assert (told["status"], told["position"], told["team"], told["size"]) == ("Queued", 1, "Team A", len(GOOD))
    lab.run()
    told = lab.client.get("/api/submissions/1").json()
    assert told["status"] == "Accepted" and told["position"] is None and told["best"]
    assert lab.client.get("/api/submissions/1/file", headers=bearer(token)).content == GOOD


def test_files_bear_the_servers_names_only(lab):
    token = lab.team("Team A")
    for name in ("../../../../tmp/evil.zip", "/etc/passwd", "..\\x", "a\0b", "ü" * 3000):
        body = form([(b"player", b"0", False)], end=b"")
        disposition = f'form-data; name="file"; filename="{name}"'.encode()
        content = zip_bytes(GOOD + name.encode())
        body += b"--xyz\r\nContent-Disposition: %b\r\n\r\n%b\r\n--xyz--\r\n" % (disposition, content)
        assert send(lab, token, body).status_code == (201 if len(name) < 100 else 400)
        lab.run()
    names = [f.name for f in lab.storage.uploads.iterdir()]
    assert len(names) == 4 and all(len(n) == 36 and n.endswith(".zip") for n in names)


def test_without_a_good_token_nothing_is_taken(lab):
    token = lab.team("Team A")
    files = {"player": (None, "0"), "file": ("f", GOOD)}
    headers = [{}, {"Authorization": "Bearer"}, {"Authorization": f"Basic {token}"}, {"X": token}, bearer(f"{token}x")]
    wrong = ["", ".", "1", "1.", "x.y", "-1.a", "99999999999999999999.a", "2." + "a" * 43, "²." + "a"]
    for one in (*headers, *({"Authorization": f"Bearer {text}".encode()} for text in wrong)):
        answer = lab.client.post("/api/submissions", headers=one, files=files)
        assert answer.status_code == 401 and "token" in answer.json()["error"], one
        assert answer.headers["www-authenticate"] == "Bearer" and nothing_was_kept(lab)


def test_a_token_works_for_its_own_team_only(lab):
    a, b = lab.team("Team A"), lab.team("Team B")
    number, secret = a.split(".")
    assert lab.post(b.split(".")[0] + "." + secret, 0, GOOD).status_code == 401
    assert lab.post(f"1.{secret}", 0, GOOD).status_code == 401  # the baseline has no token
    assert lab.post(a, 0, GOOD).json()["submission"]["team"] == "Team A"
    assert lab.client.get("/api/submissions/1/file").status_code == 401
    assert lab.client.get("/api/submissions/1/file", headers=bearer(b)).status_code == 403
    assert lab.client.get("/api/submissions/1/file", headers=bearer(a)).status_code == 200
    assert lab.client.get("/submissions/1/file").status_code == 403
    assert number == "2"


def test_baselines_files_are_for_everybody(lab):
    lab.baseline()
    other = lab.team("Team A")
    for player in (0, 1):
        for path in (f"/submissions/{player + 1}/file", f"/api/submissions/{player + 1}/file"):
            assert lab.client.get(path).content[:2] == b"PK", path
        path = f"/api/submissions/{player + 1}/file"
        assert lab.client.get(path, headers=bearer(other)).content == lab.client.get(path).content
        assert lab.client.get(path, headers=bearer("2.wrong")).status_code == 401


def test_only_a_hash_of_the_token_is_stored(lab):
    token = lab.team("Team A")
    lab.post(token, 0, GOOD)
    secret = token.partition(".")[2].encode()
    for file in lab.data.rglob("*"):
        assert file.is_dir() or secret not in file.read_bytes()


def test_path_tricks_find_nothing(lab):
    lab.team("Team A")
    for path in (
        "/static/../../settings.yaml",
        "/static/%2e%2e/%2e%2e/secret",
        "/static/..%2f..%2fcourse.sqlite",
        "/static//etc/passwd",
        "/submissions/../secret",
        "/submissions/..%2fsecret/file",
        "/api/submissions/0/file",
        "/api/submissions/-1",
        "/api/submissions/99999999999999999999",
        "/teams/99999999999999999999",
        "/secret",
    ):
        assert lab.client.get(path).status_code in (401, 404, 422), path


def test_oversize_bodies_are_refused_and_leave_nothing(tmp_path):
    lab = Lab(tmp_path / "g", max_upload_mb=0.1)
    token = lab.team("Team A")
    big = bytes(100_001)
    answer = lab.post(token, 0, big)
    assert answer.status_code == 413 and "100,000 bytes" in answer.json()["error"]

    def pieces():  # without Content-Length
        yield form([(b"player", b"0", False)], end=b"")
        yield b'--xyz\r\nContent-Disposition: form-data; name="file"; filename="f"\r\n\r\n'
        for _ in range(20):
            yield bytes(10_000)

    assert send(lab, token, pieces()).status_code == 413
    assert send(lab, token, form([(b"player", bytes(50_000), False), (b"file", GOOD, True)])).status_code == 400
    assert send(lab, token, form([(b"x%d" % i, b"", False) for i in range(2000)])).status_code == 400
    assert lab.client.post("/sign-in", content=b"x" * 10_000).status_code in (403, 413)
    assert nothing_was_kept(lab)
    assert lab.post(token, 0, GOOD).status_code == 201
    lab.close()


PLAYER, FILE = (b"player", b"0", False), (b"file", GOOD, True)


def test_incomplete_and_damaged_forms_and_other_bodies_are_refused(lab):
    token = lab.team("Team A")
    for fields in (
        [],
        [PLAYER],
        [FILE],
        [FILE, PLAYER],
        [(b"player", b"2", False), FILE],
        [(b"player", b"-1", False), FILE],
        [(b"player", b"\xff\xfe", False), FILE],
        [PLAYER, FILE, FILE],
    ):
        answer = send(lab, token, form(fields))
        assert answer.status_code == 400 and answer.json()["error"].endswith("."), fields
    whole = form([PLAYER, FILE])
    for body in (b"", b"garbage", b"--xyz", form([PLAYER, FILE], end=b""), whole[:-30], whole.replace(b"xyz", b"abc")):
        assert send(lab, token, body).status_code == 400, body
    for kind in ("", "application/zip", "multipart/form-data", "multipart/mixed; boundary=xyz"):
        assert send(lab, token, whole, kind).status_code == 415, kind
    # What was checked before the file could be another thing afterwards, such as a link that is a program.
    for field in (b"player", b"link", b"comment", b"form_token"):
        answer = send(lab, token, form([PLAYER, FILE, (field, b"javascript:alert(1)", False)]))
        assert answer.status_code == 400 and "must come last" in answer.json()["error"], field
    assert nothing_was_kept(lab)


def test_a_file_in_another_field_is_told_where_it_belongs(lab):
    token = lab.team("Team A")
    files = {"player": (None, "0"), "strategy": ("x.zip", bytes(20_000))}
    answer = lab.client.post("/api/submissions", headers=bearer(token), files=files)
    assert answer.status_code == 400
    assert answer.json()["error"] == "The file is sent as 'strategy'; send it in the field 'file'."
    answer = send(lab, token, form([(b"player", b"0", False), (b"strategy", bytes(20_000), False)]))
    assert answer.status_code == 400 and "send the file in the field 'file'" in answer.json()["error"]
    assert nothing_was_kept(lab)


def test_what_was_passed_over_in_a_zip_is_noted(lab):
    lab.sign_in(lab.team("Team A"))
    mac = several(("__MACOSX/._a.npy", b"x"), ("a.npy", npy_bytes(random_tensor(0, 1))))
    told = lab.verdict(lab.tokens["Team A"], 0, mac)
    assert (told["status"], told["detail"]) == ("Accepted", "Passed over in the zip: __MACOSX/._a.npy.")
    for page in ("/submissions", "/submissions/1"):
        assert "Passed over in the zip: __MACOSX/._a.npy." in lab.client.get(page).text


def test_a_full_disk_is_told(lab, monkeypatch):
    token = lab.team("Team A")
    monkeypatch.setattr(type(lab.storage), "free_bytes", lambda self: 1000)
    answer = lab.post(token, 0, GOOD)
    assert answer.status_code == 507 and nothing_was_kept(lab)


def test_a_stalled_upload_ends(lab, monkeypatch):
    import asyncio

    from starlette.requests import Request

    monkeypatch.setattr(uploads, "_SILENT_SECONDS", 0.05)
    sent = [
        form([(b"player", b"0", False)], end=b"") + b'--xyz\r\nContent-Disposition: form-data; name="file"\r\n\r\nx'
    ]

    async def never():
        if sent:
            return {"type": "http.request", "body": sent.pop(), "more_body": True}
        await asyncio.sleep(60)

    async def upload():
        headers = [(b"content-type", b"multipart/form-data; boundary=xyz")]
        request = Request({"type": "http", "method": "POST", "headers": headers}, never)
        with lab.course.in_flight.begin(1, Arrival()) as flight, pytest.raises(Exception, match="Nothing has arrived"):
            await uploads.receive(request, lab.course, intakes.strategies(lab.course), lambda fields: None, flight)

    asyncio.run(upload())
    assert nothing_was_kept(lab)


# ---------------------------------------------------------------------------------------------
# Limits and duplicates


def test_the_same_file_is_recognised(lab):
    a, b = lab.team("Team A"), lab.team("Team B")
    first = lab.post(a, 0, GOOD)
    again = lab.post(a, 0, GOOD)
    assert (first.status_code, again.status_code) == (201, 200)
    assert again.json()["duplicate"] and again.json()["submission"]["id"] == first.json()["submission"]["id"]
    assert lab.post(a, 1, GOOD).status_code == 201  # as another player it is another submission
    assert lab.post(b, 0, GOOD).status_code == 201  # and so it is of another team
    assert len(list(lab.storage.uploads.iterdir())) == 3 and not list(lab.storage.incoming.iterdir())


def test_a_team_can_have_only_so_many_waiting(tmp_path):
    lab = Lab(tmp_path / "g", waiting_per_team=2)
    a, b = lab.team("Team A"), lab.team("Team B")
    for seed in range(2):
        lab.submit(a, 0, strategy_zip(0, seed))
    answer = lab.post(a, 0, strategy_zip(0, 9))
    assert answer.status_code == 429 and int(answer.headers["retry-after"]) > 0 and "wait" in answer.json()["error"]
    assert lab.post(b, 0, strategy_zip(0, 9)).status_code == 201
    lab.run()
    assert lab.post(a, 0, strategy_zip(0, 9)).status_code == 201
    lab.close()


def test_a_team_can_make_only_so_many_an_hour(tmp_path, monkeypatch):
    lab = Lab(tmp_path / "g", submissions_per_hour=3)
    token = lab.team("Team A")
    now = [time.time()]
    monkeypatch.setattr(time, "time", lambda: now[0])
    for seed in range(3):
        lab.verdict(token, 0, strategy_zip(0, seed))
    answer = lab.post(token, 0, strategy_zip(0, 9))
    assert answer.status_code == 429 and int(answer.headers["retry-after"]) == 3600
    now[0] += 3599
    assert lab.post(token, 0, strategy_zip(0, 9)).status_code == 429
    now[0] += 2
    assert lab.post(token, 0, strategy_zip(0, 9)).status_code == 201
    lab.close()


def test_a_file_of_the_other_player_does_not_count(tmp_path):
    lab = Lab(tmp_path / "g", submissions_per_hour=2)
    token = lab.team("Team A")
    lab.sign_in(token)
    for seed in range(3):
        told = lab.verdict(token, seed % 2, strategy_zip(1 - seed % 2, seed))
        assert told["status"] == "Rejected" and told["note"].startswith("Invalid tensor shape: found (")
        assert told["detail"] == f"This is a file of player {1 - seed % 2}, not of player {seed % 2}."
        assert f"<strong>{min(2, 3 - seed)}</strong> of 2 submissions an hour" in lab.client.get("/submissions").text, (
            seed
        )
    lab.verdict(token, 0, zip_bytes(random_tensor(0, 1)[1:]))  # another wrong shape counts
    assert "<strong>0</strong> of 2 submissions an hour" in lab.client.get("/submissions").text
    assert lab.post(token, 0, strategy_zip(0, 9)).status_code == 429, "twice the limit, with those that do not count"
    lab.close()


# ---------------------------------------------------------------------------------------------
# The form, and other sites


def upload(lab, content, token, headers=None, player="0"):
    fields = {"form_token": (None, token), "player": (None, player), "file": ("f.zip", content)}
    return lab.client.post("/submissions", files=fields, headers=headers or {}, follow_redirects=False)


def test_the_form_submits(lab):
    lab.sign_in(lab.team("Team A"))
    token = form_token(lab.client.get("/submissions").text)
    assert upload(lab, GOOD, token).headers["location"] == "/submissions/1"
    part = upload(lab, strategy_zip(0, 2), token, {"HX-Request": "true"})
    assert part.status_code == 200 and part.headers["hx-trigger"] == "submissions-changed" and "<html" not in part.text


def test_forms_from_other_sites_are_refused(lab):
    lab.sign_in(lab.team("Team A"))
    token = form_token(lab.client.get("/submissions").text)
    for headers in (
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
        {"Origin": "http://course.evil.example"},
        {"Origin": "http://course:81"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
    ):
        assert upload(lab, GOOD, token, headers).status_code == 403
        assert lab.client.post("/sign-out", data={"form_token": token}, headers=headers).status_code == 403
        assert lab.client.post("/sign-in", data={"form_token": token, "token": "x"}, headers=headers).status_code == 403
    for wrong in ("", "x", token[:-1] + ("0" if token[-1] != "0" else "1")):
        assert upload(lab, GOOD, wrong).status_code == 403
    assert nothing_was_kept(lab)
    assert upload(lab, GOOD, token, {"Origin": "http://course", "Sec-Fetch-Site": "same-origin"}).status_code == 303


def test_another_teams_form_is_refused(lab):
    lab.sign_in(lab.team("Team A"))
    theirs = form_token(lab.client.get("/submissions").text)
    lab.client.cookies.clear()
    lab.sign_in(lab.team("Team B"))
    assert upload(lab, GOOD, theirs).status_code == 403 and nothing_was_kept(lab)


@pytest.mark.slow
def test_the_api_takes_no_cookie(lab):
    lab.sign_in(lab.team("Team A"))
    files = {"player": (None, "0"), "file": ("f", GOOD)}
    assert lab.client.post("/api/submissions", files=files).status_code == 401 and nothing_was_kept(lab)


def test_cookies_are_for_this_site_and_not_for_scripts(lab):
    token = lab.team("Team A")
    page = lab.client.get("/sign-in")
    answer = lab.client.post(
        "/sign-in", data={"form_token": form_token(page.text), "token": token}, follow_redirects=False
    )
    for cookie in (page.headers["set-cookie"], answer.headers["set-cookie"]):
        assert "HttpOnly" in cookie and "SameSite=strict" in cookie
    assert "Secure" not in answer.headers["set-cookie"]
    lab.client.cookies.clear()
    https = lab.client.get("https://course/sign-in")
    assert "Secure" in https.headers["set-cookie"]


def test_every_answer_has_the_headers_that_protect(lab):
    for path in (
        "/",
        "/matrix",
        "/static/course/course.css",
        "/api/leaderboard",
        "/nothing",
        "/submissions/999",
        "/metrics",
    ):
        headers = lab.client.get(path).headers
        policy = headers["content-security-policy"]
        assert "default-src 'none'" in policy and "script-src 'self';" in policy and "unsafe" not in policy
        assert headers["x-content-type-options"] == "nosniff" and headers["x-frame-options"] == "DENY"


@pytest.mark.slow
def test_pages_have_no_inline_scripts_or_styles(lab):
    lab.baseline()
    lab.sign_in(lab.team("Team A"))
    for path in ("/", "/matrix", "/submissions", "/submissions/1", "/teams/1", "/about", "/api/docs", "/sign-in", "/x"):
        page = lab.client.get(path).text
        assert (
            "<style" not in page and " style=" not in page and "javascript:" not in page and " on" + "click" not in page
        )
        assert page.count("<script") == page.count("<script src=")
        assert 'src="http' not in page and 'href="http' not in page


def test_names_of_teams_are_no_html(lab):
    from sqlalchemy import update

    from pttt_ooc.course.data.models import Team

    lab.baseline()
    with lab.database.writing() as session:  # as no command would
        session.execute(update(Team).values(name="<script>alert(1)</script>"))
    for path in ("/", "/matrix", "/submissions", "/submissions/1", "/teams/1"):
        assert "<script>alert" not in lab.client.get(path).text


def test_errors_are_sentences_for_people_and_programs(lab):
    page = lab.client.get("/submissions/77")
    assert page.status_code == 404 and "There is no submission 77." in page.text and "<html" in page.text
    assert lab.client.get("/api/submissions/77").json() == {"error": "There is no submission 77."}
    assert lab.client.get("/api/nothing").json() == {"error": "There is no such page."}
    assert lab.client.get("/api/history?team=nobody").status_code == 404
    assert lab.client.get("/api/submissions?status=Lost").status_code == 422
    wrong = lab.client.post("/matrix")
    assert wrong.status_code == 405 and "Nothing can be sent to this address." in wrong.text
    wrong = lab.client.get("/sign-out")
    assert wrong.status_code == 405 and "There is no page here: forms and programs send to this address." in wrong.text


def test_the_api_describes_itself(lab):
    described = lab.client.get("/api/openapi.json").json()
    assert "multipart/form-data" in json.dumps(described["paths"]["/api/submissions"]["post"])
    assert described["components"]["securitySchemes"]["token"]["scheme"] == "bearer"
    page = lab.client.get("/api/docs").text
    assert all(path in page for path in described["paths"])
