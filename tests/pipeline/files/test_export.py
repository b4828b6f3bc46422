"""Exports: complete files with the same contents, in one pass on any number of threads, or no files."""

import threading

import numpy as np
import pytest

from pttt_ooc.cfr.sweep.parallel import in_order
from pttt_ooc.disk.contents import content_digest
from pttt_ooc.errors import StoreError
from pttt_ooc.games.rules.catalogue import GAMES
from pttt_ooc.games.structure.index import build_index
from pttt_ooc.games.structure.strategy import Strategy
from pttt_ooc.pipeline.files import bundle, export, infosets
from pttt_ooc.pipeline.files import tensors as formats
from pttt_ooc.pipeline.files.export import write_export
from pttt_ooc.pipeline.stages.product_check import describe_product
from tests.kits.helpers import write_bundle

GAME = "mini-2x3k3-abrupt"
FILES = {"pttt_pl0.zip", "pttt_pl1.zip", "player0-infosets.txt", "player1-infosets.txt", "strategies.h5"}


@pytest.fixture(scope="module")
def given():
    index, rng = build_index(GAMES[GAME], "none"), np.random.default_rng(0)
    plans = tuple(Strategy(index, p, rng.random(index.players[p].sequences, np.float32)) for p in (0, 1))
    rows = (infosets.default_rows(index, 0), rng.permutation(infosets.default_rows(index, 1)))
    return index, plans, rows


def contents(directory):
    return {file.name: content_digest(file) for file in directory.iterdir()}


@pytest.mark.parametrize("rows_of_a_block", ["all", "all but one", 400])
def test_one_pass_on_any_number_of_threads_writes_the_files_of_each_writer(
    given, tmp_path, monkeypatch, rows_of_a_block
):
    index, plans, rows = given
    block = {"all": len(rows[0]), "all but one": len(rows[0]) - 1}.get(rows_of_a_block, rows_of_a_block)
    for module in (infosets, bundle):
        monkeypatch.setattr(module, "BLOCK_ROWS", block)
    for threads in (1, 3):
        place = tmp_path / str(threads)
        place.mkdir()
        told = write_export(place, index, plans, rows, np.float32, 1, {"value": 0.5}, threads)
        # The digests that are made while the files are written are those of what is there.
        assert {name: describe_product(place / name, told.get(name))["digest"] for name in FILES} == contents(place)
    alone = tmp_path / "alone"
    alone.mkdir()
    for p in (0, 1):
        infosets.write_infosets(index, p, alone / f"player{p}-infosets.txt", rows[p])
        formats.export_strategy(plans[p], rows[p], alone / f"pttt_pl{p}.zip")
    write_bundle(alone / "strategies.h5", index, plans, {"value": 0.5}, rows)
    one, three, separate = (contents(directory) for directory in (tmp_path / "1", tmp_path / "3", alone))
    assert set(one) == set(three) == set(separate) == FILES
    assert one == three == separate


def test_a_failure_leaves_the_old_files(given, tmp_path, monkeypatch):
    index, plans, rows = given
    for name in FILES:
        (tmp_path / name).write_text("old")
    for module in (infosets, bundle):
        monkeypatch.setattr(module, "BLOCK_ROWS", 400)
    calls = []

    def failing(*arguments):
        calls.append(arguments)
        if len(calls) == 3:
            raise OSError(28, "No space left on device")
        return infosets.as_lines(*arguments)

    monkeypatch.setattr(export, "as_lines", failing)
    with pytest.raises(StoreError, match="No space left on device"):
        write_export(tmp_path, index, plans, rows, np.float32, 1, {}, 2)
    assert {file.name: file.read_bytes() for file in tmp_path.iterdir()} == dict.fromkeys(FILES, b"old")


def test_results_come_in_order_and_few_wait():
    begun, first = [], threading.Event()

    def work(item):
        begun.append(item)
        if item == 0:
            assert first.wait(60)  # until another thread has done all that it may begin
        elif len(begun) == 3:
            first.set()
        return item

    found = in_order(work, range(20), 2)
    assert next(found) == 0
    assert max(begun) <= 3
    assert list(found) == list(range(1, 20))


def test_an_error_stops_the_work():
    def work(item):
        if item == 1:
            raise ValueError("one")
        return item

    found = in_order(work, range(1000), 2)
    assert next(found) == 0
    with pytest.raises(ValueError, match="one"):
        next(found)
