"""Everything in a directory as one site: what its home lists, and that nothing is computed for it."""

import json

import pytest
from fastapi.testclient import TestClient

from pttt_ooc.cli.commands import main
from pttt_ooc.cli.servers import solved_in
from pttt_ooc.cli.site import chosen, found_solutions, site_pages
from pttt_ooc.config import FinishConfig
from pttt_ooc.disk.manifests import write_manifest
from pttt_ooc.errors import StrategyFileError
from pttt_ooc.stages import evaluate, finish
from pttt_ooc.web.application import make_application
from pttt_ooc.web.local_process import parts_of
from pttt_ooc.web.shell import Shell
from tests.explore.answerer_kit import solve_game

GAME = "mini-2x3k2-abrupt"


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
    assert [one.gap for one in chosen(found, None, tmp_path)] == [3e-5, 2e-4]
    assert [one.gap for one in chosen(found, "pttt-2x4k3-abrupt", tmp_path)] == [1e-3]
    with pytest.raises(StrategyFileError, match="no solution of pttt-classical"):
        chosen(found, "pttt-classical", tmp_path)


def test_a_site_of_nothing_says_what_computes_each_thing(tmp_path):
    pages = site_pages(tmp_path)
    assert [one.name for one in pages] == ["web", "arena"]
    text = home_of(pages)
    for command in ("make solve", "pttt smbc solve", "pttt arena match", "pttt extreme tournament"):
        assert f"<code>{command}" in text
    assert 'href="/arena/play"' in text and 'href="/explore"' not in text
    with pytest.raises(StrategyFileError, match="There is no solution in"):
        solved_in(tmp_path, None)


def test_a_solved_game_is_listed_and_offered_and_nothing_is_written(tmp_path):
    directory = solve_game(tmp_path, GAME)
    finish.run(GAME, "full", FinishConfig(), directory)
    evaluate.run(GAME, "full", directory)
    evaluated(tmp_path, "pttt-2x4k3-abrupt", "full", 0.4447, 1e-3)
    pages = site_pages(tmp_path, GAME)
    assert [one.name for one in pages] == ["web", "explore", "arena"] and pages[1].what == GAME
    told = json.loads((directory / "evaluate.json").read_text())["solution"]
    text = home_of(pages)
    assert "Phantom tic-tac-toe, 2 x 3 squares, 2 in a row, abrupt" in text and f"{told['value']:.5f}" in text
    assert 'href="/play">Play</a>' in text and 'href="/explore">Explore</a>' in text
    assert "for pttt-2x4k3-abrupt, start pttt web --game NAME" in text
    assert not list((tmp_path / GAME / "explore").glob("*.npy"))


def test_explore_without_a_strategy_refuses_options_that_have_no_use(tmp_path, capsys):
    with pytest.raises(SystemExit) as ended:
        main(["explore", "--terminal", "--data", str(tmp_path)])
    assert ended.value.code != 0
    assert "Name a strategy" in capsys.readouterr().err
