"""The hand-over file, read with h5py only."""

import json
import subprocess
import sys
from dataclasses import dataclass

import h5py
import numpy as np
import pytest

from pttt_ooc.disk.contents import content_digest
from pttt_ooc.errors import InfosetFileError, StoreError, StrategyError, StrategyFileError
from pttt_ooc.games.rules.catalogue import named_game
from pttt_ooc.games.structure.index import build_index
from pttt_ooc.pipeline.files import bundle, infosets
from pttt_ooc.pipeline.files import tensors as formats
from tests.kits import naive
from tests.kits.helpers import write_bundle

GAME = "mini-2x3k2-abrupt"
FACTS = {
    "value": 0.25,
    "interval": [0.2, 0.3],
    "symmetric": True,
    "configuration": {"game": GAME, "solve": {"alpha": None, "algorithm": "dcfr", "max_iterations": 7}},
    "stages": [{"name": "solve"}],
    "README": "not this one",
}


@dataclass
class Plan:
    player: int
    probabilities: np.ndarray


def plans_of(index):
    """A strategy for each player, without equal rows."""
    rng, plans = np.random.default_rng(3), []
    for player in (0, 1):
        rows = infosets.default_rows(index, player)
        weights = rng.random(index.players[player].sequences)
        tensor = np.concatenate(list(formats.tensor_from_strategy(index, player, weights, rows, np.float64)))
        tensor /= tensor.sum(axis=1, keepdims=True)
        plans.append(Plan(player, formats.strategy_from_tensor(index, player, tensor, rows)))
    return tuple(plans)


@pytest.fixture
def written(tmp_path):
    index = build_index(named_game(GAME), "none")
    plans = plans_of(index)
    write_bundle(tmp_path / "b.h5", index, plans, FACTS)
    return tmp_path / "b.h5", index, plans


def test_is_readable_without_the_package(written):
    path, _, _ = written
    with h5py.File(path) as f:
        for player in (0, 1):
            texts = [text.decode("ascii") for text in f[f"player{player}/infosets"][:]]
            tensor = f[f"player{player}/strategy"][:]
            assert texts == naive.infosets(named_game(GAME), player)
            assert tensor.shape == (len(texts), 6) and tensor.dtype == np.float32
            np.testing.assert_allclose(tensor.sum(axis=1), 1, atol=1e-6)
            for text, row in zip(texts, tensor, strict=True):
                assert [s for s in range(6) if row[s] > 0] == naive.legal_squares(named_game(GAME), text)


def test_describes_itself(written):
    path, _, _ = written
    with h5py.File(path) as f:
        for word in ("player0/infosets", "player1", "probability", "2 x 3 squares", "0 to 5", "turn passes"):
            assert word in f.attrs["README"]
        assert json.loads(f.attrs["facts"]) == FACTS
        assert f.attrs["game"] == GAME
        assert f.attrs["value"] == 0.25 and f.attrs["symmetric"]
        assert list(f.attrs["interval"]) == [0.2, 0.3]
        assert f.attrs["configuration.solve.max_iterations"] == 7
        assert f.attrs["configuration.solve.algorithm"] == "dcfr"
        assert "configuration.solve.alpha" not in f.attrs and "stages" not in f.attrs


def test_long_facts(tmp_path):
    index = build_index(named_game("mini-2x2k2-abrupt"), "none")
    facts = {"log": "x" * 200_000}
    write_bundle(tmp_path / "b.h5", index, plans_of(index), facts)
    with h5py.File(tmp_path / "b.h5") as f:
        assert json.loads(f.attrs["facts"]) == facts


@pytest.mark.parametrize("game", [GAME, "mini-2x3k2-classical", "mini-2x3k3-abrupt-after-1", "mini-2x3k3-abrupt"])
def test_round_trip_in_any_order_of_rows(tmp_path, monkeypatch, game):
    for module in (bundle, infosets):
        monkeypatch.setattr(module, "BLOCK_ROWS", 400)
    index = build_index(named_game(game), "none")
    plans, rng = plans_of(index), np.random.default_rng(0)
    shuffled = tuple(rng.permutation(infosets.default_rows(index, player)) for player in (0, 1))
    for rows in ((None, None), shuffled):
        write_bundle(tmp_path / "b.h5", index, plans, {}, rows, np.float64)
        for player in (0, 1):
            found = bundle.read_bundle_strategy(tmp_path / "b.h5", index, player)
            np.testing.assert_allclose(found, plans[player].probabilities, atol=1e-15)
    with h5py.File(tmp_path / "b.h5") as f:
        first = f["player0/infosets"][0].decode()
    assert first == infosets.infoset_text(index, 0, int(shuffled[0][0]))


def test_same_strategies_same_contents(written, tmp_path):
    path, index, plans = written
    write_bundle(tmp_path / "c.h5", index, plans, FACTS)
    assert content_digest(tmp_path / "c.h5") == content_digest(path)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["b.h5", "c.h5"]


def test_unwritable(written, tmp_path):
    _, index, plans = written
    with pytest.raises(StoreError, match=r"Cannot write .*/none/b\.h5: "):
        write_bundle(tmp_path / "none" / "b.h5", index, plans, FACTS)


def damage(path, change):
    with h5py.File(path, "r+") as f:
        change(f)


def replace(name, data):
    def change(f):
        del f[name]
        f[name] = data

    return change


@pytest.mark.parametrize(
    ("change", "error", "sentence"),
    [
        (lambda f: f.attrs.pop("format_version"), StrategyFileError, "This HDF5 file is not a hand-over file"),
        (lambda f: f.attrs.modify("format_version", 9), StrategyFileError, "The format version is 9, but only 1 can"),
        (lambda f: f.attrs.modify("game", "chess"), StrategyFileError, f"The strategies are for chess, not for {GAME}"),
        (lambda f: f.pop("player0/strategy"), StrategyFileError, "The dataset player0/strategy is missing"),
        (replace("player0/infosets", np.arange(189)), StrategyFileError, "player0/infosets is not a list of fixed-"),
        (replace("player0/strategy", np.zeros((3, 6))), StrategyError, r"Invalid tensor shape: found \(3, 6\)"),
        (replace("player0/strategy", np.zeros((189, 6), int)), StrategyError, "Invalid dtype: found int64"),
        (replace("player0/infosets", np.array([b"|", b"|0*"])), InfosetFileError, "187 infosets are missing"),
        (replace("player0/infosets", np.array([b"|", b"|"])), InfosetFileError, "line 2: .* is a doubled line"),
        (lambda f: f["player0/strategy"].write_direct(np.zeros((189, 6), "f4")), StrategyError, "the sum is 0.0"),
    ],
)
def test_damaged_files(written, change, error, sentence):
    path, index, _ = written
    damage(path, change)
    with pytest.raises(error, match=sentence) as caught:
        bundle.read_bundle_strategy(path, index, 0)
    assert str(caught.value).startswith(str(path))


def test_no_hdf5_file(written, tmp_path):
    path, index, _ = written
    (tmp_path / "x.h5").write_text("no HDF5")
    for bad in (tmp_path / "x.h5", tmp_path / "none.h5"):
        with pytest.raises(StrategyFileError, match="Not a readable HDF5 file"):
            bundle.read_bundle_strategy(bad, index, 0)


def test_a_file_that_another_program_writes_is_not_called_damaged(written):
    path, index, _ = written
    writes = f"import h5py, sys; f = h5py.File({str(path)!r}, 'a'); print('open', flush=True); sys.stdin.read()"
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen([sys.executable, "-c", writes], **pipes) as writer:
        assert writer.stdout.readline() == b"open\n"
        with pytest.raises(StrategyFileError, match="Another program has this HDF5 file open for writing"):
            bundle.read_bundle_strategy(path, index, 0)
        writer.stdin.close()
    bundle.read_bundle_strategy(path, index, 0)


def test_damaged_bytes_are_found(written):
    path, index, _ = written
    with h5py.File(path) as f:
        chunk = f["player0/strategy"].id.get_chunk_info(0)
    data = bytearray(path.read_bytes())
    data[chunk.byte_offset + chunk.size // 2] ^= 0xFF
    path.write_bytes(data)
    with pytest.raises(StrategyFileError, match="Not a readable HDF5 file"):
        bundle.read_bundle_strategy(path, index, 0)
