"""A bridge to OpenSpiel's ``phantom_ttt`` and ``dark_hex``: its policies as strategies, strategies as its policies.

OpenSpiel is optional (the extra ``openspiel``).  Its games with ``obstype=reveal-nothing``, the default, have our
rules: players learn only whether their own attempts are placed.  ``gameversion`` is the turn rule.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from pttt_ooc.errors import GameError, StrategyError
from pttt_ooc.extras import extra
from pttt_ooc.games.rules.catalogue import named_game
from pttt_ooc.games.rules.connections import chains
from pttt_ooc.games.rules.game import Game, lines
from pttt_ooc.games.rules.infoset_text import attempts_of, infoset_text, is_infoset_text

_VERSIONS = {"abrupt": "adh", "classical": "cdh"}  # of dark_hex
_UNKNOWN = "The policy has nothing for infoset {!r} of player {} in {}: it is incomplete, or for another game."
_SAME = 1e-9  # probabilities that differ by no more are the same

Table = Callable[[str], Mapping[int, float] | None]
"""OpenSpiel's text of an information state -> probabilities by square, or None."""


class ByInfoset(Protocol):
    """What the bridge needs of a strategy: probabilities by the text of an infoset."""

    def __getitem__(self, infoset: str) -> NDArray[np.float64]:
        """Probabilities of all squares: float64, shape (squares,)."""


def load_game(game: Game) -> Any:
    """OpenSpiel's game of the same rules.

    Raises
    ------
    ConfigError
        If OpenSpiel is not installed.
    GameError
        If OpenSpiel has no such game.
    """
    pyspiel = _pyspiel()
    wins = lines(3, 3, 3)
    if (game.rows, game.columns) == (3, 3) and game.winning_sets == (wins, wins):
        return pyspiel.load_game(f"phantom_ttt(gameversion={game.turn_rule},obstype=reveal-nothing)")
    if game.winning_sets == (chains(game.rows, game.columns, 0), chains(game.rows, game.columns, 1)):
        board = f"num_rows={game.rows},num_cols={game.columns}"
        return pyspiel.load_game(f"dark_hex({board},gameversion={_VERSIONS[game.turn_rule]},obstype=reveal-nothing)")
    raise GameError(
        f"OpenSpiel has phantom_ttt, with nine squares and three in a row, and dark_hex; {game.name} has other rules."
    )


def game_of(theirs: Any) -> Game:
    """The package's game with the rules of a game of OpenSpiel, without a setup.

    Raises
    ------
    GameError
        If there is none: another game, another kind of observation, or a board that is too large.
    """
    told, name = theirs.get_parameters(), theirs.get_type().short_name
    if name not in ("phantom_ttt", "dark_hex") or told["obstype"] != "reveal-nothing":
        raise GameError(
            f"OpenSpiel's game {theirs} has no counterpart here; phantom_ttt and dark_hex have, with reveal-nothing."
        )
    if name == "phantom_ttt":
        return named_game(f"pttt-{told['gameversion']}")
    rule = next(rule for rule, version in _VERSIONS.items() if version == told["gameversion"])
    return named_game(f"dark-hex-{told['num_rows']}x{told['num_cols']}-{rule}")


def _pyspiel() -> Any:
    with extra("openspiel", "The bridge to OpenSpiel"):
        import pyspiel
    return pyspiel


def infoset_of(state: Any, player: int) -> str:
    """Text of a player's infoset at a state of OpenSpiel.

    Parameters
    ----------
    state
        Of ``phantom_ttt`` or ``dark_hex``, with the squares of the setup, if any, attempted first.
    """
    placed: list[int] = [0, 0]
    own: list[tuple[int, bool]] = []
    for step in state.full_history():
        bit, mover = 1 << step.action, step.player
        failed = bool(placed[1 - mover] & bit)
        placed[mover] |= 0 if failed else bit
        if mover == player:
            own.append((step.action, not failed))
    return infoset_text(own)


def state_at(game: Game, player: int, infoset: str) -> Any:
    """A state of OpenSpiel's game at which the player to move is at an infoset.

    It is the first history that a search finds: the opponent's attempts that the player has not noticed are arbitrary.

    Raises
    ------
    StrategyError
        If it is not an infoset of the player, or no history leads there.
    """
    return _state_in(load_game(game), game, player, infoset)


def _state_in(theirs: Any, game: Game, player: int, infoset: str) -> Any:
    state = theirs.new_initial_state()
    for square in _history(game, player, infoset):
        state.apply_action(square)
    return state


def _history(game: Game, player: int, infoset: str) -> list[int]:
    own, start = attempts_of(infoset), len(game.setup[player])
    on_board = is_infoset_text(infoset) and all(square < game.squares for square, _ in own)
    if not on_board or own[:start] != [(s, True) for s in game.setup[player]]:
        raise StrategyError(f"{infoset!r} is no infoset of player {player} in {game.name}.")
    squares = [game.setup[k % 2][k // 2] for k in range(len(game.setup[0]) + len(game.setup[1]))]
    search = _OpponentSearch(game, player, own[start:])
    found = search.extend(game.first_player, game.setup_mask(0), game.setup_mask(1), 0, game.setup_mask(1 - player))
    if found is None:
        raise StrategyError(f"No history leads to {infoset!r} of player {player} in {game.name}.")
    return squares + found


class _OpponentSearch:
    """Searches for attempts of the opponent that fit a player's attempts and their outcomes."""

    def __init__(self, game: Game, player: int, own: list[tuple[int, bool]]) -> None:
        self.game, self.player, self.own = game, player, own
        self.full = (1 << game.squares) - 1
        mine = [square for square, success in own if success]
        # First the squares that the player finds occupied, then those that the player never tries, then failures.
        found = [square for square, success in own if not success]
        tried = {square for square, _ in own}
        self.squares = found + [s for s in range(game.squares) if s not in tried] + mine

    def extend(self, mover: int, placed0: int, placed1: int, done: int, theirs: int) -> list[int] | None:
        """The rest of a history, after `done` own attempts; `theirs` are the opponent's attempted squares."""
        placed = [placed0, placed1]
        if mover == self.player:
            if done == len(self.own):
                return []
            square, success = self.own[done]
            bit = 1 << square
            if bool(placed[1 - mover] & bit) == success or placed[mover] & bit:
                return None
            return self._attempt(mover, placed, square, done + 1, theirs)
        for square in self.squares:
            if not theirs >> square & 1 and self._fits(square, placed, done):
                rest = self._attempt(mover, placed, square, done, theirs | 1 << square)
                if rest is not None:
                    return rest
        return None

    def _fits(self, square: int, placed: list[int], done: int) -> bool:
        """Whether the opponent's attempt does not contradict what the player learns later."""
        if placed[self.player] >> square & 1:
            return True
        return (square, True) not in self.own[done:]

    def _attempt(self, mover: int, placed: list[int], square: int, done: int, theirs: int) -> list[int] | None:
        bit, after = 1 << square, placed.copy()
        failed = bool(placed[1 - mover] & bit)
        if not failed:
            after[mover] |= bit
            if self.game.wins(mover, after[mover]) or after[0] | after[1] == self.full:
                return None
        stays = failed and self.game.turn_rule == "classical"
        rest = self.extend(mover if stays else 1 - mover, after[0], after[1], done, theirs)
        return None if rest is None else [square, *rest]


def policy_by_infoset(game: Game, player: int, policy: Any) -> Callable[[str], dict[int, float]]:
    """A policy of OpenSpiel as a function of infosets, for :meth:`Strategy.from_function`.

    A table is read by OpenSpiel's text of the infoset; any other policy is called at a state of :func:`state_at`.

    Raises
    ------
    ConfigError
        If OpenSpiel is not installed.
    GameError
        If OpenSpiel has no such game, or the policy's game has no counterpart here.
    StrategyError
        If it is not a policy, or is for another game.
    """
    theirs = load_game(game)
    if not hasattr(policy, "action_probabilities"):
        raise StrategyError(
            f"A policy of OpenSpiel needs action_probabilities(state, player); found a {type(policy).__name__}."
        )
    check_told_game(policy, game)
    table = _table_of(policy)
    arguments = () if isinstance(policy, _pyspiel().Policy) else (player,)  # those made in C++ take the state alone

    def probabilities(infoset: str) -> dict[int, float]:
        if table is not None:
            return _row_of(table, game, player, infoset)
        state = _state_in(theirs, game, player, infoset)
        try:
            chances = policy.action_probabilities(state, *arguments)
        except _pyspiel().SpielError as error:
            raise StrategyError(_UNKNOWN.format(infoset, player, game.name)) from error
        return {int(square): float(probability) for square, probability in chances.items()}

    return probabilities


def told_game(policy: Any) -> Game | None:
    """The package's game for that of a policy of OpenSpiel; None if the policy does not name it.

    Raises
    ------
    GameError
        If the policy's game has no counterpart here.
    """
    pyspiel, told = sys.modules.get("pyspiel"), getattr(policy, "game", None)
    return game_of(told) if pyspiel is not None and isinstance(told, pyspiel.Game) else None


def check_told_game(policy: Any, game: Game) -> None:
    """Raise a StrategyError if a policy of OpenSpiel says that it is for other rules."""
    told = told_game(policy)
    if told is not None and told != game_of(load_game(game)):
        raise StrategyError(f"The policy is for {told.name}, not for {game.name}; OpenSpiel calls it {policy.game}.")


def _table_of(policy: Any) -> Table | None:
    """A policy that is a table, in Python or C++, as a function of OpenSpiel's texts; None for any other."""
    from open_spiel.python.policy import TabularPolicy

    if type(policy) is _pyspiel().TabularPolicy:
        rows = policy.policy_table()
        return lambda text: dict(rows[text]) if text in rows else None
    if isinstance(policy, TabularPolicy) and type(policy).action_probabilities is TabularPolicy.action_probabilities:
        return lambda text: dict(enumerate(policy.policy_for_key(text))) if text in policy.state_lookup else None
    return None


def _row_of(table: Table, game: Game, player: int, infoset: str) -> dict[int, float]:
    found = [row for text in information_states(game, player, infoset) if (row := table(text)) is not None]
    if not found:
        raise StrategyError(_UNKNOWN.format(infoset, player, game.name))
    for row in found[1:]:
        if any(abs(row.get(square, 0) - found[0].get(square, 0)) > _SAME for square in {*row, *found[0]}):
            raise StrategyError(
                f"The policy has several rows for infoset {infoset!r} of player {player} in {game.name}: OpenSpiel "
                "tells there how often the opponent has failed, which the player does not know."
            )
    return {int(square): float(probability) for square, probability in found[0].items()}


@cache
def _name_of(game: Game) -> str:
    return str(load_game(game).get_type().short_name)


def information_states(game: Game, player: int, infoset: str) -> list[str]:
    """OpenSpiel's texts of a player's infoset: one; in classical Dark Hex, one for each total number of attempts."""
    own, board = attempts_of(infoset), ["."] * game.squares
    for square, success in own:
        board[square] = "xo"[player if success else 1 - player]
    view = "".join(f"{''.join(board[row : row + game.columns])}\n" for row in range(0, game.squares, game.columns))
    attempts = "".join(f"{player},{square} " for square, _ in own)
    if _name_of(game) == "phantom_ttt":
        return [f"{view}{attempts}"]
    if game.turn_rule == "abrupt" or not own:  # turns alternate
        return [f"{view}{2 * len(own) + player}\n{attempts}"]
    counts = range(len(own), len(own) + game.squares + 1)
    return [f"{view}{count}\n{attempts}" for count in counts]


@cache
def _policy_class() -> Any:
    _pyspiel()
    from open_spiel.python.policy import Policy

    class StrategyPolicy(Policy):  # type: ignore[misc, unused-ignore]
        """Strategies of one player or of both, as a policy of OpenSpiel."""

        def __init__(self, game: Game, strategies: Mapping[int, ByInfoset]) -> None:
            super().__init__(load_game(game), sorted(strategies))
            self.strategies = strategies

        def action_probabilities(self, state: Any, player_id: int | None = None) -> dict[int, float]:
            """Square -> probability, for all legal squares of the given player; default: the player to move."""
            player = state.current_player() if player_id is None else player_id
            if player not in self.strategies:
                raise StrategyError(f"This policy has no strategy of player {player}; give both to to_openspiel.")
            row = self.strategies[player][infoset_of(state, player)]
            return {square: float(row[square]) for square in state.legal_actions(player)}

    return StrategyPolicy


def as_policy(game: Game, strategies: Mapping[int, ByInfoset]) -> Any:
    """Strategies as an ``open_spiel.python.policy.Policy`` for :func:`load_game`'s game.

    Parameters
    ----------
    strategies
        One player's or both players', by the number of the player.

    Raises
    ------
    ConfigError
        If OpenSpiel is not installed.
    GameError
        If OpenSpiel has no such game.
    """
    return _policy_class()(game, strategies)
