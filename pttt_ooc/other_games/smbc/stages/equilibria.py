"""Stage "equilibria": values of goals in all equilibria, of a round as a game of its own and of the first round.

All figures are in the manifest, ``equilibria.json``.  The report shows them if the configuration asks for the stage.
"""

from __future__ import annotations

from pathlib import Path

from pttt_ooc.other_games.smbc.findings import goals_of_round
from pttt_ooc.other_games.smbc.pipeline import sources
from pttt_ooc.other_games.smbc.solve import load
from pttt_ooc.pipeline.stages.stage_context import digests, inputs, stage


def run(directory: Path) -> None:
    """Write the manifest with the ranges.

    Raises
    ------
    PtttError
        If SciPy is missing.
    StoreError
        If there is no solution, or it is damaged, or the manifest cannot be written.
    """
    with stage("equilibria", directory, [], sources=sources) as facts:
        facts["made_from"] = digests(inputs(directory, "solve"))
        solution = load(directory)
        facts["shown"] = [goals_of_round(solution, scores, all_equilibria=True) for scores in (None, (0, 0))]
