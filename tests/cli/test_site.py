"""Everything in a directory as one site: what its home lists, and that nothing is computed for it."""

import json
import re

import pytest
from fastapi.testclient import TestClient

from pttt_ooc.cli.commands import main
from pttt_ooc.cli.servers import solved_in
from pttt_ooc.cli.site import found_solutions, games_of, site_pages
from pttt_ooc.config import FinishConfig
from pttt_ooc.disk.manifests import write_manifest
from pttt_ooc.errors import StrategyFileError
from pttt_ooc.service.local_server import processes_behind
from pttt_ooc.stages import evaluate, finish
from pttt_ooc.web.application import make_application
from pttt_ooc.web.local_process import parts_of
from pttt_ooc.web.shell import Shell
from tests.explore.answerer_kit import solve_game

GAME, OTHER = "mini-2x3k2-abrupt", "mini-2x2k2-abrupt"


def evaluated(data, game, run, value, gap):
    directory = data / game / run
    directory.mkdir(parents=True)
    write_manifest(directory / "evaluate.json", "evaluate", game=game, solution={"value": value, "nashconv": gap})
    return directory


def home_of(pages):
    function, *arguments = pages[0].parts
    app = make_application(Shell(pages[0].title, pages[0].subtitle, parts_of(json.dumps([[function, *arguments]]))))
    with TestClient(app, base_url="http://site") as client:
        return client.get("/").text


def test_solutions_are_found_with_their_exact_gaps_the_better_first(tmp_path):
    evaluated(tmp_path, "pttt-2x4k3-abrupt", "full", 0.4447, 1e-3)
    evaluated(tmp_path, "pttt-abrupt", "none", 0.55, 2e-4)
    evaluated(tmp_path, "pttt-abrupt", "full", 0.55, 3e-5)
    broken = evaluated(tmp_path, GAME, "full", 0, 0) / "evaluate.json"
    broken.write_text(broken.read_text().replace('"nashconv"', '"nash"'))
    found, damaged = found_solutions(tmp_path)
    assert {(one.game, one.directory.name, one.gap) for one in found} == {
        ("pttt-2x4k3-abrupt", "full", 1e-3),
        ("pttt-abrupt", "none", 2e-4),
        ("pttt-abrupt", "full", 3e-5),
    }
    assert damaged == [f"{GAME}/full cannot be read; pttt fsck says more."]
    assert [[one.gap for one in game] for game in games_of(found, None, tmp_path)] == [[3e-5, 2e-4], [1e-3]]
    named = games_of(found, "pttt-2x4k3-abrupt", tmp_path)
    assert [[one.gap for one in game] for game in named] == [[1e-3], [3e-5, 2e-4]]
    with pytest.raises(StrategyFileError, match="no solution of pttt-classical"):
        games_of(found, "pttt-classical", tmp_path)


def test_a_site_of_nothing_says_what_computes_each_thing(tmp_path):
    pages = site_pages(tmp_path)
    assert [one.name for one in pages] == ["web", "arena"]
    text = home_of(pages)
    for command in ("make solve", "pttt smbc solve", "pttt arena match", "pttt extreme tournament"):
        assert f"<code>{command}" in text
    assert 'href="/arena/play"' in text and 'href="/explore"' not in text
    with pytest.raises(StrategyFileError, match="There is no solution in"):
        solved_in(tmp_path, None)


def test_solved_games_are_listed_and_offered_side_by_side_and_nothing_is_prepared(tmp_path):
    for game in (GAME, OTHER):
        directory = solve_game(tmp_path, game)
        finish.run(game, "full", FinishConfig(), directory)
        evaluate.run(game, "full", directory)
    evaluated(tmp_path, "pttt-2x4k3-abrupt", "full", 0.4447, 1e-3)  # its strategies are missing
    pages = site_pages(tmp_path, OTHER)
    assert [one.name for one in pages] == ["web", "explore", "arena"] and pages[1].what == "2 games"
    told = json.loads((tmp_path / GAME / "full" / "evaluate.json").read_text())["solution"]
    text = home_of(pages)
    assert "Phantom tic-tac-toe, 2 x 3 squares, 2 in a row, abrupt</a>" in text and f"{told['value']:.5f}" in text
    assert re.findall(r'href="(/explore\?game=[^"]*)"', text) == [f"/explore?game={OTHER}", f"/explore?game={GAME}"]
    assert 'href="/play">Play</a>' in text and 'href="/explore">Explore</a>' in text
    with processes_behind(pages) as (children, parts):
        assert sum("answerer" in child.name for child in children) == 3  # two games and the arena
        app = make_application(Shell("Site", "", parts_of(parts)))
        with TestClient(app, base_url="http://site") as client:
            lobbies = [client.get(f"/play{query}").text for query in ("", f"?game={GAME}", f"?game={OTHER}")]
            actions = [re.search(r'class="card" method="post" action="([^"]*)"', text)[1] for text in lobbies]
            assert actions == ["/play", f"/play?game={GAME}", "/play"]
            assert "2 x 3 squares" in re.search("<h1>(.*)</h1>", lobbies[1])[1]
            assert client.get("/play?game=pttt-abrupt").status_code == 404
    for game in (GAME, OTHER):
        assert not list((tmp_path / game / "explore").glob("*.npy"))


def test_explore_without_a_strategy_refuses_options_that_have_no_use(tmp_path, capsys):
    with pytest.raises(SystemExit) as ended:
        main(["explore", "--terminal", "--data", str(tmp_path)])
    assert ended.value.code != 0
    assert "Name a strategy" in capsys.readouterr().err
