"""What can be told about a replay of Phantom Tic-Tac-Toe or Dark Hex: legality, and in solved games losses and beliefs.

Both players are strangers, so that an attempt is measured against the equilibrium: what a best response to it would get
more from there on, given what the player knows.  Where the equilibrium's other player never leads, nothing is known.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from pttt_ooc.errors import ReplayError, UnknownGameError
from pttt_ooc.games.rules.catalogue import named_game
from pttt_ooc.games.rules.game import MOST_SQUARES, Game
from pttt_ooc.games.rules.play import start
from pttt_ooc.library.scoring.opponents import Opponents
from pttt_ooc.library.scoring.replays import Replay

_RULES = {"cdh": "classical", "adh": "abrupt"}  # of dark_hex
_HEX_SIZE = "3"


@dataclass(frozen=True)
class ReplayedMove:
    """One move of a replay.

    Attributes
    ----------
    player
        Who made it.
    move
        The move, as the game's own notation writes it.
    legal
        Whether the rules allow it; what comes after an illegal move is not told.
    infoset
        What the player knew, in a phantom game; empty: everything, or in one that is not known here.
    outcome
        Such as "placed", "failed", "wins", and "illegal".
    loss
        What it lost, exact; None: not known.
    fails
        The exact belief that the opponent's mark is on the square that was attempted; None: not known.
    marks
        The exact belief for each square; None: not known, or not a phantom game.
    """

    player: int
    move: str
    legal: bool
    infoset: str
    outcome: str
    loss: float | None = None
    fails: float | None = None
    marks: tuple[float, ...] | None = None


@dataclass(frozen=True)
class JudgedReplay:
    """A replay with what is told about it.

    Attributes
    ----------
    source, game
        The file, and the name of the game here.
    moves
        All moves, up to the first illegal one.
    result
        How the game ends by the rules, in words.
    remarks
        Sentences about what does not agree, and what could not be told.
    """

    source: str
    game: str
    moves: tuple[ReplayedMove, ...]
    result: str
    remarks: tuple[str, ...]

    def as_record(self) -> dict[str, Any]:
        """As JSON."""
        return asdict(self)


def phantom_game_of(replay: Replay) -> Game | None:
    """The package's game of a replay; None if it is of another kind.

    Raises
    ------
    ReplayError
        If the players see more than here, or the board is too large.
    """
    told = replay.parameters
    if replay.game not in ("phantom_ttt", "dark_hex"):
        return None
    if (shown := told.get("obstype", "reveal-nothing")) != "reveal-nothing":
        raise ReplayError(
            f"{replay.source}: In this game players see more than whether their own attempts are placed ({shown}), so "
            "that their infosets are others than here."
        )
    if replay.game == "phantom_ttt":
        name = f"pttt-{told.get('gameversion', 'classical')}"
    else:
        size = told.get("board_size", _HEX_SIZE)
        rows, columns = told.get("num_rows", size), told.get("num_cols", size)
        rule = _RULES.get(version := told.get("gameversion", "cdh"), version)
        name = f"dark-hex-{rows}x{columns}-{rule}"
        if rows.isdecimal() and columns.isdecimal() and int(rows) * int(columns) > MOST_SQUARES:
            raise ReplayError(
                f"{replay.source}: A board of {int(rows)} rows and {int(columns)} columns has more than the "
                f"{MOST_SQUARES} squares that are known here."
            )
    try:
        return named_game(name)
    except UnknownGameError as error:
        raise ReplayError(f"{replay.source}: There is no game {name} here.") from error


def judge_replay(replay: Replay, game: Game, opponents: Opponents | None) -> JudgedReplay:
    """Tell what is true about a replay of a phantom game.

    Parameters
    ----------
    game
        From :func:`phantom_game_of`.
    opponents
        An equilibrium of the game; None: it is not solved, and only legality and outcomes are told.
    """
    history, moves, remarks = start(game), [], []
    for number, square in enumerate(replay.actions, start=1):
        player = history.player
        if player is None:
            remarks.append(f"The game is over after {number - 1} attempts, but the file has {len(replay.actions)}.")
            break
        infoset = history.infoset(player)
        if square not in history.legal():
            moves.append(ReplayedMove(player, str(square), False, infoset, "illegal"))
            remarks.append(
                f"Attempt {number}: player {player} cannot attempt square {square} at {infoset!r}; what follows in the "
                "file is not told."
            )
            break
        after = history.step(square)
        outcome = "placed" if after.attempts[-1].placed else "failed"
        outcome = "wins" if after.winner == player else "fills the board" if after.is_terminal else outcome
        known = _knowledge(opponents, player, infoset, square) if opponents is not None else ()
        moves.append(ReplayedMove(player, str(square), True, infoset, outcome, *known))
        history = after
    result, payoffs = "is not over", None
    if history.is_terminal:
        result = "is a draw" if history.winner is None else f"is won by player {history.winner}"
        payoffs = (float(history.returns[0]), float(history.returns[1]))
    remarks += remarks_on_end(replay, payoffs)
    if opponents is not None and any(move.legal and move.loss is None for move in moves):
        remarks.append(
            "Where no loss is told, the equilibrium's other player never leads there, or too many squares are left."
        )
    return JudgedReplay(replay.source, game.name, tuple(moves), result, tuple(remarks))


def _knowledge(opponents: Opponents, player: int, infoset: str, square: int) -> tuple[Any, Any, Any]:
    """The loss, the belief that the attempt fails, and the belief for each square; None where they are not known."""
    marks = opponents.marks(player, infoset)
    if np.isnan(marks).any():
        return None, None, None
    loss = None
    if opponents.is_exact(infoset):
        loss = max(0.0, opponents.value(player, infoset) - opponents.attempt_value(player, infoset, square))
    return loss, float(marks[square]), tuple(marks.tolist())


def remarks_on_end(replay: Replay, payoffs: tuple[float, float] | None) -> list[str]:
    """Sentences about an action that was refused, and about rewards that the rules do not give.

    Parameters
    ----------
    payoffs
        Both players', if the game is over by the rules.
    """
    found = []
    if replay.refused is not None:
        found.append(f"Player {replay.refused.player} submitted {replay.refused.action}, which was not accepted.")
    elif replay.rewards is not None and payoffs is not None and replay.rewards != payoffs:
        told, right = ("{:+g} and {:+g}".format(*both) for both in (replay.rewards, payoffs))
        found.append(f"The file says that the players got {told}, but by the rules they get {right}.")
    return found
