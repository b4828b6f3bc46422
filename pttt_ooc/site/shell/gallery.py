"""The page *Parts*: each part of pages in all its states, for those who change the look.

``python -m pttt_ooc.site.shell.gallery`` serves it, and nothing else; it belongs to no site.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from pathlib import Path

import uvicorn
from fastapi import APIRouter, FastAPI, Request, Response
from fastapi.responses import HTMLResponse

from pttt_ooc.pipeline.show import miniatures
from pttt_ooc.site.service.wing import Card
from pttt_ooc.site.shell.application import make_application
from pttt_ooc.site.shell.parts import Link, Part
from pttt_ooc.site.shell.rendering import render
from pttt_ooc.site.shell.shell import Shell

PATH = "/parts"


@dataclass(frozen=True)
class Move:
    """A move of a list."""

    player: int
    text: str


def _square(number: int, marks: str, legal: str = "", latest: int = -1, winning: str = "") -> dict[str, object]:
    mark, name = marks[number], str(number)
    told = {"-": "free", "x": "x", "o": "o"}[mark]
    facts = {
        "legal": name in legal,
        "latest": number == latest,
        "winning": name in winning,
        "figure": "",
        "best": False,
        "chosen": False,
    }
    return {"move": number, "mark": mark, "words": f"{number}, {told}", "name": name, **facts}


def _rated_board() -> dict[str, object]:
    """A position with the values of moves, the best and the one that was made."""
    board = _flat("x-o------", "", 2)
    row = board["rows"][0][0]["rows"][1]  # type: ignore[index]
    row[1] |= {"figure": "0.92", "best": True}
    row[2] |= {"figure": "0.40", "chosen": True}
    return board


def _flat(marks: str, legal: str = "", latest: int = -1, winning: str = "") -> dict[str, object]:
    rows = [[_square(3 * i + j, marks, legal, latest, winning) for j in range(3)] for i in range(3)]
    block = {"owner": "-", "winning": False, "words": "", "open": bool(legal), "rows": rows}
    return {"rows": [[block]], "columns": 3, "words": "a board of the page Parts"}


def _nested_board(owners: str, opened: str) -> dict[str, object]:
    blocks = []
    for number in range(9):
        legal = "012345678" if str(number) in opened else ""
        marks = {"x": "xx-o-x--x", "o": "oo-x-o--o", "d": "xoxxoooxo"}.get(owners[number], "---------")
        rows = [[_square(3 * i + j, marks, legal) for j in range(3)] for i in range(3)]
        won = number in (0, 4, 8) and owners[0] == owners[4] == owners[8] != "-"
        words = f"Small board {number}"
        blocks.append({"owner": owners[number], "winning": won, "words": words, "open": bool(legal), "rows": rows})
    rows_of_blocks = [blocks[:3], blocks[3:6], blocks[6:]]
    return {"rows": rows_of_blocks, "columns": 9, "words": "a board of boards of the page Parts"}


def _attempt(title: str, share: float, kind: str, address: str) -> dict[str, object]:
    """The card of an attempt that leads to two outcomes; without an address the game is over."""
    ways = [{"text": f"{word} 0.5000", "address": address, "label": f"{title} {word}"} for word in ("placed", "failed")]
    return {"title": title, "figure": f"{share:.4f}", "share": share, "kind": kind, "ways": ways}


MOVES = [Move(n % 2, text) for n, text in enumerate(("b2", "a1", "c1", "a3", "a2"))]
CHANCES = [0.5 + 0.4 * math.sin(n / 5) for n in range(40)]
CARD = Card(
    "A card",
    "One sentence on what it is.",
    ("What", "Value"),
    (("First", "0.12345"), ("Second", "−0.50000")),
    ((PATH, "Play"), (PATH, "Explore")),
    ("A note.",),
    targets=(PATH, ""),
    miniature=miniatures.shaded_board(3, 3, [0.18, 0.05, 0.18, 0.05, 0.08, 0.05, 0.18, 0.05, 0.18], "An opening"),
)
FACTS = {
    "boards": {
        "to be played on": (_flat("x-o------", "1345678", 2), "move"),
        "not one's turn": (_flat("x-o------", "", 2), ""),
        "moves with their values": (_rated_board(), ""),
        "won": (_flat("xxxoo----", "", 2, "012"), ""),
        "a small board is open": (_nested_board("---------", "4"), "move"),
        "small boards won, drawn, and a line of them": (_nested_board("x-doxo-ox", ""), ""),
    },
    "moves": MOVES,
    "shares": (0.5, 0.93, 0.0, 1.0, None),
    "chart": "M" + "L".join(f"{25 * n} {round(200 * (1 - one), 1)}" for n, one in enumerate(CHANCES)),
    "cards": [
        CARD,
        replace(CARD, title="Another card", rows=(), links=(), notes=(), miniature=None, command="make solve"),
    ],
    "actions": [
        {"title": "start", "address": PATH, "facts": ["0 placed", "0.2500"]},
        {"title": "|0*", "address": PATH, "facts": ["4 failed", "0"], "kind": "never"},
        {"title": "|0*4.", "facts": ["to move"], "kind": "here"},
    ],
    "attempts": [
        _attempt("1", 0.25, "best", PATH),
        _attempt("2", 0.75, "", ""),
        _attempt("3", 0.0, "never", PATH),
    ],
    "pictures": {
        "values": miniatures.values_table([[0.5, 0.1, -0.2], [0.9, 0.4, -0.1], [1.0, 0.7, 0.2]], "Values"),
        "results": miniatures.results_bars([(3, 1, 0), (1, 2, 3), (0, 4, 0)], "Results"),
        "boards": miniatures.nested_boards([(["xo--x---o"] * 9, "x-o-d-x-o")], "A board of boards"),
        "curve": miniatures.curve([1.0, 0.5, 0.3, 0.01, 0.001], "A curve", logarithmic=True),
    },
}


def application() -> FastAPI:
    """The application with this page only."""
    router = APIRouter(default_response_class=HTMLResponse, include_in_schema=False)

    @router.get(PATH)
    def parts(request: Request) -> Response:
        return render(request, "web/gallery.html", None, **FACTS)

    directory = Path(__file__).parent / "templates"
    part = Part(name="gallery", directory=directory, routers=(router,), links=(Link(PATH, "Parts"),))
    return make_application(Shell("Parts", "", [part]))


if __name__ == "__main__":
    uvicorn.run(application(), host="127.0.0.1", port=8090)
