"""Strategy files, read and written with plain Python, zipfile and numpy only."""

import io
import os
import struct
import zipfile

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pttt_ooc.disk.contents import content_digest
from pttt_ooc.errors import PtttError, StoreError, StrategyError, StrategyFileError
from pttt_ooc.games.rules.catalogue import named_game
from pttt_ooc.pipeline.files import infosets, tensor_reader, zipped_array
from pttt_ooc.pipeline.files import tensors as formats
from tests.kits.helpers import FILE_GAME, FILE_GAMES, default_texts, full_index


def legal(text, squares=6):
    return [s for s in range(squares) if str(s) not in text[1::2]]


def uniform_tensor(texts, dtype=np.float32, squares=6):
    tensor = np.zeros((len(texts), squares), dtype)
    for row, text in zip(tensor, texts, strict=True):
        row[legal(text, squares)] = 1 / len(legal(text, squares))
    return tensor


def random_tensor(texts, seed=0, squares=6):
    tensor = np.random.default_rng(seed).random((len(texts), squares)) * (uniform_tensor(texts, squares=squares) > 0)
    return tensor / tensor.sum(axis=1, keepdims=True)


# ---------------------------------------------------------------------------------------------
# Tensors


@pytest.mark.slow_but_one
@pytest.mark.parametrize("player", [0, 1])
@pytest.mark.parametrize("game", FILE_GAMES)
def test_rows_are_the_infosets(monkeypatch, game, player):
    monkeypatch.setattr(infosets, "BLOCK_ROWS", 50)
    squares, texts = named_game(game).squares, default_texts(game, player)
    np.random.default_rng(2).shuffle(texts)
    rows = np.array([infosets.parse_infoset(full_index(game), player, text) for text in texts])
    tensor = random_tensor(texts, squares=squares)
    probabilities = formats.strategy_from_tensor(full_index(game), player, tensor, rows)
    assert probabilities.shape == (full_index(game).players[player].sequences,)
    blocks = list(formats.tensor_from_strategy(full_index(game), player, probabilities, rows, np.float64))
    assert max(map(len, blocks)) <= 50
    np.testing.assert_allclose(np.concatenate(blocks), tensor, atol=1e-15)


def test_layout_of_probabilities():
    """Action by action, order by order, as the package documents its arrays."""
    index = full_index(FILE_GAME)
    mine, rows, texts = index.players[0], infosets.default_rows(index, 0), default_texts(FILE_GAME, 0)
    tensor = random_tensor(texts)
    probabilities = formats.strategy_from_tensor(index, 0, tensor, rows)
    for row, node, text in zip(tensor, rows, texts, strict=True):
        view = int(np.searchsorted(mine.node_start, node, side="right")) - 1
        orders, rank = mine.node_start[view + 1] - mine.node_start[view], node - mine.node_start[view]
        for j, square in enumerate(legal(text)):
            assert probabilities[mine.sequence_start[view] + j * orders + rank] == pytest.approx(row[square])


@pytest.mark.parametrize("dtype", [np.float16, np.float32])
def test_numbers_for_the_engine_to_scale_are_unchanged(dtype):
    index, rows = full_index(FILE_GAME), infosets.DefaultRows(full_index(FILE_GAME), 0)
    tensor = random_tensor(default_texts(FILE_GAME, 0)).astype(dtype)
    assert np.any(tensor.sum(axis=1, dtype=np.float64) != 1)
    kept = formats.strategy_from_tensor(index, 0, tensor, rows, np.float32, normalise=False)
    found = np.concatenate(list(formats.tensor_from_strategy(index, 0, kept, rows)))
    assert kept.dtype == np.float32 and np.array_equal(found, tensor)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64, ">f2", ">f4", ">f8"])
def test_accepted_rows_are_normalised(dtype):
    index, rows = full_index(FILE_GAME), infosets.default_rows(full_index(FILE_GAME), 0)
    probabilities = formats.strategy_from_tensor(
        index, 0, random_tensor(default_texts(FILE_GAME, 0)).astype(dtype), rows
    )
    assert probabilities.dtype == np.float64
    tensor = np.concatenate(list(formats.tensor_from_strategy(index, 0, probabilities, rows, np.float64)))
    np.testing.assert_allclose(tensor.sum(axis=1), 1, atol=1e-15)
    assert formats.strategy_from_tensor(index, 0, tensor, rows, np.float32).dtype == np.float32


@pytest.mark.parametrize(
    ("entries", "what"),
    [
        ({1: np.nan}, "square 1 has nan, which is not a number between 0 and 1"),
        ({0: np.inf}, "square 0 has inf, which is not a number between 0 and 1"),
        ({1: -0.25}, "square 1 has -0.25, but probabilities are not negative"),
        ({0: 0.5}, "square 0 has 0.5, but it has already been attempted, so that it must have 0"),
        ({1: 1.5}, "square 1 has 1.5, but probabilities are at most 1"),
        ({1: 0.0, 2: 0.0, 3: 0.0, 4: 0.0, 5: 0.0}, "the sum is 0.0, but must be 1 to within 1e-05"),
        ({1: 0.3}, "the sum is 1.1"),
    ],
)
def test_bad_rows(entries, what):
    texts = default_texts(FILE_GAME, 0)
    tensor = uniform_tensor(texts)
    for square, probability in entries.items():
        tensor[1, square] = probability
    tensor[5] = np.nan  # the error reports the first bad row
    with pytest.raises(StrategyError) as error:
        formats.strategy_from_tensor(
            full_index(FILE_GAME), 0, tensor, infosets.default_rows(full_index(FILE_GAME), 0), source="x.zip"
        )
    assert str(error.value).startswith(f"x.zip, row 1 (counted from 0), infoset '|0*': {what}")


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_tolerance_of_sums(dtype):
    texts, rows, tolerance = (
        default_texts(FILE_GAME, 0),
        infosets.default_rows(full_index(FILE_GAME), 0),
        formats.SUM_TOLERANCE[dtype],
    )
    tensor = uniform_tensor(texts, dtype)
    last = texts.index(next(t for t in texts if len(legal(t)) == 2))
    for excess, accepted in ((0.4 * tolerance, True), (-3 * tolerance, False)):
        tensor[last, legal(texts[last])] = [0.5, 0.5 + excess]
        if accepted:
            formats.strategy_from_tensor(full_index(FILE_GAME), 0, tensor, rows)
        else:
            with pytest.raises(StrategyError, match=f"row {last} .*the sum is 0.99.*to within {tolerance}"):
                formats.strategy_from_tensor(full_index(FILE_GAME), 0, tensor, rows)


def test_tensor_of_wrong_shape_or_dtype():
    rows = infosets.default_rows(full_index(FILE_GAME), 0)
    with pytest.raises(StrategyError, match=r"Invalid tensor shape: found \(3, 6\), expected \(189, 6\)\."):
        formats.strategy_from_tensor(full_index(FILE_GAME), 0, np.zeros((3, 6)), rows)
    with pytest.raises(StrategyError, match="Invalid dtype: found int64, expected one of float16"):
        formats.strategy_from_tensor(full_index(FILE_GAME), 0, np.zeros((189, 6), np.int64), rows)


# ---------------------------------------------------------------------------------------------
# Files of tensors

SHAPE = (5, 4)
NOT_A_ZIP = "Not a valid zip file."
TENSOR = np.arange(20, dtype=np.float32).reshape(SHAPE) / 20


def npy(array, **options):
    f = io.BytesIO()
    np.lib.format.write_array(f, array, **options)
    return f.getvalue()


def zipped(path, *members, method=zipfile.ZIP_DEFLATED):
    with zipfile.ZipFile(path, "w", method) as archive:
        for name, data in members:
            archive.writestr(name, data)
    return path


def read_whole(path, shape):
    """A tensor as :func:`strategy_from_tensor` asks for it, in native byte order."""
    with tensor_reader.open_tensor(path, shape) as tensor:
        assert tensor.shape == shape
        parts = [tensor[start : start + 3] for start in range(0, shape[0], 3)]
        return np.ascontiguousarray(np.concatenate(parts), tensor.dtype.newbyteorder("="))


@pytest.mark.parametrize("level", [0, 1, 9])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_zip_is_read_with_zipfile_and_numpy(tmp_path, level, dtype):
    for name in ("a.zip", "b.zip"):
        formats.write_strategy_zip(tmp_path / name, [TENSOR[:3], TENSOR[3:]], SHAPE, dtype, level, "pttt_pl1.npy")
    with zipfile.ZipFile(tmp_path / "a.zip") as archive:
        assert archive.testzip() is None
        assert archive.namelist() == ["pttt_pl1.npy"]
        assert archive.infolist()[0].date_time == (1980, 1, 1, 0, 0, 0)
        data = archive.read("pttt_pl1.npy")
    assert data == npy(TENSOR.astype(dtype), version=(1, 0))
    assert content_digest(tmp_path / "a.zip") == content_digest(tmp_path / "b.zip")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a.zip", "b.zip"]
    back = read_whole(tmp_path / "a.zip", SHAPE)
    assert back.dtype == dtype and np.array_equal(back, TENSOR.astype(dtype))


def test_failed_writing_leaves_the_old_file(tmp_path):
    (tmp_path / "a.zip").write_text("old")
    with pytest.raises(ValueError, match="blocks of 48 bytes"):
        formats.write_strategy_zip(tmp_path / "a.zip", [TENSOR[:3]], SHAPE, np.float32)
    assert [(p.name, p.read_text()) for p in tmp_path.iterdir()] == [("a.zip", "old")]
    with pytest.raises(StoreError, match=r"Cannot write .*/none/a\.zip: No such file or directory"):
        formats.write_strategy_zip(tmp_path / "none" / "a.zip", [TENSOR], SHAPE, np.float32)


@pytest.mark.parametrize("suffix", [".npy", ".zip"])
@pytest.mark.parametrize("version", [(1, 0), (2, 0)])
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", ["<f2", ">f2", "<f4", ">f4", "<f8", ">f8"])
def test_all_kinds_of_floats_are_read(tmp_path, dtype, order, version, suffix):
    path, data = tmp_path / f"a{suffix}", npy(np.asarray(TENSOR, dtype, order=order), version=version)
    zipped(path, ("a.npy", data)) if suffix == ".zip" else path.write_bytes(data)
    back = read_whole(path, SHAPE)
    assert back.dtype == np.dtype(dtype).newbyteorder("=") and back.flags.c_contiguous
    assert np.array_equal(back, TENSOR.astype(dtype))


def test_stored_member_and_many_blocks(tmp_path, monkeypatch):
    monkeypatch.setattr(tensor_reader, "BLOCK_BYTES", 1000)
    monkeypatch.setattr(tensor_reader, "HEADER_BYTES", 200)
    tensor = np.random.default_rng(0).random((5000, 9))
    for method in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        path = zipped(tmp_path / "a.zip", ("a.npy", npy(tensor)), method=method)
        assert np.array_equal(read_whole(path, (5000, 9)), tensor)


def refused(path, sentence, error=StrategyFileError):
    with pytest.raises(error) as caught:
        read_whole(path, SHAPE)
    assert str(caught.value).startswith(f"{path}: {sentence}"), str(caught.value)
    assert str(caught.value).endswith(".")


@pytest.mark.parametrize("content", [b"", b"no zip at all", b"PK\3\4" + bytes(100), npy(TENSOR)])
def test_no_zip(tmp_path, content):
    (tmp_path / "a.zip").write_bytes(content)
    refused(tmp_path / "a.zip", "Not a valid zip file")


def test_members(tmp_path):
    path, data = tmp_path / "a.zip", npy(TENSOR)
    refused(zipped(path), "Not a valid zip file. The zip is empty.")
    refused(zipped(path, ("a.npy", data), ("b.npy", data)), "The zip contains more than one file")
    refused(zipped(path, ("a.txt", data)), "The zipped file does not end with .npy")
    refused(zipped(path, ("d/", b"")), "The zipped file does not end with .npy")
    refused(zipped(path, ("a.npy", data), method=zipfile.ZIP_LZMA), f"{NOT_A_ZIP} The zipped file is compressed by")


def test_a_folder_around_the_member_is_passed_over(tmp_path):
    path = zipped(tmp_path / "a.zip", ("d/", b""), ("d/a.npy", npy(TENSOR)))
    assert np.array_equal(read_whole(path, SHAPE), TENSOR)


def test_name_of_the_member_is_never_used(tmp_path):
    path = zipped(tmp_path / "a.zip", ("../../outside.npy", npy(TENSOR)))
    assert np.array_equal(read_whole(path, SHAPE), TENSOR)
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("suffix", [".npy", ".zip"])
@pytest.mark.parametrize(
    ("data", "sentence", "error"),
    [
        (b"", "Exception parsing numpy tensor", StrategyFileError),
        (b"no tensor", "Exception parsing numpy tensor", StrategyFileError),
        (npy(TENSOR)[:40], "Exception parsing numpy tensor", StrategyFileError),
        (npy(TENSOR).replace(b"(5, 4)", b"(5, 4("), "Exception parsing numpy tensor", StrategyFileError),
        (npy(TENSOR).replace(b"(5, 4)", b"(-5,4)"), "Exception parsing numpy tensor", StrategyFileError),
        (b"\x93NUMPY\2\0\xff\xff\xff\xff{", "Exception parsing numpy tensor", StrategyFileError),
        (npy(TENSOR[:4]), "Invalid tensor shape: found (4, 4), expected (5, 4)", StrategyError),
        (npy(TENSOR[0]), "Invalid tensor shape: found (4,), expected (5, 4)", StrategyError),
        (npy(TENSOR[:4].astype(int)), "Invalid tensor shape", StrategyError),
        (npy(TENSOR.astype(np.int32)), "Invalid dtype: found int32, expected one of float16", StrategyError),
        (npy(TENSOR.astype(bool)), "Invalid dtype: found bool", StrategyError),
        (npy(TENSOR.astype(complex)), "Invalid dtype: found complex128", StrategyError),
        (npy(TENSOR.astype("U3")), "Invalid dtype: found <U3", StrategyError),
        (npy(TENSOR.astype("S3")), "Invalid dtype: found |S3", StrategyError),
        (npy(TENSOR.astype(object)), "Invalid dtype: found object", StrategyError),
        (npy(np.zeros(SHAPE, [("a", "<f4")])), "Invalid dtype: found [('a', '<f4')]", StrategyError),
        (npy(TENSOR)[:-1], "Exception parsing numpy tensor. The .npy file is truncated", StrategyFileError),
        (npy(TENSOR) + b"x", "Exception parsing numpy tensor. The .npy file goes on after the", StrategyFileError),
    ],
)
def test_bad_tensors(tmp_path, data, sentence, error, suffix):
    path = tmp_path / f"a{suffix}"
    zipped(path, ("a.npy", data)) if suffix == ".zip" else path.write_bytes(data)
    refused(path, sentence, error)


def patched(path, member, offset, value):
    """The zip with a field overwritten: `offset` bytes into the entry of the central directory."""
    data = bytearray(zipped(path, member).read_bytes())
    at = data.index(b"PK\1\2") + offset
    data[at : at + len(value)] = value
    path.write_bytes(data)
    return path


def test_damaged_zips(tmp_path):
    path, data = tmp_path / "a.zip", npy(TENSOR)
    member, size = ("a.npy", data), len(data)
    refused(patched(path, member, 16, b"\0\0\0\0"), f"{NOT_A_ZIP} Bad CRC-32")
    refused(patched(path, member, 8, b"\1\0"), f"{NOT_A_ZIP} The zipped file is encrypted")
    refused(patched(path, member, 24, struct.pack("<I", size - 1)), f"{NOT_A_ZIP} Bad CRC-32")
    refused(
        patched(path, member, 24, struct.pack("<I", size + 1)), "Exception parsing numpy tensor. The .npy file goes on"
    )
    # Announced as it should be, but too short, or longer than announced.
    refused(patched(path, ("a.npy", data[:-3]), 24, struct.pack("<I", size)), f"{NOT_A_ZIP} 3 bytes")
    refused(patched(path, ("a.npy", data + b"x"), 24, struct.pack("<I", size)), f"{NOT_A_ZIP} Bad CRC-32")
    whole = zipped(path, member).read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    refused(path, "Not a valid zip file")


@pytest.mark.slow_but_one
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("suffix", [".npy", ".zip"])
def test_damaged_bytes_are_a_sentence_or_nothing(tmp_path, suffix, seed):
    path, rng = tmp_path / f"a{suffix}", np.random.default_rng(seed)
    path.write_bytes(npy(TENSOR))
    whole = zipped(path, ("a.npy", npy(TENSOR))).read_bytes() if suffix == ".zip" else path.read_bytes()
    for _ in range(400):
        data = bytearray(whole)
        for at in rng.integers(len(data), size=rng.integers(1, 4)):
            data[at] = rng.integers(256)
        path.unlink()  # not overwritten: an earlier result may still be a map of it
        path.write_bytes(data)
        try:
            assert read_whole(path, SHAPE).shape == SHAPE
        except PtttError as error:
            assert str(error).startswith(f"{path}: ")


def test_unreadable_files(tmp_path):
    for name in ("none.zip", "none.npy"):
        refused(tmp_path / name, "The file cannot be read: No such file or directory")
    (tmp_path / "d.npy").mkdir()
    refused(tmp_path / "d.npy", "The file cannot be read: Is a directory")
    refused(tmp_path / "a.pkl", "A strategy's file is a .zip or .npy")


# ---------------------------------------------------------------------------------------------


@settings(max_examples=10)
@given(
    seed=st.integers(0, 2**32 - 1),
    player=st.sampled_from([0, 1]),
    game=st.sampled_from(FILE_GAMES),
    dtype=st.sampled_from([np.float32, np.float64]),
    level=st.integers(0, 9),
)
def test_round_trip_through_files(tmp_path_factory, seed, player, game, dtype, level):
    index, squares, directory = full_index(game), named_game(game).squares, tmp_path_factory.mktemp("files")
    texts = default_texts(game, player)
    np.random.default_rng(seed).shuffle(texts)
    (directory / "i.txt").write_text("\n".join(texts))
    rows = infosets.read_infosets(index, player, directory / "i.txt")
    tensor = random_tensor(texts, seed, squares)
    shape = tensor.shape
    formats.write_strategy_zip(directory / "s.zip", [tensor], shape, dtype, level)
    found = read_whole(directory / "s.zip", shape)
    assert np.array_equal(found, tensor.astype(dtype))
    probabilities = formats.strategy_from_tensor(index, player, found, rows)
    again = np.concatenate(list(formats.tensor_from_strategy(index, player, probabilities, rows, np.float64)))
    np.testing.assert_allclose(again, tensor, atol=1e-6 if dtype == np.float32 else 1e-14)


# ---------------------------------------------------------------------------------------------
# Tensors read while their rows are checked


@pytest.mark.parametrize("block", [7, 10_000])
@pytest.mark.parametrize(("suffix", "order"), [(".zip", "C"), (".zip", "F"), (".npy", "C"), (".npy", "F")])
def test_rows_are_checked_while_they_are_read(tmp_path, monkeypatch, block, suffix, order):
    monkeypatch.setattr(infosets, "BLOCK_ROWS", block)
    index, rows = full_index(FILE_GAME), infosets.default_rows(full_index(FILE_GAME), 0)
    tensor = np.asarray(random_tensor(default_texts(FILE_GAME, 0)), order=order)
    path = tmp_path / f"s{suffix}"
    np.save(tmp_path / "s.npy", tensor)
    if suffix == ".zip":
        zipped(path, ("s.npy", (tmp_path / "s.npy").read_bytes()))
    with tensor_reader.open_tensor(path, tensor.shape) as opened:
        found = formats.strategy_from_tensor(index, 0, opened, rows)
    assert np.array_equal(found, formats.strategy_from_tensor(index, 0, tensor, rows))


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_a_damaged_zip_is_reported_as_such_and_not_by_its_rows(tmp_path, method):
    index, rows = full_index(FILE_GAME), infosets.default_rows(full_index(FILE_GAME), 0)
    tensor = random_tensor(default_texts(FILE_GAME, 0))
    path = zipped(tmp_path / "s.zip", ("s.npy", npy(tensor)), method=method)
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 0xFF
    path.write_bytes(data)
    with (
        pytest.raises(StrategyFileError, match="Not a valid zip file"),
        tensor_reader.open_tensor(path, tensor.shape) as opened,
    ):
        formats.strategy_from_tensor(index, 0, opened, rows)


@pytest.mark.parametrize("level", [0, 1, 9])
@pytest.mark.parametrize("size", [1, 1000, 1 << 20])
def test_data_packed_by_zlib_is_inflated_in_parts_of_any_size(tmp_path, monkeypatch, level, size):
    monkeypatch.setattr(zipped_array, "BLOCK_BYTES", 1 << 12)
    content = np.random.default_rng(0).integers(0, 9, 20_000, np.uint8).tobytes() + bytes(10_000)
    with zipfile.ZipFile(tmp_path / "a.zip", "w", zipfile.ZIP_DEFLATED, compresslevel=level) as archive:
        archive.writestr("a.npy", content)
    parts = []
    with zipped_array.open_zipped(tmp_path / "a.zip") as (stream, announced):
        while part := stream.read(size):
            parts.append(part)
        assert stream.read(size) == b""
    assert b"".join(parts) == content and announced == len(content) and max(map(len, parts)) <= size


def test_rows_come_in_sequence(tmp_path):
    path = tmp_path / "s.zip"
    formats.write_strategy_zip(path, [TENSOR], SHAPE, np.float32)
    with pytest.raises(IndexError, match="the next is 0, not 1"), tensor_reader.open_tensor(path, SHAPE) as opened:
        opened[1:2]


class Counted(io.BytesIO):
    """A stream that records the largest requested size."""

    largest = 0

    def read(self, size=-1):
        self.largest = max(self.largest, size)
        assert size >= 0, "never all at once"
        return super().read(size)


@pytest.mark.parametrize("order", ["C", "F"])
def test_a_stream_is_read_in_small_parts(tmp_path, order):
    tensor = np.random.default_rng(0).random((20_000, 9))
    stream = Counted(tensor.tobytes(order))
    rows = tensor_reader.TensorRows(b"", stream, tensor.shape, tensor.dtype)
    found = rows.in_columns(tmp_path) if order == "F" else rows[0:20_000]
    assert np.array_equal(found, tensor) and stream.largest <= tensor_reader.BLOCK_BYTES < tensor.nbytes
    assert not list(tmp_path.iterdir()), "the file for the columns has no name"


def test_a_file_that_becomes_shorter_is_reported(tmp_path):
    path = tmp_path / "a.npy"
    tensor = np.random.default_rng(0).random((50_000, 9))
    np.save(path, tensor)
    with (
        pytest.raises(StrategyFileError, match=r"a\.npy: Exception parsing numpy tensor\. .* are missing\.$"),
        tensor_reader.open_tensor(path, tensor.shape) as opened,
    ):
        os.truncate(path, 1 << 18)
        opened[0:50_000]
