"""The system calls of a bot's process: the kernel's filter, and its notices of the calls that are forbidden.

A process that makes a forbidden call waits in the kernel, which never carries the call out; the referee reads which
call it is, and ends the process.  See seccomp(2) and seccomp_unotify(2).
"""

from __future__ import annotations

import base64
import ctypes
import fcntl
import os
import struct
import tempfile
from functools import cache
from types import ModuleType
from typing import Any

from pttt_ooc.extras import check_extra
from pttt_ooc.other_games.extreme.walls import ExtremeError

ALLOWED = """
    read readv pread64 preadv write writev pwrite64 close close_range lseek dup dup2 dup3 fcntl
    open openat stat fstat lstat newfstatat statx access faccessat faccessat2 readlink readlinkat
    getdents getdents64 getcwd
    mmap munmap mremap mprotect madvise brk mlock munlock mbind get_mempolicy
    futex futex_waitv get_robust_list set_robust_list rseq sched_yield sched_getaffinity getcpu set_tid_address
    clock_gettime clock_getres clock_nanosleep nanosleep gettimeofday time times getrusage getitimer
    poll ppoll select pselect6 restart_syscall rt_sigreturn rt_sigprocmask sigaltstack
    getpid getppid gettid getuid geteuid getgid getegid getresuid getresgid getgroups getpgrp getpgid getsid
    uname sysinfo getrandom arch_prctl getrlimit exit exit_group
"""
"""System calls for computing, importing modules and waiting.  All files there are read-only."""

_STACK = 3  # RLIMIT_STACK, the one limit that a bot may change

FORBIDDEN = {
    "start threads or other processes": "clone clone3 fork vfork execve execveat",
    "look into other processes": "ptrace process_vm_readv process_vm_writev kcmp pidfd_open pidfd_getfd",
    "send signals": "kill tkill tgkill pidfd_send_signal rt_sigqueueinfo rt_tgsigqueueinfo",
    "set handlers of signals, or timers": """
        rt_sigaction signalfd signalfd4 alarm setitimer timer_create timerfd_create
    """,
    "use a network": """
        socket socketpair bind connect listen accept accept4 sendto sendmsg sendmmsg recvfrom recvmsg recvmmsg
    """,
    "change the system": """
        mount umount2 pivot_root chroot unshare setns open_tree move_mount fsopen bpf perf_event_open userfaultfd
        io_uring_setup keyctl add_key request_key init_module finit_module reboot
        shmget shmat msgget semget memfd_create memfd_secret setuid setgid setresuid setresgid setgroups capset
    """,
}
"""System calls that end the process, by what a bot may not do.

All others fail with "operation not permitted".
"""

_HANDLERS, _INTERNAL = "rt_sigaction", (32, 33)
"""The C library sets handlers of these signals, which cannot be sent, before its first thread: the thread is refused,
so that the message for the team is about threads and not about handlers."""
_PIDFD_GETFD = 438  # the same number on all architectures
_NOTICE = struct.Struct("=QIIiIQ6Q")  # struct seccomp_notif: id, pid, flags, and the call: number, architecture, ...
_RECEIVE = 0xC0000000 | _NOTICE.size << 16 | ord("!") << 8  # SECCOMP_IOCTL_NOTIF_RECV
_LIBC = ctypes.CDLL(None, use_errno=True)


def _binding() -> ModuleType:
    check_extra("extreme", "The wall around bots")
    try:
        import pyseccomp
    except (ImportError, OSError, RuntimeError) as error:
        raise ExtremeError(
            "The walls around bots need the library libseccomp: install the package libseccomp2 (Debian)."
        ) from error
    module: ModuleType = pyseccomp
    return module


@cache
def _names() -> dict[int, str]:
    """The forbidden calls by their numbers on this machine."""
    library = _binding()
    names = " ".join(FORBIDDEN.values()).split()
    return {library.resolve_syscall(library.Arch.NATIVE, name): name for name in names}


@cache
def call_filter(listening: bool) -> dict[str, Any]:
    """The filter of system calls, as :func:`~pttt_ooc.other_games.extreme.runner.close_door` takes it.

    Parameters
    ----------
    listening
        Whether a :class:`Listener` hears of forbidden calls; else the kernel ends the process and does not say which
        call it was.

    Returns
    -------
    dict
        ``code``, in the kernel's format and in base 64; ``number``, of the system call seccomp(2); and ``listening``.

    Raises
    ------
    MissingExtraError
        If the Python binding of libseccomp is missing.
    ExtremeError
        If libseccomp is missing.
    """
    # A call that is on neither list fails with an error, which a bot may survive; a forbidden one ends the process.
    library = _binding()
    made = library.SyscallFilter(library.ERRNO(1))
    refusal = library.NOTIFY if listening else library.KILL_PROCESS
    for action, names in ((library.ALLOW, ALLOWED.split()), (refusal, {*_names().values()} - {_HANDLERS})):
        for name in names:
            if library.resolve_syscall(library.Arch.NATIVE, name) >= 0:  # else this machine or library lacks it
                made.add_rule(action, name)
    # Handlers may be set for the C library's own signals only.
    made.add_rule(refusal, _HANDLERS, library.Arg(0, library.LT, _INTERNAL[0]))
    made.add_rule(refusal, _HANDLERS, library.Arg(0, library.GT, _INTERNAL[-1]))
    for signal in _INTERNAL:
        made.add_rule(library.ALLOW, _HANDLERS, library.Arg(0, library.EQ, signal))
    # Limits may be read, and the stack's may be changed.  A lower hard limit of processor time would end the process
    # with the kernel's SIGKILL, as if somebody else had sent it.  The kernel reads 32 bits of the number of a limit.
    made.add_rule(library.ALLOW, "prlimit64", library.Arg(2, library.EQ, 0))
    made.add_rule(library.ALLOW, "prlimit64", library.Arg(1, library.MASKED_EQ, 0xFFFFFFFF, _STACK))
    for request in (0x5401, 0x5450, 0x5451):  # is it a terminal; close on exec, or not
        made.add_rule(library.ALLOW, "ioctl", library.Arg(1, library.EQ, request))
    with tempfile.TemporaryFile() as file:
        made.export_bpf(file)
        file.seek(0)
        code = base64.b64encode(file.read()).decode()
    return {"code": code, "number": library.resolve_syscall(library.Arch.NATIVE, "seccomp"), "listening": listening}


def refusal_of(name: str) -> str:
    """One sentence about a forbidden system call."""
    what = next(what for what, names in FORBIDDEN.items() if name in names.split())
    return f"It made the system call {name}, which is forbidden: a bot may not {what}."


def taken_descriptor(process: int, number: int) -> int:
    """A copy of another process's descriptor.

    Parameters
    ----------
    process
        A descriptor of the process, as of pidfd_open(2).
    number
        The descriptor's number in that process.

    Raises
    ------
    OSError
        If the system does not let this process look into that one (see ptrace(2)), or there is none.
    """
    got = int(_LIBC.syscall(ctypes.c_long(_PIDFD_GETFD), process, number, 0))
    if got < 0:
        error = ctypes.get_errno()
        raise OSError(error, os.strerror(error))
    return got


class Listener:
    """The kernel's notices of a process's forbidden calls.

    Parameters
    ----------
    process, number
        The process that has set a filter which is listened to, and the descriptor it was given for that; see
        :func:`taken_descriptor`.

    Attributes
    ----------
    descriptor
        Can be read from once there is a notice.
    """

    def __init__(self, process: int, number: int) -> None:
        self.descriptor = taken_descriptor(process, number)

    def call(self) -> str:
        """The name of the call that a process waits in; a FileNotFoundError if it has ended since."""
        notice = bytearray(_NOTICE.size)
        fcntl.ioctl(self.descriptor, _RECEIVE, notice)
        return _names()[_NOTICE.unpack(notice)[3]]
