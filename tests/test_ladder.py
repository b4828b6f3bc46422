"""The ladder: the page is what its records say, and rows can be made again."""

import json
import shlex

import pytest

import pttt_ooc as pttt
from benchmarks import ladder
from tests.kits import naive

GAME = "mini-2x3k2-abrupt"
CHEAP = 5.0  # seconds of learning


def run(tmp_path, *words):
    ladder.main(["--records", str(tmp_path / "rows.jsonl"), "--data", str(tmp_path / "data"), *map(str, words)])


def test_the_page_is_made_from_the_records():
    assert ladder.page(ladder.read()) == ladder.PAGE.read_text()


def test_records_are_whole_and_on_the_games():
    rows = ladder.read()
    assert {row["game"] for row in rows} == {*ladder.GAMES}
    for row in rows:
        assert row["mean_exploitability"] == pytest.approx(
            (row["best_response_0"] + row["best_response_1"]) / 2, abs=1e-12
        )
        assert bool(ladder.ends_of(row)) == (row["iterations"] > 0)
    assert len({*map(ladder.record_key, rows)}) == len(rows), "two lines for one row"


@pytest.mark.parametrize(
    "agent", ["uniform", "dcfr", *(pytest.param(name, marks=pytest.mark.slow) for name in ("xfp", "mccfr-external"))]
)
def test_a_row_can_be_made_again(tmp_path, agent, capsys):
    run(tmp_path, "run", GAME, agent, "--seconds", 0.05, "--seed", 1)
    [row] = ladder.read(tmp_path / "rows.jsonl")
    assert row["mean_exploitability"] < 0.34
    assert ladder.again(row, tmp_path / "data") == []
    assert list((tmp_path / "data").glob("*/*/learners")) == [], "what was learnt is not kept"
    with pytest.raises(SystemExit) as end:
        run(tmp_path, "check")
    assert end.value.code == 0 and "1 rows are as recorded" in capsys.readouterr().out


def test_a_row_that_was_changed_is_found(tmp_path, capsys):
    run(tmp_path, "run", GAME, "uniform")
    [row] = ladder.read(tmp_path / "rows.jsonl")
    game = pttt.game(GAME)
    both = [dict(pttt.Strategy.uniform(game, p).items()) for p in (0, 1)]
    best = [naive.best_response_value(game, p, both[1 - p]) for p in (0, 1)]
    assert row["mean_exploitability"] == pytest.approx(sum(best) / 2, abs=1e-12)
    row["mean_exploitability"] += 1e-6
    row["digest"] = "0" * 16
    (tmp_path / "rows.jsonl").write_text(json.dumps(row) + "\n")
    with pytest.raises(SystemExit) as end:
        run(tmp_path, "check")
    out = capsys.readouterr().out
    assert end.value.code == 1 and "mean_exploitability 0.333333333333" in out and "digest" in out


def test_rows_of_functions_and_settings(tmp_path):
    (tmp_path / "own.py").write_text(
        "def first(infostates, legal):\n    return legal / legal.sum(axis=1, keepdims=True)\n"
    )
    run(tmp_path, "run", GAME, f"{tmp_path}/own.py:first")
    run(tmp_path, "run", GAME, "mmd-magnet", "--seconds", 0.01, "--set", "alpha=0.2")
    function, learner = ladder.read(tmp_path / "rows.jsonl")
    assert function["mean_exploitability"] == pytest.approx(1 / 3) and learner["settings"] == {"alpha": 0.2}
    assert ladder.command(learner).endswith("run mini-2x3k2-abrupt mmd-magnet --seconds 0.01 --set alpha=0.2")
    sized = ladder.command(row_of("ppo", 0.5) | {"settings": {"hidden": [64, 64]}})
    assert shlex.split(sized)[-1] == "hidden=[64,64]"


def row_of(agent, exploitability, seed=0, budget=3.0):
    facts = {"game": "pttt-abrupt", "agent": agent, "settings": {}, "seed": seed, "budget": budget, "iterations": 7}
    return {**facts, "mean_exploitability": exploitability, "digest": f"{agent}{seed}"}


def test_the_page_ranks_by_exploitability():
    text = ladder.page([row_of("b", 0.5), row_of("a", 0.25)])
    assert text.index("| `a` | 0.25 |  | 3 s | 7 |  |") < text.index("| `b` | 0.5 |  | 3 s | 7 |  |")
    limited = row_of("c", 0.5, budget=None) | {"limit": 1_000}
    assert "| `c` | 0.5 |  | 1,000 it. | 7 |  |" in ladder.page([limited, row_of("c", 0.6)])
    assert ladder.command(limited).endswith(" run pttt-abrupt c --iterations 1000")
    assert "dark-hex-3x3-abrupt\n\n| agent" not in text


def test_seeds_are_one_row_with_an_interval():
    """Student's t with two degrees of freedom is 4.303 at 97.5%."""
    found = [row_of("vr-mccfr", value, seed) for seed, value in enumerate((0.3, 0.4, 0.5))]
    text = ladder.page([row_of("mccfr-external", 0.1), *found])
    low, high = (0.4 + sign * 4.302653 * 0.1 / 3**0.5 for sign in (-1, 1))
    assert f"| `vr-mccfr` | 0.4 | {low:.3g}–{high:.3g} | 3 s | 7 | 3 |" in text
    assert "| `mccfr-external` | 0.1 | one seed | 3 s | 7 | 1 |" in text
    assert ladder.command(found[2]).endswith(" run pttt-abrupt vr-mccfr --seconds 3 --seed 2")
    assert ladder.interval([0.0, 0.1])[0] == 0, "exploitability is not negative"


def test_the_plan_has_rows_of_known_agents():
    rows = list(ladder.planned())
    assert ladder.left_out(rows) == "All rows of `benchmarks/ladder.yaml` are here."
    without = [row for row in rows if row["agent"] != "xfp"]
    assert ladder.left_out(without).startswith(
        "Of `benchmarks/ladder.yaml`, 4 rows that learn are not here, 1 processor minutes"
    )
    assert len({*map(ladder.record_key, rows)}) == len(rows) > 40
    for row in (r for r in rows if r["budget"]):
        assert ladder.record_key({**row, "budget": float(row["budget"])}) == ladder.record_key(row), row
    for row in rows:
        assert row["game"] in ladder.GAMES
        assert ladder.ends_of(row) or row["agent"] == "uniform" or ".py:" in row["agent"], row
        assert row["seed"] == 0 or ladder.has_chance(row["agent"]), row


@pytest.mark.full
@pytest.mark.parametrize("row", ladder.read(), ids=lambda r: f"{r['game']} {r['agent']} {r['seed']}")
def test_committed_rows_are_scored_again(row, tmp_path_factory):
    if row["seconds"] > CHEAP:
        pytest.skip(f"the row takes {row['seconds']:g} processor seconds; `python -m benchmarks.ladder check` makes it")
    data = tmp_path_factory.getbasetemp() / "ladder"
    assert ladder.again(row, data) == []
