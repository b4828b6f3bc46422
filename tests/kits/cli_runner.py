"""Shared by the tests of the command line: running it, and files as a student would make them."""

import io
import json
import zipfile
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

from pttt_ooc.cli.commands import main
from pttt_ooc.games.rules.catalogue import named_game
from tests.kits import naive

GAME = "mini-2x3k2-abrupt"


class Done(NamedTuple):
    code: int
    out: str
    err: str

    @property
    def json(self):
        assert self.code == 0, self.err
        return json.loads(self.out)


class Runner:
    """Runs `pttt` in this process, on one game and one directory of indices."""

    def __init__(self, capsys, data, game):
        self.capsys, self.data, self.game = capsys, data, game

    def __call__(self, command, *arguments, game=None, data=None):
        self.capsys.readouterr()
        options = ["--game", game or self.game, "--data", data or self.data]
        with pytest.raises(SystemExit) as end:
            main([command, *map(str, [*arguments, *options])])
        out, err = self.capsys.readouterr()
        return Done(end.value.code or 0, out, err)

    def ok(self, *arguments, **options):
        done = self(*arguments, **options)
        assert done.code == 0, done.err
        return done


def commands(group, name=""):
    """All commands of a group and of the groups in it, by their names, but hidden ones."""
    for word, command in group.commands.items():
        if command.hidden:
            continue
        below = getattr(command, "commands", None)
        yield from commands(command, f"{name}{word} ") if below else [(f"{name}{word}", command)]


def rounded(game, table):
    """A strategy by text with float32 probabilities, as 64-bit floats that sum to 1 again."""
    rows = {text: np.array(row, np.float32).astype(np.float64) for text, row in table.items()}
    return {text: (row / row.sum()).tolist() for text, row in rows.items()}


def tensor_of(game, player, table, order=None, dtype=np.float32):
    """A strategy by text, as the course's tensor."""
    return np.array([table[text] for text in order or naive.infosets(named_game(game), player)], dtype)


def write_zip(path: Path, tensor, members=("pttt_pl0.npy",)):
    content = io.BytesIO()
    np.save(content, tensor)
    with zipfile.ZipFile(path, "w") as archive:
        for member in members:
            archive.writestr(member, content.getvalue())
    return path
