"""A conversation on a terminal: prompts, sentences, boards.

Lines are printed one below the other, so that it works over any connection, and a screen reader can follow it.
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

MARKS = "xo"
_GAP = 2  # columns between boards


class EndedError(Exception):
    """The person wants to end the conversation.

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
    """What a board shows on one square: a large sign, a line below it, and how both are printed."""

    sign: str
    below: str = ""
    style: str = ""


class Dialogue:
    """Talks with a person; everything that is printed goes through it."""

    def __init__(self) -> None:
        self.console = Console(highlight=False, emoji=False, markup=False)
        if isinstance(sys.stdin, TextIOWrapper):
            sys.stdin.reconfigure(errors="replace")  # what is no text is no answer to anything

    def say(self, text: RenderableType = "", style: str | None = None) -> None:
        """Print a line, or anything that rich can draw."""
        self.console.print(text, style=style)

    def ask(self, prompt: str) -> str:
        """A line that the person types, without blanks around it.

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

    def board(self, game: Game, squares: Sequence[Square], title: str = "", first: int = 0) -> RenderableType:
        """A board, with the numbers of its squares from `first` on; below a title if there is one."""
        table = Table(box=SQUARE, show_header=False, show_lines=True, padding=(0, 1))
        for _ in range(game.columns):
            table.add_column(justify="center", min_width=5)
        for r in range(game.rows):
            row = range(r * game.columns, (r + 1) * game.columns)
            table.add_row(*(_cell(first + square, squares[square]) for square in row))
        return Group(Text(title, style="bold"), table) if title else table

    def side_by_side(self, *boards: RenderableType) -> None:
        """Print boards beside each other if there is room, else below each other."""
        widths = [self.console.measure(board).maximum for board in boards]
        if sum(widths) + _GAP * (len(boards) - 1) > self.console.width:
            for board in boards:
                self.say(board)
            return
        grid = Table.grid(padding=(0, _GAP))
        grid.add_row(*boards)
        self.say(grid)


def _cell(number: int, square: Square) -> Text:
    text = Text(f"{number}\n", style="dim", justify="left")
    text.append(square.sign, style=f"not dim {square.style}")
    return text.append(f"\n{square.below}" if square.below else "", style="not dim")
