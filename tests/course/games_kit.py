"""Shared by the tests of further games: a course with a second game, whose strategies are judged in this process."""

import threading

from pttt_ooc.course.data.game_directory import directory_of
from pttt_ooc.course.data.queue import waiting
from pttt_ooc.course.grades.course_file import apply, read_course_file
from pttt_ooc.course.grades.gradebook import settle_if_graded
from pttt_ooc.course.strategies.assessor import Assessor
from pttt_ooc.course.strategies.judging import Judge
from pttt_ooc.course.strategies.starter_kit import write_kit
from pttt_ooc.course.strategies.worker import take_in_baseline
from tests.course.server_kit import FEW, bearer, random_tensor, zip_bytes
from tests.kits.helpers import small_engine

OTHER, OTHER_VALUE = "mini-2x3k3-abrupt", (17 / 72, 17 / 72)
COURSE = f"""
assignments:
- name: strategies
  kind: strategies
  rule: {{kind: baseline, figure: player0, points: 100}}
- name: small
  title: The small game
  kind: strategies
  settings: {{game: {OTHER}}}
  rule: {{kind: baseline, figure: player0, points: 10}}
"""


def two_games(lab, directory, text=COURSE):
    """Give a lab's course a second game, and two teams; returns that game's course."""
    (directory / "course.yaml").write_text(text)
    with lab.database.writing() as session:
        apply(session, read_course_file(directory / "course.yaml"), lab.data, "Ada")
    for name in ("Team A", "Team B"):
        lab.team(name)
    return SecondGame(lab)


class SecondGame:
    """The second game of a lab's course, with a judge that is called by hand."""

    def __init__(self, lab):
        self.lab, self.course = lab, lab.course.of_game(OTHER)
        self.data = directory_of(lab.data, OTHER)
        self.assessor = Assessor(small_engine(OTHER), self.course.storage, OTHER_VALUE, (None, None))
        course = lab.database, lab.data
        self.judge = Judge(
            self.course.database, self.course.storage, self.assessor, threading.Event(), settle_if_graded, course, FEW
        )

    def baseline(self):
        take_in_baseline(self.course.database, self.course.storage, self.assessor)
        self.run()

    def kit(self):
        index, rows = self.assessor.engine.index, self.assessor.rows
        write_kit(self.course.storage.kit, self.course.settings, (None, None), index, rows)

    def post(self, team, player, seed, sharpness=1.0, game=OTHER):
        content = zip_bytes(random_tensor(player, seed, sharpness, game), f"pttt_pl{player}.npy")
        files = {"player": (None, str(player)), "file": ("x.zip", content)}
        return self.lab.client.post(
            f"/api/games/{OTHER}/submissions", headers=bearer(self.lab.tokens[team]), files=files
        )

    def run(self):
        with self.course.database.reading() as session:
            line = waiting(session)
        for number in line:
            self.judge.judge(number)

    def verdict(self, team, player, seed, sharpness=1.0, game=OTHER):
        answer = self.post(team, player, seed, sharpness, game)
        assert answer.status_code == 201, answer.text
        self.run()
        return self.lab.client.get(
            f"/api/games/{OTHER}/submissions/{answer.json()['id']}", headers=bearer(self.lab.tokens[team])
        ).json()

    def close(self):
        self.course.database.close()
