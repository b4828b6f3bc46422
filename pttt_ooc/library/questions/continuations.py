"""The outcomes of attempts at an infoset, and the infosets on the way to it."""

from __future__ import annotations

import numpy as np

from pttt_ooc.errors import GameError
from pttt_ooc.games.structure.index import Index
from pttt_ooc.games.structure.infoset_places import Attempts, attempts_of, is_infoset, text_of
from pttt_ooc.library.questions.answers import Outcome
from pttt_ooc.library.questions.histories import Histories, consistent_histories, follow, histories, own_part, read_only
from pttt_ooc.library.questions.infoset import legal_squares
from pttt_ooc.library.questions.profile import PreparedProfile


def following(profile: PreparedProfile, player: int, infoset: str, square: int | None = None) -> tuple[Outcome, ...]:
    """The outcomes of attempts at an infoset: for each square *failed*, then *placed*, if the rules allow it.

    Parameters
    ----------
    infoset
        Its text, such as ``"|0*4."``.
    square
        The attempt; default: every legal attempt.

    Raises
    ------
    ImpossibleInfosetError
        If it is no infoset of the player.
    GameError
        If the square cannot be attempted there.
    """
    # The attempts to follow: one square, or all legal ones.
    attempts = attempts_of(profile.index, player, infoset)
    legal = legal_squares(profile.game, player, attempts)
    if square is not None and square not in legal:
        listed = ", ".join(map(str, legal))
        raise GameError(f"Player {player} cannot attempt square {square} at {infoset!r}; choose one of {listed}.")
    chosen = legal if square is None else (square,)
    opponent = profile.strategies[1 - player]
    # Columns of a single history would have another array type, and the kernel would be compiled again.
    found = Histories._make(map(np.ascontiguousarray, histories(opponent, attempts)))
    own = own_part(profile.game, player, attempts)
    sides = (profile.sides[player], profile.sides[1 - player])
    # The reach of each result, summed over the infoset's histories.
    reach = follow(found, own, *sides, read_only(opponent.probabilities), sum(1 << s for s in chosen))
    reached = float(found.reach.sum())
    outcomes, possible = [], None
    for each in chosen:
        for placed in (False, True):
            after = Attempts(np.append(attempts.squares, each), attempts.placed | placed << each)
            # An outcome without an infoset after it and without reach is listed only if some history allows it;
            # otherwise the rules do not.
            decides = is_infoset(sides[0], after)
            happens = float(reach[each, int(placed)].sum())
            if not decides and not happens:
                possible = possible or _possible(profile.index, player, attempts)
                if not possible[placed] >> each & 1:
                    continue
            # Shares of the results among the games with this outcome.
            shares = reach[each, int(placed)] / happens if happens else np.full(4, np.nan)
            text = text_of(profile.game, player, after)
            probability = happens / reached if reached else float("nan")
            outcomes.append(Outcome(each, placed, probability, text, decides, *shares.tolist()))
    return tuple(outcomes)


def _possible(index: Index, player: int, attempts: Attempts) -> tuple[int, int]:
    """Squares on which the player can fail, and squares on which they can place a mark, as bit masks."""
    marks = consistent_histories(index, player, attempts, some=True).marks
    return int(np.bitwise_or.reduce(marks)), int(np.bitwise_or.reduce(~marks))


def earlier(index: Index, player: int, infoset: str) -> tuple[str, ...]:
    """The player's own infosets on the way to one, from the first to the infoset itself, as texts.

    Raises
    ------
    ImpossibleInfosetError
        If it is no infoset of the player.
    """
    attempts = attempts_of(index, player, infoset)
    parts = [Attempts(attempts.squares[:n], attempts.placed) for n in range(len(attempts.squares) + 1)]
    return tuple(text_of(index.game, player, part) for part in parts)
