"""The value of a position of k-in-a-row by two methods, and draws by its Maker-Breaker form.

In that form rows of the second player do not count.  If the first player cannot force a row even then, the game is a
draw: the second player cannot win either, because the first could use the same strategy with a mark to spare.  The
kernels, and the questions that they answer, are in :mod:`pttt_ooc.other_games.arena.research.kernels`: ``solving``
and ``maker_breaker``.
"""

from __future__ import annotations

from dataclasses import dataclass
from time import process_time
from typing import Any

import numpy as np

from pttt_ooc.other_games.arena.games.base import PLY, RESULT, UNFINISHED, ArenaError, State
from pttt_ooc.other_games.arena.games.mnk import Mnk
from pttt_ooc.other_games.arena.kernels import mnk as rules
from pttt_ooc.other_games.arena.research.kernels import maker_breaker
from pttt_ooc.other_games.arena.research.kernels import solving as kernels
from pttt_ooc.other_games.arena.research.kernels.open_lines import NONE, OWNER, ROWS, Form
from pttt_ooc.other_games.arena.research.solvers.row_boards import (
    MOST_SQUARES,
    byte_images,
    following,
    symmetries,
    winning_lines,
)

_NO_POSITION = np.uint64(0xFFFFFFFFFFFFFFFF)


@dataclass(frozen=True)
class Answer:
    """Whether Maker, who begins, can force a row.

    Attributes
    ----------
    maker_wins
        None if the allowed nodes did not suffice.  False: the game is a draw.  True says nothing about the game.
    nodes
        Nodes visited.
    seconds
        Processor time, without compilation.
    """

    maker_wins: bool | None
    nodes: int
    seconds: float

    @property
    def value(self) -> int | None:
        """The value of the game: 0 for a draw, None if it does not follow."""
        return 0 if self.maker_wins is False else None


class MakerBreaker:
    """Questions about one board, which share a table of positions.

    Parameters
    ----------
    table_bits
        The table has ``2 ** table_bits`` entries of 17 bytes.

    Raises
    ------
    ArenaError
        The board has more than 64 squares.
    """

    def __init__(self, game: Mnk, table_bits: int = 22) -> None:
        self.squares = game.rows * game.columns
        if self.squares > MOST_SQUARES:
            raise ArenaError(
                f"A board of {game.rows} x {game.columns} squares is too large for the Maker-Breaker form: "
                f"it may have at most {MOST_SQUARES} squares."
            )
        lines, size = winning_lines(game), 1 << table_bits
        self.form = Form(
            lines,
            following(game, lines),
            byte_images(symmetries(game)),
            np.full((size, 2), _NO_POSITION),
            np.zeros(size, dtype=np.int8),
            np.zeros((self.squares + 1, 5), dtype=np.uint64),
            np.zeros((self.squares, -(-len(lines) // 64)), dtype=np.uint64),
            np.zeros(len(lines), dtype=np.int8),
            np.zeros((self.squares + 1, self.squares)),
            np.zeros(len(lines), dtype=np.uint64),
            np.zeros(len(lines)),
            np.zeros((ROWS, max(len(lines), MOST_SQUARES)), dtype=np.int64),
        )

    def ask(self, maker: int, free: int, maker_moves: bool, most_nodes: int) -> Answer:
        """Whether Maker can force a row from a position: its marks and the free squares, as bits."""
        budget, begin = np.array([0, most_nodes]), process_time()
        answer = maker_breaker.maker_wins(self.form, np.uint64(maker), np.uint64(free), maker_moves, budget)
        known = None if answer == maker_breaker.STOPPED else bool(answer == maker_breaker.YES)
        return Answer(known, min(int(budget[0]), most_nodes), process_time() - begin)

    def pairs(self, maker: int, free: int) -> list[tuple[int, int]] | None:
        """Pairs of squares by which Breaker holds a position in which Maker is to move; None if none are found.

        No two free squares may have the same open lines.
        """
        if not maker_breaker.find_pairs(self.form, np.uint64(maker), np.uint64(free)):
            return None
        owners: dict[int, list[int]] = {}
        for square, group in enumerate(self.form.numbers[OWNER].tolist()):
            if group != NONE:
                owners.setdefault(group, []).append(square)
        return [(one, other) for one, other in owners.values()]


def solve_form(game: Mnk, table_bits: int | None = None, most_nodes: int = 10**10) -> Answer:
    """Whether Maker, who begins on the empty board, can force a row.

    Parameters
    ----------
    table_bits
        As for :class:`MakerBreaker`.  Default: 22 (71 MB) up to 49 squares, else 24 (285 MB).

    Raises
    ------
    ArenaError
        As :class:`MakerBreaker`.
    """
    search = MakerBreaker(game, table_bits or (22 if game.rows * game.columns <= 49 else 24))
    everything = (1 << search.squares) - 1
    search.ask(0, everything, True, 0)  # compiles
    return search.ask(0, everything, True, most_nodes)


METHODS = ("alpha-beta", "proof-number")


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
        Nodes visited for both questions together.
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
        Maximum nodes of each of the two questions.

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
        if answer == maker_breaker.YES:
            value = 1 - 2 * attacker
            break
        if answer != maker_breaker.NO:
            return Solved(method, None, nodes, process_time() - begin)
    return Solved(method, value, nodes, process_time() - begin)


PATIENCE = 10
"""How many times as long as the method that ends first the other one may take, in processor time; at least a second."""


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
            more: Any = (answers, scores, budget, form, np.zeros(2, dtype=np.int64))
            answer = kernels.alpha_beta(self.lines, weights, self.game.need, *arguments, *more)
        else:
            numbers = np.zeros((2, self.size), dtype=np.int32)
            answer = kernels.proof_number(self.lines, self.game.need, *arguments, *numbers, budget)
            while answer == kernels.FULL:
                new_keys = np.full((2 * len(keys), 2), _NO_POSITION)
                larger = np.zeros((2, len(new_keys)), dtype=np.int32)
                kernels.enlarge(keys, *numbers, new_keys, *larger)
                keys, numbers = new_keys, larger
                answer = kernels.proof_number(self.lines, self.game.need, *arguments[:-1], keys, *numbers, budget)
        return int(answer), int(budget[0])
