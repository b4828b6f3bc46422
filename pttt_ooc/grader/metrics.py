"""Figures for Prometheus: what the web server counts, and what the database knows."""

from __future__ import annotations

import time
from collections.abc import Iterator

from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest
from prometheus_client.core import GaugeMetricFamily, Metric, SummaryMetricFamily
from prometheus_client.registry import Collector
from sqlalchemy import func, select
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from pttt_ooc.grader.context import Grader
from pttt_ooc.grader.models import STATUSES, UNFINISHED, Submission, Team

_METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")


class Metrics:
    """The registry of one web server."""

    def __init__(self, grader: Grader) -> None:
        self.registry = CollectorRegistry()
        labels = ("method", "route", "status")
        self.requests = Counter("pttt_http_requests", "Requests answered.", labels, registry=self.registry)
        buckets = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5, 30, 120)
        self.seconds = Histogram(
            "pttt_http_seconds", "Time to answer.", ("route",), registry=self.registry, buckets=buckets
        )
        self.registry.register(_FromDatabase(grader))

    def text(self) -> bytes:
        """All figures in Prometheus' format."""
        return generate_latest(self.registry)


class _FromDatabase(Collector):
    def __init__(self, grader: Grader) -> None:
        self._grader = grader

    def describe(self) -> list[Metric]:
        return []

    def collect(self) -> Iterator[Metric]:
        grader = self._grader
        with grader.database.reading() as session:
            counted = session.execute(select(Submission.status, func.count()).group_by(Submission.status))
            counts: dict[str, int] = {status: count for status, count in counted}
            oldest = session.scalar(select(func.min(Submission.received_at)).where(Submission.status.in_(UNFINISHED)))
            judged, spent = session.execute(
                select(func.count(Submission.evaluation_seconds), func.sum(Submission.evaluation_seconds))
            ).one()
            teams = session.scalar(select(func.count(Team.id))) or 0
        statuses = GaugeMetricFamily("pttt_submissions", "Submissions by status.", labels=["status"])
        for status in STATUSES:
            statuses.add_metric([status], counts.get(status, 0))
        yield statuses
        yield GaugeMetricFamily("pttt_teams", "Teams, the baseline included.", value=teams)
        wait = max(0.0, time.time() - oldest) if oldest else 0.0
        yield GaugeMetricFamily(
            "pttt_oldest_wait_seconds", "Age of the oldest submission without a verdict.", value=wait
        )
        yield SummaryMetricFamily(
            "pttt_evaluation_seconds", "Time to evaluate a strategy.", count_value=judged, sum_value=spent or 0.0
        )
        beat = grader.storage.seconds_since_beat()
        yield GaugeMetricFamily(
            "pttt_worker_silent_seconds",
            "Since the worker's last sign of life; -1: none.",
            value=-1 if beat is None else beat,
        )
        yield GaugeMetricFamily("pttt_disk_free_bytes", "Room on the disk.", value=grader.storage.free_bytes())


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
            method = scope["method"] if scope["method"] in _METHODS else "other"  # anybody can invent one
            self.metrics.requests.labels(method, route, status).inc()
            self.metrics.seconds.labels(route).observe(time.perf_counter() - begun)


def _route(scope: Scope) -> str:
    """The pattern of the route, not the path: paths are without number."""
    return getattr(scope.get("route"), "path", None) or ("/static" if scope["path"].startswith("/static/") else "other")
