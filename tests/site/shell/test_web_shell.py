"""The shell of the web application, with parts that exist only here, and without the course."""

import http.client
import json
import re
import socket
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Annotated

import pytest
from fastapi import APIRouter, Depends, HTTPException, Request
from fastapi.testclient import TestClient

from pttt_ooc.errors import GameError
from pttt_ooc.site.service.processes import listen
from pttt_ooc.site.shell.accounts import Signed, bearer
from pttt_ooc.site.shell.application import make_application
from pttt_ooc.site.shell.forms import own_form
from pttt_ooc.site.shell.parts import Link, Part, Refusal
from pttt_ooc.site.shell.rendering import render
from pttt_ooc.site.shell.server import names_of
from pttt_ooc.site.shell.shell import Shell, UsedShell
from tests.kits.patience import PATIENCE

ROOT = Path(__file__).parents[3]


class Flooded(Exception):
    """An error of a part."""


def make_part(directory, name="garden", home="/garden", style="p { color: green; }", links=None):
    """A part with a page, a form, an answer in JSON and a file, which counts what was planted."""
    (directory / "templates").mkdir(parents=True)
    (directory / "static").mkdir()
    (directory / "static" / "garden.css").write_text(style)
    (directory / "templates" / "page.html").write_text(
        '{% extends "web/base.html" %}{% block name %}Beds{% endblock %}'
        f'{{% block head %}}<link rel="stylesheet" href="{{{{ static("{name}/garden.css") }}}}">{{% endblock %}}'
        '{% block main %}<h1>{{ "beds" | loud }}: {{ planted }}</h1><p>{{ wish }}{{ SEASON }}</p>'
        '<form method="post"><input type="hidden" name="form_token" value="{{ form_token }}"></form>{% endblock %}'
    )
    router = APIRouter()

    @router.get(home, include_in_schema=False)
    def page(request: Request, account: Signed, wish: str = ""):
        planted = getattr(request.app.state, name).planted
        return render(request, f"{name}/page.html", account, planted=planted, wish=wish)

    @router.post(home, include_in_schema=False)
    async def plant(request: Request, shell: UsedShell):
        await own_form(request, shell)
        getattr(request.app.state, name).planted += 1
        return {}

    @router.get(f"{home}/bed/{{number}}", include_in_schema=False)
    def bed(number: int):
        raise {1: GameError("Bed 1 is too big."), 2: Flooded(), 3: OSError("spade"), 4: HTTPException(404, "No bed.")}[
            number
        ]

    @router.get(f"/api{home}", summary="Beds")
    def beds(request: Request) -> dict[str, int]:
        """How much is planted."""
        return {"planted": getattr(request.app.state, name).planted}

    @router.get(f"/api{home}/wet")
    def wet() -> None:
        raise Flooded

    def explain(error):
        return Refusal(507, "The garden is under water.", {"Retry-After": "60"}) if isinstance(error, Flooded) else None

    return Part(
        name=name,
        directory=directory,
        routers=[router],
        links=[Link(home, name.title()), Link(f"{home}/more", "More")] if links is None else links,
        state=SimpleNamespace(planted=0),
        filters={"loud": str.upper},
        names={"SEASON": "spring"},
        caught=(Flooded, OSError),
        explain=explain,
    )


def client_of(*parts, **options):
    shell = Shell("The Title", "the-game", list(parts), **options)
    return TestClient(make_application(shell), base_url="http://shell", raise_server_exceptions=False)


@pytest.fixture
def client(tmp_path):
    with client_of(make_part(tmp_path)) as made:
        yield made


def test_a_part_has_the_head_and_its_own_templates_and_files(client):
    page = client.get("/garden")
    assert page.status_code == 200 and "<h1>BEDS: 0</h1>" in page.text and "spring" in page.text
    assert "<title>Beds · The Title</title>" in page.text and "<code>the-game</code>" in page.text
    assert '<a href="/garden" aria-current="page">Garden</a>' in page.text
    assert "script-src 'self';" in page.headers["content-security-policy"]
    for file in ("/static/web/shell.css", "/static/web/shell.js", "/static/garden/garden.css"):
        answer = client.get(file)
        assert answer.status_code == 200 and answer.headers["cache-control"] == "no-cache"
        assert client.get(file, headers={"If-None-Match": answer.headers["etag"]}).status_code == 304
    assert page.headers["cache-control"] == "no-store"
    assert client.get("/garden?wish=<b>rain</b>").text.count("&lt;b&gt;rain") == 1
    assert client.get("/", follow_redirects=False).headers["location"] == "/garden"


def test_pages_are_compressed_and_files_are_kept_while_their_content_is_the_same(client, tmp_path):
    plain = client.get("/garden", headers={"Accept-Encoding": "identity"})
    page = client.get("/garden", headers={"Accept-Encoding": "gzip"})
    assert "content-encoding" not in plain.headers and page.headers["content-encoding"] == "gzip"
    assert "Accept-Encoding" in page.headers["vary"]
    assert int(page.headers["content-length"]) < 0.7 * len(plain.content)
    used = re.findall(r'(?:href|src)="(/static/[^"]+)"', page.text)
    assert len(used) >= 4 and all(re.search(r"\?v=[0-9a-f]{12}$", address) for address in used)
    for address in used:
        assert client.get(address).headers["cache-control"] == "public, max-age=31536000, immutable"
    assert client.get("/static/web/nothing.css?v=1").headers["cache-control"] == "no-cache"
    (own,) = [address for address in used if "garden.css" in address]
    with client_of(make_part(tmp_path / "other", style="p { color: red }")) as changed:
        assert own not in changed.get("/garden").text


def test_refusals_that_are_our_own_fault_are_logged(client, caplog):
    assert client.get("/garden/bed/1").status_code == 503 and client.get("/garden/bed/4").status_code == 404
    (line,) = [line for line in caplog.records if line.name == "pttt.web"]
    assert (line.message, line.path, line.error) == ("refused", "/garden/bed/1", "Bed 1 is too big.")


def test_parts_stand_beside_each_other(tmp_path):
    with client_of(make_part(tmp_path / "a"), make_part(tmp_path / "b", "orchard", "/orchard")) as client:
        page = client.get("/orchard").text
        for link in ("Garden", "Orchard", "More"):
            assert f">{link}</a>" in page
        assert page.count("aria-current") == 1 and '"/orchard" aria-current' in page
        paths = client.get("/api/openapi.json").json()["paths"]
        assert {"/api/garden", "/api/orchard"} <= set(paths) and "/api/orchard" in client.get("/api/docs").text
        assert client.get("/static/orchard/garden.css").status_code == 200
        assert client.get("/", follow_redirects=False).headers["location"] == "/garden"


@pytest.mark.parametrize("names", [("garden", "garden"), ("web",), ("shell",)])
def test_names_of_parts_differ(tmp_path, names):
    parts = [make_part(tmp_path / str(n), name) for n, name in enumerate(names)]
    with pytest.raises(ValueError, match="names of parts"):
        client_of(*parts)


def test_a_link_is_current_for_what_is_below_it_only(tmp_path):
    part = make_part(tmp_path)
    with client_of(part) as client:
        assert '<a href="/garden" aria-current="true">' in client.get("/garden/bed/4").text
        assert "aria-current" not in client.get("/gardener").text


@pytest.mark.parametrize(
    "path, status, sentence",
    [
        ("/garden/bed/1", 503, "Bed 1 is too big."),
        ("/garden/bed/2", 507, "The garden is under water."),
        ("/garden/bed/3", 500, "Something went wrong on the server"),
        ("/garden/bed/4", 404, "No bed."),
        ("/garden/bed/x", 422, "number: "),
        ("/nothing", 404, "There is no such page."),
        ("/static/garden/nothing", 404, "There is no such page."),
    ],
)
def test_errors_are_sentences(client, path, status, sentence):
    page = client.get(path)
    assert page.status_code == status and sentence in page.text and "<html" in page.text
    assert "default-src 'none'" in page.headers["content-security-policy"] and "spade" not in page.text
    assert "Sign in" not in page.text
    piece = client.get(path, headers={"HX-Request": "true"})
    assert piece.status_code == status and sentence in piece.text and "<html" not in piece.text


def test_errors_are_json_for_programs(client):
    wet = client.get("/api/garden/wet")
    assert (wet.status_code, wet.json()) == (507, {"error": "The garden is under water."})
    assert wet.headers["retry-after"] == "60"
    assert client.get("/api/nothing").json() == {"error": "There is no such page."}
    assert "<html" in client.get("/apiary").text


def test_times_to_answer_are_counted_up_to_bounds(client):
    client.get("/garden")
    found = re.findall(r'^pttt_http_seconds_bucket{le="(.+)",route="/garden"} (.+)$', client.get("/metrics").text, re.M)
    bounds = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5, 30, 120, float("inf")]
    assert [float(bound) for bound, _ in found] == bounds and found[-1][1] == "1.0"


def form_token(page):
    return page.partition('name="form_token" value="')[2].partition('"')[0]


def test_a_form_of_many_fields_is_refused(client):
    form = {"form_token": form_token(client.get("/garden").text), **{f"field{n}": "x" for n in range(9)}}
    assert client.post("/garden", data=form).status_code == 200
    assert client.post("/garden", data={**form, "one": "more"}).status_code == 400


def test_forms_belong_to_a_browser(client, tmp_path):
    token = form_token(client.get("/garden").text)
    assert client.post("/garden", data={"form_token": token}).status_code == 200
    for data, headers in (
        ({}, {}),
        ({"form_token": token[:-1] + ("0" if token[-1] != "0" else "1")}, {}),
        ({"form_token": token}, {"Origin": "http://evil.example"}),
        ({"form_token": token}, {"Sec-Fetch-Site": "cross-site"}),
        ({"form_token": token}, {"Cookie": "pttt_visitor=somebody-else"}),
    ):
        assert client.post("/garden", data=data, headers=headers).status_code == 403
    client.cookies.clear()
    assert client.post("/garden", data={"form_token": token}).status_code == 403
    assert client.get("/api/garden").json() == {"planted": 1}
    with client_of(make_part(tmp_path / "again")) as other:  # another key
        assert form_token(other.get("/garden", headers={"Cookie": "pttt_visitor=x"}).text) != form_token(
            client.get("/garden", headers={"Cookie": "pttt_visitor=x"}).text
        )


def test_without_accounts_nobody_is_asked_to_sign_in(client):
    assert "ign in" not in client.get("/garden").text
    for method, path in (("GET", "/sign-in"), ("POST", "/sign-in"), ("POST", "/sign-out")):
        assert client.request(method, path).status_code == 404


class Gardeners:
    """Accounts of one gardener, in memory."""

    token_label, token_help = "Your spade’s number", "It is on the handle."
    other_ways = ()

    def __init__(self):
        self.sessions = set()
        self.gardener = SimpleNamespace(id=7, name="<Ada>")

    def of_token(self, token):
        return self.gardener if token == "7.spade" else None

    def of_session(self, value):
        return self.gardener if value in self.sessions else None

    def begin_session(self, account):
        assert account is self.gardener
        self.sessions.add(f"session-{len(self.sessions)}")
        return f"session-{len(self.sessions) - 1}", 1000

    def end_session(self, value):
        self.sessions.discard(value)

    def first_page_of(self, account, wanted):
        return wanted or "/garden"

    def links_of(self, account):
        return ()

    def page_of(self, account):
        return f"/gardeners/{account.id}"


def test_every_page_shows_who_is_signed_in(tmp_path):
    accounts, part = Gardeners(), make_part(tmp_path)
    with client_of(part, accounts=accounts) as client:
        page = client.get("/sign-in").text
        assert "Your spade’s number" in page and "It is on the handle." in page
        wrong = client.post("/sign-in", data={"form_token": form_token(page), "token": "8.spade"})
        assert wrong.status_code == 401 and 'role="alert"' in wrong.text
        right = {"form_token": form_token(page), "token": " 7.spade "}
        answer = client.post("/sign-in", data=right, follow_redirects=False)
        assert answer.status_code == 303 and answer.headers["location"] == "/garden"
        assert "HttpOnly" in answer.headers["set-cookie"] and "Max-Age=1000" in answer.headers["set-cookie"]
        for path in ("/garden", "/nothing", "/api/docs"):
            assert '<a href="/gardeners/7" class="me"><bdi>&lt;Ada&gt;</bdi></a>' in client.get(path).text
        page = client.get("/garden").text
        client.post("/sign-out", data={"form_token": form_token(page)})
        assert not accounts.sessions and "Sign in" in client.get("/garden").text


def signed_in_to(client, page, to):
    form = {"form_token": form_token(page), "token": "7.spade", "to": to}
    return client.post("/sign-in", data=form, follow_redirects=False).headers["location"]


def test_signing_in_leads_back_to_the_page(tmp_path):
    with client_of(make_part(tmp_path), accounts=Gardeners()) as client:
        assert 'href="/sign-in?to=%2Fgarden"' in client.get("/garden").text.replace("?to=/", "?to=%2F")
        page = client.get("/sign-in?to=/garden/beds").text
        assert '<input type="hidden" name="to" value="/garden/beds">' in page
        wrong = client.post("/sign-in", data={"form_token": form_token(page), "token": "8.spade", "to": "/garden/beds"})
        assert '<input type="hidden" name="to" value="/garden/beds">' in wrong.text
        assert signed_in_to(client, page, "/garden/beds") == "/garden/beds"


@pytest.mark.parametrize(
    "to",
    [
        "",
        "//evil.example",
        "https://evil.example",
        "/\\evil",
        "/a//b",
        "garden",
        "/a\r\nSet-Cookie: x=1",
        "/" + 300 * "a",
    ],
)
def test_signing_in_never_leads_to_another_site(tmp_path, to):
    with client_of(make_part(tmp_path), accounts=Gardeners()) as client:
        page = client.get("/sign-in", params={"to": to}).text
        assert '<input type="hidden" name="to" value="">' in page
        assert signed_in_to(client, page, to) == "/garden"


def test_programs_send_a_token(tmp_path):
    part = make_part(tmp_path)

    @part.routers[0].get("/api/garden/mine")
    def mine(gardener: Annotated[object, Depends(bearer)]) -> str:
        """Whose garden it is."""
        return gardener.name

    with client_of(part, accounts=Gardeners(), wrong_tokens_per_hour=2) as client:

        def ask(header):
            return client.get("/api/garden/mine", headers={"Authorization": header} if header else {})

        assert ask("Bearer 7.spade").json() == "<Ada>"
        missing = ask(None)
        assert missing.status_code == 401 and "There is no token" in missing.json()["error"]
        assert missing.headers["www-authenticate"] == "Bearer"
        assert [ask("Bearer 8.spade").status_code for _ in range(3)] == [401, 401, 429]
        assert ask("Bearer 7.spade").status_code == 200
        operation = client.get("/api/openapi.json").json()["paths"]["/api/garden/mine"]["get"]
        assert operation["security"] == [{"token": []}] and "needs a token" in client.get("/api/docs").text


@pytest.mark.slow
def test_the_shell_needs_neither_course_nor_database_nor_numerics(tmp_path):
    """As for an application of other parts alone."""
    script = """
import sys
for name in ("sqlalchemy", "numpy", "numba", "pttt_ooc.course"):
    sys.modules[name] = None
from pathlib import Path
from tests.site.shell.test_web_shell import client_of, make_part
from pttt_ooc.site.shell.server import make_server
client = client_of(make_part(Path(sys.argv[1]) / "part"))
for path in ("/garden", "/livez", "/metrics", "/robots.txt", "/api/docs", "/static/web/shell.css"):
    assert client.get(path).status_code == 200, path
make_server(client.app)
"""
    paths = str(ROOT)
    command = [sys.executable, "-c", script, str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, env={"PYTHONPATH": paths})
    assert done.returncode == 0, done.stderr


def test_a_page_alone_for_slides_has_no_head_and_is_linked_with_its_whole_address(tmp_path):
    with client_of(make_part(tmp_path / "part")) as client:
        page = client.get("/garden?bed=4&bed=%22%3E").text
        assert 'href="/garden?bed=4&amp;bed=%22%3E&amp;alone=1"' in page and "<nav" in page
        alone = client.get("/garden?bed=4&alone=1").text
    assert "<nav" not in alone and "<footer" not in alone and "<main" in alone
    assert 'href="/garden?bed=4">The whole page</a>' in alone


@pytest.mark.parametrize(
    "host, status",
    [
        ("localhost:8080", 200),
        ("LOCALHOST", 200),
        ("localhost.:80", 200),
        ("play.localhost", 200),
        ("127.0.0.1:8080", 200),
        ("192.168.1.7", 200),
        ("[::1]:8080", 200),
        ("my-box:8080", 200),
        ("evil.example", 421),
        ("localhost.evil.example", 421),
        ("evil-localhost", 421),
        ("127.0.0.1.evil.example:8080", 421),
        ("1.2.3", 421),
        ("0x7f000001", 421),
    ],
)
def test_a_server_on_this_machine_answers_to_its_own_names_only(tmp_path, host, status):
    """A page of another site may have its own name lead here, and would read all answers."""
    names, part = names_of("my-box"), make_part(tmp_path)
    with client_of(part, names=names) as client:
        for path in ("/garden", "/livez", "/static/web/shell.css", "/nothing"):
            answer = client.get(path, headers={"Host": host})
            assert (answer.status_code == 421) == (status == 421), answer.text
        assert status == 200 or "called localhost or my-box" in answer.text.replace(
            socket.gethostname().lower(), "my-box"
        )
    with client_of(part) as client:
        assert client.get("/garden", headers={"Host": host}).status_code == 200, "a course has names of its own"


def test_the_process_of_a_local_server_knows_its_names(tmp_path):
    assert names_of("0.0.0.0") == {"localhost", "0.0.0.0", socket.gethostname().lower()}
    with listen("127.0.0.1", 0) as opened:
        command = [sys.executable, "-m", "pttt_ooc.site.shell.server", str(opened.fileno()), "my-box", "A", "B"]
        calls = json.dumps([["tests.site.shell.test_web_shell:garden_parts", str(tmp_path)]])
        process = subprocess.Popen([*command, calls], stdin=subprocess.PIPE, pass_fds=[opened.fileno()], cwd=ROOT)
        port, statuses = opened.getsockname()[1], []
        for host in ("my-box", "evil.example"):
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
            connection.request("GET", "/livez", headers={"Host": host})
            statuses.append(connection.getresponse().status)
            connection.close()
        process.stdin.close()
        process.wait(PATIENCE)
    assert statuses == [200, 421]


def garden_parts(directory):
    """The parts of that process."""
    return [make_part(Path(directory))]
