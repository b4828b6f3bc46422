"""The arena: games in which both players see everything, agents that play them, and matches.

Of the core it uses only files, commits, configuration and the web shell.  ``games/``: the games.  ``kernels/``:
compiled code.  ``agents/``: the players.  ``external/``: engines of other people, as processes.  ``matches/``: many
games of two agents.  ``solvers/``: perfect play of k-in-a-row on small boards.  ``learning/``: evaluations and tables
that are learnt by self-play.  ``pages/``: the pages in the browser.

Modules: ``boards`` (boards as pages draw them), ``names`` (of games and agents), ``statistics`` (rates, ratings, the
sequential test), ``significance`` (tests of claims, intervals), ``settings`` (the section of the configuration),
``experiments`` (claims, measured), ``round_robin`` (matches of all agents against each other), ``trainings`` (of
learners, with several seeds), ``verdicts`` (whether claims hold), ``claims_table`` (results in Markdown), ``records``
(results, compact), ``pipeline`` and ``report`` (in the workflow), ``terminal`` (a game against an agent), ``commands``
(``pttt arena``), ``wing`` (its description).
"""
