"""Prompts, sentences and boards on a terminal.

It only prints line after line, so that it works over any connection and with a screen reader.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from io import TextIOWrapper

from rich.box import SQUARE
from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from pttt_ooc.rules.game import Game
from pttt_ooc.rules.infoset_text import DIGITS

MARKS = "xo"
_GAP = 2  # columns between boards


class EndedError(Exception):
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

    def say(self, text: RenderableType = "", style: str | None = None) -> None:
        """Print a line, or anything that rich can render."""
        self.console.print(text, style=style)

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

    def board(self, game: Game, squares: Sequence[Square], title: str = "") -> RenderableType:
        """A board with the numbers of its squares, below a title if there is one.

        Beside a number of two digits is the letter that stands for the square in texts of infosets.
        """
        table = Table(box=SQUARE, show_header=False, show_lines=True, padding=(0, 1))
        for _ in range(game.columns):
            table.add_column(justify="center", min_width=5)
        for r in range(game.rows):
            row = range(r * game.columns, (r + 1) * game.columns)
            table.add_row(*(_cell(square, squares[square]) for square in row))
        return Group(Text(title, style="bold"), table) if title else table

    def side_by_side(self, *boards: RenderableType) -> None:
        """Print boards side by side if there is room, else one below the other."""
        widths = [self.console.measure(board).maximum for board in boards]
        if sum(widths) + _GAP * (len(boards) - 1) > self.console.width:
            for board in boards:
                self.say(board)
            return
        grid = Table.grid(padding=(0, _GAP))
        grid.add_row(*boards)
        self.say(grid)


def _cell(number: int, square: Square) -> Text:
    letter = f" {DIGITS[number]}" if number > 9 else ""
    text = Text(f"{number}{letter}\n", style="dim", justify="left")
    text.append(square.sign, style=f"not dim {square.style}")
    return text.append(f"\n{square.below}" if square.below else "", style="not dim")
