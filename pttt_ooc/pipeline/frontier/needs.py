"""What is known of a game beyond enumeration before a run: its size, and what fits into the memory."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from pttt_ooc.disk.numbers import thousands
from pttt_ooc.disk.resources import MB
from pttt_ooc.exact.double_oracle.memory_budget import LEAST_TABLES, fixed_needs, needs_of
from pttt_ooc.exact.double_oracle.rule_tables import rule_tables
from pttt_ooc.exact.double_oracle.sparse_plan import first_infoset, with_capacity
from pttt_ooc.games.rules.catalogue import KNOWN_COUNTS
from pttt_ooc.games.rules.game import Game

_HISTORIES = 1.4  # won histories for each sequence: of the largest game that was solved, 3x4, three in a row, abrupt
_TRIED = 10_000  # sequences of a player, for which memory is projected


@dataclass(frozen=True)
class FrontierNeeds:
    """The needs of a run.

    Attributes
    ----------
    infosets
        The number of both players' infosets, if `is_known`; else an upper bound.
    smallest_mb
        The memory with which a run begins.
    budget_mb
        The memory of the run.
    sequences
        About how many sequences of both players together fit into it while linear programs are solved.
    """

    infosets: int
    is_known: bool
    smallest_mb: int
    budget_mb: int
    sequences: int


def needs_of_game(game: Game, budget_mb: int) -> FrontierNeeds:
    """The needs of a run of a game; only tables of its rules are made."""
    rules = rule_tables(game)
    fixed = sum(fixed_needs(rules).values()) + LEAST_TABLES
    first = needs_of((first_infoset(rules, 0), first_infoset(rules, 1)), 0, True)
    plans = tuple(with_capacity(first_infoset(rules, player), _TRIED) for player in (0, 1))
    for plan in plans:
        plan.counts[:] = _TRIED
    per_sequence = sum(needs_of((plans[0], plans[1]), round(2 * _TRIED * _HISTORIES), True).values()) / (2 * _TRIED)
    smallest = math.ceil((fixed + sum(first.values())) / MB)
    most, known = infosets_of(game)
    return FrontierNeeds(most, known, smallest, budget_mb, max(0, int((budget_mb * MB - fixed) / per_sequence)))


def infosets_of(game: Game) -> tuple[int, bool]:
    """The number of both players' infosets, and whether it is known; if not, an upper bound.

    For each number of placed and of failed attempts, the bound counts the pairs of sets of squares in which the player
    has not won, or those in which the opponent has not, whichever are fewer, in all orders.
    """
    counts = KNOWN_COUNTS.get(game.name, {})
    if "infosets_0" in counts:
        return sum(counts["infosets_0"]) + sum(counts["infosets_1"]), True
    if "total_infosets" in counts:
        return sum(counts["total_infosets"]), True
    return sum(_most_infosets(game, player) for player in (0, 1)), False


def _most_infosets(game: Game, player: int) -> int:
    n, total = game.squares, 0
    mine, theirs = _quiet(game, player), _quiet(game, 1 - player)
    for placed in range(n):
        for failed in range(n - placed):
            if game.failure_allowed(player, placed, failed, 0):
                pairs = min(
                    mine[placed] * math.comb(n - placed, failed), theirs[failed] * math.comb(n - failed, placed)
                )
                total += pairs * math.factorial(placed + failed)
    return total


def _quiet(game: Game, player: int) -> list[int]:
    """The number of sets of squares with which a player has not won, by their sizes."""
    sets = np.arange(1 << game.squares)
    sizes = (sets[:, None] >> np.arange(game.squares) & 1).sum(axis=1)
    won = np.zeros(len(sets), np.bool_)
    for winning in game.winning_sets[player]:
        won |= sets & winning == winning
    return [int(count) for count in np.bincount(sizes[~won], minlength=game.squares + 1)]


def size_sentence(game: Game) -> str:
    """The number of infosets, in words."""
    most, known = infosets_of(game)
    return f"It has {thousands(most)} infosets" if known else f"It has at most {most:.1e} infosets; none is listed"
