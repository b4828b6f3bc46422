"""The documents: their links lead somewhere, and their commands and programs work."""

import ast
import doctest
import re
import shlex
import subprocess
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
import typer
from markdown_it import MarkdownIt

import pttt_ooc as pttt
from docs.make import outputs
from pttt_ooc.cli.commands import main
from pttt_ooc.library.api import structures

ROOT = Path(__file__).parent.parent
PAGES = sorted(page for place in ("*.md", ".github/*.md", "docs/**/*.md") for page in ROOT.glob(place))
PARSER = MarkdownIt("commonmark").enable("table")


def tokens_of(page):
    for token in PARSER.parse(page.read_text(encoding="utf-8")):
        yield token
        yield from token.children or ()


def links_of(page):
    for token in tokens_of(page):
        for name in ("href", "src"):
            if link := token.attrGet(name):
                yield link


def test_the_commands_of_the_guide_can_be_typed_in_their_order():
    """Files that a command reads have been written by one before, and none is written over."""
    from pttt_ooc.cli.commands import app

    known, written = typer.main.get_command(app), set()
    # Commands keep the names of --help that they see first.
    parent = known.context_class(known, **known.context_settings)
    text = (ROOT / "docs/commands.md").read_text(encoding="utf-8")
    lines = re.findall(r"^\.venv/bin/pttt (.*?)(?:\s+#.*)?$", text, re.M)
    assert len(lines) > 15
    for line in lines:
        words = shlex.split(line)
        command = known
        while hasattr(command, "commands"):
            command = command.commands[words.pop(0)]
        context = command.make_context("pttt", words, parent=parent)
        for parameter in command.params:
            values = context.params[parameter.name]
            for value in values if isinstance(values, list | tuple) else [values]:
                if str(value).endswith(".zip"):
                    assert (str(value) in written) == (parameter.name != "output"), line
                    written |= {str(value)}
    assert written == {"mine.zip", "reply.zip"}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_commands_in_documents_have_the_options_that_they_show(page):
    """All lines of blocks that begin with `pttt`; files and values of options need not be there."""
    from pttt_ooc.cli.commands import app

    blocks = "".join(token.content for token in tokens_of(page) if token.type == "fence")
    for line in re.findall(r"^(?:\$ |\.venv/bin/)?pttt (.*)$", blocks, re.M):
        command, words = typer.main.get_command(app), shlex.split(line, comments=True)
        # Commands of groups are shared with other tests, and remember the names of their help option.
        context = command.context_class(command, **command.context_settings)
        while hasattr(command, "commands"):
            command = command.commands[words.pop(0)]
            context = command.context_class(command, parent=context)
        _, left, _ = command.make_parser(context).parse_args(words)
        assert left == [], line


def programs_of_the_start():
    return re.findall(r"```python\n(.*?)```", (ROOT / "docs/start.md").read_text(encoding="utf-8"), re.S)


def test_the_programs_of_the_start_make_better_and_better_strategies(tmp_path, monkeypatch, capsys):
    """On late positions, where the last answer is as good as exact; each program is short."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(structures, "_cache", structures._Cache())
    game, shown = pttt.game("pttt-abrupt-after-0-5-1-8-3"), {}
    place = pttt.solve(game, directory="data").directory
    for name, program in zip(("first", "second", "third"), programs_of_the_start(), strict=True):
        assert len([line for line in program.splitlines() if line]) <= 18
        exec(program.replace("data/pttt-abrupt/full", str(place)), {})
        both = [pttt.Strategy.read(f"{name}{player}.zip", player, game) for player in (0, 1)]
        shown[name] = pttt.evaluate(*both)
    first = pttt.Strategy.read("first0.zip", 0, game)
    assert [int((row > 0).sum()) for _, row in first.items()] == [game.squares - len(text) // 2 for text in first]
    assert shown["first"].nashconv > shown["second"].nashconv > 4 * shown["third"].nashconv
    assert re.match(r"round 20: exploitability 0\.\d{4} and 0\.\d{4}$", capsys.readouterr().out.splitlines()[-1])


@pytest.mark.full
def test_the_figures_of_the_start_are_those_of_its_programs(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(structures, "_cache", structures._Cache())
    game, page = pttt.game("pttt-abrupt"), (ROOT / "docs/start.md").read_text(encoding="utf-8")
    pttt.solve(game, max_iterations=1, directory="data")
    for name, program in zip(("first", "second", "third"), programs_of_the_start(), strict=True):
        exec(program, {})
        found = pttt.evaluate(*(pttt.Strategy.read(f"{name}{player}.zip", player, game).folded for player in (0, 1)))
        if name != "third":
            assert f"exploitability of P0                  {found.exploitability_0:.9f}\n" in page
            assert f"exploitability of P1                  {found.exploitability_1:.9f}\n" in page
    told = re.findall(r"^round \d+: .*$", page, re.M)
    assert len(told) == 4 and {*told} <= {*capsys.readouterr().out.splitlines()}


@pytest.mark.slow
def test_the_agent_of_the_page_about_scores_has_the_score_that_the_page_shows(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    page = (ROOT / "docs/score.md").read_text(encoding="utf-8")
    shown, agent = re.search(r"```\n(dark-hex.*?)```", page, re.S)[1], re.search(r"```python\n(.*?)```", page, re.S)[1]
    (tmp_path / "agent.py").write_text(agent)
    with pytest.raises(SystemExit):
        main(["lab", "score", "agent.py:observe", "--game", "dark-hex-3x3-classical"])
    assert capsys.readouterr().out.split() == shown.split()


def test_the_readme_is_one_screen():
    lines = (ROOT / "README.md").read_text(encoding="utf-8").splitlines()
    assert len(lines) <= 52 and all(len(line) <= 100 for line in lines)


def test_the_readme_s_program_prints_what_it_shows():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    [program] = re.findall(r"```python\n(.*?)```", text, re.S)
    test = doctest.DocTestParser().get_doctest(program, {}, "README.md", "README.md", 0)
    assert len(test.examples) <= 6
    assert doctest.DocTestRunner().run(test).failed == 0


def test_the_readme_tells_how_much_the_proof_of_the_largest_game_lists():
    """In thousands, as the two plans of its certificate say."""
    from docs.make.certificates import PROOF, sizes

    infosets, _ = sizes(PROOF / "pttt-3x4k3-abrupt.txt.gz")
    listed = sum(int(number.replace(",", "")) for number in infosets.split(" + "))
    told = f"game with 60 billion infosets; the [proof](docs/exact.md#proof) lists {round(listed, -3):,} of them."
    assert told in " ".join((ROOT / "README.md").read_text(encoding="utf-8").split())


def places_of(page):
    """The anchors that code hosts and the website give to the headings of a page."""
    found, tokens = set(), list(tokens_of(page))
    for heading, inline in zip(tokens, tokens[1:], strict=False):
        if heading.type == "heading_open":
            text = "".join(token.content for token in inline.children)
            slug = re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-")
            assert slug not in found, f"{page} has two headings {text!r}: a link leads to the first only"
            found.add(slug)
    return found


def broken_links(page):
    for link in links_of(page):
        parts = urlsplit(link)
        if parts.scheme:
            assert parts.scheme == "https", link
            continue
        target = (page.parent / unquote(parts.path)).resolve() if parts.path else page
        there = target.exists() and target.is_relative_to(ROOT)
        if there and parts.fragment and target.suffix == ".md":
            there = unquote(parts.fragment) in places_of(target)
        if not there:
            yield link


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page):
    assert list(broken_links(page)) == []


@pytest.mark.slow_but_one
@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_python_in_documents_is_python(page):
    for token in tokens_of(page):
        if token.type == "fence" and token.info == "python":
            examples = doctest.DocTestParser().get_examples(token.content)
            for source in [example.source for example in examples] or [token.content]:
                compile(source, str(page), "exec")


def menu_of():
    text = (ROOT / "docs/conf.py").read_text(encoding="utf-8")
    return ast.literal_eval("{" + text.partition("CONTENTS = {")[2].partition("}\n")[0] + "}")


def test_every_page_is_in_the_menu_or_in_the_notebook():
    files = [page for page in (ROOT / "docs").rglob("*.md") if page.parent.name not in ("paper", "lab")]
    pages = [str(page.relative_to(ROOT / "docs").with_suffix("")) for page in files]
    assert sorted(name for names in menu_of().values() for name in names) == sorted(set(pages) - {"index"})


def test_the_notebook_links_all_its_pages():
    pages = {page.name for page in (ROOT / "docs/lab").glob("*.md")}
    assert set(links_of(ROOT / "docs/lab/index.md")) == pages - {"index.md"}


GUIDES = [
    *("start", "students", "course", "workflow", "commands", "library", "score", "exact"),
    *("files", "method", "glossary"),
]
"""The pages for users of the package; other games have one each, and all else is the notebook."""


def test_the_pages_for_users_are_short():
    """A word has a letter or a digit: bars of tables are none."""
    words = {
        name: sum(bool(re.search(r"\w", word)) for word in (ROOT / f"docs/{name}.md").read_text("utf-8").split())
        for name in GUIDES
    }
    assert sum(words.values()) <= 25_000, words


def test_the_menu_is_one_screen():
    names = [name for names in menu_of().values() for name in names]
    assert len(names) <= 22
    others = {"smbc", "arena", "extreme", "site/api", "site/architecture", "site/changelog"}
    assert set(names) == {*GUIDES, *others}


@pytest.mark.slow
@pytest.mark.parametrize("page", outputs.PAGES)
def test_commands_print_what_the_page_shows(page, tmp_path, monkeypatch, capsys):
    from pttt_ooc.cli.commands import main

    def run(words):
        ran.append(words)
        capsys.readouterr()
        with pytest.raises(SystemExit) as end:
            main(words)
        assert not end.value.code, capsys.readouterr().err
        return capsys.readouterr().out

    ran = []
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    text = (ROOT / page).read_text(encoding="utf-8")
    assert outputs.rendered(text, run) == text, f"{page}: python -m docs.make.outputs --write"
    assert ran


def test_the_start_page_links_each_page_under_its_kind():
    index = (ROOT / "docs/index.md").read_text(encoding="utf-8")
    for kind, names in menu_of().items():
        section = index.partition(f"\n## {kind}\n")[2].partition("\n## ")[0]
        assert {f"{name}.md" for name in names} <= set(re.findall(r"\]\(([^)#]+)\)", section)), kind


def test_make_lists_its_targets():
    makefile = (ROOT / "Makefile").read_text()
    [phony] = re.findall(r"^\.PHONY: (.*)$", makefile, re.MULTILINE)
    listed = subprocess.run(["make", "-s", "help"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert {line.split()[0] for line in listed.splitlines()[1:]} == set(phony.split())


def test_documents_name_targets_that_exist():
    [phony] = re.findall(r"^\.PHONY: (.*)$", (ROOT / "Makefile").read_text(), re.MULTILINE)
    for page in PAGES:
        for token in tokens_of(page):
            if token.type in ("code_inline", "fence", "code_block"):
                for target in re.findall(r"(?:^|[\n`])make ([a-z-]+)", token.content):
                    assert target in phony.split(), f"{page.name}: make {target}"
