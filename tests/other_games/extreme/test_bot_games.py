"""People against bots: a person in a match, on a terminal, in the background and on the pages."""

import io
import json
import random
import re
import resource
import sqlite3
import sys
import time
from contextlib import closing, contextmanager
from dataclasses import replace

import pytest
from fastapi.testclient import TestClient

from pttt_ooc.other_games.extreme.boards import boards_text, places, read_move, why_not
from pttt_ooc.other_games.extreme.match import Person, play_match
from pttt_ooc.other_games.extreme.opponents import FileOpponents
from pttt_ooc.other_games.extreme.pages import play_pages
from pttt_ooc.other_games.extreme.play import bot_game, game_store, games
from pttt_ooc.other_games.extreme.play.bot_game import BotGame
from pttt_ooc.other_games.extreme.play.game_store import BotGameStore
from pttt_ooc.other_games.extreme.play.games import BotGames
from pttt_ooc.other_games.extreme.referee import Referee
from pttt_ooc.other_games.extreme.walled_process import MachineError
from pttt_ooc.other_games.extreme.walls import ExtremeError
from pttt_ooc.site.shell.application import make_application
from pttt_ooc.site.shell.shell import Shell
from tests.kits.patience import wait_until
from tests.other_games.extreme.bot_games_kit import OPEN, Player, Texts, answering, pages
from tests.other_games.extreme.bot_kit import FIRST, bot, bot_text, children, run
from tests.other_games.extreme.naive_extreme import Game

SLOW = "import time\ntime.sleep(600)"


# ---------------------------------------------------------------------------------------------
# Moves


@pytest.mark.parametrize("text", ["(0, 4, 8)", "0 4 8", "0,4,8", " 0.4.8 ", "[0, 4, 8]", "(0,4,8)"])
def test_a_move_is_read_as_people_write_it(text):
    assert read_move(text) == (0, 4, 8)


@pytest.mark.parametrize("text", ["", "0 4", "0 4 8 1", "a 4 8", "048", "-1 4 8", "0 4 88", "(0, 4, 8) x"])
def test_other_text_is_no_move(text):
    assert read_move(text) is None


@pytest.mark.parametrize("seed", range(2))
def test_boards_and_reasons_are_those_of_the_plain_implementation(seed):
    position, naive, rng = Referee(), Game(), random.Random(seed)
    while not naive.winner:
        shown = boards_text(position).splitlines()
        rows = [line for line in shown[2:] if line]
        assert len(rows) == 9
        legal = set(naive.legal())
        for row, line in enumerate(rows):
            signs = [part.split() for part in re.split(r"\s{5}(?=\d)", line)]
            for big, (number, *cells) in enumerate(signs):
                assert int(number) == row and len(cells) == 9
                for column, sign in enumerate(cells):
                    cell = (big, row, column)
                    board = (big, row // 3, column // 3)
                    mark = naive.cells.get(cell)
                    if mark:
                        assert sign == (mark.upper() if naive.boards.get(board) == mark else mark)
                    else:
                        assert sign == ("+" if cell in legal else "#" if board in naive.boards else ".")
                        if cell not in legal:
                            reason = "closed" if board in naive.boards else "sends you to"
                            assert reason in why_not(position, cell)
        told = places(position)
        inside = {(row // 3, column // 3) for _, row, column in legal}
        assert ("any small board" in told) == (len(inside) > 1)
        if len(inside) == 1:
            [(i, j)] = inside
            assert f"rows {3 * i} to {3 * i + 2} and columns {3 * j} to {3 * j + 2}" in told
            assert ("both" in told) == (len({big for big, _, _ in legal}) == 2)
        cell = rng.choice(sorted(legal))
        position.play(cell)
        naive.play(cell)
    assert "+" not in boards_text(position)


# ---------------------------------------------------------------------------------------------
# A person in a match


@pytest.mark.parametrize("side", [0, 1])
def test_a_person_plays_a_whole_match(side):
    rng, seen = random.Random(side), []

    def choose(position):
        seen.append(position.player)
        return rng.choice(position.valid_cells())

    pair = (Person(choose), bot()) if side == 0 else (bot(), Person(choose))
    match = play_match(pair, OPEN)
    naive = Game()
    for move in match.moves:
        assert "xo"[move.player] == naive.player and move.bonus == naive.bonus
        naive.play(move.cell)
    assert match.message in ("WON", "DRAW") and naive.winner == {"P1": "x", "P2": "o", "NONE": "draw"}[match.winner]
    assert set(seen) == {side} and len(seen) == len(match.used(side))
    assert match.names[side] == "a person" and match.pythons[side] == ""
    assert all(not move.processor for move in match.moves if move.player == side)


def test_a_person_begins_each_match_anew():
    person = Person(lambda position: position.valid_cells()[-1])
    for cell, answered in (((0, 4, 4), [1, 5, 5]), ((0, 0, 0), [1, 2, 2])):
        person.load()
        answer, _ = person.ask({"moves": [((-1, -1, -1), cell, "x")], "old_move": cell, "flag": "o"})
        assert answer["move"] == answered


def test_the_answerers_own_limit_of_memory_is_none_of_the_bots():
    """The process that runs people's games has a limit of 4 GB."""
    hard = resource.getrlimit(resource.RLIMIT_DATA)[1]
    body = "import resource\nassert resource.getrlimit(resource.RLIMIT_DATA)[0] == 6 << 30\n" + FIRST
    before = resource.getrlimit(resource.RLIMIT_DATA)
    resource.setrlimit(resource.RLIMIT_DATA, (4 << 30, hard))
    try:
        pair = (bot(body), Person(lambda position: position.valid_cells()[0]))
        match = play_match(pair, replace(OPEN, memory_mb=6 << 10))
    finally:
        resource.setrlimit(resource.RLIMIT_DATA, before)
    assert match.message in ("WON", "DRAW"), match.detail


@pytest.mark.parametrize(
    "body, message",
    [("return (9, 9, 9)", "INVALID MOVE"), ("board.big_boards_status[0][0][1] = 'x'\n" + FIRST, "MODIFIED THE BOARD")],
)
def test_a_bot_forfeits_against_a_person(body, message):
    match = play_match((Person(lambda position: position.valid_cells()[0]), bot(body)), OPEN)
    assert (match.winner, match.message, match.points, match.plies) == ("P1", message, (86, 0), 1)


def test_a_machine_that_fails_ends_a_game_with_a_person_at_once(monkeypatch):
    played = []

    def fail(*_):
        played.append(1)
        raise MachineError("no memory")

    monkeypatch.setattr("pttt_ooc.other_games.extreme.match._play", fail)
    with pytest.raises(MachineError):
        play_match((Person(lambda position: (0, 0, 0)), bot()), OPEN)
    assert len(played) == 1
    with pytest.raises(MachineError):
        play_match((bot(), bot()), OPEN)
    assert len(played) == 5


# ---------------------------------------------------------------------------------------------
# On a terminal


def played_here(monkeypatch, capsys, tmp_path, typed, *arguments, body=FIRST):
    (tmp_path / "team1.py").write_text(bot_text(body))
    monkeypatch.setattr(sys, "stdin", io.StringIO(typed))
    options = ("--terminal", "--no-sandbox", "--python", "3", "--time-limit", "30")
    return run(capsys, "play", tmp_path / "team1.py", *options, *arguments)


def test_a_game_on_the_terminal_and_its_log(monkeypatch, capsys, tmp_path):
    typed = "nonsense\n(0, 9, 0)\n(0, 4, 4)\n0 0 0\nq\n"
    code, out, _ = played_here(monkeypatch, capsys, tmp_path, typed)
    assert code == 0 and "You play x against team1.py" in out
    assert "You cannot move to (0, 9, 0): big boards are 0 and 1, rows and columns 0 to 8." in out
    assert "team1.py plays (0, 3, 3) in" in out
    assert out.rstrip().endswith("The game is left.")


def test_the_end_of_a_game_on_the_terminal(monkeypatch, capsys, tmp_path):
    log = tmp_path / "game.json"
    code, out, _ = played_here(
        monkeypatch, capsys, tmp_path, "0 0 0\n", "--side", "o", "--log", log, body="import os\n1 / 0"
    )
    assert code == 0 and "team1.py forfeits: THREW AN EXCEPTION." in out and "ZeroDivisionError" in out
    assert out.rstrip().endswith("You have won, 86 : 0.")
    match = json.loads(log.read_text())
    assert match["names"] == ["team1.py", "a person"] and match["winner"] == "P2"
    code, out, err = played_here(monkeypatch, capsys, tmp_path, "", "--log", log)
    assert code == 1 and "game.json" in err and json.loads(log.read_text()) == match


def test_a_side_that_is_none_is_refused(capsys):
    code, _, err = run(capsys, "play", "random", "--side", "z", "--terminal")
    assert code == 1 and "--side z is no side" in err


# ---------------------------------------------------------------------------------------------
# In the background


def begun(body=FIRST, side=0, opening=()):
    return BotGame(lambda: bot(body), side, OPEN, opening)


def until(game, turn):
    wait_until(lambda: game.state()["turn"] == turn)
    return game.state()


def test_a_game_in_the_background():
    before, game = children(), begun()
    state = until(game, "person")
    assert state["moves"] == [] and children() > before
    with pytest.raises(ExtremeError, match=r"cannot move to \(0, 9, 9\)"):
        game.move(0, (0, 9, 9))
    game.move(0, (0, 4, 4))
    state = until(game, "person")
    assert [move[:2] for move in state["moves"]] == [(0, (0, 4, 4)), (1, (0, 3, 3))]
    game.move(0, (0, 0, 0))  # of an old page
    game.move(1, (0, 0, 0))
    assert len(game.state()["moves"]) == 2
    with pytest.raises(ExtremeError, match="sends you to rows 0 to 2"):
        game.move(2, (0, 8, 8))
    game.end()
    game.join()
    state = game.state()
    assert state["turn"] == "over" and state["match"] is None and state["why"] and children() == before


def test_a_game_ends_in_the_middle_of_a_move():
    before, game = children(), begun(SLOW, side=1)
    wait_until(lambda: children() > before)
    game.end()
    game.join()
    assert game.over and children() == before
    assert game.state()["match"] is None and game.state()["why"] == "You ended the game."


def test_a_game_in_the_background_is_played_to_its_end():
    game, rng = begun(side=1), random.Random(3)
    while (state := game.state())["turn"] != "over":
        if state["turn"] == "person":
            position = Referee()
            for _, cell, *_ in state["moves"]:
                position.play(tuple(cell))
            game.move(len(state["moves"]), rng.choice(position.valid_cells()))
    assert state["match"]["message"] in ("WON", "DRAW") and len(state["moves"]) == len(state["match"]["moves"])


def test_a_person_who_is_away_loses_the_game(monkeypatch):
    monkeypatch.setattr(bot_game, "IDLE_SECONDS", 0.05)
    before, game = children(), begun()
    game.join()
    assert "no move came" in game.state()["why"] and children() == before


def test_a_bot_that_cannot_be_read_is_a_sentence():
    def refuse():
        raise ExtremeError("It is gone.")

    game = BotGame(refuse, 0, OPEN)
    game.join()
    assert game.state()["why"] == "It is gone."


def test_a_game_goes_on_from_given_moves():
    opening = [(0, 4, 4), (0, 3, 3)]
    game = begun("assert old_move == (1, 0, 0), old_move\n" + FIRST, opening=opening)
    assert len(until(game, "person")["moves"]) == 2
    game.move(2, (1, 0, 0))
    state = until(game, "person")
    assert [move[1] for move in state["moves"]] == [*opening, (1, 0, 0), (0, 0, 0)]
    game.end()
    with pytest.raises(ExtremeError, match="against the rules"):
        begun(opening=[(0, 4, 4), (0, 0, 0)])
    game.join()


def test_no_game_goes_on_after_its_end():
    position, naive, rng, cells = Referee(), Game(), random.Random(1), []
    while not naive.winner:
        cells.append(rng.choice(naive.legal()))
        naive.play(cells[-1])
        position.play(cells[-1])
    with pytest.raises(ExtremeError, match="against the rules"):
        begun(opening=[*cells, position.valid_cells()[0]])


# ---------------------------------------------------------------------------------------------
# The games of all people


def test_each_person_has_one_game_which_nobody_else_sees(tmp_path):
    before, found = children(), BotGames(Texts(own=FIRST), 4, tmp_path)
    one, other = found.begin("one", "own", 0), found.begin("other", "own", 0)
    assert found.latest("one") == one != other and found.latest("nobody") is None
    with pytest.raises(ExtremeError, match="is gone"):
        found.state("other", one)
    with pytest.raises(ExtremeError, match="is gone"):
        found.move("other", one, 0, (0, 0, 0))
    again = found.begin("one", "own", 1)
    with pytest.raises(ExtremeError, match="is gone"):
        found.state("one", one)
    assert found.state("one", again)["label"] == "bot own" and found.state("other", other)["number"] == other
    with pytest.raises(ExtremeError, match="no such opponent"):
        found.begin("one", "nobody", 0)
    games = [("one", again), ("other", other)]
    found.close()
    assert children() == before and all(found.state(*one)["turn"] == "over" for one in games)


def test_no_more_games_than_the_server_holds(monkeypatch, tmp_path):
    found = BotGames(Texts(own=FIRST), 1, tmp_path)
    number = found.begin("one", "own", 0)
    with pytest.raises(ExtremeError, match="1 games are being played"):
        found.begin("other", "own", 0)
    found.leave("one", number)
    wait_until(lambda: found.state("one", number)["turn"] == "over")
    found.begin("other", "own", 0)
    found.close()
    monkeypatch.setattr(games, "available_bytes", lambda: 1 << 20)
    with pytest.raises(ExtremeError, match="no memory"):
        found.begin("one", "own", 0)


def test_the_games_of_people_who_have_left_are_forgotten_the_oldest_first(monkeypatch, tmp_path):
    monkeypatch.setattr(games, "_KEPT", 1)
    found = BotGames(Texts(own=FIRST), 4, tmp_path)
    for owner in ("one", "two", "three"):
        number = found.begin(owner, "own", 0)
        found.leave(owner, number)
        wait_until(lambda: found.state(owner, number)["turn"] == "over")  # noqa: B023
    found.begin("four", "own", 0)
    found.close()  # what is kept on the disk has been written
    assert [found.latest(owner) is None for owner in ("one", "two", "three", "four")] == [True, True, False, False]


@pytest.mark.slow
def test_a_file_is_read_again_for_each_game(tmp_path):
    file = tmp_path / "team1.py"
    file.write_text(bot_text())
    found = FileOpponents(file, OPEN)
    assert [choice.key for choice in found.choices("here")] == [
        *("own", "strong", "strong_2", "alphabeta", "alphabeta_2", "random")
    ]
    assert found.choices("here")[0].label == "team1.py"
    assert found.program("here", "own").source == bot_text()
    file.write_text(bot_text("return 5"))
    assert "return 5" in found.program("here", "own").source
    assert found.program("here", "random").trusted
    file.unlink()
    with pytest.raises(ExtremeError, match="cannot be read"):
        found.program("here", "own")


# ---------------------------------------------------------------------------------------------
# Pages


def test_a_game_on_the_pages():
    with pages(Texts(own="print('it thinks')\n" + FIRST, bad="1 / 0")) as person:
        lobby = person.get("/extreme/play").text
        assert re.findall(r'<option value="(\w+)">([^<]+)', lobby) == [("own", "bot own"), ("bad", "bot bad")]
        address = person.begin()
        page = person.turn(address)
        assert page.count('name="cell"') == 162 and "You play ×." in page
        answer = person.move(address, page, typed="(0, 4, 4)")
        assert answer.status_code == 303
        page = person.turn(address)
        assert "Last move: ○ at (0, 3, 3)" in page and page.count('name="cell"') == 18
        refused = person.move(address, page, typed="(0, 8, 8)")
        assert refused.status_code == 404 and "rows 0 to 2" in refused.text
        assert person.move(address, page, typed="what").status_code == 400
        assert person.move(address, page, cell="83").status_code == 303
        page = person.turn(address)
        assert "× (1, 0, 2)" in page
        assert person.get(address + "/log").status_code == 404
        moves = re.search(r'name="moves" value="([^"]*)"', page)[1]
        assert json.loads(moves) == [[0, 4, 4], [0, 3, 3]]
        again = person.begin(first="x", moves=moves)
        page = person.turn(again)
        assert again != address and person.get(address).status_code == 404
        assert re.findall(rf'<li><a href="{again}\?ply=(\d)"', page) == ["1", "2"]  # a link at every move
        assert "begun after 2 moves" in page and "hints" not in page
        earlier = person.get(again + "?ply=1").text
        assert "Move 1 of 2: × at (0, 4, 4)." in earlier and 'name="cell"' not in earlier
        assert [re.findall('data-sound="([^"]*)"', one) for one in (page, earlier)] == [["placed 2"]] * 2
        assert earlier.count('class="cell mine') == 1 and 'class="cell theirs' not in earlier
        assert person.get(again + "?ply=3").status_code == 404
        assert person.get(again + "/review").status_code == 409
        assert person.post(again + "/leave").status_code == 303
        wait_until(lambda: "There is no result" in person.get(again).text)
        assert 'data-sound="over 2"' in person.get(again).text


def test_who_resigns_on_the_pages_has_lost_and_the_log_says_so():
    with pages(Texts(own=FIRST)) as person:
        address = person.begin()
        page = person.turn(address)
        person.move(address, page, typed="(0, 4, 4)")
        assert "Give this game up as lost" in person.turn(address)
        assert "Your latest game</a>, against bot own. It goes on." in person.get("/extreme/play").text
        assert person.post(address + "/resignation").status_code == 303
        page = person.turn(address)
        assert "You have resigned. The bot has won, 0\xa0:\xa086." in page and "Give this game" not in page
        assert "against bot own. You have resigned. The bot has won, 0\xa0:\xa086." in person.get("/extreme/play").text
        told = person.get(address + "/log").json()
        assert told["begun_after"] == 0
        assert (told["message"], told["winner"], told["plies"]) == ("RESIGNED", "P2", 2)
        assert person.post(address + "/resignation").status_code == 303  # nothing happens any more
        assert person.get(address + "/log").json() == told


def after(cells):
    game = Game()
    for cell in cells:
        game.play(cell)
    return game


LOSS = r'ply=(\d+)"[^>]*>[^<]*</a> <span class="note">lost ([\d.]+)<'


def near_its_end():
    """The cells of a game of random moves whose last one wins, a move in its place after which the other could win, and
    the player who makes it."""
    for seed in range(200):
        naive, rng, cells = Game(), random.Random(seed), []
        while not naive.winner:
            player = naive.player
            cells.append(rng.choice(naive.legal()))
            naive.play(cells[-1])
        if naive.winner != player:
            continue
        for other in after(cells[:-1]).legal():
            there = after([*cells[:-1], other])
            replies = [] if there.winner or there.player == player else there.legal()
            if any(after([*cells[:-1], other, reply]).winner == there.player for reply in replies):
                return cells, other, "xo".index(player)
    raise AssertionError


@pytest.mark.slow
def test_hints_mark_a_game_to_its_end_and_the_review_rates_its_moves():
    """In the last position of a game the person can win: the hint says so, and who plays something else has lost it."""
    cells, blunder, winner = near_its_end()
    with pages(Texts(own=FIRST)) as person:
        game = person.begin(first="xo"[winner], moves=json.dumps(cells[:-1]))
        page = person.turn(game)
        assert 'class="p"' not in page and "The hint" not in page
        assert person.post(game + "/hint", ply=len(cells) - 1).status_code == 303
        page = person.get(game).text
        assert re.findall(r'<button class="cell legal best"[^>]*><span class="p">([^<]*)<', page) == ["1.00"]
        assert "The hint is an estimate (the strong bot, 5,000 positions)." in page
        assert '<span class="badge">hints</span>' in page
        back = re.search(r'name="moves" value="([^"]*)"', page)[1]
        game = person.begin(first="xo"[winner], moves=back)  # what was taken back stays marked
        assert '<span class="badge">hints</span>' in person.turn(game)
        game = person.begin(first="xo"[winner], moves=json.dumps(cells[:-1]))
        page = person.turn(game)
        assert person.move(game, page, typed=str(blunder)).status_code == 303
        if "Your move" in person.turn(game):  # the bot has not seen it
            assert person.post(game + "/resignation").status_code == 303
        page = person.get(game).text
        assert f'href="{game}/review">Review' in page and person.get(game + "/log").json()["hints"]
        end = person.get(game + "/review").text
        before = person.get(f"{game}/review?ply={len(cells) - 1}").text
        lost = float(re.search(r"you play [^<]*, which lost ([\d.]+) by an estimate\.", before)[1])
        assert 0.5 < lost <= 1
        worst, told = int(re.search(r">The worst: move (\d+)<", end)[1]) - 1, dict(re.findall(LOSS, end))
        mine = {int(ply): float(loss) for ply, loss in told.items() if after(cells[: int(ply)]).player == "xo"[winner]}
        assert mine[worst] == max(mine.values())
        assert f'<span class="note">lost {lost:.2f}</span>' in end and 'class="chance"' in end
        assert sorted(re.findall(r'"cell ([^"]*)"><span class="p">', before)) == ["legal best", "legal chosen"]
        assert "All values are estimates (the strong bot, 5,000 positions)." in end and "× wins with" in before
        assert person.get(f"{game}/review?ply=999").status_code == 404


@contextmanager
def visited(directory, owner, **bodies):
    """A browser on a server that keeps shared games in a directory; ``owner["name"]`` uses it, None is a stranger."""
    with answering(Texts(**bodies), directory=directory) as (address, _):
        part = play_pages.part_of(address, lambda account: owner["name"])
        app = make_application(Shell("Extreme TicTacToe", "", [part]))
        with TestClient(app, base_url="http://here", follow_redirects=False) as client:
            yield Player(client)


def test_a_shared_game_is_seen_by_everybody_also_on_a_new_server_but_not_what_the_bot_printed(tmp_path):
    owner = {"name": "one"}
    with visited(tmp_path, owner, bad="print('a secret')\n1 / 0") as person:
        game = person.begin("bad", first="o")
        page = person.turn(game)
        assert "a secret" in page and person.get(game + "/shared").status_code == 404
        assert person.post(game + "/share").headers["location"] == game
        assert f'href="{game}/shared"' in person.get(game).text
        person.begin("bad", first="o")  # a later game does not end the link
    with visited(tmp_path, owner, other=FIRST) as person:  # another server, without this bot
        owner["name"] = None  # in the browser of somebody who is not signed in
        shared = person.get(game + "/shared")
        assert shared.status_code == 200 and "The bot forfeits: THREW AN EXCEPTION. The player has won" in shared.text
        assert "a secret" not in shared.text and "ZeroDivisionError" not in shared.text and "bot bad" in shared.text
        assert '/share"' not in shared.text.partition("<main")[2] and person.get(game).status_code == 401
        owner["name"] = "two"
        assert "Stop sharing" not in person.get(game + "/shared").text
        person.post(game + "/share", stop="1")  # not theirs
        assert person.get(game + "/shared").status_code == 200
        owner["name"] = "one"
        assert "Stop sharing" in person.get(game + "/shared").text
        assert person.post(game + "/share", stop="1").headers["location"] == "/extreme/play"
        assert person.get(game + "/shared").status_code == 404


def shared_state(number):
    return {"number": number, "hints": False}


def test_the_oldest_shared_games_go_first(tmp_path, monkeypatch):
    monkeypatch.setattr(game_store, "MOST_SHARED", 2)
    for number in ("a", "b", "c"):
        with closing(BotGameStore(tmp_path, 2)) as found:
            found.share("one", number, shared_state(number))
    with closing(BotGameStore(tmp_path, 2)) as found:
        assert [found.is_shared(number) for number in "abc"] == [False, True, True]
        assert found.shared_state("c") == {**shared_state("c"), "owner": "one"}


@pytest.mark.parametrize("damage", ["no database", "a row"])
def test_a_damaged_file_of_shared_games_is_one_line_in_the_log_and_the_pages_work(tmp_path, caplog, damage):
    owner = {"name": "one"}
    with closing(BotGameStore(tmp_path, 2)) as opened:
        opened.share("one", "0" * 16, shared_state("0" * 16))
    file = tmp_path / "botgames.sqlite"
    if damage == "a row":
        with closing(sqlite3.connect(file)) as database, database:
            database.execute("UPDATE shared_bot_games SET state = '{'")
    else:
        file.write_bytes(b"no database" * 1000)
    with visited(tmp_path, owner, bad="1 / 0") as person:
        for _ in range(2):
            refused = person.get(f"/extreme/play/{'0' * 16}/shared")
            assert refused.status_code == 404 and "the file that keeps them cannot be used" in refused.text
            assert str(tmp_path) not in refused.text
        game = person.begin("bad", first="o")
        assert "You have won" in person.turn(game)
    (line,) = [record.getMessage() for record in caplog.records if record.levelname == "ERROR"]
    assert str(file) in line and line.endswith(".") and "\n" not in line


def test_a_game_outlives_the_server_and_goes_on_from_its_moves(tmp_path):
    owner = {"name": "one"}
    with visited(tmp_path, owner, own=FIRST, bad="1 / 0") as person:
        owner["name"] = "two"
        over = person.begin("bad", first="o")
        person.turn(over)
        owner["name"] = "one"
        game = person.begin()
        person.move(game, person.turn(game), typed="(0, 4, 4)")
        page = person.turn(game)
        person.post(game + "/hint", ply="2")
        moves = re.search(r'name="moves" value="([^"]*)"', page)
        assert moves[1] == "[]"  # to take back: before the person's only move
    with visited(tmp_path, owner, own=FIRST) as person:
        lobby = person.get("/extreme/play").text
        assert f'<a href="{game}">Your latest game</a>, against bot own. There is no result. The server was' in lobby
        text = person.get(game).text
        assert "There is no result. The server was started again; the moves so far are kept." in text
        assert "Your move" not in text and 'name="cell"' not in text and "hints</span>" in text
        assert person.move(game, 'name="ply" value="2"', typed="(1, 3, 3)").status_code == 303  # of a stale tab
        form = re.search(r'name="moves" value="([^"]*)">\s*<button>Go on from here', person.get(game).text)
        assert json.loads(form[1]) == [[0, 4, 4], [0, 3, 3]]
        again = person.begin(moves=form[1])
        page = person.turn(again)
        assert "begun after 2 moves" in page and "hints</span>" in page and page.count('name="cell"') == 18
        refused = person.get(game)
        assert refused.status_code == 404 and "a later one has begun" in refused.text
        owner["name"] = "two"  # whose game was over
        text = person.get(over).text
        assert "The bot forfeits: THREW AN EXCEPTION. You have won, 86\xa0:\xa00." in text and "Go on from" not in text
        assert "ZeroDivisionError" in text and person.get(game).status_code == 404


def test_each_person_has_one_kept_game_and_the_latest_stay(tmp_path):
    def state(number):
        return lambda: {"number": number, "turn": "person", "hints": False, "moves": []}

    def kept(*owners):
        with closing(BotGameStore(tmp_path, 2)) as found:
            return [one and one["number"] for one in map(found.latest, owners)]

    for owner, number in [("one", "a"), ("two", "b"), ("two", "c")]:
        with closing(BotGameStore(tmp_path, 2)) as found:
            found.keep(owner, state(number))
            found.stop_keeping()
            found.keep(owner, state("late"))  # after the server has stopped
    assert kept("one", "two") == ["a", "c"]
    with closing(BotGameStore(tmp_path, 2)) as found:
        found.keep("three", state("d"))
    assert kept("one", "two", "three") == [None, "c", "d"]


@pytest.mark.slow_but_one
@pytest.mark.parametrize(
    "fields",
    [
        {"opponent": "own", "first": "z"},
        {"opponent": "own", "first": "x", "moves": "[[0, 0]]"},
        {"opponent": "own", "first": "x", "moves": "[[0, 0, 99]]"},
        {"opponent": "own", "first": "x", "moves": "[[0, 0, true]]"},
        {"opponent": "own", "first": "x", "moves": "nothing"},
        {"opponent": "own", "first": "x", "moves": "[" * 1500},
        {"opponent": "nobody", "first": "x"},
    ],
)
def test_forms_that_begin_no_game(fields):
    with pages(Texts(own=FIRST)) as person:
        answer = person.post("/extreme/play", **fields)
        assert answer.status_code == 400 and 'class="bad" role="alert">' in answer.text and "</select>" in answer.text


def test_the_part_of_a_page_comes_only_if_it_has_changed(monkeypatch):
    monkeypatch.setattr(play_pages, "WAIT", 0.3)
    with pages(Texts(own=SLOW)) as person:
        address = person.begin(first="o")
        seen, began = re.search(r"seen=([\w-]+)", person.get(address).text)[1], time.monotonic()
        assert person.get(f"{address}?seen={seen}").status_code == 204 and time.monotonic() - began >= 0.3
        part = person.client.get(f"{address}?seen=other", headers={"HX-Request": "true"})
        assert part.status_code == 200 and part.text.lstrip().startswith('<div id="table"')


def test_the_answer_of_a_bot_comes_by_one_question(monkeypatch):
    monkeypatch.setattr(play_pages, "WAIT", 100)
    with pages(Texts(own="import time\ntime.sleep(0.2)\n" + FIRST)) as person:
        address = person.begin(first="o")
        text, asked = person.get(address).text, 0
        while "Your move" not in text:
            seen, asked = re.search(r"seen=([\w-]+)", text)[1], asked + 1
            text = person.get(f"{address}?seen={seen}").text
        assert asked <= 2  # it gets ready, and moves
        monkeypatch.setattr(play_pages, "AT_ONCE", 100)  # a script's move has the bot's answer with it
        person.client.headers["HX-Request"] = "true"
        cell = re.search(r'<button class="cell legal[^>]* value="(\d+)"', text)[1]
        assert re.search(r"Last move: × at .* [Yy]our? move", person.move(address, text, cell=cell).text)
