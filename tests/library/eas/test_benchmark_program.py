"""A program of IIG-RL-Benchmark's, unmodified, on this package's `eas`.

The program is not part of the project.  Name the directory of a copy of nathanlct/IIG-RL-Benchmark in the environment
variable PTTT_IIG_BENCHMARK.
"""

import importlib
import os
import sys

import numpy as np
import pytest

from pttt_ooc.games.rules.catalogue import named_game
from pttt_ooc.library import eas
from pttt_ooc.library.scoring.scores import score

GAME = named_game("dark-hex-3x3-classical")
DIRECTORY = os.environ.get("PTTT_IIG_BENCHMARK", "")

pytestmark = [
    pytest.mark.full,
    pytest.mark.skipif(
        not DIRECTORY, reason="PTTT_IIG_BENCHMARK names no directory of IIG-RL-Benchmark, see docs/eas.md"
    ),
]


@pytest.fixture
def program(monkeypatch):
    """`algorithms/eas_exploitability.py`, which imports eas, NumPy and torch."""
    pytest.importorskip("torch", reason="needs torch, which is not installed")
    for name in [one for one in sys.modules if one.partition(".")[0] in ("eas", "algorithms")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "eas", eas)
    monkeypatch.syspath_prepend(DIRECTORY)
    yield importlib.import_module("algorithms.eas_exploitability")
    for name in [one for one in sys.modules if one.partition(".")[0] == "algorithms"]:
        del sys.modules[name]


def network(size, seed):
    import torch

    torch.manual_seed(seed)
    return torch.nn.Sequential(torch.nn.Linear(size, 8), torch.nn.Tanh(), torch.nn.Linear(8, 9))


@pytest.mark.parametrize("selection", ["sto", "det"])
def test_networks_have_the_score_that_pttt_score_gives_them(program, selection):
    traverser = program.build_traverser("classical_dark_hex")
    models = [network(traverser.OPENSPIEL_INFOSTATE_SIZE, seed) for seed in (0, 1)]
    kinds = [selection] * 2
    ev, *expl = program.compute_exploitability(
        *models, traverser, action_selection=kinds, game_name="classical_dark_hex"
    )
    found = score(GAME, dict(enumerate(models)), "logits", greedy=selection == "det")
    assert ev == pytest.approx(found.value, abs=1e-6)
    # expl[i]: how exploitable player i is
    assert expl[0] == pytest.approx(found.best_response_1 + found.value, abs=1e-6)
    assert expl[1] == pytest.approx(found.best_response_0 - found.value, abs=1e-6)
    assert abs(expl[0] - expl[1]) > 1e-2, "this would not tell the players apart"


def test_mixtures_have_the_score_that_pttt_score_gives_them(program):
    traverser = program.build_traverser("classical_dark_hex")
    size, weights = traverser.OPENSPIEL_INFOSTATE_SIZE, [0.75, 0.0, 0.25]
    members = [[network(size, 3 * player + k) for k in range(3)] for player in (0, 1)]
    mixtures = [{"models": one, "weights": weights} for one in members]
    ev, *expl = program.compute_exploitability(*mixtures, traverser, game_name="classical_dark_hex")
    pairs = {p: [(w, m) for w, m in zip(weights, members[p], strict=True) if w] for p in (0, 1)}
    found = score(GAME, pairs, "logits")
    assert ev == pytest.approx(found.value, abs=1e-6)
    assert np.array(expl) == pytest.approx(
        [found.best_response_1 + found.value, found.best_response_0 - found.value], abs=1e-6
    )
