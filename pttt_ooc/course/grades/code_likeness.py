"""How much code two bots or agents share, by normalised tokens: winnowing (Schleimer, Wilkerson, Aiken, SIGMOD 2003).

Names, numbers, texts, comments and white space make no difference: of a file only the kinds of its tokens are left.
Every run of :data:`GRAM` + :data:`WINDOW` - 1 tokens that two files share is found.  What a file shares with the code
that everybody has, because the package or the course hands it out, is counted apart.  A hint, no verdict.
"""

from __future__ import annotations

import keyword
import re
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path

from pttt_ooc.other_games.arena import agents
from pttt_ooc.other_games.arena.research import players
from pttt_ooc.other_games.extreme.bot_programs import OWN
from pttt_ooc.other_games.extreme.kit import kit_text

GRAM, WINDOW = 24, 8
NEAR = 0.4
"""Share of code from which two files are told."""

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
    return {"the kit": fingerprints(kit_text()), **_of_files(OWN, "*_bot.py")}


@cache
def shipped_agents() -> Library:
    """What everybody who writes an agent has: the arena's own agents."""
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
    """A file's own code, without what is everybody's.

    Attributes
    ----------
    handed_out
        The share of it that is everybody's, from 0 to 1.
    nearest
        The file from which most of that is; empty: none.
    """

    own: frozenset[int]
    handed_out: float
    nearest: str

    @classmethod
    def of(cls, content: bytes, library: Library) -> Code:
        """Of a file."""
        found = _of(content)
        shares = {name: len(found & known) for name, known in library.items()}
        common = found & frozenset().union(*library.values())
        nearest = max(shares, key=lambda name: shares[name]) if common else ""
        return cls(found - common, len(common) / len(found) if found else 0.0, nearest)

    def overlap(self, other: Code) -> float:
        """The share of the smaller one's own code that is in the other one, too; 0 to 1."""
        least = min(len(self.own), len(other.own))
        return len(self.own & other.own) / least if least else 0.0
