"""Formulas of instructors: arithmetic on named numbers, and nothing else.

A formula is parsed as a Python expression, and its tree is walked here: numbers, names, ``+ - * / **``, comparisons,
``and or not``, ``A if C else B``, and the functions of :data:`FUNCTIONS`.  Everything else is refused before anything
is computed.  All numbers are floats, so that no computation is long.
"""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Callable, Collection, Mapping
from typing import Any

from pttt_ooc.errors import CourseError

LONGEST = 500
"""Characters of a formula."""


def _clip(x: float, low: float, high: float) -> float:
    return min(max(x, low), high)


FUNCTIONS: Mapping[str, tuple[Callable[..., float], int | None]] = {
    "min": (min, None),
    "max": (max, None),
    "abs": (abs, 1),
    "sqrt": (math.sqrt, 1),
    "log": (math.log, 1),
    "log10": (math.log10, 1),
    "exp": (math.exp, 1),
    "round": (round, 1),
    "floor": (math.floor, 1),
    "ceil": (math.ceil, 1),
    "clip": (_clip, 3),
}
"""Functions, with their numbers of arguments; None: two or more."""

_OPERATIONS: dict[type[ast.operator], Callable[[float, float], float]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Pow: operator.pow,
}
_COMPARISONS: dict[type[ast.cmpop], Callable[[float, float], bool]] = {
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
}


class Formula:
    """A formula that has been checked.

    Parameters
    ----------
    names
        The names that may be in it.

    Raises
    ------
    CourseError
        If it is no formula.
    """

    def __init__(self, text: str, names: Collection[str]) -> None:
        self.text = text
        if len(text) > LONGEST:
            raise CourseError(f"A formula has at most {LONGEST} characters; this one has {len(text)}.")
        try:
            self._tree = ast.parse(text.strip(), mode="eval").body
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            raise CourseError(f"The formula {text!r} cannot be read; an example is 50 * clip(1 - sum, 0, 1).") from None
        self._check(self._tree, names)

    def _check(self, node: ast.AST, names: Collection[str]) -> None:
        parts: list[ast.expr]
        match node:
            case ast.Constant(value=int() | float() as value) if type(value) is not bool and abs(value) < 1e15:
                return
            case ast.Name(id=name) if name in names:
                return
            case ast.Name(id=unknown):
                known = ", ".join(sorted(names)) or "none"
                raise CourseError(f"The formula {self.text!r} has the name {unknown}; there are: {known}.")
            case ast.BinOp(op=op) if type(op) in _OPERATIONS:
                parts = [node.left, node.right]
            case ast.UnaryOp(op=ast.USub() | ast.UAdd() | ast.Not()):
                parts = [node.operand]
            case ast.BoolOp():
                parts = node.values
            case ast.IfExp():
                parts = [node.test, node.body, node.orelse]
            case ast.Compare(ops=ops) if all(type(op) in _COMPARISONS for op in ops):
                parts = [node.left, *node.comparators]
            case ast.Call(func=ast.Name(id=name), keywords=[]) if name in FUNCTIONS:
                wanted = FUNCTIONS[name][1]
                if len(node.args) != wanted and not (wanted is None and len(node.args) >= 2):
                    many = "two or more" if wanted is None else wanted
                    raise CourseError(f"The formula {self.text!r}: {name} takes {many} numbers, not {len(node.args)}.")
                parts = node.args
            case _:
                found = ast.unparse(node)[:60]
                functions = ", ".join(FUNCTIONS)
                raise CourseError(
                    f"The formula {self.text!r} has {found!r}, but formulas have numbers, names, + - * / **, "
                    f"comparisons, and, or, not, if, else, and the functions {functions}."
                )
        for part in parts:
            self._check(part, names)

    def value(self, numbers: Mapping[str, float]) -> float:
        """Its value for these numbers.

        Raises
        ------
        CourseError
            If it has none, such as for a division by zero.
        """
        try:
            found = float(self._value(self._tree, numbers))
        except (ArithmeticError, ValueError, TypeError) as error:
            raise CourseError(f"The formula {self.text!r} has no value here: {error}.") from None
        if not math.isfinite(found):
            raise CourseError(f"The formula {self.text!r} has no finite value here.")
        return found

    def _value(self, node: Any, numbers: Mapping[str, float]) -> Any:
        match node:
            case ast.Constant(value=int() | float() as value):
                return float(value)
            case ast.Name():
                return float(numbers[node.id])
            case ast.BinOp():
                return _OPERATIONS[type(node.op)](self._value(node.left, numbers), self._value(node.right, numbers))
            case ast.UnaryOp(op=ast.Not()):
                return not self._value(node.operand, numbers)
            case ast.UnaryOp():
                value = self._value(node.operand, numbers)
                return -value if isinstance(node.op, ast.USub) else value
            case ast.BoolOp():
                found = (self._value(part, numbers) for part in node.values)
                return all(found) if isinstance(node.op, ast.And) else any(found)
            case ast.IfExp():
                return self._value(node.body if self._value(node.test, numbers) else node.orelse, numbers)
            case ast.Compare():
                values = [self._value(part, numbers) for part in (node.left, *node.comparators)]
                pairs = zip(node.ops, values, values[1:], strict=False)
                return all(_COMPARISONS[type(op)](a, b) for op, a, b in pairs)
            case _:
                return FUNCTIONS[node.func.id][0](*(self._value(part, numbers) for part in node.args))
