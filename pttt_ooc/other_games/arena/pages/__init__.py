"""The arena in the browser: play, watch, replay, standings.

Web processes import no numerics: they ask the ``answerer``, a process with the games and the agents.  It has a
``match_archive`` (matches on disk) and a ``game_service`` (positions and agents).  ``choices``: games and agents to
choose from.  ``part``: the pages, with ``play_pages``, ``review_pages``, ``watch_pages``, and their common
``page_state``.
"""
