"""The wing beyond enumeration: runs that go on after a kill, the page, needs, and its target in the workflow."""

import json
import re
import shutil

import pytest
import yaml
from pydantic import ValidationError

from pttt_ooc.disk.manifests import read_manifest
from pttt_ooc.errors import MemoryBudgetError, StoreError
from pttt_ooc.exact.double_oracle.memory_budget import RunMemory
from pttt_ooc.exact.double_oracle.oracle import DoubleOracle
from pttt_ooc.exact.double_oracle.rule_tables import rule_tables
from pttt_ooc.exact.double_oracle.sparse_plan import first_infoset, with_capacity
from pttt_ooc.games.rules.catalogue import named_game
from pttt_ooc.games.structure.counts import total_infosets
from pttt_ooc.library.api.strategy_names import named_strategy
from pttt_ooc.pipeline.files.equilibrium import read_plans
from pttt_ooc.pipeline.frontier import needs, report, run
from pttt_ooc.pipeline.frontier.pipeline import STAGES, directory_of, requests
from pttt_ooc.pipeline.frontier.settings import FrontierConfig
from pttt_ooc.pipeline.stages import fsck
from tests.kits.cli_runner import Done, main
from tests.pipeline.stages.test_workflow import Workflow

pytest.importorskip("highspy")

GAME = "dark-hex-2x3-abrupt"


def rows_of(directory):
    return [json.loads(line) for line in (directory / "rounds.jsonl").read_text().splitlines()]


def without_times(rows):
    return [{key: value for key, value in row.items() if "seconds" not in key} for row in rows]


@pytest.fixture(scope="module")
def solved(tmp_path_factory):
    directory = tmp_path_factory.mktemp("frontier")
    run.run(FrontierConfig(game=GAME), directory)
    return directory


def test_a_run_ends_with_the_value_and_both_plans(solved):
    made = read_manifest(solved / "solve.json", "solve")
    assert made["result"]["value_lower"] == pytest.approx(9 / 11, abs=1e-12) and made["result"]["stopped_by"] == "gap"
    named = named_strategy(str(solved), 0, plans=True)
    assert named.kind == "plan" and named.metadata["value_upper"] == made["result"]["value_upper"]
    first, _ = read_plans(named.path, rule_tables(named_game(GAME)))
    assert first.counts[1] == made["result"]["sequences"][0]
    widths = [row["value_upper"] - row["value_lower"] for row in rows_of(solved)]
    assert widths == sorted(widths, reverse=True) and len(widths) == made["result"]["iteration"]
    told = fsck.check(solved, [*fsck.OWN_SETS, STAGES])
    assert told.problems == [] and told.facts == [f"{solved}: not run yet: report."]
    parts = sum(row["restricted_seconds"] + row["response_seconds"] for row in rows_of(solved))
    assert 0 < parts <= rows_of(solved)[-1]["seconds"]


@pytest.mark.slow
def test_a_killed_run_goes_on_to_the_same_bits(solved, tmp_path, monkeypatch):
    class KilledError(BaseException):
        pass

    played = DoubleOracle.round

    def round_or_die(self, gap):
        if self.last and self.last.number == 3:
            raise KilledError
        return played(self, gap)

    monkeypatch.setattr(DoubleOracle, "round", round_or_die)
    with pytest.raises(KilledError):
        run.run(FrontierConfig(game=GAME), tmp_path)
    assert not (tmp_path / "solve.json").exists()
    seen = []
    monkeypatch.setattr(DoubleOracle, "round", lambda self, gap: seen.append(self.last.number) or played(self, gap))
    run.run(FrontierConfig(game=GAME), tmp_path)
    assert 1 <= seen[0] <= 3  # saving takes a small part of the time, so that the last rounds may be played again
    assert without_times(rows_of(tmp_path)) == without_times(rows_of(solved))
    plans = [
        read_manifest(place / "solve.json", "solve")["products"]["equilibrium.zarr"] for place in (solved, tmp_path)
    ]
    assert plans[0] == plans[1]


@pytest.mark.slow
def test_a_limit_ends_a_run_and_a_larger_one_goes_on(solved, tmp_path):
    run.run(FrontierConfig(game=GAME, max_minutes=1e-9), tmp_path)
    assert read_manifest(tmp_path / "solve.json", "solve")["result"]["stopped_by"] == "max_minutes"
    assert len(rows_of(tmp_path)) == 1
    report.run(tmp_path)
    assert "with a larger <code>frontier: max_minutes</code> it goes on" in (tmp_path / "report.html").read_text()
    run.run(FrontierConfig(game=GAME, gap=0.3), tmp_path)
    made = read_manifest(tmp_path / "solve.json", "solve")["result"]
    assert made["stopped_by"] == "gap" and 1 < len(rows_of(tmp_path)) < len(rows_of(solved))
    with pytest.raises(MemoryBudgetError, match="but the budget is 100 MB; give a larger one"):
        run.run(FrontierConfig(game=GAME, memory_mb=100), tmp_path)


def test_a_damaged_state_is_named(tmp_path):
    run.run(FrontierConfig(game=GAME, max_minutes=1e-9), tmp_path)
    [rows] = (tmp_path / "work").glob("*/rounds.jsonl")
    rows.write_text("{")
    with pytest.raises(StoreError, match=r"rounds\.jsonl is damaged .* to begin again"):
        run.run(FrontierConfig(game=GAME), tmp_path)


@pytest.mark.slow
def test_the_page(solved):
    report.run(solved)
    page = (solved / "report.html").read_text()
    assert "Restricted games took" in page
    assert "0.81818181818182" in page and "exact to rounding" in page and page.count("<svg") == 4
    assert '<p class="fraction">9/<wbr>11</p>' in page and f"proof/{GAME}.txt.gz" in page
    assert page.index("<svg") < page.index("Value of the game") < page.index("Rounds</h2>") < page.index("frontier:\n")
    given = yaml.safe_load(re.search(r"<pre><code>(frontier:.*?)</code>", page, re.DOTALL)[1])
    assert FrontierConfig(**given["frontier"]) == FrontierConfig(game=GAME)
    made = read_manifest(solved / "solve.json", "solve")["products"]["equilibrium.zarr"]
    assert made.get("content", made["digest"]) in page.partition("Content hashes")[2]
    assert all(
        f'aria-label="The {what} of {GAME} over seconds' in page
        for what in ("proven interval", "width of the proven interval")
    )
    shown = report.told_rows(rows_of(solved))
    assert page.count("<tr><td>") == len(shown) and shown[-1] == rows_of(solved)[-1]
    assert (solved / "interval.svg").read_text().startswith("<?xml")
    narrowing = [report.width_of(row) for row in shown]
    assert narrowing == sorted(narrowing, reverse=True)


def test_a_table_shows_the_rounds_that_narrow_and_the_last_one():
    rows = [{"value_lower": 0.0, "value_upper": width} for width in (9.0, 7.0, 6.0, 5.9, 3.9, 3.8, 3.7)]
    assert report.told_rows(rows) == [rows[0], rows[3], rows[4], rows[6]]
    assert report.told_rows(rows[:5]) == [rows[0], rows[3], rows[4]]
    assert report.told_rows(rows[:1]) == rows[:1] and report.told_rows([]) == []
    many = [{"value_lower": 0.0, "value_upper": 2.0**-n} for n in range(9)]
    assert report.told_rows(many, 4) == [*many[:2], *many[-2:]]
    assert report.told_rows(many, 5) == [*many[:2], *many[-3:]]


@pytest.fixture
def run_pttt(capsys):
    def told(*arguments):
        capsys.readouterr()
        with pytest.raises(SystemExit) as end:
            main([*arguments])
        return Done(end.value.code or 0, *capsys.readouterr())

    return told


def test_needs_before_a_run():
    for name in ("mini-2x3k3-abrupt", "dark-hex-2x3-classical", "pttt-2x4k3-classical"):
        most, known = needs.infosets_of(named_game(name))
        assert not known and sum(total_infosets(name)) <= most < 12 * sum(total_infosets(name))
    assert needs.infosets_of(named_game("pttt-2x5k3-abrupt")) == (775_369_184, True)
    found = needs.needs_of_game(named_game("pttt-3x4k3-abrupt"), 1178)
    assert 6e10 < found.infosets < 6e11 and not found.is_known  # 60 billion
    assert 200 < found.smallest_mb < 300 and found.sequences > 80_412  # it was solved with so many, in so many MB


def test_needs_are_those_by_which_a_run_is_refused(tmp_path):
    """The smallest memory is the one that the refusal names; the promised sequences are those that still fit."""
    for name, budget in ((GAME, 400), ("pttt-3x4k3-abrupt", 1178)):
        found, rules = needs.needs_of_game(named_game(name), budget), rule_tables(named_game(name))

        def left(megabytes, share=0.0, name=name, found=found, rules=rules):
            plans = [first_infoset(rules, player) for player in (0, 1)]
            if share:
                number = round(share * found.sequences / 2)
                plans = [with_capacity(plan, number) for plan in plans]
                for plan in plans:
                    plan.counts[:] = number
            histories = round(1.4 * share * found.sequences)
            return RunMemory(name, rules, megabytes).for_bounds(tuple(plans), histories, True)

        assert 2 <= left(found.smallest_mb) < 3
        with pytest.raises(MemoryBudgetError, match=f"takes {found.smallest_mb} MB"):
            left(found.smallest_mb - 1)
        assert left(budget, 0.95) < 0.05 * budget
        with pytest.raises(MemoryBudgetError):
            left(budget, 1.02)
    smallest = needs.needs_of_game(named_game(GAME), 400).smallest_mb
    run.run(FrontierConfig(game=GAME, max_minutes=1e-9, memory_mb=smallest), tmp_path / "enough")
    assert len(rows_of(tmp_path / "enough")) == 1
    with pytest.raises(MemoryBudgetError, match=f"takes {smallest} MB"):
        run.run(FrontierConfig(game=GAME, memory_mb=smallest - 1), tmp_path / "less")


def test_the_plan_of_a_game_beyond_enumeration(run_pttt):
    told = run_pttt("plan", "--game", "pttt-3x4k3-abrupt").out
    assert "which cannot be listed" in told and "`snakemake frontier`" in told and "It needs 2" in told
    assert "MB to begin" in run_pttt("plan", "--game", "dark-hex-4x4-abrupt", "--memory-mb", "90").out
    assert run_pttt("plan", "--game", "pttt-4x4k4-abrupt", "--json").json["infosets"] > 1e15
    refused = run_pttt("plan", "--game", "pttt-4x5k4-abrupt")
    assert refused.code == 1 and "a board of 4 x 5 squares; a game has 1 to 16" in refused.err


def test_settings():
    for wrong in ({"game": "pttt-9x9k3-abrupt"}, {"gap": -1}, {"max_minutes": 0}, {"memory_mb": True}, {"games": []}):
        with pytest.raises(ValidationError):
            FrontierConfig(**wrong)
    config = FrontierConfig(game={"rows": 3, "columns": 4, "k": 3, "turn_rule": "abrupt"}, output="here")
    assert str(directory_of(config)) == "here/pttt-3x4k3-abrupt"
    assert requests(config)["solve"].facts == {
        "settings": {"game": "pttt-3x4k3-abrupt", "gap": 1e-12, "max_minutes": 60.0}
    }


@pytest.mark.long
def test_the_target_of_the_workflow(tmp_path):
    """It makes everything, makes nothing twice, and makes anew what a change of the configuration asks for."""
    made = Workflow.of_wing(tmp_path, "frontier", game=GAME, gap=0.3, output="out")
    home = made.directory / "out" / GAME
    assert {"solve.json", "report.json", "report.html", "interval.svg", "rounds.jsonl", "equilibrium.zarr"} <= {
        path.name for path in home.iterdir()
    }

    def stale():
        told = made.succeed("frontier", "--dry-run")
        return sorted(set(re.findall(r"^frontier_(\w+) +1$", told, re.MULTILINE)))

    assert stale() == []
    shutil.rmtree(home / "equilibrium.zarr")
    assert stale() == ["report", "solve"]
    before = len(rows_of(home))
    config = made.directory / "config.yaml"
    config.write_text(config.read_text().replace("0.3", "1.0e-12"))
    made.succeed("frontier")
    assert len(rows_of(home)) > before and stale() == []
