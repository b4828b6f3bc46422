"""An exact equilibrium with its certificate: an outer loop around the double oracle, which ends in fractions.

An optimal vertex of a restricted game has the game's value there, but it may lose in the whole game: the program has
many optimal vertices.  So best responses in the whole game answer each vertex, first in double precision.  The actions
by which they gain are allowed, and the next program begins from the last vertex.  When they gain nothing, the vertex is
computed in fractions, both plans are written out, and the best responses are computed in integers.  If these gain
nothing, the plans are an equilibrium.  Otherwise their actions are allowed, at least one of which is new, and the loop
goes on.  It ends, because a game has finitely many sequences.  Where a game was solved from inside of its optimal face,
points inside take the place of vertices.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from pttt_ooc.errors import PtttError
from pttt_ooc.exact.certificates.behaviours import RoundedBehaviour, SparseBehaviour
from pttt_ooc.exact.certificates.certificate import Certificate, guarantees
from pttt_ooc.exact.certificates.inside_optimum import FreeReach, inside_optimum
from pttt_ooc.exact.certificates.integer_plan import IntegerPlan, check_board, in_lowest_terms, integer_plan
from pttt_ooc.exact.certificates.integer_program import Floats, IntegerProgram, Simplex, integer_program
from pttt_ooc.exact.certificates.integer_response import IntegerResponse
from pttt_ooc.exact.certificates.rational_optimum import NotOptimalError, RationalOptimum, rational_optimum
from pttt_ooc.exact.certificates.rational_system import SingularError
from pttt_ooc.exact.double_oracle.lazy_response import Responder, allow_response
from pttt_ooc.exact.double_oracle.restricted_histories import HistoryFinder, Plans, WonHistories
from pttt_ooc.exact.double_oracle.restricted_interior import Face, face_of
from pttt_ooc.exact.double_oracle.restricted_nearby import face_at
from pttt_ooc.exact.double_oracle.restricted_program import CheckedProgram
from pttt_ooc.exact.double_oracle.rule_tables import RuleTables, rule_tables
from pttt_ooc.exact.double_oracle.sparse_plan import (
    SPARE,
    SparsePlan,
    allow,
    behave,
    canonical_action,
    next_infoset,
    with_capacity,
)
from pttt_ooc.games.rules.game import Game

_MEMO_MB = 48.0  # for the bounds of one player's best responses in double precision
_GAIN = 1e-11  # what counts as a gain in double precision
_LEAST = 1e-14  # reach that counts as none in double precision


@dataclass(frozen=True)
class Progress:
    """A step of the outer loop.

    Attributes
    ----------
    programs
        Number of linear programs so far.
    fractions
        Number of them that were solved in fractions.
    gain
        What both best responses gain together.
    added
        Number of sequences that they add.
    free
        In what the equilibria of the restricted game differ; None where no face was solved in fractions.
    """

    programs: int
    fractions: int
    gain: float
    added: int
    free: FreeReach | None = None


def exact_equilibrium(
    game: Game,
    plans: Plans,
    tell: Callable[[Progress], None] = lambda progress: None,
    solved: CheckedProgram | None = None,
    inside: bool = False,
) -> Certificate:
    """The certificate of an equilibrium.

    Parameters
    ----------
    plans
        Sequences of both players to begin with, such as those of the double oracle after its last round.
    tell
        Called after each step.
    solved
        A linear program of some of these sequences, from whose basis the first one begins.
    inside
        Whether the equilibrium is inside of the optimal face, and no vertex.

    Raises
    ------
    GameError
        If the game has a setup.
    PtttError
        If a linear program cannot be solved.
    """
    check_board(game)
    rules, simplex, programs, fractions = rule_tables(game), Simplex(solved.basis if solved else None), 0, 0
    histories, responders = HistoryFinder(rules), [Responder(rules, p, _MEMO_MB) for p in (0, 1)]
    while True:
        # An equilibrium of the restricted game in double precision: inside, or a vertex from the basis of the last one.
        plans, won = histories.find_won(plans)
        program = integer_program(plans, won, len(game.symmetries))
        if not inside:
            reaches, fractions_of = _at_vertex(program, simplex)
        elif programs == 0:
            reaches, fractions_of = _at_plans(program, plans, won)
        else:
            reaches, fractions_of = _at_centre(program, plans, won)
        programs += 1
        for plan, reach in zip(plans, reaches, strict=True):
            behave(plan, reach, _LEAST)
        # Best responses in the whole game. While they gain, their actions are allowed, and the next vertex follows.
        replies = [responders[p].respond(plans[1 - p]) for p in (0, 1)]
        gain = replies[0].value + replies[1].value
        if gain > _GAIN:
            plans, added = _both(allow_response(rules, plans[p], replies[p]) for p in (0, 1))
            if added:
                tell(Progress(programs, fractions, gain, added))
                continue
        # They gain nothing in double precision, or have nothing new: compute it in fractions, and write both plans
        # out.
        optimum, free = fractions_of()
        fractions += 1
        written = _written_out(game, rules, plans, optimum)
        # Best responses in integers. If they gain nothing, both plans guarantee the same, which is the proof.
        found = guarantees(game, written)
        if found.lower == found.upper:
            tell(Progress(programs, fractions, 0.0, 0, free))
            return Certificate(game, found.lower, found.upper, written)
        # Otherwise they have an action that the restricted game lacks.
        plans, added = _both(allow_integer_response(rules, plans[p], found.responses[p]) for p in (0, 1))
        tell(Progress(programs, fractions, float(found.upper - found.lower), added))
        if not added:
            raise PtttError("The best responses to an equilibrium of the restricted game gain, but have nothing new.")


_Point = tuple[tuple[Floats, Floats], Callable[[], tuple[RationalOptimum, FreeReach | None]]]
"""Both players' reach in double precision, and how to compute it in fractions, with what is free inside of a face."""


def _at_vertex(program: IntegerProgram, simplex: Simplex) -> _Point:
    vertex = simplex.vertex(program)
    return vertex.reach, lambda: (rational_optimum(program, vertex), None)


def _at_plans(program: IntegerProgram, plans: Plans, won: WonHistories) -> _Point:
    """The equilibrium that the plans play; if it is none, the centre of the face."""
    return _in_face(program, face_at(plans, won), lambda: _at_centre(program, plans, won)[1]())


def _at_centre(program: IntegerProgram, plans: Plans, won: WonHistories) -> _Point:
    """The centre of the face.  Presolve may end on the boundary, whose face is another one: then it is left out."""
    return _in_face(
        program,
        face_of(plans, won)[-1],
        lambda: inside_optimum(program, face_of(plans, won, presolve=False)[-1]),
    )


def _in_face(
    program: IntegerProgram, face: Face, otherwise: Callable[[], tuple[RationalOptimum, FreeReach | None]]
) -> _Point:
    def fractions_of() -> tuple[RationalOptimum, FreeReach | None]:
        try:
            return inside_optimum(program, face)
        except (NotOptimalError, SingularError):
            return otherwise()

    return face.clean_reach, fractions_of


def proven_interval(game: Game, plans: Plans) -> Certificate:
    """The certificate of what plans in double precision guarantee, once their chances are rounded.

    Raises
    ------
    GameError
        If the game has a setup.
    StrategyError
        If a plan reaches too many infosets.
    """
    rules = rule_tables(game)
    first, second = (
        in_lowest_terms(integer_plan(game, player, RoundedBehaviour(rules, player, plan)))
        for player, plan in enumerate(plans)
    )
    found = guarantees(game, (first, second))
    return Certificate(game, found.lower, found.upper, (first, second))


def _both(grown: Iterable[tuple[SparsePlan, int]]) -> tuple[Plans, int]:
    (first, added0), (second, added1) = grown
    return (first, second), added0 + added1


def _written_out(
    game: Game, rules: RuleTables, plans: Plans, optimum: RationalOptimum
) -> tuple[IntegerPlan, IntegerPlan]:
    first, second = (
        in_lowest_terms(
            integer_plan(game, p, SparseBehaviour(rules, p, plans[p], optimum.reach[p], optimum.denominators[p]))
        )
        for p in (0, 1)
    )
    return first, second


def allow_integer_response(rules: RuleTables, plan: SparsePlan, response: IntegerResponse) -> tuple[SparsePlan, int]:
    """Allow the actions of a response in the responder's plan; returns the plan, and the number of new sequences."""
    plan = with_capacity(plan, len(response.squares) + SPARE)
    before = int(plan.counts[1])
    done: list[tuple[int, Any, Any, Any]] = []  # infoset, canonical square, orientation and stabiliser after it
    for parent, result, square in zip(response.parents, response.results, response.squares, strict=True):
        infoset, g, stabiliser = 0, 0, rules.everything
        if parent >= 0:
            led, least, g, stabiliser = done[parent]
            infoset = int(next_infoset(rules, plan, led, least, int(result)))
        least, g, stabiliser = canonical_action(rules, g, stabiliser, square)
        allow(rules, plan, infoset, least)
        done.append((infoset, least, g, stabiliser))
    return plan, int(plan.counts[1]) - before
