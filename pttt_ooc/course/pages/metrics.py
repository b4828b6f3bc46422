"""Figures for Prometheus from the database."""

from __future__ import annotations

import time
from collections.abc import Iterator

from prometheus_client.core import GaugeMetricFamily, Metric, SummaryMetricFamily
from prometheus_client.registry import Collector
from sqlalchemy import func, select

from pttt_ooc.course.data.models import STATUSES, UNFINISHED, Submission, Team
from pttt_ooc.course.data.term_tables import GradeRow, LogLine, Report
from pttt_ooc.course.pages.context import Course
from pttt_ooc.disk.resources import available_bytes


class FromDatabase(Collector):
    """Figures of one course."""

    def __init__(self, course: Course) -> None:
        self._course = course

    def describe(self) -> list[Metric]:
        """Nothing, so that registering reads no database."""
        return []

    def collect(self) -> Iterator[Metric]:
        """All current figures."""
        course = self._course
        with course.database.reading() as session:
            counted = session.execute(select(Submission.status, func.count()).group_by(Submission.status))
            counts: dict[str, int] = {status: count for status, count in counted}
            oldest = session.scalar(select(func.min(Submission.received_at)).where(Submission.status.in_(UNFINISHED)))
            judged, spent = session.execute(
                select(func.count(Submission.evaluation_seconds), func.sum(Submission.evaluation_seconds))
            ).one()
            teams = session.scalar(select(func.count(Team.id))) or 0
            reports = session.scalar(select(func.count(Report.id))) or 0
            grades = session.scalar(select(func.count(GradeRow.id))) or 0
            decisions = session.scalar(select(func.count(LogLine.id))) or 0
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
        beat = course.storage.seconds_since_beat()
        yield GaugeMetricFamily(
            "pttt_worker_silent_seconds",
            "Seconds since the worker's last sign of life; -1: none.",
            value=-1 if beat is None else beat,
        )
        yield GaugeMetricFamily("pttt_disk_free_bytes", "Free bytes on the disk.", value=course.storage.free_bytes())
        yield GaugeMetricFamily("pttt_memory_available_bytes", "Memory left for programs.", value=available_bytes())
        yield GaugeMetricFamily("pttt_uploads_in_flight", "Uploads being received.", value=len(course.in_flight))
        yield GaugeMetricFamily("pttt_reports", "Reports received.", value=reports)
        yield GaugeMetricFamily("pttt_grades", "Rows in the history of grades.", value=grades)
        yield GaugeMetricFamily("pttt_decisions", "Lines in the log of decisions.", value=decisions)
