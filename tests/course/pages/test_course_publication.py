"""The static pages of a finished term in a browser: wide, on a phone, dark; everything comes from its own directory."""

import time

import pytest

from pttt_ooc.course.data.models import ACCEPTED, Entry, Submission, Team
from pttt_ooc.course.grades.decisions import Desk
from pttt_ooc.course.pages.publication import publish
from tests.course.term_kit import change, set_zone
from tests.kits.browsing import assert_accessible, in_browser, pages_of

RULE = {
    "kind": "thresholds",
    "figure": "sum",
    "steps": [{"at_most": 0.1, "points": 40}, {"at_most": 0.5, "points": 20}],
}


@pytest.fixture
def published(lab, tmp_path):
    """A term of twelve teams that is over; verdicts as the worker would have written them."""
    lab.baseline()
    set_zone(lab, "Europe/Rome")
    change(
        lab, title="Phantom Tic-Tac-Toe", rule=RULE, due_at=time.time() - 9e5, rubric=[{"name": "viva", "points": 10}]
    )
    with lab.database.writing() as session:
        teams = [
            Team(name=f"Équipe {n:02} of the autumn", key=f"équipe {n:02} of the autumn", created_at=1.0)
            for n in range(12)
        ]
        session.add_all(teams)
        session.flush()
        numbers = []
        for n, team in enumerate(teams):
            for player in (0, 1)[: 1 if n == 11 else 2]:
                row = Submission(
                    team_id=team.id, player=player, file=f"{n}-{player}.zip", digest=f"{n}-{player}", size=1
                )
                row.received_at = row.changed_at = row.finished_at = 1.0 + n
                row.status, row.best, row.exploitability = ACCEPTED, True, 1e-9 * 3**n % 1
                session.add(row)
                session.flush()
                numbers.append((player, row.id))
        first, second = ([number for player, number in numbers if player == p] for p in (0, 1))
        session.add_all(Entry(first_id=a, second_id=b, value=(a - b) / 1000) for a in first for b in second)
        Desk(session, lab.data, "Ada").announce("The viva", "Room 32-144, on 3 March.\nBring your laptop.")
    with lab.database.reading() as session:
        publish(session, lab.settings, lab.data, tmp_path / "public")
    return tmp_path / "public"


@pytest.mark.slow
@in_browser
def test_the_page_of_a_finished_term(published, browser):
    with pages_of(browser, published.as_uri() + "/") as opened:
        page = opened("index.html")
        assert page.locator("h1").inner_text() == "Phantom Tic-Tac-Toe Challenge"
        board, matrix = page.get_by_role("region").all()
        assert board.locator("tbody tr").count() == 13 and matrix.locator("tbody tr").count() == 13
        assert "Bring your laptop." in page.locator("main").inner_text()
        assert_accessible(page, "publication")
        assert page.errors == []
