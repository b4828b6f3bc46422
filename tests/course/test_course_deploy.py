"""The examples in `deploy/`: nginx in front of a grader, tried for real; the service; the steps of the container."""

import fnmatch
import http.client
import json
import os
import re
import shlex
import shutil
import socket
import ssl
import subprocess
from pathlib import Path

import pytest

from pttt_ooc.course.settings import CourseSettings
from pttt_ooc.web import gate
from pttt_ooc.web.protocol import Door
from tests.course.grader_kit import GAME, bearer, form_token, pttt, strategy_zip
from tests.course.test_course_attacks import Served
from tests.kits.patience import PATIENCE, wait_until

ROOT = Path(__file__).parent.parent.parent
DEPLOY = ROOT / "deploy"
NGINX = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin:/usr/local/sbin")
SITE = (DEPLOY / "nginx.conf").read_text(encoding="utf-8")
WHOLE = """\
daemon off;
{user}
pid {place}/pid;
error_log stderr;
worker_processes 1;
events {{ worker_connections 64; }}
http {{
    access_log off;
    client_body_temp_path {place}/body; proxy_temp_path {place}/proxy; fastcgi_temp_path {place}/fastcgi;
    uwsgi_temp_path {place}/uwsgi; scgi_temp_path {place}/scgi;
    include {place}/site;
}}
"""


def free_ports(count):
    found = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [port.getsockname()[1] for port in found]
    for port in found:
        port.close()
    return ports


def replaced(text, *changes):
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    return text


class Proxied:
    """The example's nginx before a grader, on ports of its own and with a certificate of its own."""

    def __init__(self, place):
        self.served = Served(place / "grader", trusted_proxies=("127.0.0.1",), wrong_tokens_per_hour=2)
        self.certificate, key, (plain, self.port) = place / "fullchain.pem", place / "privkey.pem", free_ports(2)
        command = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
        command += ["-subj", "/CN=grader.example", "-addext", "subjectAltName=IP:127.0.0.1", "-days", "2"]
        subprocess.run([*command, "-keyout", key, "-out", self.certificate], check=True, capture_output=True)
        site = re.sub(r"\n *listen \[::\].*", "", SITE)  # there may be no IPv6
        site = replaced(
            site,
            ("listen 80;", f"listen 127.0.0.1:{plain};"),
            ("listen 443 ", f"listen 127.0.0.1:{self.port} "),
            ("127.0.0.1:8080", "{}:{}".format(*self.served.address)),
            ("/etc/ssl/grader/", f"{place}/"),
        )
        (place / "site").write_text(site)
        user = "user root;" if os.geteuid() == 0 else ""
        (place / "nginx.conf").write_text(WHOLE.format(place=place, user=user))
        self.plain, self.log = plain, open(place / "log", "w+b")  # noqa: SIM115
        command = [NGINX, "-p", place, "-e", "stderr", "-c", place / "nginx.conf"]
        self.process = subprocess.Popen([*map(str, command)], stdout=self.log, stderr=self.log)
        wait_until(self._answers, alive=lambda: self.process.poll() is None, told=(place / "log").read_text)

    def _answers(self):
        try:
            socket.create_connection(("127.0.0.1", self.port)).close()
        except OSError:
            return False
        return True

    def ask(self, method, path, body=None, headers=None, address="127.0.0.1", tls=True, chunked=False):
        """The answer to a request from one of this machine's own addresses."""
        if tls:
            context = ssl.create_default_context(cafile=self.certificate)
            options = {"timeout": PATIENCE, "source_address": (address, 0), "context": context}
            connection = http.client.HTTPSConnection("127.0.0.1", self.port, **options)
        else:
            connection = http.client.HTTPConnection("127.0.0.1", self.plain, timeout=PATIENCE)
        connection.request(method, path, body, headers or {}, encode_chunked=chunked)
        answer = connection.getresponse()
        answer.text = answer.read().decode()
        connection.close()
        return answer

    def close(self):
        self.process.terminate()
        self.process.wait(PATIENCE)
        self.log.close()
        self.served.close()


@pytest.fixture(scope="module")
def proxied(tmp_path_factory):
    if NGINX is None or shutil.which("openssl") is None:
        pytest.skip("there is no nginx or no openssl (Debian: apt-get install nginx-light openssl)")
    made = Proxied(tmp_path_factory.mktemp("proxied"))
    yield made
    made.close()


def test_pages_come_over_tls(proxied):
    answer = proxied.ask("GET", "/", tls=False)
    assert (answer.status, answer.headers["Location"]) == (301, "https://127.0.0.1/")
    answer = proxied.ask("GET", "/")
    assert answer.status == 200 and "Leaderboard" in answer.text
    assert answer.headers["Strict-Transport-Security"] and answer.headers["Content-Security-Policy"]
    assert proxied.ask("GET", "/livez").status == 200
    assert [proxied.ask("GET", path).status for path in ("/metrics", "/healthz")] == [404, 404]


def test_a_program_submits_through_nginx(proxied, tmp_path):
    file = tmp_path / "mine.zip"
    file.write_bytes(strategy_zip(0, 1))
    server = f"https://127.0.0.1:{proxied.port}"
    environment = {"PTTT_TOKEN": proxied.served.token, "SSL_CERT_FILE": str(proxied.certificate)}
    done = pttt("submit", file, "--player", "0", "--server", server, "--no-wait", **environment)
    assert done.returncode == 0, done.stderr
    proxied.served.lab.run()
    assert json.loads(proxied.ask("GET", "/api/submissions/1").text)["status"] == "Accepted"


def test_an_upload_of_unknown_length_goes_through(proxied):
    part = '--x\r\nContent-Disposition: form-data; name="{}"{}\r\n\r\n'
    body = [part.format("player", "").encode(), b"1\r\n", part.format("file", '; filename="f"').encode()]
    body += [strategy_zip(1, 2), b"\r\n--x--\r\n"]
    headers = bearer(proxied.served.token) | {"Content-Type": "multipart/form-data; boundary=x"}
    headers["Transfer-Encoding"] = "chunked"
    answer = proxied.ask("POST", "/api/submissions", iter(body), headers, chunked=True)
    assert answer.status == 201, answer.text


def test_a_browser_signs_in_through_nginx(proxied):
    page = proxied.ask("GET", "/sign-in")
    cookie = page.headers["Set-Cookie"]
    assert "; secure" in cookie.lower()  # the grader knows that the browser speaks TLS
    body = f"form_token={form_token(page.text)}&token={proxied.served.token}"
    origin = {"Origin": f"https://127.0.0.1:{proxied.port}", "Content-Type": "application/x-www-form-urlencoded"}
    answer = proxied.ask("POST", "/sign-in", body, origin | {"Cookie": cookie.partition(";")[0]})
    assert answer.status == 303, answer.text


def test_the_grader_sees_who_the_client_is(proxied):
    def wrong(address, said):
        headers = {"Authorization": "Bearer 1.wrong", "X-Forwarded-For": said, "Forwarded": f"for={said}"}
        return proxied.ask("GET", "/api/submissions/1/file", None, headers, address).status

    # What a client says of itself neither helps it nor harms others.
    assert [wrong("127.0.0.2", f"192.0.2.{n}") for n in range(3)] == [401, 401, 429]
    assert wrong("127.0.0.3", "127.0.0.2") == 401


# ---------------------------------------------------------------------------------------------
# What the examples say


def directive(name):
    [value] = re.findall(rf"^\s*{name}\s+(.*);", SITE, re.MULTILINE)
    return value


def test_sizes_and_times_are_those_of_the_grader():
    assert int(directive("client_max_body_size").removesuffix("m")) << 20 >= CourseSettings().max_upload_bytes + (
        1 << 20
    )
    count, size = directive("large_client_header_buffers").split()
    assert int(count) * (int(size.removesuffix("k")) << 10) <= gate._HEAD_BYTES
    assert float(directive("client_header_timeout").removesuffix("s")) <= Door(1, 1).head_seconds
    # Both are needed for uploads to be handed on as they come, or else nginx collects them on its own disk.
    assert (directive("proxy_request_buffering"), directive("proxy_http_version")) == ("off", "1.1")


def test_the_service_is_in_order(tmp_path):
    if shutil.which("systemd-analyze") is None:
        pytest.skip("there is no systemd-analyze")
    text = replaced((DEPLOY / "pttt-grader.service").read_text(), ("/opt/pttt/bin/pttt", "/bin/true"))
    (tmp_path / "pttt-grader.service").write_text(text)
    command = ["systemd-analyze", "verify", tmp_path / "pttt-grader.service"]
    done = subprocess.run([*map(str, command)], capture_output=True, text=True, timeout=PATIENCE)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def commands_of_examples():
    """The commands `pttt` of the service and of the container."""
    service, container = ((DEPLOY / name).read_text() for name in ("pttt-grader.service", "Containerfile"))
    yield shlex.split(re.search(r"^ExecStart=\S+ (.*)$", service, re.MULTILINE)[1])
    entry = re.search(r"^ENTRYPOINT \[(.*)\]$", container, re.MULTILINE)[1]
    yield [part.strip().strip('"') for part in entry.split(",")][1:]


@pytest.mark.parametrize("command", list(commands_of_examples()), ids=["service", "container"])
def test_their_commands_exist(command, tmp_path, monkeypatch):
    monkeypatch.setattr(
        "pttt_ooc.course.serve.serve", lambda data, game, host, port, *more: print(data, game, host, port)
    )
    host = command[command.index("--host") + 1]
    assert pttt(*command).stdout.split()[1:] == ["None", host, "8080"]
    assert CourseSettings().game != GAME  # neither names one: the course's


def test_the_container_gets_what_it_copies():
    ignored = [line for line in (ROOT / ".dockerignore").read_text().splitlines() if not line.startswith("#")]
    kept = [line[1:] for line in ignored if line.startswith("!")]
    copied = re.findall(r"^COPY (?!--from)(.*) \S+$", (DEPLOY / "Containerfile").read_text(), re.MULTILINE)
    for name in " ".join(copied).split():
        assert (ROOT / name).exists() and name in kept, name
    assert ignored[0] == "*" and set(kept) == set(" ".join(copied).split())
    assert any(fnmatch.fnmatch("pttt_ooc/__pycache__", line) for line in ignored)
