"""The arena: games in which both players see everything, agents that play them, and matches.

Of the core it uses only files, commits, configuration and the web shell.  ``games/``: the games.  ``kernels/``:
compiled code.  ``agents/``: the players.  ``external/``: engines of other people, as processes.  ``matches/``: many
games of two agents.  ``solvers/``: perfect play of k-in-a-row on small boards.  ``learning/``: evaluations and tables
that are learnt by self-play.  ``experiments/``: claims, measured.  ``pages/``: in the browser.  ``terminal/``:
commands.

Modules: ``names``: of games and agents. ``settings``: the section of the configuration. ``wing``: its description.
"""
