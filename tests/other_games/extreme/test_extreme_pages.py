"""The tournament's pages compared with its logs, who sees what, and the same as JSON and CSV."""

import csv
import io
import json
import os
import random
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest
from fastapi.testclient import TestClient

from pttt_ooc.other_games.arena.games.base import PLAYER
from pttt_ooc.other_games.arena.games.catalogue import game as by_name
from pttt_ooc.other_games.arena.research.players.strong import Searcher
from pttt_ooc.other_games.extreme import analysis, analyst
from pttt_ooc.other_games.extreme.analyst import evaluate_matches, missing
from pttt_ooc.other_games.extreme.kit import kit_text
from pttt_ooc.other_games.extreme.league import Pairing
from pttt_ooc.other_games.extreme.pages import exports
from pttt_ooc.other_games.extreme.pages import part as pages_module
from pttt_ooc.other_games.extreme.pages import tournament_reader as shown_module
from pttt_ooc.other_games.extreme.pages.exports import parts
from pttt_ooc.other_games.extreme.pages.part import TournamentPages, part_of
from pttt_ooc.other_games.extreme.walls import ExtremeError
from pttt_ooc.site.shell.application import make_application
from pttt_ooc.site.shell.shell import Shell
from tests.kits.patience import PATIENCE
from tests.other_games.extreme.match_kit import begin, log_of, made, play_on
from tests.other_games.extreme.naive_extreme import Game
from tests.other_games.extreme.practice_kit import bot, league, write_match

ROOT = Path(__file__).parents[3]


@pytest.fixture(autouse=True)
def fresh(monkeypatch):
    monkeypatch.setattr(shown_module, "FRESH_SECONDS", 0.0)
    shown_module._read.cache_clear()


@pytest.fixture(scope="module")
def over(tmp_path_factory):
    """A tournament that is over, with the curve of one match."""
    record = made(tmp_path_factory.mktemp("made") / "t")
    analyst.write_curve(record, record.state().played[0].pairing, analyst.Analyst(nodes=200))
    return record


def app_of(directory):
    return make_application(Shell("Extreme TicTacToe", "", parts(str(directory))))


@pytest.fixture
def client(over):
    return TestClient(app_of(over.directory), raise_server_exceptions=False)


def test_the_kit_can_be_downloaded(client):
    answer = client.get("/extreme/extreme_kit.py")
    assert answer.status_code == 200 and answer.text == kit_text()
    assert 'filename="extreme_kit.py"' in answer.headers["content-disposition"]


def rows(text):
    return list(csv.DictReader(io.StringIO(text)))


# ---------------------------------------------------------------------------------------------
# What a log tells


def naive_steps(log):
    """For each move, from the plain implementation: whether it won a small board, and whether one could have."""
    game, found = Game(), []
    for move in log["moves"]:
        me, cell = game.player, tuple(move["cell"])
        chances = set()
        for other in game.legal():
            big, row, column = other
            cells = {**game.cells, other: me}
            inside = [(big, row - row % 3 + a, column - column % 3 + b) for a in range(3) for b in range(3)]
            lines = [inside[i : i + 3] for i in (0, 3, 6)] + [inside[i::3] for i in range(3)]
            lines += [inside[::4], inside[2:7:2]]
            if any(all(cells.get(one) == me for one in line) for line in lines):
                chances.add(other)
        found.append((cell in chances, bool(chances) and cell not in chances and not game.bonus, game.bonus))
        game.play(cell)
    return found


@pytest.mark.parametrize("seed", range(3))
def test_bonus_moves_made_and_missed_are_those_of_the_plain_implementation(seed):
    log = log_of(Pairing("final", 0, "a", "b"), seed)
    steps = analysis.steps(log)
    assert [(step.won, step.missed, step.bonus) for step in steps] == naive_steps(log)
    assert any(step.missed for step in steps) and any(step.won for step in steps)
    for side in (0, 1):
        one = analysis.appearance(log, steps, None, side)
        own = [told for told, step in zip(naive_steps(log), steps, strict=True) if step.player == side]
        assert (one.bonus_missed, one.bonus_made) == (sum(o[1] for o in own), sum(o[2] for o in own))
        assert one.moves == len(own) and one.opponent == "ba"[side]


@pytest.mark.parametrize("change", [{"cell": [0, 0]}, {"cell": [0, 0, 99]}, {"cell": None}, {"seconds": "x"}])
def test_a_damaged_log_is_a_sentence(change):
    log = log_of(Pairing("final", 0, "a", "b"), 1)
    log["moves"][5] = {**log["moves"][5], **change}
    with pytest.raises(ExtremeError, match="damaged"):
        analysis.steps(log)


def turning(chances_of_ply, player):
    """The turning point in a match of random moves, with made-up chances of the player to win."""
    steps = analysis.steps(log_of(Pairing("final", 0, "a", "b"), 2))
    own = [chances_of_ply(ply) for ply in range(len(steps) + 1)]
    return steps, analysis.turning_point(steps, [one if player == 0 else 1 - one for one in own], player)


@pytest.mark.parametrize("player", [0, 1])
def test_the_turning_point_is_the_own_move_with_the_largest_loss_that_stays(player):
    steps, _ = turning(lambda ply: 0.5, player)
    mine = [ply for ply, step in enumerate(steps) if step.player == player]
    worst, spike = mine[6], mine[2]

    def falls(ply):
        if ply == spike + 1:
            return 0.0  # a deep fall, which the next move makes good
        return 0.5 if ply <= worst else 0.1

    _, turn = turning(falls, player)
    assert (turn.ply, turn.before, turn.after) == (worst, 0.5, pytest.approx(0.1))
    assert turning(lambda ply: 0.5, player)[1] is analysis.turning_point([], [0.5], player) is None
    assert turning(lambda ply: ply / 1000, player)[1] is None
    not_own = next(ply for ply, step in enumerate(steps) if step.player != player)
    assert turning(lambda ply: 0.5 if ply <= not_own else 0.1, player)[1] is None


def test_a_loss_counts_if_it_stays_for_eight_plies_and_to_the_end_of_a_match():
    steps, _ = turning(lambda ply: 0.5, 0)
    mine = [ply for ply, step in enumerate(steps) if step.player == 0]
    for stays in (7, 8):
        _, turn = turning(lambda ply: 0.2 if mine[6] < ply <= mine[6] + stays else 0.5, 0)  # noqa: B023
        assert (turn and turn.ply) == (None if stays < 8 else mine[6])
    last = mine[-1]
    assert turning(lambda ply: 1.0 if ply <= last else 0.0, 0)[1].ply == last


def test_a_match_that_was_won_does_not_turn_from_certain_to_lost():
    """Bots of chance throw wins away, and get them back a few moves later."""
    judge, turns = analyst.Analyst(nodes=500), []
    for seed in range(6):
        log = log_of(Pairing("final", 0, "a", "b"), seed)
        if log["message"] == "WON":
            winner = ("P1", "P2").index(log["winner"])
            steps, chances = analysis.steps(log), judge.chances(log)
            turns += [analysis.turning_point(steps, chances, player) for player in (winner, 1 - winner)]
    assert len(turns) > 6 and not [one for one in turns[::2] if one and one.before > 0.95 and one.after < 0.05]
    assert all(one.drop > 0.2 for one in turns[1::2])  # the others lost what they had


def test_times_are_counted_by_tens_of_own_moves():
    log = log_of(Pairing("final", 0, "a", "b"), 3)
    steps = analysis.steps(log)
    own = [move["seconds"] for move in log["moves"] if move["player"] == 1]
    found = analysis.times([(steps, 1), (steps, 1)])
    assert sum(one.moves for one in found) == 2 * len(own) and found[1].first == 11
    assert found[1].longest == max(own[10:20]) and found[0].mean == pytest.approx(sum(own[:10]) / 10, abs=1e-6)


# ---------------------------------------------------------------------------------------------
# Curves


def test_a_curve_is_the_same_each_time_and_ends_with_the_result():
    judge = analyst.Analyst(nodes=300)
    log = log_of(Pairing("final", 0, "a", "b"), 4)
    one, two = judge.chances(log), judge.chances(log)
    assert one == two and len(one) == len(log["moves"]) + 1
    result = {"P1": 1.0, "P2": 0.0, "NONE": None}[log["winner"]]
    assert result is None or one[-1] == result
    assert all(0 <= chance <= 1 for chance in one) and len(set(one)) > 20


def test_a_forfeit_does_not_make_the_position_lost():
    log = log_of(Pairing("final", 0, "a", "b"), 4, forfeits=True)
    assert 0.01 < analyst.Analyst(nodes=300).chances(log)[-1] < 0.99


def test_the_evaluation_does_not_depend_on_whose_turn_it_is():
    """Positions one ply apart differ less than those two apart, and do not favour the player who is to move.

    Games of the search against itself, with few positions for a move.
    """
    game, draw, judge = by_name("extreme"), random.Random(12), analyst.Analyst(nodes=1000)
    one, two, lost = [], [], []
    for _ in range(5):
        state, moves, searcher = game.start(), [], Searcher(1 << 12)
        while legal := game.legal(state):
            move = draw.choice(legal) if len(moves) < 6 else searcher.choose(state, 600.0, nodes=300)
            moves.append((int(state[PLAYER]), int(move)))
            state = game.play(state, move)
        cells = [{"cell": [move // 81, move % 81 // 9, move % 9]} for _, move in moves]
        chances = judge.chances({"moves": cells, "message": "TIME OUT"})
        players = [player for player, _ in moves]
        for ply in range(6, len(moves) - 2):
            three = chances[ply : ply + 3]
            if players[ply] == players[ply + 2] != players[ply + 1] and all(0.05 < chance < 0.95 for chance in three):
                one.append(abs(three[0] - three[1]))
                two.append(abs(three[0] - three[2]))
                lost.append((three[0] - three[1]) * (1 - 2 * players[ply]))
    assert len(one) > 150
    assert np.mean(one) < np.mean(two) and np.mean(one) < 0.04
    assert abs(np.mean(lost)) < 0.025  # a little is lost by bad moves


class Stopping:
    """Set once it has been asked so often, so that a loop ends."""

    def __init__(self, times):
        self.times = times

    def is_set(self):
        self.times -= 1
        return self.times < 0

    def wait(self, seconds):
        return None


def test_the_analyst_evaluates_each_match_once_and_skips_a_damaged_one(tmp_path, monkeypatch):
    record = play_on(begin(tmp_path / "t", ["a", "b"], stages=(SMALL_FINAL,)))
    first, second = (played.pairing for played in record.state().played)
    log = json.loads(record.log(first).read_text())
    log["moves"][2]["cell"] = log["moves"][1]["cell"]
    record.log(first).write_text(json.dumps(log))
    monkeypatch.setattr(analyst, "NODES", 50)
    evaluate_matches(record.directory, Stopping(200))
    assert not record.curve(first).exists() and record.curve(second).exists()
    before = record.curve(second).stat().st_mtime_ns
    evaluate_matches(record.directory, Stopping(200))
    assert record.curve(second).stat().st_mtime_ns == before


def test_the_analyst_evaluates_practice_too(tmp_path, monkeypatch):
    """Before a tournament, and beside it."""
    monkeypatch.setattr(analyst, "NODES", 50)
    name = write_match(tmp_path / "p", 1, "a", "b")
    record = league(tmp_path / "p", [bot("a"), bot("b")])
    write_match(tmp_path / "p", 2, "a", "stranger")
    evaluate_matches(tmp_path / "t", Stopping(200), tmp_path / "p")
    assert [file.stem for file in (tmp_path / "p" / "curves").iterdir()] == [name]
    again = write_match(tmp_path / "p", 3, "a", "b")
    tournament = play_on(begin(tmp_path / "t", ["a", "b"], stages=(SMALL_FINAL,)))
    evaluate_matches(tmp_path / "t", Stopping(400), tmp_path / "p")
    assert {file.stem for file in (tmp_path / "p" / "curves").iterdir()} == {name, again}
    assert all(tournament.curve(played.pairing).exists() for played in tournament.all_played())
    assert missing(record) == []


SMALL_FINAL = made.__globals__["SMALL"][1]


# ---------------------------------------------------------------------------------------------
# Pages


def test_the_standings_are_those_of_the_league(over, client):
    page = client.get("/extreme/standings").text
    for table in over.state().tables:
        for row in table.rows:
            pattern = rf'/extreme/teams/{row.team}"><bdi>{row.team}</bdi></a></th><td class="figure">{row.score}</td>'
            assert re.search(pattern, page)
    assert "All 24 matches have been played" in page and "hx-get" not in page.split('id="standings"')[1].split(">")[0]


def test_standings_renew_themselves_while_the_tournament_is_played(tmp_path):
    client = TestClient(app_of(tmp_path / "t"))
    page = client.get("/extreme/standings").text
    assert "has not begun" in page and "hx-swap-oob" not in page and page.count('id="lead"') == 1
    matches = client.get("/extreme/matches")
    assert matches.status_code == 200 and "has not begun" in matches.text and "matches.csv" not in matches.text
    assert client.get("/extreme/parts/standings?seen=none").status_code == 204
    assert client.get("/extreme/matches?seen=none").status_code == 204 and "every 3s" in matches.text
    record = begin(tmp_path / "t", [f"team{n}" for n in range(4)])
    stamps, totals = [], []
    for _ in range(3):
        part = client.get("/extreme/parts/standings?seen=none", headers={"HX-Request": "true"})
        assert part.text.count('id="lead" hx-swap-oob="true"') == 1  # what stands above the form is renewed, too
        stamps.append(re.search(r"seen=([^\"]+)", part.text)[1])
        totals.append(int(re.search(r"(\d+) matches have been played", part.text)[1]))
        assert client.get(f"/extreme/parts/standings?seen={stamps[-1]}").status_code == 204
        assert client.get("/extreme/matches?seen=none").text.count('<th scope="row"') == totals[-1]
        play_on(record, 1)
    assert len(set(stamps)) == 3 and totals == [0, 1, 2]


def test_a_match_is_shown_at_every_ply_as_the_rules_have_it(over, client):
    played = next(one for one in over.state().played if one.message == "WON")
    log, game = over.match(played.pairing), Game()
    for ply, move in enumerate([None, *log["moves"]]):
        if move:
            game.play(tuple(move["cell"]))
        if ply % 7 and ply < len(log["moves"]):
            continue
        page = client.get(f"/extreme/matches/{played.pairing.name}?ply={ply}").text
        for big in (0, 1):
            label = re.search(rf'aria-label="Big board {big}, after move {ply}: ([^"]*)"', page)[1]
            shown = dict(re.findall(r"(\([01], \d, \d\)), ([xo])", label))
            wanted = {str(cell): mark for cell, mark in game.cells.items() if cell[0] == big}
            assert shown == wanted
        legal = len(game.legal())
        assert len(re.findall(r'class="cell legal', page)) == legal
    assert "Before the first of" in client.get(f"/extreme/matches/{played.pairing.name}?ply=0").text
    last = len(log["moves"])
    assert f"Move {last} of {last}" in client.get(f"/extreme/matches/{played.pairing.name}?ply={last}").text
    beyond = client.get(f"/extreme/matches/{played.pairing.name}?ply={last + 1}")
    assert beyond.status_code == 404 and f"has {last} moves; move {last + 1} is not one of them" in beyond.text


def test_the_curve_of_an_analysed_match_is_shown(over, client):
    first, second = over.state().played[:2]
    shown = client.get(f"/extreme/matches/{first.pairing.name}?ply=3").text
    told = json.loads(over.curve(first.pairing).read_text())["chances"]
    assert f"× wins with {round(100 * told[3])} %" in shown and 'class="chance"' in shown
    waiting = client.get(f"/extreme/matches/{second.pairing.name}").text
    assert "Nobody has looked at this match yet" in waiting and 'class="chance"' not in waiting
    over.curve(second.pairing).write_text('{"chances": [0.5]}')  # of another length
    assert "Nobody has looked" in client.get(f"/extreme/matches/{second.pairing.name}").text
    over.curve(second.pairing).unlink()


@pytest.mark.parametrize("name", ["nothing", "..%2f..%2fetc", "group-1-a-b", "a" * 400, "tournament"])
def test_there_are_no_other_matches(client, name):
    assert client.get(f"/extreme/matches/{name}").status_code in (404, 422)
    assert client.get(f"/api/extreme/matches/{name}").status_code in (404, 422)


def test_what_bots_say_is_text(over, client):
    lost = next(one for one in over.state().played if one.message == "THREW AN EXCEPTION")
    page = client.get(f"/extreme/matches/{lost.pairing.name}").text
    assert "&lt;b&gt;Boom&lt;/b&gt; secret" in page and "<b>Boom" not in page
    assert page.count("says &lt;i&gt;secret") == 2 and "<i>secret" not in page


def test_a_team_sees_all_of_its_matches(over, client):
    facts = client.get("/api/extreme/teams/team1").json()
    mine = [one for one in over.state().played if "team1" in (one.pairing.first, one.pairing.second)]
    assert {one["name"] for one in facts["matches"]} == {one.pairing.name for one in mine}
    assert sum(one["points"] for one in facts["matches"]) == sum(
        one.score.points[one.pairing.second == "team1"] for one in mine
    )
    assert sum(facts["lost_by"].values()) == sum(one["result"] == "lost" for one in facts["matches"])
    page = client.get("/extreme/teams/team1").text
    made_moves, missed = (sum(one[name] for one in facts["matches"]) for name in ("bonus_made", "bonus_missed"))
    assert (
        f'Made: <strong class="figure">{made_moves}</strong>. Missed: <strong class="figure">{missed}</strong>' in page
    )
    turned = [one for one in facts["matches"] if one["turning_ply"] is not None]
    for one in turned:
        assert f"/extreme/matches/{one['name']}?ply={one['turning_ply']}" in page
    played = [one.pairing.name for one in over.state().played]
    for address, expected in (("", played), ("?team=team1", [one.pairing.name for one in mine])):
        listed = re.findall(r'href="/extreme/matches/([^"?]+)"', client.get(f"/extreme/matches{address}").text)
        assert listed == expected[::-1] != []  # the latest first
    assert client.get("/extreme/teams/nobody").status_code == 404


def test_everything_is_available_as_csv(over, client):
    state = over.state()
    found = rows(client.get("/extreme/standings.csv").text)
    assert [(r["team"], int(r["score"])) for r in found] == [(r.team, r.score) for t in state.tables for r in t.rows]
    marks = {row["team"]: float(row["total"]) for row in rows(client.get("/extreme/marks.csv").text)}
    assert marks == {team: own["total"] for team, own in over.marks(state.tables).items()}
    matches = rows(client.get("/extreme/matches.csv").text)
    assert [(r["match"], r["message"]) for r in matches] == [(p.pairing.name, p.message) for p in state.played]
    log = over.match(state.played[0].pairing)
    moves = rows(client.get(f"/extreme/matches/{matches[0]['match']}/moves.csv").text)
    assert [[int(r["big_board"]), int(r["row"]), int(r["column"])] for r in moves] == [m["cell"] for m in log["moves"]]
    assert [float(r["seconds"]) for r in moves] == [m["seconds"] for m in log["moves"]]
    assert len(rows(client.get("/extreme/teams/team0/matches.csv").text)) > 3
    assert rows(client.get("/extreme/teams/team0/times.csv").text)[0]["first"] == "1"


def logs_of(answer):
    assert answer.status_code == 200, answer.text
    with zipfile.ZipFile(io.BytesIO(answer.content)) as archive:
        assert archive.testzip() is None
        return {name: archive.read(name).decode() for name in archive.namelist()}


def test_all_logs_come_as_one_zip(over, client):
    logs = logs_of(client.get("/extreme/matches.zip"))
    played = [one.pairing for one in over.state().played]
    assert list(logs) == [f"{one.name}.json" for one in played]
    assert [json.loads(text) for text in logs.values()] == [over.match(one) for one in played]


def test_without_an_account_the_zip_has_nothing_that_bots_said(over):
    shown = part_of(shown_module.TournamentReader(over.directory), exports.router)
    logs = logs_of(TestClient(make_application(Shell("Extreme TicTacToe", "", [shown]))).get("/extreme/matches.zip"))
    assert "THREW AN EXCEPTION" in "".join(logs.values()) and "secret" not in "".join(logs.values())


def test_a_damaged_log_is_a_sentence_in_the_zip_and_too_many_logs_are_refused(tmp_path, monkeypatch):
    record = play_on(begin(tmp_path / "t", ["a", "b"], stages=(SMALL_FINAL,)))
    client, (first, second) = TestClient(app_of(record.directory)), (one.pairing for one in record.state().played)
    assert len(logs_of(client.get("/extreme/matches.zip"))) == 2
    size = sum(record.log(one).stat().st_size for one in (first, second))
    for largest in (size, size - 1):
        monkeypatch.setattr(exports, "LARGEST_LOGS", largest)
        assert client.get("/extreme/matches.zip").status_code == (200 if largest == size else 413)
    shown = shown_module.TournamentReader(record.directory)
    seen = shown.snapshot()
    record.log(first).write_text("{")
    zipped = b"".join(exports._iter_zip(TournamentPages(shown, True), None, seen))
    with zipfile.ZipFile(io.BytesIO(zipped)) as archive:
        assert archive.namelist() == [f"{first.name}-damaged.txt", f"{second.name}.json"]
        assert b"cannot be read" in archive.read(f"{first.name}-damaged.txt")


def test_no_cell_of_a_table_is_a_formula(tmp_path):
    names = {"team0": "=1+1", "team1": "fine"}
    record = play_on(begin(tmp_path / "t", list(names), stages=(SMALL_FINAL,), names=names))
    text = TestClient(app_of(record.directory)).get("/extreme/standings.csv").text
    assert {row["name"] for row in rows(text)} == {"'=1+1", "fine"}


@pytest.mark.slow
def test_the_web_process_imports_no_numerics_and_nothing_that_runs_bots(over):
    script = """
import sys
from pathlib import Path
from pttt_ooc.other_games.extreme.pages.exports import parts
from pttt_ooc.site.shell.application import make_application
from pttt_ooc.site.shell.shell import Shell
from fastapi.testclient import TestClient
client = TestClient(make_application(Shell("Extreme TicTacToe", "", parts(sys.argv[1]))))
name = client.get("/api/extreme/matches").json()[0]["match"]
for page in ("standings", "matches", f"matches/{name}", "teams/team0"):
    assert client.get(f"/extreme/{page}").status_code == 200
bots = "pttt_ooc.other_games.extreme"
heavy = ("numpy", "numba", "zarr", "scipy", "matplotlib", f"{bots}.bot_process", f"{bots}.match")
print([name for name in heavy if name in sys.modules])
"""
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", script, str(over.directory)]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=PATIENCE)
    assert done.stdout.strip() == "[]", done.stdout + done.stderr


# ---------------------------------------------------------------------------------------------
# The overall order


def names_in(page, label):
    table = page.split(f'aria-label="{label}"')[1].split("</table>")[0]
    return re.findall(r"<bdi>(.*?)</bdi>", table.partition("<tbody>")[2])


def test_the_overall_order_is_by_stage_then_rank_then_score_for_each_match_then_lot(over, client):
    """Made again from the standings as a table: who is in the final comes first."""
    known = rows(client.get("/extreme/standings.csv").text)
    final = sorted((int(row["rank"]), row["team"]) for row in known if row["stage"] == "final")
    others = [row for row in known if row["team"] not in {team for _, team in final}]
    assert final and others

    def key(row):
        matches = sum(int(row[name]) for name in ("won", "drawn", "lost"))
        return int(row["rank"]), -int(row["score"]) / matches, over.lots[row["team"]]

    expected = [team for _, team in final] + [row["team"] for row in sorted(others, key=key)]
    page = client.get("/extreme/standings").text
    assert names_in(page, "The overall order") == expected
    assert page.index("The overall order") < page.index("Semi-final, pool 1")
    words = " ".join(re.sub("<[^>]*>", "", page.split("How this order comes about")[1].split("</details>")[0]).split())
    for part in (
        "Semi-final: the best 2 of each pool go on",
        "each two teams play two matches",
        "by matches won, then by the points in the matches between those that are tied, then by lot",
        f"the seed {over.seed}",
    ):
        assert part in words


def test_the_overall_order_can_be_sorted_and_searched(over, client):
    assert names_in(client.get("/extreme/standings?sort=team").text, "The overall order") == sorted(over.teams)
    won = dict.fromkeys(over.teams, 0)
    for row in rows(client.get("/extreme/standings.csv").text):
        won[row["team"]] += int(row["won"])
    by_won = [won[team] for team in names_in(client.get("/extreme/standings?sort=won").text, "The overall order")]
    assert by_won == sorted(won.values(), reverse=True)
    assert names_in(client.get("/extreme/standings?find=M3").text, "The overall order") == ["team3"]


@pytest.mark.slow_but_one
@pytest.mark.parametrize("latest", [3, 5])
def test_places_won_and_lost_in_the_latest_matches(over, tmp_path, monkeypatch, latest):
    """As by two looks at the page: before these matches, and after them."""
    monkeypatch.setattr(pages_module, "LATEST", latest)
    record, matches = begin(tmp_path / "t", [f"team{n}" for n in range(6)]), len(over.state().played)

    def seen():
        with TestClient(app_of(record.directory), base_url="http://here") as client:
            page = client.get("/extreme/standings").text
        table = page.split('aria-label="The overall order"')[1].split("</table>")[0].split("<tbody>")[1]
        told = [re.search(r'unseen">, (up|down) (\d)', row) for row in table.split("</tr>")[:-1]]
        changes = [(1 if one[1] == "up" else -1) * int(one[2]) if one else 0 for one in told]
        return dict(zip(names_in(page, "The overall order"), enumerate(changes), strict=True))

    play_on(record, matches - latest)
    before = seen()
    play_on(record)
    after = seen()
    assert {team: change for team, (_, change) in after.items()} == {
        team: before[team][0] - place for team, (place, _) in after.items()
    }
    assert any(change for _, change in (after | before).values())
