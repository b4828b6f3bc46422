"""Draws of k-in-a-row by pairing strategies: certificates, their search, and their check.

After the first player's first mark, the second player makes a reply.  The other squares are grouped in pairs, and
whenever the first player takes a square of a pair, the second player takes the other one.  If every line has the reply
or both squares of a pair, the first player never fills a line.  The second player cannot win either, because the first
could use the same strategy with a mark to spare, so that the value is a draw.

A certificate is a reply and pairs for each first mark.  :func:`fault` checks it with plain loops, and shares no code
with the search, which is an integer program.  A. W. Hales and R. I. Jewett, *Regularity and positional games* (1963).
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from itertools import combinations
from time import process_time

import numpy as np
from numpy.typing import NDArray

from pttt_ooc.extras import extra
from pttt_ooc.other_games.arena.games.mnk import Mnk
from pttt_ooc.other_games.arena.research.solvers.row_boards import symmetries, winning_lines

with extra("arena", "A search for pairings"):
    from scipy.optimize import Bounds, LinearConstraint, milp
    from scipy.sparse import lil_array


@dataclass(frozen=True)
class Pairing:
    """What the second player does after a first mark.

    Attributes
    ----------
    reply
        The square of the second player's first mark; None if that may be anywhere.
    pairs
        Pairs of squares, none of them twice.
    """

    reply: int | None
    pairs: tuple[tuple[int, int], ...]


Certificate = dict[int, Pairing]
"""A pairing for each first mark."""


def fault(rows: int, columns: int, need: int, certificate: Certificate) -> str | None:
    """What is wrong with a certificate; None if it proves a draw."""
    for first in range(rows * columns):
        if first not in certificate:
            return f"there is no pairing after the first mark {first}"
        reply, pairs = certificate[first].reply, certificate[first].pairs
        used = [first, *([] if reply is None else [reply]), *(square for pair in pairs for square in pair)]
        if len(set(used)) != len(used):
            return f"a square is used twice after the first mark {first}"
        if any(not 0 <= square < rows * columns for square in used):
            return f"a square is not on the board after the first mark {first}"
        for row in range(rows):
            for column in range(columns):
                for down, right in ((0, 1), (1, 0), (1, 1), (1, -1)):
                    last_row, last_column = row + (need - 1) * down, column + (need - 1) * right
                    if last_row >= rows or not 0 <= last_column < columns:
                        continue
                    line = {(row + n * down) * columns + column + n * right for n in range(need)}
                    if reply not in line and not any(one in line and other in line for one, other in pairs):
                        return f"a line from square {row * columns + column} is open after the first mark {first}"
    return None


def to_json(text: str, certificate: Certificate) -> str:
    """A certificate as a text; squares are numbered row by row from 0."""
    after = {str(first): {"reply": one.reply, "pairs": one.pairs} for first, one in sorted(certificate.items())}
    return json.dumps({"game": text, "after": after}) + "\n"


def from_json(text: str) -> Certificate:
    """The certificate of :func:`to_json`."""
    after = json.loads(text)["after"]
    return {int(first): Pairing(one["reply"], tuple((a, b) for a, b in one["pairs"])) for first, one in after.items()}


@dataclass(frozen=True)
class Search:
    """The result of a search.

    Attributes
    ----------
    certificate
        None if there is none, or if the time did not suffice.
    complete
        Whether the search has ended.
    seconds
        Processor time.
    """

    certificate: Certificate | None
    complete: bool
    seconds: float


def find(game: Mnk, most_seconds: float = 60.0) -> Search:
    """A pairing for each first mark, from the empty board.

    Parameters
    ----------
    most_seconds
        For each first mark; symmetric ones are tried once.
    """
    begin = process_time()
    lines = [frozenset(n for n in range(64) if int(line) >> n & 1) for line in winning_lines(game)]
    images = symmetries(game)
    found: Certificate = {}
    for first in range(game.rows * game.columns):
        if first in found:
            continue
        pairing, complete = _after(first, lines, game.rows * game.columns, most_seconds)
        if pairing is None:
            return Search(None, complete, process_time() - begin)
        for image in images:
            found.setdefault(int(image[first]), _image_of(pairing, image))
    return Search(found, True, process_time() - begin)


def _image_of(pairing: Pairing, image: NDArray[np.int64]) -> Pairing:
    reply = None if pairing.reply is None else int(image[pairing.reply])
    return Pairing(reply, tuple((int(image[one]), int(image[other])) for one, other in pairing.pairs))


def _after(first: int, lines: list[frozenset[int]], squares: int, most_seconds: float) -> tuple[Pairing | None, bool]:
    """A pairing after a first mark, and whether the search has ended.

    The program has a variable for each square as the reply and for each pair of squares on a line.  A square is used at
    most once; a line has the reply or a pair; there is one reply.
    """
    if not lines:
        return Pairing(None, ()), True
    # The variables: first the replies, then the pairs of squares that are on a line together.
    on = {pair for line in lines for pair in combinations(sorted(line - {first}), 2)}
    pairs = sorted(on)
    replies = [square for square in range(squares) if square != first]
    if not replies:
        return None, True
    # The rows: which squares a variable uses, and which lines it covers.
    uses = lil_array((squares, len(replies) + len(pairs)))
    covers = lil_array((len(lines), len(replies) + len(pairs)))
    for place, square in enumerate(replies):
        uses[square, place] = 1
        for number, line in enumerate(lines):
            if square in line:
                covers[number, place] = 1
    for place, (one, other) in enumerate(pairs, start=len(replies)):
        uses[one, place] = uses[other, place] = 1
        for number, line in enumerate(lines):
            if one in line and other in line:
                covers[number, place] = 1
    # Each square at most once, each line at least once, one reply; any solution will do, so nothing is minimized.
    single = np.zeros((1, len(replies) + len(pairs)))
    single[0, : len(replies)] = 1
    solved = milp(
        np.zeros(len(replies) + len(pairs)),
        constraints=[
            LinearConstraint(uses.tocsr(), -np.inf, 1),
            LinearConstraint(covers.tocsr(), 1, np.inf),
            LinearConstraint(single, 1, 1),
        ],
        integrality=np.ones(len(replies) + len(pairs)),
        bounds=Bounds(0, 1),
        options={"time_limit": most_seconds},
    )
    # Status 2: the program has no solution.  Else the time has not sufficed.
    if solved.x is None:
        return None, bool(solved.status == 2)
    taken = np.flatnonzero(solved.x > 0.5)
    [reply] = [replies[n] for n in taken if n < len(replies)]
    return Pairing(reply, tuple(pairs[n - len(replies)] for n in taken if n >= len(replies))), True
