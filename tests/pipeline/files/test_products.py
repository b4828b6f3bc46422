"""The files of the workflow are readable without the package: by zarr, h5py, zipfile and numpy."""

import json
import zipfile

import h5py
import numpy as np
import pytest
import zarr

from tests.pipeline.stages import test_workflow
from tests.pipeline.stages.test_workflow import GAME

finished_once = test_workflow.finished_once  # a fixture


@pytest.fixture
def data(finished_once):
    return finished_once / "data" / GAME / "full"


def sequences(store, player):
    index = zarr.open(store / "index.zarr", mode="r")[f"full/players/{player}"]
    return {name: index[name][...] for name in ("slice_start", "sequence_start", "node_start", "decides")}


@pytest.mark.slow
def test_every_store_opens_with_plain_zarr(data):
    assert zarr.open(data / "views.zarr", mode="r")["pairs/mover"].shape[0] > 0
    solution = zarr.open(data / "solution.zarr", mode="r")
    assert solution.attrs["game"] == GAME and solution.attrs["iteration"] == 44
    (current,) = (data / "work").glob("*/CURRENT.json")
    generation = json.loads(current.read_text())["generation"]
    commit = zarr.open(current.parent / "commits" / f"{generation:08d}", mode="r")
    for player in (0, 1):
        index = sequences(data, player)
        for n, (first, last) in enumerate(zip(index["slice_start"][:-1], index["slice_start"][1:], strict=True)):
            size = index["sequence_start"][last] - index["sequence_start"][first]
            assert solution[f"strategy/{player}/{n}"].shape == (size,)
            assert commit[f"regrets/{player}/{n}"].shape == commit[f"strategy_sums/{player}/{n}"].shape == (size,)


@pytest.mark.slow
def test_probabilities_of_the_solution_sum_to_one(data):
    solution = zarr.open(data / "solution.zarr", mode="r")
    for player in (0, 1):
        index = sequences(data, player)
        slices = len(index["slice_start"]) - 1
        flat = np.concatenate([solution[f"strategy/{player}/{n}"][...] for n in range(slices)])
        for v in np.flatnonzero(index["decides"]):
            orders = index["node_start"][v + 1] - index["node_start"][v]
            block = flat[index["sequence_start"][v] : index["sequence_start"][v + 1]].reshape(-1, orders)
            assert np.allclose(block.sum(axis=0), 1, atol=1e-6)


@pytest.mark.slow
def test_the_bundle_opens_with_plain_h5py_and_agrees_with_the_zips(data):
    with h5py.File(data / "strategies.h5") as bundle:
        assert bundle.attrs["game"] == GAME and "strategy" in bundle.attrs["README"]
        for player in (0, 1):
            lines = (data / f"player{player}-infosets.txt").read_text().split()
            assert [text.decode() for text in bundle[f"player{player}/infosets"][...]] == lines
            with zipfile.ZipFile(data / f"pttt_pl{player}.zip") as archive:
                (name,) = archive.namelist()
                with archive.open(name) as member:
                    tensor = np.load(member)
            assert np.array_equal(bundle[f"player{player}/strategy"][...], tensor)
            assert tensor.shape == (len(lines), 6)
            assert np.allclose(tensor.sum(axis=1), 1, atol=1e-6)
            for line, row in zip(lines, tensor, strict=True):
                assert all(row[int(square)] == 0 for square in line[1::2])
