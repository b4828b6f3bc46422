"""Matches: their clock, their limits, a restart, and AIVAT's estimates."""

import random
import sqlite3

import pytest

from pttt_ooc.errors import PlayError
from pttt_ooc.games.rules.play import start
from pttt_ooc.site.explore.opponents import PreparingError
from pttt_ooc.site.host import matches as module
from pttt_ooc.site.host.match_rows import HostMatch
from tests.site.host.host_kit import GAME, Exact, make_matches


@pytest.fixture
def agent(matches):
    return matches.tokens.add("one")[0]


def begin(matches, agent, player=0, opponent="solution"):
    return matches.begin(agent, GAME, opponent, player)


def row_of(matches, id):
    with matches.store.database.reading() as session:
        return session.get(HostMatch, id)


def test_the_clock_runs_while_it_is_the_agents_turn(matches, agent, clock):
    match = begin(matches, agent)
    clock.time += 200
    assert matches.view(agent, match.id).seconds_left == 400
    after = matches.attempt(agent, match.id, 0, 0)
    assert after.seconds_left == 400 or after.over
    match = begin(matches, agent)
    clock.time += 599.9
    assert matches.attempt(agent, match.id, 0, 0, at=clock.time).made == 1
    late = begin(matches, agent)
    clock.time += 600
    with pytest.raises(PlayError, match="Your time was over, and the match is lost"):
        matches.attempt(agent, late.id, 0, 0)
    over = matches.view(agent, late.id)
    assert (over.result, over.ended, over.seconds_left, over.made, over.legal) == (-1, "out of time", 0, 0, [])
    assert "You have lost: your time was over." in over.text
    early = begin(matches, agent)  # it arrived in time, and waited for the server
    arrived = clock.time + 599
    clock.time += 700
    assert matches.attempt(agent, early.id, 0, 0, at=arrived).made == 1


def test_time_does_not_run_while_there_is_no_server(in_memory, matches, agent, clock):
    mine, other = begin(matches, agent), begin(matches, matches.tokens.add("two")[0])
    clock.time += 500
    again = make_matches(in_memory, now=clock)
    again.restart_clocks(agent)
    clock.time += 200
    assert not again.view(agent, mine.id).over and again.list_open(agent)[0].id == mine.id
    assert again.attempt(agent, mine.id, 0, 0).made == 1
    again.close_expired()
    assert row_of(again, other.id).ended == "out of time"
    again.close()


def test_abandoned_matches_are_lost_and_make_room(matches, agent, clock, monkeypatch):
    first = begin(matches, agent)
    for _ in range(module.UNDER_WAY - 1):
        begin(matches, agent)
    with pytest.raises(PlayError, match="64 matches under way") as refused:
        begin(matches, agent)
    assert refused.value.status == 429
    clock.time += 601
    begin(matches, agent)
    assert len(matches.list_open(agent)) == 1 and matches.view(agent, first.id).ended == "out of time"
    matches._begun._per_hour = 2
    with pytest.raises(PlayError, match="too many matches in this hour"):
        begin(matches, agent)


def test_an_attempt_counts_once_and_faults_are_counted(matches, agent):
    match = begin(matches, agent)
    with pytest.raises(PlayError, match="Attempt 1 of this match comes first"):
        matches.attempt(agent, match.id, 0, 1)
    with pytest.raises(PlayError, match="Square 7 cannot be attempted now; choose one of 0, 1") as wrong:
        matches.attempt(agent, match.id, 7, 0)
    assert wrong.value.status == 400
    matches.attempt(agent, match.id, 0, 0)
    with pytest.raises(PlayError, match="Attempt 1 of this match has been made already|is over"):
        matches.attempt(agent, match.id, 1, 0)
    assert row_of(matches, match.id).refused == 1
    stranger = matches.tokens.add("two")[0]
    for ask in (matches.view, matches.resign, lambda a, i: matches.attempt(a, i, 1, 1)):
        with pytest.raises(PlayError, match="no such match of yours"):
            ask(stranger, match.id)
    resigned = matches.resign(agent, begin(matches, agent).id, 0)
    assert (resigned.result, resigned.ended) == (-1, "resigned")
    with pytest.raises(PlayError, match="This match is over"):
        matches.attempt(agent, resigned.id, 0, 0)


def test_what_is_not_here_is_refused_with_what_is(matches, agent):
    with pytest.raises(PlayError, match=f"choose one of {GAME}"):
        matches.begin(agent, "chess", "solution", 0)
    with pytest.raises(PlayError, match="No opponent best plays player 1 of .*; choose one of other, solution"):
        matches.begin(agent, GAME, "best", 0)
    match = begin(matches, agent)
    opponents = matches.games[GAME]
    opponents.opponents = [type(one)(one.key, one.name, one.player, "changed") for one in opponents.opponents]
    with pytest.raises(PlayError, match="no longer here; resign"):
        matches.attempt(agent, match.id, 0, 0)
    assert matches.resign(agent, match.id).result == -1 and row_of(matches, match.id).estimate is None


def test_nothing_is_written_while_the_opponent_cannot_be_asked(matches, agent, monkeypatch):
    match, opponents = begin(matches, agent), matches.games[GAME]

    def refuse(opponent, infoset):
        raise PreparingError(opponent, "reading", 0.5)

    monkeypatch.setattr(opponents, "probabilities", refuse)
    with pytest.raises(PreparingError):
        matches.attempt(agent, match.id, 0, 0)
    monkeypatch.undo()
    assert matches.view(agent, match.id).made == 0 and matches.attempt(agent, match.id, 0, 0).made == 1


@pytest.mark.parametrize("player", [0, 1])
def test_estimates_are_unbiased(player):
    """The expectation over all matches of an agent with faults, by enumeration, is its expected payoff, exactly."""
    opponents = Exact()
    opponent = next(one for one in opponents.opponents if one.player == 1 - player)
    rng, habits = random.Random(3), {}

    def habit(infoset, legal):
        """It resigns where its latest attempt has failed, and else attempts some square."""
        return infoset.endswith("."), habits.setdefault(infoset, rng.choice(legal))

    todo, payoff, estimate, values, resigned = [(start(opponents.game), 1.0)], 0.0, 0.0, set(), 0.0
    while todo:
        history, weight = todo.pop()
        mine = history.player == player
        given_up, square = habit(history.infoset(player), history.legal()) if mine else (False, None)
        if history.is_terminal or given_up:
            found = opponents.estimate(opponent, [attempt.square for attempt in history.attempts], given_up)
            payoff += weight * (-1 if given_up else history.returns[player])
            estimate += weight * found
            values.add(round(found, 9))
            resigned += weight * given_up
        elif mine:
            todo.append((history.step(square), weight))
        else:
            row = opponents.probabilities(opponent, history.infoset(1 - player))
            todo += [(history.step(square), weight * row[square]) for square in history.legal()]
    assert estimate == pytest.approx(payoff, abs=1e-12) and len(values) > 1 and resigned > 0.01


def test_the_database_has_no_token(in_memory, matches):
    _, token = matches.tokens.add("Secret one")
    assert matches.tokens.of_token(token).name == "Secret one"
    secret = token.partition(".")[2]
    for wrong in ("", token[:-1], f"{token}0", f"2.{secret}", f"999.{secret}", secret, "1.", "x" * 1000, "1.\ud800"):
        assert matches.tokens.of_token(wrong) is None
    with sqlite3.connect(in_memory / "host.sqlite") as database:
        stored = repr(list(database.iterdump()))
    assert "Secret one" in stored and secret not in stored
    for name in ("", " a", "a ", "a" * 41, "a\nb", "<b>", "ä"):
        with pytest.raises(PlayError, match="An agent's name has 1 to 40"):
            matches.tokens.add(name)
    with pytest.raises(PlayError, match="already is an agent secret ONE"):
        matches.tokens.add("secret ONE")
    with pytest.raises(PlayError, match="has a token; choose another name"):
        matches.tokens.find_local("Secret one")
    local = matches.tokens.find_local("here")
    assert matches.tokens.find_local("HERE") == local and matches.tokens.of_token(f"{local.id}.") is None
