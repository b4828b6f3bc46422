"""What a kernel is made of: its instructions, and all that they name, directly or through other functions.

The objects themselves are looked at, not the text of modules: instructions, default values, the numbers, arrays, named
tuples and modules that names stand for, and the functions that are compiled with the kernel.  So compiled code is named
by what the compiler really read, whatever has happened to the files since.  An edit of anything else, of a comment, of
a function that only Python calls, leaves the name as it is.
"""

from __future__ import annotations

import dis
import enum
import hashlib
import sys
from collections.abc import Callable, Iterator
from functools import cache
from itertools import chain
from types import BuiltinFunctionType, CodeType, FunctionType, ModuleType
from typing import Any

Links = list[tuple[str, Any]]
"""Names in a function's instructions, and the functions that they stand for."""

_LIBRARIES = {"numba", "numpy", "llvmlite", *sys.stdlib_module_names}
"""What the compiler's own version stands for."""

_LOADS = ("LOAD_GLOBAL", "LOAD_NAME", "LOAD_DEREF", "LOAD_CLASSDEREF")

_FLAGS = 0xFFFE
"""Flags of code that count: numba clears the others in place when a kernel is called under a profiler."""

_marks: dict[Callable[..., Any], tuple[str, Callable[..., Any] | None]] = {}


def mark(function: Callable[..., Any], options: object, written: Callable[..., Any] | None = None) -> None:
    """Note how a function that is no kernel is compiled with kernels.

    Parameters
    ----------
    options
        The compiler's options for it.
    written
        What writes its compiled form; None: its own instructions are compiled.
    """
    _marks[function] = str(options), written


def ingredients(kernel: Callable[..., Any]) -> tuple[list[str], list[str]]:
    """A line for each function that a kernel is compiled from, and the names of the modules that factories gave them.

    The lines say which of the other functions each name stands for.  They are the same in all processes.

    Raises
    ------
    TypeError
        If something has no content that can be told, or is not known to be compiled.
    """
    kernel = getattr(kernel, "py_func", kernel)
    numbers, waiting, lines = {kernel: 0}, [kernel], list[str]()
    given: set[str] = set()
    for function in waiting:  # it grows
        text, links, modules = _look(function)
        given |= modules
        for name, other in links:
            if other not in numbers:
                numbers[other] = len(numbers)
                waiting.append(other)
            text += f"\n{name} is function {numbers[other]}"
        lines.append(text)
    return lines, sorted(given)


@cache
def _look(function: Any) -> tuple[str, Links, set[str]]:
    """A function's own text, the functions that it names, and the modules that a factory gave it."""
    options = str(sorted(getattr(function, "targetoptions", {}).items()))  # of a kernel
    mark_of = _marks.get(function)
    inner = getattr(function, "py_func", None) or getattr(function, "_defn", function)  # a kernel's, an intrinsic's
    texts, links, modules = [f"{inner.__code__.co_name} {options} {mark_of and mark_of[0]}"], Links(), set[str]()
    if mark_of and mark_of[1]:
        links.append(("its compiled form", mark_of[1]))
    used = _names_used(inner.__code__)
    named = {name: inner.__globals__[name] for name in sorted(used) if name in inner.__globals__}
    for name, cell in zip(inner.__code__.co_freevars, inner.__closure__ or (), strict=True):
        named[name] = cell.cell_contents
        modules |= {named[name].__name__} if isinstance(named[name], ModuleType) else set()
    values = [one for name, value in named.items() for one in _values(name, value, used.get(name, {()}))]
    for name, value in chain(values, _defaults(inner)):
        if _is_function(value):
            links.append((name, value))
        else:
            texts.append(f"{name} = {_content_text(value, inner)}")
    return "\n".join([*texts, _code_text(inner.__code__)]), links, modules


def _is_function(value: Any) -> bool:
    """Whether a value is a function of ours that the compiler may read: a kernel, a piece, an intrinsic, a helper."""
    function = getattr(value, "py_func", None) or getattr(value, "_defn", value)
    return isinstance(function, FunctionType) and not _is_library(function.__module__)


def _names_used(code: CodeType) -> dict[str, set[tuple[str, ...]]]:
    """The names that instructions load from outside, and after each the attributes that are taken at once, if any."""
    found: dict[str, set[tuple[str, ...]]] = {}
    name, path = "", list[str]()
    for one in (*dis.get_instructions(code), None):
        if one and name and one.opname in ("LOAD_ATTR", "LOAD_METHOD"):
            path.append(str(one.argval))
            continue
        if name:
            found.setdefault(name, set()).add(tuple(path))
        name, path = str(one.argval) if one and one.opname in _LOADS else "", []
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            for inner, paths in _names_used(constant).items():
                found.setdefault(inner, set()).update(paths)
    return found


def _defaults(function: Any) -> Links:
    given = dict(enumerate(function.__defaults__ or ())) | (function.__kwdefaults__ or {})
    return [inside for place, value in given.items() for inside in _values(f"default {place}", value, {()})]


def _values(name: str, value: Any, paths: set[tuple[str, ...]]) -> Iterator[tuple[str, Any]]:
    """A value, with what is in it if it is a tuple; of a module of ours, the attributes that are taken from it."""
    if isinstance(value, ModuleType) and not _is_library(value.__name__):
        for first, *rest in sorted(paths - {()}):
            yield from _values(f"{name}.{first}", getattr(value, first, None), {tuple(rest)})
        if () in paths:
            raise TypeError(f"The module {value.__name__} is handed on by a kernel: what it takes is not known.")
    elif isinstance(value, tuple):
        yield name, type(value)
        for place, one in enumerate(value):
            yield from _values(f"{name}[{place}]", one, {()})
    else:
        yield name, value


def _is_library(module: str | None) -> bool:
    return (module or "builtins").partition(".")[0] in _LIBRARIES


def _content_text(value: Any, by: Any) -> str:
    """The content of what is no function."""
    import numpy as np

    kind = type(value)
    if isinstance(value, ModuleType):
        return value.__name__
    if isinstance(value, type | BuiltinFunctionType | np.ufunc):
        return _class_text(value, by)
    if isinstance(value, enum.Enum):
        return f"{kind.__name__} {value.name} {value.value!r}"
    if isinstance(value, np.ndarray) and value.dtype != object:
        return f"array {value.dtype} {value.shape} {hashlib.blake2b(value.tobytes()).hexdigest()}"
    if value is None or isinstance(value, bool | int | float | complex | str | bytes | np.generic | np.dtype):
        return f"{kind.__name__} {value!r}"
    if kind.__module__.startswith("numba.core.types"):
        return f"type {value}"
    if _is_library(getattr(value, "__module__", None)) and hasattr(value, "__qualname__"):
        return f"{value.__module__}.{value.__qualname__}"
    raise TypeError(
        f"{by.__qualname__} takes a {kind.__name__}: factories and modules give kernels modules, whole numbers and "
        "functions, and other things whose content has a name."
    )


def _class_text(value: Any, by: Any) -> str:
    name = f"{getattr(value, '__module__', '')}.{getattr(value, '__qualname__', value)}"
    fields = getattr(value, "_fields", None)
    if fields is not None:
        defaults = {field: _content_text(one, by) for field, one in value._field_defaults.items()}
        return f"named tuple {name} {fields} {defaults}"
    if isinstance(value, type) and issubclass(value, enum.Enum):
        return f"{name} {[(one.name, one.value) for one in value]}"
    if not _is_library(getattr(value, "__module__", None)):
        raise TypeError(f"{by.__qualname__} names the class {name}, which is no named tuple.")
    return name


def _code_text(code: CodeType) -> str:
    """All of a function's instructions, without lines and files."""
    numbers = (code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount, code.co_flags & _FLAGS)
    names = (code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars)
    constants = "\n".join(map(_constant_text, code.co_consts))
    return f"{numbers} {names} {code.co_code.hex()} {code.co_exceptiontable.hex()}\n{constants}"


def _constant_text(constant: Any) -> str:
    if isinstance(constant, CodeType):
        return f"({constant.co_name} {_code_text(constant)})"
    if isinstance(constant, tuple):
        return f"({', '.join(map(_constant_text, constant))})"
    if isinstance(constant, frozenset):
        return f"{{{', '.join(sorted(map(_constant_text, constant)))}}}"
    return f"{type(constant).__name__} {constant!r}"
