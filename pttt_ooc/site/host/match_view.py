"""What leaves the server about a match: a function of the player's own infoset, the result and the clock alone.

Every answer about a match, in JSON, as text or by MCP, is a :class:`MatchView`, and :func:`view_of` makes all of them.
No history and no marks of the opponent come into this module, but those that the player has found.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from pydantic import BaseModel, Field

from pttt_ooc.games.rules.game import Game
from pttt_ooc.games.rules.infoset_text import attempts_of
from pttt_ooc.pipeline.show.boards import MARKS, attempts_sentence
from pttt_ooc.site.host.game_rules import numbered_board
from pttt_ooc.site.play.bodies import OwnAttempt

Ended = Literal["played", "resigned", "out of time", "opponent resigned", "opponent out of time"]
"""How a match has ended."""

_UNKNOWN = "."
_REASONS = {
    "played": "",
    "resigned": ": you resigned",
    "out of time": ": your time was over",
    "opponent resigned": ": the other agent resigned",
    "opponent out of time": ": the other agent's time was over",
}


@dataclass(frozen=True)
class MatchSeat:
    """Who plays whom: what does not change while a match goes on.

    Attributes
    ----------
    id
        The match's key.
    opponent
        The opponent's key.
    player
        The player that the agent is.
    """

    game: Game
    id: str
    opponent: str
    player: int


@dataclass(frozen=True)
class Ending:
    """The end of a match: the agent's payoff, and how it came about."""

    result: int
    how: Ended


class MatchView(BaseModel):
    """What you may know of a match: nothing else about it is ever sent, also when it is over."""

    id: str
    game: str
    opponent: str = Field(description="The opponent's key.")
    player: int = Field(description="Whom you play.")
    infoset: str = Field(description="What you know: your attempts in order, * for placed and . for failed.")
    attempts: list[OwnAttempt] = Field(description="The same as a list, with the marks that you began with.")
    made: int = Field(description="How many attempts you have made; send this number with the next one.")
    your_turn: bool = Field(description="If not, the match is over, or another agent is thinking: look again later.")
    legal: list[int] = Field(description="Squares that you may attempt; none if it is not your turn.")
    over: bool
    result: int | None = Field(description="Your payoff: 1, 0 or -1; null while the match goes on.")
    ended: Ended | None = Field(description="How it has ended; null while it goes on.")
    seconds_left: float = Field(description="Your time for the rest of the match; it runs while it is your turn.")
    text: str = Field(description="All of this in words.")


def view_of(
    seat: MatchSeat, infoset: str, ending: Ending | None, seconds_left: float, your_turn: bool = True
) -> MatchView:
    """What an agent may know of a match.

    Parameters
    ----------
    infoset
        The agent's own infoset, as text.
    ending
        None while the match goes on.
    seconds_left
        The agent's time for the rest of the match.
    your_turn
        Whether it is the agent's turn while the match goes on.
    """
    known, setup = attempts_of(infoset), len(seat.game.setup[seat.player])
    tried = {square for square, _ in known}
    your_turn = your_turn and ending is None
    legal = [square for square in range(seat.game.squares) if square not in tried] if your_turn else []
    seconds = round(max(0.0, seconds_left), 1)
    return MatchView(
        id=seat.id,
        game=seat.game.name,
        opponent=seat.opponent,
        player=seat.player,
        infoset=infoset,
        attempts=[OwnAttempt(square=square, placed=placed) for square, placed in known],
        made=len(known) - setup,
        your_turn=your_turn,
        legal=legal,
        over=ending is not None,
        result=ending.result if ending else None,
        ended=ending.how if ending else None,
        seconds_left=seconds,
        text=_text(seat, infoset, legal, ending, seconds),
    )


def _text(seat: MatchSeat, infoset: str, legal: list[int], ending: Ending | None, seconds: float) -> str:
    game, known = seat.game, dict(attempts_of(infoset))
    marks = [
        MARKS[seat.player if known[s] else 1 - seat.player] if s in known else _UNKNOWN for s in range(game.squares)
    ]
    rows = [" ".join(marks[row * game.columns : (row + 1) * game.columns]) for row in range(game.rows)]
    numbers = numbered_board(game)
    told = attempts_sentence(infoset, len(game.setup[seat.player]))
    lines = [
        f"Match {seat.id}: {game.name}, you are player {seat.player} ({MARKS[seat.player]}).",
        f"You know ({_UNKNOWN}: not attempted), and the squares' numbers:",
        *(f"{row}    {row_numbers}" for row, row_numbers in zip(rows, numbers, strict=True)),
        f"Your attempts: {told}. Infoset: {infoset}",
    ]
    if ending:
        outcome = {1: "You have won", 0: "It is a draw", -1: "You have lost"}[ending.result]
        return "\n".join([*lines, f"{outcome}{_REASONS[ending.how]}."]) + "\n"
    if legal:
        lines.append(f"It is your turn. Attempt one of the squares {', '.join(map(str, legal))}.")
    else:
        lines.append("It is the other agent's turn.")
    return "\n".join([*lines, f"You have {seconds:g} seconds left for this match."]) + "\n"
