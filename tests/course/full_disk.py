"""A course on a disk of its own that fills up: run by `test_course_faults.py` in a namespace where the disk is mounted.

SQLite follows the links of paths, so that it has to be opened by a process that sees the disk itself.
"""

import os
import sys
from contextlib import suppress
from pathlib import Path

import pytest
from sqlalchemy import text

from pttt_ooc.course.data import limits
from pttt_ooc.course.data.term_tables import Adjustment, LogLine
from pttt_ooc.course.grades.gradebook import current
from pttt_ooc.errors import CourseError
from tests.course.server_kit import Lab, pttt, strategy_zip
from tests.course.term_kit import change


def fill(file):
    """Write until nothing more fits."""
    with suppress(OSError), open(file, "ab", buffering=0) as ballast:
        while True:
            ballast.write(bytes(1 << 12))


def main():
    place = Path(sys.argv[1])
    assert os.path.ismount(place)
    limits.RESERVE = 0  # as if others had filled the disk meanwhile
    lab = Lab(place / "course")
    lab.baseline()
    change(lab, rule={"kind": "baseline", "figure": "sum", "points": 50, "target": 0})
    token = lab.team("Team A")
    lab.submit(token, 0, strategy_zip(0, 1))
    fill(place / "ballast")
    answer = lab.post(token, 1, strategy_zip(1, 1))
    assert answer.status_code == 507 and "disk is full" in answer.json()["error"], answer.text
    done = pttt("course", "adjust", "Team A", "strategies", "--points=1", "--reason", "x", "--data", lab.data)
    assert done.returncode == 1 and "free some space" in done.stderr and len(done.stderr.splitlines()) == 1, done
    with pytest.raises(CourseError, match="no room to write"):
        lab.run()
    assert "The disk has 0.0 GB left" in pttt("course", "doctor", "--data", lab.data).stdout
    done = pttt("course", "backup", place / "copy.tar", "--data", lab.data)
    assert done.returncode == 1 and not list(place.glob("copy.tar*")), done
    (place / "ballast").unlink()
    assert not list(lab.storage.incoming.iterdir())
    assert lab.post(token, 1, strategy_zip(1, 1)).status_code == 201
    lab.run()
    found = lab.client.get("/api/submissions?size=10").json()["submissions"]
    assert [one["status"] for one in found] == ["Accepted"] * 4
    with lab.database.reading() as session:
        assert session.query(Adjustment).count() == session.query(LogLine).count() == 0
        assert session.execute(text("PRAGMA integrity_check")).scalar() == "ok"
        assert {row.because for row in current(session).values()} == {"verdict on submission 4"}
    lab.close()
    print("nothing is lost")


if __name__ == "__main__":
    main()
