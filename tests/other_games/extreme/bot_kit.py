"""Shared by the tests of the tournament: bots as text, the commands, and whether this machine has walls."""

import textwrap

import psutil
import pytest

from pttt_ooc.cli.commands import main
from pttt_ooc.other_games.extreme.bot_programs import BotProgram, program
from pttt_ooc.other_games.extreme.match import check_walls
from pttt_ooc.other_games.extreme.walls import ExtremeError

FIRST = "return board.find_valid_move_cells(old_move)[0]"


def walls_missing():
    """Why bots cannot be shut in on this machine; an empty text if they can."""
    try:
        check_walls()
    except ExtremeError as error:
        return str(error)
    return ""


def need_walls():
    if reason := walls_missing():
        pytest.skip(reason)


def bot_text(body=FIRST, before="", init="pass", name="Team1"):
    """A bot's file in the course's form, from the body of its method `move`."""
    return (
        f"{textwrap.dedent(before)}\nclass {name}:\n    def __init__(self):\n{textwrap.indent(init, ' ' * 8)}\n"
        f"    def move(self, board, old_move, flag):\n{textwrap.indent(textwrap.dedent(body), ' ' * 8)}\n"
    )


def read(text, file="team1.py"):
    """A bot from the text of its file, as it is read when it is handed in."""
    return program(file, text if isinstance(text, bytes) else text.encode(), walls=False)


def bot(body=FIRST, before="", init="pass", file="team1.py"):
    return BotProgram(file, bot_text(body, before, init, file[0].upper() + file[1:-3]), (3,), "a test says so")


def run(capsys, *arguments):
    """The code of ``pttt extreme ARGUMENTS`` in this process, and what it prints, on stdout and on stderr."""
    with pytest.raises(SystemExit) as end:
        main(["extreme", *map(str, arguments)])
    return end.value.code or 0, *capsys.readouterr()


def children():
    """The numbers of all processes below this one."""
    return {child.pid for child in psutil.Process().children(recursive=True)}
