"""The worker of agents as a program, with the grades that follow from its verdicts."""

from __future__ import annotations

from functools import partial

from pttt_ooc.course.agents.worker import run
from pttt_ooc.course.data.worker_process import run_worker
from pttt_ooc.course.grades.rejudging import GRADING

if __name__ == "__main__":
    run_worker("agents", partial(run, grading=GRADING))
