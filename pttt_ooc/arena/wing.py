"""The arena, as a wing."""

from __future__ import annotations

from pathlib import Path

from pttt_ooc.service.wing import Pages, Wing


def pages(directory: Path, games_directory: Path | None = None) -> Pages:
    """The pages on the matches below a directory, which is made if it is missing; people's games are not kept."""
    from pttt_ooc.disk.files import make_directory

    make_directory(directory)
    return Pages(
        name=WING.name,
        what="The arena",
        title="The arena",
        parts=("pttt_ooc.arena.pages.part:parts",),
        answerer=("pttt_ooc.arena.pages.answerer:answerer", str(directory)),
    )


WING = Wing("arena", "pttt_ooc.arena.commands", "pttt_ooc.arena.settings:ArenaConfig", pages)
