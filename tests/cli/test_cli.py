"""The command `pttt`, with input as it should be."""

import json
import math
import os
import random
import re
import signal
import subprocess
import sys
from collections import defaultdict
from pathlib import Path
from typing import get_args

import numpy as np
import pytest
import typer
import yaml

from pttt_ooc import __version__
from pttt_ooc.cli import commands as cli
from pttt_ooc.cli import display
from pttt_ooc.disk import memory
from pttt_ooc.disk.commits import SnapshotRecord
from pttt_ooc.disk.contents import content_digest
from pttt_ooc.disk.manifests import read_manifest, write_manifest
from pttt_ooc.disk.numbers import gap
from pttt_ooc.disk.store import scratch_array
from pttt_ooc.games.rules.catalogue import EXACT_VALUES, GAMES, named_game
from pttt_ooc.games.structure.symmetry import fold
from pttt_ooc.pipeline.files.solution import write_solution
from pttt_ooc.pipeline.stages import solve as stage
from pttt_ooc.pipeline.stages import stage_context
from pttt_ooc.types import TensorType
from tests.kits import naive
from tests.kits.cli_runner import GAME, Done, Runner, commands, rounded, tensor_of, write_zip
from tests.kits.helpers import SMALL, TINY, as_strategy, random_table, small_engine, write_bundle
from tests.kits.patience import PATIENCE, wait_until

ROOT = Path(__file__).parents[2]
INTERRUPTED = "Interrupted; the same command continues from what is on disk."
HEAVY = ("numpy", "numba", "zarr", "h5py", "matplotlib", "snakemake", "pydantic", "yaml", "rich.table")
HEAVY += ("http.client", "ssl", "secrets")  # what only few commands need of the standard library
KINDS = ("zip", "npy", "h5", "solution", "directory")
FIGURES = ["value", "best_response_0", "best_response_1", "nashconv"]
UNPROVEN = "mini-2x3k3-abrupt-after-1-4"  # of no certificate
KEYS = ["game", "symmetry", "inputs", *FIGURES, "exploitability_0", "exploitability_1", "game_value", "seconds"]


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    return tmp_path_factory.mktemp("data")


@pytest.fixture
def pttt(capsys, data, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return Runner(capsys, data, GAME)


def process(*arguments, **options):
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "pttt_ooc.cli", *map(str, arguments)]
    return subprocess.Popen(command, stdout=-1, stderr=-1, text=True, env=environment, **options)


def strategies(seed, symmetric=False):
    """Both players' random strategies, by text."""
    game, rng = named_game(GAME), random.Random(seed)
    return [rounded(game, random_table(game, player, rng, symmetric=symmetric)) for player in (0, 1)]


def write_kind(kind, tables, symmetry="none"):
    """Write both strategies as files of one kind; returns the two arguments for `pttt evaluate`."""
    index = small_engine(GAME).index
    both = tuple(as_strategy(index, player, tables[player]) for player in (0, 1))
    if kind == "h5":
        write_bundle(Path("both.h5"), index, both, {})
        return ["both.h5"] * 2
    if kind in ("solution", "directory"):
        if symmetry == "full":
            both = tuple(fold(strategy, small_engine(GAME, "full").index) for strategy in both)
        write_solution(Path("run/solution.zarr"), both, {})
        return ["run/solution.zarr" if kind == "solution" else "run"] * 2
    names = [f"{player}.{kind}" for player in (0, 1)]
    for player, name in enumerate(names):
        tensor = tensor_of(GAME, player, tables[player])
        write_zip(Path(name), tensor) if kind == "zip" else np.save(name, tensor)
    return names


def figures(tables):
    game = named_game(GAME)
    return {
        "value": naive.value(game, *tables),
        "best_response_0": naive.best_response_value(game, 0, tables[1]),
        "best_response_1": naive.best_response_value(game, 1, tables[0]),
    }


def agrees(found, expected, tolerance=1e-7):
    return all(found[key] == pytest.approx(value, abs=tolerance) for key, value in expected.items())


# ---------------------------------------------------------------------------------------------
# The command itself


@pytest.mark.slow_but_one
@pytest.mark.parametrize("arguments", [["--help"], ["--version"], ["solve", "--help"], ["evaluate", "--help"]])
def test_help_comes_without_heavy_imports(arguments):
    code = f"import sys, pttt_ooc.cli.commands as c\ntry: c.main({arguments})\n"
    code += "finally: print(*sys.modules, file=sys.stderr)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 0
    loaded = set(done.stderr.split())
    # Options that are keys are those of the configuration's model: pydantic and yaml are loaded, and what they need.
    assert not loaded & (set(HEAVY) - ({"pydantic", "yaml", "secrets"} if len(arguments) == 2 else set()))
    assert len(loaded) < 400


def test_all_commands_have_an_example():
    found = dict(commands(typer.main.get_command(cli.app)))
    assert len(found) > 40
    for name, command in found.items():
        assert command.epilog.startswith("Example: ") and f"pttt {name}" in command.epilog, name


def test_version(capsys):
    with pytest.raises(SystemExit):
        cli.main(["--version"])
    assert capsys.readouterr().out == f"pttt {__version__}\n"


# ---------------------------------------------------------------------------------------------
# Games and infosets


def test_info_lists_all_games(capsys):
    with pytest.raises(SystemExit) as end:
        cli.main(["info"])
    lines = {line.split()[0]: line for line in capsys.readouterr().out.splitlines() if line}
    assert end.value.code == 0
    assert set(GAMES) <= set(lines)
    assert all(
        part in lines["pttt-abrupt"]
        for part in ("3x3", "14,482,810", "8,827,459", "1034185983…/1879768145… = 0.550167")
    )
    assert set(EXACT_VALUES) <= set(lines) and "1/2 = 0.5" in lines["pttt-2x4k3-classical"]
    assert lines[UNPROVEN].endswith(" -") and lines["pttt-3x4k3-classical"].endswith(" 1")
    assert "189" in lines[GAME] and "107" in lines[GAME]


@pytest.mark.parametrize("name", TINY)
def test_info_of_a_game_agrees_with_a_walk_over_its_histories(capsys, name):
    game = named_game(name)
    with pytest.raises(SystemExit):
        cli.main(["info", "--game", name])
    text = capsys.readouterr().out
    histories, terminal, _ = naive.count_histories(game)
    assert f"{histories:,}, of these {terminal:,} " in text
    table = [re.split(r"  +", line) for line in text.splitlines() if re.match(r"\d+  ", line)]
    for player in (0, 1):
        depths = [len(naive.attempts(text)) for text in naive.infosets(game, player)]
        expected = [f"{n:,}" if n else "-" for n in np.bincount(depths, minlength=len(table))]
        assert [row[1 + player] for row in table] == expected


@pytest.mark.long_but("2x2")
@pytest.mark.slow_but_one
@pytest.mark.parametrize("name", TINY + SMALL[:2] + SMALL[-2:])
def test_infosets_are_those_of_a_walk_over_histories(pttt, name):
    for player in (0, 1):
        done = pttt.ok("lab", "infosets", "--player", player, game=name)
        assert done.out.splitlines() == naive.infosets(named_game(name), player)
        pttt.ok("lab", "infosets", "--player", player, "--output", f"list{player}.txt", game=name)
        assert Path(f"list{player}.txt").read_text() == done.out


@pytest.mark.slow
def test_a_reader_that_stops_early_sees_no_traceback(data, pttt):
    pttt.ok("lab", "infosets", "--player", 0, game="mini-2x3k3-abrupt")
    arguments = ("lab", "infosets", "--player", 0, "--game", "mini-2x3k3-abrupt", "--data", data)
    with process(*arguments) as running:
        running.stdout.close()
        assert "Traceback" not in running.stderr.read()


def test_the_index_is_created_once_and_reported(pttt, tmp_path):
    place = tmp_path / "elsewhere"
    first = pttt.ok("lab", "infosets", "--player", 0, data=place)
    assert f"Building the index of {GAME} once" in first.err and len(first.err.splitlines()) == 1
    stores = {file: file.stat().st_mtime_ns for file in place.rglob("*.json")}
    assert pttt.ok("lab", "infosets", "--player", 0, data=place) == first._replace(err="")
    assert {file: file.stat().st_mtime_ns for file in place.rglob("*.json")} == stores


@pytest.mark.slow
def test_lost_products_are_recreated(pttt, tmp_path):
    place = tmp_path / "elsewhere"
    first = pttt.ok("lab", "infosets", "--player", 0, data=place)
    (place / GAME / "none" / "views.zarr" / "zarr.json").unlink()
    assert pttt.ok("lab", "infosets", "--player", 0, data=place) == first


@pytest.mark.slow
def test_products_of_other_sources_are_recreated(pttt, tmp_path):
    place = tmp_path / "elsewhere"
    first = pttt.ok("lab", "infosets", "--player", 0, data=place)
    file = place / GAME / "none" / "index.json"
    manifest = read_manifest(file, "index")
    facts = {key: value for key, value in manifest.items() if key not in ("stage", "format_version")}
    write_manifest(file, "index", **{**facts, "sources": "others"})
    assert pttt.ok("lab", "infosets", "--player", 0, data=place) == first


# ---------------------------------------------------------------------------------------------
# Strategies


@pytest.mark.long_but("none", "h5-full")
@pytest.mark.slow_but_one
@pytest.mark.parametrize("symmetry", ["none", "full"])
@pytest.mark.parametrize("kind", ["zip", "npy", "h5", "directory"])
def test_a_small_budget_gives_the_same_bits(pttt, data, monkeypatch, kind, symmetry):
    """With nothing left for arrays, all of them are mapped from files: of both indices, where it folds."""
    names = write_kind(kind, strategies(seed=5, symmetric=True), symmetry)
    evaluate = ("evaluate", *names, "--symmetry", symmetry, "--json")
    whole, made = json.loads(pttt.ok(*evaluate).out), []
    monkeypatch.setattr(memory, "scratch_array", lambda *what: made.append(what[1]) or scratch_array(*what))
    monkeypatch.setattr(memory, "MB", 1)  # budgets are then told to the byte
    for command, players in ((evaluate, (0, 1)), (("validate", names[0], "--player", 0), (0,))):
        refused = pttt(*command, "--memory-mb", 1)
        smallest = re.search("A memory budget of 1 MB is too small: ([0-9]+) MB", refused.err)
        assert refused.code == 1 and smallest and not made
        found = pttt.ok(*command, "--memory-mb", smallest[1]).out
        if command == evaluate:
            assert {**json.loads(found), "seconds": 0} == {**whole, "seconds": 0}
        places = [f"0/{p}" for p in players] if command == evaluate else ["0"]
        expected = {f"{place}/probabilities" for place in places}
        expected |= {f"{place}/rows" for place in places if kind == "h5"}  # the others' rows are in the default order
        folded = symmetry == "full" and (kind == "directory") == (command != evaluate)
        expected |= {f"{place}/read" for place in places if folded}
        assert expected == {name for name in made if re.match("0/([01]/)?[pr]", name)}
        made.clear()
    assert not [file for file in data.rglob("tmp*")], "files of mapped arrays have no names"


@pytest.mark.slow_but_one
@pytest.mark.parametrize("symmetry", ["none", "full"])
def test_an_export_with_a_small_budget_has_the_same_bytes(pttt, data, monkeypatch, symmetry):
    names, made = write_kind("directory", strategies(seed=5, symmetric=True), symmetry), {}
    pttt.ok("lab", "export", names[0], "--output", "whole")
    monkeypatch.setattr(memory, "scratch_array", lambda *what: made.setdefault(what[1], scratch_array(*what)))
    monkeypatch.setattr(memory, "MB", 1)  # budgets are then told to the byte
    refused = pttt("lab", "export", names[0], "--output", "small", "--memory-mb", 1)
    smallest = re.search("A memory budget of 1 MB is too small: ([0-9]+) MB", refused.err)
    assert refused.code == 1 and smallest and not made and not Path("small").exists()
    pttt.ok("lab", "export", names[0], "--output", "small", "--memory-mb", smallest[1])
    mapped = {f"0/{player}/probabilities" for player in (0, 1)} | {"1/0", "1/1"}
    mapped |= {f"0/{player}/read" for player in (0, 1) if symmetry == "full"}
    assert set(made) == mapped and all(array.any() for array in made.values()), "mapped, and used"
    files = sorted(path.name for path in Path("whole").iterdir())
    assert len(files) == 5 and files == sorted(path.name for path in Path("small").iterdir())
    assert all(content_digest(Path("whole", name)) == content_digest(Path("small", name)) for name in files)


@pytest.mark.slow_but_one
@pytest.mark.parametrize("symmetry", ["none", "full"])
@pytest.mark.parametrize("name", TINY[:4])
def test_uniform_against_uniform(pttt, name, symmetry):
    game = named_game(name)
    tables = [naive.uniform(game, player) for player in (0, 1)]
    found = pttt("evaluate", "uniform", "uniform", "--json", "--symmetry", symmetry, game=name).json
    assert list(found) == KEYS
    assert found["value"] == pytest.approx(naive.value(game, *tables), abs=1e-12)
    for player in (0, 1):
        best = naive.best_response_value(game, player, tables[1 - player])
        assert found[f"best_response_{player}"] == pytest.approx(best, abs=1e-12)
    assert found["nashconv"] == found["best_response_0"] + found["best_response_1"]
    assert (found["game"], found["symmetry"], found["inputs"]) == (name, symmetry, ["uniform", "uniform"])
    low, high = found["game_value"]
    if name not in EXACT_VALUES:
        assert (low, high) == (-found["best_response_1"], found["best_response_0"]), "all that these two prove"
        assert found["exploitability_0"] is None and found["exploitability_1"] is None
        return
    value = float(EXACT_VALUES[name])
    assert low <= value + 1e-15 and value - 1e-15 <= high <= low + 2e-14
    assert found["exploitability_0"] == pytest.approx(value + found["best_response_1"], abs=1e-12)
    assert found["exploitability_1"] == pytest.approx(found["best_response_0"] - value, abs=1e-12)


@pytest.mark.slow
def test_one_strategy_is_evaluated_on_a_scale(pttt):
    tables, value = strategies(seed=5), float(EXACT_VALUES[GAME])
    names, game = write_kind("zip", tables), named_game(GAME)
    for player in (0, 1):
        found = pttt("evaluate", names[player], "--json").json  # whose it is, is told by the shape
        worst = -naive.best_response_value(game, 1 - player, tables[player])
        uniform = -naive.best_response_value(game, 1 - player, naive.uniform(game, player))
        mine = value if player == 0 else -value
        assert (found["game"], found["inputs"], found["player"]) == (GAME, [names[player]], player)
        assert found["worst_case"] == pytest.approx(worst, abs=1e-7)
        assert found["exploitability"] == pytest.approx(mine - worst, abs=1e-7)
        assert found["uniform_exploitability"] == pytest.approx(mine - uniform, abs=1e-12)
        told = pttt.ok("evaluate", names[player]).out
        assert f"{mine - worst:.9f}" in told and "13/17 = 0.764705882" in told
        assert "0 (perfect) < " in told and "(yours)" in told and "(uniform play)" in told
        assert f"`pttt mistakes {names[player]} --game {GAME}` tells where it loses." in told
    alone = pttt("evaluate", "uniform", "--player", 1, "--json").json
    assert alone["exploitability"] == alone["uniform_exploitability"] > 0
    both = pttt("evaluate", "uniform", "--json").json  # of both players
    assert both["inputs"] == ["uniform", "uniform"] and both["exploitability_1"] == alone["exploitability"]


def test_whose_strategy_it_is_must_be_clear(pttt):
    names = write_kind("zip", strategies(seed=5))
    for arguments, text in (
        (("uniform", "uniform", "--player", 0), "--player is for one strategy"),
        ((names[0], "--player", 1), "This is a file of player 0, not of player 1"),
        ((names[0], "--infosets1", "order.txt"), "give the order of its rows by --infosets0"),
        ((names[0], "--game-value=-0.9"), "The value of the game for player 0 cannot be -0.9"),
    ):
        done = pttt("evaluate", *arguments)
        assert done.code == 1 and text in done.err.replace("\n", " "), done.err
    told = pttt.ok("evaluate", "uniform", "--player", 0, game=UNPROVEN).out
    assert f"unknown, like the value of this game: `pttt solve --game {UNPROVEN}` finds it" in told


@pytest.mark.slow_but_one
@pytest.mark.parametrize("dtype", get_args(TensorType))
def test_uniform_file(pttt, dtype):
    for player, infosets in enumerate((189, 107)):
        file = f"uniform{player}.zip"
        pttt.ok("lab", "uniform", "--player", player, "--output", file, "--dtype", dtype)
        with np.load(file) as archive:
            assert list(archive) == [f"pttt_pl{player}"]
            tensor = archive[f"pttt_pl{player}"]
        expected = tensor_of(GAME, player, naive.uniform(named_game(GAME), player), dtype=dtype)
        assert tensor.dtype == dtype and np.allclose(tensor, expected, atol=1e-3 if dtype == "float16" else 1e-7)
        told = pttt.ok("validate", file, "--player", player).out
        assert "valid" in told and f"{infosets} infosets" in told
    found = pttt("evaluate", "uniform0.zip", "uniform1.zip", "--json").json
    expected = pttt("evaluate", "uniform", "uniform", "--json").json
    assert agrees(found, {key: expected[key] for key in FIGURES}, 1e-12)


@pytest.mark.slow_but_one
@pytest.mark.parametrize("kind", KINDS)
def test_all_kinds_of_strategies_are_evaluated_alike(pttt, kind):
    tables = strategies(seed=1)
    names = write_kind(kind, tables)
    assert agrees(pttt("evaluate", *names, "--json").json, figures(tables))
    mixed = figures([tables[0], naive.uniform(named_game(GAME), 1)])
    assert agrees(pttt("evaluate", names[0], "uniform", "--json").json, mixed)
    for player in (0, 1):
        assert "valid" in pttt.ok("validate", names[player], "--player", player).out


@pytest.mark.long_but("zip-full")
@pytest.mark.slow
@pytest.mark.parametrize("stored", ["none", "full"])
@pytest.mark.parametrize("kind", KINDS)
def test_symmetric_strategies_are_evaluated_alike_in_both_groups(pttt, kind, stored):
    tables = strategies(seed=2, symmetric=True)
    names = write_kind(kind, tables, stored)
    for symmetry in ("none", "full"):
        found = pttt("evaluate", *names, "--json", "--symmetry", symmetry).json
        assert agrees(found, figures(tables))


@pytest.mark.slow
def test_symmetry_is_used_where_all_strategies_have_it_exactly(pttt):
    tables, engine = strategies(seed=2, symmetric=True), small_engine(GAME, "full")
    names = write_kind("directory", tables, "full")
    zips = write_kind("zip", tables)
    chosen = {("uniform",): "full", (names[0],): "full", (names[0], "--player", 1): "full", (names[0], zips[1]): "none"}
    for arguments, symmetry in chosen.items():
        found, told = (pttt("evaluate", *arguments, *more, "--json").json for more in ([], ["--symmetry", "none"]))
        assert (found["symmetry"], told["symmetry"]) == (symmetry, "none")
        numbers = [key for key, number in told.items() if isinstance(number, float) and key != "seconds"]
        assert len(numbers) > 2 and agrees(found, {key: told[key] for key in numbers}, 1e-12)
    # Four squares mirror one another at first. The stored strategy says it is symmetric, and is not by one bit.
    both = [fold(as_strategy(small_engine(GAME).index, player, tables[player]), engine.index) for player in (0, 1)]
    both[1].probabilities[0] = np.nextafter(np.float32(both[1].probabilities[0]), np.float32(1))  # as it is stored
    write_solution(Path("odd/solution.zarr"), (both[0], both[1]), {})
    assert pttt("evaluate", "odd", "--json").json["symmetry"] == "none"
    assert pttt("evaluate", "odd", "--player", 0, "--json").json["symmetry"] == "full", "player 0's strategy is"


def test_the_order_of_rows_is_that_of_the_file_of_infosets(pttt):
    tables = strategies(seed=3)
    for player in (0, 1):
        order = naive.infosets(named_game(GAME), player)
        random.Random(player).shuffle(order)
        Path(f"order{player}.txt").write_text("".join(f"{text}\n" for text in order))
        write_zip(Path(f"{player}.zip"), tensor_of(GAME, player, tables[player], order))
        pttt.ok("validate", f"{player}.zip", "--player", player, "--infosets", f"order{player}.txt")
    orders = ("--infosets0", "order0.txt", "--infosets1", "order1.txt")
    assert agrees(pttt("evaluate", "0.zip", "1.zip", *orders, "--json").json, figures(tables))
    assert pttt("validate", "0.zip", "--player", 0).code == 1


def test_exploitability_against_a_given_value(pttt):
    for given, middle in (("0.7", 0.7), ("0.6,0.9", 0.75)):
        found = pttt("evaluate", "uniform", "uniform", "--json", f"--game-value={given}").json
        assert found["exploitability_0"] == pytest.approx(middle + found["best_response_1"], abs=1e-12)
        assert found["exploitability_1"] == pytest.approx(found["best_response_0"] - middle, abs=1e-12)
    done = pttt("evaluate", "uniform", "uniform", "--game-value=-0.5")  # or an exploitability would be negative
    assert done.code == 1 and "The value of the game cannot be -0.500000000 .. -0.500000000: it lies in" in done.err
    lowest = pttt("evaluate", "uniform", "uniform", "--json", "--game-value=-1,1").json
    assert lowest["exploitability_0"] == max(lowest["best_response_1"], 0.0) >= 0


def without_game(pttt, command, *arguments, data):
    """Run a command that has to find out by itself what game it is about."""
    pttt.capsys.readouterr()
    with pytest.raises(SystemExit) as end:
        cli.main([command, *map(str, arguments), "--data", str(data)])
    out, err = pttt.capsys.readouterr()
    return Done(end.value.code or 0, out, err)


@pytest.mark.slow_but_one
@pytest.mark.parametrize("kind", ["h5", "solution", "directory"])
def test_files_that_name_their_game_need_no_option(pttt, data, kind):
    tables = strategies(seed=1)
    names = write_kind(kind, tables)
    found = without_game(pttt, "evaluate", *names, "--json", data=data).json
    assert found["game"] == GAME and agrees(found, figures(tables))
    assert without_game(pttt, "validate", names[1], "--player", 1, data=data).code == 0
    if kind != "h5":
        assert without_game(pttt, "lab", "export", names[0], "--output", "out/of/this", data=data).code == 0
        assert len(os.listdir("out/of/this")) == 5


def test_the_shape_of_tensors_tells_their_game(pttt, data):
    for player in (0, 1):
        tables = [naive.uniform(named_game("mini-2x3k3-abrupt-after-1-4"), p) for p in (0, 1)]
        write_zip(Path(f"{player}.zip"), tensor_of("mini-2x3k3-abrupt-after-1-4", player, tables[player]))
    assert without_game(pttt, "evaluate", "0.zip", "1.zip", "--json", data=data).json["game"] == (
        "mini-2x3k3-abrupt-after-1-4"
    )


@pytest.mark.slow
def test_the_value_from_a_solution_is_used(pttt, tmp_path):
    place = tmp_path / "made"
    before = pttt("evaluate", "uniform", "uniform", "--json", game=UNPROVEN, data=place).json
    assert before["exploitability_0"] is None
    pttt.ok("solve", "--target-nashconv", "1e-2", game=UNPROVEN, data=place)
    last = json.loads((place / UNPROVEN / "full/convergence.jsonl").read_text().splitlines()[-1])
    middle = (last["value_lower"] + last["value_upper"]) / 2
    pttt.ok("lab", "export", place / UNPROVEN / "full", "--output", "out", game=UNPROVEN, data=place)
    for p0, where in (("uniform", place), ("out/strategies.h5", "elsewhere")):
        found = pttt("evaluate", p0, "uniform", "--json", game=UNPROVEN, data=where).json
        assert found["game_value"] == pytest.approx([last["value_lower"], last["value_upper"]], abs=1e-6)
        assert found["exploitability_1"] == pytest.approx(before["best_response_0"] - middle, abs=1e-6)
    told = pttt.ok("evaluate", "uniform", "uniform", game=UNPROVEN, data=place).out
    assert f"give or take {gap((last['value_upper'] - last['value_lower']) / 2)}" in told


def test_a_value_that_cannot_be_true_is_refused(pttt):
    index, game = small_engine(UNPROVEN).index, named_game(UNPROVEN)
    both = tuple(as_strategy(index, player, naive.uniform(game, player)) for player in (0, 1))
    write_bundle(Path("lie.h5"), index, both, {"solution": {"value_lower": -0.9, "value_upper": -0.8}})
    done = pttt("evaluate", "lie.h5", "lie.h5", game=UNPROVEN)
    assert done.code == 1 and "-0.900000000 .. -0.800000000" in done.err and "--game-value" in done.err


def test_the_table_has_the_same_figures(pttt):
    found = pttt("evaluate", "uniform", "uniform", "--json", "--game-value", "0.7").json
    told = pttt.ok("evaluate", "uniform", "uniform", "--game-value", "0.7", "--threads", 1).out
    assert all(f"{found[key]:+.9f}" in told for key in KEYS[3:6])
    assert all(f" {found[key]:.9f}" in told for key in KEYS[6:9])
    assert "unknown" in pttt.ok("evaluate", "uniform", "uniform", game=UNPROVEN).out


# ---------------------------------------------------------------------------------------------
# Solutions


def test_solve_export_and_evaluate(pttt, tmp_path):
    place = tmp_path / "made"
    told = pttt.ok("solve", "--target-nashconv", "2e-2", data=place).out
    directory = place / GAME / "full"
    assert str(directory / "solution.zarr") in told and "target_nashconv" in told and "13/17 = 0.764705882" in told
    last = json.loads((directory / "convergence.jsonl").read_text().splitlines()[-1])

    found = pttt("evaluate", directory, directory, "--json", "--symmetry", "full", data=place).json
    assert agrees(found, {key: last[key] for key in FIGURES}, 1e-12)
    assert found["exploitability_1"] == pytest.approx(last["best_response_0"] - 13 / 17, abs=1e-12)

    Path("out").mkdir()
    order = naive.infosets(named_game(GAME), 0)[::-1]
    Path("order.txt").write_text("\n".join(order))
    pttt.ok("lab", "export", directory, "--output", "out", "--infosets0", "order.txt", "--dtype", "float64", data=place)
    made = ["player0-infosets.txt", "player1-infosets.txt", "pttt_pl0.zip", "pttt_pl1.zip", "strategies.h5"]
    assert sorted(os.listdir("out")) == made
    assert Path("out/player0-infosets.txt").read_text().splitlines() == order
    orders = ("--infosets0", "out/player0-infosets.txt", "--infosets1", "out/player1-infosets.txt")
    for names in (("out/pttt_pl0.zip", "out/pttt_pl1.zip", *orders), ("out/strategies.h5",) * 2):
        assert agrees(pttt("evaluate", *names, "--json", data=place).json, {key: last[key] for key in FIGURES}, 1e-6)


def test_export_without_bundle(pttt):
    write_kind("solution", strategies(seed=4))
    Path("out").mkdir()
    told = pttt.ok("lab", "export", "run", "--output", "out", "--no-bundle", "--compression-level", 9).out
    assert sorted(os.listdir("out")) == sorted(Path(line).name for line in told.splitlines())
    assert len(os.listdir("out")) == 4


@pytest.mark.slow
def test_solve_goes_on_with_larger_budgets(pttt, tmp_path):
    place = tmp_path / "made"
    assert "max_iterations" in pttt.ok("solve", "--max-iterations", 5, data=place).out
    done = pttt.ok("solve", "--max-iterations", 12, data=place)
    assert "Continuing from iteration 5." in done.err and "Building" not in done.err
    whole = pttt.ok("solve", "--max-iterations", 12, data=tmp_path / "other")
    assert "Starting from the first" in whole.err
    rows = [json.loads(line) for line in (place / GAME / "full/convergence.jsonl").read_text().splitlines()]
    other = (tmp_path / "other" / GAME / "full/convergence.jsonl").read_text().splitlines()
    assert rows[-1]["nashconv"] == json.loads(other[-1])["nashconv"]
    assert "Starting from the first" in pttt.ok("solve", "--max-iterations", 7, data=place).err, "a smaller budget"


@pytest.mark.slow
def test_runs_with_names_are_kept_apart_and_tell_the_value(pttt, tmp_path, capsys):
    place = tmp_path / "made"
    pttt.ok("solve", "--target-nashconv", "1e-2", game=UNPROVEN, data=place)
    first = (place / UNPROVEN / "full/solve.json").read_bytes()
    done = pttt.ok(
        "solve", "--run", "dcfr", "--algorithm", "dcfr", "--target-nashconv", "1e-4", game=UNPROVEN, data=place
    )
    run = place / UNPROVEN / "full/runs/dcfr"
    assert f"The solution is in {run / 'solution.zarr'}." in done.out
    assert "Building the index" not in done.err and not (run / "index.zarr").exists()
    assert (place / UNPROVEN / "full/solve.json").read_bytes() == first
    last = json.loads((run / "convergence.jsonl").read_text().splitlines()[-1])
    found = pttt("evaluate", run, "uniform", "--symmetry", "full", "--json", game=UNPROVEN, data=place).json
    assert found["best_response_1"] == pytest.approx(last["best_response_1"], abs=1e-6)
    found = pttt("evaluate", "uniform", "uniform", "--symmetry", "full", "--json", game=UNPROVEN, data=place).json
    assert found["game_value"] == pytest.approx([last["value_lower"], last["value_upper"]], abs=1e-6)
    with pytest.raises(SystemExit):
        cli.main(["lab", "fsck", str(place)])
    assert "Checked 2 saved states and " in capsys.readouterr().out
    refused = pttt("solve", "--run", "../x", game=UNPROVEN, data=place)
    assert refused.code == 1 and "run is '../x', but must be a name" in refused.err


@pytest.mark.slow
def test_options_come_before_the_configuration_file(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    content = {"game": GAME, "symmetry": "none", "solve": {"algorithm": "cfr+", "max_iterations": 3}}
    Path("my.yaml").write_text(yaml.safe_dump(content))
    with pytest.raises(SystemExit) as end:
        cli.main(["solve", "--config", "my.yaml", "--max-iterations", "4", "--data", "made", "--threads", "1"])
    assert end.value.code == 0, capsys.readouterr().err
    manifest = json.loads(Path(f"made/{GAME}/none/solve.json").read_text())
    assert manifest["result"]["iteration"] == 4
    assert manifest["settings"]["algorithm"] == "cfr+" and manifest["symmetry"] == "none"


@pytest.mark.long
@pytest.mark.parametrize("ending", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_solve_continues(pttt, tmp_path, ending):
    """Wherever the signal meets it: the second run's budget is set when it is known how far the first has come."""
    place = tmp_path / "made"
    # Evaluated after the first iteration alone, when the gap is large: nothing else can end it.
    endless = ("--target-nashconv", 0, "--evaluate-every", 10**9, "--commit-seconds", 0)
    arguments = ("solve", *endless, "--max-iterations", 10**9, "--max-minutes", 10**6, "--game", GAME, "--data", place)

    def committed():
        return next((SnapshotRecord.read(file.parent).iteration for file in place.glob("*/*/work/*/CURRENT.json")), 0)

    with process(*arguments, cwd=tmp_path) as running:
        wait_until(committed, alive=lambda: running.poll() is None, told=lambda: "nothing was committed")
        running.send_signal(ending)
        _, err = running.communicate(timeout=PATIENCE)
    assert running.returncode == 130, err
    assert "Interrupted; the same command continues" in err and "Traceback" not in err
    reached = committed()
    done = pttt.ok("solve", *endless, "--max-iterations", reached + 3, data=place)
    assert f"Continuing from iteration {reached}." in done.err
    assert committed() == reached + 3


def _interrupted_while_closing(*arguments, **options):
    """What `shutil.rmtree` does when an interrupt comes between its closing a descriptor and its noting that."""
    descriptor = os.open(os.devnull, os.O_RDONLY)
    try:
        os.close(descriptor)
        raise KeyboardInterrupt
    finally:
        os.close(descriptor)


def _interrupted(*arguments, **options):
    raise KeyboardInterrupt


@pytest.mark.slow_but_one
@pytest.mark.parametrize("interrupt", [_interrupted, _interrupted_while_closing])
def test_an_interrupted_stage_that_saves_nothing_says_that_it_begins_anew(pttt, monkeypatch, tmp_path, interrupt):
    place = tmp_path / GAME / "full"
    solve = ("solve", "--max-iterations", 1)
    lost = "Interrupted. The same command begins stage {} again; earlier stages are kept."
    for function, name in (("counts_of", "enumerate"), ("write_timing", "index")):
        with monkeypatch.context() as patch:
            patch.setattr(f"pttt_ooc.pipeline.stages.{name}.{function}", interrupt)
            done = pttt(*solve, data=tmp_path)
        assert done.code == 130 and done.err.splitlines()[-1] == lost.format(name)
    views = (place / "enumerate.json").read_bytes()
    with monkeypatch.context() as patch:
        patch.setattr(stage, "solve", interrupt)
        assert pttt(*solve, data=tmp_path).err.splitlines()[-1] == INTERRUPTED, "the solver saves its state"
    pttt.ok(*solve, data=tmp_path)
    assert (place / "enumerate.json").read_bytes() == views, "an earlier stage stays"


@pytest.mark.slow
def test_an_interrupt_that_comes_out_as_another_error_is_an_interrupt(pttt, monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(stage, "solve", _interrupted_while_closing)
    done = pttt("solve", data=tmp_path)
    assert done.code == 130 and done.err.splitlines()[-1] == INTERRUPTED
    # The same in a stage of the workflow.
    with pytest.raises(SystemExit) as end, stage_context.errors_to(tmp_path / "log"):
        _interrupted_while_closing()
    assert end.value.code == 130 and capsys.readouterr().err.strip() == INTERRUPTED
    # And in a command that has no sentence of its own for it; a plain error stays what it is.
    monkeypatch.setattr("pttt_ooc.pipeline.stages.fsck.check", _interrupted_while_closing)
    with pytest.raises(SystemExit) as end:
        cli.main(["lab", "fsck", str(tmp_path)])
    assert end.value.code == 130
    with pytest.raises(SystemExit) as end, stage_context.errors_to(tmp_path / "log"):
        os.close(-1)
    assert end.value.code == 1


def test_display_has_the_promised_keys():
    assert list(display.JSON_KEYS) == KEYS


# ---------------------------------------------------------------------------------------------
# The full game


def value_of_uniform_play(game):
    """The value of uniform against uniform play, by a sum over boards; for the abrupt turn rule without a setup.

    A uniform player's probabilities depend on the number of its attempts alone, so that boards, with what each
    player has found out, stand for all histories that lead there.
    """
    payoffs, player, level = [], 0, {((0, 0), (0, 0)): 1.0}
    while level:
        following = defaultdict(float)
        for views, weight in level.items():
            (placed, failed), other = views[player], views[1 - player][0]
            legal = [1 << s for s in range(game.squares) if not (placed | failed) >> s & 1]
            for bit in legal:
                mine = (placed, failed | bit) if other & bit else (placed | bit, failed)
                if game.wins(player, mine[0]):
                    payoffs.append(weight / len(legal) * (1 - 2 * player))
                elif (mine[0] | other) != (1 << game.squares) - 1:
                    after = (mine, views[1]) if player == 0 else (views[0], mine)
                    following[after] += weight / len(legal)
        player, level = 1 - player, following
    return math.fsum(payoffs)


def test_the_sum_over_boards_is_right():
    game = named_game(GAME)
    tables = [naive.uniform(game, player) for player in (0, 1)]
    assert value_of_uniform_play(game) == pytest.approx(naive.value(game, *tables), abs=1e-14)


@pytest.mark.full
@pytest.mark.slow
@pytest.mark.parametrize("symmetry", ["full", "none"])
def test_uniform_against_uniform_in_the_full_game(pttt, symmetry):
    found = pttt("evaluate", "uniform", "uniform", "--json", "--symmetry", symmetry, game="pttt-abrupt").json
    assert found["value"] == pytest.approx(value_of_uniform_play(named_game("pttt-abrupt")), abs=1e-13)
    assert agrees(found, {"best_response_0": 0.847139568, "best_response_1": 0.391528901}, 1e-6)


@pytest.mark.full
@pytest.mark.slow
def test_files_of_the_full_game(pttt):
    pttt.ok("lab", "uniform", "--player", 0, "--output", "0.zip", game="pttt-abrupt")
    assert "14,482,810 infosets" in pttt.ok("validate", "0.zip", "--player", 0, game="pttt-abrupt").out
    pttt.ok("lab", "infosets", "--player", 1, "--output", "1.txt", game="pttt-abrupt")
    with open("1.txt") as lines:
        assert sum(1 for _ in lines) == 8_827_459
