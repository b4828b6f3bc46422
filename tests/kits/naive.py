"""The independent reference: every quantity of a game by a plain walk over its histories.

Nothing here is clever.  It shares with the package only the rules as data (:class:`Game`), so that agreement with
it is evidence.  It is meant for games of up to about a million histories.

A player's *node* is its own sequence of attempts with outcomes, as text: ``|0*4.`` says that square 0 was placed
and that the attempt of square 4 then failed.  The player's squares of the setup come first, as placed.  An
*infoset* is a node at which the player is to move in at least one history that is not terminal.

A strategy maps the text of an infoset to one probability for each square of the board.  Rows of infosets that are
reached with probability zero may be missing.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from math import fsum, log
from random import Random
from typing import TypeVar

from pttt_ooc.games.rules.game import Game

T = TypeVar("T")
Strategy = Mapping[str, Sequence[float]]


class History:
    """One history of a game: what has been attempted so far, seen by a referee.

    A history is never changed; :meth:`attempt` makes the next one.

    Attributes
    ----------
    player
        The player to move (of no meaning once the history is terminal).
    nodes
        Each player's node, as text.
    winner
        The player who has won, or ``None``.
    """

    __slots__ = ("attempted", "game", "nodes", "placed", "player", "winner")

    def __init__(
        self,
        game: Game,
        player: int,
        placed: tuple[int, int],
        attempted: tuple[int, int],
        nodes: tuple[str, str],
        winner: int | None = None,
    ) -> None:
        self.game = game
        self.player = player
        self.placed = placed
        self.attempted = attempted
        self.nodes = nodes
        self.winner = winner

    @classmethod
    def start(cls, game: Game) -> History:
        """The history that holds nothing but the setup."""
        placed = (game.setup_mask(0), game.setup_mask(1))
        nodes = (setup_text(game, 0), setup_text(game, 1))
        return cls(game, game.first_player, placed, placed, nodes)

    def legal(self) -> list[int]:
        """The squares that the player to move may attempt, in ascending order."""
        if self.is_terminal():
            return []
        attempted = self.attempted[self.player]
        return [square for square in range(self.game.squares) if not attempted >> square & 1]

    def attempt(self, square: int) -> History:
        """The history after the player to move has attempted `square`."""
        me, bit = self.player, 1 << square
        failed = bool(self.placed[1 - me] & bit)
        attempted = _replaced(self.attempted, me, self.attempted[me] | bit)
        nodes = _replaced(self.nodes, me, f"{self.nodes[me]}{square}{'.' if failed else '*'}")
        if failed:
            next_player = 1 - me if self.game.turn_rule == "abrupt" else me
            return History(self.game, next_player, self.placed, attempted, nodes)
        placed = _replaced(self.placed, me, self.placed[me] | bit)
        winner = me if self.game.wins(me, placed[me]) else None
        return History(self.game, 1 - me, placed, attempted, nodes, winner)

    def is_terminal(self) -> bool:
        """Whether somebody has won or the board is full."""
        return self.winner is not None or self.placed[0] | self.placed[1] == (1 << self.game.squares) - 1

    def returns(self) -> tuple[float, float]:
        """Both players' payoffs: 1 and -1 after a win, zeros otherwise."""
        if self.winner is None:
            return (0.0, 0.0)
        return (1.0, -1.0) if self.winner == 0 else (-1.0, 1.0)


def _replaced(pair: tuple[T, T], player: int, entry: T) -> tuple[T, T]:
    return (entry, pair[1]) if player == 0 else (pair[0], entry)


def setup_text(game: Game, player: int) -> str:
    """The node of `player` before its first attempt."""
    return "|" + "".join(f"{square}*" for square in game.setup[player])


def attempts(text: str) -> list[tuple[int, bool]]:
    """The attempts in the text of a node, setup included: each a square and whether it was placed."""
    return [(int(square), mark == "*") for square, mark in re.findall(r"(\d+)([*.])", text)]


def legal_squares(game: Game, text: str) -> list[int]:
    """The squares that do not occur in the text of a node, in ascending order."""
    used = {square for square, _ in attempts(text)}
    return [square for square in range(game.squares) if square not in used]


def histories(game: Game) -> Iterator[History]:
    """Every history of the game, terminal ones included, each once."""
    stack = [History.start(game)]
    while stack:
        history = stack.pop()
        yield history
        stack.extend(history.attempt(square) for square in history.legal())


@cache
def _survey(game: Game) -> tuple[tuple[frozenset[str], ...], tuple[frozenset[str], ...], tuple[int, int]]:
    """Infosets of both players, nodes of both players, numbers of all and of terminal histories."""
    infoset_texts: tuple[set[str], set[str]] = (set(), set())
    node_texts: tuple[set[str], set[str]] = (set(), set())
    total = terminal = 0
    for history in histories(game):
        total += 1
        if history.is_terminal():
            terminal += 1
            continue
        infoset_texts[history.player].add(history.nodes[history.player])
        for player in (0, 1):
            node_texts[player].add(history.nodes[player])
    return tuple(map(frozenset, infoset_texts)), tuple(map(frozenset, node_texts)), (total, terminal)


def infosets(game: Game, player: int) -> list[str]:
    """All infosets of `player`: by number of attempts, then attempt by attempt by square, failed before placed."""

    def rank(text: str) -> tuple[int, list[tuple[int, bool]]]:
        return len(attempts(text)), attempts(text)

    return sorted(_survey(game)[0][player], key=rank)


def nodes(game: Game, player: int) -> set[str]:
    """The nodes of `player` in all histories that are not terminal, whoever is to move."""
    return set(_survey(game)[1][player])


def count_histories(game: Game) -> tuple[int, int, int]:
    """Numbers of histories: all of them, the terminal ones, and those at which somebody is to move."""
    total, terminal = _survey(game)[2]
    return total, terminal, total - terminal


def uniform(game: Game, player: int) -> dict[str, list[float]]:
    """The strategy that gives every legal square the same probability."""
    return {text: _row(game, dict.fromkeys(legal_squares(game, text), 1.0)) for text in infosets(game, player)}


def random_strategy(game: Game, player: int, rng: Random, zero_probability: float = 0.0) -> dict[str, list[float]]:
    """A random strategy in which legal squares have probability zero with probability `zero_probability`.

    Every row keeps at least one square, and its positive part is spread evenly over the simplex.
    """
    strategy = {}
    for text in infosets(game, player):
        legal = legal_squares(game, text)
        kept = [square for square in legal if rng.random() >= zero_probability]
        kept = kept or [legal[int(rng.random() * len(legal))]]
        strategy[text] = _row(game, {square: -log(1.0 - rng.random()) + 1e-9 for square in kept})
    return strategy


def _row(game: Game, weights: dict[int, float]) -> list[float]:
    total = fsum(weights.values())
    return [weights.get(square, 0.0) / total for square in range(game.squares)]


def reach(game: Game, player: int, text: str, strategy: Strategy) -> float:
    """The product of the player's own probabilities along its way to the node `text`."""
    product, node = 1.0, setup_text(game, player)
    for square, placed in attempts(text)[len(game.setup[player]) :]:
        if product == 0.0:
            break
        product *= strategy[node][square]
        node += f"{square}{'*' if placed else '.'}"
    return product


def gradient(game: Game, player: int, opponent_strategy: Strategy) -> tuple[dict[str, list[float]], dict[str, float]]:
    """The payoffs of `player`, weighted with the opponent's reach, where its own play cannot change them any more.

    Every terminal history contributes the payoff of `player` (its own point of view) times the product of the
    opponent's probabilities.  If the last attempt was the player's own, the place is the infoset and the square of
    that attempt; if it was the opponent's, the place is the player's node at that moment.

    Returns
    -------
    sequence_gradient
        For every infoset, one number for each square of the board.
    node_gradient
        For every node, one number.
    """
    sequence_gradient = {text: [0.0] * game.squares for text in infosets(game, player)}
    node_gradient = dict.fromkeys(sorted(nodes(game, player)), 0.0)

    def walk(history: History, opponent_reach: float) -> None:
        own, node = history.player == player, history.nodes[player]
        for square in history.legal():
            probability = 1.0 if own else opponent_strategy[history.nodes[1 - player]][square]
            if probability == 0.0:
                continue
            after = history.attempt(square)
            if not after.is_terminal():
                walk(after, opponent_reach * probability)
            elif own:
                sequence_gradient[node][square] += after.returns()[player] * opponent_reach
            else:
                node_gradient[node] += after.returns()[player] * opponent_reach * probability

    walk(History.start(game), 1.0)
    return sequence_gradient, node_gradient


def value(game: Game, strategy0: Strategy, strategy1: Strategy) -> float:
    """The expected payoff of player 0."""
    strategies = (strategy0, strategy1)

    def walk(history: History) -> float:
        if history.is_terminal():
            return history.returns()[0]
        row = strategies[history.player][history.nodes[history.player]]
        return sum(row[square] * walk(history.attempt(square)) for square in history.legal() if row[square] > 0.0)

    return walk(History.start(game))


def best_response_value(game: Game, player: int, opponent_strategy: Strategy) -> float:
    """The most that `player` can get (its own point of view) against a fixed strategy of the opponent.

    Works on sets of histories that the player cannot tell apart: it chooses one square for all histories of an
    infoset, weighted with the opponent's reach, then lets the opponent move in each of them until the player is to
    move again, and sorts the outcome by the player's infoset.
    """

    def settle(arrivals: Iterable[tuple[History, float]]) -> float:
        payoff = 0.0
        groups: defaultdict[str, list[tuple[History, float]]] = defaultdict(list)
        pending = list(arrivals)
        while pending:
            history, opponent_reach = pending.pop()
            if history.is_terminal():
                payoff += history.returns()[player] * opponent_reach
            elif history.player == player:
                groups[history.nodes[player]].append((history, opponent_reach))
            else:
                row = opponent_strategy[history.nodes[1 - player]]
                moves = [square for square in history.legal() if row[square] > 0.0]
                pending.extend((history.attempt(square), opponent_reach * row[square]) for square in moves)
        return payoff + sum(choose(group) for group in groups.values())

    def choose(group: list[tuple[History, float]]) -> float:
        legal = group[0][0].legal()
        return max(settle((history.attempt(square), weight) for history, weight in group) for square in legal)

    return settle([(History.start(game), 1.0)])


def image(game: Game, text: str, g: Sequence[int]) -> str:
    """The node `text` with every square replaced by its image under the symmetry `g` of the board."""
    if len(g) != game.squares:
        raise ValueError(f"a symmetry of game {game.name} permutes {game.squares} squares, not {len(g)}")
    return "|" + "".join(f"{g[square]}{'*' if placed else '.'}" for square, placed in attempts(text))


def symmetrise(game: Game, player: int, strategy: Strategy) -> dict[str, list[float]]:
    """The average of a strategy's probabilities over the symmetries of the game.

    The sums are correctly rounded, hence independent of their order: the probabilities of ``g[a]`` at the image of
    an infoset and of ``a`` at the infoset are the same float for every symmetry ``g``.
    """
    symmetric = {}
    for text in infosets(game, player):
        rows = [(g, strategy[image(game, text, g)]) for g in game.symmetries]
        symmetric[text] = [fsum(row[g[square]] for g, row in rows) / len(rows) for square in range(game.squares)]
    return symmetric
