"""Which tests call which functions of the package: written down by running them, for :mod:`benchmarks.mutation`.

As a plugin of pytest, ``-p benchmarks.traces``, this writes a line of JSON for each test that passes: its name, its
seconds of processor time, and the functions that it or its fixtures call, such as ``web/gate:Gate.__call__``.  What
other processes call, and what numba compiles, is not seen.
"""

from __future__ import annotations

import ast
import json
import os
import sys
import threading
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import pytest

FILE = "PTTT_TRACES"
"""The variable of the environment with the name of the file to write."""

_called: set[CodeType] = set()
_of_fixtures: dict[Any, set[CodeType]] = {}


def _see(frame: FrameType, event: str, _: Any) -> None:
    if event == "call":
        _called.add(frame.f_code)


def pytest_configure() -> None:
    """Watch this thread, and those that it will start."""
    threading.setprofile(_see)
    sys.setprofile(_see)


@cache
def _leave_numba_alone() -> None:
    """Not watch the compiler, which would take many times as long."""
    from numba.core.dispatcher import Dispatcher

    compile_ = Dispatcher.compile

    def unwatched(self: Any, signature: Any) -> Any:
        profile = sys.getprofile()
        sys.setprofile(None)
        try:
            return compile_(self, signature)
        finally:
            sys.setprofile(profile)

    Dispatcher.compile = unwatched


@pytest.hookimpl(wrapper=True)
def pytest_fixture_setup(fixturedef: pytest.FixtureDef[Any]) -> Iterator[None]:
    """Remember what a fixture calls: tests that find it made have it called, too."""
    before = set(_called)
    _called.clear()
    try:
        return (yield)
    finally:
        _of_fixtures[fixturedef] = set(_called)
        _called.update(before)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: Any) -> Iterator[None]:
    """Begin a test."""
    if "numba.core.dispatcher" in sys.modules:
        _leave_numba_alone()
    _called.clear()
    item.passed, begun = False, _seconds()
    done = yield
    if item.passed:
        found = set(_called)
        for definitions in item._fixtureinfo.name2fixturedefs.values():
            for one in definitions:
                found |= _of_fixtures.get(one, set())
        calls = sorted({name for name in map(_name, found) if name})
        line = {"test": item.nodeid, "seconds": round(_seconds() - begun, 3), "calls": calls}
        with open(os.environ[FILE], "a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")
    return done


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: Any) -> Iterator[None]:
    """See whether the test itself passes."""
    report = yield
    item.passed = item.passed or report.when == "call" and report.passed
    return report


def _seconds() -> float:
    return sum(os.times()[:4])


def _name(code: CodeType) -> str:
    _, package, module = code.co_filename.rpartition("/pttt_ooc/")
    return f"{module.removesuffix('.py')}:{code.co_qualname}" if package else ""


def function_at(source: str, line: int) -> str:
    """The full name of the innermost function or class around a line; empty for the module itself."""
    name = ""
    waiting: list[tuple[ast.AST, str]] = [(ast.parse(source), "")]
    while waiting:
        node, prefix = waiting.pop()
        for child in ast.iter_child_nodes(node):
            inner = prefix
            if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                if not child.lineno <= line <= (child.end_lineno or 0):
                    continue
                name = prefix + child.name
                inner = f"{name}." if isinstance(child, ast.ClassDef) else f"{name}.<locals>."
            waiting.append((child, inner))
    return name


def calls(traces: list[dict[str, Any]], module: str, function: str) -> bool:
    """Whether a test calls just this function, or anything of the module if none is given."""
    return any(call.startswith(f"{module}:{function}") for test in traces for call in test["calls"])


def chosen(traces: list[dict[str, Any]], module: str, function: str, seconds: float) -> tuple[list[str], float]:
    """The tests that call a function, the quickest first, as many as take so many seconds; and what they take.

    Where no test calls it, as with a class or a module, those that call what is inside it or around it.
    """
    while True:
        inside = (f"{module}:{function}", f"{module}:{function}." if function else f"{module}:")
        calling = [t for t in traces if any(c == inside[0] or c.startswith(inside[1]) for c in t["calls"])]
        if calling or not function:
            break
        function = function.rpartition(".")[0].removesuffix(".<locals>")
    found, taken = [], 0.0
    for test in sorted(calling, key=lambda t: t["seconds"]):
        if found and taken + test["seconds"] > seconds:
            break
        found.append(test["test"])
        taken += test["seconds"]
    return found, taken


def read(files: list[Path]) -> list[dict[str, Any]]:
    """The lines of some files; those that are not there hold none."""
    return [json.loads(line) for file in files if file.exists() for line in file.read_text("utf-8").splitlines()]
