"""Stage "solve" of the wing: rounds of the double oracle until the interval is narrow enough.

====================== =================================================================================
``work/FINGERPRINT``   the saved rounds, see :mod:`pttt_ooc.pipeline.stages.saved_rounds`; a run goes on from there
``equilibrium.zarr``   both plans of the last round, see :mod:`pttt_ooc.pipeline.files.equilibrium`
``rounds.jsonl``       a row for each round
``solve.json``         the manifest: settings, the proven interval; written last
====================== =================================================================================
"""

from __future__ import annotations

import json
import math
from pathlib import Path

from pttt_ooc.disk.files import atomic_write_text, fresh_store
from pttt_ooc.exact.cluster.clients import open_runner
from pttt_ooc.exact.double_oracle.oracle import DoubleOracle
from pttt_ooc.extras import check_extra
from pttt_ooc.games.rules.catalogue import named_game
from pttt_ooc.pipeline.files.equilibrium import write_equilibrium
from pttt_ooc.pipeline.frontier import pipeline
from pttt_ooc.pipeline.frontier.settings import FrontierConfig
from pttt_ooc.pipeline.stages.directories import EQUILIBRIUM
from pttt_ooc.pipeline.stages.product_check import timeless
from pttt_ooc.pipeline.stages.saved_rounds import ROUNDS, forget_states, has_ended, play_rounds, state_directory
from pttt_ooc.pipeline.stages.stage_context import Facts, stage


def run(config: FrontierConfig, directory: Path, threads: int = 1, log: Path | None = None) -> None:
    """Make ``equilibrium.zarr`` and ``rounds.jsonl``, or go on from what a killed or shorter run has saved.

    Parameters
    ----------
    directory
        The directory of the results; made if missing.
    threads
        The result does not depend on their number, nor on workers.

    Raises
    ------
    PtttError
        If a round does not fit into the memory: with more of it, a run goes on; if the disk cannot be written to, the
        state is damaged, an optional library is missing, or a scheduler does not answer.
    """
    check_extra("exact", "snakemake frontier")
    with stage("solve", directory, [EQUILIBRIUM, ROUNDS], pipeline.sources, continues=True) as facts:
        game, rows = named_game(config.game), list[Facts]()
        with open_runner(config.workers, config.scheduler, game, config.memory_mb) as runner:
            oracle = DoubleOracle(game, math.inf, threads, config.memory_mb, runner)
            work = directory / "work"
            state = state_directory(work, "", config.game, "game", log)
            play_rounds(oracle, state, 60 * config.max_minutes, rows, log, config.gap)
            forget_states(work, "", kept=state)
        reason = "gap" if has_ended(oracle, config.gap) else "max_minutes"
        facts.update(threads=threads, settings=pipeline.settings(config), memory_mb=config.memory_mb)
        facts["result"] = {"stopped_by": reason, **rows[-1]}
        told = {"algorithm": "double-oracle", **timeless(facts["result"])}
        with fresh_store(directory / EQUILIBRIUM) as store:
            write_equilibrium(store, game, oracle.plans, told)
        atomic_write_text(directory / ROUNDS, "".join(json.dumps(row, sort_keys=True) + "\n" for row in rows))
