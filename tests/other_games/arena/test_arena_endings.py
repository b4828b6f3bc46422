"""Endings of Ultimate: the values by a brute force, and the meter by agents whose errors are known."""

import functools
import json
import random

import numpy as np
import pytest

from docs.make import arena as arena_pages
from pttt_ooc.other_games.arena.agents.catalogue import agent
from pttt_ooc.other_games.arena.games.base import ArenaError
from pttt_ooc.other_games.arena.games.catalogue import game
from pttt_ooc.other_games.arena.research.solvers import endings
from tests.other_games.arena import naive_ultimate as naive
from tests.other_games.arena.arena_kit import ULTIMATE, lab

RECORDS = arena_pages.RECORDS
COMMITTED = RECORDS / "endings.jsonl"


def brute_force(position):
    """The value for the player to move: every game to its end, no table, no bound."""
    outcome = position.outcome()
    if outcome:
        return 0 if outcome == "draw" else 1 if outcome == position.to_move else -1
    return max(-brute_force(position.after(move)) for move in position.moves())


@functools.cache
def late_positions(count, largest):
    """Positions of games of chance with few open squares: their moves, and the value of each move to its mover."""
    found, seed = [], 0
    while len(found) < count:
        _, moves = naive.random_game(seed)
        seed += 1
        position = naive.Position()
        for number, move in enumerate(moves):
            if naive.open_squares(position) <= largest:
                values = {9 * b + c: -brute_force(position.after((b, c))) for b, c in position.moves()}
                found.append((moves[:number], position, values))
                break
            position.make(*divmod(move, 9))
    return found


@pytest.mark.parametrize("table_bits", [1, 16])
def test_values_are_those_of_a_brute_force(table_bits):
    """Also with a table of two places, where nearly every entry is overwritten."""
    solver, seen = endings.EndingSolver(table_bits), set()
    for moves, position, wanted in late_positions(60, 7):
        state = ULTIMATE.after(moves)
        assert endings.open_squares(state) == naive.open_squares(position)
        values = solver.values(state)
        assert values == wanted
        seen |= set(values.values())
    assert seen == {-1, 0, 1}


def test_committed_endings_are_games_by_lot_and_their_values_hold():
    """A sample is solved again with another table; the first are drawn again."""
    there = endings.read(COMMITTED)
    assert len(there) == 3000 == len({one.moves for one in there})
    player = agent(endings.PLAYER)
    player.seat(ULTIMATE)
    again = [endings.by_lot(0, number, player) for number in range(40)]
    first = [one.moves for one in there[:12]]
    assert [moves for moves in again if moves in first] == first[: sum(moves in first for moves in again)] != []
    solver = endings.EndingSolver(12)
    for one in there[::100]:
        state = ULTIMATE.after(one.moves)
        assert endings.open_squares(state) == one.open <= endings.MOST
        assert solver.values(state) == one.values and len(set(one.values.values())) > 1


def test_an_agent_without_errors_and_one_with_nothing_else(tmp_path):
    """Files with the best and the worst move of each ending, by brute force."""
    chosen = []
    for moves, position, values in late_positions(60, 7):
        squares = naive.open_squares(position)
        if len(set(values.values())) > 1 and squares >= endings.LEAST:
            chosen.append(endings.Ending(tuple(moves), squares, max(values.values()), values))
    file = tmp_path / "endings.jsonl"
    endings.write(file, chosen, seed=0)
    assert endings.read(file) == chosen
    program = "import sys\nsys.path.insert(0, {root!r})\nfrom tests.other_games.arena.test_arena_endings import pick\n"
    program += "def choose(legal, state):\n    return pick(legal, state, {which})\n"
    found = []
    for which in ("max", "min"):
        (tmp_path / f"{which}.py").write_text(program.format(root=str(arena_pages.ROOT), which=which))
        found.append(endings.measure(f"file:path={tmp_path / which}.py", chosen))
    assert found[0]["phases"] == [[len(chosen)] * 2, [0, 0], [0, 0], [0, 0]]
    assert not any(found[0]["errors"].values())
    assert found[1]["phases"][0] == [len(chosen), 0]
    wanted = dict.fromkeys(endings.COSTS, 0)
    for one in chosen:
        name = {1: "win", 0: "draw"}[one.value] + " to " + {0: "draw", -1: "loss"}[min(one.values.values())]
        wanted[name] += 1
    assert found[1]["errors"] == wanted and sum(wanted.values()) == len(chosen)


def pick(legal, state, which):
    values = endings.EndingSolver(12).values(np.array(state, dtype=np.int64))
    return which(legal, key=lambda move: values[move])


def test_a_random_agent_keeps_what_the_moves_allow():
    there = endings.read(COMMITTED)[:300]
    expected = sum(list(one.values.values()).count(one.value) / len(one.values) for one in there)
    found = endings.measure("random", there, seed=random.Random(1).randrange(100))
    kept = sum(counts[1] for counts in found["phases"])
    assert abs(kept - expected) < 4 * np.sqrt(300) / 2
    assert sum(counts[0] for counts in found["phases"]) == 300 == kept + sum(found["errors"].values())


def test_the_commands(tmp_path, capsys):
    file = tmp_path / "some.jsonl"
    assert "5 endings of" in lab(capsys, "endings", "-o", file, "--positions", 5, "--seed", 3)
    told = json.loads(lab(capsys, "errors", file, "random", "alphabeta:depth=1", "--json"))
    assert told["endings"] == 5 and [one["agent"] for one in told["agents"]] == ["random", "alphabeta:depth=1"]
    assert "| `random` |" in lab(capsys, "errors", file, "random")
    before = file.read_bytes()
    assert "--force" in lab(capsys, "endings", "-o", file, code=1)
    assert "There are no endings in" in lab(capsys, "errors", tmp_path / "none", "random", code=1)
    assert file.read_bytes() == before
    file.write_bytes(before[:-20])
    with pytest.raises(ArenaError, match="not a file of endings, or damaged"):
        endings.read(file)
    with pytest.raises(ArenaError, match="for the game ultimate only"):
        endings.EndingSolver(4).values(game("ultimate:open").start())
