"""Proof-number search on Ultimate, by a brute force, and games that are solved from their ends backwards."""

import random

import pytest

from pttt_ooc.other_games.arena.games.base import RESULT, UNFINISHED, ArenaError
from pttt_ooc.other_games.arena.research.solvers import attack
from pttt_ooc.other_games.arena.research.solvers.endings import EndingSolver, open_squares
from tests.other_games.arena import naive_ultimate as naive
from tests.other_games.arena.arena_kit import ULTIMATE, lab
from tests.other_games.arena.test_arena_endings import RECORDS


def value(position):
    """1 if x wins, -1 if o wins, 0 for a draw: every game to its end, no table, no bound."""
    outcome = position.outcome()
    if outcome:
        return {"x": 1, "o": -1, "draw": 0}[outcome]
    return (max if position.to_move == "x" else min)(value(after) for after in map(position.after, position.moves()))


def by_lot(draw, plies=81):
    """A random game, or its beginning: moves, and the position."""
    moves, position = [], naive.Position()
    while not position.outcome() and len(moves) < plies:
        board, cell = draw.choice(position.moves())
        position.make(board, cell)
        moves.append(9 * board + cell)
    return moves, position


@pytest.mark.slow
@pytest.mark.parametrize("count", [50, 120])
def test_a_brute_force_gives_the_same_values(count):
    """One solver for all positions: its tables have what earlier questions found."""
    draw, solver = random.Random(4), attack.ProofSolver(200)
    seen, total = [], 0
    while len(seen) < count:
        moves, position = by_lot(draw, draw.randint(44, 70))
        state = ULTIMATE.after(moves)
        if position.outcome() or open_squares(state) > 7:
            continue
        found, nodes = solver.value(state)
        assert found == value(position)
        seen.append(found)
        total += nodes
    assert total < 12.5 * count  # worse numbers need more nodes
    assert min(seen.count(one) for one in (-1, 0, 1)) > count / 12


def test_tables_are_cleared_before_they_are_too_full():
    draw, solver = random.Random(2), attack.ProofSolver(200)
    for _ in range(12):
        solver.value(ULTIMATE.after(by_lot(draw, 20)[0]))
        assert all((keys[:, 2] != 0).mean() <= 0.75 for keys, _ in solver._tables)


def test_too_few_nodes_leave_a_value_unknown():
    state = ULTIMATE.after(by_lot(random.Random(1), 10)[0])
    assert attack.ProofSolver(20).value(state) == (None, 40)


def test_a_game_is_solved_from_its_end_backwards(tmp_path):
    draw, solver = random.Random(11), attack.ProofSolver(300)
    attacks = []
    for _ in range(6):
        moves, position = by_lot(draw)
        found = attack.attack(moves, solver)
        assert found.result == value(position)
        assert [step[0] for step in found.steps] == list(range(len(moves) - 1, len(moves) - 1 - len(found.steps), -1))
        assert found.steps[-1][2] is None and None not in [step[2] for step in found.steps[:-1]]
        for ply, squares, worth, _ in found.steps[:-1]:
            assert squares == open_squares(ULTIMATE.after(moves[:ply]))
            if squares <= 8:
                assert worth == value(naive.after(moves[:ply]))
        ply, squares, worth, nodes = found.earliest
        assert (ply, squares, worth) == found.steps[-2][:3] and nodes == sum(step[3] for step in found.steps[:-1])
        attacks.append(found)
    file = tmp_path / "attack.jsonl"
    attack.write(file, attacks, seed=0)
    facts, there = attack.read(file)
    assert there == attacks and facts["seed"] == 0
    rows = attack.table(there).splitlines()
    assert len(rows) == 8 and all(row.count("|") == 8 for row in rows)
    file.write_text(file.read_text()[:-40])
    with pytest.raises(ArenaError, match="damaged"):
        attack.read(file)


def test_moves_that_are_no_game_are_refused():
    solver = attack.ProofSolver(10)
    with pytest.raises(ArenaError, match=r"The move 0\.0 after 1 plies is not legal"):
        attack.attack([40, 0], solver)
    with pytest.raises(ArenaError, match="The game has not ended after 2 plies"):
        attack.attack([40, 36], solver)


def test_the_command_plays_solves_and_goes_on(tmp_path, capsys):
    """At once, and a game at a time with --resume: the same games and values; a node count depends on earlier games."""
    whole, parts = tmp_path / "attack.jsonl", tmp_path / "again.jsonl"
    limit, resumed = ["--most-nodes", "3000"], ["--most-nodes", "3000", "--resume", "-o", str(parts)]
    for arguments, told in (
        ([*limit, "--games", "2", "-o", str(whole)], "game 2: known from ply"),
        ([*resumed, "--games", "1"], "game 1: known from ply"),
        ([*resumed, "--games", "9", "--hours", "0"], "again.jsonl has 1 games; --resume goes on."),
        ([*resumed, "--games", "2"], "game 2: known from ply"),
    ):
        assert told in lab(capsys, "attack", *arguments)
    facts, found = attack.read(whole)
    assert attack.read(parts)[0] == facts and facts["games"] == 2
    for one, other in zip(found, attack.read(parts)[1], strict=True):
        assert one.moves == other.moves and ULTIMATE.after(one.moves)[RESULT] != UNFINISHED
        known = [[step[:3] for step in game.steps if step[2] is not None] for game in (one, other)]
        assert len(known[0]) > 9 and known[0][:9] == known[1][:9]
        assert one.earliest[1] > 15
    told = lab(capsys, "attack", *resumed, "--seed", "5", code=1)
    assert "has seed 0, not 5: it can only be continued with the same" in told


@pytest.mark.slow
def test_the_committed_games_are_solved_as_the_solver_of_endings_solves_them():
    """By another method: alpha-beta; and the games are whole."""
    facts, there = attack.read(RECORDS / "attack.jsonl")
    assert facts["games"] == len(there) >= 10 and facts["most_nodes"] == 6_000_000
    solver = EndingSolver()
    for one in there:
        assert ULTIMATE.after(one.moves)[RESULT] != UNFINISHED
        for ply, squares, worth, _ in one.steps:
            state = ULTIMATE.after(one.moves[:ply])
            assert squares == open_squares(state)
            if squares <= 16:
                assert worth == (1 - 2 * (ply % 2)) * max(solver.values(state).values())
