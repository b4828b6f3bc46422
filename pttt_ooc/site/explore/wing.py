"""The pages Explore and Play, as a wing."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING

from pttt_ooc.site.service.wing import Call, Pages, Wing

if TYPE_CHECKING:
    from pttt_ooc.site.explore.sources import Source

WING = Wing("explore")


def games_file(directory: Path) -> Path:
    """The file in `directory` that keeps games; for errors see :func:`pttt_ooc.site.play.database_file.kept_file`."""
    from pttt_ooc.site.play.database_file import kept_file

    return kept_file(directory / "play.sqlite", "Games")


def answerer(profiles: Path, game: str, structures: Path) -> Call:
    """The call of the answerer; `structures` is the directory of all games' structures."""
    return "pttt_ooc.site.explore.strategy_answers:answerer", str(profiles), game, str(structures)


def plan_answerer(plan: Path) -> Call:
    """The call of the answerer about a plan of a game whose infosets are not listed."""
    return "pttt_ooc.site.explore.strategy_answers:plan_answerer", str(plan)


def several(pages: Sequence[Pages]) -> Pages:
    """The pages on several games, as one; the first is the default."""
    first = pages[0]
    return replace(
        first,
        what=f"{len(pages)} games",
        subtitle="",
        parts=("pttt_ooc.site.explore.part:parts_of_games", *(json.dumps(one.parts[1:]) for one in pages)),
        answerers=[one.answerer for one in pages[1:] if one.answerer is not None],
    )


def pages(
    sources: Sequence[Source], game: str, games_directory: Path, structures: Path, plan: Path | None = None
) -> Pages:
    """The pages on strategies of one game; people's games and prepared strategies are in `games_directory`.

    Parameters
    ----------
    plan
        The Zarr group of a plan, if that is the only strategy.

    Raises
    ------
    StoreError
        If the database of games cannot be used.
    """
    games_file(games_directory)
    listed = json.dumps([asdict(source) for source in sources])
    return Pages(
        name=WING.name,
        what=game,
        title="Phantom Tic-Tac-Toe, explored",
        subtitle=game,
        parts=("pttt_ooc.site.explore.part:local_parts", game, listed, str(games_directory)),
        answerer=answerer(games_directory, game, structures) if plan is None else plan_answerer(plan),
        page="/explore",
    )
