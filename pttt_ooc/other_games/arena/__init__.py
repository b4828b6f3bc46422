"""The arena: games in which both players see everything, agents that play them, and matches.

Of the core it uses only files, commits, configuration and the web shell.  ``kernels/``: compiled code.  ``games/``: the
games.  ``agents/``: the players that the reports describe.  ``matches/``: many games of two agents.  ``research/``:
what goes beyond the reports: stronger players, trained evaluations, engines of other people, solved boards and proofs.
``experiments/``: tests of claims.  ``pages/``: the arena in the browser.  ``terminal/``: its commands.

Modules: ``names``: names of games and agents. ``options``: options that commands share. ``settings``: the section of
the configuration. ``wing``: the description of this wing.
"""
