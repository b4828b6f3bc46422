"""The compilation of all kernels: what is shown of it, and the number that is told beforehand."""

from pathlib import Path

import pytest

from pttt_ooc import gradient, kernels


def test_the_number_that_is_shown_is_the_number_of_kernels():
    kernels.ensure_compiled()
    cache = getattr(gradient.receive, "stats", None)
    if cache is None:
        pytest.skip("numba is told to compile nothing")
    counted = [text for stamp in Path(cache.cache_path).glob("compiled-*") if (text := stamp.read_text().strip())]
    assert counted and int(max(counted, key=int)) == kernels.KERNELS


def test_a_line_every_few_seconds_where_there_is_no_terminal(monkeypatch, capsys):
    clock = [100.0]
    monkeypatch.setattr("time.monotonic", lambda: clock[0])
    with kernels._Count() as count:
        for n in range(1, 13):
            clock[0] += 1
            count.show(n)
    shown = [line.partition(": ")[2] for line in capsys.readouterr().err.splitlines()]
    assert shown == [f"{n} of {kernels.KERNELS} ..." for n in (0, 5, 10)]
