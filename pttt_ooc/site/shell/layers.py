"""The layers around the application, from the inside: the gate, headers of every answer, and metrics.

The gate refuses requests that no honest client sends, and answers HEAD as GET without the body.  If the application
answers before it has read the whole body, the rest is read and discarded, within limits: a client that reads only after
it has sent everything still gets the answer.
"""

from __future__ import annotations

import asyncio
import ipaddress
import logging
import re
import time

from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest
from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from pttt_ooc.site.shell.arrival import ARRIVAL, Arrival
from pttt_ooc.site.shell.shell import Shell

log = logging.getLogger("pttt.web")
_HOST = re.compile(r"([A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(:[0-9]{1,5})?")
_HEAD_BYTES, _HEADERS = 32_768, 100
_DRAIN_SECONDS, _DRAIN_PAUSE = 60.0, 5.0  # seconds for all of an unread body, and between two pieces of it


class Gate:
    """A layer around the application; only the layers for metrics and headers are outside it.

    Parameters
    ----------
    drained
        Most bytes of a body that are read after the application has answered.
    proxies
        Whether the settings name any reverse proxy.
    names
        The names that a browser may use for this server, besides IP addresses; None: any.  Without this check, another
        site could point its own name at this machine and read its pages.
    """

    def __init__(self, app: ASGIApp, drained: int, proxies: bool, names: frozenset[str] | None = None) -> None:
        self.app, self._drained, self._names = app, drained, names
        self._warns = not proxies

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        scope.setdefault(ARRIVAL, Arrival())
        headers = Headers(scope=scope)
        if self._warns and "x-forwarded-for" in headers and (scope.get("client") or ("",))[0] in ("127.0.0.1", "::1"):
            self._warns = False  # one warning is enough
            log.warning("a proxy sends X-Forwarded-For, but is not among the trusted proxies")
        wrong = _what_is_wrong(scope, headers)
        if wrong is not None:
            refusal = PlainTextResponse(wrong + "\n", 400, {"Connection": "close"})
            await refusal(scope, receive, send)
            return
        if self._names is not None and not _is_called(headers.get("host", ""), self._names):
            told = f"This server is called {' or '.join(sorted(self._names))}: use that name, or its IP address.\n"
            await PlainTextResponse(told, 421, {"Connection": "close"})(scope, receive, send)
            return
        if scope["method"] == "HEAD":
            scope, send = _as_get(scope), _without_body(send)
        if "transfer-encoding" in headers or headers.get("content-length", "0") != "0":
            body = _Body(receive, send, headers.get("expect", "").lower() == "100-continue", self._drained)
            await self.app(scope, body.receive, body.send)
        else:
            await self.app(scope, receive, send)


def _what_is_wrong(scope: Scope, headers: Headers) -> str | None:
    if "transfer-encoding" in headers and ("content-length" in headers or scope.get("http_version") == "1.0"):
        # A proxy may see other requests in it than this server: RFC 9112, section 6.1.
        return "A request has either Content-Length or Transfer-Encoding."
    if sum(len(name) + len(value) for name, value in scope["headers"]) > _HEAD_BYTES or len(headers) > _HEADERS:
        return "The request has too many headers, or too long ones."
    if not scope["path"].startswith("/"):
        return "The address of a page begins with a slash."
    if "\0" in scope["path"]:
        return "The address contains a NUL character."
    hosts = headers.getlist("host")
    if len(hosts) > 1 or not all(_HOST.fullmatch(host) for host in hosts):
        return "The header Host is malformed, or there are several."
    return None


def _is_called(host: str, names: frozenset[str]) -> bool:
    """Whether a header Host has one of these names or an IP address, or is missing: browsers always send one."""
    name = re.sub(r":\d+$", "", host).strip("[]").rstrip(".").lower()
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return not host or name in names or name.endswith(".localhost")
    return True


# ---------------------------------------------------------------------------------------------
# HEAD


def _as_get(scope: Scope) -> Scope:
    # Files are then named instead of read; ranges are for GET only.
    headers = [(name, value) for name, value in scope["headers"] if name != b"range"]
    extensions = {**scope.get("extensions", {}), "http.response.pathsend": {}}
    return {**scope, "method": "GET", "headers": headers, "extensions": extensions}


def _without_body(send: Send) -> Send:
    async def sending(message: Message) -> None:
        if message["type"] == "http.response.body":
            message = {**message, "body": b""}
        elif message["type"] == "http.response.pathsend":
            message = {"type": "http.response.body", "body": b""}
        await send(message)

    return sending


# ---------------------------------------------------------------------------------------------
# Bodies


class _Body:
    """The body of one request: it is read to its end before the answer, or the connection ends."""

    def __init__(self, receive: Receive, send: Send, waits: bool, limit: int) -> None:
        self._receive, self._send = receive, send
        self._waits = waits  # the client waits for permission to send the body
        self._limit = limit
        self._ended = False

    async def receive(self) -> Message:
        message = await self._receive()
        self._waits = False
        self._ended = message["type"] != "http.request" or not message.get("more_body", False)
        return message

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start" and not self._ended:
            await self._answer_early(message)
        await self._send(message)

    async def _answer_early(self, start: Message) -> None:
        # A client that has stalled once gets no second wait.
        if self._waits or start["status"] == 408 or not await self._drain():
            MutableHeaders(scope=start)["Connection"] = "close"

    async def _drain(self) -> bool:
        left = self._limit
        try:
            async with asyncio.timeout(_DRAIN_SECONDS):
                while not self._ended and left >= 0:
                    message = await asyncio.wait_for(self.receive(), _DRAIN_PAUSE)
                    left -= len(message.get("body", b""))
        except TimeoutError:
            return False
        return self._ended


# ---------------------------------------------------------------------------------------------
# Headers


POLICY = "Content-Security-Policy"
HEADERS = {
    POLICY: "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
}
_FOR_A_YEAR = "public, max-age=31536000, immutable"


class SecurityHeaders:
    """Adds :data:`HEADERS` to every response; a page keeps its own policy if that is a sandbox without scripts.

    Caches keep static files only: for a year if the address names the content, else they revalidate them each time.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return

        async def sending(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    if not (name == POLICY and headers.get(name, "").startswith("sandbox;")):
                        headers[name] = value
                headers.setdefault("Cache-Control", _caching(scope, message["status"]))
            await send(message)

        await self.app(scope, receive, sending)


def _caching(scope: Scope, status: int) -> str:
    if not scope["path"].startswith("/static/"):
        return "no-store"
    return _FOR_A_YEAR if scope["query_string"].startswith(b"v=") and status in (200, 304) else "no-cache"


# ---------------------------------------------------------------------------------------------
# Metrics


_METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")
_BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5, 30, 120)


class Metrics:
    """The registry of one application."""

    def __init__(self, shell: Shell) -> None:
        self.registry = CollectorRegistry()
        labels = ("method", "route", "status")
        self.requests = Counter("pttt_http_requests", "Requests answered.", labels, registry=self.registry)
        self.seconds = Histogram(
            "pttt_http_seconds", "Time to answer.", ("route",), registry=self.registry, buckets=_BUCKETS
        )
        for part in shell.parts:
            for collector in part.collectors:
                self.registry.register(collector)

    def text(self) -> bytes:
        """All metrics in Prometheus' format."""
        return generate_latest(self.registry)


class Measured:
    """Counts and times requests by route."""

    def __init__(self, app: ASGIApp, metrics: Metrics) -> None:
        self.app, self.metrics = app, metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        begun, status = time.perf_counter(), 500

        async def sending(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self.app(scope, receive, sending)
        finally:
            route = _route(scope)
            method = scope["method"] if scope["method"] in _METHODS else "other"  # clients can invent methods
            self.metrics.requests.labels(method, route, status).inc()
            self.metrics.seconds.labels(route).observe(time.perf_counter() - begun)


def _route(scope: Scope) -> str:
    """The pattern of the route; there could be any number of different paths."""
    return getattr(scope.get("route"), "path", None) or ("/static" if scope["path"].startswith("/static/") else "other")
