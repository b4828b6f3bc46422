"""Shared by the tests of people's games: pages whose answerer runs in a thread."""

import re
import tempfile
import threading
from contextlib import closing, contextmanager
from pathlib import Path

from fastapi.testclient import TestClient

from pttt_ooc.other_games.extreme.bot_process import Conditions
from pttt_ooc.other_games.extreme.opponents import Choice
from pttt_ooc.other_games.extreme.pages import play_pages
from pttt_ooc.other_games.extreme.play.answerer import answers_of
from pttt_ooc.other_games.extreme.play.games import BotGames
from pttt_ooc.site.service.answerer import answer_all
from pttt_ooc.site.service.wire import listening
from pttt_ooc.site.shell.application import make_application
from pttt_ooc.site.shell.shell import Shell
from tests.kits.patience import wait_until
from tests.other_games.extreme.bot_kit import bot

OPEN = Conditions(time_limit=30, load_limit=60, memory_mb=1024, walls=False)


class Texts:
    """Opponents from the bodies of their function `move`."""

    conditions = OPEN

    def __init__(self, **bodies):
        self.bodies = bodies

    def choices(self, owner):
        return [Choice(key, f"bot {key}") for key in self.bodies]

    def program(self, owner, key):
        return bot(self.bodies[key])


@contextmanager
def answering(opponents, most=4, directory=None):
    """The address of an answerer, and its games."""
    stopping = threading.Event()
    with (
        tempfile.TemporaryDirectory() as temporary,
        listening() as (made, address),
        closing(BotGames(opponents, most, directory or Path(temporary))) as games,
    ):
        thread = threading.Thread(target=answer_all, args=(made, answers_of(games), stopping))
        thread.start()
        try:
            yield str(address), games
        finally:
            stopping.set()
            thread.join()


@contextmanager
def pages(opponents, most=4):
    """A browser on one's own machine."""
    with answering(opponents, most) as (address, _):
        app = make_application(Shell("Extreme TicTacToe", "", play_pages.parts(address)))
        with TestClient(app, base_url="http://here", raise_server_exceptions=False, follow_redirects=False) as client:
            yield Player(client)


class Player:
    """A person with a browser."""

    def __init__(self, client):
        self.client = client

    def get(self, address):
        return self.client.get(address)

    def post(self, address, **fields):
        token = re.search(r'name="form_token" value="(\w+)"', self.get("/extreme/play").text)[1]
        return self.client.post(address, data={"form_token": token, **fields})

    def begin(self, opponent="own", first="x", **fields):
        """Begin a game; its address."""
        answer = self.post("/extreme/play", opponent=opponent, first=first, **fields)
        assert answer.status_code == 303, answer.text
        return answer.headers["location"]

    def turn(self, address):
        """The page, once the person is to move or the game is over."""
        found = []

        def ready():
            found[:] = [self.get(address).text]
            return "Your move" in found[0] or "a bonus move" in found[0].lower() or 'class="outcome' in found[0]

        wait_until(ready)
        return found[0]

    def move(self, address, page, **cell):
        ply = re.search(r'name="ply" value="(\d+)"', page)[1]
        return self.post(address, **{"ply": ply, **cell})
