"""What a player knows of the board at one of its infosets, given the opponent's strategy: exactly, without sampling.

The player's attempts are fixed by the infoset, and so are their outcomes.  So a history of the infoset is a sequence
of the opponent's own attempts that makes these outcomes come true.  All of them are followed from the root, turn by
turn, in arrays with one entry for each.  Each history counts by the opponent's reach: the player's own probabilities
are the same for all of them and cancel.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from pttt_ooc.errors import StrategyError
from pttt_ooc.questions.answers import Beliefs, Board
from pttt_ooc.questions.reading import checked
from pttt_ooc.rules.game import Game, mask_of
from pttt_ooc.structure.index import Index
from pttt_ooc.structure.strategy import Strategy
from pttt_ooc.structure.views import Ints, number_below

Floats = NDArray[np.float64]
_DIGIT = 4  # bits of a square in the code of an order


def beliefs(index: Index, opponent: Strategy, player: int, infoset: str, boards: int = 10, orders: int = 0) -> Beliefs:
    """What `player` knows of the board at an infoset.

    Parameters
    ----------
    index
        Of the game, with symmetry or without.
    opponent
        The other player's strategy, with symmetry or without, on any index of the game.
    infoset
        Its text, as :func:`pttt_ooc.questions.reading.checked` takes it.
    boards
        How many true boards to list, the likeliest first.
    orders
        How many of the opponent's own infosets to list for each of these boards, the likeliest first.

    Raises
    ------
    ImpossibleInfosetError
        If it is no infoset of the player.
    StrategyError
        If the strategy is the player's own, or for another game.
    """
    game = index.game
    if opponent.player == player or opponent.index.game != game:
        raise StrategyError(
            f"Beliefs of player {player} in {game.name} follow from a strategy of player {1 - player}; this one is "
            f"player {opponent.player}'s in {opponent.index.game.name}."
        )
    text = checked(game, player, infoset)
    own = _own_attempts(game, player, text)
    found = _Walk(opponent, own, by_strategy=True).histories()
    reached = float(found.weight.sum())
    if reached == 0:
        found = _Walk(opponent, own, by_strategy=False).histories()
    weight = found.weight / found.weight.sum()
    size, theirs = 1 << game.squares, found.placed | game.setup_mask(1 - player)
    by_board = np.bincount(theirs, weights=weight, minlength=size).astype(np.float64)
    mine = mask_of(tuple(one.square for one in own if one.placed)) | game.setup_mask(player)
    marked = (np.arange(size) >> np.arange(game.squares)[:, None] & 1).astype(np.float64)
    marks = marked @ by_board
    held = (mine >> np.arange(game.squares) & 1).astype(np.float64)
    attempts = np.bincount(np.bitwise_count(found.placed | found.failed), weights=weight)
    return Beliefs(
        player,
        text,
        reached,
        marks,
        (1 - marked - held[:, None]) @ by_board,
        _likeliest(game, player, mine, by_board, boards, _Orders(found, theirs, weight, orders)),
        MappingProxyType({int(n): float(attempts[n]) for n in np.flatnonzero(attempts)}),
        reached == 0,
    )


@dataclass(frozen=True)
class _Own:
    """One attempt of the player whose infoset it is."""

    square: int
    placed: bool


def _own_attempts(game: Game, player: int, text: str) -> tuple[_Own, ...]:
    attempts = tuple(_Own(int(text[at]), text[at + 1] == "*") for at in range(1, len(text), 2))
    return attempts[len(game.setup[player]) :]


# ---------------------------------------------------------------------------------------------
# Following the opponent


@dataclass(frozen=True, eq=False)
class _Histories:
    """Histories that agree with the player's attempts so far, by the opponent's part in them.

    Attributes
    ----------
    placed, failed
        int64, shape (histories,): the opponent's view, as bit masks without the setup's squares.
    order
        int64, same shape: its order, a digit of four bits for each attempt, the first one lowest.
    view, rank
        int64, same shape: where the opponent's index has that view or its mirror image, and the rank of the order
        there; of no meaning where the opponent does not move again.
    image
        int64, shape (histories, squares): for each square, where it is in the index's view, which may be a
        mirror image.
    weight
        float64, shape (histories,): the opponent's reach, or 1.
    """

    placed: Ints
    failed: Ints
    order: Ints
    view: Ints
    rank: Ints
    image: Ints
    weight: Floats

    def of(self, which: NDArray[np.generic]) -> _Histories:
        """Some of them."""
        return _Histories(*(getattr(self, field.name)[which] for field in fields(self)))


class _Walk:
    """Follows all that the opponent can have done.

    Parameters
    ----------
    opponent
        Its strategy.
    own
        The attempts of the player, after the setup.
    by_strategy
        Whether histories count by the opponent's reach, and those without reach are left out; else all count 1.
    """

    def __init__(self, opponent: Strategy, own: tuple[_Own, ...], by_strategy: bool) -> None:
        self.game, self.me = opponent.index.game, 1 - opponent.player
        self.opponent, self.own, self.by_strategy = opponent, own, by_strategy
        self.tree = opponent.index.players[opponent.player]
        self.orbits = opponent.index.orbits[opponent.player]
        self.group = np.array(opponent.index.group)
        self.hidden = self.game.setup_mask(opponent.player)
        self.mine = self.game.setup_mask(self.me)  # own marks, as the walk goes on
        self.done, self.turns = 0, 0  # own attempts so far; turns that the opponent has used up
        self.deadlines = self._deadlines()
        masks = np.arange(1 << self.game.squares) | self.hidden
        self.ends = np.zeros(masks.shape, np.bool_)  # whether the opponent has won with these marks
        for winning in self.game.winning_sets[opponent.player]:
            self.ends |= masks & winning == winning

    def _deadlines(self) -> list[tuple[int, int]]:
        """Marks that the opponent must have placed within so many of its turns, as masks, the earliest first."""
        wanted, turns, found = 0, int(self.me != self.game.first_player), []
        for one in self.own:
            if not one.placed and not self.hidden >> one.square & 1:
                wanted |= 1 << one.square
                found.append((wanted, turns))
            turns += one.placed or self.game.turn_rule == "abrupt"
        return found

    def histories(self) -> _Histories:
        """All histories of the infoset."""
        squares = self.game.squares
        zero, image = np.zeros(1, np.int64), np.arange(squares)[None, :]
        state = _Histories(zero, zero, zero, zero, zero, image, np.ones(1))
        if self.me != self.game.first_player:
            state = self._their_turn(state)
        while self.done < len(self.own):
            one = self.own[self.done]
            self.done += 1
            if not one.placed:
                state = state.of((state.placed | self.hidden) >> one.square & 1 == 1)
            self.mine |= one.placed << one.square
            if one.placed or self.game.turn_rule == "abrupt":
                state = self._their_turn(state.of(~self._full(state.placed)))
        return state

    def _full(self, theirs: Ints) -> NDArray[np.bool_]:
        full: NDArray[np.bool_] = theirs | self.hidden | self.mine == (1 << self.game.squares) - 1
        return full

    def _their_turn(self, state: _Histories) -> _Histories:
        """The opponent moves until the player's turn comes: once, or under the classical rule until it has placed."""
        if self.game.turn_rule == "abrupt":
            self.turns += 1
            return self._attempt(state, self.turns)[0]
        finished = []
        self.turns += 1
        while len(state.weight):
            state, placed = self._attempt(state, self.turns - 1, self.turns)
            finished.append(state.of(placed))
            state = state.of(~placed)
        return _joined(finished, state)

    def _attempt(
        self, state: _Histories, turns: int, if_placed: int | None = None
    ) -> tuple[_Histories, NDArray[np.bool_]]:
        """All attempts of the opponent after which the player can still do what it has done, and which are placed.

        Parameters
        ----------
        turns, if_placed
            How many turns the opponent has used up afterwards; `if_placed` where the attempt is placed.
        """
        tried = state.placed | state.failed
        taken = tried | self.game.setup_mask(self.opponent.player)
        i, square = np.nonzero(taken[:, None] >> np.arange(self.game.squares) & 1 == 0)
        action, probability = self._actions(state, i, square)
        bit, placed = 1 << square, self.mine >> square & 1 == 0
        theirs = state.placed[i] | np.where(placed, bit, 0)
        used = turns if if_placed is None else np.where(placed, if_placed, turns)
        spoilt = mask_of(tuple(one.square for one in self.own[self.done :] if one.placed))
        kept = ~(self.ends[theirs] | self._full(theirs)) & (spoilt >> square & 1 == 0) & self._in_time(theirs, used)
        if self.by_strategy:
            kept &= probability > 0
        i, square, bit, placed, theirs, action = (part[kept] for part in (i, square, bit, placed, theirs, action))
        failed = state.failed[i] | np.where(placed, 0, bit)
        order = state.order[i] | square << _DIGIT * np.bitwise_count(tried)[i].astype(np.int64)
        weight = state.weight[i] * probability[kept] if self.by_strategy else state.weight[i]
        if self.done == len(self.own) and self.game.turn_rule == "abrupt":  # the opponent does not move again
            where = (i, i, state.image[:0])
        else:
            where = self._children(state, i, square, action, placed)
        return _Histories(theirs, failed, order, *where, weight), placed

    def _actions(self, state: _Histories, i: Ints, square: Ints) -> tuple[Ints, Floats]:
        """The number of each action in its node's view, and its probability.

        Probabilities are scaled to sum to 1; they are the same for all attempts if the strategy has none.

        Parameters
        ----------
        i, square
            All attempts that are legal: the number of the history, and the square.
        """
        t, view = self.tree, state.view
        taken = t.placed[view] | t.failed[view] | self.game.setup_mask(self.opponent.player)
        action = number_below(~taken[i], state.image[i, square])
        orders = t.node_start[view + 1] - t.node_start[view]
        sequence = (t.sequence_start[view] + state.rank)[i] + action * orders[i]
        found = self.opponent.probabilities[sequence].astype(np.float64)
        total = np.bincount(i, weights=found, minlength=len(view))
        count = np.bincount(i, minlength=len(view))
        probability = (found + (total == 0)[i]) / np.where(total == 0, count, total)[i]
        return action, probability

    def _in_time(self, theirs: Ints, used: Ints | int) -> NDArray[np.bool_]:
        """Whether the opponent has the turns left to place all marks that the player finds later."""
        kept = np.ones(theirs.shape, np.bool_)
        for wanted, turns in self.deadlines:
            if turns >= self.turns:
                kept &= np.bitwise_count(wanted & ~theirs) <= turns - used
        return kept

    def _children(
        self, state: _Histories, i: Ints, square: Ints, action: Ints, placed: NDArray[np.bool_]
    ) -> tuple[Ints, Ints, Ints]:
        """The views and ranks after attempts, and where squares are in these views."""
        t, view, rank, image = self.tree, state.view[i], state.rank[i], state.image[i]
        outcome = placed.astype(np.int64)
        start, table = t.child_start[view, action, outcome], t.child_map[view, action, outcome]
        mirrored = np.flatnonzero(table >= 0)
        rank[mirrored] = t.relabelling[table[mirrored] + rank[mirrored]]
        bit = 1 << image[np.arange(len(i)), square]
        after = t.placed[view] | np.where(placed, bit, 0), t.failed[view] | np.where(placed, 0, bit)
        at = self.orbits.find(after[0] << self.game.squares | after[1])
        child = self.orbits.view[at]
        return child, start + rank - t.node_start[child], self._turned(self.orbits.symmetry[at], image)

    def _turned(self, symmetry: Ints, image: Ints) -> Ints:
        if len(self.group) == 1:
            return image
        return np.take_along_axis(self.group[symmetry], image, axis=1)


def _joined(parts: list[_Histories], empty: _Histories) -> _Histories:
    every = [*parts, empty]
    return _Histories(*(np.concatenate([getattr(one, field.name) for one in every]) for field in fields(empty)))


# ---------------------------------------------------------------------------------------------
# Boards


@dataclass(frozen=True, eq=False)
class _Orders:
    """All histories with their boards, and how many of the opponent's infosets are wanted for each board."""

    histories: _Histories
    theirs: Ints
    weight: Floats
    wanted: int

    def of(self, game: Game, opponent: int, theirs: int) -> tuple[tuple[str, float], ...]:
        """The likeliest infosets of the opponent that lead to a board."""
        if not self.wanted:
            return ()
        which = np.flatnonzero(self.theirs == theirs)
        order = self.histories.order[which]
        chosen = which[np.lexsort((order, -self.weight[which]))][: self.wanted]
        return tuple((self._text(game, opponent, int(k)), float(self.weight[k])) for k in chosen)

    def _text(self, game: Game, opponent: int, k: int) -> str:
        placed = int(self.histories.placed[k])
        count = (placed | int(self.histories.failed[k])).bit_count()
        squares = [int(self.histories.order[k]) >> _DIGIT * slot & 15 for slot in range(count)]
        setup = "".join(f"{s}*" for s in game.setup[opponent])
        return "|" + setup + "".join(f"{s}{'*' if placed >> s & 1 else '.'}" for s in squares)


def _likeliest(game: Game, player: int, mine: int, by_board: Floats, count: int, orders: _Orders) -> tuple[Board, ...]:
    there = np.flatnonzero(by_board)
    chosen = there[np.lexsort((there, -by_board[there]))][:count].tolist()
    return tuple(Board(mine, m, float(by_board[m]), orders.of(game, 1 - player, m)) for m in chosen)
