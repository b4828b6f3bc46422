"""Certificates of a team's two best strategies: asked for, made within limits, checked by the independent program."""

import json
import random
import subprocess
import sys
import time
import urllib.request
from fractions import Fraction

import pytest

from pttt_ooc.course.data.models import Submission
from pttt_ooc.course.people.teams import find_team
from pttt_ooc.course.strategies import certificate_process, certificates
from pttt_ooc.course.strategies.certificates import Certificates, Certifier
from pttt_ooc.games.rules.catalogue import EXACT_VALUES, named_game
from pttt_ooc.pipeline.stages.preparation import prepare_index
from tests.course.server_kit import GAME, Lab, bearer, form_token, pttt, strategy_zip, zip_bytes
from tests.kits import naive
from tests.kits.cli_runner import rounded, tensor_of
from tests.kits.patience import wait_until
from tests.kits.verify_program import proven_words, verify


def sparse(player, seed):
    """A strategy that seldom mixes: by text, and as the file of a submission."""
    table = naive.random_strategy(named_game(GAME), player, random.Random(seed), 0.6)
    return rounded(named_game(GAME), table), zip_bytes(tensor_of(GAME, player, table), f"pttt_pl{player}.npy")


@pytest.fixture
def filled(lab):
    """Two teams; Team A has an accepted strategy for each player, Team B for player 0."""
    prepare_index(lab.storage.index, GAME, "none")
    fill(lab)
    return lab


def fill(lab):
    for name in ("Team A", "Team B"):
        lab.team(name)
    lab.tables = []
    for player in (0, 1):
        table, content = sparse(player, 3)
        lab.tables.append(table)
        lab.submit(lab.tokens["Team A"], player, content)
    lab.submit(lab.tokens["Team B"], 0, strategy_zip(0, 1))
    lab.run()
    lab.certificates = Certificates(lab.storage.certificates)


def api(lab, method="get", path="", team="Team A"):
    return getattr(lab.client, method)(f"/api/certificate{path}", headers=bearer(lab.tokens[team]))


def made_at_once(lab):
    """What the worker's process does, in this process."""
    pair, certificates = (1, 2), lab.certificates
    assert certificates.next_pair([pair]) == pair
    with lab.database.reading() as session:
        files = [session.get(Submission, number).file for number in pair]
    certificate_process.make(lab.data, pair, tuple(files))


def finished(maker):
    """Look after a certifier until it has nothing to do."""
    maker.look_after()
    wait_until(lambda: not maker.look_after())


@pytest.mark.slow
def test_a_certificate_is_asked_for_made_and_proves_what_the_course_says(filled, tmp_path):
    assert api(filled).json()["state"] == "none"
    asked = api(filled, "post")
    assert asked.status_code == 202 and asked.json()["state"] == "waiting" and asked.json()["submissions"] == [1, 2]
    assert api(filled, path="/file").status_code == 404
    made_at_once(filled)
    told = api(filled).json()
    assert told["state"] == "made" and told["note"] == ""
    path = tmp_path / "certificate.txt.gz"
    path.write_bytes(api(filled, path="/file").content)
    assert path.stat().st_size == told["bytes"]
    assert verify(path)[-1] == f"proven: {proven_words(told['lower'], told['upper'])}"
    lower, upper = (float(Fraction(told[end])) for end in ("lower", "upper"))
    game = named_game(GAME)
    assert upper == pytest.approx(naive.best_response_value(game, 0, filled.tables[1]), abs=1e-12)
    assert lower == pytest.approx(-naive.best_response_value(game, 1, filled.tables[0]), abs=1e-12)
    total = {row["team"]: row["total"] for row in filled.client.get("/api/leaderboard").json()}["Team A"]
    assert float(Fraction(told["nashconv"])) == pytest.approx(total, abs=1e-7)
    assert api(filled, "post").json() == told  # nothing is made twice
    assert filled.certificates.next_pair([(1, 2)]) is None


@pytest.mark.slow
def test_the_teams_page_has_it_from_the_button_to_the_file(filled):
    page = f"/teams/{team_of(filled)}"
    assert "Certificate" not in filled.client.get(page).text
    filled.sign_in(filled.tokens["Team A"])
    text = filled.client.get(page).text
    assert (
        "Make the certificate of submissions 1 and 2" in text and "hx-get" not in text.partition('id="certificate"')[2]
    )
    assert f'href="{page}#certificate"' in filled.client.get("/submissions/1").text
    sent = filled.client.post(f"{page}/certificate", data={"form_token": form_token(text)}, follow_redirects=False)
    assert sent.status_code == 303 and sent.headers["location"] == f"{page}#certificate"
    waiting = filled.client.get(page).text
    assert "is being made" in waiting
    part = waiting.partition('hx-get="')[2].partition('"')[0]
    assert filled.client.get(part).status_code == 204
    made_at_once(filled)
    there = filled.client.get(part)
    assert there.status_code == 200 and "hx-get" not in there.text
    facts, value = api(filled).json(), EXACT_VALUES[GAME]
    figures = [Fraction(facts[name]) for name in ("lower", "upper", "nashconv")]
    figures += [value - figures[0], figures[1] - value]
    for figure in figures:
        assert f"{float(figure):.7f}".replace("-", "\u2212") in there.text
    assert filled.client.get(f"{page}/certificate.txt.gz").content == api(filled, path="/file").content


def team_of(lab, name="Team A"):
    with lab.database.reading() as session:
        return find_team(session, name).id


@pytest.mark.slow
def test_nobody_gets_the_certificate_of_another_team(filled):
    """It has both strategies in it."""
    api(filled, "post")
    made_at_once(filled)
    page = f"/teams/{team_of(filled)}"
    paths = [f"{page}/certificate.txt.gz", f"/parts{page}/certificate"]
    assert [filled.client.get(path).status_code for path in paths] == [401, 401]
    assert filled.client.get("/api/certificate").status_code == 401
    assert filled.client.get("/api/certificate/file", headers=bearer("1.wrong")).status_code == 401
    filled.sign_in(filled.tokens["Team B"])
    assert [filled.client.get(path).status_code for path in paths] == [403, 403]
    form = {"form_token": form_token(filled.client.get("/sign-in").text)}
    assert filled.client.post(f"{page}/certificate", data=form).status_code == 403
    assert "Certificate" not in filled.client.get(page).text
    filled.sign_in(filled.tokens["Team A"])
    assert filled.client.post(f"{page}/certificate", data={"form_token": "wrong"}).status_code == 403


@pytest.mark.slow
def test_a_team_without_both_strategies_is_told_so(filled):
    for method in ("get", "post"):
        answer = api(filled, method, team="Team B")
        assert answer.status_code == 409 and "for each player" in answer.text
    filled.sign_in(filled.tokens["Team B"])
    assert (
        "needs an accepted strategy for each player first"
        in filled.client.get(f"/teams/{team_of(filled, 'Team B')}").text
    )
    assert filled.certificates.next_pair([(1, 2)]) is None


@pytest.mark.slow
def test_a_strategy_that_reaches_too_much_gets_a_sentence(tmp_path):
    lab = Lab(tmp_path / "course", certificate_infosets=10)
    prepare_index(lab.storage.index, GAME, "none")
    fill(lab)
    api(lab, "post")
    made_at_once(lab)
    told = api(lab).json()
    assert told["state"] == "refused" and "reaches more than 10 infosets" in told["note"] and told["lower"] is None
    lab.sign_in(lab.tokens["Team A"])
    assert "reaches more than 10 infosets" in lab.client.get(f"/teams/{team_of(lab)}").text
    assert api(lab, path="/file").status_code == 404
    lab.close()


@pytest.mark.slow
def test_a_course_can_do_without(tmp_path):
    lab = Lab(tmp_path / "course", certificate_infosets=None)
    fill(lab)
    assert api(lab).status_code == 404 and "makes no certificates" in api(lab, "post").text
    lab.sign_in(lab.tokens["Team A"])
    assert "Certificate" not in lab.client.get(f"/teams/{team_of(lab)}").text
    assert "Certificate" not in lab.client.get("/submissions/1").text
    lab.close()


@pytest.mark.slow
def test_a_better_strategy_has_a_certificate_of_its_own(filled):
    api(filled, "post")
    made_at_once(filled)
    table = tensor_of(GAME, 1, naive.uniform(named_game(GAME), 1))
    number = filled.submit(filled.tokens["Team A"], 1, zip_bytes(table))
    filled.run()
    assert api(filled).json()["submissions"] == [1, number] and api(filled).json()["state"] == "none"
    assert len(list(filled.storage.certificates.iterdir())) == 2
    Certifier(filled.database, filled.storage, filled.settings).close()
    assert list(filled.storage.certificates.iterdir()) == []


@pytest.mark.long
def test_the_worker_has_it_made_in_a_process_of_its_own(filled):
    maker = Certifier(filled.database, filled.storage, filled.settings)
    assert not maker.look_after()
    api(filled, "post")
    assert maker.look_after()
    maker.close()  # the worker stops
    assert api(filled).json()["state"] == "waiting"
    again = Certifier(filled.database, filled.storage, filled.settings)
    finished(again)
    assert api(filled).json()["state"] == "made"
    again.close()


@pytest.mark.long
def test_limits_of_time_and_memory_end_in_a_sentence(filled, monkeypatch):
    for name, value in (("PATIENCE", 0), ("MEMORY", 30_000_000)):
        api(filled, "post")
        with monkeypatch.context() as patch:
            patch.setattr(certificates, name, value)
            maker = Certifier(filled.database, filled.storage, filled.settings)
            finished(maker)
            maker.close()
        told = api(filled).json()
        assert told["state"] == "refused" and "10 minutes of processor time and 2 GB of memory" in told["note"], name
        for path in filled.storage.certificates.iterdir():
            path.unlink()


@pytest.mark.slow
def test_the_process_ends_with_the_worker(filled):
    """A worker that is killed closes the other end of its standard input."""
    child = subprocess.Popen(
        [
            sys.executable,
            "-c",
            f"import time, sys; sys.argv[1:] = ['{filled.data}', '1', '2', 'a', 'b', '4000000000'];"
            f"from {certificates.PROGRAM} import main, make; import {certificates.PROGRAM} as m;"
            "m.make = lambda *_: print('ready', flush=True) or time.sleep(600); main()",
        ],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert child.stdout.readline() == b"ready\n"
    child.stdin.close()
    begun = time.monotonic()
    assert child.wait(60) != 0 and time.monotonic() - begun < 60
    child.stdout.close()


@pytest.mark.slow
def test_a_record_that_is_damaged_is_asked_for_again(filled):
    api(filled, "post")
    made_at_once(filled)
    record = filled.storage.certificates / "1-2.json"
    for content in (
        "",
        "{",
        "[]",
        '{"state": "made"}',
        '{"state": "made", "lower": "x", "upper": "1", "infosets": [1, 2]}',
    ):
        record.write_text(content)
        assert api(filled).json()["state"] == "none", content
    assert api(filled, "post").json()["state"] == "waiting"


@pytest.mark.slow
def test_a_served_course_makes_certificates(server, tmp_path):
    done = pttt("course", "add-team", "Provers", "--data", server.data)
    token = done.stdout.split()[-1]
    for player in (0, 1):
        file = tmp_path / f"sparse{player}.zip"
        file.write_bytes(sparse(player, 5)[1])
        options = ("--player", player, "--token", token, "--server", server.url)
        assert pttt("submit", file, *options).returncode == 0

    def facts(method="GET"):
        request = urllib.request.Request(f"{server.url}/api/certificate", headers=bearer(token), method=method)
        with urllib.request.urlopen(request, timeout=60) as answer:
            return json.loads(answer.read())

    assert facts("POST")["state"] == "waiting"
    server.wait_until(lambda: facts()["state"] == "made")
    assert facts()["infosets"][0] > 10
