"""The walls around a bot's process: mounts and limits.  :mod:`.system_calls` has the filter of system calls."""

from __future__ import annotations

import json
import logging
import marshal
import math
import os
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from pttt_ooc.errors import PtttError, on_one_line

log = logging.getLogger("pttt.extreme.walls")
LAUNCHER = Path(__file__).with_name("launcher.py")
RUNNER = Path(__file__).with_name("runner.py")
FUNCTION_RUNNER = Path(__file__).with_name("function_runner.py")
"""What runs the file of a function; it needs the runner beside it."""
SEMANTICS = Path(__file__).with_name("python2_semantics.py")
"""What runs beside the runner for programs that were converted from Python 2."""
OUTPUT = 1 << 24
"""Maximum bytes that a bot may print in a match."""


class ExtremeError(PtttError):
    """A match or tournament of Extreme TicTacToe cannot be played as asked."""


@dataclass(frozen=True)
class Interpreter:
    """A Python that can run bots.

    Attributes
    ----------
    command
        The program and its options.
    version
        Major and minor number.
    shown
        Paths that it needs.
    paths
        Directories of installed modules.
    """

    command: tuple[str, ...]
    version: tuple[int, int]
    shown: tuple[str, ...]
    paths: tuple[str, ...]


_ASK = """
import json, os, sys, sysconfig
paths = [os.path.realpath(p) for p in sys.path if os.path.isdir(p)]
own = sysconfig.get_paths()
site = [os.path.realpath(own[k]) for k in ("purelib", "platlib") if os.path.isdir(own[k])]
need = [os.path.realpath(own[k]) for k in ("stdlib", "platstdlib") if os.path.isdir(own[k])]
library = os.path.join(sysconfig.get_config_var("LIBDIR") or "", sysconfig.get_config_var("INSTSONAME") or "")
if os.path.isfile(library) and library.count(".so"):
    need.append(library)
site += [p for p in paths if p.endswith("-packages") and p not in site]
print(json.dumps([list(sys.version_info[:2]), os.path.realpath(sys.executable), need, sorted(set(site))]))
"""


def _ask_interpreter(program: str, *options: str) -> Interpreter:
    """An interpreter's own description; OSError, ValueError or CalledProcessError if it does not run."""
    answer = subprocess.run(
        [program, "-c", _ASK], capture_output=True, check=True, timeout=60, stdin=subprocess.DEVNULL
    )
    version, executable, need, site = json.loads(answer.stdout)
    return Interpreter((executable, *options), tuple(version), (executable, *need, *site), tuple(site))


@cache
def python3() -> Interpreter:
    """The Python that runs this, with the modules installed beside this package."""
    base = _ask_interpreter(getattr(sys, "_base_executable", sys.executable), "-s", "-S", "-B")
    here = {os.path.realpath(sysconfig.get_path(name)) for name in ("purelib", "platlib")}
    site = sorted(path for path in here if os.path.isdir(path))
    own = [path for path in base.shown if path not in base.paths]
    return Interpreter(base.command, base.version, (*own, *site), tuple(site))


def _why(error: Exception) -> str:
    """Why a program does not run, in its own words if it has some."""
    said = getattr(error, "stderr", None) or b""
    words = said.decode(errors="replace").strip().splitlines()
    return on_one_line(words[-1][:200].rstrip(".") if words else str(error).rstrip("."))


PYTHON2_VARIABLE = "PTTT_PYTHON2"
"""The environment variable with the path of a Python 2.7 that is not on the PATH; empty: use none."""


@cache
def python2() -> Interpreter | None:
    """A Python 2.7 that runs, if one is installed: the one that the environment names, or the first on the PATH.

    Raises
    ------
    ExtremeError
        If the environment names a program that is no Python 2.7.
    """
    named = os.environ.get(PYTHON2_VARIABLE)
    places = [os.path.join(place, "python2.7") for place in os.get_exec_path()] if named is None else [named]
    for program in filter(None, places):
        if os.access(program, os.X_OK):
            try:
                found = _ask_interpreter(program, "-s", "-S", "-B")
            except (OSError, ValueError, subprocess.SubprocessError) as error:  # such as the shim of a version manager
                if named is None:
                    log.warning(f"{program} does not run, and the next Python 2.7 is tried: {_why(error)}.")
                continue
            if found.version == (2, 7):
                log.info("programs in Python 2 are run by", extra={"program": found.command[0]})
                return found
    if named:
        raise ExtremeError(f"{PYTHON2_VARIABLE} names {named}, which is no Python 2.7 that runs.")
    return None


def inside(script: Path) -> str:
    """The path, behind the walls, of a file that runs there."""
    return f"/bot/{script.name}"


def visible(interpreter: Interpreter, scripts: Iterable[Path], package: bool) -> list[list[str]]:
    """The content of a bot's file system: pairs of a path outside and a path inside.

    Parameters
    ----------
    scripts
        The files that run there.
    package
        Whether the bot sees this package, as the package's own bots do.
    """
    wanted = [path for path in ("/lib", "/lib64", "/usr/lib", "/usr/lib64") if os.path.exists(path)]
    wanted += ["/etc/ld.so.cache"] if os.path.exists("/etc/ld.so.cache") else []
    wanted += ["/dev/null", "/dev/urandom", *interpreter.shown]
    shown: list[list[str]] = []
    for path in sorted(set(wanted), key=lambda path: path.split("/")):
        if not any(path.startswith(other + "/") for other, _ in shown if not os.path.islink(other)):
            shown.append([path, path])
    shown += [[str(script), inside(script)] for script in scripts]
    root = Path(__file__).resolve().parents[2]  # of the package
    if package:
        shown.append([str(root), "/package/pttt_ooc"])
    elif any(str(root).startswith(path + "/") for path in interpreter.paths):
        shown.append([_empty_directory(), str(root)])  # hides it: other bots are in there
    return shown


@cache
def _empty_directory() -> str:
    path = Path(tempfile.gettempdir(), f"pttt-empty-{os.getuid()}")
    path.mkdir(mode=0o755, exist_ok=True)
    if path.is_symlink() or path.stat().st_uid != os.getuid() or any(path.iterdir()):
        raise ExtremeError(f"{path} must be an empty directory of yours; delete what is there.")
    return str(path)


def limits(memory_mb: int, seconds: float) -> dict[str, tuple[int, int]]:
    """Soft and hard limits of a bot's process, which may compute for `seconds` in all."""
    told = math.ceil(seconds) + 1
    most = {
        "RLIMIT_AS": memory_mb << 20,
        "RLIMIT_DATA": memory_mb << 20,  # the process that starts it may have a lower limit of its own
        "RLIMIT_CORE": 0,
        "RLIMIT_FSIZE": OUTPUT,
        "RLIMIT_NOFILE": 64,
        "RLIMIT_MEMLOCK": 0,
    }
    # The kernel's SIGKILL at the hard limit, much later, would look like the machine's doing.
    return {name: (value, value) for name, value in most.items()} | {"RLIMIT_CPU": (told, told + 3600)}


ENVIRONMENT = {
    "PATH": "/nowhere",
    "HOME": "/dev/null",  # no files can be made there
    "LANG": "C.UTF-8",
    "PYTHONHASHSEED": "0",
    # Libraries of linear algebra start threads, which bots may not have.
    **dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_MAX_THREADS"), "1"),
}


def launch(spec: dict[str, Any], keep: tuple[int, ...], status: int, output: int) -> subprocess.Popen[bytes]:
    """Start the launcher; it inherits the descriptors in `keep` and `status`."""
    return subprocess.Popen(
        [python3().command[0], "-I", "-S", "-B", str(LAUNCHER), marshal.dumps(spec).hex(), str(status)],
        stdin=subprocess.DEVNULL,
        stdout=output,
        stderr=output,
        pass_fds=(*keep, status),
        start_new_session=True,
        cwd="/",
        env={"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8"},
    )
