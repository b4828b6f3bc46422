"""A process that has loaded the libraries, and forks to run tests: loading them takes longer than most tests do.

Each line that it reads is a job in JSON: ``place``, where the tests run; ``arguments`` of pytest; ``environment``; and
``log``, a file.  For each it writes a line with the number of the forked process, and one with how that has ended.
"""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
from contextlib import suppress
from importlib import import_module
from typing import Any

LIBRARIES = (
    *("numpy", "numba.core.dispatcher", "scipy.stats", "scipy.optimize", "statsmodels.stats.proportion", "choix"),
    *("matplotlib.figure", "zarr", "h5py", "pydantic", "yaml", "jinja2", "typer", "rich", "psutil", "hypothesis"),
    *("fastapi.testclient", "uvicorn.protocols.http.h11_impl", "sqlalchemy", "pettingzoo", "gymnasium", "pytest"),
)


class ForkServer:
    """The process, from outside."""

    libraries = LIBRARIES

    def __init__(self) -> None:
        environment = {key: value for key, value in os.environ.items() if key != "NUMBA_DISABLE_JIT"}
        pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "bufsize": 0}
        self._process = subprocess.Popen([sys.executable, __file__, *self.libraries], env=environment, cwd="/", **pipes)

    def close(self) -> None:
        """End it."""
        self._process.communicate()

    def run(self, limit: float, **job: Any) -> tuple[int | None, float]:
        """The exit code of pytest, None if it takes longer than `limit` seconds; and its seconds of the processor."""
        assert self._process.stdin and self._process.stdout
        self._process.stdin.write(json.dumps(job).encode() + b"\n")
        child = int(self._process.stdout.readline())
        try:
            in_time = bool(select.select([self._process.stdout], [], [], limit)[0])
        finally:
            # Processes that a test has started, too.
            with suppress(ProcessLookupError):
                os.killpg(child, signal.SIGKILL)
        code, seconds = self._process.stdout.readline().split()
        return int(code) if in_time else None, float(seconds)


def _run(place: str, arguments: list[str], environment: dict[str, str], log: str) -> None:
    """Be the forked process; ends it."""
    with open(log, "wb") as file, open(os.devnull, "rb") as nothing:
        for descriptor, source in ((0, nothing), (1, file), (2, file)):
            os.dup2(source.fileno(), descriptor)
    os.chdir(place)
    os.environ.clear()
    os.environ.update(environment)
    sys.path[0], sys.argv = place, ["pytest", *arguments]
    if "numba" in sys.modules:
        sys.modules["numba.core.config"].DISABLE_JIT = int(environment.get("NUMBA_DISABLE_JIT", "0"))  # type: ignore[attr-defined]
    import pytest

    code = int(pytest.main(arguments))
    sys.stdout.flush()
    os._exit(code)


def main() -> None:
    """Serve until the other side closes."""
    for name in sys.argv[1:]:
        with suppress(ImportError):
            import_module(name)
    for line in sys.stdin:
        child = os.fork()
        if not child:
            os.setsid()
            try:
                _run(**json.loads(line))
            finally:
                os._exit(70)
        print(child, flush=True)
        _, status, usage = os.wait4(child, 0)
        print(os.waitstatus_to_exitcode(status), usage.ru_utime + usage.ru_stime, flush=True)


if __name__ == "__main__":
    main()
