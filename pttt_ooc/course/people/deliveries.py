"""Announcements on their way: what is to be sent to whom, and what became of it."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from sqlalchemy import select
from sqlalchemy.orm import Session

from pttt_ooc.course.data.settings import read_settings
from pttt_ooc.course.data.term_tables import Announcement, Delivery
from pttt_ooc.course.people.people import members, staff

WEBHOOK, EMAIL = "webhook", "email"
ATTEMPTS = 5
"""After so many attempts a message is given up."""

FIRST_PAUSE = 60.0
"""Seconds after the first attempt; each further pause is four times as long."""


def enter(session: Session, data: Path, announcement: Announcement) -> int:
    """Write down who gets an announcement, as the settings of now say; returns how many messages there are."""
    settings = read_settings(data)
    wanted = [(WEBHOOK, url) for url in settings.webhooks]
    if settings.smtp is not None:
        people = [*staff(session), *(one for team in members(session).values() for one in team)]
        wanted += [(EMAIL, address) for address in dict.fromkeys(one.email for one in people)]
    now = time.time()
    for channel, target in wanted:
        made = Delivery(announcement_id=announcement.id, channel=channel, target=target, next_at=now, trouble="")
        session.add(made)
    return len(wanted)


def shown_target(one: Delivery) -> str:
    """Whom a message is for; of a webhook the host only, as the rest is a key."""
    return one.target if one.channel == EMAIL else str(urlsplit(one.target).hostname)


def state_of(one: Delivery) -> str:
    """What became of a message."""
    if one.sent_at is not None:
        return "sent"
    return "given up" if one.attempts >= ATTEMPTS else "waiting"


def deliveries(session: Session, limit: int | None = None) -> list[tuple[Delivery, Announcement]]:
    """All messages with their announcements, the latest first."""
    query = select(Delivery, Announcement).join(Announcement, Announcement.id == Delivery.announcement_id)
    return [(one, told) for one, told in session.execute(query.order_by(Delivery.id.desc()).limit(limit))]


def facts(found: Sequence[tuple[Delivery, Announcement]]) -> list[dict[str, Any]]:
    """Messages as JSON."""
    return [
        {
            "announcement": announcement.title,
            "channel": one.channel,
            "target": shown_target(one),
            "state": state_of(one),
            "attempts": one.attempts,
            "sent_at": one.sent_at,
            "trouble": one.trouble,
        }
        for one, announcement in found
    ]


def problems(session: Session) -> list[str]:
    """A sentence for each place that did not get an announcement."""
    failed = select(Delivery).where(Delivery.sent_at.is_(None), Delivery.attempts >= ATTEMPTS).order_by(Delivery.id)
    told = {shown_target(one): one.trouble for one in session.scalars(failed)}
    return [f"An announcement has not reached {target}: {trouble}" for target, trouble in told.items()]
