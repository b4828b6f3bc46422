"""Both players at once: the page and the command, rank and change on the verdict, the way to the next threshold."""

import json
import threading

import pytest

from pttt_ooc.course.strategies.worker import PairValues
from tests.course.server_kit import VALUE, bearer, pttt, strategy_zip
from tests.course.term_kit import STEPS, browser, change, form_of, team_number, upload
from tests.kits.browsing import served


@pytest.fixture
def two(lab):
    """Two teams, each with two strategies for each player."""
    lab.baseline()
    for name in ("Team A", "Team B"):
        lab.team(name)
    lab.tokens["team"], lab.tokens["other"] = lab.tokens["Team A"], lab.tokens["Team B"]
    lab.good = [upload(lab, "Team A", player, 1) for player in (0, 1)]
    lab.poor = [upload(lab, "Team A", player, 3, 4.0) for player in (0, 1)]
    lab.foreign = [upload(lab, "Team B", player, 5) for player in (0, 1)]
    return lab


def ask(lab, path, who="team", **json_body):
    headers = bearer(lab.tokens[who])
    if json_body:
        return lab.client.post(f"/api/course/{path}", headers=headers, json=json_body)
    return lab.client.get(f"/api/course/{path}", headers=headers)


def compute(lab):
    work, steps = PairValues(lab.database, lab.storage, lab.assessor, lab.stopping), 0
    while work.step():
        steps += 1
    return steps


def test_two_strategies_together_have_nashconv_and_their_own_value(two):
    made = ask(two, "pairs", first=two.good[0], second=two.good[1]).json()
    matrix = two.client.get("/api/matrix").json()
    at = [matrix["rows"].index("Team A"), matrix["columns"].index("Team A")]
    assert made["value"] == pytest.approx(matrix["values"][at[0]][at[1]]) and made["over"]
    figures = [two.client.get(f"/api/submissions/{n}").json()["exploitability"] for n in two.good]
    assert made["nashconv"] == pytest.approx(sum(figures)) and compute(two) == 0
    other = ask(two, "pairs", first=two.poor[0], second=two.good[1]).json()
    assert other["value"] is None and not other["over"] and compute(two) == 1
    found = ask(two, f"pairs/{other['id']}").json()
    assert found["over"] and found["value"] != made["value"]
    middle = sum(VALUE) / 2
    for one in (made, found):
        assert middle - one["exploitability"][0] - 1e-6 <= one["value"] <= middle + one["exploitability"][1] + 1e-6
    assert ask(two, "pairs", first=two.poor[0], second=two.good[1]).json()["id"] == other["id"]


@pytest.mark.slow
def test_a_value_that_is_computed_later_is_that_of_the_matrix(two):
    first, second = two.good
    made = ask(two, "pairs", first=first, second=second).json()
    with two.database.writing() as session:
        from pttt_ooc.course.data.term_tables import Pair

        session.get(Pair, made["id"]).value = None
    assert compute(two) == 1
    assert ask(two, f"pairs/{made['id']}").json()["value"] == pytest.approx(made["value"], abs=1e-6)


@pytest.mark.slow
def test_a_pair_is_of_the_teams_own_strategies_one_for_each_player(two):
    for first, second, words in [
        (two.foreign[0], two.good[1], "of yours"),
        (two.good[1], two.good[0], "is of player 1"),
        (two.good[0], 99, "no submission 99"),
    ]:
        answer = ask(two, "pairs", first=first, second=second)
        assert answer.status_code == 400 and words in answer.json()["error"]
    made = ask(two, "pairs", first=two.good[0], second=two.good[1]).json()
    assert ask(two, f"pairs/{made['id']}", "other").status_code == 404
    assert browser(two, "other").get(made["url"]).status_code == 404


@pytest.mark.slow
def test_a_page_shows_both(two):
    client = browser(two, "team")
    page = client.get(f"/teams/{team_number(two, 'Team A')}").text
    assert f'<option value="{two.good[0]}" selected>' in page and f'<option value="{two.poor[1]}">' in page
    fields = {"form_token": form_of(client), "first": two.poor[0], "second": two.poor[1]}
    address = client.post("/course/pairs", data=fields).headers["location"]
    page = client.get(address).text
    assert "It is being computed" in page and "hx-get" in page
    compute(two)
    page = client.get(address).text
    assert "It is being computed" not in page and "hx-get" not in page and "NashConv" in page
    part = client.get(address.replace("/course/", "/course/parts/"), params={"seen": "Accepted-Accepted-True"})
    assert part.status_code == 204
    assert client.post("/course/pairs", data={**fields, "first": "x"}).status_code == 400


@pytest.mark.slow
def test_both_players_are_handed_in_by_one_command(two, tmp_path):
    over = threading.Event()

    def work():
        values = PairValues(two.database, two.storage, two.assessor, two.stopping)
        while not over.wait(0.05):
            while two.judge.judge_next() or values.step():
                pass

    thread = threading.Thread(target=work)
    thread.start()
    files = []
    for player in (0, 1):
        files.append(tmp_path / f"{player}.zip")
        files[-1].write_bytes(strategy_zip(player, 77, 0.5))
    try:
        with served(two.client.app) as url:

            def submit(*arguments, code=0):
                done = pttt("submit", *arguments, "--server", url, PTTT_TOKEN=two.tokens["Team B"])
                assert done.returncode == code and "Traceback" not in done.stderr, done
                return done.stdout or done.stderr

            told = json.loads(submit(*files, "--json"))
            assert [one["status"] for one in told["submissions"]] == ["Accepted"] * 2 and told["pair"]["over"]
            assert told["pair"]["nashconv"] == pytest.approx(sum(o["exploitability"] for o in told["submissions"]))
            text = submit(*files)
            assert text.count("Submitted before") == 2 and f"Both together: {url}/course/pairs/" in text
            assert "Both together: NashConv 0." in text and "own value 0." in text
            assert "Give one file and its --player" in submit(*files, "--player", "0", code=1)
            assert "Give one file and its --player" in submit(files[0], code=1)
            assert "Invalid tensor shape" in submit(*files[::-1], code=1)
            files[0].write_bytes(strategy_zip(0, 78))
            assert "Received" in submit(files[0], "--player", "0", "--no-wait")
    finally:
        over.set()
        thread.join()


@pytest.mark.slow
def test_the_verdict_tells_rank_and_change(two):
    better = upload(two, "Team B", 0, 1)  # the same as the best of Team A: a shared rank
    found = two.client.get(f"/api/submissions/{better}").json()
    board = {row["team"]: row for row in two.client.get("/api/leaderboard").json()}
    assert found["rank"] == board["Team B"]["ranks"][0] == board["Team A"]["ranks"][0] == 1
    former = two.client.get(f"/api/submissions/{two.foreign[0]}").json()
    assert found["before"] == former["exploitability"] and found["rank_before"] > 1 and former["rank"] is None
    page = browser(two, "other").get(f"/submissions/{better}").text
    assert "Rank <strong>1</strong> of 3 as player 0" in page and f"would have rank {found['rank_before']}" in page
    first = two.client.get(f"/api/submissions/{two.good[1]}").json()
    assert first["rank"] == board["Team A"]["ranks"][1] and first["rank_before"] is None


@pytest.mark.slow
def test_the_way_to_the_next_threshold(two):
    change(two, rule={**STEPS, "steps": [{"at_most": 0.4, "points": 50}, {"at_most": 2, "points": 10}]})
    told = ask(two, "grades").json()["assignments"][0]
    figure = two.client.get(f"/api/submissions/{two.good[0]}").json()["exploitability"]
    assert told["next_threshold"] == "50 points with at most 0.4" and told["missing"] == pytest.approx(figure - 0.4)
    page = browser(two, "team").get("/course").text
    assert f"{figure - 0.4:.4g}</strong> to go" in page
