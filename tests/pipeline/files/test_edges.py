"""Files at the edges of their formats: the last chunk, versions, ends of zips, zips that are too large for 32 bits."""

import io
import struct
import zipfile
import zlib

import h5py
import numpy as np
import pytest

from pttt_ooc.disk.contents import content_digest
from pttt_ooc.disk.manifests import FORMAT_VERSION, check_version
from pttt_ooc.disk.store import write_attrs
from pttt_ooc.errors import StoreError, StrategyError, StrategyFileError
from pttt_ooc.games.structure.strategy import Strategy
from pttt_ooc.pipeline.files import bundle, file_headers, infosets, tensor_reader, tensors
from tests.kits.helpers import FILE_GAME, full_index, write_bundle

ROWS, COLUMNS = 50, 9
TENSOR = np.random.default_rng(0).random((ROWS, COLUMNS))


@pytest.fixture(scope="module")
def plans():
    index, rng = full_index(FILE_GAME), np.random.default_rng(1)
    return [Strategy(index, p, rng.random(index.players[p].sequences)) for p in (0, 1)]


@pytest.mark.parametrize("player", [0, 1])
@pytest.mark.parametrize("last", [1, 2, -1, 0], ids=lambda last: f"{last:+d}")
def test_the_last_chunk_may_have_any_number_of_rows(tmp_path, monkeypatch, plans, player, last):
    """One row, two, one row short of a chunk, or all of it: a reader sees the same rows."""
    index = full_index(FILE_GAME)
    rows = len(infosets.default_rows(index, player))
    write_bundle(tmp_path / "whole.h5", index, plans, {})
    block = next(n for n in range(5 if last else 1, rows) if (rows - last) % n == 0)
    for module in (bundle, infosets):
        monkeypatch.setattr(module, "BLOCK_ROWS", block)
    write_bundle(tmp_path / "blocks.h5", index, plans, {})
    with h5py.File(tmp_path / "whole.h5") as whole, h5py.File(tmp_path / "blocks.h5") as blocks:
        assert blocks[f"player{player}/strategy"].chunks[0] == block and rows % block == last % block
        for name in ("infosets", "strategy"):
            found = blocks[f"player{player}/{name}"]
            assert np.array_equal(whole[f"player{player}/{name}"][:], found[:])
            # HDF5 does not look, and reads beyond the end of a chunk that is too short.
            for start in range(0, rows, block):
                _, chunk = found.id.read_direct_chunk((start, *[0] * (found.ndim - 1)))
                assert len(zlib.decompress(chunk)) == found.dtype.itemsize * np.prod(found.chunks)
    assert content_digest(tmp_path / "whole.h5") == content_digest(tmp_path / "blocks.h5")


def test_a_block_that_is_larger_than_a_chunk_is_refused(tmp_path, monkeypatch, plans):
    monkeypatch.setattr(bundle, "BLOCK_ROWS", infosets.BLOCK_ROWS)
    index = full_index(FILE_GAME)
    with bundle.open_bundle(tmp_path / "b.h5", index, (5, 5), {}) as parts:
        texts = infosets.infoset_texts(index, 0, infosets.default_rows(index, 0)[:6])
        with pytest.raises(ValueError, match="a block of 6 rows does not fit a chunk of 5"):
            parts[0].pack(texts, np.zeros((6, index.game.squares)))


# ---------------------------------------------------------------------------------------------
# Versions


@pytest.mark.parametrize("version", [FORMAT_VERSION - 1, FORMAT_VERSION + 1])
def test_stores_of_an_older_and_of_a_newer_version_are_refused(tmp_path, version):
    write_attrs(tmp_path / "s", {"game": FILE_GAME, "symmetry": "none", "format_version": FORMAT_VERSION})
    assert file_headers.solution_attrs(tmp_path / "s")["game"] == FILE_GAME
    write_attrs(tmp_path / "s", {"format_version": version})
    told = f"is of format version {version}, this program reads version {FORMAT_VERSION}"
    with pytest.raises(StoreError, match=told):
        file_headers.solution_attrs(tmp_path / "s")
    with pytest.raises(StoreError, match=f"m.json is of format version {version}, this program .* run it again"):
        check_version({"format_version": version}, tmp_path / "m.json", "run it again")


@pytest.mark.parametrize("version", [bundle.FORMAT_VERSION - 1, bundle.FORMAT_VERSION + 1, [1, 1]])
def test_bundles_of_another_version_are_refused(tmp_path, plans, version):
    path = tmp_path / "b.h5"
    write_bundle(path, full_index(FILE_GAME), plans, {})
    with h5py.File(path, "r+") as file:
        file.attrs["format_version"] = version
    for read in (
        lambda: bundle.read_bundle_header(path, 0),
        lambda: bundle.read_bundle_strategy(path, full_index(FILE_GAME), 0),
    ):
        with pytest.raises(StrategyFileError, match=r"The format version is .*, but only 1 can be read"):
            read()


# ---------------------------------------------------------------------------------------------
# Zips


def npy(tensor=TENSOR):
    stream = io.BytesIO()
    np.save(stream, tensor)
    return stream.getvalue()


def read_whole(path):
    with tensor_reader.open_tensor(path, (ROWS, COLUMNS)) as opened:
        return np.concatenate([opened[start : start + 7] for start in range(0, ROWS, 7)])


@pytest.mark.parametrize("beyond", [0, 1, 2, 1000])
def test_a_member_does_not_reach_into_the_directory(tmp_path, beyond):
    """Its length, as the directory announces it, is the most that fits, or more."""
    path = tmp_path / "a.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as archive:
        archive.writestr("a.npy", npy())
    data = bytearray(path.read_bytes())
    at = data.index(b"PK\1\2")
    struct.pack_into("<II", data, at + 20, *[at - 30 + beyond] * 2)  # both lengths; 30 bytes are the member's header
    path.write_bytes(data)
    with pytest.raises(StrategyFileError, match="Not a valid zip file") as caught:
        read_whole(path)
    assert ("The zipped file overlaps with the zip's directory" in str(caught.value)) == (beyond > 0)


def test_a_member_does_not_begin_before_the_file(tmp_path):
    path = tmp_path / "a.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("a.npy", npy())
    data = bytearray(path.read_bytes())
    struct.pack_into("<I", data, len(data) - 22 + 16, data.index(b"PK\1\2") + 1)  # where the directory begins
    path.write_bytes(data)
    with pytest.raises(StrategyFileError, match="Not a valid zip file"):
        read_whole(path)


def large_from(monkeypatch, limit):
    """Let zips be large from so many bytes, as if these were 2 GB."""
    monkeypatch.setattr(zipfile, "ZIP64_LIMIT", limit)


BYTES = TENSOR.nbytes


@pytest.mark.parametrize("limit", [100, BYTES - 1, BYTES + 1, BYTES + 120, BYTES + 300])
@pytest.mark.parametrize("level", [0, 1])
def test_large_zips_have_both_lengths_in_64_bits(tmp_path, monkeypatch, limit, level):
    """Also if only the header of the npy file, or what compression adds, brings a zip over the limit."""
    path = tmp_path / "a.zip"
    large_from(monkeypatch, limit)
    tensors.write_strategy_zip(path, [TENSOR[:20], TENSOR[20:]], TENSOR.shape, TENSOR.dtype, level, "a.npy")
    monkeypatch.undo()
    with zipfile.ZipFile(path) as archive:
        assert archive.testzip() is None
        [member] = archive.infolist()
        assert archive.read("a.npy")[-BYTES:] == TENSOR.tobytes()
    assert np.array_equal(read_whole(path), TENSOR)
    header = path.read_bytes()[: 30 + len("a.npy") + 20]
    crc, packed, whole, name, extra = struct.unpack_from("<IIIHH", header, 14)
    assert (crc, packed, whole, name, extra) == (member.CRC, 0xFFFFFFFF, 0xFFFFFFFF, len("a.npy"), 20)
    kind, size, whole, packed = struct.unpack_from("<HHQQ", header, 30 + name)
    assert (kind, size, whole, packed) == (1, 16, member.file_size, member.compress_size)


def test_small_zips_have_their_lengths_in_32_bits(tmp_path, monkeypatch):
    path = tmp_path / "a.zip"
    large_from(monkeypatch, 2 * BYTES)
    tensors.write_strategy_zip(path, [TENSOR], TENSOR.shape, TENSOR.dtype, 1, "a.npy")
    with zipfile.ZipFile(path) as archive:
        [member] = archive.infolist()
    packed, whole, _, extra = struct.unpack_from("<IIHH", path.read_bytes(), 18)
    assert (packed, whole, extra) == (member.compress_size, member.file_size, 0)


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_large_zips_of_other_programs_are_read(tmp_path, monkeypatch, method):
    path = tmp_path / "a.zip"
    large_from(monkeypatch, 100)
    with zipfile.ZipFile(path, "w", method) as archive, archive.open("a.npy", "w", force_zip64=True) as file:
        file.write(npy())
    monkeypatch.undo()
    assert np.array_equal(read_whole(path), TENSOR)


@pytest.mark.parametrize(
    ("rows", "kind", "complaint"),
    [
        (1 << 62, StrategyError, r"found \(4611686018427387904, 9\), expected \(50, 9\)"),
        (1 << 63, StrategyFileError, "The header of the .npy file is"),
    ],
)
def test_a_shape_that_no_array_has_is_damage_and_a_large_one_is_another_shape(tmp_path, rows, kind, complaint):
    with open(tmp_path / "t.npy", "wb") as file:
        header = {"descr": "<f4", "fortran_order": False, "shape": (rows, COLUMNS)}
        np.lib.format.write_array_header_1_0(file, header)
    with pytest.raises(kind, match=complaint), tensor_reader.open_tensor(tmp_path / "t.npy", (ROWS, COLUMNS)):
        pass
