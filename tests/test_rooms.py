"""The rooms of the package: a module imports only from its own room and from rooms above it in ARCHITECTURE.md."""

import ast
import re
from pathlib import Path

from benchmarks import rooms

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "pttt_ooc"
TEXT = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
ITEMS = dict(re.findall(r"^- `?(\w+|\(top\))/?`?((?:.*\n)(?:  .*\n)*)", TEXT, re.M))  # room: its description
ROOMS = [name for name in ITEMS if name != "(top)"]
TOP = re.findall(r"`(\w+)`", ITEMS["(top)"])
UPWARD = {("config", "rules"), ("options", "rules")}  # the configuration and the commands name games

# Inside a room its own modules come first, then its folders as named here.  These go the other way, and are to end.
INNER = {
    "arena": ["kernels", "games", "agents", "learning", "external", "matches", "solvers", "pages"],
    "course": ["term", "kinds", "games"],
    "extreme": ["play", "bots", "pages"],
    "learners": ["exact", "sampled", "deep"],
    "smbc": ["stages", "terminal", "pages"],
}
INNER_UPWARD = {
    *(("arena", "", inner) for inner in ("agents", "games", "kernels", "learning", "matches", "solvers")),
    ("arena", "agents", "external"),
    ("arena", "agents", "learning"),
    *(("course", "", inner) for inner in ("games", "kinds", "term")),
    ("course", "kinds", "games"),
    ("course", "term", "games"),
    ("course", "term", "kinds"),
    ("extreme", "", "play"),
    ("smbc", "", "terminal"),
}


def inner(name, modules):
    """The folder of a room that a module is in; empty for the room itself, and for modules at the top."""
    parts = modules[name].parts
    return parts[1] if len(parts) > 2 else ""


def upward(package=PACKAGE):
    """Imports against the order of rooms: (importing module, imported module)."""
    order = [*TOP, *ROOMS]
    wrong = set()
    for module, others in rooms.imports(package).items():
        for other in others:
            here, there = (name.partition(".")[0] for name in (module, other))
            allowed = there in TOP or order.index(there) <= order.index(here)
            if not allowed and (here, there) not in UPWARD:
                wrong.add((module, other))
    return wrong


def inner_upward(package=PACKAGE):
    """Imports against the order of a room's folders: room, importing folder, imported folder, and the modules."""
    modules = {name: file.relative_to(package) for name, file in rooms.modules(package).items()}
    wrong = set()
    for module, others in rooms.imports(package).items():
        room = module.partition(".")[0]
        for other in others:
            here, there = inner(module, modules), inner(other, modules)
            order = ["", *INNER.get(room, [])]
            if other.partition(".")[0] == room and order.index(there) > order.index(here):
                wrong.add((room, here, there, module, other))
    return wrong


def test_every_folder_is_a_room_of_the_list():
    folders = {path.name for path in PACKAGE.iterdir() if path.is_dir() and path.name != "__pycache__"}
    assert folders == set(ROOMS)
    assert {path.stem for path in PACKAGE.glob("*.py")} == {"__init__", "__main__", *TOP}


def test_every_room_says_what_its_modules_are():
    for name in ROOMS:
        modules = {path.stem for path in (PACKAGE / name).glob("*.py")} - {"__init__", "__main__"}
        if name == "stages":  # each stage's own module has the name of the stage
            from pttt_ooc.stages import STAGES

            modules -= set(STAGES)
        described = ast.get_docstring(ast.parse((PACKAGE / name / "__init__.py").read_text(encoding="utf-8")))
        assert set(re.findall(r"``(\w+)``", described.partition("Modules: ")[2])) == modules, name


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
    for name in ("errors", "rules/game", "solving/regret"):
        file = tmp_path / f"{name}.py"
        file.parent.mkdir(exist_ok=True)
        file.write_text("")
    file = tmp_path / "structure/views.py"
    file.parent.mkdir()
    file.write_text("def late():\n    from pttt_ooc.solving import regret\n")
    assert upward(tmp_path) == {("structure.views", "solving.regret")}
    file.write_text("from pttt_ooc.rules.game import Game\nfrom pttt_ooc import errors, jit\n")
    assert upward(tmp_path) == set()


def test_folders_inside_a_room_have_an_order():
    found = {
        room: {path.name for path in (PACKAGE / room).iterdir() if path.is_dir() and list(path.glob("*.py"))}
        for room in ROOMS
    }
    assert {room: folders for room, folders in found.items() if folders} == {r: set(all_) for r, all_ in INNER.items()}


def test_imports_inside_a_room_go_one_way():
    found = inner_upward()
    assert [wrong for wrong in found if wrong[:3] not in INNER_UPWARD] == []
    assert {wrong[:3] for wrong in found} == INNER_UPWARD, "an exception that nothing needs any more"


def test_an_import_inside_a_room_that_goes_the_other_way_is_found(tmp_path):
    for name in ("learners/exact/a", "learners/sampled/b", "learners/c"):
        file = tmp_path / f"{name}.py"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("")
    (tmp_path / "learners/sampled/b.py").write_text("from pttt_ooc.learners.exact import a\n")
    (tmp_path / "learners/exact/a.py").write_text("from pttt_ooc.learners import c\n")
    assert inner_upward(tmp_path) == set()
    (tmp_path / "learners/exact/a.py").write_text("from pttt_ooc.learners.sampled import b\n")
    (tmp_path / "learners/c.py").write_text("def late():\n    import pttt_ooc.learners.exact.a\n")
    assert inner_upward(tmp_path) == {
        ("learners", "exact", "sampled", "learners.exact.a", "learners.sampled.b"),
        ("learners", "", "exact", "learners.c", "learners.exact.a"),
    }


def test_files_of_tests_have_names_of_their_own():
    """pytest puts each folder of tests on the path: of two modules with the same name only one would be imported."""
    names = [path.name for path in Path(__file__).parent.rglob("*.py") if path.name != "conftest.py"]
    assert len(set(names)) == len(names), sorted(name for name in set(names) if names.count(name) > 1)
