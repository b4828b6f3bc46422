"""Tables for people, for other programs and for notebooks."""

import re
import xml.etree.ElementTree as ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import pttt_ooc as pttt
from pttt_ooc.games.rules.catalogue import named_game
from pttt_ooc.imports import PACKAGE
from pttt_ooc.pipeline.show import tables
from pttt_ooc.pipeline.show.dialogue import Dialogue, Square
from pttt_ooc.pipeline.show.tables import csv_text, html_table, text_facts, text_table, whole
from tests.kits import naive
from tests.kits.cli_runner import main
from tests.kits.terminals import Terminal, plain


def test_csv_has_a_line_of_names():
    assert csv_text([{"a": 1, "b": "x,y"}, {"a": 2, "b": None}]) == 'a,b\n1,"x,y"\n2,\n'


def test_html_has_a_caption_headings_and_rows():
    table = ElementTree.fromstring(html_table("Both", [("first", 1), ("second", 2.5)], ("name", "number")))
    assert table.tag == "table" and table.findtext("caption") == "Both"
    assert [[cell.text for cell in row] for row in table.iter("tr")] == [
        ["name", "number"],
        ["first", "1"],
        ["second", "2.5"],
    ]
    assert [row[0].tag for row in table.iter("tr")] == ["th"] * 3
    assert len(list(ElementTree.fromstring(html_table("None", [("only", 1)])).iter("tr"))) == 1


def test_html_is_escaped():
    evil = "<script>&\"'"
    text = html_table(evil, [(evil, evil)], (evil, evil))
    assert "<script>" not in text
    assert [part for part in ElementTree.fromstring(text).itertext() if part.strip()] == [evil] * 5


# ---------------------------------------------------------------------------------------------
# Tables for people

WIDTHS = st.sampled_from((1, 7, 40, 80, 120, None))
WORDS = st.text("a1.,/-é", min_size=1, max_size=25)
CELLS = st.lists(WORDS, max_size=4).map(" ".join)
ROWS = st.integers(1, 6).flatmap(
    lambda columns: st.lists(st.lists(CELLS, min_size=columns, max_size=columns), min_size=1, max_size=5)
)


def assert_nothing_is_cut(cells, text, width):
    """All words of all cells are there, in one piece; no line is too long unless it has but one word."""
    left = text.split()
    for word in (word for cell in cells for word in str(cell).replace(tables._BLANK, " ").split()):
        found = word if word in left else f"{word}:"
        assert found in left, word
        left.remove(found)
    words = [word for cell in cells for word in str(cell).split()]
    names = [word.replace(tables._BLANK, " ") for word in words if tables._BLANK in word]
    for line in text.splitlines():
        is_word = len(line.split()) == 1 or any(name in line for name in names)
        assert width is None or len(line) <= width or is_word, line


@settings(max_examples=60)
@given(width=WIDTHS, rows=ROWS)
def test_no_word_of_a_table_is_cut_at_any_width(width, rows):
    headings, *rest = rows
    is_table = tables._widths(rows, width) is not None
    cells = [cell for row in (rows if is_table else rest) for cell in (row if is_table else (*headings, *row))]
    assert_nothing_is_cut(cells, text_table(headings, rest, width), width)


@settings(max_examples=60)
@given(width=WIDTHS, facts=st.lists(st.tuples(CELLS, CELLS), min_size=1, max_size=5))
def test_no_word_of_facts_is_cut_at_any_width(width, facts):
    assert_nothing_is_cut([cell for fact in facts for cell in fact], text_facts(facts, width), width)


def test_columns_are_aligned_and_broken_between_words_and_at_last_paragraphs():
    headings, rows = ("name", "infosets of 0", "value"), [("one", "8,827,459", "0.5502"), ("longer", 12, "-0.5")]
    assert text_table(headings, rows).splitlines() == [
        "name    infosets of 0   value",
        "one         8,827,459  0.5502",
        "longer             12    -0.5",
    ]
    assert text_table(headings, rows, 29) == text_table(headings, rows)
    assert text_table(headings, rows, 28).splitlines() == [
        "name     infosets of   value",
        "                   0",
        "one        8,827,459  0.5502",
        "longer            12    -0.5",
    ]
    assert text_table(headings, rows, 24).splitlines() == [
        *("name: one", "infosets of 0: 8,827,459", "value: 0.5502", ""),
        *("name: longer", "infosets of 0: 12", "value: -0.5"),
    ]
    assert text_facts([("a b", "1 2"), ("c", "3")], 6) == "a   1\nb   2\nc   3"
    assert text_facts([("a b", "1,234,567")], 6) == "a b:\n  1,234,567"


def test_names_stay_whole_and_show_what_they_have():
    name = "my file [red] :smile:.zip"
    assert name in text_facts([("game", whole(name))], 10).splitlines()[-1]
    assert name in text_table(("a", f"by {whole(name)}"), [("1", "2")], 30)
    assert text_facts([("bad\x1b[2Jname\n", "\udcff")]) == r"bad\x1b[2Jname\n  \udcff"


class Screen:
    """What is written to a terminal of so many columns."""

    def __init__(self, capsys, monkeypatch):
        self.capsys, self.calls = capsys, []
        for name in ("text_table", "text_facts"):
            monkeypatch.setattr(tables, name, self.recorded(getattr(tables, name)))

    def recorded(self, function):
        def call(*arguments):
            *given, width = arguments
            given = [list(part) for part in given]
            self.calls.append((function, given))
            return function(*given, width)

        return call

    def run(self, *arguments):
        """The tables of a command."""
        self.calls.clear()
        with pytest.raises(SystemExit) as end:
            main(list(map(str, arguments)))
        out, err = self.capsys.readouterr()
        assert not end.value.code, err
        assert self.calls, "this command prints a table, but by another way"
        return self.calls


@pytest.fixture
def screen(capsys, monkeypatch):
    return Screen(capsys, monkeypatch)


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A solved game, and strategies in files with long names, with blanks and brackets and without."""
    place = tmp_path_factory.mktemp("place")
    game = pttt.game("mini-2x3k2-abrupt")
    pttt.Strategy.uniform(game, 0).save(place / "the first strategy of all [draft] 2.5.zip")
    last = pttt.Strategy.from_function(game, 0, lambda text: {max(naive.legal_squares(game, text)): 1})
    last.save(place / f"{'a-second-one-without-blanks' * 4}.zip")
    pttt.solve(game, max_iterations=5, directory=place / "data")
    return place


COMMANDS = {
    "evaluate A uniform --game mini-2x3k2-abrupt --data DATA": ["the first strategy of all [draft] 2.5.zip"],
    "compare A B --against uniform --game mini-2x3k2-abrupt --data DATA": [
        "first strategy of all [draft] 2.5.zip",
        "without-blanks.zip",
    ],
    "info": [],
    "info mini-2x3k2-abrupt": [],
    "info pttt-3x4k3-abrupt": [],
    "mistakes B --game mini-2x3k2-abrupt --data DATA": ["without-blanks.zip"],
    "plan --game pttt-2x4k3-abrupt": [],
    "exact --game mini-2x2k2-abrupt": [],
}


@pytest.mark.slow_but_one
@pytest.mark.parametrize("command", COMMANDS)
def test_nothing_is_cut_on_a_terminal(screen, place, command):
    if command.startswith("exact"):
        pytest.importorskip("highspy")
    names = {"A": next(place.glob("the*")), "B": next(place.glob("a-*")), "DATA": place / "data"}
    for function, parts in screen.run(*(names.get(word, word) for word in command.split())):
        for width in (40, 80, 120):
            headings, rows = parts if len(parts) == 2 else ([], parts[0])
            cells = [cell for row in rows for cell in (*headings, *row)]
            shown = function(*parts, width)
            lines = [headings, *rows] if headings else rows
            if tables._widths([list(map(str, line)) for line in lines], width) is not None:
                cells = [cell for line in lines for cell in line]
            assert_nothing_is_cut(cells, shown, width)
    whole_text = "\n".join(function(*parts, 40) for function, parts in screen.calls)
    assert all(name in whole_text for name in COMMANDS[command])


@pytest.mark.parametrize(("columns", "terminal"), [(40, "xterm"), (40, "dumb"), (120, "dumb")])
def test_the_width_is_that_of_the_terminal_whatever_it_can_do(columns, terminal):
    program = "from pttt_ooc.pipeline.show import tables; print(tables.terminal_width())"
    opened = Terminal(main=program, columns=columns, TERM=terminal, COLUMNS="")
    try:
        assert plain(opened.until(r"\d")).strip() == str(columns)
    finally:
        opened.close()


def test_a_pipe_has_no_width(capsys):
    tables.print_table(["x" * 99] * 3, [["y"] * 3])
    assert max(map(len, capsys.readouterr().out.splitlines())) == 3 * 99 + 2 * 2


def test_boards_are_not_cut_where_the_terminal_is_narrow(monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", "20")
    dialogue = Dialogue()
    board = dialogue.board(named_game("pttt-2x5k3-abrupt"), [Square(f"0.12345{n}", f"={n}") for n in range(10)], "Both")
    dialogue.side_by_side(board, board)
    dialogue.say(f"The strategies are in {'directory/' * 9}file.zip.\nNext line")
    out = capsys.readouterr().out
    assert all(out.count(f"0.12345{n}") == 2 for n in range(10)) and out.count("Both") == 2
    assert f"{'directory/' * 9}file.zip." in out.splitlines() and "Next line" in out.splitlines()
    monkeypatch.setenv("COLUMNS", "200")
    wide = Dialogue()
    wide.side_by_side(wide.board(named_game("pttt-2x5k3-abrupt"), [Square("x")] * 10, "One"), board)
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == ["One", "Both"] and lines[3].count("x") == 5 and lines[3].count("0.12345") == 5
    assert lines[1].rindex("┌") == lines[0].index("Both")


def test_all_tables_of_text_are_made_here():
    """A table that is laid out elsewhere would be cut, or broken within numbers, on some terminal."""
    aligned = re.compile(r"(print|say|append)\(.*\{[^{}]+:([<>^]|\d+\}|\{\w+\}\})|rich\.(table|columns|layout|panel)")
    files = [file for file in sorted(PACKAGE.rglob("*.py")) if str(file.relative_to(PACKAGE)) not in LAID_OUT]
    lines = [(file.name, line) for file in files for line in file.read_text(encoding="utf-8").splitlines()]
    assert not [(name, line) for name, line in lines if aligned.search(line)]
    assert aligned.search('print(f"{name:26} {text}")') and aligned.search('say(f"{a}{b:>{wide}}")')
    assert aligned.search("    from rich.table import Table") and not aligned.search('print(f"{a:.3f} {b:,} {c:+.9f}")')


LAID_OUT = {
    *(
        "other_games/arena/games/infinite.py",
        "other_games/arena/games/mnk.py",
        "other_games/extreme/boards.py",
    ),  # boards
    "site/explore/terminal_play.py",  # attempts as short sentences
}
