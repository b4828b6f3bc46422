"""The certificate as a file: the rules, a claim, and both plans; the format is described in docs/formats.md."""

from __future__ import annotations

import gzip
import io
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from pttt_ooc.disk.files import atomic_write_bytes
from pttt_ooc.exact.certificates.integer_plan import IntegerPlan
from pttt_ooc.games.rules.game import Game

VERSION = 1
CLAIM_LINE = 6


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
        Of both players.
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
