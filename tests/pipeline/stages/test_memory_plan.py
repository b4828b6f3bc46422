"""Plans: memory and disk of a run before it starts, and budgets that are refused at once."""

import json
import os
import re
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pttt_ooc.config import check_config
from pttt_ooc.disk import memory
from pttt_ooc.errors import MemoryBudgetError
from pttt_ooc.exact.equilibria.choice import needed_bytes
from pttt_ooc.games.rules.catalogue import GAMES, named_game
from pttt_ooc.games.structure.building import build_timing, most_cells, timing_sizes
from pttt_ooc.games.structure.cells import Cells, CutOrders
from pttt_ooc.games.structure.index import build_index, layout_of
from pttt_ooc.games.structure.views import find_pairs
from pttt_ooc.pipeline.stages import STAGES, UNLISTED_STAGES, budgets, memory_plan
from pttt_ooc.pipeline.stages.memory_plan import check_budget, plan_memory
from tests.kits.patience import PATIENCE

ROOT = Path(__file__).parents[3]
NAMES = ["mini-2x3k2-abrupt", "mini-2x3k2-classical", "dark-hex-2x3-abrupt", "pttt-abrupt-after-1-0-3-2-4-8"]
RUN = """
import sys
from pathlib import Path
from pttt_ooc.disk.resources import small_threads
small_threads()
from pttt_ooc.config import check_config
config, place, stage = check_config({"game": sys.argv[1], "memory_mb": 512}), Path(sys.argv[2]), sys.argv[3]
solve = config.solve.model_copy(update={"max_iterations": 3, "target_nashconv": 0.0})
game, rest = (config.game, config.symmetry), {"memory_mb": 512}
from pttt_ooc.pipeline.stages.preparation import prepare_index
if stage == "enumerate":
    from pttt_ooc.pipeline.stages import enumerate
    enumerate.run(config.game, place, **rest)
elif stage == "index":
    from pttt_ooc.pipeline.stages import index
    index.run(*game, place, **rest)
elif stage == "solve":
    from pttt_ooc.pipeline.stages import solve as stage
    stage.run(*game, solve, place, 2, **rest)
elif stage == "finish":
    from pttt_ooc.pipeline.stages import finish
    finish.run(*game, config.finish, place, threads=2, **rest)
elif stage == "evaluate":
    from pttt_ooc.pipeline.stages import evaluate
    evaluate.run(*game, place, 2, **rest)
elif stage == "export":
    from pttt_ooc.pipeline.stages import export
    export.run(*game, config.export, place, 2, **rest)
else:
    from pttt_ooc.pipeline.stages import report
    report.run(config, place, **rest)
"""


def plan_of(name, **more):
    return plan_memory(check_config({"game": name, **more}), 2)


@pytest.mark.parametrize("symmetry", ["none", "full"])
@pytest.mark.parametrize("name", NAMES)
def test_the_sizes_of_a_structure_are_known_before_it_is_built(name, symmetry):
    game = GAMES[name]
    pairs = find_pairs(game)
    layout, index = layout_of(game, symmetry, pairs), build_index(game, symmetry, pairs)
    for player in (0, 1):
        one, other = layout.players[player], index.players[player]
        for field in ("placed", "failed", "decides", "slice_start", "node_start", "sequence_start"):
            assert np.array_equal(getattr(one, field), getattr(other, field)), field
        sizes, timing = timing_sizes(layout, pairs, player), build_timing(index, pairs, player)
        assert (sizes.sources, sizes.patterns) == (len(timing.source_view), len(timing.pattern_start) - 1)
        assert (sizes.narrow_orders, sizes.wide_orders) == (len(timing.order_cell), len(timing.wide_order_cell))
        assert timing.operator_cells.max() <= sizes.cells


@given(st.integers(1, 6), st.data())
def test_no_operator_has_more_cells_than_the_bound(attempts, data):
    """For all orders of a view, with any squares as keys."""
    keys = data.draw(st.integers(0, attempts))
    cut = data.draw(st.integers(1, attempts))
    orders = [data.draw(st.permutations(range(attempts))) for _ in range(data.draw(st.integers(1, 40)))]
    codes = [[sum((t + 1) << 4 * s for t, s in enumerate(o) if (t < cut) == early) for o in orders] for early in (1, 0)]
    numbers = np.arange(len(orders), dtype=np.int32)
    cells = Cells(CutOrders(numbers, numbers, *map(np.array, codes)), np.arange(keys), cut)
    assert len(orders) and cells.size <= most_cells(np.array([attempts]), np.array([keys]))[0]


@pytest.mark.slow_but_one
@pytest.mark.parametrize("name", ["pttt-2x4k3-abrupt", "mini-2x3k3-abrupt"])
def test_a_budget_is_refused_with_the_largest_need_of_all_stages(name):
    plan = plan_of(name, memory_mb=230)
    most = max(plan.stages, key=lambda stage: plan.stages[stage].smallest_mb)
    smallest = plan.stages[most].smallest_mb
    assert set(plan.stages) == set(STAGES) and smallest > 300
    with pytest.raises(MemoryBudgetError) as refused:
        check_budget(plan)
    sentence = str(refused.value)
    assert sentence.startswith(f"A memory budget of 230 MB is too small: {smallest} MB is the smallest that will do")
    assert f"for the stage {most} (" in sentence and "\n" not in sentence
    check_budget(plan_of(name, memory_mb=smallest))
    with pytest.raises(MemoryBudgetError, match=f"{smallest} MB"):
        check_budget(plan_of(name, memory_mb=smallest - 1))
    some = ("enumerate", "index")
    with pytest.raises(MemoryBudgetError, match="for the stage (enumerate|index)"):
        check_budget(plan, some)


@pytest.mark.slow
def test_a_large_budget_is_accepted_without_planning(monkeypatch):
    for name in ("pttt-abrupt", "mini-2x3k2-classical", "dark-hex-2x3-abrupt"):
        for symmetry in ("full", "none"):
            config = check_config({"game": name, "symmetry": symmetry})
            enough = budgets.surely_enough_mb(config)
            assert all(each.smallest_mb <= enough for each in plan_memory(config, 2).stages.values()), name
    assert budgets.surely_enough_mb(check_config({})) <= 512, "the default takes no time"
    monkeypatch.setattr(memory_plan, "plan_memory", None)
    budgets.refuse_small_budget(check_config({}))


@pytest.mark.slow
@pytest.mark.parametrize("cores", [1, 2, 4, 8, 16, 32, 64])
def test_the_configuration_as_shipped_runs_on_any_number_of_cores(shipped, cores):
    config, plans = shipped
    plan = plans(cores)
    check_budget(plan)
    most = {"solve": cores, "finish": cores, "evaluate": cores, "export": min(cores, 4)}
    for name, each in plan.stages.items():
        assert each.smallest_mb <= config.memory_mb and each.threads <= most.get(name, 1), name
        if cores <= 16:
            wanted = min(cores, 8) if name == "finish" else most.get(name, 1)  # its rounds have work for two
            assert each.threads >= wanted, f"{name} has too few threads for a laptop"
    assert plan.stages["solve"].threads >= min(cores, 24)


@pytest.fixture(scope="module")
def shipped():
    from pttt_ooc.cli.sections import load_file

    config = load_file(ROOT / "config.yaml")[0]
    return config, partial(plan_memory, config)


def used(place, name, stage):
    subprocess.run([sys.executable, "-c", RUN, name, str(place), stage], check=True, timeout=10 * PATIENCE)
    return json.loads((place / f"{stage}.json").read_text())


def on_disk(place):
    return sum(file.stat().st_size for file in place.rglob("*") if file.is_file())


@pytest.mark.long
@pytest.mark.parametrize("name", ["mini-2x3k2-abrupt", pytest.param("pttt-2x4k3-abrupt", marks=pytest.mark.full)])
def test_a_plan_is_within_a_fifth_of_what_a_run_uses(tmp_path, name):
    from pttt_ooc.pipeline.stages.compilation import ensure_compiled

    ensure_compiled()
    place = tmp_path / name / "full"
    plan = plan_of(name)
    for stage in STAGES:
        manifest, told = used(place, name, stage), plan.stages[stage]
        assert manifest["memory"]["smallest_mb"] == pytest.approx(told.smallest_mb, abs=8), stage
        assert told.memory_mb == pytest.approx(manifest["usage"]["peak_anonymous_mb"], rel=0.2), stage
    assert plan.disk_mb * 1e6 == pytest.approx(on_disk(place), rel=0.2, abs=250_000)


def test_a_plan_tells_from_which_budget_on_there_is_an_exact_equilibrium():
    name = "mini-2x3k2-abrupt"
    plan = plan_of(name)
    needed = plan.stages["finish"].smallest_mb
    assert plan.exact_from_mb == 0 < needed
    assert plan_of(name, memory_mb=needed).stages["finish"].smallest_mb == needed
    less = plan_of(name, memory_mb=needed - 1)
    assert less.exact_from_mb == needed and less.stages["finish"].smallest_mb < needed
    assert plan_of(name, memory_mb=needed - 1, finish="none").exact_from_mb == 0
    unlisted = plan_of("pttt-2x5k3-abrupt")
    assert list(unlisted.stages) == list(UNLISTED_STAGES) and unlisted.exact_from_mb == 0


@pytest.mark.slow
def test_a_plan_counts_the_choice_among_equilibria_if_it_fits():
    """It takes more memory than the rounds; a run projects it, too."""
    name = "pttt-2x4k3-abrupt"
    choosing, plain = plan_of(name), plan_of(name, finish={"against": "none"})
    layout = layout_of(named_game(name), "full", find_pairs(named_game(name)))
    more = choosing.stages["finish"].memory_mb - plain.stages["finish"].memory_mb
    assert more == pytest.approx(1.5 * needed_bytes(layout) / 1e6, abs=1) and more > 40
    assert plan_of(name, symmetry="none").stages["finish"].memory_mb == pytest.approx(
        plan_of(name, symmetry="none", finish={"against": "none"}).stages["finish"].memory_mb
    )


@pytest.mark.parametrize(("budget", "moved"), [(200, False), (300, True), (400, True), (512, False)])
def test_a_plan_counts_the_pieces_that_are_moved(monkeypatch, budget, moved):
    """Where neither the budget nor the machine holds all files; 200 MB leave too little for pieces."""
    found = []
    for machine in (10**11, 0):
        monkeypatch.setattr(memory, "available_bytes", lambda left=machine: left - 10**9)
        found.append(plan_of("pttt-2x4k3-abrupt", symmetry="none", memory_mb=budget).stages["solve"])
    large, small = found
    assert (small.memory_mb > large.memory_mb) == (small.mapped_mb > large.mapped_mb) == moved
    assert small.memory_mb <= budget and large.memory_mb <= budget


def test_the_plan_of_the_largest_game():
    """Ten squares: no lists of hundreds of millions of infosets unless requested."""
    assert check_config({"game": "pttt-2x5k3-abrupt"}).export.files("pttt-2x5k3-abrupt") == (False, False)
    assert check_config({}).export.files("pttt-abrupt") == (True, True)
    asked = check_config({"game": "pttt-2x5k3-abrupt", "export": {"bundle": True}})
    assert asked.export.files(asked.game) == (False, True)
    without = check_config({"export": {"course": False}})
    assert without.export.files(without.game) == (False, True)
    assert named_game("pttt-2x5k3-abrupt").squares == 10


@pytest.fixture(scope="module")
def manual():
    return (ROOT / "docs" / "workflow.md").read_text(encoding="utf-8")


@pytest.mark.slow
def test_the_manual_shows_the_plan_of_ten_squares(manual, monkeypatch):
    """On a machine whose memory holds all files."""
    monkeypatch.setattr(memory, "available_bytes", lambda: 10**11)
    plan = plan_of("pttt-2x5k3-abrupt", listed=True, memory_mb=1024)
    for row in plan.rows():
        if row[0] in ("enumerate", "index", "solve", "evaluate"):
            assert re.search(rf"^{' +'.join(map(re.escape, row))}$", manual, re.MULTILINE), row


@pytest.mark.slow
@pytest.mark.parametrize("more", [{}, {"symmetry": "none", "finish": "none"}], ids=["full", "none"])
def test_the_manual_shows_the_smallest_budgets_of_the_course(manual, more):
    table = re.search(r"^\| stage \| `full`: smallest.*?\n\n", manual, re.MULTILINE | re.DOTALL)[0]
    plan = plan_of("pttt-abrupt", **more)
    for name, each in plan.stages.items():
        cells = re.search(rf"^\| {name}\b.*", table, re.MULTILINE)[0].split("|")[2:]
        if name != "finish":
            assert int(cells[3 if more else 0]) == each.smallest_mb, name
        elif not more:
            without = plan_of("pttt-abrupt", finish={"against": "none"}).stages[name]
            assert cells[0].strip() == f"{each.smallest_mb} / {without.smallest_mb}"
            assert f"for the course's game it is {each.memory_mb} MB" in " ".join(manual.split())


@pytest.mark.slow
def test_the_command(tmp_path):
    command = [sys.executable, "-m", "pttt_ooc.cli", "plan", "--game", "mini-2x3k2-abrupt"]
    run = {"capture_output": True, "text": True, "cwd": tmp_path, "env": {**os.environ}, "timeout": PATIENCE}
    told = json.loads(subprocess.run([*command, "--json"], check=True, **run).stdout)
    plan = plan_of("mini-2x3k2-abrupt")
    assert told["counts"]["total_infosets"] == plan.counts["total_infosets"]
    assert {name: each["smallest_mb"] for name, each in told["stages"].items()} == {
        name: each.smallest_mb for name, each in plan.stages.items()
    }
    shown = subprocess.run([*command, "--memory-mb", "100"], check=True, **run).stdout
    assert "This budget is too small: at least 319 MB are needed." in shown and "enumerate" in shown
    assert re.search(r"An exact equilibrium needs a memory_mb of \d+; with less, the result is the solver's", shown)
    assert list(Path(tmp_path).iterdir()) == []


def test_a_plan_prints_itself_in_a_notebook():
    plan = plan_memory(check_config({"game": NAMES[0], "memory_mb": 512}), 1)
    rows = [[cell.text for cell in row] for row in ElementTree.fromstring(plan._repr_html_()).iter("tr")]
    assert rows[0] == list(memory_plan.HEADINGS) and [row[0] for row in rows[1:]] == list(STAGES)
    assert rows[3][1:4] == ["1", f"{plan.stages['solve'].smallest_mb} MB", f"{plan.stages['solve'].memory_mb} MB"]
