"""Mutants: a module with one small change, such as a sign, a comparison, a constant or a dropped call."""

from __future__ import annotations

import ast
import copy
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any


@dataclass(frozen=True)
class Mutant:
    """One change: the characters of lines and columns `start` to `end` of the module become `after`."""

    module: str
    start: tuple[int, int]
    end: tuple[int, int]
    before: str
    after: str

    def name(self, source: str) -> str:
        """The lines before and after; stays the same when the module changes elsewhere."""
        changed = self.applied(source).splitlines()
        lines, more = source.splitlines(), len(changed) - len(source.splitlines())
        part = slice(self.start[0] - 1, self.end[0])
        return f"{self.module}: {_short(lines[part])} => {_short(changed[part.start : part.stop + more])}"

    def applied(self, source: str) -> str:
        """The source with the change."""
        lines = source.splitlines(keepends=True)
        first, last = lines[self.start[0] - 1], lines[self.end[0] - 1]
        head = first.encode()[: self.start[1]].decode()
        tail = last.encode()[self.end[1] :].decode()
        return "".join([*lines[: self.start[0] - 1], head + self.after + tail, *lines[self.end[0] :]])


def _short(lines: Sequence[str]) -> str:
    return " ".join(" ".join(lines).split())


_COMPARED = {
    ast.Lt: (ast.LtE, ast.GtE),
    ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.LtE),
    ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
}
_COMPUTED = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Add,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.FloorDiv,
    ast.Pow: ast.Mult,
    ast.LShift: ast.RShift,
    ast.RShift: ast.LShift,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
    ast.BitXor: ast.BitOr,
}


_WORDS = ("description", "help", "summary", "title", "metavar")  # arguments that only say something to people


def _changed(node: Any, **fields: Any) -> Any:
    changed = copy.copy(node)
    for name, value in fields.items():
        setattr(changed, name, value)
    return changed


def _variants(node: ast.AST) -> Iterator[ast.AST | None]:
    """What may stand in the place of a node of the syntax tree; None for nothing."""
    match node:
        case ast.Compare(ops=ops):
            for i, op in enumerate(ops):
                for other in _COMPARED[type(op)]:
                    yield _changed(node, ops=[*ops[:i], other(), *ops[i + 1 :]])
        case ast.BinOp(op=op) | ast.AugAssign(op=op) if type(op) in _COMPUTED:
            yield _changed(node, op=_COMPUTED[type(op)]())
            if isinstance(node, ast.AugAssign):
                yield None
        case ast.BoolOp(op=op):
            yield _changed(node, op=ast.Or() if isinstance(op, ast.And) else ast.And())
        case ast.UnaryOp(operand=operand):
            yield operand
        case ast.Constant(value=bool() as value):
            yield _changed(node, value=not value)
        case ast.Constant(value=int() | float() as value):
            yield _changed(node, value=value + 1)
            yield _changed(node, value=value - 1)
        case ast.Call(args=args, keywords=keywords):
            if len(args) > 1 and not any(isinstance(a, ast.Starred) for a in args[:2]):
                yield _changed(node, args=[args[1], args[0], *args[2:]])
            for i, keyword in enumerate(keywords):
                if keyword.arg and keyword.arg not in _WORDS:
                    yield _changed(node, keywords=[*keywords[:i], *keywords[i + 1 :]])
        case ast.IfExp(test=test):
            yield _changed(node, test=ast.UnaryOp(ast.Not(), test))
        case ast.Expr(value=ast.Call() | ast.Yield()) if isinstance(node.value, ast.Call):
            yield None
        case ast.Assign(targets=[ast.Subscript() | ast.Attribute()]) | ast.Raise() | ast.Delete() | ast.Assert():
            yield None
        case ast.Break():
            yield ast.Continue()
        case ast.Continue():
            yield ast.Break()


def _nodes(tree: ast.AST) -> Iterator[ast.AST]:
    """All nodes that do something: no annotations, no types, no messages of errors, no documentation."""
    yield tree
    for name, value in ast.iter_fields(tree):
        if name in ("annotation", "returns", "decorator_list", "bases"):
            continue
        if isinstance(tree, ast.Raise) and name == "exc":
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST) and not isinstance(child, ast.JoinedStr):
                yield from _nodes(child)
    if isinstance(tree, ast.If | ast.While):
        yield _Condition(tree.test)


class _Condition(ast.AST):
    """The condition of an `if` or `while`, which may be turned round."""

    def __init__(self, test: ast.expr) -> None:
        super().__init__()
        self.test = test


def _changes(source: str) -> Iterator[tuple[Any, ast.AST | None]]:
    """Places of a module, and what may stand there."""
    for node in _nodes(ast.parse(source)):
        if isinstance(node, _Condition):
            yield node.test, ast.UnaryOp(ast.Not(), node.test)
        else:
            for variant in _variants(node):
                yield node, variant


def _mutant(module: str, source: str, place: Any, variant: ast.AST | None) -> Mutant | None:
    """The mutant of a change; None if it is no Python."""
    after = "pass" if variant is None else ast.unparse(ast.fix_missing_locations(variant))
    if isinstance(variant, ast.expr):
        after = f"({after})"
    start, end = (place.lineno, place.col_offset), (place.end_lineno or 0, place.end_col_offset or 0)
    mutant = Mutant(module, start, end, ast.get_source_segment(source, place) or "", after)
    try:
        compile(mutant.applied(source), module, "exec")
    except (SyntaxError, ValueError):
        return None
    return mutant


def mutants(module: str, source: str) -> list[Mutant]:
    """All mutants of a module, in the sequence of the source."""
    made = (_mutant(module, source, *change) for change in _changes(source))
    found = {(mutant.start, mutant.end, mutant.after): mutant for mutant in made if mutant}
    return [found[key] for key in sorted(found)]


def sample(module: str, source: str, count: int, seed: int) -> list[Mutant]:
    """Some mutants of a module by chance; a larger sample begins with the smaller one."""
    found = mutants(module, source)
    random.Random(f"{seed} {module}").shuffle(found)
    return found[:count]


def dealt(sources: dict[str, str], total: int, seed: int) -> list[Mutant]:
    """Some mutants of many modules by chance, in turn from each room; a larger sample begins with the smaller one."""
    rooms: dict[str, list[tuple[str, Any]]] = {}
    for module, source in sorted(sources.items()):
        rooms.setdefault(module.partition("/")[0], []).extend((module, change) for change in _changes(source))
    for room, changes in rooms.items():
        random.Random(f"{seed} {room}").shuffle(changes)
    found: dict[Mutant, None] = {}
    for module, change in (one for each in zip_longest(*rooms.values()) for one in each if one):
        if len(found) >= total:
            break
        if mutant := _mutant(module, sources[module], *change):
            found[mutant] = None
    return list(found)
