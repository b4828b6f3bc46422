"""How long a person waits for an agent's move in a real browser: ``python -m benchmarks.answering``.

A headless Chromium makes random moves in games of Ultimate against agents that think for 0.1 s, and in a game of
Extreme against a bot of random moves.  A move is timed inside the page, from the click to the frame in which the person
is to move again, or the game is over.  The agent's thinking does not count: in Ultimate the 0.1 s, in Extreme the time
that the page shows for the bot's move.  Times grow when other programs use the processor, so the load is printed.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from benchmarks.browsing import ARGUMENTS
from benchmarks.explore import percentile

THINKING = 0.1
AGENTS = ("strongest", "mcts")
_MOVE = """chosen => new Promise(done => {
  const cells = document.querySelectorAll("button.cell:not([aria-disabled])");
  const before = document.getElementById("table").dataset.ply, begun = performance.now();
  const look = () => {
    const table = document.getElementById("table");
    const mine = table && table.dataset.ply !== before && table.querySelector("button.cell, .outcome");
    mine ? done(performance.now() - begun) : requestAnimationFrame(look);
  };
  cells[Math.floor(chosen * cells.length)].click();
  requestAnimationFrame(look);
})"""


@contextmanager
def serving(*command: str) -> Iterator[str]:
    """The address at which a command of ``pttt`` serves, in a directory of its own."""
    program = "import sys; from pttt_ooc.cli.commands import main; sys.exit(main(sys.argv[1:]))"
    with tempfile.TemporaryDirectory() as place:
        words = [sys.executable, "-c", program, *command, "--no-browser", "--data", place]
        with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as child:
            assert child.stdout is not None
            told = re.search(r"http://[\d.:]+", child.stdout.readline())
            if told is None:
                sys.exit(f"`pttt {' '.join(command)}` did not begin.")
            try:
                yield told[0]
            finally:
                child.terminate()


def waited(page: Any, chance: random.Random, moves: int, thinking: float | None) -> list[float]:
    """Seconds of each move without the agent's thinking; None: the page says how long the agent thought."""
    times: list[float] = []
    while len(times) < moves:
        if not page.locator("button.cell").count():
            page.get_by_text("sides changed").click()
            page.locator("button.cell").first.wait_for()
            continue
        took = float(page.evaluate(_MOVE, chance.random())) / 1000
        told = re.search(r"in (<?)([\d.]+) s", page.locator("[role=status]").first.inner_text())
        if thinking is not None or told:  # after the person's own bonus move, no agent has thought
            times.append(took - (thinking if thinking is not None else float(told[2]) if told and not told[1] else 0.0))
    return times


def main() -> int:
    """The command; returns its exit code."""
    from playwright.sync_api import sync_playwright

    parser = argparse.ArgumentParser(prog="python -m benchmarks.answering", description=__doc__)
    parser.add_argument("--moves", type=int, default=100, metavar="N", help="of each agent (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="of the moves (default: %(default)s)")
    options = parser.parse_args()
    chance, record = random.Random(options.seed), {"load_before": round(os.getloadavg()[0], 2)}
    found: dict[str, list[float]] = {}
    with sync_playwright() as playwright:
        program = shutil.which("chromium-headless-shell") or shutil.which("chromium")
        browser = playwright.chromium.launch(executable_path=program, args=ARGUMENTS)
        with serving("web") as address:
            for agent in AGENTS:
                page = browser.new_page(base_url=address)
                page.goto("/arena/play")
                page.get_by_label("Opponent").select_option(agent)
                page.get_by_label("Time to think").first.select_option(str(THINKING))
                page.get_by_role("button", name="Begin").click()
                page.locator("button.cell").first.wait_for(timeout=120_000)
                waited(page, chance, 2, THINKING)  # the first move loads code
                found[f"ultimate {agent}"] = waited(page, chance, options.moves, THINKING)
                page.close()
        with serving("web", "--bot", "random") as address:
            page = browser.new_page(base_url=address)
            page.goto("/extreme/play")
            page.get_by_role("button", name="Begin").click()
            page.locator("button.cell").first.wait_for(timeout=120_000)
            found["extreme random"] = waited(page, chance, options.moves, None)
        browser.close()
    figures = {name: {f"p{n}": percentile(times, n / 100) for n in (50, 95)} for name, times in found.items()}
    print(json.dumps({**record, "load_after": round(os.getloadavg()[0], 2), "milliseconds": figures}, indent=2))
    return 0


if __name__ == "__main__":
    sys.exit(main())
