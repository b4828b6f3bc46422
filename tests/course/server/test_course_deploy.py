"""The examples in `deploy/`: nginx and Caddy in front of a course, tried for real; services; the container's steps."""

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

from pttt_ooc.course.data.settings import CourseSettings
from pttt_ooc.site.shell import gate
from pttt_ooc.site.shell.protocol import Door
from tests.course.server_kit import GAME, Served, bearer, form_token, pttt, strategy_zip
from tests.kits.patience import PATIENCE, wait_until

ROOT = Path(__file__).parents[3]
DEPLOY = ROOT / "deploy"
NGINX = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin:/usr/local/sbin")
CADDY = shutil.which("caddy")
SITE = (DEPLOY / "nginx.conf").read_text(encoding="utf-8")
CADDYFILE = (DEPLOY / "Caddyfile").read_text(encoding="utf-8")
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
    """The example's proxy before a course, on ports of its own and with a certificate of its own."""

    def __init__(self, place, kind):
        self.kind = kind
        self.served = Served(place / "course", trusted_proxies=("127.0.0.1",), wrong_tokens_per_hour=2)
        self.certificate, key, (plain, self.port) = place / "fullchain.pem", place / "privkey.pem", free_ports(2)
        command = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
        command += ["-subj", "/CN=course.example", "-addext", "subjectAltName=IP:127.0.0.1", "-days", "2"]
        subprocess.run([*command, "-keyout", key, "-out", self.certificate], check=True, capture_output=True)
        self.plain, self.log = plain, open(place / "log", "w+b")  # noqa: SIM115
        command = self._nginx(place, key) if kind == "nginx" else self._caddy(place, key)
        environment = {**os.environ, "HOME": str(place), "XDG_DATA_HOME": str(place), "XDG_CONFIG_HOME": str(place)}
        self.process = subprocess.Popen([*map(str, command)], stdout=self.log, stderr=self.log, env=environment)
        wait_until(self._answers, alive=lambda: self.process.poll() is None, told=(place / "log").read_text)

    def _nginx(self, place, key):
        site = re.sub(r"\n *listen \[::\].*", "", SITE)  # there may be no IPv6
        site = replaced(
            site,
            ("listen 80;", f"listen 127.0.0.1:{self.plain};"),
            ("listen 443 ", f"listen 127.0.0.1:{self.port} "),
            ("127.0.0.1:8080", "{}:{}".format(*self.served.address)),
            ("/etc/ssl/course/", f"{place}/"),
        )
        (place / "site").write_text(site)
        user = "user root;" if os.geteuid() == 0 else ""
        (place / "nginx.conf").write_text(WHOLE.format(place=place, user=user))
        return [NGINX, "-p", place, "-e", "stderr", "-c", place / "nginx.conf"]

    def _caddy(self, place, key):
        own = f"admin off\n\tskip_install_trust\n\thttp_port {self.plain}\n\thttps_port {self.port}\n"
        site = replaced(
            CADDYFILE,
            ("{\n\tservers {", f"{{\n\t{own}\tservers {{"),
            ("\ncourse.example {\n", f"\n127.0.0.1 {{\n\ttls {self.certificate} {key}\n"),
            ("127.0.0.1:8080 {", "{}:{} {{".format(*self.served.address)),
        )
        (place / "Caddyfile").write_text(site)
        return [CADDY, "run", "--adapter", "caddyfile", "--config", place / "Caddyfile"]

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


@pytest.fixture(scope="module", params=["nginx", "caddy"])
def proxied(tmp_path_factory, request):
    if {"nginx": NGINX, "caddy": CADDY}[request.param] is None or shutil.which("openssl") is None:
        pytest.skip(f"there is no {request.param} or no openssl (Debian: apt-get install nginx-light caddy openssl)")
    made = Proxied(tmp_path_factory.mktemp(request.param), request.param)
    yield made
    made.close()


def test_pages_come_over_tls(proxied):
    answer = proxied.ask("GET", "/", tls=False)
    assert answer.status in (301, 308) and answer.headers["Location"] == "https://127.0.0.1/"
    answer = proxied.ask("GET", "/")
    assert answer.status == 200 and "Leaderboard" in answer.text
    assert answer.headers["Strict-Transport-Security"] and answer.headers["Content-Security-Policy"]
    assert proxied.ask("GET", "/livez").status == 200
    assert [proxied.ask("GET", path).status for path in ("/metrics", "/healthz")] == [404, 404]


def test_a_program_submits_through_the_proxy(proxied, tmp_path):
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


def test_a_browser_signs_in_through_the_proxy(proxied):
    page = proxied.ask("GET", "/sign-in")
    cookie = page.headers["Set-Cookie"]
    assert "; secure" in cookie.lower()  # the course knows that the browser speaks TLS
    body = f"form_token={form_token(page.text)}&token={proxied.served.token}"
    origin = {"Origin": f"https://127.0.0.1:{proxied.port}", "Content-Type": "application/x-www-form-urlencoded"}
    answer = proxied.ask("POST", "/sign-in", body, origin | {"Cookie": cookie.partition(";")[0]})
    assert answer.status == 303, answer.text


def test_the_course_sees_who_the_client_is(proxied):
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


def test_sizes_and_times_are_those_of_the_course():
    assert int(directive("client_max_body_size").removesuffix("m")) << 20 >= CourseSettings().max_upload_bytes + (
        1 << 20
    )
    count, size = directive("large_client_header_buffers").split()
    assert int(count) * (int(size.removesuffix("k")) << 10) <= gate._HEAD_BYTES
    assert float(directive("client_header_timeout").removesuffix("s")) <= Door(1, 1).head_seconds
    # Both are needed for uploads to be handed on as they come, or else nginx collects them on its own disk.
    assert (directive("proxy_request_buffering"), directive("proxy_http_version")) == ("off", "1.1")


def test_sizes_and_times_of_caddy_are_those_of_the_course():
    size = int(re.search(r"max_size (\d+)MB", CADDYFILE)[1]) * 1_000_000
    assert size >= CourseSettings().max_upload_bytes + (1 << 20)
    assert int(re.search(r"max_header_size (\d+)KB", CADDYFILE)[1]) << 10 <= gate._HEAD_BYTES
    assert float(re.search(r"read_header (\d+)s", CADDYFILE)[1]) <= Door(1, 1).head_seconds


SERVICES = ("pttt-course.service", "pttt-course-daily.service", "pttt-course-daily.timer")


@pytest.fixture
def units(tmp_path):
    """The services, with a program that is there."""
    if shutil.which("systemd-analyze") is None:
        pytest.skip("there is no systemd-analyze")
    for name in SERVICES:
        (tmp_path / name).write_text((DEPLOY / name).read_text().replace("/opt/pttt/bin/pttt", "/bin/true"))
    return tmp_path


def analyzed(*arguments, cwd):
    command = ["systemd-analyze", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, cwd=cwd)


@pytest.mark.parametrize("bots", [False, True])
def test_the_services_are_in_order(units, bots):
    if bots:
        (units / "pttt-course.service.d").mkdir()
        shutil.copy(DEPLOY / "bots.conf", units / "pttt-course.service.d")
    done = analyzed("verify", *(f"./{name}" for name in SERVICES), cwd=units)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.parametrize("name, most", [("pttt-course.service", 1.6), ("pttt-course-daily.service", 1.6)])
def test_the_services_are_shut_in(units, name, most):
    """By the figure of `systemd-analyze security`: 0 is nothing exposed, 10 is everything."""
    done = analyzed("security", "--offline=yes", f"--threshold={int(10 * most)}", f"./{name}", cwd=units)
    if "offline" in done.stderr:
        pytest.skip("systemd-analyze is older than 250")
    assert done.returncode == 0 and float(re.search(r"exposure level.*: ([0-9.]+)", done.stdout)[1]) <= most


@pytest.mark.skipif(shutil.which("unshare") is None, reason="there is no unshare")
def test_bots_need_what_the_service_forbids_and_the_addition_gives():
    """The kinds of namespaces and calls that the launcher of bots uses are those of bots.conf."""
    service, addition = (DEPLOY / "pttt-course.service").read_text(), (DEPLOY / "bots.conf").read_text()
    launcher = (ROOT / "pttt_ooc" / "other_games" / "extreme" / "launcher.py").read_text()
    kinds = {"_NEW_MOUNTS": "mnt", "_NEW_IPC": "ipc", "_NEW_NAMES": "uts", "_NEW_USERS": "user"}
    kinds |= {"_NEW_PROCESSES": "pid", "_NEW_NETWORK": "net"}
    assert "RestrictNamespaces=yes" in service and all(kind in launcher for kind in kinds)
    assert set(re.search(r"RestrictNamespaces=(.*)", addition)[1].split()) == set(kinds.values())
    assert "sethostname(" in launcher and "ProtectHostname=no" in addition and " sethostname\n" in addition


def commands_of_examples():
    """The commands `pttt` of the service and of the container."""
    service, container = ((DEPLOY / name).read_text() for name in ("pttt-course.service", "Containerfile"))
    yield shlex.split(re.search(r"^ExecStart=\S+ (.*)$", service, re.MULTILINE)[1])
    entry = re.search(r"^ENTRYPOINT \[(.*)\]$", container, re.MULTILINE)[1]
    yield [part.strip().strip('"') for part in entry.split(",")][1:]


@pytest.mark.parametrize("command", list(commands_of_examples()), ids=["service", "container"])
def test_their_commands_exist(command, tmp_path, monkeypatch):
    monkeypatch.setattr(
        "pttt_ooc.course.server.serve.serve", lambda data, game, host, port, *more: print(data, game, host, port)
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
