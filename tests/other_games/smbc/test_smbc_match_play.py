"""Matches of a person against a solution: points, turns, goals, beliefs, statistics."""

import json

import pytest

from pttt_ooc.errors import PlayError, StoreError
from pttt_ooc.other_games.smbc import match_results
from pttt_ooc.other_games.smbc.best_response import profile_values
from pttt_ooc.other_games.smbc.bot import SolutionBot
from pttt_ooc.other_games.smbc.match_play import BOT, ME, Match, Round, new_match, thoughts
from pttt_ooc.other_games.smbc.pages.views import ExploreAddress, seat_of
from pttt_ooc.other_games.smbc.rules import FIRST, SECOND, TIE, UNDECIDED, Rules
from pttt_ooc.other_games.smbc.solve import load

RULES = Rules()
WIN, DRAW, LOSE = 0, 1, 2
ROW = (0, 3, 1, 4, 2)  # the first player has the top row


@pytest.fixture(scope="module")
def bot(coarse):
    return SolutionBot(load(coarse))


def drawing(*numbers):
    """Known random numbers."""
    return iter([*numbers, *[0.5] * 1000]).__next__


def ended(first, goals, points=(0, 0), squares=ROW):
    now = Round(points, first, goals)
    for square in squares:
        now = now.step(square, RULES)
    assert now.over
    return now


@pytest.mark.parametrize(
    ("first", "goals", "scored"),
    [
        (ME, (WIN, LOSE), (1, 1)),
        (ME, (WIN, WIN), (1, 0)),
        (ME, (LOSE, WIN), (0, 0)),
        (ME, (DRAW, LOSE), (0, 1)),
        (BOT, (WIN, WIN), (0, 1)),
        (BOT, (LOSE, LOSE), (1, 0)),
        (BOT, (LOSE, WIN), (1, 1)),
        (BOT, (DRAW, DRAW), (0, 0)),
    ],
)
def test_points_of_a_round(first, goals, scored):
    """Three in a row for the first player."""
    now = ended(first, goals)
    assert now.outcome == FIRST and now.scored == scored
    assert Match(5, (now,)).points == scored


@pytest.mark.parametrize(
    ("first", "goals", "shown"),
    [
        (ME, (WIN, LOSE), ExploreAddress(1, 0, WIN, LOSE, ROW, None)),
        (BOT, (WIN, LOSE), ExploreAddress(0, 1, LOSE, WIN, ROW, None)),
    ],
)
def test_a_round_that_is_over_can_be_explored(bot, first, goals, shown):
    """The round's first player is first."""
    match = Match(2, (ended(first, goals, (1, 0)),))
    assert seat_of("a", 0, match, bot).told.view == shown
    assert seat_of("a", 0, match, None).told.view is None


def test_a_round_is_over_when_it_is_decided():
    now = Round((0, 0), ME, (WIN, WIN))
    for number, square in enumerate((0, 4, 8, 2, 6, 7, 1)):
        assert now.mover == number % 2 and not now.over
        now = now.step(square, RULES)
    assert now.outcome in (TIE, UNDECIDED)
    assert ended(BOT, (WIN, WIN), squares=(0, 2, 1, 4, 3, 6)).outcome == SECOND


@pytest.mark.parametrize(
    ("points", "goals", "after", "winner"),
    [
        ((4, 4), (WIN, LOSE), (4, 4), None),  # both would reach 5: the round counts for nobody
        ((4, 4), (WIN, WIN), (5, 4), ME),
        ((4, 4), (LOSE, LOSE), (4, 5), BOT),
        ((4, 4), (DRAW, DRAW), (4, 4), None),
        ((4, 3), (WIN, LOSE), (5, 4), ME),
        ((3, 4), (WIN, LOSE), (4, 5), BOT),
        ((3, 3), (WIN, LOSE), (4, 4), None),
    ],
)
def test_the_end_of_a_match(points, goals, after, winner):
    match = Match(5, (ended(ME, goals, points),))
    assert match.points == after and match.winner == winner
    if winner is None:
        begun = match.on(drawing(0.99, 0.0))
        assert begun.round == Round(after, BOT, (LOSE, WIN)) and begun.round.scores == after[::-1]
    else:
        with pytest.raises(PlayError, match="This match is over"):
            match.on(drawing())


def test_illegal_moves_are_refused(bot):
    match = new_match(2, ME, drawing(0.0, 0.0))
    assert match.round.goals == (WIN, WIN)
    after = match.move(4, bot, drawing())
    for square, sentence in ((4, "taken"), (after.round.squares[1], "taken"), (9, "no square 9"), (-1, "no square -1")):
        with pytest.raises(PlayError, match=sentence):
            after.move(square, bot, drawing())
    with pytest.raises(PlayError, match="not your turn"):
        new_match(2, BOT, drawing()).move(0, bot, drawing())
    with pytest.raises(PlayError, match="not over yet"):
        match.on(drawing())
    with pytest.raises(PlayError, match="This round is over"):
        Match(5, (ended(ME, (WIN, WIN)),)).move(8, bot, drawing())


def test_goals_are_drawn_independently_and_alike():
    import random

    draw = random.Random(3).random
    counts = {}
    for _ in range(9000):
        goals = new_match(5, ME, draw).round.goals
        counts[goals] = counts.get(goals, 0) + 1
    assert len(counts) == 9 and all(abs(count - 1000) < 150 for count in counts.values())  # five standard errors


@pytest.mark.slow
def test_the_bot_plays_the_solution(bot, coarse):
    """Replies to a corner have the probabilities of the solution, in every orientation."""
    import random

    draw = random.Random(5).random
    chances = bot.chances((0, 0), (8,), WIN)
    assert abs(sum(chances.values()) - 1) < 1e-12 and 8 not in chances
    mirrored = bot.chances((0, 0), (0,), WIN)
    assert mirrored == pytest.approx({8 - square: chance for square, chance in chances.items()})
    match = new_match(2, ME, drawing(0.0, 0.0))
    found = [match.move(8, bot, draw).round.squares[1] for _ in range(500)]
    for square, chance in chances.items():
        assert abs(found.count(square) - 500 * chance) <= 5 * (500 * chance * (1 - chance)) ** 0.5 + 1e-9


def test_the_bots_beliefs_follow_bayes_rule(bot):
    now = ended(BOT, (WIN, DRAW), squares=ROW[:3] + (8, 2))
    found = thoughts(now, bot)
    assert [(t.number, t.square) for t in found] == [(2, 3), (4, 8)]
    reach = [1.0] * 3
    for thought in found:
        for goal in range(3):
            reach[goal] *= bot.chances(now.scores, now.squares[: thought.number - 1], goal)[thought.square]
        if not sum(reach):
            assert thought.believed is None
            break
        assert thought.believed == pytest.approx([r / sum(reach) for r in reach], abs=1e-12)


def test_expectations_are_the_values_of_the_match(bot):
    value = profile_values(bot.solution.tree, 2, bot.solution.profiles)[0, 0]
    first, second = bot.expectation(ME), bot.expectation(BOT)
    assert first.solution == (1 + value) / 2 and second.solution == (1 - value) / 2
    assert first.solution < first.best < 0.6 and second.solution < second.best < 0.6


def test_matches_are_counted(bot, tmp_path):
    assert match_results.read_tallies(tmp_path) == []
    for points, goals in (((4, 0), (WIN, WIN)), ((4, 4), (LOSE, LOSE)), ((4, 1), (WIN, DRAW))):
        match_results.keep_match(tmp_path, Match(5, (ended(ME, goals, points),)))
    match_results.keep_match(tmp_path, Match(5, (ended(BOT, (LOSE, LOSE), (4, 1)),)))
    found = match_results.read_tallies(tmp_path)
    assert [(t.first, t.matches, t.won) for t in found] == [(ME, 3, 2), (BOT, 1, 1)]
    told = match_results.tally_sentences(found, bot)
    assert told[0].startswith(
        "Of 3 matches in which you moved first you have won 2 (66.7%); a player like the bot wins"
    )
    assert told[1].startswith("Of 1 match in which the bot moved first you have won 1 (100.0%)")
    assert f"{bot.expectation(ME).best:.4%}" in told[0]


@pytest.mark.parametrize("line", ["", "{", "[]", "{}", json.dumps({"rounds": [], "winner": 1})])
def test_a_damaged_file_of_matches_gets_a_sentence(tmp_path, line):
    (tmp_path / match_results.FILE).write_text(f"{line}\n")
    with pytest.raises(StoreError, match="a line that is not a match"):
        match_results.read_tallies(tmp_path)
