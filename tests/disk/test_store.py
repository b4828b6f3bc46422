"""Mapped and stored arrays, and attributes."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import numpy as np
import pytest
import zarr

from pttt_ooc.disk import store
from pttt_ooc.disk.store import create_array, map_array, read_array, read_attrs, scratch_array, write_array, write_attrs
from pttt_ooc.errors import StoreError

SHAPES = [(7,), (3, 5), (0,), (0, 4), (4, 0), (), (1,)]


@pytest.mark.slow_but_one
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("dtype", ["f8", "f4", "i4", "u1", ">f8"])
def test_a_created_array_is_zero_and_zarr_reads_writes_through_the_map(
    tmp_path: Path, shape: tuple[int, ...], dtype: str
) -> None:
    array = create_array(tmp_path / "s", "regret/0/5", shape, dtype)
    assert type(array) is np.ndarray and array.shape == shape and array.flags.writeable
    assert array.dtype == np.dtype(dtype).newbyteorder("<")
    assert not array.any()
    array[...] = np.arange(array.size).reshape(shape) + 1
    seen = zarr.open(tmp_path / "s", mode="r")["regret/0/5"]
    assert np.array_equal(seen[...], array) and seen.shape == shape and seen.dtype == array.dtype
    assert np.array_equal(map_array(tmp_path / "s", "regret/0/5"), array)


def test_zarr_lists_the_groups_between(tmp_path: Path) -> None:
    create_array(tmp_path, "regret/0/5", (2,), "f8")
    create_array(tmp_path, "regret/1/5", (2,), "f8")
    root = zarr.open(tmp_path, mode="r")
    assert [name for name, _ in root.members()] == ["regret"]
    assert sorted(root["regret"].group_keys()) == ["0", "1"]
    assert store.array_names(tmp_path) == ["regret/0/5", "regret/1/5"]


def test_the_chunk_file_is_the_bytes_and_reserved_on_disk(tmp_path: Path) -> None:
    array = create_array(tmp_path, "a", (1000, 100), "f4")
    file = tmp_path / "a" / "c" / "0" / "0"
    assert file.stat().st_size == 400_000
    assert file.stat().st_blocks * 512 >= 400_000  # no holes: storing through the map cannot run out of disk
    array[3, 4] = 1.5
    assert np.fromfile(file, "<f4").reshape(1000, 100)[3, 4] == 1.5


def test_maps_share_the_file_and_the_mode_is_kept(tmp_path: Path) -> None:
    array = create_array(tmp_path, "a", (4,), "i8")
    map_array(tmp_path, "a", "r+")[2] = 9
    assert array[2] == 9
    readonly = map_array(tmp_path, "a")
    assert not readonly.flags.writeable
    with pytest.raises(ValueError, match="read-only"):
        readonly[0] = 1


def test_creating_twice_is_refused(tmp_path: Path) -> None:
    create_array(tmp_path, "a", (4,), "i8")
    with pytest.raises(StoreError, match="already an array a"):
        create_array(tmp_path, "a", (4,), "i8")
    with pytest.raises(StoreError, match="already an array a"):
        write_array(tmp_path, "a", np.zeros(4), compress=True)


def test_arrays_that_cannot_be_mapped_are_refused_in_a_sentence(tmp_path: Path) -> None:
    write_array(tmp_path, "packed", np.arange(10), compress=True)
    group = zarr.open_group(tmp_path, mode="a")
    plain = {"compressors": None, "filters": None}
    group.create_array("parts", shape=(10,), chunks=(5,), dtype="f8", **plain)
    group.create_array("big", shape=(10,), dtype="f8", serializer=zarr.codecs.BytesCodec(endian="big"), **plain)
    group.create_array("sparse", shape=(10,), chunks=(10,), dtype="f8", **plain)
    key = {"name": "v2", "separator": "."}
    group.create_array("key", shape=(10,), chunks=(10,), dtype="f8", chunk_key_encoding=key, **plain)
    for name, sentence in {
        "packed": "is compressed, so it cannot be mapped",
        "parts": "is not one plain chunk",
        "key": "is not one plain chunk",
        "big": "is big-endian",
        "sparse": "sparse is damaged: .* is missing; make it again",
        "nowhere": "There is no array nowhere",
    }.items():
        with pytest.raises(StoreError, match=sentence):
            map_array(tmp_path, name)


def test_a_chunk_file_of_the_wrong_size_is_refused(tmp_path: Path) -> None:
    create_array(tmp_path, "a", (10,), "f8")
    os.truncate(tmp_path / "a/c/0", 79)
    with pytest.raises(StoreError, match="a is damaged: .* has 79 bytes instead of 80"):
        map_array(tmp_path, "a")
    os.truncate(tmp_path / "a/c/0", 81)
    with pytest.raises(StoreError, match="a is damaged: .* has 81 bytes instead of 80"):
        map_array(tmp_path, "a")


def described(**changes: object) -> str:
    """A description of ten numbers that can be mapped, with changes."""
    told = {"zarr_format": 3, "node_type": "array", "shape": [10], "data_type": "float64", "attributes": {}}
    told |= {"fill_value": 0, "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [10]}}}
    told |= {"chunk_key_encoding": {"name": "default"}, "codecs": [{"name": "bytes"}]}
    return json.dumps({**told, **changes})


def test_a_description_may_leave_out_defaults(tmp_path: Path) -> None:
    create_array(tmp_path, "a", (10,), "f8")[3] = 5
    (tmp_path / "a/zarr.json").write_text(described())
    assert map_array(tmp_path, "a").tolist() == [0, 0, 0, 5, 0, 0, 0, 0, 0, 0]


WRONG = (
    {"zarr_format": 2},
    {"node_type": "group"},
    {"shape": "ten"},
    {"shape": None},
    {"data_type": "nothing"},
    {"codecs": []},
    {"codecs": [1]},
    {"chunk_key_encoding": "default"},
)


@pytest.mark.parametrize(
    "text", ["{", "{}", '{"zarr_format": 3, "node_type": "array"}', "[]", *(described(**one) for one in WRONG)]
)
def test_an_unreadable_description_is_refused(tmp_path: Path, text: str) -> None:
    create_array(tmp_path, "a", (10,), "f8")
    (tmp_path / "a/zarr.json").write_text(text)
    with pytest.raises(StoreError, match="array"):
        map_array(tmp_path, "a")
    with pytest.raises(StoreError, match="array"):
        read_array(tmp_path, "a")


@pytest.mark.parametrize("compress", [True, False])
@pytest.mark.parametrize("shape", SHAPES)
def test_stored_arrays_are_read_back(tmp_path: Path, shape: tuple[int, ...], compress: bool) -> None:
    for i, data in enumerate((np.zeros(shape), np.random.default_rng(1).random(shape), np.ones(shape, "i2"))):
        write_array(tmp_path, f"g/{i}", data, compress, {"unit": "none"})
        back = read_array(tmp_path, f"g/{i}")
        assert np.array_equal(back, data) and back.dtype == data.dtype and back.shape == shape
        assert zarr.open(tmp_path, mode="r")[f"g/{i}"].attrs["unit"] == "none"
        if not compress:
            assert np.array_equal(map_array(tmp_path, f"g/{i}"), data)


def test_big_compressed_arrays_are_runs_of_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store, "_COMPRESSED_CHUNK", 100)
    data = np.arange(70.0).reshape(10, 7)
    write_array(tmp_path, "a", data, compress=True)
    assert zarr.open(tmp_path, mode="r")["a"].chunks == (1, 7)
    assert np.array_equal(read_array(tmp_path, "a"), data)
    (tmp_path / "a/c/3/0").unlink()
    with pytest.raises(StoreError, match="chunks are missing"):
        read_array(tmp_path, "a")


def test_a_flipped_bit_in_a_compressed_array_is_found(tmp_path: Path) -> None:
    write_array(tmp_path, "a", np.random.default_rng(1).random(100), compress=True)
    file = tmp_path / "a/c/0"
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 1
    file.write_bytes(content)
    with pytest.raises(StoreError, match="a in .* is damaged"):
        read_array(tmp_path, "a")


def test_every_dimension_has_a_name_of_its_own(tmp_path: Path) -> None:
    """As xarray wants it: in a group, a name stands for one length, and no array is called like a dimension."""
    for i, shape in enumerate(SHAPES):
        create_array(tmp_path, f"g/mapped{i}", shape, "f4")
        write_array(tmp_path, f"g/stored{i}", np.zeros(shape), compress=True)
        write_array(tmp_path, f"g/plain{i}", np.zeros(shape), compress=False)
    group = zarr.open_group(tmp_path / "g", mode="r")
    arrays = dict(group.arrays())
    assert len(arrays) == 3 * len(SHAPES)
    assert arrays["mapped1"].metadata.dimension_names == ("mapped1_axis0", "mapped1_axis1")
    names = [name for array in arrays.values() for name in array.metadata.dimension_names or ()]
    assert len(set(names)) == len(names) == 3 * sum(map(len, SHAPES))
    assert not {*names} & {*arrays}


def test_attributes(tmp_path: Path) -> None:
    write_attrs(tmp_path / "s", {"game": "x"})
    write_attrs(tmp_path / "s", {"n": 1}, "player/0")
    write_attrs(tmp_path / "s", {"m": [1.5]})
    assert read_attrs(tmp_path / "s") == {"game": "x", "m": [1.5]}
    assert read_attrs(tmp_path / "s", "player/0") == {"n": 1}
    with pytest.raises(StoreError, match="no readable Zarr group"):
        read_attrs(tmp_path / "nowhere")
    create_array(tmp_path, "array", (4,), "i8")
    for text in ("{", "[]", '{"zarr_format": 3, "node_type": "group", "attributes": [1]}'):
        (tmp_path / "s/zarr.json").write_text(text)
        for place in (tmp_path / "s", tmp_path / "array"):
            with pytest.raises(StoreError, match="no readable Zarr group"):
                read_attrs(place)


def test_a_scratch_array_is_mapped_from_a_file_without_a_name(tmp_path: Path) -> None:
    array = scratch_array(tmp_path / "new", "values", 1000, np.float32)
    assert array.shape == (1000,) and array.dtype == np.float32 and array.flags.writeable
    array[:] = np.arange(1000)
    assert array.sum() == 999 * 500 and list((tmp_path / "new").iterdir()) == []
    other = scratch_array(tmp_path / "new", "values", 1000, np.float32)  # of one name, but not the same
    assert not other.any() and array[-1] == 999
    if sys.platform == "linux":  # where it can be seen what a process has mapped
        mapped = [line for line in Path("/proc/self/maps").read_text().splitlines() if str(tmp_path / "new") in line]
        assert len(mapped) == 2 and all("rw-s" in line and line.endswith("(deleted)") for line in mapped)
    assert scratch_array(tmp_path / "none", "nothing", 0, np.int64).shape == (0,)
