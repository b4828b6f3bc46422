"""E-mails by the server that the settings name."""

from __future__ import annotations

import smtplib
import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from email.errors import MessageError
from email.headerregistry import Address
from email.message import EmailMessage
from email.policy import SMTP
from urllib.parse import unquote, urlsplit

from pttt_ooc.errors import CourseError

SECONDS = 20.0
_PORTS = {"smtp": 587, "smtps": 465}


def check_smtp(url: str) -> str:
    """An address of a server for e-mails; ValueError if it cannot be one."""
    parts = urlsplit(url)
    if parts.scheme not in _PORTS or not parts.hostname or parts.port == 0 or parts.path.strip("/") or parts.query:
        raise ValueError("smtp://NAME:PASSWORD@HOST:PORT, or smtps://...")
    return url


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
            made[name] = Address(addr_spec=address)
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
            server: smtplib.SMTP = smtplib.SMTP_SSL(host, port, timeout=SECONDS, context=context)
        else:
            server = smtplib.SMTP(host, port, timeout=SECONDS)
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
