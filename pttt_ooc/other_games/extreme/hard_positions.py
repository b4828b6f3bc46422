"""The positions in which a bot forfeited or was slow, and how the next bot of its team does in them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pttt_ooc.other_games.extreme.analysis import after, steps
from pttt_ooc.other_games.extreme.match_logs import read_json
from pttt_ooc.other_games.extreme.referee import PLAYERS, Cell
from pttt_ooc.other_games.extreme.walls import ExtremeError

SLOW = 0.5
"""Share of the time limit from which on a move is slow."""


@dataclass(frozen=True)
class HardPosition:
    """A position in which a bot forfeited or was slow.

    Attributes
    ----------
    moves
        The moves that lead to it.
    message
        How the bot forfeited; empty if it was slow.
    seconds
        What its move took; 0 for a forfeit.
    """

    moves: tuple[Cell, ...]
    message: str
    seconds: float = 0.0


@dataclass(frozen=True)
class Trial:
    """How a bot does in a position that was hard before.

    Attributes
    ----------
    position
        The position.
    message
        How it forfeits; empty if it plays.
    seconds
        What its move took; 0 for a forfeit.
    slow
        Whether that is slow.
    """

    position: HardPosition
    message: str
    seconds: float
    slow: bool

    def __str__(self) -> str:
        position, count = self.position, len(self.position.moves)
        before = f"forfeited, {position.message}" if position.message else f"took {position.seconds:.3f} s"
        now = f"it forfeits, {self.message}" if self.message else f"it plays, in {self.seconds:.3f} s"
        slow = ", which is slow" if self.slow else ""
        return f"After {count} move{'s' * (count != 1)}, where a bot {before}: {now}{slow}."


def hard_positions(match: dict[str, Any], side: int, limit: float) -> list[HardPosition]:
    """Where the bot on a side forfeited a match, and where its slowest move took at least `SLOW` of the limit.

    Parameters
    ----------
    match
        A match as JSON has it.
    limit
        Seconds for a move.

    Raises
    ------
    ExtremeError
        If it is not a match by the rules.
    """
    found = []
    try:
        moves = steps(match)
        lost = match["winner"] == PLAYERS[1 - side] and match["message"] not in ("", "WON", "DRAW")
        position = after(match, len(moves))
        if lost and position.player == side and position.result()[1] == "-":
            found.append(HardPosition(tuple(move.cell for move in moves), str(match["message"])[:40]))
    except (KeyError, TypeError):
        raise ExtremeError("The log of a match is damaged: it does not say how the match ended.") from None
    own = [ply for ply, move in enumerate(moves) if move.player == side]
    slowest = max(own, key=lambda ply: moves[ply].seconds, default=None)
    if slowest is not None and moves[slowest].seconds >= SLOW * limit:
        cells = tuple(move.cell for move in moves[:slowest])
        found.append(HardPosition(cells, "", round(moves[slowest].seconds, 6)))
    return found


def of_logs(files: Iterable[Path], name: str, limit: float) -> list[HardPosition]:
    """The hard positions of the bot with a file's name in logs of matches.

    Raises
    ------
    ExtremeError
        If a file is not a log of a match, or such a bot did not play in it.
    """
    found = []
    for file in files:
        match = read_json(file)
        names = match.get("names")
        if not isinstance(names, list) or name not in names:
            raise ExtremeError(
                f"{file} is not a log of a match of {name}; name one that `pttt extreme match --log` wrote."
            )
        for side in (side for side, one in enumerate(names[:2]) if one == name):
            found += hard_positions(match, side, limit)
    return found
