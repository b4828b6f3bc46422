"""The value of a position of k-in-a-row, by two methods.

The kernels, and the questions that they answer, are in :mod:`pttt_ooc.other_games.arena.kernels.solving`.
"""

from __future__ import annotations

from dataclasses import dataclass
from time import process_time
from typing import Any

import numpy as np

from pttt_ooc.other_games.arena.games.base import PLY, RESULT, UNFINISHED, ArenaError, State
from pttt_ooc.other_games.arena.games.mnk import Mnk
from pttt_ooc.other_games.arena.kernels import mnk as rules
from pttt_ooc.other_games.arena.kernels import solving as kernels
from pttt_ooc.other_games.arena.solvers.lines import MOST_SQUARES, symmetries, winning_lines
from pttt_ooc.other_games.arena.solvers.maker_breaker import MakerBreaker

METHODS = ("alpha-beta", "proof-number")
_NO_POSITION = np.uint64(0xFFFFFFFFFFFFFFFF)


@dataclass(frozen=True)
class Solved:
    """The result of a method.

    Attributes
    ----------
    method
        A name of :data:`METHODS`.
    value
        1 if player 0 wins, -1 if player 1 wins, 0 for a draw; None if the allowed nodes did not suffice.
    nodes
        Visited for both questions together.
    seconds
        Processor time, without compilation.
    """

    method: str
    value: int | None
    nodes: int
    seconds: float


def solve(game: Mnk, state: State, method: str, table_bits: int = 22, most_nodes: int = 10**10) -> Solved:
    """The value of a position.

    Parameters
    ----------
    method
        A name of :data:`METHODS`.
    table_bits
        The table has ``2 ** table_bits`` entries; the one of proof-number search grows when it is full.
    most_nodes
        For each of the two questions.

    Raises
    ------
    ArenaError
        The board has more than 64 squares.
    """
    if game.rows * game.columns > MOST_SQUARES:
        raise ArenaError(
            f"A board of {game.rows} x {game.columns} squares is too large for an exact solution: "
            f"it may have at most {MOST_SQUARES} squares."
        )
    if state[RESULT] != UNFINISHED:
        return Solved(method, {1: 1, 2: -1, 3: 0}[int(state[RESULT])], 0, 0.0)
    search = _Questions(game, state, method, table_bits)
    search.ask(0, 0)  # compiles
    begin = process_time()
    nodes, value = 0, 0
    for attacker in (0, 1):
        if attacker == 1 and int(state[PLY]) == 0:
            break  # whoever moves first does not lose: strategy stealing
        answer, visited = search.ask(attacker, most_nodes)
        nodes += visited
        if answer == kernels.YES:
            value = 1 - 2 * attacker
            break
        if answer != kernels.NO:
            return Solved(method, None, nodes, process_time() - begin)
    return Solved(method, value, nodes, process_time() - begin)


PATIENCE = 10
"""How many times the processor time of the first method that ends the other may take, but at least a second."""


def solve_by_both(game: Mnk, state: State, table_bits: int = 22, most_nodes: int = 10**10) -> list[Solved]:
    """The value of a position by both methods in turn, each time with four times as many nodes.

    When one has ended, the other goes on until it has ended too, or has taken :data:`PATIENCE` times as long.

    Raises
    ------
    ArenaError
        As :func:`solve`.
    """
    found: dict[str, Solved] = {}
    spent = dict.fromkeys(METHODS, 0.0)

    def goes_on(method: str) -> bool:
        ended = [one.seconds for one in found.values() if one.value is not None]
        return method not in found or (
            found[method].value is None and (not ended or spent[method] <= max(1.0, PATIENCE * min(ended)))
        )

    allowed = min(10_000, most_nodes)
    while any(goes_on(method) for method in METHODS):
        for method in METHODS:
            if goes_on(method):
                found[method] = solve(game, state, method, table_bits, allowed)
                spent[method] += found[method].seconds
        if allowed == most_nodes:
            break
        allowed = min(4 * allowed, most_nodes)
    return [found[method] for method in METHODS]


class _Questions:
    """The arrays that the kernels take."""

    def __init__(self, game: Mnk, state: State, method: str, table_bits: int) -> None:
        self.game, self.state, self.method, self.size = game, state, method, 1 << table_bits
        self.lines, self.below = winning_lines(game), symmetries(game)

    def ask(self, attacker: int, most_nodes: int) -> tuple[int, int]:
        """Whether a player can force a row, and the nodes visited."""
        squares = self.game.rows * self.game.columns
        images = np.zeros((squares + 2, len(self.below), 2), dtype=np.uint64)
        depth = int(self.state[PLY])
        for square in range(squares):
            mark = rules.cell(self.state, *divmod(square, self.game.columns))
            if mark:
                owner = 0 if mark == attacker + 1 else 1
                images[depth, :, owner] |= np.left_shift(np.uint64(1), self.below[:, square].astype(np.uint64))
        budget = np.array([0, most_nodes])
        keys = np.full((self.size, 2), _NO_POSITION)
        arguments: Any = (self.below, images, depth, depth % 2 == attacker, keys)
        if self.method == "alpha-beta":
            weights = 4.0 ** np.arange(self.game.need)
            scores = np.zeros((squares + 2, squares))
            answers = np.zeros(self.size, dtype=np.int8)
            form = MakerBreaker(self.game, self.size.bit_length() - 1).form
            answer = kernels.alpha_beta(self.lines, weights, self.game.need, *arguments, answers, scores, budget, form)
        else:
            numbers = np.zeros((2, self.size), dtype=np.int32)
            answer = kernels.proof_number(self.lines, self.game.need, *arguments, *numbers, budget)
            while answer == kernels.FULL:
                more = np.full((2 * len(keys), 2), _NO_POSITION)
                larger = np.zeros((2, len(more)), dtype=np.int32)
                kernels.enlarge(keys, *numbers, more, *larger)
                keys, numbers = more, larger
                answer = kernels.proof_number(self.lines, self.game.need, *arguments[:-1], keys, *numbers, budget)
        return int(answer), int(budget[0])
