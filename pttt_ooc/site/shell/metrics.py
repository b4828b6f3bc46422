"""Metrics for Prometheus: the application's own, and its parts'."""

from __future__ import annotations

import time

from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from pttt_ooc.site.shell.shell import Shell

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
    """The pattern of the route instead of the path: there is no limit to paths."""
    return getattr(scope.get("route"), "path", None) or ("/static" if scope["path"].startswith("/static/") else "other")
