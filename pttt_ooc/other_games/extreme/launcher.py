"""Start a bot's process behind walls: a program that stands alone, ``python launcher.py SPEC STATUS``.

SPEC is an object of :mod:`marshal` in hexadecimal digits: the command, the files that it sees, limits, and whether
there are walls at all.  The program makes namespaces of its own for mounts, processes, network, IPC and
the host's name (and for users, where it is not root), builds a file system in memory with nothing in it but read-only
mounts, gives up all rights, and starts the command as the first process in there.  When that one ends, the kernel ends
all others that it may have started.  It imports little, as it runs once for each bot and match.
It writes the process's number to the descriptor STATUS, or a sentence that says why there is no process.
"""

from __future__ import annotations

import ctypes
import marshal
import os
import resource
import stat
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_NEW_MOUNTS, _NEW_IPC, _NEW_NAMES, _NEW_USERS = 0x00020000, 0x08000000, 0x04000000, 0x10000000
_NEW_PROCESSES, _NEW_NETWORK = 0x20000000, 0x40000000
_RECURSIVE, _PRIVATE, _BIND, _NO_SUID, _NO_DEVICES = 0x4000, 1 << 18, 0x1000, 0x2, 0x4
_ATTRIBUTE_READ_ONLY, _ATTRIBUTE_NO_SUID, _ATTRIBUTE_NO_DEVICES = 0x1, 0x2, 0x4
_MOUNT_SETATTR = 442  # the same number on all architectures
_AT_FDCWD, _AT_RECURSIVE, _DETACH = -100, 0x8000, 2
_PIVOT_ROOT = {"x86_64": 155, "aarch64": 41, "riscv64": 41}
_DIE_WITH_PARENT = 1
_SIGKILL = 9  # the module `signal` takes long to import
_NOBODY = 65534
_LIBC = ctypes.CDLL(None, use_errno=True)


def _check_result(result: int, what: str) -> None:
    if result != 0:
        raise OSError(ctypes.get_errno(), f"{what}: {os.strerror(ctypes.get_errno())}")


def _mount(source: str, target: str, kind: str | None, flags: int, options: str | None = None) -> None:
    texts = [None if text is None else text.encode() for text in (source, target, kind)]
    result = _LIBC.mount(*texts, ctypes.c_ulong(flags), None if options is None else options.encode())
    _check_result(result, f"mount {target}")


def _protect(path: str, attributes: int, flags: int = _AT_RECURSIVE) -> None:
    """Add attributes to the mount at a path, and by default to all mounts below it."""

    class Attributes(ctypes.Structure):
        _fields_ = [(name, ctypes.c_uint64) for name in ("set", "clear", "propagation", "users")]

    wanted = Attributes(attributes, 0, 0, 0)
    number, size = ctypes.c_long(_MOUNT_SETATTR), ctypes.c_size_t(ctypes.sizeof(wanted))
    result = _LIBC.syscall(number, _AT_FDCWD, path.encode(), ctypes.c_uint(flags), ctypes.byref(wanted), size)
    _check_result(result, f"protect {path}")


def _separate() -> None:
    """Leave the machine's namespaces; processes started from now on are in a new one of processes."""
    user, group = os.geteuid(), os.getegid()
    kinds = _NEW_MOUNTS | _NEW_IPC | _NEW_NAMES | _NEW_PROCESSES | _NEW_NETWORK
    why = "it cannot have namespaces of its own, for which an ordinary user needs the system's leave (sysctl user)"
    _check_result(_LIBC.unshare(kinds if user == 0 else kinds | _NEW_USERS), why)
    if user != 0:
        for name, text in (
            ("setgroups", "deny"),
            ("uid_map", f"{_NOBODY} {user} 1"),
            ("gid_map", f"{_NOBODY} {group} 1"),
        ):
            with open(f"/proc/self/{name}", "w") as file:
                file.write(text)
    _check_result(_LIBC.sethostname(b"bot", ctypes.c_size_t(3)), "sethostname")


def _furnish(root: str, shown: list[list[str]]) -> None:
    """Make the bot's file system at `root`; `shown` has pairs of a path outside and a path inside."""
    os.umask(0o022)  # the user `nobody` needs access, also where the referee keeps its files private
    _mount("none", "/", None, _RECURSIVE | _PRIVATE)
    # They are opened first, as the new root hides what is below its place.
    links = {source: os.readlink(source) for source, _ in shown if os.path.islink(source)}
    opened = {source: os.open(source, os.O_PATH | os.O_CLOEXEC) for source, _ in shown if source not in links}
    _mount("bot", root, "tmpfs", _NO_SUID | _NO_DEVICES, "size=256k,mode=755")
    for source, target in shown:
        place = root + target
        os.makedirs(os.path.dirname(place), exist_ok=True)
        if source in links:
            os.symlink(links[source], place)
            continue
        descriptor = opened[source]
        if stat.S_ISDIR(os.fstat(descriptor).st_mode):
            os.makedirs(place, exist_ok=True)
        else:
            os.close(os.open(place, os.O_CREAT | os.O_WRONLY, 0o644))
        _mount(f"/proc/self/fd/{descriptor}", place, None, _BIND | _RECURSIVE)
        device = target.startswith("/dev/")
        _protect(place, _ATTRIBUTE_NO_SUID if device else 7)
        os.close(descriptor)
    os.chdir(root)
    number = _PIVOT_ROOT.get(os.uname().machine)
    if number is None:
        raise OSError(f"the architecture {os.uname().machine} is not known")
    _check_result(_LIBC.syscall(ctypes.c_long(number), b".", b"."), "pivot_root")
    _check_result(_LIBC.umount2(b".", _DETACH), "umount2")
    os.chdir("/")
    _protect("/", _ATTRIBUTE_READ_ONLY | _ATTRIBUTE_NO_SUID | _ATTRIBUTE_NO_DEVICES, 0)


def _limit(limits: dict[str, tuple[int, int]]) -> None:
    for name, (told, end) in limits.items():
        kind = getattr(resource, name)
        hard = resource.getrlimit(kind)[1]
        if hard != resource.RLIM_INFINITY:
            told, end = min(told, hard), min(end, hard)
        resource.setrlimit(kind, (told, end))


def _become_nobody() -> None:
    if os.geteuid() == 0:
        os.setgroups([])
    os.setresgid(_NOBODY, _NOBODY, _NOBODY)
    os.setresuid(_NOBODY, _NOBODY, _NOBODY)


def _die_with_parent() -> None:
    _LIBC.prctl(_DIE_WITH_PARENT, ctypes.c_ulong(_SIGKILL), 0, 0, 0)


def main() -> None:
    """Start the command, and end as it ends: with its code, or by the same signal."""
    spec: dict[str, Any] = marshal.loads(bytes.fromhex(sys.argv[1]))
    status = int(sys.argv[2])
    parent = os.getppid()
    _die_with_parent()
    if os.getppid() != parent:
        os._exit(1)
    try:
        if spec["core"] is not None:
            os.sched_setaffinity(0, [spec["core"]])
        if spec["walls"]:
            _separate()
    except OSError as error:
        os.write(status, f"! {error.strerror or error}".encode())
        os._exit(1)
    child = os.fork()
    if child == 0:
        _become_bot(spec, status)
    os.write(status, b"%d " % child)
    os.close(status)
    for descriptor in spec["keep"]:  # only the bot holds the ends of its pipes: when it dies, the referee reads the end
        os.close(descriptor)
    _, result = os.waitpid(child, 0)
    code = os.waitstatus_to_exitcode(result)
    if code < 0:
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        _LIBC.signal(-code, None)  # Python ignores some
        os.kill(os.getpid(), -code)
    os._exit(code)


def _become_bot(spec: dict[str, Any], status: int) -> None:
    try:
        _die_with_parent()
        with open("/proc/self/oom_score_adj", "w") as file:
            file.write("1000")  # when memory runs out, the kernel ends bots first
        if spec["walls"]:
            _furnish("/tmp", spec["shown"])
            _become_nobody()
            _die_with_parent()  # forgotten when the user changes
        _limit(spec["limits"])
        for descriptor in spec["keep"]:
            os.set_inheritable(descriptor, True)
        os.set_inheritable(status, False)
        os.execve(spec["command"][0], spec["command"], spec["environment"])
    except BaseException as error:  # nothing of this process may go on as the launcher
        os.write(status, f"! {error}".encode())
    os._exit(127)


if __name__ == "__main__":
    main()
