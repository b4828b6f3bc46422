# ruff: noqa: UP004, UP010, UP031, UP036, SIM105
"""What runs in a bot's own process: the board as the course's evaluator has it, and the loop that calls ``move``.

This file stands alone and runs under Python 2.7 and Python 3: ``python runner.py IN OUT``, with the numbers of two
open descriptors.  Messages are JSON in UTF-8, after four bytes with their length.  The first is about the program; the
answer says whether its class could be made.  Each further one asks for a move.

Nothing here protects the referee: the bot can reach and change all of it.  The referee believes only that the answer
is this bot's answer, and checks it against a board of its own.
"""

from __future__ import print_function

import binascii
import codecs
import json
import linecache
import os
import re
import struct
import sys
import traceback
import types

LINES = (
    ((0, 0), (0, 1), (0, 2)),
    ((1, 0), (1, 1), (1, 2)),
    ((2, 0), (2, 1), (2, 2)),
    ((0, 0), (1, 0), (2, 0)),
    ((0, 1), (1, 1), (2, 1)),
    ((0, 2), (1, 2), (2, 2)),
    ((0, 0), (1, 1), (2, 2)),
    ((0, 2), (1, 1), (2, 0)),
)
START = (-1, -1, -1)
MARKS = {"x": "x", "o": "o"}  # the very strings: bots compare with `is`
LONGEST = 1 << 20  # bytes of a message
TEXT = 4000  # characters of an error that are sent


class BigBoard(object):
    """Both big boards: plain lists, as the bots of the course know them.

    Attributes
    ----------
    big_boards_status
        A tuple of two lists of nine lists of nine cells: ``'x'``, ``'o'`` or ``'-'``.
    small_boards_status
        A tuple of two lists of three lists of three small boards: ``'x'``, ``'o'``, ``'d'`` (drawn) or ``'-'``.
    """

    def __init__(self):
        self.big_boards_status = tuple([["-"] * 9 for _ in range(9)] for _ in range(2))
        self.small_boards_status = tuple([["-"] * 3 for _ in range(3)] for _ in range(2))

    def print_board(self):
        """Print the cells of both big boards side by side, then the small boards."""
        print("================BigBoard State================")
        for row in range(9):
            if row % 3 == 0:
                print()
            print("     ".join(" " + "  ".join(self._thirds(k, row)) for k in range(2)))
        print()
        print("==============SmallBoards States==============")
        for i in range(3):
            print("    ".join(" ".join(self.small_boards_status[k][i]) for k in range(2)))
        print("==============================================")
        print()
        print()

    def _thirds(self, k, row):
        cells = self.big_boards_status[k][row]
        return [" ".join(cells[j : j + 3]) for j in (0, 3, 6)]

    def find_valid_move_cells(self, old_move):
        """Return the cells (big board, row, column) that may be marked after `old_move`, in this order."""
        i, j = old_move[1] % 3, old_move[2] % 3
        closed = self.small_boards_status[0][i][j] != "-" and self.small_boards_status[1][i][j] != "-"
        if closed or tuple(old_move) == START:
            rows, columns = range(9), range(9)
        else:
            rows, columns = range(3 * i, 3 * i + 3), range(3 * j, 3 * j + 3)
        return [
            (k, row, column)
            for k in range(2)
            for row in rows
            for column in columns
            if self.big_boards_status[k][row][column] == "-"
            and self.small_boards_status[k][row // 3][column // 3] == "-"
        ]

    def find_terminal_state(self):
        """Return ``(winner, 'WON')``, ``('NONE', 'DRAW')`` or ``('CONTINUE', '-')``."""
        for small in self.small_boards_status:
            for a, b, c in LINES:
                mark = small[a[0]][a[1]]
                if mark in ("x", "o") and mark == small[b[0]][b[1]] == small[c[0]][c[1]]:
                    return (mark, "WON")
        if any("-" in row for small in self.small_boards_status for row in small):
            return ("CONTINUE", "-")
        return ("NONE", "DRAW")

    def check_valid_move(self, old_move, new_move):
        """Return whether `new_move`, a plain tuple of plain integers, may follow `old_move`."""
        if len(old_move) != 3 or len(new_move) != 3:
            return False
        if any(type(number) is not int for number in list(old_move) + list(new_move)):
            return False
        return new_move in self.find_valid_move_cells(old_move)

    def update(self, old_move, new_move, ply):
        """Mark a cell: ``('SUCCESSFUL', whether that won the small board)``, or ``('UNSUCCESSFUL', False)``."""
        if not self.check_valid_move(old_move, new_move):
            return "UNSUCCESSFUL", False
        k, row, column = new_move
        cells = self.big_boards_status[k]
        cells[row][column] = ply
        i, j = row // 3, column // 3
        inside = [cells[3 * i + a][3 * j : 3 * j + 3] for a in range(3)]
        if any(all(inside[a][b] == ply for a, b in line) for line in LINES):
            self.small_boards_status[k][i][j] = ply
            return "SUCCESSFUL", True
        if not any("-" in part for part in inside):
            self.small_boards_status[k][i][j] = "d"
        return "SUCCESSFUL", False


# ---------------------------------------------------------------------------------------------
# The program


def load(program):
    """Run the program's file and make its player."""
    module = run_file(program)
    return player_class(module, program["file"].rsplit(".", 1)[0])()


def run_file(program):
    """Run the program's file; returns it as a module."""
    name = program["file"]
    stem = name.rsplit(".", 1)[0]
    module = types.ModuleType(str(stem))
    module.__file__ = name
    sys.modules[str(stem)] = module
    source = program["source"]
    if sys.version_info[0] == 2:
        source = encode_source(source)
    lines = [line + "\n" for line in program["shown"].split("\n")]
    linecache.cache[name] = (len(source), None, lines, name)  # tracebacks show them
    if program["converted"]:
        import python2_semantics  # type: ignore[import-not-found]

        python2_semantics.prepare(module)
        code = python2_semantics.compile_source(source, name)
    else:
        code = compile(source, name, "exec", 0, True)
    exec(code, module.__dict__)
    return module


def encode_source(source):
    """Encode a text as it declares, so that Python 2 reads the same lines; UTF-8 with its mark where it does not."""
    declared = re.match(r"(?:[ \t\f]*(?:#.*)?\n)?[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)", source)
    return source.encode(declared.group(1)) if declared else codecs.BOM_UTF8 + source.encode("utf-8")


def player_class(module, stem):
    """Return the class of the course's form: the file's name with a capital, or the only one that fits."""
    own = {
        name: value
        for name, value in vars(module).items()
        if isinstance(value, (type, getattr(types, "ClassType", type)))
        and value.__module__ == module.__name__
        and callable(getattr(value, "move", None))
    }
    for name, value in own.items():
        if name.lower() == stem.lower().replace("_", ""):
            return value
    teams = [value for name, value in own.items() if re.match("[Tt]eam", name)] or list(own.values())
    if len(teams) != 1:
        raise ImportError(
            "%s has %s classes with a method `move`; it must have one, named TeamX where the file is teamX.py."
            % (stem, len(teams) or "no")
        )
    return teams[0]


# ---------------------------------------------------------------------------------------------
# The loop


def read_exactly(descriptor, size):
    """Read so many bytes; the end of the stream ends the process, as the referee is gone."""
    parts = []
    while size:
        part = os.read(descriptor, size)
        if not part:
            os._exit(0)
        parts.append(part)
        size -= len(part)
    return b"".join(parts)


def receive(descriptor):
    """Return the next message."""
    (size,) = struct.unpack(">I", read_exactly(descriptor, 4))
    return json.loads(read_exactly(descriptor, size).decode("utf-8"))


def send(descriptor, message):
    """Send a message."""
    data = json.dumps(message).encode("utf-8")
    data = struct.pack(">I", len(data)) + data
    while data:
        data = data[os.write(descriptor, data) :]


def close_door(call_filter):
    """Let the kernel refuse system calls from here on; returns a descriptor to listen to it with, or None.

    The filter's `code` is a program of the Berkeley packet filter, in base 64, and `number` that of seccomp(2).  It is
    called there, as the C library has no function for it.
    """
    import ctypes

    class Program(ctypes.Structure):
        _fields_ = [("length", ctypes.c_ushort), ("code", ctypes.c_char_p)]

    code = binascii.a2b_base64(call_filter["code"])
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl.argtypes = [ctypes.c_int] + [ctypes.c_ulong] * 4
    libc.syscall.argtypes = [ctypes.c_long, ctypes.c_ulong, ctypes.c_ulong, ctypes.c_void_p]
    libc.syscall.restype = ctypes.c_long
    program = Program(len(code) // 8, code)
    no_new_privileges, set_filter, new_listener = 38, 1, 8 if call_filter["listening"] else 0
    result = libc.prctl(no_new_privileges, 1, 0, 0, 0) or libc.syscall(
        call_filter["number"], set_filter, new_listener, ctypes.addressof(program)
    )
    if result < 0:
        raise OSError(ctypes.get_errno(), "the filter of system calls cannot be set")
    return result if new_listener else None


def play(player, board, request):
    """Bring the board up to date, ask for a move, and say what came of it."""
    for old, new, flag in request["moves"]:
        board.update(tuple(old), tuple(new), MARKS[flag])
    move = player.move(board, tuple(request["old_move"]), MARKS[request["flag"]])
    plain = type(move) is tuple and len(move) == 3 and all(type(number) is int for number in move)
    if plain:
        plain = all(-1000 < number < 1000 for number in move)
    return {
        "move": list(move) if plain else None,
        "shown": None if plain else repr(move)[:200],
        "big": board.big_boards_status if type(board.big_boards_status) is tuple else None,
        "small": board.small_boards_status if type(board.small_boards_status) is tuple else None,
    }


def flush():
    """Let what was printed be there, whatever happens to the process."""
    try:
        sys.stdout.flush()
    except Exception:  # it has printed more than it may, or closed the file
        pass


HIDDEN = ("main", "load", "run_file", "play", "player_class")  # functions of ours that are not part of a bot's error


def failure():
    """Return what was raised, as text, without the parts of it in this file and in that of Python 2's semantics."""
    kind, error, trace = sys.exc_info()
    if sys.version_info[0] == 2:
        lines = ["Traceback (most recent call last):\n"]
        lines += traceback.format_list([entry for entry in traceback.extract_tb(trace) if not is_hidden(*entry[::2])])
        lines += traceback.format_exception_only(kind, error)
    else:
        told = traceback.TracebackException(kind, error, trace)  # type: ignore[arg-type]
        waiting = [told]
        while waiting:
            one = waiting.pop()
            kept = [frame for frame in one.stack if not is_hidden(frame.filename, frame.name)]
            one.stack = traceback.StackSummary.from_list(kept)
            waiting += [other for other in (one.__cause__, one.__context__) if other]
        lines = list(told.format())
    return {"error": "".join(lines)[-TEXT:]}


def is_hidden(file, function):
    """Return whether a part of a traceback is not the bot's doing."""
    if os.path.basename(file).startswith("python2_semantics."):
        return True
    return file in OURS and function in HIDDEN


def begin(incoming, outgoing):
    """Return the program, once the kernel refuses system calls."""
    program = receive(incoming)
    if program["converted"]:
        import python2_semantics  # noqa: F401  (it is in the same directory, which the bot does not import from)
    sys.path[:] = sys.path[1:] + [str(path) for path in program["paths"]]
    sys.dont_write_bytecode = True
    listener = close_door(program["filter"]) if program["filter"] else None
    send(outgoing, {"started": list(sys.version_info[:3]), "listener": listener})
    if listener is not None:
        receive(incoming)  # the referee has it now
        os.close(listener)
    return program


OURS = [begin.__code__.co_filename]
"""The files whose functions in :data:`HIDDEN` are hidden."""


def main():
    """Serve the referee until it closes the stream."""
    incoming, outgoing = int(sys.argv[1]), int(sys.argv[2])
    program = begin(incoming, outgoing)
    board = BigBoard()
    try:
        player = load(program)
        send(outgoing, {"ready": True})
    except BaseException:
        send(outgoing, failure())
    while True:
        request = receive(incoming)
        try:
            answer = play(player, board, request)
        except BaseException:
            answer = failure()
        flush()
        answer["number"] = request["number"]
        try:
            send(outgoing, answer)
        except (TypeError, ValueError):  # the bot left things on the board that are not JSON
            send(outgoing, {"number": request["number"], "move": [0, 0, 0], "big": None, "small": None})


if __name__ == "__main__":
    main()
