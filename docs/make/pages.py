"""Pages that work from a file, without a server: they explore and play equilibria, check proofs, and print openings.

Usage: ``python docs/make/pages.py DIRECTORY``, which needs nothing but Python.  ``make docs`` puts them on the website.
They share the scripts of ``docs/pages/``, and the certificates of ``proof/`` as a script.
"""

import base64
import json
import shutil
import sys
from pathlib import Path

import openings

PAGES = Path(__file__).parents[1] / "pages"
PROOF = Path(__file__).parents[2] / "proof"
GAMES = {
    "pttt-abrupt": "Phantom Tic-Tac-Toe, abrupt",
    "pttt-classical": "Phantom Tic-Tac-Toe, classical",
    "dark-hex-3x3-abrupt": "Dark Hex 3x3, abrupt",
    "dark-hex-3x3-classical": "Dark Hex 3x3, classical",
}
"""The games to explore and play, with their titles."""
CHECKED = ("mini-2x3k2-abrupt", *GAMES)
OPENINGS = {  # for each game: its aim, and how many attempts of each player go before the last lines
    "pttt-abrupt": ("Three in a row win.", (3, 2)),
    "dark-hex-3x3-abrupt": ("Player 0 connects top and bottom, player 1 left and right.", (3, 2)),
}
MENU = {"explore": "Explore", "perfect": "Play", "verify": "Proof", "openings": "Openings"}
ENGINE = ("certificate.js", "best_response.js", "claim.js", "infoset.js")
"""Scripts that pages and workers share."""
OFFERED = "Certificate, unzipped, bytesOf, fractionText, attemptsOf, Questions, hearFiles, hearQuestions"
"""What pages and workers use of them."""


def engine() -> str:
    """The scripts of the engine as one function; workers get its text, as they can read no file without a server."""
    scripts = "\n".join((PAGES / name).read_text(encoding="utf-8") for name in ENGINE)
    return f"function engine() {{\n{scripts}\nreturn {{ {OFFERED} }};\n}}\n"


def short_title(name: str) -> str:
    """The title of a game where there is little space."""
    return GAMES[name].removeprefix("Phantom ").replace(" 3x3", "")


def certificates() -> str:
    """The certificates, and the titles of games, as a script."""
    titles = {name: short_title(name) for name in GAMES}
    coded = {name: base64.b64encode((PROOF / f"{name}.txt.gz").read_bytes()).decode() for name in CHECKED}
    return f"const TITLES = {json.dumps(titles)};\nconst CERTIFICATES = {json.dumps(coded)};\n"


def menu(current: str, home: str | None) -> str:
    """The menu of all pages, with a link to a home if there is one; links leave the page's frame."""
    links = [f'<a href="{home}" target="_top">pttt-ooc</a>'] if home else []
    for name, title in MENU.items():
        here = ' aria-current="page"' if name == current else ""
        links.append(f'<a href="{name}.html"{here} target="_top">{title}</a>')
    return f'<nav class="menu" aria-label="Pages">{" ".join(links)}</nav>'


def make(directory: Path, home: str | None = None) -> list[Path]:
    """Write all pages and their scripts to a directory.

    Parameters
    ----------
    home
        Where the first link leads.
    """
    directory.mkdir(parents=True, exist_ok=True)
    sheets = [
        openings.sheet(GAMES[name], aim, PROOF / f"{name}.txt.gz", most) for name, (aim, most) in OPENINGS.items()
    ]
    made = {"engine.js": engine(), "certificates.js": certificates()}
    for name in MENU:
        text = (PAGES / f"{name}.html").read_text(encoding="utf-8").replace("<!-- menu -->", menu(name, home))
        made[f"{name}.html"] = text.replace("<!-- openings -->", "\n".join(sheets))
    for name, text in made.items():
        (directory / name).write_text(text, encoding="utf-8")
    copied = [path for path in PAGES.iterdir() if path.suffix in (".js", ".css") and path.name not in ENGINE]
    for path in copied:
        shutil.copy(path, directory)
    return sorted(directory / name for name in [*made, *(path.name for path in copied)])


if __name__ == "__main__":
    for path in make(Path(sys.argv[1])):
        print(path, path.stat().st_size)
