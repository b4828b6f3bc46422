"""Runs of the same configuration leave the same bytes in everything but logs, run times and manifests."""

import json

import h5py
import pytest

from pttt_ooc.config import ExportConfig, SolveConfig
from pttt_ooc.disk.files import digest
from pttt_ooc.errors import StoreError
from pttt_ooc.stages import evaluate, export, fsck, solve
from pttt_ooc.stages.common import inputs
from pttt_ooc.stages.prepare import prepared

GAME = "mini-2x3k2-abrupt"
SETTINGS = SolveConfig(target_nashconv=0, max_iterations=6, snapshot_every=2)


def made(place, threads):
    directory = prepared(place, GAME, "full")
    solve.run(GAME, "full", SETTINGS, directory, threads)
    evaluate.run(GAME, "full", directory, threads)
    export.run(GAME, "full", ExportConfig(), directory, threads)
    return directory


@pytest.fixture(scope="module")
def both(tmp_path_factory):
    return [made(tmp_path_factory.mktemp("same"), threads) for threads in (1, 2)]


def test_equal_runs_leave_equal_products(both):
    names = {path.name for path in both[0].iterdir() if path.suffix in (".zip", ".txt", ".h5", ".zarr")}
    assert {"strategies.h5", "pttt_pl0.zip", "solution.zarr", "player1-infosets.txt"} <= names
    for name in (*names, "snapshots"):
        assert digest(both[0] / name) == digest(both[1] / name), name


def test_the_bundle_still_says_how_it_was_made(both):
    with h5py.File(both[0] / "strategies.h5") as file:
        facts = json.loads(file.attrs["facts"])
        assert file.attrs["solve.result.iteration"] == facts["solve"]["result"]["iteration"] == 6
        assert not [name for name in file.attrs if "second" in name and ".settings." not in name]
    assert facts["solve"]["settings"]["snapshot_every"] == 2 and "nashconv" in facts["evaluation"]
    manifest = json.loads((both[0] / "solve.json").read_text())
    assert facts["digests"]["solution.zarr"] == manifest["products"]["solution.zarr"]["digest"]


def test_a_flipped_bit_in_a_digest_is_blamed_on_the_manifest(both):
    file = both[1] / "solve.json"
    good = file.read_text()
    digest_told = json.loads(good)["products"]["solution.zarr"]["digest"]
    other = "1" if digest_told[7] == "0" else "0"
    file.write_text(good.replace(digest_told, digest_told[:7] + other + digest_told[8:]))
    with pytest.raises(StoreError, match=r"solve\.json is damaged: its content does not match"):
        inputs(both[1], "enumerate", "index", "solve")
    assert [problem for problem in fsck.check(both[1]).problems if "solution.zarr" in problem] == []
    file.write_text(good)
    assert fsck.check(both[1]).problems == []
