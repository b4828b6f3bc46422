"""Products are compared with their manifests by contents; equal bytes are only the shorter way."""

import zipfile

import numpy as np
import pytest

from pttt_ooc.errors import StoreError
from pttt_ooc.pipeline.stages import product_check


def zipped(path, numbers, level):
    np.save(path.with_suffix(".npy"), numbers)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=level) as archive:
        archive.write(path.with_suffix(".npy"), "a.npy")


def test_a_product_is_what_its_contents_are(tmp_path):
    path, numbers = tmp_path / "a.zip", np.arange(1000.0)
    zipped(path, numbers, 1)
    product, before = product_check.describe_product(path), path.read_bytes()
    assert product_check.is_as_described(path, product)
    zipped(path, numbers, 9)
    assert path.read_bytes() != before and product_check.is_as_described(path, product)
    assert product_check.problem(tmp_path, "export", {"a.zip": product}) == ""
    zipped(path, numbers + 1, 1)
    assert not product_check.is_as_described(path, product)
    path.write_bytes(before[:-30])
    assert not product_check.is_as_described(path, product)
    told = product_check.problem(tmp_path, "export", {"a.zip": product})
    assert told == "a.zip was changed or damaged"
    path.unlink()
    with pytest.raises(StoreError, match="Cannot read"):
        product_check.is_as_described(path, product)


def test_equal_bytes_are_not_inflated(tmp_path, monkeypatch):
    zipped(tmp_path / "a.zip", np.arange(1000.0), 1)
    product = product_check.describe_product(tmp_path / "a.zip")
    monkeypatch.setattr(product_check, "content_digest", lambda path: pytest.fail(f"{path} was inflated"))
    assert product_check.is_as_described(tmp_path / "a.zip", product)
