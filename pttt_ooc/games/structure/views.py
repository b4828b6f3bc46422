"""Views, and the pairs of views that fit together.

A player's *view* of the board is the set of squares on which they placed a mark and the set of
squares on which they failed (both without the setup's squares).  A *pair* consists of both players'
views at one moment of the game.  There are few of either, so a breadth-first search over pairs
finds all of them, and also counts histories.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pttt_ooc.games.rules.game import Game, check_enumerable

Ints = NDArray[np.int64]

_BITS = 15


@dataclass(frozen=True)
class Pairs:
    """All pairs of views that occur before the game is over.

    Attributes
    ----------
    placed, failed
        int64, shape (2, number of pairs): each player's view, as bit masks.
    mover
        int64, shape (number of pairs,): the player to move.
    winning_squares
        int64, same shape: squares on which the mover wins at once, as a bit mask.
    histories
        int64, same shape: number of histories with this pair of views.
    terminal_histories
        Number of histories at which the game is over.
    """

    placed: Ints
    failed: Ints
    mover: Ints
    winning_squares: Ints
    histories: Ints
    terminal_histories: int

    @property
    def decision_histories(self) -> int:
        """Number of histories at which a player is to move."""
        return int(self.histories.sum())


def attempts(placed: Ints, failed: Ints) -> Ints:
    """Number of attempts of a view."""
    counts: Ints = np.bitwise_count(placed | failed).astype(np.int64)
    return counts


def _mover(game: Game, placed: Ints, failed: Ints) -> Ints:
    turns = attempts(placed, failed) if game.turn_rule == "abrupt" else np.bitwise_count(placed).astype(np.int64)
    even = turns[0] == turns[1]
    mover: Ints = np.where(even, game.first_player, 1 - game.first_player)
    return mover


def _wins(game: Game, player: int, placed: Ints) -> NDArray[np.bool_]:
    held = placed | game.setup_mask(player)
    won = np.zeros(held.shape, bool)
    for winning in game.winning_sets[player]:
        won |= (held & winning) == winning
    return won


def _step(game: Game, placed: Ints, failed: Ints, mover: Ints, square: int) -> tuple[Ints, Ints, Ints, Ints]:
    """Let the mover of every pair attempt `square`, where this is legal.

    Returns the indices of those pairs, the new placed and failed masks, and whether the mover won.
    """
    bit = 1 << square
    setup = np.array([game.setup_mask(p) for p in (0, 1)])
    which = np.arange(placed.shape[1])
    tried = placed[mover, which] | failed[mover, which] | setup[mover]
    which = np.flatnonzero((tried & bit) == 0)
    me = mover[which]
    new_placed, new_failed = placed[:, which].copy(), failed[:, which].copy()
    occupied = ((new_placed[1 - me, np.arange(len(me))] | setup[1 - me]) & bit) != 0
    new_failed[me, np.arange(len(me))] |= np.where(occupied, bit, 0)
    new_placed[me, np.arange(len(me))] |= np.where(occupied, 0, bit)
    mine = new_placed[me, np.arange(len(me))]
    won = np.where(me == 0, _wins(game, 0, mine), _wins(game, 1, mine)) & ~occupied
    return which, new_placed, new_failed, won


def find_pairs(game: Game) -> Pairs:
    """Enumerate pairs of views by a breadth-first search from the setup.

    Raises
    ------
    GameError
        If the board has more than :data:`.MOST_ENUMERATED_SQUARES` squares.
    """
    check_enumerable(game)
    full = (1 << game.squares) - 1
    taken = game.setup_mask(0) | game.setup_mask(1)
    placed, failed = np.zeros((2, 1), np.int64), np.zeros((2, 1), np.int64)
    histories = np.ones(1, np.int64)
    levels: list[tuple[Ints, ...]] = []
    terminal = 0
    while placed.shape[1]:
        mover = _mover(game, placed, failed)
        winning = np.zeros(placed.shape[1], np.int64)
        following: list[tuple[Ints, Ints, Ints]] = []
        for square in range(game.squares):
            which, new_placed, new_failed, won = _step(game, placed, failed, mover, square)
            winning[which[won.astype(bool)]] |= 1 << square
            over = won.astype(bool) | ((new_placed[0] | new_placed[1] | taken) == full)
            terminal += int(histories[which[over]].sum())
            following.append((new_placed[:, ~over], new_failed[:, ~over], histories[which[~over]]))
        levels.append((placed, failed, mover, winning, histories))
        placed, failed, histories = _merge(following)
    joined = [np.concatenate([level[i] for level in levels], axis=-1) for i in range(5)]
    return Pairs(joined[0], joined[1], joined[2], joined[3], joined[4], terminal)


def most_pairs(game: Game) -> int:
    """An upper bound on the number of pairs, without a search: squares are independent except for the turns."""
    differences = {0: 1}  # player 0's lead in turns, and the number of ways
    for square in range(game.squares):
        owners = [p for p in (0, 1) if square in game.setup[p]]
        # Turns of player 0 and 1 that a square takes: free; placed by either player; failed on by the other too.
        failed = 1 if game.turn_rule == "abrupt" else 0
        turns = [(0, 0), (1, 0), (0, 1), (1, failed), (failed, 1)]
        if owners:
            turns = [(0, 0), (0, failed) if owners[0] == 0 else (failed, 0)]
        following: dict[int, int] = {}
        for ahead, ways in differences.items():
            for mine, theirs in turns:
                key = ahead + mine - theirs
                following[key] = following.get(key, 0) + ways
        differences = following
    return sum(ways for ahead, ways in differences.items() if abs(ahead) <= 1)


def _merge(parts: list[tuple[Ints, Ints, Ints]]) -> tuple[Ints, Ints, Ints]:
    """Merge equal pairs, adding up their histories."""
    # One number for each pair, as numbers sort faster than columns: four masks of at most 15 squares each.
    codes = np.concatenate([((p[0] << _BITS | p[1]) << _BITS | f[0]) << _BITS | f[1] for p, f, _ in parts])
    histories = np.concatenate([h for _, _, h in parts])
    unique, inverse = np.unique(codes, return_inverse=True)
    total = np.zeros(len(unique), np.int64)
    np.add.at(total, inverse, histories)
    masks = np.stack([unique >> _BITS * k & (1 << _BITS) - 1 for k in (3, 2, 1, 0)])
    return masks[:2], masks[2:], total


def image_of(masks: Ints, symmetry: tuple[int, ...]) -> Ints:
    """Image of sets of squares under a permutation of squares."""
    image = np.zeros_like(masks)
    for square, target in enumerate(symmetry):
        image |= ((masks >> square) & 1) << target
    return image


def images_of(group: Sequence[tuple[int, ...]]) -> Ints:
    """Images of all sets of squares under some permutations: int64, shape (permutations, sets)."""
    return np.stack([image_of(np.arange(1 << len(symmetry)), symmetry) for symmetry in group])


def number_below(masks: Ints, square: Ints | int) -> Ints:
    """Number of squares of each set below `square`: its position in the set, if it is a member."""
    number: Ints = np.bitwise_count(masks & ((1 << square) - 1)).astype(np.int64)
    return number


def first_seen(keys: Ints) -> tuple[Ints, Ints]:
    """Number distinct keys by their first appearance.

    Returns
    -------
    The first position of each distinct key, and the number of every key; both int64.
    """
    _, first, kind = np.unique(keys, return_index=True, return_inverse=True)
    appearance = np.argsort(first)
    number = np.empty(len(first), np.int64)
    number[appearance] = np.arange(len(first))
    return first[appearance], number[kind]
