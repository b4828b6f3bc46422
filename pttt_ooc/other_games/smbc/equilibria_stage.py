"""Stage "equilibria": values of goals in all equilibria, of a round as a game of its own and of the first round.

All figures are in its manifest, ``equilibria.json``, which the report shows if the configuration asks for this stage.
"""

from __future__ import annotations

from pathlib import Path

from pttt_ooc.other_games.smbc.findings import goals_of_round
from pttt_ooc.other_games.smbc.pipeline import sources
from pttt_ooc.other_games.smbc.solve import load
from pttt_ooc.pipeline.stages.stage_context import digests, inputs, stage


def run_equilibria(directory: Path) -> None:
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
