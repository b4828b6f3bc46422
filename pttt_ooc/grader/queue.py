"""The persistent queue between web server and worker.

A task is no more than the number of a submission.  The database says which submissions wait; what the queue
has lost or holds twice does no harm: a task whose submission has a verdict is over at once.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from huey import SqliteHuey
from huey.api import TaskWrapper

TASK = "judge"


def open_queue(path: Path) -> SqliteHuey:
    """The queue in the SQLite file `path`, first in, first out."""
    return SqliteHuey("grader", filename=str(path), timeout=30, strict_fifo=True, results=False, utc=True)


def task_of(queue: SqliteHuey, function: Callable[[int], None] | None = None) -> TaskWrapper:
    """The task "judge this submission"; the web server only puts it into the queue and has no `function` for it."""

    # Defined here for both processes, as huey finds a task by the module of its function.
    def judge(submission: int) -> None:
        if function is None:
            raise RuntimeError("the web server judges nothing")
        function(submission)

    return queue.task(name=TASK)(judge)


def waiting(queue: SqliteHuey) -> set[int]:
    """The submissions in the queue."""
    return {task.args[0] for task in queue.pending() if task.args}
