"""The application for the tests of the wing's pages, with an answerer in a thread of this process."""

import re
import threading
from contextlib import contextmanager

from fastapi.testclient import TestClient

from pttt_ooc.other_games.smbc.pages.answerer import SolutionAnswers
from pttt_ooc.other_games.smbc.pages.answerer_client import AskedBot
from pttt_ooc.other_games.smbc.pages.matches import Matches
from pttt_ooc.other_games.smbc.pages.part import part_of
from pttt_ooc.site.service.answerer import answer_all
from pttt_ooc.site.service.wire import Client, listening
from pttt_ooc.site.shell.application import make_application
from pttt_ooc.site.shell.shell import Shell


@contextmanager
def application(solution, kept, draw=None):
    """The application of a solution; `application.matches` are the matches, in the directory `kept`."""
    with part(solution, kept, draw) as made:
        app = make_application(Shell("Secret goals", "", [made]))
        app.matches, app.solution = made.state.matches, solution
        yield app


@contextmanager
def part(solution, kept, draw=None):
    """The part of an application for a solution."""
    stopping = threading.Event()
    with listening() as (made, path):
        thread = threading.Thread(target=answer_all, args=(made, SolutionAnswers(solution), stopping))
        thread.start()
        bot = AskedBot(Client(path, 120))
        matches = Matches(kept, bot, draw)
        try:
            yield part_of(bot, matches)
        finally:
            matches.close()
            stopping.set()
            thread.join()


class Browser:
    """A person with one browser's cookies."""

    def __init__(self, app):
        self.client = TestClient(app, base_url="http://smbc", raise_server_exceptions=False, follow_redirects=False)
        self._token = ""

    def get(self, path):
        return self.client.get(path)

    def post(self, path, **fields):
        if not self._token:
            self._token = re.search(r'name="form_token" value="([^"]+)"', self.get("/smbc/play").text)[1]
        return self.client.post(path, data={"form_token": self._token, **fields})

    def begin(self, first="me"):
        answer = self.post("/smbc/play", first=first)
        assert answer.status_code == 303, answer.text
        return answer.headers["location"]
