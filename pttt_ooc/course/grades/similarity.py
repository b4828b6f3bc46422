"""Submissions of different teams that are alike, for people with rights: a hint, not a verdict.

Strategies are compared by the worker.  Bots and agents are compared here, by normalised tokens of their code: winnowing
(Schleimer, Wilkerson, Aiken, SIGMOD 2003).  Names, numbers, texts, comments and white space make no difference: only
the kinds of a file's tokens are compared.  Every run of :data:`GRAM` + :data:`WINDOW` - 1 tokens that two files share
is found.  What a file shares with the code that everybody has, because the package or the course hands it out, is
counted separately.
"""

from __future__ import annotations

import keyword
import re
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import chain, combinations
from pathlib import Path
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from pttt_ooc.course.bots.league import league_directory
from pttt_ooc.course.bots.submissions import open_bots
from pttt_ooc.course.data.agents_tables import Agent
from pttt_ooc.course.data.assignments import all_assignments, further_leagues
from pttt_ooc.course.data.game_directory import sessions_of_games
from pttt_ooc.course.data.models import ACCEPTED, Submission, Team
from pttt_ooc.course.data.names import readable_name
from pttt_ooc.course.data.rules import AGENTS, BOTS, STRATEGIES
from pttt_ooc.course.data.storage import Storage
from pttt_ooc.course.data.term_tables import Likeness

GRAM, WINDOW = 24, 8
NEAR = 0.4
"""Two files are reported if they share at least this part of their code."""

FOLDER = "handed-out"
"""The directory in a course's directory with code that it hands out itself."""

_TOKEN = re.compile(
    r"(?P<comment>\#[^\n]*)"
    r"|(?P<text>[A-Za-z]{0,2}(?:\"\"\"(?:[^\\]|\\.)*?\"\"\"|'''(?:[^\\]|\\.)*?'''"
    r"|\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*'))"
    r"|(?P<number>\d[\w.]*)"
    r"|(?P<name>[^\W\d]\w*)"
    r"|(?P<sign>[^\w\s])",
    re.DOTALL,
)
_KEPT = {*keyword.kwlist, "print", "exec", "range", "xrange", "len"}


def tokens(source: str) -> list[str]:
    """The normalised tokens of a program in Python 2 or 3: keywords and signs, and one for names, numbers and texts."""
    found = []
    for match in _TOKEN.finditer(source):
        kind, text = match.lastgroup, match[0]
        if kind == "name":
            found.append(text if text in _KEPT else "n")
        elif kind != "comment":
            found.append({"text": "t", "number": "0"}.get(kind or "", text))
    return found


def fingerprints(source: str) -> frozenset[int]:
    """The fingerprints of a program: the least hash of each window of runs of tokens."""
    found = tokens(source)
    runs = range(max(0, len(found) - GRAM + 1))
    hashes = [zlib.crc32("\0".join(found[at : at + GRAM]).encode()) for at in runs]
    windows = range(max(min(1, len(hashes)), len(hashes) - WINDOW + 1))
    return frozenset(min(hashes[at : at + WINDOW]) for at in windows)


Library = Mapping[str, frozenset[int]]
"""The fingerprints of each file that everybody has, by its name."""


@cache
def shipped_bots() -> Library:
    """What everybody who writes a bot has: the kit for teams, and the package's own bots."""
    from pttt_ooc.other_games.extreme.bot_programs import OWN
    from pttt_ooc.other_games.extreme.kit import kit_text

    return {"the kit": fingerprints(kit_text()), **_of_files(OWN, "*_bot.py")}


@cache
def shipped_agents() -> Library:
    """What everybody who writes an agent has: the arena's own agents."""
    from pttt_ooc.other_games.arena import agents
    from pttt_ooc.other_games.arena.research import players

    return {**_of_files(Path(agents.__file__).parent, "*.py"), **_of_files(Path(players.__file__).parent, "*.py")}


def handed_out(data: Path) -> Library:
    """What the course in `data` hands out itself, such as its own evaluator: Python files in :data:`FOLDER`."""
    return _of_files(data / FOLDER, "**/*.py")


def _of_files(folder: Path, pattern: str) -> Library:
    return {str(path.relative_to(folder)): _of(path.read_bytes()) for path in sorted(folder.glob(pattern))}


@lru_cache(1024)
def _of(content: bytes) -> frozenset[int]:
    return fingerprints(content.decode("utf-8", "replace"))


@dataclass(frozen=True)
class Code:
    """A file's own code, without the code that everybody has.

    Attributes
    ----------
    handed_out
        The share of the file that everybody has, from 0 to 1.
    nearest
        The file that most of that comes from; empty: none.
    """

    own: frozenset[int]
    handed_out: float
    nearest: str

    @classmethod
    def of(cls, content: bytes, library: Library) -> Code:
        """The code of a file."""
        found = _of(content)
        shares = {name: len(found & known) for name, known in library.items()}
        common = found & frozenset().union(*library.values())
        nearest = max(shares, key=lambda name: shares[name]) if common else ""
        return cls(found - common, len(common) / len(found) if found else 0.0, nearest)

    def overlap(self, other: Code) -> float:
        """The share of the smaller one's own code that the other one has, too; 0 to 1."""
        least = min(len(self.own), len(other.own))
        return len(self.own & other.own) / least if least else 0.0


@dataclass(frozen=True)
class Alike:
    """Two submissions, or one and the code that is handed out.

    Attributes
    ----------
    of
        The assignment of agents, or the further game or league; empty: the course's own.
    figure
        For strategies, the estimated total variation of their games against Uniform: 0 means the same.  For bots and
        agents, the share of code: 1 means the same.
    same_file
        Whether the files are equal.
    teams, numbers
        Those of both; for code that is handed out, the team says which code, and the number is 0.
    """

    kind: str
    of: str
    figure: float
    same_file: bool
    teams: tuple[str, str]
    numbers: tuple[int, int]

    def facts(self) -> dict[str, Any]:
        """As JSON."""
        return dict(self.__dict__)

    def address(self, side: int) -> str:
        """The address of the page of one of them, or of its file; empty: it has none."""
        number = self.numbers[side]
        if not number:
            return ""
        if self.kind == AGENTS:
            return f"/agents/{self.of}/{number}"
        if self.kind == BOTS:
            return f"/course/desk/bots/{number}" + (f"?league={self.of}" if self.of else "")
        return f"/games/{self.of}/submissions/{number}" if self.of else f"/submissions/{number}"


def alike(session: Session, data: Path) -> list[Alike]:
    """All pairs that are alike, the most alike of each kind first: strategies, bots, agents."""
    found = [*_strategies(session, data), *_bots(session, data), *_agents(session, data)]
    kinds = (STRATEGIES, BOTS, AGENTS)
    return sorted(
        found,
        key=lambda one: (
            kinds.index(one.kind),
            not one.same_file,
            one.figure if one.kind == STRATEGIES else -one.figure,
        ),
    )


def _strategies(session: Session, data: Path) -> Iterator[Alike]:
    names = {team.id: team.own_name for team in session.scalars(select(Team))}
    for game, source in chain([("", session)], sessions_of_games(session, data)):
        for one in source.scalars(select(Likeness).order_by(Likeness.id)):
            first, second = (source.get(Submission, number) for number in (one.other, one.submission))
            if first is not None and second is not None and {first.team_id, second.team_id} <= set(names):
                teams, numbers = (names[first.team_id], names[second.team_id]), (first.id, second.id)
                yield Alike(STRATEGIES, game, one.variation, first.digest == second.digest, teams, numbers)


def _bots(session: Session, data: Path) -> Iterator[Alike]:
    """Pairs that are alike, of the latest accepted bots of all teams in each league."""
    library = {**shipped_bots(), **handed_out(data)}
    for name in (None, *further_leagues(session)):
        with open_bots(league_directory(data, name)) as bots:
            entered = bots.playing_bots(content=True) if bots else []
        files = [_File(one.id, one.team_id, one.digest, one.content) for one in entered]
        yield from _files(session, BOTS, name or "", files, library)


def _agents(session: Session, data: Path) -> Iterator[Alike]:
    """Pairs that are alike, of the latest accepted agents of all teams in each assignment."""
    storage = Storage(data)
    for assignment in all_assignments(session, AGENTS):
        latest: dict[int, Agent] = {}
        accepted = select(Agent).where(Agent.status == ACCEPTED, Agent.assignment_id == assignment.id)
        for agent in session.scalars(accepted.order_by(Agent.id)):
            latest[agent.team_id] = agent
        files = [
            _File(one.id, one.team_id, one.digest, file.read_bytes())
            for one in latest.values()
            if (file := storage.upload(one.file)).is_file()
        ]
        yield from _files(session, AGENTS, assignment.name, files, {**shipped_agents(), **handed_out(data)})


@dataclass(frozen=True)
class _File:
    number: int
    team: int
    digest: str
    content: bytes


def _files(
    session: Session, kind: str, of: str, files: Iterable[_File], library: Mapping[str, frozenset[int]]
) -> Iterator[Alike]:
    """Pairs that are alike, of files of different teams, or of a file and the code that is handed out."""
    names = {team.id: team.own_name for team in session.scalars(select(Team))}
    known = [(one, Code.of(one.content, library)) for one in files if one.team in names]
    for one, code in known:
        if code.handed_out >= NEAR:
            teams = names[one.team], f"code that is handed out ({code.nearest})"
            yield Alike(kind, of, code.handed_out, False, teams, (one.number, 0))
    for (one, first), (two, second) in combinations(known, 2):
        share, same = first.overlap(second), one.digest == two.digest
        if share >= NEAR or same:
            yield Alike(kind, of, share, same, (names[one.team], names[two.team]), (one.number, two.number))


def lines(found: Sequence[Alike]) -> list[str]:
    """A line for each pair."""
    told = []
    for one in found:
        first, second = (f"{readable_name(t)} {n}" if n else t for t, n in zip(one.teams, one.numbers, strict=True))
        what = "estimated total variation" if one.kind == STRATEGIES else "shared code"
        same, of = ", the same file" if one.same_file else "", f" of {one.of}" if one.of else ""
        told.append(f"{one.kind}{of}: {first} and {second}: {what} {one.figure:.3f}{same}")
    return told
