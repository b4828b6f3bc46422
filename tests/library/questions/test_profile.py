"""Profiles: their contents, complete or absent, one for each pair of strategies."""

import random
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest

import pttt_ooc as pttt
from pttt_ooc.cfr.solving.best_response import best_response
from pttt_ooc.cfr.solving.evaluation import evaluate
from pttt_ooc.disk.memory import leaves
from pttt_ooc.errors import ConfigError, MemoryBudgetError, StoreError, StrategyError
from pttt_ooc.games.structure import strategy as core
from pttt_ooc.library.questions import profile as module
from pttt_ooc.library.questions.infoset import numbers
from pttt_ooc.library.questions.profile import PreparedProfile, best_response_of, name_of, symmetry_of
from tests.kits import naive_questions
from tests.kits.helpers import as_strategy, random_table
from tests.kits.questioned import CASES, GAMES, IDS, engine_of, profile_of, tables_of

GAME = GAMES[1]


@pytest.fixture
def both():
    """Two strategies that are kept up to symmetry."""
    return profile_of(GAME, "full").strategies


@pytest.mark.parametrize(("game", "symmetry"), CASES, ids=IDS)
def test_a_profile_has_the_evaluation_and_the_best_responses(game, symmetry):
    profile, engine = profile_of(game, symmetry), engine_of(game, symmetry)
    expected = evaluate(*profile.strategies, engine)
    assert replace(profile.evaluation, seconds=0) == replace(expected, seconds=0)
    for player in (0, 1):
        response = best_response(profile.strategies[1 - player], engine).strategy()
        found = best_response_of(profile, player)
        assert found.player == player and found.index is profile.index
        assert found.probabilities.tobytes() == response.probabilities.tobytes()


def test_on_disk_it_is_the_same_as_in_memory(both, tmp_path):
    there = PreparedProfile.prepare(*both, engine_of(GAME, "full"), tmp_path / "profiles")
    memory = profile_of(GAME, "full")
    for name, array in leaves(memory.players).items():
        stored = leaves(there.players)[name]
        if not name.endswith("choices"):  # arbitrary where the player does not decide
            assert stored.tobytes() == array.tobytes() and stored.dtype == array.dtype
        assert not stored.flags.writeable and not array.flags.writeable
    assert replace(there.evaluation, seconds=0) == replace(memory.evaluation, seconds=0)
    assert best_response_of(there, 0).probabilities.tobytes() == best_response_of(memory, 0).probabilities.tobytes()
    assert [p.name for p in (tmp_path / "profiles").iterdir() if p.name != ".lock"] == [there.directory.name]


def test_it_is_computed_once(both, tmp_path, monkeypatch):
    first = PreparedProfile.prepare(*both, engine_of(GAME, "full"), tmp_path)
    monkeypatch.delattr(module, "_compute")
    again = PreparedProfile.prepare(*both, engine_of(GAME, "full"), tmp_path)
    opened = PreparedProfile.open(first.directory, first.index)
    assert again.directory == opened.directory == first.directory
    assert again.evaluation == opened.evaluation == first.evaluation


def test_names_differ_where_anything_differs(both):
    first, second = both
    index, changed = first.index, np.array(second.probabilities)
    changed[-1] = np.nextafter(changed[-1], 0)
    whole = profile_of(GAME, "none")
    pairs = [
        (both, index),
        ((first, replace(second, probabilities=changed)), index),
        ((first, replace(second, probabilities=changed.astype(np.float32))), index),
        (both, whole.index),
        (whole.strategies, whole.index),
        (both, replace(index, game=replace(GAME, name="another"))),
    ]
    names = [name_of(*pair) for pair in pairs]
    assert len(set(names)) == len(pairs)
    copies = tuple(replace(one, probabilities=np.array(one.probabilities)) for one in both)
    assert name_of(copies, index) == names[0]


def test_an_interruption_leaves_no_profile(both, tmp_path, monkeypatch):
    def fail(player, *rest):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(module, "_compute_player", fail)
        PreparedProfile.prepare(*both, engine_of(GAME, "full"), tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == [".lock"]
    assert PreparedProfile.prepare(*both, engine_of(GAME, "full"), tmp_path).directory.is_dir()


def test_leftovers_of_a_kill_are_no_profile(both, tmp_path):
    path = PreparedProfile.prepare(*both, engine_of(GAME, "full"), tmp_path).directory
    path.rename(path.with_name(path.name + ".wip"))  # as before the last step
    with pytest.raises(StoreError, match="missing"):
        PreparedProfile.open(path, both[0].index)
    assert PreparedProfile.prepare(*both, engine_of(GAME, "full"), tmp_path).directory == path
    assert not path.with_name(path.name + ".wip").exists()


def test_one_of_two_threads_computes_the_profile(both, tmp_path, monkeypatch):
    computed, compute = [], module._compute

    def slowly(*arguments):
        computed.append(time.sleep(0.2))
        return compute(*arguments)

    monkeypatch.setattr(module, "_compute", slowly)
    with ThreadPoolExecutor(2) as pool:
        found = list(pool.map(lambda _: PreparedProfile.prepare(*both, engine_of(GAME, "full"), tmp_path), range(2)))
    assert len(computed) == 1 and found[0].evaluation == found[1].evaluation


def test_another_index_is_refused(both, tmp_path):
    path = PreparedProfile.prepare(*both, engine_of(GAME, "full"), tmp_path).directory
    with pytest.raises(StoreError, match="symmetry full, not of mini-2x3k2-abrupt with symmetry none"):
        PreparedProfile.open(path, engine_of(GAME, "none").index)
    with pytest.raises(StoreError, match="not of mini-2x2k2-abrupt"):
        PreparedProfile.open(path, engine_of(GAMES[0], "full").index)
    with pytest.raises(StoreError, match="is called mini-2x3k2-abrupt too"):
        PreparedProfile.open(path, replace(engine_of(GAMES[0], "full").index, game=GAME))


def test_a_damaged_profile_is_refused(both, tmp_path):
    path = PreparedProfile.prepare(*both, engine_of(GAME, "full"), tmp_path).directory
    chunk = next((path / "1" / "values").rglob("0"))
    chunk.write_bytes(chunk.read_bytes()[:-8])
    with pytest.raises(StoreError, match="damaged"):
        PreparedProfile.open(path, both[0].index)


def test_a_budget_that_is_too_small_is_refused_before_anything_is_made(both, tmp_path):
    with pytest.raises(MemoryBudgetError, match="raise memory_mb"):
        PreparedProfile.prepare(*both, engine_of(GAME, "full"), tmp_path, memory_mb=100)
    assert [path.name for path in tmp_path.iterdir()] == [".lock"]


def test_the_smallest_budget_gives_the_same_profile(both, tmp_path):
    small = PreparedProfile.prepare(*both, engine_of(GAME, "full"), tmp_path, memory_mb=256)
    for name, array in leaves(profile_of(GAME, "full").players).items():
        assert name.endswith("choices") or leaves(small.players)[name].tobytes() == array.tobytes()


@pytest.mark.parametrize("folded", [(0,), (1,), (0, 1)])
def test_folded_strategies_are_unfolded_if_the_other_is_not_symmetric(folded):
    """In each layout the answers equal the tables."""
    whole, symmetric = engine_of(GAME, "none"), tables_of(GAME, "full")
    plain = [random_table(GAME, player, random.Random(player)) for player in (0, 1)]
    tables = tuple(symmetric[p] if p in folded else plain[p] for p in (0, 1))
    index = engine_of(GAME, "full").index
    both = [as_strategy(index if p in folded else whole.index, p, tables[p]) for p in (0, 1)]
    assert symmetry_of(*both) == ("full" if folded == (0, 1) else "none")
    profile = PreparedProfile.prepare(*both, whole)
    for player in (0, 1):
        for text, here in naive_questions.answers(GAME, player, tables).items():
            found = numbers(profile, player, text)
            expected = [here.best_values[square] / (here.opponent_reach or np.nan) for square in found.legal]
            assert found.best_action_values[list(found.legal)] == pytest.approx(expected, abs=1e-12, nan_ok=True)


def test_mismatched_strategies_are_refused(both):
    first, second = both
    with pytest.raises(StrategyError, match="player 0's"):
        PreparedProfile.prepare(first, first, engine_of(GAME, "full"))
    whole = profile_of(GAME, "none").strategies
    with pytest.raises(StrategyError, match="symmetry none"):
        PreparedProfile.prepare(first, whole[1], engine_of(GAME, "full"))
    with pytest.raises(StrategyError, match="player 1's"):
        PreparedProfile.prepare(second, first, engine_of(GAME, "none"))
    with pytest.raises(StrategyError, match="shape"):
        PreparedProfile.prepare(
            core.Strategy(first.index, 0, first.probabilities[:-1]), second, engine_of(GAME, "full")
        )


# ---------------------------------------------------------------------------------------------
# In the library


def test_the_library_prepares_strategies_of_any_layout(both, tmp_path):
    whole = pttt.Strategy.of(profile_of(GAME, "none").strategies[1])
    for pair, symmetry in (((both[0], both[1]), "full"), ((both[0], whole), "none")):
        profile = pttt.profile(*pair, directory=tmp_path)
        assert profile.index.symmetry == symmetry and profile.directory.parent == tmp_path
        assert repr(profile).endswith(f", in {profile.directory}")
        assert profile.evaluation.value == pytest.approx(pttt.evaluate(*pair).value, abs=1e-12)
        for player in (0, 1):
            best = (profile.evaluation.best_response_0, profile.evaluation.best_response_1)[player]
            assert pttt.best_response(profile.best_response(player)).value >= -best - 1e-7
            text = ("|0*", "|0.")[player]
            assert profile.at(player, text).infoset == text == profile.earlier(player, text)[-1]
            believed, known = profile.beliefs(player, text), profile.at(player, text)
            assert believed.reached == pytest.approx(known.opponent_reach, abs=1e-12)
            legal = list(known.legal)
            assert believed.marks[legal] == pytest.approx(known.fails[legal], abs=1e-12)
            assert {one.square for one in profile.following(player, text)} == set(legal)
        assert profile.play(5) == profile.play(np.random.default_rng(5))


def test_the_library_refuses_invalid_pairs(both):
    with pytest.raises(StrategyError, match="Expected a strategy, found a str"):
        pttt.profile("mine.zip", both[1])
    with pytest.raises(StrategyError, match="for mini-2x3k2-abrupt, but another one is for mini-2x2k2-abrupt"):
        pttt.profile(both[0], profile_of(GAMES[0], "full").strategies[1])
    with pytest.raises(StrategyError, match="player 1's"):
        pttt.profile(both[1], both[0])
    with pytest.raises(ConfigError, match="no player 2"):
        pttt.profile(*both).at(2, "|")
