"""Random claims of draws, true and false, with proofs that try to get past ``proof/verify_draws.py``; and the truth.

The truth is a plain search of the Maker-Breaker game, which shares nothing with the program.  The proofs are made with
the program's own ``check``: in each position, random lines are tried until it takes one.  So they get as far as it lets
them.
"""

from functools import cache

from tests.other_games.arena import naive_rows

NAMES = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+-"
MOST = 12
SIZES = [(rows, columns) for rows in range(1, MOST + 1) for columns in range(1, MOST // rows + 1)]


def board_by_lot(draw):
    """Rows, columns and length of a line, now and then longer than the board; broad boards are more likely."""
    rows, columns = draw.choice([size for size in SIZES if min(size) > 1 or draw.random() < 0.3])
    return rows, columns, draw.randint(1, max(rows, columns) + (draw.random() < 0.1))


@cache
def is_drawn(rows, columns, need):
    """Whether the second player can keep the first one from having a line."""
    drawn = not naive_rows.maker_wins(frozenset(naive_rows.lines(rows, columns, need)), True)
    naive_rows.maker_wins.cache_clear()
    return drawn


def line_by_lot(draw, program, sets):
    """A line of a proof for a position, mostly as the format allows it: pairs, and replies to the marks that are tried.

    A square that is in no set is named now and then.
    """
    squares = names(program["union"](sets)) or ["A"]
    anywhere = [*squares, draw.choice(NAMES)] if draw.random() < 0.1 else squares
    pairs = draw.sample(anywhere, draw.randint(0, len(anywhere) // 2) * 2) if draw.random() < 0.4 else []
    left = program["least"](program["paired"](sets, program["pairs"]("".join(pairs))))
    items = []
    if draw.random() < 0.7:
        tried = names(sum(program["marks"](left)))
        for _ in range(draw.randrange(3)):
            order = draw.sample(anywhere, len(anywhere))
            items.append("".join(order[: 1 + draw.randint(0, (len(order) - 1) // 2) * 2]))
        if draw.random() < 0.7:
            tried = draw.sample(tried, draw.randint(0, len(tried)) if items else len(tried))
            items += [f"{mark}>{draw.choice(anywhere)}" for mark in tried]
    if pairs:
        items.insert(0 if draw.random() < 0.98 else draw.randint(0, len(items)), "".join(pairs) + ":")
    return " ".join(items)


def names(word):
    """The squares of a set."""
    return [name for number, name in enumerate(NAMES) if word >> number & 1]


def lines_by_lot(draw, program, rows, columns, need, trials):
    """The lines of a proof that goes as far as the program lets it, but has at most 40 lines.

    The first lines are right if the program is, and the last one is refused if the claim is false.
    """
    sets, images = program["board"](rows, columns, need)
    seen, waiting, lines = set(), [sets], []
    while waiting and len(lines) < 40:
        sets = waiting.pop()
        key = min(
            tuple(sorted(sum(image[n] for n in range(rows * columns) if one >> n & 1) for one in sets))
            for image in images
        )
        if key in seen:
            continue
        seen.add(key)
        for _ in range(trials):
            lines.append(line_by_lot(draw, program, sets))
            try:
                waiting += program["check"](sets, lines[-1])
                break
            except AssertionError:
                lines.pop()
        else:
            lines.append(line_by_lot(draw, program, sets))
    return lines


def text_of(size, lines):
    """The text of a proof for a board of this size."""
    return "\n".join(["mnk draws 1", "{} {} {}".format(*size), *lines, ""])


def mutated(draw, lines):
    """Lines of which one has another character, item or place, is twice, or is away."""
    lines = list(lines)
    place = draw.randrange(len(lines))
    line, kind = lines[place], draw.randrange(7)
    if kind == 0:
        del lines[place]
    elif kind == 1:
        lines.insert(place, draw.choice(lines))
    elif kind == 2:
        other = draw.randrange(len(lines))
        lines[place], lines[other] = lines[other], line
    elif kind == 3:  # a word is twice, elsewhere, or away
        words = line.split(" ")
        word = words.pop(draw.randrange(len(words)))
        for _ in range(draw.randrange(3)):
            words.insert(draw.randint(0, len(words)), word)
        lines[place] = " ".join(words)
    else:
        index = draw.randint(0, len(line))
        now = draw.choice(["", draw.choice(NAMES[:MOST] + " :>\t\r?é")])
        lines[place] = line[:index] + now + line[index + draw.randrange(2) :]
    return lines
