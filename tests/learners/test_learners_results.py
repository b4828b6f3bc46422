"""The tables of results in docs/lab/algorithms.md have the figures of the records."""

import csv
import re
from pathlib import Path
from statistics import mean

import pytest

from pttt_ooc.library.scoring.agents_table import interval_of_seeds

ROOT = Path(__file__).parents[2]
SECONDS = 600


@pytest.fixture(scope="module")
def records():
    """Of each run: its evaluations, as seconds, exploitability and iterations."""
    runs = {}
    with open(ROOT / "docs/records/learners.csv", newline="") as file:
        for row in csv.DictReader(file):
            runs.setdefault(row["run"], []).append(
                (float(row["seconds"]), float(row["half_gap"]), int(row["iteration"]))
            )
    return runs


@pytest.fixture(scope="module")
def tables():
    """Of each table of results: its rows, as lists of cells without emphasis; the first cell is the name of a run."""
    results = (ROOT / "docs/lab/algorithms.md").read_text().partition("\n## Results\n")[2].partition("\n### ")[0]
    found = {}
    for part in re.split(r"\n\n", results):
        head, *rows = [line for line in part.strip().splitlines() if line.startswith("|")] or [""]
        if head.startswith("| run |"):
            cells = [[cell.strip(" *") for cell in row.strip("|").split("|")] for row in rows[1:]]
            found[head] = [[re.match(r"`(.*?)`|uniform", row[0])[0].strip("`"), *row[1:]] for row in cells]
    return found


def near(text, number):
    """Whether a rounded number is that of the records: within half a unit of its last digit."""
    mantissa, _, exponent = text.partition("e")
    digits = len(mantissa.partition(".")[2])
    return abs(float(text) - number) <= 0.5001 * 10.0 ** (int(exponent or 0) - digits)


def test_runs_end_as_the_records_say(tables, records):
    (rows,) = (rows for head, rows in tables.items() if "| seconds |" in head)
    assert len(rows) > 10
    for run, _, _, end, seconds, iterations in rows[1:]:
        last = records[run][-1]
        assert near(end, last[1]) and near(seconds, last[0]) and int(iterations.replace(",", "")) == last[2], run


def test_three_seeds_end_as_the_records_say(tables, records):
    """Means are over the seeds, with Student's 95% interval."""
    (rows,) = (rows for head, rows in tables.items() if "seed 2" in head)
    three = 0
    for run, _, _, *ends, average, interval, iterations in rows:
        last = [records[name][-1] for name in (run, f"{run}-seed1", f"{run}-seed2") if name in records]
        given = [end for end in ends if end]
        assert len(given) == len(last), run
        for text, (seconds, exploitability, _) in zip(given, last, strict=True):
            assert near(text, exploitability), run
            assert seconds >= SECONDS or run == "psro-dqn", run
        assert int(iterations.replace(",", "")) == last[0][2], run
        if len(last) == 3:
            three += 1
            values = [one[1] for one in last]
            assert near(average, mean(values)), run
            assert all(map(near, interval.split(" to "), interval_of_seeds(values))), run
        else:
            assert not average and not interval, run
    assert three >= 6
