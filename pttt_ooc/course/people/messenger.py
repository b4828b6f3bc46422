"""Announcements on their way: to webhooks, and by e-mail to students and people with rights."""

from __future__ import annotations

import json
import logging
import smtplib
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from sqlalchemy import select

from pttt_ooc.course.data import mail, outgoing
from pttt_ooc.course.data.database import Database
from pttt_ooc.course.data.settings import CourseSettings
from pttt_ooc.course.data.term_tables import Announcement, Delivery
from pttt_ooc.course.people.deliveries import ATTEMPTS, EMAIL, FIRST_PAUSE
from pttt_ooc.errors import CourseError, PtttError

log = logging.getLogger("pttt.course.messenger")
_PAUSE = 5.0  # seconds between two looks
_TOGETHER = 50  # e-mails by one connection
_LAST_SECONDS = 15.0  # seconds at the end for the message that is being sent


class Messenger:
    """Sends what :func:`pttt_ooc.course.people.deliveries.enter` has written down.

    What a kill breaks off is sent again, so that a message may arrive twice, but is not lost.
    """

    def __init__(self, database: Database, settings: CourseSettings, stopping: threading.Event) -> None:
        self._database, self._settings, self._stopping = database, settings, stopping

    def run(self) -> None:
        """Send until `stopping` is set, in a thread of its own: a slow receiver keeps nobody from a verdict."""
        while not self._stopping.is_set():
            try:
                if self.send_due():
                    continue
            except (PtttError, OSError) as error:
                log.error(str(error))
            except Exception:
                log.exception("messages could not be sent")
            self._stopping.wait(_PAUSE)

    def send_due(self) -> int:
        """Send what is due; returns how many messages that were."""
        due = self._claim()
        with ExitStack() as stack:
            server: smtplib.SMTP | str | None = None
            for delivery, announcement in due:
                if self._stopping.is_set():
                    break
                try:
                    if delivery.channel == EMAIL:
                        server = self._server(stack) if server is None else server
                        self._mail(server, delivery, announcement)
                    else:
                        outgoing.post(delivery.target, _body(self._settings.title, announcement))
                    trouble = ""
                except CourseError as error:
                    trouble = str(error)[:500]
                self._enter(delivery.id, trouble)
        return len(due)

    def _claim(self) -> list[tuple[Delivery, Announcement]]:
        """The messages that are due, with the attempt written down before it is made."""
        now = time.time()
        query = select(Delivery).where(
            Delivery.sent_at.is_(None), Delivery.attempts < ATTEMPTS, Delivery.next_at <= now
        )
        with self._database.reading() as session:
            if session.scalar(query.limit(1)) is None:
                return []
        with self._database.writing() as session:
            found = []
            for one in session.scalars(query.order_by(Delivery.id).limit(_TOGETHER)).all():
                one.attempts += 1
                one.next_at = now + FIRST_PAUSE * 4 ** (one.attempts - 1)
                announcement = session.get(Announcement, one.announcement_id)
                if announcement is not None:
                    found.append((one, announcement))
            return found

    def _server(self, stack: ExitStack) -> smtplib.SMTP | str:
        """A connection, or why there is none."""
        if self._settings.smtp is None:
            return "The settings name no e-mail server any more."
        try:
            return stack.enter_context(mail.connect(self._settings.smtp))
        except CourseError as error:
            return str(error)

    def _mail(self, server: smtplib.SMTP | str, delivery: Delivery, announcement: Announcement) -> None:
        if isinstance(server, str):
            raise CourseError(server)
        subject = f"[{self._settings.title}] {announcement.title}"
        made = mail.message(self._settings.mail_from or "", delivery.target, subject, announcement.text)
        mail.send(server, made)

    def _enter(self, number: int, trouble: str) -> None:
        with self._database.writing() as session:
            found = session.get(Delivery, number)
            if found is not None:
                found.trouble = trouble
                found.sent_at = None if trouble else time.time()
        if trouble:
            log.warning("a message is not sent", extra={"delivery": number, "why": trouble})


@contextmanager
def sending(database: Database, settings: CourseSettings, stopping: threading.Event) -> Iterator[None]:
    """A thread that sends messages during the block; at the end it finishes the one that it is sending.

    A receiver that takes too long is left: its message is sent again by the next process.
    """
    thread = threading.Thread(target=Messenger(database, settings, stopping).run, name="messenger", daemon=True)
    thread.start()
    try:
        yield
    finally:
        stopping.set()
        thread.join(_LAST_SECONDS)
        if thread.is_alive():
            log.error("a message could not be sent to its end; it is sent again later")


def _body(course: str, one: Announcement) -> bytes:
    """JSON of an announcement: `text` is what Slack and Mattermost show, `content` what Discord does."""
    text = f"{one.title}\n{one.text}".strip()
    told = {"course": course, "title": one.title, "body": one.text, "at": one.at, "text": text, "content": text[:2000]}
    return json.dumps(told, ensure_ascii=True).encode()
