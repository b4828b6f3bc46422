"""Requests to addresses that somebody has set: only to public ones, whatever their names lead to, and nowhere else."""

from __future__ import annotations

import http.client
import ipaddress
import socket
import ssl
from contextlib import closing
from urllib.parse import SplitResult, urlsplit

from pttt_ooc.errors import CourseError

SECONDS = 10.0
"""Seconds for a connection, and for each step of an answer."""

_LONGEST = 2000
_NAT64, _UNICAST = ipaddress.ip_network("64:ff9b::/96"), ipaddress.ip_network("2000::/3")
_SPECIAL = [  # of IANA's registries of special purposes, what is no address of a host, and not in Python's list or new
    ipaddress.ip_network(one) for one in ("192.0.0.0/24", "192.88.99.0/24", "2001::/23", "2001:db8::/32", "3fff::/20")
]
Address = ipaddress.IPv4Address | ipaddress.IPv6Address


def is_public(address: Address) -> bool:
    """Whether an address is one of the internet: not private, loopback, link-local, multicast or reserved.

    An IPv6 address that stands for an IPv4 address is judged by that one; of all others, only those are public that are
    given to hosts, so that no kind of address that comes later is.
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


def checked_url(url: str) -> SplitResult:
    """The parts of an address that may be called; CourseError if it cannot be one.

    It has no user name, which some servers take for a part of the host.
    """
    try:
        parts = urlsplit(url)
        good = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        good = False
    if not good or len(url) > _LONGEST or not url.isascii() or not url.isprintable() or set(url) & set(' \\<>"^`{|}'):
        raise CourseError("A webhook is an address such as https://chat.example.org/hooks/KEY.")
    if parts.username is not None or parts.password is not None:
        raise CourseError("A webhook has no user name and no password in it.")
    return parts


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
        super().__init__(str(parts.hostname), port, timeout=SECONDS)
        self._address, self._tls = public_address(str(parts.hostname), port), parts.scheme == "https"

    def connect(self) -> None:
        self.sock = socket.create_connection((self._address, self.port), SECONDS)
        if self._tls:
            self.sock = ssl.create_default_context().wrap_socket(self.sock, server_hostname=self.host)


def post(url: str, body: bytes) -> None:
    """Send JSON to an address.  Nothing of the answer but its status is read, and redirects are not followed.

    Raises
    ------
    CourseError
        If it is not sent, or not taken.
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
