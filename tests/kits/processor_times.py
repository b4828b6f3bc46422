"""What the tests cost: ``pytest --cpu`` tells the processor seconds of each room, and the costliest files and tests.

Seconds of the processor, not of the clock, so that a busy machine changes them little.  Those of all processes that a
test has started count, of servers as well, to the test during which they were spent.
"""

from collections import defaultdict
from pathlib import PurePosixPath

import psutil
import pytest

HEADER = f"{'seconds':>9} {'tests':>6}"


class ProcessorTimes:
    """A plugin that measures in each process which runs tests, and tells in the one which reports."""

    def __init__(self):
        self.process, self.before = psutil.Process(), None
        self.costs = defaultdict(float)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self):
        if self.before is None:  # collecting is nobody's
            self.before = self.spent()
        return (yield)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self):
        report = yield
        now = self.spent()
        # A child that somebody else reaps takes its seconds along.
        report.processor_seconds, self.before = max(now - self.before, 0.0), now
        return report

    def spent(self):
        """Of this process, of those that it has reaped, and of those that live."""
        total = 0.0
        for process in (self.process, *self.process.children(recursive=True)):
            try:
                total += sum(process.cpu_times()[:4])  # user, system, and those of reaped children
            except psutil.Error:
                continue
        return total

    def pytest_runtest_logreport(self, report):
        self.costs[report.nodeid] += getattr(report, "processor_seconds", 0.0)  # a process that died told nothing

    def pytest_terminal_summary(self, terminalreporter):
        terminalreporter.section("processor seconds")
        for line in table(self.costs):
            terminalreporter.write_line(line)


def table(costs):
    """By room, then the 20 costliest files and the 40 costliest tests."""
    for name, most in ((room, None), (file_of, 20)):
        sums, counts = defaultdict(float), defaultdict(int)
        for test, seconds in costs.items():
            sums[name(test)] += seconds
            counts[name(test)] += 1
        yield HEADER
        for each in sorted(sums, key=sums.get, reverse=True)[:most]:
            yield f"{sums[each]:9.1f} {counts[each]:6} {each}"
    for test in sorted(costs, key=costs.get, reverse=True)[:40]:
        yield f"{costs[test]:9.1f} {test}"
    yield f"{sum(costs.values()):9.1f} {len(costs):6} in all"


def file_of(test):
    return test.partition("::")[0]


def room(test):
    return str(PurePosixPath(file_of(test)).parent)
