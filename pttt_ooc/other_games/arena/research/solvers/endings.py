"""Endings of Ultimate tic-tac-toe from games by lot, with the value of each move, and how often agents keep it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from pttt_ooc.disk.files import atomic_write_text
from pttt_ooc.other_games.arena.agents.base import text_of
from pttt_ooc.other_games.arena.agents.catalogue import agent
from pttt_ooc.other_games.arena.games.base import RESULT, UNFINISHED, ArenaError, State
from pttt_ooc.other_games.arena.games.ultimate import Ultimate
from pttt_ooc.other_games.arena.kernels import ultimate as rules
from pttt_ooc.other_games.arena.kernels.perft import counting
from pttt_ooc.other_games.arena.matches.agent_processes import answer
from pttt_ooc.other_games.arena.research.kernels import ultimate_endings as kernels

LEAST, MOST = 5, 20
"""Open squares of an ending: free cells of small boards that can still be played."""

CHANCE = 0.3
"""The chance of a random move in a game by lot; its other moves are those of :data:`PLAYER`."""

PLAYER = "alphabeta:heur=3,depth=1"
FORMAT = "pttt arena endings 1"


def open_squares(state: State) -> int:
    """Free cells of the small boards that can still be played."""
    return sum(
        9 - int(state[rules.MARKS + board] | state[rules.MARKS + 9 + board]).bit_count()
        for board in range(9)
        if not state[rules.CLOSED] >> board & 1
    )


@dataclass(frozen=True)
class Ending:
    """A position in which some moves keep the value and others do not.

    Attributes
    ----------
    moves
        The moves that led to it.
    open
        Open squares.
    value
        The value for the player to move: 1, 0 or -1.
    values
        The value of each legal move, for the player who makes it.
    """

    moves: tuple[int, ...]
    open: int
    value: int
    values: dict[int, int]

    def to_json(self) -> list[Any]:
        """As a line of a file: the moves as pairs of digits, and the values of the legal moves in their order."""
        return ["".join(f"{move:02}" for move in self.moves), self.open, list(self.values.values())]


class EndingSolver:
    """Exact values of endings.

    Parameters
    ----------
    table_bits
        The table has ``2 ** table_bits`` entries of 32 bytes.
    most_positions
        Maximum positions visited for one ending.
    """

    def __init__(self, table_bits: int = 20, most_positions: int = 10**9) -> None:
        size, levels = 1 << table_bits, rules.LENGTH + 2
        self._states = np.zeros((levels, rules.WORDS), dtype=np.int64)
        self._moves = np.zeros((levels, rules.WIDTH), dtype=np.int64)
        self._found = np.zeros(rules.WIDTH, dtype=np.int64)
        self._table = np.zeros((size, 3), dtype=np.int64), np.zeros(size, dtype=np.int64)
        self._budget = np.array([0, most_positions])
        self.visited = 0

    def values(self, state: State) -> dict[int, int]:
        """The value of each legal move for the player who makes it: 1 for a win, 0 for a draw, -1 for a loss.

        Raises
        ------
        ArenaError
            The rules are not those of ``ultimate``, or the ending is too large.
        """
        if state[rules.RULES] != 0:
            raise ArenaError("Endings are solved for the game ultimate only, without options.")
        self._begin(state)
        number = kernels.values_after(self._states, self._moves, self._found, *self._table, self._budget)
        self._end(state)
        return dict(zip(Ultimate().legal(state), self._found[:number].tolist(), strict=True))

    def at_most(self, state: State, bound: int) -> bool:
        """Whether the value of a position for the player to move is at most a bound.

        Raises
        ------
        ArenaError
            The ending is too large.
        """
        self._begin(state)
        found = kernels.value(self._states, self._moves, 0, bound, bound + 1, *self._table, self._budget)
        self._end(state)
        return bool(found <= bound)

    def _begin(self, state: State) -> None:
        self._states[0] = state
        self._budget[kernels.VISITED] = 0

    def _end(self, state: State) -> None:
        self.visited += int(self._budget[kernels.VISITED])
        if self._budget[kernels.VISITED] > self._budget[kernels.ALLOWED]:
            raise ArenaError(f"An ending with {open_squares(state)} open squares is too large to be solved.")


def position(moves: Sequence[int]) -> State:
    """The position after moves.

    Raises
    ------
    ArenaError
        One of them is not legal.
    """
    state, step = Ultimate().start(), counting(rules).step
    for move in moves:
        if not step(state, move):
            raise ArenaError(f"The move {move} of an ending is not legal.")
    return state


def by_lot(seed: int, number: int, player: Any) -> tuple[int, ...] | None:
    """The moves of a game by lot, up to an ending of a random size; None if the game ends before.

    Parameters
    ----------
    player
        The agent :data:`PLAYER`, seated.
    """
    draw, game = np.random.default_rng((seed, number)), Ultimate()
    wanted = int(draw.integers(LEAST, MOST + 1))
    player.begin(seed, number)
    moves: list[int] = []
    state = game.start()
    while state[RESULT] == UNFINISHED:
        left = open_squares(state)
        if left <= wanted:
            return tuple(moves) if left >= LEAST else None
        move = int(draw.choice(game.legal(state))) if draw.random() < CHANCE else int(player.choose(state))
        state = game.play(state, move)
        moves.append(move)
    return None


def collect(count: int, seed: int) -> tuple[list[Ending], int, int]:
    """Endings in which the choice matters, one of each game.

    Returns
    -------
    The endings; how many games were played; how many other games had an ending in which all moves are equally good.
    """
    player, solver = agent(PLAYER), EndingSolver()
    player.seat(Ultimate())
    found: list[Ending] = []
    games = equal = 0
    while len(found) < count:
        moves = by_lot(seed, games, player)
        games += 1
        if moves is None:
            continue
        state = position(moves)
        values = solver.values(state)
        if len(set(values.values())) == 1:
            equal += 1
            continue
        found.append(Ending(moves, open_squares(state), max(values.values()), values))
    return found, games, equal


def write(file: Path, endings: Sequence[Ending], **facts: Any) -> None:
    """Write endings: a line with facts, and a line for each."""
    lines = [{"format": FORMAT, "endings": len(endings), **facts}, *(one.to_json() for one in endings)]
    atomic_write_text(file, "".join(json.dumps(line, separators=(",", ":")) + "\n" for line in lines))


def read(file: Path) -> list[Ending]:
    """The endings of a file.

    Raises
    ------
    ArenaError
        There is no such file, or it is damaged.
    """
    if not file.exists():
        raise ArenaError(f"There are no endings in {file}: pttt lab endings -o {file} makes them.")
    game, found = Ultimate(), []
    try:
        head, *lines = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
        if head["format"] != FORMAT or head["endings"] != len(lines):
            raise ValueError
        for text, squares, values in lines:
            moves = tuple(int(text[n : n + 2]) for n in range(0, len(text), 2))
            state = position(moves)
            found.append(Ending(moves, squares, max(values), dict(zip(game.legal(state), values, strict=True))))
    except (ValueError, KeyError, TypeError, ArenaError):
        raise ArenaError(f"{file} is no file of endings, or damaged: pttt lab endings makes it again.") from None
    return found


PHASES = ((5, 8), (9, 12), (13, 16), (17, 20))
"""Phases by the number of open squares: from, to."""

COSTS = {"win to draw": (1, 0), "win to loss": (1, -1), "draw to loss": (0, -1)}
"""Kinds of errors: the value before the move, and after it."""


def measure(text: str, endings: Sequence[Ending], seed: int = 0) -> dict[str, Any]:
    """An agent's moves in endings; each begins as a new game with a seed of its own.

    Returns
    -------
    The agent; ``phases``: endings and kept values of each of :data:`PHASES`; ``errors``: of all endings, by
    :data:`COSTS`; the means of processor time and nodes of a move.
    """
    player = agent(text)
    player.seat(Ultimate())
    phases = [[0, 0] for _ in PHASES]
    errors = dict.fromkeys(COSTS, 0)
    kinds = {cost: kind for kind, cost in COSTS.items()}
    costs = np.zeros(2)
    for number, ending in enumerate(endings):
        player.begin(seed, number)
        found = answer(player, position(ending.moves))
        costs += found.processor, found.nodes
        counts = phases[next(n for n, (_, last) in enumerate(PHASES) if ending.open <= last)]
        counts[0] += 1
        reached = ending.values[int(found.move)]
        counts[1] += reached == ending.value
        if reached != ending.value:
            errors[kinds[ending.value, reached]] += 1
    milliseconds, nodes = costs / max(len(endings), 1)
    return {
        "agent": text_of(player),
        "phases": phases,
        "errors": errors,
        "processor_milliseconds": float(f"{1e3 * milliseconds:.3g}"),
        "nodes": float(f"{nodes:.4g}"),
    }


def errors_table(measured: Sequence[Mapping[str, Any]]) -> str:
    """A row for each agent in Markdown: the part of the endings in which its move keeps the value."""
    from pttt_ooc.other_games.arena.matches.statistics import Rate  # it needs an extra

    rows = "| agent | kept | interval | " + " | ".join(f"{a} to {b} open" for a, b in PHASES)
    rows += " | " + " | ".join(COSTS) + " | milliseconds a move |\n" + "|---" * (4 + len(PHASES) + len(COSTS)) + "|\n"
    for one in measured:
        total, kept = (sum(counts[n] for counts in one["phases"]) for n in (0, 1))
        low, high = Rate(kept, 0, total - kept).interval
        cells = [f"{part[1] / part[0]:.1%}" if part[0] else "" for part in one["phases"]]
        cells += [str(one["errors"][kind]) for kind in COSTS]
        rows += (
            f"| `{one['agent']}` | {kept / total:.1%} | {low:.1%} to {high:.1%} | {' | '.join(cells)} | "
            f"{one['processor_milliseconds']:.3g} |\n"
        )
    return rows
