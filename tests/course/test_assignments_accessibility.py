"""The pages of agents, of further games and of accounts, in a real browser: for axe-core, narrow and wide."""

import pytest

from pttt_ooc.course.data.agents_tables import Agent, AgentMatch
from pttt_ooc.course.data.assignments import Term, set_term
from pttt_ooc.course.people.invitations import invite
from pttt_ooc.course.people.teams import find_team
from tests.course.agents_kit import FIRST, agents_course, post_agent
from tests.course.games_kit import OTHER, SecondGame
from tests.course.server_kit import Lab
from tests.kits.browsing import assert_accessible, in_browser, pages_of, served

sync_api = pytest.importorskip("playwright.sync_api")
pytestmark = in_browser
COURSE = f"""
assignments:
- {{name: strategies, kind: strategies}}
- name: rows
  title: Three in a row
  kind: agents
  settings: {{game: "mnk:3x3+need3", opponents: [random], games: 2, league: 2, opening: 1}}
- {{name: small, kind: strategies, settings: {{game: {OTHER}}}}}
"""
LONG = "The Regret Minimisers of Room 32-144 MIT"


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The address of a course with agents and a further game, whose verdicts are rows of the database."""
    directory = tmp_path_factory.mktemp("site")
    lab = Lab(directory / "course")
    lab.team(LONG)
    agents_course(lab, directory, COURSE)
    post_agent(lab, "Team A", FIRST)
    post_agent(lab, LONG, FIRST)
    post_agent(lab, "Team A", FIRST + b"#")
    with lab.database.writing() as session:
        for number, score in ((1, 0.75), (2, 0.5)):
            agent = session.get(Agent, number)
            agent.status, agent.score, agent.printed = "Accepted", score, "thinking " * 40
            agent.results = [
                {
                    "opponent": "random",
                    "wins": 1,
                    "draws": 0,
                    "losses": 1,
                    "forfeits": 1,
                    "forfeit": "TIME OUT: " + "x" * 90,
                }
            ]
        failed = session.get(Agent, 3)
        failed.status, failed.message, failed.detail = "Rejected", "THREW AN EXCEPTION", "Traceback\n" + "y" * 300
        session.add(AgentMatch(first_id=1, second_id=2, wins=1, draws=1, losses=0))
        set_term(session, Term("UTC", 0, team_size=3))
        invite(session, "team Team A", find_team(session, "Team A"))
    second = SecondGame(lab)
    second.baseline()
    second.verdict("Team A", 0, 1)
    second.post("Team A", 1, 2)
    with served(lab.client.app) as url:
        yield url, lab
    second.close()
    lab.close()


PAGES = {
    "agents": "/agents/rows",
    "agent": "/agents/rows/1",
    "agent-failed": "/agents/rows/3",
    "game": f"/games/{OTHER}",
    "strategy": f"/games/{OTHER}/submissions/3",
    "account": "/account",
    "password": "/account/sign-in",
    "link": "/account/join#code",
    "course": "/course",
}


@pytest.mark.slow
def test_a_table_alone_moves_while_agents_are_judged_and_has_nothing_to_press(site, browser):
    url, lab = site
    with pages_of(browser, url) as opened:
        page = opened(f"/games/{OTHER}?alone=1")
        assert page.locator("table").count() == 2 and page.get_by_text("Team A").first.is_visible()
        page.goto("/agents/rows?alone=1")
        for shown in (page.locator("button, form, details, nav, footer, .note, p.card"),):
            assert not any(one.is_visible() for one in shown.all())
        teams = page.locator("#standings table").first.locator("tbody th bdi")
        sync_api.expect(teams).to_have_text(["Team A", LONG])
        with lab.database.writing() as session:
            agent = session.get(Agent, 2)
            agent.score, agent.changed_at = 0.9, agent.changed_at + 1
        sync_api.expect(teams).to_have_text([LONG, "Team A"])
        with lab.database.writing() as session:
            session.get(Agent, 2).score = 0.5
        assert page.locator("table").count() == 2 and not page.errors
        page.get_by_role("link", name="Score").click()
        page.wait_for_url("**/agents/rows?sort=score&alone=1")
        page.get_by_role("link", name="Score", exact=True).click()  # the arrow is not read out
        page.wait_for_url("**/agents/rows?sort=-score&alone=1")
        sync_api.expect(teams).to_have_text(["Team A", LONG])


@pytest.mark.slow
@pytest.mark.long_but("agents")
@pytest.mark.parametrize("name", PAGES)
def test_the_pages_are_accessible(site, browser, name):
    url, lab = site
    with pages_of(browser, url) as opened:
        page = opened("/sign-in")
        page.fill("input[name=token]", lab.tokens["Team A"])
        page.press("input[name=token]", "Enter")
        page.wait_for_url(lambda address: "sign-in" not in address)
        page.goto(PAGES[name])
        assert_accessible(page, name)
        assert not page.errors
