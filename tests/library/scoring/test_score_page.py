"""The page of a score, and the place on the ladder."""

import re

import pytest

import pttt_ooc as pttt
from pttt_ooc.library.scoring import ladder
from pttt_ooc.library.scoring.page import rungs_of
from pttt_ooc.library.scoring.scores import Score
from tests.kits import naive
from tests.kits.cli_runner import Runner

GAME = pttt.game("mini-2x3k2-abrupt")


def row(agent, exploitability, game=GAME.name, **facts):
    whole = {
        "game": game,
        "agent": agent,
        "mean_exploitability": exploitability,
        "settings": {},
        "seed": 0,
        "budget": 20,
    }
    return whole | facts


ROWS = [
    row("uniform", 0.5, budget=None),
    row("dcfr", 0.125),
    row("other", 0.01, game="elsewhere"),
    *(row("ppo", value, seed=seed) for seed, value in enumerate((0.1, 0.3))),
    row("ppo", 0.6, settings={"hidden": [9]}),
]


def test_the_place_is_among_the_rows_of_the_game():
    """The rows have 0.125, 0.2 (a mean of two seeds), 0.5 and 0.6."""
    places = {0.0: 1, 0.125: 1, 0.15: 2, 0.25: 3, 0.5: 3, 0.5 + 1e-12: 3, 0.55: 4, 1.0: 5}
    for exploitability, place in places.items():
        assert ladder.place_of(GAME.name, exploitability, ROWS) == ladder.LadderPlace(place, 4), exploitability
    assert ladder.place_of("pttt-2x4k3-abrupt", 0.1, ROWS) is None


def test_the_agent_stands_at_its_place(monkeypatch):
    monkeypatch.setattr("pttt_ooc.library.scoring.page.read_records", lambda: ROWS)
    for exploitability, place in {0.05: 0, 0.15: 1, 0.3: 2, 0.5: 2, 0.9: 4}.items():
        found = Score(GAME.name, "greedy", exploitability, 2 * exploitability, 0.0, 0.0, 0.0, None, None, None, 296)
        rows = rungs_of(found, ladder.place_of(GAME.name, exploitability, ROWS))
        assert [row["own"] for row in rows] == [k == place for k in range(5)]
        assert [row["agent"] for row in rows if not row["own"]] == ["dcfr", "ppo", "uniform", "ppo"]


def test_the_package_has_the_rows_of_the_page():
    text = (ladder.RECORDS.parents[3] / "docs/lab/ladder.md").read_text()
    for part in re.split(r"^## ", text, flags=re.MULTILINE)[1:]:
        game = part.partition("\n")[0]
        shown = re.findall(r"^\| `(\S+)`.*? \| ([\d.e-]+) \|", part, re.MULTILINE)
        groups = ladder.rank_rows(ladder.read_records(), game)
        assert [(ladder.agent_name(g[0]), f"{ladder.mean_exploitability_of(g):.3g}") for g in groups] == shown
        for number, group in enumerate(groups, start=1):
            place = ladder.place_of(game, ladder.mean_exploitability_of(group) + 1e-6)
            assert place.rows == len(groups) and place.place > number


def test_the_page_tells_both_sides_where_they_lose_and_the_place(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(ladder, "read_records", lambda: ROWS)
    monkeypatch.setattr("pttt_ooc.library.scoring.page.read_records", lambda: ROWS)
    (tmp_path / "agent.py").write_text(
        "import numpy as np\n\n\ndef low(infostates, legal):\n    return np.eye(6)[legal.argmax(axis=1)]\n"
    )
    run = Runner(capsys, tmp_path / "data", GAME.name)
    first = ["lab", "score", f"{tmp_path}/agent.py:low", "--page", "page.html"]
    found = run(*first, "--json").json
    assert found["ladder"] == {"place": 5, "rows": 4} and found["mean_exploitability"] > 0.6
    page = (tmp_path / "page.html").read_text()
    assert "pttt solve --game mini-2x3k2-abrupt" in page and re.search(r"<h1>\s*agent\.py:low\s*</h1>", page)

    assert "page.html: it exists already" in run(*first).err
    done = run.ok(*first, "--force", "--equilibrium", "uniform")
    assert done.out.endswith("; place 5 of 5 on the ladder.\n")
    page = (tmp_path / "page.html").read_text()
    assert "<strong>this agent</strong>" in page.rpartition("<code>ppo</code>, hidden [9]")[2], "it is the last"
    assert f"<strong>{found['mean_exploitability']:.6f}</strong>" in page

    policies = [{t: naive.uniform(GAME, p)[t] for t in naive.infosets(GAME, p)} for p in (0, 1)]
    low = [{t: [float(s == naive.legal_squares(GAME, t)[0]) for s in range(6)] for t in policies[p]} for p in (0, 1)]
    sides = re.split(r"<h3>As player \d</h3>", page)[1:]
    for player, side in enumerate(sides):
        other = 1 - player
        pair = (low[0], policies[1]) if player == 0 else (policies[0], low[1])
        payoff = naive.value(GAME, *pair) * (1 if player == 0 else -1)
        own = naive.best_response_value(GAME, player, policies[other]) - payoff
        openings = naive.best_response_value(GAME, other, low[player]) + payoff
        told = re.findall(r'<tr><th scope="row">([a-z ]+)</th><td>([\d.−]+)</td></tr>', side)[:2]
        assert told == [("own mistakes", f"{own:.6f}"), ("openings", f"{openings:.6f}")]
        assert found[f"best_response_{other}"] == pytest.approx(openings - payoff)
        assert f"<td>{openings - payoff:.6f}</td>".replace("-", "−") in page
        assert re.search(r'<code>\|\d\*</code> <span class="note">placed \d</span>', side)


def test_options_that_do_not_go_together(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run = Runner(capsys, tmp_path / "data", GAME.name)
    for arguments, text in (
        (["--page", "p.html", "--games", "20"], "leave out --games or --page"),
        (["--page", "p.txt"], "the name must end with .html"),
        (["--page", "no/p.html"], "there is no directory no"),
        (["--equilibrium", "uniform"], "--equilibrium is for --games and --page"),
        (["--seed", "1"], "--seed and --matches are for --games"),
        (["--games", "20", "--memory-mb", "100"], "--memory-mb and --game-value are for an exact score"),
        (["--games", "20", "--game-value", "0.5"], "--memory-mb and --game-value are for an exact score"),
    ):
        done = run("lab", "score", "uniform", *arguments)
        assert done.code and not done.out and text in done.err
    assert not list(tmp_path.glob("*.html"))
