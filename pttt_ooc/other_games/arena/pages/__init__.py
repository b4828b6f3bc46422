"""The arena in the browser: play, review, watch, replay, standings.

Web processes import no numerics: they ask the answerer, a process with a ``match_archive`` (matches on disk) and a
``game_service`` (positions and agents, and the answerer itself).  ``choices``: games and agents to choose from.
``part``: the pages, with ``play_pages``, ``watch_pages``, and their common ``page_state``.
"""
