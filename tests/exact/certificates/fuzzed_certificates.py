"""Certificates of small games by lot, and the same with damage: for the three programs that check them."""

import random
import re

from pttt_ooc.errors import CertificateError
from pttt_ooc.exact.certificates.certificate import Certificate, guarantees, verify_certificate
from pttt_ooc.exact.certificates.integer_plan import integer_plan
from pttt_ooc.games.rules.game import Game
from tests.kits.verify_program import proven_words, verify, zipped


def files_by_lot(seed, number, path):
    """Certificates by lot, most of them damaged, as bytes of a file that is written to a path; and what is proven.

    That is what ``proof/verify.py`` says and the package, too; None if both refuse.
    """
    draw = random.Random(seed)
    for place in range(number):
        if place % 10 == 0:
            lines = lines_by_lot(draw)
        changed = lines
        for _ in range(min(place % 10, draw.randint(1, 2))):
            changed = mutated(draw, changed)
        content = zipped("\n".join(changed), path).read_bytes()
        proven = by_the_program(path)
        assert proven == by_the_package(path), changed
        yield content, proven


def by_the_program(path):
    """What verify.py proves; None if it refuses."""
    *_, last = verify(path)
    return last.removeprefix("proven: ") if last.startswith("proven: ") else None


def by_the_package(path):
    """What `pttt verify` proves; None if it refuses."""
    try:
        _, found = verify_certificate(path)
    except CertificateError:
        return None
    return proven_words(found.lower, found.upper)


class ByLot:
    """What a player does by lot, with integer weights."""

    def __init__(self, draw, squares):
        self._draw, self._squares = draw, squares
        self.denominator = draw.choice([1, draw.randint(1, 9), draw.randint(1, 99), draw.randint(1, 10**40)])

    def start(self):
        return frozenset()

    def actions(self, tried, text, weight):
        free = [square for square in range(self._squares) if square not in tried]
        chosen = sorted(self._draw.sample(free, min(weight, self._draw.randint(1, len(free)))))
        parts, left = [], weight - len(chosen)
        for _ in chosen[1:]:
            parts.append(self._draw.randint(0, left))
            left -= parts[-1]
        return [(square, 1 + part) for square, part in zip(chosen, [*parts, left], strict=True)]

    def after(self, tried, square, placed):
        return tried | {square}


def lines_by_lot(draw):
    """The lines of a certificate for a game by lot, of one to four squares."""
    squares = draw.randint(1, 4)
    sets = tuple(tuple({draw.randint(1, 2**squares - 1) for _ in range(draw.randint(0, 3))}) for _ in range(2))
    game = Game("by lot", 1, squares, sets, draw.choice(["abrupt", "classical"]))
    plans = tuple(integer_plan(game, player, ByLot(draw, squares)) for player in (0, 1))
    found = guarantees(game, plans)
    return "".join(Certificate(game, found.lower, found.upper, plans).text()).split("\n")


def mutated(draw, lines):
    """Other lines: most of them are not of the format, some are other rules or plans, some say the same."""
    lines, kind = list(lines), draw.randrange(8)
    place = draw.choice([draw.randrange(7), draw.randrange(len(lines))])  # each second time in the header
    if kind == 0:  # the same rules, or other ones
        place = draw.choice([3, 4])
        head, sets = lines[place][:6], lines[place][6:].split()
        sets += draw.choice([[], sets[:1], ["".join(draw.choice("0012345f") for _ in range(draw.randint(1, 3)))]])
        draw.shuffle(sets)
        lines[place] = " ".join([head, *sets])
    elif kind == 1:  # the same plan, or nearly, over another denominator
        times = draw.randint(2, 5)
        begin = draw.choice([number for number, line in enumerate(lines) if line.startswith("plan")] or [0])
        for number, line in enumerate(lines[begin:], begin):
            if number > begin and line.startswith(("plan", "end")):
                break
            numbers = r"\d+$" if number == begin else r"(?<==)\d+"
            lines[number] = re.sub(numbers, lambda found: str(int(found[0]) * times), line, flags=re.ASCII)
    elif kind == 2:  # a line is away, twice or elsewhere
        line = lines.pop(place)
        for _ in range(draw.randrange(3)):
            lines.insert(draw.randint(0, len(lines)), line)
    elif kind == 3:  # a word is away, twice or elsewhere
        words = lines[place].split(" ")
        word = words.pop(draw.randrange(len(words)))
        for _ in range(draw.randrange(3)):
            words.insert(draw.randint(0, len(words)), word)
        lines[place] = " ".join(words)
    else:
        line = lines[place]
        index = draw.randint(0, len(line))
        now = draw.choice(["", draw.choice("0123456789abcdef"), draw.choice("|*.=/-+_A \t\r\x0b\x0c\x1c\0é\n")])
        lines[place] = line[:index] + now + line[index + draw.randrange(2) :]
    return lines
