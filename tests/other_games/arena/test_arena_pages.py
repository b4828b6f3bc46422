"""The arena's pages: boards as they are drawn, matches, replays, and refusals."""

import asyncio
import json
import os
import re
import subprocess
import sys
import threading
from collections import Counter
from html import unescape
from urllib.parse import parse_qs, urlsplit

import pytest
from fastapi.testclient import TestClient

from pttt_ooc.other_games.arena.agents.catalogue import agent
from pttt_ooc.other_games.arena.experiments import round_robin
from pttt_ooc.other_games.arena.games.base import ArenaError
from pttt_ooc.other_games.arena.games.catalogue import game
from pttt_ooc.other_games.arena.matches.runner import run
from pttt_ooc.other_games.arena.matches.settings import Match
from pttt_ooc.other_games.arena.pages import game_service, watch_pages
from pttt_ooc.other_games.arena.pages.choices import AGENTS, agent_name, game_text
from pttt_ooc.other_games.arena.pages.page_state import ArenaState
from pttt_ooc.other_games.arena.settings import RoundRobin
from tests.other_games.arena.arena_pages import application


def logged(place):
    """The games of a match."""
    return [json.loads(line) for line in (place / "games.jsonl").read_text().splitlines()]


def squares(board):
    return [cell for line in board.rows for block in line for row in block.rows for cell in row]


def drawn(text, moves):
    rules = game(text)
    return rules.draw(rules.after(moves), moves[-1] if moves else None)


@pytest.mark.parametrize(
    ("text", "moves", "boards", "columns"),
    [
        ("ultimate", [0, 3, 27], 1, 9),
        ("extreme", [0, 82, 3], 2, 9),
        ("mnk:3x4+need3", [0, 5], 1, 4),
        ("infinite:near+need4", [31 * 63 + 31, 31 * 63 + 32], 1, 6),
    ],
)
def test_a_board_shows_marks_and_legal_moves(text, moves, boards, columns):
    rules = game(text)
    state = rules.start()
    marks = {}
    for move in moves:
        marks[move] = "xo"[int(state[0])]
        state = rules.play(state, move)
    found = rules.draw(state, moves[-1])
    cells = [cell for board in found for cell in squares(board)]
    assert len(found) == boards and {board.columns for board in found} == {columns}
    assert {cell.move: cell.mark for cell in cells if cell.mark != "-"} == marks
    assert {cell.move for cell in cells if cell.legal} == set(rules.legal(state))
    assert [cell.move for cell in cells if cell.latest] == moves[-1:]
    assert len({cell.move for cell in cells}) == len(cells)
    for cell in cells:
        assert cell.name == rules.tell_move(cell.move) and cell.words.startswith(f"{cell.name}, ")
        assert "-" not in cell.name


def test_cells_of_nested_boards_lie_where_they_belong():
    [board] = drawn("ultimate", [])
    assert [[cell.move for cell in row] for row in board.rows[1][2].rows] == [[45, 46, 47], [48, 49, 50], [51, 52, 53]]
    _, second = drawn("extreme", [])
    told = [cell.words.rpartition(",")[0] for cell in second.rows[2][0].rows[1]]
    assert told == ["(1, 7, 0)", "(1, 7, 1)", "(1, 7, 2)"]


def test_small_boards_show_their_owners_and_the_line_that_wins():
    rules = game("ultimate")
    state = rules.start()
    state[rules.rules.WON], state[rules.rules.WON + 1], state[rules.rules.CLOSED] = 0b100010001, 2, 0b101010011
    [board] = rules.draw(state)
    blocks = [block for line in board.rows for block in line]
    assert "".join(block.owner for block in blocks) == "xo--x-d-x"
    assert [block.winning for block in blocks] == [True, False, False, False, True, False, False, False, True]
    assert blocks[1].words == "Small board 1, won by o"


def test_the_line_that_wins_is_shown():
    [board] = drawn("mnk:3x4+need3", [0, 4, 1, 5, 2])
    assert [cell.move for cell in squares(board) if cell.winning] == [0, 1, 2]
    [board] = drawn("mnk:4x4+need3", [2, 0, 5, 1, 8])
    assert [cell.move for cell in squares(board) if cell.winning] == [2, 5, 8]
    assert not any(cell.winning for cell in squares(drawn("mnk:3x3+need3", [0, 4, 1])[0]))


@pytest.fixture(scope="module")
def shelf(tmp_path_factory):
    directory = tmp_path_factory.mktemp("arena")
    run(Match("mnk:3x3+need3", ("random", "mcts:nodes=20"), 3), directory / "first")
    run(Match("ultimate", ("random", "random"), 1), directory / "more" / "second")
    return directory


@pytest.fixture(scope="module")
def pages(shelf):
    with application(shelf) as app, TestClient(app, raise_server_exceptions=False) as client:
        yield client


def test_the_list_of_matches_has_their_results(pages, shelf):
    """Counted from the games, from the first agent's side; they are counted again when there are more."""
    page = unescape(pages.get("/arena/matches").text)
    rows = re.findall("<tr>.*?</tr>", page, re.S)
    for name in ("first", "more/second"):
        winners = Counter(game["winner"] for game in logged(shelf / name))
        row = next(row for row in rows if f'?name={name.replace("/", "%2F")}"' in row)
        counts = [int(text) for text in re.findall(r"<td>(\d+)</td>", row)]
        assert counts[1:] == [winners[0], winners[2], winners[1]], name
    assert re.findall(r"<bdi>(.*?)</bdi>", page) == ["first", "more/second"]
    assert "Chance<br>Monte Carlo tree search (20 games a move)" in page and "3-in-a-row on a board of 3 x 3" in page
    text = pages.get("/arena/matches/one?name=first").text
    assert re.findall(r">Game (\d)<", text) == ["0", "1", "2"] and "3 of 3" in text
    assert "<code>mnk:3x3+need3</code>, <code>random</code>, <code>mcts:nodes=20</code>" in text
    assert re.findall(r">Game (\d)<", pages.get("/arena/matches/one?name=first&start=2").text) == ["2"]


def test_the_tables_of_matches_move_while_games_are_played(tmp_path, monkeypatch):
    """A match that has stood still for long is not asked for any more."""
    run(Match("mnk:3x3+need3", ("random", "random"), 4), tmp_path / "a")
    games = tmp_path / "a" / "games.jsonl"
    lines = games.read_text().splitlines(keepends=True)
    with application(tmp_path) as app, TestClient(app) as client:
        renewals = {"/arena/matches": "", "/arena/matches/one?name=a": ""}
        for played in (2, 3, 4):
            games.write_text("".join(lines[:played]))
            for address, renewal in renewals.items():
                assert renewal == "" or client.get(renewal).status_code == 200
                page = client.get(address).text
                assert ("being played" in page) == ("every 3s" in page) == (played < 4)
                assert (f"{played} of 4" in page) == (played < 4 or "one" in address)
                if played < 4:
                    renewals[address] = unescape(re.search(r'hx-get="([^"]+seen=[\d-]+)"', page)[1])
                    assert client.get(renewals[address]).status_code == 204
        games.write_text("".join(lines[:3]))
        os.utime(games, (0, 0))
        page = client.get("/arena/matches").text
        assert "3 of 4" in page and "being played" not in page and "every 3s" not in page


def test_a_replay_shows_each_position(pages, shelf):
    row = logged(shelf / "first")[1]
    rules = game("mnk:3x3+need3")
    for ply in range(len(row["moves"]) + 1):
        text = pages.get(f"/arena/matches/replay?name=first&game=1&ply={ply}").text
        marks = re.findall(r'<span class="cell ([^"]*)"', text)
        shown = ["x" if "mine" in one else "o" if "theirs" in one else "." for one in marks]
        assert " ".join(shown) == " ".join(
            re.findall(r"[xo.]", "".join(rules.show(rules.after(row["moves"][:ply])).split("\n")[1:]))
        )
        assert ('rel="prev"' in text) == (ply > 0) and ('rel="next"' in text) == (ply < len(row["moves"]))
    piece = pages.get("/arena/matches/replay?name=more/second&ply=5", headers={"HX-Request": "true"}).text
    assert "<html" not in piece and piece.count('class="cell ') == 81
    said = re.search(r'role="status">(.*?)</p>', text)[1]
    agents = ["Chance", "Monte Carlo tree search (20 games a move)"]
    assert said == ("A draw." if row["winner"] == 2 else f"{agents[row['winner']]} wins.")


@pytest.mark.parametrize(
    ("address", "sentence"),
    [
        ("one?name=nothing", "There is no match"),
        ("one?name=../first", "There is no match"),
        ("one?name=/etc", "There is no match"),
        ("replay?name=first&game=3", "has no game 3"),
        ("replay?name=first&game=0&ply=10", "move 10 is not one of them"),
    ],
)
def test_what_does_not_exist_is_a_sentence(pages, address, sentence):
    answer = pages.get(f"/arena/matches/{address}")
    assert answer.status_code == 404 and sentence in answer.text


def test_damaged_matches_are_sentences(tmp_path):
    row, torn = {"number": 0, "starter": 0, "winner": 0, "moves": [0, 0]}, {"game": "mnk:3x3+need3"}
    whole = {**torn, "agents": ["a", "b"], "games": 1}
    for name, settings, games in (("foreign", whole, json.dumps(row) + "\n"), ("torn", torn, "")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "match.json").write_text(json.dumps(settings))
        (tmp_path / name / "games.jsonl").write_text(games)
    with application(tmp_path) as app, TestClient(app, raise_server_exceptions=False) as client:
        assert "not legal" in client.get("/arena/matches/replay?name=foreign").text
        assert "is damaged" in client.get("/arena/matches/one?name=torn").text


@pytest.mark.slow
def test_the_web_process_imports_no_numerics():
    code = "import sys, pttt_ooc.other_games.arena.pages.part, pttt_ooc.site.shell.server;"
    code += "print(*{'numpy', 'numba', 'scipy'} & set(sys.modules))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip() == ""


# ---------------------------------------------------------------------------------------------
# Playing and watching

SMALL = {"rows": 3, "columns": 3, "need": 3, "seconds": "0.1"}


ASKED = {"game": "mnk:3x3+need3", "agent": "random", "seconds": "0.1", "me": "0"}


def fields_of(address):
    """The parameters of an address."""
    return {key: values[0] for key, values in parse_qs(urlsplit(address).query).items()}


def link(page, words):
    """The address of the link with these words."""
    return unescape(re.search(rf'href="([^"]*)"[^>]*>{words}', page)[1])


class Person:
    """A person with one browser's cookies."""

    def __init__(self, client):
        self.client = client
        client.cookies.clear()
        self._token = re.search(r'name="form_token" value="([^"]+)"', client.get("/arena/play").text)[1]

    def get(self, address="/arena/play/game", **asked):
        """A page's text; by default the game ASKED, with other parameters or more."""
        return self.client.get(address, params={**ASKED, **asked} if asked else None).text

    def post(self, path, **fields):
        return self.client.post(path, data={"form_token": self._token, **fields}, follow_redirects=False)

    def move(self, **fields):
        return self.post("/arena/play/game", **{**ASKED, **fields})

    def begin(self, **fields):
        """The parameters of the game that begins, or the answer if none does."""
        answer = self.post("/arena/play", **{"game": "mnk", "agent": "random", "first": "me", **SMALL, **fields})
        return fields_of(answer.headers["location"]) if answer.status_code == 303 else answer


@pytest.fixture
def person(pages):
    return Person(pages)


def test_a_whole_game_is_played_by_forms_alone(person):
    assert person.begin() == ASKED
    rules, made = game("mnk:3x3+need3"), []
    assert re.findall(r'data-at="(..)"', person.get(moves="")) == [column + row for row in "123" for column in "abc"]
    while not rules.after(made)[1]:
        move = rules.legal(rules.after(made))[-1]
        answer = person.move(moves=",".join(map(str, made)), move=move)
        after = [int(one) for one in fields_of(answer.headers["location"])["moves"].split(",")]
        assert after[: len(made) + 1] == [*made, move] and len(after) <= len(made) + 2
        made = after
    text = person.get(moves=",".join(map(str, made)))
    assert {1: "You have won.", 2: "The agent has won.", 3: "A draw."}[int(rules.after(made)[1])] in text
    assert 'name="move"' not in text and "Take back" in text


def test_the_agent_may_begin_and_answers_bonus_moves(person):
    asked = person.begin(game="extreme", first="agent")
    page = person.get(**asked)
    assert re.findall(r'aria-label="(Big board \d)"', page) == ["Big board 0", "Big board 1"]  # as its moves count them
    assert asked["me"] == "1" and len(asked["moves"].split(",")) == 1


def test_back_undoes_the_last_move_of_the_person(person):
    text = person.get(me="1", moves="0,1,2,3")
    assert "moves=0%2C1%2C2&" in text.replace('"', "&") and 'data-sound="placed 4"' in text


def test_a_link_to_a_move_where_the_agent_is_to_move_goes_on(person):
    text = person.get(moves="0,1,2,3")
    moves = re.search(r'<ol class="moves".*?</ol>', text, re.DOTALL)[0]
    links = [fields_of(unescape(link))["moves"] for link in re.findall(r'href="([^"]*)"', moves)]
    assert links == ["0", "0,1", "0,1,2", "0,1,2,3"] and "The agent moves" not in text
    there = person.get(moves="0,1,2")
    assert "The agent moves</button>" in there and 'hx-trigger="load' not in there
    made = fields_of(person.move(moves="0,1,2", go_on="1").headers["location"])["moves"]
    assert made.startswith("0,1,2,") and len(made.split(",")) == 4
    assert person.move(moves="0,1,2").status_code == 400


def test_a_game_that_is_over_offers_another_with_the_sides_changed(person):
    again = link(person.get(moves="0,3,1,4,2"), "Play again, sides changed")
    assert fields_of(again) == {**ASKED, "me": "1"}
    assert 'hx-trigger="load, submit"' in person.get(again)  # the agent begins by itself


def test_who_resigns_has_lost_and_the_file_says_so(person):
    page = person.get(link(person.get(moves="0,4"), "Give this game up as lost"))
    assert "You have resigned: Chance wins." in page and 'name="move"' not in page and "Resign</summary>" not in page
    told = person.client.get(unescape(re.search(r'href="([^"]*)" download>', page)[1])).json()
    assert told["moves"] == [0, 4] and told["texts"] == ["a1", "b2"] and told["over"] and told["resigned"]
    assert told["winner"] == 1 and not told["taken_back"]
    won = person.get(moves="0,3,1,4,2", resigned="1")
    assert "You have won." in won and "resigned" not in won.split("<main")[1].split("</main>")[0]  # it was over


def test_a_game_with_moves_taken_back_says_so_to_its_end(person):
    page = person.get(moves="0,4,1,5")
    assert "moves taken back" not in page
    page = person.get(link(page, "Take back"))
    assert "moves taken back" in page and 'name="back" value="1"' in page
    address = person.move(back="1", moves="0,4", move="1").headers["location"]
    after = person.get(address)
    assert "moves taken back" in after and "back=1" in address
    assert "back=1" in unescape(re.search(r'<ol class="moves".*?href="([^"]*)"', after, re.DOTALL)[1])
    assert person.client.get(address.replace("/game?", "/game.json?")).json()["taken_back"]


LOST = {**ASKED, "moves": "0,4,1,2,3,6"}  # x gives the game away with its third move: a3 had to be blocked


def test_the_review_of_a_game_rates_its_moves_and_leads_to_the_worst(person):
    def seen(**more):
        return person.get("/arena/play/review", **LOST, **more)

    end = seen()
    assert "The agent has won. Your moves lost 0.50 points together." in end and "All values are exact." in end
    assert re.findall(r"</a> <span class=\"note\">lost ([^<]*)<", end) == ["½"]
    worst = link(end, "The worst: move 5")
    assert fields_of(worst) == {**LOST, "ply": "4"}
    assert end.count("winning") == 3 and 'rel="next"' not in end and 'rel="prev"' in end
    before = person.get(worst)
    assert "Before move 5 of 6: you play a2, which lost ½." in before
    figures = dict(re.findall(r'class="cell ([^"]*)"><span class="p">([^<]*)<', before))
    assert figures == {"legal best": "½", "legal": "0", "legal chosen": "0"}  # only c3 to a1 is blocked by a3
    assert "value ½, the best" in before
    for ply in range(5):
        assert f"Before move {ply + 1} of 6" in seen(ply=ply)
    beyond = person.client.get("/arena/play/review", params={**LOST, "ply": 7})
    assert beyond.status_code == 404 and "has 6 moves; move 7 is not one of them" in beyond.text
    assert fields_of(link(before, "Play on from here")) == {**ASKED, "moves": "0,4,1,2", "back": "1"}
    person.client.cookies.clear()  # anybody sees it
    part = person.client.get("/arena/play/review", params=LOST, headers={"HX-Request": "true"}).text
    assert part.lstrip().startswith('<div id="table"')


def test_a_link_outlives_its_agent(person):
    """A game's address holds its moves: what is finished can be seen and reviewed, and nobody plays on."""
    asked = {**LOST, "agent": "former", "seconds": "7"}
    game, review = person.get(**asked), person.get("/arena/play/review", **asked, ply=4)
    assert "The agent has won." in game and "former (not offered any more)" in game and "Play again" not in game
    assert "you play a2, which lost ½." in review and "Play on from here" not in review
    assert person.move(**asked, move="8").status_code == 400


def test_moves_that_are_rated_count_once_against_the_limit_of_an_address(person, monkeypatch):
    spent = []
    monkeypatch.setattr(ArenaState, "spend", lambda state, request: spent.append(request))
    asked = {**ASKED, "moves": "8,4,7,6,2"}  # resigned before the agent's winning move
    for ply in (5, 3, 0):
        assert person.client.get("/arena/play/review", params={**asked, "resigned": 1, "ply": ply}).status_code == 200
    assert len(spent) == 5


def test_a_game_that_goes_on_is_not_reviewed_and_a_resigned_one_is(person):
    answer = person.client.get("/arena/play/review", params={**ASKED, "moves": "0,4"})
    assert answer.status_code == 409 and "not over" in answer.text
    review = person.get(link(person.get(moves="0,4", resigned="1"), "Review"))
    assert "You have resigned. Your moves lost 0.00 points together." in review
    endless = {"game": "infinite:near+need3", "moves": "1984,2047,1985,2048,1986"}
    review = person.get("/arena/play/review", **endless)
    assert "Moves on a board without end are not rated" in review and "You have won." in review


def test_a_hint_is_on_the_board_and_the_game_says_so(person):
    asked = {"moves": "0,4,1,2"}
    page = person.get(**asked)
    assert 'class="p"' not in page
    page = person.get(link(page, "Hint"))
    assert re.findall(r'value="(\d)"[^>]*><span class="p">([^<]*)<', page) == [
        (str(n), "½" if n == 6 else "0") for n in (3, 5, 6, 7, 8)
    ]
    assert '<span class="badge">hints</span>' in page and "The hint is exact" in page
    address = person.move(**asked, hint="4", move="6").headers["location"]
    after = person.get(address)
    assert '<span class="badge">hints</span>' in after and 'class="p"' not in after
    assert person.client.get(address.replace("/game?", "/game.json?")).json()["hints"]
    assert person.move(**asked, hint="x", move="6").status_code == 400


def uncached(seat):
    """Agents are seated anew."""

    def anew(self, *arguments):
        self._seated.clear()
        return seat(self, *arguments)

    return anew


@pytest.mark.parametrize(
    ("key", "text", "what"),
    [
        ("tuned", "tuned:nodes=20000", "positions"),
        ("alphabeta", "alphabeta:nodes=20000", "positions"),
        ("mcts", "mcts:nodes=3000,room=100000", "games"),
    ],
)
def test_an_agent_tells_its_search_beside_the_board(person, monkeypatch, key, text, what):
    monkeypatch.setattr(game_service, "agent", lambda known: agent(text))  # whatever else the machine does
    monkeypatch.setattr(game_service, "takes_time", lambda known: False)
    monkeypatch.setattr(game_service.GameService, "_seat", uncached(game_service.GameService._seat))
    answer = person.move(game="ultimate", agent=key, seconds="2", moves="", move="40")
    page = person.get(answer.headers["location"])
    told = re.search(rf"Depth (\d+), ([\d,]+) {what}, ([\d,]+) a second\.([^<]*)<", page)
    assert int(told[1]) >= 2 and int(re.sub(r"\D", "", told[2])) >= 3000
    if key == "alphabeta":
        assert told[4] == ""  # it knows no line
    else:
        reply = re.match(r" It expects ([\d., ]+)\.$", told[4])[1].split(", ")[0].split(".")
        made = re.search(r"moves=40%2C(\d+)", answer.headers["location"])[1]
        assert int(reply[0]) == int(made) % 9  # where its move sends the person
    other = answer.headers["location"].replace(f"agent={key}", "agent=random")
    assert "It expects" not in (told := person.get(other)) and "Depth" not in told


def test_the_script_gets_the_board_and_its_address(person):
    fields = {**ASKED, "moves": "", "move": "4", "form_token": person._token}
    answer = person.client.post("/arena/play/game", data=fields, headers={"HX-Request": "true"})
    assert answer.status_code == 200 and "<html" not in answer.text
    assert answer.headers["hx-push-url"].startswith("/arena/play/game?game=mnk%3A3x3%2Bneed3&")
    assert answer.text.count('class="cell mine') == answer.text.count('class="cell theirs') == 1


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"agent": "file:path=/etc/passwd"}, "no such opponent"),
        ({"seconds": "1000"}, "no such opponent"),
        ({"game": "chess"}, "no such game"),
        ({"rows": "x"}, "number of rows"),
        ({"rows": "30"}, "must be from 1 to 11"),
        ({"agent": "tuned"}, "does not play this game"),
        ({"agent": "patterns"}, "has not been trained here"),
        ({"first": "nobody"}, "who moves first"),
    ],
)
def test_unknown_choices_are_refused(person, fields, sentence):
    answer = person.begin(**fields)
    assert answer.status_code == 400 and sentence in answer.text
    if "game" not in fields:  # beside the form, with what was typed
        assert re.search(rf'role="alert">[^<]*{sentence}', answer.text) and "<h2>Watch</h2>" in answer.text
        assert f'name="rows" min="1" max="11" value="{fields.get("rows", "3")}"' in answer.text
        kept = fields.get("first", "me")
        assert (f'value="{kept}" checked' in answer.text) == (kept != "nobody")


def test_what_cannot_be_watched_is_refused_beside_its_form(person):
    typed = {"one": "mcts", "other": "random", "seconds": "2", "game": "mnk", "rows": "0", "columns": "3", "need": "3"}
    answer = person.post("/arena/watch", **typed)
    assert answer.status_code == 400
    play, watch = answer.text.split("<h2>Watch</h2>")
    assert 'role="alert"' in watch and 'role="alert"' not in play.split("<h2>Play</h2>")[1]
    assert '<option value="random" selected>' in watch.partition('name="other"')[2]
    assert '<option value="2" selected>' in watch


@pytest.mark.parametrize(
    ("moves", "sentence"),
    [("0,0", "the square is taken"), ("99", "moves are the numbers 0 to 8"), ("a", "not numbers"), (",", "not")],
)
def test_impossible_moves_in_an_address_are_sentences(pages, moves, sentence):
    answer = pages.get("/arena/play/game", params={**ASKED, "moves": moves})
    assert answer.status_code in (400, 404) and sentence in answer.text


def test_a_game_of_two_agents_comes_as_events(person, monkeypatch):
    monkeypatch.setattr(watch_pages, "MOVE_SECONDS", 0)
    answer = person.post("/arena/watch", one="random", other="random", game="mnk", **SMALL)
    page = person.client.get(answer.headers["location"]).text
    address = re.search(r'data-events="([^"]+)"', page)[1].replace("&amp;", "&")
    events = [
        dict(line.split(": ", 1) for line in one.split("\n"))
        for one in person.client.get(address).text.split("\n\n")[:-1]
    ]
    made = [int(move) for move in events[-1]["id"].split(",")]
    rules = game("mnk:3x3+need3")
    assert [one["event"] for one in events] == ["move"] * len(made) + ["over"] and rules.after(made)[1]
    for number, one in enumerate(events[:-1], start=1):
        assert one["id"] == ",".join(map(str, made[:number]))
        assert len(re.findall('class=\\\\"cell (mine|theirs)', one["data"])) == number
    again = person.client.get(address, headers={"Last-Event-ID": ",".join(map(str, made[:-1]))}).text
    first = re.search("id: (.*)", again)[1].split(",")  # goes on from there; the agents may go another way
    assert [int(move) for move in first[:-1]] == made[:-1]


def test_a_watched_game_says_who_has_won_and_can_be_walked_through(pages):
    asked = {"game": "mnk:3x3+need3", "one": "random", "other": "random", "seconds": "0.1", "moves": "0,3,1,4,2"}
    seen = []
    for ply in (None, 0, 1, 4, 5):
        text = pages.get("/arena/watch/game", params=asked | ({} if ply is None else {"ply": ply})).text
        assert "data-events" not in text and len(re.findall('class="cell (mine|theirs)', text)) == (
            5 if ply is None else ply
        )
        seen.append((re.search(r'role="status">(.*?)</p>', text)[1], re.findall(r'rel="(first|prev|next|last)"', text)))
    whole, start, one, four, five = seen
    assert whole == five == ("Chance (×) has won.", ["first", "prev"])
    assert start == ("Before the first move of 5.", ["next", "last"])
    assert one == ("Move 1 of 5: Chance (×) plays a1.", ["first", "prev", "next", "last"])
    assert four[0].startswith("Move 4 of 5: Chance (○) plays")
    address = re.search(r'href="([^"]+)" rel="prev"', text)[1].replace("&amp;", "&")
    assert "Move 4 of 5" in pages.get(address).text
    listed = [unescape(link) for link in re.findall(r'<li><a href="(/arena/watch/[^"]+)"', text)]
    assert [fields_of(one) for one in listed] == [{**asked, "ply": str(ply)} for ply in range(1, 6)]
    here = pages.get("/arena/watch/game", params=asked | {"moves": "0,3,1", "ply": 3}).text
    assert "Watch on" in here and "data-events" not in here and 'rel="prev"' in here  # it stays as it is
    answer = pages.get("/arena/watch/game", params=asked | {"ply": 6})
    assert answer.status_code == 404 and "has 5 moves so far; move 6 is not one of them" in answer.text


def test_a_game_is_offered_with_the_agents_that_play_it(person, shelf):
    def offered(game):
        text = person.client.get("/arena/play", params={"game": game}).text
        assert text.count('aria-current="page">') == 2  # of the games, and of the site
        lists = re.findall(r"<select name=\"(agent|one|other)\">(.*?)</select>", text)
        keys = [re.findall(r'value="([^"]+)"', options) for _, options in lists]
        assert [name for name, _ in lists] == ["agent", "one", "other"] and keys[0] == keys[1] == keys[2]
        return keys[0], set(re.findall(r'type="number" name="([^"]+)"', text))

    agents, sizes = offered("ultimate")
    assert (
        {"mcts", "tuned", "qtable"} <= set(agents) and not {"learnt", "strong", "patterns"} & set(agents) and not sizes
    )
    assert agents[:2] == ["strongest", "shipped"] == offered("ultimate-most")[0][:2]
    assert offered("extreme") == (["strong", "extreme-alphabeta", "mcts", "random"], set())
    assert offered("mnk") == (["mcts", "random"], {"rows", "columns", "need"})
    assert offered("growing") == (["mcts", "random"], {"need"})
    (shelf / "policies").mkdir()
    (shelf / "policies" / "mnk-4x4+need4").write_text("")
    (shelf / "ultimate.weights").write_text("")
    try:
        assert "learnt" in offered("ultimate")[0] and offered("mnk")[0] == ["mcts", "table", "random"]
        assert offered("near")[0] == ["mcts", "random"]
    finally:
        (shelf / "ultimate.weights").unlink()
        (shelf / "policies" / "mnk-4x4+need4").unlink()
    assert person.client.get("/arena/play", params={"game": "chess"}).status_code == 404


def test_a_game_of_two_agents_goes_on_without_scripts(person):
    asked = {"game": "mnk:3x3+need3", "one": "random", "other": "random", "seconds": "0.1"}
    answer = person.post("/arena/watch/game", moves="4", **asked)
    made = fields_of(answer.headers["location"])["moves"].split(",")
    assert made[0] == "4" and len(made) == 2
    assert 'data-sound="placed 2"' in person.get(answer.headers["location"])
    assert person.client.get("/arena/watch", follow_redirects=False).headers["location"] == "/arena/matches"


def test_the_number_of_watched_games_is_limited(pages, monkeypatch):
    """All come before the first move is made; when they have gone, there is room again."""
    state = pages.app.state.arena

    async def never(*asked):
        await asyncio.Event().wait()

    monkeypatch.setattr(watch_pages, "next_position", never)
    told, statuses = [], Counter()

    async def watch(gone):
        sent = {"type": "http.request", "body": b"", "more_body": False}

        async def receive():
            nonlocal sent
            if sent is None:
                await gone.wait()
            message, sent = sent or {"type": "http.disconnect"}, None
            return message

        async def send(message):
            if message["type"] == "http.response.start":
                statuses[message["status"]] += 1
            elif message["type"] == "http.response.body":
                told.append(message["body"].decode())

        query = b"game=mnk:3x3%2Bneed3&one=random&other=random&seconds=0.1"
        path = "/arena/watch/events"
        head = {"headers": [(b"host", b"a")], "client": ("127.0.0.1", 1), "server": ("a", 80), "scheme": "http"}
        scope = {"type": "http", "method": "GET", "path": path, "query_string": query, "root_path": "", **head}
        await pages.app(scope, receive, send)

    async def all_watch():
        gone = asyncio.Event()
        watching = [asyncio.create_task(watch(gone)) for _ in range(60)]
        while sum(statuses.values()) < 60:
            await asyncio.sleep(0.01)
        at_once = state.watched
        gone.set()
        await asyncio.gather(*watching)
        return at_once

    assert asyncio.run(all_watch()) == 8 and state.watched == 0
    assert statuses == {200: 8, 503: 52}
    assert sum("8 games are being watched" in text for text in told) == 52


# ---------------------------------------------------------------------------------------------
# Round robins


@pytest.fixture(scope="module")
def robin(shelf):
    asked = RoundRobin(game="mnk:3x3+need3", agents=["random", "mcts:nodes=200", "mcts:nodes=10"], games=10)
    return round_robin.conduct("all", asked, shelf / "robin", 1, lambda sentence: None)


def test_a_round_robin_rates_its_agents(robin, shelf):
    rows = robin["standings"]
    assert [row["points"] for row in rows] == sorted((row["points"] for row in rows), reverse=True)
    assert rows[-1]["agent"] == "random" and abs(sum(row["points"] for row in rows)) < 1e-6
    assert all(row["games"] == 20 and row["error"] > 0 for row in rows)
    for row in rows:
        assert abs(sum(one["score"] for one in row["against"]) / 2 - row["score"]) < 1e-12
        for one in row["against"]:
            log = logged(shelf / "robin" / one["match"])
            first = one["match"].startswith(str(robin["agents"].index(row["agent"])))
            points = sum((1, 0, 0.5)[game["winner"]] for game in log) / 10
            assert abs(one["score"] - (points if first else 1 - points)) < 1e-12


def test_openings_are_the_same_for_both_sides_and_differ_from_pair_to_pair(robin, shelf):
    openings = [tuple(game["moves"][:2]) for game in logged(shelf / "robin" / "0-1")]
    assert openings[::2] == openings[1::2] and len(set(openings)) > 2


def test_standings_lead_to_the_matches(robin, pages):
    text = pages.get("/arena/standings").text
    assert re.findall(r'<bdi title="([^"]*)">[^<]*</bdi></th>', text) == [row["agent"] for row in robin["standings"]]
    assert '<bdi title="random">Chance</bdi>' in text
    rows, order = robin["standings"], r'<bdi title="([^"]*)">[^<]*</bdi></th>'
    by_name = re.findall(order, pages.get("/arena/standings?sort=agent").text)
    assert by_name == sorted((row["agent"] for row in rows), key=lambda agent: agent_name(agent).casefold())
    assert re.findall(order, pages.get("/arena/standings?sort=-agent").text) == by_name[::-1]
    found = pages.get("/arena/standings?sort=agent&find=CHANCE").text
    assert re.findall(order, found) == ["random"] and "/arena/standings?sort=score&amp;find=CHANCE" in found
    assert "/arena/standings?sort=-agent&amp;find=CHANCE" in found
    scores = {one["agent"]: one["score"] for one in rows[-1]["against"]}
    shades = [round(10 * scores[row["agent"]] - 5) for row in rows[:-1]]
    assert [int(one) for one in re.findall(r'<td class="v(-?\d)">', found)] == shades  # one row of the heat map
    assert "No agent has “nobody”" in pages.get("/arena/standings?find=nobody").text
    for address in set(re.findall(r'href="(/arena/matches/one[^"]+)"', text)):
        assert "10 of 10" in pages.get(address).text


def test_damaged_standings_are_a_sentence(tmp_path):
    (tmp_path / "standings.json").write_text('{"standings": [{}]}')
    with application(tmp_path) as app, TestClient(app, raise_server_exceptions=False) as client:
        text = client.get("/arena/standings").text
    assert "standings.json is damaged" in text and str(tmp_path) not in text


@pytest.mark.slow
def test_each_agent_that_is_offered_plays_the_game_and_the_first_is_ready_before_a_game_begins(tmp_path):
    """The first one's tables are made while somebody looks at the choices, and serve for all times to think."""
    seats = game_service.GameService(tmp_path)
    for chosen in ("ultimate", "ultimate-most", "mnk", "extreme"):
        text, (first, *others) = game_text(chosen, 5, 5, 4), seats.ready(chosen)
        seats._prepared[chosen].join()
        made = seats._seated[text, first]
        for key, seconds in ((first, "0.1"), (first, "0.5"), *((key, "0.1") for key in others)):
            if not key.startswith("q"):  # their tables take two seconds
                assert len(seats.play_on(text, [], [key, None], seconds, True)) == 1, key
            if (key, seconds) == (first, "0.5"):
                assert seats._seat(game(text), key, seconds) is made and made.time == 0.5


def test_nobody_waits_for_an_agent_that_gets_ready_for_others(tmp_path, monkeypatch):
    started, go_on = threading.Event(), threading.Event()

    def slow(text):
        if text.startswith("mcts"):
            started.set()
            go_on.wait()
        return agent(text)

    monkeypatch.setattr(game_service, "agent", slow)
    seats = game_service.GameService(tmp_path)
    assert seats.ready("mnk")[0] == "mcts"
    started.wait()
    assert len(seats.play_on("mnk:5x5+need4", [], ["random", None], "0.1")) == 1
    go_on.set()
    seats._prepared["mnk"].join()
    assert ("mnk:5x5+need4", "mcts") in seats._seated


def test_agents_are_those_of_the_choices(tmp_path, monkeypatch):
    """With the time that was chosen, and what was learnt for this game; kernels are compiled when one chooses."""
    made = []
    monkeypatch.setattr(game_service, "agent", lambda text: made.append(text) or agent("random"))
    seats = game_service.GameService(tmp_path)
    with pytest.raises(ArenaError, match="^Tuned alpha-beta, weights of your own has not been trained here"):  # no path
        seats.play_on("ultimate", [], ["learnt", None], "0.5", True)
    with pytest.raises(ArenaError, match="^Tuned alpha-beta, neural network does not play this game"):
        seats.play_on("ultimate:open", [], ["strongest", None], "0.5", True)
    for learnt in ("ultimate.weights", "patterns.weights", "policies/mnk-3x3+need3"):
        (tmp_path / learnt).parent.mkdir(exist_ok=True)
        (tmp_path / learnt).touch()
    for offer in AGENTS:
        text = {"mnk": "mnk:3x3+need3", "extreme": "extreme"}.get("".join(offer.games[:1]), "ultimate")
        assert len(seats.play_on(text, [], [offer.key, None], "0.5", True)) == 1
    assert sum("time=0.5,clock=wall" in text for text in made) == sum("time=" in offer.text for offer in AGENTS) > 2
    assert any(f"path={tmp_path}/ultimate.weights" in text for text in made)
    assert f"table:path={tmp_path}/policies/mnk-3x3+need3" in made
