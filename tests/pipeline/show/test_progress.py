"""Progress lines, and the estimate of the remaining time."""

import io

import pytest
from rich.console import Console

from pttt_ooc.pipeline.show import progress
from pttt_ooc.pipeline.show.progress import Progress, ShareBar, Shares, seconds_left


def event(iteration, elapsed, gap, speed=10.0):
    row = {"iteration": iteration, "elapsed_seconds": elapsed, "iterations_per_second": speed, "nashconv": gap}
    return {**row, "value_lower": 0.5, "value_upper": 0.5 + gap}


def events_of(gap, pace=0.1, last=100):
    """Evaluations of a run whose gap is a function of the iteration; each iteration takes `pace` seconds."""
    return [event(t, pace * t, gap(t)) for t in (1, 2, 4, 8, 12, 25, 50, last)]


def test_time_left_follows_the_power_law():
    # The gap is 10 / iteration: from 0.1 at 10 s, 0.01 is reached at 100 s.
    events = events_of(lambda t: 10 / t)
    assert seconds_left(events, 0.01, 10**9, 1e9) == pytest.approx((90, 90))
    assert seconds_left(events, 0.01, 10**9, 60) == pytest.approx((50, 50))
    assert seconds_left(events, 0.01, 200, 1e9) == pytest.approx((10, 10))
    assert seconds_left(events, 0.2, 10**9, 1e9) == (0, 0)
    assert seconds_left(events, 0.0, 200, 1e9) == pytest.approx((10, 10))


def test_time_left_is_a_range_if_estimates_differ():
    """The gap shrinks faster and faster: estimates from iterations 4, 12 and 50 differ."""
    slow = events_of(lambda t: t**-0.5 if t < 12 else 12**0.5 / t)
    least, most = seconds_left(slow, 0.02, 10**9, 1e9)
    assert 0 < least < most < 4 * least
    assert seconds_left(slow, 0.02, 10**9, 10 + (least + most) / 2) == pytest.approx((least, (least + most) / 2))
    assert seconds_left(slow, 0.02, 10**9, 10 + least / 2) == pytest.approx((least / 2, least / 2))


def test_nothing_is_estimated_from_a_few_evaluations_or_when_they_disagree():
    few = events_of(lambda t: 10 / t)[-7:]
    assert seconds_left(few, 0.01, 10**9, 3600) == (0, pytest.approx(3590))
    wild = events_of(lambda t: {25: 0.2, 50: 0.11}.get(t, 10 / t))  # much faster since 25 than since 50
    assert seconds_left(wild, 0.01, 10**9, 3600) == (0, pytest.approx(3590))


@pytest.mark.parametrize("gaps", [(0.1, 0.2), (0.1, 0.1), (0.1, 0.1 - 1e-12), (0.0, 0.0)])
def test_time_left_with_a_gap_that_does_not_shrink(gaps):
    events = events_of(lambda t: gaps[t == 100])
    assert seconds_left(events, 0.001, 10**9, 3600)[1] == pytest.approx(3590)


def test_the_pace_includes_evaluations_and_saving():
    events = [event(t, 3 * t, 10 / t, speed=10.0) for t in (1, 2, 4, 8, 12, 25, 50, 100)]
    assert seconds_left(events, 0.01, 150, 1e9) == pytest.approx((150, 150))


RECORDED = """
    1 1.19, 2 1.17, 3 0.469, 4 0.348, 5 0.341, 6 0.28, 7 0.246, 8 0.205, 9 0.162, 10 0.128, 12 0.088, 14 0.0627,
    16 0.0561, 19 0.0383, 22 0.0349, 26 0.0255, 31 0.0142, 37 0.00923, 44 0.00682, 52 0.00708, 62 0.00393, 74 0.00362,
    88 0.00265, 105 0.00197, 126 0.00132, 151 0.000972"""
"""Iterations and gaps of the full game by the default rule."""


def test_estimates_of_a_recorded_run_do_not_jump():
    """As if iterations took 14 seconds and evaluations 20: no bound changes by more than half or twice at once."""
    pairs = [entry.split() for entry in RECORDED.split(",")]
    events = [event(int(t), 14 * int(t) + 20 * n, float(gap)) for n, (t, gap) in enumerate(pairs, 1)]
    end, before = events[-1]["elapsed_seconds"], None
    for n in range(1, len(events)):
        now = events[n - 1]["elapsed_seconds"]
        least, most = seconds_left(events[:n], 1e-3, 2000, 4 * 3600)
        if n < 12:
            assert (least, most) == (0, 4 * 3600 - now), "only the time limit is known"
            continue
        assert least / 2 < end - now < 1.2 * most
        for bound, old in zip((least, most), before or (least, most), strict=True):
            assert 0.5 < bound / old < 2
        before = [bound - events[n]["elapsed_seconds"] + now for bound in (least, most)]


def test_lines_without_a_terminal(tmp_path):
    stream, log = io.StringIO(), tmp_path / "log"
    with Progress(0.01, 1000, 60, log, stream) as progress:
        progress.note("Starting from the first iteration.")
        progress(event(1, 0.1, 0.5))
        progress({"iteration": 9, "elapsed_seconds": 0.9, "iterations_per_second": 10.0})  # not evaluated: no line
        progress(event(10, 61.0, 0.1))
    lines = stream.getvalue().splitlines()
    assert lines[0] == "Starting from the first iteration." and len(lines) == 3
    assert lines[2] == (
        "iteration 10, gap 0.10 (target 0.010), value in 0.50000 .. 0.60000, 10 iterations/s, 1 min 01 s so far, "
        "at most 58 min 59 s left"
    )
    assert log.read_text() == stream.getvalue()


def test_one_line_on_a_terminal(tmp_path):
    stream, log = Terminal(), tmp_path / "log"
    with Progress(0.0, 1000, 60, log, stream) as progress:
        progress({"iteration": 1, "elapsed_seconds": 0.1, "iterations_per_second": 10.0})
        progress(event(10, 1.0, 0.1))
    assert "iteration 10, gap 0.10, value in" in stream.getvalue().rstrip().splitlines()[-1]
    assert len(log.read_text().splitlines()) == 1


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture
def clock(monkeypatch):
    now = [100.0]
    monkeypatch.setattr("time.monotonic", lambda: now[0])
    return now


def part(what, share, size=0, elapsed=300.0):
    return {"what": what, "share": share, "bytes": size, "elapsed_seconds": elapsed}


def test_a_long_iteration_prints_lines_at_intervals(tmp_path, clock):
    stream, log = io.StringIO(), tmp_path / "log"
    with Progress(0.01, 1000, 60, log, stream) as progress:
        for now, event_ in (
            (100, part("iteration 7", 0.0)),
            (129, part("iteration 7", 0.2, 20 * 10**9)),  # not long enough since the last line
            (150, part("iteration 7", 0.5, 50 * 10**9)),
            (179, part("iteration 7", 0.7, 70 * 10**9)),
            (200, part("iteration 7", 1.0, 100 * 10**9)),
            (201, part("evaluation", 0.0, 0, 400.0)),
            (231, part("evaluation", 0.25, 0, 400.0)),
        ):
            clock[0] = now
            progress.part(event_)
    assert stream.getvalue().splitlines() == [
        "iteration 7: 50%, 1 GB/s of the state, 5 min 50 s so far",
        "iteration 7: 100%, 1 GB/s of the state, 6 min 40 s so far",
        "evaluation: 25%, 7 min 10 s so far",
    ]
    assert log.read_text() == stream.getvalue()


def test_iterations_without_evaluations_print_lines_at_intervals(clock):
    stream = io.StringIO()
    with Progress(0.01, 1000, 60, None, stream) as progress:
        progress(event(10, 1.0, 0.1))
        for now, iteration in ((110, 11), (129.9, 12), (130, 13), (150, 14), (160, 15)):
            clock[0] = now
            progress({"iteration": iteration, "elapsed_seconds": now - 99.0, "iterations_per_second": 0.1})
    assert [line.split(",")[0] for line in stream.getvalue().splitlines()] == [
        *("iteration 10", "iteration 13", "iteration 15")
    ]


def test_long_work_has_a_bar_on_a_terminal(clock):
    stream = Terminal()
    with Progress(0.0, 1000, 60, None, stream) as progress:
        shown = []
        progress._status.update = shown.append
        progress(event(10, 1.0, 0.1))
        progress.part(part("iteration 11", 0.0))
        clock[0] += 1.9
        progress.part(part("iteration 11", 0.25, 10**9))
        assert len(shown) == 1, "what is over in two seconds has none"
        clock[0] += 0.6
        progress.part(part("iteration 11", 0.5, 10**9))
        assert shown[1:] == [
            "\u2501" * 10 + "\u254c" * 10 + ", iteration 11: 50%, 0.4 GB/s of the state, 5 min 02 s so far, gap 0.10"
        ]


def test_shares_of_long_work_are_printed_at_intervals(tmp_path, monkeypatch, capsys):
    clock = [100.0]
    monkeypatch.setattr("time.monotonic", lambda: clock[0])
    shares = Shares(tmp_path / "log", seconds=10)
    one, other = shares.of("Tables of player 0"), shares.of("Tables of player 1")
    for tell, now, share in ((one, 105, 0.3), (one, 110, 0.5), (other, 115, 0.1), (other, 121, 0.254)):
        clock[0] = now
        tell(share)
    told = "Tables of player 0: 50%\nTables of player 1: 25%\n"
    assert capsys.readouterr().err == told and (tmp_path / "log").read_text() == told


@pytest.mark.parametrize(("terminal", "short"), [(True, 0.0), (True, 60.0), (False, 0.0)])
def test_a_bar_is_shown_on_a_terminal_if_the_work_is_long(monkeypatch, terminal, short):
    stream = io.StringIO()
    monkeypatch.setattr(progress, "_SHORT", short)
    monkeypatch.setattr(progress, "Console", lambda stderr: Console(file=stream, force_terminal=terminal, width=100))
    with ShareBar("Counting") as bar:
        for share in (0.25, 0.75):
            bar(share)
    shown = stream.getvalue()
    assert ("Counting" in shown and "75%" in shown) if terminal and not short else shown == ""
