"""Certificates that are damaged, with the line at which this shows and what is said of it."""

import gzip
import random
import re
import zlib
from fractions import Fraction
from functools import cache

from pttt_ooc.exact.certificates.certificate import Certificate
from pttt_ooc.exact.certificates.integer_plan import integer_plan
from pttt_ooc.games.rules.catalogue import GAMES
from tests.kits.verify_program import PROOF, text_of

NAME = "mini-2x3k2-abrupt"
LINES = text_of(NAME).split("\n")


def at(pattern, begin=1):
    """The number of the first line from a number on that fits."""
    return next(number for number, line in enumerate(LINES, 1) if number >= begin and re.search(pattern, line))


def edited(number, *now):
    """The certificate with other lines in the place of one line."""
    return "\n".join([*LINES[: number - 1], *now, *LINES[number:]])


def replaced(number, old, new):
    assert old in LINES[number - 1]
    return edited(number, LINES[number - 1].replace(old, new, 1))


CLAIM, PLAN0, PLAN1, END = at("^claim"), at("^plan 0"), at("^plan 1"), at("^end")
HEADER, FIRST, SECOND = LINES[: PLAN0 - 1], LINES[PLAN0 - 1 : PLAN1 - 1], LINES[PLAN1 - 1 : END - 1]
ROOT, MIXED = PLAN0 + 1, at(r"^\|\S+ \d=\d+ \d=\d+")
LEAF = at(r"^\|(\d\D){2} \d=\d+$")
SQUARE, WEIGHT = re.search(r" (\d)=(\d+)", LINES[MIXED - 1]).groups()
ACTION = f"{SQUARE}={WEIGHT}"
TEXT = LINES[MIXED - 1].split(" ")[0]
LEAF_TEXT, LEAF_WEIGHT = re.fullmatch(r"(\S+) \d=(\d+)", LINES[LEAF - 1]).groups()
DENOMINATOR = LINES[PLAN0 - 1].split(" ")[-1]


class FirstSquare:
    """The first square that was not attempted; its weights are right, but it is not an equilibrium."""

    denominator = 68

    def start(self):
        return 0

    def actions(self, tried, text, weight):
        return [(next(square for square in range(6) if not tried >> square & 1), weight)]

    def after(self, tried, square, placed):
        return tried | 1 << square


LARGE_NAME = "pttt-3x4k3-classical"
LARGE_LINES = text_of(LARGE_NAME).split("\n")
TENTH = next(number for number, line in enumerate(LARGE_LINES, 1) if re.search(r" a=1$", line))
AFTER_TENTH = next(number for number, line in enumerate(LARGE_LINES, 1) if re.match(r"\|\S*a\S* ", line))


def on_a_large_board(number, old, new):
    """A certificate of twelve squares with another text in the place of one."""
    line = LARGE_LINES[number - 1]
    assert old in line
    return "\n".join([*LARGE_LINES[: number - 1], line.replace(old, new, 1), *LARGE_LINES[number:]])


SMALLEST = """phantom certificate 1
squares 1
turns abrupt
wins 0 0
wins 1 0
claim 1 <= value <= 1
plan 0 1 1 1
| 0=1
plan 1 1 1 1
| 0=1
end
"""  # it is not damaged: the smallest board that there can be


def with_digits(number):
    """A certificate with a weight of so many digits."""
    return SMALLEST.replace("plan 1 1 1 1\n| 0=1", f"plan 1 1 1 {'7' * number}\n| 0={'7' * number}")


def with_characters(number):
    """A certificate whose line 4 has so many characters: it says again and again that the only square wins."""
    draw = random.Random(1)
    sets = "".join(draw.choice(["0", "0 "]) for _ in range(number))[: number - len("wins 0 0")]
    return SMALLEST.replace("wins 0 0", f"wins 0 {sets}0")


def as_dense(times, more):
    """A certificate whose text has so many times the bytes of the file, and some more."""
    text = SMALLEST.replace("wins 0 0", f"wins 0 {'0' * 80_000}")
    text = text.replace("wins 1 0", f"wins 1 {'0' * (1 + (more - len(text)) % times)}").encode()
    zipped = gzip.compress(text, mtime=0)
    name = b"n" * (len(text) // times - len(zipped) - 1) + b"\0"  # in the header of the file
    return zipped[:3] + b"\x08" + zipped[4:10] + name + zipped[10:]


def at_the_limits():
    """Certificates that are not damaged: one more digit, character or byte of text, and they would be."""
    texts = with_digits(4000), with_characters(99_999)
    return [*(gzip.compress(text.encode(), mtime=0) for text in texts), as_dense(100, 0)]


def losing():
    """Plans that are whole, but do not guarantee what is claimed."""
    plans = tuple(integer_plan(GAMES[NAME], player, FirstSquare()) for player in (0, 1))
    return "".join(Certificate(GAMES[NAME], Fraction(13, 17), Fraction(13, 17), plans).text())


DAMAGED = {  # the text, the number of the line if all programs name the same one, and a word of each program
    "a weight": (replaced(MIXED, ACTION, f"{SQUARE}=1{WEIGHT}"), MIXED, "add up"),
    "a sign": (replaced(MIXED, ACTION, f"{SQUARE}=-{WEIGHT}"), MIXED, "action"),
    "a plus sign": (replaced(MIXED, ACTION, f"{SQUARE}=+{WEIGHT}"), MIXED, "action"),
    "a leading zero": (replaced(MIXED, ACTION, f"{SQUARE}=0{WEIGHT}"), MIXED, "action"),
    "an underscore": (replaced(ROOT, "18", "1_8"), ROOT, "action"),
    "digits of another script": (replaced(ROOT, "18", "1\u0668"), None, "ascii|action"),
    "a weight of 0": (replaced(LEAF, " ", " 0=0 "), LEAF, "action|attempted"),
    "a fraction as a weight": (replaced(MIXED, ACTION, f"{ACTION}/1"), MIXED, "action|invalid"),
    "a huge weight": (replaced(MIXED, ACTION, f"{SQUARE}={'9' * 5000}"), MIXED, "action|digits|limit|add up"),
    "a huge line": (
        replaced(MIXED, ACTION, f"{SQUARE}={'9' * 2_000_000}"),
        None,
        "must come|times|one whole|characters",
    ),
    "a huge square": (replaced(MIXED, ACTION, f"{'9' * 4000}={WEIGHT}"), MIXED, "action"),
    "a huge denominator": (replaced(PLAN0, DENOMINATOR, DENOMINATOR + "0"), ROOT, "add up"),
    "a missing infoset": (edited(MIXED), MIXED, "must come here|add up"),
    "a doubled infoset": (edited(MIXED, LINES[MIXED - 1], LINES[MIXED - 1]), MIXED + 1, "must come here"),
    "infosets in another order": (edited(MIXED, LINES[MIXED], LINES[MIXED - 1]), MIXED, "must come here"),
    "an infoset that cannot be reached": (edited(ROOT, LINES[ROOT - 1], "|0. 1=8"), ROOT + 1, "must come here"),
    "an infoset after a win": (edited(LEAF, LINES[LEAF - 1], f"{LEAF_TEXT}5* 2=1"), None, "must come here"),
    "an infoset without actions": (edited(LEAF, LEAF_TEXT), LEAF, "action|must come here|int"),
    "an action twice": (replaced(ROOT, "0=8", "0=4 0=4"), ROOT, "action|rise"),
    "actions in another order": (replaced(ROOT, "0=8 1=18", "1=18 0=8"), ROOT, "action|rise"),
    "a square that was tried": (edited(MIXED, f"{TEXT} {TEXT[1]}=8"), MIXED, "action|attempted"),
    "a square beyond the board": (edited(LEAF, f"{LEAF_TEXT} 6={LEAF_WEIGHT}"), LEAF, "action|attempted"),
    "a square of two digits": (replaced(ROOT, "5=8", "10=8"), ROOT, "action"),
    "two spaces": (replaced(ROOT, " 1=", "  1="), ROOT, "action|int|sequence|space"),
    "a tabulator": (replaced(ROOT, " 1=", "\t1="), ROOT, "action|int|invalid|must"),
    "lines that end as on Windows": (text_of(NAME).replace("\n", "\r\n"), 1, "must come here|version"),
    "a wrong value": (replaced(CLAIM, "13/17", "12/17"), None, "13/17"),
    "a better value on one side": (edited(CLAIM, "claim 13/17 <= value <= 12/17"), None, "13/17"),
    "a value not in lowest terms": (edited(CLAIM, "claim 26/34 <= value <= 26/34"), None, "lowest terms|13/17"),
    "a value as a decimal": (edited(CLAIM, "claim 0.5 <= value <= 0.9"), None, "claim|13/17"),
    "a division by zero": (edited(CLAIM, "claim 1/0 <= value <= 1/0"), None, "claim|13/17"),
    "no claim": (edited(CLAIM), CLAIM, "claim"),
    "another turn rule": (replaced(3, "abrupt", "classical"), None, "must come here|13/17|add up"),
    "a turn rule that nobody knows": (replaced(3, "abrupt", "sudden"), 3, "sudden|turns"),
    "winning sets of another game": (edited(4, "wins 0 012 345"), None, "must come here|add up"),
    "a winning set less": (replaced(4, " 01", ""), None, "must come here"),
    "a winning set more": (replaced(4, "wins 0", "wins 0 0"), None, "must come here"),
    "another board": (edited(2, "squares 4"), None, "must come here|attempted|actions|not on the board"),
    "a board without squares": (edited(2, "squares 0"), None, "squares|list"),
    "a board that is too large": (edited(2, "squares 17"), None, "squares|list"),
    "a huge board": (edited(2, "squares 99999999999999999999"), None, "squares|list"),
    "a version with more behind it": (edited(1, "phantom certificate 1 junk"), 1, "must come here|version"),
    "a version with a space behind it": (edited(1, "phantom certificate 1 "), 1, "must come here|version|space"),
    "rules that a terminal shows otherwise": (replaced(4, " 01", "  01 \r\twins 0 012"), 4, "winning sets|space"),
    "a tabulator between winning sets": (replaced(4, " 03", "\t03"), 4, "winning sets|space"),
    "two spaces between winning sets": (replaced(4, " 03", "  03"), 4, "winning sets|space"),
    "a space after winning sets": (edited(4, LINES[3] + " "), 4, "winning sets|space"),
    "a carriage return after winning sets": (edited(5, LINES[4] + "\r"), 5, "winning sets|space"),
    "a winning set off the board": (edited(4, LINES[3] + " 06"), 4, "board"),
    "a winning set of another player": (replaced(5, "wins 1", "wins 0"), 5, "must come here"),
    "a carriage return after the turn rule": (edited(3, "turns abrupt\r"), 3, "turns|list"),
    "a board with a zero before it": (edited(2, "squares 06"), 2, "squares|list"),
    "a plan without its name": (replaced(PLAN0, "plan 0 ", ""), PLAN0, "plan 0"),
    "a space after a plan's numbers": (edited(PLAN0, LINES[PLAN0 - 1] + " "), None, "plan 0"),
    "a carriage return after the claim": (edited(CLAIM, LINES[CLAIM - 1] + "\r"), None, "claim|value"),
    "a space after the end": (edited(END, "end "), None, "end"),
    "a weight of 4,001 digits": (with_digits(4001), None, "digits|plan 1"),
    "a line of 100,000 characters": (with_characters(100_000), 4, "characters|must come here"),
    "a line of 150,000 characters": (with_characters(150_000), 4, "characters|must come here"),
    "another version": (replaced(1, "1", "2"), 1, "must come here|version"),
    "wrong numbers of infosets": (replaced(PLAN0, "33", "34"), None, "33"),
    "too few infosets": (replaced(PLAN0, "33", "32"), None, "33|more"),
    "wrong numbers of actions": (replaced(PLAN0, "56", "57"), None, "56"),
    "too few actions": (replaced(PLAN0, "56", "55"), None, "56"),
    "a number less": (replaced(PLAN0, " 56", ""), None, "plan 0"),
    "plans that change places": ("\n".join([*HEADER, *SECOND, *FIRST, "end", ""]), PLAN0, "plan 0"),
    "one plan": ("\n".join([*HEADER, *FIRST, "end", ""]), PLAN1, "plan 1"),
    "no end": ("\n".join([*LINES[: END - 1], ""]), None, "end"),
    "no end of the last line": (text_of(NAME)[:-1], None, "end|last line"),
    "a line after the end": (text_of(NAME) + "|0* 1=2\n", None, "end"),
    "a second certificate": (text_of(NAME) * 2, None, "end"),
    "nothing": ("", None, "phantom|ends|cut|version"),
    "a plan that loses": (losing(), None, "value"),
    "a weight on a large board": (on_a_large_board(TENTH, "a=1", "a=2"), TENTH, "add up"),
    "a square beyond a large board": (on_a_large_board(TENTH, "a=1", "c=1"), TENTH, "action|attempted"),
    "a square that is not a digit": (on_a_large_board(TENTH, "a=1", "g=1"), TENTH, "action"),
    "a square as a capital letter": (on_a_large_board(TENTH, "a=1", "A=1"), TENTH, "action"),
    "a large square as a decimal number": (on_a_large_board(TENTH, "a=1", "10=1"), TENTH, "action"),
    "an infoset with a capital letter": (on_a_large_board(AFTER_TENTH, "a", "A"), AFTER_TENTH, "must come here"),
    "a winning set with a capital letter": (on_a_large_board(4, "05a", "05A"), 4, "not found|winning sets"),
    "a winning set less on a large board": (on_a_large_board(4, " 9ab", ""), None, "must come here|value"),
    "a wrong value on a large board": (on_a_large_board(6, "1 <= value", "1/2 <= value"), None, "value"),
}


@cache
def zips():
    whole = (PROOF / f"{NAME}.txt.gz").read_bytes()
    flipped = bytearray(whole)
    flipped[len(whole) // 2] ^= 4
    return {
        "no gzip file": b"a certificate",
        "the text alone": gzip.decompress(whole),
        "an empty file": b"",
        "zipped twice": gzip.compress(whole),
        "another format of zlib": zlib.compress(gzip.decompress(whole)),
        "a byte after the end": whole + b"\n",
        "a second gzip file after the end": whole + whole,
        "an empty gzip file after the end": whole + gzip.compress(b""),
        "a bit": bytes(flipped),
        "the checksum": whole[:-8] + bytes([whole[-8] ^ 1]) + whole[-7:],
        "the length": whole[:-1] + b"\1",
        "text of more than 100 times the bytes": as_dense(100, 1),
        "a bomb of zeros": gzip.compress(bytes(50_000_000), 1),
        "a bomb of lines": gzip.compress(b"phantom certificate 1\n" * 2_000_000, 1),
        "a bomb behind a header": gzip.compress("\n".join(LINES[:PLAN0]).encode() + b"\n" + b"|" * 50_000_000, 1),
        **{f"cut after {size} bytes": whole[:size] for size in (1, 9, 10, 60, len(whole) // 2, len(whole) - 1)},
    }


BOMBS = {
    "zeros": lambda: gzip.compress(bytes(200_000_000), 1),
    "huge integers": lambda: gzip.compress(
        "\n".join([*LINES[: PLAN0 - 1], f"plan 0 33 56 {'7' * 99_000}"] * 3).encode()
    ),
    "many lines": lambda: gzip.compress(b"\n" * 200_000_000, 1),
}
