"""Play beside a course: opponents, owners of games, and reviews."""

import re
import shutil

import pytest
from fastapi.testclient import TestClient

from pttt_ooc.course.server.strategy_parts import app_of, parts_of
from pttt_ooc.course.strategies import submissions
from pttt_ooc.library.api.strategies import Strategy
from pttt_ooc.library.api.values import best_response, evaluate
from pttt_ooc.site.service.wire import Client
from tests.course.server_kit import Lab, bearer, form_token, pttt, random_tensor, strategy_zip
from tests.kits.patience import wait_until
from tests.site.explore.answerer_kit import answering


@pytest.fixture(scope="module")
def course(solved, prepared, tmp_path_factory):
    """A course with this wing, a solution, and a submission of either player by two teams."""
    lab = Lab(tmp_path_factory.mktemp("course"), solution=str(solved))
    lab.show_solution()
    with answering(prepared, solved.parent.parent) as client:
        lab.client = TestClient(app_of(lab.course, *parts_of(lab.course, client)), base_url="http://course")
        for n, name in enumerate(("Team A", "Team B")):
            lab.team(name)
            lab.submit(lab.tokens[name], n, strategy_zip(n, 1 + n))
        lab.run()
        yield lab
    lab.close()


def begin(course, opponent, player):
    """Begin a game, once its opponent is prepared; the last answer."""
    fields = {"form_token": form_token(course.client.get("/play").text), "opponent": opponent, "player": str(player)}
    answer = None

    def done():
        nonlocal answer
        answer = course.client.post("/play", data=fields, follow_redirects=False)
        return "Getting the opponent ready" not in answer.text

    wait_until(done)
    return answer


def play_out(course, address):
    while found := re.search(r'data-made="(\d+)"', page := course.client.get(address).text):
        square = re.search(r'class="cell free" name="square" value="(\d)"', page)[1]
        fields = {"form_token": form_token(page), "made": found[1], "square": square}
        assert course.client.post(f"{address}/attempts", data=fields, follow_redirects=False).status_code == 303
    return page


@pytest.mark.slow
def test_people_play_only_against_opened_submissions(course):
    offered = r'name="opponent" value="(\w+)"'
    assert re.findall(offered, course.client.get("/play").text) == ["solution", "uniform"]
    refused = begin(course, "s1", 1)
    assert refused.status_code == 404 and "There is no such opponent" in refused.text
    assert begin(course, "s99", 1).text.split("<main")[1] == refused.text.split("<main")[1]  # as if it did not exist
    submissions.open_to_play(course.database, 1, True)
    page = course.client.get("/play").text
    assert re.findall(offered, page) == ["solution", "uniform", "s1"] and "Team A, submission 1" in page
    assert begin(course, "s1", 0).status_code == 404  # it plays player 0 itself
    address = begin(course, "s1", 1).headers["location"]
    submissions.open_to_play(course.database, 1, False)
    page = course.client.get(address).text
    fields = {"form_token": form_token(page), "made": "0", "square": "0"}
    answer = course.client.post(f"{address}/attempts", data=fields)
    assert answer.status_code == 409 and "can no longer be played against" in answer.text
    fields = {"form_token": form_token(page), "made": "0"}
    course.client.post(f"{address}/resignation", data=fields)
    page = course.client.get(f"{address}?step=0").text
    assert "can no longer be played against" in page and "probability" not in page.split("<main")[1]


@pytest.mark.slow
def test_games_of_a_team_are_the_team_s(course):
    course.sign_in(course.tokens["Team A"])
    address = begin(course, "uniform", 0).headers["location"]
    course.client.cookies.clear()
    assert course.client.get(address).status_code == 404
    course.sign_in(course.tokens["Team B"])
    assert course.client.get(address).status_code == 404
    course.client.cookies.clear()
    course.sign_in(course.tokens["Team A"])
    assert course.client.get(address).status_code == 200
    assert course.client.get("/api/submissions", headers=bearer(course.tokens["Team A"])).status_code == 200
    course.client.cookies.clear()


@pytest.mark.slow
def test_expectations_and_values_of_a_review_are_exact(course):
    submissions.open_to_play(course.database, 1, True)
    address = begin(course, "s1", 1).headers["location"]
    page = play_out(course, address)
    game = course.settings.rules
    opponent = Strategy.from_tensor(game, 0, random_tensor(0, 1))
    reply, solution = best_response(opponent), Strategy.read(course.settings.solution, 1)
    lobby = course.client.get("/play").text
    value = -evaluate(opponent, solution).value
    shown = [f"{number:.5f}".replace("-", "−") for number in (reply.value, value)]
    assert f"best response {shown[0]}" in lobby and f"solution {shown[1]}" in lobby
    first = course.client.get(f"{address}?step=1").text
    known = first.partition("What you knew")[2].partition("</figure>")[0]
    values = re.findall(r'<span class="square">(\d)</span><span class="p">([−\d.]+)</span>', known)
    assert len(values) == 6
    best = max(float(value.replace("−", "-")) for _, value in values)
    assert best == pytest.approx(reply.value, abs=6e-4)
    lost = re.search(r"lost <strong class=\"figure\">([\d.]+)</strong>", page)
    each = re.findall(r'class="figure">([\d.]+)</td></tr>', page)
    assert float(lost[1]) == pytest.approx(sum(map(float, each)), abs=1e-3)


@pytest.mark.slow
def test_a_game_is_played_on_with_an_infoset_that_the_answerer_draws(course):
    address = begin(course, "uniform", 0).headers["location"]
    page = play_out(course, address)
    first = re.search(
        r'aria-label="Attempt (\d+)">\d+</a></td><td class="text">. you', page.partition('aria-label="Attempt 2"')[2]
    )
    step = str(int(first[1]) - 1)
    fields = {"form_token": form_token(page), "step": step}
    answer = course.client.post(f"{address}/continuations", data=fields, follow_redirects=False)
    assert answer.status_code == 303
    again = course.client.get(answer.headers["location"]).text
    known = re.search(r"at <code>([^<]*)</code>", course.client.get(f"{address}?step={step}").text)[1]
    assert f"You know <code>{known}</code>" in again and "played on from attempt" in again


def test_games_are_backed_up_and_restored(course, tmp_path):
    address = begin(course, "uniform", 0).headers["location"]
    page = course.client.get(address).text
    copy, again = tmp_path / "copy.tar", tmp_path / "again"
    assert pttt("course", "backup", copy, "--data", course.data).returncode == 0
    play_out(course, address)  # what comes later is not in it
    assert pttt("course", "restore", copy, "--data", again).returncode == 0
    restored = Lab(again)
    restored.client = TestClient(
        app_of(restored.course, *parts_of(restored.course, Client(tmp_path / "nobody"))), base_url="http://course"
    )
    restored.client.cookies = course.client.cookies
    without = re.compile(r'name="form_token" value="\w+"')
    assert without.sub("", restored.client.get(address).text) == without.sub("", page)
    restored.close()
    assert (again / "play.sqlite").stat().st_mode & 0o777 == 0o600


def test_a_backup_with_damaged_games_is_refused(course, tmp_path):
    data = tmp_path / "course"
    shutil.copytree(course.data, data)
    (data / "play.sqlite").write_text("no database" * 1000)
    for file in data.glob("play.sqlite-*"):
        file.unlink()
    done = pttt("course", "backup", tmp_path / "copy.tar", "--data", data)
    assert done.returncode == 1 and "play.sqlite cannot be copied: file is not a database" in done.stderr
    assert len(done.stderr.splitlines()) == 1 and not (tmp_path / "copy.tar").exists()


def test_in_json_a_token_is_a_team_and_a_session_is_not(course):
    """Programs of a team go on with its games; nobody else does, and a page in a browser cannot act for it."""
    a, b = ({"Authorization": f"Bearer {course.tokens[name]}"} for name in ("Team A", "Team B"))
    course.client.cookies.clear()
    answer = None

    def done():
        nonlocal answer
        answer = course.client.post("/api/play", json={"opponent": "uniform", "player": 0}, headers=a)
        return answer.status_code != 202

    wait_until(done)
    assert answer.status_code == 201 and "set-cookie" not in answer.headers
    address, sent = f"/api/play/{answer.json()['id']}", {"made": 0, "square": 0}
    course.sign_in(course.tokens["Team A"])
    page = course.client.get(address.removeprefix("/api")).text
    assert 'data-made="0"' in page  # the team's, in its browser too
    unknown = {"Authorization": "Bearer nonsense"}
    for headers, status in (({}, 404), (b, 404), (unknown, 401)):
        assert course.client.get(address, headers=headers).status_code == status
        assert course.client.post(f"{address}/attempts", json=sent, headers=headers).status_code == status
        assert course.client.post(f"{address}/resignation", json={"made": 0}, headers=headers).status_code == status
        assert answer.json()["id"] not in course.client.get("/api/play", headers=headers).text
    assert course.client.get(address, headers=a).json()["made"] == 0
    assert course.client.post(f"{address}/attempts", json=sent, headers=a).json()["made"] == 1
    assert course.client.post("/api/play", json={"opponent": "s2", "player": 0}, headers=a).status_code == 404
    course.client.cookies.clear()
