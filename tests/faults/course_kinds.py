"""Agents and bots for ``tests/faults/course.py``: what teams hand in beside strategies, and what must be true.

Every fifth team also submits agents, which play each other, every tenth one bots, to a further league, whose tournament
begins while processes are killed.  The programs are simple, so that equal ones must get equal scores, whenever
their judgement was killed.
"""

from __future__ import annotations

import hashlib
import os
import sqlite3
from collections import Counter, defaultdict
from contextlib import closing, suppress
from datetime import UTC, datetime

import yaml
from sqlalchemy import select

from pttt_ooc.course.agents.standings import playing_agents
from pttt_ooc.course.bots.league import League, LeagueSettings, league_directory, open_league
from pttt_ooc.course.data.agents_tables import Agent, AgentMatch
from pttt_ooc.course.data.models import ACCEPTED, REJECTED, UNFINISHED, Team
from pttt_ooc.course.data.term_tables import Assignment, GradeRow
from pttt_ooc.other_games.extreme.match import check_walls
from pttt_ooc.other_games.extreme.tournament_record import Record
from pttt_ooc.other_games.extreme.walls import ExtremeError

AGENTS, BOTS = "agents", "cup"
_AGENT = "def choose(legal, state):\n    return legal[{which} % len(legal)]\n# {n}\n"
_WRONG_AGENT = "def choose(legal, state):\n    raise ValueError('no move')\n# {n}\n"
_BOT = (
    "class Team:\n    def move(self, board, old_move, flag):\n"
    "        cells = board.find_valid_move_cells(old_move)\n        return cells[{which} % len(cells)]\n# {n}\n"
)
_WRONG_BOT = "class Team:\n    def move(self, board, old_move, flag):\n        raise ValueError('no move')\n# {n}\n"
_WRONG_EVERY = 5
_POINTS, _MARKS = 40.0, 10.0


def walls():
    """Whether programs of strangers can be shut in on this machine."""
    try:
        check_walls()
    except ExtremeError:
        return False
    return True


def assignments():
    """The lines of ``course.yaml`` for both."""
    settings = f"{{game: 'mnk:3x3+need3', opponents: [random], games: 2, league: 2, sandbox: {str(walls()).lower()}}}"
    return f"""- name: {AGENTS}
  kind: agents
  rule: {{kind: formula, formula: "{_POINTS:.0f} * score", points: {_POINTS}}}
  settings: {settings}
- name: {BOTS}
  kind: bots
  rule: {{kind: formula, formula: marks, points: {_MARKS}}}
  settings: {{league: {BOTS}}}
"""


def open_cup(data):
    """Make the further league, without a tournament."""
    directory = league_directory(data, BOTS)
    directory.mkdir(parents=True)
    limits = {"bots_per_hour": 100_000, "waiting_per_team": 1_000, "memory_mb": 256}
    rules = {"pools": (1,), "qualify": (1,), "marks": (_MARKS,), "time_limit": 60, "sandbox": walls()}
    open_league(directory, LeagueSettings(**limits, **rules))


def has_players(data):
    """Whether two teams have bots that play."""
    return len({team for _, team, status, *_ in rows_of_bots(data) if status == ACCEPTED}) > 1


def begin_tournament(data):
    """Let the tournament begin now; the league's worker sees that when it starts."""
    file = league_directory(data, BOTS) / "extreme.yaml"
    content = {**yaml.safe_load(file.read_text()), "begins": datetime.now(UTC).isoformat()}
    aside = file.with_suffix(".new")
    aside.write_text(yaml.safe_dump(content))
    os.replace(aside, file)


def programs(kind, team):
    """The programs of a team, without end: number of the kind of play (None: it fails), and content."""
    right, wrong = (_AGENT, _WRONG_AGENT) if kind == AGENTS else (_BOT, _WRONG_BOT)
    number = 0
    while True:
        number += 1
        which = None if number % _WRONG_EVERY == 2 else (team + number) % 4
        text = wrong if which is None else right
        yield which, text.format(which=which, n=f"{team}, {number}").encode()


def address(kind):
    """Where a kind is handed in, and the key of its number in the answer."""
    return f"/api/agents/{AGENTS}" if kind == AGENTS else f"/api/leagues/{BOTS}/bots"


def rows_of_bots(data):
    """All bots: number, team, status, message, digest of the content."""
    file = League(league_directory(data, BOTS)).database
    if not file.is_file():
        return []
    with closing(sqlite3.connect(file, timeout=60)) as database:
        found = database.execute("SELECT id, team_id, status, message, content FROM bots ORDER BY id").fetchall()
    return [(*row, hashlib.sha256(content).hexdigest()) for *row, content in found]


def played(data):
    """The digest of each match of the tournament."""
    found = {}
    for file in sorted((league_directory(data, BOTS) / "extreme" / "matches").glob("*.json")):
        with suppress(FileNotFoundError):
            found[file.name] = hashlib.sha256(file.read_bytes()).hexdigest()
    return found


def final(database, data):
    """What must never change once it is there, by what it is: verdicts of agents and bots, and matches."""
    with database.reading() as session:
        agents = session.execute(select(Agent.id, Agent.status, Agent.message, Agent.score)).all()
        matches = session.execute(
            select(AgentMatch.first_id, AgentMatch.second_id, AgentMatch.wins, AgentMatch.draws, AgentMatch.losses)
        ).all()
    ended = (ACCEPTED, REJECTED)
    return {
        "verdict on agent": {n: tuple(rest) for n, *rest in agents if rest[0] in ended},
        "match of agents": {(a, b): tuple(rest) for a, b, *rest in matches},
        "verdict on bot": {n: tuple(rest) for n, _, *rest in rows_of_bots(data) if rest[0] in ended},
        "match of the tournament": played(data),
    }


def waiting(database, data):
    """How much is still to be judged or played."""
    with database.reading() as session:
        agents = sum(row.unfinished for row in session.scalars(select(Agent)))
        missing = len(_missing(session, data))
    bots = sum(status in UNFINISHED for _, _, status, *_ in rows_of_bots(data))
    return agents + missing + bots + _unplayed(data)


def _missing(session, data):
    """Pairs of the agents that play now which have not met."""
    assignment = session.scalar(select(Assignment).where(Assignment.name == AGENTS))
    playing = sorted(playing_agents(session, data, assignment).values())
    met = {(one.first_id, one.second_id) for one in session.scalars(select(AgentMatch))}
    return {(a, b) for a in playing for b in playing if a < b} - met


def _unplayed(data):
    """Matches of the tournament that are missing; 1 until it begins."""
    league = League(league_directory(data, BOTS))
    try:
        record = Record(league.tournament)
    except ExtremeError:
        return int(league.settings.has_begun)
    return len(record.state().waiting)


def checked(database, storage, confirmed):
    """Counts of all that is not as it must be.

    Parameters
    ----------
    confirmed
        Of each program that was confirmed: the kind, its number, the team, the kind of play, the content.
    """
    data = storage.data
    with database.reading() as session:
        agents = {row.id: row for row in session.scalars(select(Agent))}
        missing = _missing(session, data)
        names = {team.name: team.id for team in session.scalars(select(Team))}
        grades = {
            (row.team_id, name): row.points
            for row, name in session.execute(select(GradeRow, Assignment.name).join(Assignment).order_by(GradeRow.id))
        }
    bots = {n: (team, status, digest) for n, team, status, _, digest in rows_of_bots(data)}
    scores, lost, damaged, wrong = defaultdict(set), 0, 0, 0
    best = defaultdict(float)
    for kind, number, team, which, content in confirmed:
        there = agents if kind == AGENTS else bots
        if number not in there:
            lost += 1
            continue
        if kind == AGENTS:
            row = agents[number]
            owner, status = row.team_id, row.status
            damaged += storage.upload(row.file).read_bytes() != content
            if which is not None:
                scores[which].add(row.score)
                best[owner] = max(best[owner], _POINTS * (row.score or 0.0))
        else:
            owner, status, digest = bots[number]
            damaged += digest != hashlib.sha256(content).hexdigest()
        wrong += status != (REJECTED if which is None else ACCEPTED) or owner != names[team]
    record = Record(league_directory(data, BOTS) / "extreme")
    pairs = Counter(frozenset((match.pairing.first, match.pairing.second)) for match in record.all_played())
    marks = [points for (_, name), points in grades.items() if name == BOTS]
    return {
        "programs_lost": lost,
        "programs_damaged": damaged,
        "programs_wrong": wrong,
        "programs_twice": len(agents) + len(bots) - len(_distinct(agents, bots)),
        "equal_programs_with_other_scores": sum(len(found) > 1 for found in scores.values()),
        "agents_that_have_not_met": len(missing),
        "wrong_grades_of_agents": sum(
            abs(grades.get((team, AGENTS), 0.0) - points) > 0.011 for team, points in best.items()
        ),
        "pairings_not_played_twice": sum(count != 2 for count in pairs.values()),
        "pairings_missing": len(record.teams) * (len(record.teams) - 1) // 2 - len(pairs),
        "wrong_marks": int(max(marks, default=0.0) != _MARKS),
    }


def _distinct(agents, bots):
    return {(row.team_id, row.digest) for row in agents.values()} | {
        ("bot", team, digest) for team, _, digest in bots.values()
    }
