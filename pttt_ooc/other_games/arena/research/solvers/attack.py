"""Solves games of Ultimate tic-tac-toe from their ends backwards, as far as proof-number search can.

A strong agent plays against itself after two random moves.  From the end of the game backwards, the search solves each
position, until it needs more positions than it may expand.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from pttt_ooc.disk.files import atomic_write_text
from pttt_ooc.other_games.arena.games.base import PLY, RESULT, UNFINISHED, ArenaError, State
from pttt_ooc.other_games.arena.games.ultimate import Ultimate
from pttt_ooc.other_games.arena.kernels import ultimate as rules
from pttt_ooc.other_games.arena.research.kernels import ultimate_proofs as kernels
from pttt_ooc.other_games.arena.research.solvers.endings import open_squares

AGENT = "tuned:path=shipped,nodes=3000"
OPENING = 2
"""Random moves at the beginning of a game."""

FORMAT = "pttt arena attack 1"


class ProofSolver:
    """Values of positions, by two questions: can the first player force a win, and can the second one?

    Parameters
    ----------
    most_nodes
        Maximum nodes expanded for a question.  A table has room for at least twice as many positions, of 32 bytes each;
        there are two tables.  They are kept from one position to the next while there is room.
    """

    def __init__(self, most_nodes: int) -> None:
        size = 1 << (2 * most_nodes).bit_length()
        self._states = np.zeros((rules.LENGTH + 2, rules.WORDS), dtype=np.int64)
        self._moves = np.zeros(rules.WIDTH, dtype=np.int64)
        self._tables = [(np.zeros((size, 3), np.int64), np.zeros((size, 2), np.int32)) for _ in (0, 1)]
        self._used = [0, 0]
        self._most = most_nodes

    def value(self, state: State) -> tuple[int | None, int]:
        """1 if the first player wins, -1 if the second one does, 0 for a draw, None if unknown; and the nodes."""
        nodes, unknown = 0, False
        for attacker in (0, 1):
            answer, expanded = self._ask(state, attacker)
            nodes += expanded
            if answer == kernels.YES:
                return 1 - 2 * attacker, nodes
            unknown |= answer == kernels.STOPPED
        return None if unknown else 0, nodes

    def _ask(self, state: State, attacker: int) -> tuple[int, int]:
        keys, numbers = self._tables[attacker]
        if 4 * (self._used[attacker] + self._most) > 3 * len(keys):
            keys[:] = 0
            self._used[attacker] = 0
        self._states[0] = state
        budget = np.array([0, self._most])
        answer = kernels.proof_number(self._states, self._moves, attacker, keys, numbers, budget)
        self._used[attacker] += int(budget[kernels.VISITED])
        return int(answer), int(budget[kernels.VISITED])


@dataclass(frozen=True)
class Attack:
    """A game and what was proven of it.

    Attributes
    ----------
    moves
        The moves of the game.
    result
        1 if the first player has won it, -1 if the second one has, 0 for a draw.
    steps
        From the last position before the end backwards: ply, open squares, value as in :class:`ProofSolver`, nodes.
        The value of the last step is None, unless the whole game is solved.
    """

    moves: tuple[int, ...]
    result: int
    steps: tuple[tuple[int, int, int | None, int], ...]

    @property
    def earliest(self) -> tuple[int, int, int | None, int]:
        """The earliest position whose value is known; its nodes are those of all positions from there on."""
        known = [step for step in self.steps if step[2] is not None]
        ply, squares, value, _ = known[-1]
        return ply, squares, value, sum(step[3] for step in known)


def attack(moves: Sequence[int], solver: ProofSolver) -> Attack:
    """Solve the positions of a game from its end backwards.

    Raises
    ------
    ArenaError
        The moves are no whole game.
    """
    game, path = Ultimate(), [Ultimate().start()]
    for move in moves:
        if move not in game.legal(path[-1]):
            raise ArenaError(f"The move {game.show_move(move)} after {path[-1][PLY]} plies is not legal.")
        path.append(game.play(path[-1], move))
    if path[-1][RESULT] == UNFINISHED:
        raise ArenaError(f"The game has not ended after {len(moves)} plies.")
    steps = []
    for state in reversed(path[:-1]):
        value, nodes = solver.value(state)
        steps.append((int(state[PLY]), open_squares(state), value, nodes))
        if value is None:
            break
    return Attack(tuple(moves), {1: 1, 2: -1, 3: 0}[int(path[-1][RESULT])], tuple(steps))


def games(number: int, seed: int, first: int = 0) -> Iterator[tuple[int, ...]]:
    """Games of :data:`AGENT` against itself, each with its own random opening; without those before `first`."""
    from pttt_ooc.other_games.arena.agents.catalogue import agent

    game, player = Ultimate(), agent(AGENT)
    player.seat(game)
    for index in range(first, number):
        draw = np.random.default_rng((seed, index))
        player.begin(seed, index)
        state = game.start()
        moves: list[int] = []
        while state[RESULT] == UNFINISHED:
            by_lot = len(moves) < OPENING
            moves.append(int(draw.choice(game.legal(state))) if by_lot else int(player.choose(state)))
            state = game.play(state, moves[-1])
        yield tuple(moves)


def write(file: Path, attacks: Sequence[Attack], **facts: Any) -> None:
    """Write what was proven: a line with facts, and a line for each game."""
    lines: list[Any] = [{"format": FORMAT, "games": len(attacks), **facts}]
    lines += [["".join(f"{move:02}" for move in one.moves), one.result, one.steps] for one in attacks]
    atomic_write_text(file, "".join(json.dumps(line, separators=(",", ":")) + "\n" for line in lines))


def read(file: Path) -> tuple[dict[str, Any], list[Attack]]:
    """The facts and the games of a file.

    Raises
    ------
    ArenaError
        The file is damaged.
    """
    try:
        facts, *lines = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
        if facts["format"] != FORMAT or facts["games"] != len(lines):
            raise ValueError
        found = []
        for text, result, steps in lines:
            moves = tuple(int(text[n : n + 2]) for n in range(0, len(text), 2))
            found.append(
                Attack(moves, result, tuple((ply, squares, value, nodes) for ply, squares, value, nodes in steps))
            )
    except (ValueError, KeyError, TypeError):
        raise ArenaError(f"{file} is no file of pttt lab attack, or damaged: write it again.") from None
    return facts, found


def read_to_continue(file: Path, **wanted: Any) -> list[Attack]:
    """The games of a file that is to be continued with the same facts.

    Raises
    ------
    ArenaError
        The file is damaged, or has other facts.
    """
    facts, found = read(file)
    for key, value in wanted.items():
        if facts.get(key) != value:
            raise ArenaError(f"{file} has {key} {facts.get(key)}, not {value}: it can only be continued with the same.")
    return found


RESULTS = {1: "first player", 0: "draw", -1: "second player"}


def table(attacks: Sequence[Attack]) -> str:
    """A row for each game in Markdown."""
    rows = "| opening | result | known from ply | open squares | value there | nodes | plies of the game |\n"
    rows += "|---|---|---|---|---|---|---|\n"
    for one in attacks:
        ply, squares, value, nodes = one.earliest
        opening = " ".join(Ultimate().show_move(move) for move in one.moves[:OPENING])
        worth = RESULTS[value] if value is not None else ""
        cells = [opening, RESULTS[one.result], str(ply), str(squares), worth, f"{nodes:,}", str(len(one.moves))]
        rows += f"| {' | '.join(cells)} |\n"
    return rows
