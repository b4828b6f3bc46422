"""The page Explore without a browser: contents, links, and refusals."""

import asyncio
import csv
import json
import math
import os
import random
import re
import socket
import subprocess
import sys
import time
from html import unescape
from io import BytesIO
from pathlib import Path
from urllib.parse import parse_qs, urlsplit
from xml.etree import ElementTree

import pytest
from fastapi.testclient import TestClient
from PIL import Image

import pttt_ooc
from pttt_ooc.course.data.models import Fact, Submission
from pttt_ooc.course.pages.strategy_mistakes import _bar as bar_of
from pttt_ooc.course.server.strategy_parts import app_of, parts_of
from pttt_ooc.disk.numbers import probability
from pttt_ooc.errors import PtttError
from pttt_ooc.games.rules.catalogue import named_game
from pttt_ooc.library.questions.infoset import following, numbers
from pttt_ooc.site.explore import jobs, profile_cache
from pttt_ooc.site.explore.boards import PROBABILITY
from pttt_ooc.site.explore.explorer import Explorer
from pttt_ooc.site.explore.local_sources import local_sources, structures_of
from pttt_ooc.site.explore.part import part_of
from pttt_ooc.site.explore.sources import FixedSources, Source, uniform
from pttt_ooc.site.service.wire import BusyError, Client, RefusedError, listening, pack_message, receive_message
from pttt_ooc.site.shell.application import make_application
from pttt_ooc.site.shell.shell import Shell
from tests.course.server_kit import GAME, Lab, pttt, random_tensor, strategy_zip
from tests.kits.columns import assert_one_form_a_column
from tests.kits.patience import PATIENCE, wait_until
from tests.site.explore.answerer_kit import answering, explored, ready, uniform_profile


@pytest.fixture(scope="module")
def client(solved, prepared):
    with answering(prepared, solved.parent.parent) as made:
        yield made


@pytest.fixture(scope="module")
def pages(client, solved):
    """The pages on a local solution, as `pttt web` serves them."""
    with TestClient(explored(client, solved)) as made:
        yield made


def links(page):
    return [link.replace("&amp;", "&") for link in re.findall(r'<a href="(/explore[^"]*)"(?! download)', page)]


def test_strategies_have_names_for_people(solved, tmp_path):
    (tmp_path / GAME).mkdir()
    other = tmp_path / GAME / "full"
    other.symlink_to(solved)
    assert [one.label for one in local_sources([str(solved)], None)[1]] == ["Solution", "Uniform"]
    both = [one.label for one in local_sources([str(solved), str(other)], None)[1]]
    assert both == [f"Solution in {solved.parent}", f"Solution in {other.parent}", "Uniform"]


def names_of_infosets(page):
    """The texts of the links to infosets in a list."""
    found = re.findall(r'class="infoset">(.*?)</a>', page, re.DOTALL)
    return [re.sub(r"<svg.*?</svg>|<[^>]*>", "", one, flags=re.DOTALL).strip() for one in found]


def infoset_of(address):
    return parse_qs(urlsplit(address).query)["at"][0]


def first_board(page):
    board = page[page.index('id="board1"') :]
    return board[: board.index("</svg>")]


def figures_of(page):
    """The classes and the texts of the numbers on the first board."""
    return re.findall(r'<text class="(p[^"]*)"[^>]*>([^<]+)<', first_board(page))


def spoken(page):
    """What the first board says of each square."""
    return {int(n): said for n, said in re.findall(r'aria-label="Square (\d): ([^"]*)"', first_board(page))}


@pytest.mark.parametrize("infoset", ["|", "|0*", "|5*0."])
def test_the_board_shows_probability_and_value_of_each_attempt(pages, infoset):
    page = ready(pages, f"/explore?at={infoset}&first=uniform&second=uniform").text
    told = numbers(uniform_profile(), 0, infoset)
    shown = spoken(page)
    for square in range(6):
        if square in told.legal:
            value = f"{told.action_values[square]:.3f}".replace("-", "−")
            support = ", in the support of this strategy" if told.probabilities[square] > 0 else ""
            assert shown[square] == f"probability {told.probabilities[square]:.4f}, value {value}{support}"
        else:
            assert shown[square] == ("own mark" if f"{square}*" in infoset else "mark of the opponent")


LAYERS = {"value": "action_values", "belief": "marks", "regret": "regrets"}


@pytest.mark.parametrize("layer", LAYERS)
@pytest.mark.parametrize("infoset", ["|", "|5*0."])
def test_each_layer_shows_its_numbers_with_the_shades_of_its_scale(pages, layer, infoset):
    query = f"at={infoset}&first=uniform&second=uniform"
    page = ready(pages, f"/explore?{query}&layer={layer}&square=1").text
    told = pages.get(f"/api/explore?{query}").json()
    row = (told["beliefs"] if layer == "belief" else told["numbers"])[LAYERS[layer]]
    wanted = [row[square] for square in told["numbers"]["legal"]]
    shown = [float(text.replace("−", "-")) for _, text in figures_of(page)]
    assert shown == pytest.approx(wanted, abs=6e-4 if layer != "regret" else 6e-6)
    shades = re.findall(r'class="shade (ours|theirs)"[^>]*fill-opacity="([\d.]+)"', first_board(page))
    assert [tone for tone, _ in shades] == ["theirs" if layer == "belief" or n < 0 else "ours" for n in wanted]
    darkness = {"value": abs, "belief": math.sqrt, "regret": lambda n: max(0, 1 + math.log10(abs(n) or 1e-9) / 5)}
    assert [float(shade) for _, shade in shades] == pytest.approx([0.75 * darkness[layer](n) for n in wanted], abs=1e-3)
    bare = pages.get(f"/explore?{query}&layer={layer}&bare=1").text
    assert figures_of(bare) == [] and first_board(bare).count('class="shade') == len(shades)
    assert all(f"layer={layer}&" in link for link in links(first_board(page)))


def test_equal_numbers_have_equal_shades_on_all_pages(pages):
    """1/6 at the start and 1/5 one attempt later: darker, though both are the largest number of their page."""
    shades = []
    for infoset in ("|", "|0*"):
        page = ready(pages, f"/explore?at={infoset}&first=uniform&second=uniform").text
        found = re.findall(r'class="shade ours"[^>]*fill-opacity="([\d.]+)"', first_board(page))
        shades.append(float(found[0]))
        legend = page[page.index('class="legend"') :]
        assert [label for label in ("0.01", "0.1", "0.25", "0.5", "1") if f"</svg> {label}<" in legend] == [
            *("0.01", "0.1", "0.25", "0.5", "1")
        ]
    assert shades == pytest.approx([0.75 * math.sqrt(1 / 6), 0.75 * math.sqrt(1 / 5)], abs=1e-3)


@pytest.mark.slow
def test_what_a_strategy_never_reaches_is_hollow(pages):
    address = "/explore?first=uniform&second=uniform&first_plays=best"
    page = ready(pages, f"{address}&at=|").text
    never = [square for square, said in spoken(page).items() if "probability 0," in said]
    assert never and first_board(page).count('class="never"') == len(never)
    page = pages.get(f"{address}&at=|{never[0]}*&layer=value").text
    assert "its reach is 0" in page
    board = first_board(page)
    assert board.count('class="never"') == 5 and 'class="shade' not in board and "stroke-opacity" in board


def test_the_path_is_cards_with_attempt_outcome_and_probability(pages):
    page = ready(pages, "/explore?at=|0*4.&first=uniform&second=uniform").text
    steps = page[page.index('aria-label="Attempts"') :].partition("</nav>")[0]
    found = re.findall("<li[^>]*>(.*?)</li>", steps, re.DOTALL)
    cards = [re.sub(r"\s+", " ", re.sub("<[^>]*>", "", one)).strip() for one in found]
    assert cards == ["start 0 placed 0.1667", "|0* 4 failed 0.2000", "|0*4. to move"]
    assert [infoset_of(link) for link in links(steps)] == ["|", "|0*"]


def test_each_attempt_leads_to_both_outcomes_at_once(pages):
    page = ready(pages, "/explore?at=|0*&first=uniform&second=uniform").text
    told = uniform_profile()
    after = {(one.square, one.placed): one for one in following(told, 0, "|0*")}
    best, found = numbers(told, 0, "|0*"), page[page.index("Attempts that can be made") :].partition("</ol>")[0]
    cards, words = re.findall(r'<li class="action([^"]*)">(.*?)</li>', found, re.DOTALL), ("placed", "failed")
    for square, (kind, card) in zip(best.legal, cards, strict=True):
        title, figure = (re.search(rf'class="{name}">([^<]+)<', card)[1] for name in ("title", "figure"))
        assert (title, figure) == (str(square), "0.2000")
        assert float(re.search(r'<rect width="([\d.]+)"', card)[1]) == 20
        ways = re.findall(r"<(?:a [^>]*|span)>(placed|failed) ([^<]+)</", card)
        assert ways == [(word, probability(after[square, word == "placed"].probability)) for word in words]
        there = [after[square, placed].infoset for placed in (True, False) if after[square, placed].decides]
        assert [infoset_of(link) for link in links(card)] == there
        assert (kind == " best") == (best.best_action_values[square] > best.best_value - 1e-9)


def test_the_other_players_board_is_beside_and_can_be_turned_to(pages):
    address = "/explore?at=|0*&first=uniform&second=uniform&other=|4*0."
    page = ready(pages, address).text
    other = page[page.index('id="other-board"') :].partition("</svg>")[0]
    assert "square 4: own mark" in other.lower() and "square 0: mark of the opponent" in other.lower()
    assert re.findall(r'class="p"[^>]*>([^<]+)<', other) == ["0.250"] * 4
    turned = parse_qs(urlsplit(next(link for link in links(page) if "player=1" in link)).query)
    assert (turned["at"], turned["other"]) == (["|4*0."], ["|0*"])
    assert all("other=|4*0." in link for link in links(page) if "player=0" in link)


@pytest.mark.slow
def test_the_best_response_attempts_a_square_of_the_greatest_value(pages):
    page = ready(pages, "/explore?at=|0*&first=uniform&second=uniform&first_plays=best").text
    best = numbers(uniform_profile(), 0, "|0*").best_action_values
    shown = spoken(page)
    chosen = [square for square, said in shown.items() if said.startswith("probability 1,")]
    assert len(chosen) == 1 and best[chosen[0]] == max(best[square] for square in (1, 2, 3, 4, 5))
    assert [said for square, said in shown.items() if square not in (0, *chosen) and "probability 0," not in said] == []


def test_an_attempt_leads_to_its_outcomes_with_their_probabilities(pages):
    page = ready(pages, "/explore?at=|0*&first=uniform&second=uniform&square=5").text
    told = numbers(uniform_profile(), 0, "|0*")
    ways = page[page.index('class="ways"') :]
    found = re.findall(r'data-outcome="(\w+)".*?class="figure">([\d.]+)<', ways, re.DOTALL)
    assert found == [("placed", f"{1 - told.fails[5]:.4f}"), ("failed", f"{told.fails[5]:.4f}")]
    assert {"|0*5*", "|0*5."} <= {infoset_of(link) for link in links(ways)}
    over = pages.get("/explore?at=|0*&first=uniform&second=uniform&square=1").text
    ways = over[over.index('class="ways"') :]
    assert "the game is over: player 0 wins" in ways  # 0 and 1 are in a row
    assert "|0*1*" not in {infoset_of(link) for link in links(ways)}


def test_wherever_a_page_leads_is_a_page(pages):
    chance, address = random.Random(3), "/explore?first=uniform&second=uniform"
    ready(pages, address)
    for _ in range(60):
        answer = pages.get(address)
        assert answer.status_code == 200, address
        found = links(answer.text)
        assert found
        address = chance.choice(found)


@pytest.mark.slow
def test_numbers_have_one_form_a_column(pages):
    for address in ("/explore", "/explore?first=uniform&second=uniform"):
        ready(pages, address)
        assert_one_form_a_column(pages, address, 1, most=25)


def test_mirror_images_are_linked(pages):
    page = ready(pages, "/explore?at=|0*&first=uniform&second=uniform").text
    mirrored = page[page.index("Mirror images: ") :]
    assert {infoset_of(link) for link in links(mirrored[: mirrored.index("</p>")])} == {"|2*", "|3*", "|5*"}


@pytest.mark.parametrize(
    ("player", "typed", "nearest", "why"),
    [
        (0, "|0*0*", "|0*", "twice"),
        (0, "|9*", "|", "no square 9"),
        (1, "|0*x", "|0*", "digit"),
        (0, "|0.", "|", "has not had the turns"),
    ],
)
def test_an_impossible_infoset_is_explained_and_the_nearest_one_is_linked(pages, player, typed, nearest, why):
    answer = pages.get("/explore", params={"player": player, "at": typed})
    assert answer.status_code == 404
    alert = answer.text[answer.text.index('role="alert"') :]
    assert why in alert[: alert.index("</div>")]
    [link] = links(alert[: alert.index("</div>")])
    assert infoset_of(link) == nearest
    assert pages.get(link).status_code == 200


@pytest.mark.parametrize(("here", "kept"), [("|0*4.", "|0*4."), ("", "|0*"), ("|0*0*", "|0*")])
def test_a_wrong_infoset_keeps_board_path_and_what_was_typed(pages, here, kept):
    query = {"at": "|0*7*", "here": here, "first": "uniform", "second": "uniform", "layer": "value"}
    ready(pages, "/explore?first=uniform&second=uniform")
    answer = pages.get("/explore", params=query)
    assert answer.status_code == 404 and "no square 7" in answer.text
    assert 'id="at" name="at" value="|0*7*"' in answer.text and f'name="here" value="{kept}"' in answer.text
    board = {n for n, said in spoken(answer.text).items() if "mark" in said}
    assert board == ({0, 4} if kept == "|0*4." else {0})
    here = re.search(r'aria-current="step">\s*<span class="title">([^<]+)<', answer.text)[1]
    assert here == kept and "layer=value" in links(first_board(answer.text))[0]
    assert pages.get("/api/explore", params=query).json()["nearest"] == "|0*"


@pytest.mark.parametrize(
    "query",
    [
        *("player=2", "player=x", "square=77", "first_plays=all", "first=s12", "beside=../x", "at=" + "0*" * 200),
        *("layer=all", "bare=x", "other=|0*0*"),
    ],
)
def test_other_bad_addresses_get_a_sentence(pages, query):
    answer = pages.get(f"/explore?{query}")
    assert answer.status_code in (404, 422)
    assert re.search(r'<p class="lead">[^<]+\.</p>', answer.text)


def test_what_is_typed_is_shown_as_text(pages):
    answer = pages.get("/explore", params={"at": "<script>alert(1)</script>"})
    assert answer.status_code == 404 and "<script>alert" not in answer.text


def test_the_script_gets_a_piece_and_the_history_a_page(pages):
    ready(pages, "/explore?first=uniform&second=uniform")
    address = "/explore?first=uniform&second=uniform&at=|0*"
    piece = pages.get(address, headers={"HX-Request": "true"}).text
    assert "<html" not in piece and "<title>|0*" in piece
    whole = pages.get(address, headers={"HX-Request": "true", "HX-History-Restore-Request": "true"}).text
    assert "<html" in whole


@pytest.mark.slow
@pytest.mark.parametrize("pair", ["player=0&first=solution&second=uniform", "player=1&first=uniform&second=solution"])
def test_two_strategies_are_shown_on_a_split_board(pages, pair):
    page = ready(pages, f"/explore?{pair}&at=|0*&beside=uniform").text
    told = pages.get(f"/api/explore?{pair}&at=|0*&beside=uniform").json()
    for layer, name in (("probability", "probabilities"), ("value", "action_values")):
        page = pages.get(f"/explore?{pair}&at=|0*&beside=uniform&layer={layer}").text
        halves = [text for kind, text in figures_of(page) if "half" in kind]
        shown = [float(text.replace("−", "-")) for text in halves]
        wanted = [numbers[name][square] for square in range(1, 6) for numbers in (told["numbers"], told["beside"])]
        assert shown == pytest.approx(wanted, abs=6e-4) and "Above: " in page
        assert "; beside it probability 0.2000, value " in spoken(page)[5]
    rows = re.findall(r'<tr[^>]*><th scope="row">(\d)</th><td>([^<]*)</td><td>([^<]*)</td>', page)
    assert [square for square, _, _ in rows] == ["1", "2", "3", "4", "5"]
    assert {beside for _, _, beside in rows} == {"0.2000"}


@pytest.mark.slow
def test_the_comparison_leads_to_where_the_values_differ_and_that_to_the_infosets(pages, solved):
    page = ready(pages, "/explore?at=|0*&second=uniform&beside=uniform").text
    address = next(link for link in links(page) if "/differences" in link)
    page = ready(pages, address, "Looking for the").text
    mine, other = (pttt_ooc.Strategy.uniform(named_game(GAME), 0), pttt_ooc.load(solved)[0])
    against = pttt_ooc.Strategy.uniform(named_game(GAME), 1)
    found = pttt_ooc.compare(other, mine, against, top=50)
    told = [float(n.replace("−", "-")) for n in re.findall(r'class="figure">([−\d.]+)<', page)]
    assert told == pytest.approx([*found.values, found.values[1] - found.values[0]], abs=1e-6)
    listed = [link for link in links(page) if "at=" in link][1:]
    assert [infoset_of(link) for link in listed] == [x.infoset for x in found.losses.infosets if abs(x.loss) > 1e-12]
    assert page.count('<svg class="small-board"') == len(listed)
    assert all(text.startswith("Player 0, ") for text in names_of_infosets(page)) and "|</code> (start)" in page
    shown = pages.get(listed[0]).text
    assert 'id="board1"' in shown and "Above: " in shown
    piece = pages.get(address, headers={"HX-Request": "true"}).text
    assert "<html" not in piece and listed[0].replace("&", "&amp;") in piece
    assert pages.get("/explore/differences?player=0").status_code == 404
    assert pages.get("/explore/differences?player=0&beside=s12").status_code == 404


@pytest.mark.slow
def points_of(answer):
    with Image.open(BytesIO(answer.content)) as picture:
        return picture.convert("RGB")


def test_a_picture_of_points_has_the_boards_colours_marks_and_numbers(pages):
    ready(pages, "/explore?at=|0*4.&first=uniform&second=uniform")
    bare, full = (
        points_of(pages.get(f"/explore/board.png?at=|0*4.&first=uniform&second=uniform&bare={bare}")) for bare in (1, 0)
    )
    opacity, paper, shade = float(PROBABILITY.opacity(0.25)), (0xFE,) * 3, (0x62, 0xA1, 0xDD)
    wanted = [round(opacity * s + (1 - opacity) * p) for s, p in zip(shade, paper, strict=True)]
    middles = {s: (6 + 300 * (s % 3) + 150, 6 + 300 * (s // 3) + 150) for s in range(6)}
    for square in (1, 2, 3, 5):
        x, y = middles[square]
        assert bare.getpixel((x, y)) == full.getpixel((x - 100, y + 100)) == pytest.approx(wanted, abs=2)
        figure = (x - 60, y - 40, x + 60, y + 40)
        assert bare.crop(figure).getcolors() == [(9600, bare.getpixel((x, y)))]  # one colour
        assert min(full.crop(figure).convert("L").getextrema()) < 64  # and here a number
    x, y = middles[0]
    assert full.getpixel((x, y)) == (0x1F, 0x29, 0x33)  # a cross
    x, y = middles[4]
    assert full.getpixel((x + 43 * 2 + 4, y)) != (0xA0, 0x49, 0x14) == full.getpixel((x + 40, y))  # a ring


def test_what_the_page_shows_is_there_as_files(pages):
    address = "/explore?at=|0*4.&square=3"
    page = ready(pages, address).text
    files = {name: unescape(link) for link, name in re.findall(r'href="(/explore/([a-z.]+)\?[^"]*)" download', page)}
    assert set(files) == {"board.svg", "board.png", "board.tex", "numbers.csv"}
    answers = {name: pages.get(link) for name, link in files.items()}
    assert all(f'filename="{name}"' in one.headers["content-disposition"] for name, one in answers.items())
    figures = [text for _, text in figures_of(page)]
    drawn = ElementTree.fromstring(answers["board.svg"].text)
    assert answers["board.svg"].headers["content-type"].startswith("image/svg+xml")
    texts = [(one.get("class"), one.text) for one in drawn.iter("{http://www.w3.org/2000/svg}text")]
    assert [text for kind, text in texts if kind.startswith("p")] == figures and len(figures) == 4
    shades = [float(n) for n in re.findall(r'class="shade[^"]*"[^>]*fill-opacity="([\d.]+)"', first_board(page))]
    shaded = [one for one in drawn.iter("{http://www.w3.org/2000/svg}rect") if "shade" in one.get("class", "")]
    assert [float(one.get("fill-opacity")) for one in shaded] == shades
    assert [text for kind, text in texts if kind.startswith("mark")] == ["×", "○"]
    assert points_of(answers["board.png"]).size == (912, 612)
    tex = answers["board.tex"].text
    nodes = [rf"\node at ({s % 3 + 0.5},{1.5 - s // 3}) {{${p}$}};" for s, p in zip((1, 2, 3, 5), figures, strict=True)]
    assert all(node in tex for node in nodes)
    assert tex.count(r"\fill[") == sum(shade > 0.005 for shade in shades)
    assert tex.count(r"\times") == tex.count(r"\circ") == 1 and r"\draw (0,0) grid (3,2);" in tex
    rows = list(csv.DictReader(answers["numbers.csv"].text.splitlines()))
    told = pages.get("/api/explore?at=|0*4.").json()["numbers"]
    assert [row["squares"] for row in rows] == ["1", "2", "3", "5"] and {row["infoset"] for row in rows} == {"|0*4."}
    assert [float(row["probability"]) for row in rows] == [told["probabilities"][s] for s in (1, 2, 3, 5)]
    assert [float(row["regret"]) for row in rows] == [told["regrets"][s] for s in (1, 2, 3, 5)]
    for name in files:
        impossible = pages.get(f"/explore/{name}?at=|0*0*")
        assert impossible.status_code == 404 and "square 0 is attempted twice" in impossible.text


# ---------------------------------------------------------------------------------------------
# Whose strategies


@pytest.mark.slow
def test_a_team_may_look_at_its_own_submissions_and_at_no_others(course):
    mine = course.submit(course.tokens["Team A"], 0, strategy_zip(0, 1))
    waiting = course.submit(course.tokens["Team A"], 1, strategy_zip(1, 1))
    other = course.submit(course.tokens["Team B"], 0, strategy_zip(0, 2))
    course.run()
    with course.database.writing() as session:
        session.get(Submission, waiting).status = "Rejected"
    visitor = course.client.get("/explore")
    assert visitor.status_code == 200
    assert re.findall(r'<option value="(\w*)"', visitor.text) == [
        *["solution", "uniform"] * 2,
        "",
        "solution",
        "uniform",
    ]
    course.sign_in(course.tokens["Team A"])
    shown = course.client.get("/explore").text
    assert f'value="s{mine}"' in shown and f'value="s{other}"' not in shown and f'value="s{waiting}"' not in shown
    told = {}
    for key in (f"s{other}", f"s{waiting}", "s99", f"s{mine}"):
        for name in ("first", "second", "beside"):
            if key != f"s{mine}":
                query = {"first": "uniform", "second": "uniform", "beside": "uniform", name: key}
                paths = ("differences", "board.svg", "board.png", "board.tex", "numbers.csv")
                found = {course.client.get(f"/explore/{path}", params=query).status_code for path in paths}
                assert found == {404}
            answer = course.client.get("/explore", params={"first": "uniform", "second": "uniform", name: key})
            told[key, name] = answer.status_code, re.sub(r"s\d+", "", answer.text.split("<main")[1])
    assert {status for (key, name), (status, _) in told.items() if key != f"s{mine}"} == {404}
    assert told[f"s{other}", "first"] == told["s99", "first"]  # nothing tells whether it exists
    assert told[f"s{mine}", "first"][0] == 200 and told[f"s{mine}", "second"][0] == 404
    page = ready(course.client, f"/explore?first=s{mine}&second=uniform").text
    tensor_row = spoken(page)
    assert [f"{p:.4f}" for p in random_tensor(0, 1)[0]] == [
        re.search(r"probability ([\d.]+)", tensor_row[square])[1] for square in range(6)
    ]


def test_a_course_without_a_solution_offers_what_there_is(tmp_path, client):
    lab = Lab(tmp_path / "course")
    application = TestClient(app_of(lab.course, *parts_of(lab.course, client)))
    page = ready(application, "/explore")
    assert re.findall(r'<option value="(\w+)"', page.text)[:1] == ["uniform"]
    lab.close()


@pytest.mark.slow
def test_a_team_is_led_to_its_mistakes_where_there_is_a_solution(tmp_path, client, solved, monkeypatch):
    """What the workflow has solved is found beside the course, as after `make solve` and `make serve`."""
    monkeypatch.chdir(tmp_path)
    lab = Lab(tmp_path / "course")
    lab.client = TestClient(app_of(lab.course, *parts_of(lab.course, client)), base_url="http://course")
    number = lab.submit(lab.team("Team A"), 0, strategy_zip(0, 3))
    lab.sign_in(lab.tokens["Team A"])
    with lab.database.writing() as session:
        session.get(Submission, number).status = "Accepted"
        session.merge(Fact(name="value", value=[*lab.settings.game_value, "as the instructors have set it"]))
    page, link = f"/submissions/{number}", f'href="/submissions/{number}/mistakes">Where it loses</a>'
    assert link not in lab.client.get(page).text
    (tmp_path / "data" / GAME).mkdir(parents=True)
    (tmp_path / "data" / GAME / "full").symlink_to(solved)
    assert link in lab.client.get(page).text
    assert "Own mistakes" in ready(lab.client, f"{page}/mistakes", "Looking for the").text
    assert 'value="solution"' not in lab.client.get("/explore").text
    lab.show_solution()
    assert 'value="solution"' in lab.client.get("/explore").text
    lab.course.settings.__dict__["solution"] = "none"
    assert link not in lab.client.get(page).text
    lab.close()


# ---------------------------------------------------------------------------------------------
# Mistakes


def figures(page):
    """The sums on the page Mistakes."""
    text = page[page.index('class="pairs sums"') :]
    return [float(n.replace("−", "-")) for n in re.findall(r'class="figure">([−\d.]+)<', text)][:2]


@pytest.mark.parametrize(
    "own, openings, remainder, starts, whole",
    [(3e-3, 3e-3, 2e-3, [0, 264, 528, 704], None), (0.6, 0.4, -0.1, [0, 422.4, 704, 704], 633.6)],
)
def test_the_bar_of_an_exploitability_is_as_long_as_its_parts(own, openings, remainder, starts, whole):
    parts = {"own_mistakes": own, "openings": openings, "remainder": remainder}
    bar = bar_of({**parts, "exploitability": sum(parts.values())})
    assert [kind for kind, _, _ in bar.pieces] == ["own", "openings", "remainder"]
    assert [start for _, start, _ in bar.pieces] == starts[:3] and bar.width == 704
    assert [start + width for _, start, width in bar.pieces] == pytest.approx(starts[1:])
    assert bar.whole == whole and bar.words.startswith(f"Exploitability {sum(parts.values()):.6f}: own mistakes ")


@pytest.mark.long
def test_a_team_sees_where_its_own_submission_loses(course):
    mine = course.submit(course.tokens["Team A"], 1, strategy_zip(1, 4))
    other = course.submit(course.tokens["Team B"], 0, strategy_zip(0, 5))
    course.run()
    address = f"/submissions/{mine}/mistakes"
    assert course.client.get(address).status_code == 401
    course.sign_in(course.tokens["Team A"])
    hidden = [course.client.get(f"/submissions/{number}/mistakes") for number in (other, 99)]
    assert [page.status_code for page in hidden] == [404, 404]
    page = ready(course.client, address, "Looking for the").text
    verdict = course.client.get(f"/api/submissions/{mine}").json()["exploitability"]
    assert f'class="figure">{verdict:.6f}<' in page
    assert sum(figures(page)) == pytest.approx(verdict, abs=2e-4)  # the solution's own gap is the remainder
    assert 'role="img" aria-label="Square 0' not in page and "opening for player 0" in page
    links = [unescape(link) for link in re.findall(r'<a href="(/explore[^"]+)" class="infoset"', page)]
    assert {text[:8] for text in names_of_infosets(page)} == {"Player 0", "Player 1"}
    asked = [parse_qs(urlsplit(link).query) for link in links]
    assert len(asked) >= 3 and {one["player"][0] for one in asked} == {"0", "1"}
    assert {(one["first"][0], one["second"][0]) for one in asked} == {("solution", f"s{mine}")}
    ready(course.client, links[0])
    assert all(course.client.get(link).status_code == 200 for link in links[:10])
    piece = course.client.get(address, headers={"HX-Request": "true"}).text
    assert "<html" not in piece and figures(piece) == figures(page)
    assert f'href="{address}"' in course.client.get(f"/submissions/{mine}").text
    assert "/mistakes" not in course.client.get(f"/submissions/{other}").text


@pytest.mark.slow
def test_without_a_solution_mistakes_cannot_be_measured(tmp_path, client):
    lab = Lab(tmp_path / "course")
    lab.client = TestClient(app_of(lab.course, *parts_of(lab.course, client)), base_url="http://course")
    number = lab.submit(lab.team("Team A"), 0, strategy_zip(0, 1))
    lab.run()
    lab.sign_in(lab.tokens["Team A"])
    page = lab.client.get(f"/submissions/{number}/mistakes")
    assert page.status_code == 200 and re.search("getting ready|has no solution", page.text)
    lab.close()


# ---------------------------------------------------------------------------------------------
# The answerer, and what it prepares


@pytest.mark.slow
def test_web_processes_import_no_numerics():
    web = "pttt_ooc.course.server.web_process, pttt_ooc.site.explore.part, pttt_ooc.site.shell.server"
    code = f"import sys, {web}; print(sorted({{'numpy', 'numba', 'zarr', 'matplotlib'}} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=PATIENCE)
    assert done.stdout.strip() == "[]"


def test_the_command_starts_its_processes_without_slow_imports(solved):
    code = "import sys; from pttt_ooc.site.explore.local_sources import local_sources;"
    code += "print(local_sources(sys.argv[1:], None)[0].name);"
    code += "print(sorted({'numba', 'zarr', 'fastapi', 'sqlalchemy'} & set(sys.modules)))"
    command = [sys.executable, "-c", code, str(solved)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE)
    assert done.stdout.splitlines() == [GAME, "[]"], done.stderr


@pytest.mark.slow
def test_prepared_profiles_are_read_without_zarr(solved, client, prepared, pages):
    assert "board1" in ready(pages).text
    _, sources = local_sources([str(solved)], None)
    question = {"ask": "infoset", "pair": [sources[0].as_record()] * 2, "player": 0, "infoset": "|", "square": None}
    code = "import json, sys; from pathlib import Path;"
    code += (
        "from pttt_ooc.site.explore.strategy_answers import StrategyAnswers;"
        "found = StrategyAnswers(Path(sys.argv[1]), sys.argv[2], Path(sys.argv[3])).answer(json.loads(sys.argv[4]));"
    )
    code += "print('numbers' in found, 'zarr' in sys.modules)"
    command = [sys.executable, "-c", code, str(prepared), GAME, str(solved.parent.parent), json.dumps(question)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE)
    assert done.stdout.split() == ["True", "False"], done.stderr


def ask(client, **question):
    return asyncio.run(client.ask(**question))


def test_an_answerer_survives_malformed_questions(client):
    for data in (b"", b"\0\0\0\5nope!", b"\xff\xff\xff\xff", pack_message({})[:-1], pack_message({"ask": "nothing"})):
        with socket.socket(socket.AF_UNIX) as connection:
            connection.connect(str(client._path))
            connection.sendall(data)
    pair = [uniform().as_record()] * 2
    with pytest.raises(RefusedError, match="twice") as caught:
        ask(client, what="infoset", pair=pair, player=0, infoset="|0*0*", square=None)
    assert caught.value.details == {"nearest": "|0*"}


def test_without_an_answer_in_time_a_sentence_says_so():
    with listening() as (made, path):
        begun = time.monotonic()
        with pytest.raises(BusyError):
            ask(Client(path, 0.2), what="infoset")
        assert time.monotonic() - begun < PATIENCE
        part = part_of(Explorer(named_game(GAME), Client(path, 0.2), FixedSources((uniform(),))))
        answer = TestClient(make_application(Shell("Explored", GAME, [part]))).get("/explore")
        assert answer.status_code == 503 and "try again" in answer.text
        connection, _ = made.accept()
        assert receive_message(connection) == {"ask": "infoset"}
    with pytest.raises(BusyError):
        ask(Client(Path("/nonexistent"), 5), what="infoset")


def test_a_failed_preparation_says_why(client, tmp_path):
    path = tmp_path / "broken.zip"
    path.write_bytes(b"this is no zip")
    pair = [{"name": str(path), "digest": "broken"}, uniform().as_record()]
    question = {"what": "infoset", "pair": pair, "player": 0, "infoset": "|", "square": None}

    def refused():
        try:
            assert "preparing" in ask(client, **question)
        except RefusedError as error:
            return "broken.zip" in str(error)

    wait_until(refused)


def test_pages_tell_what_could_not_be_prepared_and_what_to_do(client, solved, tmp_path):
    gone = Source("gone", "Gone", str(tmp_path / "gone.zip"), "gone")
    part = part_of(Explorer(named_game(GAME), client, FixedSources((gone, uniform()))))
    with TestClient(make_application(Shell("Explored", GAME, [part]))) as made:
        answer = ready(made, "/explore?first=gone&second=uniform&at=|0*")
    assert answer.status_code == 503
    told = answer.text[answer.text.index('role="alert"') :]
    assert "gone.zip" in told and "Choose other strategies" in told
    assert infoset_of(links(told)[0]) == "|0*" and "nearest possible" not in told
    assert 'id="board1"' not in answer.text


def test_the_number_of_waiting_preparations_is_limited():
    made = jobs.Jobs()
    sleeping = ["-c", "import sys; sys.stdin.read()"]
    try:
        assert made.want("first", sleeping)["ahead"] == 0
        for n in range(1, jobs._MOST_WAITING + 1):
            assert made.want(str(n), sleeping)["ahead"] == n
        assert made.want("3", sleeping)["ahead"] == 3  # it is in the queue already
        with pytest.raises(jobs.TooManyError):
            made.want("one more", sleeping)
    finally:
        made.close()


def test_a_failed_preparation_is_reported_and_may_be_retried(monkeypatch):
    made = jobs.Jobs()
    try:
        dying = ["-c", "import os; os.kill(os.getpid(), 9)"]

        def failed():
            try:
                made.want("x", dying)
            except jobs.FailedError as error:
                return "without saying why" in str(error)

        wait_until(failed)
        monkeypatch.setattr(jobs, "_RETRY_SECONDS", 0.0)
        assert made.want("x", ["-c", "print('{\"done\": true}')"])["ahead"] == 0
        wait_until(lambda: not made._jobs)
    finally:
        made.close()


def test_least_recently_used_profiles_are_deleted(tmp_path):
    for n, name in enumerate(("oldest", "middle", "latest", "new", "unfinished", "abandoned")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "array").write_bytes(bytes(10_000))
        if name in ("oldest", "middle", "latest"):
            profile_cache.mark_whole(tmp_path / name, Path("x"), tmp_path, "none")
            os.utime(tmp_path / name / "whole.json", (n, n))
    for path in (tmp_path / "abandoned", tmp_path / "abandoned" / "array"):
        os.utime(path, (1, 1))

    def left(budget, needed):
        profile_cache.make_space(tmp_path, budget, needed, "new")
        return {path.name for path in tmp_path.iterdir()}

    everything = {"oldest", "middle", "latest", "new", "unfinished"}
    assert left(60_000, 0) == everything
    assert left(60_000, 12_000) == everything - {"oldest"}
    assert left(45_000, 0) == everything - {"oldest"}
    with pytest.raises(PtttError, match="more than the"):
        left(11_000, 12_000)
    assert left(12_000, 12_000) == {"new", "unfinished"}


@pytest.mark.slow
def test_preparations_respect_the_budget(solved, tmp_path):
    pairs = [[{"name": str(solved), "digest": str(n)}, uniform().as_record()] for n in range(2)]
    with answering(tmp_path, solved.parent.parent) as client:

        def prepared(pair):
            question = {"what": "infoset", "pair": pair, "player": 0, "infoset": "|", "square": None}
            wait_until(lambda: "numbers" in ask(client, **question))
            return [path.parent.name for path in tmp_path.glob("*/whole.json")]

        found = client.answering.profiles
        [first] = prepared(pairs[0])
        found.budget = int(1.5 * profile_cache._bytes_in(tmp_path / first))
        assert prepared(pairs[1]) == [found.key(pairs[1])]
        assert set(found._open) == {found.key(pairs[1])}  # room on disk is free once nobody maps what was there


# ---------------------------------------------------------------------------------------------
# The command


def test_the_command_refuses_what_it_cannot_show(tmp_path, solved):
    done = pttt("web", tmp_path / "nothing", "--no-browser")
    assert done.returncode == 1 and "There is no such file or directory" in done.stderr
    done = pttt("web", solved, "--game", "pttt-abrupt", "--no-browser")
    assert done.returncode == 1 and "leave out --game" in done.stderr
    bad = tmp_path / "bad.zip"
    bad.write_bytes(strategy_zip(0, 1)[:-30])
    assert pttt("web", bad, "--no-browser").returncode == 1
    with socket.create_server(("127.0.0.1", 0)) as taken:
        done = pttt("web", solved, "--no-browser", "--port", taken.getsockname()[1])
    assert done.returncode == 1 and "Cannot listen on" in done.stderr


@pytest.mark.parametrize("command", ["web", "serve"])
def test_a_damaged_database_of_games_is_reported_before_the_start(command, tmp_path, solved):
    kept = tmp_path / "kept"
    kept.mkdir()
    (kept / "play.sqlite").write_text("no database" * 1000)
    course = ["course", "serve", "--game", GAME, "--data", kept]
    options = ["web", solved, "--profiles", kept, "--no-browser"] if command == "web" else course
    done = pttt(*options, "--port", 0)
    assert done.returncode == 1 and "play.sqlite: file is not a database; move it away" in done.stderr
    assert len(done.stderr.splitlines()) == 1 and not done.stdout


def test_structures_beside_a_solution_are_used(solved, tmp_path):
    rules = named_game(GAME)
    assert structures_of(solved, rules, tmp_path) == solved.parent.parent
    assert structures_of(solved / "runs" / "other", rules, tmp_path) == solved.parent.parent
    assert structures_of(tmp_path, rules, Path("data")) == Path("data")


@pytest.mark.slow
def test_the_command_serves_until_it_is_stopped(solved, tmp_path):
    import signal
    import urllib.error
    import urllib.request

    command = [sys.executable, "-m", "pttt_ooc.cli", "web", solved, "--no-browser", "--profiles", tmp_path / "kept"]
    code = "from pttt_ooc.cli.commands import main; main()"
    command = [sys.executable, "-c", code, *map(str, command[3:])]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        url = re.search(r"http://\S+(?=;)", process.stdout.readline())[0]

        def answered():
            try:
                address = f"{url}/explore?first=uniform&second=uniform&at=|0*"
                with urllib.request.urlopen(address, timeout=PATIENCE) as page:
                    return 'id="board1"' in page.read().decode()
            except urllib.error.HTTPError as error:
                assert error.code == 503  # the answerer is still getting ready
                return False

        wait_until(answered, alive=lambda: process.poll() is None)
    finally:
        process.send_signal(signal.SIGTERM)
        out, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0, err
    assert {json.loads(line)["event"] for line in err.splitlines()} >= {"started", "ready", "stopped"}
    assert list((tmp_path / "kept").glob("*/whole.json"))


def test_sources_are_errors_of_people():
    with pytest.raises(PtttError):
        local_sources(["no such thing"], None)
