"""Announcements on their way, by webhooks and by e-mail: what is to be sent to whom, and what became of it.

Requests go to addresses that somebody has set, but only to public ones, wherever their names lead.
"""

from __future__ import annotations

import http.client
import ipaddress
import json
import logging
import smtplib
import socket
import ssl
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from email import headerregistry
from email.errors import MessageError
from email.message import EmailMessage
from email.policy import SMTP
from pathlib import Path
from typing import Any
from urllib.parse import SplitResult, unquote, urlsplit

from sqlalchemy import select
from sqlalchemy.orm import Session

from pttt_ooc.course.data.database import Database
from pttt_ooc.course.data.settings import CourseSettings, checked_url, read_settings
from pttt_ooc.course.data.term_tables import Announcement, Delivery
from pttt_ooc.course.people.people import members, staff
from pttt_ooc.errors import CourseError, PtttError

WEBHOOK, EMAIL = "webhook", "email"
ATTEMPTS = 5
"""After so many attempts a message is given up."""

FIRST_PAUSE = 60.0
"""Seconds after the first attempt; each further pause is four times as long."""


def enter(session: Session, data: Path, announcement: Announcement) -> int:
    """Write down who gets an announcement, as the settings say now; returns how many messages there are."""
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
    """Whom a message is for; for a webhook only the host, as the rest is a key."""
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


# ---------------------------------------------------------------------------------------------
# Requests that leave the machine


POST_SECONDS = 10.0
"""Seconds for a connection, and for each step of an answer."""

_NAT64, _UNICAST = ipaddress.ip_network("64:ff9b::/96"), ipaddress.ip_network("2000::/3")
_SPECIAL = [  # IANA's special purposes that Python's list lacks, or lacked until lately; no host has such an address
    ipaddress.ip_network(one) for one in ("192.0.0.0/24", "192.88.99.0/24", "2001::/23", "2001:db8::/32", "3fff::/20")
]
Address = ipaddress.IPv4Address | ipaddress.IPv6Address


def is_public(address: Address) -> bool:
    """Whether an address is one of the internet: not private, loopback, link-local, multicast or reserved.

    An IPv6 address that stands for an IPv4 address is judged by that one.  Of all others, only those that are given to
    hosts are public, so that kinds of addresses that come later are not.
    """
    if isinstance(address, ipaddress.IPv6Address):
        if address.ipv4_mapped is not None:
            return is_public(address.ipv4_mapped)
        if address in _NAT64:
            return is_public(ipaddress.IPv4Address(int(address) & 0xFFFFFFFF))
        if address not in _UNICAST or (address.sixtofour is not None and not is_public(address.sixtofour)):
            return False
    special = any(one.version == address.version and address in one for one in _SPECIAL)
    return address.is_global and not special and not address.is_multicast and not address.is_reserved


def public_address(host: str, port: int) -> str:
    """An IP address of a host, all of whose addresses are public.

    Raises
    ------
    CourseError
        If there is none, or one of them is not public.
    """
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise CourseError(f"{host} is not found: {getattr(error, 'strerror', None) or error}.") from None
    addresses = [str(one[4][0]).partition("%")[0] for one in found]
    for text in addresses:
        if not is_public(ipaddress.ip_address(text)):
            raise CourseError(f"{host} leads to {text}, which is no public address; nothing is sent there.")
    return addresses[0]


class _Pinned(http.client.HTTPConnection):
    """A connection to an address that was checked; the name is not looked up again."""

    def __init__(self, parts: SplitResult) -> None:
        port = parts.port or (443 if parts.scheme == "https" else 80)
        super().__init__(str(parts.hostname), port, timeout=POST_SECONDS)
        self._address, self._tls = public_address(str(parts.hostname), port), parts.scheme == "https"

    def connect(self) -> None:
        self.sock = socket.create_connection((self._address, self.port), POST_SECONDS)
        if self._tls:
            self.sock = ssl.create_default_context().wrap_socket(self.sock, server_hostname=self.host)


def post(url: str, body: bytes) -> None:
    """Send JSON to an address.  Only the status of the answer is read, and redirects are not followed.

    Raises
    ------
    CourseError
        If it cannot be sent, or is not accepted.
    """
    parts = checked_url(url)
    path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    host = str(parts.hostname)
    with closing(_Pinned(parts)) as connection:
        try:
            connection.request("POST", path, body, {"Content-Type": "application/json", "User-Agent": "pttt"})
            status = connection.getresponse().status
        except (OSError, http.client.HTTPException, ValueError) as error:
            reason = getattr(error, "strerror", None) or str(error) or type(error).__name__
            raise CourseError(f"{host} cannot be reached: {reason}.") from error
    if not 200 <= status < 300:
        raise CourseError(f"{host} answers with status {status}.")


# ---------------------------------------------------------------------------------------------
# E-mails


_MAIL_SECONDS = 20.0
_PORTS = {"smtp": 587, "smtps": 465}


def message(sender: str, recipient: str, subject: str, text: str) -> EmailMessage:
    """An e-mail with plain text.

    Raises
    ------
    CourseError
        If an address or the subject cannot be in a header, such as one with a line break.
    """
    made = EmailMessage(policy=SMTP)
    try:
        for name, address in (("From", sender), ("To", recipient)):
            made[name] = headerregistry.Address(addr_spec=address)
        if any(ord(character) < 32 or character in "\x7f\x85\u2028\u2029" for character in subject):
            raise ValueError("the subject has a control character")
        made["Subject"] = subject
    except (ValueError, IndexError, TypeError, MessageError) as error:
        raise CourseError(f"The e-mail to {recipient!r} cannot be written: {error}.") from None
    made["Auto-Submitted"] = "auto-generated"  # RFC 3834: no out-of-office replies
    made.set_content(text or subject)
    return made


@contextmanager
def connect(url: str) -> Iterator[smtplib.SMTP]:
    """A connection to the server for the block, encrypted if there is a password.

    Raises
    ------
    CourseError
        If it cannot be used.
    """
    parts = urlsplit(url)
    host, port = str(parts.hostname), parts.port or _PORTS[parts.scheme]
    context = ssl.create_default_context()
    try:
        if parts.scheme == "smtps":
            server: smtplib.SMTP = smtplib.SMTP_SSL(host, port, timeout=_MAIL_SECONDS, context=context)
        else:
            server = smtplib.SMTP(host, port, timeout=_MAIL_SECONDS)
        with server:
            if parts.scheme == "smtp":
                server.ehlo_or_helo_if_needed()
                if server.has_extn("starttls"):
                    server.starttls(context=context)
                elif parts.password:
                    raise CourseError(f"{host} offers no encryption; the password is not sent. Use smtps://.")
            if parts.username:
                server.login(unquote(parts.username), unquote(parts.password or ""))
            yield server
    except (OSError, smtplib.SMTPException) as error:
        raise CourseError(f"The e-mail server {host} cannot be used: {' '.join(str(error).split())}.") from error


def send(server: smtplib.SMTP, made: EmailMessage) -> None:
    """Send one e-mail; CourseError if its recipient is refused."""
    try:
        server.send_message(made)
    except (smtplib.SMTPRecipientsRefused, smtplib.SMTPDataError, smtplib.SMTPSenderRefused) as error:
        raise CourseError(f"The e-mail is refused: {' '.join(str(error).split())}."[:400]) from error


# ---------------------------------------------------------------------------------------------
# The messenger


log = logging.getLogger("pttt.course.messenger")
_PAUSE = 5.0  # seconds between two looks
_TOGETHER = 50  # e-mails by one connection
_LAST_SECONDS = 15.0  # seconds at the end for the message that is being sent


class Messenger:
    """Sends what :func:`pttt_ooc.course.people.post.enter` has written down.

    A message that a kill breaks off is sent again: it may arrive twice, but is not lost.
    """

    def __init__(self, database: Database, settings: CourseSettings, stopping: threading.Event) -> None:
        self._database, self._settings, self._stopping = database, settings, stopping

    def run(self) -> None:
        """Send until `stopping` is set, in a thread of its own: a slow receiver delays no verdict."""
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
        """Send the messages that are due; returns how many they were."""
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
                        post(delivery.target, _body(self._settings.title, announcement))
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
            return stack.enter_context(connect(self._settings.smtp))
        except CourseError as error:
            return str(error)

    def _mail(self, server: smtplib.SMTP | str, delivery: Delivery, announcement: Announcement) -> None:
        if isinstance(server, str):
            raise CourseError(server)
        subject = f"[{self._settings.title}] {announcement.title}"
        made = message(self._settings.mail_from or "", delivery.target, subject, announcement.text)
        send(server, made)

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

    A receiver that takes too long is given up: the next process sends its message again.
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
