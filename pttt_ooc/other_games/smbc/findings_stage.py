"""Stage "findings": value and exploitability of a solved match, and the effect of hidden goals.

All figures are in its manifest, ``findings.json``.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from pttt_ooc.other_games.smbc.findings import best_responses
from pttt_ooc.other_games.smbc.inspection import Lookout, Lookouts, beliefs_at
from pttt_ooc.other_games.smbc.match import Scores
from pttt_ooc.other_games.smbc.oriented_position import Place
from pttt_ooc.other_games.smbc.pipeline import sources
from pttt_ooc.other_games.smbc.round import Floats, Payoffs, fresh, outcomes, scoring
from pttt_ooc.other_games.smbc.rules import GOALS
from pttt_ooc.other_games.smbc.settings import SolveSettings
from pttt_ooc.other_games.smbc.solve import name_of
from pttt_ooc.other_games.smbc.study import exploitability, studies
from pttt_ooc.other_games.smbc.tree import RoundTree
from pttt_ooc.pipeline.stages.stage_context import digests, inputs, stage

_POINTS = 20  # of a curve of convergence
_DRAWS = 20  # of pure strategies for each round


def run_findings(directory: Path, compared: Sequence[str], iterations: int) -> None:
    """Write the manifest with all figures of the report.

    Parameters
    ----------
    compared
        Names of further update rules whose convergence is measured.
    iterations
        Iterations of these rules, and of runs with bonuses for small moves.

    Raises
    ------
    StoreError
        If there is no solution, or it is damaged, or the manifest cannot be written.
    """
    with stage("findings", directory, [], sources=sources) as facts:
        before = inputs(directory, "solve")
        lookouts = Lookouts(directory)
        points = lookouts.solution.settings.winning_score
        facts.update(made_from=digests(before), winning_score=points)
        facts["settings"] = {"compared": list(compared), "compared_iterations": iterations}
        facts.update(best_responses(lookouts.solution))
        facts["shown"] = [_round(lookouts, scores) for scores in dict.fromkeys([(0, 0), (points - 1, points - 1)])]
        facts["curves"] = curves(lookouts, compared, iterations)
        facts["study"] = studies(lookouts.solution, iterations, _DRAWS, seed=0)


def _round(lookouts: Lookouts, scores: Scores) -> dict[str, Any]:
    """The opening of a round, and its values by pairs of goals, with hidden and with open goals."""
    lookout, worth = lookouts.lookout(scores), lookouts.worth(scores)
    table = outcomes(lookout.tree, lookout.average)
    return {
        "scores": name_of(scores),
        "opening": opening(lookout),
        "pairs": lookout.values[0].tolist(),
        "open_pairs": open_values(lookout.tree, worth)[0].tolist(),
        "scoring": scoring(table).tolist(),
    }


def opening(lookout: Lookout) -> list[dict[str, Any]]:
    """The first player's openings: probabilities by goal, and the resulting beliefs about the goal."""
    start = Place(lookout.tree)
    found = []
    for number, squares in enumerate(start.alike()):
        chances = [lookout.see(start, (goal, 0)).moves[number].average for goal in range(len(GOALS))]
        posterior = beliefs_at(lookout.tree, lookout.average, start.step(squares[0]), 0)
        beliefs = None if posterior is None else posterior.tolist()
        found.append({"squares": list(squares), "chances": chances, "posterior": beliefs})
    return found


def open_values(tree: RoundTree, worth: Payoffs) -> Floats:
    """The first player's value at each node if both goals are known, with perfect play.

    Returns
    -------
    float64, shape (nodes, 3, 3): by the first and by the second player's goal.
    """
    shape, table = tree.shape, worth.table()
    found = np.empty((tree.nodes, 3, 3))
    for ply in range(len(shape.plies) - 1):
        found[shape.plies[ply] : shape.plies[ply + 1]] = -np.inf if ply % 2 == 0 else np.inf
    ends = np.flatnonzero(shape.outcome >= 0)
    found[ends] = np.moveaxis(table, 2, 0)[shape.outcome[ends]]
    for ply in range(len(shape.plies) - 2, 0, -1):
        nodes = slice(int(shape.plies[ply]), int(shape.plies[ply + 1]))
        choose = np.maximum if (ply - 1) % 2 == 0 else np.minimum
        choose.at(found, shape.parent[nodes], found[nodes])
    return found


def curves(lookouts: Lookouts, compared: Sequence[str], iterations: int) -> dict[str, list[dict[str, float]]]:
    """The exploitability of the last round by iteration, for each update rule.

    The outcomes have the values that the solution gives them.
    """
    settings = lookouts.solution.settings
    last = settings.winning_score - 1
    worth = lookouts.worth((last, last))
    rules: dict[str, SolveSettings] = {settings.algorithm: settings}
    for name in compared:
        if name != settings.algorithm:
            kept = {"horizon": settings.horizon, "alternate_updates": settings.alternate_updates}
            rules[name] = SolveSettings.model_validate({"algorithm": name, **kept})
    steps = np.unique(np.geomspace(1, iterations, _POINTS).round().astype(int)).tolist()
    return {name: _curve(lookouts.solution.tree, rule, worth, steps) for name, rule in rules.items()}


def _curve(tree: RoundTree, settings: SolveSettings, worth: Payoffs, steps: Sequence[int]) -> list[dict[str, float]]:
    solver, rows = fresh(tree, settings, worth), []
    for step in steps:
        solver.run(step - solver.iteration)
        rows.append({"iteration": step, "nashconv": exploitability(tree, worth, solver.average())})
    return rows
