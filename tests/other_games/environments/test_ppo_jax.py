"""The example of PPO in JAX: it learns, and its record and picture are those of the page."""

import csv
import json
import runpy
import sys
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="module")
def example():
    pytest.importorskip("jax", reason="JAX is not installed: PPO in JAX goes without tests")
    return runpy.run_path(str(ROOT / "examples" / "ppo_jax.py"))


@pytest.mark.slow
def test_the_example_learns(example, monkeypatch, capsys):
    options = ["--game", "mini-2x3k2-abrupt", "--steps", "200000", "--points", "1"]
    monkeypatch.setattr(sys, "argv", ["ppo_jax.py", *options])
    example["main"]()
    first, last = (json.loads(line) for line in capsys.readouterr().out.splitlines())
    assert (first["steps"], last["steps"]) == (0, 196608) and first["mean"] == first["last"]
    assert last["mean"] < 0.6 * first["mean"]


def test_the_record_is_that_of_the_page():
    """What each seed ends with, and both lines that it lies between."""
    with open(ROOT / "docs" / "records" / "ppo-jax.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    page = " ".join((ROOT / "docs" / "lab" / "environments.md").read_text().split())
    ends = {row["run"]: row for row in rows}
    for name in ("uniform", "quantal response"):
        assert f"{float(ends.pop(name)['mean']):.3f}" in page
    assert sorted(ends) == ["seed 1", "seed 2", "seed 3"]
    for column in ("mean", "last"):
        told = ", ".join(f"{float(row[column]):.3f}" for row in ends.values())
        assert told in page, (column, told)
    means = np.array([float(row["mean"]) for row in rows if row["run"] in ends and row["steps"] != "0"])
    assert (means > 0).all() and (means < 0.3).all()
