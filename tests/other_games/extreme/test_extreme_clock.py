"""A bot's time: what it computes, and what it is kept waiting; on machines that these tests keep busy."""

import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from pathlib import Path

import pytest

from pttt_ooc.other_games.extreme import clock as clocks
from pttt_ooc.other_games.extreme.bot_process import BotForfeitError, BotProcess, Conditions
from pttt_ooc.other_games.extreme.clock import Clock, Meter
from pttt_ooc.other_games.extreme.match import play_match
from tests.kits.patience import wait_until
from tests.other_games.extreme.bot_kit import FIRST, bot, need_walls

CORE = max(os.sched_getaffinity(0))
REQUEST = {"moves": [], "old_move": (-1, -1, -1), "flag": "x"}
COMPUTE = """
    import time
    end = time.process_time() + {seconds}
    while time.process_time() < end:
        pass
"""


@contextmanager
def busy(processes):
    """Let processes take the core on which bots run."""
    code = f"import os; os.sched_setaffinity(0, [{CORE}]); print(flush=True)\nwhile True: pass"
    started = [
        subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, start_new_session=True)
        for _ in range(processes)
    ]
    try:
        for one in started:
            one.stdout.readline()
        yield
    finally:
        for one in started:
            one.kill()
            one.communicate()


@contextmanager
def started(one, **conditions):
    process = BotProcess(one, one.interpreters()[0], Conditions(**{"walls": False, "core": CORE, **conditions}))
    try:
        process.load()
        yield process
    finally:
        process.end()


@contextmanager
def watched(body, **conditions):
    """A process of a bot, with the questions that it has been sent."""
    with started(bot(body), **conditions) as process:
        send, questions = process.enclosed.send, []
        process.enclosed.send = lambda message, clock: (questions.append(message["number"]), send(message, clock))
        yield process, questions


@pytest.mark.slow
def test_a_bot_that_computes_four_limits_on_a_busy_machine_forfeits_its_first_move():
    """It answers in the end, when the machine has kept it waiting for most of the time."""
    need_walls()
    body = COMPUTE.format(seconds=0.8) + "    " + FIRST
    with busy(3):
        match = play_match((bot(body), bot(file="team2.py")), Conditions(time_limit=0.2, core=CORE))
    assert (match.winner, match.message, match.plies) == ("P2", "TIME OUT", 0), match.detail


def test_a_bot_that_never_answers_is_asked_once_and_gets_its_limit():
    with busy(2), watched("while True: pass", time_limit=0.2) as (process, questions):
        with pytest.raises(BotForfeitError, match="TIME OUT") as raised:
            process.ask(REQUEST)
        assert questions == [1] and "it was kept waiting for" in raised.value.detail


@pytest.mark.slow
def test_a_bot_that_computes_less_than_its_limit_is_kept_waiting_at_no_cost():
    with busy(4), watched(COMPUTE.format(seconds=0.3) + "    " + FIRST, time_limit=0.6) as (process, questions):
        answer, spent = process.ask(REQUEST)
    assert answer["move"] == [0, 0, 0] and questions == [1]
    assert 0.3 <= spent.processor <= spent.seconds <= 0.6
    assert spent.waited > 0.1  # four others take their turns


def test_a_bot_that_sleeps_is_not_kept_waiting():
    with (
        started(bot("import time; time.sleep(600)"), time_limit=0.2) as process,
        pytest.raises(BotForfeitError, match="TIME OUT"),
    ):
        process.ask(REQUEST)


def test_what_a_bot_computes_after_its_answer_is_charged_with_the_next_one():
    """It writes its answer to the referee's pipe itself, and goes on."""
    with started(bot(), time_limit=60) as process:
        process.ask(REQUEST)
        before = process.enclosed.meter.processor()
        process.enclosed.thaw()
        process.enclosed.meter.processor = lambda: before + 7  # nobody has asked it meanwhile
        _, spent = process.ask(REQUEST)
    assert 7 <= spent.processor <= spent.seconds < 60


@pytest.mark.slow
def test_a_process_that_is_stopped_loses_no_time():
    """For longer than its limit, in the middle of a move."""
    body = f"import os, signal; os.kill(os.getpid(), signal.SIGSTOP); {FIRST}"
    with watched(body, time_limit=1.0) as (process, questions):
        thaw = process.enclosed.thaw

        def let_go():
            wait_until(lambda: process.enclosed.meter.state() == "T")
            time.sleep(1.2)
            thaw()

        machine = threading.Thread(target=let_go)
        process.enclosed.thaw = lambda: (thaw(), machine.start())
        answer, spent = process.ask(REQUEST)
        machine.join()
    assert answer["move"] == [0, 0, 0] and questions == [1]
    assert spent.waited > 1 and spent.seconds < 1


# ---------------------------------------------------------------------------------------------
# The clock by itself, where the system tells what a test says


class Told(Meter):
    """The counters of an imagined system."""

    def __init__(self):
        self.used, self.queued, self.letter = 0.0, 0.0, "S"

    def processor(self):
        return self.used

    def wait_time(self):
        return self.queued

    def state(self):
        return self.letter


@pytest.fixture
def told(monkeypatch):
    found = Told()
    found.now = 100.0

    def sleep(seconds):
        found.now += seconds

    monkeypatch.setattr(clocks.time, "monotonic", lambda: found.now)
    monkeypatch.setattr(clocks.time, "sleep", sleep)
    return found


def passes(told, clock, seconds, **facts):
    told.now += seconds
    for name, value in facts.items():
        setattr(told, name, value)
    clock.look()
    return round(clock.seconds, 6), round(clock.waited, 6)


def test_only_what_a_process_waited_for_is_given_back(told):
    clock = Clock(told, 1.0, 0.0)
    assert passes(told, clock, 0.1, used=0.1) == (0.1, 0.0)
    assert passes(told, clock, 0.1, used=0.1, queued=0.1) == (0.1, 0.1)
    assert passes(told, clock, 0.1) == (0.2, 0.1)  # it sleeps
    assert passes(told, clock, 0.1, letter="T") == (0.2, 0.2)
    assert passes(told, clock, 0.1, letter="R") == (0.3, 0.2)  # the system will tell when the wait is over
    assert passes(told, clock, 0.1, used=0.1, queued=0.3) == (0.2, 0.4)
    assert clock.left == pytest.approx(0.8)


def test_what_a_process_computes_counts_whatever_it_waited(told):
    clock = Clock(told, 1.0, 0.0)
    assert passes(told, clock, 0.5, used=0.4, queued=5.0)[0] == 0.4
    assert passes(told, clock, 0.5, used=1.1, queued=9.0)[0] == 1.1 and clock.left < 0 and clock.is_over()


def test_processor_time_since_the_last_charge_counts(told):
    told.used = 3.0
    assert passes(told, Clock(told, 1.0, 2.5), 0.1)[0] == 0.5


def test_a_referee_that_does_not_run_costs_no_bot_its_time(told):
    clock = Clock(told, 1.0, 0.0)
    assert passes(told, clock, 5.0) == (0.1, 4.9)  # the answer was there, or it slept: nobody has looked
    assert passes(told, clock, 5.0, letter="R", used=4.0)[0] == 5.1  # this one has run all the time


def test_waits_in_the_system_are_given_back_up_to_a_bound(told):
    clock = Clock(told, 1.0, 0.0, stalls=0.15)
    assert passes(told, clock, 0.1, letter="D") == (0.0, 0.1)
    assert passes(told, clock, 0.1) == (0.05, 0.15) and clock.stalls == pytest.approx(0)
    assert passes(told, clock, 0.1) == (0.15, 0.15)


def test_the_time_of_a_process_that_waits_for_a_processor_is_not_over(told):
    clock = Clock(told, 1.0, 0.0)
    told.now, told.letter = 200.0, "R"
    assert not clock.is_over()
    told.queued = 99.5  # it has run again, and the system tells of the wait
    told.used = 0.1
    assert not clock.is_over() and clock.seconds == pytest.approx(0.5 + told.now - 200.0)
    told.letter = "S"
    assert not clock.is_over()
    assert passes(told, clock, 0.15) and passes(told, clock, 0.15) and passes(told, clock, 0.19)
    assert clock.is_over()


def test_the_meter_reads_what_the_system_tells():
    process = subprocess.Popen([sys.executable, "-c", "while True: pass"])
    meter = Meter(process.pid)
    try:
        wait_until(lambda: meter.processor() > 0.05 and meter.state() == "R")
        assert meter.wait_time() >= 0 and not meter.is_ending()
        os.kill(process.pid, signal.SIGSTOP)
        wait_until(lambda: meter.state() == "T")
        used = meter.processor()
    finally:
        process.kill()
    wait_until(lambda: Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z")
    assert meter.is_ending()
    process.wait()
    assert meter.is_ending() and meter.processor() >= used and meter.state() == "?"
    assert abs(Meter(os.getpid()).processor() - time.process_time()) < 1


def test_a_process_that_never_was_took_no_time():
    meter = Meter(2**22)  # more than the system's largest number
    assert meter.processor() == meter.wait_time() == 0
