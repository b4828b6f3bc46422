"""The practice league: who plays whom, new versions, forfeits, kills, the cap on the disk, ratings, our own bots."""

import itertools
import json
import threading
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from pttt_ooc.other_games.arena.matches.statistics import ratings
from pttt_ooc.other_games.extreme import broken_off, practice, tournament
from pttt_ooc.other_games.extreme.bot_process import Conditions
from pttt_ooc.other_games.extreme.bot_programs import BotProgram
from pttt_ooc.other_games.extreme.broken_off import UnableError
from pttt_ooc.other_games.extreme.clock import StoppedError
from pttt_ooc.other_games.extreme.match import BotMatch, play_match
from pttt_ooc.other_games.extreme.opponents import HOUSE_BOTS, HouseBot
from pttt_ooc.other_games.extreme.practice import Practice, PracticeSettings, results
from pttt_ooc.other_games.extreme.practice_record import PracticeRecord
from pttt_ooc.other_games.extreme.tournament_record import Team
from pttt_ooc.other_games.extreme.walled_process import MachineError
from pttt_ooc.other_games.extreme.walls import ExtremeError
from tests.kits.patience import PATIENCE
from tests.other_games.extreme.bot_kit import bot
from tests.other_games.extreme.practice_kit import bot as entered
from tests.other_games.extreme.practice_kit import league, write_match

OURS = HOUSE_BOTS[:2]


class Instant:
    """In place of `play_match`: the bot with the larger number in its name wins, and some bots fail."""

    def __init__(self):
        self.played, self.forfeits, self.broken, self.stop = [], {}, set(), False

    def __call__(self, programs, conditions, stopping):
        names = [one.name for one in programs]
        self.played.append(tuple(names))
        if self.broken & {*names}:
            raise MachineError("SIGKILL.")
        if self.stop:
            raise StoppedError
        for player, one in enumerate(programs):
            message = self.forfeits.get(one.source)
            if message:
                points = (86 * (player == 1), 86 * (player == 0))
                return BotMatch(tuple(names), ("P2", "P1")[player], message, points=points)
        first = names[0] > names[1]
        return BotMatch(tuple(names), "P1" if first else "P2", "WON", points=(86 * first, 86 * (not first)))


@pytest.fixture
def instant(monkeypatch):
    found = Instant()
    monkeypatch.setattr(tournament, "play_match", found)
    monkeypatch.setattr(broken_off, "play_match", lambda *_, **__: None)  # the machine can run our own bots
    monkeypatch.setattr(
        practice, "program", lambda name, content, walls, python: BotProgram(name, content.decode(), (3,), "")
    )
    monkeypatch.setattr(practice, "HOUSE_BOTS", OURS)
    monkeypatch.setattr(
        HouseBot, "program", lambda self, limit, walls: BotProgram(f"a_{self.key}.py", self.key, (3,), "", trusted=True)
    )
    return found


@pytest.fixture
def one_of_ours(monkeypatch):
    monkeypatch.setattr(practice, "HOUSE_BOTS", OURS[:1])


def team(number, version="1"):
    return Team(f"t{number}", f"Team {number}", f"team{number}.py", version, 3)


def opened(directory, kept=1000, limit=1.0):
    return Practice(directory, PracticeSettings(Conditions(time_limit=limit, walls=False), kept))


def play(league, teams, count=1):
    """Play so many matches; returns the pairs of keys, in order."""
    before = {match.pairing for match in league.record.practice_matches()}
    for _ in range(count):
        assert league.play_next(teams, lambda one: one.digest.encode(), [0, 1], threading.Event())
    return [
        (match.pairing.first, match.pairing.second)
        for match in league.record.practice_matches()
        if match.pairing not in before
    ]


# ---------------------------------------------------------------------------------------------
# Who plays whom


def test_all_pairs_meet_as_often_as_each_other_and_begin_in_turn(tmp_path, instant):
    found = play(opened(tmp_path / "p"), [team(n) for n in range(3)], 42)
    ours = {one.key for one in OURS}
    pairs = Counter(frozenset(pair) for pair in found)
    with_teams = {frozenset(pair) for pair in itertools.combinations(["t0", "t1", "t2", *ours], 2)} - {frozenset(ours)}
    counts = {pairs[pair] for pair in with_teams}
    assert max(counts) - min(counts) <= 1 and min(counts) >= 4
    assert pairs[frozenset(ours)] == 1  # a quarter as often
    begun = Counter(found)
    assert all(abs(begun[one, other] - begun[other, one]) <= 1 for one, other in map(tuple, with_teams))


@pytest.mark.slow
def test_a_new_team_and_a_new_version_play_at_once(tmp_path, instant):
    made, teams = opened(tmp_path / "p"), [team(0), team(1)]
    play(made, teams, 30)
    teams.append(team(2))
    assert all("t2" in pair for pair in play(made, teams, 8))
    play(made, teams, 30)
    teams[0] = team(0, "2")
    found = play(made, teams, 8)
    assert all("t0" in pair for pair in found) and len({frozenset(pair) for pair in found}) == 4
    assert made.record.teams["t0"].digest == "2" and made.record.teams["t0"].matches == 8
    assert {digest for match in made.record.practice_matches() for digest in match.digests} >= {"1", "2"}


def test_the_league_is_written_down_after_a_match_and_for_new_versions(tmp_path, instant, monkeypatch):
    made, teams, written = opened(tmp_path / "p"), [team(0), team(1)], []
    play(made, teams)
    monkeypatch.setattr(PracticeRecord, "write", lambda record: written.append(record))
    play(made, teams, 3)
    assert len(written) == 3
    teams[1] = team(1, "2")
    play(made, teams)
    assert len(written) == 5 and written[3].teams["t1"].digest == "2"


def test_who_has_played_least_is_due_among_pairs_that_have_not_met(tmp_path, instant):
    made, teams = opened(tmp_path / "p"), [team(n) for n in range(5)]
    play(made, teams, 9)  # of 20 pairs
    teams.insert(0, team(5))
    for _ in range(5):
        made._enter(teams)
        least = {key: one.matches for key, one in made.record.teams.items()}
        (pair,) = play(made, teams)
        assert "t5" in pair
        met = {
            key for match in made.record.practice_matches()[:-1] for key in match_of(match) if "t5" in match_of(match)
        }
        others = {key: count for key, count in least.items() if key != "t5" and key not in met}
        (other,) = {*pair} - {"t5"}
        assert others[other] == min(others.values())
        if least["t5"] + 1 > min(others.values()):  # from here on others have played less
            break


def match_of(match):
    return match.pairing.first, match.pairing.second


def test_bots_that_play_already_come_last(tmp_path, instant):
    """With several matches at a time, one team's new bot does not take all cores."""
    made, teams = opened(tmp_path / "p"), [team(n) for n in range(4)]
    play(made, teams, 40)
    teams[0] = team(0, "2")
    made._enter(teams)
    first = made._due()
    made._under_way.append(first)
    second = made._due()
    assert "t0" in (first.first, first.second)
    assert not {first.first, first.second} & {second.first, second.second}


def test_our_bots_alone_and_a_bot_whose_file_is_gone_do_not_play(tmp_path, instant):
    made = opened(tmp_path / "p")
    assert not made.play_next([team(0)], lambda one: None, [0], threading.Event()) and not made._under_way
    assert not made.play_next([], lambda one: b"", [0], threading.Event())
    assert instant.played == [] and {*made.record.teams} == {one.key for one in OURS}
    assert len(play(made, [team(0)], 3)) == 3


# ---------------------------------------------------------------------------------------------
# Forfeits, and what is none


def test_a_bot_that_forfeits_often_is_paused_until_there_is_a_new_version(tmp_path, instant, one_of_ours):
    made, teams = opened(tmp_path / "p"), [team(0), team(1)]
    instant.forfeits["1"] = "TIME OUT"
    for _ in range(20):
        made.play_next(teams[:1], lambda one: one.digest.encode(), [0], threading.Event())
    assert len(instant.played) == 3
    one = made.record.teams["t0"]
    assert (one.paused, one.forfeits, one.lost, one.won) == ("TIME OUT", 3, 3, 0)
    for file in (tmp_path / "p" / "matches").iterdir():
        file.unlink()
    again = opened(tmp_path / "p")
    assert again.record.teams["t0"].paused == "TIME OUT"
    assert not again.play_next(teams[:1], lambda one: b"1", [0], threading.Event())
    assert len(play(again, [team(0, "2")], 4)) == 4 and again.record.teams["t0"].paused == ""


def test_a_bot_that_forfeits_now_and_then_plays_on(tmp_path, instant, one_of_ours):
    made = opened(tmp_path / "p")
    for number in range(12):
        instant.forfeits = {"1": "TIME OUT"} if number % 3 == 0 else {}
        play(made, [team(0)])
    assert made.record.teams["t0"].forfeits == 4 and made.record.teams["t0"].paused == ""


def test_another_time_limit_begins_anew(tmp_path, instant, one_of_ours):
    made = opened(tmp_path / "p")
    instant.forfeits["1"] = "TIME OUT"
    play(made, [team(0)], 3)
    assert made.record.teams["t0"].paused
    instant.forfeits.clear()
    again = opened(tmp_path / "p", limit=5.0)
    play(again, [team(0)])
    one = again.record.teams["t0"]
    assert (one.paused, one.matches, len(again.record.practice_matches())) == ("", 1, 4)


def test_what_the_machine_breaks_off_is_no_forfeit_and_others_play_meanwhile(tmp_path, instant):
    made, teams = opened(tmp_path / "p"), [team(0), team(1)]
    instant.broken = {"team0.py"}
    failed = 0
    for _ in range(12):
        try:
            made.play_next(teams, lambda one: one.digest.encode(), [0], threading.Event())
        except MachineError:
            failed += 1
    assert 3 <= failed <= 9 and not made._under_way
    assert made.record.teams["t0"].matches == made.record.teams["t0"].forfeits == 0
    assert made.record.teams["t1"].matches == 12 - failed - sum(
        "t1" not in (match.pairing.first, match.pairing.second) for match in made.record.practice_matches()
    )
    assert not made.record.teams["t0"].paused


def test_a_match_that_is_broken_off_again_and_again_is_not_played_until_there_is_a_new_version(
    tmp_path, instant, one_of_ours
):
    made, stopping = opened(tmp_path / "p"), threading.Event()

    def play_on(one):
        failed = 0
        for _ in range(20):
            try:
                if not made.play_next([one], lambda team: team.digest.encode(), [0], stopping):
                    break
            except MachineError:
                failed += 1
        return failed

    instant.broken = {"team0.py"}
    ours = len(made.record.teams)
    assert ours == 1 and play_on(team(0)) == 3 and play_on(team(0)) == 0
    assert [(one.key, other.key) for one, other, _ in made.record.given_up()] == [("t0", "random")]
    made = opened(tmp_path / "p")  # as after a new start of the worker
    assert play_on(team(0)) == 0 and play_on(team(0, "2")) == 3
    assert len([*(tmp_path / "p" / "tries").iterdir()]) == 1  # nothing is kept of the former version
    instant.broken = set()
    play(made, [team(0, "3")], 2)
    assert made.record.teams["t0"].matches == 2 and not made.record.given_up()


def test_where_our_own_bots_cannot_play_either_no_try_counts(tmp_path, instant, one_of_ours, monkeypatch):
    def fail(*_, **__):
        raise MachineError("no memory is left.")

    made, instant.broken = opened(tmp_path / "p"), {"team0.py"}
    monkeypatch.setattr(broken_off, "play_match", fail)
    for _ in range(5):
        with pytest.raises(UnableError):
            made.play_next([team(0)], lambda one: b"1", [0], threading.Event())
    assert not made.record.tries.all()


def test_the_history_of_a_rating_has_its_last_value_in_each_period(tmp_path, instant):
    one = entered("t0")
    for hours, points in ((0, None), (0, 5.0), (1, 7.0), (4, 7.0), (5, 9.0), (5.5, None)):
        one = replace(one, points=points).after(one, hours * 3600)
    assert [*one.history] == [[3600, 7.0], [5 * 3600, 9.0]]
    assert [one.points_at(3600 * hours) for hours in (0.5, 1, 4.9, 5, 99)] == [None, 7.0, 7.0, 9.0, 9.0]
    many = one
    for hours in range(1000):
        many = replace(many, points=float(hours)).after(many, hours * 3600)
    assert len(many.history) == 57 and many.history[0] == [833 * 3600, 833.0]
    made = opened(tmp_path / "p")
    play(made, [team(0)], 2)
    assert made.record.teams["t0"].history[-1][1] == made.record.teams["t0"].points is not None
    made.record.teams["t0"] = replace(made.record.teams["t0"], history=[[0, -1.0]])
    play(made, [team(0, "2")])  # a new version
    assert made.record.teams["t0"].history[0] == [0, -1.0]
    assert opened(tmp_path / "p").record.teams["t0"].history == made.record.teams["t0"].history


# ---------------------------------------------------------------------------------------------
# Kills and the disk


def test_a_match_that_is_broken_off_leaves_nothing_and_is_played_again(tmp_path, instant):
    made, directory = opened(tmp_path / "p"), tmp_path / "p"
    instant.stop = True
    assert made.play_next([team(0)], lambda one: b"1", [0], threading.Event())
    assert not [*(directory / "matches").iterdir()] and made.record.teams["t0"].matches == 0
    instant.stop = False
    broken_off = instant.played[0]
    play(made, [team(0)])
    assert instant.played[1] == broken_off


def test_after_a_kill_it_goes_on(tmp_path, instant):
    made, directory = opened(tmp_path / "p"), tmp_path / "p"
    play(made, [team(0), team(1)], 5)
    names = {match.pairing.name for match in made.record.practice_matches()}
    for rubbish in ("matches/practice-6-t0-t1.json.tmp", "curves/practice-99-t0-t1.json", "curves/x.json.tmp"):
        (directory / rubbish).write_text("{")
    (directory / "curves" / f"{max(names)}.json").write_text("{}")
    facts = json.loads((directory / "practice.json").read_text())
    for facts_of_kill in (facts, {**facts, "next_number": 1}):  # written before the match, or after it
        (directory / "practice.json").write_text(json.dumps(facts_of_kill))
        again = opened(directory)
        assert again.record.teams == made.record.teams
        assert {file.name for file in (directory / "matches").iterdir()} == {f"{name}.json" for name in names}
        assert [file.stem for file in (directory / "curves").iterdir()] == [max(names)]
    play(again, [team(0), team(1)])
    assert {match.number for match in again.record.practice_matches()} == {1, 2, 3, 4, 5, 6}


def test_the_oldest_matches_are_deleted_beyond_the_cap(tmp_path, instant):
    made, directory = opened(tmp_path / "p", kept=4), tmp_path / "p"
    for number in range(1, 8):
        play(made, [team(0), team(1)])
        latest = made.record.practice_matches()[-1].pairing
        (directory / "curves" / f"{latest.name}.json").write_text("{}")
        assert latest.pool + 1 == number
    assert [match.number for match in made.record.practice_matches()] == [4, 5, 6, 7]
    for folder in ("matches", "curves"):
        assert sorted(int(file.name.split("-")[1]) for file in (directory / folder).iterdir()) == [4, 5, 6, 7]
    assert sum(bot.matches for bot in made.record.teams.values()) == 2 * 4
    assert len(made.record._played) == 4  # nothing of the others is kept in memory


def test_the_matches_of_a_team_that_leaves_are_deleted_and_numbers_never_used_again(tmp_path, instant):
    made = opened(tmp_path / "p")
    play(made, [team(0), team(1)], 9)
    play(made, [team(1)], 1)
    left = made.record.practice_matches()
    assert "t0" not in made.record.teams
    assert not any("t0" in (match.pairing.first, match.pairing.second) for match in left)
    assert not list((tmp_path / "p" / "matches").glob("*t0*"))
    assert max(match.number for match in left) == 10
    for file in (tmp_path / "p" / "matches").iterdir():
        file.unlink()
    again = opened(tmp_path / "p")
    play(again, [team(1)])
    assert [match.number for match in again.record.practice_matches()] == [11]


@pytest.mark.parametrize("text", ["{", "[]", '{"version": 9}', '{"version": 1, "time_limit": 1, "next_number": 1}'])
def test_a_damaged_league_is_a_sentence(tmp_path, instant, text):
    opened(tmp_path / "p")
    (tmp_path / "p" / "practice.json").write_text(text)
    with pytest.raises(ExtremeError, match="practice.json (is damaged|cannot be read)"):
        opened(tmp_path / "p")
    assert (tmp_path / "p" / "practice.json").read_text() == text


# ---------------------------------------------------------------------------------------------
# Ratings


def test_the_ratings_are_those_of_the_arena(tmp_path):
    bots, scores = [entered(key) for key in "abc"], np.zeros((3, 3))
    for number, (one, other) in enumerate([*itertools.permutations(range(3), 2), (0, 1), (2, 0)], start=1):
        write_match(tmp_path, number, "abc"[one], "abc"[other])
    record = league(tmp_path, bots)
    for match in record.practice_matches():
        one, other = ("abc".index(key) for key in (match.pairing.first, match.pairing.second))
        first, second = match.score.points
        scores[one, other] += 1 if first > second else 0.5 if first == second else 0
        scores[other, one] += 1 if first < second else 0.5 if first == second else 0
    found = ratings(scores)
    for at, key in enumerate("abc"):
        one = record.teams[key]
        assert (one.points, one.error) == (round(found.points[at], 1), round(found.errors[at], 1))
        assert one.won + one.drawn / 2 == scores[at].sum() and one.matches == (scores + scores.T)[at].sum()
    assert [one.points for one in record.teams.values()] == sorted((round(p, 1) for p in found.points), reverse=True)


def test_bots_without_connected_matches_have_no_rating(tmp_path):
    for number, pair in enumerate(["ab", "bc", "de"], start=1):
        write_match(tmp_path, number, *pair)
    record = league(tmp_path, [entered(key) for key in "edcbafg"])
    assert {key for key, one in record.teams.items() if one.points is not None} == {"a", "b", "c"}
    assert [*record.teams][3:] == ["e", "d", "f", "g"] and record.teams["d"].matches == 1
    assert results([], []) == []


def test_only_matches_of_the_latest_versions_with_the_same_limit_count(tmp_path):
    write_match(tmp_path, 1, "a", "b")
    write_match(tmp_path, 2, "a", "b", digests=("0", "1"))
    write_match(tmp_path, 3, "b", "a", digests=("1", "0"))
    write_match(tmp_path, 4, "b", "a", limit=9.0)
    write_match(tmp_path, 5, "b", "x")
    record = league(tmp_path, [entered("a"), entered("b")])
    assert [record.is_current(match) for match in record.practice_matches()] == [True, False, False, False]
    assert record.teams["a"].matches == 1


def test_a_forfeit_belongs_to_who_lost_by_it(tmp_path):
    for number in (1, 2):
        write_match(tmp_path, number, "a", "b", forfeits=True)
    record = league(tmp_path, [entered("a"), entered("b")])
    (loser,) = {match.forfeited_by for match in record.practice_matches()}
    assert {one.key: one.forfeits for one in record.teams.values()} == {
        "a": 2 * (loser == "a"),
        "b": 2 * (loser == "b"),
    }
    assert record.teams[loser].lost == 2 and not record.teams[loser].paused


# ---------------------------------------------------------------------------------------------
# Matches that are broken off, and our own bots


class Late(threading.Event):
    """Set when it has been asked so often."""

    def __init__(self, times):
        super().__init__()
        self.times = times

    def is_set(self):
        self.times -= 1
        return self.times < 0


@pytest.mark.parametrize("part, limit, looks", [("body", "time_limit", 10), ("init", "load_limit", 4)])
def test_a_match_is_broken_off_in_the_middle_of_a_move_and_while_a_bot_is_made(part, limit, looks):
    conditions = Conditions(walls=False, **{limit: PATIENCE})
    with pytest.raises(StoppedError):
        play_match((bot(**{part: "while True: pass"}), bot(file="team2.py")), conditions, stopping=Late(looks))


@pytest.mark.slow_but_one
@pytest.mark.parametrize("house", HOUSE_BOTS, ids=lambda house: house.key)
def test_our_bots_keep_to_any_time_limit(house):
    made = house.program(0.5, walls=False)
    space = {}
    exec(made.source, space)
    player = next(value for name, value in space.items() if name.startswith("Team"))
    assert made.trusted and getattr(player, "seconds", 0.25) == 0.25
    assert getattr(player, "deepest", None) == house.settings.get("deepest", getattr(player, "deepest", None))
    exec(house.program(100.0, walls=False).source, space)
    player = next(value for name, value in space.items() if name.startswith("Team"))
    assert getattr(player, "seconds", None) == house.seconds
    assert house.digest(made) != house.digest(replace(made, source=made.source + "#"))


@pytest.mark.slow
def test_our_bots_play_and_the_deeper_one_wins():
    """The search of two plies never loses to random moves; a real bot at its time limit would depend on the machine."""
    conditions = Conditions(time_limit=PATIENCE, walls=False)
    weak, middle = (house.program(2.0, walls=False) for house in (HOUSE_BOTS[0], HOUSE_BOTS[3]))
    for side in (0, 1):
        match = play_match((weak, middle)[:: 1 - 2 * side], conditions)
        assert match.message == "WON" and match.winner == ("P2", "P1")[side]
