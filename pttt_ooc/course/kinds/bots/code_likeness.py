"""How much code two bots share, by normalised tokens: winnowing (Schleimer, Wilkerson, Aiken, SIGMOD 2003).

Names, numbers, texts, comments and white space make no difference: of a file only the kinds of its tokens are left.
Every run of :data:`GRAM` + :data:`WINDOW` - 1 tokens that two files share is found.  What a file shares with the code
that the package hands out, or plays with, is counted apart.  A hint, no verdict.
"""

from __future__ import annotations

import keyword
import re
import zlib
from dataclasses import dataclass
from functools import cache, lru_cache

from pttt_ooc.extreme.bot_programs import OWN
from pttt_ooc.extreme.kit import kit_text

GRAM, WINDOW = 24, 8
NEAR = 0.4
"""Share of code from which two bots are told."""

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


@cache
def evaluator_code() -> frozenset[int]:
    """The fingerprints of what everybody has: the kit for teams and the package's own bots."""
    texts = [kit_text(), *(path.read_text(encoding="utf-8") for path in sorted(OWN.glob("*.py")))]
    return frozenset().union(*(fingerprints(text) for text in texts))


@lru_cache(1024)
def _of(content: bytes) -> frozenset[int]:
    return fingerprints(content.decode("utf-8", "replace"))


@dataclass(frozen=True)
class Code:
    """A bot's own code, without what is everybody's, and the share of it that is everybody's."""

    own: frozenset[int]
    handed_out: float

    @classmethod
    def of(cls, content: bytes) -> Code:
        """Of a file."""
        found = _of(content)
        common = found & evaluator_code()
        return cls(found - common, len(common) / len(found) if found else 0.0)

    def shared(self, other: Code) -> float:
        """The share of the smaller one's own code that is in the other one, too; 0 to 1."""
        least = min(len(self.own), len(other.own))
        return len(self.own & other.own) / least if least else 0.0
