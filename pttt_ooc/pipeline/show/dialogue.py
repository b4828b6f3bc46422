"""Prompts, sentences and boards on a terminal.

It only prints line after line, so that it works over any connection and with a screen reader.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from io import TextIOWrapper

from rich.console import Console
from rich.text import Text

from pttt_ooc.errors import CaughtError
from pttt_ooc.games.rules.game import Game
from pttt_ooc.games.rules.infoset_text import DIGITS
from pttt_ooc.pipeline.show.tables import text_table, wrap_text

MARKS = "xo"
_GAP = 2  # columns between boards
_LEAST = 5  # columns of a square


class EndedError(CaughtError):
    """The user ends the dialogue.

    Attributes
    ----------
    code
        Exit code of the program: 130 after Ctrl-C, else 0.
    """

    def __init__(self, code: int) -> None:
        super().__init__(code)
        self.code = code


@dataclass(frozen=True)
class Square:
    """The content of one square of a board: a large sign, a line below it, and their style."""

    sign: str
    below: str = ""
    style: str = ""


class Dialogue:
    """A dialogue with the user; everything is printed through it."""

    def __init__(self) -> None:
        self.console = Console(highlight=False, emoji=False, markup=False)
        if isinstance(sys.stdin, TextIOWrapper):
            sys.stdin.reconfigure(errors="replace")  # invalid bytes are a wrong answer, not an exception

    def say(self, text: str | Text = "", style: str | None = None) -> None:
        """Print lines, broken between words where the terminal ends, or text that is laid out already."""
        if isinstance(text, str):
            text = "\n".join(line for one in text.split("\n") for line in wrap_text(one, self.console.width))
        self.console.print(text, style=style, soft_wrap=True)

    def table(self, headings: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
        """Print a table."""
        self.console.print(text_table(headings, rows, self.console.width), soft_wrap=True)

    def ask(self, prompt: str) -> str:
        """Read a line from the user, stripped of blanks.

        Raises
        ------
        EndedError
            On Ctrl-C, and at the end of input.
        """
        self.console.print(f"{prompt} ", end="", style="bold")
        sys.stdout.flush()
        try:
            line = sys.stdin.readline()
        except KeyboardInterrupt:
            self.console.print()
            raise EndedError(130) from None
        if not line:
            self.console.print()
            raise EndedError(0)
        return line.strip()

    def until_ended(self, talk: Callable[[], object]) -> int:
        """Call a function that talks with the user until they end it, even by Ctrl-C between two prompts.

        Returns
        -------
        The exit code of the program: 130 after Ctrl-C, else 0.
        """
        try:
            talk()
        except EndedError as end:
            return end.code
        except KeyboardInterrupt:  # between two prompts
            self.console.print()
            return 130
        return 0

    def ask_command(self, prompt: str, help: str) -> str:
        """As :meth:`ask`; ``q`` ends the dialogue with an EndedError, ``?`` says the help and asks again."""
        while (typed := self.ask(prompt)).lower() not in ("q", "quit", "exit"):
            if typed.lower() not in ("?", "h", "help"):
                return typed
            self.say(help)
        raise EndedError(0)

    def board(self, game: Game, squares: Sequence[Square], title: str = "") -> Text:
        """A board with the numbers of its squares, below a title if there is one.

        Beside a number of two digits is the letter that stands for the square in texts of infosets.
        """
        cells = [_cell(number, squares[number]) for number in range(game.squares)]
        widths = [
            max(_LEAST, *(len(line) for cell in cells[c :: game.columns] for line in cell)) for c in range(game.columns)
        ]
        rows = [cells[r : r + game.columns] for r in range(0, game.squares, game.columns)]
        heading = [Text(title, style="bold")] if title else []
        return Text("\n").join([*heading, *_board_lines(rows, widths, self.console.options.ascii_only)])

    def side_by_side(self, *boards: Text) -> None:
        """Print boards side by side if there is space, else one below the other."""
        parts = [board.split("\n") for board in boards]
        widths = [max(map(len, lines)) for lines in parts]
        if sum(widths) + _GAP * (len(boards) - 1) > self.console.width:
            for board in boards:
                self.say(board)
            return
        for n in range(max(map(len, parts))):
            line = Text()
            for lines, width in zip(parts, widths, strict=True):
                part = lines[n] if n < len(lines) else Text()
                line.append_text(part).append(" " * (width - len(part) + _GAP))
            line.rstrip()
            self.say(line)


def _board_lines(rows: Sequence[Sequence[Sequence[Text]]], widths: Sequence[int], ascii_only: bool) -> Iterator[Text]:
    """The lines of a board, given the lines of its cells."""
    across, beside, *corners = tuple("-|+++++++++" if ascii_only else "─│┌┬┐├┼┤└┴┘")

    def rule(left: str, between: str, right: str) -> Text:
        return Text(left + between.join(across * (width + 2) for width in widths) + right)

    for n, row in enumerate(rows):
        yield rule(*corners[3:6] if n else corners[:3])
        for k in range(max(map(len, row))):
            line = Text(beside)
            for cell, width in zip(row, widths, strict=True):
                part = cell[k] if k < len(cell) else Text()
                line.append(" ").append_text(part).append(" " * (width - len(part))).append(f" {beside}")
            yield line
    yield rule(*corners[6:])


def _cell(number: int, square: Square) -> list[Text]:
    """The lines of a square: its number, its sign, and what is below."""
    letter = f" {DIGITS[number]}" if number > 9 else ""
    below = [Text(square.below)] if square.below else []
    return [Text(f"{number}{letter}", style="dim"), Text(square.sign, style=square.style), *below]
