"""The openings of a game as HTML: what the plans of a certificate play at the first few attempts."""

import gzip
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import NamedTuple

Row = dict[int, Fraction]
"""The probability of each square that is played."""


class Plan(NamedTuple):
    """A player's plan: what is played at each infoset, by its text."""

    player: int
    rows: dict[str, Row]


class Game(NamedTuple):
    """What is read from a certificate: the number of squares, winning sets of each player, and both plans."""

    squares: int
    sets: tuple[frozenset[frozenset[int]], frozenset[frozenset[int]]]
    plans: tuple[Plan, Plan]


def read(path: Path) -> Game:
    """Read a certificate without checking its proof."""
    lines = gzip.decompress(path.read_bytes()).decode("ascii").splitlines()
    plans = (Plan(0, {}), Plan(1, {}))
    for line in lines[6:-1]:
        name, *words = line.split(" ")
        if name == "plan":
            rows = plans[int(words[0])].rows
            continue
        weights = {int(square): int(weight) for square, weight in (word.split("=") for word in words)}
        rows[name] = {square: Fraction(weight, sum(weights.values())) for square, weight in weights.items()}
    first, second = (frozenset(frozenset(map(int, word)) for word in line.split(" ")[2:]) for line in lines[3:5])
    return Game(int(lines[1].split(" ")[1]), (first, second), plans)


def symmetries(game: Game, side: int = 3) -> list[list[int]]:
    """The rotations and reflections of a square board that keep the winning sets of each player."""
    last, found = side - 1, []
    for turn, down, right in product((False, True), repeat=3):
        image = []
        for square in range(side * side):
            row, column = reversed(divmod(square, side)) if turn else divmod(square, side)
            image.append(side * (last - row if down else row) + (last - column if right else column))
        if all({frozenset(image[square] for square in one) for one in sets} == sets for sets in game.sets):
            found.append(image)
    return found


def image_of(text: str, image: list[int]) -> str:
    """An infoset after a symmetry."""
    return "".join(str(image[int(character)]) if character.isdigit() else character for character in text)


def representatives(game: Game, plan: Plan, attempts: int) -> dict[str, Row]:
    """The infosets after at most this many attempts, one of those that are images of each other.

    Raises
    ------
    ValueError
        If the plan plays differently at two images.
    """
    images, chosen = symmetries(game), {}
    for text in sorted(
        (text for text in plan.rows if len(text) <= 1 + 2 * attempts), key=lambda text: (len(text), text)
    ):
        row = plan.rows[text]
        for image in images:
            if plan.rows.get(image_of(text, image)) != {image[square]: part for square, part in row.items()}:
                raise ValueError(f"player {plan.player} does not treat {text} as its images")
        if text == min(image_of(text, image) for image in images):
            chosen[text] = row
    return chosen


def _cell(part: Fraction | None) -> str:
    if part is None:
        return "<td></td>"
    kind = ' class="likely"' if 2 * part >= 1 else ""
    return f"<td{kind}>{100 if part == 1 else f'{float(100 * part):.1f}'}</td>"


def table(game: Game, plan: Plan, attempts: int) -> str:
    """A table of percentages, with a line for each infoset."""
    rows, length = [], 1
    for text, row in representatives(game, plan, attempts).items():
        begin, length = ' class="begin"' if len(text) > length else "", len(text)
        cells = "".join(_cell(row.get(square)) for square in range(game.squares))
        rows.append(f'<tr{begin}><th scope="row">{text}</th>{cells}</tr>')
    head = "".join(f'<th scope="col">{square}</th>' for square in range(game.squares))
    return (
        f'<table class="openings"><caption>Player {plan.player}</caption>'
        f'<thead><tr><th scope="col">infoset</th>{head}</tr></thead><tbody>{"".join(rows)}</tbody></table>'
    )


def sheet(title: str, aim: str, path: Path, attempts: tuple[int, int]) -> str:
    """The openings of a game on one printed page: its title, its aim in a sentence, the attempts of each player."""
    game = read(path)
    tables = "\n".join(table(game, plan, most) for plan, most in zip(game.plans, attempts, strict=True))
    return f"""<section class="sheet">
<h2>{title}</h2>
<p>The first attempts of a <em>proven</em> equilibrium, in percent. {aim} A line is for what the player has attempted so
far: <code>0*4.</code> means that the mark on square 0 was placed, and that the attempt at square 4 failed. Squares are
numbered row by row. A line stands for all its images under the board's symmetries. An empty place means never.</p>
<div class="columns">
{tables}
</div>
</section>"""
