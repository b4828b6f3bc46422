"""Numbers in the tables of Explore: one form a column."""

from fastapi.testclient import TestClient

from pttt_ooc.site.explore.explorer import Explorer
from pttt_ooc.site.explore.local_sources import local_sources
from pttt_ooc.site.explore.part import part_of
from pttt_ooc.site.explore.sources import FixedSources
from pttt_ooc.site.shell.application import make_application
from pttt_ooc.site.shell.shell import Shell
from tests.kits.columns import assert_one_form_a_column
from tests.site.explore.answerer_kit import answering, ready


def test_pages_of_explore(solved, prepared):
    with answering(prepared, solved.parent.parent) as asked:
        rules, sources = local_sources([str(solved)], None)
        part = part_of(Explorer(rules, asked, FixedSources(tuple(sources))))
        with TestClient(make_application(Shell("Explored", rules.name, [part])), base_url="http://here") as client:
            for address in ("/explore", "/explore?first=uniform&second=uniform"):
                ready(client, address)
                assert_one_form_a_column(client, address, 1, most=25)
