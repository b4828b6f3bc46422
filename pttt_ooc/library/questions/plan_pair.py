"""Two sparse plans with the pure rule elsewhere, prepared for questions: without a list, on boards of any size.

Every number is computed when it is asked for, by following the attempts of one infoset.  An infoset that the opponent's
strategy never reaches has no value and no beliefs.  Values of best responses are computed where at most
:data:`MOST_REPLIED_SQUARES` squares are left: with more, a search may take minutes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property
from types import MappingProxyType
from typing import Any

import numpy as np

from pttt_ooc.config import MOST_REPLIED_SQUARES
from pttt_ooc.errors import GameError, StrategyError
from pttt_ooc.exact.double_oracle.complete_strategy import CompleteStrategy
from pttt_ooc.exact.double_oracle.infoset_values import Fitting, InfosetValues
from pttt_ooc.exact.double_oracle.lazy_response import Responder, allow_response
from pttt_ooc.exact.double_oracle.restricted_histories import Plans
from pttt_ooc.exact.double_oracle.rule_tables import RuleTables, rule_tables
from pttt_ooc.exact.double_oracle.sparse_plan import SparsePlan, behave, first_infoset
from pttt_ooc.games.rules.game import Game
from pttt_ooc.games.rules.infoset_text import attempts_of, infoset_text
from pttt_ooc.games.structure.infoset_parser import check_infoset, leads_somewhere
from pttt_ooc.library.questions.answers import Beliefs, Board, Numbers, Outcome, SquareArray
from pttt_ooc.library.questions.mirror_merge import MergedInfoset, image
from pttt_ooc.types import Attempts

_BOUNDS_MB = 48
_REACHED = 4096  # texts that are known to be infosets


class PlanPair:
    """One plan of each player of a game.

    Parameters
    ----------
    plans
        Plans with their chances; they must not change afterwards.
    facts
        What is stored with them: ``value_lower`` and ``value_upper`` prove an interval for the value of the game.
    """

    def __init__(self, game: Game, plans: Plans, facts: Mapping[str, Any] | None = None) -> None:
        self.game, self.plans, self.facts = game, plans, dict(facts or {})
        self._rules: RuleTables = rule_tables(game)
        self._strategies = tuple(CompleteStrategy(self._rules, player, plan) for player, plan in enumerate(plans))
        self._values: dict[int, InfosetValues] = {}
        self._reached: dict[tuple[int, str], Attempts] = {}  # infosets that games reach: they need no check

    def with_reply(self, *players: int) -> PlanPair:
        """The pair with the best responses of `players` instead of their plans.

        Raises
        ------
        StrategyError
            If the board is too large.
        """
        plans = list(self.plans)
        for player in players:
            plans[player] = self._reply(player)
        return PlanPair(self.game, (plans[0], plans[1]))

    def _reply(self, player: int) -> SparsePlan:
        if self.game.squares > MOST_REPLIED_SQUARES:
            raise StrategyError(
                f"{self.game.name}: the best response in the whole game is found on boards of at most "
                f"{MOST_REPLIED_SQUARES} squares; play against the strategy itself."
            )
        response = Responder(self._rules, player, _BOUNDS_MB).respond(self.plans[1 - player])
        plan, _ = allow_response(self._rules, first_infoset(self._rules, player), response)
        behave(plan, np.ones(int(plan.counts[1])), 0.0)
        return plan

    # -----------------------------------------------------------------------------------------
    # Answers

    def row(self, player: int, infoset: str) -> SquareArray:
        """A player's probabilities at an infoset: float64 (squares,), 0 at illegal squares.

        Raises
        ------
        ImpossibleInfosetError
            If it is not an infoset of the player.
        """
        return self._strategies[player].probabilities(self._attempts(player, infoset))

    def numbers(self, player: int, infoset: str) -> Numbers:
        """Probabilities, reach and values at an infoset; errors as :meth:`row`.

        Values of best responses are NaN where more than :data:`MOST_REPLIED_SQUARES` squares are left.
        """
        attempts = self._attempts(player, infoset)
        legal, values = self._legal(player, attempts), self._of(player)
        row = self._strategies[player].probabilities(attempts)
        found = values.fitting(attempts)
        reached, searched = float(found.reach.sum()), len(legal) <= MOST_REPLIED_SQUARES
        own, best, fails = (np.full(self.game.squares, np.nan) for _ in range(3))
        for square in legal if reached else ():
            fails[square] = found.reach @ (found.marks >> square & 1) / reached
            now, later = 0.0, 0.0
            for placed in (False, True):
                after = (*attempts, (square, placed))
                payoff = values.fitting(after).payoff
                now += payoff + values.own_value(after)
                later += payoff + values.best_value(after) if searched else np.nan
            own[square], best[square] = now / reached, later / reached
        is_legal = np.isin(np.arange(self.game.squares), legal)
        value = float(row[list(legal)] @ own[list(legal)])
        reach = self._own_reach(player, attempts)
        return Numbers(
            player=player,
            infoset=self._text(player, attempts),
            legal=legal,
            probabilities=np.where(is_legal, row, np.nan),
            own_reach=reach,
            opponent_reach=reached,
            value=value,
            action_values=own,
            best_value=float(best[list(legal)].max()),
            best_action_values=best,
            regrets=(own - value) * reached if reached else np.where(is_legal, 0.0, np.nan),
            fails=fails,
            arbitrary=reach == 0 or reached == 0,
        )

    def beliefs(self, player: int, infoset: str, boards: int = 10) -> Beliefs:
        """What the player believes about the board; errors as :meth:`row`.

        Where the opponent's reach is 0, probabilities are NaN at squares that the player has not attempted, and there
        are no boards, as this class does not list all consistent histories.
        """
        attempts = self._attempts(player, infoset)
        found = self._of(player).fitting(attempts)
        reached, n = float(found.reach.sum()), np.arange(self.game.squares)
        mine = self.game.setup_mask(player) | sum(1 << square for square, placed in attempts if placed)
        theirs = self.game.setup_mask(1 - player) | sum(1 << square for square, placed in attempts if not placed)
        text = self._text(player, attempts)
        if not reached:
            known = np.where((mine | theirs) >> n & 1, 1.0, np.nan)
            return Beliefs(player, text, 0.0, known * (theirs >> n & 1), 0 * known, (), arbitrary=True)
        weights = found.reach / reached
        masks, which = np.unique(found.marks, return_inverse=True)
        by_board = np.bincount(which, weights=weights)
        likeliest = np.lexsort((masks, -by_board))[:boards]
        marks = weights @ (found.marks[:, None] >> n & 1)
        return Beliefs(
            player,
            text,
            reached,
            marks,
            1 - marks - (mine >> n & 1),
            tuple(Board(mine, int(masks[b]), float(by_board[b])) for b in likeliest),
            MappingProxyType(self._attempt_counts(1 - player, found, weights)),
        )

    def following(self, player: int, infoset: str, square: int | None = None) -> tuple[Outcome, ...]:
        """The outcomes of attempts, of one square or of all; as
        :func:`pttt_ooc.library.questions.infoset.following`.

        Raises
        ------
        GameError
            If the square cannot be attempted there; other errors as :meth:`row`.
        """
        attempts = self._attempts(player, infoset)
        legal = self._legal(player, attempts)
        if square is not None and square not in legal:
            raise GameError(f"Player {player} cannot attempt square {square} at {infoset!r}.")
        found = self._of(player).fitting(attempts)
        ways = (
            self._outcome(player, (*attempts, (each, placed)), found)
            for each in (legal if square is None else (square,))
            for placed in (False, True)
        )
        return tuple(way for way in ways if way)

    def _outcome(self, player: int, after: Attempts, found: Fitting) -> Outcome | None:
        """The outcome that ends some attempts; None if the rules do not allow it."""
        square, placed = after[-1]
        reached = float(found.reach.sum())
        happens = float(found.reach @ ((found.marks >> square & 1) != placed))
        then = self._of(player).fitting(after)
        returned = float(then.reach.sum())
        decides = returned > 0 or leads_somewhere(self.game, player, after)
        if not decides and not happens and not leads_somewhere(self.game, player, after, decides=False):
            return None
        mine = self.game.setup_mask(player) | sum(1 << s for s, was_placed in after if was_placed)
        if not happens:
            shares = (np.nan,) * 4
        elif placed and self.game.wins(player, mine):
            shares = (0.0, 1.0, 0.0, 0.0)
        else:
            returns, loses = returned / happens, max(0.0, -then.payoff) / happens
            shares = (returns, 0.0, max(1 - returns - loses, 0.0), loses)
        probability = happens / reached if reached else float("nan")
        return Outcome(square, placed, probability, self._text(player, after), decides, *shares)

    def decides(self, player: int) -> float:
        """The probability that a player ever decides."""
        return float(self._of(player).fitting(()).reach.sum())

    def next_infosets(self, player: int, infoset: str, square: int) -> dict[str, float]:
        """The infosets at which the player may decide next after an attempt, with their probabilities.

        They are conditional on reaching `infoset`; errors as :meth:`row`.
        """
        attempts = self._attempts(player, infoset)
        found, before = {}, float(self._of(player).fitting(attempts).reach.sum())
        for placed in (False, True):
            after = (*attempts, (square, placed))
            reached = float(self._of(player).fitting(after).reach.sum())
            if reached > 0:
                found[text := self._text(player, after)] = reached / before
                if len(self._reached) >= _REACHED:
                    self._reached.clear()
                self._reached[player, text] = after
        return found

    @cached_property
    def value(self) -> float:
        """What player 0 gets when both follow their strategies."""
        values = self._of(0)
        return values.fitting(()).payoff + values.own_value(())

    @cached_property
    def best_responses(self) -> tuple[float, float]:
        """What each player's best response gets; NaN on boards of more than :data:`MOST_REPLIED_SQUARES` squares."""
        if self.game.squares > MOST_REPLIED_SQUARES:
            return float("nan"), float("nan")
        first, second = (values.fitting(()).payoff + values.best_value(()) for values in (self._of(0), self._of(1)))
        return first, second

    def merge_infoset(self, player: int, infoset: str, square: int | None = None, boards: int = 10) -> MergedInfoset:
        """An infoset with its mirror images, at which symmetric plans do the same; see :class:`MergedInfoset`."""
        facts = self.numbers(player, infoset)
        tried = [square for square, _ in attempts_of(facts.infoset)]
        keeps = [g for g in self.game.symmetries if all(g[square] == square for square in tried)]
        classes = tuple(sorted({tuple(sorted({g[square] for g in keeps})) for square in facts.legal}))
        count = len(self.game.symmetries) // len(keeps)
        chosen = next((one[0] for one in classes if square in one), None)
        return MergedInfoset(
            tuple(sorted({image(self.game, player, facts.infoset, g) for g in self.game.symmetries})),
            classes,
            replace(facts, own_reach=count * facts.own_reach, regrets=count * facts.regrets),
            self.beliefs(player, infoset, boards),
            () if chosen is None else self.following(player, infoset, chosen),
        )

    # -----------------------------------------------------------------------------------------

    def _of(self, player: int) -> InfosetValues:
        if player not in self._values:
            self._values[player] = InfosetValues(self._rules, player, self.plans, _BOUNDS_MB)
        return self._values[player]

    def _attempts(self, player: int, infoset: str) -> Attempts:
        if (player, infoset) in self._reached:
            return self._reached[player, infoset]
        return tuple(attempts_of(check_infoset(self.game, player, infoset)))[len(self.game.setup[player]) :]

    def _text(self, player: int, attempts: Attempts) -> str:
        return infoset_text((*((square, True) for square in self.game.setup[player]), *attempts))

    def _legal(self, player: int, attempts: Attempts) -> tuple[int, ...]:
        taken = {*(square for square, _ in attempts), *self.game.setup[player]}
        return tuple(square for square in range(self.game.squares) if square not in taken)

    def _own_reach(self, player: int, attempts: Attempts) -> float:
        reach = 1.0
        for n, (square, _) in enumerate(attempts):
            reach *= float(self._strategies[player].probabilities(attempts[:n])[square])
        return reach

    def _attempt_counts(self, opponent: int, found: Fitting, weights: SquareArray) -> dict[int, float]:
        """The number of the opponent's attempts, with its probability."""
        tried = (found.marks & ~self.game.setup_mask(opponent)) | found.fails
        numbers = (tried[:, None] >> np.arange(self.game.squares) & 1).sum(axis=1)
        counts = np.bincount(numbers, weights=weights)
        return {int(n): float(counts[n]) for n in np.flatnonzero(counts)}
