"""The league: pools, standings and ties; and tournaments that are killed."""

import csv
import json
import os
import re
import signal
import subprocess
import sys
import threading
from collections import Counter
from contextlib import closing
from itertools import combinations
from pathlib import Path

import pytest

from pttt_ooc.cli.commands import main
from pttt_ooc.disk.files import atomic_write_text
from pttt_ooc.disk.tries import KILLED
from pttt_ooc.other_games.extreme import broken_off, cores, league, tournament
from pttt_ooc.other_games.extreme.bot_process import Conditions, MissingModuleError
from pttt_ooc.other_games.extreme.clock import StoppedError
from pttt_ooc.other_games.extreme.league import COURSE, Pairing, Score, Stage
from pttt_ooc.other_games.extreme.match import BotMatch
from pttt_ooc.other_games.extreme.settings import Terms
from pttt_ooc.other_games.extreme.terminal import display
from pttt_ooc.other_games.extreme.tournament_record import Record
from pttt_ooc.other_games.extreme.walled_process import MachineError
from pttt_ooc.other_games.extreme.walls import ExtremeError
from tests.kits.patience import wait_until
from tests.other_games.extreme.bot_kit import bot_text, walls_missing

TEAMS = [f"team{n}" for n in range(100)]
GROUP, SEMI, FINAL = COURSE


def test_the_stages_are_the_courses():
    assert [(stage.pools, stage.qualify, stage.marks) for stage in COURSE] == [(10, 3, 30), (3, 3, 10), (1, 3, 10)]
    league.check_sizes(COURSE, 100)


@pytest.mark.parametrize(
    "pools, names", [((5, 2, 1), ["group", "semi-final", "final"]), ((5, 1), ["group", "final"]), ((1,), ["final"])]
)
def test_fewer_stages_begin_with_the_group_stage_and_end_with_the_final(pools, names):
    numbers = [*range(1, 1 + len(pools))]
    stages = display.read_stages(*(",".join(map(str, one)) for one in (pools, numbers, numbers)))
    assert stages == Terms(pools=pools, qualify=numbers, marks=numbers).stages
    assert [(one.name, one.pools, one.qualify, one.marks) for one in stages] == [
        (name, count, number, number) for name, count, number in zip(names, pools, numbers, strict=True)
    ]


@pytest.mark.parametrize(
    ("key", "least", "less", "most", "more"),
    [
        ("seed", 0, -1, 2**63, 2**63 + 1),
        ("time_limit", 0.001, 0.0009, 86400, 86401),
        ("load_limit", 0.1, 0.09, 86400, 86401),
        ("memory_mb", 64, 63, 10**6, 10**6 + 1),
    ],
)
def test_terms_have_bounds(key, least, less, most, more):
    for value in (least, most):
        assert getattr(Terms(**{key: value}), key) == value
    for value in (less, more):
        with pytest.raises(ValueError, match=key):
            Terms(**{key: value})


@pytest.mark.parametrize(
    ("pools", "stages"), [("1", COURSE[2:]), ("2,1", (COURSE[0], COURSE[2])), ("10,3,1", COURSE), ("9,2,1", COURSE)]
)
def test_pools_alone_have_the_numbers_of_the_courses_stages(pools, stages):
    found = display.read_stages(pools, None, None)
    assert [(one.name, one.qualify, one.marks) for one in found] == [(s.name, s.qualify, s.marks) for s in stages]
    assert [one.pools for one in found] == [int(number) for number in pools.split(",")]
    with pytest.raises(ExtremeError, match="a number for each stage"):
        display.read_stages(pools, "3,3,3,3", None)


def test_the_pools_are_drawn_by_the_seed_alone():
    pools = [
        league.first_pools(league.lots(order, seed), GROUP)
        for order, seed in ((TEAMS, 1), (TEAMS[::-1], 1), (TEAMS, 2))
    ]
    assert pools[0] == pools[1] != pools[2]
    assert sorted(sum(pools[0], [])) == sorted(TEAMS) and {len(pool) for pool in pools[0]} == {10}
    sizes = sorted(len(pool) for pool in league.first_pools(league.lots(TEAMS[:34], 1), GROUP))
    assert sizes == [3] * 6 + [4] * 4 == sorted(league.pool_sizes(34, 10))


def test_every_pair_of_a_pool_plays_twice_and_each_begins_once():
    pools = [["a", "b", "c"], ["d", "e"]]
    found = league.pairings(SEMI, pools)
    assert Counter((p.pool, p.first, p.second) for p in found) == Counter(
        (number, *pair)
        for number, pool in enumerate(pools)
        for one, two in combinations(pool, 2)
        for pair in ((one, two), (two, one))
    )
    assert len({p.name for p in found}) == len(found)


def lots_of(teams):
    return {team: lot for lot, team in enumerate(teams)}


def table_of(results, teams="abc", stage=SEMI, lot=None):
    scores = [Score(Pairing(stage.name, 0, *pair), points) for pair, points in results]
    return league.standings(stage, 0, list(teams), scores, lot or lots_of(teams))


def test_scores_and_marks_relative_to_the_best_of_the_pool():
    table = table_of([("ab", (86, 0)), ("ba", (40, 30)), ("ac", (43, 43)), ("ca", (0, 86)), ("bc", (86, 0))])
    rows = [(row.team, row.rank, row.score, row.won, row.drawn, row.lost, row.against) for row in table.rows]
    assert rows == [("a", 1, 245, 2, 1, 1, 83), ("b", 2, 126, 2, 0, 1, 116), ("c", 3, 43, 0, 1, 2, 215)]
    assert [row.marks for row in table.rows] == [10, round(10 * 126 / 245, 2), round(10 * 43 / 245, 2)]
    assert (table.played, table.matches) == (5, 6)


def test_ties_are_broken_by_wins_then_between_the_tied_then_by_lot():
    by_wins = table_of([("ab", (40, 44)), ("bc", (40, 44)), ("ac", (44, 0)), ("ca", (40, 0))], lot=dict(a=0, b=1, c=2))
    assert [(row.team, row.score, row.won) for row in by_wins.rows] == [("c", 84, 2), ("b", 84, 1), ("a", 84, 1)]
    between = table_of([("ab", (0, 86)), ("ac", (86, 0)), ("bc", (0, 86))], lot=dict(a=0, b=1, c=2))
    assert [row.team for row in between.rows] == ["a", "b", "c"]  # all beat one another: the lot
    direct = table_of(
        [("ab", (0, 86)), ("ac", (86, 0)), ("ad", (0, 0)), ("bd", (0, 86)), ("cd", (0, 0))], "abcd", lot=lots_of("abcd")
    )
    assert [row.score for row in direct.rows] == [86, 86, 86, 0]
    assert [row.team for row in direct.rows][:3] == ["b", "d", "a"]
    lot = table_of([], lot=dict(a=2, b=0, c=1))
    assert [row.team for row in lot.rows] == ["b", "c", "a"] and lot.rows[0].marks == 0


def test_two_that_are_tied_are_ordered_by_their_own_matches():
    results = [("ab", (0, 86)), ("ba", (43, 43)), ("ac", (86, 0)), ("ca", (0, 43)), ("bc", (0, 86)), ("cb", (0, 43))]
    table = table_of(results, lot=dict(a=0, b=1, c=2))
    assert [(row.team, row.score, row.won) for row in table.rows[:2]] == [("b", 172, 2), ("a", 172, 2)]


def test_the_first_teams_qualify_and_are_dealt_to_and_fro():
    stage = Stage("group", 3, 2, 30)
    tables = []
    for number, pool in enumerate(("abc", "def", "ghi")):
        scores = [
            Score(Pairing("group", number, one, two), (80 - 10 * number, 10)) for one, two in combinations(pool, 2)
        ]
        tables.append(league.standings(stage, number, list(pool), scores, lots_of("abcdefghi")))
    assert [[row.team for row in table.rows if row.qualified] for table in tables] == [
        ["a", "b"],
        ["d", "e"],
        ["g", "h"],
    ]
    pools = league.next_pools(tables, Stage("semi-final", 2, 2, 10), lots_of("abcdefghi"))
    assert pools == [["a", "b", "e"], ["d", "g", "h"]]


def test_who_played_more_matches_is_not_the_better_for_it():
    """A team of a large pool has more points, one of a small pool more for each match."""
    tables = []
    for number, (pool, points) in enumerate((("abcd", 40), ("efg", 50))):
        scores = [Score(Pairing("group", number, pool[0], other), (points, 0)) for other in pool[1:]]
        tables.append(league.standings(Stage("group", 2, 1, 30), number, list(pool), scores, lots_of("abcdefg")))
    assert [table.rows[0].score for table in tables] == [120, 100]
    assert league.next_pools(tables, Stage("final", 1, 1, 10), lots_of("abcdefg")) == [["e", "a"]]


@pytest.mark.parametrize(
    "teams, stages", [(19, COURSE), (3, (Stage("group", 2, 1, 1),)), (4, (Stage("g", 2, 1, 1), Stage("f", 2, 1, 1)))]
)
def test_too_few_teams_are_a_sentence(teams, stages):
    with pytest.raises(ExtremeError, match="--pools"):
        league.check_sizes(stages, teams)


@pytest.mark.parametrize(
    "pools, qualify, marks",
    [
        ("a", "1", "1"),
        ("2,1", "1", "1,1"),
        ("2", "1", "1"),
        ("1", "0", "1"),
        ("1", "1", "nan"),
        ("4,3,2,1", "1,1,1,1", "1,1,1,1"),
    ],
)
def test_bad_options_are_a_sentence(pools, qualify, marks):
    with pytest.raises(ExtremeError):
        display.read_stages(pools, qualify, marks)


# ---------------------------------------------------------------------------------------------
# Tournaments


def hand_in(directory, teams):
    """Deterministic bots, all different."""
    directory.mkdir()
    for n in range(teams):
        body = (
            "cells = board.find_valid_move_cells(old_move)\n"
            f"return cells[({n + 3} * len(cells) + {2 * n + 1} * old_move[1] + {n} * old_move[2]) % len(cells)]"
        )
        (directory / f"team{n}.py").write_text(bot_text(body, name=f"Team{n}"))
    return directory


def options(directory, out, *more, walls=False):
    given = ("--output", str(out), "--seed", "5", "--python", "3", *([] if walls else ["--no-sandbox"]))
    return ["tournament", str(directory), *given, *more]


SMALL = ("--pools", "2,1", "--qualify", "2,2", "--marks", "30,10", "--time-limit", "60")


def standings(out):
    return [(out / name).read_bytes() for name in ("standings.json", "standings.csv", "marks.csv")]


def run(*arguments):
    with pytest.raises(SystemExit) as end:
        main(["extreme", *arguments])
    return end.value.code or 0


def killed_after(matches, arguments, out):
    """Play a tournament and kill it when it has written so many more matches; the names of all that were written."""
    before = len(list((out / "matches").glob("*.json"))) if out.exists() else 0
    process = subprocess.Popen(
        [Path(sys.executable).with_name("pttt"), "extreme", *arguments], stderr=subprocess.DEVNULL
    )
    wait_until(
        lambda: len(list((out / "matches").glob("*.json"))) >= before + matches, alive=lambda: process.poll() is None
    )
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    return {file.name: file.stat().st_mtime_ns for file in (out / "matches").glob("*.json")}


def play_killed_and_whole(tmp_path, teams, more, kills, wanted):
    """A tournament, and the same one killed each time that so many more matches are over."""
    bots, walls = hand_in(tmp_path / "bots", teams), not walls_missing()
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    assert run(*options(bots, whole, *more, walls=walls)) == 0
    times = {}
    for matches in kills:
        times |= killed_after(matches, options(bots, killed, *more, walls=walls), killed)
    assert sum(kills) <= len(times) < wanted
    assert run(*options(bots, killed, *more, walls=walls)) == 0
    after = {file.name: file.stat().st_mtime_ns for file in (killed / "matches").glob("*.json")}
    assert len(after) == wanted and times.items() <= after.items()  # none was played twice
    assert standings(whole) == standings(killed)
    for file in (whole / "matches").glob("*.json"):
        one, two = json.loads(file.read_text()), json.loads((killed / "matches" / file.name).read_text())
        assert [move["cell"] for move in one["moves"]] == [move["cell"] for move in two["moves"]]
    return whole


@pytest.mark.long
def test_a_tournament_that_is_killed_ends_as_one_that_is_not(tmp_path):
    whole = play_killed_and_whole(tmp_path, 5, SMALL, [7], 6 + 2 + 12)
    tables = json.loads((whole / "standings.json").read_text())
    assert [(table["stage"], table["matches"], table["played"]) for table in tables] == [
        ("group", 6, 6),
        ("group", 2, 2),
        ("final", 12, 12),
    ]
    logs = [json.loads(file.read_text()) for file in (whole / "matches").glob("*.json")]
    points = Counter()
    for log in logs:
        assert log["plies"] == len(log["moves"]) > 0 and all(move["seconds"] >= 0 for move in log["moves"])
        if log["stage"] == "final":
            points[log["first"]] += log["points"][0]
            points[log["second"]] += log["points"][1]
    final = tables[-1]["rows"]
    assert {row["team"]: row["score"] for row in final} == points
    with open(whole / "marks.csv", newline="") as file:
        marks = {row["team"]: row for row in csv.DictReader(file)}
    assert set(marks) == {f"team{n}" for n in range(5)}
    best = max(row["score"] for row in final)
    assert all(float(marks[row["team"]]["final"]) == round(10 * row["score"] / best, 2) for row in final)


@pytest.mark.full
def test_the_courses_tournament_of_30_bots_that_is_killed_twice_ends_as_one_that_is_not(tmp_path):
    play_killed_and_whole(tmp_path, 30, ("--time-limit", "0.2"), [20, 200], 60 + 270 + 72)


class Instant:
    """In place of `play_match`: the first team wins, or the machine fails."""

    def __init__(self):
        self.cores, self.fail, self.breaks_off, self.kind = [], False, None, MachineError

    def __call__(self, programs, conditions, stopping):
        if self.fail:
            raise ExtremeError("No process can be made.")
        if self.breaks_off in [one.name for one in programs]:
            raise self.kind("SIGKILL.")
        self.cores.append(conditions.core)
        return BotMatch((programs[0].name, programs[1].name), "P1", "WON", points=(86, 0))


@pytest.fixture
def instant(monkeypatch):
    found = Instant()
    monkeypatch.setattr(tournament, "play_match", found)
    return found


@pytest.mark.slow
def test_the_bots_are_stored_as_they_were_handed_in(tmp_path, instant, capsys):
    bots = hand_in(tmp_path / "bots", 4)
    content = b"class Team0:\r\n\tdef move(self, b, o, f):\r\n\t\tprint 'x'\r\n"
    (bots / "team0.py").write_bytes(content)
    assert run(*options(bots, tmp_path / "out", *SMALL, "--json", "--python", "2")) == 0
    assert (tmp_path / "out" / "bots" / "team0.py").read_bytes() == content
    found = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert len(found["winners"]) == 2 and found["matches"] == 2 + 2 + 12 and found["seed"] == 5


def test_no_two_matches_share_a_core(tmp_path, instant, monkeypatch):
    monkeypatch.setattr(cores, "free_cores", lambda: [0, 7])
    assert run(*options(hand_in(tmp_path / "bots", 4), tmp_path / "out", *SMALL)) == 0
    assert set(instant.cores) <= {0, 7}
    assert run(*options(tmp_path / "bots", tmp_path / "out", *SMALL, "--workers", "3")) == 1
    assert set(cores.free_cores()) <= {0, 7}


def test_no_more_matches_are_played_at_once_than_memory_holds(tmp_path, instant, monkeypatch, capsys):
    monkeypatch.setattr(cores, "free_cores", lambda: [0, 3, 7])
    monkeypatch.setattr(cores, "available_bytes", lambda: 2 * 2 * (1000 << 20) + 5)
    assert [cores.cores_with_memory(size) for size in (666, 1000, 1001, 9999)] == [[0, 3, 7], [0, 3], [0], [0]]
    bots, out = hand_in(tmp_path / "bots", 4), tmp_path / "out"
    assert run(*options(bots, out, *SMALL, "--memory-mb", "1001")) == 0
    assert set(instant.cores) == {0}
    assert "holds 1 matches at a time; there are 3 cores" in capsys.readouterr().err
    assert run(*options(bots, out, *SMALL, "--memory-mb", "1001", "--workers", "2")) == 1
    assert "holds 1 matches at a time, of two bots with 1001 MB" in capsys.readouterr().err


class SeenLate(threading.Event):
    """An event that its first thread sees one look late, as if it were set meanwhile."""

    def is_set(self):
        found = super().is_set()
        if found and threading.current_thread() is threading.main_thread() and not hasattr(self, "seen"):
            self.seen, found = True, False
        return found


def test_a_tournament_that_is_stopped_during_a_match_ends_without_a_word(tmp_path, monkeypatch):
    """A match that is broken off has no result that could be told."""
    stopping, told = SeenLate(), []

    def broken_off(programs, conditions, stopping):
        stopping.set()
        raise StoppedError

    monkeypatch.setattr(tournament, "play_match", broken_off)
    entries = [tournament.Entry(f"team{n}", f"Team {n}", f"team{n}.py", bot_text().encode(), 3) for n in (1, 2)]
    settings = tournament.TournamentSettings((Stage("final", 1, 1, 10),), 4, Conditions(walls=False))
    with closing(tournament.Tournament(tmp_path / "out", entries, settings)) as played:
        played.play([0], lambda *found: told.append(found), stopping)
    assert not told and not list((tmp_path / "out" / "matches").glob("*.json"))


def test_a_match_that_the_machine_breaks_off_keeps_no_other_from_being_played(tmp_path, instant, capsys, monkeypatch):
    bots, out = hand_in(tmp_path / "bots", 4), tmp_path / "out"
    instant.breaks_off = "team2.py"
    monkeypatch.setattr(broken_off, "check_machine", lambda *_: None)
    assert run(*options(bots, out, *SMALL)) == 1
    told = capsys.readouterr().err
    match = r"The match group-\d-(team2-team\d|team\d-team2) was broken off, in try 1 of 4: SIGKILL\."
    assert re.search(f"{match} After the last one it is drawn by rule\\.", told)
    names = sorted(file.name for file in (out / "matches").glob("*.json"))
    assert len(names) == 2 and not any("team2" in name for name in names)
    instant.breaks_off = None
    assert run(*options(bots, out, *SMALL)) == 0
    assert not [*(out / "tries").iterdir()]
    logs = {file.stem: json.loads(file.read_text()) for file in (out / "matches").glob("group*.json")}
    assert all(log["broken_off"] == ["SIGKILL."] * ("team2" in name) for name, log in logs.items())


@pytest.mark.slow_but_one
@pytest.mark.parametrize("kind", [MachineError, OSError, MissingModuleError])
def test_no_bot_holds_up_the_tournament_and_after_the_last_try_a_match_is_drawn_by_rule(
    tmp_path, instant, capsys, monkeypatch, kind
):
    """The kinds are what a process does that is killed, what nobody foresaw, and a module that is not installed."""
    controls = []
    monkeypatch.setattr(broken_off, "check_machine", lambda conditions, stopping: controls.append(conditions))
    bots, out = hand_in(tmp_path / "bots", 4), tmp_path / "out"
    instant.breaks_off, instant.kind = "team2.py", kind
    assert [run(*options(bots, out, *SMALL)) for _ in range(7)] == [1] * 6 + [0]  # two stages
    assert controls and "NOT PLAYED after 0 moves" in capsys.readouterr().err
    logs = {file: json.loads(file.read_text()) for file in (out / "matches").glob("*team2*.json")}
    assert len(logs) == 2 + 6
    for log in logs.values():
        assert (log["message"], log["winner"], log["points"], log["moves"]) == ("NOT PLAYED", "NONE", [43, 43], [])
        assert len(log["broken_off"]) == 4 and "neither bot is to blame" in log["detail"] and "SIGKILL" in log["detail"]
    record = Record(out)
    rows = [row for table in record.state().tables for row in table.rows if row.team == "team2"]
    assert [(row.won, row.drawn, row.lost, row.score) for row in rows] == [(0, 2, 0, 86), (0, 6, 0, 258)]
    assert {name for name, found in record.tries.all().items() if found.decided} == {file.stem for file in logs}
    file = next(file for file in logs if file.stem.startswith("final"))
    file.unlink()  # who deletes its file has it played again
    instant.breaks_off = None
    assert run(*options(bots, out, *SMALL)) == 0
    assert json.loads(file.read_text())["message"] == "WON" and file.stem not in Record(out).tries.all()


def test_where_not_even_our_own_bots_can_play_nothing_is_decided(tmp_path, instant, monkeypatch, capsys):
    def fail(*_, **__):
        raise MachineError("no memory is left.")

    bots, out = hand_in(tmp_path / "bots", 4), tmp_path / "out"
    for module in (tournament, broken_off):
        monkeypatch.setattr(module, "play_match", fail)
    for _ in range(2):
        assert run(*options(bots, out, *SMALL, "--workers", "1")) == 1
    assert "This machine can run no bots now, not even our own: no memory is left." in capsys.readouterr().err
    assert not list((out / "matches").glob("*.json")) and not Record(out).tries.all()
    for pairing in Record(out).state().waiting[:1]:  # its process was killed each time, so that nobody could look
        atomic_write_text(
            out / "tries" / f"{pairing.name}.json", json.dumps({"reasons": [KILLED] * 4, "decided": False})
        )
    assert run(*options(bots, out, *SMALL, "--workers", "1")) == 1 and not list((out / "matches").glob("*.json"))
    monkeypatch.setattr(tournament, "play_match", instant)
    monkeypatch.setattr(broken_off, "play_match", lambda *_, **__: None)
    assert run(*options(bots, out, *SMALL)) == 0
    assert capsys.readouterr().err.count("NOT PLAYED") == 1


def test_other_bots_or_another_seed_are_refused(tmp_path, instant, capsys):
    bots, out = hand_in(tmp_path / "bots", 4), tmp_path / "out"
    assert run(*options(bots, out, *SMALL)) == 0
    before = standings(out)
    assert run(*options(bots, out, *SMALL, "--seed", "6")) == 1
    assert "other seed" in capsys.readouterr().err
    (bots / "team1.py").write_text(bot_text(name="Team1"))
    assert run(*options(bots, out, *SMALL)) == 1
    assert "other bots" in capsys.readouterr().err
    assert standings(out) == before


def test_a_tournament_is_played_by_one_process_at_a_time(tmp_path, instant, capsys):
    bots, out = hand_in(tmp_path / "bots", 4), tmp_path / "out"
    assert run(*options(bots, out, *SMALL)) == 0
    with open(out / "lock", "ab") as lock:
        tournament.hold.__globals__["lock_open"](lock)
        assert run(*options(bots, out, *SMALL)) == 1
    assert "is being played (process " in capsys.readouterr().err


def test_a_damaged_log_is_a_sentence(tmp_path, instant, capsys):
    bots, out = hand_in(tmp_path / "bots", 4), tmp_path / "out"
    assert run(*options(bots, out, *SMALL)) == 0
    log = next((out / "matches").glob("*.json"))
    log.write_text("{")
    assert run(*options(bots, out, *SMALL)) == 1
    assert "is damaged; delete it" in capsys.readouterr().err
    log.unlink()
    assert run(*options(bots, out, *SMALL)) == 0


def test_a_tournament_of_an_older_release_is_read_but_not_played_on(tmp_path, instant):
    bots, out = hand_in(tmp_path / "bots", 4), tmp_path / "out"
    assert run(*options(bots, out, *SMALL)) == 0
    told = json.loads((out / "tournament.json").read_text())
    for team in told["teams"].values():
        del team["python"]
    (out / "tournament.json").write_text(json.dumps(told))
    record = Record(out)
    state = record.state()
    assert len(state.played) == 2 + 2 + 12
    with pytest.raises(ExtremeError, match="was begun by an older release"):
        tournament.Player(record).play(state.played[0].pairing, cores.free_cores())


def test_a_directory_without_bots_is_a_sentence(tmp_path, capsys):
    assert run("tournament", str(tmp_path)) == 1
    assert "holds no bots" in capsys.readouterr().err
