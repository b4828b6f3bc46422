"""Where strategies lose, against a walk over all histories."""

import json
import random
from collections import defaultdict

import numpy as np
import pytest

import pttt_ooc as pttt
from pttt_ooc.cfr.solving.evaluation import evaluate
from pttt_ooc.errors import StrategyError
from pttt_ooc.games.rules.catalogue import named_game
from pttt_ooc.games.structure.strategy import Strategy, uniform_strategy
from pttt_ooc.library.questions import infoset_ranking
from pttt_ooc.library.questions.mistakes import OPENING, OWN_MISTAKE, find_differences, find_mistakes
from tests.kits import naive
from tests.kits.helpers import SMALL, TINY, as_strategy, random_table, sequence_texts, small_engine

ALL = 10**6


def naive_losses(game, player, own, opponent, reference=None):
    """For each infoset that the opponent's strategy reaches: the loss there, and the loss of each attempt."""
    found, by_attempt = {}, {}

    def settle(arrivals):
        payoff, groups = 0.0, defaultdict(list)
        pending = list(arrivals)
        while pending:
            history, reach = pending.pop()
            if history.is_terminal():
                payoff += history.returns()[player] * reach
            elif history.player == player:
                groups[history.nodes[player]].append((history, reach))
            else:
                row = opponent[history.nodes[1 - player]]
                pending += [(history.attempt(s), reach * row[s]) for s in history.legal() if row[s] > 0]
        return payoff + sum(choose(text, group) for text, group in groups.items())

    def choose(text, group):
        values = {s: settle((history.attempt(s), reach) for history, reach in group) for s in group[0][0].legal()}
        wanted = max(values.values()) if reference is None else sum(reference[text][s] * v for s, v in values.items())
        reach = naive.reach(game, player, text, own)
        found[text] = reach * (wanted - sum(own[text][s] * v for s, v in values.items()))
        by_attempt[text] = [reach * (wanted - values[s]) if s in values else None for s in range(game.squares)]
        return wanted

    return settle([(naive.History.start(game), 1.0)]), found, by_attempt


def check(game, player, own, opponent, losses, reference=None):
    best, lost, by_attempt = naive_losses(game, player, own, opponent, reference)
    assert losses.player == player
    assert losses.best_value == pytest.approx(best, abs=1e-12)
    assert losses.total == pytest.approx(sum(lost.values()), abs=1e-12)
    by_depth, by_opening = [0.0] * len(losses.by_depth), defaultdict(float)
    start = len(naive.setup_text(game, player))
    for text, loss in lost.items():
        by_depth[(len(text) - start) // 2] += loss
        by_opening[text[: start + 2]] += loss
    assert losses.by_depth == pytest.approx(by_depth, abs=1e-12)
    assert losses.by_opening.keys() >= by_opening.keys()
    told = {text: by_opening[text] for text in losses.by_opening}
    assert losses.by_opening == pytest.approx(told, abs=1e-12)
    listed = {}
    for one in losses.infosets:
        images = {naive.image(game, one.infoset, g) for g in game.symmetries}
        assert not images & listed.keys()
        listed.update(dict.fromkeys(images, one))
        assert one.images == len(images)
        assert one.loss == pytest.approx(sum(lost.get(text, 0) for text in images), abs=1e-12)
        assert one.loss_here == pytest.approx(lost[one.infoset], abs=1e-12)
        assert abs(one.loss_here) >= max(abs(lost.get(text, 0)) for text in images) - 1e-12
        assert one.reach == pytest.approx(naive.reach(game, player, one.infoset, own), abs=1e-12)
        assert one.probabilities == pytest.approx(own[one.infoset], abs=1e-12)
        assert [x is None for x in one.losses] == [x is None for x in by_attempt[one.infoset]]
        legal = [(a, b) for a, b in zip(one.losses, by_attempt[one.infoset], strict=True) if a is not None]
        assert [a for a, _ in legal] == pytest.approx([b for _, b in legal], abs=1e-12)
    size = [abs(one.loss) for one in losses.infosets]
    assert size == sorted(size, reverse=True)
    for text in lost.keys() - listed.keys():  # mirror images may cancel
        assert abs(sum(lost.get(other, 0) for other in {naive.image(game, text, g) for g in game.symmetries})) < 1e-12


@pytest.mark.long_but("2x2", "2x3k2", "after-1-4-full", "pttt-classical-after-0", "dark-hex")
@pytest.mark.slow_but_one
@pytest.mark.parametrize("symmetry", ["none", "full"])
@pytest.mark.parametrize("name", TINY + SMALL[:6])
@pytest.mark.parametrize("player", [0, 1])
def test_losses_are_those_of_a_walk_over_histories(name, player, symmetry):
    game, rng, folded = named_game(name), random.Random(f"{name} {player}"), symmetry == "full"
    if folded and len(game.symmetries) == 1:
        pytest.skip("the game has no symmetry")
    engine = small_engine(name, symmetry)
    own, other, theirs = (random_table(game, p, rng, symmetric=folded) for p in (player, player, 1 - player))
    strategy, second, opponent = (
        as_strategy(engine.index, p, table) for p, table in ((player, own), (player, other), (1 - player, theirs))
    )
    found = find_mistakes(strategy, opponent, engine, (0.1, 0.3), ALL)
    check(game, player, own, theirs, found.own)
    check(game, 1 - player, theirs, own, found.openings)
    check(game, player, own, theirs, find_differences(strategy, second, opponent, engine, ALL), other)
    value = 0.2 if player == 0 else -0.2
    assert found.exploitability == pytest.approx(value + naive.best_response_value(game, 1 - player, own), abs=1e-12)
    assert found.remainder == pytest.approx(value - naive.best_response_value(game, player, theirs), abs=1e-12)
    assert found.own.total + found.openings.total + found.remainder == pytest.approx(found.exploitability, abs=1e-12)


def table_of(strategy):
    rows = defaultdict(lambda: [0.0] * strategy.index.game.squares)
    for (text, square), probability in zip(
        sequence_texts(strategy.index, strategy.player), strategy.probabilities.tolist(), strict=True
    ):
        rows[text][square] = probability
    return rows


@pytest.fixture(scope="module")
def equilibrium():
    """An engine, and strategies of both players that are close to an equilibrium."""
    engine = small_engine("mini-2x3k3-abrupt-after-1-4")
    solution = pttt.solve(engine.index.game, target_nashconv=1e-6)
    strategies = [as_strategy(engine.index, p, {t: r.tolist() for t, r in solution[p].items()}) for p in (0, 1)]
    found = evaluate(*strategies, engine)
    return engine, strategies, (-found.best_response_1, found.best_response_0)


@pytest.mark.slow_but_one
@pytest.mark.parametrize("player", [0, 1])
@pytest.mark.parametrize("kind", ["uniform", "random", "solution"])
def test_the_parts_add_up_to_the_exploitability(equilibrium, player, kind):
    engine, solved, value = equilibrium
    table = random_table(engine.index.game, player, random.Random(3))
    strategy = {
        "uniform": uniform_strategy(engine.index, player),
        "random": as_strategy(engine.index, player, table),
        "solution": solved[player],
    }[kind]
    found = find_mistakes(strategy, solved[1 - player], engine, value)
    both = (strategy, solved[1]) if player == 0 else (solved[0], strategy)
    measured = evaluate(*both, engine, value)
    expected = (measured.exploitability_0, measured.exploitability_1)[player]
    assert found.exploitability == pytest.approx(expected, abs=1e-12)
    assert (found.exploitability > 0.01) == (kind != "solution")
    assert -1e-6 < found.remainder < 0
    assert found.own.total + found.openings.total + found.remainder == pytest.approx(expected, abs=1e-9)
    payoff = measured.value if player == 0 else -measured.value
    assert found.own.total == pytest.approx(found.own.best_value - payoff, abs=1e-12)


@pytest.mark.parametrize("player", [0, 1])
def test_a_planted_mistake_comes_first(equilibrium, player):
    engine, solved, value = equilibrium
    tables = [table_of(strategy) for strategy in solved]
    by_attempt = naive_losses(engine.index.game, player, tables[player], tables[1 - player])[2]
    cost, text, square = max((x, text, s) for text, row in by_attempt.items() for s, x in enumerate(row) if x)
    places = [k for k, (at, _) in enumerate(sequence_texts(engine.index, player)) if at == text]
    bad = Strategy(engine.index, player, solved[player].probabilities.copy())
    bad.probabilities[places] = [sequence_texts(engine.index, player)[k][1] == square for k in places]
    found = find_mistakes(bad, solved[1 - player], engine, value, 5)
    first = found.as_record()["infosets"][0]
    assert (first["kind"], first["player"], first["infoset"]) == (OWN_MISTAKE, player, text)
    assert first["loss_here"] == pytest.approx(cost, abs=1e-6) and first["loss_here"] > 0.05
    assert first["probabilities"][square] == 1


@pytest.mark.slow_but_one
@pytest.mark.parametrize("name", ["mini-2x3k2-abrupt", "mini-2x3k3-abrupt-after-1", "mini-2x3k3-classical-after-1"])
def test_a_short_list_is_the_beginning_of_a_long_one(name):
    engine, rng = small_engine(name), random.Random(name)
    one, other = (as_strategy(engine.index, p, random_table(engine.index.game, p, rng, 0)) for p in (0, 1))
    many = find_mistakes(one, other, engine, (0, 0), ALL)
    for top in (0, 1, 2, 3, 5, 12, 20, 30, 7):
        few = find_mistakes(one, other, engine, (0, 0), top)
        assert (few.own.infosets, few.openings.infosets) == (many.own.infosets[:top], many.openings.infosets[:top])
        assert few.own.total == many.own.total


def test_the_record_is_json():
    engine, rng = small_engine("mini-2x3k2-abrupt"), random.Random(4)
    one, other = (as_strategy(engine.index, p, random_table(engine.index.game, p, rng)) for p in (0, 1))
    few = find_mistakes(one, other, engine, (0, 0), 7)
    record = json.loads(json.dumps(few.as_record()))
    assert [one["kind"] for one in record["infosets"]] == [OWN_MISTAKE] * 7 + [OPENING] * 7
    assert sum(record["by_depth"]["openings"]) == pytest.approx(record["openings"], abs=1e-12)
    assert sum(record["by_opening"]["own_mistakes"].values()) == pytest.approx(record["own_mistakes"], abs=1e-12)
    assert set(record["by_opening"]["openings"]) == {"|", *(f"|{s}{o}" for s in range(6) for o in "*.")}
    assert set(record["by_opening"]["own_mistakes"]) == {"|", *(f"|{s}*" for s in range(6))}


def test_views_with_too_many_orders_are_ranked_without_symmetry(monkeypatch):
    engine, rng = small_engine("mini-2x3k2-abrupt"), random.Random(4)
    one, other = (as_strategy(engine.index, p, random_table(engine.index.game, p, rng)) for p in (0, 1))
    merged = find_mistakes(one, other, engine, (0, 0), ALL).own
    monkeypatch.setattr(infoset_ranking, "MOST_RELABELLED", 1)
    single = find_mistakes(one, other, engine, (0, 0), ALL).own
    assert {one.images for one in single.infosets} == {1} and len(single.infosets) > len(merged.infosets)
    assert sum(one.loss for one in single.infosets) == pytest.approx(single.total, abs=1e-12)
    assert sum(one.loss for one in merged.infosets) == pytest.approx(merged.total, abs=1e-12)


def test_zero_weights_mean_uniform_play():
    """As everywhere; single precision is scaled to sum to 1."""
    engine = small_engine("mini-2x3k2-abrupt")
    strategies = [uniform_strategy(engine.index, 0, dtype) for dtype in (np.float64, np.float32, np.float64)]
    strategies[2].probabilities[:] = 0
    opponent = uniform_strategy(engine.index, 1)
    first, *others = (find_mistakes(one, opponent, engine, (0, 0), ALL).own for one in strategies)
    for other in others:
        assert other.total == pytest.approx(first.total, abs=1e-14)
        rows = [sorted(each.infosets[0].probabilities) for each in (first, other)]  # of one of the mirror images
        assert rows[0] == pytest.approx(rows[1], abs=1e-15)


def test_strategies_of_the_same_player_are_refused():
    engine = small_engine(TINY[0])
    first, second = (uniform_strategy(engine.index, p) for p in (0, 1))
    with pytest.raises(StrategyError, match="player 0's too"):
        find_mistakes(first, first, engine, (0, 0))
    with pytest.raises(StrategyError, match="A strategy of player 0 is wanted"):
        find_differences(first, second, second, engine)
    with pytest.raises(StrategyError, match="symmetry full"):
        find_mistakes(uniform_strategy(small_engine(TINY[0], "full").index, 0), second, engine, (0, 0))
