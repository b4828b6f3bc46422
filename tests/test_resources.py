"""Time and memory of a block."""

import numpy as np
import pytest
from patience import wait_until

from pttt_ooc import resources
from pttt_ooc.resources import MB, anonymous_bytes, measured, peak_rss_bytes


@pytest.fixture
def samples_of(monkeypatch):
    """A condition: that the memory has been looked at so many times from now on, by another thread."""
    looks = []

    def counted():
        found = anonymous_bytes()
        looks.append(found)
        return found

    monkeypatch.setattr(resources, "anonymous_bytes", counted)

    def condition(count):
        before = len(looks)
        return lambda: len(looks) >= before + count

    return condition


def test_anonymous_memory_is_measured_at_its_peak(samples_of):
    before = anonymous_bytes() / MB
    with measured(interval=0.01) as usage:
        block = np.ones(100 * MB, np.uint8)
        wait_until(samples_of(2))
        del block
    assert usage.seconds >= 0.01
    assert usage.peak_anonymous_mb >= before + 90
    assert usage.peak_rss_mb >= usage.peak_anonymous_mb - 1


def test_mapped_files_are_not_anonymous(tmp_path, samples_of):
    np.ones(100 * MB, np.uint8).tofile(tmp_path / "big")
    before = anonymous_bytes() / MB
    with measured(interval=0.01) as usage:
        mapped = np.memmap(tmp_path / "big", np.uint8, "r")
        assert mapped.sum() == 100 * MB
        wait_until(samples_of(2))
    assert usage.peak_anonymous_mb < before + 50
    assert peak_rss_bytes() > 0


def test_usage_is_filled_in_after_an_error():
    try:
        with measured() as usage:
            raise KeyError
    except KeyError:
        assert usage.peak_rss_mb > 0
