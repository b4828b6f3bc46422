"""`pttt web --play --terminal`: games against a strategy on a terminal, and their reviews."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

from rich.text import Text

from pttt_ooc.disk.numbers import decimals
from pttt_ooc.errors import ConfigError
from pttt_ooc.games.rules.game import Game
from pttt_ooc.games.rules.infoset_text import DIGITS
from pttt_ooc.games.rules.play import History, start
from pttt_ooc.pipeline.show.dialogue import MARKS, Dialogue, Square
from pttt_ooc.site.explore.opponents import Opponents
from pttt_ooc.site.explore.player_view import Seat, seat_of
from pttt_ooc.site.explore.results import FinishedGame, Tally, play_opponent
from pttt_ooc.site.explore.review import Review, ReviewCell, ReviewStep, perfect_payoff, review_of, step_of
from pttt_ooc.site.play.review import ViewSquare

SQUARES = "Type the digit of a square, which each free square shows. r resigns, q ends, ? shows this."
KEYPAD = (
    "Type the key of a square: keys lie as on a keypad, and each free square shows its own. Or type s and the square's "
    "number, as s4. r resigns, q ends, ? shows this."
)
_LOOK = "Enter: on, b: back, a number: before that attempt, n: a new game, q: end >"


def keypad_key(game: Game, square: int) -> str:
    """The key of a square, as it lies on a keypad.

    Raises
    ------
    ConfigError
        If the board has more rows or columns than a keypad.

    Examples
    --------
    >>> from pttt_ooc.games.rules.catalogue import named_game
    >>> [keypad_key(named_game("pttt-abrupt"), square) for square in range(9)]
    ['7', '8', '9', '4', '5', '6', '1', '2', '3']
    """
    if game.rows > 3 or game.columns > 3:
        raise ConfigError(f"A keypad has three rows and columns, too few for {game.name}; leave out --keypad.")
    row, column = divmod(square, game.columns)
    return str(3 * (game.rows - 1 - row) + column + 1)


def play(
    opponents: Opponents, dialogue: Dialogue, draw: Callable[[], float] | None = None, keypad: bool = False
) -> int:
    """Play games until the person quits.

    Parameters
    ----------
    opponents
        The first one is the opponent.
    draw
        Returns random numbers in [0, 1); default: the operating system's.
    keypad
        Whether keys lie as on a keypad; default: the key of a square is its number.

    Returns
    -------
    The exit code of the program.
    """
    table = TerminalGame(opponents, dialogue, draw or random.SystemRandom().random, keypad)
    code = dialogue.until_ended(table.sit)
    table.part()
    return code


class TerminalGame:
    """The games of one person; for parameters see :func:`play`."""

    def __init__(self, opponents: Opponents, dialogue: Dialogue, draw: Callable[[], float], keypad: bool) -> None:
        self.opponents, self.dialogue, self._draw = opponents, dialogue, draw
        game, self._help = opponents.game, KEYPAD if keypad else SQUARES
        self._keys = [keypad_key(game, square) if keypad else DIGITS[square] for square in range(game.squares)]
        self.opponent = opponents.list_opponents()[0]
        self.me = 1 - self.opponent.player
        self.results: list[int] = []

    def sit(self) -> None:
        """Play one game after the other."""
        game, say = self.opponents.game, self.dialogue.say
        say(f"{game.name}. You are player {self.me} ({MARKS[self.me]}), against {self.opponent.name}.", "bold")
        say(self._help)
        while True:
            played = self._game()
            self._look_back(played)

    def part(self) -> None:
        """Print the results."""
        results = self.results
        if not results:
            self.dialogue.say("Goodbye.")
            return
        tally = Tally(self.opponent, *(results.count(result) for result in (1, 0, -1)))
        error = "" if tally.error is None else f" (standard error {decimals(tally.error, 3)})"
        self.dialogue.say(
            f"Won {tally.wins}, drawn {tally.draws}, lost {tally.losses}; mean {decimals(tally.mean, 3)}{error}."
        )
        expectations = [f"{each.who} {decimals(each.value)}" for each in self.opponents.expectations(self.opponent)]
        self.dialogue.say(f"Exact averages against {self.opponent.name}: {', '.join(expectations)}.")

    # -----------------------------------------------------------------------------------------
    # A game

    def _game(self) -> FinishedGame:
        history, resigned = self._play_opponent(start(self.opponents.game)), False
        while history.player is not None and not resigned:
            seat = self._seat(history, None)
            self.dialogue.say()
            self.dialogue.say(self._known_board(seat.cells))
            square = self._square(seat)
            if square is None:
                resigned = True
                continue
            history = self._play_opponent(history.step(square))
            self.dialogue.say(self._seat(history, None).said, "bold")
        result = -1 if resigned else history.returns[self.me]
        self.results.append(result)
        ended = {1: "You have won.", 0: "A draw: the board is full.", -1: "You have lost."}[result]
        self.dialogue.say("You have resigned." if resigned else ended, "bold")
        if (perfect := perfect_payoff(self.opponents.game, self.me)) is not None:
            self.dialogue.say(f"With perfect play you would average {decimals(perfect, 3)} against a perfect opponent.")
        return FinishedGame(self._seat(history, result, resigned), history, self.opponent)

    def _play_opponent(self, history: History) -> History:
        return play_opponent(self.opponents, self.opponent, history, self._draw)

    def _seat(self, history: History, result: int | None, resigned: bool = False) -> Seat:
        return seat_of(history, self.me, "", self.opponent.name, self.opponent.key, result, resigned)

    def _square(self, seat: Seat) -> int | None:
        """The square that the person attempts; None if the person resigns."""
        keys = {key: square for square, key in enumerate(self._keys)}
        while True:
            typed = self.dialogue.ask_command(f"Attempt {seat.made + 1} at {seat.infoset} >", self._help).lower()
            if typed in ("r", "resign"):
                if self.dialogue.ask("Give this game up as lost? y/n >").lower() in ("y", "yes"):
                    return None
            else:
                named = keys.get(typed, DIGITS.index(typed[1:]) if typed[:1] == "s" and _is_digit(typed[1:]) else None)
                if named in seat.legal:
                    return named
                self.dialogue.say(self._why_not(seat, typed, named))

    def _why_not(self, seat: Seat, typed: str, named: int | None) -> str:
        free = ", ".join(self._keys[square] for square in seat.legal)
        if named is not None and named < len(seat.cells):
            return f"You have attempted square {named} already; the keys of the others are {free}."
        quoted = repr(typed) if len(typed) <= 20 else f"{typed[:20]!r}..."
        return f"{quoted if typed else 'An empty line'} is no key of a square; these are {free}. ? shows help."

    # -----------------------------------------------------------------------------------------
    # Review

    def _look_back(self, played: FinishedGame) -> None:
        """Review a finished game; returns when the person wants another one."""
        review = review_of(self.opponents, played)
        last = len(review.moves)
        self._show_moves(review)
        at = last
        while True:
            self._show(step_of(self.opponents, played, at), last)
            choose = f"There are attempts 1 to {last}; type one of these numbers, or Enter, b, n or q."
            while (to := _target(typed := self.dialogue.ask_command(_LOOK, choose).lower(), at, last)) is None:
                if typed in ("n", "new"):
                    return
                self.dialogue.say(choose)
            at = to

    def _show_moves(self, review: Review) -> None:
        self.dialogue.say(f"Your attempts lost {decimals(review.lost, 4)} in expected payoff together:")
        for move in review.moves:
            who = "you" if move.mine else "opponent"
            lost = f", lost {decimals(move.loss, 4)}" if move.loss is not None else ""
            outcome = "placed" if move.placed else "failed"
            self.dialogue.say(f"{move.number:3}  {MARKS[move.player]} {who:8} square {move.square} {outcome}{lost}")

    def _show(self, step: ReviewStep, last: int) -> None:
        say, game = self.dialogue.say, self.opponents.game
        say()
        true = [_sign(cell.state, self.me) for cell in step.true]
        boards = [self.dialogue.board(game, true, "the true board"), self._known_board(step.known, "what you knew")]
        if step.believed:
            squares = [
                _sign(cell.state, self.me) if cell.state == "mine" else Square(f"{cell.probability:.3f}")
                for cell in step.believed
            ]
            boards.append(self.dialogue.board(game, squares, "the opponent is there"))
        self.dialogue.side_by_side(*boards)
        if step.move is None:
            say("The end.", "bold")
            return
        who = "You" if step.move.mine else "The opponent"
        outcome = "placed" if step.move.placed else "failed"
        say(
            f"Attempt {step.number + 1} of {last}. {who} at {step.infoset}: square {step.move.square}, {outcome}.",
            "bold",
        )
        if step.probability is not None:
            say(f"It does so with probability {decimals(step.probability, 4)} there.")
        for choice in step.choices:
            signs = ", ".join(word for word, there in (("best", choice.best), ("yours", choice.chosen)) if there)
            say(
                f"  square {choice.square}: value {decimals(choice.value, 4)}, fails with {decimals(choice.fails, 3)}"
                + (f"  <- {signs}" if signs else "")
            )

    def _known_board(self, known: Sequence[ViewSquare | ReviewCell], title: str = "") -> Text:
        squares = [
            Square(f"[{self._keys[cell.square]}]", style="dim")
            if cell.state == "free" and not title
            else _sign(cell.state, self.me)
            for cell in known
        ]
        return self.dialogue.board(self.opponents.game, squares, title)


def _is_digit(text: str) -> bool:
    return len(text) == 1 and text in DIGITS


def _sign(state: str, me: int) -> Square:
    signs = {"mine": Square(MARKS[me], style="bold blue"), "theirs": Square(MARKS[1 - me], style="bold red")}
    return signs.get(state, Square(" "))


def _target(typed: str, at: int, last: int) -> int | None:
    """The number of the step in a line; None if there is none."""
    if typed == "":
        return min(at + 1, last)
    if typed in ("b", "back"):
        return max(at - 1, 0)
    if typed.isascii() and typed.isdigit() and 1 <= int(typed[:4]) <= last and len(typed) <= 2:
        return int(typed) - 1
    return None
