"""Plans on disk, and equilibria as solutions."""

import json

import numpy as np
import pytest

from pttt_ooc.disk.files import fresh_store
from pttt_ooc.disk.store import read_array, write_array
from pttt_ooc.errors import StoreError, StrategyFileError
from pttt_ooc.games.structure.index import build_index
from pttt_ooc.games.structure.strategy import uniform_strategy
from pttt_ooc.library.api.strategy_names import named_strategy
from pttt_ooc.pipeline.files.equilibrium import read_plans, write_equilibrium
from pttt_ooc.pipeline.files.file_headers import solution_attrs, solution_dtype
from pttt_ooc.pipeline.files.solution import read_solution
from tests.kits.equilibria import settled

pytest.importorskip("scipy")

GAME = "mini-2x3k3-abrupt-after-1"


@pytest.fixture(scope="module")
def oracle():
    return settled(GAME, memo_mb=4)


def test_plans_are_read_as_they_were_written(oracle, tmp_path):
    with fresh_store(tmp_path / "e.zarr") as root:
        write_equilibrium(root, oracle.game, oracle.plans, {"nashconv": 0.0})
    again = read_plans(tmp_path / "e.zarr", oracle.rules)
    for one, other in zip(oracle.plans, again, strict=True):
        infosets, sequences = one.counts
        assert other.counts.tolist() == [infosets, sequences] and infosets > 10
        for name in one._fields[1:]:
            size = sequences if name in ("infosets", "orbits", "chances") else infosets
            np.testing.assert_array_equal(getattr(one, name)[:size], getattr(other, name)[:size], name)


@pytest.mark.slow_but_one
@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("before", lambda array: array[:-1]),
        ("before", lambda array: np.where(np.arange(len(array)) == 3, 10**6, array)),
        ("infosets", lambda array: array[::-1].copy()),
        ("squares", lambda array: np.zeros_like(array)),
        ("squares", lambda array: array + 9),
        ("chances", lambda array: np.append(array, 0.5)),
        ("chances", lambda array: np.where(np.arange(len(array)) == 1, np.nan, array)),
        ("chances", lambda array: array / 2),
        ("chances", lambda array: -array),
        ("chances", lambda array: array * 0),
        ("chances", lambda array: np.where(np.arange(len(array)) < 6, array, 0)),
        ("infosets", lambda array: array.astype(np.float64)),
        ("infosets", lambda array: array - 10**6),
        ("squares", lambda array: array * 0 + 100),
        ("placed", lambda array: array[:, None]),
    ],
)
def test_damaged_plans_are_refused(oracle, tmp_path, name, change):
    with fresh_store(tmp_path / "e.zarr") as root:
        write_equilibrium(root, oracle.game, oracle.plans, {})
    path = f"plan/1/{name}"
    damaged = change(read_array(tmp_path / "e.zarr", path))
    write_array(tmp_path / "e.zarr", f"{path}-2", damaged, compress=True)
    for file in (tmp_path / "e.zarr" / path).rglob("*"):
        if file.is_file():
            file.unlink()
    (tmp_path / "e.zarr" / path).rename(tmp_path / "old")
    (tmp_path / "e.zarr" / f"{path}-2").rename(tmp_path / "e.zarr" / path)
    with pytest.raises(StoreError, match=r"The plan of player 1 in .*e\.zarr is damaged"):
        read_plans(tmp_path / "e.zarr", oracle.rules)


def test_a_plan_without_a_list_of_infosets_is_no_solution(oracle, tmp_path):
    with fresh_store(tmp_path / "e.zarr") as root:
        write_equilibrium(root, oracle.game, oracle.plans, {"nashconv": 0.0})
    assert solution_attrs(tmp_path / "e.zarr")["listed"] is False
    with pytest.raises(StrategyFileError, match="without a list of its infosets; .* set listed: true"):
        named_strategy(str(tmp_path / "e.zarr"), 0)


def test_an_equilibrium_is_a_solution_in_double_precision(oracle, tmp_path):
    index = build_index(oracle.game, "full")
    otherwise = tuple(uniform_strategy(index, p, np.float64) for p in (0, 1))
    with fresh_store(tmp_path / "equilibrium.zarr") as root:
        write_equilibrium(root, oracle.game, oracle.plans, {"nashconv": 0.0}, "full", otherwise)
    named = named_strategy(str(tmp_path), 1)
    assert named.kind == "solution" and named.path.name == "equilibrium.zarr" and named.dtype == np.float64
    attrs = solution_attrs(named.path)
    assert solution_dtype(attrs) == np.float64 and json.dumps(attrs, sort_keys=True) == json.dumps(attrs)
    read = read_solution(named.path, index)
    for one, other in zip(otherwise, read, strict=True):  # they were changed where the plans decide
        assert other.probabilities.dtype == np.float64
        np.testing.assert_array_equal(one.probabilities, other.probabilities)
        assert len(np.unique(one.probabilities)) > 7
