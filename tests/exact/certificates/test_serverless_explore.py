"""The page that explores the proven equilibria without a server: its numbers are the library's, and it can be used."""

import functools
import http.server
import random
import re
import threading
from dataclasses import fields
from fractions import Fraction

import numpy as np
import pytest

from pttt_ooc.errors import ImpossibleInfosetError
from pttt_ooc.exact.certificates.certificate import read
from pttt_ooc.exact.double_oracle.rule_tables import rule_tables
from pttt_ooc.exact.double_oracle.sparse_plan import (
    allow,
    behave,
    first_infoset,
    next_infoset,
    with_capacity,
)
from pttt_ooc.games.rules.catalogue import EXACT_VALUES, named_game
from pttt_ooc.games.rules.game import Game
from pttt_ooc.games.structure.infoset_parser import check_infoset
from pttt_ooc.library.questions.plan_pair import PlanPair
from tests.exact.certificates.serverless_pages import BENCHMARKS
from tests.kits import naive
from tests.kits.browsing import assert_board_first, assert_reflows, in_browser, pages_of
from tests.kits.verify_program import PROOF

CLOSE = 1e-12
PAGES = ("explore", "perfect", "verify", "openings")


# ---------------------------------------------------------------------------------------------
# The numbers are the library's

ANSWERS = """async ([name, asked]) => {
  const { Questions } = engine(), numbers = (value) =>
    typeof value === "bigint" ? String(value)
    : Array.isArray(value) && typeof value[0] === "bigint" && value.length === 2 ? fractionText(value)
    : Array.isArray(value) ? value.map(numbers)
    : value && typeof value === "object" ? Object.fromEntries(Object.entries(value).map(([k, v]) => [k, numbers(v)]))
    : value;
  globalThis.kept ??= {};
  kept[name] ??= new Questions(new Certificate(await unzipped(bytesOf(CERTIFICATES[name]))));
  return asked.map(([player, text]) => {
    const facts = kept[name].facts(player, text);
    return numbers(facts && { ...facts, values: [...kept[name].values(player, text)] });
  });
}"""


@functools.cache
def certificate_of(name):
    return read(PROOF / f"{name}.txt.gz")


class Unfolded(Game):
    """A game whose symmetries are not used: the plan of a certificate may differ at mirror images."""

    @property
    def symmetries(self):
        return (tuple(range(self.squares)),)


@functools.cache
def plan_pair_of(name):
    """The plans of a certificate, as the library answers questions about plans."""
    game = named_game(name)
    game = Unfolded(**{part.name: getattr(game, part.name) for part in fields(game)})
    plans = (sparse_plan(rule_tables(game), player, plan) for player, plan in enumerate(certificate_of(name).plans))
    return PlanPair(game, tuple(plans))


def sparse_plan(rules, player, plan):
    """A plan of a certificate in the form of the double oracle."""
    sparse = with_capacity(first_infoset(rules, player), plan.infosets + 2 * plan.actions)
    reach, pending = np.zeros(len(sparse.before)), [(0, 0)]
    while pending:
        infoset, at = pending.pop()
        for action in range(plan.starts[infoset], plan.starts[infoset] + plan.sizes[infoset]):
            square = plan.squares[action]
            reach[allow(rules, sparse, at, square)] = float(Fraction(plan.weights[action], plan.denominator))
            for placed, after in enumerate((plan.failed[action], plan.placed[action])):
                if after >= 0:
                    pending.append((after, next_infoset(rules, sparse, at, square, placed)))
    behave(sparse, reach, 0.0)
    return sparse


@functools.cache
def rows_of(name):
    """For each player, what the plan of the certificate plays at each of its infosets."""
    rows = ({}, {})
    for plan, found in zip(certificate_of(name).plans, rows, strict=True):
        for infoset, text in enumerate(plan.texts):
            first = plan.starts[infoset]
            of = range(first, first + plan.sizes[infoset])
            found[text] = {plan.squares[a]: Fraction(plan.weights[a], plan.arriving[infoset]) for a in of}
    return rows


def infosets_by_lot(name, number, seed):
    """Different infosets: one player attempts any square, and the other one mostly follows the plan."""
    game, rows, draw, found = named_game(name), rows_of(name), random.Random(f"{name} {seed}"), {}
    for _ in range(100 * number):
        if len(found) == number:
            break
        history, player, wild, ways = naive.History.start(game), draw.randrange(2), draw.random() < 0.2, []
        while not history.is_terminal():
            if history.player == player:
                ways.append(history.nodes[player])
                history = history.attempt(draw.choice(history.legal()))
                continue
            row = {} if wild else rows[1 - player].get(history.nodes[1 - player], {})
            squares = list(row) or history.legal()
            history = history.attempt(draw.choices(squares, [float(row.get(s, 1)) for s in squares])[0])
        if ways:
            found[player, draw.choice(ways)] = None
    return list(found)


def assert_close(found, wanted, told):
    """A fraction of the page and a number of the library; the page has none where the library has no number."""
    assert (found is None) == bool(np.isnan(wanted)), told
    error = 0.0 if found is None else abs(float(Fraction(found)) - wanted)
    assert error <= CLOSE, (told, found, wanted)
    return error


def assert_agree(pair, player, text, facts):
    """The page's answer is the library's; returns the largest difference."""
    numbers, beliefs = pair.numbers(player, text), pair.beliefs(player, text, boards=512)
    assert (facts["text"], tuple(facts["legal"])) == (numbers.infoset, numbers.legal)
    close = functools.partial(assert_close, told=(player, text))
    errors = [close(facts["ownReach"], numbers.own_reach), close(facts["othersReach"], numbers.opponent_reach)]
    assert (facts["probabilities"] is None) == (numbers.own_reach == 0)
    values = {one["square"]: one["value"] for one in facts["values"]}
    for square in numbers.legal:
        if facts["probabilities"] is not None:
            errors.append(close(facts["probabilities"].get(str(square), "0"), numbers.probabilities[square]))
        errors.append(close(values.get(square), numbers.best_action_values[square]))
        errors.append(close(facts["beliefs"] and facts["beliefs"][square], numbers.fails[square]))
    # The equilibrium's own value is the best one wherever both players come.
    if numbers.joint_reach:
        assert numbers.value == pytest.approx(numbers.best_value, abs=CLOSE)
    if facts["beliefs"] is not None:
        errors += [close(*both) for both in zip(facts["beliefs"], beliefs.marks, strict=True)]
    boards = {board.theirs: board.probability for board in beliefs.boards}
    shares = [Fraction(share) for _, share in facts["boards"]]
    assert {marks for marks, _ in facts["boards"]} == boards.keys() and shares == sorted(shares, reverse=True)
    errors += [close(share, boards[marks]) for marks, share in facts["boards"]]
    ways = pair.following(player, text)
    assert [(w.square, w.placed, w.decides) for w in ways] == [
        (o["square"], o["placed"], o["decides"]) for o in facts["outcomes"]
    ]
    for way, outcome in zip(ways, facts["outcomes"], strict=True):
        errors.append(close(outcome["probability"], way.probability))
        shares = outcome["then"] or [None] * 4
        errors += map(close, shares, (way.returns, way.wins, way.draws, way.loses))
    return max(errors)


@in_browser
@pytest.mark.parametrize(
    ("name", "number"),
    [
        pytest.param("dark-hex-3x3-abrupt", 20),
        *(pytest.param(name, 250, marks=pytest.mark.slow) for name in BENCHMARKS),
        *(pytest.param(name, 2500, marks=pytest.mark.long) for name in BENCHMARKS),
    ],
)
def test_infosets_by_lot_have_the_numbers_of_the_library(opened, name, number, record_property):
    asked, pair, page = infosets_by_lot(name, number, 59), plan_pair_of(name), opened("verify.html")
    largest, kinds = 0.0, set()
    for first in range(0, len(asked), 250):
        part = asked[first : first + 250]
        for (player, text), facts in zip(part, page.evaluate(ANSWERS, [name, part]), strict=True):
            largest = max(largest, assert_agree(pair, player, text, facts))
            kinds.add((facts["probabilities"] is None, facts["beliefs"] is None))
    assert len(asked) == number and len(kinds) > (2 if number > 20 else 1)
    record_property("largest difference", float(largest))
    print(f"{name}: {number} infosets, the largest difference is {largest:.1e}")


@pytest.mark.slow
@in_browser
@pytest.mark.parametrize("name", ["dark-hex-3x3-classical", "pttt-abrupt"])
def test_the_page_and_the_library_call_the_same_texts_infosets(opened, name):
    """Texts by lot, of which many can never be reached."""
    game, draw, texts = named_game(name), random.Random(7), ["", "0*", "|9*", "|0", "|a*", "|0*0.", "|0*x."]
    for _ in range(600):
        squares = draw.sample(range(9), draw.randrange(1, 9))
        texts.append("|" + "".join(f"{square}{draw.choice('*.')}" for square in squares))
    asked = [(player, text) for text in texts for player in (0, 1)]
    script = """async ([name, asked]) => {
      const questions = new (engine().Questions)(new Certificate(await unzipped(bytesOf(CERTIFICATES[name]))));
      return asked.map(([player, text]) => questions.facts(player, text) !== null);
    }"""
    found = opened("verify.html").evaluate(script, [name, asked])
    assert {True, False} == set(found)
    for (player, text), known in zip(asked, found, strict=True):
        try:
            check_infoset(game, player, text)
            expected = text.startswith("|")
        except ImpossibleInfosetError:
            expected = False
        assert known == expected, (player, text)


# ---------------------------------------------------------------------------------------------
# The pages


def test_all_pages_are_below_a_megabyte_and_have_one_menu(directory):
    assert sum(path.stat().st_size for path in directory.iterdir()) < 1_000_000
    names = {path.name for path in directory.iterdir()}
    for page in PAGES:
        text = (directory / f"{page}.html").read_text(encoding="utf-8")
        links = re.findall(r'(?:href|src)="([^"#]+)', text)
        assert set(links) <= names and [f"{one}.html" for one in PAGES] == re.findall(r'<a href="([^"]+)"', text)[:4]
        assert re.search(rf'<a href="{page}.html" aria-current="page" target="_top">', text)
    for path in directory.iterdir():
        assert not re.search(r"https?:", path.read_text(encoding="utf-8")), path.name
    scripts = [path.read_text(encoding="utf-8") for path in directory.glob("*.js")]
    for name in ("class BestResponse", "class Certificate", "class Questions", "function drawBoard"):
        assert sum(text.count(name) for text in scripts) == 1, f"{name} is there more than once"


def numbers_on(board):
    return [text.split("\n")[-1] for text in board.locator("button").all_inner_texts()]


@in_browser
def test_a_reader_explores(opened):
    page = opened("explore.html")
    assert page.title() == "Explore the equilibrium"
    page.get_by_label("Game").select_option("dark-hex-3x3-abrupt")
    page.get_by_label("Player").select_option("player 1")
    page.get_by_text("worth −0.384434 to player 1").wait_for()
    row = rows_of("dark-hex-3x3-abrupt")[1]["|"]
    assert numbers_on(page.locator("#board")) == [f"{float(100 * row[square]):.1f}\u00a0%" for square in range(9)]
    page.get_by_label("Square 4").click()
    page.locator("#chosen").get_by_text(str(row[4]), exact=True).wait_for()
    page.get_by_role("button", name=re.compile("It fails")).click()
    page.get_by_role("button", name="Start").wait_for()
    assert page.evaluate("decodeURIComponent(location.hash)") == "#/dark-hex-3x3-abrupt/1/4."
    assert page.locator("#board .theirs").get_attribute("aria-label") == "Square 4, the other player's mark"
    for layer, sign in (("value", "."), ("other's marks", "%")):
        page.get_by_label(layer, exact=True).check()
        page.wait_for_function("(sign) => document.querySelector('#board .figure').innerText.includes(sign)", arg=sign)
    page.get_by_label("Go to an infoset").fill("0*4.")
    page.keyboard.press("Enter")
    page.get_by_text("player 1's equilibrium never comes here", exact=False).first.wait_for()
    page.get_by_label("Go to an infoset").fill("0*0*")
    page.keyboard.press("Enter")
    page.get_by_text("|0*0* is not an infoset of player 1").wait_for()
    page.go_back()
    page.go_back()
    page.wait_for_function("document.querySelector('#infoset').value === '|4.'")
    assert page.locator("#wrong").is_hidden() and page.errors == []


@in_browser
def test_where_the_equilibrium_never_comes_the_page_says_so(opened):
    page = opened("explore.html#/dark-hex-3x3-classical/0/0*")
    page.get_by_text("Player 0's equilibrium never comes here, so it gives no probabilities.").wait_for()
    page.get_by_text("No probabilities here.").wait_for()
    page = opened("explore.html#/dark-hex-3x3-classical/0/2*1.")
    page.get_by_text("Player 1's equilibrium never lets player 0 come here").wait_for()
    assert set(page.locator("#attempts td:nth-child(3)").all_inner_texts()) == {"–"}
    page.locator("[name=layer][value=value]").check()
    page.wait_for_function("document.querySelector('#legend').textContent === 'Nothing to show here.'")
    assert page.errors == []


@pytest.mark.slow
@in_browser
@pytest.mark.parametrize("name", BENCHMARKS)
def test_the_first_values_are_those_of_the_claim(opened, name):
    for player, sign in ((0, 1), (1, -1)):
        page = opened(f"explore.html#/{name}/{player}/")
        value = f"{sign * float(Fraction(EXACT_VALUES[name])):.6f}".replace("-", "−")
        page.get_by_text(f"worth {value} to player {player}").wait_for()


@pytest.mark.slow
@in_browser
def test_after_a_game_each_attempt_has_its_worth(opened):
    """The worth of what was attempted and of the best attempts are those of the library."""
    page, name = opened("perfect.html"), "dark-hex-3x3-abrupt"
    page.get_by_label("Game").select_option(name)
    page.get_by_text("You begin: attempt a square.").wait_for()
    page.wait_for_function("(name) => game.name === name", arg=name)
    while (square := page.locator("#board button:enabled")).count():
        square.first.click()
    page.locator("#review p", has_text=re.compile("costliest attempt was|played perfectly")).wait_for()
    pair = plan_pair_of(name)
    asked = page.evaluate("game.asked.map(({text, square}) => [text, square])")
    rows = page.locator("#review section tbody tr").all()
    assert len(rows) == len(asked) >= 2
    for (text, square), row in zip(asked, rows, strict=True):
        values = pair.numbers(0, text).best_action_values
        shown = row.locator("td").all_inner_texts()
        assert shown[2] == f"{values[square]:.3f}".replace("-", "−") and shown[1] == str(square)
        best = [s for s in range(9) if values[s] > np.nanmax(values) - 1e-9]
        assert shown[3] == (
            "as good as any"
            if square in best
            else f"{', '.join(map(str, best))}: {np.nanmax(values):.3f}".replace("-", "−")
        )
    row = page.locator("#review section a").last
    row.click()
    page.locator("#attempts .here").wait_for()
    assert page.errors == []


PAINT = "performance.getEntriesByName('first-contentful-paint')[0]?.startTime"


@pytest.mark.slow
@in_browser
def test_pages_are_painted_within_a_second(opened):
    """The quickest of three visits: other programs may have the processor."""
    for name in ("explore", "perfect"):
        times = []
        for _ in range(3):
            page = opened(f"{name}.html", viewport={"width": 390, "height": 844})
            page.wait_for_function(PAINT)
            times.append(page.evaluate(PAINT))
        assert min(times) < 1000, (name, times)


@pytest.mark.slow
@in_browser
def test_pages_work_on_a_server_of_files(browser, directory):
    """As on the website, and in a folder below its root."""
    handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=str(directory.parent))
    handler.func.log_message = lambda *words: None
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        with pages_of(browser, f"http://127.0.0.1:{server.server_port}/{directory.name}/") as open_page:
            page = open_page("explore.html")
            page.get_by_text("worth 0.550167 to player 0").wait_for()
            page.get_by_role("link", name="Play").click()
            page.get_by_text("You begin: attempt a square.").wait_for()
            page.get_by_role("link", name="Proof").click()
            page.get_by_role("button", name="Check it").click()
            page.get_by_text("proven: value = 13/17").wait_for()
            assert page.errors == []
        server.shutdown()


@in_browser
@pytest.mark.parametrize("name", ["explore", "perfect"])
def test_the_board_comes_first(opened, name):
    page = opened(f"{name}.html#/pttt-classical/0/4*5*/2")
    page.locator("#board button:enabled").first.wait_for()
    assert_board_first(page, "#board")
    assert_reflows(page, f"serverless-{name}")
    assert page.errors == []


# ---------------------------------------------------------------------------------------------
# The first page of the website


@pytest.fixture(scope="module")
def boards():
    """The boards of the website's first page, as a block of HTML."""
    import sys

    sys.path.insert(0, str(PROOF.parent / "docs/make"))
    try:
        import front_board
    finally:
        sys.path.pop(0)
    return front_board.front_board()


def test_the_boards_of_the_first_page_have_the_probabilities_of_the_certificates(boards):
    assert "<!-- boards -->\n" in (PROOF.parent / "docs/index.md").read_text(encoding="utf-8")
    pattern = r'<a href="pages/explore.html#/([\w-]+)/([01])//(\d)" title="([\d/]+)".*?>([\d.]+) %</a>'
    cells = re.findall(pattern, boards)
    assert len(cells) == 9 * 2 * len(BENCHMARKS)
    for name, player, square, share, percent in cells:
        wanted = rows_of(name)[int(player)]["|"].get(int(square), Fraction(0))
        assert Fraction(share) == wanted and abs(float(percent) - float(100 * wanted)) <= 0.05 + 1e-9
    assert "Player 0: 0.550 a game" in boards and "Player 1: −1 a game" in boards


@pytest.mark.slow
@in_browser
def test_a_square_of_the_first_page_leads_to_explore(browser, directory, boards):
    """Without scripts on the first page: one game is seen, another one can be chosen, and squares are links."""
    style = (PROOF.parent / "docs/static/site.css").read_text(encoding="utf-8")
    site = directory.parent / "site"
    site.mkdir(exist_ok=True)
    if not (site / "pages").exists():
        (site / "pages").symlink_to(directory)
    (site / "index.html").write_text(f'<!DOCTYPE html><meta charset="utf-8"><style>{style}</style>{boards}')
    with pages_of(browser, site.as_uri() + "/") as open_page:
        page = open_page("index.html", viewport={"width": 390, "height": 844})
        assert page.locator(".front-board:visible").count() == 2
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
        page.get_by_text("Dark Hex, abrupt").click()
        page.locator(".front-board:visible").nth(1).get_by_text("13.7 %").first.click()
        page.get_by_role("heading", name="Square 3").wait_for()
        assert page.get_by_label("Player").input_value() == "1" and page.errors == []
