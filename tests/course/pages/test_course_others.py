"""What belongs to another team: every address of a course with all its wings, asked by others."""

import re
import time

import pytest
from fastapi.testclient import TestClient

from pttt_ooc.course.bots.league import LeagueSettings, open_league
from pttt_ooc.course.bots.submissions import Bot
from pttt_ooc.course.data.models import Submission
from pttt_ooc.course.people import teams
from pttt_ooc.course.people.rights import RIGHTS
from pttt_ooc.course.server import bot_parts as league
from pttt_ooc.course.server import strategy_parts as strategies
from pttt_ooc.other_games.arena.pages.part import part_of as arena_part
from pttt_ooc.other_games.smbc.pages.answerer_client import AskedBot
from pttt_ooc.other_games.smbc.pages.matches import Matches, MatchRow
from pttt_ooc.other_games.smbc.pages.part import part_of as smbc_part
from pttt_ooc.site.explore.game_store import StrategyGame
from pttt_ooc.site.service.wire import Client
from pttt_ooc.site.shell import accounts
from tests.course.league_kit import LEAGUE_PAGES
from tests.course.server_kit import Lab, bearer, form_token, strategy_zip

GAME, MATCH, CODE = "game-of-team-a", "match-of-team-a", b"class Team1: secret = 'mulberry'\n"

# Of each address: what a request of another team names (None: of nobody), and what else it sends.
OWN = {
    "GET /submissions/{number}/file": ("1", None),
    "POST /submissions/{number}/play": ("1", {"open": "1"}),
    "GET /submissions/{number}/mistakes": ("1", None),
    "POST /teams/{number}/certificate": ("2", {}),
    "GET /parts/teams/{number}/certificate": ("2", None),
    "GET /teams/{number}/certificate.txt.gz": ("2", None),
    "GET /api/submissions/{number}/file": ("1", None),
    "GET /api/submissions/{number}/mistakes": ("1", None),
    "GET /play/{id}": (GAME, None),
    "POST /play/{id}/attempts": (GAME, {"made": "0", "square": "0"}),
    "POST /play/{id}/resignation": (GAME, {"made": "0"}),
    "GET /play/{id}/shared": (GAME, None),
    "POST /play/{id}/continuations": (GAME, {"made": "0", "step": "0"}),
    "POST /play/{id}/hints": (GAME, {"made": "0"}),
    "POST /play/{id}/pencil": (GAME, {"made": "0", "square": "0"}),
    "POST /play/{id}/share": (GAME, {"made": "0", "shared": "yes"}),
    "GET /api/play/{id}": (GAME, None),
    "POST /api/play/{id}/attempts": (GAME, {"made": 0, "square": 0}),
    "POST /api/play/{id}/resignation": (GAME, {"made": 0}),
    "GET /api/play/{id}/review": (GAME, None),
    "GET /smbc/play/{id}": (MATCH, None),
    "GET /smbc/play/{id}/shared": (MATCH, None),
    "POST /smbc/play/{id}/hints": (MATCH, {"version": "0"}),
    "POST /smbc/play/{id}/share": (MATCH, {"version": "0", "shared": "yes"}),
    "POST /smbc/play/{id}/moves": (MATCH, {"version": "0", "square": "0"}),
    "POST /smbc/play/{id}/rounds": (MATCH, {"version": "0"}),
    "POST /smbc/play/{id}/resignation": (MATCH, {"version": "0"}),
    "GET /extreme/bots/{number}": ("1", None),
    "GET /extreme/parts/bots/{number}": ("1", None),
    "GET /extreme/bots/{number}/file": ("1", None),
    "GET /api/extreme/bots/{number}": ("1", None),
}

# What everybody may read; what it tells of a team's submissions is what the course shows of all.
OPEN = {
    "GET /": "/",
    "GET /parts/leaderboard": "/parts/leaderboard",
    "GET /matrix": "/matrix",
    "GET /parts/matrix": "/parts/matrix",
    "GET /submissions": "/submissions",
    "GET /parts/submissions": "/parts/submissions",
    "GET /submissions/{number}": "/submissions/1",
    "GET /parts/submissions/{number}": "/parts/submissions/1",
    "GET /teams/{number}": "/teams/1",
    "GET /about": "/about",
    "GET /starter-kit.zip": "/starter-kit.zip",
    "GET /player{player}-infosets.txt": "/player0-infosets.txt",
    "GET /healthz": "/healthz",
    "GET /livez": "/livez",
    "GET /metrics": "/metrics",
    "GET /robots.txt": "/robots.txt",
    "GET /sign-in": "/sign-in",
    "GET /explore": "/explore?strategies=s1",
    "GET /explore/differences": "/explore/differences",
    "GET /explore/map": "/explore/map?first=s1",
    "GET /explore/board.svg": "/explore/board.svg?first=s1",
    "GET /explore/board.png": "/explore/board.png?first=s1",
    "GET /explore/board.tex": "/explore/board.tex?first=s1",
    "GET /explore/numbers.csv": "/explore/numbers.csv?first=s1",
    "GET /play": "/play",
    "GET /smbc/explore": "/smbc/explore",
    "GET /smbc/play": "/smbc/play",
    "GET /arena/play": "/arena/play",
    "GET /arena/play/game": "/arena/play/game",
    "GET /arena/play/game.json": "/arena/play/game.json",
    "GET /arena/play/review": "/arena/play/review",
    "GET /arena/watch": "/arena/watch",
    "GET /arena/watch/game": "/arena/watch/game",
    "GET /arena/watch/events": "/arena/watch/events",
    "GET /arena/matches": "/arena/matches",
    "GET /arena/matches/one": "/arena/matches/one",
    "GET /arena/matches/replay": "/arena/matches/replay",
    "GET /arena/standings": "/arena/standings",
    "GET /extreme": "/extreme",
    "GET /extreme/standings": "/extreme/standings",
    "GET /extreme/parts/standings": "/extreme/parts/standings",
    "GET /extreme/matches": "/extreme/matches",
    "GET /extreme/matches/{name}": "/extreme/matches/1",
    "GET /extreme/teams/{key}": "/extreme/teams/team1",
    "GET /extreme/matches.zip": "/extreme/matches.zip",
    "GET /extreme/extreme_kit.py": "/extreme/extreme_kit.py",
    "GET /extreme/practice": "/extreme/practice",
    "GET /extreme/parts/practice": "/extreme/parts/practice",
    "GET /extreme/practice.csv": "/extreme/practice.csv",
    "GET /extreme/practice/matches.csv": "/extreme/practice/matches.csv",
    "GET /api/extreme/practice": "/api/extreme/practice",
    "GET /api/extreme/practice/matches": "/api/extreme/practice/matches",
    "GET /extreme/hand-in": "/extreme/hand-in",
    "GET /extreme/parts/bots": "/extreme/parts/bots",
    "GET /extreme/standings.csv": "/extreme/standings.csv",
    "GET /extreme/marks.csv": "/extreme/marks.csv",
    "GET /extreme/matches.csv": "/extreme/matches.csv",
    "GET /extreme/matches/{name}/moves.csv": "/extreme/matches/1/moves.csv",
    "GET /extreme/teams/{key}/{table}.csv": "/extreme/teams/team1/matches.csv",
    "GET /api": "/api",
    "GET /api/docs": "/api/docs",
    "GET /api/leaderboard": "/api/leaderboard",
    "GET /api/history": "/api/history",
    "GET /api/matrix": "/api/matrix",
    "GET /api/submissions": "/api/submissions",
    "GET /api/submissions/{number}": "/api/submissions/1",
    "GET /api/explore": "/api/explore?strategies=s1",
    "GET /api/play": "/api/play",
    "GET /api/extreme/bots": "/api/extreme/bots",
    "GET /api/extreme/standings": "/api/extreme/standings",
    "GET /api/extreme/matches": "/api/extreme/matches",
    "GET /api/extreme/matches/{name}": "/api/extreme/matches/1",
    "GET /api/extreme/teams/{key}": "/api/extreme/teams/team1",
}

# These name nothing that is there: they make or read something that belongs to whoever asks.
NEW = {
    "GET /api/certificate",
    "POST /api/certificate",
    "GET /api/certificate/file",
    "POST /sign-in",
    "POST /sign-out",
    "POST /submissions",
    "POST /api/submissions",
    "POST /play",
    "POST /api/play",
    "POST /smbc/play",
    "POST /arena/play",
    "POST /arena/play/game",
    "POST /arena/watch",
    "POST /arena/watch/game",
    "POST /extreme/bots",
    "POST /api/extreme/bots",
}


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    """A course with all wings; team A has something of every kind."""
    lab = Lab(tmp_path_factory.mktemp("others") / "course")
    open_league(lab.data, LeagueSettings(time_limit=60, pools=(1,), qualify=(1,), marks=(10,), sandbox=False))
    nobody = Client(lab.data / "nobody", 1)
    matches = Matches(lab.data, AskedBot(nobody))
    beside = [smbc_part(matches.bot, matches), arena_part(nobody), *league.parts_of(lab.course)]
    lab.app = strategies.app_of(lab.course, *strategies.parts_of(lab.course, nobody), *beside)
    for name in ("Team A", "Team B"):
        lab.team(name)
    number = lab.submit(lab.tokens["Team A"], 0, strategy_zip(0, 1))
    lab.run()
    owner, times = f"account:{lab.tokens['Team A'].partition('.')[0]}", {"started_at": time.time(), "changed_at": 1e12}
    played = {"rules": lab.settings.game, "opponent": "uniform", "opponent_name": "Uniform", "digest": "", "player": 0}
    with lab.app.state.play.games.store.database.writing() as session:
        session.add(StrategyGame(id=GAME, owner=owner, attempts="", result=None, resigned=False, **played, **times))
    with matches.store.database.writing() as session:
        session.add(MatchRow(id=MATCH, owner=owner, solution="", match="{}", first=0, result=None, **times))
    with lab.database.reading() as session:
        team = teams.find_team(session, "Team A")
        lab.app.state.league.bots.take_in(team, "team1.py", CODE)
        lab.secrets = [session.get(Submission, number).file, *lab.tokens.values(), "mulberry", GAME, MATCH]
    yield lab
    matches.close()
    lab.close()


def browser(course, name=None):
    """A browser of nobody, or of a team."""
    client = TestClient(course.app, base_url="http://course", raise_server_exceptions=False, follow_redirects=False)
    page = client.get("/sign-in")
    if name:
        fields = {"form_token": form_token(page.text), "token": course.tokens[name]}
        assert client.post("/sign-in", data=fields).status_code == 303
    client.form_token = form_token(client.get("/play").text if name else page.text)
    return client


def asked(course, client, name, address, path, sent):
    """The answer to one request, of a browser, or with a token where programs ask."""
    method, _, pattern = address.partition(" ")
    path = re.sub(r"{\w+}", path, pattern)
    if not pattern.startswith("/api/"):
        data = {"form_token": client.form_token, **sent} if method == "POST" else None
        return client.request(method, path, data=data)
    bare = TestClient(course.app, base_url="http://course", raise_server_exceptions=False)
    json = {"json": sent} if method == "POST" else {}
    return bare.request(method, path, headers=bearer(course.tokens[name]) if name else {}, **json)


def addresses(app):
    """All addresses of an application, but files and what describes the others."""
    routers = [router for part in app.state.shell.parts for router in part.routers] + [accounts.router]
    routes = [route for router in routers for route in router.routes]
    routes += [route for route in app.routes if route.__class__.__name__ == "APIRoute"]
    return {f"{method} {route.path}" for route in routes for method in route.methods - {"HEAD"}}


def test_every_address_is_in_a_table(course):
    listed = {*OWN, *OPEN, *NEW, *(f"{method} {path}" for method, path in RIGHTS)}  # RIGHTS: see test_term_pages
    methods = {"post": ["POST"], "teams": ["GET", "POST"]}
    # See test_course_leagues.
    listed |= {f"{method} {path}" for path, rule in LEAGUE_PAGES.items() for method in methods.get(rule, ["GET"])}
    assert sorted(addresses(course.app) ^ listed) == []


@pytest.mark.slow_but_one
@pytest.mark.parametrize("who", [None, "Team B"])
def test_what_belongs_to_another_team_is_as_if_it_did_not_exist(course, who):
    client = browser(course, who)
    for address, (path, sent) in OWN.items():
        answer = asked(course, client, who, address, path, sent)
        assert answer.status_code in ((401, 403, 404) if who is None else (403, 404)), (address, answer.text)
        said = told(answer.text, path)
        assert not any(secret in said for secret in course.secrets), address
        if answer.status_code == 404:
            no_such = "99" if path == "1" else "no-such-game"
            none = asked(course, client, who, address, no_such, sent)
            assert none.status_code == 404 and told(none.text, no_such) == said, address


def told(text, name):
    """What an answer says, whatever the request named."""
    text = re.sub(r"[?&;](amp;)?alone=1\b", "", text)  # the link to the page for slides, which every page has
    return re.sub(rf"\b{name}\b", "N", text.partition("<main")[2].partition(">")[2] or text)


@pytest.mark.slow
@pytest.mark.parametrize("who", [None, "Team B"])
def test_open_pages_tell_nothing_that_is_a_teams_own(course, who):
    client = browser(course, who)
    for address, path in OPEN.items():
        answer = client.get(path)
        assert answer.status_code < 500 or answer.status_code == 503, (address, answer.text)
        assert not any(secret in answer.text for secret in course.secrets), address


def test_the_team_itself_gets_what_is_its_own(course):
    client = browser(course, "Team A")
    assert client.get("/submissions/1/file").content == strategy_zip(0, 1)
    for path in (f"/play/{GAME}", "/extreme/bots/1", "/submissions/1/mistakes"):
        assert client.get(path).status_code in (200, 503), path
    assert client.get("/extreme/bots/1/file").content == CODE
    assert GAME in client.get("/play").text and "team1.py" in client.get("/extreme/hand-in").text
    assert browser(course).get("/api/extreme/bots", headers=bearer(course.tokens["Team B"])).json() == []
    with course.app.state.play.games.store.database.reading() as session:
        kept = session.get(StrategyGame, GAME)
    assert (kept.attempts, kept.resigned, kept.result) == ("", False, None)
    with course.app.state.league.bots.database.reading() as session:
        assert session.query(Bot).count() == 1
