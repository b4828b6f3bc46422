"""Infosets as text and the order of rows, against lists made with plain Python."""

import numpy as np
import pytest

from pttt_ooc.errors import InfosetFileError
from pttt_ooc.games.rules.catalogue import named_game
from pttt_ooc.games.structure.index import build_index
from pttt_ooc.pipeline.files import infosets
from tests.kits.helpers import FILE_GAME, FILE_GAMES, compiled, default_texts, full_index


@pytest.mark.slow_but_one
@pytest.mark.parametrize("player", [0, 1])
@pytest.mark.parametrize("game", FILE_GAMES)
def test_default_file_is_the_sorted_list(tmp_path, game, player):
    index, expected = full_index(game), default_texts(game, player)
    infosets.write_infosets(index, player, tmp_path / "i.txt")
    assert (tmp_path / "i.txt").read_bytes() == "".join(f"{text}\n" for text in expected).encode()
    rows = infosets.default_rows(index, player)
    assert rows.dtype == np.int64
    assert np.array_equal(infosets.read_infosets(index, player, tmp_path / "i.txt"), rows)
    for text, node in zip(expected, rows.tolist(), strict=True):
        assert infosets.infoset_text(index, player, node) == text
        assert infosets.parse_infoset(index, player, text) == node
    assert [p.name for p in tmp_path.iterdir()] == ["i.txt"]


@pytest.mark.parametrize("block", [1, 7, 10, 1 << 20])
@pytest.mark.parametrize("game", FILE_GAMES)
def test_the_default_order_is_computed_block_by_block(monkeypatch, game, block):
    index, whole = full_index(game), infosets.default_rows(full_index(game), 1)
    monkeypatch.setattr(infosets, "BLOCK_ROWS", block)
    order = infosets.DefaultRows(index, 1)
    made = list(infosets.row_blocks(order))
    assert [start for start, _ in made] == list(range(0, len(order), block))
    assert all(np.array_equal(nodes, whole[start : start + block]) for start, nodes in made)
    assert len(order) == len(whole)
    sizes = index.players[1].infosets_by_slice()
    kept = sizes[sizes > 0][:-1].tolist()
    assert order.nbytes == 4 * max((sum(kept[n : n + 2]) for n in range(len(kept))), default=0)


@pytest.mark.parametrize("block", [7, 1 << 20])
def test_users_order_is_kept(tmp_path, monkeypatch, block):
    monkeypatch.setattr(infosets, "_BLOCK_BYTES", block + 20)
    monkeypatch.setattr(infosets, "BLOCK_ROWS", block)
    texts = default_texts(FILE_GAME, 0)
    np.random.default_rng(1).shuffle(texts)
    (tmp_path / "user.txt").write_text("\n".join(texts))
    rows = infosets.read_infosets(full_index(FILE_GAME), 0, tmp_path / "user.txt")
    infosets.write_infosets(full_index(FILE_GAME), 0, tmp_path / "again.txt", rows)
    assert (tmp_path / "again.txt").read_text().splitlines() == texts


@pytest.mark.parametrize("end", ["\n", ""])
def test_crlf_and_missing_last_newline(tmp_path, end):
    (tmp_path / "i.txt").write_bytes(("\r\n".join(default_texts(FILE_GAME, 1)) + end).encode())
    rows = infosets.read_infosets(full_index(FILE_GAME), 1, tmp_path / "i.txt")
    assert np.array_equal(rows, infosets.default_rows(full_index(FILE_GAME), 1))


@pytest.mark.parametrize(
    ("line", "what"),
    [
        ("", "malformed"),
        ("0*", "malformed"),
        ("|0", "malformed"),
        ("|0x", "malformed"),
        ("|6*", "malformed"),
        (" |0*", "malformed"),
        ("|0* ", "malformed"),
        ("\ufeff|0*", "malformed"),
        ("|" + "0*" * 5000, "malformed|not an infoset of player 0"),
        ("|0.", "not an infoset of player 0 in mini-2x3k2-abrupt"),
        ("|0*0*", "not an infoset of player 0"),
        ("|0*1*", "not an infoset of player 0"),
        ("|0.1*", "not an infoset of player 0"),  # of a view that occurs, in an order that does not
    ],
)
def test_bad_lines(tmp_path, line, what):
    texts = default_texts(FILE_GAME, 0)
    texts[3] = line
    (tmp_path / "i.txt").write_text("\n".join(texts) + "\n", encoding="utf-8")
    with pytest.raises(InfosetFileError, match=rf"i\.txt, line 4: '.*' is ({what})") as error:
        infosets.read_infosets(full_index(FILE_GAME), 0, tmp_path / "i.txt")
    assert len(str(error.value)) < 300 + len(str(tmp_path))
    with pytest.raises(InfosetFileError, match=what):
        infosets.parse_infoset(full_index(FILE_GAME), 0, line)


def test_line_of_another_setup():
    index = full_index("mini-2x3k3-abrupt-after-1")
    for text in ("|", "|0*", "|1.0*"):
        with pytest.raises(InfosetFileError, match="is not an infoset of player 0"):
            infosets.parse_infoset(index, 0, text)
    assert infosets.infoset_text(index, 0, infosets.parse_infoset(index, 0, "|1*")) == "|1*"


def test_file_without_line_ends(tmp_path, monkeypatch):
    monkeypatch.setattr(infosets, "_BLOCK_BYTES", 64)
    (tmp_path / "i.txt").write_bytes(bytes(10_000))
    with pytest.raises(InfosetFileError, match="line 1: .* is malformed"):
        infosets.read_infosets(full_index(FILE_GAME), 0, tmp_path / "i.txt")


def test_doubled_line(tmp_path):
    texts = default_texts(FILE_GAME, 0)
    (tmp_path / "i.txt").write_text("\n".join([*texts, texts[4]]))
    with pytest.raises(InfosetFileError, match=rf"line {len(texts) + 1}: '\|3\*' is a doubled line, .* line 5\."):
        infosets.read_infosets(full_index(FILE_GAME), 0, tmp_path / "i.txt")


def test_missing_lines(tmp_path):
    texts = default_texts(FILE_GAME, 0)
    gone = [texts.pop(40), texts.pop(20)][::-1]
    (tmp_path / "i.txt").write_text("\n".join(texts[::-1]))
    with pytest.raises(InfosetFileError) as error:
        infosets.read_infosets(full_index(FILE_GAME), 0, tmp_path / "i.txt")
    assert str(error.value).endswith(f"i.txt: 2 infosets are missing, the first of them is {gone[0]!r}.")


def test_empty_and_unreadable_file(tmp_path):
    (tmp_path / "i.txt").touch()
    with pytest.raises(InfosetFileError, match=r"i\.txt: The file is empty\."):
        infosets.read_infosets(full_index(FILE_GAME), 0, tmp_path / "i.txt")
    for path in (tmp_path / "none.txt", tmp_path):
        with pytest.raises(InfosetFileError, match="cannot be read: "):
            infosets.read_infosets(full_index(FILE_GAME), 0, path)


def test_folded_index_is_refused():
    with pytest.raises(ValueError, match="symmetry 'full'"):
        infosets.default_rows(build_index(named_game(FILE_GAME), "full"), 0)


@pytest.mark.parametrize("name", ["mini-2x2k2-abrupt", "mini-2x2k2-classical", "mini-2x3k3-abrupt-after-1-4"])
@pytest.mark.parametrize("player", [0, 1])
def test_a_text_is_read_exactly_if_it_is_an_infoset(name, player):
    index, possible = full_index(name), set(default_texts(name, player))
    squares, start = index.game.squares, "|" + "".join(f"{s}*" for s in index.game.setup[player])
    texts = [start]
    for text in texts:
        if len(text) < len(start) + 2 * 4:
            free = [s for s in range(squares) if f"{s}" not in text]
            texts += [f"{text}{s}{outcome}" for s in free for outcome in "*."]
    assert possible < set(texts) | {text for text in possible if len(text) > len(start) + 8}
    parse, read = compiled(infosets._parse_line), set()
    tables = infosets.infoset_tables(index, player).only(infosets.ParsingTables)
    for text in texts:
        line = np.frombuffer(text.encode(), np.uint8)
        if parse(tables, line, np.empty(squares, np.int64)) >= 0:
            read.add(text)
    assert read == possible & set(texts)
