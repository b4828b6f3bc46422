"""The arena: games in which both players see everything, agents that play them, and matches.

It shares with the core only files, commits, configuration and the web shell.  ``games/``: the games.  ``kernels/``: all
that is compiled.  ``agents/``: those who play.  ``matches/``: many games of two of them.  ``solvers/``: perfect play of
k-in-a-row on small boards.  ``learning/``: what agents learn by playing themselves.  ``pages/``: the pages in
the browser.

Modules: ``boards`` (boards as pages draw them), ``names`` (of games and
agents), ``statistics`` (tests, intervals, ratings), ``settings`` (the section of the configuration), ``experiments``
(claims, measured), ``round_robin`` (round robins), ``claims_table`` (what came out), ``pipeline`` and ``report`` (in
the workflow), ``commands`` (``pttt arena``), ``wing`` (the wing describes itself).
"""
