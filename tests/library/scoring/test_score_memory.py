"""The memory budget of a score: the same numbers with all arrays mapped, and a hard limit on the process."""

import resource
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import pttt_ooc as pttt
from pttt_ooc.disk import memory
from pttt_ooc.errors import MemoryBudgetError
from pttt_ooc.library.api.structures import index_of
from pttt_ooc.library.scoring import scores
from pttt_ooc.library.scoring.scores import score
from pttt_ooc.pipeline.files import tensors
from pttt_ooc.pipeline.files.infosets import BLOCK_ROWS
from tests.kits.patience import PATIENCE

GAME = pttt.game("mini-2x3k2-abrupt")
DEVELOPMENT = 128  # MB that libraries of the development environment allocate and never touch


def leaning(infostates, legal):
    """Later squares more often than earlier ones, and more so after more attempts."""
    weights = np.where(legal, (1.0 + np.arange(legal.shape[1])) ** infostates.sum(axis=1, keepdims=True), 0)
    return weights / weights.sum(axis=1, keepdims=True)


def evenly(infostates, legal):
    return legal / legal.sum(axis=1, keepdims=True)


class Counting:
    """An agent with a memory: it attempts the lowest square, or after an odd number of failures the highest."""

    def initial_state(self, batch):
        return np.zeros(batch, bool)

    def step(self, inputs, state, legal, player):
        odd = state ^ inputs[:, inputs.shape[1] // 2 :].any(axis=1)
        last = legal.shape[1] - 1 - legal[:, ::-1].argmax(axis=1)
        return np.eye(legal.shape[1])[np.where(odd, last, legal.argmax(axis=1))], odd


AGENTS = {
    "function": leaning,
    "mixture": [(3, leaning), (1, Counting())],
    "memory": Counting(),
    "strategies": {player: pttt.Strategy.uniform(GAME, player) for player in (0, 1)},
}


class Budgets:
    """Records the needs of each score; on demand, nothing is held in memory."""

    def __init__(self, monkeypatch):
        self.needs, self.mapping, within = [], False, memory.MemoryNeeds.within

        def recording(needs, *arguments):
            self.needs.append(needs)
            found = within(needs, *arguments)
            return replace(found, held=frozenset()) if self.mapping else found

        monkeypatch.setattr(memory.MemoryNeeds, "within", recording)


@pytest.fixture
def budgets(monkeypatch):
    return Budgets(monkeypatch)


@pytest.mark.parametrize("greedy", [False, True])
@pytest.mark.parametrize("name", AGENTS)
def test_the_same_score_with_all_arrays_mapped(name, greedy, budgets, tmp_path, monkeypatch):
    pttt.configure(data=tmp_path)
    expected = score(GAME, AGENTS[name], greedy=greedy)
    mapped, scratch_array = [], memory.scratch_array
    monkeypatch.setattr(memory, "scratch_array", lambda *a: mapped.append(a[1]) or scratch_array(*a))
    budgets.mapping = True
    assert score(GAME, AGENTS[name], greedy=greedy) == expected
    assert {*mapped} == {*memory.leaves(budgets.needs[-1].arrays)}
    assert {"strategies/0", "strategies/1", "rows", "plan", "evaluation/best/sequences"} <= {*mapped}
    assert not any(path.is_file() for path in tmp_path.rglob("*")), "files of arrays have no names"


def test_a_budget_that_is_too_small_says_which_is_enough(budgets):
    with pytest.raises(MemoryBudgetError, match=r"3 MB is too small: \d+ MB is the smallest .*blocks of infosets"):
        score(GAME, evenly, memory_mb=3)
    smaller = score(GAME, evenly, block=16, memory_mb=300)
    assert smaller == score(GAME, evenly)
    assert budgets.needs[-2].smallest_mb < budgets.needs[-1].smallest_mb, "small blocks take less memory"


def test_given_strategies_count(budgets):
    folded = pttt.Strategy.uniform(GAME, 0), pttt.Strategy.uniform(GAME, 1)
    score(GAME, dict(enumerate(folded)))
    given = budgets.needs[-1].fixed["the given strategies"]
    whole = sum(one.unfolded.probabilities.nbytes for one in folded)
    assert given == whole + sum(one.probabilities.nbytes for one in folded if one.index.symmetry == "full")


PROGRAM = """
import numpy as np

def evenly(infostates, legal):
    return legal / legal.sum(axis=1, keepdims=True)

class Memory:
    def initial_state(self, batch):
        return np.zeros((batch, 8), np.float32)

    def step(self, inputs, state, legal, player):
        return legal / legal.sum(axis=1, keepdims=True), state

remembering = Memory()
mixture = [(1, evenly), (1, remembering)]
"""


def run(directory, agent, data, budget=None):
    """The score in a process of its own, with its largest anonymous memory in MB; `budget` is a hard limit, too."""
    (directory / "agents.py").write_text(PROGRAM)
    words = [f"{directory}/agents.py:{agent}", "--game", "dark-hex-3x3-classical", "--data", str(data), "--json"]
    words += ["--memory-mb", str(budget)] if budget else []

    def limited():
        if budget:
            resource.setrlimit(resource.RLIMIT_DATA, ((budget + DEVELOPMENT) * 10**6,) * 2)

    process = subprocess.Popen(
        [sys.executable, "-m", "pttt_ooc", "lab", "score", *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=limited,
    )
    most, end = 0.0, time.monotonic() + 10 * PATIENCE
    while process.poll() is None and time.monotonic() < end:
        lines = Path(f"/proc/{process.pid}/status").read_text().splitlines()
        most = max(most, *(int(line.split()[1]) / 1000 for line in lines if line.startswith("RssAnon")), 0.0)
        time.sleep(0.02)
    out, errors = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0, errors
    return out, most


@pytest.mark.long
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="the system has no /proc")
def test_a_whole_game_within_a_hard_limit(tmp_path):
    """At the smallest budget, 328 MB; without one the score takes half a gigabyte."""
    data = tmp_path / "data"
    plain, most = run(tmp_path, "evenly", data)
    for agent in ("evenly", "remembering", "mixture"):
        out, needed = run(tmp_path, agent, data, 340)
        assert out.split('"nashconv"')[1][:18] == plain.split('"nashconv"')[1][:18]
        assert needed < 340 and needed < most - 200, (agent, needed, most)


def test_three_blocks_of_answers_are_counted(monkeypatch, budgets):
    """With one thread that reads ahead, one is being made, one waits and one is written."""
    threads, ahead = [], tensors.in_order
    monkeypatch.setattr(tensors, "in_order", lambda *a, **k: threads.append(k["threads"]) or ahead(*a, **k))
    score(GAME, evenly)
    assert set(threads) == {1}
    blocks = [needs.fixed["blocks of infosets"] for needs in budgets.needs if "blocks of infosets" in needs.fixed]
    answers = 3 * BLOCK_ROWS * GAME.squares * 8
    assert blocks and all(answers < one for one in blocks)
    assert scores._needed_bytes(index_of(GAME), [], 0)["blocks of infosets"] == answers
