"""The strong bot's search, compiled for bots behind walls."""

from __future__ import annotations

from pttt_ooc.other_games.arena.research.players.strong import Searcher


def ready(searcher: Searcher) -> Searcher:
    """The searcher, with its kernels compiled, or loaded."""
    searcher.choose(searcher.game.start(), 60.0, 1)
    return searcher


def main() -> None:
    """Compile the kernels, and let bots behind walls read them, who are another user."""
    from pttt_ooc.compiled_code import make_readable
    from pttt_ooc.jit import DIRECTORIES

    ready(Searcher(1 << 10))
    for place in DIRECTORIES:
        make_readable(place)


if __name__ == "__main__":
    main()
