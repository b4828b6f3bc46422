"""The desk and what teams see of decisions, in a real browser: for axe-core, on narrow and wide screens."""

import pytest

from pttt_ooc.course.bots.league import LeagueSettings, further_directory, open_league
from pttt_ooc.course.data.agents_tables import Agent
from pttt_ooc.course.data.assignments import Term, set_term
from pttt_ooc.course.data.models import Submission, Team
from pttt_ooc.course.data.term_tables import Rejudgement
from pttt_ooc.course.grades.course_file import apply, read_course_file
from pttt_ooc.course.grades.decisions import Desk
from pttt_ooc.course.grades.pairing import make_pair
from pttt_ooc.course.grades.rejudging import ask_for_rehearsal, begin_again
from pttt_ooc.course.grades.rulings import disqualify, rule
from pttt_ooc.course.people.people import add_staff, apply_roster, read_roster
from tests.course.agents_kit import FIRST, post_agent
from tests.course.games_kit import OTHER, SecondGame
from tests.course.league_kit import GOOD, LeagueCourse
from tests.course.term_kit import team_number, upload
from tests.course.test_term_pages import hand_in
from tests.kits.browsing import assert_accessible, in_browser, pages_of, served
from tests.other_games.extreme.practice_kit import bot, league, write_match

pytestmark = in_browser
LONG = "The Regret Minimisers of Room 32-144 MIT"
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


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The address of a course in which all has happened that the desk can show."""
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
        lab.tokens["Ada"] = add_staff(session, "Ada Lovelace", "ada.lovelace@mathematics.example.org", "instructor")
        set_term(session, Term("Europe/Rome", 3, team_size=3))
    lab.baseline()
    first, better = upload(lab, "Team A", 0, 1), upload(lab, "Team A", 0, 4, 0.1)
    other, of_long = upload(lab, "Team A", 1, 2), upload(lab, LONG, 0, 3, 4.0)
    copied = upload(lab, LONG, 0, 1)  # the very file of Team A
    lab.post(lab.tokens[LONG], 1, b"no zip")
    lab.run()
    course.post("Team A", GOOD)
    hand_in(lab, "Team A", b"%PDF-1.7", name="a report with a very long name for a file of its kind.pdf")
    agents = [post_agent(lab, team, SHARED + FIRST).json()["number"] for team in ("Team A", LONG)]
    second = SecondGame(lab)
    second.baseline()
    second.verdict("Team A", 0, 1)
    second.verdict("Team A", 1, 1)
    with lab.database.writing() as session:
        for number, score in zip(agents, (0.75, 0.5), strict=True):
            agent = session.get(Agent, number)
            agent.status, agent.score = "Accepted", score
            agent.results = [{"opponent": "random", "wins": 1, "draws": 0, "losses": 1, "forfeits": 0, "forfeit": ""}]
        rule(session, lab.data, "ada@example.org", "strategies", better, "hidden", "We look at it first.")
        rule(session, lab.data, "ada@example.org", "agents", agents[0], "withdrawn", "It is the file of others.")
        rule(session, lab.data, "ada@example.org", "report", 1, "withdrawn", "The wrong one.")
        disqualify(session, lab.data, "ada@example.org", LONG, "rows", "Code of others, after two warnings")
        desk = Desk(session, lab.data, "ada@example.org")
        desk.mark("Team A", "extreme", "search", 17.5, "Alpha-beta, with an evaluation that is explained well.")
        desk.adjust("Team A", "strategies", -3, "Late for the viva")
        desk.extend("Team A", "strategies", "2126-03-03 12:00", "ill")
        desk.announce("The viva", "Room 32-144, on 3 March.\nBring your code.")
        for name in ("strategies", "extreme", "rows"):
            desk.release(name)
        make_pair(session, session.query(Team).filter_by(name="Team A").one(), first, other)
        over = ask_for_rehearsal(session, [first, of_long], "ada.lovelace@mathematics.example.org")
        after = "rejected: Infoset 0|1*2.3* has probabilities that sum to 0.97, not to 1"
        over.verdicts = [
            {"number": first, "before": "accepted, 0.476357559", "after": after, "verdict": None},
            {"number": of_long, "before": "accepted, 1", "after": "accepted, 1", "verdict": None},
        ]
        over.grades = [f"~ {LONG}, strategies: 20 → 0 points", "~ Team A, strategies: 17 → – points"]
        over.finished_at = over.at + 5
        ask_for_rehearsal(session, agents, "ada.lovelace@mathematics.example.org", "agents")
        begin_again(session, [of_long], "ada.lovelace@mathematics.example.org")
        assert session.query(Rejudgement).count() == 3 and session.get(Submission, copied).digest
    directory = further_directory(lab.data, "cup") / "practice"
    a, b = (f"t{team_number(lab, team)}" for team in ("Team A", LONG))
    for number, pair in enumerate([(a, b), (b, "random"), ("random", a)], 1):
        write_match(directory, number, *pair, forfeits=number == 2)
    league(directory, [bot(a, name="Team A"), bot(b, name=LONG), bot("random", ours=True)])
    with served(course.app) as url:
        yield url, lab
    second.close()
    course.close()


PAGES = {
    "desk": ("Ada", "/course/desk"),
    "desk-log": ("Ada", "/course/desk/log"),
    "desk-team": ("Ada", "/course/desk/teams/2"),
    "desk-submissions": ("Ada", "/course/desk/submissions"),
    "desk-ruled": ("Ada", "/course/desk/submissions?state=ruled"),
    "desk-nothing": ("Ada", "/course/desk/submissions?search=nobody"),
    "desk-dry-run": ("Ada", "/course/desk/rejudgements/1"),
    "desk-dry-run-begun": ("Ada", "/course/desk/rejudgements/2"),
    "desk-rejudgement": ("Ada", "/course/desk/rejudgements/3"),
    "desk-similar": ("Ada", "/course/desk/similar"),
    "desk-game": ("Ada", f"/games/{OTHER}"),
    "desk-agents": ("Ada", "/agents/rows"),
    "desk-account": ("Ada", "/account"),
    "decided": ("Team A", "/course"),
    "decided-hidden": ("Team A", "/submissions/4"),
    "decided-agent": ("Team A", "/agents/rows/1"),
    "decided-agents": ("Team A", "/agents/rows"),
    "decided-pair": ("Team A", "/course/pairs/1"),
    "decided-team": ("Team A", "/teams/2"),
    "further-game": ("Team A", f"/games/{OTHER}"),
    "further-strategy": ("Team A", f"/games/{OTHER}/submissions/3"),
    "further-hand-in": ("Team A", "/leagues/cup/hand-in"),
    "further-practice": ("Team A", "/leagues/cup/practice"),
    "further-standings": ("Team A", "/leagues/cup/standings"),
    "public-course": (None, "/course"),
    "public-sign-in": (None, "/sign-in"),
    "public-password": (None, "/account/sign-in"),
    "public-link": (None, "/account/join"),
}


@pytest.fixture(scope="module")
def windows(site, browser):
    """A window for each who looks."""
    url, lab = site
    with pages_of(browser, url) as opened:
        pages = {None: opened("/sign-in")}
        for name in ("Ada", "Team A"):
            page = pages[name] = opened("/sign-in")
            page.fill("input[name=token]", lab.tokens[name])
            page.press("input[name=token]", "Enter")
            page.wait_for_url(lambda address: "sign-in" not in address)
        yield pages


@pytest.mark.slow
@pytest.mark.long_but("desk", "decided", "further", "public-course")
@pytest.mark.parametrize("name", PAGES)
def test_the_pages_of_decisions_are_accessible(windows, name):
    who, path = PAGES[name]
    page = windows[who]
    answer = page.goto(path)
    assert answer.status == 200, path
    assert_accessible(page, name)
    small = page.evaluate(SMALL)
    assert small == [], small
    assert not page.errors


SMALL = """() => [...document.querySelectorAll('main button, main input:not([type=hidden]), main select, main summary')]
    .filter(one => one.offsetParent !== null && !one.closest('p, li'))
    .map(one => [one.outerHTML.slice(0, 120), (one.matches('[type=radio], [type=checkbox]') && one.closest('label')
        || one).getBoundingClientRect()])
    .filter(([text, box]) => box.width > 0 && (box.width < 24 || box.height < 24))
    .map(([text, box]) => `${text}: ${box.width} x ${box.height}`)"""
"""Targets below 24 x 24 pixels (WCAG 2.2, 2.5.8), which need no list of exceptions here."""
