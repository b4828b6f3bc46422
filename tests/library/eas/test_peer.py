"""The interface of exp-a-spiel's package beside the package itself: every method.

The package is not part of the project.  Build it elsewhere (docs/eas.md says how), and name the directory that has
its folder ``eas`` in the environment variable PTTT_EXP_A_SPIEL.
"""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from pttt_ooc.games.rules.catalogue import named_game
from pttt_ooc.library import eas
from pttt_ooc.library.api.structures import index_of
from pttt_ooc.pipeline.files.infosets import default_rows, infoset_texts

DIRECTORY = os.environ.get("PTTT_EXP_A_SPIEL", "")
PROGRAMS = os.environ.get("PTTT_EXP_A_SPIEL_PROGRAMS", "")
PART = os.environ.get("PTTT_EXP_A_SPIEL_PART", "")

pytestmark = [
    pytest.mark.full,
    pytest.mark.skipif(not DIRECTORY, reason="PTTT_EXP_A_SPIEL names no directory of a build of exp-a-spiel"),
]

CLASSICAL = ("Pttt", "Dh")


@pytest.fixture(scope="module")
def peer():
    sys.path.insert(0, DIRECTORY)
    try:
        # With more threads it would wait for them where the machine is busy.
        os.environ.setdefault("OMP_NUM_THREADS", "1")
        import eas as module
    finally:
        sys.path.remove(DIRECTORY)
    assert Path(module.__file__).is_relative_to(DIRECTORY)
    return module


@pytest.fixture(scope="module", params=["CornerDh", *CLASSICAL])
def traversers(request, peer):
    name = f"{request.param}Traverser"
    return getattr(eas, name)(), getattr(peer, name)(), request.param == "CornerDh"


@pytest.fixture(scope="module")
def corner(peer):
    return eas.CornerDhTraverser(), peer.CornerDhTraverser()


def some_rows(traverser, player, whole):
    size = (traverser.NUM_INFOS_PL0, traverser.NUM_INFOS_PL1)[player]
    if whole:
        return range(size)
    chosen = np.random.default_rng(player).integers(size, size=3000)
    return [0, 1, size - 1, *chosen.tolist()]


def random_strategies(traverser, seed):
    """Each has legal cells left out, so that infosets are not reached."""
    rng, out = np.random.default_rng(seed), []
    for uniform in traverser.construct_uniform_strategies():
        weights = rng.random(uniform.shape) * (uniform > 0) * (rng.random(uniform.shape) > 0.3)
        weights[weights.sum(axis=1) == 0] = uniform[weights.sum(axis=1) == 0]
        out.append(weights / weights.sum(axis=1, keepdims=True))
    return out


def test_the_same_rows(traversers):
    ours, theirs, whole = traversers
    assert (ours.NUM_INFOS_PL0, ours.NUM_INFOS_PL1) == (theirs.NUM_INFOS_PL0, theirs.NUM_INFOS_PL1)
    for player in (0, 1):
        for row in some_rows(ours, player, whole):
            text = theirs.infoset_desc(player, row)
            assert ours.infoset_desc(player, row) == text
            assert ours.row_for_infoset(player, text) == row == theirs.row_for_infoset(player, text)
            assert ours.parent_index_and_action(player, row) == theirs.parent_index_and_action(player, row)


def test_the_same_infostates(traversers):
    ours, theirs, _ = traversers
    assert ours.OPENSPIEL_INFOSTATE_SIZE == theirs.OPENSPIEL_INFOSTATE_SIZE
    for player in (0, 1):
        mine, other = ours.compute_openspiel_infostates(player), theirs.compute_openspiel_infostates(player)
        assert mine.dtype == other.dtype and mine.shape == other.shape
        assert (mine == other).all()
        row = len(mine) // 3
        assert (ours.compute_openspiel_infostate(player, row) == theirs.compute_openspiel_infostate(player, row)).all()


def assert_same_evaluation(ours, theirs, strategies):
    mine, other = (t.ev_and_exploitability(*strategies) for t in (ours, theirs))
    assert mine.ev0 == pytest.approx(other.ev0, abs=1e-11)
    assert mine.expl == pytest.approx(other.expl, abs=1e-11)
    for player in (0, 1):
        assert mine.gradient[player].dtype == other.gradient[player].dtype == np.float64
        assert np.abs(mine.gradient[player] - other.gradient[player]).max() < 1e-12
        answer = mine.best_response[player]
        assert answer.shape == other.best_response[player].shape
        assert ((answer == 0) | (answer == 1)).all() and (answer.sum(axis=1) == 1).all()
        # Equally good cells may differ in the last bit, so what counts is what the answers get.
        for reply in (answer, other.best_response[player]):
            both = (reply, strategies[1]) if player == 0 else (strategies[0], reply)
            gets = (1 - 2 * player) * theirs.ev_and_exploitability(*both).ev0
            assert gets == pytest.approx((1 - 2 * player) * other.ev0 + other.expl[1 - player], abs=1e-11)
    return mine, other


def test_the_same_values_of_uniform_strategies(corner):
    ours, theirs = corner
    mine, other = ours.construct_uniform_strategies(), theirs.construct_uniform_strategies()
    for player in (0, 1):
        assert mine[player].dtype == other[player].dtype
        assert (mine[player] == other[player]).all()
    same, there = assert_same_evaluation(ours, theirs, other)
    assert repr(same) == repr(there)


def test_the_same_values_of_random_strategies(corner):
    ours, theirs = corner
    for seed in range(5):
        assert_same_evaluation(ours, theirs, random_strategies(ours, seed))


def test_the_same_answer_whether_it_is_a_strategy(corner):
    ours, theirs = corner
    uniform = ours.construct_uniform_strategies()[0]
    rng = np.random.default_rng(3)
    verdicts = set()
    for _ in range(200):
        changed = uniform.copy()
        row, cell = rng.integers(len(uniform)), rng.integers(9)
        changed[row, cell] += rng.choice([1e-9, -1e-9, 2e-6, -1.0, 1.0, np.nan, np.inf, -0.0])
        verdict = ours.is_valid_strategy(0, changed)
        assert verdict == theirs.is_valid_strategy(0, changed), (row, changed[row])
        verdicts.add(verdict)
    assert verdicts == {True, False}
    for other in (uniform[:-1], uniform.reshape(-1), uniform.astype(np.float32)):
        assert ours.is_valid_strategy(0, other) == theirs.is_valid_strategy(0, other)


@pytest.mark.parametrize("name", [one.name for one in eas.AveragingStrategy])
def test_the_same_averages(corner, peer, name):
    ours, theirs = corner
    custom = name == "CUSTOM"
    for player in (0, 1):
        mine = ours.new_averager(player, getattr(eas.AveragingStrategy, name))
        other = theirs.new_averager(player, getattr(peer.AveragingStrategy, name))
        for again in range(2):
            for seed, weight in enumerate((0.0, 2.5, 0.25, 1.0) if custom else (None,) * 4):
                strategy = random_strategies(ours, 10 * again + seed)[player]
                mine.push(strategy, weight)
                other.push(strategy, weight)
            assert np.abs(mine.running_avg() - other.running_avg()).max() < 1e-12
            mine.clear()
            other.clear()


def test_the_same_enumeration(peer):
    assert {n: int(v) for n, v in eas.AveragingStrategy.__members__.items()} == {
        n: int(v) for n, v in peer.AveragingStrategy.__members__.items()
    }
    assert str(eas.AveragingStrategy.LAST) == str(peer.AveragingStrategy.LAST)
    assert repr(eas.AveragingStrategy.LAST) == repr(peer.AveragingStrategy.LAST)


KINDS = [
    {"alternation": alternation, "predictive": predictive, **kind}
    for alternation in (True, False)
    for predictive in (True, False)
    for kind in ({"dcfr": True}, {"dcfr": False}, {"dcfr": False, "rmplus": True})
]
VARIANTS = [{"avg": "QUADRATIC", **kind} for kind in KINDS] + [
    {"avg": avg, **KINDS[0]} for avg in ("UNIFORM", "LINEAR", "EXPERIMENTAL", "LAST")
]


@pytest.mark.parametrize("variant", VARIANTS, ids=lambda v: "-".join(map(str, v.values())))
def test_the_same_steps_of_cfr(corner, peer, variant):
    ours, theirs = corner
    rest = {k: v for k, v in variant.items() if k != "avg"}
    confs = [m.CfrConf(avg=getattr(m.AveragingStrategy, variant["avg"]), **rest) for m in (eas, peer)]
    assert repr(confs[0]) == repr(confs[1])
    mine, other = eas.CfrSolver(ours, confs[0]), peer.CfrSolver(theirs, confs[1])
    for step in range(6):
        mine.step()
        other.step()
        for a, b in zip(mine.avg_bh(), other.avg_bh(), strict=True):
            # Where regrets are zero but for rounding, the programs choose differently, and both are right.
            assert (np.abs(a - b).max(axis=1) > 1e-9).mean() < 0.01, step
    first, second = (ours.ev_and_exploitability(*solver.avg_bh()) for solver in (mine, other))
    assert first.expl == pytest.approx(second.expl, abs=2e-3)


def test_the_same_variants(peer):
    for name in ("PCFRP", "DCFR"):
        assert repr(getattr(eas.CfrConf, name)) == repr(getattr(peer.CfrConf, name))
    assert repr(eas.CfrConf()) == repr(peer.CfrConf())


@pytest.mark.parametrize("name", ["CornerDh", "Dh", "AbruptDh", "Pttt", "AbruptPttt"])
def test_the_same_plays(peer, name):
    rng = np.random.default_rng(5)
    for _ in range(1000):
        mine, other = (getattr(m, f"{name}State")() for m in (eas, peer))
        assert mine.OPENSPIEL_INFOSTATE_SIZE == other.OPENSPIEL_INFOSTATE_SIZE
        while True:
            assert mine.player() == other.player()
            assert mine.is_terminal() == other.is_terminal()
            assert mine.action_mask() == other.action_mask()
            assert mine.infoset_desc() == other.infoset_desc()
            assert str(mine) == str(other) == repr(mine)
            assert (mine.compute_openspiel_infostate() == other.compute_openspiel_infostate()).all()
            if mine.is_terminal():
                break
            cell, player = int(rng.choice(np.flatnonzero(mine.action_mask()))), mine.player()
            kept = mine.clone(), other.clone()
            mine.next(cell)
            other.next(cell)
            assert str(kept[0]) == str(kept[1])
            assert kept[0].infoset_desc() == kept[1].infoset_desc() != mine.infoset_desc() or mine.player() != player
        assert mine.winner() == other.winner()


IN_PART = """
import sys
sys.path.insert(0, sys.argv[1])
import numpy as np
import eas

traverser = getattr(eas, sys.argv[2] + "Traverser")()
given, found = np.load(sys.argv[3]), {}
strategies = []
for player in (0, 1):
    rows = (traverser.NUM_INFOS_PL0, traverser.NUM_INFOS_PL1)[player]
    texts = np.array([traverser.infoset_desc(player, row) for row in range(rows)], "S20")
    whole = given[f"texts{player}"]
    order = np.argsort(whole)
    at = order[np.searchsorted(whole, texts, sorter=order)]
    assert (whole[at] == texts).all()
    found[f"at{player}"] = at
    strategies.append(np.ascontiguousarray(given[f"strategy{player}"][at]))
both = traverser.ev_and_exploitability(*strategies)
for player in (0, 1):
    found |= {f"gradient{player}": both.gradient[player], f"response{player}": both.best_response[player]}
np.savez(sys.argv[4], ev0=both.ev0, **found)
"""
FIRST = ((1, 4), (4,))  # the first attempts of player 0, and of player 1: one of the histories begins with a failure


@pytest.mark.skipif(not PART, reason="PTTT_EXP_A_SPIEL_PART names no build of exp-a-spiel for some first attempts")
@pytest.mark.parametrize("name, game", [("Dh", "dark-hex-3x3-classical"), ("Pttt", "pttt-classical")])
def test_the_same_values_in_a_part_of_a_classical_game(name, game, tmp_path):
    """All histories that begin with some first attempts, in the rows and strategies of the whole game."""
    ours = getattr(eas, f"{name}Traverser")()
    strategies = random_strategies(ours, 7)
    given = {}
    for player, squares in enumerate(FIRST):
        strategies[player][0] = 0
        strategies[player][0, squares] = 1 / len(squares)
        index = index_of(named_game(game))
        texts = infoset_texts(index, player, default_rows(index, player)).astype("S20")
        letters = np.roll(texts.view(np.uint8).reshape(len(texts), 20), -1, axis=1)  # without the bar
        letters[:, -1] = 0
        given |= {
            f"texts{player}": np.ascontiguousarray(letters).view("S20")[:, 0],
            f"strategy{player}": strategies[player],
        }
        assert ours.infoset_desc(player, 12345).encode() == given[f"texts{player}"][12345]
    np.savez(tmp_path / "given.npz", **given)
    only = "".join("1" if i % 9 in FIRST[0] and i // 9 in FIRST[1] else "0" for i in range(81))
    words = [sys.executable, "-c", IN_PART, PART, name, str(tmp_path / "given.npz"), str(tmp_path / "found.npz")]
    subprocess.run(words, check=True, env={**os.environ, "EAS_ONLY": only})
    theirs, mine = np.load(tmp_path / "found.npz"), ours.ev_and_exploitability(*strategies)
    assert mine.ev0 == pytest.approx(float(theirs["ev0"]), abs=1e-11)
    for player in (0, 1):
        at, gradient = theirs[f"at{player}"], theirs[f"gradient{player}"]
        assert len(at) > 100_000 and (np.diff(at) > 0).all(), "rows are in the same order"
        assert np.abs(mine.gradient[player][at] - gradient).max() < 1e-12 < np.abs(gradient).max()
        # Where cells are equally good up to rounding, the answers may differ, but not what they get.
        gets = []
        for answer in (mine.best_response[player][at], theirs[f"response{player}"]):
            own = strategies[player].copy()
            own[at[1:]] = answer[1:]  # at the root, the first attempts of this part
            both = (own, strategies[1]) if player == 0 else (strategies[0], own)
            gets.append(ours.ev_and_exploitability(*both).ev0 * (1 - 2 * player))
        assert gets[0] == pytest.approx(gets[1], abs=1e-12)
        assert gets[0] > mine.ev0 * (1 - 2 * player)


def fields(kind):
    return getattr(kind, "__annotations__", ())


def test_the_same_names(peer):
    for name in dir(peer.pyeas):
        if not name.startswith("_"):
            ours, theirs = getattr(eas, name), getattr(peer, name)
            missing = [m for m in dir(theirs) if m[0] != "_" and m not in dir(ours) and m not in fields(ours)]
            assert name == "AveragingStrategy" or not missing, (name, missing)


@pytest.mark.skipif(not PROGRAMS, reason="PTTT_EXP_A_SPIEL_PROGRAMS names no directory of programs of exp-a-spiel")
def test_its_own_test_runs_on_ours(tmp_path):
    """Unmodified but for the number of games, which it does not take from outside."""
    pytest.importorskip("pyspiel", reason="OpenSpiel is not installed")
    text = (Path(PROGRAMS) / "test_coherence.py").read_text()
    assert "N = 10_000_000" in text
    program = tmp_path / "test_coherence.py"
    program.write_text(text.replace("N = 10_000_000", "N = 10_000"))
    done = subprocess.run(
        [sys.executable, "-m", "pttt_ooc.library.eas", program], capture_output=True, text=True, check=True
    )
    assert done.stdout.count("Testing") == 3 and "Error" not in done.stdout
