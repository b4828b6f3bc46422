"""Positions of Ultimate tic-tac-toe as text, for engines that know nothing of our states.

A position is ``CELLS TARGET MOVER``: 81 characters ``x``, ``o`` or ``.``, small board by small board; the small board
to which the player is sent, or ``-``; and ``x`` or ``o``, who is to move.
"""

from __future__ import annotations

from pttt_ooc.other_games.arena.games.base import PLAYER, State
from pttt_ooc.other_games.arena.kernels import ultimate as rules


def text_of(state: State) -> str:
    """A position as text."""
    cells = "".join(
        "x" if state[rules.MARKS + board] >> cell & 1 else "o" if state[rules.MARKS + 9 + board] >> cell & 1 else "."
        for board in range(9)
        for cell in range(9)
    )
    target = int(state[rules.TARGET])
    return f"{cells} {'-' if target == rules.ANYWHERE else target} {'xo'[int(state[PLAYER])]}"
