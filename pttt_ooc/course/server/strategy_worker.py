"""The worker of strategies as a program, with the grades that follow from its verdicts."""

from __future__ import annotations

from functools import partial

from pttt_ooc.course.data.worker_process import run_worker
from pttt_ooc.course.grades.rejudging import GRADING
from pttt_ooc.course.strategies.worker import run

if __name__ == "__main__":
    run_worker("worker", partial(run, grading=GRADING), niceness=10)  # the pages come first
