"""The rooms of the package: a module imports only from its own folder and from what stands before it.

ARCHITECTURE.md has the order of the rooms, and of the folders in each."""

import ast
import re
from pathlib import Path

from docs.make import rooms
from pttt_ooc.pipeline.stages import STAGES

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "pttt_ooc"
TEXT = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
ITEMS = re.findall(r"^- (`.*\n(?:  .*\n)*)", TEXT.partition("## The data's way")[0], re.M)
TOP = [name for item in ITEMS if not re.match(r"`\w+/`", item) for name in re.findall(r"`(\w+)`: ", item)]
ROOMS = {names[0]: names[1:] for item in ITEMS if (names := re.findall(r"`(\w+)/`", item))}
"""For each room its folders, both in their order."""

# The order of what stands at the top, of the folders in a room, and of those in these.  A folder's own modules come
# first.
ORDER = {
    "": [name for item in ITEMS for name in (re.findall(r"`(\w+)/`", item)[:1] or re.findall(r"`(\w+)`: ", item))],
    **{room: folders for room, folders in ROOMS.items() if folders},
    "other_games.arena": ["kernels", "games", "agents", "matches", "research", "experiments", "pages", "terminal"],
    "other_games.arena.research": ["kernels", "players", "solvers"],
    "other_games.extreme": ["play", "bots", "pages", "terminal"],
    "other_games.smbc": ["pages", "terminal"],
}


def part(name, folder, folders):
    """Which part of a folder a module belongs to: a folder in it, or, empty, the modules of its own."""
    below = name.removeprefix(f"{folder}.").split(".") if folder else name.split(".")
    if name == folder:
        return ""
    return below[0] if not folder or f"{folder}.{below[0]}" in folders else ""


def upward(package=PACKAGE, order=ORDER):
    """Imports against the order: folder, importing part, imported part, and the two modules."""
    folders = {name for name, file in rooms.modules(package).items() if file.name == "__init__.py"}
    folders |= {".".join(name.split(".")[:n]) for name in rooms.modules(package) for n in range(1, name.count(".") + 1)}
    wrong = set()
    for module, others in rooms.imports(package).items():
        for other in others:
            common = 0
            here, there = module.split("."), other.split(".")
            while common < min(len(here), len(there)) and here[common] == there[common]:
                common += 1
            if common == len(here) or common == len(there):  # a folder's __init__ and a module in it
                common = min(len(here), len(there)) - (module not in folders and other not in folders)
            folder = ".".join(here[:common])
            importing, imported = part(module, folder, folders), part(other, folder, folders)
            places = ["", *order.get(folder, [])]
            if importing != imported and places.index(imported) > places.index(importing):
                wrong.add((folder, importing, imported, module, other))
    return wrong


def test_every_folder_is_in_the_order():
    found = {"": {path.stem for path in PACKAGE.glob("*.py")} - {"__init__", "__main__"}}
    for path in sorted(PACKAGE.rglob("*")):
        if path.is_dir() and list(path.glob("*.py")):
            found.setdefault(path.parent.relative_to(PACKAGE).as_posix().replace("/", ".").strip("."), set()).add(
                path.name
            )
    assert {folder: set(names) for folder, names in ORDER.items()} == found


def test_every_folder_says_what_its_modules_are():
    for init in sorted([*PACKAGE.glob("*/__init__.py"), *PACKAGE.glob("*/*/__init__.py")]):
        described = ast.get_docstring(ast.parse(init.read_text(encoding="utf-8"))) or ""
        modules = {path.stem for path in init.parent.glob("*.py")} - {"__init__", "__main__"}
        if init.parent.name == "stages":  # each stage's own module has the name of the stage
            modules -= set(STAGES)
        assert set(re.findall(r"``(\w+)``", described.partition("Modules: ")[2])) == modules, init


def test_what_the_architecture_locates_is_there():
    rows = re.findall(r"^\| (.*\?) \| (.*) \|$", TEXT.partition("## Where is ...?")[2], re.M)
    assert len(rows) >= 20
    for question, answer in rows:
        paths = re.findall(r"`([^`]+)`", answer)
        assert paths, question
        for path in paths:
            assert (PACKAGE / path).exists() or (path.startswith("tests/") and (ROOT / path).exists()), path


def test_imports_go_one_way():
    assert upward() == set()


def test_an_import_that_goes_the_other_way_is_found(tmp_path):
    order = {"": ["errors", "games", "cfr"], "games": ["rules", "structure"], "cfr": ["sweep", "solving"]}
    for name in (
        "errors",
        "games/rules/game",
        "games/structure/views",
        "cfr/solving/regret",
        "cfr/sweep/engine",
        "cfr/x",
    ):
        file = tmp_path / f"{name}.py"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("")
    rules, views, x = (tmp_path / f"{name}.py" for name in ("games/rules/game", "games/structure/views", "cfr/x"))
    # Between rooms, in a function.
    views.write_text("def late():\n    from pttt_ooc.cfr.solving import regret\n")
    assert upward(tmp_path, order) == {("", "games", "cfr", "games.structure.views", "cfr.solving.regret")}
    views.write_text("from pttt_ooc.games.rules.game import Game\nfrom pttt_ooc import errors\n")
    assert upward(tmp_path, order) == set()
    # Between the folders of a room, and from a room's own module to its folders.
    rules.write_text("import pttt_ooc.games.structure.views\n")
    x.write_text("from pttt_ooc.cfr.sweep import engine\n")
    assert upward(tmp_path, order) == {
        ("games", "rules", "structure", "games.rules.game", "games.structure.views"),
        ("cfr", "", "sweep", "cfr.x", "cfr.sweep.engine"),
    }


def test_files_of_tests_have_names_of_their_own():
    """pytest puts each folder of tests on the path: of two modules with the same name only one would be imported."""
    names = [path.name for path in Path(__file__).parent.rglob("*.py") if path.name != "conftest.py"]
    assert len(set(names)) == len(names), sorted(name for name in set(names) if names.count(name) > 1)


def test_the_picture_of_the_rooms_is_that_of_the_imports():
    """`python -m docs.make.rooms --write` draws it anew."""
    assert rooms.PICTURE.read_text(encoding="utf-8") == rooms.picture()


def test_rooms_are_read_off_the_imports(tmp_path):
    (tmp_path / "low").mkdir()
    (tmp_path / "low/base.py").write_text("import math\n")
    (tmp_path / "low/more.py").write_text("def late():\n    from pttt_ooc.low import base\n")
    (tmp_path / "high.py").write_text("from pttt_ooc.low.more import late\nimport pttt_ooc.top\n")
    (tmp_path / "top.py").write_text("from pttt_ooc import high\nfrom pttt_ooc.low import base\n")
    graph = rooms.imports(tmp_path)
    assert graph["low.more"] == {"low.base"} and graph["high"] == {"low.more", "top"}
    assert graph["top"] == {"high", "low.base"}
    assert rooms.circles(graph) == [{"high", "top"}]
    assert rooms.rooms(graph) == {"high": {"low", "top"}, "low": set(), "top": {"high", "low"}}
    assert rooms.floors(rooms.rooms(graph)) == {"low": 1, "high": 2, "top": 2}


def test_arrows_that_follow_from_others_are_left_out():
    graph = {"a": frozenset("bc"), "b": frozenset("c"), "c": frozenset()}
    assert rooms.needed(graph) == {"a": {"b"}, "b": {"c"}, "c": set()}
