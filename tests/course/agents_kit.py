"""Shared by the tests of agents: files, and a course with two assignments of agents."""

import threading

from pttt_ooc.course.agents.worker import Worker
from pttt_ooc.course.grades.course_file import apply, read_course_file
from pttt_ooc.course.grades.rejudging import GRADING
from tests.course.server_kit import bearer

FIRST = b"def choose(legal, state):\n    return legal[0]\n"
LAST = b"def choose(legal, state):\n    print('thinking of secret 4711')\n    return legal[-1]\n"
COURSE = """
timezone: Europe/Rome
assignments:
- {name: strategies, kind: strategies}
- name: rows
  title: Three in a row
  kind: agents
  rule: {kind: formula, formula: "40 * score + 10 * league", points: 50}
  settings: {game: "mnk:3x3+need3", opponents: ["mcts:nodes=20"], games: 2, league: 2, opening: 1}
- name: ultimate
  kind: agents
  choice: last
  rule: {kind: thresholds, figure: score, steps: [{at_least: 0, points: 5}]}
  settings: {opponents: [random], games: 2, league: 0}
"""


def agents_course(lab, directory, text=COURSE):
    """Give a lab two assignments of agents, and two teams."""
    (directory / "course.yaml").write_text(text)
    with lab.database.writing() as session:
        apply(session, read_course_file(directory / "course.yaml"), lab.data, "Ada")
    for name in ("Team A", "Team B"):
        if name not in lab.tokens:
            lab.team(name)
    return lab


def post_agent(lab, team, content, assignment="rows", file="mine.py"):
    return lab.client.post(
        f"/api/agents/{assignment}", headers=bearer(lab.tokens[team]), files={"file": (file, content)}
    )


def worker_of(lab, stopping=None):
    return Worker(lab.database, lab.storage, stopping or threading.Event(), GRADING)


def judged(lab, team, content, assignment="rows", file="mine.py"):
    """Hand in by program, and let it be judged; the verdict."""
    answer = post_agent(lab, team, content, assignment, file)
    assert answer.status_code == 201, answer.text
    worker = worker_of(lab)
    while worker.judge_next():
        pass
    number = answer.json()["number"]
    return lab.client.get(f"/api/agents/{assignment}/{number}", headers=bearer(lab.tokens[team])).json()
