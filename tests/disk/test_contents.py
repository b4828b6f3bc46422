"""Digests of contents: the same for other compressed bytes, another for any other content."""

import hashlib
import io
import json
import shutil
import zipfile

import h5py
import numpy as np
import pytest
import zarr
from zarr.codecs import GzipCodec, ZstdCodec

from pttt_ooc.disk.contents import ArrayDigest, UndecodableError, content_digest
from pttt_ooc.disk.store import create_array, write_array, write_attrs
from pttt_ooc.errors import StoreError

NUMBERS = np.random.default_rng(0).random((50, 3))
NAME = "a.npy"


def zipped(path, numbers=NUMBERS, level=1, name=NAME, method=zipfile.ZIP_DEFLATED):
    stream = io.BytesIO()
    np.save(stream, numbers)
    with zipfile.ZipFile(path, "w", method, compresslevel=level) as archive:
        archive.writestr(name, stream.getvalue())


def hdf5(path, numbers=NUMBERS, level=1, name="player0/strategy", attrs=(("game", "x"),), rows=10, described="d"):
    with h5py.File(path, "w") as file:
        file.attrs.update(dict(attrs))
        dataset = file.create_dataset(
            name, data=numbers, chunks=(rows, *numbers.shape[1:]), compression="gzip", compression_opts=level
        )
        dataset.attrs["description"] = described


def store(path, numbers=NUMBERS, codec=None, rows=20, name="g/a", attrs=(("game", "x"),), dimension="row"):
    shutil.rmtree(path, ignore_errors=True)
    group = zarr.open_group(path, mode="w", zarr_format=3, attributes=dict(attrs))
    array = group.create_array(
        name,
        shape=numbers.shape,
        dtype=numbers.dtype,
        chunks=(rows, *numbers.shape[1:]),
        compressors=codec,
        filters=None,
        dimension_names=(dimension, "column"),
    )
    array[...] = numbers


WRITERS = {"a.zip": zipped, "a.h5": hdf5, "a.zarr": store}
OTHERS = {  # the same contents
    "a.zip": ({"level": 9}, {"method": zipfile.ZIP_STORED}),
    "a.h5": ({"level": 9}, {"rows": 7}),
    "a.zarr": ({"codec": ZstdCodec(level=9)}, {"codec": GzipCodec(level=1)}, {"rows": 50}),
}
CHANGED = np.where(np.arange(150).reshape(50, 3) == 149, np.nextafter(NUMBERS, 2), NUMBERS)


@pytest.mark.parametrize("name", WRITERS)
def test_other_compressed_bytes_are_the_same_content(tmp_path, name):
    found = set()
    for settings in ({}, *OTHERS[name]):
        WRITERS[name](tmp_path / name, **settings)
        found.add(content_digest(tmp_path / name))
    assert len(found) == 1


@pytest.mark.parametrize("name", WRITERS)
def test_any_other_content_is_another(tmp_path, name):
    others = [{"numbers": CHANGED}, {"numbers": NUMBERS[:-1]}, {"numbers": NUMBERS.view("i8")}, {"name": "b.npy"}]
    others += [{"numbers": NUMBERS.reshape(25, 6)}]
    if name != "a.zip":
        others += [{"attrs": (("game", "y"),)}, {"attrs": ()}]
    others += {"a.zarr": [{"dimension": "line"}], "a.h5": [{"described": "e"}]}.get(name, [])
    found = []
    for settings in ({}, *others):
        WRITERS[name](tmp_path / name, **settings)
        found.append(content_digest(tmp_path / name))
    assert len(set(found)) == len(found) == len(others) + 1


def test_plain_files_count_byte_by_byte(tmp_path):
    (tmp_path / "a.txt").write_bytes(b"|0*\n")
    assert content_digest(tmp_path / "a.txt") == hashlib.sha256(b"|0*\n").hexdigest()
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr("notes.txt", "one")
    first = content_digest(tmp_path / "a.zip")
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr("notes.txt", "two")
    assert content_digest(tmp_path / "a.zip") != first
    with pytest.raises(StoreError, match=r"Cannot read .*/none\.zip: No such file"):
        content_digest(tmp_path / "none.zip")


def test_a_tree_counts_by_the_names_of_its_files_and_arrays(tmp_path):
    for name, moved in (("one", "x"), ("two", "y")):
        store(tmp_path / name / moved / "s.zarr")
        (tmp_path / name / "notes.txt").write_text("a")
    one, two = content_digest(tmp_path / "one"), content_digest(tmp_path / "two")
    assert one != two
    (tmp_path / "two/y").rename(tmp_path / "two/x")
    assert content_digest(tmp_path / "two") == one
    (tmp_path / "two/notes.txt").write_text("b")
    assert content_digest(tmp_path / "two") != one
    shutil.copy(tmp_path / "one/notes.txt", tmp_path / "two")
    (tmp_path / "two/empty").mkdir()
    assert content_digest(tmp_path / "two") == one


def test_mapped_and_compressed_arrays_have_one_digest(tmp_path):
    for data in (NUMBERS, np.zeros((0, 3)), np.float64(3), np.array([True, False])):
        found = set()
        for compress in (True, False):
            write_array(tmp_path / f"{compress}", "a", data, compress)
            found.add(content_digest(tmp_path / f"{compress}"))
            shutil.rmtree(tmp_path / f"{compress}")
        assert len(found) == 1, data
    array = create_array(tmp_path / "s", "a", (4,), "f8")
    first = content_digest(tmp_path / "s")
    array[3] = 1
    assert content_digest(tmp_path / "s") != first


def test_attributes_of_a_group_count_but_not_how_they_are_written(tmp_path):
    write_attrs(tmp_path / "s", {"game": "x", "n": 1})
    first, file = content_digest(tmp_path / "s"), tmp_path / "s/zarr.json"
    description = json.loads(file.read_text())
    file.write_text(json.dumps({**description, "consolidated_metadata": None}, indent=None, sort_keys=True))
    assert content_digest(tmp_path / "s") == first
    file.write_text(json.dumps({**description, "attributes": {"game": "x", "n": 2}}))
    assert content_digest(tmp_path / "s") != first


@pytest.mark.parametrize("name", WRITERS)
def test_what_does_not_decode_is_damaged(tmp_path, name):
    WRITERS[name](tmp_path / name, **({"codec": ZstdCodec(checksum=True), "rows": 50} if name == "a.zarr" else {}))
    file = next((tmp_path / name).rglob("c/0/0")) if name == "a.zarr" else tmp_path / name
    data, middle = bytearray(file.read_bytes()), file.stat().st_size // 2
    if name == "a.h5":
        with h5py.File(file) as opened:
            chunk = opened["player0/strategy"].id.get_chunk_info(0)
        middle = chunk.byte_offset + chunk.size // 2
    for at in range(middle, middle + 8):
        data[at] ^= 0xFF
    file.write_bytes(data)
    with pytest.raises(UndecodableError, match="damaged"):
        content_digest(tmp_path / name)
    file.write_bytes(data[:20])
    with pytest.raises(UndecodableError, match="damaged"):
        content_digest(tmp_path / name)


def test_known_arrays_are_not_read_again(tmp_path):
    numbers = ArrayDigest()
    for rows in (NUMBERS[:7], NUMBERS[7:].astype(">f8")):
        numbers.add(rows)
    for name, array in (("a.zip", NAME), ("a.h5", "player0/strategy")):
        WRITERS[name](tmp_path / name)
        assert content_digest(tmp_path / name, {array: numbers.result()}) == content_digest(tmp_path / name)
        assert content_digest(tmp_path / name, {array: "another"}) != content_digest(tmp_path / name)
