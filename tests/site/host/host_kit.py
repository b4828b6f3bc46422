"""Shared by the tests of the host: exact opponents in this process, and an application for them alone."""

from fastapi.testclient import TestClient

from pttt_ooc.games.rules.catalogue import named_game
from pttt_ooc.games.rules.infoset_text import attempts_of
from pttt_ooc.library.questions.sampled_games import row_at
from pttt_ooc.library.scoring.opponents import ListedOpponents
from pttt_ooc.site.explore.match_estimates import estimate_of
from pttt_ooc.site.explore.opponents import Opponent
from pttt_ooc.site.host.matches import Matches
from pttt_ooc.site.host.part import part_of
from pttt_ooc.site.host.wing import host_file
from pttt_ooc.site.shell.application import make_application
from pttt_ooc.site.shell.shell import Shell
from tests.site.explore.answerer_kit import uniform_profile

GAME = "mini-2x3k2-abrupt"
HOST = "/api/host"


class Exact:
    """Opponents that play uniformly, as the solution and under another name; all values are exact."""

    def __init__(self, name=GAME):
        self.game, self.profile = named_game(name), uniform_profile(name)
        self.known = ListedOpponents.of_profile(self.profile)
        self.opponents = [
            Opponent(key, key.title(), p, f"of {key} {p}") for key in ("solution", "other") for p in (0, 1)
        ]

    def list_opponents(self):
        return self.opponents

    def prepare(self, opponent):
        pass

    def probabilities(self, opponent, infoset):
        return row_at(self.profile.strategies[opponent.player], infoset).tolist()

    def first_value(self, opponent):
        return self.known.value_at_start(1 - opponent.player)

    def estimate(self, opponent, squares, given_up):
        return estimate_of(self.known, 1 - opponent.player, squares, given_up)


class Scripted(Exact):
    """Opponents that attempt the squares of a list, if they may."""

    script = ()

    def probabilities(self, opponent, infoset):
        tried = {square for square, _ in attempts_of(infoset)}
        square = next(one for one in self.script if one not in tried)
        return [float(one == square) for one in range(self.game.squares)]


class Clock:
    """A clock that tests turn."""

    def __init__(self):
        self.time = 1_000_000.0

    def __call__(self):
        return self.time


def make_matches(directory, *games, **options):
    return Matches(host_file(directory), games or (Exact(),), **options)


def application(matches, **options):
    return make_application(Shell("Host", "", [part_of(matches)], **options))


class Program:
    """An agent's program."""

    def __init__(self, app, name=None):
        self.client = TestClient(app, base_url="http://host", raise_server_exceptions=False, follow_redirects=False)
        self.client.headers["Accept-Encoding"] = "identity"  # lengths would depend on how well a key compresses
        if name:
            made = self.client.post(f"{HOST}/agents", json={"name": name})
            assert made.status_code == 201, made.text
            self.token = made.json()["token"]
            self.client.headers["Authorization"] = f"Bearer {self.token}"

    def begin(self, player=0, opponent="solution", game=GAME):
        made = self.client.post(f"{HOST}/matches", json={"game": game, "opponent": opponent, "player": player})
        assert made.status_code == 201, made.text
        return made.json()

    def send(self, match, square, made=None):
        sent = {"made": match["made"] if made is None else made, "square": square}
        return self.client.post(f"{HOST}/matches/{match['id']}/attempts", json=sent)

    def play_out(self, match, choose=min):
        while not match["over"]:
            answer = self.send(match, choose(match["legal"]))
            assert answer.status_code == 200, answer.text
            match = answer.json()
        return match
