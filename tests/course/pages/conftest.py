"""Courses in all states, and windows of a browser that show them."""

from contextlib import contextmanager

import pytest

from pttt_ooc.course.bots.league import LeagueSettings, further_directory, open_league
from pttt_ooc.course.data.agents_tables import Agent, AgentMatch
from pttt_ooc.course.data.assignments import Term, set_term
from pttt_ooc.course.data.models import Fact, Submission, Team
from pttt_ooc.course.data.term_tables import Rejudgement
from pttt_ooc.course.grades.course_file import apply, read_course_file
from pttt_ooc.course.grades.decisions import Desk, disqualify, rule
from pttt_ooc.course.grades.rejudging import ask_for_rehearsal, begin_again
from pttt_ooc.course.pages.term_pages import make_pair
from pttt_ooc.course.people.invitations import invite
from pttt_ooc.course.people.people import add_staff, apply_roster, read_roster
from pttt_ooc.course.people.teams import find_team
from tests.course.agents_kit import FIRST, post_agent
from tests.course.games_kit import OTHER, SecondGame
from tests.course.league_kit import GOOD, LeagueCourse
from tests.course.server_kit import Lab, random_tensor, strategy_zip, zip_bytes
from tests.course.term_kit import hand_in, team_number, upload
from tests.kits.browsing import served
from tests.other_games.extreme.practice_kit import bot, league, write_match

LONG = "The Regret Minimisers of Room 32-144 MIT"
HEBREW = "צוות המשחקים"
MARKUP = "<img src=x onerror=alert(1)>"
UNBROKEN = "W" * 40
ADA = "ada.lovelace@mathematics.example.org"
COURSE = f"""
timezone: Europe/Rome
late_days: 3
team_size: 3
assignments:
- name: strategies
  title: Phantom Tic-Tac-Toe, both players, exactly evaluated
  kind: strategies
  opens: 2026-01-01 09:00
  due: 2126-02-25 23:55
  closes: 2126-02-27 23:55
  late: {{percent: 10, days: 1}}
  choice: pick
  rule: {{kind: thresholds, figure: player0, steps: [{{at_most: 0.01, points: 50}}, {{at_most: 1.9, points: 20}}]}}
- name: extreme
  kind: bots
  rubric: [{{name: heuristic, points: 10}}, {{name: search, points: 20}}, {{name: analysis of the code, points: 10}}]
- {{name: cup, title: The cup, kind: bots, settings: {{league: cup}}}}
- name: rows
  title: Three in a row
  kind: agents
  rule: {{kind: formula, formula: 50 * score, points: 50}}
  settings: {{game: "mnk:3x3+need3", opponents: [random], games: 2, league: 2, opening: 1}}
- {{name: small, title: A small game, kind: strategies, settings: {{game: {OTHER}}}}}
- {{name: report, kind: report, rubric: [{{name: text, points: 30}}]}}
"""
SHARED = b"".join(b"def f%d(a, b):\n    return [x * 2 for x in a if x > b + 3] or {3: a[4:]}\n\n" % n for n in range(4))


@contextmanager
def served_lab(lab):
    """The application of `lab` on a port of its own; the lab is closed in the end."""
    try:
        with served(lab.client.app) as url:
            yield url
    finally:
        lab.close()


@pytest.fixture(scope="module")
def empty(tmp_path_factory):
    """A course that has just started: no teams, no value of the game."""
    lab = Lab(tmp_path_factory.mktemp("empty") / "course", game_value=None)
    with served_lab(lab) as lab.url:
        yield lab


@pytest.fixture(scope="module")
def full(tmp_path_factory):
    """A course with all kinds of teams, and submissions in all states."""
    lab = Lab(tmp_path_factory.mktemp("full") / "course", submissions_per_hour=8)
    with lab.database.writing() as session:
        session.merge(Fact(name="value", value=[*lab.settings.game_value, "as the instructors have set it"]))
    lab.baseline()
    for name in ("Team A", LONG, UNBROKEN, HEBREW):
        lab.team(name)
    lab.team("No uploads")
    lab.team("Markup")
    with lab.database.writing() as session:
        session.query(Team).filter_by(name="Markup").one().name = MARKUP
    for seed, name in enumerate(("Team A", LONG, UNBROKEN, HEBREW, "Markup")):
        for player in (0, 1)[: 1 if name == HEBREW else 2]:
            lab.submit(lab.tokens[name], player, strategy_zip(player, seed, 1.0))
    lab.run()
    lab.submit(lab.tokens["Team A"], 0, strategy_zip(0, 31, 0.3))
    bad = random_tensor(0, 5)
    bad[17, 2] = -0.25
    lab.numbers = {"Accepted": 3, "Rejected": lab.submit(lab.tokens["Team A"], 0, zip_bytes(bad))}
    lab.run()
    for status in ("Queued", "Validating", "Evaluating"):
        lab.numbers[status] = lab.submit(lab.tokens["Team A"], 1, strategy_zip(1, 40 + len(status)))
        with lab.database.writing() as session:
            session.get(Submission, lab.numbers[status]).status = status
            session.get(Submission, lab.numbers[status]).progress = 0.4
    with served_lab(lab) as lab.url:
        yield lab


def agent_with(lab, team, more, status, score=None):
    """An agent whose verdict is a row of the database; its number."""
    number = post_agent(lab, team, SHARED + FIRST + more).json()["number"]
    with lab.database.writing() as session:
        agent = session.get(Agent, number)
        agent.status, agent.score, agent.printed = status, score, "thinking " * 40
        games = {"opponent": "random", "wins": 1, "draws": 0, "losses": 1, "forfeits": 1}
        agent.results = [] if score is None else [{**games, "forfeit": "TIME OUT: " + "x" * 90}]
    return number


@pytest.fixture(scope="module")
def decided(tmp_path_factory):
    """A course in which all has happened that the desk can show."""
    directory = tmp_path_factory.mktemp("site")
    course = LeagueCourse(directory / "course")
    lab = course.lab
    open_league(further_directory(lab.data, "cup"), LeagueSettings())
    (directory / "course.yaml").write_text(COURSE)
    roster = "team,name,email,number\n" + "".join(
        f"{team},Student {n} of a long name,student{n}@students.example.org,{n}\n"
        for n, team in enumerate(("Team A", "Team A", LONG))
    )
    with lab.database.writing() as session:
        apply(session, read_course_file(directory / "course.yaml"), lab.data, "Ada")
        lab.tokens |= dict(apply_roster(session, read_roster(roster, "roster")).tokens)
        lab.tokens["Ada"] = add_staff(session, "Ada Lovelace", ADA, "instructor")
        set_term(session, Term("Europe/Rome", 3, team_size=3))
    lab.baseline()
    first, better = upload(lab, "Team A", 0, 1), upload(lab, "Team A", 0, 4, 0.1)
    other, of_long = upload(lab, "Team A", 1, 2), upload(lab, LONG, 0, 3, 4.0)
    copied = upload(lab, LONG, 0, 1)  # the very file of Team A
    lab.post(lab.tokens[LONG], 1, b"no zip")
    lab.run()
    course.post("Team A", GOOD)
    hand_in(lab, "Team A", b"%PDF-1.7", name="a report with a very long name for a file of its kind.pdf")
    agents = [agent_with(lab, "Team A", b"", "Accepted", 0.9), agent_with(lab, LONG, b"", "Accepted", 0.5)]
    agents.append(agent_with(lab, "Team A", b"# better", "Accepted", 0.75))
    failed = agent_with(lab, "Team A", b"# worse", "Rejected")
    second = SecondGame(lab)
    second.baseline()
    second.verdict("Team A", 0, 1)
    second.verdict("Team A", 1, 1)
    with lab.database.writing() as session:
        row = session.get(Agent, failed)
        row.message, row.detail = "THREW AN EXCEPTION", "Traceback\n" + "y" * 300
        session.add(AgentMatch(first_id=agents[2], second_id=agents[1], wins=1, draws=1, losses=0))
        invite(session, "team Team A", find_team(session, "Team A"))
        rule(session, lab.data, ADA, "strategies", better, "hidden", "We look at it first.")
        rule(session, lab.data, ADA, "agents", agents[0], "withdrawn", "It is the file of others.")
        rule(session, lab.data, ADA, "report", 1, "withdrawn", "The wrong one.")
        disqualify(session, lab.data, ADA, LONG, "extreme", "Code of others, after two warnings")
        desk = Desk(session, lab.data, ADA)
        desk.mark("Team A", "extreme", "search", 17.5, "Alpha-beta, with an evaluation that is explained well.")
        desk.adjust("Team A", "strategies", -3, "Late for the viva")
        desk.extend("Team A", "strategies", "2126-03-03 12:00", "ill")
        desk.announce("The viva", "Room 32-144, on 3 March.\nBring your code.")
        for name in ("strategies", "extreme", "rows"):
            desk.release(name)
        make_pair(session, session.query(Team).filter_by(name="Team A").one(), first, other)
        over = ask_for_rehearsal(session, [first, of_long], ADA)
        after = "rejected: Infoset 0|1*2.3* has probabilities that sum to 0.97, not to 1"
        over.verdicts = [
            {"number": first, "before": "accepted, 0.476357559", "after": after, "verdict": None},
            {"number": of_long, "before": "accepted, 1", "after": "accepted, 1", "verdict": None},
        ]
        over.grades = [f"~ {LONG}, strategies: 20 → 0 points", "~ Team A, strategies: 17 → – points"]
        over.finished_at = over.at + 5
        ask_for_rehearsal(session, agents[:2], ADA, "agents")
        begin_again(session, [of_long], ADA)
        assert session.query(Rejudgement).count() == 3 and session.get(Submission, copied).digest
    directory = further_directory(lab.data, "cup") / "practice"
    a, b = (f"t{team_number(lab, team)}" for team in ("Team A", LONG))
    for number, pair in enumerate([(a, b), (b, "random"), ("random", a)], 1):
        write_match(directory, number, *pair, forfeits=number == 2)
    league(directory, [bot(a, name="Team A"), bot(b, name=LONG), bot("random", ours=True)])
    with served(course.app) as lab.url:
        yield lab
    second.close()
    course.close()
