"""Everything in a directory as one site: what its home lists, and that nothing is computed for it."""

import json
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest
from fastapi.testclient import TestClient

from pttt_ooc.cli.commands import main
from pttt_ooc.cli.home_cards import first_row, found_solutions
from pttt_ooc.cli.servers import solved_in
from pttt_ooc.cli.site import games_of, site_pages
from pttt_ooc.config import FinishConfig
from pttt_ooc.disk.manifests import write_manifest
from pttt_ooc.disk.numbers import gap
from pttt_ooc.errors import StrategyFileError
from pttt_ooc.pipeline.stages import evaluate, finish
from pttt_ooc.site.service.local_server import processes_behind
from pttt_ooc.site.shell.application import make_application
from pttt_ooc.site.shell.server import parts_of
from pttt_ooc.site.shell.shell import Shell
from tests.site.explore.answerer_kit import solve_game

ROOT = Path(__file__).parents[2]
GAME, OTHER = "mini-2x3k2-abrupt", "mini-2x2k2-abrupt"


def evaluated(data, game, run, value, gap):
    directory = data / game / run
    directory.mkdir(parents=True)
    write_manifest(directory / "evaluate.json", "evaluate", game=game, solution={"value": value, "nashconv": gap})
    return directory


def client_of(pages):
    app = make_application(Shell(pages[0].title, pages[0].subtitle, parts_of(json.dumps([pages[0].parts]))))
    return TestClient(app, base_url="http://site")


def home_of(pages):
    with client_of(pages) as client:
        return client.get("/").text


def files_of(directory):
    return {path: path.stat().st_mtime_ns for path in directory.rglob("*")}


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
    assert damaged == [f"{GAME}/full cannot be read; pttt lab fsck says more."]
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
    (tmp_path / "smbc").mkdir()
    (tmp_path / "smbc/report.html").touch()
    text = home_of(site_pages(tmp_path))
    assert re.search(r'href="/results/smbc/report.html">Report</a>.*?>secret goals<', text, re.S)


@pytest.mark.slow
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
            actions = [
                re.search(r'id="new-game" class="place" method="post" action="([^"]*)"', text)[1] for text in lobbies
            ]
            assert actions == ["/play", f"/play?game={GAME}", "/play"]
            assert "2 x 3 squares" in re.search("<h1>(.*)</h1>", lobbies[1])[1]
            assert client.get("/play?game=pttt-abrupt").status_code == 404
    for game in (GAME, OTHER):
        assert not list((tmp_path / game / "explore").glob("*.npy"))


def test_explore_without_a_strategy_refuses_options_that_have_no_use(tmp_path, capsys):
    with pytest.raises(SystemExit) as ended:
        main(["web", "--terminal", "--data", str(tmp_path)])
    assert ended.value.code != 0
    assert "Name a strategy" in capsys.readouterr().err
    for option in ("--profiles", "--smbc", "--arena", "--tournament", "--bot"):
        with pytest.raises(SystemExit) as ended:
            main(["web", "uniform", "--terminal", option, "x", "--game", GAME, "--data", str(tmp_path)])
        assert ended.value.code == 1 and "are for pages; leave out --terminal" in capsys.readouterr().err


def test_the_home_shows_what_is_there_when_it_is_asked_and_changes_nothing(tmp_path):
    played, run = tmp_path / "arena/cup/first", tmp_path / "pttt-abrupt/full/runs/half"
    for place in (played, run, tmp_path / "frontier/pttt-2x5k3-abrupt"):
        place.mkdir(parents=True)
    pages = site_pages(tmp_path)
    with client_of(pages) as client:
        assert "matches of agents" not in client.get("/").text
        (played / "match.json").write_text(json.dumps({"agents": ["mcts:nodes=9", "random"], "game": "ultimate"}))
        (played / "games.jsonl").write_text("".join(f'{{"winner": {winner}}}\n' for winner in (0, 0, 2, 1)))
        rows = [{"iteration": n, "nashconv": 0.5**n, "seconds": n} for n in (1, 2, 3)]
        (run / "convergence.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
        result = {"value_lower": 0.25, "value_upper": 0.75, "nashconv": 0.5}
        write_manifest(tmp_path / "frontier/pttt-2x5k3-abrupt/solve.json", "solve", result=result)
        before = files_of(tmp_path)
        text = client.get("/").text
        assert files_of(tmp_path) == before
    match = "Ultimate tic-tac-toe: Monte Carlo tree search – Chance"
    assert f'<a href="/arena/matches/one?name=cup/first">{match}</a></th><td>2, 1 and 1</td>' in text
    assert "iteration 3, 3.0 s" in text and f"<td>{gap(0.125)}</td>" in text
    assert "2 x 5 squares" in text and "value 0.50000" in text
    assert text.count('<svg class="mini"') == 2
    # Of four games two are won and one is lost: of the bar's length of 60 these are 30 and 15.
    assert 'd="M0 0h30v7H0z"' in text and 'd="M45 0h15v7H45z"' in text


def test_pages_of_stages_are_served_without_scripts_and_nothing_else_is(tmp_path):
    run = tmp_path / "pttt-abrupt/full"
    run.mkdir(parents=True)
    for name in ("report.html", "opening.svg", "secret.json"):
        (run / name).write_text(f"<p>{name}</p>")
    (tmp_path / "other").mkdir()
    (tmp_path / "other/report.html").write_text("not of a stage")
    (tmp_path / "outside.html").write_text("outside")
    (run / "link.html").symlink_to(tmp_path / "outside.html")
    with client_of(site_pages(tmp_path)) as client:
        page = client.get("/results/pttt-abrupt/full/report.html")
        assert page.text == "<p>report.html</p>"
        policy = page.headers["content-security-policy"]
        assert policy.startswith("sandbox;") and "script" not in policy and "allow" not in policy
        assert client.get("/results/pttt-abrupt/full/opening.svg").headers["content-type"] == "image/svg+xml"
        found = re.findall(r'href="(/results/[^"]*)"', client.get("/").text)
        assert found == ["/results/pttt-abrupt/full/report.html"]
        for path in (
            *("other/report.html", "pttt-abrupt/full/secret.json", "pttt-abrupt/full/link.html"),
            *("pttt-abrupt/full/%2e%2e/%2e%2e/outside.html", "%2e%2e/outside.html", "outside.html"),
            "pttt-abrupt/full/none.html",
        ):
            assert client.get(f"/results/{path}").status_code == 404, path


def test_the_first_row_of_an_exported_strategy_is_read_without_the_rest(tmp_path):
    file, rows = tmp_path / "a.npy", np.arange(18.0).reshape(2, 9) / 256
    for dtype in ("float16", "float32", "float64"):
        np.save(file, rows.astype(dtype))
        with zipfile.ZipFile(tmp_path / "a.zip", "w") as packed:
            packed.write(file, "a.npy")
        assert first_row(tmp_path / "a.zip") == tuple(rows[0])
    np.save(file, np.asfortranarray(rows))
    with zipfile.ZipFile(tmp_path / "b.zip", "w") as packed:
        packed.write(file, "b.npy")
    (tmp_path / "c.zip").write_bytes(b"PK nothing")
    assert [first_row(tmp_path / name) for name in ("b.zip", "c.zip", "none.zip")] == [None] * 3


def test_the_process_of_the_home_needs_no_numerics(tmp_path):
    """Neither to start nor to read what is there."""
    script = """
import sys
for name in ("numpy", "numba", "zarr"):
    sys.modules[name] = None
from pathlib import Path
from pttt_ooc.cli.home_cards import Opened, cards
assert len(cards(Path(sys.argv[1]), Opened())) == 4
"""
    done = subprocess.run([sys.executable, "-c", script, str(tmp_path)], capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 0, done.stderr
