"""What a file's text shows: where Python 2 and 3 differ in it, and where it breaks the course's formal rules.

This file stands alone and runs beside ``source_reader.py`` behind walls.
"""

from __future__ import annotations

import ast
import re
import sys

if __package__:
    from pttt_ooc.other_games.extreme.python2_semantics import leaking
else:  # behind walls, in the same directory
    from python2_semantics import leaking  # type: ignore[import-not-found,no-redef]

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

MOVES, LOST = "moves", "lost"
"""Kinds of differences: Python 3 may play other moves; the conversion does not keep it either."""
MOST = 50
"""Maximum remarks of one kind about a file."""

_UNORDERED = {"keys", "values", "items", "iterkeys", "itervalues", "iteritems", "popitem"}
_ORDERLESS = {"sorted", "sum", "set", "frozenset", "any", "all", "len", "dict"}
_OLD_METHODS = {"__cmp__", "__nonzero__", "__div__", "__rdiv__", "__idiv__", "__getslice__", "__setslice__", "next"}

LIBRARIES = ("numpy", "pandas", "sklearn")
"""Libraries that the course's document allows, by the names that bots import."""

Difference = tuple[int, str, str]
"""The line, the kind, and the sentence."""


def differences(tree: ast.AST) -> list[Difference]:
    """Where a program in a tree of Python 3 means, or may mean, something else in Python 2; by line."""
    found = sorted({one for node in ast.walk(tree) for one in _differences(node, _parents(tree))})
    leaks = [node for node in ast.walk(tree) if isinstance(node, ast.Module | ast.FunctionDef | ast.Lambda)]
    for scope in leaks:
        for node, names in leaking(scope):
            told = f"the variables of a list comprehension ({', '.join(sorted(names))}) exist after it in Python 2 only"
            found.append((node.lineno, MOVES, told))
    return sorted(found)


def _parents(tree: ast.AST) -> dict[ast.AST, ast.AST]:
    known: dict[ast.AST, ast.AST] = getattr(tree, "parents_", None) or {
        child: node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)
    }
    tree.parents_ = known  # type: ignore[attr-defined]
    return known


def _differences(node: ast.AST, parents: dict[ast.AST, ast.AST]) -> Iterator[Difference]:
    line = getattr(node, "lineno", 0)
    if isinstance(node, ast.BinOp | ast.AugAssign) and isinstance(node.op, ast.Div) and not _is_real(node):
        yield line, MOVES, "/ between whole numbers rounds down in Python 2"
    elif isinstance(node, ast.ClassDef):
        own = {one.name: one.lineno for one in node.body if isinstance(one, ast.FunctionDef)}
        for name in sorted(_OLD_METHODS & set(own)):
            yield own[name], MOVES, f"only Python 2 calls the method {name} by itself"
    elif isinstance(node, ast.Call):
        yield from _differences_of_call(node, line, parents)


def _differences_of_call(node: ast.Call, line: int, parents: dict[ast.AST, ast.AST]) -> Iterator[Difference]:
    parent = parents.get(node)
    consumer = parent.func if isinstance(parent, ast.Call) else None
    by = getattr(consumer, "id", getattr(consumer, "attr", ""))
    if isinstance(node.func, ast.Name):
        name = node.func.id
        if name in ("exec", "eval"):
            yield line, LOST, f"what {name} runs is not converted from the syntax of Python 2"
        elif name == "hash":
            yield line, LOST, "hash() has other values in Python 2, except for numbers"
        elif name == "round":
            yield line, MOVES, "round() gives a float, and rounds halves away from zero, in Python 2"
        if name in ("set", "frozenset") and (
            isinstance(parent, ast.For | ast.comprehension) or by in ("list", "tuple")
        ):
            yield line, LOST, "the order of a set is another in Python 2"
    elif isinstance(node.func, ast.Attribute):
        name = node.func.attr
        if name in _UNORDERED and not node.args and by not in _ORDERLESS:
            yield line, LOST, "the order of a dictionary is another in Python 2"
        owner = getattr(node.func.value, "id", "")
        if (owner, name) in (("math", "floor"), ("math", "ceil")):
            yield line, MOVES, f"math.{name}() gives a float in Python 2"
        if (owner, name) == ("random", "seed") or (owner, name) == ("random", "Random") and node.args:
            yield line, MOVES, "after the same seed, Python 2 draws other numbers"


def _is_real(node: ast.BinOp | ast.AugAssign) -> bool:
    """Whether one side of a division is surely a float."""
    sides = (node.left, node.right) if isinstance(node, ast.BinOp) else (node.value,)
    for one in sides:
        called = one.func if isinstance(one, ast.Call) else None
        if getattr(called, "id", "") == "float" or (isinstance(one, ast.Constant) and isinstance(one.value, float)):
            return True
    return False


# ---------------------------------------------------------------------------------------------
# The formal rules

_EVALUATOR = {
    "BigBoard",
    "Manual_Player",
    "Random_Player",
    "gameplay",
    "print_board",
    "find_valid_move_cells",
    "find_terminal_state",
    "check_valid_move",
}
_FORBIDDEN = {
    "signal": "the library signal is prohibited",
    **dict.fromkeys(
        ("thread", "_thread", "threading", "dummy_threading", "concurrent", "asyncio"), "threads are prohibited"
    ),
    **dict.fromkeys(
        ("multiprocessing", "subprocess", "commands", "socket", "ctypes", "popen2"), "system calls are prohibited"
    ),
}
_OTHER_PYTHONS = """
BaseHTTPServer CGIHTTPServer ConfigParser Cookie HTMLParser Queue SimpleHTTPServer SocketServer StringIO
Tkinter UserDict UserList UserString __builtin__ anydbm asynchat asyncore bsddb cPickle cStringIO cgi cgitb
commands compiler copy_reg distutils dl dummy_thread dummy_threading exceptions future_builtins hotshot
htmlentitydefs htmllib httplib imp imputil lib2to3 md5 mutex new pipes popen2 repr rexec robotparser sets sha
sre stringold thread urllib2 urlparse user xmlrpclib
"""
"""Modules of Python's own library, some of which the version that runs this lacks."""
_CALLS = re.compile(r"system|popen\w*|fork|forkpty|vfork|kill|killpg|spawn\w+|exec[lv]\w*|posix_spawnp?|startfile")

Breach = tuple[int, str]
"""A line of the file, or 0 for its name, and the sentence."""


def breaches(tree: ast.Module, file: str, libraries: Iterable[str] = ()) -> list[Breach]:
    """Where a file breaks the formal rules of the course's document; by line.

    The rules: class ``TeamX`` in ``teamX.py``, the evaluator's parameters, nothing defined outside of the class,
    nothing of the evaluator's code, no library ``signal``, no threads and no system calls, and no libraries but
    Python's own, `LIBRARIES`, and those that the course allows, `libraries`.
    """
    found: list[Breach] = []
    number = re.fullmatch(r"team(\d+)\.py", file)
    if not number:
        found.append((0, f"the file is called {file}, not teamX.py, where X is the number of the team"))
    classes = [one for one in tree.body if isinstance(one, ast.ClassDef)]
    name = f"Team{number[1]}" if number else file[:-3].capitalize()
    team = next((one for one in classes if one.name == name), None)
    if team is None:
        found.append((0, f"there is no class {name}, which is the name that belongs to {file}"))
    else:
        found += _signatures(team)
    found += [breach for node in tree.body for breach in _outside(node, team)]
    found += [breach for node in ast.walk(tree) for breach in _prohibitions(node)]
    found += _strange(tree, (*LIBRARIES, *libraries), file[:-3])
    return sorted(set(found))


def _signatures(team: ast.ClassDef) -> Iterator[Breach]:
    methods = {one.name: one for one in team.body if isinstance(one, ast.FunctionDef)}
    for name, wanted in (("__init__", ["self"]), ("move", ["self", "board", "old_move", "flag"])):
        if name not in methods:
            yield team.lineno, f"the class {team.name} has no method {name}"
            continue
        given = methods[name].args
        names = [one.arg for one in (*given.posonlyargs, *given.args)]
        extra = given.vararg or given.kwarg or given.kwonlyargs or given.defaults
        if len(names) != len(wanted) or extra:
            told = f"{name} has other parameters than the evaluator's, which are ({', '.join(wanted)})"
            yield methods[name].lineno, told


def _outside(node: ast.stmt, team: ast.ClassDef | None) -> Iterator[Breach]:
    if node is team or isinstance(node, ast.Import | ast.ImportFrom):
        return
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):  # a comment as a text
        return
    kind = {ast.FunctionDef: "function ", ast.ClassDef: "class "}.get(type(node), "")
    what = f"the {kind}{node.name}" if kind else "a statement"  # type: ignore[attr-defined]
    yield node.lineno, f"{what} is outside of the team's class, where nothing may be defined but imports"


def _prohibitions(node: ast.AST) -> Iterator[Breach]:
    if isinstance(node, ast.FunctionDef | ast.ClassDef) and node.name in _EVALUATOR:
        yield node.lineno, f"{node.name} is the evaluator's code, which may be called but not handed in"
    names = _imported_modules(node)
    if isinstance(node, ast.ImportFrom) and node.module == "os":
        names += [f"os.{alias.name}" for alias in node.names]
    elif isinstance(node, ast.Attribute) and getattr(node.value, "id", "") == "os":
        names = [f"os.{node.attr}"]
    for name in names:
        top, _, rest = name.partition(".")
        if top in _FORBIDDEN:
            yield node.lineno, f"{name}: {_FORBIDDEN[top]}"  # type: ignore[attr-defined]
        elif top == "os" and _CALLS.fullmatch(rest):
            yield node.lineno, f"{name}: system calls are prohibited"  # type: ignore[attr-defined]


def _imported_modules(node: ast.AST) -> list[str]:
    """The modules that an import, or a call of ``__import__``, names."""
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if isinstance(node, ast.ImportFrom):
        return [node.module or ""]
    if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "__import__" and node.args:
        named = getattr(node.args[0], "value", None)
        return [named] if isinstance(named, str) else []
    return []


def _strange(tree: ast.Module, allowed: Sequence[str], own: str) -> Iterator[Breach]:
    """Imports of libraries that are not allowed; a file may import itself by its name, `own`."""
    known = sys.stdlib_module_names.union(_OTHER_PYTHONS.split(), allowed, [own])
    listed = f"{', '.join(allowed[:-1])} and {allowed[-1]}"
    for node in ast.walk(tree):
        for name in _imported_modules(node):
            top = name.partition(".")[0]
            if top not in known and not getattr(node, "level", 0):
                yield node.lineno, f"{top} is not allowed; allowed are Python's own libraries, {listed}"  # type: ignore[attr-defined]
