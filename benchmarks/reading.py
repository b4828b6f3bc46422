"""Read a page again and again, in a process of its own; this module has no heavy imports."""

from __future__ import annotations

import http.client
import time

PATIENCE = 600.0  # seconds for one answer


def read_pages(port, path, stopping, pause, found):
    """Read a page again and again, and put the times and the number of failures into a queue."""
    times, failures = [], 0
    last = False
    while not last:
        last = stopping.is_set()  # once more, so that there is at least one time
        begun = time.perf_counter()
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
        try:
            connection.request("GET", path)
            answer = connection.getresponse()
            answer.read()
            if answer.status != 200:
                failures += 1
            times.append((time.time(), time.perf_counter() - begun))
        except (OSError, http.client.HTTPException):
            failures += 1
        finally:
            connection.close()
        stopping.wait(pause)
    found.put((times, failures))
