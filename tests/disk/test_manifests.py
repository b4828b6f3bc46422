"""Manifests: reading, writing and refusals."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pttt_ooc.disk.manifests import FORMAT_VERSION, read_manifest, write_manifest
from pttt_ooc.errors import StoreError


def test_a_manifest_is_read_back_and_is_deterministic(tmp_path: Path) -> None:
    file = tmp_path / "m.json"
    write_manifest(file, "solve", path="é", value=0.1, hashes={"b": 1, "a": 2})
    first = file.read_text(encoding="utf-8")
    assert '"path": "é"' in first  # a person can read it
    assert first.endswith("}\n") and first.index('"a"') < first.index('"b"') < first.index('"path"')
    manifest = read_manifest(file, "solve")
    facts = {"path": "é", "value": 0.1, "hashes": {"a": 2, "b": 1}}
    assert manifest == {"format_version": FORMAT_VERSION, "stage": "solve", **facts}
    write_manifest(file, "solve", hashes={"a": 2, "b": 1}, value=0.1, path="é")
    assert file.read_text(encoding="utf-8") == first
    assert [p.name for p in tmp_path.iterdir()] == ["m.json"]


def test_an_unusable_manifest_is_refused_in_a_sentence(tmp_path: Path) -> None:
    file = tmp_path / "m.json"
    with pytest.raises(StoreError, match=r"m.json, the manifest of stage 'solve', is missing; run that stage again"):
        read_manifest(file, "solve")
    for text in ("", "{", "[]", "\x00", "12"):
        file.write_text(text)
        with pytest.raises(StoreError, match="is not a JSON object"):
            read_manifest(file, "solve")
    file.write_text('{"format_version": 0, "stage": "solve"}')
    with pytest.raises(StoreError, match="is of format version 0, this program reads and writes version 3"):
        read_manifest(file, "solve")
    write_manifest(file, "views")
    with pytest.raises(StoreError, match="is the manifest of stage 'views', not 'solve'"):
        read_manifest(file, "solve")


def test_a_flipped_bit_is_reported_as_damage_of_the_manifest(tmp_path: Path) -> None:
    file = tmp_path / "m.json"
    write_manifest(file, "solve", products={"solution.zarr": {"digest": "d8318845"}}, gap=1e-3)
    good = file.read_bytes()
    assert read_manifest(file, "solve")["gap"] == 1e-3
    for position in range(8 * len(good)):
        bad = bytearray(good)
        bad[position // 8] ^= 1 << position % 8
        file.write_bytes(bad)
        with pytest.raises(StoreError, match=r"m\.json"):
            read_manifest(file, "solve")
    manifest = json.loads(good)
    del manifest["checksum"]
    file.write_text(json.dumps(manifest))
    with pytest.raises(StoreError, match=r"m\.json is damaged: its content does not match its checksum; delete it"):
        read_manifest(file, "solve")


def test_a_manifest_of_bad_facts_is_not_written(tmp_path: Path) -> None:
    for facts in ({"format_version": 3}, {"checksum": "0"}, {"x": float("nan")}):
        with pytest.raises(ValueError):
            write_manifest(tmp_path / "m", "solve", **facts)
    with pytest.raises(TypeError):
        write_manifest(tmp_path / "m", "solve", x=object())
    assert not any(tmp_path.iterdir())
