"""The agents that search: their heuristics and moves against plain versions, and their budgets."""

import time

import numpy as np
import pytest

from pttt_ooc.other_games.arena.agents.base import text_of
from pttt_ooc.other_games.arena.agents.catalogue import AGENTS, agent
from pttt_ooc.other_games.arena.games.base import ArenaError
from pttt_ooc.other_games.arena.kernels import ultimate, ultimate_values
from pttt_ooc.other_games.arena.kernels.transposition_table import EXACT, find, keep, memory
from tests.other_games.arena import naive_search
from tests.other_games.arena import naive_ultimate as naive
from tests.other_games.arena.arena_kit import ULTIMATE, points, seat


def positions(seeds, shortest=0, longest=80, step=7):
    """States with the same positions by the plain rules, from random games."""
    for seed in seeds:
        _, moves = naive.random_game(seed)
        for number in range(shortest + seed % step, min(longest, len(moves)), step):
            yield ULTIMATE.after(moves[:number]), naive.after(moves[:number])


def seated(text, seed=0):
    made = seat(text)
    made.begin(seed)
    return made


@pytest.mark.slow_but_one
@pytest.mark.parametrize("heuristic", ultimate_values.HEURISTICS)
def test_heuristics_are_those_of_the_report(heuristic):
    count = 0
    for state, position in positions(range(20)):
        found = int(ultimate_values.evaluate(state, heuristic))
        assert found == naive_search.value(position, heuristic, "x") == -naive_search.value(position, heuristic, "o")
        count += found != 0
    assert count > 50
    for seed in range(10):
        end, moves = naive.random_game(seed)
        assert ultimate_values.evaluate(ULTIMATE.after(moves), heuristic) == naive_search.value(end, heuristic, "x")


def test_the_reward_of_a_learner_is_what_heur1_counts_before_the_end():
    counted = {}
    for state, position in positions(range(20)):
        standing = int(ultimate_values.standing(state))
        assert standing == position.winners.count("x") - position.winners.count("o")
        counted[standing] = counted.get(standing, 0) + 1
    assert min(counted) < 0 < max(counted)


def test_the_table_has_all_configurations_of_a_small_board():
    assert ultimate_values.SMALL.shape == ultimate_values.BIG.shape == (19683,)
    places = {
        int(ultimate_values.TERNARY[own] + 2 * ultimate_values.TERNARY[their])
        for own in range(512)
        for their in range(512)
        if not own & their
    }
    assert places == set(range(19683))


@pytest.mark.long_but("-1", "alphabeta-4", "expectimax-3")
@pytest.mark.slow_but_one
@pytest.mark.parametrize("heuristic", [1, 3, 4])
@pytest.mark.parametrize("method", ["minimax", "alphabeta", "expectimax"])
def test_moves_are_among_the_best_of_a_plain_search(method, heuristic):
    player = seated(f"{method}:heur={heuristic},depth=1")
    for state, position in positions(range(6), step=13):
        best = naive_search.best_moves(position, 1, heuristic, average=method == "expectimax")
        assert {player.choose(state) for _ in range(4)} <= best


def test_equally_good_moves_have_the_same_chance():
    player, state = seated("alphabeta:heur=1,depth=1"), ULTIMATE.after([40])
    best = naive_search.best_moves(naive.after([40]), 1, 1)
    drawn = [player.choose(state) for _ in range(900)]
    assert set(drawn) == best and len(best) == 8
    assert max(map(drawn.count, best)) < 170


@pytest.mark.parametrize(
    "options", ["", ",memory=plain", ",memory=fifo,entries=50", ",memory=symmetry", ",memory=zobrist"]
)
def test_alpha_beta_plays_as_minimax_with_less_work(options):
    """With the same seed, move for move, whatever it remembers."""
    one, two = seated("minimax:depth=2", 3), seated(f"alphabeta:depth=2{options}", 3)
    work = [0, 0]
    for state, _ in positions(range(6), shortest=1):
        assert one.choose(state) == two.choose(state)
        work = [work[0] + one.effort.nodes, work[1] + two.effort.nodes]
    assert work[1] < work[0] / 2


def test_memories_save_work():
    nodes = {}
    for kind in ("none", "plain", "symmetry", "zobrist"):
        player = seated(f"alphabeta:depth=3,memory={kind}")
        player.choose(ULTIMATE.start())
        nodes[kind] = player.effort.nodes
    assert nodes["symmetry"] < nodes["plain"] / 2 < nodes["none"] / 2
    assert nodes["zobrist"] == nodes["plain"]


def test_a_memory_forgets_the_oldest_and_a_plain_one_refuses():
    for forgets, kept in ((True, range(4, 14)), (False, range(10))):
        table = memory(10)
        for number in range(14):
            keep(table, number * 1_000_003, number, EXACT, forgets)
        entries = {number: find(table, number * 1_000_003) for number in range(14)}
        assert {number for number, entry in entries.items() if entry >= 0} == set(kept)
        assert all(table.values[entries[number]] == number for number in kept)


def test_a_memory_keeps_long_chains_whole():
    table, slots = memory(6), len(memory(6).heads)
    for number in range(200):
        keep(table, number * slots + number % 2, number, EXACT, True)
        for old in range(max(0, number - 5), number + 1):
            assert table.values[find(table, old * slots + old % 2)] == old


@pytest.mark.filterwarnings("ignore:overflow")  # kernels multiply modulo 2**64
def test_images_of_a_position_share_their_keys():
    for seed in range(5):
        _, moves = naive.random_game(seed)
        keys = []
        for turn in ultimate.IMAGE.tolist():
            place = {cell: index for index, cell in enumerate(turn)}
            turned = [9 * place[move // 9] + place[move % 9] for move in moves[: 20 + seed]]
            state = ULTIMATE.after(turned)
            keys.append({int(ultimate.image_key(state, symmetry)) for symmetry in range(8)})
        assert all(one == keys[0] for one in keys) and len(keys[0]) == 8


def test_deepening_ends_with_the_nodes_or_with_the_tree():
    player = seated("alphabeta:nodes=5000")
    player.choose(ULTIMATE.start())
    assert player.effort.nodes == 5000 and player.effort.depth == 2
    _, moves = naive.random_game(3)
    player.choose(ULTIMATE.after(moves[:-4]))
    assert player.effort.nodes < 2000 and player.effort.depth < 10


def test_few_nodes_still_give_a_legal_move():
    player = seated("minimax:nodes=1")
    assert {player.choose(ULTIMATE.after([0, 3])) for _ in range(100)} == set(range(27, 36))
    assert player.effort.depth == 0


@pytest.mark.parametrize("clock", ["wall", "processor"])
def test_a_time_is_kept(clock):
    player = seated(f"alphabeta:time=0.05,clock={clock}")
    read = time.perf_counter if clock == "wall" else time.thread_time
    begin = read()
    player.choose(ULTIMATE.start())
    assert read() - begin > 0.045
    assert player.limited_by_time and player.effort.depth >= 1


def test_a_deeper_search_wins():
    assert points(seated("alphabeta:depth=2"), seated("random"), 10) >= 8.5


def test_texts_of_agents():
    for text in (
        "random",
        "alphabeta:depth=3,memory=fifo",
        "expectimax:depth=1,heur=2",
        "minimax:time=0.1,clock=processor",
    ):
        assert text_of(agent(text)) == text
        assert text_of(agent(text_of(agent(text)))) == text
    assert text_of(agent("alphabeta")) == "alphabeta:depth=2"


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("alphabetta", r"did you mean alphabeta\?"),
        ("alphabeta:dept=2", r"did you mean depth\?"),
        ("alphabeta:depth=two", "whole number"),
        ("alphabeta:depth=2,nodes=5", "only one of"),
        ("alphabeta:depth=0", "above zero"),
        ("alphabeta:time=inf", "finite"),
        ("alphabeta:depth", "KEY=VALUE"),
        ("alphabeta:depth=1,depth=2", "twice"),
        ("alphabeta:memory=some", "one of none, plain"),
        ("alphabeta:entries=0", "above zero"),
        ("alphabeta:time=1,clock=moon", "wall or processor"),
        ("random:depth=1", "it has none"),
        ("tuned:slots=1000", "power of two"),
        ("tuned:depth=0", "above zero"),
        ("mcts:depth=3", "no depth"),
        ("mcts:room=5", "at least 100"),
        ("strong:slots=1000", "power of two"),
        ("qtable:rate=2", "between 0 and 1"),
        ("qtable:train=-1", "below zero"),
        ("qfeatures:teacher=me", "self or random"),
    ],
)
def test_bad_agents_are_sentences(text, part):
    with pytest.raises(ArenaError, match=part):
        agent(text)


def test_agents_that_cannot_play_a_game_say_so(tmp_path):
    with pytest.raises(ArenaError, match="no heuristic 7"):
        seated("alphabeta:heur=7")
    with pytest.raises(ArenaError, match="is too large"):
        seated("alphabeta:depth=99")
    with pytest.raises(ArenaError, match="needs a path"):
        seated("file")
    (tmp_path / "a.py").write_text("1 / 0")
    with pytest.raises(ArenaError, match="ZeroDivisionError"):
        seated(f"file:path={tmp_path}/a.py")
    (tmp_path / "b.py").write_text("chose = 1")
    with pytest.raises(ArenaError, match="no function choose"):
        seated(f"file:path={tmp_path}/b.py")


def test_every_agent_has_a_name_of_its_own():
    for name in AGENTS:
        assert agent(name).name == name


def test_random_moves_are_uniform():
    player, state = seated("random"), ULTIMATE.after([0, 3])
    drawn = np.bincount([player.choose(state) for _ in range(1800)], minlength=81)[27:36]
    assert drawn.min() > 140 and drawn.max() < 260
