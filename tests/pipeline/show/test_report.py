"""The report: the same bytes, self-contained, with the right numbers."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from pttt_ooc.games.rules.catalogue import EXACT_VALUES, named_game
from pttt_ooc.games.rules.game import tic_tac_toe
from pttt_ooc.pipeline.show import report_page
from pttt_ooc.pipeline.show.report_page import (
    InfosetPicture,
    ReportData,
    StageFacts,
    infoset_sentence,
    render_measurements,
    render_report,
    save_figures,
    write_report,
)
from tests.kits.browsing import WIDTHS, assert_board_first, in_browser, pages_of

GAME = named_game("pttt-abrupt")
OPENINGS = (
    [0.0832, 0.0, 0.0832, 0.0, 0.6672, 0.0, 0.0832, 0.0, 0.0832],
    [0.151, 0.072, 0.151, 0.072, 0.108, 0.072, 0.151, 0.072, 0.151],
)
EVALUATION = {
    **{"value": 0.550171, "best_response_0": 0.5503194, "best_response_1": -0.5499968, "nashconv": 0.0003226},
    **{"exploitability_0": 0.0001677, "exploitability_1": 0.0001549, "game_value": [0.550111, 0.550218]},
}
UNIFORM = {"value": 0.316274878, "nashconv": 1.238668, "exploitability_0": 0.94170, "exploitability_1": 0.29697}
ROWS = [
    {
        "iteration": t,
        "seconds": 0.2 * t,
        "nashconv": 1 / t,
        "value_lower": 0.55 - 0.5 / t,
        "value_upper": 0.55 + 0.5 / t,
    }
    for t in (1, 2, 4, 8, 16, 32, 64, 128, 256, 512)
]
INFOSETS = (
    InfosetPicture(0, "|0*4.", [0, 0.02, 0.42, 0.03, 0, 0.01, 0.41, 0.02, 0.09]),
    InfosetPicture(1, "|4.", [0.25, 0, 0.25, 0, 0, 0, 0.25, 0, 0.25]),
)
LABELS = """() => [...document.querySelectorAll(".chart text")].map(label => {
  return parseFloat(getComputedStyle(label).fontSize) * label.getScreenCTM().a;
})"""
"""The sizes of a page's labels of charts, in pixels."""

VOID = {"meta", "link", "br", "wbr", "hr", "img", "input"}


def sample(**changes: Any) -> ReportData:
    data = ReportData(
        game=GAME,
        config={"game": "pttt-abrupt", "symmetry": "full", "solve": {"algorithm": "dcfr", "target_nashconv": 1e-3}},
        evaluation=EVALUATION,
        convergence=ROWS,
        openings=OPENINGS,
        uniform_evaluation=UNIFORM,
        infosets=INFOSETS,
        stages=[StageFacts("solve", 80.4, 1180.2, 2), StageFacts("export", 3725.0, None)],
        counts={"histories": 27115470835},
        parameters={"alpha": 1.5, "beta": 0.0, "gamma": 2.0},
        machine={"numpy": "2.4.0"},
        digests={"solve.json": "abc123"},
    )
    return replace(data, **changes)


class Page(HTMLParser):
    """Checks that tags are balanced, and collects attributes, ids and text."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.links: list[str] = []
        self.ids: list[str] = []
        self.tags: set[str] = set()
        self.words: list[str] = []
        self.feed(html)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in VOID:
            self.open.append(tag)
        self.handle_startendtag(tag, attrs)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.links += [v or "" for k, v in attrs if k in {"src", "href", "xlink:href", "srcset", "data", "action"}]
        self.ids += [v or "" for k, v in attrs if k == "id"]

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.words.append(data)

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.words).split())


@pytest.fixture(scope="module")
def html() -> str:
    return render_report(sample())


def test_same_data_same_bytes(html: str) -> None:
    assert render_report(sample()) == html


def test_matplotlib_settings_of_the_user_change_nothing(html: str) -> None:
    import matplotlib

    with matplotlib.rc_context({"font.size": 20, "lines.linewidth": 9, "svg.fonttype": "path"}):
        assert render_report(sample()) == html


def test_contains_the_numbers(html: str) -> None:
    text = Page(html).text
    for number in ("0.00032", "0.00017", "0.00015", "0.94170", "0.29697", "0.31627", "[0.54999, 0.55032]", "1.23867"):
        assert number in text
    assert "27,115,470,835" in html
    for words in ("512 iterations of DCFR", "abc123"):
        assert words in html
    assert "target_nashconv: 0.001" in html
    assert "make solve" in html and "make env" not in html


@pytest.mark.slow
def test_measurements_are_on_a_separate_page(html: str) -> None:
    measured = render_measurements(sample())
    for words in ("1 min 20 s", "1 h 02 min", "1,180 MB", "2.4.0", "seconds of iterations"):
        assert words in measured and words not in html
    other = sample(
        convergence=[{**row, "seconds": 7.0 * row["iteration"], "processor_seconds": 1.0} for row in ROWS],
        stages=[StageFacts("solve", 1.0, 2.0, 3.0, 4)],
        machine={"numpy": "9"},
    )
    assert render_report(other) == html and render_measurements(other) != measured


def test_is_self_contained_and_well_formed(html: str) -> None:
    page = Page(html)
    assert html.startswith("<!DOCTYPE html>")
    assert "measurements.html" in page.links
    assert all(link == "measurements.html" or link.startswith("#") and link[1:] in page.ids for link in page.links)
    assert len(set(page.ids)) == len(page.ids)
    assert not page.tags & {"script", "link", "img", "iframe", "object"}
    assert "http" not in html
    assert "@import" not in html
    assert "url(#" in html
    assert html.count("url(") == html.count("url(#")


def test_pictures_take_the_colours_and_font_of_the_page(html: str) -> None:
    body = html[html.index("<body>") :]
    assert "var(--accent)" in body
    assert "fill: #" not in body
    assert "stroke: #" not in body
    assert "font-family" not in body
    assert "prefers-color-scheme: dark" in html
    assert "@media print" in html


@pytest.fixture
def without_pictures(monkeypatch: pytest.MonkeyPatch) -> None:
    """For tests of the text, as pictures take most of the time."""
    for name in ("board_figure", "comparison_figure", "convergence_figure", "value_figure", "inline_svg"):
        monkeypatch.setattr(report_page, name, lambda *arguments: "")


SCHEDULED = ("hs-dcfr", "hs-pcfr+")


@pytest.mark.usefixtures("without_pictures")
@pytest.mark.parametrize(
    "algorithm",
    ["cfr", "cfr+", "linear-cfr", "dcfr", "pcfr+", "pdcfr+", *SCHEDULED, "sapcfr+", "sapdcfr+", "something-new", None],
)
def test_every_algorithm_has_its_method(algorithm: str | None) -> None:
    text = Page(render_report(sample(config={"solve": {"algorithm": algorithm}}, infosets=(), parameters={}))).text
    cited = {"cfr+": "Tammelin", "linear-cfr": "Brown", "dcfr": "Brown", "pcfr+": "Farina", "pdcfr+": "Xu"}
    cited |= {"sapcfr+": "Meng", "sapdcfr+": "Meng", **dict.fromkeys(SCHEDULED, "McAleer")}
    assert ("Zinkevich" in text) == (algorithm is not None)
    assert {name for name in cited.values() if name in text} == ({cited[algorithm]} if algorithm in cited else set())


ROUNDS = [
    {"iteration": t, "seconds": 0.1 * t, "nashconv": gap, "value_lower": 0.5, "value_upper": 0.6}
    for t, gap in ((1, 0.1), (2, 3e-3), (3, 0.0))
]
EXACT = {
    "evaluation": {
        **{"value": 0.55, "best_response_0": 0.55, "best_response_1": -0.55, "nashconv": 0.0},
        **{"exploitability_0": 0.0, "exploitability_1": 6.6e-9, "game_value": [0.55, 0.55]},
    },
    "rounds": ROUNDS,
    "finish": {
        **{"stopped_by": "equilibrium", "nashconv": 0.0, "support": [1128, 1031]},
        **{"sequences": [4700, 4677], "visited": [729, 695]},
    },
}


@pytest.mark.slow
def test_an_exact_equilibrium_leads_the_report() -> None:
    page, measured = (Page(render(sample(**EXACT))).text for render in (render_report, render_measurements))
    lead = page[: page.index("Value of the game")]
    for words in ("an equilibrium, exact to rounding", "<1e-12", "0.550000000000"):
        assert words in lead, words
    for words in ("1,128", "0.94170", "6.6e-9"):
        assert words in page, words
    for words in ("in 3 rounds", "4,700 and 4,677 sequences", "729 and 695 infosets", "Bo\u0161ansk\u00fd"):
        assert words in page, words
    assert "holds player 0's strategy to 0.550000000000" in page and "\u00b1" not in page and "[0.55" not in page
    assert "an equilibrium, exact" not in Page(render_report(sample())).text
    assert "within \u00b15.3e-5" in Page(render_report(sample())).text
    assert "double oracle took" in measured and "seconds of iterations" not in measured
    for text in (render_report(sample(**EXACT)), render_measurements(sample(**EXACT))):
        assert text.count("double oracle") >= 2 and "DCFR" in text  # both methods are in one picture


@pytest.mark.usefixtures("without_pictures")
def test_a_proven_value_is_told_as_a_fraction() -> None:
    page = Page(render_report(sample(**EXACT, proven=Fraction(13, 17)))).text
    assert "worth exactly 13/ 17 which is 0.764705882353. The certificate proof/pttt-abrupt.txt.gz" in page
    assert "this is the value" not in page and "worth exactly" not in Page(render_report(sample(**EXACT))).text
    assert "worth exactly 1 The certificate" in Page(render_report(sample(proven=Fraction(1)))).text


@in_browser
@pytest.mark.slow
def test_boards_come_first_and_labels_of_charts_have_the_size_of_text(browser: Any, tmp_path: Path) -> None:
    write_report(sample(**EXACT, proven=EXACT_VALUES["pttt-abrupt"]), tmp_path)
    with pages_of(browser, None) as open_file:
        page = open_file((tmp_path / "report.html").as_uri())
        assert_board_first(page, ".openings svg", ".lead")
        for width in WIDTHS:
            page.set_viewport_size({"width": width, "height": 844})
            assert not page.evaluate("document.documentElement.scrollWidth > innerWidth")
            sizes = page.evaluate(LABELS)
            assert sizes and all(12 <= size <= 17 for size in sizes), sizes


@pytest.mark.usefixtures("without_pictures")
def test_a_game_that_is_not_listed_has_a_report() -> None:
    unlisted = sample(**EXACT, config={"finish": {"method": "exact"}}, convergence=[], counts={}, uniform_evaluation={})
    page = Page(render_report(unlisted)).text
    assert "an equilibrium, exact to rounding" in page and "in 3 rounds" in page
    for words in ("Counterfactual regret", "iterates", "No history is enumerated", "Uniform", "average strategies"):
        assert words not in page, words


@pytest.mark.slow_but_one
@pytest.mark.long_but("0", "2", "4", "6", "8")
@pytest.mark.parametrize(
    "changes",
    [
        {"convergence": []},
        {
            "rounds": ROUNDS[:2],
            "finish": {"stopped_by": "max_minutes", "support": [1, 1], "sequences": [2, 2], "visited": [1, 1]},
        },
        {"convergence": ROWS[:1]},
        {"convergence": [{**ROWS[0], "nashconv": 0.0}]},
        {"convergence": [{**ROWS[0], "seconds": 0.0}, {**ROWS[1], "nashconv": 0.0}, {"iteration": 3}]},
        {"uniform_evaluation": {}},
        {"evaluation": {}},
        {
            "evaluation": {
                **EVALUATION,
                "best_response_0": 0.5,
                "best_response_1": -0.5,
                "nashconv": 0.0,
                "game_value": None,
            }
        },
        {"config": {}},
        {"config": {"solve": None, "report": {"infosets": []}}},
        {"stages": (), "machine": {}, "digests": {}, "counts": {}, "infosets": ()},
        {"openings": ([0.0] * 9, [0.0] * 9)},
        {"game": named_game("mini-2x3k2-classical"), "openings": ([1 / 6] * 6, [1 / 6] * 6), "infosets": ()},
        {
            "game": tic_tac_toe("after-0-1-4", 3, 3, 3, "abrupt", ((0, 4), (1,))),
            "infosets": (InfosetPicture(1, "|1*", [0.125] * 9),),
        },
    ],
)
def test_odd_data_do_not_crash(changes: dict[str, Any]) -> None:
    for html in (render_report(sample(**changes)), render_measurements(sample(**changes))):
        Page(html)
        assert "None" not in html
        assert "nan" not in html


@pytest.mark.usefixtures("without_pictures")
def test_shows_only_the_parameters_that_the_algorithm_has() -> None:
    text = Page(render_report(sample(config={"solve": {"algorithm": "pdcfr+"}}, infosets=()))).text
    assert "In this run α = 1.5, γ = 2." in text
    assert "β" not in text


@pytest.mark.usefixtures("without_pictures")
def test_without_uniform_there_is_no_baseline() -> None:
    assert "niform play" not in render_report(sample(uniform_evaluation={}))


@pytest.mark.usefixtures("without_pictures")
def test_text_is_escaped() -> None:
    nasty = "<script>alert('1')</script> & \"x\""
    changes = {"title": nasty, "machine": {nasty: nasty}, "digests": {nasty: nasty}, "date": nasty}
    data = sample(config={"game": nasty}, stages=[StageFacts(nasty, note=nasty)], **changes)
    for html in (render_report(data), render_measurements(data)):
        assert "script" not in Page(html).tags
        assert "&lt;script&gt;" in html


@pytest.mark.usefixtures("without_pictures")
def test_date_only_when_given() -> None:
    assert 'class="byline"' not in render_report(sample())
    assert "24 October" in render_report(sample(date="24 October"))


@pytest.mark.slow
def test_write_report_replaces_the_file(tmp_path: Path, html: str) -> None:
    write_report(sample(), tmp_path / "new")
    write_report(sample(), tmp_path / "new")
    assert (tmp_path / "new/report.html").read_text(encoding="utf-8") == html
    assert {p.name for p in (tmp_path / "new").iterdir()} == {"report.html", "measurements.html"}


def test_save_figures(tmp_path: Path) -> None:
    paths = save_figures(sample(), tmp_path / "a")
    assert [p.name for p in paths] == ["convergence.svg", "opening.svg"]
    again = save_figures(sample(), tmp_path / "b")
    for first, second in zip(paths, again, strict=True):
        assert first.read_bytes() == second.read_bytes()
        ElementTree.fromstring(first.read_bytes())


@pytest.mark.parametrize(
    ("player", "text", "probabilities", "sentence"),
    [
        (0, "|", [1 / 9] * 9, "Before their first attempt: player 0 attempts all 9 squares left alike."),
        (
            0,
            "|0*4.",
            INFOSETS[0].probabilities,
            "Placed 0, failed on 4: player 0 attempts 2 most often (42%) and then 6 (41%).",
        ),
        (1, "|4.", INFOSETS[1].probabilities, "Failed on 4: player 1 attempts 0, 2, 6 and 8 most often (25% each)."),
        (
            1,
            "|0*2*",
            [0, 1, 0, 0, 0, 0, 0, 0, 0],
            "Placed 0, 2: player 1 always attempts 1, which wins if it is empty.",
        ),
        (0, "|0*", [0] * 9, "Placed 0: player 0 has no square to attempt."),
    ],
)
def test_infoset_sentence(player: int, text: str, probabilities: list[float], sentence: str) -> None:
    assert infoset_sentence(GAME, InfosetPicture(player, text, probabilities)) == sentence
