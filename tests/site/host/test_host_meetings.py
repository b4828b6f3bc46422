"""Two agents meet: they wait for each other, play by turns against their clocks, and learn nothing but their own."""

import random

import pytest

from pttt_ooc.errors import PlayError
from pttt_ooc.library.scoring.aivat import estimate
from pttt_ooc.site.host import host_api, waiting
from pttt_ooc.site.host.match_rows import AGENT, HostMatch
from pttt_ooc.site.host.meetings import _meetings, meetings_of
from pttt_ooc.site.host.waiting import WaitingError
from tests.site.host.host_kit import GAME, HOST, Exact, Program, application, make_matches

CLASSICAL = "mini-2x3k2-classical"
KINDS = ("wins", "draws", "losses")


@pytest.fixture
def agents(matches):
    return [matches.tokens.add(name)[0] for name in ("one", "two", "three")]


def ask(matches, agent, player):
    return matches.begin(agent, GAME, AGENT, player)


def meet(matches, first, second, game=GAME):
    """The matches of two agents, as players 0 and 1."""
    with pytest.raises(WaitingError):
        matches.begin(first, game, AGENT, 0)
    theirs = matches.begin(second, game, AGENT, 1)
    return matches.begin(first, game, AGENT, 0), theirs


def row_of(matches, id):
    with matches.store.database.reading() as session:
        return session.get(HostMatch, id)


def test_who_has_waited_longest_is_met_first(matches, agents, clock):
    one, two, three = agents
    for agent in (one, two):
        with pytest.raises(WaitingError, match="No other agent waits as player 1 now; ask again at least every 30 s"):
            ask(matches, agent, 0)
        clock.time += 10
    match = ask(matches, three, 1)
    mine = ask(matches, one, 0)
    assert row_of(matches, match.id).other == mine.id and row_of(matches, mine.id).other == match.id
    assert match.opponent == mine.opponent == AGENT and mine.your_turn and not match.your_turn
    assert row_of(matches, ask(matches, three, 1).id).other == ask(matches, two, 0).id
    for player in (0, 1):
        with pytest.raises(WaitingError):  # nobody meets themselves, and each match is fetched once
            ask(matches, one, player)
    clock.time += waiting.WAITING_SECONDS + 1  # it has gone away
    with pytest.raises(WaitingError):
        ask(matches, two, 0)
    clock.time += 1
    with pytest.raises(WaitingError):
        ask(matches, one, 0)  # it is back, behind the other one
    assert row_of(matches, ask(matches, three, 1).id).other == ask(matches, two, 0).id


def test_turns_and_clocks_alternate_until_the_end(matches, agents, clock):
    one, two, _ = agents
    mine, theirs = meet(matches, one, two)
    clock.time += 50
    assert (matches.view(one, mine.id).seconds_left, matches.view(two, theirs.id).seconds_left) == (550, 600)
    with pytest.raises(PlayError, match="It is the other agent's turn; nothing has changed"):
        matches.attempt(two, theirs.id, 0, 0)
    assert "It is the other agent's turn." in theirs.text and theirs.legal == []
    mine = matches.attempt(one, mine.id, 0, 0)
    assert mine.infoset == "|0*" and not mine.your_turn and mine.legal == [] and mine.seconds_left == 550
    clock.time += 30
    matches.restart_clocks()
    clock.time += 20
    theirs = matches.attempt(two, theirs.id, 0, 0)  # it finds a mark, and the turn passes
    assert theirs.infoset == "|0." and theirs.seconds_left == 580 and not theirs.your_turn
    mine = matches.view(one, mine.id)
    assert mine.infoset == "|0*" and mine.your_turn and mine.legal == [1, 2, 3, 4, 5] and mine.seconds_left == 550
    with pytest.raises(PlayError, match="Square 0 cannot be attempted now"):
        matches.attempt(one, mine.id, 0, 1)
    mine, theirs = matches.attempt(one, mine.id, 1, 1), matches.view(two, theirs.id)
    assert (mine.result, theirs.result, mine.ended, theirs.ended) == (1, -1, "played", "played")
    assert row_of(matches, theirs.id).attempts == row_of(matches, mine.id).attempts == "001"
    assert row_of(matches, mine.id).estimate is None


@pytest.mark.parametrize("closes", ["view", "list", "table"])
def test_who_goes_away_loses(matches, agents, clock, closes):
    one, two, _ = agents
    mine, theirs = meet(matches, one, two)
    clock.time += 601
    if closes == "list":
        assert matches.list_open(two) == []
    if closes == "table":
        assert meetings_of(matches, GAME) == []
    theirs, mine = matches.view(two, theirs.id), matches.view(one, mine.id)
    assert (mine.result, mine.ended, theirs.result, theirs.ended) == (-1, "out of time", 1, "opponent out of time")
    assert theirs.seconds_left == 600 and "You have won: the other agent's time was over." in theirs.text
    mine, theirs = meet(matches, one, two)
    theirs = matches.resign(two, theirs.id, 0)  # in the other's turn, too
    mine = matches.view(one, mine.id)
    assert (mine.result, mine.ended, theirs.result, theirs.ended) == (1, "opponent resigned", -1, "resigned")
    with pytest.raises(PlayError, match="This match is over"):
        matches.attempt(one, mine.id, 0, 0)


def test_meetings_count_against_the_limits(matches, agents, monkeypatch):
    one, two, _ = agents
    with pytest.raises(WaitingError):
        ask(matches, one, 0)
    matches._begun._per_hour = 1
    matches._begun.spend(two.owner)
    with pytest.raises(PlayError, match="too many matches in this hour"):
        ask(matches, two, 1)
    assert not matches.list_open(one) and not matches.list_open(two)


@pytest.mark.parametrize(
    ("game", "one", "other"),
    [
        (GAME, (5, 3), (3, 5)),  # marks on other squares
        (GAME, (5, 0), (5, 3)),  # a failed attempt beside a placed one
        (CLASSICAL, (0, 3), (3,)),  # two attempts beside one
    ],
)
def test_what_an_agent_gets_depends_on_its_own_attempts(in_memory, clock, monkeypatch, game, one, other):
    """Byte for byte, in both turns; the other agent's attempts are those of the lists, after each of one's own."""
    monkeypatch.setattr(host_api, "_arrival_of", lambda request: clock.time)
    matches = make_matches(in_memory, Exact(game), now=clock)
    app = application(matches)
    me, you, told, hidden = Program(app, "me"), Program(app, "you"), [], set()
    for attempts in (one, other):
        theirs, answers = list(attempts), []
        for who, player, status in ((me, 0, 202), (you, 1, 201), (me, 0, 201)):
            sent = {"game": game, "opponent": AGENT, "player": player}
            begun = who.client.post(f"{HOST}/matches", json=sent)
            assert begun.status_code == status
            if who is you:
                your = begun.json()
        mine = begun.json()
        for square in (0, 2):
            sent = me.send(mine, square)
            after = [sent, *(me.client.get(f"{HOST}/matches{path}") for path in ("", f"/{mine['id']}"))]
            after += [me.client.get(f"{HOST}/matches/{mine['id']}/text"), me.send(mine, square), me.send(mine, 4, 9)]
            if sent.json()["over"]:
                break
            your = you.client.get(f"{HOST}/matches/{your['id']}").json()
            while your["your_turn"]:
                after.append(me.client.get(f"{HOST}/matches/{mine['id']}"))
                your = you.send(your, theirs.pop(0)).json()
            polled = after[6:]
            assert all(answer.content == after[2].content for answer in polled)  # also between two attempts
            answers += after[:6]
            mine = me.client.get(f"{HOST}/matches/{mine['id']}").json()
            assert mine["your_turn"]
            if len(theirs) == 0:
                break
        answers.append(me.client.get(f"{HOST}/matches/{mine['id']}"))
        hidden.add(row_of(matches, mine["id"]).attempts)
        resigned = me.client.post(f"{HOST}/matches/{mine['id']}/resignation", json={"made": mine["made"]})
        assert resigned.status_code == 200
        told.append([(a.status_code, a.content.replace(mine["id"].encode(), b"ID")) for a in answers])
    assert len(hidden) == 2
    common = min(map(len, told))
    assert told[0][:common] == told[1][:common] and common >= 6
    matches.close()


def test_an_interval_of_payoffs_ends_at_one():
    found = _meetings(
        "ahead", {"met": 1} | {f"{kind}_{s}": n for s in (0, 1) for kind, n in zip(KINDS, (19, 0, 1), strict=True)}
    )
    assert (found.wins, found.losses, found.high) == (38, 2, 1.0) and found.low < found.mean == pytest.approx(0.9)
    few = {"met": 1} | {f"{kind}_{s}": 3 for s in (0, 1) for kind in KINDS}
    assert _meetings("nine in each seat", few) is None


@pytest.mark.slow
def test_the_table_has_plain_averages_of_meetings(app, matches):
    low, high, third = (Program(app, name) for name in ("low", "high", "third"))
    rng, payoffs, agents = random.Random(2), {0: [], 1: []}, {}
    agents = {one: matches.tokens.of_token(one.token) for one in (low, high, third)}
    for n in range(24):
        first, second = (low, high) if n % 2 == 0 else (high, low)
        if n > 20:
            first, second = (third, low)
        views = dict(zip((first, second), meet(matches, agents[first], agents[second]), strict=True))
        while not all(view.over for view in views.values()):
            for who in views:
                views[who] = matches.view(agents[who], views[who].id)
                if views[who].your_turn:
                    views[who] = matches.attempt(agents[who], views[who].id, rng.choice(views[who].legal))
        assert sum(view.result for view in views.values()) == 0
        payoffs[views[low].player].append(views[low].result)
    told = Program(app).client.get(f"{HOST}/table").json()
    assert told["rows"] == []  # nobody has played the solution
    found = {one["agent"]: one for one in told["against_agents"]}
    assert {*found} == {"low", "high"} and (found["low"]["met"], found["high"]["met"]) == (2, 1)
    both, one = payoffs[0] + payoffs[1], found["low"]
    assert [one[kind] for kind in ("wins", "draws", "losses")] == [both.count(result) for result in (1, 0, -1)]
    means = [sum(payoffs[seat]) / len(payoffs[seat]) for seat in (0, 1)]
    assert one["mean"] == pytest.approx(sum(means) / 2) and one["low"] < one["mean"] < one["high"]
    errors = [estimate(payoffs[seat]).standard_error for seat in (0, 1)]
    assert one["high"] - one["mean"] == pytest.approx(2.08 * sum(e**2 for e in errors) ** 0.5 / 2, rel=0.05)
    page = Program(app).client.get("/host").text
    assert "Against each other" in page and "They contain luck" in page
