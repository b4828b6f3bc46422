"""The strong bot's search behind walls, where its compiled code can be read but nothing can be written."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pttt_ooc.arena.agents.extreme_strong import Searcher


def searcher(**options: Any) -> Searcher:
    """A searcher that is ready; the options are the ones of :class:`Searcher`."""
    if not os.access(Path(__file__).parent, os.W_OK):
        from numba.core import caching

        locators: Any = caching
        # Numba looks for kept code only where it could write; all that is needed has been compiled before.
        locators._CacheLocator.ensure_cache_path = lambda self: None
    from pttt_ooc.arena.agents.extreme_strong import Searcher
    from pttt_ooc.extreme.search import ready

    return ready(Searcher(**options))
