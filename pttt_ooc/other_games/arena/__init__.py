"""The arena: games in which both players see everything, agents that play them, and matches.

Of the core it uses only files, commits, configuration and the web shell.  ``kernels/``: compiled code.  ``games/``: the
games.  ``agents/``: the players that the reports describe.  ``matches/``: many games of two agents.  ``research/``:
what no report asks for: stronger players, trained evaluations, engines of other people, solved boards and proofs.
``experiments/``: claims, measured.  ``pages/``: in the browser.  ``terminal/``: commands.

Modules: ``names``: of games and agents. ``options``: that commands share. ``settings``: the section of the
configuration. ``wing``: its description.
"""
