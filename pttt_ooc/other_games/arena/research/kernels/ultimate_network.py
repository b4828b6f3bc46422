"""An evaluation of Ultimate tic-tac-toe by an efficiently updatable neural network.

The value of a position for the player to move is the logistic function of a sum: the sum of :mod:`~.ultimate_learnt`,
and the output of a network with one hidden layer.  A row of numbers belongs to each set of marks in each small board,
seen by either player; further rows belong to the small board to which the player is sent.  The rows are added up in an
*accumulator*, and a move changes one row of it.  The units of the hidden layer are squares of the sums, clipped to 0
and 1.  The weights of the output are those of a *bucket*, by how many small boards are closed and by the one to which
the player is sent; so they cost no time.

A sum over small boards cannot tell whether the player has a move after which the opponent can neither win a small board
at once nor play anywhere.  So each position has a *tactic* too: how many moves of each such kind there are.  A row of
the hidden layer and a weight of the output belong to it.

So an accumulator follows the moves of a search instead of being computed anew: Y. Nasu, *Efficiently updatable neural
network-based evaluation functions for computer shogi* (2018).  All numbers are whole numbers, so that an accumulator
that has followed the moves is the same as one that is computed anew.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pttt_ooc.jit import piece
from pttt_ooc.other_games.arena.kernels import ultimate as rules
from pttt_ooc.other_games.arena.kernels.small_boards import ANYWHERE, FULL, SIZE
from pttt_ooc.other_games.arena.kernels.state_words import PLAYER
from pttt_ooc.other_games.arena.kernels.ultimate import CLOSED, MARKS, TARGET, WON
from pttt_ooc.other_games.arena.kernels.ultimate_values import TERNARY
from pttt_ooc.other_games.arena.research.kernels import ultimate_learnt as sums
from pttt_ooc.other_games.arena.research.kernels.ultimate_learnt import (
    ENTRIES,
    ENTRY_OF_MARKS,
    SCALE,
    SWAPPED,
    UNIT,
    WHOLE,
)
from pttt_ooc.other_games.arena.research.kernels.ultimate_plain import SHARP, by_logarithms, sharp

__all__ = [
    "HEURISTICS",
    "HIDDEN",
    "NOTES",
    "SCALE",
    "WHOLE_NETWORK",
    "Network",
    "follow",
    "note",
    "noted_value",
    "reduction",
    "sharp",
]

HEURISTICS = (6,)
"""Its number distinguishes it from those of the report, and from the sum alone."""

HIDDEN, EMBEDDED = 32, 32
"""Units of the hidden layer; numbers of a small board, from which its rows follow."""

PHASES, BUCKETS = 3, 3 * 10
"""Buckets of the output: ten in each phase, of which the first has at most two closed small boards, and the last at
least six.  In a phase, they are in the order of the small board to which the player is sent; the last one is for a move
anywhere."""

SENT_TACTICS, FREE_TACTICS = 384, 64
TACTICS = PHASES * (SENT_TACTICS + FREE_TACTICS)
"""The numbers of tactics: in each phase, of a player who is sent somewhere and of one who may play anywhere; in all."""

MARGIN, MARGIN_BELOW, MARGIN_PLIES = 60, 100, 4
"""How far above and below its window, in points for a ply, a search prunes a position, and up to how many plies."""
reduction = by_logarithms
"""The reduction of late moves."""

ONE = 255
"""The whole number that stands for 1 in the accumulator."""

_FINER = 64
"""The whole weights of the output are this many times finer than those of the sum."""

_SETS = 3**9
_ROW = 4 * HIDDEN
_ROWS = 2 * WHOLE
_ANYWHERE_ROW = _ROWS + 9 * _SETS * _ROW
_BIAS = _ANYWHERE_ROW + HIDDEN
_OUTPUT = _BIAS + 2 * HIDDEN
_CONSTANT = _OUTPUT + 2 * BUCKETS * HIDDEN
_TACTICS = _CONSTANT + 2 * BUCKETS
_TACTIC_VALUES = _TACTICS + TACTICS * HIDDEN
WHOLE_NETWORK = _TACTIC_VALUES + 2 * TACTICS
"""The length of the whole weights."""

_WORDS_OF_PLAYER = HIDDEN // 4
_EAGER = rules.WORDS + sums.NOTES
_WINNABLE = _EAGER + 1
_SUMS = _WINNABLE + 2
NOTES = sums.NOTES + 3 + 2 * _WORDS_OF_PLAYER
"""The notes of the sum, who is the eager player, the small boards that each player can win with one mark, and the
accumulators of both players: four sums in a word."""
COPIED = sums.COPIED + 1


class Network(NamedTuple):
    """The weights of a network, as it is trained: float64.  In rows of two, the second one is of the eager player.

    Attributes
    ----------
    sums
        Shape (2, sums.WEIGHTS): the weights of the sum, those of the eager player first, as in ``ultimate_learnt``.
    embedding
        Shape (ENTRIES, EMBEDDED): the embedding of a small board, by its marks or how it is closed.
    boards, targets
        Shapes (9, EMBEDDED, HIDDEN): what the embedding of the small board at each place adds to the hidden layer,
        and what it adds if the player is sent there.
    places
        Shape (10, HIDDEN): what the small board to which the player is sent adds; the last row: they play anywhere.
    bias
        Shape (2, HIDDEN): the bias of the hidden layer.
    output, constant
        Shapes (BUCKETS, 2, HIDDEN) and (BUCKETS, 2): the weights of the units, and what is added to them.
    tactics, tactic_values
        Shapes (TACTICS, HIDDEN) and (TACTICS, 2): what a tactic adds to the hidden layer, and to the output.
    """

    sums: NDArray[np.float64]
    embedding: NDArray[np.float64]
    boards: NDArray[np.float64]
    targets: NDArray[np.float64]
    places: NDArray[np.float64]
    bias: NDArray[np.float64]
    output: NDArray[np.float64]
    constant: NDArray[np.float64]
    tactics: NDArray[np.float64]
    tactic_values: NDArray[np.float64]


SHAPES: tuple[tuple[int, ...], ...] = (
    (2, sums.WEIGHTS),
    (ENTRIES, EMBEDDED),
    (9, EMBEDDED, HIDDEN),
    (9, EMBEDDED, HIDDEN),
    (10, HIDDEN),
    (2, HIDDEN),
    (BUCKETS, 2, HIDDEN),
    (BUCKETS, 2),
    (TACTICS, HIDDEN),
    (TACTICS, 2),
)
"""The shapes of a network's parts."""


def _quantize(values: NDArray[np.float64], factor: float) -> NDArray[np.int16]:
    return np.rint(np.clip(values * factor, -32_000, 32_000)).astype(np.int16)


def whole(network: Network) -> NDArray[np.int16]:
    """The weights as whole numbers, in the order in which a search looks them up.

    First the sum's weights with player 0 as the eager player, and with player 1.  Then, for each small board and each
    set of marks in it, four rows: what it adds to the accumulators of player 0 and of player 1, and what it adds for
    either of them as the place to which the player is sent.  Then the row of a move anywhere, both rows of the bias,
    both rows of the output for each bucket, both constants of each bucket, the row of each tactic, and both weights of
    each tactic.
    """
    out = np.empty(WHOLE_NETWORK, dtype=np.int16)
    eager, other = network.sums
    out[:WHOLE], out[WHOLE:_ROWS] = sums.whole(eager, other), sums.whole(other, eager)
    rows = out[_ROWS:_ANYWHERE_ROW].reshape(9, _SETS, 4, HIDDEN)
    for board in range(9):
        own = _quantize(network.embedding @ network.boards[board], ONE)
        sent = _quantize(network.embedding @ network.targets[board] + network.places[board], ONE)
        for player, entries in enumerate((ENTRY_OF_MARKS, ENTRY_OF_MARKS[SWAPPED])):
            rows[board, :, player], rows[board, :, 2 + player] = own[entries], sent[entries]
    out[_ANYWHERE_ROW:_BIAS] = _quantize(network.places[9], ONE)
    out[_BIAS:_OUTPUT] = _quantize(network.bias, ONE).ravel()
    out[_OUTPUT:_CONSTANT] = _quantize(network.output, SCALE * UNIT * _FINER / ((ONE * ONE) >> 8)).ravel()
    out[_CONSTANT:_TACTICS] = _quantize(network.constant, SCALE * UNIT).ravel()
    out[_TACTICS:_TACTIC_VALUES] = _quantize(network.tactics, ONE).ravel()
    out[_TACTIC_VALUES:] = _quantize(network.tactic_values, SCALE * UNIT).ravel()
    return out


@piece
def _row_at(state, board):
    """Where the rows of a small board begin."""
    return _ROWS + (_SETS * board + TERNARY[state[MARKS + board]] + 2 * TERNARY[state[MARKS + 9 + board]]) * _ROW


@piece
def _bucket(state):
    return 10 * (SIZE[state[CLOSED]] // PHASES) + state[TARGET]  # nobody moves when all nine are closed


@piece
def _count(boards, most):
    return min(SIZE[boards], most)


@piece
def winnable(state, player):
    """The set of open small boards that a player can win with one mark."""
    found = np.int64(0)
    for board in range(9):
        if not state[CLOSED] >> board & 1:
            own, other = state[MARKS + 9 * player + board], state[MARKS + 9 * (1 - player) + board]
            found |= np.int64(SHARP[own, other] != 0) << board
    return found


@piece
def tactic(state, own, other):
    """The number of the tactic of a position that is not an end, for the player to move.

    It counts the moves of these kinds, up to a maximum: the move wins a small board or does not, and sends the opponent
    to a small board that they cannot win with one mark, to one that they can win, or anywhere.  Moves after which the
    opponent can win the game at once do not count.  A player who may play anywhere has counts of the small boards that
    both can win, and whether either of them wins the game by one.

    Parameters
    ----------
    own, other
        The small boards that the player to move and the opponent can win with one mark.
    """
    player, board = state[PLAYER], state[TARGET]
    won, lost, closed = state[WON + player], state[WON + 1 - player], state[CLOSED]
    deadly = other & SHARP[lost, won]
    phase, threat = SIZE[closed] // PHASES, np.int64(deadly != 0)
    if board == 9:
        counts = 4 * _count(own, 3) + _count(other, 3)
        decides = np.int64(own & SHARP[won, lost] != 0)
        return PHASES * SENT_TACTICS + phase * FREE_TACTICS + 4 * counts + 2 * decides + threat
    first, second = state[MARKS + 9 * player + board], state[MARKS + 9 * (1 - player) + board]
    cells, wins = FULL & ~(first | second), np.int64(SHARP[first, second])
    if threat:
        cells &= ~(deadly | closed)
    quiet, wins = cells & ~wins, cells & wins
    safe = ~(other | closed)
    found = 3 * _count(quiet & safe, 3) + _count(quiet & other, 2)
    found = 4 * found + 2 * _count(quiet & closed, 1) + _count(wins & safe, 1)
    return phase * SENT_TACTICS + 8 * found + 4 * _count(wins & other, 1) + 2 * _count(wins & closed, 1) + threat


@piece
def note(state, weights):
    """Write the notes of a position; the player to move is the eager one."""
    eager = state[PLAYER]
    state[_EAGER] = eager
    sums.note(state, weights[eager * WHOLE : eager * WHOLE + WHOLE])
    for player in range(2):
        state[_WINNABLE + player] = winnable(state, player)
        first = _SUMS + player * _WORDS_OF_PLAYER
        accumulator = state[first : first + _WORDS_OF_PLAYER].view(np.int16)
        bias = _BIAS + HIDDEN * np.int64(player == eager)
        for unit in range(HIDDEN):
            accumulator[unit] = weights[bias + unit]
        for board in range(9):
            row = _row_at(state, board) + player * HIDDEN
            for unit in range(HIDDEN):
                accumulator[unit] += weights[row + unit]


@piece
def follow(before, after, move, weights):
    """Bring the notes of a position before a move up to date after it."""
    base = after[_EAGER] * WHOLE
    sums.follow(before, after, move, weights[base : base + WHOLE])
    board = move // 9
    first, second = _row_at(before, board), _row_at(after, board)
    for player in range(2):
        own, other = after[MARKS + 9 * player + board], after[MARKS + 9 * (1 - player) + board]
        can = np.int64(SHARP[own, other] != 0) & ~(after[CLOSED] >> board)
        after[_WINNABLE + player] = before[_WINNABLE + player] & ~(1 << board) | can << board
    old, new = weights[first : first + 2 * HIDDEN], weights[second : second + 2 * HIDDEN]
    past = before[_SUMS : _SUMS + 2 * _WORDS_OF_PLAYER].view(np.int16)
    accumulators = after[_SUMS : _SUMS + 2 * _WORDS_OF_PLAYER].view(np.int16)
    for unit in range(2 * HIDDEN):
        accumulators[unit] = past[unit] + (new[unit] - old[unit])


@piece
def noted_value(state, heuristic, weights):
    """The value to the player to move of a position with notes, that is not an end, as a whole number."""
    player, board = state[PLAYER], state[TARGET]
    first = _SUMS + player * _WORDS_OF_PLAYER
    accumulator = state[first : first + _WORDS_OF_PLAYER].view(np.int16)
    sent = _ANYWHERE_ROW if board == 9 else _row_at(state, board) + (2 + player) * HIDDEN
    eager = np.int64(player == state[_EAGER])
    own = 2 * _bucket(state) + eager
    out = _OUTPUT + HIDDEN * own
    kind = tactic(state, state[_WINNABLE + player], state[_WINNABLE + 1 - player])
    row, output, total = weights[sent : sent + HIDDEN], weights[out : out + HIDDEN], np.int32(0)
    tactics = weights[_TACTICS + HIDDEN * kind : _TACTICS + HIDDEN * kind + HIDDEN]
    for unit in range(HIDDEN):  # of 32 bits, which the compiler makes into instructions for many units at once
        unclipped = np.int32(accumulator[unit]) + np.int32(row[unit]) + np.int32(tactics[unit])
        clipped = np.int32(min(max(unclipped, np.int32(0)), np.int32(ONE)))
        total = np.int32(total + np.int32(np.int32(clipped * clipped + 128) >> 8) * np.int32(output[unit]))
    base = state[_EAGER] * WHOLE
    added = np.int64(total) // _FINER + np.int64(weights[_CONSTANT + own])
    added += np.int64(weights[_TACTIC_VALUES + 2 * kind + eager])
    return (sums.total_noted(state, weights[base : base + WHOLE]) + added) // UNIT


def evaluate(network: Network, state: Any) -> float:
    """The value of a position to the player to move, as a sum before the logistic function, by the weights as trained.

    The player to move is the eager one; written plainly, to test the whole numbers.
    """
    player = int(state[PLAYER])
    entries = np.array([sums.entry_of(state, board, player) for board in range(9)])
    hidden = network.bias[1] + sum(network.embedding[entries[board]] @ network.boards[board] for board in range(9))
    board = int(state[TARGET])
    hidden = hidden + network.places[board]
    if board != ANYWHERE:
        hidden = hidden + network.embedding[entries[board]] @ network.targets[board]
    kind = int(tactic(state, int(winnable(state, player)), int(winnable(state, 1 - player))))
    hidden = hidden + network.tactics[kind]
    phase = sum(int(entry >= _SETS) for entry in entries) // PHASES
    output, constant = network.output[10 * phase + board, 1], network.constant[10 * phase + board, 1]
    added = constant + network.tactic_values[kind, 1] + sums.total(state, network.sums[0])
    return float(np.clip(hidden, 0, 1) ** 2 @ output + added)
