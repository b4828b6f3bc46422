"""The review of a finished game: the loss of each attempt, and the beliefs before it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from pttt_ooc.disk.numbers import value_for
from pttt_ooc.errors import PlayError
from pttt_ooc.games.rules.catalogue import exact_value
from pttt_ooc.games.rules.game import Game
from pttt_ooc.games.rules.play import Attempt, History, replay
from pttt_ooc.site.explore.opponents import Opponents, PreparingError, Record
from pttt_ooc.site.explore.player_view import cells, known_attempts
from pttt_ooc.site.explore.results import FinishedGame

_EQUAL = 1e-9  # smaller differences of values count as none


@dataclass(frozen=True)
class Move:
    """One attempt of a finished game.

    Attributes
    ----------
    number
        The number of the attempt, from 1, over both players.
    mine
        Whether the person made it.
    loss
        The loss of the person's attempt: the value of the best attempt minus the value of this one, against this
        opponent, with best responses afterwards; None for the opponent's attempts.
    value
        The value of the best attempt, where the loss is known.
    """

    number: int
    mine: bool
    player: int
    square: int
    placed: bool
    loss: float | None = None
    value: float | None = None


@dataclass(frozen=True)
class Choice:
    """A square that the person could choose.

    Attributes
    ----------
    value
        Expected payoff of attempting it, with best responses afterwards.
    fails
        Probability that the attempt fails.
    best, chosen
        Whether it was the best square, and whether it was attempted.
    """

    square: int
    value: float | None
    fails: float | None
    best: bool
    chosen: bool


@dataclass(frozen=True)
class ReviewCell:
    """A square of a board of the review.

    Attributes
    ----------
    state
        ``"mine"``, ``"theirs"``; on the true board ``"empty"``, on the person's ``"free"``.
    words
        The words for a screen reader.
    winning
        Whether it belongs to a row that has won.
    probability
        That the opponent's mark is there, as far as the person could know; None: the board shows no beliefs.
    """

    square: int
    state: str
    words: str
    winning: bool = False
    probability: float | None = None


@dataclass(frozen=True)
class ReviewStep:
    """The moment before one attempt, or the end of the game.

    Attributes
    ----------
    number
        The number of attempts before.
    move
        The next attempt; None at the end.
    infoset
        The infoset of its player; at the end, the person's.
    known, true
        The board as the person saw it, and the true board.
    believed
        The beliefs about the opponent's marks, if it was the person's turn.
    choices
        The squares that the person could choose.
    probability
        The probability of the opponent's attempt, if it is known.
    """

    number: int
    move: Move | None
    infoset: str
    known: tuple[ReviewCell, ...]
    true: tuple[ReviewCell, ...]
    believed: tuple[ReviewCell, ...] = ()
    choices: tuple[Choice, ...] = ()
    probability: float | None = None

    @property
    def by_square(self) -> dict[int, Choice]:
        """The choices by their squares."""
        return {choice.square: choice for choice in self.choices}


@dataclass(frozen=True)
class Review:
    """A finished game.

    Attributes
    ----------
    moves
        All attempts in order.
    lost
        The sum of the losses of the person's attempts; None if the opponent cannot be asked.
    why
        Why the opponent cannot be asked; empty if it can.
    """

    moves: tuple[Move, ...]
    lost: float | None
    why: str

    def curve(self, result: int) -> list[float]:
        """The values before the person's attempts and the payoff at the end, from 0 for a loss to 1 for a win."""
        values = [move.value for move in self.moves if move.value is not None]
        return [(1 + value) / 2 for value in [*values, result]] if values else []

    @property
    def worst(self) -> Move | None:
        """The attempt of the person that lost most, the first one of equals; None if none lost anything."""
        lost = [move for move in self.moves if (move.loss or 0.0) > _EQUAL]
        return max(lost, key=lambda move: move.loss or 0.0, default=None)


def review_of(opponents: Opponents, played: FinishedGame) -> Review:
    """All attempts of a finished game with their losses."""
    why = unavailable(opponents, played)
    found, history = [], replay(played.history.game, [])
    for number, attempt in enumerate(played.history.attempts, 1):
        move = _move(number, attempt, played)
        if move.mine and not why:
            numbers = opponents.numbers(played.opponent, history.infoset(attempt.player))
            move = _rate_move(move, numbers)
        found.append(move)
        history = history.step(attempt.square)
    lost = None if why else sum(move.loss or 0.0 for move in found)
    return Review(tuple(found), lost, why)


def perfect_payoff(game: Game, player: int) -> float | None:
    """What perfect play averages against a perfect opponent: the proven value of the game; None if it is unknown."""
    value = exact_value(game)
    return None if value is None else value_for(player, float(value))


def unavailable(opponents: Opponents, played: FinishedGame) -> str:
    """Why the losses of a game's attempts are unknown; empty if they are known."""
    if played.opponent not in opponents.list_opponents():
        return "This opponent can no longer be played against, so that the attempts cannot be valued."
    try:
        opponents.prepare(played.opponent)
    except PreparingError as error:
        return f"The attempts cannot be valued yet: {error}"
    return ""


def step_of(opponents: Opponents, played: FinishedGame, number: int | None) -> ReviewStep:
    """The boards and the beliefs before attempt `number` (from 0); None, or the number of all attempts: at the end.

    Raises
    ------
    PlayError
        If the game has fewer attempts.
    """
    attempts = played.history.attempts
    number = len(attempts) if number is None else number
    if number > len(attempts):
        raise PlayError(f"The game has {len(attempts)} attempts; step {number} is not one of them.", 404)
    history = replay(played.history.game, [attempt.square for attempt in attempts[:number]])
    me = played.seat.player
    seen = cells(history.game, known_attempts(history, me))
    known = tuple(ReviewCell(one.square, one.state, one.words) for one in seen)
    if number == len(attempts):
        return ReviewStep(number, None, history.infoset(me), known, _true(history, me))
    move = _move(number + 1, attempts[number], played)
    infoset = history.infoset(move.player)
    step = ReviewStep(number, move, infoset, known, _true(history, me))
    if unavailable(opponents, played):
        return step
    if not move.mine:
        return replace(step, probability=opponents.probabilities(played.opponent, infoset)[move.square])
    numbers = opponents.numbers(played.opponent, infoset)
    own = tuple(choices(numbers, history.legal(), move.square))
    believed = tuple(_believed_cells(known, opponents.beliefs(played.opponent, infoset)))
    return replace(step, move=_rate_move(move, numbers), choices=own, believed=believed)


def _move(number: int, attempt: Attempt, played: FinishedGame) -> Move:
    mine = attempt.player == played.seat.player
    return Move(number, mine, attempt.player, attempt.square, attempt.placed)


def _rate_move(move: Move, numbers: Record) -> Move:
    best, value = numbers["best_value"], numbers["best_action_values"][move.square]
    return replace(move, loss=None if best is None or value is None else max(0.0, best - value), value=best)


def choices(numbers: Record, legal: Sequence[int], chosen: int | None = None) -> list[Choice]:
    """The squares that a person can choose, from the `Numbers` of their infoset."""
    values, fails = numbers["best_action_values"], numbers["fails"]
    most = max((values[square] for square in legal if values[square] is not None), default=None)

    def is_best(value: float | None) -> bool:
        return value is not None and most is not None and value >= most - _EQUAL

    return [Choice(s, values[s], fails[s], is_best(values[s]), s == chosen) for s in legal]


def _true(history: History, me: int) -> tuple[ReviewCell, ...]:
    words = {"mine": "your mark", "theirs": "the opponent’s mark", "empty": "empty"}
    sets = zip(history.game.winning_sets, history.placed, strict=True)
    rows = [row for winning, placed in sets for row in winning if row & placed == row]
    found = []
    for square in range(history.game.squares):
        mine, theirs = (history.placed[player] >> square & 1 for player in (me, 1 - me))
        state = "mine" if mine else "theirs" if theirs else "empty"
        winning = any(row >> square & 1 for row in rows)
        found.append(ReviewCell(square, state, f"Square {square}, {words[state]}", winning))
    return tuple(found)


def _believed_cells(known: Sequence[ReviewCell], beliefs: Record) -> list[ReviewCell]:
    found = []
    for cell, p in zip(known, beliefs["marks"], strict=True):
        words = f"Square {cell.square}, the opponent’s mark with probability {p:.3f}"
        found.append(replace(cell, probability=p, words=cell.words if cell.state == "mine" else words))
    return found
