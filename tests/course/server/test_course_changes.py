"""A new game, kind or league of a course that is being served: it is served without a new start."""

import json
import urllib.request
from contextlib import ExitStack

import pytest

from pttt_ooc.course.bots.league import LeagueSettings, further_directory, open_league
from pttt_ooc.course.data.game_directory import directory_of
from pttt_ooc.course.grades.course_file import apply, read_course_file
from pttt_ooc.course.server.serve import _Processes
from tests.course.agents_kit import FIRST
from tests.course.games_kit import OTHER
from tests.course.league_kit import GOOD, SANDBOX
from tests.course.server_kit import PATIENCE, Server, bearer, pttt, random_tensor, zip_bytes

COURSE = f"""
assignments:
- {{name: strategies, kind: strategies}}
- {{name: small, kind: strategies, settings: {{game: {OTHER}}}}}
- name: rows
  kind: agents
  settings: {{game: "mnk:3x3+need3", opponents: [random], games: 2, league: 0, sandbox: {str(SANDBOX).lower()}}}
- {{name: bots, kind: bots}}
- {{name: second, kind: bots, settings: {{league: evening}}}}
"""
BOTS = LeagueSettings(time_limit=60, pools=(1,), qualify=(1,), marks=(10,), sandbox=SANDBOX, practice=False)


def names(children):
    return [child.name for child in children]


def test_the_processes_follow_the_assignments(lab, tmp_path, caplog):
    (tmp_path / "course.yaml").write_text(COURSE)
    with ExitStack() as stack:
        processes = _Processes(lab.data, lab.settings, lab.database, 3, stack, [], "[]")
        first = processes.make_children()
        assert names(first) == ["web", "worker", "explore answerer"]
        assert processes.renew_children() is first
        for league in (None, "evening"):
            open_league(further_directory(lab.data, league), BOTS)
        with lab.database.writing() as session:
            apply(session, read_course_file(tmp_path / "course.yaml"), lab.data, "Ada")
        second = processes.renew_children()
        added = {"agents", f"worker of {OTHER}", "league evening", "analyst evening", "league", "analyst"}
        assert added <= set(names(second)) - set(names(first))
        kept = [child for child in second if child in first]
        assert {"worker", "explore answerer"} <= set(names(kept)) and "web" not in names(kept)  # it has a league now
        assert (directory_of(lab.data, OTHER) / "course.sqlite").is_file()

        # Settings that are refused are told once; what is served stays.
        (lab.data / "leagues" / "evening" / "extreme.yaml").write_text("pools: none")
        assert processes.renew_children() is second is processes.renew_children()
        told = [record.why for record in caplog.records if record.levelname == "ERROR"]
        assert len(told) == 1 and "pools is 'none'" in told[0]
        (lab.data / "leagues" / "evening" / "extreme.yaml").unlink()
        (tmp_path / "course.yaml").write_text("assignments: [{name: strategies, kind: strategies}]")
        with lab.database.writing() as session:
            apply(session, read_course_file(tmp_path / "course.yaml"), lab.data, "Ada")
        third = processes.renew_children()
        assert not {"agents", f"worker of {OTHER}", "league evening"} & set(names(third))


@pytest.mark.long
def test_what_is_applied_is_served_without_a_new_start(tmp_path):
    """In processes: a strategy of a new game and an agent are judged, and a bot of a new league is checked."""
    data = tmp_path / "course"
    server = Server(data)
    try:
        token = pttt("course", "add-team", "Team A", "--data", data).stdout.strip()
        assert server.get("/api/extreme/bots", quiet=True) is None  # there is no league
        open_league(data, BOTS)
        open_league(further_directory(data, "evening"), BOTS)
        (tmp_path / "course.yaml").write_text(COURSE)
        assert pttt("course", "apply", tmp_path / "course.yaml", "--data", data).returncode == 0
        server.wait_until(lambda: len(server.events_of("web")) == 2 and get(server, "/api/extreme/bots", token) == [])
        first, second = (zip_bytes(random_tensor(p, 1, 1.0, OTHER), f"pttt_pl{p}.npy") for p in (0, 1))
        sent = {
            "games": send(server, f"/api/games/{OTHER}/submissions", token, "x.zip", first, player="0"),
            "other player": send(server, f"/api/games/{OTHER}/submissions", token, "x.zip", second, player="1"),
            "agents": send(server, "/api/agents/rows", token, "mine.py", FIRST),
            "bots": send(server, "/api/extreme/bots", token, "team7.py", GOOD),
            "further": send(server, "/api/leagues/evening/bots", token, "team7.py", GOOD),
        }
        addresses = {
            "games": f"/api/games/{OTHER}/submissions/{sent['games']}",
            "other player": f"/api/games/{OTHER}/submissions/{sent['other player']}",
            "agents": f"/api/agents/rows/{sent['agents']}",
            "bots": f"/api/extreme/bots/{sent['bots']}",
            "further": f"/api/leagues/evening/bots/{sent['further']}",
        }
        for address in addresses.values():
            server.wait_until(lambda address=address: get(server, address, token)["status"] == "Accepted")
        # Explore, Play, certificates and what a strategy loses are there for the new game as for the first.
        own = f"game={OTHER}&player=0&at=%7C&first=s{sent['games']}&second=uniform"
        server.wait_until(lambda: (get(server, f"/api/explore?{own}", token) or {}).get("player") == 0)
        lobby = get(server, f"/api/play?game={OTHER}", token)
        assert lobby["game"] == OTHER and "Uniform" in str(lobby["opponents"])
        mistakes = f"/api/submissions/{sent['games']}/mistakes?game={OTHER}"
        server.wait_until(lambda: "exploitability" in (get(server, mistakes, token) or {}))
        told, verdict = get(server, mistakes, token), get(server, addresses["games"], token)
        assert abs(told["exploitability"] - verdict["exploitability"]) < 1e-6
        certificate = f"/api/games/{OTHER}/certificate"
        assert get(server, certificate, token, "POST")["state"] == "waiting"
        server.wait_until(lambda: get(server, certificate, token)["state"] == "made")
        assert "others" not in get(server, "/api/play", token) and get(server, "/api/play", token)["game"] != OTHER
        assert len(server.events_of("worker")) == 1
        assert server.stop() == 0
    finally:
        server.close()


def get(server, path, token, method="GET"):
    request = urllib.request.Request(server.url + path, headers=bearer(token), method=method)
    try:
        with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
            return json.loads(answer.read())
    except OSError:
        return None


def send(server, path, token, name, content, **fields):
    """Upload a file; the number of the submission."""
    parts = [f'--b\r\nContent-Disposition: form-data; name="{key}"\r\n\r\n{value}\r\n' for key, value in fields.items()]
    parts.append(f'--b\r\nContent-Disposition: form-data; name="file"; filename="{name}"\r\n\r\n')
    body = "".join(parts).encode() + content + b"\r\n--b--\r\n"
    headers = bearer(token) | {"Content-Type": "multipart/form-data; boundary=b"}
    with urllib.request.urlopen(urllib.request.Request(server.url + path, body, headers), timeout=PATIENCE) as answer:
        told = json.loads(answer.read())
    return told["id"] if "id" in told else told["number"]
