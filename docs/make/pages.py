"""Pages that work from a file, without a server: they check proofs, play perfectly, and print openings.

Usage: ``python docs/make/pages.py DIRECTORY``, which needs nothing but Python.  ``make docs`` puts them on the website.
Each is one file with all that it needs: the certificates of ``proof/`` and the scripts of ``docs/pages/``.
"""

import base64
import json
import sys
from pathlib import Path

import openings

PAGES = Path(__file__).parents[1] / "pages"
PROOF = Path(__file__).parents[2] / "proof"
GAMES = ("pttt-abrupt", "pttt-classical", "dark-hex-3x3-abrupt", "dark-hex-3x3-classical")
CHECKED = ("mini-2x3k2-abrupt", *GAMES)
OPENINGS = {  # for each game: its title and aim, and how many attempts of each player go before the last lines
    "pttt-abrupt": ("Phantom Tic-Tac-Toe, abrupt", "Three in a row win.", (3, 2)),
    "dark-hex-3x3-abrupt": (
        "Dark Hex 3x3, abrupt",
        "Player 0 connects top and bottom, player 1 left and right.",
        (3, 2),
    ),
}


def filled(template: str, games: tuple[str, ...] = ()) -> str:
    """A template with the files that it names in comments, and with certificates."""
    text = (PAGES / template).read_text(encoding="utf-8")
    coded = {name: base64.b64encode((PROOF / f"{name}.txt.gz").read_bytes()).decode() for name in games}
    text = text.replace("/* certificates */", json.dumps(coded))
    for part in sorted(PAGES.glob("*.js")) + sorted(PAGES.glob("*.css")):
        text = text.replace(f"/* {part.name} */", part.read_text(encoding="utf-8"))
    return text


def make(directory: Path) -> list[Path]:
    """Write all pages to a directory."""
    directory.mkdir(parents=True, exist_ok=True)
    pages = {"verify.html": filled("verify.html", CHECKED), "perfect.html": filled("perfect.html", GAMES)}
    sheets = [
        openings.sheet(title, aim, PROOF / f"{name}.txt.gz", most) for name, (title, aim, most) in OPENINGS.items()
    ]
    pages["openings.html"] = filled("openings.html").replace("<!-- openings -->", "\n".join(sheets))
    written = []
    for name, text in pages.items():
        written.append(directory / name)
        written[-1].write_text(text, encoding="utf-8")
    return written


if __name__ == "__main__":
    for path in make(Path(sys.argv[1])):
        print(path, path.stat().st_size)
