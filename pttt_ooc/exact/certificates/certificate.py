"""The certificate as a file: the rules, a claim, and both plans; and whether it proves what it claims.

The format is described in docs/files.md.  A file may come from anybody: whatever breaks the format is refused, with its
line.
"""

from __future__ import annotations

import gzip
import io
import os
import re
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import NoReturn

from pttt_ooc.disk.files import atomic_write_bytes
from pttt_ooc.errors import CertificateError, StrategyError, on_one_line
from pttt_ooc.exact.certificates.integer_plan import Actions, IntegerPlan, integer_plan
from pttt_ooc.exact.certificates.integer_response import IntegerResponse, integer_response
from pttt_ooc.exact.double_oracle.rule_tables import rule_tables
from pttt_ooc.games.rules.catalogue import game_with
from pttt_ooc.games.rules.game import Game, Squares, mask_of
from pttt_ooc.types import TurnRule

VERSION = 1
CLAIM_LINE = 6
LONGEST_LINE = 100_000
"""A line must be shorter than this."""
DENSEST = 100
"""The most bytes of text for each byte of the file."""

_NUMBER = "[1-9][0-9]{0,3999}"  # Python does not convert longer ones
_FRACTION = f"(0|-?{_NUMBER}(?:/{_NUMBER})?)"
_CLAIM = re.compile(f"claim {_FRACTION} <= value <= {_FRACTION}")
_COUNTS = f"({_NUMBER}) ({_NUMBER}) ({_NUMBER})"
_ACTION = re.compile(f"([0-9a-f])=({_NUMBER})")


@dataclass(frozen=True, eq=False)
class Certificate:
    """Two plans, and what they guarantee.

    Attributes
    ----------
    game
        The rules.
    lower, upper
        What the plans of players 0 and 1 guarantee: the value of the game for player 0 is between them.
    plans
        Both players' plans.
    """

    game: Game
    lower: Fraction
    upper: Fraction
    plans: tuple[IntegerPlan, IntegerPlan]

    @property
    def exact(self) -> bool:
        """Whether the value is proven, and the plans are an equilibrium."""
        return self.lower == self.upper

    def text(self) -> Iterator[str]:
        """The lines, each with its end."""
        yield from (f"{line}\n" for line in header(self.game))
        yield f"claim {self.lower} <= value <= {self.upper}\n"
        for player, plan in enumerate(self.plans):
            yield f"plan {player} {plan.infosets} {plan.actions} {plan.denominator}\n"
            for infoset, text in enumerate(plan.texts):
                first = plan.starts[infoset]
                played = range(first, first + plan.sizes[infoset])
                yield f"{text} {' '.join(f'{plan.squares[a]:x}={plan.weights[a]}' for a in played)}\n"
        yield "end\n"


def statement(lower: Fraction, upper: Fraction) -> str:
    """What is proven: an interval, or the value and its first digits."""
    if lower != upper:
        return f"{lower} <= value <= {upper}"
    if lower.denominator == 1:
        return f"value = {lower}"
    digits = abs(lower.numerator) * 10**15 // lower.denominator
    return f"value = {lower} = {'-' if lower < 0 else ''}0.{digits:015}..."


def header(game: Game) -> list[str]:
    """The rules, line by line."""
    lines = [f"phantom certificate {VERSION}", f"squares {game.squares}", f"turns {game.turn_rule}"]
    for player in (0, 1):
        sets = sorted("".join(f"{s:x}" for s in range(game.squares) if w >> s & 1) for w in game.winning_sets[player])
        lines.append(" ".join([f"wins {player}", *sets]))
    return lines


def write(certificate: Certificate, path: Path) -> None:
    """Write a certificate, zipped; equal certificates have equal texts."""
    buffer = io.BytesIO()
    with gzip.GzipFile("", "wb", 9, buffer, mtime=0) as zipped:
        for line in certificate.text():
            zipped.write(line.encode("ascii"))
    atomic_write_bytes(path, buffer.getvalue())


# ---------------------------------------------------------------------------------------------
# Reading


class Lines:
    """The lines of a certificate, unzipped as they are needed."""

    def __init__(self, path: Path) -> None:
        self._path, self._lines, self.number = path, self._unzip_lines(path), 0

    def next(self) -> str:
        """The next line."""
        self.number += 1
        line = next(self._lines, None)
        if line is None:
            self.refuse("the file ends before its end")
        return line

    def end(self) -> None:
        """Check that there is no line left."""
        if next(self._lines, None) is not None:
            self.refuse("something follows the end")

    def refuse(self, reason: str) -> NoReturn:
        """Raise a CertificateError that names the line."""
        raise CertificateError(f"{self._path}, line {self.number}: {reason}.")

    def _unzip_lines(self, path: Path) -> Iterator[str]:
        stream, rest, size = zlib.decompressobj(wbits=31), b"", 0
        with open(path, "rb") as file:
            most = DENSEST * os.fstat(file.fileno()).st_size
            while not stream.eof:
                piece = stream.unconsumed_tail or file.read(1 << 16)
                try:
                    text = stream.decompress(piece, 1 << 16)
                except zlib.error:
                    self.refuse("this is no gzip file, or a damaged one")
                if not piece and not text:
                    self.refuse("the file is cut off")
                size += len(text)
                if size > most:
                    self.refuse(f"the file unzips to more than {DENSEST} times its size")
                *lines, rest = (rest + text).split(b"\n")
                if max(map(len, (*lines, rest))) >= LONGEST_LINE:
                    self.refuse(f"a line has {LONGEST_LINE:,} characters or more")
                yield from (line.decode("ascii", "replace") for line in lines)
            if rest or stream.unused_data or file.read(1):
                self.refuse("bytes follow the last line")


def read(path: Path) -> Certificate:
    """Read a certificate and check everything except its claim.

    Raises
    ------
    CertificateError
        If anything is wrong with it.
    """
    lines = Lines(path)
    game = _game(lines)
    claim = _CLAIM.fullmatch(lines.next())
    if claim is None:
        lines.refuse("the claim is missing: claim A <= value <= B, with fractions in lowest terms")
    lower, upper = (_fraction(lines, text) for text in claim.groups())
    plans = _plan(lines, game, 0), _plan(lines, game, 1)
    if lines.next() != "end":
        lines.refuse("the line 'end' must come here")
    lines.end()
    return Certificate(game, lower, upper, plans)


def _game(lines: Lines) -> Game:
    """The game with these rules; the named one, if there is one."""
    if lines.next() != f"phantom certificate {VERSION}":
        lines.refuse(f"this is no certificate of version {VERSION}")
    squares = re.fullmatch("squares ([1-9]|1[0-6])", lines.next())
    if squares is None:
        lines.refuse("squares 1 to 16 must come here")
    turns = re.fullmatch("turns (abrupt|classical)", lines.next())
    if turns is None:
        lines.refuse("turns abrupt or turns classical must come here")
    sets = _winning_sets(lines, 0, int(squares[1])), _winning_sets(lines, 1, int(squares[1]))
    turn_rule: TurnRule = "classical" if turns[1] == "classical" else "abrupt"
    named = game_with(int(squares[1]), turn_rule, sets)
    return named or Game("without a name", 1, int(squares[1]), sets, turn_rule)


def _winning_sets(lines: Lines, player: int, squares: int) -> Squares:
    line = lines.next()
    if re.fullmatch(f"wins {player}(?: [0-9a-f]+)*", line) is None:
        lines.refuse(f"wins {player} and the winning sets, as hexadecimal digits, must come here")
    words = line.split(" ")[2:]
    if any(int(digit, 16) >= squares for word in words for digit in word):
        lines.refuse(f"a winning set of player {player} is not on the board")
    return tuple(mask_of(tuple({int(digit, 16) for digit in word})) for word in words)


def _fraction(lines: Lines, text: str) -> Fraction:
    if str(Fraction(text)) != text:
        lines.refuse("a fraction is not in lowest terms")
    return Fraction(text)


def _plan(lines: Lines, game: Game, player: int) -> IntegerPlan:
    line = lines.next()
    numbers = re.fullmatch(f"plan {player} {_COUNTS}", line)
    if numbers is None:
        lines.refuse(f"plan {player} must begin here, with its numbers of infosets and actions, and its denominator")
    infosets, actions, denominator = (int(number) for number in numbers.groups())
    try:
        plan = integer_plan(game, player, _Written(lines, game.squares, denominator), infosets)
    except StrategyError:
        lines.refuse(f"plan {player} has more infosets than the {infosets} that it claims")
    if (plan.infosets, plan.actions) != (infosets, actions):
        lines.refuse(
            f"plan {player} has {plan.infosets} infosets and {plan.actions} actions, not {infosets} and {actions}"
        )
    return plan


class _Written:
    """The behaviour that the lines describe; a state is the mask of the squares that were attempted."""

    def __init__(self, lines: Lines, squares: int, denominator: int) -> None:
        self._lines, self._squares, self.denominator = lines, squares, denominator

    def start(self) -> int:
        """See :class:`pttt_ooc.exact.certificates.integer_plan.Behaviour`."""
        return 0

    def actions(self, state: int, text: str, weight: int) -> Actions:
        """The actions of the next line, which must be the infoset `text`."""
        name, *words = self._lines.next().split(" ")
        if name != text or not words:
            self._lines.refuse(f"the infoset {text} must come here, with its actions")
        found: Actions = []
        for word in words:
            action = _ACTION.fullmatch(word)
            if action is None:
                self._lines.refuse(f"{on_one_line(word[:40])!r} is no action, such as 4=17")
            square, part = int(action[1], 16), int(action[2])
            if square >= self._squares or state >> square & 1:
                self._lines.refuse(f"square {square:x} cannot be attempted")
            if found and square <= found[-1][0]:
                self._lines.refuse("the squares must rise")
            found.append((square, part))
        if sum(part for _, part in found) != weight:
            self._lines.refuse(f"the weights do not add up to {weight}")
        return found

    def after(self, state: int, square: int, placed: bool) -> int:
        """See :class:`pttt_ooc.exact.certificates.integer_plan.Behaviour`."""
        return state | 1 << square


# ---------------------------------------------------------------------------------------------
# What is proven


@dataclass(frozen=True, eq=False)
class Guarantees:
    """What two plans guarantee.

    Attributes
    ----------
    lower, upper
        What the plans of players 0 and 1 guarantee: the value of the game for player 0 is between them.
    responses
        Both players' best responses to the other's plan.
    """

    lower: Fraction
    upper: Fraction
    responses: tuple[IntegerResponse, IntegerResponse]


def guarantees(game: Game, plans: tuple[IntegerPlan, IntegerPlan]) -> Guarantees:
    """What two plans guarantee."""
    rules = rule_tables(game)
    first, second = (integer_response(rules, player, plans[1 - player]) for player in (0, 1))
    lower, upper = Fraction(-second.value, plans[0].denominator), Fraction(first.value, plans[1].denominator)
    return Guarantees(lower, upper, (first, second))


def verify_certificate(path: Path) -> tuple[Certificate, Guarantees]:
    """Read a certificate and check all that it claims.

    Raises
    ------
    CertificateError
        If it does not prove its claim.
    """
    certificate = read(path)
    found = guarantees(certificate.game, certificate.plans)
    if (found.lower, found.upper) != (certificate.lower, certificate.upper):
        raise CertificateError(
            f"{path}, line {CLAIM_LINE}: the plans prove {found.lower} <= value <= {found.upper}, not this claim."
        )
    return certificate, found
