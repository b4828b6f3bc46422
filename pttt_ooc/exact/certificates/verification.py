"""What two plans guarantee, by best responses in integers; and whether a certificate's claim is just that."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from pttt_ooc.errors import CertificateError
from pttt_ooc.exact.certificates.certificate import CLAIM_LINE, Certificate
from pttt_ooc.exact.certificates.certificate_reader import read
from pttt_ooc.exact.certificates.integer_plan import IntegerPlan
from pttt_ooc.exact.certificates.integer_response import IntegerResponse, best_response
from pttt_ooc.exact.double_oracle.rule_tables import rule_tables
from pttt_ooc.games.rules.game import Game


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
    first, second = (best_response(rules, player, plans[1 - player]) for player in (0, 1))
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
