"""The arena in the browser: play, watch, replay, standings.

Web processes import no numerics: they ask the answerer, a process that knows the games and seats the agents.
``answerer``: that process, with ``match_archive`` (matches on disk) and ``game_service`` (agents that wait for
questions). ``answerer_client``: the web process's way to it.  ``choices``: what can be played.  ``part``: the
addresses, with ``play_pages``, ``watch_pages`` and what they share, ``page_state``.
"""
