"""Shared by the tests of playing: opponents in this process, and an application for them alone."""

import random
import re

from fastapi.testclient import TestClient
from sqlalchemy import text

from pttt_ooc.games.rules.catalogue import named_game
from pttt_ooc.games.rules.infoset_text import DIGITS
from pttt_ooc.games.rules.play import start
from pttt_ooc.library.api.strategies import Strategy
from pttt_ooc.site.explore.game_store import Games
from pttt_ooc.site.explore.opponents import Expectation, Opponent
from pttt_ooc.site.explore.play_pages import part_of
from pttt_ooc.site.shell.application import make_application
from pttt_ooc.site.shell.shell import Shell

GAME = "mini-2x3k2-abrupt"


class Uniform:
    """Opponents that play uniformly, under two names."""

    def __init__(self, name=GAME):
        self.game = named_game(name)
        self.strategies = [Strategy.uniform(self.game, player) for player in (0, 1)]
        self.opponents = [
            Opponent(key, key.title(), p, f"digest of {key} {p}") for key in ("uniform", "other") for p in (0, 1)
        ]
        self.asked = []

    def list_opponents(self):
        return self.opponents

    def prepare(self, opponent):
        pass

    def probabilities(self, opponent, infoset):
        self.asked.append((opponent, infoset))
        return self.strategies[opponent.player][infoset].tolist()

    def expectations(self, opponent):
        return [Expectation("uniform play", 0.25), Expectation("the best response", 0.5)]

    def numbers(self, opponent, infoset):
        legal = self.strategies[1 - opponent.player][infoset] > 0
        some = [0.25 if there else None for there in legal]
        return {"best_value": 0.5, "best_action_values": some, "fails": some}

    def draw_infoset(self, opponent, infoset, number):
        """By a walk over all histories: here all of them that fit have the same number of choices before."""
        found, todo = {}, [(start(self.game), 1.0)]
        while todo:
            history, weight = todo.pop()
            if history.player == opponent.player:
                legal = history.legal()
                todo += [(history.step(square), weight / len(legal)) for square in legal]
            elif history.player is not None and history.infoset(history.player) == infoset:
                text = history.infoset(opponent.player)
                found[text] = found.get(text, 0.0) + weight
            elif history.player is not None and infoset.startswith(own := history.infoset(history.player)):
                square = DIGITS.index(infoset[len(own)])
                todo += [(history.step(square), weight)] if square in history.legal() else []
        left = number * sum(found.values())
        return next(text for text, weight in sorted(found.items()) if (left := left - weight) < 0)

    def beliefs(self, opponent, infoset):
        return {"marks": [0.5] * self.game.squares}


class Browser:
    """A person who plays, with one browser's cookies."""

    def __init__(self, app):
        self.client = TestClient(app, base_url="http://play", raise_server_exceptions=False, follow_redirects=False)
        self._token = ""

    def get(self, path):
        return self.client.get(path)

    def post(self, path, **fields):
        return self.client.post(path, data={"form_token": self.token(), **fields})

    def token(self):
        if not self._token:
            self._token = form_token(self.client.get("/play").text)
        return self._token

    def begin(self, opponent="uniform", player=0):
        answer = self.post("/play", opponent=opponent, player=str(player))
        assert answer.status_code == 303, answer.text
        return answer.headers["location"].rpartition("/")[2]


def form_token(page):
    return re.search(r'name="form_token" value="([^"]+)"', page)[1]


def make_games(directory, opponents=None, seed=None):
    draw = () if seed is None else (random.Random(seed).random,)
    return Games(directory, opponents or Uniform(), *draw)


def application(games, **options):
    return make_application(Shell("Play", games.game.name, [part_of(games)], **options))


def rows(games):
    """All rows of games."""
    with games.store.database.reading() as session:
        return [tuple(row) for row in session.execute(text("SELECT * FROM games ORDER BY id"))]
