"""The names of commands: what is at the top, what has another name now, and what texts name."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest
import typer
from markdown_it import MarkdownIt

from pttt_ooc.cli.commands import app, main
from pttt_ooc.cli.lab import SECTIONS as LAB
from pttt_ooc.cli.old_names import OLD_NAMES, renew
from pttt_ooc.games.rules.catalogue import find_game
from tests.kits.cli_runner import commands

ROOT = Path(__file__).parents[2]
TOP = typer.main.get_command(app)
KNOWN = dict(commands(TOP))
GROUPS = {name: one for name, one in TOP.commands.items() if hasattr(one, "commands")}
NAMES = [old for old in OLD_NAMES if not old.startswith("--")]
NAMED = re.compile(r"\bpttt (?!as )([a-z][\w-]*)(?: ([a-z][\w-]*))?")
DOCUMENTS = sorted([ROOT / "README.md", *(ROOT / "docs").rglob("*.md")])


def sections(command):
    return [name for names in command.sections.values() for name in names]


def filled(name):
    """The words of an old or new name, with something in place of a word in capitals."""
    return [f"some-{word.lower()}" if word.isupper() else word for word in name.split()]


def wrong_in(text):
    """The commands that a text names and that are not there, and games that are told without `--game`."""
    for first, second in NAMED.findall(text):
        there = first in TOP.commands and (not second or second in getattr(TOP.commands[first], "commands", [second]))
        if not there or (first in ("info", "certify") and find_game(second)):
            yield f"{first} {second}".strip()


# ---------------------------------------------------------------------------------------------
# The names that there are


def test_fourteen_commands_and_five_groups_are_at_the_top_and_help_is_one_screen(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    assert sections(TOP) == [one for one in sections(TOP) if one in TOP.commands]
    assert set(sections(TOP)) == set(TOP.commands) and [len(names) for names in TOP.sections.values()] == [14, 5]
    with pytest.raises(SystemExit):
        main(["--help"])
    assert len(capsys.readouterr().out.splitlines()) <= 40


@pytest.mark.parametrize("name", [name for name, one in GROUPS.items() if one.sections])
def test_every_command_of_a_group_is_below_one_heading(name):
    found = sections(GROUPS[name])
    assert sorted(found) == sorted(GROUPS[name].commands) and len(GROUPS[name].sections) > 3


def test_nothing_of_the_lab_is_imported_before_it_is_used():
    modules = {function.partition(":")[0] for section in LAB.values() for function, _ in section.values()}
    code = (
        "import sys, pttt_ooc.cli.commands as c\ntry: c.main(['--help'])\nfinally: print(*sys.modules, file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT)
    assert "pttt_ooc.cli.lab" in done.stderr.split() and not modules & set(done.stderr.split())


def test_the_game_is_told_in_the_same_way_everywhere():
    def told(one):
        return (one.metavar, one.help, one.default, one.callback, getattr(one, "_custom_shell_complete", None))

    found = {name: told(p) for name, one in KNOWN.items() for p in one.params if "--game" in p.opts}
    arena = {name for name in found if name.startswith("arena ")} | {"lab perft", "lab train-ultimate"}
    assert len({one[:3] for name, one in found.items() if name not in arena}) == 1 and len(found) > 20
    assert len({one[:3] for name, one in found.items() if name in arena}) == 1
    arguments = [p.metavar for one in KNOWN.values() for p in one.params if p.param_type_name == "argument"]
    assert not [one for one in arguments if "GAME" in (one or "")]


@pytest.mark.parametrize("command", ["solve", "exact", "info", "certify", "lab infosets", "web", "course serve"])
def test_an_unknown_game_is_refused_in_the_same_way(command, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit) as ended:
        main([*command.split(), *(["--player", "0"] if command == "lab infosets" else []), "--game", "pttt-abrubt"])
    assert ended.value.code == 1 and not list(tmp_path.iterdir())
    assert capsys.readouterr().err == (
        "There is no game called 'pttt-abrubt' (did you mean pttt-abrupt?); `pttt info` lists games.\n"
    )


# ---------------------------------------------------------------------------------------------
# Old names


@pytest.mark.parametrize("old", OLD_NAMES)
def test_an_old_name_is_the_new_command_with_the_same_options(old):
    new = OLD_NAMES[old]
    if old.startswith("--"):
        assert renew(["web", f"{old}=x", old, "y"], TOP)[0] == ["web", f"{new}=x", new, "y"]
        return
    found, told = renew([*filled(old)[:-1], "--data=there", filled(old)[-1], "-h"], TOP)
    last = [] if old.split()[-1].isupper() else filled(old)[-1:]
    if last:  # the name is nothing but words, of which options do not come between
        found, told = renew([*filled(old), "--data=there", "-h"], TOP)
    assert found == [*filled(new), "--data=there", "-h"]
    [sentence] = told
    assert sentence == f"`pttt {old}` is now `pttt {new}`; the old name goes with 0.3.0."
    command = " ".join(new.split()[: 1 + (new.split()[0] in GROUPS)])
    assert command in KNOWN or command == "course"


@pytest.mark.parametrize("old", NAMES)
def test_an_old_name_works_and_says_the_new_one(old, capsys):
    with pytest.raises(SystemExit) as ended:
        main([*filled(old), "--help"])
    out, err = capsys.readouterr()
    assert not ended.value.code
    new = OLD_NAMES[old]
    assert out.startswith("Usage: pttt " + " ".join(new.split()[: 1 + (new.split()[0] in GROUPS)]).split(" --")[0])
    assert err == f"`pttt {old}` is now `pttt {new}`; the old name goes with 0.3.0.\n"


def test_old_names_are_not_shown():
    hidden = [name for name in NAMES if not name.split()[-1].isupper()]
    assert not {*hidden} & {*KNOWN, *GROUPS} and not {name for name in KNOWN if KNOWN[name].hidden}


@pytest.mark.parametrize(
    "arguments",
    [
        ["extreme", "play", "team39.py", "--terminal"],
        ["extreme", "play", "--log=game.json", "team39.py"],
        ["extreme", "play", "--help"],
        ["info"],
        ["info", "--game", "pttt-abrupt"],
        ["certify", "a.zip", "b.zip"],
        ["certify", "--gap", "0.1", "--game", "pttt-abrupt"],
        ["course", "pick", "Team A", "explore", "17"],
    ],
)
def test_what_is_meant_by_its_name_is_not_renamed(arguments):
    assert renew(arguments, TOP) == (arguments, [])


def test_the_argument_of_an_old_name_is_found_among_options(tmp_path):
    given = ["smbc", "serve", "--port", "7", "--no-browser", "there", "--host", "0.0.0.0"]
    assert renew(given, TOP)[0] == ["web", "--smbc", "there", "--port", "7", "--no-browser", "--host", "0.0.0.0"]
    assert renew(["smbc", "serve", "--port", "7"], TOP)[0] == ["web", "--smbc", "data/smbc", "--port", "7"]
    file = tmp_path / "mine.zip"
    file.touch()
    assert renew(["certify", str(file)], TOP) == (["certify", str(file)], []), "one strategy is no game"


def test_completion_says_nothing_of_old_names(capsys):
    context = TOP.make_context("pttt", ["score", "--help"], resilient_parsing=True)
    assert [*context._protected_args, *context.args] == ["lab", "score", "--help"] and capsys.readouterr().err == ""


# ---------------------------------------------------------------------------------------------
# Names in texts


def code_in(page):
    """The code spans and fences of a page."""
    for token in MarkdownIt().parse(page):
        if token.type in ("fence", "code_block"):
            yield token.content
        for child in token.children or []:
            if child.type == "code_inline":
                yield child.content


@pytest.mark.parametrize("file", DOCUMENTS, ids=lambda file: str(file.relative_to(ROOT)))
def test_documents_name_commands_that_exist(file):
    text = file.read_text(encoding="utf-8")
    found = {name for code in code_in(text) for name in wrong_in(code)}
    assert not found


def strings_of(file):
    """The texts of a program: its strings, as they are joined; of other files, all of it."""
    text = file.read_text(encoding="utf-8")
    if file.suffix != ".py":
        yield text
        return
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.JoinedStr):
            yield "".join(part.value if isinstance(part, ast.Constant) else "{}" for part in node.values)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value


def test_texts_of_programs_name_commands_that_exist():
    places = ["pttt_ooc", "workflow", "examples", "benchmarks", "docs/make", "profiles", ".github"]
    search = ["git", "grep", "-lIE", r"\bpttt [a-z]", "--", *places, "Makefile", "Snakefile", "*.yaml", "*.toml"]
    listed = subprocess.run(search, cwd=ROOT, capture_output=True, text=True, check=True).stdout.splitlines()
    texts = [(name, text) for name in listed if not name.endswith("/old_names.py") for text in strings_of(ROOT / name)]
    assert len(listed) > 100
    formats = re.compile(r"pttt [\w ]+ \d+")  # the first line of a file of ours
    assert not {(file, name) for file, text in texts if not formats.fullmatch(text) for name in wrong_in(text)}
