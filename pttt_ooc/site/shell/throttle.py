"""Limits by address, never by the name of a team, so that teams cannot lock each other out.

A right token always passes, however many wrong tokens came from its address: a whole campus may share one address, and
tokens are too long to guess.  Passwords are not: after too many wrong ones from an address or for an account, no more
are checked.  A browser in which the account has signed in before has a limit of its own, so that others do not lock it
out.
"""

from __future__ import annotations

import ipaddress
import threading
import time
from collections import OrderedDict

from fastapi import HTTPException, Request

_ADDRESSES = 10_000  # the most that are remembered, least recently seen first out
_IPV6_NETWORK = 64  # bits of an IPv6 network, which one customer has as a whole


def network_of(asks: Request | str | None) -> str:
    """An IPv4 address, or the network of an IPv6 one, also of a request's client; ``"unknown"`` for any other text."""
    address = (asks.client.host if asks.client else None) if isinstance(asks, Request) else asks
    try:
        found = ipaddress.ip_address((address or "").partition("%")[0])
    except ValueError:
        return "unknown"
    if isinstance(found, ipaddress.IPv4Address):
        return str(found)
    if found.ipv4_mapped is not None:
        return str(found.ipv4_mapped)
    return str(ipaddress.ip_network((found, _IPV6_NETWORK), strict=False))


class Throttle:
    """A leaky bucket for each address, or other name.

    Parameters
    ----------
    per_hour
        The capacity of a bucket, which leaks out in an hour.
    """

    def __init__(self, per_hour: int) -> None:
        self._per_hour = per_hour
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()  # level, and the time of that level
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._buckets)

    def spend(self, name: str) -> float:
        """Count one request; returns 0, or the seconds until there is space if the bucket is full."""
        now = time.monotonic()
        leak = self._per_hour / 3600.0
        with self._lock:
            level, since = self._buckets.pop(name, (0.0, now))
            level = max(0.0, level - (now - since) * leak)
            full = level + 1 > self._per_hour
            self._buckets[name] = (level if full else level + 1, now)
            if len(self._buckets) > _ADDRESSES:
                self._buckets.popitem(last=False)
        return (level + 1 - self._per_hour) / leak if full else 0.0

    def give_back(self, name: str) -> None:
        """Count one request less."""
        with self._lock:
            level, since = self._buckets.get(name, (0.0, 0.0))
            if level:
                self._buckets[name] = (max(0.0, level - 1), since)

    def check(self, request: Request, what: str) -> None:
        """Count a request; 429 if there are too many: `what` is, for example, "games have been begun"."""
        if self.spend(network_of(request)) > 0:
            raise HTTPException(429, f"Too many {what} from your address; try again in a minute.")
