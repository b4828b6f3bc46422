"""What Python 2 means where Python 3 means something else: division, comparisons, lists instead of iterators, names.

This file stands alone and runs beside ``runner.py`` under Python 3, for programs whose syntax `source_reader` has
converted.  Modules and built-in names are changed for the program only, not for the libraries that it imports.
"""

from __future__ import annotations

import ast
import builtins
import codecs
import functools
import importlib
import itertools
import math
import operator
import random
import sys
import types
from collections.abc import ItemsView, KeysView, ValuesView
from decimal import ROUND_HALF_UP, Context, Decimal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import Any

# ---------------------------------------------------------------------------------------------
# Division and rounding


def _divides_down(a: Any, b: Any) -> bool:
    """Whether Python 2 rounds the quotient down: of whole numbers, also of numpy's."""
    if isinstance(a, int) and isinstance(b, int):
        return True
    numpy = sys.modules.get("numpy")
    if numpy is None:
        return False
    whole = [
        isinstance(x, int) or (isinstance(x, numpy.ndarray | numpy.generic) and x.dtype.kind in "iub") for x in (a, b)
    ]
    return all(whole)


def quotient(a: Any, b: Any) -> Any:
    """``a / b``."""
    return a // b if _divides_down(a, b) else a / b


class Divisor:
    """The right side of ``a /= b``: Python evaluates the left side once and asks this for the quotient."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def __array_ufunc__(self, divide: Any, method: str, *given: Any, **named: Any) -> Any:
        """The quotient of an array, which numpy leaves to this class."""
        down = _divides_down(given[0], self.value)
        return (sys.modules["numpy"].floor_divide if down else divide)(given[0], self.value, **named)

    def __rtruediv__(self, a: Any) -> Any:
        if _divides_down(a, self.value):
            a //= self.value
        else:
            a /= self.value
        return a


_EXACT = Context(prec=1500)  # more digits than any float has


def round_number(number: Any, digits: int = 0) -> float:
    """``round``: a float, and halves away from zero."""
    if not math.isfinite(number):
        return float(number)
    return float(Decimal(float(number)).quantize(Decimal(1).scaleb(-digits), ROUND_HALF_UP, _EXACT))


def _as_float(function: Callable[[Any], int]) -> Callable[[Any], float]:
    return lambda number: float(function(number)) if math.isfinite(number) else float(number)


# ---------------------------------------------------------------------------------------------
# Comparisons


def _rank(value: Any) -> tuple[int, str]:
    """The order of types: None, numbers, and all others by the name of their type."""
    if value is None:
        return 0, ""
    return (1, "") if isinstance(value, int | float) else (2, type(value).__name__)


def _compare_unordered(a: Any, b: Any) -> int:
    """The order of two values that Python 3 does not compare: -1, 0 or 1."""
    if type(a) is type(b):
        if isinstance(a, dict):
            return compare((len(a), sorted_list(a.items())), (len(b), sorted_list(b.items())))
        if isinstance(a, list | tuple):
            for x, y in zip(a, b, strict=False):
                if x != y:
                    return compare(x, y)
            return (len(a) > len(b)) - (len(a) < len(b))
    one, two = (_rank(a), id(a)), (_rank(b), id(b))
    return (one > two) - (one < two)


def _ordering(native: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    def compare_as_python2(a: Any, b: Any) -> Any:
        try:
            return native(a, b)
        except TypeError as error:
            trace = error.__traceback__
            if trace is not None and trace.tb_next is not None:  # raised by the program's own method
                raise
        return native(_compare_unordered(a, b), 0)

    return compare_as_python2


less, at_most, greater, at_least = map(_ordering, (operator.lt, operator.le, operator.gt, operator.ge))


def compare(a: Any, b: Any) -> int:
    """``cmp``."""
    if hasattr(type(a), "__cmp__"):
        return int(a.__cmp__(b))
    return int(bool(greater(a, b))) - int(bool(less(a, b)))


_BY_ORDER = functools.cmp_to_key(compare)


class Operand:
    """A value in a chain such as ``a < b < c``, where it is evaluated once."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def __lt__(self, other: Any) -> Any:
        return less(self.value, _bare(other))

    def __le__(self, other: Any) -> Any:
        return at_most(self.value, _bare(other))

    def __gt__(self, other: Any) -> Any:
        return greater(self.value, _bare(other))

    def __ge__(self, other: Any) -> Any:
        return at_least(self.value, _bare(other))

    def __eq__(self, other: object) -> Any:
        return self.value == _bare(other)

    def __ne__(self, other: object) -> Any:
        return self.value != _bare(other)

    __hash__ = None  # type: ignore[assignment]


def operand(value: Any) -> Any:
    """A value in a chain of comparisons; numbers compare as they are."""
    return value if type(value) in (int, float, bool) else Operand(value)


def _bare(value: Any) -> Any:
    return value.value if isinstance(value, Operand) else value


def sorted_list(values: Iterable[Any], cmp: Any = None, key: Any = None, reverse: Any = False) -> list[Any]:
    """``sorted``."""
    found, by = list(values), functools.cmp_to_key(cmp) if cmp else _BY_ORDER
    if cmp is None:
        try:
            return sorted(found, key=key, reverse=bool(reverse))
        except TypeError:
            pass
    return sorted(found, key=by if key is None else lambda value: by(key(value)), reverse=bool(reverse))


def sort(values: list[Any], cmp: Any = None, key: Any = None, reverse: Any = False) -> None:
    """``list.sort``."""
    values[:] = sorted_list(values, cmp, key, reverse)


def _best(native: Callable[..., Any]) -> Callable[..., Any]:
    """``min`` or ``max``, of values of any types."""

    def best(*values: Any, key: Any = None) -> Any:
        found = list(values[0]) if len(values) == 1 else list(values)
        try:
            return native(found, key=key)
        except TypeError:
            return native(found, key=_BY_ORDER if key is None else lambda value: _BY_ORDER(key(value)))

    return best


def _cmp_less(one: Any, other: Any) -> bool:
    return bool(one.__cmp__(other) < 0)


def _default_less(one: Any, other: Any) -> bool:
    return _compare_unordered(one, other) < 0


def _inherited_hash(one: Any) -> int:
    """The hash of a class that defines how it is compared: it stays that of its bases."""
    for kind in type(one).__mro__:
        found = vars(kind).get("__hash__")
        if found not in (None, _inherited_hash):
            return int(found(one))
    return object.__hash__(one)


# ---------------------------------------------------------------------------------------------
# Lists instead of iterators


def map_list(function: Any, *sequences: Iterable[Any]) -> list[Any]:
    """``map``."""
    if len(sequences) == 1:
        return list(sequences[0]) if function is None else [function(value) for value in sequences[0]]
    rows = itertools.zip_longest(*sequences)
    return list(rows) if function is None else [function(*row) for row in rows]


def _imap(function: Any, *sequences: Iterable[Any]) -> Iterator[Any]:
    return zip(*sequences, strict=False) if function is None else map(function, *sequences)


def filter_values(function: Any, values: Any) -> Any:
    """``filter``."""
    kept = list(filter(function, values))
    return "".join(kept) if isinstance(values, str) else tuple(kept) if isinstance(values, tuple) else kept


# ---------------------------------------------------------------------------------------------
# Attributes


def _encode(text: str, encoding: str = "ascii", errors: str = "strict") -> str:
    if codecs.lookup(encoding)._is_text_encoding:
        return text.encode(encoding, errors).decode("latin-1")
    convert: Any = codecs.encode
    return str(convert(text.encode("latin-1"), encoding, errors).decode("latin-1"))


def _decode(text: str, encoding: str = "ascii", errors: str = "strict") -> str:
    if codecs.lookup(encoding)._is_text_encoding:
        return text.encode("latin-1").decode(encoding, errors)
    convert: Any = codecs.decode
    return str(convert(text.encode("latin-1"), encoding, errors).decode("latin-1"))


def _listing(bound: Callable[..., Any]) -> Callable[..., Any]:
    def list_views(*given: Any) -> Any:
        found = bound(*given)
        return list(found) if isinstance(found, KeysView | ValuesView | ItemsView) else found

    return list_views


_MISSING: dict[str, tuple[type, Callable[[Any], Any]]] = {
    "has_key": (dict, lambda owner: owner.__contains__),
    "iterkeys": (dict, lambda owner: lambda: iter(owner.keys())),
    "itervalues": (dict, lambda owner: lambda: iter(owner.values())),
    "iteritems": (dict, lambda owner: lambda: iter(owner.items())),
    "viewkeys": (dict, lambda owner: owner.keys),
    "viewvalues": (dict, lambda owner: owner.values),
    "viewitems": (dict, lambda owner: owner.items),
    "message": (BaseException, lambda owner: owner.args[0] if len(owner.args) == 1 else ""),
    "decode": (str, lambda owner: functools.partial(_decode, owner)),
}
_CHANGED: dict[str, tuple[type, Callable[[Any], Any]]] = {
    "keys": (object, lambda owner: _listing(owner.keys)),
    "values": (object, lambda owner: _listing(owner.values)),
    "items": (object, lambda owner: _listing(owner.items)),
    "sort": (list, lambda owner: functools.partial(sort, owner)),
    "encode": (str, lambda owner: functools.partial(_encode, owner)),
}


def attribute(owner: Any, name: str) -> Any:
    """``owner.name``, for names that Python 3 has no more, or that do something else there."""
    if name in _CHANGED:
        kind, found = _CHANGED[name]
        if isinstance(owner, kind) and (kind is object or getattr(type(owner), name) is getattr(kind, name)):
            return found(owner)
    elif not hasattr(owner, name) and isinstance(owner, _MISSING[name][0]):
        return _MISSING[name][1](owner)
    return getattr(owner, name)


# ---------------------------------------------------------------------------------------------
# Names


class OldRandom(random.Random):
    """Random numbers as Python 2.7 draws them: after the same whole number as a seed, they are the same."""

    def choice(self, seq: Any) -> Any:
        """An item."""
        return seq[int(self.random() * len(seq))]

    def randrange(self, start: Any, stop: Any = None, step: Any = 1) -> int:
        """A number of a range."""
        found = range(int(start)) if stop is None else range(int(start), int(stop), int(step))
        if not found:
            raise ValueError("empty range for randrange()")
        return found[self._randbelow(len(found)) if len(found) >= 1 << 53 else int(self.random() * len(found))]  # type: ignore[attr-defined]

    def randint(self, a: int, b: int) -> int:
        """A number from `a` to `b`."""
        return self.randrange(a, b + 1)

    def shuffle(self, x: Any, random: Any = None) -> None:
        """Shuffle a list."""
        for i in range(len(x) - 1, 0, -1):
            j = int((random or self.random)() * (i + 1))
            x[i], x[j] = x[j], x[i]

    def sample(self, population: Any, k: int) -> list[Any]:  # type: ignore[override]
        """Different items."""
        n = len(population)
        if not 0 <= k <= n:
            raise ValueError("sample larger than population")
        size = 21 + (4 ** math.ceil(math.log(k * 3, 4)) if k > 5 else 0)
        if n <= size or hasattr(population, "keys"):
            pool, found = list(population), []
            for i in range(k):
                j = int(self.random() * (n - i))
                found.append(pool[j])
                pool[j] = pool[n - i - 1]
            return found
        chosen: dict[int, None] = {}
        while len(chosen) < k:
            chosen[int(self.random() * n)] = None
        return [list(population)[j] for j in chosen]


def _takes_text(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function of bytes that takes texts, too."""
    return lambda *given: function(*(x.encode("latin-1", "replace") if isinstance(x, str) else x for x in given))


class _Hash:
    """A hash to which texts can be added."""

    def __init__(self, made: Any) -> None:
        self.made, self.update = made, _takes_text(made.update)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.made, name)


def _changes_of(name: str, real: Any) -> dict[str, Any]:
    """The names in a module that differ in Python 2."""
    if name == "time":
        return {"clock": real.process_time}
    if name == "math":
        return {"floor": _as_float(math.floor), "ceil": _as_float(math.ceil)}
    if name == "random":
        drawing = OldRandom()
        drawn = {one: getattr(drawing, one) for one in vars(real) if one[0].islower() and hasattr(drawing, one)}
        return {**drawn, "Random": OldRandom}
    if name == "string":
        cases = {"letters": real.ascii_letters, "lowercase": real.ascii_lowercase, "uppercase": real.ascii_uppercase}
        functions = {one: getattr(str, one) for one in dir(str) if one[0] != "_"}
        functions["join"] = lambda words, sep=" ": sep.join(words)
        return {**functions, **cases, "atoi": int, "atof": float}
    if name == "itertools":
        return {
            "imap": _imap,
            "izip": zip,
            "ifilter": filter,
            "ifilterfalse": itertools.filterfalse,
            "izip_longest": itertools.zip_longest,
        }
    if name == "operator":
        orders = {"lt": less, "le": at_most, "gt": greater, "ge": at_least}
        divisions = {"div": quotient, "idiv": lambda a, b: Divisor(b).__rtruediv__(a)}
        return {**orders, **divisions, "isCallable": callable, "sequenceIncludes": operator.contains}
    if name == "hashlib":
        made = {one: getattr(real, one) for one in real.algorithms_guaranteed}
        return {one: lambda *x, made=hashed: _Hash(_takes_text(made)(*x)) for one, hashed in made.items()}
    if name in ("zlib", "binascii"):
        return {one: _takes_text(getattr(real, one)) for one in ("crc32", "adler32") if hasattr(real, one)}
    if name == "collections":
        return {one: getattr(real.abc, one) for one in real.abc.__all__}
    if name == "fractions":
        return {"gcd": math.gcd}
    return _changes_of_renamed(name, real)


def _changes_of_renamed(name: str, real: Any) -> dict[str, Any]:
    """The names in a module of Python 2 that is renamed, split or merged in Python 3."""
    if name in ("urllib", "urllib2"):
        merged: dict[str, Any] = {}
        for part in ("parse", "request", "error", "response"):
            merged |= vars(importlib.import_module(f"urllib.{part}"))
        return {one: value for one, value in merged.items() if one[0] != "_"}
    if name == "exceptions":
        errors = {one: value for one, value in NAMES.items() if isinstance(value, type)}
        return {one: value for one, value in errors.items() if issubclass(value, BaseException)}
    if name in ("md5", "sha"):
        made = _module("hashlib")
        return {one: made.md5 if name == "md5" else made.sha1 for one in ("new", name)}
    if name == "sets":
        return {"Set": set, "ImmutableSet": frozenset, "BaseSet": set}
    if name == "future_builtins":
        return {"map": map, "filter": filter, "zip": zip}
    if name == "UserDict":
        return {"IterableUserDict": real.UserDict, "DictMixin": real.abc.MutableMapping}
    return {}


_MODULES = {
    **{name: name for name in ("time", "math", "random", "string", "itertools", "operator", "hashlib", "zlib")},
    **{name: name for name in ("binascii", "collections", "fractions", "urllib")},
    "BaseHTTPServer": "http.server",
    "CGIHTTPServer": "http.server",
    "ConfigParser": "configparser",
    "Cookie": "http.cookies",
    "HTMLParser": "html.parser",
    "Queue": "queue",
    "SimpleHTTPServer": "http.server",
    "SocketServer": "socketserver",
    "StringIO": "io",
    "Tkinter": "tkinter",
    "UserDict": "collections",
    "UserList": "collections",
    "UserString": "collections",
    "__builtin__": "builtins",
    "anydbm": "dbm",
    "cPickle": "pickle",
    "cStringIO": "io",
    "commands": "subprocess",
    "cookielib": "http.cookiejar",
    "copy_reg": "copyreg",
    "dumbdbm": "dbm.dumb",
    "dummy_thread": "_thread",
    "exceptions": "builtins",
    "future_builtins": "builtins",
    "htmlentitydefs": "html.entities",
    "httplib": "http.client",
    "md5": "hashlib",
    "repr": "reprlib",
    "robotparser": "urllib.robotparser",
    "sets": "builtins",
    "sha": "hashlib",
    "thread": "_thread",
    "urllib2": "urllib.request",
    "urlparse": "urllib.parse",
    "whichdb": "dbm",
    "xmlrpclib": "xmlrpc.client",
}
"""The modules that differ in Python 2, or have other names there, and what they are now."""


class _Builtins(types.ModuleType):
    """The module ``__builtin__``: the built-in names of the program, which it may change."""

    def __getattr__(self, name: str) -> Any:
        if name in NAMES:
            return NAMES[name]
        raise AttributeError(f"'module' object has no attribute {name!r}")

    def __setattr__(self, name: str, value: Any) -> None:
        NAMES[name] = value


@functools.cache
def _module(name: str) -> types.ModuleType:
    """A module as Python 2 has it; the libraries keep their own."""
    if name == "__builtin__":
        return _Builtins(name)
    real = importlib.import_module(_MODULES[name])
    made = types.ModuleType(name)
    vars(made).update({one: value for one, value in vars(real).items() if one not in ("__name__", "__spec__")})
    vars(made).update(_changes_of(name, real))
    return made


def _import(name: str, globals: Any = None, locals: Any = None, fromlist: Any = (), level: int = 0) -> Any:
    if name in _MODULES and not level:
        return _module(name)
    if name == "xml.etree.cElementTree":
        tree = importlib.import_module("xml.etree")
        sys.modules[name] = tree.cElementTree = importlib.import_module("xml.etree.ElementTree")  # type: ignore[attr-defined]
    return builtins.__import__(name, globals, locals, fromlist, level)


def _evaluate(text: Any, globals: Any = None, locals: Any = None, mode: str = "eval") -> Any:
    """``eval`` and ``exec`` of a text, in the place of the call if none is given."""
    frame = sys._getframe(1 if mode == "eval" else 2)
    if globals is None:
        globals, locals = frame.f_globals, frame.f_locals
    globals.setdefault("__builtins__", NAMES)
    code = compile_source(text.strip() if mode == "eval" else text, "<string>", mode) if isinstance(text, str) else text
    return builtins.eval(code, globals, globals if locals is None else locals)


def _execute(text: Any, globals: Any = None, locals: Any = None) -> None:
    _evaluate(text, globals, locals, "exec")


def _reload(module: Any) -> Any:
    return module


NAMES: dict[str, Any] = {
    **vars(builtins),
    "__import__": _import,
    "__divided__": quotient,
    "__divisor__": Divisor,
    "__operand__": operand,
    "__attribute__": attribute,
    "__less__": less,
    "__at_most__": at_most,
    "__greater__": greater,
    "__at_least__": at_least,
    "__cmp_less__": _cmp_less,
    "__cmp_at_most__": lambda one, other: one.__cmp__(other) <= 0,
    "__cmp_greater__": lambda one, other: one.__cmp__(other) > 0,
    "__cmp_at_least__": lambda one, other: one.__cmp__(other) >= 0,
    "__cmp_equal__": lambda one, other: one.__cmp__(other) == 0,
    "__default_less__": _default_less,
    "__inherited_hash__": _inherited_hash,
    "StandardError": Exception,
    "apply": lambda function, given=(), named=None: function(*given, **(named or {})),
    "basestring": str,
    "buffer": memoryview,
    "cmp": compare,
    "eval": _evaluate,
    "exec": _execute,
    "file": open,
    "filter": filter_values,
    "input": lambda *given: _evaluate(input(*given)),
    "intern": sys.intern,
    "long": int,
    "map": map_list,
    "max": _best(max),
    "min": _best(min),
    "range": lambda *limits: list(range(*limits)),
    "raw_input": input,
    "reduce": functools.reduce,
    "reload": _reload,
    "round": round_number,
    "sorted": sorted_list,
    "unichr": chr,
    "unicode": str,
    "xrange": range,
    "zip": lambda *sequences: list(zip(*sequences, strict=False)),
}
"""The built-in names of a program."""


# ---------------------------------------------------------------------------------------------
# Programs


def compile_source(source: str, name: str, mode: str = "exec") -> types.CodeType:
    """Compile a program, or a text that it evaluates, so that it means what Python 2 means by it."""
    tree = ast.parse(source, name, mode)
    body = tree.body if isinstance(tree, ast.Module) else []
    future = [one for one in body if isinstance(one, ast.ImportFrom) and one.module == "__future__"]
    true_division = any(alias.name == "division" for one in future for alias in one.names)
    _leak(tree)
    return compile(ast.fix_missing_locations(_Meaning(true_division).visit(tree)), name, mode, 0, True)


def prepare(module: types.ModuleType) -> None:
    """Give a module the built-in names of Python 2."""
    module.__dict__["__builtins__"] = NAMES
    sys.maxint = sys.maxsize  # type: ignore[attr-defined]
    sys.setcheckinterval = sys.exc_clear = lambda *_: None  # type: ignore[attr-defined]


def _call(function: str, *given: ast.expr, at: ast.AST) -> ast.Call:
    return ast.copy_location(ast.Call(ast.Name(function, ast.Load()), list(given), []), at)


_ORDERS = {ast.Lt: "__less__", ast.LtE: "__at_most__", ast.Gt: "__greater__", ast.GtE: "__at_least__"}
_COMPARISONS = {"__lt__": "less", "__le__": "at_most", "__gt__": "greater", "__ge__": "at_least", "__eq__": "equal"}


class _Meaning(ast.NodeTransformer):
    """Replaces what means something else in Python 3."""

    def __init__(self, true_division: bool) -> None:
        self._true_division = true_division

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:  # noqa: N802
        self.generic_visit(node)
        if self._true_division or not isinstance(node.op, ast.Div):
            return node
        return _call("__divided__", node.left, node.right, at=node)

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.AST:  # noqa: N802
        self.generic_visit(node)
        if not self._true_division and isinstance(node.op, ast.Div):
            node.value = _call("__divisor__", node.value, at=node)
        return node

    def visit_Compare(self, node: ast.Compare) -> ast.AST:  # noqa: N802
        self.generic_visit(node)
        if not any(type(one) in _ORDERS for one in node.ops):
            return node
        if len(node.ops) == 1:
            return _call(_ORDERS[type(node.ops[0])], node.left, node.comparators[0], at=node)
        if all(type(one) in _ORDERS for one in node.ops):
            node.left = _call("__operand__", node.left, at=node)
            node.comparators = [_call("__operand__", one, at=node) for one in node.comparators]
        return node

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:  # noqa: N802
        self.generic_visit(node)
        if isinstance(node.ctx, ast.Load) and (node.attr in _CHANGED or node.attr in _MISSING):
            return _call("__attribute__", node.value, ast.Constant(node.attr), at=node)
        return node

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:  # noqa: N802
        self.generic_visit(node)
        own = {one.name for one in node.body if isinstance(one, ast.FunctionDef)}
        own |= {
            x.id for one in node.body if isinstance(one, ast.Assign) for x in one.targets if isinstance(x, ast.Name)
        }
        added = {f"__{i}truediv__": f"__{i}div__" for i in ("", "r", "i") if f"__{i}div__" in own}
        if "__cmp__" in own:
            added |= {name: f"__cmp_{what}__" for name, what in _COMPARISONS.items()}
        elif not own & set(_COMPARISONS) and not node.decorator_list and all(map(_is_object, node.bases)):
            added["__lt__"] = "__default_less__"
        if own & {"__cmp__", "__eq__"}:
            added["__hash__"] = "__inherited_hash__"
        for name, value in added.items():
            if name not in own:
                assigned = ast.Assign([ast.Name(name, ast.Store())], ast.Name(value, ast.Load()))
                node.body.append(ast.copy_location(assigned, node))
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:  # noqa: N802
        if any(map(_is_bare_exec, _own_nodes(node))):
            _Executing(node)
        self.generic_visit(node)
        return node


def _is_object(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and node.id == "object"


def _own_nodes(scope: ast.AST) -> Iterator[ast.AST]:
    """The nodes in a scope, without those in scopes inside of it."""
    waiting = list(ast.iter_child_nodes(scope))
    while waiting:
        node = waiting.pop()
        yield node
        if not isinstance(node, ast.FunctionDef | ast.ClassDef | ast.Lambda):
            waiting += ast.iter_child_nodes(node)


def _is_bare_exec(node: ast.AST) -> bool:
    """Whether this is ``exec text``, which in Python 2 changes the variables of its function."""
    if not isinstance(node, ast.Expr) or not isinstance(node.value, ast.Call) or len(node.value.args) != 1:
        return False
    return isinstance(node.value.func, ast.Name) and node.value.func.id == "exec" and not node.value.keywords


class _Executing(ast.NodeTransformer):
    """Rewrites a function with ``exec text``: what the text assigns is kept, and looked up before global names."""

    def __init__(self, function: ast.FunctionDef) -> None:
        given = function.args
        names = {
            one.arg for one in (*given.posonlyargs, *given.args, *given.kwonlyargs, given.vararg, given.kwarg) if one
        }
        own = [node for node in _own_nodes(function) if isinstance(node, ast.Name)]
        self._locals = sorted(names | {node.id for node in own if isinstance(node.ctx, ast.Store)})
        function.body = [self.visit(one) for one in function.body]
        function.body[:0] = ast.parse("__assigned__ = {}").body
        flat: list[ast.stmt] = []
        for one in function.body:
            flat += one if isinstance(one, list) else [one]
        function.body = flat

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:  # noqa: N802
        return node

    visit_ClassDef = visit_Lambda = visit_FunctionDef  # type: ignore[assignment]  # noqa: N815

    def visit_Expr(self, node: ast.Expr) -> Any:  # noqa: N802
        if not _is_bare_exec(node):
            return self.generic_visit(node)
        text = self.visit(node.value.args[0])  # type: ignore[attr-defined]
        lines = ["__assigned__.update(locals())", "exec(None, globals(), __assigned__)"]
        lines += [f"if {name!r} in __assigned__: {name} = __assigned__[{name!r}]" for name in self._locals]
        made = ast.parse("\n".join(lines)).body
        made[1].value.args[0] = text  # type: ignore[attr-defined]
        for one in made:
            for part in ast.walk(one):
                if "lineno" in part._attributes:
                    ast.copy_location(part, node)
        return made

    def visit_Name(self, node: ast.Name) -> ast.AST:  # noqa: N802
        if not isinstance(node.ctx, ast.Load) or node.id in self._locals:
            return node
        found = ast.parse(f"__assigned__[{node.id!r}] if {node.id!r} in __assigned__ else {node.id}", mode="eval").body
        for part in ast.walk(found):
            ast.copy_location(part, node)
        return found


def _leak(tree: ast.AST) -> None:
    """Let variables of list comprehensions live on where the program uses them afterwards, as in Python 2."""
    for scope in (tree, *(node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.Lambda))):
        for comprehension, names in leaking(scope):
            for part in comprehension.generators:
                own = [one for one in ast.walk(part.target) if isinstance(one, ast.Name) and one.id in names]
                kept: list[ast.expr] = [
                    ast.NamedExpr(ast.Name(one.id, ast.Store()), ast.Name(f"{one.id}__", ast.Load())) for one in own
                ]
                for one in own:
                    one.id += "__"
                if kept:
                    part.ifs.insert(0, ast.copy_location(ast.Tuple(kept, ast.Load()), part.target))


def leaking(scope: ast.AST) -> list[tuple[ast.ListComp, set[str]]]:
    """The list comprehensions of a scope with the variables of theirs that are used outside of them.

    Comprehensions in what another one goes through are left out: Python 3 cannot assign a variable there.
    """
    found: list[tuple[ast.ListComp, set[str]]] = []
    loaded: list[tuple[str, list[ast.AST]]] = []

    def walk(node: ast.AST, inside: list[ast.AST], can: bool) -> None:
        if isinstance(node, ast.FunctionDef | ast.ClassDef | ast.Lambda) and node is not scope:
            return
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            loaded.append((node.id, inside))
        if isinstance(node, ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp):
            if isinstance(node, ast.ListComp) and can:
                found.append((node, bound_names(node)))
            within = [*inside, node]
            for part in node.generators:
                walk(part.iter, within, False)
                for one in part.ifs:
                    walk(one, within, can and isinstance(node, ast.ListComp))
            elements = (node.key, node.value) if isinstance(node, ast.DictComp) else (node.elt,)
            for one in elements:
                walk(one, within, can and isinstance(node, ast.ListComp))
            return
        for child in ast.iter_child_nodes(node):
            walk(child, inside, can)

    def bound_names(node: Any) -> set[str]:
        return {x.id for part in node.generators for x in ast.walk(part.target) if isinstance(x, ast.Name)}

    walk(scope, [], True)
    used = {name for name, inside in loaded if not any(name in bound_names(node) for node in inside)}
    return [(node, names & used) for node, names in found if names & used]
