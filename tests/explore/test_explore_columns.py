"""Numbers in the tables of Explore: one form a column."""

from fastapi.testclient import TestClient

from pttt_ooc.explore.explorer import Explorer
from pttt_ooc.explore.local_sources import local_sources
from pttt_ooc.explore.part import part_of
from pttt_ooc.explore.sources import FixedSources
from pttt_ooc.web.application import make_application
from pttt_ooc.web.shell import Shell
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
