"""Attacks by bots: each forfeits or fails; referee and opponent are unharmed, and nothing is left behind."""

import dataclasses
import os
import re
import socket
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

import pttt_ooc
from pttt_ooc.other_games.extreme import bot_programs
from pttt_ooc.other_games.extreme.bot_process import BotProcess, Conditions
from pttt_ooc.other_games.extreme.bot_programs import ProgramError, program
from pttt_ooc.other_games.extreme.match import play_match
from pttt_ooc.other_games.extreme.walled_process import Enclosed, MachineError
from tests.kits.patience import wait_until
from tests.other_games.extreme.bot_kit import FIRST, bot, bot_text, children, walls_missing

REASON = walls_missing()
pytestmark = pytest.mark.skipif(bool(REASON), reason=REASON or "there are walls")
CONDITIONS = Conditions(time_limit=5, memory_mb=512)
PACKAGE = Path(pttt_ooc.__file__).parent
MEMBARRIER = {"x86_64": 324, "aarch64": 283, "riscv64": 283}.get(os.uname().machine)


def attack(body, before="", init="pass", **conditions):
    """Play the attacker against a bot that takes the first cell, whose own moves must be as always."""
    before_it = children()
    match = play_match(
        (bot(body, before, init), bot(file="team2.py")), Conditions(**{**vars(CONDITIONS), **conditions})
    )
    assert children() == before_it
    return match


def lost(match):
    return match.winner == "P2" and match.points == (0, 86)


START, LOOK = "start threads or other processes", "look into other processes"
SIGNALS, HANDLERS = "send signals", "set handlers of signals, or timers"
NETWORK, SYSTEM = "use a network", "change the system"
CALLS = {  # what a bot does, what it may not, and the calls that libraries and architectures make for it
    "a fork bomb": ("import os\nwhile True: os.fork()", START, "clone clone3 fork"),
    "a vfork": ("import os; os.posix_spawn('/bin/true', ['true'], {})", START, "clone clone3 vfork"),
    "another program": ("import os, sys; os.execv(sys.executable, ['python'])", START, "execve"),
    "a thread": ("import threading; threading.Thread(target=print).start()", START, "clone clone3"),
    "a pool": ("import concurrent.futures as f; f.ThreadPoolExecutor().submit(print)", START, "clone clone3"),
    "a socket": ("import socket; socket.socket()", NETWORK, "socket"),
    "a pair of sockets": ("import socket; socket.socketpair()", NETWORK, "socketpair"),
    "an unnamed socket": ("import socket; socket.socket(socket.AF_UNIX)", NETWORK, "socket"),
    "ptrace": ("import ctypes; ctypes.CDLL(None).ptrace(16, 1, 0, 0)", LOOK, "ptrace"),
    "memory of another process": (
        "import ctypes; ctypes.CDLL(None).process_vm_readv(1, None, 0, None, 0, 0)",
        LOOK,
        "process_vm_readv",
    ),
    "a signal to everybody": ("import os; os.kill(-1, 9)", SIGNALS, "kill"),
    "a signal to the group": ("import os; os.killpg(0, 9)", SIGNALS, "kill"),
    "a handler of signals": ("import signal; signal.signal(signal.SIGALRM, print)", HANDLERS, "rt_sigaction"),
    "a handler of a real-time signal": ("import signal; signal.signal(40, print)", HANDLERS, "rt_sigaction"),
    "an alarm": ("import signal; signal.alarm(1)", HANDLERS, "alarm setitimer"),
    "a timer": ("import signal; signal.setitimer(signal.ITIMER_REAL, 1)", HANDLERS, "setitimer"),
    "other namespaces": ("import ctypes; ctypes.CDLL(None).unshare(0x10000000)", SYSTEM, "unshare"),
    "a mount": ("import ctypes; ctypes.CDLL(None).mount(b'a', b'/', b'tmpfs', 0, None)", SYSTEM, "mount"),
    "shared memory": ("import ctypes; ctypes.CDLL(None).shmget(1, 4096, 0o1666)", SYSTEM, "shmget"),
}


@pytest.mark.slow_but_one
@pytest.mark.parametrize("name", CALLS)
def test_a_forbidden_system_call_forfeits(name):
    code, forbidden, calls = CALLS[name]
    match = attack(code + "\n" + FIRST)
    assert lost(match) and match.message == "THREW AN EXCEPTION"
    told = re.fullmatch(r"It made the system call (\w+), which is forbidden: a bot may not ([\w ,]+)\.", match.detail)
    assert told and told[1] in calls.split() and told[2] == forbidden


def test_where_the_system_hides_which_call_was_refused_the_message_says_so(monkeypatch):
    def refuse(process, number):
        raise PermissionError("not this one")

    monkeypatch.setattr("pttt_ooc.other_games.extreme.walled_process.taken_descriptor", refuse)
    match = attack(CALLS["a thread"][0] + "\n" + FIRST)
    assert lost(match) and match.message == "THREW AN EXCEPTION"
    assert match.detail.startswith("It made a system call that is forbidden")
    assert match.detail.endswith("The system does not say which call it was.")


def test_a_bot_that_survives_a_refused_call_is_ended_at_once():
    started = time.monotonic()
    match = attack("try: " + CALLS["a socket"][0] + "\nexcept BaseException: pass\n" + FIRST, time_limit=60)
    assert lost(match) and "socket" in match.detail
    assert time.monotonic() - started < 30


@pytest.mark.slow_but_one
@pytest.mark.parametrize("name", ["a fork bomb", "a thread", "a socket"])
def test_it_forfeits_while_the_file_is_loaded_too(name):
    match = attack(FIRST, before=CALLS[name][0])
    assert lost(match) and "system call" in match.detail


def test_the_message_names_the_lines_that_make_forbidden_calls():
    one = program("team1.py", bot_text("import os\nif flag: os.fork()\n" + FIRST).encode())
    match = play_match((one, bot(file="team2.py")), CONDITIONS)
    assert lost(match) and match.detail.endswith("In team1.py: line 7, os.fork: system calls are prohibited.")


def test_endless_output_ends_at_the_limit():
    match = attack("while True: print('x' * 10000)", time_limit=60)
    assert lost(match) and match.message == "THREW AN EXCEPTION"
    assert len(match.printed[0]) <= 20_000


WRITE = """
    import os
    for place in ("/", "/tmp", "/dev", "/dev/shm", "/bot", "/usr/lib", "/proc", os.path.dirname(os.__file__)):
        for name in ("new", "runner.py", "os.py"):
            try:
                open(os.path.join(place, name), "w")
            except OSError:
                continue
            raise RuntimeError("it wrote to " + place)
        for call in (os.mkdir, lambda path: os.symlink("/", path), lambda path: os.mkfifo(path)):
            try:
                call(os.path.join(place, "made"))
            except OSError:
                continue
            raise RuntimeError("it made something in " + place)
"""


def test_no_file_of_the_machine_can_be_read(tmp_path):
    secret = tmp_path / "secret.db"
    secret.write_text("a database")
    places = [
        secret,
        "/etc/passwd",
        "/etc/hostname",
        "/proc/self/maps",
        "/sys",
        "/var",
        "/root/.bashrc",
        Path.cwd() / "tests",
    ]
    places += [path for path in ("/root", "/home", "/opt") if not os.path.realpath(sys.executable).startswith(path)]
    body = f"""
        import os
        for path in {list(map(str, places))}:
            if os.path.exists(path):
                raise RuntimeError("it sees " + path)
        if os.listdir("/bot") != ["runner.py"] or sorted(os.listdir("/dev")) != ["null", "urandom"]:
            raise RuntimeError("it sees more than it should")
        {FIRST}
    """
    match = attack(body)
    assert match.message == "WON", match.detail


IMPORTS = f"""
    import os
    try:
        import pttt_ooc.other_games.extreme
    except ImportError:
        pass
    else:
        raise RuntimeError("it sees the package")
    if os.path.exists({str(PACKAGE / "other_games" / "extreme" / "bots" / "strong_bot.py")!r}):
        raise RuntimeError("it sees the other bots")
"""
ALONE = """
    import ctypes, os
    if os.getpid() != 1 or os.getppid() != 0 or 0 in (os.getuid(), os.geteuid(), os.getgid()):
        raise RuntimeError("it is not alone")
    for number in range(3, 64):
        try:
            os.fstat(number)
        except OSError:
            continue
        if os.fstat(number).st_mode & 0o170000 != 0o010000:  # pipes to and from the referee
            raise RuntimeError("it holds an open file")
"""
LIMITS = """
    import ctypes, resource
    for kind in (resource.RLIMIT_AS, resource.RLIMIT_FSIZE, resource.RLIMIT_NOFILE):
        soft, hard = resource.getrlimit(kind)
        if hard == resource.RLIM_INFINITY:
            raise RuntimeError("there is no limit")
        try:
            resource.setrlimit(kind, (hard + 1, hard + 1))
        except (ValueError, OSError):
            continue
        raise RuntimeError("it raised a limit")
    if ctypes.CDLL(None).prctl(22, 0, 0, 0, 0) != -1:
        raise RuntimeError("it changed its filter")
"""


@pytest.mark.parametrize("body", [WRITE, IMPORTS, ALONE, LIMITS], ids=["files", "package", "others", "limits"])
def test_nothing_can_be_written_imported_or_seen_and_no_limit_raised(body):
    match = attack(body + "    " + FIRST)
    assert match.message == "WON", match.detail


def test_nobody_listens_on_the_network_of_the_machine():
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        match = attack(f"import urllib.request; urllib.request.urlopen('http://127.0.0.1:{port}')")
        assert lost(match)
        server.settimeout(0)
        with pytest.raises(BlockingIOError):
            server.accept()


@pytest.mark.slow
def test_a_slow_comparison_costs_the_bots_own_time():
    body = """
        class Slow(str):
            def __eq__(self, other):
                while True: pass
            __hash__ = str.__hash__
        for row in board.big_boards_status[0]:
            row[:] = [Slow(cell) for cell in row]
        return (0, 0, 0)
    """
    match = attack(body, time_limit=0.25)
    assert match.message in ("TIME OUT", "WON")  # the referee compares text only: at worst the bot's own board is slow
    if match.message == "TIME OUT":
        assert lost(match)


FORGED = """
    import json, os, struct, sys
    out = int(sys.argv[2])
    for message in {messages}:
        data = json.dumps(message).encode()
        os.write(out, struct.pack(">I", len(data)) + data)
    {then}
"""
PATCHED_RUNNER = f"""
    import sys
    frame = sys._getframe(1)
    while frame:
        frame.f_globals["send"] = lambda *_: None
        frame.f_globals["failure"] = lambda *_: {{"move": [0, 0, 0]}}
        frame = frame.f_back
    {FIRST}
"""
PATCHED_BOARD = """
    cls = type(board)
    cls.find_terminal_state = lambda self: (flag, "WON")
    cls.check_valid_move = lambda *_: True
    cls.update = lambda *_: ("SUCCESSFUL", True)
    return (0, 0, 0)
"""
SLOW_ANSWER = """
    class Slow(int):
        def __eq__(self, other):
            while True: pass
        __hash__ = int.__hash__
    return (Slow(0), 0, 0)
"""
EARLY = FORGED.format(messages=[{"number": n, "move": [0, 0, 0]} for n in (2, 3)], then=FIRST)
ENDLESS_NAME = "class Odd:\n    def __repr__(self):\n        while True: pass\nreturn Odd()"
MEMORY = "x = []\nwhile True: x.append(bytes(10 ** 7))"
RECURSION = "import sys; sys.setrecursionlimit(10 ** 9)\ndef f(): return f()\nf()"


@pytest.mark.parametrize(
    ("body", "seconds", "told"),
    [
        pytest.param(PATCHED_RUNNER, 0.25, "TIME OUT: .*", id="a patched runner"),
        pytest.param(PATCHED_BOARD, 5, "(INVALID MOVE|MODIFIED THE BOARD): .*", id="a patched board"),
        pytest.param(SLOW_ANSWER, 5, "INVALID MOVE: .*", id="a slow comparison", marks=pytest.mark.slow),
        pytest.param(ENDLESS_NAME, 0.25, "TIME OUT: .*", id="an endless representation", marks=pytest.mark.slow),
        pytest.param(RECURSION, 2, ".*", id="endless recursion", marks=pytest.mark.slow),
        pytest.param(MEMORY, 5, "(THREW AN EXCEPTION|TIME OUT): .*", id="memory"),
        pytest.param(EARLY, 5, ".*: It answered before it was asked[.]", id="an answer before the question"),
        pytest.param("import os, sys; os.close(int(sys.argv[2]))\nwhile True: pass", 5, ".*", id="a closed stream"),
        pytest.param("import ctypes; ctypes.string_at(1)", 5, ".*: .*SIGSEGV.*", id="a crash of the interpreter"),
        pytest.param("import os; os._exit(137)", 5, ".*: Its process ended with the code 137[.]", id="an exit code"),
    ],
)
def test_an_attack_on_ones_own_process_forfeits(body, seconds, told):
    """What the bot does is its own doing, not the machine's, and is found at its first move or later."""
    match = attack(body, time_limit=seconds)
    assert lost(match) and not match.broken_off
    assert re.fullmatch(told, f"{match.message}: {match.detail}", re.DOTALL)
    assert body is not PATCHED_BOARD or match.plies > 0


def test_forged_results_on_stdout_and_on_the_stream_win_nothing():
    won = {"winner": "P1", "message": "WON", "points": [86, 0], "number": 1}
    match = attack(f"import json; print(json.dumps({won!r}), flush=True); return None")
    assert lost(match) and match.message == "INVALID MOVE"
    match = attack(FORGED.format(messages=[won], then=FIRST))
    assert lost(match) and match.message == "MODIFIED THE BOARD"


@pytest.mark.slow_but_one
@pytest.mark.parametrize("data", [b"\xff\xff\xff\xff", b"\0\0\0\2[]", b"\0\0\0\1{", b"\0\0\x27\x10" + b"[" * 10000])
def test_nonsense_on_the_stream_forfeits(data):
    match = attack(f"import os, sys; os.write(int(sys.argv[2]), {data!r}); {FIRST}")
    assert lost(match) and match.message == "THREW AN EXCEPTION"


@pytest.mark.slow
def test_the_bot_cannot_make_itself_wait_for_the_other_processors():
    """The referee takes time that is spent so for the machine's fault, a few times in a match."""
    match = attack(
        f"import ctypes\nif ctypes.CDLL(None).syscall({MEMBARRIER}, 1, 0, 0) != -1: raise RuntimeError\n{FIRST}"
    )
    assert match.message == "WON", match.detail


def test_a_long_error_on_the_stream_is_cut():
    """The bot writes to the referee itself, as the runner would."""
    before = """
        import json, os, struct, sys
        data = json.dumps({"error": "x" * 900_000}).encode()
        data = struct.pack(">I", len(data)) + data
        while data:
            data = data[os.write(int(sys.argv[2]), data):]
    """
    match = attack(before=before, body=FIRST)
    assert lost(match) and match.detail == "x" * 4000


def test_numpy_works_behind_the_walls():
    body = f"import numpy; assert round(numpy.linalg.det(numpy.eye(30) * 2)) == 2 ** 30; {FIRST}"
    match = attack(body, memory_mb=2048, time_limit=60)
    assert match.message == "WON", match.detail


# ---------------------------------------------------------------------------------------------
# What the machine does is nobody's fault


def _has_ended(process):
    try:
        return process.status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


class Killer:
    """Ends a process of a match with SIGKILL from outside, a few times, once so many moves have been played."""

    def __init__(self, times, launcher=False):
        self.left, self.launcher = times, launcher

    def __call__(self, match):
        if match.plies == 3 and self.left:
            self.left -= 1
            # Of bots: the process that runs tests has children of its own.
            launchers = [p for p in psutil.Process().children() if "launcher.py" in " ".join(p.cmdline())]
            victim = launchers[0] if self.launcher else launchers[0].children()[0]
            victim.kill()
            wait_until(lambda: _has_ended(victim))
        return True


@pytest.mark.slow_but_one
@pytest.mark.parametrize("launcher", [False, True])
def test_a_process_that_is_killed_from_outside_costs_nobody_the_match(launcher, caplog):
    killer = Killer(2, launcher)
    match = play_match((bot(), bot(file="team2.py")), CONDITIONS, killer)
    assert match.message == "WON" and killer.left == 0
    assert len(match.broken_off) == 2 and "SIGKILL" in match.broken_off[0]
    assert caplog.text.count("The match is played again.") == 2 and "SIGKILL" in caplog.text


def test_a_match_that_is_broken_off_each_time_is_no_forfeit():
    killer, before = Killer(9), children()
    with pytest.raises(MachineError, match="SIGKILL"):
        play_match((bot(), bot(file="team2.py")), CONDITIONS, killer)
    assert killer.left == 5 and children() == before


def test_the_memory_of_the_machine_is_taken_from_bots_first():
    with_process(lambda process: Path(f"/proc/{process.enclosed.pid}/oom_score_adj").read_text() == "1000\n")


def test_a_bot_that_ignores_the_end_of_its_processor_time_is_no_fault_of_the_machines():
    """The kernel would end it with SIGKILL, as somebody else may, if both limits were one."""
    told = with_process(lambda process: Path(f"/proc/{process.enclosed.pid}/limits").read_text())
    most = [int(number) for number in re.search(r"Max cpu time +(\d+) +(\d+)", told).groups()]
    assert most[0] >= 60 + 162 * CONDITIONS.time_limit and most[1] > most[0] + 600


def with_process(look):
    one = bot()
    process = BotProcess(one, one.interpreters()[0], CONDITIONS)
    try:
        process.load()
        found = look(process)
        assert found
        return found
    finally:
        process.end()


@pytest.mark.slow_but_one
@pytest.mark.parametrize("where", ["init", "body"])
def test_a_bot_of_ours_that_fails_is_an_error_of_the_machine(where):
    ours = dataclasses.replace(bot(**{where: "raise PermissionError('kernels')"}), trusted=True)
    with pytest.raises(MachineError, match="Our bot team1.py cannot play on this machine: PermissionError: kernels"):
        play_match((ours, bot(file="team2.py")), CONDITIONS)


ORDINARY = """
import ctypes, os
from pttt_ooc.errors import PtttError
from pttt_ooc.other_games.extreme.match import check_walls
user, group = os.geteuid(), os.getegid()
if ctypes.CDLL(None).unshare(0x10000000):
    raise SystemExit("no user namespaces")
for name, text in (("setgroups", "deny"), ("uid_map", f"1000 {user} 1"), ("gid_map", f"1000 {group} 1")):
    with open(f"/proc/self/{name}", "w") as file:
        file.write(text)
MORE
try:
    check_walls()
    print("walls for the user", os.geteuid())
except PtttError as error:
    print(error)
"""
FORBID = "with open('/proc/sys/user/max_user_namespaces', 'w') as file: file.write('0')"


@pytest.mark.parametrize(
    "more, words",
    [("", "walls for the user 1000"), (FORBID, "it cannot have namespaces of its own, for which an ordin")],
)
def test_an_ordinary_user_has_walls_or_is_told_why_not(more, words):
    done = subprocess.run([sys.executable, "-c", ORDINARY.replace("MORE", more)], capture_output=True, text=True)
    if "no user namespaces" in done.stderr:
        pytest.skip("this machine has no user namespaces")
    assert words in done.stdout and not done.stderr, done.stdout + done.stderr


# ---------------------------------------------------------------------------------------------
# Files that are dangerous to read


@pytest.mark.slow_but_one
@pytest.mark.parametrize(
    "content",
    [
        b"x=" + b"-" * 200_000 + b"1",
        b"x=" + b"(" * 200_000,
        b"# coding: punycode\n" + b"x" * 256_000 + b"-" + b"a" * 256_000,
    ],
    ids=["minus signs", "brackets", "an encoding that takes minutes"],
)
def test_a_file_that_is_dangerous_to_read_is_no_program(content, monkeypatch):
    monkeypatch.setattr(bot_programs, "READING_SECONDS", 0.5)
    before = children()
    with pytest.raises(ProgramError, match="team1.py is not a program in Python"):
        program("team1.py", content)
    assert children() == before


def test_a_file_is_read_behind_walls(monkeypatch):
    """The reader is put in the place of a bot that looks around."""
    seen = []
    monkeypatch.setattr(bot_programs, "Enclosed", lambda *arguments: seen.append(arguments) or Enclosed(*arguments))
    content = bot_text("print 1; return 0").encode() + b"# %d" % os.getpid()
    one = program("team1.py", content)
    assert one.pythons == (2,) and "print(1)" in one.text and "+        print(1)" in one.changes
    ((scripts, _, most, walls),) = seen
    assert walls and most["RLIMIT_CPU"][0] <= 21
    names = ["source_reader.py", "source_remarks.py", "python2_semantics.py", "runner.py"]
    assert [path.name for path in scripts] == names


def test_a_reader_that_the_machine_ends_is_started_again(monkeypatch):
    tries = []

    def read(content, *_):
        tries.append(content)
        if len(tries) < 3:
            raise MachineError("SIGKILL")
        return "read"

    monkeypatch.setattr(bot_programs, "_read", read)
    assert bot_programs.read.__wrapped__(b"", True) == "read" and len(tries) == 3
    tries.clear()
    monkeypatch.setattr(bot_programs, "TRIES", 2)
    with pytest.raises(MachineError):
        bot_programs.read.__wrapped__(b"", True)
