"""The arena, as a wing."""

from __future__ import annotations

from pathlib import Path

from pttt_ooc.site.service.wing import Pages, Wing


def pages(directory: Path, games_directory: Path | None = None) -> Pages:
    """The pages on the matches below a directory, which is made if it is missing; people's games are not kept."""
    from pttt_ooc.disk.files import make_directory

    make_directory(directory)
    return Pages(
        name=WING.name,
        what="The arena",
        title="The arena",
        parts=("pttt_ooc.other_games.arena.pages.part:parts",),
        answerer=("pttt_ooc.other_games.arena.pages.game_service:answerer", str(directory)),
        page="/arena/play",
    )


WING = Wing(
    "arena", "pttt_ooc.other_games.arena.terminal.commands", "pttt_ooc.other_games.arena.settings:ArenaConfig", pages
)
