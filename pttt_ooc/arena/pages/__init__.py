"""The arena in the browser: play, watch, replay, standings.

Web processes import no numerics: they ask the answerer, a process that knows the games and seats the agents.
``answerer``: that process, with ``shelf`` (matches on disk) and ``seating`` (agents that wait for questions).
``asked``: the web process's way to it.  ``offers``: what can be played.  ``part``: the addresses, with
``playing``, ``watching`` and what they share, ``state``.  ``local``,
``localserver``: ``pttt arena serve``.
"""
