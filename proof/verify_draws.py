"""Verify that games of k in a row are drawn: python verify_draws.py mnk-8x6k5.gz

The first player wants a line of marks, the second one replies to each mark.  If the second player can prevent all
lines, then the game is a draw, because the second player cannot win: the first one could use the same strategy.

A position in which the first player is to move is a set of sets: of each line without a mark of the second player, the
squares that are not marked.  A set that contains another one is left out.  The first line of the file is its format,
the second one has rows, columns and the length of a line.  Then there is a line for each position, in the order of a
walk, once for all positions that are symmetric.  A square is a character, row by row: A to Z, a to z, 0 to 9, + and -.

'ABCD:' makes pairs AB and CD: whenever the first player takes one square, the second one takes the other.  So sets with
both squares go, and others are counted as if the first player had them.  'E>F' is a reply: to a mark on E, one on F.
'FABCD' is a reply too, a mark on F, to any mark after which the pairs AB and CD and the sum below then prove the rest.

A mark on a square is as good as one on another square if that is in all its sets; only the better one is tried.
A position is proven if, over its sets, the sum of 2 ** -size, after any mark, is less than 1 (Erdos and Selfridge: the
second player takes the square with the largest sum of its sets, and the sum never grows).
"""

import re
import sys
import zlib
from functools import cache
from pathlib import Path

SQUARES = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+-"
BIT = {name: 1 << number for number, name in enumerate(SQUARES)}
PAIRS = re.compile("(?:[A-Za-z0-9+-]{2})+:")
REPLY = re.compile("[A-Za-z0-9+-](?:>[A-Za-z0-9+-]|(?:[A-Za-z0-9+-]{2})*)")


def board(rows, columns, need):
    """The lines, and where each symmetry of the board takes each square."""
    lines = set()
    for row in range(rows):
        for column in range(columns):
            for down, right in ((0, 1), (1, 0), (1, 1), (1, -1)):
                places = [(row + n * down, column + n * right) for n in range(need)]
                if all(0 <= r < rows and 0 <= c < columns for r, c in places):
                    lines.add(sum(1 << r * columns + c for r, c in places))
    places = [(row, column) for row in range(rows) for column in range(columns)]
    images = [places, [(rows - 1 - r, c) for r, c in places]]
    images += [[(r, columns - 1 - c) for r, c in image] for image in images]
    if rows == columns:
        images += [[(c, r) for r, c in image] for image in images]
    return lines, [[1 << r * columns + c for r, c in image] for image in images]


def bits(word):
    return [bit for bit in BIT.values() if bit & word]


def union(sets):
    word = 0
    for one in sets:
        word |= one
    return word


def least(sets):
    return {one for one in sets if not any(other != one and other & one == other for other in sets)}


def after(sets, mark, reply):
    return {one & ~mark for one in sets if not one & reply}


def paired(sets, pairs):
    for one, other in pairs:
        both = one | other
        sets = {rest & ~both for rest in sets if rest & both != both}
    return sets


def proven(sets):
    sizes = {one: 2 ** (64 - bin(one).count("1")) for one in least(sets)}
    worths = [sum(worth for one, worth in sizes.items() if one & bit) for bit in bits(union(sizes))]
    return sum(sizes.values()) + max(worths, default=0) < 2**64


def marks(sets):
    """The squares that the first player tries."""
    on = {bit: {one for one in sets if one & bit} for bit in bits(union(sets))}
    return [bit for bit in on if not any(on[bit] < on[other] or (on[bit] == on[other] and other < bit) for other in on)]


def pairs(text):
    return [(BIT[text[n]], BIT[text[n + 1]]) for n in range(0, len(text), 2)]


def check(sets, line):
    """The positions after a position that are still to be proven."""
    items = line.split(" ") if line else []
    begin = items.pop(0) if items and items[0].endswith(":") else ""
    assert PAIRS.fullmatch(begin) or not begin, "the pairs are not whole"
    assert all(map(REPLY.fullmatch, items)), "after the pairs there is something that is no reply"
    for item in (begin, *items):
        assert len(set(item)) == len(item), f"a square is twice in {item}"
    assert len({item.partition(">")[:2] for item in items}) == len(items), (
        "a mark has two replies, or a reply is there twice"
    )
    sets = least(paired(sets, pairs(begin[:-1])))
    assert 0 not in sets, "the first player has a line"
    if proven(sets):
        assert not items, "there are replies though none is needed"
        return []
    replies = {BIT[item[0]]: BIT[item[2]] for item in items if ">" in item}
    ends = [(BIT[item[0]], pairs(item[1:])) for item in items if ">" not in item]
    found = []
    for mark in marks(sets):
        if mark in replies:
            reply = replies.pop(mark)
            found.append(least(after(sets, mark, reply)))
            assert 0 not in found[-1], f"after {SQUARES[mark.bit_length() - 1]} there is a line"
        else:
            assert any(end != mark and proven(paired(after(sets, mark, end), those)) for end, those in ends), (
                f"there is no proven reply to {SQUARES[mark.bit_length() - 1]}"
            )
    assert not replies, "there is a reply to a mark that is not tried"
    return found


def verify(zipped):
    """The size of the board, and the number of positions."""
    stream = zlib.decompressobj(31)
    text = stream.decompress(zipped, 100 * len(zipped)).decode("ascii")  # a limit for memory
    assert stream.eof and not stream.unused_data, "this is not one whole gzip file, or one far too dense"
    lines = text.split("\n")
    assert lines.pop() == "", "the last line has no end"
    assert lines[:1] == ["mnk draws 1"], "the first line is not 'mnk draws 1'"
    size = "".join(lines[1:2])
    assert re.fullmatch(r"[1-9]\d? [1-9]\d? [1-9]\d?", size), "the second line is not rows, columns and length"
    rows, columns, need = map(int, size.split())
    assert rows * columns <= 64, "the board has more than 64 squares"
    everything, images = board(rows, columns, need)

    @cache
    def moved(one, number):
        image = images[number]
        return sum(image[bit.bit_length() - 1] for bit in bits(one))

    seen, waiting, number = set(), [everything], 2
    while waiting:
        sets = waiting.pop()
        key = min(tuple(sorted(moved(one, number) for one in sets)) for number in range(len(images)))
        if key in seen:
            continue
        seen.add(key)
        assert number < len(lines), "the lines end too early"
        try:
            waiting += check(sets, lines[number])
        except AssertionError as error:
            raise AssertionError(f"line {number + 1}: {error}") from None
        number += 1
    assert number == len(lines), "there are more lines than positions"
    return size.split(), number - 2


if __name__ == "__main__":
    if not __debug__ or len(sys.argv) != 2:
        sys.exit(f"{__doc__}\npython -O would leave checks out.")
    try:
        (rows, columns, need), positions = verify(Path(sys.argv[1]).read_bytes())
        print(f"proven: {need} in a row on {rows} x {columns} squares is a draw; {positions} positions")
    except (AssertionError, ValueError, OSError, zlib.error) as error:
        sys.exit(f"refused: {error}")
