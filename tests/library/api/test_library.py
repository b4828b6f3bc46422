"""The public API: games, strategies, solutions, values, algorithms step by step; and refused arguments."""

import gc
import json
import random
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

import pttt_ooc as pttt
from pttt_ooc.cfr.sweep import engine
from pttt_ooc.games.rules.catalogue import EXACT_VALUES, GAMES, named_game
from pttt_ooc.games.structure.index import build_index
from pttt_ooc.games.structure.strategy import Strategy as CoreStrategy
from pttt_ooc.games.structure.strategy import uniform_strategy
from pttt_ooc.library.api import strategy_reader, structures
from pttt_ooc.library.api.values import Response
from pttt_ooc.pipeline.files.infosets import write_infosets
from tests.kits import naive, naive_cfr
from tests.kits.helpers import TINY, as_strategy, random_table, small_engine

NAME = "mini-2x3k2-abrupt"
GAME = named_game(NAME)
SETUP = "mini-2x3k3-classical-after-1"


def table(game, player, seed=0, symmetric=False):
    return random_table(game, player, random.Random(f"{game.name} {player} {seed}"), symmetric=symmetric)


def strategy(game, player, seed=0):
    return pttt.Strategy.from_function(game, player, table(game, player, seed).__getitem__)


def refused(kind, call, *arguments, **named):
    with pytest.raises(pttt.PtttError) as caught:
        call(*arguments, **named)
    assert type(caught.value).__name__ == kind
    return str(caught.value)


# ---------------------------------------------------------------------------------------------
# The package


def test_importing_the_package_loads_nothing_else():
    code = (
        "import sys, pttt_ooc; print(sorted(m for m in sys.modules if m.startswith(('pttt_ooc.', 'numpy', 'numba'))))"
    )
    found = subprocess.check_output([sys.executable, "-c", code], text=True)
    assert found.strip() == "[]"


def test_every_name_is_there_and_no_other():
    assert len(pttt.__all__) == len(set(pttt.__all__)) and set(dir(pttt)) == {*pttt.__all__, "__version__"}
    assert all(getattr(pttt, name) is not None for name in pttt.__all__)
    with pytest.raises(AttributeError, match="no attribute 'solv'"):
        pttt.solv  # noqa: B018


# ---------------------------------------------------------------------------------------------
# Games


def test_rules_that_have_a_name_give_the_named_game():
    assert pttt.tic_tac_toe() is GAMES["pttt-abrupt"]
    assert pttt.tic_tac_toe(2, 3, 3, "classical", ((1,), (4,))) is GAMES["mini-2x3k3-classical-after-1-4"]
    for game in GAMES.values():
        sets = [[[s for s in range(game.squares) if w >> s & 1] for w in sets] for sets in game.winning_sets]
        assert pttt.placement_game(game.rows, game.columns, sets, game.turn_rule, game.setup, game.name) is game
    other = pttt.tic_tac_toe(2, 5, 4)
    assert (other.name, other.squares, len(other.winning_sets[0])) == ("pttt-2x5k4-abrupt", 10, 4)
    assert pttt.game("pttt-2x5k4-abrupt") == other
    assert pttt.tic_tac_toe(3, 3, 3, name="mine").name == "mine"


def test_sets_that_contain_others_are_left_out():
    game = pttt.placement_game(1, 4, ([{0, 1}, (0, 1, 2), {3}], [[2, 3]]))
    assert game.winning_sets == ((0b0011, 0b1000), (0b1100,))


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: pttt.tic_tac_toe(4, 5, 3), "Game pttt-4x5k3-abrupt: a board of 4 x 5 squares; a game has 1 to 16."),
        (lambda: pttt.tic_tac_toe(2, 3, 4), "on a board of 2 x 3 squares nobody can have 4 in a row."),
        (lambda: pttt.tic_tac_toe(2, 3, 0), "A player wins with 0 in a row, but k must be a whole number, at "),
        (lambda: pttt.tic_tac_toe(2.0, 3, 2), "A board has whole numbers of rows and columns, not 2.0 and 3."),
        (lambda: pttt.tic_tac_toe(2, 3, 2, "abrubt"), "no turn rule is called 'abrubt'; choose from abrupt, classical"),
        (lambda: pttt.tic_tac_toe(2, 3, 3, name=NAME), f"The name {NAME} belongs to a game with other rules; "),
        (lambda: pttt.tic_tac_toe(2, 3, 3, name="../x"), "A game cannot be called '../x'; use letters, digits, dots "),
        (lambda: pttt.placement_game(1, 2, ([{0, 2}], [])), "Player 0 wins with (0, 2), but a winning set has one or "),
        (lambda: pttt.placement_game(1, 2, ([{0}], [[]])), "Player 1 wins with (), but a winning set has one or more"),
        (lambda: pttt.placement_game(1, 2, ([{0}],)), "There are winning sets for 1 players, but a game has 2."),
        (lambda: pttt.tic_tac_toe(2, 3, 2, setup=((0, 1, 2), ())), "the setup is not made of alternating"),
    ],
)
def test_games_that_are_refused(call, sentence):
    assert sentence in refused("GameError", call)


@pytest.mark.parametrize(
    "call",
    [
        pttt.solve,
        pttt.iterate,
        lambda game: pttt.solve(game, symmetry="none"),
        lambda game: pttt.Strategy.uniform(game, 0),
        lambda game: pttt.Strategy.from_function(game, 0, None),
        lambda game: pttt.Strategy.from_tensor(game, 0, None),
    ],
)
def test_values_that_are_no_games(call):
    assert refused("GameError", call, NAME).endswith(f"pttt.game('{NAME}') gives the game.")
    assert refused("GameError", call, None).startswith("Expected a game, found a NoneType;")


def test_a_custom_game_is_solved_like_a_named_one():
    own = replace(GAME, name="own-game")
    mine, named = (pttt.solve(game, max_iterations=20, target_nashconv=0) for game in (own, GAME))
    assert mine[0].probabilities.tobytes() == named[0].probabilities.tobytes() and mine.game is own


# ---------------------------------------------------------------------------------------------
# Strategies


@pytest.mark.slow_but_one
@pytest.mark.parametrize("name", [*TINY, SETUP])
@pytest.mark.parametrize("player", [0, 1])
def test_a_function_becomes_the_same_strategy(name, player):
    game = named_game(name)
    rows = table(game, player)
    mine = pttt.Strategy.from_function(game, player, rows.__getitem__)
    assert mine.infosets() == list(mine) == naive.infosets(game, player) and len(mine) == len(rows)
    for text, row in mine.items():
        assert row == pytest.approx(rows[text], abs=1e-15)
        assert mine[text].tolist() == row.tolist()
    sparse = pttt.Strategy.from_function(game, player, lambda text: {s: p for s, p in enumerate(rows[text]) if p})
    assert sparse.probabilities.tobytes() == mine.probabilities.tobytes()
    wanted = as_strategy(small_engine(name).index, player, rows).probabilities
    assert mine.probabilities == pytest.approx(wanted, abs=1e-15)


def test_a_symmetric_strategy_is_the_same_in_both_layouts():
    rows = table(GAME, 0, symmetric=True)
    folded = pttt.Strategy.of(as_strategy(small_engine(NAME, "full").index, 0, rows))
    assert "kept up to symmetry" in repr(folded) and "symmetry" not in repr(folded.unfolded)
    assert len(folded) == len(rows) and folded.infosets() == list(rows)
    for text, row in folded.items():
        assert row == pytest.approx(rows[text], abs=1e-15) and folded[text].tolist() == row.tolist()
    assert folded.tensor().tolist() == folded.unfolded.tensor().tolist()


def test_membership():
    mine = pttt.Strategy.uniform(GAME, 0)
    assert "|0*" in mine and "|0*0*" not in mine and "0" not in mine and 3 not in mine
    assert refused("InfosetFileError", mine.__getitem__, "|0*0*") == f"'|0*0*' is not an infoset of player 0 in {NAME}."
    assert "is malformed" in refused("InfosetFileError", mine.__getitem__, "0*")
    assert "give its text" in refused("InfosetFileError", mine.__getitem__, 0)


@pytest.mark.parametrize(
    ("policy", "sentence"),
    [
        (lambda text: [0.5] * 6, "The policy, row 0 (counted from 0), infoset '|': the sum is 3.0, but must be 1 to "),
        (lambda text: [1, 0, 0, 0, 0, 0], "infoset '|0*': square 0 has 1.0, but it has already been attempted"),
        (lambda text: [2, -1, 0, 0, 0, 0], "infoset '|': square 0 has 2.0, but probabilities are at most 1."),
        (lambda text: [float("nan")] * 6, "infoset '|': square 0 has nan, which is not a number between 0 and 1."),
        (lambda text: [1, 0], "The policy gave 2 numbers for infoset '|'; it must give 6 probabilities"),
        (lambda text: None, "The policy gave None for infoset '|'; it must give 6 probabilities, or a mapping"),
        (lambda text: ["x"] * 6, "for infoset '|'; it must give 6 probabilities, or a mapping"),
        (lambda text: {6: 1}, "The policy gave square 6 for infoset '|', but the board has squares 0 to 5."),
        (lambda text: {"a": 1}, "for infoset '|'; it must give 6 probabilities, or a mapping from squares"),
        (lambda text: {0.5: 1}, "The policy gave square 0.5 for infoset '|', but the board has squares 0 to 5."),
    ],
)
def test_policies_that_are_refused(policy, sentence):
    assert sentence in refused("StrategyError", pttt.Strategy.from_function, GAME, 0, policy)


def test_asking_a_policy_shows_how_far_it_is(monkeypatch):
    shares = []
    monkeypatch.setattr("pttt_ooc.pipeline.show.progress.ShareBar.__call__", lambda bar, share: shares.append(share))
    pttt.Strategy.from_function(GAME, 0, table(GAME, 0).__getitem__)
    assert shares and shares == sorted(shares) and shares[-1] == 1


def test_an_exception_in_a_policy_is_not_hidden():
    def broken(text):
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        pttt.Strategy.from_function(GAME, 0, broken)


@pytest.mark.parametrize("player", [2, -1, "0", None, 0.5])
def test_invalid_players_are_refused(player):
    assert "players are 0 and 1" in refused("ConfigError", pttt.Strategy.uniform, GAME, player)


def test_files_hold_the_saved_strategy(tmp_path):
    mine = strategy(GAME, 1)
    shuffled = mine.infosets()
    random.Random(0).shuffle(shuffled)
    file = mine.save(tmp_path / "mine.zip", "float64")
    assert pttt.Strategy.read(file, 1, GAME).tensor() == pytest.approx(mine.tensor(), abs=1e-15)
    assert "fits mini-2x3k2-abrupt or mini-3x2k2-abrupt; say which by game=." in refused(
        "StrategyError", pttt.Strategy.read, file, 1
    )
    (tmp_path / "order.txt").write_text("".join(f"{text}\n" for text in shuffled))
    for order in (shuffled, tmp_path / "order.txt"):
        mine.save(file, np.float64, order)
        again = pttt.Strategy.read(file, 1, GAME, infosets=tmp_path / "order.txt")
        assert again.tensor() == pytest.approx(mine.tensor(), abs=1e-15)  # rows are scaled anew
        tensor = np.array([mine[text] for text in shuffled])
        same = pttt.Strategy.from_tensor(GAME, 1, tensor, order)
        assert same.tensor() == pytest.approx(mine.tensor(), abs=1e-15)
    np.save(tmp_path / "mine.npy", mine.tensor())
    assert pttt.Strategy.read(tmp_path / "mine.npy", 1, GAME).tensor() == pytest.approx(mine.tensor(), abs=1e-15)
    write_infosets(mine.index, 1, tmp_path / "default.txt")
    assert (tmp_path / "default.txt").read_text().split() == mine.infosets()


def test_files_of_a_custom_game(tmp_path):
    game = replace(pttt.tic_tac_toe(1, 3, 2), name="own-row")
    mine = pttt.Strategy.uniform(game, 0)
    file = mine.save(tmp_path / "mine.zip")
    assert pttt.Strategy.read(file, 0, game).tensor() == pytest.approx(mine.tensor(), abs=1e-7)
    assert "Invalid tensor shape" in refused("ShapeError", pttt.Strategy.read, file, 1, game)


def test_files_that_are_refused(tmp_path):
    mine = strategy(GAME, 1)
    assert "must end with .zip" in refused("ConfigError", mine.save, tmp_path / "mine.npy")
    assert "a/mine.zip: No such file or directory" in refused("StoreError", mine.save, tmp_path / "a" / "mine.zip")
    assert "Invalid dtype: found int8" in refused("StrategyError", mine.save, tmp_path / "mine.zip", "int8")
    assert "compression level is 10" in refused("ConfigError", mine.save, tmp_path / "mine.zip", compression_level=10)
    assert not list(tmp_path.iterdir())
    file = mine.save(tmp_path / "mine.zip")
    assert "This is a file of player 1" in refused("StrategyError", pttt.Strategy.read, file, 0)
    assert "Invalid tensor shape" in refused("StrategyError", pttt.Strategy.read, file, 1, named_game(TINY[0]))
    assert "There is no such file" in refused("StrategyFileError", pttt.Strategy.read, tmp_path / "none.zip", 1)
    assert "Strategy.uniform" in refused("StrategyFileError", pttt.Strategy.read, "uniform", 1)
    doubled = [*mine.infosets()[:-1], "|"]
    assert "The infosets, line" in refused("InfosetFileError", mine.save, file, "float32", doubled)
    odd = [*mine.infosets()[:-1], "|\n"]
    assert "The infosets, line" in refused("InfosetFileError", mine.save, file, "float32", odd)
    surrogate = [*mine.infosets()[:3], "\ud800", *mine.infosets()[4:]]
    assert "The infosets, line 4" in refused("InfosetFileError", mine.save, file, "float32", surrogate)


# ---------------------------------------------------------------------------------------------
# Values


def test_values_are_those_of_a_walk_over_histories():
    tables = [table(GAME, player) for player in (0, 1)]
    mine, theirs = (strategy(GAME, player) for player in (0, 1))
    found = pttt.evaluate(mine, theirs, game_value=0.5)
    assert found.value == pytest.approx(naive.value(GAME, *tables), abs=1e-12)
    best = [naive.best_response_value(GAME, player, tables[1 - player]) for player in (0, 1)]
    assert (found.best_response_0, found.best_response_1) == pytest.approx(best, abs=1e-12)
    assert found.exploitability_0 == pytest.approx(0.5 + best[1], abs=1e-12)
    reply = pttt.best_response(theirs)
    assert isinstance(reply, Response) and reply.player == 0 and reply.value == pytest.approx(best[0], abs=1e-12)
    assert pttt.evaluate(reply, theirs).value == pytest.approx(reply.value, abs=1e-12)
    assert {p for _, row in reply.items() for p in row} == {0.0, 1.0}


def test_layouts_may_be_mixed():
    folded, whole = pttt.Strategy.uniform(GAME, 0), strategy(GAME, 1)
    assert folded.index.symmetry == "full" and whole.index.symmetry == "none"
    found, same = pttt.evaluate(folded, whole), pttt.evaluate(folded.unfolded, whole)
    assert replace(found, seconds=0) == replace(same, seconds=0)
    plain = uniform_strategy(build_index(GAME, "none"), 0, np.float64)
    assert isinstance(plain, CoreStrategy) and pttt.evaluate(plain, whole).value == found.value


def test_values_that_are_refused():
    mine, theirs = (pttt.Strategy.uniform(GAME, player) for player in (0, 1))
    other = pttt.Strategy.uniform(named_game(TINY[0]), 1)
    assert f"but another one is for {TINY[0]}" in refused("StrategyError", pttt.evaluate, mine, other)
    assert "player 0 is wanted" in refused("StrategyError", pttt.evaluate, theirs, mine)
    assert "Expected a strategy, found a str" in refused("StrategyError", pttt.evaluate, mine, "uniform")
    assert "from -1 to 1, not 2" in refused("ConfigError", pttt.evaluate, mine, theirs, 2)
    assert "the second one is player 1's" in refused("StrategyError", pttt.compare, mine, theirs)
    assert "opponent's strategy is player 0's too" in refused("StrategyError", pttt.compare, mine, mine, mine)
    assert "number of infosets to list is -1" in refused("ConfigError", pttt.compare, mine, mine, None, -1)


@pytest.mark.parametrize("player", [0, 1])
def test_a_comparison_by_hand(player):
    tables, opponent = [table(GAME, player, seed) for seed in (1, 2)], strategy(GAME, 1 - player)
    both = [pttt.Strategy.from_function(GAME, player, rows.__getitem__) for rows in tables]
    found = pttt.compare(*both, against=opponent, top=5)
    rows = {}
    for text in tables[0]:
        reach = [naive.reach(GAME, player, text, one) for one in tables]
        distance = sum(abs(a - b) for a, b in zip(tables[0][text], tables[1][text], strict=True)) / 2
        rows[text] = (reach, distance, sum(reach) / 2 * distance)
    ranked = sorted(rows, key=lambda text: -rows[text][2])[:5]
    assert [one.infoset for one in found.largest] == ranked
    for one in found.largest:
        reach, distance, weight = rows[one.infoset]
        assert (*one.reach, one.distance, one.weight) == pytest.approx((*reach, distance, weight), abs=1e-12)
        for shown, given in zip(one.probabilities, tables, strict=True):
            assert shown == pytest.approx(given[one.infoset], abs=1e-12)
    total = sum(sum(reach) / 2 for reach, _, _ in rows.values())
    assert found.mean_distance == pytest.approx(sum(row[2] for row in rows.values()) / total, abs=1e-12)
    assert found.infosets == len(rows) and found.different == sum(row[1] > 1e-6 for row in rows.values())
    worst = [-naive.best_response_value(GAME, 1 - player, rows) for rows in tables]
    assert found.worst_cases == pytest.approx(worst, abs=1e-12)
    pairs = [(one, opponent) if player == 0 else (opponent, one) for one in both]
    sign = 1 if player == 0 else -1
    assert found.values == pytest.approx([sign * pttt.evaluate(*pair).value for pair in pairs], abs=1e-12)
    assert found.losses.total == pytest.approx(found.values[1] - found.values[0], abs=1e-12)
    assert [abs(one.loss) for one in found.losses.infosets] == sorted(abs(x.loss) for x in found.losses.infosets)[::-1]
    assert len(found.losses.infosets) == 5
    json.dumps(found.as_record())


def test_a_strategy_does_not_differ_from_itself():
    mine = strategy(GAME, 0)
    found = pttt.compare(mine, mine)
    assert (found.different, found.mean_distance, found.largest, found.values, found.losses) == (0, 0, (), None, None)


# ---------------------------------------------------------------------------------------------
# Solutions


@pytest.mark.slow
def test_a_solution_on_disk_equals_the_one_in_memory(tmp_path):
    settings = {"algorithm": "dcfr", "target_nashconv": 0, "max_iterations": 30}
    rows = []
    mine = pttt.solve(GAME, **settings, on_progress=rows.append)
    kept = pttt.solve(GAME, **settings, directory=tmp_path)
    assert kept.directory == tmp_path / NAME / "full" and mine.directory is None
    assert [row["iteration"] for row in rows] == list(range(1, 31))
    for player in (0, 1):
        assert mine[player].probabilities.tobytes() == kept[player].probabilities.tobytes()
    assert [row["nashconv"] for row in mine.rows] == [row["nashconv"] for row in kept.rows]
    assert (mine.nashconv, mine.value_lower) == (kept.nashconv, kept.value_lower)
    found = pttt.evaluate(*kept)
    assert found.nashconv == kept.nashconv and found.game_value == pytest.approx([float(EXACT_VALUES[NAME])] * 2)
    assert repr(mine).startswith(f"Solution of {NAME}: NashConv ") and repr(kept).endswith(f", in {kept.directory}")
    again = pttt.load(tmp_path / NAME / "full")
    assert again.rows == kept.rows and again[1]["|"].tolist() == kept[1]["|"].tolist() and len(list(again)) == 2


@pytest.mark.slow
def test_a_solve_resumes_where_it_stopped(tmp_path):
    own = replace(pttt.tic_tac_toe(1, 4, 2), name="own-row")
    settings = {"target_nashconv": 0, "symmetry": "none"}
    first = pttt.solve(own, **settings, max_iterations=8, directory=tmp_path)
    begun = []
    second = pttt.solve(own, **settings, max_iterations=12, directory=tmp_path, on_progress=begun.append)
    whole = pttt.solve(own, **settings, max_iterations=12)
    assert [row["iteration"] for row in begun] == [9, 10, 11, 12] and first.facts["iteration"] == 8
    assert second[0].probabilities.tobytes() == whole[0].probabilities.tobytes()
    assert pttt.load(tmp_path / own.name / "none").game == own
    assert second.nashconv == whole.nashconv


def test_settings_that_are_refused(tmp_path):
    assert "must be one of cfr, cfr+" in refused("ConfigError", pttt.solve, GAME, "cfr++")
    assert "did you mean max_minutes" in refused("ConfigError", pttt.solve, GAME, max_minute=1)
    assert "symmetry is 'half'" in refused("ConfigError", pttt.solve, GAME, symmetry="half")
    assert "target_nashconv is -1" in refused("ConfigError", pttt.solve, GAME, target_nashconv=-1)
    rule = pttt.Rule(lambda t, p: pttt.Coefficients(1, 1))
    assert "omit directory" in refused("ConfigError", pttt.solve, GAME, rule, directory=tmp_path)
    assert "no such directory" in refused("StoreError", pttt.load, tmp_path / "none")
    assert "This directory holds no solution; " in refused("StrategyFileError", pttt.load, tmp_path)
    (tmp_path / "file").touch()
    assert "it is a file" in refused("StoreError", pttt.load, tmp_path / "file")
    assert "whole number, at least 1" in refused("ConfigError", pttt.configure, threads=0)


@pytest.mark.slow
def test_a_big_game_is_kept_on_disk_and_read_from_there(tmp_path, monkeypatch):
    monkeypatch.setattr(structures, "BIG", 1)
    monkeypatch.setattr(structures, "_cache", structures._Cache(tmp_path))
    mine, theirs = (pttt.Strategy.uniform(GAME, player) for player in (0, 1))
    found = pttt.evaluate(mine.unfolded, theirs)
    assert {path.name for path in (tmp_path / NAME).iterdir()} == {"full", "none"}
    assert found.best_response_0 == pytest.approx(0.866667, abs=1e-6)


@pytest.mark.slow
def test_a_solution_brings_its_own_structure(tmp_path, monkeypatch):
    pttt.solve(GAME, max_iterations=3, directory=tmp_path / "data")
    monkeypatch.setattr(structures, "BIG", 1)
    monkeypatch.setattr(structures, "_cache", structures._Cache(tmp_path / "elsewhere"))
    solution = pttt.load(tmp_path / "data" / NAME / "full")
    assert pttt.evaluate(*solution).nashconv == solution.nashconv
    assert solution[0]["|"].sum() == pytest.approx(1)
    assert not (tmp_path / "elsewhere").exists()


def test_a_structure_is_found_after_a_change_of_directory_and_is_not_missed_when_it_is_gone(tmp_path, monkeypatch):
    pttt.solve(GAME, max_iterations=3, directory=tmp_path / "data")
    for gone in (False, True):
        monkeypatch.setattr(structures, "_cache", structures._Cache(tmp_path / "elsewhere"))
        monkeypatch.chdir(tmp_path)
        solution = pttt.load(f"data/{NAME}/full")
        monkeypatch.chdir("/")
        if gone:
            (tmp_path / "data").rename(tmp_path / "moved")
        assert pttt.evaluate(*(pttt.Strategy.uniform(GAME, player) for player in (0, 1))).nashconv > 0
    assert solution.nashconv > 0


def test_the_number_of_threads_changes_no_bit(monkeypatch):
    monkeypatch.setattr(structures, "_cache", structures._Cache())
    found = []
    for threads in (1, 2):
        pttt.configure(threads=threads)
        assert structures.engine_of(GAME).threads == threads
        found.append(pttt.best_response(strategy(GAME, 0)).probabilities.tobytes())
    assert found[0] == found[1]


def divided(monkeypatch, threads):
    """Settings of their own, and work in so small pieces that even a small game's goes to all threads."""
    monkeypatch.setattr(engine, "RUN_WORK", 1)
    monkeypatch.setattr(structures, "_cache", structures._Cache(threads=threads))


def steps(run, count):
    return [next(run).get("nashconv") for _ in range(count)]


def test_other_threads_break_no_session_that_is_at_work(monkeypatch):
    divided(monkeypatch, threads=2)
    expected = steps(pttt.iterate(GAME), 8)
    run = pttt.iterate(GAME)
    begun = steps(run, 4)
    pttt.configure(threads=3)
    assert structures.engine_of(GAME, "full").threads == 3, "what begins now has them"
    assert begun + steps(run, 4) == expected
    both = [pttt.evaluate(*run.average).nashconv, pttt.evaluate(*run.current).nashconv]
    structures.engine_of(GAME, "full").workers.limit(1)
    assert both == [pttt.evaluate(*run.average).nashconv, pttt.evaluate(*run.current).nashconv]


def test_fewer_threads_break_no_call_that_is_at_work(monkeypatch):
    """A score with a limit of memory takes threads from the engine of a game, which others may be using just now."""
    divided(monkeypatch, threads=3)
    shared, weights = structures.engine_of(GAME), strategy(GAME, 0).unfolded.probabilities
    expected = shared.reach(0, weights).sequences.tobytes()

    class Meanwhile(ThreadPoolExecutor):
        """Somebody limits the threads while calls are handed over to them."""

        def submit(self, *call):
            shared.workers.limit(2)
            return super().submit(*call)

    shared.workers.pool = Meanwhile(3)
    assert shared.reach(0, weights).sequences.tobytes() == expected
    assert shared.threads == 2 and shared.reach(0, weights).sequences.tobytes() == expected


def test_threads_end_with_the_last_who_needs_them(monkeypatch):
    divided(monkeypatch, threads=2)
    run = pttt.iterate(GAME)
    steps(run, 3)
    mine = list(run._solver.engine.workers.pool._threads)
    assert mine
    pttt.configure(threads=1)
    steps(run, 1)
    del run
    gc.collect()
    for thread in mine:
        thread.join(60)
        assert not thread.is_alive()


# ---------------------------------------------------------------------------------------------
# Step by step


def test_steps_are_those_of_a_solve():
    whole = pttt.solve(GAME, "cfr+", max_iterations=12, target_nashconv=0)
    run = pttt.iterate(GAME, "cfr+", max_iterations=12)
    rows = list(run)
    assert [row["iteration"] for row in rows] == list(range(1, 13)) and run.iteration == 12
    assert [row["nashconv"] for row in rows if "nashconv" in row] == [row["nashconv"] for row in whole.rows]
    assert run.average[0].probabilities.tobytes() == whole[0].probabilities.tobytes()
    assert next(run, None) is None


@pytest.mark.parametrize("algorithm", ["cfr", "dcfr", "pcfr+", "sapdcfr+"])
def test_the_current_strategies_follow_from_the_regrets(algorithm):
    """Compared with the textbook's walk over histories; and the plan that the next iteration starts from."""
    run = pttt.iterate(GAME, algorithm, symmetry="none", precision="float64", updates="simultaneous")
    regrets = [{text: [0.0] * 6 for text in naive.infosets(GAME, p)} for p in (0, 1)]
    strategies = [naive.uniform(GAME, p) for p in (0, 1)]
    for _ in range(4):
        next(run)
        newest = [naive_cfr.regrets(GAME, p, strategies) for p in (0, 1)]
        for p in (0, 1):
            strategies[p] = updated(algorithm, run.iteration, regrets[p], newest[p])
    for p in (0, 1):
        for text, row in run.current[p].items():
            assert row == pytest.approx(strategies[p][text], abs=1e-5)


def updated(algorithm, t, regrets, newest):
    found = {}
    for text, sums in regrets.items():
        wanted = {}
        for square, regret in newest[text].items():
            sums[square], wanted[square] = naive_cfr.step(algorithm, t, sums[square], regret)
        found[text] = naive_cfr.match(GAME, text, wanted)
    return found


def test_a_custom_rule_equals_the_built_in_rule_that_it_copies():
    def plus(t, parameters):
        return pttt.Coefficients(discount_positive=1, discount_negative=1, floor=True, predict=True, look_ahead=1)

    mine = pttt.solve(GAME, pttt.Rule(plus, gamma=2, predicts=True), max_iterations=20, target_nashconv=0)
    named = pttt.solve(GAME, "pcfr+", max_iterations=20, target_nashconv=0)
    assert mine[0].probabilities.tobytes() == named[0].probabilities.tobytes()
    assert mine.facts["algorithm"] == "a custom rule"


@pytest.mark.parametrize(
    ("rule", "sentence"),
    [
        (pttt.Rule(lambda t, p: 1.0), "The rule gave float for iteration 1; it must give pttt.Coefficients."),
        (pttt.Rule(lambda t, p: pttt.Coefficients(float("nan"), 1)), "for iteration 1; its numbers must be finite."),
        (
            pttt.Rule(lambda t, p: pttt.Coefficients(1, 1, predict=True)),
            "The rule predicts in iteration 1, but was made without predicts=True: no prediction is kept.",
        ),
    ],
)
def test_rules_that_are_refused(rule, sentence):
    assert sentence in refused("ConfigError", pttt.solve, GAME, rule)


def test_averages_are_copies():
    run = pttt.iterate(GAME)
    next(run)
    before = run.average[0]
    kept = before.probabilities.copy()
    next(run)
    assert before.probabilities.tobytes() == kept.tobytes() != run.average[0].probabilities.tobytes()


@pytest.mark.slow
def test_solutions_and_profiles_print_themselves_in_notebooks(tmp_path):
    solution = pttt.solve(GAME, "dcfr", target_nashconv=0, max_iterations=7, directory=tmp_path / "a&b")
    table = ElementTree.fromstring(solution._repr_html_())
    cells = {row[0].text: row[1].text for row in table.iter("tr")}
    assert table.findtext("caption") == f"Solution of {NAME}"
    assert (cells["algorithm"], cells["iterations"]) == ("dcfr", "7") and float(cells["NashConv"]) > 0
    assert cells["directory"] == str(tmp_path / "a&b" / NAME / "full")
    table = ElementTree.fromstring(pttt.profile(*solution)._repr_html_())
    cells = {row[0].text: row[1].text for row in table.iter("tr")}
    found = pttt.evaluate(*solution)
    assert table.findtext("caption") == f"Profile of {NAME}" and cells["directory"] == "in memory"
    assert float(cells["value for player 0"]) == pytest.approx(found.value, abs=1e-6)
    assert float(cells["best response of player 1"]) == pytest.approx(found.best_response_1, abs=1e-6)


def test_the_interval_of_the_value_is_found_in_what_files_tell_of_themselves(tmp_path):
    """In a plan's own facts, those of a bundle's solution, and those of a solution's stage; half of one is none."""
    game = pttt.tic_tac_toe(setup=((0, 1, 5), (3, 4, 8)))
    known = {"value_lower": 0.25, "value_upper": 0.5}
    no_intervals = [{}, {"value_lower": 0.25}, {"value_upper": 0.5}, {"value_lower": 0.5, "value_upper": 0.25}]
    no_intervals.append({"value_lower": "0.25", "value_upper": "0.5"})

    def found(metadata):
        return strategy_reader.known_value(game, [SimpleNamespace(metadata=metadata)], tmp_path)

    for facts in no_intervals:
        assert found(facts) is None
        assert found({"solution": facts, "solve": {"result": facts}}) is None
        assert found({**facts, "solve": {"result": known}}) == found({"solution": known}) == found(known) == (0.25, 0.5)
    assert found({"solve": "a text"}) is None
