"""The arena's pages: boards as they are drawn, matches, replays, and what is refused."""

import json
import re
import subprocess
import sys

import pytest
from arenapages import application
from fastapi.testclient import TestClient

from pttt_ooc.arena.games.catalogue import game
from pttt_ooc.arena.matches.runner import run
from pttt_ooc.arena.matches.settings import Match


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
        assert cell.words.startswith(f"{rules.show_move(cell.move)}, ")


def test_cells_of_nested_boards_lie_where_they_belong():
    [board] = drawn("ultimate", [])
    assert [[cell.move for cell in row] for row in board.rows[1][2].rows] == [[45, 46, 47], [48, 49, 50], [51, 52, 53]]
    _, second = drawn("extreme", [])
    assert [cell.words.split(",")[0] for cell in second.rows[2][0].rows[1]] == ["1.7.0", "1.7.1", "1.7.2"]


def test_small_boards_show_their_owners_and_the_line_that_wins():
    rules = game("ultimate")
    state = rules.start()
    state[rules.rules.WON], state[rules.rules.WON + 1], state[rules.rules.CLOSED] = 0b100010001, 2, 0b101010011
    [board] = rules.draw(state)
    blocks = [block for line in board.rows for block in line]
    assert "".join(block.owner for block in blocks) == "xo--x-d-x"
    assert [block.winning for block in blocks] == [True, False, False, False, True, False, False, False, True]
    assert blocks[1].words == "Small board 2, won by o"


def test_a_small_board_that_is_full_without_a_winner_is_drawn():
    rules = game("ultimate")
    state = rules.start()
    state[rules.rules.CLOSED] = 1
    assert rules.draw(state)[0].rows[0][0].owner == "d"


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


def test_matches_are_listed(pages):
    text = pages.get("/arena/matches").text
    assert re.findall(r"<bdi>(.*?)</bdi>", text) == ["first", "more/second"]
    assert "mcts:nodes=20" in text and "mnk:3x3+need3" in text


def test_a_match_lists_its_games(pages, shelf):
    text = pages.get("/arena/matches/one?name=first").text
    assert re.findall(r">Game (\d)<", text) == ["0", "1", "2"] and "3 of 3" in text
    assert re.findall(r">Game (\d)<", pages.get("/arena/matches/one?name=first&start=2").text) == ["2"]


def test_a_replay_shows_each_position(pages, shelf):
    row = json.loads((shelf / "first" / "games.jsonl").read_text().splitlines()[1])
    rules = game("mnk:3x3+need3")
    for ply in range(len(row["moves"]) + 1):
        text = pages.get(f"/arena/matches/replay?name=first&game=1&ply={ply}").text
        marks = re.findall(r'<span class="cell ([^"]*)"', text)
        shown = ["x" if "mine" in one else "o" if "theirs" in one else "." for one in marks]
        assert " ".join(shown) == " ".join(
            re.findall(r"[xo.]", "".join(rules.show(rules.after(row["moves"][:ply])).split("\n")[1:]))
        )
        assert ('rel="prev"' in text) == (ply > 0) and ('rel="next"' in text) == (ply < len(row["moves"]))
    said = re.search(r'role="status">(.*?)</p>', text)[1]
    agents = ["random", "mcts:nodes=20"]
    assert said == ("A draw." if row["winner"] == 2 else f"{agents[row['winner']]} wins.")


def test_a_piece_of_the_page_is_enough_for_the_script(pages):
    text = pages.get("/arena/matches/replay?name=more/second&ply=5", headers={"HX-Request": "true"}).text
    assert "<html" not in text and text.count('class="cell ') == 81


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
    for name, settings, games in (
        (
            "foreign",
            {"game": "mnk:3x3+need3", "agents": ["a", "b"], "games": 1},
            '{"number":0,"starter":0,"winner":0,"moves":[0,0]}\n',
        ),
        ("torn", {"game": "mnk:3x3+need3"}, ""),
    ):
        (tmp_path / name).mkdir()
        (tmp_path / name / "match.json").write_text(json.dumps(settings))
        (tmp_path / name / "games.jsonl").write_text(games)
    with application(tmp_path) as app, TestClient(app, raise_server_exceptions=False) as client:
        assert "not legal" in client.get("/arena/matches/replay?name=foreign").text
        assert "is damaged" in client.get("/arena/matches/one?name=torn").text


def test_the_web_process_imports_no_numerics():
    code = "import sys, pttt_ooc.arena.pages.localserver; print(*{'numpy', 'numba', 'scipy'} & set(sys.modules))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip() == ""
