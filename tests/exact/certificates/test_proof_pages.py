"""The pages of proofs, in a browser and from files: the checker, the perfect player, and the printed openings."""

import base64
import json
import random
import re
from fractions import Fraction

import pytest

from pttt_ooc.exact.certificates.certificate import read
from pttt_ooc.games.rules.catalogue import EXACT_VALUES, named_game
from tests.exact.certificates.fuzzed_certificates import files_by_lot
from tests.exact.certificates.serverless_pages import BENCHMARKS
from tests.kits import naive
from tests.kits.browsing import arrived, in_browser
from tests.kits.damaged_certificates import DAMAGED, NAME, SMALLEST, at_the_limits, zips
from tests.kits.verify_program import PROOF, proven_words, text_of, verify, zipped

LARGE = {
    **dict.fromkeys(["pttt-abrupt", "pttt-3x4k4-classical", "dark-hex-4x3-classical"], pytest.mark.slow),
    **dict.fromkeys(["pttt-2x5k3-abrupt", "pttt-3x4k3-abrupt", "dark-hex-4x4-classical"], pytest.mark.slow),
    "dark-hex-3x4-abrupt": pytest.mark.full,
}
QUICK = [name for name in EXACT_VALUES if name not in LARGE]
A_LINE = re.compile(r"line \d+: .*\S")


VERDICT = """async (files) => {
  const verdicts = [];
  for (const file of files) {
    verdicts.push(await new Promise((resolve) => {
      const worker = new Worker(program);
      worker.onerror = (event) => { worker.terminate(); resolve({ stopped: event.message }); };
      worker.onmessage = ({ data }) => {
        if (!data.proven && !data.refused) return;
        worker.terminate();
        resolve(data);
      };
      worker.postMessage(bytesOf(file));
    }));
  }
  return verdicts;
}"""


def verdicts(page, contents):
    """What the checker of the page says of each file."""
    return page.evaluate(VERDICT, [base64.b64encode(content).decode() for content in contents])


# ---------------------------------------------------------------------------------------------
# The checker


def test_the_pages_have_the_committed_certificates(directory):
    text = (directory / "certificates.js").read_text(encoding="utf-8")
    coded = json.loads(re.search(r"^const CERTIFICATES = (\{.*\});$", text, re.M)[1])
    for game, content in coded.items():
        assert base64.b64decode(content) == (PROOF / f"{game}.txt.gz").read_bytes()
    assert coded.keys() >= set(BENCHMARKS)


@pytest.mark.slow
@in_browser
def test_the_browser_proves_what_the_catalogue_says(opened, tmp_path):
    page = opened("verify.html")
    found = verdicts(page, [(PROOF / f"{name}.txt.gz").read_bytes() for name in QUICK])
    smallest = [zipped(SMALLEST, tmp_path / "smallest.txt.gz").read_bytes(), *at_the_limits()]
    assert verdicts(page, smallest) == [{"proven": "value = 1"}] * 4
    assert found == [{"proven": proven_words(EXACT_VALUES[name])} for name in QUICK]


@pytest.mark.long_but("pttt-abrupt")
@in_browser
@pytest.mark.parametrize("name", [pytest.param(name, marks=mark) for name, mark in LARGE.items()])
def test_the_browser_proves_large_certificates(opened, name):
    [found] = verdicts(opened("verify.html"), [(PROOF / f"{name}.txt.gz").read_bytes()])
    assert found == {"proven": proven_words(EXACT_VALUES[name])}


@pytest.mark.slow
@in_browser
def test_the_browser_proves_intervals(opened, tmp_path):
    """Plans that are not an equilibrium: the same interval as the program."""
    paths = []
    for name in ("mini-2x3k3-abrupt", "mini-2x3k3-classical"):
        paths.append(random_certificate(name, tmp_path / f"{name}.txt.gz"))
    found = verdicts(opened("verify.html"), [path.read_bytes() for path in paths])
    assert [f"proven: {one['proven']}" for one in found] == [verify(path)[-1] for path in paths]
    assert all(len(set(one["proven"].split(" <= value <= "))) == 2 for one in found)


def random_certificate(name, path):
    from pttt_ooc.exact.certificates.behaviours import rounded_plan
    from pttt_ooc.exact.certificates.certificate import Certificate, guarantees, write
    from tests.kits.helpers import as_strategy, full_index, random_table

    game, draw = named_game(name), random.Random(11)
    tables = [random_table(game, player, draw, 0.4) for player in (0, 1)]
    plans = tuple(rounded_plan(as_strategy(full_index(name), player, tables[player])) for player in (0, 1))
    found = guarantees(game, plans)
    write(Certificate(game, found.lower, found.upper, plans), path)
    return path


@pytest.mark.slow
@in_browser
def test_the_browser_refuses_damaged_certificates_with_line_and_reason(opened, tmp_path):
    contents = [zipped(text, tmp_path / "damaged.txt.gz").read_bytes() for text, _, _ in DAMAGED.values()]
    found = verdicts(opened("verify.html"), [*contents, *zips().values()])
    assert len(found) > 50
    for damage, verdict in zip([*DAMAGED, *zips()], found, strict=True):
        assert verdict.keys() == {"refused"}, (damage, verdict)
        assert A_LINE.fullmatch(verdict["refused"]) and len(verdict["refused"]) < 300, (damage, verdict)
        number = DAMAGED.get(damage, (0, None))[1]
        assert number is None or verdict["refused"].startswith(f"line {number}:"), (damage, verdict)
        assert "times its size" in verdict["refused"] or not damage.startswith("a bomb"), (damage, verdict)


@pytest.mark.slow
@pytest.mark.long_but("-300")
@in_browser
@pytest.mark.parametrize(("seed", "number"), [(2, 300), *((seed, 1000) for seed in range(3, 13))])
def test_the_browser_accepts_the_files_that_the_others_accept(opened, seed, number, tmp_path):
    files = list(files_by_lot(seed, number, tmp_path / "certificate.txt.gz"))
    found = verdicts(opened("verify.html"), [content for content, _ in files])
    for (content, proven), verdict in zip(files, found, strict=True):
        assert verdict.get("proven") == proven and len(verdict) == 1 and "stopped" not in verdict, (content, verdict)
    assert 0.15 < sum(proven is None for _, proven in files) / number < 0.85


@pytest.mark.long
@in_browser
def test_damage_at_any_place_gets_the_verdict_of_the_program(opened, tmp_path):
    draw, text, path = random.Random(36), text_of(NAME), tmp_path / "damaged.txt.gz"
    contents, expected = [], []
    for _ in range(150):
        place = draw.randrange(len(text))
        now = draw.choice(["", draw.choice("0123456789|*.= \n-ax")])
        zipped(text[:place] + now + text[place + draw.randrange(2) :], path)
        contents.append(path.read_bytes())
        expected.append(verify(path)[-1].partition(":")[0])
    found = verdicts(opened("verify.html"), contents)
    assert [next(iter(verdict)) for verdict in found] == expected
    assert {"proven", "refused"} == set(expected)


@pytest.mark.slow
@in_browser
def test_a_reader_checks_a_proof_with_a_button(opened, tmp_path):
    page = opened("verify.html")
    page.get_by_label("Certificate").select_option("dark-hex-3x3-abrupt")
    page.get_by_role("button", name="Check it").click()
    page.locator(".said.proven").wait_for()
    value = EXACT_VALUES["dark-hex-3x3-abrupt"]
    said = page.locator("#said").inner_text()
    assert said.startswith(f"proven: {proven_words(value)}\n") and "0.384434399724437" in said
    rules = page.locator("#rules").inner_text()
    assert "squares 9; turns abrupt; wins 0 " in rules
    assert page.get_by_label("Progress").evaluate("bar => bar.value === bar.max")
    assert page.get_by_role("button", name="Check it").is_enabled()
    bad = zipped(DAMAGED["a wrong value"][0], tmp_path / "bad.txt.gz")
    page.get_by_label("or one of your own").set_input_files(bad)
    page.locator(".said.refused").wait_for()
    assert (
        page.locator("#said").inner_text() == "refused: line 6: the plans prove 13/17 <= value <= 13/17, not this claim"
    )
    assert page.errors == []


@pytest.mark.slow
@in_browser
def test_progress_is_told(opened):
    page = opened("verify.html")
    told = page.evaluate(
        """(name) => new Promise((resolve) => {
          const worker = new Worker(program), stages = [];
          worker.onmessage = ({ data }) => {
            if (data.stage) stages.push([data.stage, data.line ?? data.visited]);
            else if (data.proven) resolve(stages);
          };
          worker.postMessage(bytesOf(CERTIFICATES[name]));
        })""",
        "pttt-classical",
    )
    lines = [count for stage, count in told if stage == "read"]
    visited = [count for stage, count in told if stage == "respond"]
    assert lines and visited and lines == sorted(lines) and set(visited) <= set(range(100, 100_000, 100))


# ---------------------------------------------------------------------------------------------
# The perfect player

PROBABILITIES = """async (name) => {
  const { plans } = await load(name);
  const drawnFor = (infoset, number) => { random = () => number; return drawn(infoset); };
  const told = ([text, infoset]) => {
    const counts = {};
    let from = 0n;
    for (const { weight } of infoset.actions) {
      const [first, last] = [from, from + weight - 1n].map((number) => drawnFor(infoset, number));
      if (first !== last) throw new Error(text);
      counts[first] = String(weight);
      from += weight;
    }
    let beyond = false;
    try { drawnFor(infoset, from); } catch { beyond = true; }
    return [text, counts, String(infoset.weight), beyond];
  };
  return plans.map((infosets) => [...infosets].map(told));
}"""


@pytest.mark.slow
@pytest.mark.long_but("classical", "dark-hex")
@in_browser
@pytest.mark.parametrize("name", [pytest.param("pttt-abrupt", marks=pytest.mark.slow), *BENCHMARKS[1:]])
def test_the_player_draws_with_the_probabilities_of_the_plan(opened, name):
    """Of the `weight` numbers that may be drawn, each action has as many as its weight, at every infoset."""
    certificate = read(PROOF / f"{name}.txt.gz")
    told = opened("perfect.html").evaluate(PROBABILITIES, name)
    for plan, rows in zip(certificate.plans, told, strict=True):
        assert len(rows) == plan.infosets
        found = {text: (counts, weight, beyond) for text, counts, weight, beyond in rows}
        for infoset, text in enumerate(plan.texts):
            counts = {str(square): str(plan.weights[action]) for action, square in actions_of(plan, infoset)}
            assert found[text] == (counts, str(plan.arriving[infoset]), True)


def actions_of(plan, infoset):
    """The actions of an infoset of a plan, with their squares."""
    first = plan.starts[infoset]
    return [(action, plan.squares[action]) for action in range(first, first + plan.sizes[infoset])]


@in_browser
def test_numbers_are_drawn_evenly(opened):
    """Below a limit that is not a power of two, and far beyond what a double can hold."""
    page = opened("perfect.html")
    counts = page.evaluate(
        "() => { const c = [0, 0, 0, 0, 0]; for (let k = 0; k < 20000; k++) c[random(5n)] += 1; return c; }"
    )
    assert sum((count - 4000) ** 2 / 4000 for count in counts) < 40  # chi-squared with 4 degrees: one in 2e7
    large = page.evaluate("() => Array.from({ length: 4000 }, () => String(random(3n * 10n ** 40n)))")
    numbers = [int(text) for text in large]
    assert max(numbers) < 3 * 10**40
    thirds = [sum(n // 10**40 == third for n in numbers) for third in range(3)]
    odd = sum(n % 2 for n in numbers)
    assert all(abs(count - 4000 / 3) < 6 * 30 for count in thirds) and abs(odd - 2000) < 6 * 32


REDRAWN = """() => {
  const asked = [], largest = 2 ** 32 - 1;
  crypto.getRandomValues = (words) => {
    asked.push(words.length);
    return words.fill(asked.length === 1 ? largest : 0);
  };
  return [String(random(3n)), asked];
}"""


@in_browser
def test_a_number_that_would_favour_some_is_drawn_again(opened):
    """There are 3 k + 1 numbers of 64 bits: the last one is left out."""
    assert opened("perfect.html").evaluate(REDRAWN) == ["0", [2, 2]]


GAMES = """async ([name, human, squares]) => {
  document.getElementById("choice").value = name;
  await start(human);
  const attempts = [];
  while (!game.over) {
    const left = [0, 1, 2, 3, 4, 5, 6, 7, 8].filter((square) => !((game.tried[human] >> square) & 1));
    const square = left[squares[attempts.length] % left.length];
    attempts.push(square);
    humanMoves(square);
  }
  const thoughts = game.thoughts.map(({ infoset, square, result }) => [infoset.text, square, result]);
  return [attempts, thoughts, game.winner];
}"""


@pytest.mark.slow
@pytest.mark.long_but("classical")
@in_browser
@pytest.mark.parametrize("name", BENCHMARKS)
def test_games_follow_the_rules(opened, name):
    """Each game of the page, played again by other code: the same infosets, results and winner."""
    page, draw = opened("perfect.html"), random.Random(name)
    game = named_game(name)
    for number in range(60):
        human = number % 2
        numbers = [draw.randrange(5040) for _ in range(9)]
        attempts, thoughts, winner = page.evaluate(GAMES, [name, human, numbers])
        marks, texts, turn, ended = [0, 0], ["|", "|"], 0, None
        mine, theirs = iter(attempts), iter(thoughts)
        while ended is None:
            if turn == human:
                square, told = next(mine), None
            else:
                text, square, told = next(theirs)
                assert text == texts[turn]
            placed = not marks[1 - turn] >> square & 1
            assert not marks[turn] >> square & 1 and told in (None, "placed" if placed else "failed")
            texts[turn] += f"{square}{'*' if placed else '.'}"
            if placed:
                marks[turn] |= 1 << square
                if any(marks[turn] & win == win for win in game.winning_sets[turn]):
                    ended = turn
                elif marks[0] | marks[1] == 511:
                    ended = -1
            if placed or game.turn_rule == "abrupt":
                turn = 1 - turn
        assert (None if ended == -1 else ended) == winner
        assert next(mine, None) is None and next(theirs, None) is None
    assert page.errors == []


LATE = """window.requestAnimationFrame = (paint) => setTimeout(() => {
  paint();
  setTimeout(() => { window.painted = true; });
}, 500);"""


@in_browser
def test_a_game_that_is_begun_before_the_first_paint_stays(opened):
    page = opened("verify.html")
    page.add_init_script(LATE)
    page.get_by_role("link", name="Play").click()
    arrived(page, page.get_by_role("button", name="It begins"))
    page.get_by_role("button", name="It begins").click()
    page.get_by_text("it is your turn").wait_for()
    page.wait_for_function("window.painted")
    page.get_by_text("it is your turn").wait_for()
    assert page.evaluate("[game.human, begun]") == [1, 1] and page.errors == []


@pytest.mark.slow
@in_browser
def test_a_reader_plays(opened):
    page = opened("perfect.html")
    page.get_by_label("Game").select_option("dark-hex-3x3-abrupt")
    page.get_by_role("button", name="It begins").click()
    page.get_by_text("it is your turn").wait_for()  # the certificate is unpacked first
    while (square := page.locator("#board button:enabled")).count():
        square.first.click()
    page.get_by_role("heading", name="What the computer knew").wait_for()
    assert re.search(r"You have won\.|It is a draw\.|The computer has won\.", page.locator("#said").inner_text())
    assert "as player 1: " in page.locator("#score").inner_text() and "−0.384434" in page.locator("#score").inner_text()
    assert page.locator("table.review tbody tr").count() >= 3
    page.get_by_role("button", name="I begin").click()
    page.get_by_text("You begin: attempt a square.").wait_for()
    assert page.locator("#board button:enabled").count() == 9
    page.locator("#board button").nth(4).press("Enter")
    assert page.errors == []


# ---------------------------------------------------------------------------------------------
# The openings


def test_the_openings_are_those_of_the_certificates(directory):
    text = (directory / "openings.html").read_text(encoding="utf-8")
    sheets = text.split('<section class="sheet">')[1:]
    assert len(sheets) == 2
    for name, sheet in zip(("pttt-abrupt", "dark-hex-3x3-abrupt"), sheets, strict=True):
        certificate = read(PROOF / f"{name}.txt.gz")
        tables = re.findall(r"<tbody>(.*?)</tbody>", sheet, re.S)
        for plan, table, most in zip(certificate.plans, tables, (3, 2), strict=True):
            rows = dict(re.findall(r'<th scope="row">(\S+?)</th>((?:<td.*?</td>)+)', table))
            known = {}
            for infoset, text in enumerate(plan.texts):
                whole = plan.arriving[infoset]
                known[text] = {square: Fraction(plan.weights[a], whole) for a, square in actions_of(plan, infoset)}
            for text, cells in rows.items():
                shown = [cell for cell in re.findall(r"<td.*?>(.*?)</td>", cells)]
                assert len(shown) == 9
                for square, cell in enumerate(shown):
                    assert (cell == "") == (square not in known[text]), text
                    assert cell == "" or abs(float(cell) - float(100 * known[text][square])) <= 0.05 + 1e-9
            images = {frozenset(images_of(name, text)) for text in known if len(text) <= 1 + 2 * most}
            assert {frozenset(images_of(name, text)) for text in rows} == images and len(rows) == len(images)


def images_of(name, text):
    """All images of an infoset under the symmetries of the game, as the package knows them."""
    game = named_game(name)
    return [naive.image(game, text, squares) for squares in game.symmetries]


@in_browser
def test_the_openings_print_on_two_pages(opened):
    page = opened("openings.html")
    assert page.locator("section.sheet").count() == 2
    printed = page.pdf(prefer_css_page_size=True)
    assert len(re.findall(rb"/Type\s*/Page\b(?!s)", printed)) == 2
