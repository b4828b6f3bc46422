"""Numbers in the tables of Explore and of the course's pages: one form a column."""

from fastapi.testclient import TestClient

from pttt_ooc.explore.explorer import Explorer
from pttt_ooc.explore.local_sources import local_sources
from pttt_ooc.explore.part import part_of
from pttt_ooc.explore.sources import FixedSources
from pttt_ooc.web.application import make_application
from pttt_ooc.web.shell import Shell
from tests.course.grader_kit import strategy_zip
from tests.explore.answerer_kit import answering, ready
from tests.kits.columns import assert_one_form_a_column


def test_pages_of_explore(solved, prepared):
    with answering(prepared, solved.parent.parent) as asked:
        rules, sources = local_sources([str(solved)], None)
        part = part_of(Explorer(rules, asked, FixedSources(tuple(sources))))
        with TestClient(make_application(Shell("Explored", rules.name, [part])), base_url="http://here") as client:
            for address in ("/explore", "/explore?first=uniform&second=uniform"):
                ready(client, address)
                assert_one_form_a_column(client, address, 1, most=25)


def test_pages_of_a_course(lab):
    lab.baseline()
    tokens = [lab.team(f"Team {name}") for name in "ABC"]
    for seed, token in enumerate(tokens):
        for player in (0, 1):
            lab.submit(token, player, strategy_zip(player, seed, 1.0))
    lab.run()
    lab.submit(tokens[0], 0, strategy_zip(0, 31, 0.3))
    lab.run()
    assert_one_form_a_column(lab.client, "/", 3)
