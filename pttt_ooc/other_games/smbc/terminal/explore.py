"""`pttt smbc explore`: a solution's strategies and values at any position of any round, on a terminal."""

from __future__ import annotations

from collections.abc import Callable

from pttt_ooc.disk.numbers import decimals
from pttt_ooc.errors import GameError, PtttError
from pttt_ooc.other_games.smbc.inspection import InspectedMove, Lookout, Lookouts
from pttt_ooc.other_games.smbc.match import Scores
from pttt_ooc.other_games.smbc.oriented_position import Place
from pttt_ooc.other_games.smbc.rules import BOARD, GOALS, UNDECIDED
from pttt_ooc.other_games.smbc.terminal.board import marked_board
from pttt_ooc.other_games.smbc.vocabulary import ENDS, MARKS, PLAYERS, goal_of, numbers_of, square_of
from pttt_ooc.pipeline.show.dialogue import Dialogue
from pttt_ooc.pipeline.show.tables import whole

HELP = (
    "m 3: a move (squares are 0 to 8: 0 1 2 is the top row). u: undo. g w l: goals of the first and of the "
    "second player (w win, t tie, l lose). s 4 4: the round at these scores. i 40: after so many iterations. Enter: "
    "show again. ?: this. q: quit."
)


def explore(lookouts: Lookouts, scores: Scores, dialogue: Dialogue) -> int:
    """Answer commands until the person quits; return the exit code of the program."""
    code = dialogue.until_ended(Walk(lookouts, scores, dialogue).go)
    dialogue.say("Goodbye.")
    return code


class Walk:
    """A person's walk through a round; for parameters see :func:`explore`."""

    def __init__(self, lookouts: Lookouts, scores: Scores, dialogue: Dialogue) -> None:
        self.lookouts, self.scores, self.dialogue = lookouts, scores, dialogue
        self.lookout: Lookout = lookouts.lookout(scores)
        self.place = Place(lookouts.solution.tree)
        self.goals = (0, 0)
        self._commands: dict[str, tuple[int, Callable[..., None]]] = {
            "i": (1, self._iterate),
            "g": (2, self._set_goals),
            "m": (1, self._move),
            "u": (0, self._undo),
            "s": (2, self._set_scores),
        }

    def go(self) -> None:
        """Show positions until an EndedError is raised."""
        points = self.lookouts.solution.settings.winning_score
        self.dialogue.say(f"Tic-tac-toe with secret goals, the match to {points}.", "bold")
        self.dialogue.say(HELP)
        self._show()
        while True:
            self._do(self.dialogue.ask_command("explore >", HELP))

    def _do(self, typed: str) -> None:
        word, *rest = typed.lower().split() or [""]
        try:
            if word:
                wanted, command = self._commands.get(word, (0, None))
                if command is None:
                    raise GameError(f"There is no command {word!r}; type ? for all commands.")
                if len(rest) != wanted:
                    raise GameError(f"{word!r} takes {('nothing', 'one word', 'two words')[wanted]} after it; see ?.")
                command(*rest)
        except PtttError as error:
            self.dialogue.say(str(error))
            return
        self._show()

    # -----------------------------------------------------------------------------------------
    # Commands

    def _iterate(self, typed: str) -> None:
        if not (typed.isascii() and typed.isdecimal() and len(typed) < 10):
            raise GameError(f"{typed!r} is not a number of iterations.")
        self.lookout = self.lookouts.lookout(self.scores, int(typed))

    def _set_goals(self, first: str, second: str) -> None:
        self.goals = (goal_of(first), goal_of(second))

    def _move(self, typed: str) -> None:
        self.place = self.place.step(square_of(typed))

    def _undo(self) -> None:
        if not self.place.squares:
            raise GameError("There is nothing to undo: the board is empty.")
        self.place = Place.of(self.place.tree, self.place.squares[:-1])

    def _set_scores(self, first: str, second: str) -> None:
        self.scores = scores_of(first, second, self.lookouts.solution.settings.winning_score)
        self.lookout = self.lookouts.lookout(self.scores)

    # -----------------------------------------------------------------------------------------
    # What is shown

    def _show(self) -> None:
        say, place, goals = self.dialogue.say, self.place, self.goals
        seen = self.lookout.see(place, goals)
        say()
        scores = f"{self.scores[0]}-{self.scores[1]}"
        say(f"Iteration {seen.iteration} of the round at {scores} (the first player's points come first)")
        say(f"First player's goal: {GOALS[goals[0]]}. Second player's goal: {GOALS[goals[1]]}.")
        say(self.dialogue.board(BOARD, marked_board(place.squares, True)))
        say(f"EV of the first player: {decimals(seen.value, 6)}")
        say("Reach by own moves: " + _both(seen.reach))
        say("Best response value: " + _both(seen.best_values))
        if place.outcome != UNDECIDED:
            say(f"The round is decided: {ENDS[place.outcome]}.")
            return
        say(f"To move: the {PLAYERS[place.player]} ({MARKS[place.player]}), who knows only their own goal.")
        headings = ("move", "regret", "current", "average", "value", "best resp.")
        self.dialogue.table(headings, map(_row, seen.moves))


def _row(move: InspectedMove) -> tuple[str, ...]:
    best = f"{decimals(move.best_value, 6)}{' *' if move.best else '  '}"
    figures = (decimals(move.regret, 4), f"{move.current:.5f}", f"{move.average:.5f}", decimals(move.value, 6))
    return whole(numbers_of(move.squares)), *figures, whole(best)


def _both(values: tuple[float | None, float | None]) -> str:
    return ", ".join(f"{decimals(value, 6)} ({player})" for value, player in zip(values, PLAYERS, strict=True))


def scores_of(first: str, second: str, winning_score: int) -> Scores:
    """Scores of the first and of the second player from the person's input.

    Raises
    ------
    GameError
        If no round has them.
    """
    known = [str(points) for points in range(winning_score)]
    for typed in (first, second):
        if typed not in known:
            raise GameError(f"No round begins with a score of {typed!r}; scores are 0 to {winning_score - 1}.")
    return int(first), int(second)
