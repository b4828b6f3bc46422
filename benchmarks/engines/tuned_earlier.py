"""The agent `tuned` of an earlier commit, with weights that were learnt there, as a program for the agent `engine`.

For the commit of 2026-11-24 that the table of docs/lab/arena.md names::

    git worktree add --detach build/earlier 3b5c7e11
    (cd build/earlier && PYTHONPATH=. python -m pttt_ooc.cli arena train-ultimate -o ultimate.weights)
    cp benchmarks/engines/tuned_earlier.py build/earlier/
    printf '#!/bin/sh\\ncd "$(dirname "$0")/earlier" && PYTHONPATH=. exec %s tuned_earlier.py\\n' "$(which python)" \\
        > build/tuned-earlier && chmod +x build/tuned-earlier

It answers the lines of ``protocol=lines``; the agent runs unchanged, by the clock of the processor.  The modules that
it imports are those of that commit, by their names there.
"""

from __future__ import annotations

import sys

from pttt_ooc.arena.agents.alphabeta import Tuned
from pttt_ooc.arena.games.base import State
from pttt_ooc.arena.games.catalogue import game
from pttt_ooc.arena.kernels.state_words import KEY, PLAYER, PLY
from pttt_ooc.arena.kernels.ultimate import (
    _ZOBRIST,
    _ZOBRIST_TARGET,
    ANYWHERE,
    CLOSED,
    FULL,
    HAS_LINE,
    MARKS,
    TARGET,
    WON,
)

CELLS = 9
GAME = game("ultimate")


def position(cells: str, target: str, mover: str) -> State:
    """The state of a position as the protocol writes it: 81 characters, the small board or -, and x or o."""
    state = GAME.start()
    player, place = "xo".index(mover), ANYWHERE if target == "-" else int(target)
    key = _ZOBRIST_TARGET[player, place]
    for square, mark in enumerate(cells):
        if mark != ".":
            state[MARKS + CELLS * "xo".index(mark) + square // CELLS] |= 1 << square % CELLS
            key ^= _ZOBRIST["xo".index(mark), square]
    for board in range(CELLS):
        marks = [int(state[MARKS + CELLS * side + board]) for side in (0, 1)]
        for side in (0, 1):
            state[WON + side] |= int(HAS_LINE[marks[side]]) << board
        if any(HAS_LINE[one] for one in marks) or marks[0] | marks[1] == FULL:
            state[CLOSED] |= 1 << board
    state[KEY], state[PLAYER], state[TARGET], state[PLY] = key, player, place, 81 - cells.count(".")
    return state


def main() -> None:
    """Answer lines."""
    player = Tuned(time=0.1, clock="processor", path="ultimate.weights")
    player.seat(GAME)
    state = GAME.start()
    for line in sys.stdin:
        word, *rest = line.split()
        if word == "seed":
            player.begin(int(rest[0]))
        elif word == "position":
            state = position(*rest)
        elif word == "go":
            player.time = float(rest[0])
            board, cell = divmod(player.choose(state), CELLS)
            print(f"move {board} {cell}", flush=True)


if __name__ == "__main__":
    main()
