"""Progress lines, and the estimate of the time that is left."""

import io

import pytest

from pttt_ooc.show.progress import Progress, Shares, seconds_left


def event(iteration, seconds, gap, speed=10.0):
    row = {"iteration": iteration, "seconds": seconds, "iterations_per_second": speed, "nashconv": gap}
    return {**row, "value_lower": 0.5, "value_upper": 0.5 + gap}


def test_time_left_follows_the_power_law():
    # The gap is 1 / time: from 0.1 at 10 s, 0.01 is reached at 100 s.
    events = [event(1, 1.0, 1.0), event(50, 5.0, 0.2), event(100, 10.0, 0.1)]
    assert seconds_left(events, 0.01, 10**9, 1e9) == pytest.approx(90)
    assert seconds_left(events, 0.01, 10**9, 60) == 50
    assert seconds_left(events, 0.01, 200, 1e9) == pytest.approx(10)
    assert seconds_left(events, 0.2, 10**9, 1e9) == 0


@pytest.mark.parametrize("gaps", [(0.1, 0.2), (0.1, 0.1), (0.1, 0.1 - 1e-12), (0.0, 0.0)])
def test_time_left_with_a_gap_that_does_not_shrink(gaps):
    events = [event(1, 1.0, gaps[0]), event(2, 2.0, gaps[1])]
    assert seconds_left(events, 0.001, 10**9, 3600) == pytest.approx(3598)


def test_lines_where_there_is_no_terminal(tmp_path):
    stream, log = io.StringIO(), tmp_path / "log"
    with Progress(0.01, 1000, 60, log, stream) as progress:
        progress.note("Starting from the first iteration.")
        progress({"iteration": 9, "seconds": 0.9, "iterations_per_second": 10.0})  # not evaluated: no line
        progress(event(10, 1.0, 0.1))
    lines = stream.getvalue().splitlines()
    assert lines[0] == "Starting from the first iteration." and len(lines) == 2
    assert lines[1].startswith(
        "iteration 10, gap 1.00e-01 (target 1e-02), value in 0.50000 .. 0.60000, 10 iterations/s"
    )
    assert log.read_text() == stream.getvalue()


def test_one_line_on_a_terminal(tmp_path):
    class Terminal(io.StringIO):
        def isatty(self):
            return True

    stream, log = Terminal(), tmp_path / "log"
    with Progress(0.0, 1000, 60, log, stream) as progress:
        progress({"iteration": 1, "seconds": 0.1, "iterations_per_second": 10.0})
        progress(event(10, 1.0, 0.1))
    assert "iteration 10, gap 1.00e-01, value in" in stream.getvalue().rstrip().splitlines()[-1]
    assert len(log.read_text().splitlines()) == 1


def test_shares_of_long_work_are_told_now_and_then(tmp_path, monkeypatch, capsys):
    clock = [100.0]
    monkeypatch.setattr("time.monotonic", lambda: clock[0])
    shares = Shares(tmp_path / "log", seconds=10)
    one, other = shares.of("Tables of player 0"), shares.of("Tables of player 1")
    for tell, now, share in ((one, 105, 0.3), (one, 110, 0.5), (other, 115, 0.1), (other, 121, 0.254)):
        clock[0] = now
        tell(share)
    told = "Tables of player 0: 50%\nTables of player 1: 25%\n"
    assert capsys.readouterr().err == told and (tmp_path / "log").read_text() == told
