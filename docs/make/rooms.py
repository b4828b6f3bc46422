"""The rooms of the package, from its imports: figures, and the picture in the documentation.

``python -m docs.make.rooms`` prints the figures; ``--write`` also draws ``docs/pictures/rooms.svg``.  A room is a
folder of the package, or a module at its top.  A room's floor is one above the highest room that it imports.
"""

from __future__ import annotations

import argparse
import ast
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path

from pttt_ooc.imports import import_statements as statements

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "pttt_ooc"
PICTURE = ROOT / "docs/pictures/rooms.svg"

Graph = Mapping[str, frozenset[str]]
"""For each node, the nodes that it imports."""


def modules(package: Path = PACKAGE) -> dict[str, Path]:
    """The modules of the package by their dotted names, without the package's name."""
    files = {file.relative_to(package).with_suffix("").as_posix(): file for file in package.rglob("*.py")}
    return {name.removesuffix("/__init__").replace("/", "."): file for name, file in sorted(files.items())}


def imports(package: Path = PACKAGE) -> Graph:
    """The modules that each module imports, at its top or in a function.

    The package's own ``__init__`` and ``__main__`` are left out.
    """
    known = modules(package)
    return {
        name: frozenset(_imported(file.read_text(encoding="utf-8"), known) - {name})
        for name, file in known.items()
        if name not in ("__init__", "__main__")
    }


def _imported(text: str, known: Mapping[str, Path]) -> set[str]:
    found = set()
    for node in statements(text):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "pttt_ooc":
            base = (node.module or "").partition(".")[2]
            for alias in node.names:
                full = f"{base}.{alias.name}".lstrip(".")
                found.add(full if full in known else base)
        elif isinstance(node, ast.Import):
            found |= {alias.name.partition(".")[2] for alias in node.names if alias.name.startswith("pttt_ooc.")}
    return found & known.keys()


def rooms(graph: Graph) -> Graph:
    """The rooms that each room imports."""
    found: dict[str, set[str]] = defaultdict(set)
    for name, others in graph.items():
        own = name.partition(".")[0]
        found[own] |= {other.partition(".")[0] for other in others} - {own}
    return {room: frozenset(others) for room, others in sorted(found.items())}


def floors(graph: Graph) -> dict[str, int]:
    """The floor of each room; the rooms of a circle share a floor."""
    circle = {name: members for members in circles(graph) for name in members}
    found: dict[str, int] = {}

    def floor(name: str) -> int:
        if name not in found:
            together = circle.get(name, frozenset({name}))
            below = {other for member in together for other in graph[member]} - together
            found.update(dict.fromkeys(together, 1 + max(map(floor, below), default=0)))
        return found[name]

    for name in graph:
        floor(name)
    return found


def circles(graph: Graph) -> list[frozenset[str]]:
    """The sets of nodes that import each other, directly or through others."""
    reached = {name: _reached(graph, name) for name in graph}
    found = {frozenset(n for n in reached[name] if name in reached[n]) for name in graph if name in reached[name]}
    return sorted(found, key=sorted)


def _reached(graph: Graph, name: str) -> set[str]:
    found: set[str] = set()
    waiting = list(graph[name])
    while waiting:
        other = waiting.pop()
        if other not in found:
            found.add(other)
            waiting += graph[other]
    return found


def needed(graph: Graph) -> Graph:
    """The imports that do not follow from others: those of rooms to which no longer path leads."""
    reached = {name: _reached(graph, name) for name in graph}
    return {
        name: frozenset(other for other in others if not any(other in reached[via] for via in others - {other}))
        for name, others in graph.items()
    }


def lines() -> Counter[str]:
    """Lines of Python of each room."""
    count: Counter[str] = Counter()
    for name, file in modules().items():
        if name not in ("__init__", "__main__"):
            count[name.partition(".")[0]] += len(file.read_text(encoding="utf-8").splitlines())
    return count


def repeated_classes(package: Path = PACKAGE) -> dict[str, int]:
    """Class names that are defined more than twice, and how often."""
    trees = (ast.parse(file.read_text(encoding="utf-8")) for file in package.rglob("*.py"))
    count = Counter(node.name for tree in trees for node in ast.walk(tree) if isinstance(node, ast.ClassDef))
    return {name: number for name, number in count.most_common() if number > 2}


# ---------------------------------------------------------------------------------------------
# The picture

_WIDTH, _BOX, _STEP, _MARGIN = 1000, 42, 70, 16  # px: picture, height of a box, height of a floor, margin
_STYLE = """
text { font: 14px system-ui, sans-serif; fill: #1f2933; text-anchor: middle }
text.lines { font-size: 11px; fill: #66727f }
rect { fill: #eef4fa; stroke: #1d5f9e; stroke-width: 1.2 }
path { fill: none; stroke: #8fa3b5; stroke-width: 1.1 }
"""


def picture() -> str:
    """The folders as SVG: the lowest floor at the bottom, with the arrows that do not follow from others."""
    folders = {path.name for path in PACKAGE.iterdir() if path.is_dir()}
    graph = {room: others & folders for room, others in rooms(imports()).items() if room in folders}
    level, count, arrows = floors(graph), lines(), needed(graph)
    height = 2 * _MARGIN + (max(level.values()) - 1) * _STEP + _BOX
    place: dict[str, tuple[float, float, float]] = {}  # centre of the box, its top, and half its width
    for floor in range(1, max(level.values()) + 1):
        names = _ordered([name for name in graph if level[name] == floor], arrows, place)
        share = (_WIDTH - 2 * _MARGIN) / len(names)
        for number, name in enumerate(names):
            half = min(220.0, share / 2 - 6)
            place[name] = (_MARGIN + share * (number + 0.5), height - _MARGIN - _BOX - (floor - 1) * _STEP, half)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" role="img" '
        'aria-label="The rooms of the package and what they import">',
        f"<style>{_STYLE}</style>",
        *(_arrow(place[name], place[other]) for name in graph for other in sorted(arrows[name])),
        *(_box(name, count[name], *place[name]) for name in graph),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def _ordered(names: list[str], arrows: Graph, place: Mapping[str, tuple[float, float, float]]) -> list[str]:
    """The rooms of a floor, sorted by the mean position of the rooms that they import."""

    def middle(name: str) -> tuple[float, str]:
        below = [place[other][0] for other in arrows[name] if other in place]
        return (sum(below) / len(below) if below else _WIDTH / 2, name)

    return sorted(names, key=middle)


def _arrow(upper: tuple[float, float, float], lower: tuple[float, float, float]) -> str:
    x, y, _ = upper
    to_x, to_y, _ = lower
    begin = y + _BOX
    bend = (to_y - begin) / 2
    points = [(x, begin), (x, begin + bend), (to_x, to_y - bend), (to_x, to_y)]
    first, *others = (f"{a:.1f} {b:.1f}" for a, b in points)
    return f'<path d="M{first} C{" ".join(others)}"/>'


def _box(name: str, count: int, x: float, y: float, half: float) -> str:
    folders = [file.parent.name for file in sorted((PACKAGE / name).glob("*/__init__.py"))]
    return (
        f'<rect x="{x - half:.1f}" y="{y:.1f}" width="{2 * half:.1f}" height="{_BOX}" rx="7"/>'
        f'<text x="{x:.1f}" y="{y + 18:.1f}">{name}</text>'
        f'<text class="lines" x="{x:.1f}" y="{y + 33:.1f}">{" · ".join([*folders, f"{_rounded(count)} lines"])}</text>'
    )


def _rounded(count: int) -> str:
    """A number of lines with two significant digits, so that small edits do not change the picture."""
    step = 10 ** max(0, len(str(count)) - 2)
    return f"{max(step, round(count / step) * step):,}"


def figures() -> Iterator[str]:
    """The figures, a line each."""
    graph = imports()
    level = floors(rooms(graph))
    yield f"{len(level)} rooms on {max(level.values())} floors, {len(graph)} modules, {sum(lines().values()):,} lines"
    inside = [group for group in circles(graph) if len(group) > 1]
    yield f"{len(inside)} circles of modules: {'; '.join(', '.join(sorted(group)) for group in inside) or 'none'}"
    between = circles(rooms(graph))
    yield f"{len(between)} circles of rooms: {'; '.join(', '.join(sorted(group)) for group in between) or 'none'}"
    names = ", ".join(f"{name} {number}" for name, number in repeated_classes().items())
    yield f"{len(repeated_classes())} class names used more than twice: {names or 'none'}"
    for room, count in lines().most_common():
        yield f"floor {level[room]:2}  {room:14} {count:7,} lines"


def main() -> None:
    """Print the figures, and draw the picture if asked to."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--write", action="store_true", help="also draw docs/pictures/rooms.svg")
    if options.parse_args().write:
        PICTURE.write_text(picture(), encoding="utf-8")
    for line in figures():
        print(line)


if __name__ == "__main__":
    main()
