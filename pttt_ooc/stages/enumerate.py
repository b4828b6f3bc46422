"""Stage "enumerate": all pairs of views that fit together, and the size of the game."""

from __future__ import annotations

from pathlib import Path

from pttt_ooc.counts import check_counts, counts_of
from pttt_ooc.files import fresh_store
from pttt_ooc.game import named_game
from pttt_ooc.stages.common import stage
from pttt_ooc.tables import write_pairs
from pttt_ooc.views import find_pairs


def run(game: str, directory: Path) -> None:
    """Make ``views.zarr``; the manifest has the number of infosets and histories.

    Raises
    ------
    PtttError
        If the game is unknown, the counts differ from those that are known, or the disk cannot be written to.
    """
    with stage("enumerate", directory, ["views.zarr"]) as facts:
        rules = named_game(game)
        pairs = find_pairs(rules)
        facts.update(game=game, counts=counts_of(rules, pairs))
        check_counts(game, facts["counts"])
        with fresh_store(directory / "views.zarr") as store:
            write_pairs(store, game, pairs)
