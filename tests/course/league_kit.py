"""A course with a league: a course in this process, its teams, and the worker called by hand."""

import datetime
import threading

from fastapi.testclient import TestClient

from pttt_ooc.course.bots.league import League, LeagueSettings, open_league
from pttt_ooc.course.bots.submissions import Bots
from pttt_ooc.course.bots.worker import Worker
from pttt_ooc.course.server.app import create_app
from pttt_ooc.course.server.bot_parts import parts_of
from pttt_ooc.other_games.extreme.match import check_walls
from pttt_ooc.other_games.extreme.walls import ExtremeError
from pttt_ooc.site.service.pulse import Pulse
from tests.course.server_kit import Lab, bearer, form_token

GOOD = b"""#!/usr/bin/env python3
class Team7:
    def __init__(self):
        pass
    def move(self, board, old_move, flag):
        print("thinking of secret 4711")
        return board.find_valid_move_cells(old_move)[0]
"""
OLD = b"""import random
class Team7:
    def move(self, board, old_move, flag):
        print 'old'
        cells = board.find_valid_move_cells(old_move)
        half = len(cells) / 2
        return cells[half]
"""
BAD = b"""#!/usr/bin/env python3
class Team7:
    def move(self, board, old_move, flag):
        raise ValueError("<script>alert('4711')</script>")
"""

LEAGUE_PAGES = {
    "/leagues/{league}": "everybody",
    "/leagues/{league}/matches": "everybody",
    "/leagues/{league}/matches/{name}": "begun",
    "/leagues/{league}/matches/{name}/moves.csv": "begun",
    "/leagues/{league}/matches.csv": "begun",
    "/leagues/{league}/matches.zip": "begun",
    "/leagues/{league}/teams/{key}": "begun",
    "/leagues/{league}/teams/{key}/{table}.csv": "begun",
    "/leagues/{league}/standings.csv": "begun",
    "/leagues/{league}/marks.csv": "begun",
    "/leagues/{league}/practice.csv": "begun",
    "/leagues/{league}/practice/matches.csv": "begun",
    "/leagues/{league}/extreme_kit.py": "everybody",
    "/api/leagues/{league}/standings": "begun",
    "/api/leagues/{league}/matches": "begun",
    "/api/leagues/{league}/matches/{name}": "begun",
    "/api/leagues/{league}/teams/{key}": "begun",
    "/api/leagues/{league}/practice": "begun",
    "/api/leagues/{league}/practice/matches": "begun",
    "/leagues/{league}/hand-in": "everybody",
    "/leagues/{league}/standings": "everybody",
    "/leagues/{league}/practice": "everybody",
    "/leagues/{league}/parts/practice": "everybody",
    "/leagues/{league}/parts/standings": "everybody",
    "/leagues/{league}/parts/bots": "everybody",
    "/leagues/{league}/bots/{number}": "own",
    "/leagues/{league}/parts/bots/{number}": "own",
    "/leagues/{league}/bots/{number}/file": "own",
    "/leagues/{league}/bots": "post",
    "/api/leagues/{league}/bots": "teams",
    "/api/leagues/{league}/bots/{number}": "own",
}
"""Who may use each address: everybody, or nobody until matches have been played; teams; the bot's own team, while for
others it is as if there were no such bot."""


def walls():
    """Whether strangers' bots can be shut in here."""
    try:
        check_walls()
    except ExtremeError:
        return False
    return True


SANDBOX = walls()


def now(minutes):
    """So many minutes from now."""
    return datetime.datetime.now(datetime.UTC) + datetime.timedelta(minutes=minutes)


class LeagueCourse:
    """A course with a league and two teams."""

    def __init__(self, directory, **changes):
        self.lab = Lab(directory)
        settings = {"time_limit": 60, "pools": (1,), "qualify": (1,), "marks": (10,), "sandbox": SANDBOX}
        settings = {**settings, "practice": False, **changes}
        open_league(self.lab.data, LeagueSettings(**settings))
        self.league = League(self.lab.data)
        self.app = create_app(self.lab.course, *parts_of(self.lab.course))
        self.bots = Bots(self.league)
        self.stopping = threading.Event()
        self.pulse = Pulse(self.league.alive)
        self.worker = Worker(self.league, self.bots, self.lab.database, self.pulse, self.stopping)
        for name in ("Team A", "Team B"):
            self.lab.team(name)
        self.tokens = self.lab.tokens

    def browser(self, name=None):
        """A browser, in which a team is signed in."""
        client = TestClient(self.app, base_url="http://course", raise_server_exceptions=False, follow_redirects=False)
        if name:
            form = {"form_token": form_token(client.get("/sign-in").text), "token": self.tokens[name]}
            assert client.post("/sign-in", data=form).status_code == 303
        return client

    def post(self, name, content, file="team7.py"):
        """Hand in by program."""
        client = self.browser()
        return client.post("/api/extreme/bots", headers=bearer(self.tokens[name]), files={"file": (file, content)})

    def hand_in(self, name, content, file="team7.py"):
        """Hand in by program, and let it be checked; the verdict."""
        number = self.post(name, content, file).json()["number"]
        while self.worker.check_next():
            pass
        return self.browser().get(f"/api/extreme/bots/{number}", headers=bearer(self.tokens[name])).json()

    def restarted(self, **changes):
        """The same course with other settings, as after a change of its file and a new start."""
        self.bots.close()
        (self.lab.data / "extreme.yaml").unlink()
        open_league(self.lab.data, self.league.settings.model_copy(update=changes))
        self.league = League(self.lab.data)
        self.bots = Bots(self.league)
        self.app = create_app(self.lab.course, *parts_of(self.lab.course))
        self.worker = Worker(self.league, self.bots, self.lab.database, self.pulse, self.stopping)

    def close(self):
        self.bots.close()
        self.lab.close()
