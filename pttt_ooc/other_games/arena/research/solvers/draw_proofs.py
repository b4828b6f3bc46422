"""Proofs that k-in-a-row is a draw: what Breaker replies in the Maker-Breaker form.

``proof/verify_draws.py`` checks them with nothing but Python, and says what the format is.  Here they are written: the
search says which replies hold a position, and the walk is the checker's, but no code is shared.
"""

from __future__ import annotations

import gzip
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache

from pttt_ooc.other_games.arena.games.base import ArenaError
from pttt_ooc.other_games.arena.games.mnk import Mnk
from pttt_ooc.other_games.arena.research.solvers.row_boards import symmetries, winning_lines
from pttt_ooc.other_games.arena.research.solvers.row_values import MakerBreaker

FORMAT = "mnk draws 1"
SQUARES = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+-"
_TRIALS = 16  # replies that are tried with pairs alone
_BASE = 1.5  # as in the search

Sets = frozenset[int]
"""The squares that Maker still needs of each open line, as bits; a set that contains another one is left out."""
Pairs = tuple[tuple[int, int], ...]
"""Pairs of squares, each as a bit."""


@dataclass(frozen=True)
class Proof:
    """A proof as a file, and the number of positions in it."""

    zipped: bytes
    positions: int


def write(game: Mnk, table_bits: int = 22, most_nodes: int = 10**10) -> Proof:
    """A proof that Maker cannot force a row.

    Parameters
    ----------
    table_bits
        The search's table has ``2 ** table_bits`` entries.
    most_nodes
        Maximum nodes of each question to the search.

    Raises
    ------
    ArenaError
        Maker can force a row, the board has more than 64 squares, or the nodes do not suffice.
    """
    walk = _Walk(game, table_bits, most_nodes)
    if walk.maker_wins(0, walk.everything):
        raise ArenaError(f"In the Maker-Breaker form of {game.text}, the first player wins: there is no such proof.")
    lines = list(walk.lines())
    text = "\n".join([FORMAT, f"{game.rows} {game.columns} {game.need}", *lines, ""])
    return Proof(gzip.compress(text.encode("ascii"), mtime=0), len(lines))


class _Walk:
    """The positions of a proof, in the checker's order.

    A position is also Maker's marks and the free squares, as the search takes it.
    """

    def __init__(self, game: Mnk, table_bits: int, most_nodes: int) -> None:
        self._search, self._most = MakerBreaker(game, table_bits), most_nodes
        self._lines = [int(line) for line in winning_lines(game)]
        self._images = [[1 << int(square) for square in image] for image in symmetries(game)]
        self.everything = (1 << self._search.squares) - 1
        self._moved = cache(lambda one, number: sum(self._images[number][_number(bit)] for bit in _bits(one)))

    def maker_wins(self, maker: int, free: int) -> bool:
        """Whether Maker, who is to move, can force a row."""
        found = self._search.ask(maker, free, True, self._most).maker_wins
        if found is None:
            raise ArenaError(f"A position is still unknown after {self._most} nodes; allow more with --most-nodes.")
        return found

    def lines(self) -> Iterator[str]:
        """The line of each position."""
        seen, waiting = set(), [(0, self.everything)]
        while waiting:
            maker, free = waiting.pop()
            sets = self._sets(maker, free)
            key = min(tuple(sorted(self._moved(one, number) for one in sets)) for number in range(len(self._images)))
            if key in seen:
                continue
            seen.add(key)
            twins, maker, free = self._without_twins(maker, free)
            words = [f"{_text(twins)}:"] if twins else []
            sets = self._sets(maker, free)
            if not _proven(sets):
                ends, replies = self._replies(maker, free, sets)
                words += [_text(((reply, 0), *pairs)) for reply, pairs in ends]
                words += [f"{SQUARES[_number(mark)]}>{SQUARES[_number(reply)]}" for mark, reply in replies]
                waiting += [(maker | mark, free & ~(mark | reply)) for mark, reply in replies]
            yield " ".join(words)

    def _sets(self, maker: int, free: int) -> Sets:
        open_lines = {line & free for line in self._lines if not line & ~(maker | free)}
        return _least(open_lines)

    def _without_twins(self, maker: int, free: int) -> tuple[Pairs, int, int]:
        """Pairs that cost nothing, and the position with them.

        Two squares are a pair if both are in the same sets, or if one of them is only in the set of the two.
        """
        pairs: list[tuple[int, int]] = []
        while True:
            on = _on(self._sets(maker, free))
            found = next(
                (
                    (one, other)
                    for one in on
                    for other in on
                    if one != other and (on[one] == on[other] or on[other] == {one | other})
                ),
                None,
            )
            if found is None:
                return tuple(pairs), maker, free
            one, other = found
            pairs.append(found)
            maker, free = maker | one, free & ~(one | other)

    def _replies(self, maker: int, free: int, sets: Sets) -> tuple[list[tuple[int, Pairs]], list[tuple[int, int]]]:
        """Replies after which pairs prove the rest, to any mark that they suit; and replies to the other marks."""
        marks = _marks(sets)
        chosen = []
        left = list(marks)
        found = [end for reply in _order_replies(sets)[:_TRIALS] if (end := self._end(maker, free & ~reply, reply))]
        while left and found:
            suited = [[mark for mark in left if _suits(sets, mark, end)] for end in found]
            most = max(range(len(found)), key=lambda n: len(suited[n]))
            if not suited[most]:
                break
            chosen.append(found[most])
            left = [mark for mark in left if mark not in suited[most]]
        replies = []
        while left:
            mark = left.pop(0)
            after, more = self._reply(maker | mark, free & ~mark)
            if more is None:
                replies.append((mark, after))
                continue
            end = (after, more)
            assert _suits(sets, mark, end), "pairs of the search do not hold a position"
            chosen.append(end)
            left = [other for other in left if not _suits(sets, other, end)]
        return chosen, replies

    def _reply(self, maker: int, free: int) -> tuple[int, Pairs | None]:
        """A reply of Breaker that holds a position, with pairs if these prove the rest."""
        ordered = _order_replies(self._sets(maker, free))
        for reply in ordered:
            if (end := self._end(maker, free & ~reply, reply)) is not None:
                return end
        for reply in ordered:
            if not self.maker_wins(maker, free & ~reply):
                return reply, None
        raise AssertionError("Breaker has no reply in a position that it holds")

    def _end(self, maker: int, free: int, reply: int) -> tuple[int, Pairs] | None:
        """A reply that has been made, with pairs that prove the position after it."""
        sets = self._sets(maker, free)
        if 0 in sets or any(one.bit_count() == 1 for one in sets):
            return None
        if _proven(sets):
            return reply, ()
        twins, maker, free = self._without_twins(maker, free)
        pairs = self._search.pairs(maker, free)
        if pairs is None:
            return None
        return reply, (*twins, *((1 << one, 1 << other) for one, other in pairs))


def _number(bit: int) -> int:
    return bit.bit_length() - 1


def _bits(word: int) -> Iterator[int]:
    while word:
        yield word & -word
        word &= word - 1


def _text(pairs: Iterable[tuple[int, int]]) -> str:
    return "".join(SQUARES[_number(bit)] for pair in pairs for bit in pair if bit)


def _least(sets: Iterable[int]) -> Sets:
    kept: list[int] = []
    for one in sorted(set(sets), key=int.bit_count):
        if not any(other & one == other for other in kept):
            kept.append(one)
    return frozenset(kept)


def _on(sets: Sets) -> dict[int, set[int]]:
    """The sets of each square, from the first square to the last."""
    found: dict[int, set[int]] = {}
    for one in sets:
        for bit in _bits(one):
            found.setdefault(bit, set()).add(one)
    return dict(sorted(found.items()))


def _marks(sets: Sets) -> list[int]:
    """The marks of Maker that the checker tries."""
    on = _on(sets)
    return [
        bit
        for bit, own in on.items()
        if not any(own < more or (own == more and other < bit) for other, more in on.items())
    ]


def _order_replies(sets: Sets) -> list[int]:
    """Replies, those with the largest sum of ``1.5 ** -size`` first."""
    on = _on(sets)
    return sorted(on, key=lambda bit: -sum(_BASE ** -one.bit_count() for one in on[bit]))


def _proven(sets: Iterable[int]) -> bool:
    """Whether the sum of Erdős and Selfridge is less than 1 after any mark of Maker."""
    there = _least(sets)
    worths = [sum(2.0 ** -one.bit_count() for one in own) for own in _on(there).values()]
    return sum(2.0 ** -one.bit_count() for one in there) + max(worths, default=0.0) < 1.0


def _suits(sets: Sets, mark: int, end: tuple[int, Pairs]) -> bool:
    """Whether a reply and pairs prove the position after a mark."""
    reply, pairs = end
    if mark == reply:
        return False
    rest = {one & ~mark for one in sets if not one & reply}
    for one, other in pairs:
        both = one | other
        rest = {those & ~both for those in rest if those & both != both}
    return _proven(rest)
