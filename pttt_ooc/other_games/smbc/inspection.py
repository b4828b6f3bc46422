"""A solution's strategies and values at a position of a round."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from pttt_ooc.other_games.smbc.best_response import profile_values
from pttt_ooc.other_games.smbc.match import Scores, payoffs
from pttt_ooc.other_games.smbc.oriented_position import Place
from pttt_ooc.other_games.smbc.round import PAIRS, Floats, Payoffs, RoundProfile, best_response, profile_of
from pttt_ooc.other_games.smbc.solve import MatchSolution, Snapshot, list_iterations, load, name_of, read_snapshot
from pttt_ooc.other_games.smbc.tree import RoundTree


@dataclass(frozen=True)
class InspectedMove:
    """One of the moves at an infoset.

    Attributes
    ----------
    squares
        The square, and its images by symmetries of the position.
    regret
        Sum of regrets after the iteration.
    current, average
        Probability in both strategies, of all `squares` together.
    value
        The mover's value after the move if both continue with the average strategies; None if the opponent never
        reaches the position.
    best_value
        The same if the mover continues with the best response.
    best
        Whether the best response makes the move.
    """

    squares: tuple[int, ...]
    regret: float
    current: float
    average: float
    value: float | None
    best_value: float | None
    best: bool


@dataclass(frozen=True)
class Seen:
    """Strategies and values at a position, for given goals.

    Values are for the match: from -1, a certain loss, to 1, a certain win.

    Attributes
    ----------
    value
        The first player's value, given both goals, if both continue with the average strategies.
    reach
        For each player with the given goal: the product of the probabilities of their moves.
    best_values
        The value of each player, who knows only their own goal and continues with the best response; None if the
        opponent never reaches the position.
    moves
        The moves of the player to move; empty if the round is decided.
    """

    iteration: int
    value: float
    reach: tuple[float, float]
    best_values: tuple[float | None, float | None]
    moves: tuple[InspectedMove, ...]


class Lookout:
    """One round of a solution, at one iteration, prepared for look-ups.

    Parameters
    ----------
    worth
        Values of the outcomes.
    snapshot
        The state of the solver.
    average
        The average strategies; default: those of the snapshot, in single precision.
    """

    def __init__(
        self, tree: RoundTree, worth: Payoffs, snapshot: Snapshot, average: RoundProfile | None = None
    ) -> None:
        self.tree, self.snapshot = tree, snapshot
        self.average = average or profile_of(tree, snapshot.average)
        self.current = profile_of(tree, snapshot.current)
        self.values = pair_values(tree, worth, self.average)
        self._responses = [best_response(tree, player, worth, self.average) for player in (0, 1)]

    def see(self, place: Place, goals: tuple[int, int]) -> Seen:
        """Strategies and values at a position, if the players have these goals."""
        first, second = (float(self._reach(place.node, player)[goals[player]]) for player in (0, 1))
        best = (self._best_value(place.node, 0, goals[0]), self._best_value(place.node, 1, goals[1]))
        moves = tuple(self._move(place, squares, goals) for squares in place.alike())
        return Seen(self.snapshot.iteration, float(self.values[(place.node, *goals)]), (first, second), best, moves)

    def _reach(self, node: int, player: int) -> Floats:
        return reach_at(self.tree, self.average, node, player)

    def _best_value(self, node: int, player: int, goal: int) -> float | None:
        """The value of a best response at a node, given that it is reached."""
        others = self._reach(node, 1 - player).sum()
        return float(self._responses[player].values[node, goal] / others * PAIRS) if others > 0 else None

    def _move(self, place: Place, squares: tuple[int, ...], goals: tuple[int, int]) -> InspectedMove:
        child, _ = place.ways[squares[0]]
        player, goal = place.player, goals[place.player]
        others = self._reach(place.node, 1 - player)
        value = None
        if others.any():
            table = self.values[child, goal, :] if player == 0 else -self.values[child, :, goal]
            value = float(table @ others / others.sum())
        return InspectedMove(
            squares,
            float(self.snapshot.regrets[child, goal]),
            float(self.current.strategy[child, goal]),
            float(self.average.strategy[child, goal]),
            value,
            self._best_value(child, player, goal),
            bool(self._responses[player].best[child, goal]),
        )


def reach_at(tree: RoundTree, profile: RoundProfile, node: int, player: int) -> Floats:
    """A player's reach of a node, for each goal: the product of the probabilities of their moves."""
    ply = int(np.searchsorted(tree.shape.plies, node, side="right")) - 1
    row = node if ply and (ply - 1) % 2 == player else int(tree.shape.parent[node])
    found: Floats = profile.reach[row]
    return found


def beliefs_at(tree: RoundTree, profile: RoundProfile, place: Place, player: int) -> Floats | None:
    """The probabilities of a player's goals by Bayes' rule, given the player's moves.

    Returns
    -------
    float64, shape (3,); None if the profile never makes these moves.
    """
    reach = reach_at(tree, profile, place.node, player)
    return reach / reach.sum() if reach.any() else None


def pair_values(tree: RoundTree, worth: Payoffs, profile: RoundProfile) -> Floats:
    """The first player's value at each node, given both goals, if both continue with a profile.

    Returns
    -------
    float64, shape (nodes, 3, 3): by the first and by the second player's goal.
    """
    shape, table = tree.shape, worth.table()
    found = np.zeros((tree.nodes, 3, 3))
    ends = np.flatnonzero(shape.outcome >= 0)
    found[ends] = np.moveaxis(table, 2, 0)[shape.outcome[ends]]
    for ply in range(len(shape.plies) - 2, 0, -1):
        nodes = slice(int(shape.plies[ply]), int(shape.plies[ply + 1]))
        chances = profile.strategy[nodes]
        mine = chances[:, :, None] if (ply - 1) % 2 == 0 else chances[:, None, :]
        np.add.at(found, shape.parent[nodes], mine * found[nodes])
    return found


class Lookouts:
    """All rounds of a solution, prepared when needed.

    Parameters
    ----------
    directory
        The directory of a solved match.

    Raises
    ------
    StoreError
        If there is no solution, or it is damaged.
    """

    def __init__(self, directory: Path) -> None:
        self.solution: MatchSolution = load(directory)
        self._directory = directory / "work" / self.solution.manifest["work"] / "snapshots"
        settings = self.solution.settings
        self.values = profile_values(self.solution.tree, settings.winning_score, self.solution.profiles)

    def worth(self, scores: Scores) -> Payoffs:
        """The values of a round's outcomes, if the solution plays later rounds."""
        return payoffs(scores, self.solution.settings.winning_score, self.values)

    def last(self, scores: Scores) -> int:
        """The iteration at which a round was solved."""
        return int(self.solution.manifest["rounds"][name_of(scores)]["iteration"])

    def iterations(self, scores: Scores) -> Sequence[int]:
        """The iterations of a round with snapshots."""
        return list_iterations(self._directory / name_of(scores))

    def lookout(self, scores: Scores, iteration: int | None = None) -> Lookout:
        """One round at an iteration; default: at the last one.

        Raises
        ------
        StoreError
            If there is no snapshot of the iteration.
        """
        last, tree = self.last(scores), self.solution.tree
        chosen = last if iteration is None else iteration
        snapshot = read_snapshot(self._directory / name_of(scores), chosen, tree.nodes)
        return Lookout(tree, self.worth(scores), snapshot, self.solution.profiles[scores] if chosen == last else None)
