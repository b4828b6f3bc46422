"""Rows by arithmetic, against the lists of infosets."""

import numpy as np
import pytest

import pttt_ooc as pttt
from pttt_ooc.errors import GameError
from pttt_ooc.games.rules.catalogue import KNOWN_COUNTS, named_game
from pttt_ooc.games.rules.infoset_text import attempts_of
from pttt_ooc.games.structure.row_numbers import row_of, row_tables
from pttt_ooc.pipeline.files.infosets import default_rows, infoset_texts

GAMES = [
    *("mini-2x3k2-abrupt", "mini-2x3k3-classical", "mini-3x2k2-abrupt", "dark-hex-2x3-classical", "pttt-1x5k2-abrupt"),
    *("pttt-abrupt-after-0-5-1-8-3", "pttt-classical-after-1-0-3-2-4-8", "mini-2x3k3-abrupt-after-1-4"),
]


@pytest.mark.parametrize("name", GAMES)
def test_rows_are_the_numbers_of_lines(name):
    game = named_game(name)
    for player in (0, 1):
        lines, tables = list(pttt.Strategy.uniform(game, player)), row_tables(game)[player]
        own = len(game.setup[player])
        assert [row_of(tables, attempts_of(line)[own:]) for line in lines] == list(range(len(lines)))
        lengths = [len(attempts_of(line)) - own for line in lines]
        assert np.diff(tables.first).tolist() == [lengths.count(n) for n in range(game.squares)]


def test_the_numbers_of_infosets_of_the_full_game():
    known = KNOWN_COUNTS["pttt-abrupt"]
    for player, tables in enumerate(row_tables(named_game("pttt-abrupt"))):
        counts = known[f"infosets_{player}"]
        assert np.diff(tables.first).tolist() == counts + [0] * (9 - len(counts))


def test_too_many_infosets_get_a_sentence():
    with pytest.raises(GameError, match="too many infosets to be listed"):
        row_tables(named_game("pttt-3x4k3-abrupt"))


@pytest.mark.full
def test_all_rows_of_the_full_game():
    game = pttt.game("pttt-abrupt")
    index = pttt.library.api.structures.index_of(game)
    for player in (0, 1):
        nodes, tables = default_rows(index, player), row_tables(game)[player]
        for start in range(0, len(nodes), 1 << 20):
            texts = infoset_texts(index, player, nodes[start : start + (1 << 20)])
            assert rows_of(tables, texts).tolist() == list(range(start, start + len(texts)))


def rows_of(tables, texts):
    """:func:`row_of`, for texts of infosets."""
    letters = texts.view(np.uint8).reshape(len(texts), -1)
    squares, placed = letters[:, 1::2].astype(np.int64) - ord("0"), letters[:, 2::2] == ord("*")
    made = letters[:, 1::2] > 0
    n, codes = made.sum(axis=1), np.zeros(len(texts), np.int64)
    rows = tables.first[n]
    for time in range(made.shape[1]):
        who = np.flatnonzero(made[:, time])
        square, kind = squares[who, time], placed[who, time]
        rows[who] += tables.smaller[codes[who], 2 * square + kind, n[who]]
        codes[who] += (1 + kind) * 3**square
    return rows
