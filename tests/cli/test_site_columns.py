"""Numbers in the tables of all pages that a site on this machine serves: one form a column."""

import json

import pytest
from fastapi.testclient import TestClient

from pttt_ooc.cli.site import site_pages
from pttt_ooc.disk.manifests import write_manifest
from pttt_ooc.other_games.arena.experiments import round_robin
from pttt_ooc.other_games.arena.matches.runner import run
from pttt_ooc.other_games.arena.matches.settings import Match
from pttt_ooc.other_games.arena.settings import RoundRobin
from pttt_ooc.other_games.extreme.pages.exports import parts as tournament_parts
from pttt_ooc.site.shell.application import make_application
from pttt_ooc.site.shell.server import parts_of
from pttt_ooc.site.shell.shell import Shell
from tests.kits.columns import assert_one_form_a_column, problems
from tests.other_games.arena.arena_pages import application
from tests.other_games.extreme.match_kit import made


def table(*cells):
    rows = "".join(f"<tr><th>row</th><td>{cell}</td></tr>" for cell in cells)
    return f"<table><thead><tr><th>What</th><th>Number</th></tr></thead><tbody>{rows}</tbody></table>"


@pytest.mark.slow
def test_all_pages_of_a_site(tmp_path):
    for text, name in (("mnk:3x3+need3", "small"), ("ultimate", "big")):
        run(Match(text, ("random", "mcts:nodes=5"), 2), tmp_path / "arena" / name)
    asked = RoundRobin(game="mnk:3x3+need3", agents=["random", "mcts:nodes=5"], games=4)
    round_robin.conduct("both", asked, tmp_path / "arena/robin", 1, lambda sentence: None)
    tournament = made(tmp_path / "extreme")
    for game, gap in (("pttt-abrupt", 1.9e-14), ("pttt-2x4k3-abrupt", 9.5e-4)):
        (tmp_path / game / "full").mkdir(parents=True)
        facts = {"game": game, "solution": {"value": 0.55, "nashconv": gap}}
        write_manifest(tmp_path / game / "full/evaluate.json", "evaluate", **facts)
    with application(tmp_path / "arena") as app, TestClient(app, base_url="http://here") as client:
        assert_one_form_a_column(client, "/arena/matches", 3)
        assert_one_form_a_column(client, "/arena/standings", 1)
    home = parts_of(json.dumps([site_pages(tmp_path)[0].parts]))
    with TestClient(make_application(Shell("Site", "", home)), base_url="http://here") as client:
        text = client.get("/").text
        assert problems(text) == [] and "&lt;1e-12" in text
    app = make_application(Shell("Site", "", tournament_parts(str(tournament.directory))))
    with TestClient(app, base_url="http://here") as client:
        assert_one_form_a_column(client, "/extreme/standings", 5)
