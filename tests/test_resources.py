"""Time and memory of a block."""

import time

import numpy as np

from pttt_ooc.resources import MB, anonymous_bytes, measured, peak_rss_bytes


def test_anonymous_memory_is_measured_at_its_peak():
    before = anonymous_bytes() / MB
    with measured(interval=0.01) as usage:
        block = np.ones(100 * MB, np.uint8)
        time.sleep(0.1)
        del block
    assert usage.seconds >= 0.1
    assert usage.peak_anonymous_mb >= before + 90
    assert usage.peak_rss_mb >= usage.peak_anonymous_mb - 1


def test_mapped_files_are_not_anonymous(tmp_path):
    np.ones(100 * MB, np.uint8).tofile(tmp_path / "big")
    before = anonymous_bytes() / MB
    with measured(interval=0.01) as usage:
        mapped = np.memmap(tmp_path / "big", np.uint8, "r")
        assert mapped.sum() == 100 * MB
        time.sleep(0.05)
    assert usage.peak_anonymous_mb < before + 50
    assert peak_rss_bytes() > 0


def test_usage_is_filled_in_after_an_error():
    try:
        with measured() as usage:
            raise KeyError
    except KeyError:
        assert usage.peak_rss_mb > 0
