"""The boards on the first page of the website: both players' first attempts in the proven equilibria.

They are plain HTML, with links to the page Explore, so they work without scripts.
"""

import gzip
from fractions import Fraction

import openings
from pages import GAMES, PROOF, short_title

LINKS = {"explore": "Explore every move", "perfect": "Play against it", "verify": "Check the proof"}


def front_board() -> str:
    """The boards of all games as one block of HTML; the reader chooses which game is seen."""
    choices, games = [], []
    for name in GAMES:
        checked = "" if games else " checked"
        label = f'<label for="front-{name}">{short_title(name)}</label>'
        choices.append(f'<input type="radio" name="front" id="front-{name}"{checked}>{label}')
        value, game = value_of(name), openings.read(PROOF / f"{name}.txt.gz")
        boards = "".join(_board(name, plan, value) for plan in game.plans)
        games.append(f'<div class="front-game{" hex" if name.startswith("dark-hex") else ""}">{boards}</div>')
    links = " ".join(f'<a href="pages/{page}.html">{title}</a>' for page, title in LINKS.items())
    return (
        '<div class="front" role="group" aria-label="How a perfect player begins">'
        f"{''.join(choices)}{''.join(games)}"
        f'<p class="front-links">Click a square to go on from there. {links}</p></div>'
    )


def value_of(name: str) -> Fraction:
    """The value of a game for player 0, as its certificate claims it."""
    line = gzip.decompress((PROOF / f"{name}.txt.gz").read_bytes()).decode("ascii").splitlines()[5]
    return Fraction(line.split(" ")[-1])


def _board(name: str, plan: openings.Plan, value: Fraction) -> str:
    worth = value if plan.player == 0 else -value
    rows = []
    for row in range(3):
        cells = (_square(name, plan, square) for square in range(3 * row, 3 * row + 3))
        rows.append(f'<span class="front-row">{"".join(cells)}</span>')
    number = f"{float(worth):.3f}" if worth.denominator > 1 else str(worth)
    return (
        f'<figure><div class="front-board">{"".join(rows)}</div>'
        f"<figcaption>Player {plan.player}: {number.replace('-', '−')} a game</figcaption></figure>"
    )


def _square(name: str, plan: openings.Plan, square: int) -> str:
    share = plan.rows["|"].get(square, Fraction(0))
    percent = f"{float(100 * share):.{0 if share in (0, 1) else 1}f} %"
    return (
        f'<a href="pages/explore.html#/{name}/{plan.player}//{square}" title="{share}" style="--share: '
        f'{float(share) ** 0.5:.3f}" aria-label="Square {square}: {percent}">{percent}</a>'
    )
