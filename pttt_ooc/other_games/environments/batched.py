"""Phantom games as an environment of JAX: many games at once, on the device that JAX computes on.

The conventions are those of pgx (Koyamada et al. 2023), so that its learners and wrappers take the environment as it
is; pgx itself is not needed.  All functions are pure and take one game: ``jax.vmap`` makes them functions of many, and
``jax.jit`` compiles them.

>>> from pttt_ooc.games.rules.catalogue import named_game
>>> env = BatchedEnvironment(named_game("mini-2x3k2-abrupt"))
>>> states = jax.vmap(env.init)(jax.random.split(jax.random.PRNGKey(0), 4))
>>> states = jax.jit(jax.vmap(env.step_and_reset))(states, jnp.array([0, 1, 2, 3]))
>>> jax.vmap(env.row)(states).tolist()
[0, 0, 0, 0]
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, Literal, get_args

import jax
import jax.numpy as jnp
import numpy as np

from pttt_ooc.errors import ConfigError
from pttt_ooc.games.rules.game import Game
from pttt_ooc.games.rules.information_state import STATES, kind_of, tensor_size
from pttt_ooc.games.structure.row_numbers import row_tables

Array = Any
"""An array of JAX, or of numpy."""
Observations = Literal["information state", "planes"]
Seats = Literal["drawn", "fixed"]


@partial(
    jax.tree_util.register_dataclass,
    data_fields=[
        *("current_player", "observation", "rewards", "terminated", "truncated", "legal_action_mask", "_step_count"),
        *("_seat", "_swapped", "_placed", "_attempts"),
    ],
    meta_fields=["_id"],
)
@dataclass(frozen=True)
class BatchedState:
    """The state of one game, or under ``jax.vmap`` of many; for S squares.  Names without an underscore are pgx'.

    Attributes
    ----------
    current_player
        int32: the agent to move.  An agent's number is not its seat.
    observation
        bool: what this agent sees, see :class:`BatchedEnvironment`.
    rewards
        float32, shape (2,): what the last attempt brought to each agent.
    terminated
        bool: whether the game is over.
    truncated
        bool: never.
    legal_action_mask
        bool, shape (S,): squares that the agent may attempt; all, when the game is over.
    _id
        The name of the game; see :attr:`env_id`.
    _step_count
        int32: attempts that have been made.
    _seat
        int32: the player to move by the rules of the game; see :attr:`seat`.
    _swapped
        bool: whether agent 0 is player 1.
    _placed
        int32, shape (2,): each player's marks as a bit mask, setup included.
    _attempts
        int32, shape (2, S): the square of each of a player's attempts, in order, as a bit mask, setup included; 0
        after the last one.
    """

    current_player: Array
    observation: Array
    rewards: Array
    terminated: Array
    truncated: Array
    legal_action_mask: Array
    _id: str
    _step_count: Array
    _seat: Array
    _swapped: Array
    _placed: Array
    _attempts: Array

    @property
    def env_id(self) -> str:
        """The name of the game."""
        return self._id

    @property
    def seat(self) -> Array:
        """int32: the player to move by the rules of the game, of whom 0 is first unless marks are set up."""
        return self._seat

    def replace(self, **changes: Array) -> BatchedState:
        """The state with other values."""
        return replace(self, **changes)


class BatchedEnvironment:
    """A phantom game of any size, with either turn rule and any winning sets.

    Parameters
    ----------
    game
        The rules.
    observations
        Both kinds have perfect recall: each infoset has an observation of its own.
        ``"information state"``: shape (2 + size,): one-hot which player the observer is, then OpenSpiel's
        information-state tensor (:mod:`pttt_ooc.games.rules.information_state`), which alone does not tell.  A policy
        of nashbench takes the same, so that ``pttt lab score`` takes policies that were trained here.
        ``"planes"``: shape (rows, columns, 5 + S), for convolutions: two planes for the player, three for empty
        squares, marks of player 0 and of player 1, and one for each attempt.
    seats
        Which agent has the first move.  ``"drawn"``: ``init`` draws it, as pgx does, and it changes from game to game.
        ``"fixed"``: agent 0 is player 0, always.

    Raises
    ------
    ConfigError
        If there is no such kind of observation, or of seats.

    Notes
    -----
    A win is rewarded with 1 and -1, a draw with zeros.  An attempt that is not legal loses the game, as in pgx.
    """

    num_players = 2
    version = "v0"

    def __init__(self, game: Game, observations: Observations = "information state", seats: Seats = "drawn") -> None:
        for found, known in ((observations, get_args(Observations)), (seats, get_args(Seats))):
            if found not in known:
                raise ConfigError(f"{found!r} is neither {' nor '.join(map(repr, known))}.")
        self.game, self.observations, self.seats = game, observations, seats
        self._kind, self._squares = kind_of(game), np.arange(game.squares, dtype=np.int32)
        # What the rules say, as tables: the first state, and whether a player's marks win.
        self._setup = np.array([game.setup_mask(player) for player in (0, 1)], np.int32)
        self._setup_attempts = np.zeros((2, game.squares), np.int32)
        masks = np.arange(1 << game.squares)
        self._wins = np.zeros((2, len(masks)), np.bool_)
        for player in (0, 1):
            self._setup_attempts[player, : len(game.setup[player])] = [1 << square for square in game.setup[player]]
            for winning in game.winning_sets[player]:
                self._wins[player] |= masks & winning == winning

    @property
    def id(self) -> str:
        """The name of the game."""
        return self.game.name

    @property
    def num_actions(self) -> int:
        """The number of squares."""
        return self.game.squares

    @property
    def observation_shape(self) -> tuple[int, ...]:
        """The shape of one observation."""
        if self.observations == "planes":
            return self.game.rows, self.game.columns, 5 + self.game.squares
        return (2 + tensor_size(self._kind, self.game.squares),)

    def init(self, key: Array) -> BatchedState:
        """The state before the first attempt.

        Parameters
        ----------
        key
            A key of ``jax.random``, for the draw of seats.
        """
        swapped = jax.random.bernoulli(key) if self.seats == "drawn" else jnp.bool_(False)
        position = (jnp.int32(self.game.first_player), jnp.array(self._setup), jnp.array(self._setup_attempts))
        return self._state(*position, swapped, jnp.zeros(2, jnp.float32), jnp.bool_(False), jnp.int32(0))

    def step(self, state: BatchedState, action: Array, key: Array = None) -> BatchedState:
        """The state after the current player has attempted a square.

        Parameters
        ----------
        action
            int: the square.
        key
            Not used: there is no chance in the game.  pgx' wrappers give one.

        Returns
        -------
        After the end of a game, the same state with rewards of 0.
        """
        seat, placed, attempts, rewards, over = self._attempt(state, action)
        before = state.terminated
        seat = jnp.where(before, state._seat, seat)
        placed = jnp.where(before, state._placed, placed)
        attempts = jnp.where(before, state._attempts, attempts)
        rewards, over = jnp.where(before, 0.0, rewards), before | over
        found = self._state(seat, placed, attempts, state._swapped, rewards, over, state._step_count + ~before)
        return found.replace(legal_action_mask=found.legal_action_mask | over)

    def step_and_reset(self, state: BatchedState, action: Array, key: Array = None) -> BatchedState:
        """As :meth:`step`, but when a game ends, the next one begins at once.

        Returns
        -------
        The new game's first state, with `rewards` and `terminated` of the one that has ended.  Unless seats are fixed,
        the agents change theirs.
        """
        seat, placed, attempts, rewards, over = self._attempt(state, action)
        seat = jnp.where(over, self.game.first_player, seat)
        placed = jnp.where(over, self._setup, placed)
        attempts = jnp.where(over, self._setup_attempts, attempts)
        swapped = state._swapped ^ (over & (self.seats == "drawn"))
        return self._state(seat, placed, attempts, swapped, rewards, over, jnp.where(over, 0, state._step_count + 1))

    def observe(self, state: BatchedState, player_id: Array = None) -> Array:
        """What an agent sees; default: the current one.  bool, shape `observation_shape`."""
        seat = state._seat if player_id is None else player_id ^ state._swapped
        return self._observation(*_of(seat, state._placed, state._attempts), seat)

    def information_state(self, state: BatchedState) -> Array:
        """OpenSpiel's information-state tensor of the player to move: bool, shape (size,)."""
        return jnp.concatenate(self._tensor(*_of(state._seat, state._placed, state._attempts), state._seat))

    def row(self, state: BatchedState) -> Array:
        """The row of the infoset in the default order of the course's files: int32, from 0.

        It belongs to the player to move, `state.seat`, and means nothing after the end of a game.

        Raises
        ------
        GameError
            If the infosets are too many to be listed.
        """
        first, smaller = self._rows
        placed, attempts = _of(state._seat, state._placed, state._attempts)
        made = self._squares >= jnp.where(state._seat == 0, *(len(own) for own in self.game.setup))
        attempts = jnp.where(made, attempts, 0)
        made = attempts > 0
        before = self._bits(jnp.cumsum(attempts) - attempts)  # a row for each attempt: the squares of earlier ones
        views = jnp.sum(before * (3**self._squares * (1 + self._bits(placed))), axis=1)
        n = jnp.minimum(jnp.sum(made), self.game.squares - 1)
        ahead = smaller[state._seat, views, 2 * (31 - jax.lax.clz(attempts)) + (attempts & placed > 0), n]
        return (first[state._seat, n] + jnp.sum(jnp.where(made, ahead, 0))).astype(jnp.int32)

    @cached_property
    def _rows(self) -> tuple[Array, Array]:
        tables = row_tables(self.game)
        first = np.stack([one.first for one in tables]).astype(np.int32)
        with jax.ensure_compile_time_eval():  # arrays, though this is called while JAX traces
            return jnp.array(first), jnp.array(np.stack([one.smaller for one in tables]))

    def _attempt(self, state: BatchedState, action: Array) -> tuple[Array, Array, Array, Array, Array]:
        """The seat to move, marks, attempts, rewards and the end, after an attempt in a game that is not over."""
        seat, mine = state._seat, jnp.arange(2) == state._seat
        own, attempts = _of(seat, state._placed, state._attempts)
        other, tried = state._placed[0] ^ state._placed[1] ^ own, jnp.sum(attempts)
        known = (action >= 0) & (action < self.game.squares)
        bit = jnp.where(known, 1 << jnp.where(known, action, 0), 0).astype(jnp.int32)
        legal, taken = (bit & ~tried) > 0, (bit & other) > 0
        after = own | jnp.where(legal & ~taken, bit, 0)
        here = mine[:, None] & (self._squares == jax.lax.population_count(tried))
        won = legal & ~taken & jnp.array(self._wins)[seat, after]
        gain = jnp.where(legal, won.astype(jnp.float32), -1.0)
        return (
            jnp.where(taken & (self.game.turn_rule == "classical"), seat, 1 - seat),
            jnp.where(mine, after, state._placed).astype(jnp.int32),
            jnp.where(here & legal, bit, state._attempts).astype(jnp.int32),
            jnp.where(jnp.arange(2) == state.current_player, gain, -gain),
            won | ~legal | (after | other == (1 << self.game.squares) - 1),
        )

    def _state(
        self,
        seat: Array,
        placed: Array,
        attempts: Array,
        swapped: Array,
        rewards: Array,
        terminated: Array,
        steps: Array,
    ) -> BatchedState:
        own, tried = _of(seat, placed, attempts)
        return BatchedState(
            current_player=(seat ^ swapped).astype(jnp.int32),
            observation=self._observation(own, tried, seat),
            rewards=rewards,
            terminated=terminated,
            truncated=jnp.zeros_like(terminated),
            legal_action_mask=~self._bits(jnp.sum(tried)),
            _id=self.id,
            _step_count=steps,
            _seat=seat.astype(jnp.int32),
            _swapped=swapped,
            _placed=placed,
            _attempts=attempts,
        )

    def _bits(self, masks: Array) -> Array:
        """Bit masks as truth values, one for each square: a new last axis."""
        return ((masks[..., None] >> self._squares) & 1).astype(jnp.bool_)

    def _knowledge(self, placed: Array, attempts: Array, seat: Array) -> tuple[Array, Array, Array]:
        """What a player knows, as bit masks: squares that were not tried, marks of player 0, marks of player 1."""
        tried = jnp.sum(attempts)
        failed = tried ^ placed
        return ~tried, jnp.where(seat == 0, placed, failed), jnp.where(seat == 0, failed, placed)

    def _tensor(self, placed: Array, attempts: Array, seat: Array) -> list[Array]:
        """The parts of the information state's tensor, one after the other."""
        number, empty, marks = STATES[self._kind]
        masks = dict(zip((empty, *marks), self._knowledge(placed, attempts, seat), strict=True))
        states = jnp.stack([masks.get(state, jnp.zeros_like(placed)) for state in range(number)])
        if self._kind == "pttt":
            return [self._bits(jnp.concatenate([states, attempts])).ravel()]
        return [self._bits(states).T.ravel(), self._bits(attempts).ravel()]

    def _observation(self, placed: Array, attempts: Array, seat: Array) -> Array:
        who = jnp.arange(2) == seat
        # Without the barrier, XLA on processors finds these anew for each entry of an observation.
        placed, attempts = jax.lax.optimization_barrier((placed, attempts))
        if self.observations == "information state":
            return jnp.concatenate([who, *self._tensor(placed, attempts, seat)])
        masks = jnp.stack([*jnp.where(who, -1, 0), *self._knowledge(placed, attempts, seat)])
        planes = self._bits(jnp.concatenate([masks, attempts]))
        return planes.T.reshape(self.observation_shape)


def _of(seat: Array, placed: Array, attempts: Array) -> tuple[Array, Array]:
    """One player's marks and attempts."""
    return jnp.where(seat == 0, placed[0], placed[1]), jnp.where(seat == 0, attempts[0], attempts[1])
