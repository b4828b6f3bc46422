"""What docs/course.md shows can be typed: its commands, its `course.yaml`, and the assignments that it adds."""

import re
import shlex
from fractions import Fraction

from markdown_it import MarkdownIt

from benchmarks import course_start
from pttt_ooc.course.bots.league import LeagueSettings, open_league
from pttt_ooc.course.data.rules import BOTS
from pttt_ooc.course.data.settings import CourseSettings
from tests.course.server_kit import GAME, ROOT
from tests.course.term_kit import course

PAGE = (ROOT / "docs/course.md").read_text(encoding="utf-8")
FENCES = [token for token in MarkdownIt("commonmark").parse(PAGE) if token.type == "fence"]
BLOCKS = [fence.content for fence in FENCES if fence.info == "yaml"]
TEXTS = [BLOCKS[0], BLOCKS[0] + "".join(BLOCKS[1:])]
ROSTER = "team,name,email,number\nTeam A,Grace Hopper,grace@example.org,1\nTeam B,Emmy Noether,emmy@example.org,\n"


def lines_of_commands():
    """All lines of the page that call `pttt`, as lists of words."""
    for line in "".join(fence.content for fence in FENCES).splitlines():
        if line.startswith("pttt "):
            yield shlex.split(line, comments=True)[1:]


def test_the_first_commands_and_the_course_of_the_page_work(tmp_path):
    """As they stand, but on a small game; nothing else is needed between them."""
    data, (commands, text) = tmp_path / "course", course_start.commands_of(PAGE)
    (tmp_path / "roster.csv").write_text(ROSTER)
    tried = []
    for words in commands:
        tried.append(words[1])
        if words[1] == "init":
            assert course(data, *words[1:], "--game", GAME).strip()
            (data / "course.yaml").write_text(text)
        elif words[1] != "serve":
            words = [str(tmp_path / word) if word.endswith((".yaml", ".csv")) else word for word in words]
            course(data, *words[1:])
    assert tried == ["init", "apply", "apply", "teams", "serve"]
    tokens = (tmp_path / "tokens.csv").read_text()
    assert "Team A" in tokens and "Team B" in tokens
    assert "strategies" in course(data, "assignments") and "report" in course(data, "assignments")


def test_the_assignments_that_the_page_adds_are_applied(tmp_path):
    data = tmp_path / "course"
    course(data, "init", "--name", "Ada", "--email", "ada@example.org", "--game", GAME)
    open_league(data, LeagueSettings())
    (data / "course.yaml").write_text(TEXTS[1])
    course(data, "apply", data / "course.yaml")
    told = course(data, "assignments")
    assert [line.partition(":")[0] for line in told.splitlines()] == ["strategies", "report", "ultimate", "extreme"]
    assert len(BLOCKS) == 3 and f"kind: {BOTS}" in BLOCKS[2]


def test_decisions_of_the_page_can_be_typed(tmp_path):
    """The block of marks, adjustments and rulings, but for submissions that nobody has handed in."""
    data = tmp_path / "course"
    course(data, "init", "--name", "Ada", "--email", "ada@example.org", "--game", GAME)
    (data / "course.yaml").write_text(TEXTS[0])
    course(data, "apply", data / "course.yaml")
    (tmp_path / "roster.csv").write_text(ROSTER)
    course(data, "teams", tmp_path / "roster.csv")
    tried = set()
    for words in lines_of_commands():
        if words[0] == "course" and words[1] in ("mark", "adjust", "extend", "disqualify", "release", "grades"):
            course(data, *words[1:])
            tried.add(words[1])
    assert tried == {"mark", "adjust", "extend", "disqualify", "release", "grades"}
    assert "no submission 17" in course(data, "rule", "strategies", 17, "withdrawn", "--reason", "x", code=1).lower()


def test_all_settings_are_in_the_table():
    table = PAGE.partition("\n## Settings\n")[2].partition("\n\n**")[0]
    rows = [line.split("|") for line in table.splitlines() if line.startswith("| `")]
    told = {key: row[2].strip() for row in rows for key in re.findall(r"`(\w+)`", row[1])}
    assert told.keys() == CourseSettings.model_fields.keys()
    for row in rows:
        names, defaults = re.findall(r"`(\w+)`", row[1]), [part.strip().strip("`") for part in row[2].split(",")]
        for name, default in zip(names, defaults, strict=False):
            if default not in ("", "none"):
                value = CourseSettings.model_fields[name].default
                assert default in ("null" if value is None else str(value), f"{[*value]}" if value == () else ""), name


def test_the_example_of_a_grade_is_right():
    [(rule, hand, factor, lost, grade)] = re.findall(r"\((\d+) \+ (\d+)\) × ([\d.]+) − (\d+) = (\d+)", PAGE)
    assert (int(rule) + int(hand)) * Fraction(factor) - int(lost) == int(grade)
